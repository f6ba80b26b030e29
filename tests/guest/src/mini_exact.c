/* SPDX-License-Identifier: MIT */
/*
 * tach-mini.h with the real kernel: loops of known length are counted exactly, the fallbacks
 * give the reason, another thread's reader is LOST, and the library works in the same program.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <tach.h>
#include "tach-mini.h"
#include "tests/check.h"
#include "tests/guest/machine.h"

static struct tach_mini m;
static uint64_t delta[TACH_MINI_COUNTERS_MAX];

static uint64_t fewest; /* instructions of the most recent loop() */

/* Sets fewest to the count of a region that was not interrupted. */
static uint32_t loop(uint64_t n, unsigned events)
{
	/*
	 * If the kernel's instructions are counted too, the shortest region has none of them.
	 */
	int tries = machine_counts_kernel() ? 20 : 1;
	uint32_t flags = 0;

	fewest = UINT64_MAX;
	for (int i = 0; i < 100 && tries > 0; i++) {
		if (events == 1) {
			tach_mini_begin_n(&m, 1);
			machine_loop(n);
			flags = tach_mini_end_n(&m, delta, 1);
		} else {
			tach_mini_begin(&m);
			machine_loop(n);
			flags = tach_mini_end(&m, delta);
		}
		if (flags != 0)
			continue;
		tries--;
		if (delta[0] < fewest)
			fewest = delta[0];
	}
	return tries ? flags : 0;
}

/* Two lengths: begin and end add the same constant to both. */
static void loops_are_exact(void)
{
	uint64_t one, many;

	if (!machine_counts_instructions())
		SKIP("instruction counts are not exact on this machine");
	CHECK(tach_mini_open(&m, "instructions") >= 0, "%s", m.why);
	if (machine_width() && machine_width() < 40)
		CHECK(m.how == TACH_MINI_SYSCALL, "%s", m.why);
	else
		CHECK(m.how == TACH_MINI_INLINE, "%s", m.why);
	if (m.how == TACH_MINI_INLINE) {
		CHECK(loop(1000, 1) == 0);
		one = fewest;
		CHECK(loop(501000, 1) == 0);
		many = fewest;
		CHECK(many - one == 500000 * MACHINE_LOOP_INSTRUCTIONS, "%" PRIu64, many - one);
		CHECK(one - 1000 * MACHINE_LOOP_INSTRUCTIONS < 100, "%" PRIu64, one);
	}
	tach_mini_close(&m);
}

static void four_counters_are_exact(void)
{
	uint64_t least[TACH_MINI_COUNTERS_MAX], one;

	if (!machine_counts_instructions() || (machine_width() && machine_width() < 40))
		SKIP("instruction counts are not exact on this machine");
	CHECK(tach_mini_open(&m, "instructions,cycles") >= 0, "%s", m.why);
	CHECK(tach_mini_overhead(&m, least) == 0);
	CHECK(loop(1000, 2) == 0);
	one = fewest - least[0];
	CHECK(one >= 1000 * MACHINE_LOOP_INSTRUCTIONS &&
		      one < 1000 * MACHINE_LOOP_INSTRUCTIONS + 8,
	      "%" PRIu64, one);
	CHECK(loop(301000, 2) == 0);
	CHECK(fewest - least[0] - one == 300000 * MACHINE_LOOP_INSTRUCTIONS, "%" PRIu64,
	      fewest);
	tach_mini_close(&m);
}

static void software_events_are_counted(void)
{
	enum { PAGES = 64 };
	char *at;

	CHECK(tach_mini_open(&m, "page-faults") == TACH_MINI_SYSCALL, "%s", m.why);
	at = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		  0);
	madvise(at, PAGES * 4096, MADV_NOHUGEPAGE);
	tach_mini_begin(&m);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)at)[i * 4096] = 1;
	CHECK(tach_mini_end(&m, delta) == TACH_MINI_FLAG_SYSCALL);
	CHECK(delta[0] >= PAGES && delta[0] < PAGES + 4, "%" PRIu64, delta[0]);
	munmap(at, PAGES * 4096);
	tach_mini_close(&m);
}

static void without_a_counter_the_clock_is_read(void)
{
	if (machine_has_pmu())
		SKIP("the machine has a PMU");
	CHECK(tach_mini_open(&m, "cycles,instructions") == TACH_MINI_CLOCK);
	CHECK(m.count == 1 && strcmp(m.name[0], "ns") == 0 && strstr(m.why, "clock: ") == m.why,
	      "%s", m.why);
	delta[1] = 7;
	tach_mini_begin_n(&m, 2);
	CHECK(tach_mini_end_n(&m, delta, 2) == TACH_MINI_FLAG_CLOCK);
	CHECK(delta[0] < 60000000000u && delta[1] == 0);
	tach_mini_close(&m);
}

static void *elsewhere(void *unused)
{
	(void)unused;
	delta[0] = 1;
	tach_mini_begin(&m);
	return (void *)(uintptr_t)tach_mini_end(&m, delta);
}

static void another_thread_is_lost(void)
{
	pthread_t thread;
	void *flags = NULL;

	CHECK(tach_mini_open(&m, "page-faults") >= 0);
	CHECK(pthread_create(&thread, NULL, elsewhere, NULL) == 0 &&
	      pthread_join(thread, &flags) == 0);
	CHECK((uintptr_t)flags == TACH_MINI_FLAG_LOST && delta[0] == 0);
	tach_mini_close(&m);
}

static void bad_lists_are_errors(void)
{
	CHECK(tach_mini_open(&m, "cycles,nosuch") == -EINVAL &&
		      strstr(m.why, "\"nosuch\" (column 8)"),
	      "%s", m.why);
	CHECK(tach_mini_open(&m, "") == -EINVAL);
	CHECK(tach_mini_open(&m, "cycles,") == -EINVAL);
	CHECK(tach_mini_open(&m, "rxyz") == -EINVAL);
	CHECK(tach_mini_open(&m, "r1,r1,r1,r1,r1,r1,r1,r1,r1") == -EINVAL &&
		      strstr(m.why, "more than 8"),
	      "%s", m.why);
	tach_mini_close(&m);
}

/* A region of the library around a region of the header: both count. */
static void the_library_works_beside_it(void)
{
	CHECK(tach_mini_open(&m, "page-faults") >= 0);
	TACH_START(around);
	tach_mini_begin(&m);
	CHECK(!(tach_mini_end(&m, delta) & TACH_MINI_FLAG_LOST));
	TACH_STOP(around);
	tach_mini_close(&m);
}

int main(void)
{
	CASE(loops_are_exact);
	CASE(four_counters_are_exact);
	CASE(software_events_are_counted);
	CASE(without_a_counter_the_clock_is_read);
	CASE(another_thread_is_lost);
	CASE(bad_lists_are_errors);
	CASE(the_library_works_beside_it);
	return check_done();
}
