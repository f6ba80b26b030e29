/* SPDX-License-Identifier: MIT */
/*
 * Assertions on counts, for unit tests: a test fails when a function became more expensive.
 *
 *	int main(void)
 *	{
 *		tach_expect_count("instructions");
 *		for (int i = 0; i < 10; i++) {
 *			TACH_START(parse);
 *			...
 *			TACH_STOP(parse);
 *		}
 *		tach_expect("parse", "instructions", 1.02 * 1250);
 *		return tach_expect_done();
 *	}
 *
 * What cannot be counted here is no success: the test is skipped, or fails if
 * TACH_EXPECT_REQUIRED is set in the environment. `tach run --emulate` counts instructions
 * and branches where there is no PMU. Include it in one file of a program: it prints, as the
 * library itself never does.
 */
#ifndef TACH_EXPECT_H
#define TACH_EXPECT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/region.h>
#include <tach/snapshot.h>

/* Exit statuses; ctest's SKIP_RETURN_CODE, automake and meson take 77 for skipped. */
#define TACH_EXPECT_PASSED  0
#define TACH_EXPECT_FAILED  1
#define TACH_EXPECT_SKIPPED 77

/* How many ended how, for tach_expect_done. */
struct tach__expected {
	int passed, failed, skipped;
	char missing[256];
};

__attribute__((unused)) static struct tach__expected *tach__expect_state(void)
{
	static struct tach__expected all;

	return &all;
}

__attribute__((unused)) static int tach__expect_failed(const char *region, const char *why)
{
	tach__expect_state()->failed++;
	fprintf(stderr, "tach_expect: %s: %s\n", region, why);
	return TACH_EXPECT_FAILED;
}

/* Nothing was counted: with TACH_EXPECT_REQUIRED that is a failure. */
__attribute__((unused)) static int tach__expect_skipped(const char *region, const char *why)
{
	const char *required = getenv("TACH_EXPECT_REQUIRED");

	if (required && *required && strcmp(required, "0") != 0)
		return tach__expect_failed(region, why);
	tach__expect_state()->skipped++;
	fprintf(stderr, "tach_expect: %s: skipped: %s\n", region, why);
	return TACH_EXPECT_SKIPPED;
}

/*
 * Counts these events ("instructions,branches"; "" is time alone) in regions from here on; sums
 * begin anew. Outside any region. What this machine cannot count is told by tach_expect; what
 * no machine could is a failure.
 */
__attribute__((unused)) static void tach_expect_count(const char *events)
{
	struct tach__expected *all = tach__expect_state();
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_regions_options opt;
	int code;

	memset(&opt, 0, sizeof opt);
	opt.size = sizeof opt;
	opt.events = events;
	all->missing[0] = '\0';
	code = tach_regions_configure(&opt, &err);
	if (code == 0)
		return;
	snprintf(all->missing, sizeof all->missing, "%s", err.text);
	if (code == TACH_ERR_NOHARDWARE || code == TACH_ERR_PERMISSION ||
	    code == TACH_ERR_NOTSUPP || code == TACH_ERR_NOCOUNTER) {
		tach_regions_disable();
		return;
	}
	all->failed++;
	fprintf(stderr, "tach_expect_count: %s\n", err.text);
}

/* The region's number, -1: it was not entered. */
__attribute__((unused)) static int tach__expect_region(const struct tach_snapshot *snapshot,
						       const char *name,
						       struct tach_region_info *info)
{
	memset(info, 0, sizeof *info);
	for (int r = 0; tach_snapshot_region(snapshot, r, info) == 0; r++)
		if (strcmp(info->name, name) == 0)
			return r;
	return -1;
}

__attribute__((unused)) static int tach__expect_quantity(const struct tach_snapshot *snapshot,
							 const char *name)
{
	for (int q = 0; q < tach_snapshot_nquantities(snapshot); q++)
		if (strcmp(tach_snapshot_quantity(snapshot, q), name) == 0)
			return q;
	return -1;
}

__attribute__((unused)) static int tach__expect_in(const struct tach_snapshot *snapshot,
						   const char *region, const char *quantity,
						   double max)
{
	struct tach_region_info info;
	struct tach_value v;
	int r = tach__expect_region(snapshot, region, &info);
	int q = tach__expect_quantity(snapshot, quantity);
	char text[512];

	memset(&v, 0, sizeof v);
	if (r < 0 || info.calls == 0)
		return tach__expect_failed(region, "no such region was entered and left");
	if (q < 0) {
		snprintf(text, sizeof text, "%.127s is not counted%s%s", quantity,
			 *tach__expect_state()->missing ? ": " : "",
			 tach__expect_state()->missing);
		return *tach__expect_state()->missing ? tach__expect_skipped(region, text)
						      : tach__expect_failed(region, text);
	}
	if (tach_snapshot_value(snapshot, r, q, TACH_PART_INCLUSIVE, &v) != 0 ||
	    v.flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE)) {
		snprintf(text, sizeof text, "%.127s was not counted all the time", quantity);
		return tach__expect_skipped(region, text);
	}
	/* What the measurement may be off by is no fault of the code. */
	if ((v.value - v.error) / TACH__CAST(double, info.calls) <= max) {
		tach__expect_state()->passed++;
		return TACH_EXPECT_PASSED;
	}
	snprintf(text, sizeof text, "%.10g %.127s a call, more than %.10g (%+.2f %%)",
		 v.value / TACH__CAST(double, info.calls), quantity, max,
		 100 * (v.value / TACH__CAST(double, info.calls) / max - 1));
	return tach__expect_failed(region, text);
}

/*
 * That a call of the region took at most `max` of the quantity, on average over all calls and
 * threads so far, what is inside included; "time" is in nanoseconds. TACH_EXPECT_PASSED,
 * _FAILED or _SKIPPED; why is printed to standard error. A region that was never entered, or a
 * quantity that was not asked for, is a failure.
 */
__attribute__((unused)) static int tach_expect(const char *region, const char *quantity,
					       double max)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *snapshot;
	int code;

	if (*tach__expect_state()->missing && !tach_regions_enabled())
		return tach__expect_skipped(region, tach__expect_state()->missing);
	if (tach_snapshot_take(&snapshot, &err) != 0)
		return tach__expect_failed(region, err.text);
	code = tach__expect_in(snapshot, region, quantity, max);
	tach_snapshot_free(snapshot);
	return code;
}

/*
 * What main returns: failed if one was, or nothing was expected; skipped if one was; passed.
 */
__attribute__((unused)) static int tach_expect_done(void)
{
	const struct tach__expected *all = tach__expect_state();

	if (all->failed)
		return TACH_EXPECT_FAILED;
	if (all->skipped)
		return TACH_EXPECT_SKIPPED;
	if (all->passed)
		return TACH_EXPECT_PASSED;
	fprintf(stderr, "tach_expect_done: nothing was expected\n");
	return TACH_EXPECT_FAILED;
}

#endif
