/* SPDX-License-Identifier: MIT */
/*
 * Sets that take turns: four events on two counters. The simulated kernel knows each set's
 * counts and entries: the first member of a set counts the work, the second twice the work.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/unit/region/fakekernel.h"
#include "core/region/region.h"

enum { MEMBERS = 3, ENTRIES = 3000, THREADS = 4, EACH = 1000 };

static const char events[] = "a=r0104,b=r0204,c=r0304,d=r0404";

static struct tach_snapshot *shot;

static int configure(uint32_t turns, struct tach_error *err)
{
	struct tach_regions_options opt = {.size = sizeof opt, .turns = turns};

	opt.events = events;
	opt.metrics = "ratio = d / a";
	return tach_regions_configure(&opt, err);
}

static void begin(uint32_t turns)
{
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(configure(turns, &err) == 0, "%s", err.text);
}

static int region_named(const char *name)
{
	struct tach_region_info info = {.size = sizeof info};

	for (int r = 0; r < tach_snapshot_nregions(shot); r++)
		if (tach_snapshot_region(shot, r, &info) == 0 && !strcmp(info.name, name))
			return r;
	CHECK(0, "no region %s", name);
	return 0;
}

static struct tach_value value_of(const char *region, const char *name)
{
	struct tach_value v = {0};
	int r = region_named(region);

	for (int q = 0; q < tach_snapshot_nquantities(shot); q++)
		if (!strcmp(tach_snapshot_quantity(shot, q), name))
			tach_snapshot_value(shot, r, q, TACH_PART_SELF, &v);
	for (int m = 0; m < tach_snapshot_nmetrics(shot); m++)
		if (!strcmp(tach_snapshot_metric(shot, m), name))
			tach_snapshot_derived(shot, r, m, TACH_PART_SELF, &v);
	return v;
}

static struct tach_region_info info_of(const char *region)
{
	struct tach_region_info info = {.size = sizeof info};

	tach_snapshot_region(shot, region_named(region), &info);
	return info;
}

static void look(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach_snapshot_take(&shot, &err) == 0, "%s", err.text);
}

static void near(const char *region, const char *name, double truth)
{
	struct tach_value v = value_of(region, name);

	CHECK(fabs(v.value - truth) <= v.error + truth * 1e-9, "%s %s: %g +-%g, not %g", region,
	      name, v.value, v.error, truth);
}

/* ---- */

static void constant(void)
{
	TACH_START(constant);
	fake_count += 1000;
	TACH_STOP(constant);
}

/* Long entries follow each other, as in phases of a program. */
static uint64_t varying(int i)
{
	uint64_t n = i / 500 % 2 ? 100 + (uint64_t)(i % 7) : 2000 + (uint64_t)(i % 90);

	TACH_START(varying);
	fake_count += n;
	TACH_STOP(varying);
	return n;
}

/* Each entry contains other entries, always measured with one set. */
static void around(void)
{
	TACH_START(around);
	fake_count += 50;
	constant();
	for (int k = 0; k < 3; k++) {
		TACH_START(inner);
		fake_count += 7;
		TACH_STOP(inner);
	}
	TACH_STOP(around);
}

static void each_is_shown_as_of_all_entries(void)
{
	struct tach_value a, c;
	struct tach_counts counts = {.size = sizeof counts};
	struct tach_region_info info;
	double truth = 0;

	begin(5);
	for (int i = 0; i < ENTRIES; i++) {
		constant();
		truth += (double)varying(i);
	}
	look();
	info = info_of("constant");
	CHECK(info.calls == ENTRIES && info.entries == ENTRIES && info.threads == 1, "%d calls",
	      (int)info.calls);
	a = value_of("constant", "a");
	c = value_of("constant", "c");
	CHECK(a.share && c.share && a.share + c.share >= 999998 && a.share + c.share <= 1000002,
	      "shares %u, %u", a.share, c.share);
	CHECK(a.share > 300000 && c.share > 300000, "shares %u, %u", a.share, c.share);
	CHECK(a.flags & c.flags & TACH_FLAG_SCALED, "flags %x", a.flags);
	near("constant", "a", ENTRIES * 1000.0);
	near("constant", "b", ENTRIES * 2000.0);
	near("constant", "c", ENTRIES * 1000.0);
	near("constant", "d", ENTRIES * 2000.0);
	CHECK(a.error < ENTRIES * 1000.0 * 1e-6, "error %g", a.error);
	near("constant", "ratio", 2);
	/* Six standard errors, which chance does not reach. */
	a = value_of("varying", "a");
	CHECK(a.error > 0 && fabs(a.value - truth) <= 3 * a.error, "%g +-%g, not %g", a.value,
	      a.error, truth);
	CHECK(value_of("varying", "time").share == 0 && value_of("varying", "a").share > 0,
	      "time is known of all entries");
	tach_snapshot_counts(shot, &counts);
	CHECK(counts.refused == 0 && counts.lost == 0 && counts.threads == 1, "counts");
	CHECK(strstr(tach_snapshot_missing(shot), "2 sets of events took turns and saw "),
	      "note: %s", tach_snapshot_missing(shot));
	tach_snapshot_free(shot);
}

