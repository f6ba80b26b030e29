/* SPDX-License-Identifier: MIT */
/* Options shared by `tach gate` and `tach diff`. */
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/tach/commands.h"
#include "tools/tach/compare.h"

const char compare_help[] =
	"      --fail-if RULE     allowed change: 'instructions > +0.5%', 'time > +5%',\n"
	"                         'ipc < -2%', 'L1-* > +2%'; may be repeated\n"
	"      --region NAMES     judge only these: \"parse,(all threads)\"\n"
	"  -o, --output FILE      write to FILE, not to standard output; repeatable\n"
	"      --format NAME      text, json, csv, junit, markdown or html (default:\n"
	"                         FILE's suffix)\n"
	"      --alpha PERCENT    how many unchanged comparisons may be called worse (1)\n"
	"      --allow LIST       pass in spite of cannot-tell, gone (a missing region)\n"
	"                         or nothing (nothing was measured)\n";

static int refuse_option(const struct compare_options *o, const char *what, const char *word)
{
	return refuse_usage(strchr(o->who, ' ') + 1, "%s: %s", what, word);
}

/* QUANTITY > +X%, or < -X%. */
static int take_rule(struct compare_options *o, const char *text)
{
	static const char form[] = "--fail-if takes 'QUANTITY > +X%' or 'QUANTITY < -X%', not";
	struct compare_rule *r = &o->rule[o->nrules];
	size_t n = strcspn(text, "<>"), length = n;
	const char *at = text + n;
	char *end;

	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	if (!*at || !length || length >= sizeof r->quantity)
		return refuse_option(o, form, text);
	if (o->nrules == COMPARE_RULES_MAX)
		return refuse_option(o, "too many rules: at most 32", text);
	memcpy(r->quantity, text, length);
	r->quantity[length] = '\0';
	if (strcmp(r->quantity, "elapsed_ns") == 0) /* its name in formulas */
		strcpy(r->quantity, "time");
	r->less = *at++ == '<';
	r->bound = strtod(at, &end) / 100;
	if (end == at || strcmp(end + strspn(end, " "), "%") != 0 || !isfinite(r->bound))
		return refuse_option(o, form, text);
	if (r->less)
		r->bound = -r->bound;
	if (r->bound < 0 || r->bound > 1e6 || (r->less && r->bound >= 1))
		return refuse_option(o, form, text);
	for (size_t i = 0; i < o->nrules; i++)
		if (strcmp(o->rule[i].quantity, r->quantity) == 0)
			return refuse_option(o, "two rules for one quantity", r->quantity);
	o->nrules++;
	return 0;
}

static int take_format(struct compare_options *o, const char *name)
{
	static const char *const names[COMPARE_FORMATS] = {"text",  "json",	"csv",
							   "junit", "markdown", "html"};

	for (int i = 0; i < COMPARE_FORMATS; i++)
		if (strcmp(name, names[i]) == 0) {
			o->format = (enum compare_format)i;
			o->has_format = 1;
			return 0;
		}
	return refuse_option(o, "--format takes text, json, csv, junit, markdown or html, not",
			     name);
}

enum compare_format compare_suffix(const struct compare_options *o, const char *file)
{
	static const char *const suffixes[COMPARE_FORMATS] = {".txt", ".json", ".csv",
							      ".xml", ".md",   ".html"};
	const char *point = strrchr(file, '.');

	for (int i = 0; point && !o->has_format && i < COMPARE_FORMATS; i++)
		if (strcmp(point, suffixes[i]) == 0)
			return (enum compare_format)i;
	return o->format;
}

static int take_output(struct compare_options *o, const char *file)
{
	if (o->noutputs == COMPARE_FORMATS)
		return refuse_option(o, "-o takes six files; this is the seventh", file);
	o->output[o->noutputs++] = file;
	return 0;
}

static int take_alpha(struct compare_options *o, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || *end || !(percent >= 1e-6 && percent <= 50))
		return refuse_option(o, "--alpha takes a percentage up to 50, not", text);
	o->alpha = percent / 100;
	return 0;
}

static int take_allow(struct compare_options *o, const char *list)
{
	static const char *const names[] = {"cannot-tell", "gone", "nothing"};

	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t n = strcspn(at, ","), i = 0;

		while (i < 3 && !(strlen(names[i]) == n && strncmp(at, names[i], n) == 0))
			i++;
		if (i == 3)
			return refuse_option(
				o, "--allow takes cannot-tell, gone and nothing, not", list);
		o->allow |= 1u << i;
	}
	return 0;
}

int compare_option(struct compare_options *o, int option, const char *argument)
{
	switch (option) {
	case COMPARE_FAIL_IF:
		return take_rule(o, argument);
	case COMPARE_REGION:
		o->regions = argument;
		return 0;
	case COMPARE_ALPHA:
		return take_alpha(o, argument);
	case COMPARE_ALLOW:
		return take_allow(o, argument);
	case COMPARE_FORMAT:
		return take_format(o, argument);
	case 'o':
		return take_output(o, argument);
	default:
		return -1;
	}
}

const struct compare_rule *compare_rule(const struct compare_options *o, const char *quantity)
{
	for (size_t i = 0; i < o->nrules; i++)
		if (strcmp(o->rule[i].quantity, quantity) == 0)
			return &o->rule[i];
	for (size_t i = 0; i < o->nrules; i++)
		if (fnmatch(o->rule[i].quantity, quantity, 0) == 0)
			return &o->rule[i];
	return NULL;
}
