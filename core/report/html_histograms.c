/* SPDX-License-Identifier: MIT */
/* Histograms of a report as SVG: one picture per region and quantity, on a logarithmic axis. */
#include "core/base/maths.h"
#include "core/os/memory.h"
#include "core/report/report.h"
#include "core/report/units.h"

enum { WIDTH = 300, HEIGHT = 90, BASE = HEIGHT - 16 };

struct picture {
	struct tach_bucket *bucket;
	int n;
	double from, to; /* of the axis, as logarithms */
	uint64_t most;
};

static const struct {
	const char *name;
	double p;
} marks[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}, {"min", 0}};

/* Tenths of a unit, and no locale's comma. */
static void coordinate(struct tach__out *out, const char *name, double v)
{
	int tenths = (int)(v * 10);

	tach__out(out, " %s=\"%d.%d\"", name, tenths / 10, tenths % 10);
}

static double place(const struct picture *p, double v)
{
	double range = p->to - p->from;

	return range > 0 ? 1 + (WIDTH - 2) * (tach__log(1 + v) - p->from) / range : WIDTH / 2.0;
}

static int load(struct picture *p, const struct tach_snapshot *s, int region, int quantity)
{
	p->n = tach_snapshot_buckets(s, region, quantity, NULL, 0);
	p->bucket = tach__pages((size_t)p->n * sizeof *p->bucket);
	if (!p->bucket)
		return 0;
	tach_snapshot_buckets(s, region, quantity, p->bucket, p->n);
	p->most = 0;
	for (int b = 0; b < p->n; b++)
		if (p->bucket[b].count > p->most)
			p->most = p->bucket[b].count;
	p->from = tach__log(1 + p->bucket[0].low);
	p->to = tach__log(1 + p->bucket[p->n - 1].high);
	return p->most > 0;
}

static void bars(struct tach__out *out, const struct picture *p)
{
	tach__out_text(out, "<g class=\"bars\">");
	for (int b = 0; b < p->n; b++) {
		double x = place(p, p->bucket[b].low), end = place(p, p->bucket[b].high);
		double height = (BASE - 4) * (double)p->bucket[b].count / (double)p->most;
		double width = end - x > 2.5 ? end - x : 2.5;

		/* A bucket with a single call is visible. */
		if (height < 1)
			height = 1;
		tach__out_text(out, "<rect rx=\"1\"");
		coordinate(out, "x", x);
		coordinate(out, "y", BASE - height);
		coordinate(out, "width", width);
		coordinate(out, "height", height);
		tach__out(out, "><title>%llu</title></rect>",
			  (unsigned long long)p->bucket[b].count);
	}
	tach__out_text(out, "</g>");
}

static void axis(struct tach__out *out, const struct picture *p, const struct tach_snapshot *s,
		 int quantity)
{
	char low[TACH__UNIT_MAX], high[TACH__UNIT_MAX];

	tach__unit_value(low, s, quantity, p->bucket[0].low);
	tach__unit_value(high, s, quantity, p->bucket[p->n - 1].high);
	tach__out(out,
		  "<line class=\"axis\" x1=\"0\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
		  "<text x=\"0\" y=\"%d\">%s</text>"
		  "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>",
		  WIDTH, BASE, BASE, HEIGHT - 3, low, WIDTH, HEIGHT - 3, high);
}

static void unload(const struct picture *p)
{
	tach__pages_free(p->bucket, (size_t)p->n * sizeof *p->bucket);
}

static void picture(struct tach__out *out, const struct tach_snapshot *s, int region,
		    int quantity, const char *name,
		    void (*text)(struct tach__out *, const char *))
{
	struct picture p = {0};

	if (!load(&p, s, region, quantity)) {
		out->lacking |= !p.bucket;
		unload(&p);
		return;
	}
	tach__out_text(out, "<figure class=\"card\" data-name=\"");
	text(out, name);
	tach__out_text(out, "\"><h3>");
	text(out, name);
	tach__out_text(out, "</h3><p>");
	text(out, tach_snapshot_quantity(s, quantity));
	tach__out(out,
		  "</p><svg viewBox=\"0 0 %d %d\" role=\"img\" "
		  "aria-label=\"Histogram on a logarithmic axis\">",
		  WIDTH, HEIGHT);
	bars(out, &p);
	for (int i = 0; i < 3; i++) {
		double x = place(&p, tach_snapshot_quantile(s, region, quantity, marks[i].p));

		tach__out_text(out, "<line class=\"mark\"");
		coordinate(out, "x1", x);
		coordinate(out, "x2", x);
		tach__out(out, " y1=\"0\" y2=\"%d\"/>", BASE);
	}
	axis(out, &p, s, quantity);
	tach__out_text(out, "</svg><figcaption>");
	for (int i = 0; i < 5; i++) {
		char value[TACH__UNIT_MAX];

		tach__unit_value(value, s, quantity,
				 tach_snapshot_quantile(s, region, quantity, marks[i].p));
		tach__out(out, "%s<span>%s <b>%s</b></span>", i ? " \u00b7 " : "",
			  marks[i].name, value);
	}
	tach__out_text(out, "</figcaption></figure>\n");
	unload(&p);
}

void tach__report_html_histograms(struct tach__out *out, const struct tach_snapshot *s,
				  void (*text)(struct tach__out *, const char *))
{
	struct tach_region_info info = {0};
	int any = 0;

	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
			/* Where all calls are alike a histogram shows nothing. */
			if (tach_snapshot_buckets(s, r, q, NULL, 0) <= 1)
				continue;
			if (!any++)
				tach__out_text(out, "<h2>Distributions <small>of single "
						    "calls, cost subtracted; dashed: p50, p90, "
						    "p99</small></h2>\n"
						    "<div class=\"grid\">\n");
			picture(out, s, r, q, info.name, text);
		}
	if (any)
		tach__out_text(out, "</div>\n");
}
