/* SPDX-License-Identifier: MIT */
/*
 * Writes a comparison as one HTML page: bars of both sides, and the confidence interval of each
 * change.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/os/buffer.h"
#include "core/report/page.h"
#include "tools/tach/commands.h"
#include "tools/tach/compare.h"

/* Writes a share of 1 as a percentage with one decimal and a decimal point, in every locale. */
static void write_style(struct tach__out *out, const char *property, double share)
{
	int tenths = (int)(1000 * fmin(fmax(share, 0), 1) + 0.5);

	tach__out(out, "%s:%d.%d%%;", property, tenths / 10, tenths % 10);
}

static void write_fact(struct tach__out *out, const char *name, size_t n, int bad)
{
	if (n)
		tach__out(out, "<div><dt>%s</dt><dd%s>%zu</dd></div>", name,
			  bad ? " class=\"bad\"" : "", n);
}

static void write_side(struct tach__out *out, const char *name, const char *file,
		       const struct samples *s)
{
	size_t fewest, most;

	samples_range(s, &fewest, &most);
	tach__out(out, "<div><dt>%s</dt><dd>", name);
	tach__report_html_text(out, file);
	tach__out(out, " (%zu %s%s)</dd></div>", most, s->of ? s->of : "run",
		  most == 1 ? "" : "s");
}

static void write_head(struct tach__out *out, const struct comparison *c)
{
	static const char *const words[] = {"passed", "worse", "", "cannot tell"};
	int status = compare_status(c);

	tach__out_text(out, "<dl class=\"origin\">");
	write_side(out, "Old", c->old_name, c->old);
	write_side(out, "New", c->now_name, c->now);
	tach__out(out, "</dl>\n<dl class=\"facts\"><div><dt>Verdict</dt><dd%s>%s</dd></div>",
		  status ? " class=\"bad\"" : "", words[status]);
	write_fact(out, "Worse", c->count[COMPARE_WORSE], 1);
	write_fact(out, "Better", c->count[COMPARE_BETTER], 0);
	write_fact(out, "No change", c->count[COMPARE_NONE], 0);
	write_fact(out, "Cannot tell", c->count[COMPARE_UNKNOWN], 1);
	write_fact(out, "Gone", c->count[COMPARE_GONE], 1);
	write_fact(out, "New", c->count[COMPARE_NEW], 0);
	tach__out_text(out, "</dl>\n");
}

/* Returns the change at both ends of all tracks: most intervals fit in this range. */
static double range_of(const struct comparison *c)
{
	double most = 0.02;

	for (size_t i = 0; i < c->n; i++) {
		const struct tach_change_result *is = &c->line[i].is;
		const double all[] = {is->change, is->low, is->high, 2 * c->line[i].rule.bound};

		for (size_t k = 0; k < sizeof all / sizeof *all; k++)
			if (isfinite(all[k]) && fabs(all[k]) > most)
				most = fabs(all[k]);
	}
	return most < 1 ? most : 1;
}

static const char *colour(enum compare_verdict verdict)
{
	switch (verdict) {
	case COMPARE_WORSE:
	case COMPARE_GONE:
		return "--c:var(--c1)";
	case COMPARE_BETTER:
		return "--c:var(--c2)";
	case COMPARE_UNKNOWN:
		return "--c:var(--c6)";
	default:
		return "--c:var(--accent)";
	}
}

static void write_bars(struct tach__out *out, const struct compare_line *l,
		       char cell[COMPARE_COLUMNS][COMPARE_CELL])
{
	double old = isfinite(l->is.old) ? fabs(l->is.old) : 0;
	double now = isfinite(l->is.now) ? fabs(l->is.now) : 0, most = fmax(old, now);

	tach__out_text(out, "<td data-k=\"old, new\"><div class=\"pair\"><i style=\"");
	write_style(out, "width", most > 0 ? old / most : 0);
	tach__out_text(out, "\"></i><span>");
	tach__report_html_text(out, cell[2]);
	tach__out_text(out, "</span><i class=\"now\" style=\"");
	write_style(out, "width", most > 0 ? now / most : 0);
	tach__out_text(out, "\"></i><span>");
	tach__report_html_text(out, cell[3]);
	tach__out_text(out, "</span></div></td>");
}

static double on_track(double change, double range)
{
	return 0.5 + change / range / 2;
}

