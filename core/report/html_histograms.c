/* SPDX-License-Identifier: MIT */
/* Writes the histograms of a report as SVG: one picture for each region and quantity, with a
 * logarithmic axis. */
#include <string.h>
#include "core/base/maths.h"
#include "core/os/memory.h"
#include "core/report/report.h"
#include "core/report/units.h"

enum { WIDTH = 300, HEIGHT = 104, BASE = HEIGHT - 30 };

struct picture {
	struct tach_bucket *bucket;
	int n;
	double from, to; /* ends of the axis, as logarithms */
	uint64_t most;
};

static const struct {
	const char *name;
	double p;
} marks[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}, {"min", 0}};

/* Writes tenths of a unit, so that no locale inserts a comma. */
static void write_coordinate(struct tach__out *out, const char *name, double v)
{
	int tenths = (int)(v * 10);

	tach__out(out, " %s=\"%d.%d\"", name, tenths / 10, tenths % 10);
}

static double place_value(const struct picture *p, double v)
{
	double range = p->to - p->from;

	return range > 0 ? 1 + (WIDTH - 2) * (tach__log(1 + v) - p->from) / range : WIDTH / 2.0;
}

static int load_buckets(struct picture *p, const struct tach_snapshot *s, int region,
			int quantity)
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

static void write_bars(struct tach__out *out, const struct picture *p)
{
	tach__out_text(out, "<g class=\"bars\">");
	for (int b = 0; b < p->n; b++) {
		double x = place_value(p, p->bucket[b].low),
		       end = place_value(p, p->bucket[b].high);
		double height = (BASE - 14) * (double)p->bucket[b].count / (double)p->most;
		double width = end - x > 2.5 ? end - x : 2.5;

		/* Makes a bucket with a single call visible. */
		if (height < 1)
			height = 1;
		tach__out_text(out, "<rect rx=\"1\"");
		write_coordinate(out, "x", x);
		write_coordinate(out, "y", BASE - height);
		write_coordinate(out, "width", width);
		write_coordinate(out, "height", height);
		tach__out(out, "><title>%llu</title></rect>",
			  (unsigned long long)p->bucket[b].count);
	}
	tach__out_text(out, "</g>");
}

/* Writes a mark on the axis for a value. */
static void write_tick(struct tach__out *out, const struct picture *p,
		       const struct tach_snapshot *s, int quantity, double v)
{
	char label[TACH__UNIT_MAX], *blank;
	double x = place_value(p, v);

	if (quantity == TACH_QUANTITY_TIME)
		tach__unit_time(label, v);
	else
		tach__unit_value(label, s, quantity, v);
	/* Removes the zeros of "1.000 us", which have no meaning. */
	blank = strstr(label, ".000 ");
	if (blank)
		memmove(blank, blank + 4, strlen(blank + 4) + 1);
	blank = strstr(label, ".00 ");
	if (blank)
		memmove(blank, blank + 3, strlen(blank + 3) + 1);
	blank = strstr(label, ".0 ");
	if (blank)
		memmove(blank, blank + 2, strlen(blank + 2) + 1);
	tach__out_text(out, "<line class=\"axis\"");
	write_coordinate(out, "x1", x);
	write_coordinate(out, "x2", x);
	tach__out(out, " y1=\"%d\" y2=\"%d\"/><text", BASE, BASE + 4);
	write_coordinate(out, "x", x);
	tach__out(out, " y=\"%d\" text-anchor=\"%s\">%s</text>", BASE + 14,
		  x < 20	   ? "start"
		  : x > WIDTH - 20 ? "end"
				   : "middle",
		  label);
}

static void write_axis(struct tach__out *out, const struct picture *p,
		       const struct tach_snapshot *s, int quantity,
		       void (*text)(struct tach__out *, const char *))
{
	double low = p->bucket[0].low, high = p->bucket[p->n - 1].high, decades = 0, power = 1;
	char most[TACH__UNIT_MAX];
	int step, n = 0;

	while (power < low && power < 1e300)
		power *= 10;
	for (double v = power; v <= high && v < 1e300; v *= 10)
		decades++;
	step = 1 + (int)decades / 5;
	for (double v = power; v <= high && v < 1e300; v *= 10, n++)
		if (n % step == 0)
			write_tick(out, p, s, quantity, v);
	if (decades < 2) {
		write_tick(out, p, s, quantity, low);
		write_tick(out, p, s, quantity, high);
	}
	tach__unit_count(most, (double)p->most);
	tach__out(out,
		  "<line class=\"axis\" x1=\"0\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
		  "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
		  WIDTH, BASE, BASE, WIDTH / 2, HEIGHT - 3);
	text(out, tach_snapshot_quantity(s, quantity));
	tach__out(out,
		  " of a call, logarithmic</text><text x=\"%d\" y=\"9\" "
		  "text-anchor=\"end\">most: %s calls</text>",
		  WIDTH, most);
}

static void free_buckets(const struct picture *p)
{
	tach__pages_free(p->bucket, (size_t)p->n * sizeof *p->bucket);
}

static void write_picture(struct tach__out *out, const struct tach_snapshot *s, int region,
			  int quantity, const char *name,
			  void (*text)(struct tach__out *, const char *))
{
	struct picture p = {0};

	if (!load_buckets(&p, s, region, quantity)) {
		out->lacking |= !p.bucket;
		free_buckets(&p);
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
	write_bars(out, &p);
	for (int i = 0; i < 3; i++) {
		double x = place_value(&p,
				       tach_snapshot_quantile(s, region, quantity, marks[i].p));

		tach__out_text(out, "<line class=\"mark\"");
		write_coordinate(out, "x1", x);
		write_coordinate(out, "x2", x);
		tach__out(out, " y1=\"0\" y2=\"%d\"/>", BASE);
	}
	write_axis(out, &p, s, quantity, text);
	tach__out_text(out, "</svg><figcaption>");
	for (int i = 0; i < 5; i++) {
		char value[2 * TACH__UNIT_MAX];

		tach__unit_quantile(value, s, region, quantity, marks[i].p);
		tach__out(out, "%s<span>%s <b>%s</b></span>", i ? " \u00b7 " : "",
			  marks[i].name, value);
	}
	tach__out_text(out, "</figcaption></figure>\n");
	free_buckets(&p);
}

void tach__report_html_histograms(struct tach__out *out, const struct tach_snapshot *s,
				  void (*text)(struct tach__out *, const char *))
{
	struct tach_region_info info = {0};
	int any = 0;

	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		for (int q = 0; q < tach_snapshot_nquantities(s); q = tach__column_next(s, q)) {
			/* If all calls are equal, a histogram is useless. */
			if (tach_snapshot_buckets(s, r, q, NULL, 0) <= 1)
				continue;
			if (!any++)
				tach__out_text(out, "<h2>Distributions <small>of single "
						    "calls, cost subtracted; dashed: p50, p90, "
						    "p99</small></h2>\n"
						    "<div class=\"grid\">\n");
			write_picture(out, s, r, q, info.name, text);
		}
	if (any)
		tach__out_text(out, "</div>\n");
}
