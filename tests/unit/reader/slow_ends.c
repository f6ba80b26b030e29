/* SPDX-License-Identifier: MIT */
/* The slow paths of begin and end: how often they read, and what the reads cost. */
#include "tests/unit/reader/slow.h"

/* ---- begin's own time ---- */

/*
 * Narrow counters are always read out of line; if the kernel interrupts a read, it is repeated.
 */
static void begun_out_of_line(void)
{
	for (long at = -1; at < 24; at++) {
		struct tach_reader *r = open_sim(2, 32);
		uint32_t flags;

		sim.act = sim_reschedule;
		sim.point = at;
		tach_reader_begin_n(r, &mark, 2);
		CHECK(mark.flags == 0, "%ld: %#x", at, mark.flags);
		CHECK(mark.reader == r && mark.lock & 1);
		sim.act = NULL;
		sim_work_all(100);
		flags = sim_page(0)->lock == mark.lock - 1 ? 0 : TACH_FLAG_RESCHEDULED;
		CHECK(tach_reader_end_n(r, &mark, delta, 2) == flags, "%ld", at);
		CHECK(delta[0] == 100 && delta[1] == 201, "%ld", at);
		/* The first read has a smaller error. */
		tach_reader_begin_n(r, &mark, 2);
		sim_starve();
		CHECK(tach_reader_end_n(r, &mark, delta, 2) == TACH_FLAG_INCOMPLETE);
		mark.flags = TACH_FLAG_RESCHEDULED;
		CHECK(tach_reader_end_n(r, &mark, delta, 2) == TACH_FLAG_INCOMPLETE);
	}
}

static long every, times;

static void step_in_again(void)
{
	sim_touch();
	sim.point += every;
	times--;
	if (times == 0)
		sim.act = NULL;
}

/*
 * The kernel interrupts each read of a begin: the read is repeated a hundred times, then the
 * region is flagged.
 */
static void begun_out_of_line_among_others(void)
{
	static const long often[] = {99, 100, 5000};
	int given_up[3] = {0};

	for (every = 6; every < 30; every++)
		for (int i = 0; i < 3; i++) {
			struct tach_reader *r = open_sim(2, 32);

			sim.act = step_in_again;
			sim.point = 4;
			times = often[i];
			tach_reader_begin_n(r, &mark, 2);
			given_up[i] += mark.flags == TACH_FLAG_RESCHEDULED;
			CHECK(mark.flags == 0 || mark.flags == TACH_FLAG_RESCHEDULED,
			      "%ld: %#x", every, mark.flags);
			sim.act = NULL;
			sim_work_all(100);
			tach_reader_end_n(r, &mark, delta, 2);
			CHECK(delta[0] == 100 && delta[1] == 201, "%ld", every);
		}
	/*
	 * A hundred repetitions suffice if each read is interrupted once; in most runs it is
	 * more often, or never.
	 */
	CHECK(given_up[0] == 0, "%d", given_up[0]);
	CHECK(given_up[1] >= 1, "%d", given_up[1]);
	CHECK(given_up[2] >= 4, "%d", given_up[2]);
}

/*
 * A begin exceptionally takes the slow path, and the region includes the slow path's own
 * counts.
 */
static void begun_out_of_line_for_once(void)
{
	for (int n = 1; n <= 2; n++)
		for (long at = 0; at < 8; at++) {
			struct tach_reader *r = open_sim(n, 48);
			uint32_t flags;

			sim.act = sim_touch;
			sim.point = at;
			tach_reader_begin(r, &mark);
			CHECK(!(mark.lock & 1) || mark.flags == TACH_FLAG_RESCHEDULED);
			sim.act = NULL;
			flags = sim_page(0)->lock == mark.lock ? 0 : TACH_FLAG_RESCHEDULED;
			sim_work_all(100);
			CHECK(tach_reader_end(r, &mark, delta) == flags && delta[0] == 100);
		}
}

/* ---- ends ---- */

static void restore(void)
{
	sim.revoked = 0;
}

static void revoke_for_a_while(void)
{
	sim.revoked = 1;
	sim.act = restore;
	/* One is the end's own counter read, the other the slow path's. */
	sim.point = sim.steps + 6;
}

/*
 * The counter could not be read at begin, and can be read now: the region includes the slow
 * path's own counts.
 */
