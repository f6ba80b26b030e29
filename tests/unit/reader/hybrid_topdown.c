/* SPDX-License-Identifier: MIT */
/*
 * Top-down metrics on a machine with two core types, one of which has them. Values that are
 * read in user space are within the stated error, wherever the thread is moved, and even if
 * another process reads the group.
 */
#include "tests/unit/reader/hybrid.h"

enum { MEMBERS = 6, INSTRUCTIONS = 5, SLOTS_A_TURN = 8 };
static const char events[] = "adl_glc::TOPDOWN:SLOTS topdown-retiring topdown-bad-spec "
			     "topdown-fe-bound topdown-be-bound instructions";
static const unsigned even[FIELDS_ALL] = {3, 1, 2, 2}, odd[FIELDS_ALL] = {5, 0, 1, 2};

/* Another process with the group's descriptor reads the group; no page shows it. */
static void stranger(void)
{
	struct tach__group_read now;

	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].topdown == SLOTS)
			sim_read(fd, &now);
}

/* Moves the thread to the other core type for one step, which may be a read(2). */
static void hop(void)
{
	static int away;

	move();
	away = !away;
	if (away)
		sim.point = sim.steps;
}

/* The other process reads, and then the same amount is counted again. */
static void stranger_and_work(void)
{
	stranger();
	sim_work(1000000);
}

/* A handler measures, and the thread is moved while it does. */
static void handler(void)
{
	struct tach_mark mark;
	uint64_t delta[TACH_COUNTERS_MAX];
	uint32_t flags;

	tach_reader_begin(reader, &mark);
	sim_work(1000);
	move();
	sim_work(1000);
	flags = tach_reader_end(reader, &mark, delta);
	/* The handler may have interrupted the region's read(2). */
	CHECK(flags == (TACH_FLAG_RESCHEDULED | TACH_FLAG_INCOMPLETE) ||
		      (flags & TACH_FLAG_SYSCALL && !(flags & TACH_FLAG_LOST)),
	      "%#x", flags);
	CHECK(delta[0] == 8000, "%llu", (unsigned long long)delta[0]);
	move();
}

static void long_work(void)
{
	for (int i = 0; i < 50; i++) {
		sim_work(30000);
		move();
	}
}

struct counts {
	uint64_t of[MEMBERS];
};

static struct counts truths(void)
{
	struct counts c = {{0}};

	for (int fd = 0; fd < FDS; fd++) {
		const struct event *e = &event[fd];

		if (!e->open)
			continue;
		if (e->topdown == PLAIN)
			c.of[INSTRUCTIONS] += e->count;
		else
			c.of[e->topdown - SLOTS] += e->count;
	}
	return c;
}

/* Each value is between least and most; a metric may differ by its error in addition. */
static void judge(const char *what, long at, const uint64_t *value, const struct counts *least,
		  const struct counts *most)
{
	for (unsigned m = 0; m < MEMBERS; m++) {
		uint64_t error = tach_reader_error(reader, m);

		CHECK((error == 0) == (m == 0 || m == INSTRUCTIONS), "%u: %llu", m,
		      (unsigned long long)error);
		CHECK(value[m] + error >= least->of[m] && value[m] <= most->of[m] + error,
		      "%s at %ld: member %u %llu, truth %llu .. %llu, error %llu", what, at, m,
		      (unsigned long long)value[m], (unsigned long long)least->of[m],
		      (unsigned long long)most->of[m], (unsigned long long)error);
	}
}

static struct counts less(struct counts a, struct counts b)
{
	for (int m = 0; m < MEMBERS; m++)
		a.of[m] -= b.of[m];
	return a;
}

