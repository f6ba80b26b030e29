/* SPDX-License-Identifier: MIT */
/* Writes trees of metrics as text: the shares of each region's slots, and a sentence about the
 * next step. */
#include <math.h>
#include <string.h>
#include "core/base/utf8.h"
#include "core/report/tree.h"

enum { NAMES_MAX = 40 };

static void text_utf8(struct tach__out *out, const char *text)
{
	tach__report_line(out, text, 0);
}

static void text_ascii(struct tach__out *out, const char *text)
{
	tach__report_line(out, text, 1);
}

static int width_of(const struct tach__tree *t, const char *text)
{
	char line[1024];

	tach_printable(text, line, sizeof line);
	return t->text == text_ascii ? (int)strlen(line) : tach__utf8_width(line);
}

static void write_value(struct tach__out *out, const struct tach__tree *t, int m)
{
	const struct tach_value *v = &t->value[m];
	double scale = tach__tree_scale(t, m);

	if (isnan(v->value))
		tach__out(out, "%8s", "-");
	else
		tach__out(out, "%8.1f%s", v->value * scale, tach__tree_unit(t, m));
	if (v->error > 0)
		tach__out(out, " %s%.1f", t->text == text_ascii ? "+-" : "\u00b1",
			  v->error * scale);
}

static void write_node(struct tach__out *out, struct tach__tree *t, int m, int depth)
{
	const char *name = tach__tree_name(t, m), *words = tach__tree_node(t, m)->description;
	int pad = NAMES_MAX - 2 * depth - width_of(t, name);

	t->shown[m] = 1;
	tach__out(out, "%*s%c ", 2 * depth, "", t->above[m] ? '*' : ' ');
	t->text(out, name);
	tach__out(out, "%*s", pad > 0 ? pad : 0, "");
	write_value(out, t, m);
	if (words && *words) {
		tach__out_text(out, "  ");
		t->text(out, words);
	}
	tach__out_text(out, "\n");
	for (int k; depth < TACH__TREE_DEPTH && (k = tach__tree_next(t, m)) >= 0;)
		write_node(out, t, k, depth + 1);
}

void tach__report_text_tree(struct tach__out *out, const struct tach_snapshot *s,
			    const struct tach_report_options *opt)
{
	struct tach__tree t;

	if (s->in_handler && tach__tree_has_levels(s))
		tach__out_text(out, "\nWhere the slots went is not shown: a signal's handler "
				    "wrote this, which "
				    "may not take the memory for it.\n");
	if (!tach__tree_begin(&t, out, s, opt->ascii ? text_ascii : text_utf8))
		return;
	tach__out_text(out, "\nWhere the slots went; * above its threshold:\n");
	for (int r = 0; r < s->plain.nregions; r++) {
		const char *name = tach__tree_region(&t, r);

		if (!name)
			continue;
		tach__out_text(out, "\n");
		t.text(out, name);
		tach__out_text(out, "\n");
		for (int k; (k = tach__tree_next(&t, -1)) >= 0;)
			write_node(out, &t, k, 1);
	}
	tach__out_text(out, "\n");
	tach__tree_sentence(out, &t);
	tach__out_text(out, "\n");
	tach__tree_end(&t);
}
