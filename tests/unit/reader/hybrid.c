/* SPDX-License-Identifier: MIT */
/*
 * A machine with two core types: sets are encoded for both, readers open both, and if a thread
 * is moved between them at any point of a read, no count is lost or doubled.
 */
#include "tests/guarded.h"
#include "tests/unit/reader/hybrid.h"

/* While signals are blocked, the handler runs at a later step. */
static int is_blocked(void)
{
	if (tach__signals_held)
		sim.point = sim.steps;
	return tach__signals_held;
}

/* A handler that measures while the kernel moves the thread. */
static void handler(void)
{
	struct tach_mark mark;
	uint64_t delta[TACH_COUNTERS_MAX];

	if (is_blocked())
		return;
	move();
	tach_reader_begin(reader, &mark);
	sim_work(1000);
	move();
	sim_work(1000);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_RESCHEDULED);
	CHECK(delta[0] == 2000, "%llu", (unsigned long long)delta[0]);
}

/* The true count of the event with that tag, over both core types. */
static uint64_t truth(int tag)
{
	uint64_t sum = 0;

	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].tag == tag)
			sum += event[fd].count;
	return sum;
}

static void members_are_on_every_core_type(void)
{
	begin("cycles r1c2 INST_RETIRED:ANY_P adl_grt::INST_RETIRED:ANY_P "
	      "cpu_atom/event=0x11/ page-faults",
	      NULL);
	CHECK(set->cores && set->cores->n == 2);
	CHECK(set->cores->attr[0][0].config == 4ull << 32);
	CHECK(set->cores->attr[1][0].config == 10ull << 32);
	CHECK(set->cores->attr[0][1].type == 4 && set->cores->attr[1][1].type == 10);
	CHECK(set->cores->attr[0][2].type == 4 && set->cores->attr[1][2].type == 10);
	CHECK(set->cores->members[0] == 0x07, "%#x", set->cores->members[0]);
	CHECK(set->cores->members[1] == 0x1f, "%#x", set->cores->members[1]);
	CHECK(strstr(tach_set_qualified(set, 2), "adl_glc::INST_RETIRED:ANY_P") &&
		      strstr(tach_set_qualified(set, 2), " + adl_grt::INST_RETIRED:ANY_P"),
	      "%s", tach_set_qualified(set, 2));
	CHECK(strncmp(tach_set_qualified(set, 3), "adl_grt::", 9) == 0);
	tach_set_free(set);
	begin("page-faults", NULL);
	CHECK(!set->cores, "software events need no core type");
	tach_set_free(set);
}

/* A caller's attr belongs to the core PMU that it names, or to both. */
static void attrs_of_callers(void)
{
	struct perf_event_attr any = {.type = PERF_TYPE_HARDWARE,
				      .config = PERF_COUNT_HW_INSTRUCTIONS};
	struct perf_event_attr atom = {.type = 10, .config = 0xc0};
	struct tach_set_member attrs[] = {{"any", &any}, {"atom", &atom}};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	opt.attrs = attrs;
	opt.nattrs = 2;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	if (!set)
		return;
	CHECK(set->cores->members[0] == 1 && set->cores->members[1] == 3);
	CHECK(set->cores->attr[0][0].config == (4ull << 32 | PERF_COUNT_HW_INSTRUCTIONS));
	CHECK(set->cores->attr[1][0].config == (10ull << 32 | PERF_COUNT_HW_INSTRUCTIONS));
	CHECK(tach_set_kind(set, 1) == TACH_MEMBER_HARDWARE);
	tach_set_free(set);
}

