/* SPDX-License-Identifier: MIT */
/*
 * The top-down tree of regions with planted behaviour: loops with known instructions, branches
 * and memory accesses, so their shares are known (tests/guest/x86/README.md). Each share in a
 * snapshot differs at most by its stated error and by the cost of measuring in the region.
 */
#if defined(__x86_64__)
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/guest/counter.h"
#include "tests/guest/loops.h"
#include "tests/guest/machine.h"

enum { TURNS = 50000, ENTRIES = 5, TRIES = 50 };

/*
 * Tolerance: 1/255 of the count at each end, three times that for the back end, their sum for
 * derived metrics; more if the kernel takes the processor away in between.
 */
#define KNOWN_TO 0.1

static void straight(void)
{
	TACH_START(straight);
	loop_straight(TURNS);
	TACH_STOP(straight);
}

static void branches(void)
{
	TACH_START(branches);
	loop_arithmetic(TURNS);
	TACH_STOP(branches);
}

static void loads(void)
{
	TACH_START(loads);
	loop_loads(TURNS);
	TACH_STOP(loads);
}

/* The function's own code loads; the nested region branches. */
static void around(void)
{
	TACH_START(around);
	loop_loads(TURNS);
	branches();
	TACH_STOP(around);
}

/* Self sums contain the inner entries, inclusive sums do not. */
static void again(int depth)
{
	TACH_START(again);
	loop_straight(TURNS);
	if (depth)
		again(depth - 1);
	TACH_STOP(again);
}

static void *all(void *unused)
{
	straight();
	loads();
	around();
	again(2);
	return unused;
}

/* Per iteration: the self value, then what nested regions add. */
static const struct expected {
	const char *region;
	double turns, instructions, branches, memory;
	double more_turns, more_instructions, more_branches;
} expected[] = {
	{"straight", 1, 16, 1, 0, 0, 0, 0}, {"loads", 1, 4, 1, 2, 0, 0, 0},
	{"around", 1, 4, 1, 2, 1, 2, 1},    {"branches", 1, 2, 1, 0, 0, 0, 0},
	{"again", 3, 16, 1, 0, 0, 0, 0},
};

static const char *const names[] = {
	"Retiring",	    "Bad_Speculation",	"Frontend_Bound",     "Backend_Bound",
	"Heavy_Operations", "Light_Operations", "Branch_Mispredicts", "Machine_Clears",
	"Fetch_Latency",    "Fetch_Bandwidth",	"Memory_Bound",	      "Core_Bound"};
enum { NAMES = sizeof names / sizeof *names, LEVEL_1 = 4 };

/*
 * Vendors' formulas add a part from events with arbitrary counts in the emulated PMU; this is
 * that part in slots.
 */
static double truth(int k, double i, double b, double m, double dropped, double cleared)
{
	double slots = SLOTS_PER_INSTRUCTION * i, retiring = (4 * i - m - 2 * b) / slots;
	double frontend = (2 * i - m) / slots, backend = (2 * i + 2 * m - b) / slots;
	double latency = b / slots - dropped, memory = 3 * m / slots, heavy = m / slots;
	double misses = 2 * b / slots, bad;

	frontend -= dropped;
	backend += cleared;
	bad = fmax(1 - frontend - backend - retiring, 0);
	return (const double[NAMES]){retiring, bad,
				     frontend, backend,
				     heavy,    retiring - heavy,
				     misses,   fmax(bad - misses, 0),
				     latency,  frontend - latency,
				     memory,   backend - memory}[k];
}

static int metrics; /* number of names in names[] */
static struct tach_snapshot *shot;

static int region_named(const char *name)
{
	struct tach_region_info info = {0};

	for (int r = 0; r < tach_snapshot_nregions(shot); r++)
		if (tach_snapshot_region(shot, r, &info) == 0 && !strcmp(info.name, name))
			return r;
	return -1;
}

static int metric_named(const char *name)
{
	for (int m = 0; m < tach_snapshot_nmetrics(shot); m++)
		if (!strcmp(tach_snapshot_metric(shot, m), name))
			return m;
	return -1;
}

/* The value of the quantity whose name contains this text; 0: not found. */
static double count_of(const char *name, int region, enum tach_part part)
{
	struct tach_value v = {0};

	for (int q = 0; q < tach_snapshot_nquantities(shot); q++)
		if (strstr(tach_snapshot_quantity(shot, q), name))
			tach_snapshot_value(shot, region, q, part, &v);
	return v.value;
}

