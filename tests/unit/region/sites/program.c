/* SPDX-License-Identifier: MIT */
/*
 * Ten libraries of a thousand regions each (library.c, given as arguments) are loaded, entered
 * by several threads, unloaded and loaded again, while sets change and snapshots are taken.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <tach.h>
#include "tests/check.h"

enum { LIBRARIES = 10, EACH = 1000, THREADS = 4 };

static const char *const *file;
static void *library[LIBRARIES];
static void (*enter[LIBRARIES])(void);

static int load(int i)
{
	library[i] = dlopen(file[i], RTLD_NOW | RTLD_LOCAL);
	if (!library[i]) {
		printf("# %s\n", dlerror());
		return -1;
	}
	*(void **)&enter[i] = dlsym(library[i], "enter_all");
	return enter[i] ? 0 : -1;
}

static void unload(int i)
{
	dlclose(library[i]);
	enter[i] = NULL;
}

static void begin(uint32_t histograms)
{
	struct tach_regions_options opt = {.events = "", .histograms = histograms};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

static void *enter_loaded(void *arg)
{
	for (int i = 0; i < LIBRARIES; i++)
		if (enter[i])
			enter[i]();
	return arg;
}

static void enter_by_threads(void)
{
	pthread_t thread[THREADS];

	for (int t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, enter_loaded, NULL);
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
}

/*
 * Returns the number of entered sites of the libraries; each must have `calls` calls in this
 * many threads.
 */
static int entered(uint64_t calls, uint32_t threads)
{
	struct tach_region_info info = {.size = sizeof info};
	struct tach_snapshot *shot;
	char seen[LIBRARIES * EACH] = {0};
	int n = 0, right = 0;

	CHECK(tach_snapshot_take(&shot, NULL) == 0);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (sscanf(info.name, "site %d", &n) != 1)
			continue;
		CHECK(n >= 0 && n < LIBRARIES * EACH && !seen[n], "site %d", n);
		seen[n] = 1;
		CHECK(info.calls == calls && info.threads == threads,
		      "%s: %d calls, %d threads", info.name, (int)info.calls,
		      (int)info.threads);
		right++;
	}
	tach_snapshot_free(shot);
	return right;
}

static void ten_thousand_sites(void)
{
	begin(0);
	enter_by_threads();
	CHECK(entered(THREADS, THREADS) == LIBRARIES * EACH);
	enter_loaded(NULL);
	CHECK(entered(THREADS + 1, THREADS + 1) == LIBRARIES * EACH);
}

/* The counts stay, and no word of an unloaded library is written. */
static void half_of_them_unloaded(void)
{
	for (int i = 0; i < LIBRARIES; i += 2)
		unload(i);
	CHECK(entered(THREADS + 1, THREADS + 1) == LIBRARIES * EACH);
	begin(0);
	enter_loaded(NULL);
	CHECK(entered(1, 1) == LIBRARIES * EACH / 2, "%d", entered(1, 1));
}

/* The sites of a library that is loaded again are the earlier ones. */
static void loaded_again(void)
{
	for (int i = 0; i < LIBRARIES; i += 2)
		CHECK(load(i) == 0);
	begin(0);
	enter_by_threads();
	CHECK(entered(THREADS, THREADS) == LIBRARIES * EACH);
}

static int stop;

static int regions_stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void regions_tell(int whether)
{
	__atomic_store_n(&stop, whether, __ATOMIC_RELAXED);
}

static void *exchange(void *arg)
{
	for (uint32_t i = 0; !regions_stopped(); i++) {
		struct tach_snapshot *shot;

		begin(i & 1);
		if (tach_snapshot_take(&shot, NULL) == 0)
			tach_snapshot_free(shot);
	}
	return arg;
}

static void come_and_go_while_sets_are_exchanged(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exchange, NULL);
	for (int round = 0; round < 10; round++) {
		int i = round % LIBRARIES;

		unload(i);
		enter_loaded(NULL);
		CHECK(load(i) == 0);
	}
	regions_tell(1);
	pthread_join(thread, NULL);
	begin(0);
	enter_loaded(NULL);
	CHECK(entered(1, 1) == LIBRARIES * EACH);
}

/* One site more than the maximum is refused, without other effects. */
static void more_sites_than_there_can_be(void)
{
	struct tach_region_mark mark = TACH_REGION_MARK_INIT;
	struct tach_site *last = NULL;
	char name[32];

	for (int i = 0; i <= (int)TACH_SITES_MAX; i++) {
		snprintf(name, sizeof name, "more %d", i);
		last = tach_site_get(name);
		if (!last)
			break;
		tach_region_begin(last, &mark);
		tach_region_end(&mark);
	}
	CHECK(!last, "as many as one likes");
	enter_loaded(NULL);
	CHECK(entered(2, 1) == LIBRARIES * EACH);
}

int main(int argc, char **argv)
{
	file = (const char *const *)argv + 1;
	if (argc != 1 + LIBRARIES)
		return 2;
	for (int i = 0; i < LIBRARIES; i++)
		if (load(i) != 0)
			return 1;
	CASE(ten_thousand_sites);
	CASE(half_of_them_unloaded);
	CASE(loaded_again);
	CASE(come_and_go_while_sets_are_exchanged);
	CASE(more_sites_than_there_can_be);
	return check_done();
}
