/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON: one object, schema version 1. Later versions may add members, which readers of
 * this version ignore.
 *
 *   "tach"           1.
 *   "version"        the version of the library, a string.
 *   "note"           missing data and the reason, or "".
 *   "clock"          {"hz": number, "estimate": bool, "error": a fraction, if not 0}.
 *   "missing"        {"processes", "threads"}: measured, but in no row; only if there are any.
 *   "generation"     number of the configuration, if there is only one.
 *   "rank"           number; only for a process of a parallel job.
 *   "origin"         if known: program, command (its arguments), host, date in seconds
 *                    since 1970; for a sum of reports, the first three only if they are equal.
 *   "threads", "refused", "lost", "stale", "unopened", "reports"   as in tach_counts.
 *   "quantities"     [{"name", "unit": "ns" or "count"}]. The first is time.
 *   "metrics"        [{"name", "formula"}]. N0 in a formula is the quantity after time.
 *                    If known, also "level" in a tree, from 1, "parent", "unit", "description",
 *                    "scale" (the factor for display) and "threshold". The threshold is a
 *                    formula over metrics' values; if it is not 0, look at the metric.
 *   "regions"        by descending time:
 *     "name", "file", "function"   strings.
 *     "line"                 number, 0: unknown.
 *     "fenced"               bool.
 *     "entries", "calls", "outermost", "skipped", "excluded", "lost", "nested", "threads"
 *                            as in tach_region_info.
 *     "overlapping"          1, only if regions overlapped: tach-threads(7).
 *     "parent"               the enclosing region, as an index of this list, from 0.
 *     "provenance"           {flag: calls that had it}. Calls without a flag are exact.
 *     "rank"                 number; only for a row of one rank of several.
 *     "repeats"              true; only if other rows have these counts, too.
 *     "inclusive", "self"    {name: {value, raw, overhead, error, flags: [string]}} for each
 *                            quantity and metric. value and raw are null for a division by
 *                            zero. value is raw minus overhead, and minus interrupts if flags
 *                            contain "corrected". If sets took turns, "share" is the fraction
 *                            of the entries in which it was counted.
 *     "quantiles"            only with histograms: {name: {min, p50, p90, p99,
 *                            max, p50_error, p90_error, p99_error}}. min and max are exact.
 *                            The others are interpolated in a bucket of the histogram.
 *     "histograms"           only with histograms: {name: [[low, high, count], ...]}. Both
 *                            bounds are part of the bucket.
 *     "worst"                if kept: [{at: seconds since 1970, tag: "0x...", thread,
 *                            thread_name, parent: name or "", flags, values: {name: number}}].
 *                            Sorted by the quantity "worst_by" of the report, the greatest
 *                            first.
 */
#include <math.h>
#include "core/base/json_out.h"
#include "core/report/report.h"
#include "core/snapshot/snapshot.h"

enum { TOP = 2, REGION = 4, IN_REGION = 6, VALUE = 8 }; /* spaces before lines */

static void write_json_value(struct tach__json_out *json, const char *name,
			     const struct tach_value *v)
{
	tach__json_line(json, VALUE);
	tach__json_object(json, name);
	tach__json_number(json, "value", v->value);
	tach__json_number(json, "raw", v->raw);
	tach__json_number(json, "overhead", v->overhead);
	tach__json_number(json, "error", v->error);
	if (v->share)
		tach__json_number(json, "share", v->share / 1e6);
	tach__json_flags(json, v->flags);
	tach__json_end(json);
}

static void write_part(struct tach__json_out *json, const struct tach_snapshot *s, int region,
		       enum tach_part which)
{
	struct tach_value v;

	tach__json_line(json, IN_REGION);
	tach__json_object(json, which == TACH_PART_SELF ? "self" : "inclusive");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
		tach_snapshot_value(s, region, q, which, &v);
		write_json_value(json, tach_snapshot_quantity(s, q), &v);
	}
	for (int m = 0; m < tach_snapshot_nmetrics(s); m++) {
		tach_snapshot_derived(s, region, m, which, &v);
		write_json_value(json, tach_snapshot_metric(s, m), &v);
	}
	tach__json_end(json);
}

static void write_quantiles(struct tach__json_out *json, const struct tach_snapshot *s,
			    int region)
{
	static const struct {
		const char *name;
		double p;
	} which[] = {{"min", 0}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}};
	static const char *const errors[] = {"p50_error", "p90_error", "p99_error"};

	if (isnan(tach_snapshot_quantile(s, region, 0, 0.5)))
		return;
	tach__json_line(json, IN_REGION);
	tach__json_object(json, "quantiles");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
		tach__json_line(json, VALUE);
		tach__json_object(json, tach_snapshot_quantity(s, q));
		for (int i = 0; i < 5; i++)
			tach__json_number(json, which[i].name,
					  tach_snapshot_quantile(s, region, q, which[i].p));
		for (int i = 0; i < 3; i++)
			tach__json_number(
				json, errors[i],
				tach__snapshot_resolution(s, region, q, which[i + 1].p));
		tach__json_end(json);
	}
	tach__json_end(json);
}