static void the_steady_state_makes_no_system_call(void)
{
	uint64_t delta[TACH_COUNTERS_MAX], value[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	if (!opened("cycles instructions"))
		return;
	CHECK(tach_reader_missing(reader)[0] == '\0', "%s", tach_reader_missing(reader));
	for (int core = 0; core < CORES; core++) {
		tach_reader_read(reader, value);
		sim.calls = 0;
		for (int i = 1; i < 100; i++) {
			tach_reader_begin(reader, &mark);
			sim_work((uint64_t)i);
			CHECK(tach_reader_end(reader, &mark, delta) == 0);
			CHECK(delta[0] == (uint64_t)i && delta[1] == 2 * (uint64_t)i);
			CHECK(tach_reader_read(reader, value) == 0 && value[1] == truth(1));
			CHECK(tach_reader_read_one(reader, 0, value) == 0 &&
			      value[0] == truth(0));
		}
		/* If one member is requested, the other member's value is not written. */
		mark.value[1] = delta[1] = 77;
		tach_reader_begin_n(reader, &mark, 1);
		sim_work(3);
		CHECK(tach_reader_end_n(reader, &mark, delta, 1) == 0 && delta[0] == 3);
		CHECK(mark.value[1] == 77 && delta[1] == 77);
		CHECK(sim.calls == 0, "%ld", sim.calls);
		move();
	}
	end();
}

static const struct act {
	const char *name;
	void (*act)(void);
	uint32_t middle;
} acts[] = {
	{"move", move, TACH_FLAG_RESCHEDULED},
	{"there and back", there_and_back, TACH_FLAG_RESCHEDULED},
	{"off and on", off_and_on, TACH_FLAG_RESCHEDULED},
	{"starve", starve, TACH_FLAG_INCOMPLETE},
	{"a handler", handler, TACH_FLAG_RESCHEDULED},
	{"fail", fail, TACH_FLAG_LOST},
};

static int by_call;

/* Runs one region with the step at `point`; returns the number of steps. */
static long region(const struct act *a, long point)
{
	uint64_t before[2], begun[2], ending[2], after[2], delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	uint32_t flags;
	long middle;

	sim.steps = 0;
	sim.act = a->act;
	sim.point = point;
	before[0] = truth(0), before[1] = truth(1);
	tach_reader_begin(reader, &mark);
	begun[0] = truth(0), begun[1] = truth(1);
	sim_work(100);
	middle = sim.steps;
	sim_step();
	sim_work(100);
	ending[0] = truth(0), ending[1] = truth(1);
	flags = tach_reader_end(reader, &mark, delta);
	after[0] = truth(0), after[1] = truth(1);
	if (point < 0)
		CHECK(flags == 0, "%s: %#x", a->name, flags);
	by_call += a->act != fail && (flags & TACH_FLAG_SYSCALL);
	if (point == middle)
		CHECK((flags & ~TACH_FLAG_SYSCALL) == a->middle, "%s: %#x", a->name, flags);
	CHECK(!(flags & TACH_FLAG_LOST) || a->act == fail, "%s at %ld: lost", a->name, point);
	CHECK(!(flags & TACH_FLAG_INCOMPLETE) || a->act == starve || a->act == fail,
	      "%s at %ld: incomplete", a->name, point);
	for (int i = 0; i < 2 && !(flags & TACH_FLAG_LOST); i++)
		CHECK(delta[i] >= ending[i] - begun[i] && delta[i] <= after[i] - before[i],
		      "%s at %ld: %llu, truth %llu .. %llu", a->name, point,
		      (unsigned long long)delta[i], (unsigned long long)(ending[i] - begun[i]),
		      (unsigned long long)(after[i] - before[i]));
	return sim.steps;
}

static void nothing_is_lost_or_doubled(void)
{
	uint64_t value[TACH_COUNTERS_MAX];

	for (size_t a = 0; a < sizeof acts / sizeof *acts; a++)
		for (int start = 0; start < CORES; start++)
			for (long at = -1, steps = 0; at < steps + 40; at++) {
				if (!opened("cycles instructions"))
					return;
				if (start)
					move();
				tach_reader_read(reader, value);
				if (at < 0)
					steps = region(&acts[a], -1);
				else
					region(&acts[a], at);
				/* After any action, the reader continues. */
				sim.act = NULL;
				tach_reader_read(reader, value);
				if (!(acts[a].act == fail))
					CHECK(value[0] == truth(0) && value[1] == truth(1));
				region(&(struct act){"again", NULL, 0}, -2);
				end();
			}
	/*
	 * A torn read is repeated by pages, unless the thread is moved while its core type is
	 * determined.
	 */
	CHECK(by_call <= 12, "%d", by_call);
}

/* The thread is moved at every step of a region's end: this is not a gap. */
static void moved_during_an_end(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	uint32_t flags;
	long steps = 1;

	for (long at = 0; at < steps; at++) {
		if (!opened("cycles instructions"))
			return;
		tach_reader_begin(reader, &mark);
		move();
		sim_work(100);
		sim.act = there_and_back;
		sim.steps = 0;
		sim.point = at;
		flags = tach_reader_end(reader, &mark, delta);
		CHECK(flags == TACH_FLAG_RESCHEDULED, "at %ld: %#x", at, flags);
		steps = sim.steps;
		sim.act = NULL;
		end();
	}
	CHECK(steps > 10, "%ld", steps);
}

static int another_in;

/* One handler measures and is moved; some steps later a second handler reads. */
static void two_handlers(void)
{
	uint64_t value[TACH_COUNTERS_MAX];

	if (is_blocked())
		return;
	if (another_in) {
		handler();
		sim.point = sim.steps + another_in - 1;
		another_in = 0;
	} else {
		CHECK(tach_reader_read(reader, value) == 0);
		CHECK(value[0] == truth(0) && value[1] == truth(1), "%llu of %llu",
		      (unsigned long long)value[0], (unsigned long long)truth(0));
	}
}

/* The second handler must not use the copy that the first one interrupted. */
static void handlers_one_after_another(void)
{
	const struct act twice = {"two handlers", two_handlers, TACH_FLAG_RESCHEDULED};

	for (long at = 0; at < 60; at++)
		for (int behind = 1; behind < 12; behind++) {
			if (!opened("cycles instructions"))
				return;
			sim_work(77);
			move();
			another_in = behind;
			region(&twice, at);
			region(&(struct act){"again", NULL, 0}, -2);
			end();
		}
}

/* A bank stays valid until the leader's lock changes, and is not read again before. */
static void banks_are_kept(void)
{
	uint64_t value[TACH_COUNTERS_MAX] = {0};

	if (!opened("cycles"))
		return;
	sim_work(10);
	move();
	sim.calls = 0;
	tach_reader_read(reader, value);
	CHECK(value[0] == 10 && sim.calls == 1, "%llu, %ld calls", (unsigned long long)value[0],
	      sim.calls);
	sim_work(5);
	tach_reader_read(reader, value);
	CHECK(value[0] == 15 && sim.calls == 1);
	there_and_back();
	tach_reader_read(reader, value);
	CHECK(value[0] == truth(0) && sim.calls == 2, "%ld calls", sim.calls);
	end();
}

/* A bank belongs to one core type, even if the page of the other type has an equal lock. */
static void locks_that_are_alike(void)
{
	uint64_t value[TACH_COUNTERS_MAX] = {0};
	uint32_t lock = 0;

	if (!opened("cycles"))
		return;
	sim_work(10);
	tach_reader_read(reader, value);
	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].core == 0 && !event[fd].detached)
			lock = event[fd].page->lock;
	move();
	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].core == 1)
			event[fd].page->lock = lock;
	sim_work(5);
	CHECK(tach_reader_read(reader, value) == 0 && value[0] == 15);
	end();
}

