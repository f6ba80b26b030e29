/* SPDX-License-Identifier: MIT */
/*
 * The reader with a simulated kernel that interrupts it at every point: for each action, and
 * each access in begin, in end and in between, the result is right or flagged.
 */
#include "tests/unit/reader/fakepage.h"

enum form { UNROLLED, LOOP, FORMS };

static void begin(struct tach_reader *r, struct tach_mark *mark, enum form form)
{
	if (form == LOOP)
		tach_reader_begin(r, mark);
	else if (sim.n == 1)
		tach_reader_begin_n(r, mark, 1);
	else if (sim.n == 2)
		tach_reader_begin_n(r, mark, 2);
	else
		tach_reader_begin_n(r, mark, 4);
}

static uint32_t end(struct tach_reader *r, const struct tach_mark *mark, uint64_t *delta,
		    enum form form)
{
	if (form == LOOP)
		return tach_reader_end(r, mark, delta);
	if (sim.n == 1)
		return tach_reader_end_n(r, mark, delta, 1);
	if (sim.n == 2)
		return tach_reader_end_n(r, mark, delta, 2);
	return tach_reader_end_n(r, mark, delta, 4);
}

/*
 * An action of the kernel, and the flags that end may set for a region that the action
 * interrupts.
 */
static const struct act {
	const char *name;
	void (*act)(void);
	uint32_t middle;
} acts[] = {
	{"nothing", NULL, 0},
	{"reschedule", sim_reschedule, TACH_FLAG_RESCHEDULED},
	{"move", sim_move, TACH_FLAG_RESCHEDULED},
	{"move the last", sim_move_last, TACH_FLAG_RESCHEDULED},
	{"touch the page", sim_touch, TACH_FLAG_RESCHEDULED},
	{"overflow", sim_overflow, TACH_FLAG_RESCHEDULED},
	{"overflow, late interrupt", sim_overflow_late, 0},
	{"take off", sim_out, TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_RESCHEDULED},
	{"starve", sim_starve, TACH_FLAG_INCOMPLETE},
	{"fail", sim_fail, TACH_FLAG_LOST},
	{"revoke", sim_revoke, TACH_FLAG_SYSCALL | TACH_FLAG_MIXED},
};
enum { NACTS = sizeof acts / sizeof *acts };

struct times {
	uint64_t before[SIM_MAX], begun[SIM_MAX], ending[SIM_MAX], after[SIM_MAX];
};

static void note(uint64_t *to)
{
	for (int i = 0; i < sim.n; i++)
		to[i] = sim.event[i].count;
}

/*
 * Runs one region with the kernel's action at step `point`. Returns the number of steps, and
 * the step in the middle.
 */
static long region(const struct act *a, long point, int n, unsigned width, uint64_t work,
		   enum form form, long *middle)
{
	struct tach_reader *r = sim_open(n, width, 7000);
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	struct times t;
	uint32_t flags, touched;

	sim.act = a->act;
	sim.point = point;
	note(t.before);
	begin(r, &mark, form);
	note(t.begun);
	touched = sim_page(0)->lock;
	sim_work_all(work);
	*middle = sim.steps;
	sim_step();
	sim_work_all(work);
	note(t.ending);
	touched = touched != sim_page(0)->lock ? TACH_FLAG_RESCHEDULED : 0;
	flags = end(r, &mark, delta, form);
	note(t.after);

	/* An interrupt of the counter itself also updates the page. */
	if (point < 0 || !a->act)
		CHECK(flags == (touched ? TACH_FLAG_RESCHEDULED : 0), "%s: flags %#x", a->name,
		      flags);
	else if (point == *middle)
		CHECK((flags | touched) == (a->middle | touched) ||
			      (a->act == sim_move_last && n > 1),
		      "%s: flags %#x", a->name, flags);
	if (a->middle == TACH_FLAG_RESCHEDULED)
		CHECK((flags & ~TACH_FLAG_RESCHEDULED) == 0, "%s at %ld: flags %#x", a->name,
		      point, flags);
	CHECK(!(flags & TACH_FLAG_LOST) || a->act == sim_fail, "%s at %ld: lost", a->name,
	      point);
	for (int i = 0; i < n && !(flags & TACH_FLAG_LOST); i++)
		CHECK(delta[i] >= t.ending[i] - t.begun[i] &&
			      delta[i] <= t.after[i] - t.before[i],
		      "%s at %ld, counter %d of %d, %u bits: %llu, truth %llu .. %llu", a->name,
		      point, i, n, width, (unsigned long long)delta[i],
		      (unsigned long long)(t.ending[i] - t.begun[i]),
		      (unsigned long long)(t.after[i] - t.before[i]));
	return sim.steps;
}

