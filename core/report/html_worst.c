/* SPDX-License-Identifier: MIT */
/* Writes the worst entries of a report, as a picture over time and as a table. */
#include <math.h>
#include <stdio.h>
#include "core/base/maths.h"
#include "core/report/report.h"
#include "core/report/units.h"

enum { COLOURS = 8 };

/* ---- the time line ---- */

struct line {
	const struct tach_snapshot *s;
	int by;
	double from, to;  /* seconds since 1970 */
	double low, high; /* range of the quantity, as logarithms */
	int entries;
};

/* Sets *v to the logarithm of 1 plus the entry's value. Returns 0 if the picture cannot show
 * it. */
static int height_of(const struct line *l, int r, int i, const struct tach_worst *w, double *v)
{
	double value = tach_snapshot_worst_value(l->s, r, i, l->by);

	if (!isfinite(value) || value < 0 || !isfinite(w->at))
		return 0;
	*v = tach__log(1 + value);
	return 1;
}

static void measure_line(struct line *l)
{
	struct tach_worst w = {.size = sizeof w};
	double v;

	for (int r = 0; r < tach_snapshot_nregions(l->s); r++)
		for (int i = 0; tach_snapshot_worst(l->s, r, i, &w) == 0; i++) {
			if (!height_of(l, r, i, &w, &v))
				continue;
			l->from = !l->entries || w.at < l->from ? w.at : l->from;
			l->to = !l->entries || w.at > l->to ? w.at : l->to;
			l->low = !l->entries || v < l->low ? v : l->low;
			l->high = !l->entries || v > l->high ? v : l->high;
			l->entries++;
		}
}

/* Writes tenths of a percent, so that no locale inserts a comma into the style. */
static void write_share_style(struct tach__out *out, const char *name, double fraction)
{
	int tenths = (int)(1000 * fraction);

	tach__out(out, "%s:%d.%d%%;", name, tenths / 10, tenths % 10);
}

static void write_colour(struct tach__out *out, int region)
{
	if (region < COLOURS)
		tach__out(out, "--c:var(--c%d)", region);
	else
		tach__out_text(out, "--c:var(--rest)");
}

static void write_dot(struct tach__out *out, const struct line *l, int r, int i,
		      const struct tach_worst *w,
		      void (*text)(struct tach__out *, const char *))
{
	struct tach_region_info info = {.size = sizeof info};
	char number[TACH__UNIT_MAX], at[TACH__CLOCK_MAX];
	double v;

	if (!height_of(l, r, i, w, &v))
		return;
	tach_snapshot_region(l->s, r, &info);
	tach__unit_value(number, l->s, l->by, tach_snapshot_worst_value(l->s, r, i, l->by));
	tach__report_clock(at, w->at);
	tach__out_text(out, "<i style=\"");
	write_share_style(out, "left",
			  l->to > l->from ? (w->at - l->from) / (l->to - l->from) : 0.5);
	write_share_style(out, "bottom",
			  l->high > l->low ? (v - l->low) / (l->high - l->low) : 0.5);
	write_colour(out, r);
	tach__out_text(out, "\" title=\"");
	text(out, info.name);
	tach__out(out, ": %s at %s", number, at);
	if (w->tag)
		tach__out(out, ", tag 0x%llx", (unsigned long long)w->tag);
	tach__out_text(out, "\"></i>");
}

static void write_scale(struct tach__out *out, const struct line *l,
			void (*text)(struct tach__out *, const char *))
{
	char from[TACH__CLOCK_MAX], to[TACH__CLOCK_MAX], high[TACH__UNIT_MAX],
		low[TACH__UNIT_MAX];

	tach__report_clock(from, l->from);
	tach__report_clock(to, l->to);
	tach__unit_value(low, l->s, l->by, tach__exp(l->low) - 1);
	tach__unit_value(high, l->s, l->by, tach__exp(l->high) - 1);
	tach__out(out,
		  "</div><p class=\"ends\"><span>%s</span><span>began at (UTC)</span>"
		  "<span>%s</span></p><figcaption>Height: ",
		  from, to);
	text(out, tach_snapshot_quantity(l->s, l->by));
	tach__out(out, " from %s to %s, logarithmic.", low, high);
}

static void write_legend(struct tach__out *out, const struct tach_snapshot *s,
			 void (*text)(struct tach__out *, const char *))
{
	struct tach_worst w = {.size = sizeof w};
	int others = 0;

	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		struct tach_region_info info = {.size = sizeof info};

		if (tach_snapshot_worst(s, r, 0, &w) != 0)
			continue;
		if (r >= COLOURS) {
			others = 1;
			continue;
		}
		tach_snapshot_region(s, r, &info);
		tach__out_text(out, " <span class=\"key\" style=\"");
		write_colour(out, r);
		tach__out_text(out, "\">");
		text(out, info.name);
		tach__out_text(out, "</span>");
	}
	if (others)
		tach__out_text(out, " <span class=\"key\" style=\"--c:var(--rest)\">others"
				    "</span>");
}