/* Uses pages instead of malloc, because a handler of a deadly signal may write this. If out of
 * memory, the histogram is left out, and writing returns an error. */
static void write_histogram(struct tach__json_out *json, const struct tach_snapshot *s,
			    int region, int q)
{
	int n = tach_snapshot_buckets(s, region, q, NULL, 0);
	size_t size = n > 0 ? (size_t)n * sizeof(struct tach_bucket) : 0;
	struct tach_bucket *b = size ? tach__pages(size) : NULL;

	json->out->lacking |= size && !b;
	if (b)
		tach_snapshot_buckets(s, region, q, b, n);
	for (int i = 0; b && i < n; i++) {
		tach__json_array(json, NULL);
		tach__json_number(json, NULL, b[i].low);
		tach__json_number(json, NULL, b[i].high);
		tach__json_unsigned(json, NULL, b[i].count);
		tach__json_end(json);
	}
	tach__pages_free(b, size);
}

static void write_histograms(struct tach__json_out *json, const struct tach_snapshot *s,
			     int region)
{
	if (tach_snapshot_buckets(s, region, TACH_QUANTITY_TIME, NULL, 0) <= 0)
		return;
	tach__json_line(json, IN_REGION);
	tach__json_object(json, "histograms");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
		tach__json_line(json, VALUE);
		tach__json_array(json, tach_snapshot_quantity(s, q));
		write_histogram(json, s, region, q);
		tach__json_end(json);
	}
	tach__json_end(json);
}

void tach__report_json_worst(struct tach__json_out *json, const struct tach_snapshot *s,
			     int region, int i, const struct tach_worst *w)
{
	tach__json_object(json, NULL);
	tach__json_number(json, "at", w->at);
	tach__json_hex(json, "tag", w->tag);
	tach__json_int(json, "thread", w->thread);
	tach__json_string(json, "thread_name", w->thread_name);
	tach__json_string(json, "parent", w->parent);
	tach__json_flags(json, w->flags);
	tach__json_object(json, "values");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++)
		tach__json_number(json, tach_snapshot_quantity(s, q),
				  tach_snapshot_worst_value(s, region, i, q));
	tach__json_end(json);
	tach__json_end(json);
}

static void write_worst(struct tach__json_out *json, const struct tach_snapshot *s, int region)
{
	struct tach_worst w = {0};

	if (tach_snapshot_worst(s, region, 0, &w) != 0)
		return;
	tach__json_line(json, IN_REGION);
	tach__json_array(json, "worst");
	for (int i = 0; tach_snapshot_worst(s, region, i, &w) == 0; i++) {
		tach__json_line(json, VALUE);
		tach__report_json_worst(json, s, region, i, &w);
	}
	tach__json_end(json);
}

/* Writes task, tag and thread if rows are divided by them. */
static void write_divisions(struct tach__json_out *json, const struct tach_region_info *info)
{
	const char *const part[][2] = {
		{"task", info->task}, {"tag", info->tag}, {"thread", info->thread}};

	if (strcmp(info->of, info->name) == 0)
		return;
	tach__json_string(json, "of", info->of);
	for (int i = 0; i < 3; i++)
		if (*part[i][1])
			tach__json_string(json, part[i][0], part[i][1]);
}

static void write_region(struct tach__json_out *json, const struct tach_snapshot *s, int r)
{
	struct tach_region_info info = {.size = sizeof info};

	tach_snapshot_region(s, r, &info);
	tach__json_line(json, REGION);
	tach__json_object(json, NULL);
	tach__json_string(json, "name", info.name);
	tach__json_string(json, "file", info.file);
	tach__json_string(json, "function", info.function);
	tach__json_unsigned(json, "line", info.line);
	tach__json_bool(json, "fenced", info.fenced);
	write_divisions(json, &info);
	if (s->plain.region[r].rank)
		tach__json_int(json, "rank", s->plain.region[r].rank - 1);
	if (s->plain.region[r].repeats)
		tach__json_bool(json, "repeats", 1);
	tach__json_line(json, IN_REGION);
	tach__json_unsigned(json, "entries", info.entries);
	tach__json_unsigned(json, "calls", info.calls);
	tach__json_unsigned(json, "outermost", info.outermost);
	tach__json_unsigned(json, "skipped", info.skipped);
	tach__json_unsigned(json, "excluded", info.excluded);
	tach__json_unsigned(json, "lost", info.lost);
	tach__json_unsigned(json, "nested", info.nested);
	tach__json_unsigned(json, "threads", info.threads);
	if (info.overlapping)
		tach__json_unsigned(json, "overlapping", 1);
	if (info.parent >= 0)
		tach__json_int(json, "parent", info.parent);
	tach__json_line(json, IN_REGION);
	tach__json_object(json, "provenance");
	for (int i = 0; i < 6; i++)
		if (info.provenance[i])
			tach__json_unsigned(json, tach__flag_names[i].name, info.provenance[i]);
	tach__json_end(json);
	write_part(json, s, r, TACH_PART_INCLUSIVE);
	write_part(json, s, r, TACH_PART_SELF);
	write_quantiles(json, s, r);
	write_histograms(json, s, r);
	write_worst(json, s, r);
	tach__json_end(json);
}