static void every_point(unsigned width, uint64_t work)
{
	static const int counts[] = {1, 2, 4};
	long middle, points;

	for (int a = 0; a < NACTS; a++)
		for (int c = 0; c < 3; c++)
			for (enum form form = 0; form < FORMS; form++) {
				points = region(&acts[a], -1, counts[c], width, work, form,
						&middle);
				for (long at = 0; at < points + 20; at++)
					region(&acts[a], at, counts[c], width, work, form,
					       &middle);
			}
}

static void regions_are_right_or_flagged(void)
{
	static const unsigned widths[] = {32, 40, 48, 64};

	for (int w = 0; w < 4; w++) {
		every_point(widths[w], 1000);
		every_point(widths[w], 123456789);
	}
}

/* More events than a counter holds, repeatedly beyond its end and beyond 2^32 and 2^33. */
static void regions_longer_than_counters(void)
{
	const uint64_t most = (uint64_t)1 << 34;
	long middle;

	for (uint64_t work = most >> 8; work <= most; work += most / 16 + 12345)
		for (int a = 0; a < 8; a++) {
			region(&acts[a], -1, 4, 32, work, UNROLLED, &middle);
			region(&acts[a], middle, 4, 32, work, UNROLLED, &middle);
		}
	/* Modular sums hold differences below 2^width from any start. */
	for (uint64_t work = 1; work < (uint64_t)1 << 36; work = work * 3 + 1)
		region(&acts[0], -1, 4, 40, work, UNROLLED, &middle);
}

/* A count above 2^width, such as a day at 48 bits, is complete, by pages or by read(2). */
static void regions_longer_than_2_to_the_width(void)
{
	static const unsigned widths[] = {40, 48};

	for (int w = 0; w < 2; w++)
		for (uint64_t times = 0; times < 5; times++)
			for (int revoked = 0; revoked < 2; revoked++) {
				struct tach_reader *r = sim_open(2, widths[w], 7000);
				uint64_t delta[TACH_COUNTERS_MAX], from[SIM_MAX], to[SIM_MAX];
				uint64_t work = (times << widths[w]) + 12345;
				struct tach_mark mark;

				tach_reader_begin(r, &mark);
				note(from);
				for (int i = 0; i < 2; i++)
					sim.event[i].count += work;
				sim.enabled += work;
				sim.running += work;
				sim_reschedule();
				sim_reschedule();
				if (revoked)
					sim_out();
				note(to);
				tach_reader_end(r, &mark, delta);
				for (int i = 0; i < 2; i++)
					CHECK(delta[i] == to[i] - from[i],
					      "%u bits: %llu, truth %llu", widths[w],
					      (unsigned long long)delta[i],
					      (unsigned long long)(to[i] - from[i]));
			}
}

/*
 * Named regions: their STOP reads modulo 2^width, detects the reschedule later, and counting
 * continues until then.
 */
static uint32_t named(uint64_t work, unsigned width, void (*amid)(void), void (*later)(void))
{
	struct tach_reader *r = sim_open(2, width, 7000);
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	uint32_t flags;

	tach_reader_begin(r, &mark);
	for (int i = 0; i < 2; i++)
		sim.event[i].count += work;
	sim.enabled += work;
	sim.running += work;
	sim_reschedule();
	amid();
	for (unsigned i = 0; i < 2; i++)
		CHECK(tach__end_any(r, &mark, delta, i));
	sim_work_all(1000);
	if (later)
		later();
	flags = tach__reader_settle(tach__reader(r), &mark, work, delta);
	for (int i = 0; i < 2 && !(flags & TACH_FLAG_LOST); i++)
		CHECK(delta[i] >= work && delta[i] <= work + 100, "%u bits: %llu, truth %llu",
		      width, (unsigned long long)delta[i], (unsigned long long)work);
	return flags;
}

static void set_all_back(void)
{
	for (int i = 0; i < 2; i++) {
		sim.event[i].count = 0;
		sim.event[i].count_in = 0;
		sim_show(i);
	}
}

static void named_regions_longer_than_2_to_the_width(void)
{
	static const unsigned widths[] = {40, 48};

	for (int w = 0; w < 2; w++)
		for (uint64_t times = 0; times < 5; times++) {
			uint64_t work = (times << widths[w]) + 12345;

			CHECK(named(work, widths[w], sim_reschedule, NULL) ==
			      TACH_FLAG_RESCHEDULED);
			CHECK(named(work, widths[w], sim_reschedule, sim_out) ==
			      TACH_FLAG_RESCHEDULED);
			CHECK(named(work, widths[w], set_all_back, NULL) & TACH_FLAG_LOST);
		}
}

