/* SPDX-License-Identifier: MIT */
/*
 * Rows that are divided by thread: their sum, the least, median and most value, the imbalance,
 * and new names.
 */
#include <math.h>
#include <string.h>
#include <tach.h>
#include "core/snapshot/snapshot.h"
#include "core/snapshot/teams.h"
#include "tests/check.h"

struct seen {
	const char *of, *thread;
	double time, count, calls;
};

/* Self values are half of the inclusive ones. */
static const struct seen all[] = {
	{"run", "", 100, 1000, 1},     {"team 7", "a 1", 10, 400, 3},
	{"team 7", "b 2", 40, 100, 2}, {"team 7", "c 3", 20, 200, 9},
	{"team 7", "d 4", 30, 300, 4}, {"one", "a 1", 5, 50, 1},
	{"plain", "a 1", 5, 50, 1},    {"plain", "b 2", 15, 70, 1},
};
enum { ROWS = sizeof all / sizeof *all };

static void make(struct tach_snapshot *s)
{
	static char names[ROWS][64];
	struct tach__plain *p = &s->plain;

	*s = (struct tach_snapshot){.reports = 1, .threads = 4};
	p->nquantities = 2;
	p->nmetrics = 1;
	p->nregions = ROWS;
	CHECK(tach__plain_allocate(p) == 0);
	p->quantity[0] = "time";
	p->quantity[1] = "count";
	p->metric[0] = (struct tach__plain_metric){.name = "twice", .text = "2 * N0"};
	CHECK(tach__plain_compile(p, NULL) == 0);
	for (int r = 0; r < ROWS; r++) {
		CHECK(tach__plain_allocate_region(p, r) == 0);
		snprintf(names[r], sizeof names[r], "%s [thread %s]", all[r].of, all[r].thread);
		p->region[r].info =
			(struct tach_region_info){.name = *all[r].thread ? names[r] : all[r].of,
						  .file = "file",
						  .function = "",
						  .of = all[r].of,
						  .task = "",
						  .tag = "",
						  .thread = all[r].thread,
						  .calls = (uint64_t)all[r].calls,
						  .entries = (uint64_t)all[r].calls,
						  .parent = r ? 0 : -1};
		for (int part = 0; part < 2; part++) {
			p->region[r].value[part][0].value = all[r].time / (1 + part);
			p->region[r].value[part][1].value = all[r].count / (1 + part);
			tach__plain_derive(p, r, 0, (enum tach_part)part);
		}
	}
}

static int rename_team(void *context, struct tach__renamed *to)
{
	*(int *)context += 1;
	to->spread = strcmp(to->name, "team 7") == 0;
	if (!to->spread)
		return 0;
	to->name = "team of f";
	to->file = "f.c";
	to->line = 12;
	return 1;
}

static int index_of(const struct tach_snapshot *s, const char *name)
{
	struct tach_region_info info = {.size = sizeof info};

	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		if (tach_snapshot_region(s, r, &info) == 0 && strcmp(info.name, name) == 0)
			return r;
	return -1;
}

static void row(const struct tach_snapshot *s, const char *name, double time, double count,
		double calls, double imbalance)
{
	struct tach_region_info info = {.size = sizeof info};
	struct tach_value v;
	int r = index_of(s, name);

	CHECK(r >= 0, "%s", name);
	if (r < 0)
		return;
	tach_snapshot_region(s, r, &info);
	CHECK(info.calls == (uint64_t)calls && !*info.thread, "%s: %d calls", name,
	      (int)info.calls);
	CHECK(info.parent == (strcmp(name, "run") ? index_of(s, "run") : -1), "%s: parent %d",
	      name, info.parent);
	for (int part = 0; part < 2; part++) {
		tach_snapshot_value(s, r, 0, (enum tach_part)part, &v);
		CHECK(v.value == time / (1 + part), "%s: time %g", name, v.value);
		tach_snapshot_value(s, r, 1, (enum tach_part)part, &v);
		CHECK(v.value == count / (1 + part), "%s: count %g", name, v.value);
		tach_snapshot_derived(s, r, 0, (enum tach_part)part, &v);
		CHECK(v.value == 2 * count / (1 + part), "%s: metric %g", name, v.value);
	}
	tach_snapshot_derived(s, r, 1, TACH_PART_INCLUSIVE, &v);
	CHECK(isnan(imbalance) ? isnan(v.value) : v.value == imbalance, "%s: imbalance %g",
	      name, v.value);
}

static void spread(void)
{
	struct tach_snapshot s, *out = NULL;
	struct tach_region_info info = {.size = sizeof info};
	int asked = 0;

	make(&s);
	CHECK(tach__snapshot_teams(&s, 1, rename_team, &asked, &out, NULL) == 0);
	CHECK(asked == ROWS && tach_snapshot_nregions(out) == 7, "%d",
	      tach_snapshot_nregions(out));
	CHECK(strcmp(tach_snapshot_metric(out, 1), "imbalance") == 0);
	row(out, "run", 100, 1000, 1, NAN);
	row(out, "team of f", 100, 1000, 18, 40 / 25.);
	row(out, "team of f [least]", 10, 100, 2, NAN);
	row(out, "team of f [median]", 20, 200, 3, NAN);
	row(out, "team of f [most]", 40, 400, 9, NAN);
	row(out, "one", 5, 50, 1, NAN);
	row(out, "plain", 20, 120, 2, 1.5);
	tach_snapshot_region(out, index_of(out, "team of f"), &info);
	CHECK(strcmp(info.file, "f.c") == 0 && info.line == 12);
	CHECK(index_of(out, "team of f [least]") == index_of(out, "team of f") + 1);
	tach_snapshot_free(out);
	tach__plain_free(&s.plain);
}

/* Each thread keeps its row. */
static void each_thread_keeps_its_row(void)
{
	struct tach_snapshot s, *out = NULL;
	struct tach_region_info info = {.size = sizeof info};
	int asked = 0, r;

	make(&s);
	CHECK(tach__snapshot_teams(&s, 0, rename_team, &asked, &out, NULL) == 0);
	CHECK(tach_snapshot_nregions(out) == ROWS && tach_snapshot_nmetrics(out) == 1);
	r = index_of(out, "team of f [thread c 3]");
	CHECK(r >= 0 && tach_snapshot_region(out, r, &info) == 0 && info.calls == 9 &&
	      strcmp(info.of, "team of f") == 0 && strcmp(info.thread, "c 3") == 0 &&
	      info.line == 12);
	CHECK(index_of(out, "plain [thread b 2]") >= 0);
	tach_snapshot_free(out);
	tach__plain_free(&s.plain);
}

int main(void)
{
	CASE(spread);
	CASE(each_thread_keeps_its_row);
	return check_done();
}
