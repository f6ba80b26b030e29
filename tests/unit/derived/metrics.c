/* SPDX-License-Identifier: MIT */
/*
 * The vendors' metrics among the presets, each compiled and evaluated with four sets of counts.
 * tests/vectors/metrics.tsv has the values of the vendor's own formula, in exact fractions (see
 * README.md there). Counts and parameters are computed from names and codes, so both sides
 * compute the same values.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include "core/derived/derived.h"
#include "tests/check.h"
#include "tests/vectors.h"

enum { ROUNDS = 4, MISSING = 5 };

struct row {
	char line[1024];
	char *pmu, *name, *needs, *threshold;
	double tolerance, value[ROUNDS];
};

static struct {
	const char *what;
	int n;
} refused[MISSING] = {{"has_event@", 0},
		      {"source_count@", 0},
		      {"has_pmem", 0},
		      {"chas_per_socket", 0},
		      {"not_available", 0}};

static uint64_t hash(const char *text, size_t length)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 1099511628211u;
	return h ^ h >> 29;
}

static int begins(const char *name, const char *word)
{
	return strncmp(name, word, strlen(word)) == 0;
}

/*
 * A machine parameter that the thread's own PMU does not provide. The context decides if it
 * gets a value anyway.
 */
static int outside(const char *name, size_t length, double *value)
{
	if (begins(name, "has_event@") || begins(name, "source_count@"))
		*value = 1 + (double)(hash(name, length) % 7);
	else
		return 0;
	return 1;
}

static int parameter(void *context, const char *name, size_t length, double *value)
{
	static const char *const machine[] = {
		"threads_per_core", "cores_per_socket", "cores", "cpus", "sockets", "dies",
		"slots_per_cycle"};
	static const char *const untold[] = {"chas_per_socket", "has_pmem", "not_available"};
	const int *all = context;

	if (*all && outside(name, length, value))
		return 0;
	for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
		if (length == strlen(machine[i]) && !memcmp(name, machine[i], length)) {
			*value = 1 + (double)(hash(name, length) % 7);
			return 0;
		}
	for (size_t i = 0; i < sizeof untold / sizeof *untold && *all; i++)
		if (length == strlen(untold[i]) && !memcmp(name, untold[i], length)) {
			*value = 1 + (double)(hash(name, length) % 7);
			return 0;
		}
	if (length == 6 && !memcmp(name, "smt_on", 6)) {
		*value = (double)(hash(name, length) % 2);
		return 0;
	}
	if (length == 9 && !memcmp(name, "core_wide", 9)) {
		*value = (double)(hash(name, length) % 2);
		return 0;
	}
	return TACH_ERR_NOTFOUND;
}

static struct tach_derived *make(int *all)
{
	struct tach_derived_options opt = {.size = sizeof opt,
					   .flags = TACH_DERIVED_PRESETS,
					   .context = all,
					   .max_hz = 3e9,
					   .tsc_hz = 2e9,
					   .parameter = parameter};
	struct tach_derived *d = NULL;

	CHECK(tach_derived_create(&opt, &d, NULL) == 0, "a registry");
	return d;
}

static int split(struct row *r)
{
	char *cell[5 + ROUNDS], *rest = r->line;

	r->line[strcspn(r->line, "\n")] = 0;
	for (int i = 0; i < 5 + ROUNDS; i++)
		if (!(cell[i] = strsep(&rest, "\t")))
			return 0;
	r->pmu = cell[0];
	r->name = cell[1];
	r->needs = cell[2];
	r->tolerance = strtod(cell[3], NULL);
	r->threshold = cell[4];
	for (int i = 0; i < ROUNDS; i++)
		r->value[i] = strtod(cell[5 + i], NULL);
	return 1;
}

/*
 * The value that the vectors use for an event of boxes: a number computed from uncore@ and the
 * vendor's name, which is the name of the definition. The vectors have energy in units of the
 * register.
 */
static uint64_t box_count(struct tach_derived *d, int pmu, const char *event)
{
	struct tach_derived_info info = {.size = sizeof info};
	char name[200] = "";

	for (int i = 0, n = tach_derived_count(d, pmu); i < n && !*name; i++)
		if (tach_derived_at(d, pmu, i, &info) == 0 &&
		    info.type == TACH_DERIVED_TYPE_NONE && !strcmp(info.events, event))
			snprintf(name, sizeof name, "uncore@%s", info.name);
	CHECK(*name, "%s has no name", event);
	for (char *at = name; *at; at++)
		*at = *at == '/' ? '@' : *at;
	return 1000 + hash(name, strlen(name)) % 1000000;
}