/* Returns the greatest error of the region's shares. */
static double judge(const struct expected *e, enum tach_part part)
{
	double more = part == TACH_PART_SELF ? 0 : e->more_turns, worst = 0, own;
	double i = e->turns * e->instructions + more * e->more_instructions;
	double b = e->turns * e->branches + more * e->more_branches;
	double m = e->turns * e->memory, entries;
	struct tach_region_info info = {0};
	int r = region_named(e->region);
	struct tach_value v;
	double slots;

	CHECK(r >= 0, "%s", e->region);
	if (r < 0)
		return 1;
	tach_snapshot_region(shot, r, &info);
	slots = count_of("slots", r, part);
	entries = (double)info.outermost;
	/* Slots that measuring added, of any kind. */
	own = fabs(slots - SLOTS_PER_INSTRUCTION * i * TURNS * entries) / slots;
	CHECK(own < 0.05, "%s: %.0f slots", e->region, slots);
	for (int k = 0; k < metrics; k++) {
		double is, off;

		tach_snapshot_derived(shot, r, metric_named(names[k]), part, &v);
		is = truth(k, i, b, m, count_of("UOP_DROPPING", r, part) / slots,
			   5 * count_of("CLEARS_COUNT", r, part) / slots);
		off = fabs(v.value - is);
		CHECK(v.error > 0 || v.value == 0, "%s of %s has no error", names[k],
		      e->region);
		CHECK(off <= v.error + own, "%s of %s is %.5f, should be %.5f: %.5f and %.5f",
		      names[k], e->region, v.value, is, v.error, own);
		if (v.error > worst)
			worst = v.error;
	}
	return worst;
}

static int switch_on(void)
{
	struct tach_regions_options opt = {.size = sizeof opt};
	struct tach_error err = TACH_ERROR_INIT;
	char line[64];
	int code;

	opt.events = "slots,instructions";
	if (counter_setting("events/topdown-heavy-ops", line, sizeof line)[0]) {
		metrics = NAMES;
		opt.metrics = "topdown:2";
	} else {
		metrics = LEVEL_1;
		opt.metrics = "Retiring;Bad_Speculation;Frontend_Bound;Backend_Bound";
	}
	code = tach_regions_configure(&opt, &err);
	CHECK(code == 0, "%s", err.text);
	return code == 0;
}

/* For a running thread, and for a thread that has ended. */
static void shares_are_right_to_their_error(void)
{
	pthread_t thread;
	double best = 1;

	for (int t = 0; t < TRIES && best > KNOWN_TO && switch_on(); t++) {
		double worst = 0;

		for (int k = 0; k < ENTRIES; k++)
			all(NULL);
		CHECK(pthread_create(&thread, NULL, all, NULL) == 0);
		pthread_join(thread, NULL);
		tach_snapshot_free(shot);
		shot = NULL;
		CHECK(tach_snapshot_take(&shot, NULL) == 0);
		for (size_t k = 0; shot && k < sizeof expected / sizeof *expected; k++)
			for (int part = 0; part < 2; part++) {
				/*
				 * The inclusive sum of a recursion is that of its outermost
				 * entry.
				 */
				double error = judge(&expected[k], (enum tach_part)part);

				if (error > worst)
					worst = error;
			}
		if (worst < best)
			best = worst;
	}
	printf("# shares are known to %.2f %%\n", 100 * best);
	CHECK(best <= KNOWN_TO, "shares are known to %.2f %% at best", 100 * best);
	tach_snapshot_free(shot);
}

/* Short regions have errors as large as their shares, and the report states these errors. */
static void short_regions_say_so(void)
{
	struct tach_snapshot *s = NULL;

	if (!switch_on())
		return;
	for (int k = 0; k < 10; k++) {
		TACH_START(brief);
		loop_straight(1);
		TACH_STOP(brief);
	}
	CHECK(tach_snapshot_take(&s, NULL) == 0);
	shot = s;
	for (int k = 0; s && k < metrics; k++) {
		struct tach_value v;

		tach_snapshot_derived(s, region_named("brief"), metric_named(names[k]),
				      TACH_PART_INCLUSIVE, &v);
		CHECK(isnan(v.value) || v.flags & TACH_FLAG_SMALL || v.error > 0, "%s: %g %g",
		      names[k], v.value, v.error);
	}
	tach_snapshot_free(s);
}

int main(void)
{
	char line[64];

	if (!machine_has_pmu() || !counter_setting("events/slots", line, sizeof line)[0]) {
		puts("skip topdown_regions: the PMU has no top-down metrics");
		return 0;
	}
	CASE(shares_are_right_to_their_error);
	CASE(short_regions_say_so);
	return check_done();
}
#else
#include <stdio.h>

int main(void)
{
	puts("skip topdown_regions: this architecture has no top-down metrics");
	return 0;
}
#endif
