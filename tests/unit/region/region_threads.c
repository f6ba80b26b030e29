/* SPDX-License-Identifier: MIT */
/*
 * Many threads and many sites, with snapshots at the same time, and all ways in which threads
 * end.
 */
#include <pthread.h>
#include <sched.h>
#include "core/region/region.h"
#include "tests/threads.h"
#include "tests/unit/region/regions.h"

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

static void *write_all_the_time(void *arg)
{
	while (!regions_stopped()) {
		TACH_START(pair);
		leaf();
		leaf();
		TACH_STOP(pair);
	}
	return arg;
}

static void *come_and_go(void *arg)
{
	while (!regions_stopped()) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, one_entry, NULL) == 0)
			pthread_join(thread, NULL);
	}
	return arg;
}

/*
 * Every call adds the same values, so an inconsistent slot or a thread counted twice is
 * detected.
 */
static void snapshots_are_consistent(void)
{
	pthread_t thread[4];
	uint64_t last = 0;

	regions_begin(1);
	regions_tell(0);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, write_all_the_time, NULL);
	pthread_create(&thread[3], NULL, come_and_go, NULL);
	while (!regions_look("leaf", 1)) /* on a busy machine the threads may be late */
		sched_yield();
	for (int seen = 0; seen < 300 / REGIONS_LESS; seen++) {
		CHECK(regions_look("leaf", 1));
		CHECK(value.value == (double)info.calls * WORK, "%g in %g calls", value.value,
		      (double)info.calls);
		CHECK(info.calls >= last, "%g after %g", (double)info.calls, (double)last);
		last = info.calls;
		if (regions_find("pair", 1))
			CHECK(value.value == (double)info.calls * 2 * WORK &&
			      info.nested == 2 * info.calls);
	}
	regions_tell(1);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK(last > 0);
}

/* A lock protects the data, because Helgrind understands locks. */
static struct {
	pthread_mutex_t lock;
	pid_t asker;
	int taken, answered;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void say(int *what)
{
	pthread_mutex_lock(&waiting.lock);
	*what = 1;
	pthread_mutex_unlock(&waiting.lock);
}

static int is_said(const int *what)
{
	int said;

	pthread_mutex_lock(&waiting.lock);
	said = *what;
	pthread_mutex_unlock(&waiting.lock);
	return said;
}

/* Takes a snapshot that lasts until the other thread waits. */
static void *take_for_long(void *arg)
{
	pthread_mutex_lock(tach__snapshots_lock());
	say(&waiting.taken);
	while (thread_state(waiting.asker) != 'S' && !is_said(&waiting.answered))
		sched_yield();
	pthread_mutex_unlock(tach__snapshots_lock());
	return arg;
}

/* A thread that took a snapshot earlier, and takes none now, waits. */
static void earlier_snapshots_do_not_refuse_later_ones(void)
{
	struct tach_snapshot *s = NULL;
	pthread_t thread;
	int code;

	regions_begin(0);
	CHECK(tach_snapshot_take(&s, NULL) == 0);
	tach_snapshot_free(s);
	waiting.asker = gettid();
	pthread_create(&thread, NULL, take_for_long, NULL);
	while (!is_said(&waiting.taken))
		sched_yield();
	code = tach_snapshot_take(&s, NULL);
	say(&waiting.answered);
	pthread_join(thread, NULL);
	CHECK(code == 0, "%d", code);
	tach_snapshot_free(s);
}

/* Only a handler of the thread that is taking a snapshot is refused. */
static void *take_all_the_time(void *arg)
{
	uint64_t *refused = arg;
	int times = (getenv("TEST_WHOLE") ? 20000 : 4000) / REGIONS_LESS;

	for (int i = 0; i < times; i++) {
		struct tach_snapshot *s = NULL;

		*refused += tach_snapshot_take(&s, NULL) != 0;
		tach_snapshot_free(s);
	}
	return NULL;
}

static void threads_get_snapshots_at_the_same_time(void)
{
	uint64_t refused[4] = {0};
	pthread_t thread[4];

	regions_begin(0);
	leaf();
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, take_all_the_time, &refused[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		CHECK(refused[i] == 0, "%d refused", (int)refused[i]);
	}
}

static void *exchange_sets(void *arg)
{
	for (int i = 0; i < 30; i++) {
		struct tach_regions_options opt = {.events = ""};

		if (i & 1)
			opt.histograms = 1;
		tach_regions_configure(&opt, NULL);
	}
	regions_tell(1);
	return arg;
}

static void sets_exchanged_while_threads_run(void)
{
	pthread_t thread[4];
	int descriptors_before;

	regions_begin(0);
	descriptors_before = regions_descriptors();
	regions_tell(0);
	pthread_create(&thread[0], NULL, write_all_the_time, NULL);
	pthread_create(&thread[1], NULL, come_and_go, NULL);
	pthread_create(&thread[2], NULL, write_all_the_time, NULL);
	pthread_create(&thread[3], NULL, exchange_sets, NULL);
	while (!regions_stopped())
		regions_look("leaf", 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK(regions_descriptors() == descriptors_before);
}

/* In START and STOP, different threads never write to one cache line. */
static void no_cache_line_is_shared(void)
{
	const struct tach__thread *record;

	regions_begin(4);
	leaf();
	record = tach__self->record;
	CHECK((uintptr_t)tach__self % 4096 == 0 && (uintptr_t)record->chunk[0] % 4096 == 0);
	CHECK(record->stride % 64 == 0 && (uintptr_t)record->overflow[0] % 64 == 0 &&
	      (uintptr_t)record->outside % 64 == 0);
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

/*
 * A key of the program whose destructor uses a region: it may run after the library's
 * destructor.
 */
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
	CASE(no_cache_line_is_shared);
	CASE(cancellation);
	CASE(thread_destructors);
	CASE(many_sites);
	CASE(snapshots_are_consistent);
	CASE(earlier_snapshots_do_not_refuse_later_ones);
	CASE(threads_get_snapshots_at_the_same_time);
	CASE(sets_exchanged_while_threads_run);
	tach_snapshot_free(shot);
	return check_done();
}
