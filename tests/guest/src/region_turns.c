/* SPDX-License-Identifier: MIT */
/*
 * Sets that take turns, on the kernel's counters: twelve events on eight counters. All sets
 * count instructions, so these are exact. The emulated PMU counts an eighth of the instructions
 * for the other events; branches are real. Each entry has the loop's counts, whichever set
 * counts it.
 */
#if defined(__x86_64__)
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/guest/loops.h"
#include "tests/guest/machine.h"

/*
 * FLAGGED_OFF: additional instructions of an entry that the kernel interrupted, as in
 * region_totals.c.
 */
enum { LONG = 4000, SHORT = 40, ENTRIES = 600, THREADS = 3, TURN = 6, FLAGGED_OFF = 110 };

static const char events[] = "instructions,b=branches,x1=r0124,x2=r0224,x3=r0324,x4=r0424,"
			     "x5=r0524,x6=r0624,x7=r0724,x8=r0824,x9=r0924,x10=r0a24,x11=r0b24";

static struct tach_snapshot *shot;

static void one(void)
{
	TACH_START(outer);
	loop_arithmetic(LONG);
	for (int i = 0; i < 2; i++) {
		TACH_START(inner);
		loop_arithmetic(SHORT);
		TACH_STOP(inner);
	}
	TACH_STOP(outer);
}

static void *many(void *unused)
{
	for (int i = 0; i < ENTRIES; i++)
		one();
	return unused;
}

static int region_named(const char *name, struct tach_region_info *info)
{
	for (int r = 0; r < tach_snapshot_nregions(shot); r++)
		if (tach_snapshot_region(shot, r, info) == 0 && !strcmp(info->name, name))
			return r;
	CHECK(0, "no region %s", name);
	return 0;
}

/* Per entry: turns of the loop, and instructions that the compiler adds. */
static void judge(const char *name, double turns, double calls)
{
	struct tach_region_info info = {.size = sizeof info};
	int r = region_named(name, &info);
	double off = 0, instructions = 0;

	for (int i = 0; i < 6; i++)
		off += FLAGGED_OFF * (double)info.provenance[i];
	CHECK((double)info.calls == calls && info.lost == 0, "%s: %d calls", name,
	      (int)info.calls);
	CHECK(info.provenance[5] == 0, "%s: %d lost", name, (int)info.provenance[5]);
	for (int q = 1; q < tach_snapshot_nquantities(shot); q++) {
		const char *event = tach_snapshot_quantity(shot, q);
		struct tach_value v = {0};
		double truth = instructions / 8, more = off;

		tach_snapshot_value(shot, r, q, TACH_PART_SELF, &v);
		if (strcmp(event, "instructions") == 0) {
			instructions = v.value;
			truth = 2 * turns * calls;
			/* The compiler adds code around the loops. */
			more += 40 * calls;
			CHECK(v.share == 0 && v.value >= truth, "%s: %g of %g, share %u", name,
			      v.value, truth, v.share);
		} else if (*event == 'b') {
			truth = turns * calls;
			more += 10 * calls;
		} else {
			/* Rounded down at each end. */
			more += 2 * calls;
		}
		CHECK(fabs(v.value - truth) <= v.error + more, "%s %s: %.0f +-%.1f, not %.0f",
		      name, event, v.value, v.error, truth);
		CHECK(*event == 'i' || (v.share > 0 && v.share < 1000000), "%s %s: share %u",
		      name, event, v.share);
	}
}

static const char *reason(void)
{
	if (!machine_has_pmu())
		return "the machine has no PMU";
	if (!machine_is("x86") || !machine_is_exact())
		return "instruction counts are not exact on this machine";
	return NULL;
}

static void each_set_shows_all_entries(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = events, .turns = TURN};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_counts counts = {.size = sizeof counts};
	pthread_t thread[THREADS];
	const char *why = reason();

	if (why)
		SKIP(why);
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, many, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	many(NULL);
	if (tach_snapshot_take(&shot, &err) != 0) {
		CHECK(0, "%s", err.text);
		return;
	}
	tach_snapshot_counts(shot, &counts);
	printf("# %s\n", tach_snapshot_missing(shot));
	CHECK(counts.threads == THREADS + 1 && !counts.refused && !counts.lost &&
		      !counts.unopened,
	      "%d threads, %d refused, %d lost, %d unopened: %s", (int)counts.threads,
	      (int)counts.refused, (int)counts.lost, (int)counts.unopened,
	      tach_snapshot_missing(shot));
	judge("outer", LONG, (THREADS + 1) * ENTRIES);
	judge("inner", SHORT, 2 * (THREADS + 1) * ENTRIES);
	tach_snapshot_free(shot);
}

int main(void)
{
	CASE(each_set_shows_all_entries);
	return check_done();
}
#else
#include <stdio.h>
int main(void)
{
	puts("not for this architecture");
	return 77;
}
#endif