static void no_region_sees_a_change(void)
{
	struct tach_region_info info;

	begin(1);
	for (int i = 0; i < ENTRIES; i++)
		around();
	look();
	info = info_of("inner");
	CHECK(info.calls == 3 * ENTRIES && info.lost == 0, "%d calls", (int)info.calls);
	near("inner", "a", 21.0 * ENTRIES);
	near("inner", "c", 21.0 * ENTRIES);
	near("around", "b", 100.0 * ENTRIES);
	near("around", "d", 100.0 * ENTRIES);
	CHECK(value_of("inner", "a").share == value_of("around", "a").share, "one set inside");
	tach_snapshot_free(shot);
}

static void what_was_not_seen_is_not_zero(void)
{
	struct tach_value a, c;

	begin(2);
	TACH_START(whole);
	for (int i = 0; i < 100; i++)
		constant();
	TACH_STOP(whole);
	look();
	a = value_of("whole", "a");
	c = value_of("whole", "c");
	/* A thread may begin with either set. */
	CHECK(isnan(a.value) != isnan(c.value), "%g, %g", a.value, c.value);
	c = isnan(a.value) ? a : c;
	CHECK(c.flags & TACH_FLAG_LOST, "flags %x", c.flags);
	CHECK(isnan(value_of("whole", "ratio").value), "a metric of it");
	CHECK(strstr(tach_snapshot_missing(shot), "2 of 2 regions were not seen by all"),
	      "note: %s", tach_snapshot_missing(shot));
	tach_snapshot_free(shot);
}

static void *some(void *unused)
{
	for (int i = 0; i < EACH; i++)
		constant();
	return unused;
}

static void threads_and_forks(void)
{
	struct tach_counts counts = {.size = sizeof counts};
	pthread_t thread[THREADS];
	pid_t child;
	int status;

	begin(3);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, some, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	some(NULL);
	child = fork();
	if (child == 0) {
		some(NULL);
		look();
		_exit(info_of("constant").calls != EACH || check__failed ||
		      fabs(value_of("constant", "a").value - 1000.0 * EACH) > 1);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: %x", status);
	look();
	CHECK(info_of("constant").calls == (THREADS + 1) * EACH, "calls");
	CHECK(info_of("constant").threads == THREADS + 1, "%u threads",
	      info_of("constant").threads);
	tach_snapshot_counts(shot, &counts);
	CHECK(counts.threads == THREADS + 1 && counts.refused == 0, "%d threads",
	      (int)counts.threads);
	near("constant", "d", 2000.0 * (THREADS + 1) * EACH);
	tach_snapshot_free(shot);
}

static void without_turns_too_many_events_are_refused(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "a=r0104,b=r0204"};

	fake_members = 2;
	for (opt.turns = 0; opt.turns <= 4; opt.turns += 4) {
		CHECK(tach_regions_configure(&opt, NULL) == 0, "configure");
		some(NULL);
		CHECK(!tach__self->record->turning.end[0] &&
			      !tach__self->record->config->ring.next,
		      "it all fits");
		look();
		CHECK(value_of("constant", "a").share == 0, "of all");
		tach_snapshot_free(shot);
	}
	fake_members = MEMBERS;
}

static void contradictory_options_are_refused(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = events, .turns = 1};
	struct tach_error err = TACH_ERROR_INIT;

	opt.sparse = 2;
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_INVAL, "sparse: %s", err.text);
	opt.sparse = 0;
	opt.worst = "3";
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_INVAL, "worst: %s", err.text);
	opt.worst = NULL;
	opt.turns = UINT32_MAX;
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_INVAL, "long: %s", err.text);
	opt.turns = 1;
	opt.events = "a=r0104,bogus";
	CHECK(tach_regions_configure(&opt, &err) != 0 && strstr(err.text, "bogus"), "%s",
	      err.text);
}

int main(void)
{
	setenv("TACH_PMU", "knl", 1);
	tach__sys = fake_sys;
	fake_members = MEMBERS;
	CASE(each_is_shown_as_of_all_entries);
	CASE(no_region_sees_a_change);
	CASE(what_was_not_seen_is_not_zero);
	CASE(threads_and_forks);
	CASE(without_turns_too_many_events_are_refused);
	CASE(contradictory_options_are_refused);
	return check_done();
}