static void write_origin(struct tach__json_out *json, const struct tach__origin *o)
{
	if (!o->date)
		return;
	tach__json_line(json, TOP);
	tach__json_object(json, "origin");
	if (*o->program)
		tach__json_string(json, "program", o->program);
	if (*o->command)
		tach__json_string(json, "command", o->command);
	if (*o->host)
		tach__json_string(json, "host", o->host);
	tach__json_number(json, "date", (double)o->date);
	tach__json_end(json);
}

static void write_json_head(struct tach__json_out *json, const struct tach_snapshot *s)
{
	struct tach_counts c = {.size = sizeof c};
	uint32_t flags = 0;

	tach_snapshot_counts(s, &c);
	if (tach_snapshot_nregions(s)) {
		struct tach_value v;

		tach_snapshot_value(s, 0, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE, &v);
		flags = v.flags;
	}
	tach__json_line(json, TOP);
	tach__json_unsigned(json, "tach", 1);
	tach__json_line(json, TOP);
	tach__json_string(json, "version", tach_version());
	tach__json_line(json, TOP);
	tach__json_string(json, "note", tach_snapshot_missing(s));
	write_origin(json, &s->origin);
	tach__json_line(json, TOP);
	tach__json_object(json, "clock");
	tach__json_number(json, "hz", isfinite(c.clock_hz) ? c.clock_hz : 0);
	tach__json_bool(json, "estimate", flags & TACH_FLAG_CLOCK);
	if (s->clock_error > 0)
		tach__json_number(json, "error", s->clock_error);
	tach__json_end(json);
	tach__json_line(json, TOP);
	tach__json_unsigned(json, "threads", c.threads);
	tach__json_unsigned(json, "refused", c.refused);
	tach__json_unsigned(json, "lost", c.lost);
	tach__json_unsigned(json, "stale", c.stale);
	tach__json_unsigned(json, "unopened", c.unopened);
	tach__json_unsigned(json, "reports", c.reports);
	if (c.missing_processes || c.missing_threads) {
		tach__json_line(json, TOP);
		tach__json_object(json, "missing");
		tach__json_unsigned(json, "processes", c.missing_processes);
		tach__json_unsigned(json, "threads", c.missing_threads);
		tach__json_end(json);
	}
	if (s->generation)
		tach__json_unsigned(json, "generation", s->generation);
	if (s->rank)
		tach__json_int(json, "rank", s->rank - 1);
	if (tach_snapshot_worst_by(s) >= 0) {
		tach__json_line(json, TOP);
		tach__json_string(json, "worst_by",
				  tach_snapshot_quantity(s, tach_snapshot_worst_by(s)));
	}
}

static void write_quantity(struct tach__json_out *json, const struct tach_snapshot *s, int q)
{
	tach__json_object(json, NULL);
	tach__json_string(json, "name", tach_snapshot_quantity(s, q));
	tach__json_string(json, "unit", q ? "count" : "ns");
	if (tach__plain_is_operand(&s->plain, q))
		tach__json_bool(json, "operand", 1);
	tach__json_end(json);
}

static void optional_string(struct tach__json_out *json, const char *key, const char *text)
{
	if (text && *text)
		tach__json_string(json, key, text);
}

static void write_place(struct tach__json_out *json, const struct tach__place *n)
{
	if (n->level)
		tach__json_unsigned(json, "level", (uint64_t)n->level);
	optional_string(json, "parent", n->parent);
	optional_string(json, "unit", n->unit);
	if (isfinite(n->scale) && n->scale > 0 && n->scale != 1)
		tach__json_number(json, "scale", n->scale);
	optional_string(json, "threshold", n->threshold);
	optional_string(json, "description", n->description);
}

static void write_metric(struct tach__json_out *json, const struct tach_snapshot *s, int m)
{
	const char *formula = s->plain.metric[m].text;

	tach__json_object(json, NULL);
	tach__json_string(json, "name", tach_snapshot_metric(s, m));
	if (formula)
		tach__json_string(json, "formula", formula);
	write_place(json, &s->plain.metric[m].node);
	tach__json_end(json);
}

void tach__report_json(struct tach__out *out, const struct tach_snapshot *s,
		       const struct tach_report_options *opt)
{
	struct tach__json_out json;

	(void)opt;
	tach__json_begin(&json, out, TACH__JSON_SPACED);
	tach__json_object(&json, NULL);
	write_json_head(&json, s);
	tach__json_line(&json, TOP);
	tach__json_array(&json, "quantities");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++)
		write_quantity(&json, s, q);
	tach__json_end(&json);
	tach__json_line(&json, TOP);
	tach__json_array(&json, "metrics");
	for (int m = 0; m < tach_snapshot_nmetrics(s); m++)
		write_metric(&json, s, m);
	tach__json_end(&json);
	tach__json_line(&json, TOP);
	tach__json_array(&json, "regions");
	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		write_region(&json, s, r);
	tach__json_line(&json, TOP);
	tach__json_end(&json);
	tach__json_line(&json, 0);
	tach__json_end(&json);
	tach__out_text(out, "\n");
}
