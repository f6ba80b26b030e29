/* SPDX-License-Identifier: MIT */
/*
 * Helpers. Their counts are in rows of their own, for each region that the owner of the team
 * had open, and the row with the team is the sum. A thread counts once. The simulated kernel
 * counts scripted values.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include "tests/unit/region/regions.h"

static struct tach_team team;

static void begin(const char *only, const char *by)
{
	struct tach_regions_options opt = {
		.size = sizeof opt, .set = fake_set(2), .only = only, .by = by};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

static void run_on_another_thread(void *(*what)(void *), int n)
{
	pthread_t thread;

	pthread_create(&thread, NULL, what, (void *)(intptr_t)n);
	pthread_join(thread, NULL);
}

static void *help(void *n)
{
	struct tach_help part;

	fake_count += 1000; /* before, so not for the team */
	tach_team_join(&team, &part);
	fake_count += (uint64_t)(intptr_t)n;
	tach_team_leave(&part);
	fake_count += 1000;
	return NULL;
}

/* The team is used after its regions have ended. */
static void inner_of_outer(int own)
{
	TACH_START(outer);
	TACH_START(inner);
	fake_count += (uint64_t)own;
	CHECK(tach_team_take(&team) == 2);
	TACH_STOP(inner);
	fake_count += 1;
	TACH_STOP(outer);
}

static double count_of(const char *name)
{
	return regions_find(name, 1) ? value.value : -1;
}

static void sums(void)
{
	begin(NULL, NULL);
	inner_of_outer(10);
	run_on_another_thread(help, 200);
	run_on_another_thread(help, 3000);
	inner_of_outer(10);
	run_on_another_thread(help, 40000);
	CHECK(regions_look("inner", 1) && value.value == 20 && info.calls == 2, "%g",
	      value.value);
	CHECK(count_of("inner [helpers]") == 43200 && info.calls == 3 && info.threads == 3,
	      "%g", value.value);
	CHECK(count_of("outer [helpers]") == 43200, "%g", value.value);
	CHECK(count_of("inner [with team]") == 43220 && info.calls == 5 && info.threads == 4,
	      "%g", value.value);
	CHECK(count_of("outer [with team]") == 43222, "%g", value.value);
	CHECK(regions_find("outer [with team]", 2) && value.value == 2 * 43222, "%g",
	      value.value);
	CHECK(strcmp(info.file, __FILE__) == 0 && info.line != 0 &&
	      strcmp(info.function, "inner_of_outer") == 0);
}

/* Its parent is the region around the owner's. */
static void place(void)
{
	struct tach_region_info up = {.size = sizeof up};

	begin(NULL, NULL);
	inner_of_outer(10);
	run_on_another_thread(help, 200);
	CHECK(regions_look("inner [with team]", 1) && info.parent >= 0);
	CHECK(tach_snapshot_region(shot, info.parent, &up) == 0 &&
	      strcmp(up.name, "outer") == 0);
	CHECK(regions_find("inner [helpers]", 1) && info.parent >= 0);
	CHECK(tach_snapshot_region(shot, info.parent, &up) == 0 &&
	      strcmp(up.name, "outer [helpers]") == 0);
}

/* ---- once ---- */

static void *help_with_help(void *n)
{
	struct tach_help part, again;
	struct tach_team own;

	tach_team_join(&team, &part);
	CHECK(tach_team_take(&own) == 2 && memcmp(&own, &team, sizeof own) == 0);
	tach_team_join(&own, &again);
	fake_count += (uint64_t)(intptr_t)n;
	tach_team_leave(&again);
	tach_team_leave(&again);
	run_on_another_thread(help, 50000);
	tach_team_leave(&part);
	return NULL;
}

static void threads_count_once(void)
{
	begin(NULL, NULL);
	TACH_START(outer);
	TACH_START(inner);
	CHECK(tach_team_take(&team) == 2);
	help((void *)7); /* the owner itself */
	TACH_STOP(inner);
	help((void *)60); /* for `inner` alone */
	TACH_STOP(outer);
	run_on_another_thread(help_with_help, 100);
	CHECK(regions_look("inner", 1) && value.value == 2007, "%g", value.value);
	CHECK(count_of("outer") == 4067, "%g", value.value);
	CHECK(count_of("outer [helpers]") == 50100 && info.calls == 2, "%g", value.value);
	CHECK(count_of("inner [helpers]") == 50160 && info.calls == 3, "%g", value.value);
}

static void recurse(int n)
{
	TACH_START(again);
	if (n)
		recurse(n - 1);
	else
		CHECK(tach_team_take(&team) == 1 && !team.site[1]);
	TACH_STOP(again);
}

static void recursion(void)
{
	begin(NULL, NULL);
	recurse(20);
	run_on_another_thread(help, 5);
	CHECK(regions_look("again [helpers]", 1) && value.value == 5 && info.calls == 1);
}

/* ---- none ---- */

static void team_without_regions_is_empty(void)
{
	struct tach_help part = {0};

	tach_team_leave(&part);
	begin(NULL, NULL);
	memset(&team, 0xff, sizeof team);
	CHECK(tach_team_take(&team) == 0 && !team.site[0]);
	run_on_another_thread(help, 5);
	tach_regions_disable();
	TACH_START(off);
	CHECK(tach_team_take(&team) == 0);
	TACH_STOP(off);
}

