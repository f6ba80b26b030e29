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
 * If this machine cannot count the events, the test is skipped. If the environment variable
 * TACH_EXPECT_REQUIRED is set, it fails instead. Without a PMU, `tach run --emulate` counts
 * instructions and branches. Include this header in one file of a program. Its functions print,
 * which the library itself never does.
 */
#ifndef TACH_EXPECT_H
#define TACH_EXPECT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/change.h>
#include <tach/region.h>
#include <tach/snapshot.h>

/* Exit statuses. ctest's SKIP_RETURN_CODE, automake and meson show 77 as skipped. */
#define TACH_EXPECT_PASSED	0
#define TACH_EXPECT_FAILED	1
#define TACH_EXPECT_CANNOT_TELL 77
#define TACH_EXPECT_SKIPPED	TACH_EXPECT_CANNOT_TELL /* its name up to 0.2 */

/* Counts for tach_expect_done. */
struct tach__expected {
	int passed, failed, unknown;
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

/* Records that there is no verdict. If TACH_EXPECT_REQUIRED is set, this is a failure. */
__attribute__((unused)) static int tach__expect_unknown(const char *region, const char *why)
{
	const char *required = getenv("TACH_EXPECT_REQUIRED");

	fprintf(stderr, "tach_expect: %s: cannot tell: %s\n", region, why);
	if (required && *required && strcmp(required, "0") != 0) {
		tach__expect_state()->failed++;
		return TACH_EXPECT_FAILED;
	}
	tach__expect_state()->unknown++;
	return TACH_EXPECT_CANNOT_TELL;
}

/*
 * From this call on, regions count these events ("instructions,branches"; "" counts only time),
 * and sums restart. Call it outside any region. If this machine cannot count an event,
 * tach_expect reports it. An event that no machine can count is a failure.
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

__attribute__((unused)) static int tach__expect_quantity(const struct tach_snapshot *snapshot,
							 const char *name)
{
	for (int q = 0; q < tach_snapshot_nquantities(snapshot); q++)
		if (strcmp(tach_snapshot_quantity(snapshot, q), name) == 0)
			return q;
	return strcmp(name, "elapsed_ns") == 0 ? TACH_QUANTITY_TIME : -1;
}

/* Compares the value of a call with the limit, by the rule of tach-gate(1). */
__attribute__((unused)) static enum tach_change tach__expect_judge(double a_call, double max,
								   struct tach_error *err)
{
	struct tach_change_result is;
	struct tach_change_rule rule;

	memset(&is, 0, sizeof is);
	memset(&rule, 0, sizeof rule);
	is.size = sizeof is;
	rule.size = sizeof rule;
	rule.flags = TACH_CHANGE_EXACT;
	return tach_change_judge(&max, 1, &a_call, 1, &rule, &is, err) == 0
		       ? is.verdict
		       : TACH_CHANGE_UNKNOWN;
}

/* Judges one place that has the region's name. */
__attribute__((unused)) static int tach__expect_place(const struct tach_region_info *info,
						      const struct tach_value *v,
						      const char *quantity, double max)
{
	double calls = TACH__CAST(double, info->calls), a_call = v->value / calls;
	struct tach_error err = TACH_ERROR_INIT;
	enum tach_change least, most;
	char text[768], place[288];

	if (v->flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE)) {
		snprintf(text, sizeof text, "%.127s was not counted all the time", quantity);
		return tach__expect_unknown(info->name, text);
	}
	/* The error of the measurement must not be blamed on the code. */
	least = tach__expect_judge((v->value - v->error) / calls, max, &err);
	most = tach__expect_judge((v->value + v->error) / calls, max, &err);
	if (err.text[0])
		return tach__expect_failed(info->name, "the limit is no finite number");
	if (least != TACH_CHANGE_WORSE && most != TACH_CHANGE_WORSE) {
		tach__expect_state()->passed++;
		return TACH_EXPECT_PASSED;
	}
	if (least != TACH_CHANGE_WORSE) {
		snprintf(text, sizeof text,
			 "%.10g %.127s a call, give or take %.3g, at most %.10g", a_call,
			 quantity, v->error / calls, max);
		return tach__expect_unknown(info->name, text);
	}
	place[0] = '\0';
	if (info->file && *info->file)
		snprintf(place, sizeof place, ", %.256s:%u", info->file,
			 TACH__CAST(unsigned, info->line));
	snprintf(text, sizeof text, "worse: %.10g %.127s a call, more than %.10g (%+.2f %%)%s",
		 a_call, quantity, max, 100 * (a_call / max - 1), place);
	return tach__expect_failed(info->name, text);
}