static void faults_for_once(void)
{
	for (int n = 1; n <= 2; n++) {
		struct tach_reader *r = open_sim(n, 48);
		uint32_t flags;

		tach_reader_begin(r, &mark);
		mark.flags = n == 1 ? 0 : ~0u; /* a fast begin does not write the flags */
		sim_work_all(100);
		sim.act = revoke_for_a_while;
		sim.point = sim.steps;
		flags = tach_reader_end(r, &mark, delta);
		CHECK(!sim.revoked && flags == TACH_FLAG_RESCHEDULED && delta[0] == 100,
		      "%#x, %llu", flags, (unsigned long long)delta[0]);
		CHECK(n == 1 || delta[1] == 201, "%llu", (unsigned long long)delta[1]);
		/* The same happens if the group was rescheduled, or had no counters. */
		tach_reader_begin(r, &mark);
		sim_starve();
		sim.act = revoke_for_a_while;
		sim.point = sim.steps;
		CHECK(tach_reader_end(r, &mark, delta) == TACH_FLAG_INCOMPLETE);
	}
}

/* The sums show if the counter was read once, several times, or not inline. */
static void sums_tell_how_often(void)
{
	struct tach_reader *r = open_sim(1, 48);
	uint64_t sum = 0;

	CHECK(tach__sum_of(r->way[0], 1, &sum) == 1 && sum == 7000);
	sim.act = sim_reschedule;
	sim.point = sim.steps + 1;
	sum = 0;
	CHECK(tach__sum_of(r->way[0], 1, &sum) == 2 && sum == 7000);
	/*
	 * The event gets a counter after it was seen without one: if reads may fault, it is
	 * read again.
	 */
	sim_out();
	sim.act = sim_move;
	sim.event[0].index = 1;
	sim.point = sim.steps + 2;
	CHECK(tach__sum_of(r->way[0], 1, &sum) == (TACH_ARCH_FAULTS ? 2 : 0));
	sim_put(0, 1);
	sim_revoke();
	CHECK(tach__sum_of(r->way[0], 1, &sum) == 0);
}

/* The page of another member than the leader changes during the end. */
static void other_pages_change(void)
{
	int seen = 0;

	for (long at = 4; at < 10; at++) {
		struct tach_reader *r = open_sim(2, 48);
		uint32_t flags;

		tach_reader_begin_n(r, &mark, 2);
		sim_work_all(100);
		sim.act = sim_move_last;
		sim.point = sim.steps + at;
		flags = tach_reader_end_n(r, &mark, delta, 2);
		CHECK(flags == 0 || flags == TACH_FLAG_RESCHEDULED, "%ld: %#x", at, flags);
		CHECK(delta[0] == 100 && delta[1] == 201 && untouched(delta, 2));
		seen += flags != 0;
	}
	CHECK(seen == 4, "%d", seen);
}

static void works_on(void)
{
	sim.event[0].count += 1000;
}

/* Counts after an end has read its counters again do not belong to the region. */
static void counts_after_the_end_are_excluded(void)
{
	for (int which = 0; which < 4; which++) {
		int starves = which % 2, n = 1 + which / 2;
		struct tach_reader *r = open_sim(n, 48);
		uint32_t flags;

		tach_reader_begin(r, &mark);
		sim_work_all(100);
		if (starves)
			sim_starve();
		else
			sim_reschedule();
		sim.act = works_on;
		sim.point = sim.steps + 5 + 5 * n;
		flags = tach_reader_end(r, &mark, delta);
		CHECK(sim.event[0].count == 8100 && delta[0] == 100, "%llu",
		      (unsigned long long)delta[0]);
		CHECK(n == 1 || delta[1] == 201);
		CHECK(flags == (starves ? TACH_FLAG_INCOMPLETE : TACH_FLAG_RESCHEDULED), "%#x",
		      flags);
	}
}

