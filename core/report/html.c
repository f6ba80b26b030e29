/* SPDX-License-Identifier: MIT */
/* Writes one HTML page without dependencies: it contains its style and script (page.css,
 * page.js). Tables and pictures work without the script. The page contains the JSON report as
 * data. */
#include <math.h>
#include <stdio.h>
#include "core/report/report.h"
#include "core/snapshot/snapshot.h"
#include "core/report/page.h"
#include "core/report/units.h"
#include "core/base/sort.h"
#include "core/os/memory.h"

enum { SHARES = 8 }; /* regions with their own colour in the picture of shares */

/* ---- above the table ---- */

static void write_fact(struct tach__out *out, const char *name, uint64_t value, int bad)
{
	char number[TACH__UNIT_MAX];

	tach__unit_count(number, (double)value);
	tach__out(out, "<div><dt>%s</dt><dd%s>%s</dd></div>", name, bad ? " class=\"bad\"" : "",
		  number);
}

static void write_facts(struct tach__out *out, const struct tach_snapshot *s)
{
	struct tach_counts c = {.size = sizeof c};

	tach_snapshot_counts(s, &c);
	tach__out_text(out, "<dl class=\"facts\">");
	write_fact(out, "Regions", (uint64_t)tach_snapshot_nregions(s), 0);
	write_fact(out, "Threads", c.threads, 0);
	if (c.reports > 1)
		write_fact(out, "Reports added up", c.reports, 0);
	if (c.missing_processes)
		write_fact(out, "Processes missing", c.missing_processes, 1);
	if (c.missing_threads)
		write_fact(out, "Threads missing", c.missing_threads, 1);
	if (c.unopened)
		write_fact(out, "Threads with the clock alone", c.unopened, 1);
	if (c.refused)
		write_fact(out, "Stops refused", c.refused, 1);
	if (c.lost)
		write_fact(out, "Entries lost", c.lost, 1);
	if (c.stale)
		write_fact(out, "Stale copies", c.stale, 1);
	tach__out_text(out, "</dl>\n");
	if (*tach_snapshot_missing(s)) {
		tach__out_text(out, "<p class=\"note\" role=\"note\">");
		tach__report_html_text(out, tach_snapshot_missing(s));
		tach__out_text(out, "</p>\n");
	}
}

static double self_time(const struct tach_snapshot *s, int region)
{
	struct tach_value v;

	tach_snapshot_value(s, region, TACH_QUANTITY_TIME, TACH_PART_SELF, &v);
	return s->plain.region[region].repeats ? 0 : v.value;
}

struct share {
	int region;
	double ns;
};

static int by_share(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns) : x->region - y->region;
}

static void share_bar(struct tach__out *out, const struct tach_snapshot *s,
		      const struct share *share, int n, double total)
{
	double at = 0;

	tach__out_text(out, "<svg viewBox=\"0 0 1000 26\" preserveAspectRatio=\"none\" "
			    "role=\"img\" aria-label=\"Share of each region in the time "
			    "measured\">");
	for (int i = 0; i < n; i++) {
		struct tach_region_info info = {0};
		double width = 1000 * share[i].ns / total;

		tach_snapshot_region(s, share[i].region, &info);
		tach__out(out,
			  "<rect x=\"%d.%d\" width=\"%d.%d\" height=\"26\" "
			  "style=\"fill:var(--c%d)\"><title>",
			  (int)at, (int)(at * 10) % 10, (int)width, (int)(width * 10) % 10, i);
		tach__report_html_text(out, info.name);
		tach__out_text(out, "</title></rect>");
		at += width;
	}
	tach__out(out,
		  "<rect x=\"%d.%d\" width=\"1000\" height=\"26\" "
		  "style=\"fill:var(--rest)\"><title>others</title></rect></svg>\n<ul>",
		  (int)at, (int)(at * 10) % 10);
	for (int i = 0; i < n; i++) {
		struct tach_region_info info = {0};
		char time[TACH__UNIT_MAX];

		tach_snapshot_region(s, share[i].region, &info);
		tach__unit_time(time, share[i].ns);
		tach__out(out, "<li style=\"--c:var(--c%d)\">", i);
		tach__report_html_text(out, info.name);
		if (100 * share[i].ns < total)
			tach__out(out, " <span>&lt;1%% \u00b7 %s</span></li>", time);
		else
			tach__out(out, " <span>%.0f%% \u00b7 %s</span></li>",
				  100 * share[i].ns / total, time);
	}
	tach__out_text(out, "</ul>");
}

