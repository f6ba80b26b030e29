/* SPDX-License-Identifier: MIT */
/*
 * Regions with exact counters: after calibration an empty region counts nothing, and a loop of
 * known length shows its length at every depth of nesting. The totals contain the work of 64
 * threads that were moved between processors, ended, and were observed all the time.
 */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/guest/machine.h"

/*
 * An entry during which the kernel rescheduled the group is flagged, and its slow path reads
 * the counter once more: the entry contains the instructions on the way to that read. If every
 * end takes the slow path (narrow counters of x86), the number varies a little.
 */
enum { FLAGGED_OFF = 110 };

static struct tach_snapshot *shot;

struct shown {
	struct tach_region_info info;
	struct tach_value inclusive, self;
	uint64_t flagged, incomplete; /* calls */
};

/* 0: no such region. */
static int shown(const char *name, struct shown *s)
{
	memset(s, 0, sizeof *s);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &s->info);
		if (strcmp(s->info.name, name) != 0)
			continue;
		tach_snapshot_value(shot, r, 1, TACH_PART_INCLUSIVE, &s->inclusive);
		tach_snapshot_value(shot, r, 1, TACH_PART_SELF, &s->self);
		for (int i = 0; i < 6; i++)
			s->flagged += s->info.provenance[i];
		s->incomplete = s->info.provenance[1] + s->info.provenance[5];
		return 1;
	}
	memset(&s->info, 0, sizeof s->info);
	return 0;
}

static void look(void)
{
	tach_snapshot_free(shot);
	CHECK(tach_snapshot_take(&shot, NULL) == 0);
}

/* Sums start from zero, without every thread's first entry, which opens and calibrates. */
static int begin(const char *events)
{
	struct tach_regions_options opt = {.events = events, .warmup = 0};
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach_regions_configure(&opt, &err);

	CHECK(code == 0, "%s", err.text);
	return code;
}

static const char *reason(void)
{
	if (!machine_has_pmu())
		return "the machine has no PMU";
	return machine_is_exact() ? NULL : "instruction counts are not exact on this machine";
}

/* ---- one thread ---- */

/* Few entries, because they must fit between two ticks of the kernel. */
enum { ENTRIES = 20, TRIES = 20, LEVELS = 12 };

static __attribute__((noinline)) void nothing(void)
{
	TACH_START(nothing);
	TACH_STOP(nothing);
}

static __attribute__((noinline)) void nothing_fenced(void)
{
	TACH_START_FENCED(nothing_fenced);
	TACH_STOP(nothing_fenced);
}

/* Contains only edges, so the compiler adds nothing. */
static __attribute__((noinline)) void nest_of_nothing(void)
{
	TACH_START(outer);
	TACH_START(middle);
	TACH_START(inner);
	TACH_STOP(inner);
	TACH_STOP(middle);
	TACH_START(sibling);
	TACH_STOP(sibling);
	TACH_STOP(outer);
}

static __attribute__((noinline)) void loop_only(uint64_t n)
{
	TACH_START(loop_only);
	machine_loop(n);
	TACH_STOP(loop_only);
}