/* If both ends use read(2), counts are complete for any length of the region. */
static void by_the_system_at_both_ends(void)
{
	struct tach_reader *r = open_sim(2, 48);

	sim.enabled = sim.running = UINT64_C(1) << 50;
	mark.running = UINT64_C(1) << 51;
	sim_out();
	tach_reader_begin_n(r, &mark, 2);
	CHECK(mark.flags == TACH_FLAG_SYSCALL, "%#x", mark.flags);
	for (int i = 0; i < 2; i++)
		sim.event[i].count += 77;
	CHECK(tach_reader_end_n(r, &mark, delta, 2) == TACH_FLAG_SYSCALL);
	CHECK(delta[0] == 77 && delta[1] == 77, "%llu", (unsigned long long)delta[0]);
	/* A reset is detected at any count. */
	sim.event[0].count = UINT64_C(1) << 49;
	tach_reader_begin_n(r, &mark, 2);
	sim.event[0].count -= 5;
	CHECK(tach_reader_end_n(r, &mark, delta, 2) == (TACH_FLAG_SYSCALL | TACH_FLAG_LOST) &&
	      delta[0] == 0);
}

/*
 * Members that were not requested are ignored: they are not flagged as lost, and get no value.
 */
static void fewer_members(void)
{
	for (unsigned n = 1; n <= 3; n++)
		for (int way = 0; way < 4; way++) {
			static void (*const acts[])(void) = {sim_reschedule, sim_out, sim_fail,
							     sim_revoke};
			static const uint32_t flags[] = {
				TACH_FLAG_RESCHEDULED,
				TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_RESCHEDULED,
				TACH_FLAG_LOST, TACH_FLAG_SYSCALL | TACH_FLAG_MIXED};
			struct tach_reader *r = open_sim(4, 48);
			uint32_t got;

			tach_reader_begin_n(r, &mark, 4);
			for (unsigned i = n; i < 4; i++)
				mark.value[i] = canary;
			sim_work_all(100);
			acts[way]();
			delta[n] = ~(uint64_t)0;
			got = n == 1   ? tach_reader_end_n(r, &mark, delta, 1)
			      : n == 2 ? tach_reader_end_n(r, &mark, delta, 2)
				       : tach_reader_end_n(r, &mark, delta, 3);
			CHECK(got == flags[way], "%d of %u: %#x", way, n, got);
			CHECK(delta[n] == ~(uint64_t)0 && untouched(delta, (int)n + 1));
			for (unsigned i = 0; i < n; i++)
				CHECK(delta[i] == (way == 2 ? 0 : 100 * (i + 1) + i));
		}
}

/* ---- modular sums become whole counts ---- */

static void whole_counts(void)
{
	static const unsigned widths[] = {40, 48, 63};
	struct perf_event_mmap_page page = {.pmc_width = 64, .time_running = ~(uint64_t)0};

	CHECK(tach__reader_unwrap(&page, 5, 100) == 5 &&
	      tach__reader_unwrap(&page, (uint64_t)-5, 100) == (uint64_t)-5);
	for (int w = 0; w < 3; w++) {
		uint64_t full = (uint64_t)1 << widths[w];

		page.pmc_width = (uint16_t)widths[w];
		page.time_running = 0;
		CHECK(tach__reader_unwrap(&page, 5, 100) == 5 &&
		      tach__reader_unwrap(&page, 0, 0) == 0);
		CHECK(tach__reader_unwrap(&page, (uint64_t)-5, 0) == full - 5);
		/* Two overflows, and a running time that is long enough for them. */
		page.time_running = full / 64 - 1;
		CHECK(tach__reader_unwrap(&page, 5, 4) == 5);
		page.time_running = full / 64;
		CHECK(tach__reader_unwrap(&page, 5, 3) == 5 &&
		      tach__reader_unwrap(&page, 5, 4) == full + 5);
		CHECK(tach__reader_unwrap(&page, 0, 4) == full &&
		      tach__reader_unwrap(&page, 1, 5) == full + 1);
	}
}

static void set_back_by_the_count(void)
{
	static const uint64_t most = INT64_MAX;

	CHECK(set_back(5, 5) == 0 && set_back(0, 0) == 0 && set_back(4, 5) == 0);
	CHECK(set_back(6, 5) == TACH_FLAG_LOST && set_back(most, 0) == TACH_FLAG_LOST);
	CHECK(set_back(most, most) == 0 && set_back(0, most + 1) == TACH_FLAG_LOST);
	CHECK(set_back(most + 2, most + 1) == TACH_FLAG_LOST);
}

