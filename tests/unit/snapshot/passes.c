/* SPDX-License-Identifier: MIT */
/*
 * Passes of one program are joined to one snapshot: means, metrics across passes, and refused
 * differences.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tach.h>
#include "core/snapshot/merge.h"
#include "core/snapshot/passes.h"
#include "tests/check.h"

/* The data of one region in a pass. */
struct seen {
	const char *region;
	double count, instructions, ns;
	int calls;
};

static void value(char *to, const char *name, double v, double error)
{
	sprintf(to + strlen(to),
		"%s\"%s\":{\"value\":%g,\"raw\":%g,\"overhead\":0,\"error\":%g,\"flags\":[]}",
		to[strlen(to) - 1] == '{' ? "" : ",", name, v, v, error);
}

/* event: counted in the pass together with instructions. */
static struct tach_snapshot *pass(const char *event, const struct seen *seen, int n)
{
	static char json[1 << 16];
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;

	sprintf(json,
		"{\"tach\":1,\"note\":\"\",\"clock\":{\"hz\":1e9,\"estimate\":false},"
		"\"threads\":3,\"refused\":0,\"lost\":0,\"stale\":0,\"unopened\":0,"
		"\"quantities\":[{\"name\":\"time\"},{\"name\":\"%s\"},{\"name\":"
		"\"instructions\"}],\"metrics\":[],\"regions\":[",
		event);
	for (int i = 0; i < n; i++) {
		sprintf(json + strlen(json),
			"%s{\"name\":\"%s\",\"file\":\"\",\"function\":\"\",\"line\":0,"
			"\"entries\":%d,\"calls\":%d,\"outermost\":%d,\"skipped\":0,"
			"\"excluded\":0,\"nested\":0,\"threads\":1,\"provenance\":{}",
			i ? "," : "", seen[i].region, seen[i].calls, seen[i].calls,
			seen[i].calls);
		for (int part = 0; part < 2; part++) {
			sprintf(json + strlen(json), ",\"%s\":{", part ? "self" : "inclusive");
			value(json, "time", seen[i].ns, 2);
			value(json, event, seen[i].count, 1);
			value(json, "instructions", seen[i].instructions, 3);
			strcat(json, "}");
		}
		strcat(json, "}");
	}
	strcat(json, "]}");
	CHECK(tach_snapshot_load(json, strlen(json), &s, &err) == 0, "%d:%d: %s", err.line,
	      err.column, err.text);
	return s;
}

static const char *const events[] = {"loads", "misses", "instructions"};
static const struct tach__passes_metric metrics[] = {
	{"per_mille",
	 "1000 * N1 / N0",
	 {.level = 1, .scale = 1, .unit = "percent", .parent = "", .description = "d"},
	 NULL},
	{"rate", "N0 / N2", {0}, NULL},
};
static const struct tach__passes_whole whole = {
	.nevents = 3,
	.nmetrics = 2,
	.event = events,
	.metric = metrics,
	.repeated = "instructions",
	.repeats = 2,
	.bound = 0.01,
};

static struct tach_snapshot *joined(const struct seen *first, int nfirst,
				    const struct seen *second, int nsecond)
{
	struct tach_snapshot *list[] = {pass("m0", first, nfirst), pass("m1", second, nsecond)};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;

	CHECK(tach__snapshot_passes((const struct tach_snapshot *const *)list, 2, &whole, &s,
				    &err) == 0,
	      "%s", err.text);
	tach_snapshot_free(list[0]);
	tach_snapshot_free(list[1]);
	return s;
}

static int region_of(const struct tach_snapshot *s, const char *name)
{
	struct tach_region_info info = {.size = sizeof info};

	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		if (tach_snapshot_region(s, r, &info) == 0 && strcmp(info.name, name) == 0)
			return r;
	CHECK(0, "no region %s", name);
	return 0;
}