static void touch(volatile char *at, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		at[i * 65536] = 1;
}

/* Software events come from the real kernel, because the simulated one has none. */
static void software_events_beside(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	struct guarded g;

	for (int starved = 0; starved < 2; starved++) {
		if (guarded_map(&g, 310 * 65536) != 0)
			return;
		/*
		 * Each page must fault once: huge pages are disabled; madvise fails if the
		 * kernel has no huge pages.
		 */
		madvise(g.at, g.size, MADV_NOHUGEPAGE);
		begin("page-faults cycles instructions", NULL);
		sim.software = 1;
		if (starved)
			set->flags = TACH_SET_MULTIPLEX;
		if (tach_reader_open(set, &reader, &err) != 0) {
			end();
			SKIP(err.text);
		}
		touch(g.at, 300);
		tach_reader_begin(reader, &mark);
		sim_work(5);
		touch((char *)g.at + 300 * 65536, 10);
		if (starved)
			starve_for(1000000);
		CHECK((tach_reader_end(reader, &mark, delta) & ~TACH_FLAG_SYSCALL) ==
		      (starved ? TACH_FLAG_SCALED | TACH_FLAG_INCOMPLETE : 0));
		/* Only counts of the core types' events are compensated. */
		CHECK(starved ? delta[1] > 500 && delta[2] > 1000
			      : delta[1] == 5 && delta[2] == 10);
		CHECK(delta[0] >= 1 && delta[0] < 200, "%llu", (unsigned long long)delta[0]);
		/* One descriptor of each core type stays for later readers (readers.c). */
		CHECK(sim.asked == 2 * CORES + !starved, "%d", sim.asked);
		end();
		munmap(g.at, g.size);
	}
}

