/* SPDX-License-Identifier: MIT */
/*
 * Thousands of threads that start and end leak no memory, no mapping and no descriptor, and all
 * their entries are in the totals; the numbers of openings wrap around during the test.
 * TEST_WHOLE: fifty thousand threads. A leak of 16 bytes per thread, the smallest possible,
 * would be 320 KB between two looks, and less than half of that is tolerated; more threads
 * would not improve this. `make soak` has a million.
 */
#include <pthread.h>
#include "core/region/region.h"
#include "tests/unit/region/regions.h"

enum { WORK = 25, MEMBERS = 2, WARM = 1000 };

/* Resources of the process while it has this number of threads. */
struct held {
	int threads;
	long kb;
	int mappings, descriptors;
};

static void *one_entry(void *arg)
{
	TACH_SCOPE(leaf);
	fake_count += WORK;
	return arg;
}

static int threads_total(void)
{
	return getenv("TEST_WHOLE") ? 50000 : 5000;
}

static int live(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, one_entry, NULL) != 0)
			return i;
		pthread_join(thread, NULL);
	}
	return n;
}

static struct held hold(int threads)
{
	struct held h = {threads, regions_resident_kb(), regions_mappings(),
			 regions_descriptors()};

	printf("# after %7d threads: %ld KiB, %d mappings, %d descriptors\n", threads, h.kb,
	       h.mappings, h.descriptors);
	fflush(stdout);
	return h;
}

static void flat(const struct held *from, const struct held *to)
{
	CHECK(to->descriptors == from->descriptors);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	/* The allocator and the C library's stacks may use one or two mappings more. */
	CHECK(to->mappings <= from->mappings + 2);
	CHECK(to->kb - from->kb < 128);
#endif
}

static void threads_in_sequence(int members, int n)
{
	struct held tenth, half, all;
	int lived;

	regions_begin(members);
	lived = live(WARM);
	lived += live(n / 10);
	tenth = hold(lived);
	lived += live(n / 2 - n / 10);
	half = hold(lived);
	lived += live(n - n / 2);
	all = hold(lived);
	CHECK(lived == n + WARM, "%d threads could be made", lived);
	flat(&tenth, &half);
	flat(&half, &all);
	flat(&tenth, &all);
	CHECK(regions_look("leaf", members ? 1 : 0));
	CHECK(info.calls == (uint64_t)lived && info.threads == (uint32_t)lived,
	      "%d calls in %d threads", (int)info.calls, (int)info.threads);
	if (members)
		CHECK(value.value == (double)lived * WORK, "%.0f", value.value);
	CHECK(fake_opens - fake_closes <= 2 * MEMBERS, "%d opened, %d closed", fake_opens,
	      fake_closes);
}

static void threads_with_the_clock_alone(void)
{
	threads_in_sequence(0, threads_total() / 10);
}

static void threads_with_counters(void)
{
	uint64_t *openings = &tach__registry.openings;

	*openings = TACH__OPENINGS - (uint64_t)threads_total() / 2;
	threads_in_sequence(MEMBERS, threads_total());
	CHECK(*openings > TACH__OPENINGS, "the numbers did not begin anew");
}

int main(void)
{
	CASE(threads_with_the_clock_alone);
	CASE(threads_with_counters);
	tach_snapshot_free(shot);
	return check_done();
}
