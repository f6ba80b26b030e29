/* SPDX-License-Identifier: MIT */
/* Writes trees of metrics in HTML: a card for each region, and a bar for each share of its
 * slots. */
#include <math.h>
#include "core/report/tree.h"

static void write_value(struct tach__out *out, const struct tach__tree *t, int m)
{
	const struct tach_value *v = &t->value[m];
	double scale = tach__tree_scale(t, m);

	if (isnan(v->value))
		tach__out_text(out, "<b>\u2013</b>");
	else
		tach__out(out, "<b>%.1f%s</b>", v->value * scale, tach__tree_unit(t, m));
	if (v->error > 0)
		tach__out(out, " <small>\u00b1%.1f</small>", v->error * scale);
}

/* Draws a share of all slots. The width is in tenths of a percent, so that no locale inserts a
 * comma into the style. */
static void write_bar(struct tach__out *out, const struct tach_value *v)
{
	int width = v->value > 0 ? (int)(1000 * (v->value < 1 ? v->value : 1)) : 0;

	tach__out(out, "<span class=\"t\"><i style=\"width:%d.%d%%\"></i></span>", width / 10,
		  width % 10);
}

static void write_node(struct tach__out *out, struct tach__tree *t, int m, int depth)
{
	const char *words = tach__tree_node(t, m)->description;
	int first = 1;

	t->shown[m] = 1;
	tach__out(out, "<li%s><p><span class=\"m\">", t->above[m] ? " class=\"above\"" : "");
	t->text(out, tach__tree_name(t, m));
	tach__out_text(out, "</span>");
	write_bar(out, &t->value[m]);
	tach__out_text(out, "<span class=\"v\">");
	write_value(out, t, m);
	tach__out_text(out, "</span>");
	if (words && *words) {
		tach__out_text(out, "<span class=\"d\">");
		t->text(out, words);
		tach__out_text(out, "</span>");
	}
	tach__out_text(out, "</p>");
	for (int k; depth < TACH__TREE_DEPTH && (k = tach__tree_next(t, m)) >= 0; first = 0) {
		tach__out_text(out, first ? "<ul>\n" : "");
		write_node(out, t, k, depth + 1);
	}
	tach__out_text(out, first ? "</li>\n" : "</ul></li>\n");
}

void tach__report_html_tree(struct tach__out *out, const struct tach_snapshot *s,
			    void (*text)(struct tach__out *, const char *))
{
	struct tach__tree t;

	if (!tach__tree_begin(&t, out, s, text))
		return;
	tach__out_text(out, "<h2>Where the slots went <span>marked: above its threshold"
			    "</span></h2>\n<p class=\"next\">");
	tach__tree_sentence(out, &t);
	tach__out_text(out, "</p>\n<div class=\"trees\">\n");
	for (int r = 0; r < s->plain.nregions; r++) {
		const char *name = tach__tree_region(&t, r);

		if (!name)
			continue;
		tach__out_text(out, "<section class=\"card tree\" data-name=\"");
		text(out, name);
		tach__out_text(out, "\"><h3>");
		text(out, name);
		tach__out_text(out, "</h3><ul>\n");
		for (int k; (k = tach__tree_next(&t, -1)) >= 0;)
			write_node(out, &t, k, 1);
		tach__out_text(out, "</ul></section>\n");
	}
	tach__out_text(out, "</div>\n");
	tach__tree_end(&t);
}
