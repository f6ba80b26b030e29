/* SPDX-License-Identifier: MIT */
/*
 * The reader against the real kernel: loops of known length are counted exactly, each way of
 * reading gives the same quantity, and counts lie between two read(2) of the same events.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "tests/check.h"
#include "tests/guest/machine.h"
#include "tests/guest/reader.h"

enum { MAX = 4 };

/* instructions first if they can be counted, then cycles, then further instructions */
static int open_n(int n)
{
	struct perf_event_attr attr[MAX];
	struct tach_set_member member[MAX];
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	memset(attr, 0, sizeof attr);
	for (int i = 0; i < n; i++) {
		attr[i].size = sizeof attr[i];
		attr[i].type = PERF_TYPE_HARDWARE;
		attr[i].config = (machine_is_exact() && i != 1) ? PERF_COUNT_HW_INSTRUCTIONS
								: PERF_COUNT_HW_CPU_CYCLES;
		attr[i].exclude_kernel = attr[i].exclude_hv = 1;
		member[i].name = "event";
		member[i].attr = &attr[i];
	}
	opt.attrs = member;
	opt.nattrs = n;
	if (open_set(&opt) == 0)
		return 0;
	printf("# %s\n", err.text);
	close_all();
	return -1;
}

/*
 * Extra counts of the end of a rescheduled region, and of a region that the kernel interrupted
 * during begin or end. This happens rarely, mostly on a busy machine.
 */
enum { TRIES = 100, SLOW_END = 40, TORN = 400, TORN_MOST = TRIES / 10 };

/*
 * A region without a flag has the exact count. A rescheduled region also misses nothing, but
 * its end read the counters again and includes the instructions for that. A long region may not
 * fit between two moments at which the kernel schedules.
 */
static uint64_t measure(uint64_t n, uint32_t *flags)
{
	struct tach_mark mark;
	uint64_t delta[MAX];

	for (int i = 0; i < TRIES; i++) {
		tach_reader_begin_n(reader, &mark, 1);
		machine_loop(n);
		*flags = tach_reader_end_n(reader, &mark, delta, 1);
		if (*flags == 0)
			break;
	}
	return delta[0];
}

static void loops_are_counted_exactly(void)
{
	uint64_t one, many;
	uint32_t flags;

	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	CHECK(open_n(1) == 0);
	if (!reader)
		return;
	printf("# count %u fast %u mask %#" PRIx64 " width %u index %u why '%s'\n",
	       reader->count, reader->fast, reader->mask, reader->way[0].page->pmc_width,
	       reader->way[0].page->index, tach_reader_missing(reader));
	one = measure(1, &flags);
	printf("# a region of one turn counts %" PRIu64 "\n", one);
	CHECK(flags == 0, "%#x", flags);
	for (uint64_t n = 10; n <= 10000000; n *= 10) {
		uint64_t want = n * MACHINE_LOOP_INSTRUCTIONS;

		many = measure(1 + n, &flags) - one;
		CHECK(flags == 0 ? many == want
				 : flags == TACH_FLAG_RESCHEDULED && many >= want &&
					   many < want + TORN,
		      "%" PRIu64 " turns: %" PRIu64 ", flags %#x", n, many, flags);
	}
	close_all();
}

/*
 * A system call between the edges: either one that sleeps, so that the region is rescheduled,
 * or one that does not.
 */
static uint64_t across(long number, unsigned member, uint32_t *flags)
{
	static const struct timespec some = {0, 100000};
	struct tach_mark mark;
	uint64_t delta[MAX];

	tach_reader_begin(reader, &mark);
	tach__sys(number, (long)&some, 0, 0, 0, 0, 0);
	*flags = tach_reader_end(reader, &mark, delta);
	return delta[member];
}