#define LEVEL(number, inner)                                                                   \
	static __attribute__((noinline)) void level##number(uint64_t n)                        \
	{                                                                                      \
		TACH_START(level##number);                                                     \
		machine_loop(n);                                                               \
		inner(n);                                                                      \
		TACH_STOP(level##number);                                                      \
	}
LEVEL(11, loop_only)
LEVEL(10, level11)
LEVEL(9, level10)
LEVEL(8, level9)
LEVEL(7, level8)
LEVEL(6, level7)
LEVEL(5, level6)
LEVEL(4, level5)
LEVEL(3, level4)
LEVEL(2, level3)
LEVEL(1, level2)
LEVEL(0, level1)

static uint64_t length;

static void all_levels(void)
{
	level0(length);
}

/* Enters the region until an entry is undisturbed; returns 0 if no entry is. */
static int undisturbed(void (*enter)(void), const char *outermost)
{
	struct shown s;

	for (int try = 0; try < TRIES; try++) {
		if (begin("instructions"))
			return 0;
		for (int i = 0; i < ENTRIES; i++)
			enter();
		look();
		if (shown(outermost, &s) && s.flagged == 0)
			return 1;
	}
	CHECK(0, "%s: always disturbed", outermost);
	return 0;
}

static void nothing_is_left_of_an_empty_region(void)
{
	static const struct {
		void (*enter)(void);
		const char *name;
	} rows[] = {{nothing, "nothing"}, {nothing_fenced, "nothing_fenced"}};

	if (reason())
		SKIP(reason());
	for (int i = 0; i < 2; i++) {
		struct shown s;

		if (!undisturbed(rows[i].enter, rows[i].name) || !shown(rows[i].name, &s))
			continue;
		printf("# %s: %.0f of %.0f instructions in %d calls are left\n", rows[i].name,
		       s.inclusive.raw - s.inclusive.overhead, s.inclusive.raw, ENTRIES);
		CHECK(s.info.calls == ENTRIES);
		CHECK(s.inclusive.raw == s.inclusive.overhead);
	}
}

/* Per nested pair: these edges may have other code than the calibrated ones. */
enum { EDGES_OFF = 0 };

static void nothing_is_left_of_nested_empty_regions(void)
{
	static const struct {
		const char *name;
		int nested;
	} rows[] = {{"outer", 3}, {"middle", 1}, {"inner", 0}, {"sibling", 0}};

	if (reason())
		SKIP(reason());
	if (!undisturbed(nest_of_nothing, "outer"))
		return;
	for (int i = 0; i < 4; i++) {
		struct shown s;

		double inclusive, self, most = EDGES_OFF * ENTRIES * rows[i].nested;

		CHECK(shown(rows[i].name, &s) && s.info.calls == ENTRIES);
		inclusive = s.inclusive.raw - s.inclusive.overhead;
		self = s.self.raw - s.self.overhead;
		printf("# %s: %.0f of %.0f, itself %.0f of %.0f instructions are left\n",
		       rows[i].name, inclusive, s.inclusive.raw, self, s.self.raw);
		CHECK(fabs(inclusive) <= most && fabs(self) <= most);
	}
}

/* The code around the loops costs the same both times, so the difference is the loops' cost. */
static void loops_show_their_length_at_every_depth(void)
{
	static const uint64_t lengths[] = {10, 110};
	double inclusive[2][LEVELS], self[2][LEVELS];
	char name[16];
	struct shown s;

	if (reason())
		SKIP(reason());
	for (int turn = 0; turn < 2; turn++) {
		length = lengths[turn];
		if (!undisturbed(all_levels, "level0"))
			return;
		for (int level = 0; level < LEVELS; level++) {
			snprintf(name, sizeof name, "level%d", level);
			CHECK(shown(name, &s) && s.info.calls == ENTRIES);
			inclusive[turn][level] = s.inclusive.value;
			self[turn][level] = s.self.value;
		}
	}
	for (int level = 0; level < LEVELS; level++) {
		double one =
			ENTRIES * MACHINE_LOOP_INSTRUCTIONS * (double)(lengths[1] - lengths[0]);
		double more = inclusive[1][level] - inclusive[0][level];

		CHECK(more == one * (LEVELS + 1 - level), "level %d: %.0f, not %.0f", level,
		      more, one * (LEVELS + 1 - level));
		CHECK(self[1][level] - self[0][level] == one, "level %d itself: %.0f", level,
		      self[1][level] - self[0][level]);
	}
}

/* ---- many threads ---- */

enum { THREADS = 64, REGIONS = 16, ROUNDS = 100 };

static struct tach_site *site[REGIONS];
static pid_t tid[THREADS];
static int ended, stop;

static uint64_t turns_of(int region)
{
	return 50u * (unsigned)(region + 1);
}

/* Some threads have four times the work of others, so they end one after the other. */
static int rounds_of(int thread)
{
	return ROUNDS * (1 + thread % 4);
}

static __attribute__((noinline)) void enter(int region)
{
	struct tach_region_mark mark = TACH_REGION_MARK_INIT;
	uint64_t turns = turns_of(region);

	tach_region_begin(site[region], &mark);
	machine_loop(turns);
	tach_region_end(&mark);
}

static void *work(void *arg)
{
	int thread = (int)(intptr_t)arg;

	__atomic_store_n(&tid[thread], (pid_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
	for (int round = 0; round < rounds_of(thread); round++) {
		TACH_START(round_of_work);
		for (int region = 0; region < REGIONS; region++)
			enter((region + round + thread) % REGIONS);
		TACH_STOP(round_of_work);
	}
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void pause_a_little(long ns)
{
	nanosleep(&(struct timespec){0, ns}, NULL);
}

/* Moves every thread to the other processor, repeatedly. */
static void *move(void *moves)
{
	int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int turn = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); turn++) {
		for (int i = 0; i < THREADS; i++) {
			pid_t t = __atomic_load_n(&tid[i], __ATOMIC_RELAXED);
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET((unsigned)((turn + i) % processors), &set);
			if (t && sched_setaffinity(t, sizeof set, &set) == 0)
				++*(uint64_t *)moves;
		}
		pause_a_little(200000);
	}
	return NULL;
}

/* While threads run, no sum falls between two snapshots, and every slot is consistent. */
static void *watch(void *looks)
{
	uint64_t calls[REGIONS] = {0};

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct shown s;
		char name[16];

		look();
		for (int region = 0; region < REGIONS; region++) {
			snprintf(name, sizeof name, "region %d", region);
			if (!shown(name, &s))
				continue;
			CHECK(s.info.calls >= calls[region], "%s: %d calls after %d", name,
			      (int)s.info.calls, (int)calls[region]);
			calls[region] = s.info.calls;
			if (machine_is_exact() && !s.incomplete)
				CHECK(s.inclusive.raw >=
					      (double)(s.info.calls * turns_of(region) *
						       MACHINE_LOOP_INSTRUCTIONS),
				      "%s: %.0f in %d calls", name, s.inclusive.raw,
				      (int)s.info.calls);
		}
		++*(uint64_t *)looks;
		pause_a_little(1000000);
	}
	return NULL;
}

static void run_all(uint64_t *moves, uint64_t *looks)
{
	pthread_t thread[THREADS], mover, watcher;

	stop = ended = 0;
	memset(tid, 0, sizeof tid);
	pthread_create(&mover, NULL, move, moves);
	pthread_create(&watcher, NULL, watch, looks);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(mover, NULL);
	pthread_join(watcher, NULL);
}

static uint64_t calls_in_all(void)
{
	uint64_t calls = 0;

	for (int i = 0; i < THREADS; i++)
		calls += (uint64_t)rounds_of(i);
	return calls;
}

/*
 * Returns the cost of an undisturbed entry by function, without the loop: it is equal for every
 * region.
 */
static double besides(void)
{
	struct shown s;

	for (int try = 0; try < TRIES; try++) {
		if (begin("instructions"))
			return 0;
		for (int i = 0; i < ENTRIES; i++)
			enter(0);
		look();
		if (shown("region 0", &s) && s.flagged == 0)
			return (s.inclusive.raw - s.inclusive.overhead) / ENTRIES -
			       (double)(turns_of(0) * MACHINE_LOOP_INSTRUCTIONS);
	}
	CHECK(0, "always disturbed");
	return 0;
}

/* Expects `each` per call, except for flagged calls; returns how many are flagged. */
static uint64_t judge(const char *name, double each, uint64_t calls)
{
	struct shown s;
	double off;

	if (!shown(name, &s)) {
		CHECK(0, "no region %s", name);
		return 0;
	}
	CHECK(s.info.calls == calls && s.info.threads == THREADS, "%s: %d calls, %d threads",
	      name, (int)s.info.calls, (int)s.info.threads);
	off = s.inclusive.raw - s.inclusive.overhead - each * (double)calls;
	if (machine_is_exact())
		CHECK(fabs(off) <= FLAGGED_OFF * (double)s.flagged && !s.incomplete,
		      "%s: off by %.0f, %d entries flagged", name, off, (int)s.flagged);
	return s.flagged;
}

static void totals_are_conserved(void)
{
	struct tach_counts counts = {.size = sizeof counts};
	uint64_t moves = 0, looks = 0, flagged = 0;
	char name[16];
	double extra;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	for (int region = 0; region < REGIONS; region++) {
		snprintf(name, sizeof name, "region %d", region);
		site[region] = tach_site_get(name);
	}
	extra = machine_is_exact() ? besides() : 0;
	CHECK(extra == floor(extra), "%g instructions besides", extra);
	if (begin(machine_is_exact() ? "instructions" : "cycles"))
		return;
	run_all(&moves, &looks);
	look();
	for (int region = 0; region < REGIONS; region++) {
		snprintf(name, sizeof name, "region %d", region);
		flagged += judge(name,
				 (double)(turns_of(region) * MACHINE_LOOP_INSTRUCTIONS) + extra,
				 calls_in_all());
	}
	tach_snapshot_counts(shot, &counts);
	printf("# %d entries, %d of them flagged; %d moves, %d snapshots meanwhile\n",
	       (int)calls_in_all() * REGIONS, (int)flagged, (int)moves, (int)looks);
	CHECK(counts.threads == THREADS && counts.lost == 0 && counts.refused == 0 &&
		      counts.unopened == 0,
	      "%d threads, %d lost, %d refused, %d unopened", (int)counts.threads,
	      (int)counts.lost, (int)counts.refused, (int)counts.unopened);
	CHECK(moves > 0 && looks > 0 && flagged > 0);
}

int main(void)
{
	CASE(nothing_is_left_of_an_empty_region);
	CASE(nothing_is_left_of_nested_empty_regions);
	CASE(loops_show_their_length_at_every_depth);
	CASE(totals_are_conserved);
	tach_snapshot_free(shot);
	return check_done();
}