/*
 * The region begins after the counter passed zero, before its interrupt: the difference is the
 * count, and the update of the page does not add 2^width, for any running time.
 */
static void begun_past_zero(void)
{
	for (int way = 0; way < 3; way++) {
		struct tach_reader *r = open_sim(1, 48);
		uint32_t flags;

		sim.enabled = sim.running = UINT64_C(1) << 50;
		sim_reschedule();
		sim_reschedule();
		sim_overflow_late();
		tach_reader_begin_n(r, &mark, 1);
		sim.event[0].count += 77;
		if (way == 1)
			sim_revoke();
		sim_reschedule();
		if (way == 2) {
			sim.act = revoke_for_a_while;
			sim.point = sim.steps;
		}
		flags = tach_reader_end_n(r, &mark, delta, 1);
		CHECK(delta[0] == 77, "%d: %llu", way, (unsigned long long)delta[0]);
		CHECK((flags & ~(TACH_FLAG_SYSCALL | TACH_FLAG_MIXED)) == TACH_FLAG_RESCHEDULED,
		      "%d: %#x", way, flags);
	}
}

/* ---- named regions, whose values are completed later ---- */

/* Clears the stack, so that unset variables are 0. 0 is not a possible count here. */
static __attribute__((noinline)) void clear_stack(void)
{
	volatile char left[8192];

	for (size_t i = 0; i < sizeof left; i++)
		left[i] = 0;
}

static uint32_t settled(uint64_t ticks, void (*amid)(void), void (*later)(void), uint64_t *to)
{
	struct tach_reader *r = open_sim(2, 48);

	tach_reader_begin(r, &mark);
	sim_work_all(100);
	amid();
	for (unsigned i = 0; i < 2; i++)
		CHECK(tach__end_any(r, &mark, to, i));
	later();
	clear_stack();
	return tach__reader_settle(tach__reader(r), &mark, ticks, to);
}

static void not_read_later(void)
{
	hard_refused = 1;
	sim_out();
}

/*
 * If present counts cannot be read, a short region is right without them, and a long region is
 * lost.
 */
static void settled_without_counts(void)
{
	const uint64_t bound = ((UINT64_C(1) << 48) - 1) / 64;
	static void (*const later[])(void) = {sim_fail, not_read_later};

	for (int i = 0; i < 2; i++) {
		CHECK(settled(bound - 1, sim_reschedule, later[i], delta) ==
		      TACH_FLAG_RESCHEDULED);
		CHECK(delta[0] == 100 && delta[1] == 201 && untouched(delta, 2));
		CHECK(settled(bound, sim_reschedule, later[i], delta) ==
		      (TACH_FLAG_RESCHEDULED | TACH_FLAG_LOST));
	}
	CHECK(settled(bound - 1, sim_starve, not_read_later, delta) == TACH_FLAG_INCOMPLETE);
	for (int i = 0; i < 2; i++) {
		CHECK(settled(bound - 1 + (uint64_t)i, sim_reschedule, sim_out, delta) ==
		      TACH_FLAG_RESCHEDULED);
		CHECK(delta[0] == 100 && delta[1] == 201 && untouched(delta, 2));
	}
}

/* ---- reads ---- */

static void reads_by_the_system(void)
{
	struct tach_reader *r = open_mixed(2, 1, 1);

	sim_out();
	CHECK(tach__read_slow(r, delta, 0, 4) == TACH_FLAG_SYSCALL && delta[0] == 7000);
	CHECK(delta[1] == 7000 && delta[2] == 0 && delta[3] == 500 && untouched(delta, 4));
	sim_pass(0);
	CHECK(tach__read_slow(r, delta, 0, 4) == (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE));
	CHECK(delta[0] == 7000 && delta[3] == 500);
}

int main(void)
{
	CASE(begun_out_of_line);
	CASE(begun_out_of_line_among_others);
	CASE(begun_out_of_line_for_once);
	CASE(faults_for_once);
	CASE(sums_tell_how_often);
	CASE(other_pages_change);
	CASE(counts_after_the_end_are_excluded);
	CASE(by_the_system_at_both_ends);
	CASE(fewer_members);
	CASE(whole_counts);
	CASE(set_back_by_the_count);
	CASE(begun_past_zero);
	CASE(settled_without_counts);
	CASE(reads_by_the_system);
	return check_done();
}