/* Absolute counts: both ways of reading give the same value, wherever the kernel interrupts. */
static void reads_are_right(void)
{
	static const unsigned widths[] = {32, 40, 48, 64};
	uint64_t before[SIM_MAX], after[SIM_MAX], value[TACH_COUNTERS_MAX];
	uint32_t flags;

	for (int a = 0; a < NACTS; a++)
		for (int w = 0; w < 4; w++)
			for (long at = -1; at < 60; at++) {
				struct tach_reader *r =
					sim_open(4, widths[w], (uint64_t)1 << 50);

				sim.act = acts[a].act;
				sim.point = at;
				note(before);
				flags = at % 2 ? tach_reader_read(r, value)
					       : tach_reader_read_n(r, value, 4);
				note(after);
				CHECK(!(flags & TACH_FLAG_LOST) || sim.act == sim_fail,
				      "%s: lost", acts[a].name);
				for (int i = 0; i < 4 && !(flags & TACH_FLAG_LOST); i++)
					CHECK(value[i] >= before[i] && value[i] <= after[i],
					      "%s at %ld, counter %d, %u bits: %llu, truth "
					      "%llu",
					      acts[a].name, at, i, widths[w],
					      (unsigned long long)value[i],
					      (unsigned long long)before[i]);
				note(before);
				flags = tach_reader_read_one(r, 2, value);
				CHECK((flags & TACH_FLAG_LOST) ||
					      (value[0] >= before[2] &&
					       value[0] <= sim.event[2].count),
				      "one, %s at %ld", acts[a].name, at);
			}
}

static void a_width_of_zero_is_survived(void)
{
	struct tach_reader *r = sim_open(1, 48, 0);
	uint64_t value[TACH_COUNTERS_MAX];

	sim_page(0)->pmc_width = 0;
	CHECK(tach_reader_read(r, value) == 0);
	CHECK(tach__extend(5, 0) == 5 && tach__extend(~(uint64_t)0, 64) == ~(uint64_t)0);
}

/* After an end that took the slow path, the next end is fast again. */
static void after_a_loss_it_goes_on(void)
{
	struct tach_reader *r = sim_open(2, 48, 100);
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark outer, inner;

	tach_reader_begin(r, &outer);
	sim_fail();
	tach_reader_begin(r, &inner); /* recovers */
	sim_work_all(50);
	CHECK(tach_reader_end(r, &inner, delta) == TACH_FLAG_SYSCALL || delta[0] == 50, "%llu",
	      (unsigned long long)delta[0]);
	CHECK(tach_reader_end(r, &outer, delta) & TACH_FLAG_INCOMPLETE,
	      "what was lost is not flagged");
	tach_reader_begin(r, &outer);
	sim_work_all(50);
	CHECK(tach_reader_end(r, &outer, delta) == 0 && delta[0] == 50);
}

/* A loss detected in an inner region is also in the outer one. */
static void nested_regions_share_a_loss(void)
{
	struct tach_reader *r = sim_open(1, 48, 100);
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark outer, inner;

	tach_reader_begin(r, &outer);
	tach_reader_begin(r, &inner);
	sim_starve();
	CHECK(tach_reader_end(r, &inner, delta) == TACH_FLAG_INCOMPLETE);
	sim_reschedule();
	CHECK(tach_reader_end(r, &outer, delta) == TACH_FLAG_INCOMPLETE);
	tach_reader_begin(r, &inner);
	sim_reschedule();
	CHECK(tach_reader_end(r, &inner, delta) == TACH_FLAG_RESCHEDULED);
}

/*
 * A handler runs during the end of a region that detects a loss: both regions are flagged, and
 * so is an enclosing region that ends later, whatever each one has recorded.
 */
static struct tach_mark in_handler;
static uint32_t handler_flags;

static void end_in_handler(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];

	handler_flags = tach_reader_end(&sim_memory.reader.hot, &in_handler, delta);
}

static void starve_and_end(void)
{
	sim_starve();
	end_in_handler();
}