/* No row with the team if no thread helped. */
static void no_team_row_without_helpers(void)
{
	begin(NULL, NULL);
	inner_of_outer(10);
	CHECK(regions_look("inner", 1) && !regions_find("inner [with team]", 1) &&
	      !regions_find("inner [helpers]", 1));
}

static void deep(int n)
{
	static const char *const names[] = {"d0", "d1", "d2", "d3", "d4",
					    "d5", "d6", "d7", "d8"};

	TACH_START_NAMED(names[n]);
	if (n < 8)
		deep(n + 1);
	else
		CHECK(tach_team_take(&team) == TACH_TEAM_REGIONS);
	TACH_STOP_NAMED();
}

static void too_many(void)
{
	begin(NULL, NULL);
	deep(1);
	CHECK(regions_look("d1", 1) && !strstr(tach_snapshot_missing(shot), "around a team"));
	deep(0);
	CHECK(regions_look("d0", 1) && strstr(tach_snapshot_missing(shot),
					      "more than 8 regions were open around a team: "
					      "the outer ones lack its "
					      "helpers"),
	      "%s", tach_snapshot_missing(shot));
}

/* ---- choosing ---- */

static void filter(void)
{
	begin("inner", NULL);
	TACH_START(outer);
	TACH_START(inner);
	CHECK(tach_team_take(&team) == 1);
	TACH_STOP(inner);
	TACH_STOP(outer);
	run_on_another_thread(help, 9);
	CHECK(regions_look("inner [with team]", 1) && value.value == 9, "%g", value.value);
	begin("outer", NULL);
	run_on_another_thread(help, 9);
	CHECK(!regions_look("inner [helpers]", 1));
	begin("*", NULL);
	run_on_another_thread(help, 8);
	CHECK(regions_look("inner [helpers]", 1) && value.value == 8, "%g", value.value);
	/* A filter that fits no region says so, also if it fits a row of helpers. */
	begin("*helpers?", NULL);
	run_on_another_thread(help, 8);
	CHECK(!regions_look("inner [helpers]", 1) &&
	      strstr(tach_snapshot_missing(shot), "fits none"));
}

static void shared(int tag, int own)
{
	tach_tag((uint64_t)tag);
	TACH_START(shared);
	CHECK(tach_team_take(&team) == 1);
	fake_count += (uint64_t)own;
	TACH_STOP(shared);
	tach_tag(0);
}

/* Rows of tags and threads have one row with the team. */
static void divided(void)
{
	begin(NULL, "tag,thread");
	shared(1, 10);
	shared(2, 20);
	run_on_another_thread(help, 300);
	run_on_another_thread(help, 4000);
	CHECK(regions_look("shared [with team]", 1) && value.value == 4330 && !*info.thread,
	      "%g", value.value);
}

/* ---- saved reports, and children ---- */

struct text {
	char at[1 << 18];
	size_t n;
};

static int keep(void *context, const char *text, size_t n)
{
	struct text *t = context;

	if (t->n + n < sizeof t->at) {
		memcpy(t->at + t->n, text, n);
		t->n += n;
	}
	return 0;
}

static int shares(const struct tach_snapshot *s, const char *name)
{
	static struct text t;
	const char *row;

	t.n = 0;
	CHECK(tach_report_write(s, NULL, keep, &t, NULL) == 0);
	t.at[t.n] = '\0';
	row = strstr(t.at, name);
	return row && !memmem(row, strcspn(row, "\n"), " -  ", 4);
}

static void saved_report_keeps_team_rows(void)
{
	struct tach_report_options json = {.size = sizeof json, .format = TACH_FORMAT_JSON};
	static struct text t;
	struct tach_snapshot *again = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	regions_begin(0);
	inner_of_outer(10);
	run_on_another_thread(help, 200);
	CHECK(regions_look("inner", 1));
	CHECK(shares(shot, "inner [helpers]") && !shares(shot, "inner [with team]"));
	CHECK(tach_report_write(shot, &json, keep, &t, NULL) == 0);
	CHECK(tach_snapshot_load(t.at, t.n, &again, &err) == 0, "%s", err.text);
	CHECK(shares(again, "inner [helpers]") && !shares(again, "inner [with team]"));
	tach_snapshot_free(again);
}

static void child_of_fork_may_help(void)
{
	int status = -1;
	pid_t pid;

	begin(NULL, NULL);
	inner_of_outer(10);
	pid = fork();
	if (pid == 0) {
		run_on_another_thread(help, 70);
		_exit(!(regions_look("inner [helpers]", 1) && value.value == 70));
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "%#x", status);
}

int main(void)
{
	CASE(sums);
	CASE(place);
	CASE(threads_count_once);
	CASE(recursion);
	CASE(team_without_regions_is_empty);
	CASE(no_team_row_without_helpers);
	CASE(filter);
	CASE(divided);
	CASE(saved_report_keeps_team_rows);
	CASE(child_of_fork_may_help);
	CASE(too_many);
	tach_snapshot_free(shot);
	return check_done();
}