static void time_line(struct tach__out *out, const struct tach_snapshot *s,
		      void (*text)(struct tach__out *, const char *))
{
	struct line l = {.s = s, .by = tach_snapshot_worst_by(s)};
	struct tach_worst w = {.size = sizeof w};

	measure_line(&l);
	if (l.entries < 2)
		return;
	tach__out_text(out, "<figure class=\"card line\"><div class=\"dots\" role=\"img\" "
			    "aria-label=\"Worst entries over time\">");
	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		for (int i = 0; tach_snapshot_worst(s, r, i, &w) == 0; i++)
			write_dot(out, &l, r, i, &w, text);
	write_scale(out, &l, text);
	write_legend(out, s, text);
	tach__out_text(out, "</figcaption></figure>\n");
}

/* ---- the table ---- */

/* Writes a cell and its heading. Screens that are too narrow for columns show the heading. */
static void write_worst_cell(struct tach__out *out, const char *class, const char *heading,
			     const char *value, void (*text)(struct tach__out *, const char *))
{
	tach__out(out, "<td class=\"%s\" data-k=\"", class);
	text(out, heading);
	tach__out_text(out, "\">");
	text(out, value);
	tach__out_text(out, "</td>");
}

static const char *const more[] = {"began (UTC)", "thread", "in", "tag", "flags"};

static void write_worst_row(struct tach__out *out, const struct tach_snapshot *s, int region,
			    int i, const struct tach_worst *w,
			    void (*text)(struct tach__out *, const char *))
{
	struct tach_region_info info = {.size = sizeof info};
	char at[TACH__CLOCK_MAX], thread[64], tag[32];

	tach_snapshot_region(s, region, &info);
	tach__out_text(out, "<tr data-name=\"");
	text(out, info.name);
	tach__out_text(out, "\"><th scope=\"row\">");
	text(out, info.name);
	tach__out_text(out, "</th>");
	for (int q = 0; q < tach_snapshot_nquantities(s); q = tach__column_next(s, q)) {
		char value[TACH__UNIT_MAX];

		tach__unit_value(value, s, q, tach_snapshot_worst_value(s, region, i, q));
		write_worst_cell(out, "n", tach_snapshot_quantity(s, q), value, text);
	}
	tach__report_clock(at, w->at);
	snprintf(thread, sizeof thread, "%d %s", w->thread, w->thread_name);
	snprintf(tag, sizeof tag, "0x%llx", (unsigned long long)w->tag);
	write_worst_cell(out, "t", more[0], at, text);
	write_worst_cell(out, "t", more[1], thread, text);
	write_worst_cell(out, "t", more[2], *w->parent ? w->parent : "\u2013", text);
	write_worst_cell(out, "t", more[3], tag, text);
	tach__out(out, "<td class=\"t\" data-k=\"%s\">", more[4]);
	tach__out_flags(out, w->flags, ", ");
	tach__out_text(out, "</td></tr>\n");
}

static void write_heads(struct tach__out *out, const struct tach_snapshot *s,
			void (*text)(struct tach__out *, const char *))
{
	tach__out_text(out, "<div class=\"card scroll\"><table id=\"worst\"><thead><tr>"
			    "<th scope=\"col\" class=\"t\">region</th>");
	for (int q = 0; q < tach_snapshot_nquantities(s); q = tach__column_next(s, q)) {
		tach__out_text(out, "<th scope=\"col\">");
		text(out, tach_snapshot_quantity(s, q));
		tach__out_text(out, "</th>");
	}
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		tach__out(out, "<th scope=\"col\" class=\"t\">%s</th>", more[i]);
	tach__out_text(out, "</tr></thead>\n<tbody>\n");
}

static int any_worst(const struct tach_snapshot *s)
{
	struct tach_worst w = {.size = sizeof w};

	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		if (tach_snapshot_worst(s, r, 0, &w) == 0)
			return 1;
	return 0;
}

void tach__report_html_worst(struct tach__out *out, const struct tach_snapshot *s,
			     void (*text)(struct tach__out *, const char *))
{
	struct tach_worst w = {.size = sizeof w};

	if (!any_worst(s))
		return;
	tach__out_text(out, "<h2>Worst entries <small>by ");
	text(out, tach_snapshot_quantity(s, tach_snapshot_worst_by(s)));
	tach__out_text(out, ", cost subtracted</small></h2>\n");
	time_line(out, s, text);
	write_heads(out, s, text);
	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		for (int i = 0; tach_snapshot_worst(s, r, i, &w) == 0; i++)
			write_worst_row(out, s, r, i, &w, text);
	tach__out_text(out, "</tbody></table></div>\n");
}