/* Without user access, each core type needs a system call, and the counts are right. */
static void without_access_it_reads_by_system_call(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	begin("cycles", NULL);
	sim.no_access = 1;
	CHECK(tach_reader_open(set, &reader, &err) == 0);
	CHECK(tach_reader_missing(reader)[0]);
	for (int core = 0; core < CORES; core++) {
		CHECK(tach_reader_read(reader, delta) == TACH_FLAG_SYSCALL);
		move();
	}
	tach_reader_begin(reader, &mark);
	sim_work(5);
	move();
	sim_work(6);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_SYSCALL && delta[0] == 11);
	starve();
	tach_reader_begin(reader, &mark);
	sim_work(5);
	starve();
	CHECK(tach_reader_end(reader, &mark, delta) ==
	      (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE));
	end();
	/*
	 * The reader was opened on the other core type: its groups missed nothing before the
	 * open.
	 */
	begin("cycles", NULL);
	sim.no_access = 1;
	sim.on = 1;
	CHECK(tach_reader_open(set, &reader, &err) == 0);
	sim_work(5);
	CHECK(tach_reader_read(reader, delta) == TACH_FLAG_SYSCALL && delta[0] == 5);
	end();
	/* The groups were enabled one after the other; this is not a gap. */
	for (int on = 0; on < CORES; on++) {
		begin("cycles", NULL);
		sim.no_access = 1;
		sim.on = on;
		CHECK(tach_reader_open(set, &reader, &err) == 0);
		sim.no_access = 0;
		off_and_on();
		tach_reader_begin(reader, &mark);
		move();
		sim_work(5);
		CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_RESCHEDULED);
		end();
	}
}

static void an_event_of_one_core_type(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	if (!opened("cycles adl_grt::INST_RETIRED:ANY_P"))
		return;
	for (int core = 0; core < CORES; core++) {
		tach_reader_begin(reader, &mark);
		sim_work(10);
		CHECK(tach_reader_end(reader, &mark, delta) ==
		      (core ? 0 : TACH_FLAG_INCOMPLETE));
		CHECK(delta[0] == 10 && (delta[1] != 0) == core);
		move();
	}
	tach_reader_begin(reader, &mark);
	move();
	sim_work(10);
	CHECK(tach_reader_end(reader, &mark, delta) ==
	      (TACH_FLAG_RESCHEDULED | TACH_FLAG_INCOMPLETE));
	end();
	/* The other core type cannot count any member. */
	if (!opened("adl_grt::INST_RETIRED:ANY_P"))
		return;
	tach_reader_begin(reader, &mark);
	sim_work(10);
	CHECK(tach_reader_end(reader, &mark, delta) ==
	      (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE));
	CHECK(delta[0] == 0);
	move();
	tach_reader_begin(reader, &mark);
	sim_work(10);
	CHECK(tach_reader_end(reader, &mark, delta) == 0 && delta[0] == truth(0xc0));
	end();
}

/* Members after the requested ones are ignored. */
static void one_of_one(void)
{
	struct tach_mark mark;
	struct guarded g;
	uint64_t *delta;

	if (guarded_map(&g, sizeof *delta) != 0 || !opened("cycles"))
		return;
	delta = (uint64_t *)g.end - 1;
	sim.no_access = 1;
	off_and_on();
	tach_reader_begin(reader, &mark);
	sim_work(5);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_SYSCALL && *delta == 5);
	end();
	munmap(g.at, g.size);
}

/* begin restarts a group in error state. */
static void error_states(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark outer, mark;

	for (int core = 0; core < CORES; core++) {
		if (!opened("cycles"))
			return;
		if (core)
			move();
		tach_reader_begin(reader, &outer);
		fail();
		sim_work(7);
		tach_reader_begin(reader, &mark);
		sim_work(7);
		CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_SYSCALL &&
		      delta[0] == 7);
		CHECK(tach_reader_end(reader, &outer, delta) & TACH_FLAG_INCOMPLETE);
		/* The time in error state is not a gap for a region that begins later. */
		tach_reader_begin(reader, &mark);
		move();
		CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_RESCHEDULED);
		tach_reader_begin(reader, &mark);
		fail();
		move();
		CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_LOST);
		end();
	}
	/* A region whose group is in error state is lost, at every attempt. */
	if (!opened("cycles"))
		return;
	sim_work(7);
	fail();
	sim.stays_dead = 1;
	CHECK(tach_reader_read(reader, delta) == (TACH_FLAG_SYSCALL | TACH_FLAG_LOST));
	tach_reader_begin(reader, &mark);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_LOST);
	sim.stays_dead = 0;
	CHECK(!(tach_reader_read(reader, delta) & TACH_FLAG_LOST) && delta[0] == 7);
	/* A region that began before the restart is lost too, even if its end can be read. */
	fail();
	sim.stays_dead = 1;
	tach_reader_begin(reader, &mark);
	sim.stays_dead = 0;
	tach_reader_read(reader, delta);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_LOST);
	end();
}