static struct tach_value value_of(const struct tach_snapshot *s, const char *region, int q)
{
	struct tach_value v = {0};
	int metric = q - tach_snapshot_nquantities(s), r = region_of(s, region);

	if (metric < 0)
		tach_snapshot_value(s, r, q, TACH_PART_SELF, &v);
	else
		tach_snapshot_derived(s, r, metric, TACH_PART_SELF, &v);
	return v;
}

static void what_is_counted_again_is_a_mean(void)
{
	const struct seen first = {"a", 500, 100000, 1000, 7},
			  second = {"a", 20, 100200, 1100, 7};
	struct tach_snapshot *s = joined(&first, 1, &second, 1);
	struct tach_region_info info = {.size = sizeof info};
	struct tach_counts counts = {.size = sizeof counts};
	struct tach_value v;

	CHECK(tach_snapshot_nquantities(s) == 4 &&
	      strcmp(tach_snapshot_quantity(s, 1), "loads") == 0 &&
	      strcmp(tach_snapshot_quantity(s, 2), "misses") == 0 &&
	      strcmp(tach_snapshot_quantity(s, 3), "instructions") == 0);
	CHECK(value_of(s, "a", 0).value == 1050 && value_of(s, "a", 0).error == 52);
	CHECK(value_of(s, "a", 1).value == 500 && value_of(s, "a", 1).error == 1);
	CHECK(value_of(s, "a", 2).value == 20 && !(value_of(s, "a", 2).flags & TACH_FLAG_LOST));
	CHECK(value_of(s, "a", 3).value == 100100 && value_of(s, "a", 3).error == 103);
	tach_snapshot_region(s, 0, &info);
	CHECK(info.calls == 7 && info.entries == 7 && info.threads == 1);
	CHECK(tach_snapshot_counts(s, &counts) == 0 && counts.threads == 3 &&
		      counts.reports == 1,
	      "%llu threads", (unsigned long long)counts.threads);
	/* A metric over counts from two passes has the errors of both. */
	tach_snapshot_derived(s, 0, 0, TACH_PART_INCLUSIVE, &v);
	CHECK(v.value == 40 && v.error > 2 && v.error < 2.2, "%g +- %g", v.value, v.error);
	tach_snapshot_derived(s, 0, 1, TACH_PART_INCLUSIVE, &v);
	CHECK(fabs(v.value - 500 / 100100.) < 1e-12);
	CHECK(strstr(tach_snapshot_missing(s), "counted in 2 passes") != NULL);
	tach_snapshot_free(s);
}

/* Only passes with different counts are refused. */
static void what_disagrees_is_not_merged(void)
{
	const struct seen first[] = {{"same", 5, 1000, 10, 2},
				     {"longer", 6, 1000, 20, 2},
				     {"within", 6, 1000, 20, 2},
				     {"oftener", 7, 1000, 30, 2},
				     {"gone", 8, 1000, 40, 2}};
	const struct seen second[] = {{"same", 50, 1000, 10, 2},
				      {"longer", 60, 1030, 20, 2},
				      {"within", 60, 1025, 20, 2},
				      {"oftener", 70, 1000, 30, 3},
				      {"new", 80, 1000, 50, 2}};
	struct tach_snapshot *s = joined(first, 5, second, 5);
	const char *note = tach_snapshot_missing(s);

	CHECK(tach_snapshot_nregions(s) == 6);
	CHECK(value_of(s, "same", 2).value == 50);
	/* The limit is 1 % of 1025, plus both errors of 3, plus 10. */
	CHECK(value_of(s, "within", 2).value == 60 && value_of(s, "within", 3).value == 1012.5);
	CHECK(value_of(s, "longer", 2).flags & TACH_FLAG_LOST &&
	      isnan(value_of(s, "longer", 2).value) && isnan(value_of(s, "longer", 4).value) &&
	      !isnan(value_of(s, "longer", 5).value));
	CHECK(value_of(s, "longer", 1).value == 6 && value_of(s, "longer", 3).value == 1000);
	CHECK(value_of(s, "oftener", 2).flags & TACH_FLAG_LOST &&
	      value_of(s, "oftener", 1).value == 7);
	CHECK(value_of(s, "gone", 2).flags & TACH_FLAG_LOST &&
	      value_of(s, "gone", 1).value == 8);
	CHECK(value_of(s, "new", 1).flags & TACH_FLAG_LOST &&
	      value_of(s, "new", 2).value == 80);
	CHECK(strstr(note, "longer: 1000 instructions in pass 1, 1030 in pass 2: not merged") &&
		      strstr(note, "oftener: 2 calls in pass 1, 3 in pass 2: not merged") &&
		      !strstr(note, "same:") && !strstr(note, "within:"),
	      "%s", note);
	tach_snapshot_free(s);
}

