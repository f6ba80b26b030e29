/* SPDX-License-Identifier: MIT */
/*
 * Many threads, many sites, snapshots while all of it runs, how threads may end; what it takes
 * in memory.
 */
#include <pthread.h>
#include "core/registry.h"
#include "tests/unit/regions.h"

enum { WORK = 25 };

static void leaf(void)
{
	TACH_SCOPE(leaf);
	fake_count += WORK;
}

static void *one_entry(void *arg)
{
	leaf();
	return arg;
}

static void many_sites(void)
{
	enum { SITES = 10000 };
	struct tach_region_mark mark = TACH_REGION_MARK_INIT;
	int entered = 0;

	regions_begin(0);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < SITES; i++) {
			char name[32];
			struct tach_site *site;

			snprintf(name, sizeof name, "site %d", i);
			site = tach_site_get(name);
			if (!site)
				continue;
			tach_region_begin(site, &mark);
			tach_region_end(&mark);
		}
	CHECK(regions_look("site 9999", 0) && info.calls == 2);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		entered += strncmp(info.name, "site ", 5) == 0 && info.calls == 2;
	}
	CHECK(entered == SITES, "%d", entered);
}

static int stop;

static void *write_all_the_time(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		TACH_START(pair);
		leaf();
		leaf();
		TACH_STOP(pair);
	}
	return arg;
}

static void *come_and_go(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, one_entry, NULL) == 0)
			pthread_join(thread, NULL);
	}
	return arg;
}

/* Every call adds the same, so a torn slot or a thread counted twice shows. */
static void snapshots_are_consistent(void)
{
	pthread_t thread[4];
	uint64_t last = 0;

	regions_begin(1);
	stop = 0;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, write_all_the_time, NULL);
	pthread_create(&thread[3], NULL, come_and_go, NULL);
	for (int seen = 0, tried = 0; seen < 300 && tried < 200000; tried++) {
		if (!regions_look("leaf", 1))
			continue;
		seen++;
		CHECK(value.value == (double)info.calls * WORK, "%g in %g calls", value.value,
		      (double)info.calls);
		CHECK(info.calls >= last, "%g after %g", (double)info.calls, (double)last);
		last = info.calls;
		if (regions_find("pair", 1))
			CHECK(value.value == (double)info.calls * 2 * WORK &&
			      info.nested == 2 * info.calls);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK(last > 0);
}

static void *exchange_sets(void *arg)
{
	for (int i = 0; i < 30; i++) {
		struct tach_regions_options opt = {.events = ""};

		if (i & 1)
			opt.histograms = 1;
		tach_regions_configure(&opt, NULL);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	return arg;
}

static void sets_exchanged_while_threads_run(void)
{
	pthread_t thread[4];
	int descriptors_before;

	regions_begin(0);
	descriptors_before = regions_descriptors();
	stop = 0;
	pthread_create(&thread[0], NULL, write_all_the_time, NULL);
	pthread_create(&thread[1], NULL, come_and_go, NULL);
	pthread_create(&thread[2], NULL, write_all_the_time, NULL);
	pthread_create(&thread[3], NULL, exchange_sets, NULL);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		regions_look("leaf", 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK(regions_descriptors() == descriptors_before);
}

/* ---- memory ---- */

enum { SLEEPERS = 64 };
static pthread_barrier_t barrier;

static void *sleeper(void *arg)
{
	if (arg)
		leaf();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static long sleepers_kb(int measuring)
{
	pthread_t thread[SLEEPERS];
	long before = regions_resident_kb(), kb;

	pthread_barrier_init(&barrier, NULL, SLEEPERS + 1);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_create(&thread[i], NULL, sleeper, measuring ? &barrier : NULL);
	pthread_barrier_wait(&barrier);
	kb = regions_resident_kb() - before;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_join(thread[i], NULL);
	return kb;
}

static void memory_per_thread_and_region(void)
{
	regions_begin(4);
	sleepers_kb(0);
	long idle = sleepers_kb(0);
	long used = sleepers_kb(1) - idle;

	leaf();
	printf("# %ld bytes per thread, %u per region and thread with 4 counters\n",
	       used * 1024 / SLEEPERS, tach__self->record->stride);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
	CHECK(used * 1024 / SLEEPERS <= 32 * 1024);
#endif
	CHECK(tach__self->record->stride <= 384);
	/* Nothing that one thread writes shares a cache line with what another one writes. */
	CHECK((uintptr_t)tach__self % 4096 == 0 &&
	      (uintptr_t)tach__self->record->chunk[0] % 4096 == 0);
	CHECK(tach__self->record->stride % 64 == 0);
}

static void *cancelled(void *arg)
{
	TACH_SCOPE(cancelled);
	for (;;) {
		leaf();
		pthread_testcancel();
	}
	return arg;
}

static void cancellation(void)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("AddressSanitizer takes the frames of a cancelled thread for living ones");
#endif
	regions_begin(1);
	leaf();
	int before = fake_opens - fake_closes;
	for (int i = 0; i < 20; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, cancelled, NULL);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	CHECK(fake_opens - fake_closes == before, "%d descriptors more",
	      fake_opens - fake_closes - before);
	if (regions_look("leaf", 1))
		CHECK(value.value == (double)info.calls * WORK);
}

/* A key of the program's whose destructor uses a region: it may run after the library's. */
static pthread_key_t key;

static void destructor(void *arg)
{
	TACH_SCOPE(in_destructor);
	(void)arg;
}

static void *with_destructor(void *arg)
{
	leaf();
	pthread_setspecific(key, &key);
	return arg;
}

static void thread_destructors(void)
{
	pthread_t thread;

	regions_begin(0);
	pthread_key_create(&key, destructor);
	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, with_destructor, NULL);
		pthread_join(thread, NULL);
	}
	CHECK(regions_look("in_destructor", 0) && info.calls == 3 && info.threads == 3, "%d %d",
	      (int)info.calls, (int)info.threads);
}

int main(void)
{
	CASE(memory_per_thread_and_region);
	CASE(cancellation);
	CASE(thread_destructors);
	CASE(many_sites);
	CASE(snapshots_are_consistent);
	CASE(sets_exchanged_while_threads_run);
	tach_snapshot_free(shot);
	return check_done();
}