/* If begin can read nothing, the region is lost, even if end can read. */
static void begins_that_read_nothing(void)
{
	uint64_t delta[TACH_COUNTERS_MAX] = {7, 7};
	struct tach_mark mark;

	if (!opened("cycles instructions"))
		return;
	move();
	sim.unreadable = 1;
	sim.calls = 0;
	tach_reader_begin(reader, &mark);
	CHECK(sim.calls == 2, "%ld", sim.calls);
	sim.unreadable = 0;
	sim_work(5);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_LOST && delta[0] == 0 &&
	      delta[1] == 0);
	tach_reader_begin(reader, &mark);
	sim_work(5);
	CHECK(tach_reader_end(reader, &mark, delta) == 0 && delta[0] == 5);
	end();
}

/*
 * Begun by pages and ended by read(2): time without counters inside the region is detected;
 * earlier time is not reported.
 */
static void access_goes_amid(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	for (int gap = 0; gap < 2; gap++)
		for (int moved = 0; moved < 4; moved++) {
			if (!opened("cycles"))
				return;
			if (moved & 2)
				starve();
			tach_reader_begin(reader, &mark);
			sim_work(5);
			sim.no_access = 1;
			off_and_on();
			if (moved & 1)
				move();
			if (gap)
				starve();
			sim_work(6);
			CHECK(tach_reader_end(reader, &mark, delta) ==
			      (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED |
			       (gap ? TACH_FLAG_INCOMPLETE : TACH_FLAG_RESCHEDULED)));
			CHECK(delta[0] == 11);
			end();
		}
}

/*
 * Times of both core types are comparable, although their groups were enabled one after the
 * other.
 */
static void gaps_before_the_first_move(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark, inner;

	for (int at = 0; at < 2 * CORES; at++) {
		int gap = at % 2;

		begin("cycles", NULL);
		sim.on = at / 2;
		CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
		tach_reader_begin(reader, &mark);
		if (gap)
			starve();
		move();
		/* The gap is found on the other core type, which has not counted before. */
		if (gap)
			CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_INCOMPLETE);
		tach_reader_begin(reader, &inner);
		move();
		/* A part of the gap that was below the first bound may be found later. */
		CHECK(tach_reader_end(reader, &inner, delta) == TACH_FLAG_RESCHEDULED || gap);
		CHECK(tach_reader_end(reader, &mark, delta) ==
		      (gap ? TACH_FLAG_INCOMPLETE : TACH_FLAG_RESCHEDULED));
		/* A gap is reported once. */
		tach_reader_begin(reader, &mark);
		there_and_back();
		CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_RESCHEDULED);
		end();
	}
}

static void off_and_on_always(void)
{
	off_and_on();
	sim.point = sim.steps;
}

/* If pages change at every look, the reader gives up and uses read(2). */
static void pages_never_still(void)
{
	uint64_t delta[TACH_COUNTERS_MAX], value[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	if (!opened("cycles"))
		return;
	sim.act = off_and_on_always;
	sim.point = sim.steps;
	tach_reader_begin(reader, &mark);
	sim_work(5);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_SYSCALL && delta[0] == 5);
	CHECK(tach_reader_read(reader, value) == TACH_FLAG_SYSCALL && value[0] == 5);
	sim.act = NULL;
	CHECK(tach_reader_read(reader, value) == 0 && value[0] == 5);
	end();
}

static void move_late(void)
{
	sim.time += 5000;
	move();
}

/*
 * Earlier counts on the other core type are not time without counters. They do not hide such a
 * gap if it is longer than the possible age of the page.
 */
static void moved_while_it_opens(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	long steps = 2;

	for (long point = 0; point < steps; point++) {
		int gap = point % 2;

		begin("cycles", NULL);
		sim.act = move_late;
		sim.point = point / 2;
		CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
		steps = 2 * sim.steps;
		sim.act = NULL;
		tach_reader_begin(reader, &mark);
		if (gap)
			starve_for(7000);
		move();
		CHECK(tach_reader_end(reader, &mark, delta) ==
			      (gap ? TACH_FLAG_INCOMPLETE : TACH_FLAG_RESCHEDULED),
		      "step %ld, %d", point / 2, gap);
		end();
	}
}

