/* SPDX-License-Identifier: MIT */
/* Writes a comparison in formats for CI systems: JUnit's XML and Markdown. */
#include <stdio.h>
#include <string.h>
#include "tools/tach/commands.h"
#include "tools/tach/compare.h"

/* XML 1.0 forbids control characters, even escaped ones. */
static void put_xml(struct tach__out *out, const char *s)
{
	static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
	char shown[COMPARE_CELL];

	tach_printable(s, shown, sizeof shown);
	for (const char *c = shown; *c; c++) {
		const char *special = strchr("<>&\"", *c);

		if (special)
			tach__out_text(out, names[special - strchr("<>&\"", '<')]);
		else
			tach__out_bytes(out, c, 1);
	}
}

/* Returns the JUnit element of a verdict: failure, error or skipped, or NULL for passed. */
static const char *junit_outcome(const struct comparison *c, enum compare_verdict verdict)
{
	unsigned allow = c->options->allow;

	switch (verdict) {
	case COMPARE_WORSE:
		return "failure";
	case COMPARE_UNKNOWN:
		return allow & COMPARE_ALLOW_UNKNOWN ? "skipped" : "error";
	case COMPARE_GONE:
		return allow & COMPARE_ALLOW_GONE ? "skipped" : "error";
	case COMPARE_UNJUDGED:
		return "skipped";
	default:
		return NULL;
	}
}

static void put_junit_case(struct tach__out *out, const struct comparison *c,
			   const struct compare_line *l)
{
	const char *outcome = junit_outcome(c, l->verdict);
	char cell[COMPARE_COLUMNS][COMPARE_CELL];

	compare_cells(l, cell);
	tach__out_text(out, "  <testcase classname=\"");
	put_xml(out, cell[0]);
	tach__out_text(out, "\" name=\"");
	put_xml(out, cell[1]);
	if (!outcome) {
		tach__out_text(out, "\"/>\n");
		return;
	}
	tach__out(out, "\">\n    <%s message=\"", outcome);
	put_xml(out, cell[6]);
	tach__out_text(out, ": ");
	put_xml(out, cell[2]);
	tach__out_text(out, " became ");
	put_xml(out, cell[3]);
	tach__out(out, " (%s, the bound is %s)\"/>\n  </testcase>\n", cell[4], cell[5]);
}

void compare_junit(struct tach__out *out, const struct comparison *c)
{
	size_t errors = 0;

	for (size_t i = 0; i < c->n; i++) {
		const char *outcome = junit_outcome(c, c->line[i].verdict);

		errors += outcome && strcmp(outcome, "error") == 0;
	}
	tach__out(out,
		  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"%s\" "
		  "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
		  c->options->who, c->n + !c->judged, c->count[COMPARE_WORSE],
		  errors + !c->judged);
	for (size_t i = 0; i < c->n; i++)
		put_junit_case(out, c, &c->line[i]);
	if (!c->judged)
		tach__out_text(out, "  <testcase classname=\"tach\" name=\"measured\">\n    "
				    "<error message=\"nothing was compared\"/>\n  "
				    "</testcase>\n");
	tach__out_text(out, "</testsuite>\n");
}

static void put_markdown(struct tach__out *out, const char *s)
{
	for (; *s; s++) {
		if (strchr("|\\`*_<>[]", *s))
			tach__out_text(out, "\\");
		tach__out_bytes(out, s, 1);
	}
}

void compare_markdown(struct tach__out *out, const struct comparison *c)
{
	static const char *const words[] = {"passed", "worse", "", "cannot tell"};
	char cell[COMPARE_COLUMNS][COMPARE_CELL];

	tach__out(out,
		  "### %s: %s\n\n| region | quantity | old | new | change | bound | verdict "
		  "|\n|---|---|---:|---:|---:|---:|---|\n",
		  c->options->who, words[compare_status(c)]);
	for (size_t i = 0; i < c->n; i++) {
		int bold = junit_outcome(c, c->line[i].verdict) != NULL;

		compare_cells(&c->line[i], cell);
		for (int k = 0; k < COMPARE_COLUMNS; k++) {
			tach__out_text(out, k ? " | " : "| ");
			tach__out_text(out, bold && k == COMPARE_COLUMNS - 1 ? "**" : "");
			put_markdown(out, cell[k]);
		}
		tach__out_text(out, bold ? "** |\n" : " |\n");
	}
	tach__out_text(out, "\n");
	compare_sentences(out, c);
}
