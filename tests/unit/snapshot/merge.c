/* SPDX-License-Identifier: MIT */
/*
 * tach_snapshot_merge with two saved reports in which every number is different: all are added,
 * and no other value changes.
 */
#include <string.h>
#include <tach.h>
#include "core/base/flags.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"

static char json[1 << 20], *end;

#define PUT(...) (end += sprintf(end, __VA_ARGS__))

/* times: the factor for each number of the first report. */
static void put_head(int times, double hz, int estimate)
{
	end = json;
	PUT("{\"tach\":1,\"note\":\"\",\"rank\":3,\"clock\":{\"hz\":%g,\"estimate\":%s},"
	    "\"threads\":%d,\"refused\":%d,\"lost\":%d,\"stale\":%d,\"unopened\":%d,",
	    hz, estimate ? "true" : "false", times, 2 * times, 3 * times, 4 * times, 5 * times);
}

static void put_region(const char *name, int times)
{
	PUT("{\"name\":\"%s\",\"file\":\"f\",\"function\":\"g\",\"line\":1,\"entries\":%d,"
	    "\"calls\":%d,\"outermost\":%d,\"skipped\":%d,\"excluded\":%d,\"lost\":%d,"
	    "\"nested\":%d,\"threads\":%d,\"provenance\":{",
	    name, 1 * times, 2 * times, 3 * times, 4 * times, 5 * times, 6 * times, 7 * times,
	    8 * times);
	for (int i = 0; i < 6; i++)
		PUT("%s\"%s\":%d", i ? "," : "", tach__flag_names[i].name, (9 + i) * times);
	PUT("}");
}

/*
 * Writes a quantity with the same value in both parts; a metric's value is ignored by merging.
 */
static void put_value(const char *name, double value, double raw, double overhead, double error)
{
	PUT("%s\"%s\":{\"value\":%g,\"raw\":%g,\"overhead\":%g,\"error\":%g,\"flags\":[]}",
	    end[-1] == '{' ? "" : ",", name, value, raw, overhead, error);
}

static struct tach_snapshot *load(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;

	CHECK(tach_snapshot_load(json, (size_t)(end - json), &s, &err) == 0, "%d:%d: %s",
	      err.line, err.column, err.text);
	return s;
}

/* A report of quantity x with an unknown clock. */
static struct tach_snapshot *first(void)
{
	put_head(1, 0, 0);
	PUT("\"quantities\":[{\"name\":\"time\"},{\"name\":\"x\"}],"
	    "\"metrics\":[{\"name\":\"twice\",\"formula\":\"2 * N0\"}],\"regions\":[");
	put_region("both", 1);
	for (int part = 0; part < 2; part++) {
		PUT(",\"%s\":{", part ? "self" : "inclusive");
		put_value("time", 10, 12, 2, 1);
		put_value("x", 5, 7, 1, 4);
		put_value("twice", 0, 0, 0, 0);
		PUT("}");
	}
	PUT(",\"histograms\":{\"time\":[[1,2,3],[4,8,5],[20,30,1]],\"x\":[[1,1,2]]}},");
	put_region("longest", 1);
	for (int part = 0; part < 2; part++) {
		PUT(",\"%s\":{", part ? "self" : "inclusive");
		put_value("time", 100, 100, 0, 0);
		put_value("x", 1, 1, 0, 1);
		put_value("twice", 0, 0, 0, 0);
		PUT("}");
	}
	PUT("}]}");
	return load();
}

/* This report also has y, which comes before x. */
static struct tach_snapshot *second(void)
{
	put_head(10, 1, 1);
	PUT("\"quantities\":[{\"name\":\"time\"},{\"name\":\"y\"},{\"name\":\"x\"}],"
	    "\"metrics\":[{\"name\":\"twice\",\"formula\":\"2 * N1\"},"
	    "{\"name\":\"sum\",\"formula\":\"N0 + N1\"}],\"regions\":[");
	put_region("both", 10);
	for (int part = 0; part < 2; part++) {
		PUT(",\"%s\":{", part ? "self" : "inclusive");
		put_value("time", 30, 33, 3, 2);
		put_value("y", 50, 50, 0, 0);
		put_value("x", 3, 4, 1, 5);
		put_value("twice", 0, 0, 0, 0);
		put_value("sum", 0, 0, 0, 0);
		PUT("}");
	}
	PUT(",\"histograms\":{\"time\":[[1,2,10],[2,2,7],[4,8,1],[20,40,2]]}}]}");
	return load();
}