/* Draws the interval of the change, the change itself, and the bound. */
static void write_interval(struct tach__out *out, const struct compare_line *l, double range,
			   char cell[COMPARE_COLUMNS][COMPARE_CELL])
{
	double bound = l->rule.less ? -l->rule.bound : l->rule.bound;

	tach__out(out, "<td data-k=\"change\"><div class=\"interval\" style=\"%s\">",
		  colour(l->verdict));
	if (!isnan(l->is.low) && !isnan(l->is.high) && isfinite(l->is.change)) {
		double from = fmin(fmax(on_track(l->is.low, range), 0), 1);

		tach__out_text(out, "<i style=\"");
		write_style(out, "left", from);
		write_style(out, "width", fmin(fmax(on_track(l->is.high, range), 0), 1) - from);
		tach__out_text(out, "\"></i>");
	}
	if (isfinite(l->is.change)) {
		tach__out_text(out, "<b style=\"");
		write_style(out, "left", on_track(l->is.change, range));
		tach__out_text(out, "\"></b>");
	}
	if (l->verdict != COMPARE_UNJUDGED) {
		tach__out_text(out, "<s style=\"");
		write_style(out, "left", on_track(bound, range));
		tach__out_text(out, "\"></s>");
	}
	tach__out_text(out, "</div><small>");
	tach__report_html_text(out, cell[4]);
	tach__out_text(out, "</small></td>");
}

static void write_row(struct tach__out *out, const struct compare_line *l, double range)
{
	int bad = l->verdict == COMPARE_WORSE || l->verdict == COMPARE_GONE ||
		  l->verdict == COMPARE_UNKNOWN;
	char cell[COMPARE_COLUMNS][COMPARE_CELL];

	compare_cells(l, cell);
	tach__out_text(out, "<tr><th scope=\"row\">");
	tach__report_html_text(out, cell[0]);
	tach__out_text(out, "</th><td data-k=\"quantity\">");
	tach__report_html_text(out, cell[1]);
	tach__out_text(out, "</td>");
	write_bars(out, l, cell);
	write_interval(out, l, range, cell);
	tach__out_text(out, "<td data-k=\"bound\">");
	tach__report_html_text(out, cell[5]);
	tach__out(out, "</td><td data-k=\"verdict\"><span class=\"badge%s\">",
		  bad				 ? " bad"
		  : l->verdict == COMPARE_BETTER ? " good"
						 : "");
	tach__report_html_text(out, cell[6]);
	tach__out_text(out, "</span></td></tr>\n");
}

static void write_sentences(struct tach__out *out, const struct comparison *c)
{
	struct tach__buffer words = {0};
	struct tach__out to;

	tach__out_open(&to, tach__buffer_sink, &words);
	compare_sentences(&to, c);
	if (tach__out_flush(&to) == 0 && tach__buffer_sink(&words, "", 1) == 0) {
		for (char *p = words.at; *p; p++)
			*p = *p == '\n' ? ' ' : *p;
		tach__out_text(out, "<p class=\"hint\">");
		tach__report_html_text(out, words.at);
		tach__out_text(out, "</p>\n");
	}
	tach__buffer_free(&words);
}

void compare_html(struct tach__out *out, const struct comparison *c)
{
	double range = range_of(c);

	tach__page_begin(out);
	tach__report_html_text(out, c->options->who);
	tach__page_heading(out, NULL, strchr(c->options->who, ' ') + 1, 0);
	write_head(out, c);
	tach__out(out,
		  "<h2>Regions</h2>\n<div class=\"card scroll\"><table "
		  "id=\"worst\"><caption>Upper "
		  "bar: old, lower bar: new. Change: the middle line is no change, the ends "
		  "\u00b1%d %%; the mark is the change, the band where it lies in 90 cases of "
		  "100, the dashed line the bound.</caption>\n<thead><tr>",
		  (int)(100 * range + 0.5));
	tach__out_text(out,
		       "<th scope=\"col\">region</th><th scope=\"col\">quantity</th>"
		       "<th scope=\"col\">old, new</th><th scope=\"col\">change</th>"
		       "<th scope=\"col\">bound</th><th scope=\"col\">verdict</th></tr></thead>"
		       "\n<tbody>\n");
	for (size_t i = 0; i < c->n; i++)
		write_row(out, &c->line[i], range);
	tach__out_text(out, "</tbody></table></div>\n");
	write_sentences(out, c);
	tach__out_text(out, "</main>\n<footer>Everything here is in this one file.</footer>\n"
			    "</body>\n</html>\n");
}
