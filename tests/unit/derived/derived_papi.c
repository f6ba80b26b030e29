/* SPDX-License-Identifier: MIT */
/*
 * PAPI's own preset file, as Debian ships it: every record is accepted, and every formula has
 * the value that a simple evaluator of postfix text computes.
 */
#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include "tests/check.h"

static int errors, warnings;

static void report(void *context, const struct tach_diagnostic *d)
{
	(void)context;
	errors += d->level == TACH_DIAGNOSTIC_ERROR;
	warnings += d->level == TACH_DIAGNOSTIC_WARNING;
	if (d->level != TACH_DIAGNOSTIC_NOTE)
		printf("# %d:%d: %s\n", d->line, d->column, d->text);
}

static char *slurp(const char *path, size_t *length)
{
	FILE *in = fopen(path, "r");
	char *text = malloc(1 << 20);

	*length = in && text ? fread(text, 1, (1 << 20) - 1, in) : 0;
	if (in)
		fclose(in);
	if (text)
		text[*length] = 0;
	return text;
}

static struct tach_derived *registry(char **text)
{
	struct tach_derived_options opt = {.size = sizeof opt, .report = report};
	struct tach_derived *d = NULL;
	size_t length;
	glob_t found;

	*text = NULL;
	if (glob("/usr/share/papi/*/papi_events.csv", 0, NULL, &found) == 0) {
		*text = slurp(found.gl_pathv[0], &length);
		CHECK(tach_derived_create(&opt, &d, NULL) == 0);
		globfree(&found);
	}
	return d;
}

/* Counts records by the keyword, anywhere in a line except in a comment. */
static int records(const char *text)
{
	int n = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		size_t length;

		line += *line == '\n';
		length = strcspn(line, "\n");
		if (line[strspn(line, " \t")] == '#')
			continue;
		for (const char *at = line; (at = strstr(at, "PRESET,")) && at < line + length;
		     at++)
			n++;
	}
	return n;
}

static void every_record_is_taken(void)
{
	char *text;
	struct tach_derived *d = registry(&text);
	int taken;

	if (!d)
		SKIP("Debian's libpapi7.0 is not installed");
	errors = warnings = 0;
	taken = tach_derived_load_text(d, "papi_events.csv", text, strlen(text), NULL);
	CHECK(taken == records(text) && taken > 1500, "%d of %d", taken, records(text));
	CHECK(errors == 0, "%d errors", errors);
	free(text);
	tach_derived_free(d);
}

/* A simple evaluator: token by token, with doubles. */
static double plain(const char *formula, const uint64_t *n)
{
	char copy[1024], *at = copy, *token;
	double stack[64];
	int top = 0;

	snprintf(copy, sizeof copy, "%s", formula);
	while ((token = strsep(&at, "|"))) {
		token += strspn(token, " \t");
		if (!*token)
			continue;
		if (*token == 'N') {
			stack[top++] = (double)n[atoi(token + 1)];
		} else if (strchr("+-*/", *token)) {
			double b = stack[--top], a = stack[--top];

			stack[top++] = *token == '+'   ? a + b
				       : *token == '-' ? a - b
				       : *token == '*' ? a * b
						       : a / b;
		} else {
			stack[top++] = atof(token);
		}
	}
	return stack[0];
}

static int compare(const struct tach_derived_info *info)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_formula *f = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	uint64_t n[64], seed = 88172645463325252u;

	opt.kind = TACH_FORMULA_POSTFIX;
	opt.noperands = info->nevents;
	if (tach_formula_compile(info->formula, &opt, &f, &err)) {
		CHECK(0, "%s: %s", info->formula, err.text);
		return 0;
	}
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 64; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			n[i] = seed >> 24; /* sums of integers below 2^53 are exact */
		}
		CHECK(tach_formula_eval(f, n, 0, NULL) == plain(info->formula, n), "%s",
		      info->formula);
	}
	tach_formula_free(f);
	return 1;
}

static void every_formula(void)
{
	char *text;
	struct tach_derived *d = registry(&text);
	int compared = 0, expanded = 0;

	if (!d)
		SKIP("Debian's libpapi7.0 is not installed");
	tach_derived_load_text(d, "papi_events.csv", text, strlen(text), NULL);
	for (int pmu = 0; pmu < tach_pmu_count(); pmu++)
		for (int i = 0, n = tach_derived_count(d, pmu); i < n; i++) {
			struct tach_derived_info info = {.size = sizeof info};
			struct tach_expansion *x;

			tach_derived_at(d, pmu, i, &info);
			if (info.type == TACH_DERIVED_TYPE_POSTFIX)
				compared += compare(&info);
			if (tach_derived_expand(d, pmu, info.name, &x, NULL))
				continue;
			expanded++;
			tach_expansion_free(x);
		}
	printf("# %d formulas, %d definitions that our PMUs can count\n", compared, expanded);
	CHECK(compared > 30 && expanded > 1800, "%d, %d", compared, expanded);
	free(text);
	tach_derived_free(d);
}

/* On a PMU, PAPI gives these names another meaning, so we omit them there. */
static const struct {
	const char *pmus, *name, *why;
} left_out[] = {
	{" p6 pii ppro pm ", "PAPI_BR_CN", "its event counts branches of all kinds"},
};

static const char *reason(const char *pmu, const char *name)
{
	char word[64];

	snprintf(word, sizeof word, " %s ", pmu);
	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
		if (!strcmp(left_out[i].name, name) && strstr(left_out[i].pmus, word))
			return left_out[i].why;
	return NULL;
}

/* Our presets can count everything that PAPI can count on a PMU of our tables. */
static void ours_have_what_papi_has(void)
{
	struct tach_derived_options opt = {.size = sizeof opt, .flags = TACH_DERIVED_PRESETS};
	struct tach_derived *theirs, *ours = NULL;
	int both = 0, without = 0;
	char *text;

	theirs = registry(&text);
	if (!theirs)
		SKIP("Debian's libpapi7.0 is not installed");
	tach_derived_load_text(theirs, "papi_events.csv", text, strlen(text), NULL);
	CHECK(tach_derived_create(&opt, &ours, NULL) == 0, "our presets");
	for (int pmu = 0; pmu < tach_pmu_count(); pmu++)
		for (int i = 0, n = tach_derived_count(theirs, pmu); i < n; i++) {
			struct tach_derived_info info = {.size = sizeof info}, own = info;
			struct tach_pmu_info row = {.size = sizeof row};
			struct tach_expansion *x;
			bool have, left;

			tach_pmu_describe(pmu, &row);
			tach_derived_at(theirs, pmu, i, &info);
			if (tach_derived_expand(theirs, pmu, info.name, &x, NULL))
				continue; /* the PMU lacks these events */
			tach_expansion_free(x);
			have = !tach_derived_find(ours, pmu, info.name, &own);
			left = reason(row.name, info.name) != NULL;
			CHECK(have != left, "%s %s: %s", row.name, info.name,
			      have ? "is listed as left out" : "not among our presets");
			both += have;
			without += left;
		}
	printf("# both have %d, %d are left out\n", both, without);
	CHECK(both > 1800, "%d", both);
	free(text);
	tach_derived_free(theirs);
	tach_derived_free(ours);
}

int main(void)
{
	CASE(every_record_is_taken);
	CASE(every_formula);
	CASE(ours_have_what_papi_has);
	return check_done();
}