/* Returns the code in the vendors' lists, if the tables have another code (attribute vc). */
static unsigned long long listed(int pmu, uint64_t config)
{
	struct tach_pmu_info info = {.size = sizeof info};

	tach_pmu_describe(pmu, &info);
	if (!strncmp(info.name, "amd64_fam1ah_", 13) && config == 0x3aa)
		return 0x7aa;
	if ((!strcmp(info.name, "skx") || !strcmp(info.name, "clx")) && config == 0x60c7)
		return 0x18c7;
	return config;
}

static void counts(struct tach_derived *d, int pmu, const struct tach_expansion *x, int round,
		   uint64_t *n)
{
	const struct tach_event *e = tach_expansion_encoded(x);
	char text[64];

	for (int i = 0; i < tach_expansion_count(x); i++) {
		/* This includes the kernel's PMU msr, which this machine may have. */
		if (tach__expansion_is_box(x, i) || strchr(tach_expansion_event(x, i), '/')) {
			n[i] = box_count(d, pmu, tach_expansion_event(x, i));
			continue;
		}
		snprintf(text, sizeof text, "%llx:%llx:%d", listed(pmu, e[i].config),
			 (unsigned long long)e[i].config1, round);
		n[i] = 1000 + hash(text, strlen(text)) % 1000000;
	}
}

static double evaluate(struct tach_derived *d, int pmu, const struct tach_expansion *x,
		       int round)
{
	uint64_t n[TACH_FORMULA_OPERANDS_MAX];

	counts(d, pmu, x, round, n);
	return tach_formula_eval(tach_expansion_formula(x), n, 1e6 * (round + 1), NULL);
}

/*
 * Metrics that are not presets, because that machine cannot count them: the sum of a core's
 * threads, events that its list lacks, energy if the kernel has no PMU for it.
 */
static int is_left_out(const struct row *r)
{
	return strstr(r->needs, "unresolved") ||
	       (!strcmp(r->pmu, "rkl") && !strcmp(r->name, "Info_System_Power"));
}

/* The kernel counts joules, the vendor counts in units of a register. */
static int is_energy(const struct row *r)
{
	return !strcmp(r->name, "Info_System_Power") ||
	       !strcmp(r->name, "tma_info_system_power");
}

static int agrees(double got, double want, double tolerance)
{
	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got);
	return fabs(got - want) <= tolerance * fabs(want) || (want == 0 && fabs(got) < 1e-9);
}

static void threshold(struct tach_derived *d, int pmu, const struct row *r)
{
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_expansion *x = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach_derived_find(d, pmu, r->name, &info) == 0, "%s %s", r->pmu, r->name);
	CHECK((*info.threshold == 0) == (strcmp(r->threshold, "-") == 0), "%s %s: '%s' '%s'",
	      r->pmu, r->name, info.threshold, r->threshold);
	if (!*info.threshold || strlen(r->threshold) != ROUNDS)
		return;
	CHECK(tach_derived_expand_formula(d, pmu, info.threshold, &x, &err) == 0, "%s %s: %s",
	      r->pmu, r->name, err.text);
	for (int i = 0; i < ROUNDS && x; i++)
		CHECK((evaluate(d, pmu, x, i) != 0) == (r->threshold[i] == '1'),
		      "%s %s: threshold of set %d: %g, want %c", r->pmu, r->name, i,
		      evaluate(d, pmu, x, i), r->threshold[i]);
	tach_expansion_free(x);
}

static void every_formula(void)
{
	static struct row r;
	int all = 1, rows = 0, values = 0;
	struct tach_derived *d = make(&all);
	FILE *from = vectors_open("metrics.tsv");

	CHECK(from != NULL, "metrics.tsv");
	while (d && from && fgets(r.line, sizeof r.line, from) && split(&r)) {
		struct tach_expansion *x = NULL;
		struct tach_error err = TACH_ERROR_INIT;
		int pmu = tach_pmu_find(r.pmu);

		if (is_left_out(&r))
			continue;
		rows++;
		CHECK(tach_derived_expand(d, pmu, r.name, &x, &err) == 0, "%s %s: %s", r.pmu,
		      r.name, err.text);
		for (int i = 0; i < ROUNDS && x; i++, values++) {
			double got = evaluate(d, pmu, x, i);

			CHECK(is_energy(&r) || agrees(got, r.value[i], r.tolerance),
			      "%s %s, set %d: %.17g, want %.17g", r.pmu, r.name, i, got,
			      r.value[i]);
		}
		tach_expansion_free(x);
		threshold(d, pmu, &r);
	}
	printf("# %d formulas, %d values\n", rows, values);
	CHECK(rows > 6990, "%d formulas", rows);
	if (from)
		fclose(from);
	tach_derived_free(d);
}

