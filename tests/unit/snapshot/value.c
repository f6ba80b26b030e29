/* SPDX-License-Identifier: MIT */
/* A snapshot's functions, at the bounds of each index. */
#include <math.h>
#include <string.h>
#include <tach.h>
#include "core/snapshot/snapshot.h"
#include "tests/check.h"

enum { REGIONS = 2, QUANTITIES = 2, METRICS = 2, PARTS = 2 };

static char json[1 << 14], *end;

#define PUT(...) (end += sprintf(end, __VA_ARGS__))

/* Each number is different: region, part, quantity and metric contribute to it. */
static double number(int region, int part, int quantity)
{
	return 100 * (region + 1) + 10 * (part + 1) + quantity + 1;
}

static struct tach_snapshot *make(void)
{
	static const char *const name[] = {"time", "x", "twice", "more"};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;

	end = json;
	PUT("{\"tach\":1,\"note\":\"a "
	    "note\",\"rank\":0,\"clock\":{\"hz\":5,\"estimate\":false},"
	    "\"threads\":11,\"refused\":12,\"lost\":13,\"stale\":14,\"unopened\":15,"
	    "\"quantities\":[{\"name\":\"time\"},{\"name\":\"x\"}],\"metrics\":["
	    "{\"name\":\"twice\",\"formula\":\"2 * N0\"},"
	    "{\"name\":\"more\",\"formula\":\"N0 + 1\"}],\"regions\":[");
	for (int r = 0; r < REGIONS; r++) {
		PUT("%s{\"name\":\"r%d\",\"file\":\"f\",\"function\":\"g\",\"line\":1,"
		    "\"entries\":1,\"calls\":%d,\"outermost\":1,\"skipped\":0,\"excluded\":0,"
		    "\"lost\":0,\"nested\":0,\"threads\":1,\"provenance\":{}",
		    r ? "," : "", r, r + 3);
		for (int part = 0; part < PARTS; part++) {
			PUT(",\"%s\":{", part ? "self" : "inclusive");
			for (int q = 0; q < 4; q++)
				PUT("%s\"%s\":{\"value\":%g,\"raw\":1,\"overhead\":0,"
				    "\"error\":0,\"flags\":[]}",
				    q ? "," : "", name[q], number(r, part, q));
			PUT("}");
		}
		if (r)
			PUT(",\"histograms\":{\"time\":[[1,3,2],[4,8,5],[20,30,1]],"
			    "\"x\":[[1,5,0],[6,8,1]]}");
		PUT("}");
	}
	PUT("]}");
	CHECK(tach_snapshot_load(json, (size_t)(end - json), &s, &err) == 0, "%d:%d: %s",
	      err.line, err.column, err.text);
	return s;
}

