/* SPDX-License-Identifier: MIT */
/*
 * `tach history page`: one HTML page that needs no other file. The page has the table of change
 * points without the script (history_page.js), which draws the graphs from the data in the
 * page.
 */
#include <stdio.h>
#include <string.h>
#include "core/base/json_out.h"
#include "core/report/page.h"
#include "tools/tach/commands.h"
#include "tools/tach/history.h"

/* ---- the table ---- */

static void write_cell(struct tach__out *out, const char *key, const char *text)
{
	tach__out(out, "<td data-k=\"%s\">", key);
	tach__report_html_text(out, text);
	tach__out_text(out, "</td>");
}

static void commit_link(struct tach__out *out, const char *commit, const char *url)
{
	char shown[16];

	snprintf(shown, sizeof shown, "%.10s", commit);
	if (url) {
		tach__out_text(out, "<a href=\"");
		tach__report_html_text(out, url);
		tach__out_text(out, "/commit/");
		tach__report_html_text(out, commit);
		tach__out_text(out, "\">");
	}
	tach__report_html_text(out, shown);
	tach__out_text(out, url ? "</a>" : "");
}

static void mark_row(struct tach__out *out, const struct history_lines *l,
		     const struct history_mark *m, const char *url)
{
	const struct history_value *v = m->value;
	const struct history_change *c = m->change;
	const struct history_run *run = &l->of->run[v->run], *before = &l->of->run[v[-1].run];
	char old[64], now[64], text[192], date[11];

	snprintf(date, sizeof date, "%s", run->date);
	series_value(v->of, c->before, old, sizeof old);
	series_value(v->of, c->after, now, sizeof now);
	snprintf(text, sizeof text, "%+.2f %% (%s \u2192 %s)", 100 * c->change, old, now);
	tach__out_text(out, "<tr data-change><th scope=\"row\">");
	commit_link(out, run->commit, url);
	tach__out_text(out, "<small>");
	tach__report_html_text(out, run->subject);
	tach__out_text(out, "</small></th>");
	write_cell(out, "date", date);
	write_cell(out, "region", m->line->label);
	write_cell(out, "quantity", v->of->quantity);
	write_cell(out, "change", text);
	tach__out(out, "<td data-k=\"verdict\"><span class=\"badge%s\">%s</span></td>",
		  strcmp(c->verdict, "worse") == 0    ? " bad"
		  : strcmp(c->verdict, "better") == 0 ? " good"
						      : "",
		  c->verdict);
	tach__out_text(out, "<td data-k=\"compare\"><a href=\"#a=");
	tach__report_html_text(out, before->commit);
	tach__out_text(out, "&amp;b=");
	tach__report_html_text(out, run->commit);
	tach__out_text(out, "\">with the commit before</a></td></tr>\n");
}

static void write_table(struct tach__out *out, const struct history_lines *l, const char *url)
{
	static const char *const heads[] = {"commit", "date",	 "region", "quantity",
					    "change", "verdict", "compare"};

	tach__out(out, "<h2>Change points <small>%zu</small></h2>\n", l->nmarks);
	if (!l->nmarks) {
		tach__out_text(out, "<p class=\"hint\">No line moved to another level.</p>\n");
		return;
	}
	tach__out_text(out,
		       "<div class=\"card scroll changes\"><table id=\"worst\"><thead><tr>");
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		tach__out(out, "<th scope=\"col\">%s</th>", heads[i]);
	tach__out_text(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < l->nmarks; i++)
		mark_row(out, l, &l->mark[i], url);
	tach__out_text(out, "</tbody></table></div>\n");
}

/* ---- the data ---- */