/* All refused metrics need a value that this machine does not provide; the list is complete. */
static void refused_metrics_lack_a_value_of_the_machine(void)
{
	static struct row r;
	int all = 0, taken = 0;
	struct tach_derived *d = make(&all);
	FILE *from = vectors_open("metrics.tsv");

	while (d && from && fgets(r.line, sizeof r.line, from) && split(&r)) {
		struct tach_expansion *x = NULL;
		struct tach_error err = TACH_ERROR_INIT;
		int rc = tach_derived_expand(d, tach_pmu_find(r.pmu), r.name, &x, &err);
		int known = 0;

		CHECK((rc == 0) == (!is_left_out(&r) && !strstr(r.needs, "chas_per_socket")),
		      "%s %s needs %s: %d, %s", r.pmu, r.name, r.needs, rc, err.text);
		if (is_left_out(&r))
			continue;
		taken += rc == 0;
		for (int i = 0; i < MISSING && rc; i++)
			if (!known && strstr(err.text, refused[i].what)) {
				refused[i].n++;
				known = 1;
			}
		CHECK(!rc || known, "%s %s: %s", r.pmu, r.name, err.text);
		tach_expansion_free(x);
	}
	printf("# %d can be counted\n", taken);
	for (int i = 0; i < MISSING; i++)
		printf("# %d refused for %s\n", refused[i].n, refused[i].what);
	CHECK(taken > 6000, "%d", taken);
	if (from)
		fclose(from);
	tach_derived_free(d);
}

static void every_listed_metric_can_be_computed(void)
{
	int all = 1, names = 0;
	struct tach_derived *d = make(&all);

	for (int pmu = 0; d && pmu < tach_pmu_count() - 2; pmu++)
		for (int i = 0, n = tach_derived_count(d, pmu); i < n; i++) {
			struct tach_derived_info info = {.size = sizeof info};
			struct tach_error err = TACH_ERROR_INIT;
			struct tach_expansion *x = NULL;
			uint64_t ones[TACH_FORMULA_OPERANDS_MAX];

			tach_derived_at(d, pmu, i, &info);
			CHECK(!strstr(info.formula, "uncore@") &&
				      !strstr(info.formula, "unresolved@"),
			      "%s: %s", info.name, info.formula);
			CHECK(tach_derived_expand(d, pmu, info.name, &x, &err) == 0, "%s",
			      err.text);
			for (int k = 0; k < TACH_FORMULA_OPERANDS_MAX; k++)
				ones[k] = 1000003u * (unsigned)(k + 1);
			if (x)
				CHECK(!isinf(tach_formula_eval(tach_expansion_formula(x), ones,
							       1e9, NULL)),
				      "%s", info.name);
			tach_expansion_free(x);
			names++;
		}
	printf("# %d listed\n", names);
	CHECK(names > 9000, "%d", names);
	tach_derived_free(d);
}

/* Parents exist, one level up; a metric of a tree is marked as such. */
static void metric_parents_are_one_level_up(void)
{
	int all = 1, nodes = 0;
	struct tach_derived *d = make(&all);

	for (int pmu = 0; d && pmu < tach_pmu_count() - 2; pmu++)
		for (int i = 0, n = tach_derived_count(d, pmu); i < n; i++) {
			struct tach_derived_info info = {.size = sizeof info}, parent = info;

			tach_derived_at(d, pmu, i, &info);
			CHECK(info.short_description[0], "%s: no description", info.name);
			if (!*info.parent)
				continue;
			nodes++;
			CHECK(tach_derived_find(d, pmu, info.parent, &parent) == 0, "%s: no %s",
			      info.name, info.parent);
		}
	printf("# %d nodes below others\n", nodes);
	CHECK(nodes > 2000, "%d", nodes);
	tach_derived_free(d);
}

int main(void)
{
	CASE(every_formula);
	CASE(refused_metrics_lack_a_value_of_the_machine);
	CASE(every_listed_metric_can_be_computed);
	CASE(metric_parents_are_one_level_up);
	return check_done();
}