static int same(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

static void names(void)
{
	struct tach_snapshot *s = make();
	struct tach_region_info info = {.size = sizeof info};
	struct tach_counts c = {.size = sizeof c};

	CHECK(tach_snapshot_nregions(s) == REGIONS && tach_snapshot_nmetrics(s) == METRICS &&
	      tach_snapshot_nquantities(s) == QUANTITIES);
	CHECK(same(tach_snapshot_quantity(s, 0), "time") &&
	      same(tach_snapshot_quantity(s, 1), "x") && !tach_snapshot_quantity(s, 2) &&
	      !tach_snapshot_quantity(s, -1));
	CHECK(same(tach_snapshot_metric(s, 0), "twice") &&
	      same(tach_snapshot_metric(s, 1), "more") && !tach_snapshot_metric(s, 2) &&
	      !tach_snapshot_metric(s, -1));
	CHECK(same(tach_snapshot_missing(s), "a note"));
	for (int r = -1; r <= REGIONS; r++) {
		int there = r >= 0 && r < REGIONS;

		info.calls = 0;
		CHECK(tach_snapshot_region(s, r, &info) == (there ? 0 : TACH_ERR_INVAL), "%d",
		      r);
		CHECK(info.calls == (there ? (uint64_t)r + 3 : 0), "%d", r);
	}
	info.size = 7;
	CHECK(tach_snapshot_region(s, 0, &info) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_region(s, 0, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_counts(s, &c) == 0 && c.threads == 11 && c.refused == 12 &&
	      c.lost == 13 && c.stale == 14 && c.unopened == 15 && c.clock_hz == 5 &&
	      c.reports == 1 && c.size == sizeof c);
	c.size = 7;
	c.lost = 0;
	CHECK(tach_snapshot_counts(s, &c) == TACH_ERR_INVAL && c.lost == 0);
	CHECK(tach_snapshot_counts(s, NULL) == TACH_ERR_INVAL);
	tach_snapshot_free(s);
}

/* Names next to the arrays are not used. */
static void names_beside(void)
{
	static const char *quantity[] = {"before", "time", "x", "behind"};
	static struct tach__plain_metric metric[METRICS + 2] = {
		{.name = "before"}, {.name = "twice"}, {.name = "more"}, {.name = "behind"}};
	const struct tach_snapshot s = {.plain = {.nquantities = QUANTITIES,
						  .quantity = quantity + 1,
						  .nmetrics = METRICS,
						  .metric = metric + 1}};

	CHECK(same(tach_snapshot_quantity(&s, 1), "x") &&
	      same(tach_snapshot_metric(&s, 1), "more"));
	CHECK(!tach_snapshot_quantity(&s, -1) && !tach_snapshot_quantity(&s, QUANTITIES));
	CHECK(!tach_snapshot_metric(&s, -1) && !tach_snapshot_metric(&s, METRICS));
}

static void values(void)
{
	struct tach_snapshot *s = make();
	struct tach_value v;

	for (int r = -1; r <= REGIONS; r++)
		for (int q = -1; q <= QUANTITIES; q++)
			for (int part = 0; part <= PARTS; part++) {
				int there = r >= 0 && r < REGIONS && q >= 0 && part < PARTS;
				double want = number(r, part, QUANTITIES + q);

				v.value = -1;
				CHECK(tach_snapshot_value(s, r, q, (enum tach_part)part, &v) ==
				      (there && q < QUANTITIES ? 0 : TACH_ERR_INVAL));
				CHECK(v.value == (there && q < QUANTITIES ? number(r, part, q)
									  : -1),
				      "%d %d %d: %g", r, q, part, v.value);
				v.value = -1;
				CHECK(tach_snapshot_derived(s, r, q, (enum tach_part)part,
							    &v) ==
				      (there && q < METRICS ? 0 : TACH_ERR_INVAL));
				CHECK(v.value == (there && q < METRICS ? want : -1),
				      "%d %d %d: %g", r, q, part, v.value);
			}
	CHECK(tach_snapshot_value(s, 0, 0, TACH_PART_SELF, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_derived(s, 0, 0, TACH_PART_SELF, NULL) == TACH_ERR_INVAL);
	tach_snapshot_free(s);
}

/*
 * Eight values: two up to 3, five up to 8, one up to 30; minimum and maximum are known exactly.
 */
static void quantiles_lie_in_their_buckets(void)
{
	static const struct {
		double p, want, resolution;
	} cases[] = {{0, 1, 0},		 {0.125, 1, 0},	  {0.25, 2.5, 1.5},
		     {0.2501, 4.4, 3.6}, {0.5, 5.2, 2.8}, {0.875, 7.6, 3.6},
		     {0.8751, 30, 0},	 {0.99, 30, 0},	  {1, 30, 0}};
	static const double none[] = {-0.001, -1, 1.001, 2, NAN, INFINITY, -INFINITY};
	struct tach_snapshot *s = make();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK(tach_snapshot_quantile(s, 1, 0, cases[i].p) == cases[i].want, "%g: %g",
		      cases[i].p, tach_snapshot_quantile(s, 1, 0, cases[i].p));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double got = tach__snapshot_resolution(s, 1, 0, cases[i].p);

		CHECK(fabs(got - cases[i].resolution) < 1e-9, "%g: %g", cases[i].p, got);
	}
	CHECK(isnan(tach__snapshot_resolution(s, 0, 0, 0.5)));
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(isnan(tach_snapshot_quantile(s, 1, 0, none[i])), "%g", none[i]);
	CHECK(tach_snapshot_quantile(s, 1, 1, 1) == 7 &&
	      tach_snapshot_quantile(s, 1, 1, 0.1) == 7);
	/* Empty and invalid histograms have no quantile. */
	for (int r = -1; r <= REGIONS; r++)
		for (int q = -1; q <= QUANTITIES; q++)
			CHECK(isnan(tach_snapshot_quantile(s, r, q, 0.5)) ==
				      (r != 1 || q < 0 || q >= QUANTITIES),
			      "%d, %d", r, q);
	CHECK(isnan(tach_snapshot_quantile(s, 0, 0, 0)));
	/* A histogram without counts has no quantile. */
	s->plain.region[1].histogram[1].count = 1;
	CHECK(isnan(tach_snapshot_quantile(s, 1, 1, 1)));
	CHECK(isnan(tach_snapshot_quantile(s, 1, 1, 1.5)));
	tach_snapshot_free(s);
}

static void buckets(void)
{
	static const struct tach_bucket want[] = {{1, 3, 2}, {4, 8, 5}, {20, 30, 1}};
	struct tach_snapshot *s = make();
	struct tach_bucket b[5];

	for (int max = -1; max <= 5; max++) {
		int there = max < 0 ? 0 : max < 3 ? max : 3;

		memset(b, 0xff, sizeof b);
		CHECK(tach_snapshot_buckets(s, 1, 0, b, max) == 3);
		for (int i = 0; i < 5; i++)
			CHECK(i < there
				      ? b[i].low == want[i].low && b[i].high == want[i].high &&
						b[i].count == want[i].count
				      : b[i].count == UINT64_MAX,
			      "%d of %d", i, max);
	}
	CHECK(tach_snapshot_buckets(s, 1, 0, NULL, 0) == 3);
	CHECK(tach_snapshot_buckets(s, 1, 0, NULL, 1) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_buckets(s, 0, 0, b, 5) == 0);
	CHECK(tach_snapshot_buckets(s, 1, 2, b, 5) == TACH_ERR_INVAL &&
	      tach_snapshot_buckets(s, 1, -1, b, 5) == TACH_ERR_INVAL &&
	      tach_snapshot_buckets(s, 2, 0, b, 5) == TACH_ERR_INVAL &&
	      tach_snapshot_buckets(s, -1, 0, b, 5) == TACH_ERR_INVAL);
	tach_snapshot_free(s);
}

int main(void)
{
	CASE(names);
	CASE(names_beside);
	CASE(values);
	CASE(quantiles_lie_in_their_buckets);
	CASE(buckets);
	return check_done();
}