/* Shows self times, which add up to all measured time. */
static void write_shares(struct tach__out *out, const struct tach_snapshot *s)
{
	int n = tach_snapshot_nregions(s);
	size_t size = ((size_t)n + 1) * sizeof(struct share);
	struct share *share = tach__pages(size);
	double total = 0;

	out->lacking |= !share;
	for (int r = 0; share && r < n; r++) {
		share[r] = (struct share){r, self_time(s, r)};
		total += share[r].ns;
	}
	if (share && total > 0) {
		tach__heapsort(share, (size_t)n, sizeof *share, by_share);
		tach__out_text(out, "<h2>Where the time goes</h2>\n"
				    "<section class=\"card share\">");
		share_bar(out, s, share, n < SHARES ? n : SHARES, total);
		tach__out_text(out, "</section>\n");
	}
	tach__pages_free(share, size);
}

/* ---- the table ---- */

static void write_head(struct tach__out *out, const char *key, const char *extra)
{
	tach__out_text(out, "<th scope=\"col\" data-key=\"");
	tach__report_html_text(out, key);
	tach__out(out, "\"%s><button type=\"button\">", extra);
	tach__report_html_text(out, key);
	tach__out_text(out, "</button></th>");
}

static double greatest_value(const struct tach_snapshot *s, int q)
{
	double most = 0;

	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		struct tach_value v;

		if (tach__column_value(s, r, q, TACH_PART_INCLUSIVE, &v) == 0 && v.value > most)
			most = v.value;
	}
	return most;
}

static void value_part(struct tach__out *out, const struct tach_snapshot *s, int q,
		       const struct tach_value *v, char class, double most)
{
	char number[TACH__UNIT_MAX], error[TACH__UNIT_MAX];
	int small = (v->flags & TACH_FLAG_SMALL) && !(v->flags & TACH_FLAG_UNBOUNDED);
	/* The width is in tenths of a percent, so that no locale inserts a comma into the
	 * style. */
	double share = v->value > 0 && most > 0 ? v->value / most : 0;
	int width = (int)(1000 * (share < 1 ? share : 1));

	tach__unit_value(number, s, q, tach__unit_shown(v));
	tach__unit_error(error, v);
	tach__out(out, "<span class=\"%c%s\">%s", class, small ? " small" : "",
		  small ? "(" : "");
	tach__report_html_text(out, number);
	tach__out_text(out, small ? ")" : "");
	if (*error && !small) {
		tach__out_text(out, "<small>");
		tach__report_html_text(out, error);
		tach__out_text(out, "</small>");
	}
	if (width > 0)
		tach__out(out, "<span class=\"b\" style=\"width:%d.%d%%\"></span>", width / 10,
			  width % 10);
	tach__out_text(out, "</span>");
}

static void value_cell(struct tach__out *out, const struct tach_snapshot *s, int r, int q,
		       double most)
{
	struct tach_value i, self;

	tach__column_value(s, r, q, TACH_PART_INCLUSIVE, &i);
	tach__column_value(s, r, q, TACH_PART_SELF, &self);
	tach__out_text(out, "<td class=\"n\" data-k=\"");
	tach__report_html_text(out, tach__column_name(s, q));
	tach__out_text(out, "\" data-i=\"");
	tach__out_number(out, i.value, "");
	tach__out_text(out, "\" data-s=\"");
	tach__out_number(out, self.value, "");
	tach__out_text(out, "\">");
	value_part(out, s, q, &i, 'i', most);
	value_part(out, s, q, &self, 's', most);
	tach__out_text(out, "</td>");
}

static void write_provenance(struct tach__out *out, const struct tach_snapshot *s, int r,
			     const struct tach_region_info *info)
{
	char beside[TACH__BESIDE_MAX];
	struct tach_value v;
	const char *kind;
	int any = 0;

	tach_snapshot_value(s, r, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE, &v);
	tach__out_text(out, "<td data-k=\"provenance\" data-i=\"\">");
	if (v.flags & TACH_FLAG_STALE)
		tach__out_text(out, "<span class=\"badge bad\">stale</span>");
	for (int i = 0; i < 6; i++) {
		/* RESCHEDULED and SYSCALL do not make values doubtful. The other flags do. */
		uint32_t harmless = TACH_FLAG_RESCHEDULED | TACH_FLAG_SYSCALL;
		int bad = !(tach__flag_names[i].flag & harmless);

		if (!info->provenance[i])
			continue;
		any = 1;
		tach__out(out, "<span class=\"badge%s\">", bad ? " bad" : "");
		if (info->provenance[i] != info->calls)
			tach__out(out, "%llu ", (unsigned long long)info->provenance[i]);
		tach__out(out, "%s</span>", tach__flag_names[i].name);
	}
	for (int i = 0; (kind = tach__report_kind(s, r, i)); i++) {
		any = 1;
		tach__out(out, "<span class=\"badge\">%s</span>", kind);
	}
	if (!any)
		tach__out(out, "<span class=\"badge%s",
			  info->calls == 0		     ? "\">not measured</span>"
			  : tach_snapshot_nquantities(s) > 1 ? " good\">exact</span>"
							     : "\">clock</span>");
	for (int i = 0; tach__report_other_entries(beside, info, i); i++)
		tach__out(out, "<span class=\"badge\">%s</span>", beside);
	tach__out_text(out, "</td></tr>\n");
}