static int opened_topdown(const unsigned *share)
{
	begin(events, NULL);
	memcpy(registers.share, share, sizeof registers.share);
	CHECK(set && tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
	return reader != NULL;
}

static void no_system_call_in_the_steady_state(void)
{
	uint64_t delta[TACH_COUNTERS_MAX], value[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	if (!opened_topdown(even))
		return;
	CHECK(tach_reader_missing(reader)[0] == '\0', "%s", tach_reader_missing(reader));
	for (int core = 0; core < CORES; core++) {
		tach_reader_read(reader, value);
		sim.calls = 0;
		for (unsigned i = 1; i < 100; i++) {
			tach_reader_begin(reader, &mark);
			sim_work(i);
			/* The other core type does not count the metrics. */
			CHECK(tach_reader_end(reader, &mark, delta) ==
			      (core ? TACH_FLAG_INCOMPLETE : 0));
			CHECK(delta[0] == (core ? 0 : SLOTS_A_TURN * i), "%llu",
			      (unsigned long long)delta[0]);
			CHECK(tach_reader_read(reader, value) == 0);
			/*
			 * The error is 1/255 of about 40,000, and the same again when the group
			 * was put back.
			 */
			CHECK(tach_reader_error(reader, 1) < 2000, "%llu",
			      (unsigned long long)tach_reader_error(reader, 1));
		}
		CHECK(sim.calls == 0, "core type %d: %ld", core, sim.calls);
		move();
	}
	end();
}

/* Fills the stack, so that later frames do not find old values. */
static __attribute__((noinline)) void soil_the_stack(void)
{
	volatile char room[8192];

	for (size_t i = 0; i < sizeof room; i++)
		room[i] = 0x5a;
}

/* If the kernel counts the metrics, they have the error of its last read. */
static void read_by_the_system(void)
{
	uint64_t value[TACH_COUNTERS_MAX];

	if (!opened_topdown(even))
		return;
	sim_work(1000);
	tach_reader_read(reader, value);
	sim.no_access = 1;
	off_and_on();
	for (int i = 0; i < 3; i++) {
		sim_work(1000);
		soil_the_stack();
		CHECK(tach_reader_read(reader, value) & TACH_FLAG_SYSCALL);
		CHECK(value[0] == SLOTS_A_TURN * 1000 * (2 + (unsigned)i), "%llu",
		      (unsigned long long)value[0]);
		CHECK(tach_reader_error(reader, 1) >= SLOTS_A_TURN * 1000 / 255 &&
			      tach_reader_error(reader, 1) < 2000,
		      "%llu", (unsigned long long)tach_reader_error(reader, 1));
	}
	end();
}

/* The reader's first reads reset the counters; this adds no error to later regions. */
static void known_from_its_start_on(void)
{
	uint64_t value[TACH_COUNTERS_MAX];

	if (!opened_topdown(even))
		return;
	CHECK(tach_reader_read(reader, value) == 0 && tach_reader_error(reader, 1) == 1, "%llu",
	      (unsigned long long)tach_reader_error(reader, 1));
	end();
}

/* Slots lead the group, at any position in the set. */
static void slots_lead(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	begin("topdown-retiring instructions topdown-be-bound adl_glc::TOPDOWN:SLOTS", NULL);
	memcpy(registers.share, even, sizeof even);
	CHECK(set && tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
	if (!reader)
		return;
	tach_reader_begin(reader, &mark);
	sim_work(100);
	CHECK(tach_reader_end(reader, &mark, delta) == 0);
	CHECK(delta[3] == SLOTS_A_TURN * 100 && delta[0] && delta[0] <= 300 && delta[2],
	      "%llu %llu %llu", (unsigned long long)delta[0], (unsigned long long)delta[2],
	      (unsigned long long)delta[3]);
	CHECK(delta[1] == 200 || delta[1] % 100 == 0);
	end();
}

/* A long time before a short region, or before a later read, does not increase their error. */
static void a_region_after_a_long_time(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct counts before, after;
	struct tach_mark mark;

	if (!opened_topdown(odd))
		return;
	sim_work(1u << 30);
	memcpy(registers.share, even, sizeof even);
	before = truths();
	tach_reader_begin(reader, &mark);
	sim_work(1000);
	CHECK(tach_reader_end(reader, &mark, delta) == 0);
	after = less(truths(), before);
	judge("after a long time", 0, delta, &after, &after);
	CHECK(tach_reader_error(reader, 1) < 8 * 1000 / 50, "%llu",
	      (unsigned long long)tach_reader_error(reader, 1));
	end();
}

static const struct act {
	const char *name;
	void (*act)(void);
} acts[] = {
	{"nothing", NULL},
	{"move", move},
	{"there and back", there_and_back},
	{"off and on", off_and_on},
	{"hop", hop},
	{"starve", starve},
	{"a handler", handler},
	{"a stranger", stranger},
	{"a stranger, and work", stranger_and_work},
	{"a long time", long_work},
	{"fail", fail},
};

static int is_stranger(const struct act *a)
{
	return a->act == stranger || a->act == stranger_and_work;
}

static uint32_t region(const struct act *a, long point, unsigned work)
{
	struct counts before, begun, ending, after, least, most;
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	uint32_t flags;

	sim.steps = 0;
	sim.act = a->act;
	sim.point = point;
	before = truths();
	tach_reader_begin(reader, &mark);
	begun = truths();
	sim_work(work);
	sim_step();
	sim_work(work);
	ending = truths();
	flags = tach_reader_end(reader, &mark, delta);
	after = truths();
	least = less(ending, begun);
	most = less(after, before);
	CHECK(!(flags & TACH_FLAG_LOST) || a->act == fail, "%s at %ld: lost", a->name, point);
	if (!(flags & TACH_FLAG_LOST))
		judge(a->name, point, delta, &least, &most);
	return flags;
}

/* Acts at every step of a region, on both core types, with short and long regions. */
static void nothing_is_lost_or_doubled(void)
{
	static const unsigned works[] = {100, 100000};

	for (size_t a = 0; a < sizeof acts / sizeof *acts; a++)
		for (int start = 0; start < 2 * CORES; start++)
			for (long at = 0, steps = 1; at < steps + 40; at++) {
				uint64_t value[TACH_COUNTERS_MAX];
				struct counts truth;

				if (!opened_topdown(even))
					return;
				/* More than TOLERANCE of topdown_look.c, or than SLOTS_MOST. */
				sim_work(is_stranger(&acts[a]) ? 2000 : 40000);
				if (start & 1)
					move();
				tach_reader_read(reader, value);
				if (acts[a].act == hop) {
					/* This makes begin read the group. */
					stranger();
					sim_work(100);
				}
				region(&acts[a], at, works[start / 2]);
				if (at == 0)
					steps = sim.steps;
				/* After any action, the reader continues. */
				memcpy(registers.share, odd, sizeof odd);
				sim_work(20000);
				sim.point = -1;
				tach_reader_read(reader, value);
				truth = truths();
				/*
				 * If more is counted after another process's read than before
				 * it, no counter shows that read: core/reader/topdown.h.
				 */
				if (acts[a].act != fail && !is_stranger(&acts[a]))
					judge(acts[a].name, at, value, &truth, &truth);
				move();
				sim_work(20000);
				region(&acts[0], -1, 5000);
				end();
			}
}

/* Without user access, values are read by read(2), with its flag, and are right. */
static void without_access(void)
{
	begin(events, NULL);
	memcpy(registers.share, even, sizeof even);
	sim.no_access = 1;
	CHECK(tach_reader_open(set, &reader, &err) == 0);
	CHECK(tach_reader_missing(reader)[0]);
	for (int i = 0; i < 4; i++) {
		CHECK(region(&acts[0], -1, 1000) & TACH_FLAG_SYSCALL);
		move();
	}
	/* User access comes back when the kernel next schedules the group. */
	sim.no_access = 0;
	move();
	move();
	CHECK(region(&acts[0], -1, 1000) == 0);
	end();
}

int main(void)
{
	setenv("TACH_PMU", "adl_glc,adl_grt", 1);
	CASE(no_system_call_in_the_steady_state);
	CASE(read_by_the_system);
	CASE(known_from_its_start_on);
	CASE(slots_lead);
	CASE(a_region_after_a_long_time);
	CASE(nothing_is_lost_or_doubled);
	CASE(without_access);
	return check_done();
}
