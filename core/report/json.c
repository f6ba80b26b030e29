/* SPDX-License-Identifier: MIT */
/*
 * JSON. One object, schema version 1; what a later version adds, readers of this one may
 * ignore:
 *
 *   tach             1
 *   version          of the library, a string
 *   note             what is missing and why, ""
 *   clock            {"hz": number, "estimate": bool}
 *   threads refused lost stale unopened reports    numbers: struct tach_counts
 *   quantities       [{"name", "unit": "ns" or "count"}]   the first is time
 *   metrics          [{"name", "formula": over N0 = the quantity after time, N1, ...}]
 *   regions          by descending time:
 *     name file function     strings
 *     line                   number, 0: unknown
 *     fenced                 bool
 *     entries calls outermost skipped excluded lost nested threads    numbers: tach_region_info
 *     provenance             {flag: calls that had it}; calls without any are exact
 *     inclusive, self        {name: {value, raw, overhead, error, flags: [string]}} for every
 *                            quantity and metric; value and raw are null for a division by
 *                            zero. value is raw less overhead, and less interrupts where flags
 *                            have "corrected"
 *     quantiles              only with histograms: {name: {p50, p90, p99, max}}
 *     histograms             likewise: {name: [[low, high, count], ...]}, bounds inclusive
 */
#include <math.h>
#include "core/report/report.h"
#include "core/snapshot/snapshot.h"

static void value(struct tach__out *out, const char *name, const struct tach_value *v,
		  const char *before)
{
	const char *separator = "";

	tach__out(out, "%s", before);
	tach__out_json_string(out, name);
	tach__out(out, ": {\"value\": ");
	tach__out_number(out, v->value, "null");
	tach__out(out, ", \"raw\": ");
	tach__out_number(out, v->raw, "null");
	tach__out(out, ", \"overhead\": ");
	tach__out_number(out, v->overhead, "null");
	tach__out(out, ", \"error\": ");
	tach__out_number(out, v->error, "null");
	tach__out(out, ", \"flags\": [");
	for (int i = 0; tach__flag_names[i].name; i++)
		if (v->flags & tach__flag_names[i].flag) {
			tach__out(out, "%s\"%s\"", separator, tach__flag_names[i].name);
			separator = ", ";
		}
	tach__out(out, "]}");
}

static void part(struct tach__out *out, const struct tach_snapshot *s, int region,
		 enum tach_part which)
{
	struct tach_value v;

	tach__out(out, ",\n      \"%s\": {", which == TACH_PART_SELF ? "self" : "inclusive");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
		tach_snapshot_value(s, region, q, which, &v);
		value(out, tach_snapshot_quantity(s, q), &v, q ? ",\n        " : "\n        ");
	}
	for (int m = 0; m < tach_snapshot_nmetrics(s); m++) {
		tach_snapshot_derived(s, region, m, which, &v);
		value(out, tach_snapshot_metric(s, m), &v, ",\n        ");
	}
	tach__out(out, "}");
}

static void quantiles(struct tach__out *out, const struct tach_snapshot *s, int region)
{
	static const struct {
		const char *name;
		double p;
	} which[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}};

	if (isnan(tach_snapshot_quantile(s, region, 0, 0.5)))
		return;
	tach__out(out, ",\n      \"quantiles\": {");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
		tach__out(out, q ? ",\n        " : "\n        ");
		tach__out_json_string(out, tach_snapshot_quantity(s, q));
		tach__out(out, ": {");
		for (int i = 0; i < 4; i++) {
			tach__out(out, "%s\"%s\": ", i ? ", " : "", which[i].name);
			tach__out_number(out, tach_snapshot_quantile(s, region, q, which[i].p),
					 "null");
		}
		tach__out(out, "}");
	}
	tach__out(out, "}");
}

/* Pages, not malloc: a handler of a deadly signal may write this. Without memory it is left
 * out, which the code of writing tells. */
static void histogram(struct tach__out *out, const struct tach_snapshot *s, int region, int q)
{
	int n = tach_snapshot_buckets(s, region, q, NULL, 0);
	size_t size = n > 0 ? (size_t)n * sizeof(struct tach_bucket) : 0;
	struct tach_bucket *b = size ? tach__pages(size) : NULL;

	out->lacking |= size && !b;
	if (b)
		tach_snapshot_buckets(s, region, q, b, n);
	for (int i = 0; b && i < n; i++) {
		tach__out_text(out, i ? ", [" : "[");
		tach__out_number(out, b[i].low, "null");
		tach__out_text(out, ", ");
		tach__out_number(out, b[i].high, "null");
		tach__out(out, ", %llu]", (unsigned long long)b[i].count);
	}
	tach__pages_free(b, size);
}