static void put_line(struct tach__json_out *json, const struct history_line *line)
{
	tach__json_line(json, 1);
	tach__json_object(json, NULL);
	tach__json_string(json, "region", line->label);
	tach__json_string(json, "quantity", line->value->of->quantity);
	tach__json_string(json, "kind", series_kinds[line->value->of->kind]);
	tach__json_unsigned(json, "group", line->value->group);
	tach__json_array(json, "values");
	for (size_t i = 0; i < line->n; i++) {
		tach__json_array(json, NULL);
		tach__json_unsigned(json, NULL, line->value[i].commit);
		tach__json_number(json, NULL, line->value[i].median);
		tach__json_number(json, NULL, line->value[i].low);
		tach__json_number(json, NULL, line->value[i].high);
		tach__json_unsigned(json, NULL, line->value[i].n);
		tach__json_end(json);
	}
	tach__json_end(json);
	tach__json_array(json, "changes");
	for (size_t i = 0; i < line->nchanges; i++) {
		tach__json_object(json, NULL);
		tach__json_unsigned(json, "commit", line->value[line->change[i].at].commit);
		tach__json_number(json, "change", line->change[i].change);
		tach__json_string(json, "verdict", line->change[i].verdict);
		tach__json_end(json);
	}
	tach__json_end(json);
	tach__json_end(json);
}

static void write_data(struct tach__out *out, const struct history_lines *l, const char *url)
{
	struct tach__json_out json;

	tach__json_begin(&json, out, TACH__JSON_COMPACT);
	tach__json_object(&json, NULL);
	tach__json_string(&json, "url", url ? url : "");
	tach__json_array(&json, "groups");
	for (size_t g = 0; g < l->ngroups; g++) {
		tach__json_object(&json, NULL);
		tach__json_string(&json, "counted", l->of->run[l->group_run[g]].counted);
		tach__json_string(&json, "machine", l->of->run[l->group_run[g]].machine);
		tach__json_end(&json);
	}
	tach__json_end(&json);
	tach__json_array(&json, "commits");
	for (size_t c = 0; c < l->ncommits; c++) {
		const struct history_run *run = &l->of->run[l->commit_run[c]];

		tach__json_line(&json, 1);
		tach__json_object(&json, NULL);
		tach__json_string(&json, "commit", run->commit);
		tach__json_string(&json, "date", run->date);
		tach__json_string(&json, "subject", run->subject);
		tach__json_end(&json);
	}
	tach__json_end(&json);
	tach__json_array(&json, "lines");
	for (size_t i = 0; i < l->n; i++)
		put_line(&json, &l->line[i]);
	tach__json_end(&json);
	tach__json_end(&json);
}

/* ---- the whole ---- */

static void write_fact(struct tach__out *out, const char *name, size_t n)
{
	tach__out(out, "<div><dt>%s</dt><dd>%zu</dd></div>", name, n);
}

static void write_head(struct tach__out *out, const struct history_lines *l, const char *title)
{
	tach__page_begin(out);
	tach__report_html_text(out, title);
	tach__page_heading(out, history_style, title, 1);
	tach__out_text(out, "<dl class=\"facts\">");
	write_fact(out, "Commits", l->ncommits);
	write_fact(out, "Runs", l->of->n);
	write_fact(out, "Lines", l->n);
	write_fact(out, "Ways of counting, machines", l->ngroups);
	tach__out_text(out, "</dl>\n");
	if (l->apart)
		tach__out(out,
			  "<p class=\"note\" role=\"note\">%zu lines are drawn in a colour of "
			  "their own, because they were counted in another way or on another "
			  "machine. They do not compare with the others of their graph.</p>\n",
			  l->apart);
	if (l->of->backward)
		tach__out(
			out,
			"<p class=\"note\" role=\"note\">Line %zu of the file is dated before "
			"the line above it. Runs are shown by date.</p>\n",
			l->of->backward);
}

void history_page(struct tach__out *out, const struct history_lines *l, const char *title,
		  const char *url)
{
	write_head(out, l, title);
	write_table(out, l, url);
	tach__out_text(out,
		       "<section id=\"compare\" hidden></section>\n<h2>Graphs</h2>\n"
		       "<noscript><p class=\"note\">The graphs need JavaScript.</p>"
		       "</noscript>\n<div id=\"graphs\"></div>\n</main>\n<footer>Everything "
		       "here is in this one file. A band is where the median lies with a "
		       "confidence of 95 %, or all values if they are fewer than 6."
		       "</footer>\n<script type=\"application/json\" id=\"data\">\n");
	write_data(out, l, url);
	tach__out_text(out, "\n</script>\n<script>\n");
	tach__out_text(out, history_script);
	tach__out_text(out, "</script>\n</body>\n</html>\n");
}