static void handlers_share_a_loss(void)
{
	static void (*const handlers[])(void) = {end_in_handler, starve_and_end};

	for (int h = 0; h < 2; h++)
		for (int at = 0; at < 60; at++) {
			struct tach_reader *r = sim_open(1, 48, 100);
			uint64_t delta[TACH_COUNTERS_MAX];
			struct tach_mark outer, inner;
			uint32_t flags;

			tach_reader_begin(r, &outer);
			tach_reader_begin(r, &inner);
			tach_reader_begin(r, &in_handler);
			if (handlers[h] == end_in_handler)
				sim_starve();
			else
				sim_reschedule();
			handler_flags = TACH_FLAG_INCOMPLETE;
			sim.act = handlers[h];
			sim.point = sim.steps + at;
			flags = tach_reader_end(r, &inner, delta);
			CHECK(flags & TACH_FLAG_INCOMPLETE || handlers[h] == starve_and_end,
			      "at %d: flags %#x", at, flags);
			CHECK(handler_flags & TACH_FLAG_INCOMPLETE, "at %d: handler's %#x", at,
			      handler_flags);
			if (sim.steps <= sim.point)
				break;
			sim_reschedule();
			CHECK(tach_reader_end(r, &outer, delta) & TACH_FLAG_INCOMPLETE,
			      "at %d: around both", at);
		}
}

/* The events are turned off inside the region, or before it. */
static void turned_off_is_incomplete(void)
{
	struct tach_reader *r = sim_open(2, 48, 100);
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	tach_reader_begin(r, &mark);
	sim_turn_off();
	CHECK(tach_reader_end(r, &mark, delta) ==
	      (TACH_FLAG_INCOMPLETE | TACH_FLAG_RESCHEDULED | TACH_FLAG_SYSCALL |
	       TACH_FLAG_MIXED));
	for (int on = 0; on < 2; on++) {
		uint32_t flags;

		r->fast = (uint32_t)on;
		tach_reader_begin(r, &mark);
		flags = tach_reader_end(r, &mark, delta);
		CHECK(flags == (TACH_FLAG_INCOMPLETE | TACH_FLAG_SYSCALL) && delta[0] == 0,
		      "flags %#x", flags);
	}
	tach_reader_begin(r, &mark);
	sim.off = 0;
	sim_move();
	sim_work_all(50);
	CHECK(tach_reader_end(r, &mark, delta) == (TACH_FLAG_INCOMPLETE | TACH_FLAG_SYSCALL));
	tach_reader_begin(r, &mark);
	sim_work_all(50);
	CHECK(tach_reader_end(r, &mark, delta) == 0 && delta[0] == 50);
}

/* The test uses any value of the counter at the reset, and one and two members. */
static void set_back_is_lost(void)
{
	static const unsigned widths[] = {32, 40, 48, 64};
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	for (int w = 0; w < 8; w++)
		for (uint64_t work = 1; work < (uint64_t)1 << 34; work = work * 3 + 1) {
			struct tach_reader *r = sim_open(1 + w / 4, widths[w % 4], 1000);

			sim_work_all(work);
			tach_reader_begin(r, &mark);
			sim_set_back();
			CHECK((tach_reader_end(r, &mark, delta) & TACH_FLAG_LOST) &&
				      delta[0] == 0,
			      "%u bits", widths[w % 4]);
			sim_reschedule();
			tach_reader_begin(r, &mark);
			sim_work_all(50);
			CHECK(!(tach_reader_end(r, &mark, delta) & TACH_FLAG_LOST) &&
				      delta[0] == 50,
			      "%u bits", widths[w % 4]);
		}
}

/* Members after the requested ones are ignored. */
static void members_behind_the_last(void)
{
	for (unsigned n = 1; n <= 2; n++) {
		struct tach_reader *r = sim_open(4, 48, 7000);
		uint64_t delta[TACH_COUNTERS_MAX];
		struct tach_mark mark;
		uint32_t flags;

		tach_reader_begin_n(r, &mark, n);
		sim_work_all(100);
		sim_reschedule();
		for (unsigned i = n; i < TACH_COUNTERS_MAX; i++)
			mark.value[i] = delta[i] = UINT64_MAX;
		flags = tach_reader_end_n(r, &mark, delta, n);
		CHECK(flags == TACH_FLAG_RESCHEDULED, "%u: flags %#x", n, flags);
		CHECK(delta[0] == 100 && delta[n] == UINT64_MAX, "%u", n);
	}
}

int main(void)
{
	CASE(regions_are_right_or_flagged);
	CASE(regions_longer_than_counters);
	CASE(regions_longer_than_2_to_the_width);
	CASE(named_regions_longer_than_2_to_the_width);
	CASE(reads_are_right);
	CASE(a_width_of_zero_is_survived);
	CASE(after_a_loss_it_goes_on);
	CASE(nested_regions_share_a_loss);
	CASE(handlers_share_a_loss);
	CASE(turned_off_is_incomplete);
	CASE(set_back_is_lost);
	CASE(members_behind_the_last);
	return check_done();
}