static void histograms(struct tach__out *out, const struct tach_snapshot *s, int region)
{
	if (tach_snapshot_buckets(s, region, TACH_QUANTITY_TIME, NULL, 0) <= 0)
		return;
	tach__out(out, ",\n      \"histograms\": {");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
		tach__out(out, q ? ",\n        " : "\n        ");
		tach__out_json_string(out, tach_snapshot_quantity(s, q));
		tach__out(out, ": [");
		histogram(out, s, region, q);
		tach__out(out, "]");
	}
	tach__out(out, "}");
}

static void region(struct tach__out *out, const struct tach_snapshot *s, int r)
{
	struct tach_region_info info = {0};
	const char *separator = "";

	tach_snapshot_region(s, r, &info);
	tach__out(out, "\n    {\"name\": ");
	tach__out_json_string(out, info.name);
	tach__out(out, ", \"file\": ");
	tach__out_json_string(out, info.file);
	tach__out(out, ", \"function\": ");
	tach__out_json_string(out, info.function);
	tach__out(out,
		  ", \"line\": %u, \"fenced\": %s,\n      \"entries\": %llu, \"calls\": %llu, "
		  "\"outermost\": %llu, \"skipped\": %llu, \"excluded\": %llu, \"lost\": %llu, "
		  "\"nested\": %llu, \"threads\": %u,\n      \"provenance\": {",
		  info.line, info.fenced ? "true" : "false", (unsigned long long)info.entries,
		  (unsigned long long)info.calls, (unsigned long long)info.outermost,
		  (unsigned long long)info.skipped, (unsigned long long)info.excluded,
		  (unsigned long long)info.lost, (unsigned long long)info.nested, info.threads);
	for (int i = 0; i < 6; i++)
		if (info.provenance[i]) {
			tach__out(out, "%s\"%s\": %llu", separator, tach__flag_names[i].name,
				  (unsigned long long)info.provenance[i]);
			separator = ", ";
		}
	tach__out(out, "}");
	part(out, s, r, TACH_PART_INCLUSIVE);
	part(out, s, r, TACH_PART_SELF);
	quantiles(out, s, r);
	histograms(out, s, r);
	tach__out(out, "}");
}

static void head(struct tach__out *out, const struct tach_snapshot *s)
{
	struct tach_counts c = {0};
	uint32_t flags = 0;

	tach_snapshot_counts(s, &c);
	if (tach_snapshot_nregions(s)) {
		struct tach_value v;

		tach_snapshot_value(s, 0, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE, &v);
		flags = v.flags;
	}
	tach__out(out,
		  "{\n  \"tach\": 1,\n  \"version\": \"%s\",\n  \"note\": ", tach_version());
	tach__out_json_string(out, tach_snapshot_missing(s));
	tach__out(out, ",\n  \"clock\": {\"hz\": ");
	tach__out_number(out, c.clock_hz, "0");
	tach__out(out,
		  ", \"estimate\": %s},\n  \"threads\": %llu, \"refused\": %llu, "
		  "\"lost\": %llu, \"stale\": %llu, \"unopened\": %u, \"reports\": %u,\n",
		  flags & TACH_FLAG_CLOCK ? "true" : "false", (unsigned long long)c.threads,
		  (unsigned long long)c.refused, (unsigned long long)c.lost,
		  (unsigned long long)c.stale, c.unopened, c.reports);
}

static void metric(struct tach__out *out, const struct tach_snapshot *s, int m)
{
	const struct tach_formula *f = s->saved ? NULL : tach_set_metric(s->config->set, m);
	const char *saved = s->saved ? s->saved->metric[m].text : NULL;
	size_t size = f ? (size_t)tach_formula_print(f, TACH_FORMULA_INFIX, NULL, 0) + 1 : 0;
	char *text = f ? tach__pages(size) : NULL;

	out->lacking |= f && !text;
	if (text)
		tach_formula_print(f, TACH_FORMULA_INFIX, text, size);
	tach__out(out, "{\"name\": ");
	tach__out_json_string(out, tach_snapshot_metric(s, m));
	if (text || saved) {
		tach__out(out, ", \"formula\": ");
		tach__out_json_string(out, text ? text : saved);
	}
	tach__out(out, "}");
	tach__pages_free(text, size);
}

void tach__report_json(struct tach__out *out, const struct tach_snapshot *s,
		       const struct tach_report_options *opt)
{
	(void)opt;
	head(out, s);
	tach__out(out, "  \"quantities\": [");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
		tach__out(out, "%s{\"name\": ", q ? ", " : "");
		tach__out_json_string(out, tach_snapshot_quantity(s, q));
		tach__out(out, ", \"unit\": \"%s\"}", q ? "count" : "ns");
	}
	tach__out(out, "],\n  \"metrics\": [");
	for (int m = 0; m < tach_snapshot_nmetrics(s); m++) {
		tach__out(out, m ? ", " : "");
		metric(out, s, m);
	}
	tach__out(out, "],\n  \"regions\": [");
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		tach__out(out, r ? "," : "");
		region(out, s, r);
	}
	tach__out(out, "\n  ]\n}\n");
}
