/* SPDX-License-Identifier: MIT */
/*
 * LIKWID's markers on a real kernel: loops of known length, by thread, with constant and
 * computed names.
 */
#define LIKWID_PERFMON
#include "compat/likwid/edges.c"
#include "compat/likwid/group.c"
#include "compat/likwid/names.c"
#include "compat/likwid/presets.c"
#include "compat/likwid/results.c"
#include "compat/likwid/state.c"
#include "compat/likwid/table.c"
#include "compat/likwid/tables.c"
#include "compat/likwid/thread.c"
#include "tests/check.h"
#include "tests/guest/machine.h"

enum { THREADS = 4, ENTRIES = 20, AGAIN = 100 };

/* Instructions of the region's only entry; an entry that the kernel interrupts is repeated. */
#define ENTRY(tag, n)                                                                          \
	__extension__({                                                                        \
		double got_[1] = {-1};                                                         \
		for (int try_ = 0; try_ < AGAIN; try_++) {                                     \
			int room_ = 1;                                                         \
			LIKWID_MARKER_REGISTER(tag);                                           \
			LIKWID_MARKER_RESET(tag);                                              \
			LIKWID_MARKER_START(tag);                                              \
			machine_loop(n);                                                       \
			LIKWID_MARKER_STOP(tag);                                               \
			LIKWID_MARKER_GET(tag, &room_, got_, NULL, NULL);                      \
			if (lw_region_get(tag)->flags == 0)                                    \
				break;                                                         \
		}                                                                              \
		got_[0];                                                                       \
	})

static void begin(void)
{
	setenv("LIKWID_EVENTS", "instructions:FIXC0", 1);
	setenv("LIKWID_FILEPATH", "/dev/null", 1);
	LIKWID_MARKER_INIT;
}

/* Includes loading the loop's number into its register, and a look-up by name. */
static int is(double got, uint64_t n, double besides)
{
	double want = (double)n * MACHINE_LOOP_INSTRUCTIONS;

	if (got + 32 >= want && got <= want + besides)
		return 1;
	printf("# %.0f instructions of %.0f\n", got, want);
	return 0;
}

static void loops_are_counted(void)
{
	char tag[] = "computed";

	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	begin();
	/* The first entry at a place looks up its region. */
	for (uint64_t n = 1; n < 1000000; n *= 10) {
		double constant = ENTRY("constant", n), computed = ENTRY(tag, n);

		CHECK(n == 1 || (is(constant, n, 64) && is(computed, n, 300)));
	}
	LIKWID_MARKER_CLOSE;
}

static void *work(void *length)
{
	for (int i = 0; i < ENTRIES; i++) {
		LIKWID_MARKER_START("shared");
		machine_loop(*(uint64_t *)length);
		LIKWID_MARKER_STOP("shared");
	}
	return NULL;
}

/* An entry that the kernel interrupts may include the slow path. */
static void threads_count_their_own(void)
{
	enum { SLOW = 400 };
	uint64_t length[THREADS];
	pthread_t thread[THREADS];
	int seen = 0;

	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	begin();
	for (int i = 0; i < THREADS; i++) {
		length[i] = 10000 * (1 + (uint64_t)i);
		pthread_create(&thread[i], NULL, work, &length[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	LIKWID_MARKER_CLOSE;
	for (int t = 0; t <= THREADS; t++) {
		double got =
			perfmon_getResultOfRegionThread(perfmon_getNumberOfRegions() - 1, 0, t);

		for (int i = 0; i < THREADS; i++) {
			double want = (double)length[i] * MACHINE_LOOP_INSTRUCTIONS * ENTRIES;

			if (got >= want && got <= want + ENTRIES * SLOW)
				seen |= 1 << i;
		}
	}
	CHECK(seen == (1 << THREADS) - 1);
}

int main(void)
{
	CASE(loops_are_counted);
	CASE(threads_count_their_own);
	return check_done();
}