/* order: which report is first. */
static struct tach_snapshot *merged(int order)
{
	struct tach_snapshot *list[2], *sum = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	list[order] = first();
	list[!order] = second();
	CHECK(tach_snapshot_merge((const struct tach_snapshot *const *)list, 2, &sum, &err) ==
		      0,
	      "%s", err.text);
	tach_snapshot_free(list[0]);
	tach_snapshot_free(list[1]);
	return sum;
}

static void check_value(const struct tach_snapshot *s, int region, int quantity, double value,
			double raw, double overhead, double error, uint32_t flags)
{
	for (int part = 0; part < 2; part++) {
		struct tach_value v = {0};

		CHECK(tach_snapshot_value(s, region, quantity, (enum tach_part)part, &v) == 0 &&
			      v.value == value && v.raw == raw && v.overhead == overhead &&
			      v.error == error && v.flags == flags,
		      "region %d, quantity %d, part %d: %g, raw %g, overhead %g, error %g, "
		      "flags %#x",
		      region, quantity, part, v.value, v.raw, v.overhead, v.error, v.flags);
	}
}

static void values_add_up(void)
{
	struct tach_snapshot *s = merged(0);
	struct tach_region_info info = {.size = sizeof info};
	struct tach_value v = {0};

	CHECK(tach_snapshot_nquantities(s) == 3 && tach_snapshot_nmetrics(s) == 2 &&
		      tach_snapshot_nregions(s) == 2,
	      "%d quantities, %d metrics, %d regions", tach_snapshot_nquantities(s),
	      tach_snapshot_nmetrics(s), tach_snapshot_nregions(s));
	CHECK(strcmp(tach_snapshot_quantity(s, 1), "x") == 0 &&
	      strcmp(tach_snapshot_quantity(s, 2), "y") == 0);
	/*
	 * The longest region is first. A quantity that only one report counted is lost, and is
	 * not flagged as small.
	 */
	CHECK(tach_snapshot_region(s, 0, &info) == 0 && strcmp(info.name, "longest") == 0 &&
	      info.calls == 2);
	check_value(s, 0, 0, 100, 100, 0, 0, 0);
	check_value(s, 0, 1, 1, 1, 0, 1, TACH_FLAG_SMALL);
	check_value(s, 0, 2, 0, 0, 0, 0, TACH_FLAG_LOST);
	check_value(s, 1, 0, 40, 45, 5, 3, 0);
	check_value(s, 1, 1, 8, 11, 2, 9, TACH_FLAG_SMALL);
	check_value(s, 1, 2, 50, 50, 0, 0, TACH_FLAG_LOST);
	CHECK(tach_snapshot_derived(s, 1, 0, TACH_PART_SELF, &v) == 0 && v.value == 16, "%g",
	      v.value);
	CHECK(tach_snapshot_derived(s, 1, 1, TACH_PART_SELF, &v) == 0 && v.value == 58, "%g",
	      v.value);
	CHECK(tach_snapshot_region(s, 1, &info) == 0 && strcmp(info.name, "both") == 0);
	CHECK(info.entries == 11 && info.calls == 22 && info.outermost == 33 &&
	      info.skipped == 44 && info.excluded == 55 && info.lost == 66 &&
	      info.nested == 77 && info.threads == 88);
	for (int i = 0; i < 6; i++)
		CHECK(info.provenance[i] == 11 * (9 + (uint64_t)i), "provenance %d: %llu", i,
		      (unsigned long long)info.provenance[i]);
	tach_snapshot_free(s);
}

