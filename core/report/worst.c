/* SPDX-License-Identifier: MIT */
/* Worst entries of a report, as text and as a table of the page. */
#include <math.h>
#include <stdio.h>
#include "core/report/report.h"
#include "core/report/units.h"

enum { AT = 40 };

/* The time of day in UTC, because signal handlers cannot read the zone's files. */
static void at_text(char to[AT], double at)
{
	double day = isfinite(at) && at > 0 ? fmod(at, 86400) : 0;
	unsigned us = (unsigned)((day - floor(day)) * 1e6), s = (unsigned)day;

	snprintf(to, AT, "%02u:%02u:%02u.%06u", s / 3600, s / 60 % 60, s % 60, us);
}

static void entry(struct tach__out *out, const struct tach_snapshot *s, int region, int i,
		  const struct tach_worst *w, int ascii)
{
	char at[AT];

	at_text(at, w->at);
	tach__out_text(out, "  ");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
		char value[TACH__UNIT_MAX];

		tach__unit_value(value, s, q, tach_snapshot_worst_value(s, region, i, q));
		tach__out_text(out, q ? ", " : "");
		tach__report_line(out, tach_snapshot_quantity(s, q), ascii);
		tach__out(out, " %s", value);
	}
	tach__out(out, "; at %s, thread %d ", at, w->thread);
	tach__report_line(out, w->thread_name, ascii);
	tach__out_text(out, *w->parent ? ", in " : "");
	tach__report_line(out, w->parent, ascii);
	if (w->tag)
		tach__out(out, ", tag 0x%llx", (unsigned long long)w->tag);
	tach__out_text(out, w->flags ? ", " : "");
	tach__out_flags(out, w->flags, ",");
	tach__out_text(out, "\n");
}

void tach__report_text_worst(struct tach__out *out, const struct tach_snapshot *s, int region,
			     int ascii)
{
	struct tach_region_info info = {0};
	struct tach_worst w = {0};

	tach_snapshot_region(s, region, &info);
	if (tach_snapshot_worst(s, region, 0, &w) != 0)
		return;
	tach__out_text(out, "\n");
	tach__report_line(out, info.name, ascii);
	tach__out_text(out, ", worst entries by ");
	tach__report_line(out, tach_snapshot_quantity(s, tach_snapshot_worst_by(s)), ascii);
	tach__out_text(out, " (UTC):\n");
	for (int i = 0; tach_snapshot_worst(s, region, i, &w) == 0; i++)
		entry(out, s, region, i, &w, ascii);
}

/* ---- the page ---- */

static void row(struct tach__out *out, const struct tach_snapshot *s, int region, int i,
		const struct tach_worst *w, const char *name,
		void (*text)(struct tach__out *, const char *))
{
	char at[AT];

	tach__out_text(out, "<tr data-name=\"");
	text(out, name);
	tach__out_text(out, "\"><th scope=\"row\">");
	text(out, name);
	tach__out_text(out, "</th>");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
		char value[TACH__UNIT_MAX];

		tach__unit_value(value, s, q, tach_snapshot_worst_value(s, region, i, q));
		tach__out_text(out, "<td class=\"n\">");
		text(out, value);
		tach__out_text(out, "</td>");
	}
	at_text(at, w->at);
	tach__out(out, "<td>%s</td><td>%d ", at, w->thread);
	text(out, w->thread_name);
	tach__out_text(out, "</td><td>");
	text(out, w->parent);
	tach__out(out, "</td><td>0x%llx</td><td>", (unsigned long long)w->tag);
	tach__out_flags(out, w->flags, ",");
	tach__out_text(out, "</td></tr>\n");
}

static void heads(struct tach__out *out, const struct tach_snapshot *s,
		  void (*text)(struct tach__out *, const char *))
{
	static const char *const more[] = {"began (UTC)", "thread", "in", "tag", "flags"};

	tach__out_text(out, "<h2>Worst entries <small>by ");
	text(out, tach_snapshot_quantity(s, tach_snapshot_worst_by(s)));
	tach__out_text(out, ", cost subtracted</small></h2>\n<div class=\"card scroll\"><table "
			    "id=\"worst\"><thead><tr><th scope=\"col\">region</th>");
	for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
		tach__out_text(out, "<th scope=\"col\">");
		text(out, tach_snapshot_quantity(s, q));
		tach__out_text(out, "</th>");
	}
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		tach__out(out, "<th scope=\"col\">%s</th>", more[i]);
	tach__out_text(out, "</tr></thead>\n<tbody>\n");
}

void tach__report_html_worst(struct tach__out *out, const struct tach_snapshot *s,
			     void (*text)(struct tach__out *, const char *))
{
	struct tach_region_info info = {0};
	struct tach_worst w = {0};
	int any = 0;

	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		for (int i = 0; tach_snapshot_worst(s, r, i, &w) == 0; i++) {
			if (!any++)
				heads(out, s, text);
			row(out, s, r, i, &w, info.name, text);
		}
	if (any)
		tach__out_text(out, "</tbody></table></div>\n");
}