/* The passes together have more events than a set holds, and metrics over all of them. */
static void more_than_a_set_holds(void)
{
	enum { MANY = 120 };
	static char json[1 << 16];
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL, *sum = NULL;
	const struct tach_snapshot *list[2];
	struct tach_value v = {0};
	char name[16];

	strcpy(json, "{\"tach\":1,\"note\":\"\",\"clock\":{\"hz\":1e9,\"estimate\":false},"
		     "\"threads\":1,\"refused\":0,\"lost\":0,\"stale\":0,\"unopened\":0,"
		     "\"quantities\":[{\"name\":\"time\"}");
	for (int i = 0; i < MANY; i++)
		sprintf(json + strlen(json), ",{\"name\":\"q%d\"}", i);
	sprintf(json + strlen(json),
		"],\"metrics\":[{\"name\":\"ends\",\"formula\":\"N0 + N%d\"}],\"regions\":["
		"{\"name\":\"r\",\"file\":\"\",\"function\":\"\",\"line\":0,\"entries\":1,"
		"\"calls\":1,\"outermost\":1,\"skipped\":0,\"excluded\":0,\"nested\":0,"
		"\"threads\":1,\"provenance\":{}",
		MANY - 1);
	for (int part = 0; part < 2; part++) {
		sprintf(json + strlen(json), ",\"%s\":{", part ? "self" : "inclusive");
		value(json, "time", 1, 0);
		for (int i = 0; i < MANY; i++) {
			sprintf(name, "q%d", i);
			value(json, name, i + 1, 0);
		}
		value(json, "ends", MANY + 1, 0);
		strcat(json, "}");
	}
	strcat(json, "}]}");
	CHECK(tach_snapshot_load(json, strlen(json), &s, &err) == 0, "%d:%d: %s", err.line,
	      err.column, err.text);
	list[0] = list[1] = s;
	CHECK(tach_snapshot_merge(list, 2, &sum, &err) == 0, "%s", err.text);
	tach_snapshot_derived(sum, 0, 0, TACH_PART_INCLUSIVE, &v);
	CHECK(v.value == 2 * (MANY + 1), "%g", v.value);
	tach_snapshot_free(sum);
	tach_snapshot_free(s);
}

/* Names given by the program stay unchanged. */
static void names_stay(void)
{
	CHECK(strcmp(tach__passes_name(&whole, "m1"), "misses") == 0);
	CHECK(strcmp(tach__passes_name(&whole, "m3"), "m3") == 0 &&
	      strcmp(tach__passes_name(&whole, "m"), "m") == 0 &&
	      strcmp(tach__passes_name(&whole, "m1x"), "m1x") == 0 &&
	      strcmp(tach__passes_name(&whole, "m99999999999999999999"),
		     "m99999999999999999999") == 0);
	CHECK(strcmp(tach__passes_name(&whole, "time"), "time") == 0);
}

int main(void)
{
	CASE(what_is_counted_again_is_a_mean);
	CASE(what_disagrees_is_not_merged);
	CASE(more_than_a_set_holds);
	CASE(names_stay);
	return check_done();
}