static void the_shortest_gap(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	if (!opened("cycles"))
		return;
	for (uint64_t ns = 0; ns < 3; ns++) {
		tach_reader_begin(reader, &mark);
		starve_for(ns);
		CHECK(tach_reader_end(reader, &mark, delta) ==
		      (ns ? TACH_FLAG_INCOMPLETE : TACH_FLAG_RESCHEDULED));
	}
	end();
}

/* The thread may be moved before a read, to a core type that has no such counter. */
static void faults_are_expected(void)
{
	struct sigaction before, now;

	tach_fault_remove();
	CHECK(sigaction(SIGSEGV, NULL, &before) == 0);
	if (!opened("cycles"))
		return;
	CHECK(sigaction(SIGSEGV, NULL, &now) == 0);
	CHECK((now.sa_sigaction != before.sa_sigaction) ==
	      (tach__user_read() != TACH__USER_NONE));
	end();
	tach_fault_remove();
}

/* The child's reader counts nothing; the parent's reader continues. */
static void after_a_fork(void)
{
	uint64_t value[TACH_COUNTERS_MAX];
	int status = -1;
	pid_t child;

	if (!opened("cycles"))
		return;
	sim_work(10);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		for (int fd = 0; fd < FDS; fd++)
			if (event[fd].open && !event[fd].detached)
				_exit(1);
		_exit(tach_reader_read(reader, value) == TACH_FLAG_LOST ? 0 : 2);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "%#x", (unsigned)status);
	CHECK(tach_reader_read(reader, value) == 0 && value[0] == 10);
	end();
}

static void regions_on_a_hybrid(void)
{
	struct tach_regions_options opt = {0};
	struct tach_region_info info = {.size = sizeof info};
	struct tach_snapshot *shot;
	struct tach_value v;
	int found = 0;

	begin("cycles instructions", NULL);
	opt.set = set;
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	for (int i = 0; i < 11; i++) {
		TACH_START(moved);
		sim_work(1000);
		if (i % 3 == 1)
			move();
		sim_work(500);
		TACH_STOP(moved);
	}
	CHECK(tach_snapshot_take(&shot, &err) == 0);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, "moved"))
			continue;
		CHECK(tach_snapshot_value(shot, r, 1, TACH_PART_INCLUSIVE, &v) == 0);
		CHECK(v.value == (double)truth(0), "%g of %llu", v.value,
		      (unsigned long long)truth(0));
		found = 1;
		CHECK(v.flags & TACH_FLAG_RESCHEDULED && !(v.flags & TACH_FLAG_SYSCALL), "%#x",
		      v.flags);
	}
	CHECK(found);
	tach_snapshot_free(shot);
	tach_regions_disable();
}

/* There is nothing before the first core type, whichever group is read first. */
static void read_from_the_last_on(void)
{
	size_t before = sizeof(struct tach__core);
	char *memory = malloc(before + sizeof(struct tach__hybrid));
	struct tach__group_read there;
	struct tach__hybrid *h;
	struct tach__reader *r;

	begin("cycles instructions", NULL);
	CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
	r = tach__reader(reader);
	h = r->hybrid;
	memset(memory, 0x7f, before);
	r->hybrid = memcpy(memory + before, h, sizeof *h);
	for (int downwards = 0; downwards < 2; downwards++)
		CHECK(tach__hybrid_read_groups(r, downwards, &there) == 1, "%d", downwards);
	r->hybrid = h;
	end();
	free(memory);
}

int main(void)
{
	setenv("TACH_PMU", "adl_glc,adl_grt", 1);
	CASE(members_are_on_every_core_type);
	CASE(attrs_of_callers);
	CASE(the_steady_state_makes_no_system_call);
	CASE(nothing_is_lost_or_doubled);
	CASE(moved_during_an_end);
	CASE(handlers_one_after_another);
	CASE(banks_are_kept);
	CASE(locks_that_are_alike);
	CASE(software_events_beside);
	CASE(without_access_it_reads_by_system_call);
	CASE(an_event_of_one_core_type);
	CASE(one_of_one);
	CASE(read_from_the_last_on);
	CASE(error_states);
	CASE(begins_that_read_nothing);
	CASE(access_goes_amid);
	CASE(gaps_before_the_first_move);
	CASE(pages_never_still);
	CASE(moved_while_it_opens);
	CASE(the_shortest_gap);
	CASE(faults_are_expected);
	CASE(after_a_fork);
	CASE(regions_on_a_hybrid);
	return check_done();
}