static void write_row(struct tach__out *out, const struct tach_snapshot *s, int r,
		      const double *most, int columns)
{
	struct tach_region_info info = {0};
	char number[TACH__UNIT_MAX];

	tach_snapshot_region(s, r, &info);
	tach__out_text(out, "<tr data-name=\"");
	tach__report_html_text(out, info.name);
	tach__out_text(out, "\"><th scope=\"row\" data-i=\"");
	tach__report_html_text(out, info.name);
	tach__out_text(out, "\">");
	tach__report_html_text(out, info.name);
	if (*info.file) {
		tach__out_text(out, "<small>");
		tach__report_html_text(out, info.file);
		tach__out(out, ":%u</small>", info.line);
	}
	tach__unit_count(number, (double)tach__report_calls(&info));
	tach__out(out, "</th><td data-k=\"calls\" data-i=\"%llu\">%s</td>",
		  (unsigned long long)tach__report_calls(&info), number);
	for (int q = 0; q < columns; q = tach__column_next(s, q))
		value_cell(out, s, r, q, most[q]);
	write_provenance(out, s, r, &info);
}

static void write_tools(struct tach__out *out)
{
	tach__out_text(
		out,
		"<div class=\"tools\" id=\"tools\" hidden><label class=\"hide\" for=\"filter\">"
		"Show regions with this in their name</label><input id=\"filter\" "
		"type=\"search\" placeholder=\"Filter regions\"><i></i>"
		"<button class=\"quiet\" type=\"button\" data-part=\"inclusive\" "
		"aria-pressed=\"true\" title=\"with nested regions\">Inclusive</button>"
		"<button class=\"quiet\" type=\"button\" data-part=\"self\" "
		"aria-pressed=\"false\" title=\"without nested "
		"regions\">Self</button></div>\n");
}

static void write_page_table(struct tach__out *out, const struct tach_snapshot *s)
{
	int columns = tach__columns(s);
	double *most = tach__pages((size_t)columns * sizeof *most);

	if (!most) {
		out->lacking = 1;
		return;
	}
	for (int q = 0; q < columns; q++)
		most[q] = greatest_value(s, q);
	tach__out_text(out, "<h2>Regions</h2>\n");
	write_tools(out);
	tach__out_text(out, "<div class=\"card scroll\"><table id=\"regions\">"
			    "<caption>The cost of measuring is subtracted; \u00b1 is how "
			    "uncertain that leaves a value. (In parentheses): not above that "
			    "uncertainty, do not trust. \u00b1?: how far off is not known.");
	if (tach__report_flags(s) & TACH_FLAG_CORRECTED)
		tach__out_text(out, " One instruction is subtracted for every interrupt.");
	tach__out_text(out, "</caption>\n<thead><tr>");
	write_head(out, "region", " data-text=\"1\"");
	write_head(out, "calls", "");
	for (int q = 0; q < columns; q = tach__column_next(s, q))
		write_head(out, tach__column_name(s, q),
			   q == TACH_QUANTITY_TIME ? " aria-sort=\"descending\"" : "");
	write_head(out, "provenance", " data-text=\"1\"");
	tach__out_text(out, "</tr></thead>\n<tbody>\n");
	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		write_row(out, s, r, most, columns);
	tach__out_text(out, "</tbody></table></div>\n");
	tach__pages_free(most, (size_t)columns * sizeof *most);
}

/* ---- the whole ---- */

void tach__report_html(struct tach__out *out, const struct tach_snapshot *s,
		       const struct tach_report_options *opt)
{
	tach__page_begin(out);
	tach__report_html_title(out, s, tach__report_html_text);
	tach__page_heading(out, NULL, "report", 1);
	tach__report_html_origin(out, s, tach__report_html_text);
	write_facts(out, s);
	if (tach_snapshot_nregions(s) == 0) {
		tach__out_text(out, "<h2>No region was entered.</h2>\n");
	} else {
		write_shares(out, s);
		tach__report_html_nest(out, s, tach__report_html_text);
		write_page_table(out, s);
		tach__report_html_tree(out, s, tach__report_html_text);
		tach__report_html_histograms(out, s, tach__report_html_text);
		tach__report_html_worst(out, s, tach__report_html_text);
	}
	tach__out_text(out, "</main>\n<footer>Everything here is in this one file; its numbers "
			    "are in the script element <code>data</code>, in the JSON format "
			    "of tach-report(5).</footer>\n"
			    "<script type=\"application/json\" id=\"data\">\n");
	tach__report_json(out, s, opt);
	tach__out_text(out, "</script>\n<script>\n");
	tach__out_text(out, tach__report_script);
	tach__out_text(out, "</script>\n</body>\n</html>\n");
}