static void counts_add_up(void)
{
	for (int order = 0; order < 2; order++) {
		struct tach_snapshot *s = merged(order);
		struct tach_counts c = {.size = sizeof c};

		CHECK(tach_snapshot_counts(s, &c) == 0 && c.threads == 11 && c.refused == 22 &&
		      c.lost == 33 && c.stale == 44 && c.unopened == 55 && c.reports == 2);
		/*
		 * The clock's rate is from the report that has one; an estimate remains an
		 * estimate.
		 */
		CHECK(c.clock_hz == 1, "%g Hz", c.clock_hz);
		CHECK(s->clock_flags == TACH_FLAG_CLOCK, "%#x", s->clock_flags);
		CHECK(s->rank == 4, "rank %d", s->rank);
		tach_snapshot_free(s);
	}
}

/* Buckets that overlap become one. */
static void histograms_add_up(void)
{
	static const struct tach_bucket want[] = {{1, 2, 20}, {4, 8, 6}, {20, 40, 3}};
	struct tach_snapshot *s = merged(0);
	struct tach_bucket b[8];
	int n = tach_snapshot_buckets(s, 1, 0, b, 8);

	CHECK(n == 3, "%d buckets", n);
	for (int i = 0; n == 3 && i < 3; i++)
		CHECK(b[i].low == want[i].low && b[i].high == want[i].high &&
			      b[i].count == want[i].count,
		      "bucket %d: %g to %g: %llu", i, b[i].low, b[i].high,
		      (unsigned long long)b[i].count);
	n = tach_snapshot_buckets(s, 1, 1, b, 8);
	CHECK(n == 1 && b[0].low == 1 && b[0].high == 1 && b[0].count == 2, "%d buckets", n);
	CHECK(tach_snapshot_buckets(s, 1, 2, b, 8) <= 0 &&
	      tach_snapshot_buckets(s, 0, 0, b, 8) <= 0);
	tach_snapshot_free(s);
}

static struct tach_snapshot *of_names(const char *prefix, int quantities, int metrics)
{
	put_head(1, 1, 0);
	PUT("\"quantities\":[{\"name\":\"time\"}");
	for (int i = 1; i < quantities; i++)
		PUT(",{\"name\":\"%s%d\"}", prefix, i);
	PUT("],\"metrics\":[");
	for (int i = 0; i < metrics; i++)
		PUT("%s{\"name\":\"%s%d\",\"formula\":\"2\"}", i ? "," : "", prefix, i);
	PUT("],\"regions\":[]}");
	return load();
}

/* Many reports together: the maximum number, and one more. */
static void metrics_up_to_the_maximum_are_merged(void)
{
	enum { MOST = TACH__PLAIN_METRICS_MAX };

	for (int more = 0; more < 2; more++) {
		struct tach_snapshot *list[] = {of_names("a", 1, MOST / 2),
						of_names("b", 1, MOST / 2 + more)};
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_snapshot *sum = NULL;
		int code = tach_snapshot_merge((const struct tach_snapshot *const *)list, 2,
					       &sum, &err);

		CHECK(code == (more ? TACH_ERR_TOOMANY : 0) && err.line == 0 && err.column == 0,
		      "%d more: %d:%d: %s", more, err.line, err.column, err.text);
		CHECK(more || tach_snapshot_nmetrics(sum) == MOST);
		tach_snapshot_free(sum);
		tach_snapshot_free(list[1]);
		list[1] = NULL;
		sum = NULL;
		code = tach_snapshot_merge((const struct tach_snapshot *const *)list, 2, &sum,
					   &err);
		CHECK(code == TACH_ERR_INVAL && err.line == 0 && err.column == 0, "%d:%d: %s",
		      err.line, err.column, err.text);
		tach_snapshot_free(list[0]);
	}
}

int main(void)
{
	CASE(values_add_up);
	CASE(counts_add_up);
	CASE(histograms_add_up);
	CASE(metrics_up_to_the_maximum_are_merged);
	return check_done();
}