static void rescheduled_ends_are_nearly_exact(void)
{
	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	CHECK(open_n(MAX) == 0);
	if (!reader)
		return;
	for (unsigned n = 0; n < MAX; n += 2) {
		uint64_t exact = 0, most = 0;
		uint32_t flags = 1, slept = 0;
		int torn = 0;

		for (int i = 0; i < TRIES && flags; i++)
			exact = across(SYS_getppid, n, &flags);
		CHECK(flags == 0, "%#x", flags);
		for (int i = 0; i < TRIES; i++) {
			uint64_t more = across(SYS_nanosleep, n, &flags) - exact;

			CHECK((flags & ~TACH_FLAG_RESCHEDULED) == 0, "%#x", flags);
			slept |= flags;
			torn += more >= SLOW_END;
			CHECK(more < TORN, "member %u: %" PRId64 " more", n, (int64_t)more);
			most = more > most ? more : most;
		}
		CHECK(torn <= TORN_MOST, "%d of %d count too much", torn, TRIES);
		CHECK(slept, "never rescheduled");
		printf("# the end of a rescheduled region counts %" PRIu64
		       " more in member %u\n",
		       most, n);
	}
	close_all();
}

static void counts_lie_between_two_system_calls(void)
{
	uint64_t outside = 0, backward = 0, last[MAX] = {0};
	int n = machine_is_exact() ? 2 : 1;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	CHECK(open_n(n) == 0);
	if (!reader)
		return;
	for (int turn = 0; turn < 20000; turn++) {
		struct tach__group_read low, high;
		uint64_t value[MAX];
		uint32_t flags;

		CHECK(tach__group_read(&tach__reader(reader)->hard, &low) == 1);
		flags = tach_reader_read(reader, value);
		CHECK(tach__group_read(&tach__reader(reader)->hard, &high) == 1);
		CHECK(flags == 0, "flags %#x", flags);
		for (int i = 0; i < n; i++) {
			outside += value[i] < low.value[i] || value[i] > high.value[i];
			backward += value[i] < last[i];
			last[i] = value[i];
		}
		if (turn % 1000 == 0)
			sched_yield();
	}
	CHECK(outside == 0 && backward == 0, "%" PRIu64 " outside, %" PRIu64 " backward",
	      outside, backward);
	close_all();
}

/* The cost of a region as the guest's exact counter measures it: the code between the reads. */
static void sizes_of_windows(void)
{
	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	for (int n = 1; n <= MAX; n++) {
		struct tach_mark mark;
		uint64_t delta[MAX] = {0};
		uint32_t flags = 1;

		if (open_n(n))
			return;
		for (int i = 0; i < 100 && flags; i++) {
			tach_reader_begin(reader, &mark);
			flags = tach_reader_end(reader, &mark, delta);
		}
		printf("# %d counters: an empty region counts %" PRIu64 " in the first, "
		       "flags %#x\n",
		       n, delta[0], flags);
		CHECK(flags == 0, "%#x", flags);
		close_all();
	}
}

/*
 * Returns the smallest number of instructions that `what` between two reads of one counter adds
 * to the region.
 */
static uint64_t least(void (*what)(void))
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 200; i++) {
		struct tach_mark mark;
		uint64_t delta[MAX];
		uint32_t flags;

		tach_reader_begin_n(reader, &mark, 1);
		what();
		flags = tach_reader_end_n(reader, &mark, delta, 1);
		if (flags == 0 && delta[0] < best)
			best = delta[0];
	}
	return best;
}

/*
 * Instructions of begin and end together, including differences, mask and stores. Narrow
 * counters of x86 take the slow exit; other counters run the code of the listing.
 */
static void pairs_cost_what_they_may(void)
{
	static const struct {
		const char *name;
		void (*pair)(void);
		uint64_t x86, arm64;
	} rows[] = {{"1 counter", pair1, 29, 40}, {"4 counters", pair4, 105, 137}};
	uint64_t base, cost;

	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	if (machine_width() && machine_width() < 40)
		SKIP("counters of less than 40 bits are read out of line on x86");
	CHECK(open_n(4) == 0);
	if (!reader)
		return;
	base = least(pair0);
	for (int i = 0; i < 2; i++) {
		uint64_t budget = machine_is_arm64() ? rows[i].arm64 : rows[i].x86;

		cost = least(rows[i].pair) - base;
		printf("# begin and end of %s: %" PRIu64 " instructions\n", rows[i].name, cost);
		CHECK(cost <= budget + budget / 50, "%s: %" PRIu64 ", budget %" PRIu64,
		      rows[i].name, cost, budget);
	}
	close_all();
}

int main(void)
{
	CASE(loops_are_counted_exactly);
	CASE(rescheduled_ends_are_nearly_exact);
	CASE(counts_lie_between_two_system_calls);
	CASE(sizes_of_windows);
	CASE(pairs_cost_what_they_may);
	return check_done();
}
