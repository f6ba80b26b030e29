/* SPDX-License-Identifier: MIT */
/* What `tach gate` found: a table, JSON, JUnit's XML, Markdown. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tach/error.h>
#include "core/base/json_out.h"
#include "tools/tach/commands.h"
#include "tools/tach/gate.h"

const char *const gate_verdicts[GATE_VERDICTS] = {"ok", "worse", "better", "new", "gone"};

enum { SHORT = 32 };

/* As people are to read it; formats for programs have the name, and nanoseconds. */
static const char *shown_quantity(const struct gate_line *l)
{
	return strcmp(l->quantity, "time") == 0 ? "time (ns)" : l->quantity;
}

static void percent(char *to, double relative)
{
	if (isfinite(relative))
		snprintf(to, SHORT, "%+.3f%%", 100 * relative);
	else
		snprintf(to, SHORT, "-");
}

/* The words around the table, in all formats for people. */
static void sentence(FILE *to, const struct gate_outcome *o)
{
	fprintf(to,
		"%zu of %zu comparisons worse, against %s, %zu runs; %s. At most %g %% of "
		"runs without a change say worse.\n",
		o->worse, o->judged, o->against, o->runs, o->how, 100 * o->alpha);
}

static void text(FILE *to, const struct gate_outcome *o)
{
	fprintf(to, "%-32s %-20s %14s %14s %10s %10s %10s  %s\n", "region", "quantity",
		"baseline", "now", "change", "bound", "detects", "verdict");
	for (size_t i = 0; i < o->n; i++) {
		const struct gate_line *l = &o->line[i];
		char change[SHORT], bound[SHORT], detects[SHORT], name[256];
		double sign = l->rule->less ? -1 : 1;

		tach_printable(l->region, name, sizeof name);
		percent(change, l->is.change);
		percent(bound, sign * l->rule->bound);
		percent(detects, sign * l->detectable);
		fprintf(to, "%-32s %-20s %14.10g %14.10g %10s %10s %10s  %s\n", name,
			shown_quantity(l), l->is.old, l->is.now, change, bound, detects,
			gate_verdicts[l->verdict]);
	}
	sentence(to, o);
}

static void json(FILE *to, const struct gate_outcome *o)
{
	struct json_to j;

	json_begin(&j, to, TACH__JSON_SPACED);
	tach__json_object(&j.json, NULL);
	tach__json_unsigned(&j.json, "tach_gate", 1);
	tach__json_unsigned(&j.json, "worse", o->worse);
	tach__json_unsigned(&j.json, "judged", o->judged);
	tach__json_unsigned(&j.json, "runs", o->runs);
	tach__json_number(&j.json, "alpha", o->alpha);
	tach__json_string(&j.json, "against", o->against);
	tach__json_string(&j.json, "counted", o->how);
	tach__json_array(&j.json, "comparisons");
	for (size_t i = 0; i < o->n; i++) {
		const struct gate_line *l = &o->line[i];
		double sign = l->rule->less ? -1 : 1;

		tach__json_object(&j.json, NULL);
		tach__json_string(&j.json, "region", l->region);
		tach__json_string(&j.json, "quantity", l->quantity);
		tach__json_number(&j.json, "baseline", l->is.old);
		tach__json_number(&j.json, "now", l->is.now);
		tach__json_number(&j.json, "change", l->is.change);
		tach__json_number(&j.json, "bound", sign * l->rule->bound);
		tach__json_number(&j.json, "detectable", sign * l->detectable);
		tach__json_number(&j.json, "p", l->is.p);
		tach__json_string(&j.json, "verdict", gate_verdicts[l->verdict]);
		tach__json_end(&j.json);
	}
	tach__json_end(&j.json);
	tach__json_end(&j.json);
	json_end(&j);
}

/* XML 1.0 has no control characters, not even escaped ones. */
static void xml(FILE *to, const char *s)
{
	char shown[512];

	tach_printable(s, shown, sizeof shown);
	for (const char *c = shown; *c; c++)
		switch (*c) {
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '&':
			fputs("&amp;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		default:
			putc(*c, to);
		}
}

static void junit(FILE *to, const struct gate_outcome *o)
{
	fprintf(to,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tach gate\" "
		"tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n",
		o->n, o->worse);
	for (size_t i = 0; i < o->n; i++) {
		const struct gate_line *l = &o->line[i];

		fputs("  <testcase classname=\"", to);
		xml(to, l->region);
		fputs("\" name=\"", to);
		xml(to, l->quantity);
		fputs("\"", to);
		if (l->verdict == GATE_WORSE)
			fprintf(to,
				">\n    <failure message=\"%.10g became %.10g, %+.3f%%, more "
				"than "
				"%+.3f%%\"/>\n  </testcase>\n",
				l->is.old, l->is.now, 100 * l->is.change,
				(l->rule->less ? -100 : 100) * l->rule->bound);
		else
			fputs("/>\n", to);
	}
	fputs("</testsuite>\n", to);
}

static void cell(FILE *to, const char *s)
{
	char shown[512];

	tach_printable(s, shown, sizeof shown);
	fputs("| ", to);
	for (const char *c = shown; *c; c++)
		fprintf(to, strchr("|\\`*_<>[]", *c) ? "\\%c" : "%c", *c);
	putc(' ', to);
}

static void markdown(FILE *to, const struct gate_outcome *o)
{
	fprintf(to,
		"### tach gate: %s\n\n| region | quantity | baseline | now | change | "
		"detects | |\n|---|---|---:|---:|---:|---:|---|\n",
		o->worse ? "worse" : "passed");
	for (size_t i = 0; i < o->n; i++) {
		const struct gate_line *l = &o->line[i];
		char change[SHORT], detects[SHORT];

		percent(change, l->is.change);
		percent(detects, (l->rule->less ? -1 : 1) * l->detectable);
		cell(to, l->region);
		cell(to, shown_quantity(l));
		fprintf(to, "| %.10g | %.10g | %s | %s | %s%s%s |\n", l->is.old, l->is.now,
			change, detects, l->verdict == GATE_WORSE ? "**" : "",
			gate_verdicts[l->verdict], l->verdict == GATE_WORSE ? "**" : "");
	}
	putc('\n', to);
	sentence(to, o);
}

void gate_report(FILE *to, enum gate_format format, const struct gate_outcome *o)
{
	static void (*const write[])(FILE *, const struct gate_outcome *) = {text, json, junit,
									     markdown};

	write[format](to, o);
}