/* Judges all places that have the name. Each must pass. */
__attribute__((unused)) static int tach__expect_in(const struct tach_snapshot *snapshot,
						   const char *region, const char *quantity,
						   double max)
{
	int q = tach__expect_quantity(snapshot, quantity), code = TACH_EXPECT_PASSED;
	struct tach_region_info info;
	struct tach_value v;
	int places = 0, one;
	char text[512];

	memset(&info, 0, sizeof info);
	for (int r = 0; tach_snapshot_region(snapshot, r, &info) == 0; r++) {
		if (strcmp(info.name, region) != 0 || info.calls == 0)
			continue;
		places++;
		if (q < 0)
			continue;
		memset(&v, 0, sizeof v);
		if (tach_snapshot_value(snapshot, r, q, TACH_PART_INCLUSIVE, &v) != 0)
			v.flags = TACH_FLAG_INCOMPLETE;
		one = tach__expect_place(&info, &v, quantity, max);
		if (one == TACH_EXPECT_FAILED || code == TACH_EXPECT_PASSED)
			code = one;
	}
	if (!places)
		return tach__expect_failed(region, "no such region was entered and left");
	if (q >= 0)
		return code;
	snprintf(text, sizeof text, "%.127s is not counted%s%s", quantity,
		 *tach__expect_state()->missing ? ": " : "", tach__expect_state()->missing);
	return *tach__expect_state()->missing ? tach__expect_unknown(region, text)
					      : tach__expect_failed(region, text);
}

/*
 * Expects that a call of the region takes at most `max` of the quantity, on average over all
 * calls and threads so far. This includes nested regions. "time" is in nanoseconds. If several
 * places have the name, each of them must meet the limit. Returns TACH_EXPECT_PASSED, _FAILED,
 * or _CANNOT_TELL if the quantity cannot be counted or the measurement is too inexact. Prints
 * the reason on standard error. A region that was never entered is a failure, and so is a
 * quantity that is not counted.
 */
__attribute__((unused)) static int tach_expect(const char *region, const char *quantity,
					       double max)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *snapshot;
	int code;

	if (*tach__expect_state()->missing && !tach_regions_enabled())
		return tach__expect_unknown(region, tach__expect_state()->missing);
	if (tach_snapshot_take(&snapshot, &err) != 0)
		return tach__expect_failed(region, err.text);
	code = tach__expect_in(snapshot, region, quantity, max);
	tach_snapshot_free(snapshot);
	return code;
}

/* Returns the exit status for main: TACH_EXPECT_FAILED if an expectation failed or nothing was
 * expected. Otherwise _CANNOT_TELL if one had no verdict. Otherwise _PASSED. */
__attribute__((unused)) static int tach_expect_done(void)
{
	const struct tach__expected *all = tach__expect_state();

	if (all->failed)
		return TACH_EXPECT_FAILED;
	if (all->unknown)
		return TACH_EXPECT_CANNOT_TELL;
	if (all->passed)
		return TACH_EXPECT_PASSED;
	fprintf(stderr, "tach_expect_done: nothing was expected\n");
	return TACH_EXPECT_FAILED;
}

#endif
