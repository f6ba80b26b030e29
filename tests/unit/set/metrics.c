/* SPDX-License-Identifier: MIT */
/* Metrics of sets: names and formulas, positions of errors, limits, and texts. */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/set/set.h"
#include "tests/unit/set/made.h"

static struct tach_set *make(const char *events, const char *metrics, int want)
{
	return made("skl", events, metrics, want);
}

/* Checks "NAME is TEXT, ..." and the number of members. */
static void has(const char *events, const char *metrics, int members, const char *want)
{
	struct tach_set *set = make(events, metrics, 0);
	char text[1000] = "";

	if (!set)
		return;
	for (int i = 0; i < set->nmetrics; i++)
		sprintf(text + strlen(text), "%s%s is %s", i ? ", " : "", set->metric[i].name,
			set->metric[i].text);
	CHECK(strcmp(text, want) == 0, "%s: %s, want %s", metrics, text, want);
	CHECK(set->count == members, "%s: %d members", metrics, set->count);
	tach_set_free(set);
}

static void fails(const char *metrics, int want, int column, const char *text)
{
	struct tach_set *set = make("cycles,x=branches", metrics, want);

	CHECK(!set && err.column == column && strstr(err.text, text), "%s: %d: %s", metrics,
	      err.column, err.text);
}

static void names_and_formulas(void)
{
	has("cycles", "a=cycles;;\n \n b = 2 * cycles ;", 1, "a is N0, b is 2 * N0");
	has("cycles", "a = cycles\t;\tA = cycles", 1, "a is N0, A is N0");
	/* A name without a formula is a preset, or an event, which needs no metric. */
	has(NULL, "ipc; ipc ;branches", 3, "ipc is N0 / N1");
	has("cycles", "cycles; CYCLES; INST_RETIRED:ANY_P", 2, "");
	has("x=branches", "x; y = X + branches", 2, "y is N0 + N1");
	/* A name may begin with a digit, but needs a letter. */
	has(NULL, "4K_Aliasing", 2, "4K_Aliasing is N0 / N1");
}

/* Perf's letters are case-sensitive, all other names are not. */
static void letters(void)
{
	has(NULL, "x = cycles:uP; y = cycles:up; z = Cycles:uP", 2,
	    "x is N0, y is N1, z is N0");
	has(NULL, "x = cycles:uP / cycles:up", 2, "x is N0 / N1");
	has("INST_RETIRED:ANY_P:u", "x = inst_retired:any_p:u + INST_RETIRED:ANY_P:U", 1,
	    "x is N0 + N0");
}

/* Each name belongs to one label, metric or event only. */
static void names_given_twice(void)
{
	static const struct {
		const char *events, *metrics;
		int column;
	} cases[] = {
		{"cycles=instructions,cycles", NULL, 21},
		{"cycles,cycles", NULL, 8},
		{"cycles:u,CYCLES:u", NULL, 10},
		{"ipc,ipc", NULL, 5},
		{"x=ipc,x=cycles", NULL, 7},
		{"x=cycles,x=ipc", NULL, 10},
		{"ipc,INSTRUCTION_RETIRED=cycles", NULL, 5},
		{"cycles", "cycles = instructions / 2", 1},
		{NULL, "a = 1; cycles = cycles / 2", 8},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK(!make(cases[i].events, cases[i].metrics, TACH_ERR_INVAL) &&
			      err.column == cases[i].column && strstr(err.text, "names"),
		      "%zu: %d: %s", i, err.column, err.text);
	/* A derived event has already added this event. */
	has("ipc,INSTRUCTION_RETIRED", NULL, 2, "ipc is N0 / N1");
}

/* Metrics are separated by a semicolon, or, after a plain name, by a comma. */
static void metrics_of_metrics(void)
{
	has("e=ipc", "y = e * 2", 2, "e is N0 / N1, y is N0 / N1 * 2");
	has("x=cycles", "a = x / branches; b = 1 - a; c = b + a", 2,
	    "a is N0 / N1, b is 1 - N0 / N1, c is 1 - N0 / N1 + N0 / N1");
}

/* A semicolon separates metrics; after a plain name, so does a comma. */
static void separators(void)
{
	has(NULL, "ipc, x = cycles / 2; y = max(x, ipc)", 3,
	    "ipc is N0 / N1, x is N2 / 2, y is max(N2 / 2, N0 / N1)");
	has(NULL, " ipc ,\tx = cycles / 2", 3, "ipc is N0 / N1, x is N2 / 2");
	has("cycles; instructions", "ipc", 4, "ipc is N2 / N3");
	fails("ipc,nosuch", TACH_ERR_NOTFOUND, 5, "nosuch");
	fails("x = cycles, ipc", TACH_ERR_SYNTAX, 11, "");
}

/* A sum has the maximum number of terms, and takes time proportional to their number. */
static void long_sums(void)
{
	enum { TERMS = 2000 };
	char *metric = calloc(TERMS, 8);
	struct tach_set *set;
	uint64_t counts[] = {3};

	strcpy(metric, "d = cycles");
	for (int i = 1; i < TERMS; i++)
		strcat(metric, i % 2 ? "-cycles" : "+cycles");
	set = make(NULL, metric, 0);
	CHECK(set && set->count == 1 &&
	      tach_formula_eval(set->metric[0].formula, counts, 0, NULL) == 0);
	tach_set_free(set);
	strcpy(metric, "d = 0");
	for (int i = 0; i < 40; i++)
		strcat(metric, " + ipc");
	set = make(NULL, metric, 0);
	CHECK(set && set->count == 2);
	tach_set_free(set);
	free(metric);
}

static void errors(void)
{
	fails("12", TACH_ERR_SYNTAX, 1, "expected 'name = formula'");
	fails(" a + b", TACH_ERR_SYNTAX, 2, "expected 'name = formula'");
	fails("a = 1;  = 2", TACH_ERR_SYNTAX, 9, "a name is missing before '='");
	fails("a = 1;\n a=2", TACH_ERR_INVAL, 9, "'a' names two metrics");
	fails("bb = 1; b = nosuch", TACH_ERR_NOTFOUND, 13, "nosuch");
	fails("b = cycles + nosuch / 2", TACH_ERR_NOTFOUND, 14, "nosuch");
	fails("nosuch", TACH_ERR_NOTFOUND, 1, "nosuch");
	fails("a = 1; ipc:nosuch", TACH_ERR_ATTR, 8, "nosuch");
	fails("a = branches:cpu=1 + 1", TACH_ERR_NOTSUPP, 13, "cpu= has no meaning");
	fails("a = N0", TACH_ERR_SYNTAX, 5, "N0");
	fails("a = 1; time = cycles", TACH_ERR_INVAL, 8, "'time' is the name of every region");
	fails("d = cycles:u-instructions + nosuch", TACH_ERR_NOTFOUND, 29, "'nosuch'");
	fails("d = cycles:nosuch", TACH_ERR_ATTR, 11, "nosuch");
	fails("a = user_time", TACH_ERR_NOTSUPP, 5, "user_time: the kernel measures it");
}

/* The time is neither an event nor a metric of the set. */
static void the_time(void)
{
	static const char *const lists[] = {"cycles,time=branches", "cycles,time=ipc"};

	for (int i = 0; i < 2; i++) {
		CHECK(!make(lists[i], NULL, TACH_ERR_INVAL) && err.column == 8 &&
			      strstr(err.text, "'time' is the name of every region"),
		      "%s: %d: %s", lists[i], err.column, err.text);
	}
	has("tim=cycles,times=branches,timE=cycles:k", "tame = 1", 3, "tame is 1");
}

static void many(const char *format, int n, int want, const char *text)
{
	char *metrics = calloc((size_t)n + 1, 40), *to = metrics;
	struct tach_set *set;

	for (int i = 0; i < n; i++)
		to += sprintf(to, format, i);
	set = make("cycles", metrics, want);
	CHECK(want ? !set && strstr(err.text, text) : set && set->nmetrics == n, "%d: %s", n,
	      err.text);
	tach_set_free(set);
	free(metrics);
}

/* Makes a formula with this number of derived events. */
static void wide(int n, int want)
{
	char metric[800] = "a = 0", records[2000] = "", *to = records;
	struct tach_set *set;

	for (int i = 0; i < n; i++) {
		to += sprintf(to, "EVENT,d%02d,DERIVED_ADD,cycles,branches\n", i);
		sprintf(metric + strlen(metric), " + d%02d", i);
	}
	tach_derived_load_text(tach_derived_default(), "wide", records, strlen(records), NULL);
	set = make(NULL, metric, want);
	if (want)
		CHECK(!set && err.column > 5 &&
			      strcmp(err.text, "a metric names 16 derived events at most") == 0,
		      "%d: %s", err.column, err.text);
	else
		CHECK(set && set->count == 2 && set->nmetrics == 1);
	tach_set_free(set);
}

static void limits(void)
{
	many("m%d = cycles;", TACH__METRICS_MAX, 0, "");
	many("m%d = cycles;", TACH__METRICS_MAX + 1, TACH_ERR_TOOMANY, "32 metrics at most");
	CHECK(err.column == 10 * 12 + 22 * 13 + 1, "%d", err.column);
	wide(16, 0);
	wide(17, TACH_ERR_TOOMANY);
}

/* ---- texts ---- */

static void renumbered(void)
{
	static const int map[] = {0, 8, 0, 101};
	static const struct {
		const char *text, *want; /* NULL: no such operand exists */
	} cases[] = {
		{"", ""},
		{"N0", "N7"},
		{"N0 + N2 / N0", "N7 + N100 / N7"},
		{"max(N2, 3) - NaN + N", "max(N100, 3) - NaN + N"},
		{"N3", NULL},
		{"N0 + N10", NULL},
	};
	struct tach__arena arena = {0};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *got = tach__metric_renumber(&arena, cases[i].text, map, 4);

		CHECK(got ? cases[i].want && strcmp(got, cases[i].want) == 0 : !cases[i].want,
		      "%s: %s", cases[i].text, got);
	}
	tach__arena_free(&arena);
}

static void places(void)
{
	struct tach__place p = tach__metric_place(tach_pmu_find("skl"), "Frontend_Bound");

	CHECK(p.level == 1 && p.scale == 100 && strstr(p.unit, "percent") && *p.description &&
	      !*p.parent);
	p = tach__metric_place(tach_pmu_find("skl"), "nosuch");
	CHECK(p.level == 0 && p.scale == 0 && !p.unit && !p.parent && !p.threshold &&
	      !p.description);
}

static void blanks(void)
{
	struct tach__span s = tach__trimmed((struct tach__span){"x \t a b\n y", 8, 3});

	CHECK(s.length == 7 && s.column == 3);
	s = tach__trimmed((struct tach__span){&"x \t a b\n y"[1], 7, 4});
	CHECK(s.length == 3 && strncmp(s.at, "a b", 3) == 0 && s.column == 7, "%d", s.column);
	s = tach__trimmed((struct tach__span){"  ", 2, 1});
	CHECK(s.length == 0 && s.column == 3);
}

/* Members that only metrics use; all other members were named by the caller. */
static void operands(void)
{
	static const struct {
		const char *events, *metrics;
		uint32_t want;
	} cases[] = {
		{"cycles", "ipc", 6},
		{"cycles", "x = branches / cycles", 2},
		{"ipc,cycles", NULL, 3},
		{"cycles", "ipc; instructions", 6},
		{"cycles", "x = branches / cycles; branches", 0},
		{NULL, "x = branches / cycles; branches-misses = 2; cycles", 1},
		/* The set consists of operands only. */
		{NULL, "ipc", 0},
		{"ipc", NULL, 0},
		{"cycles,instructions", NULL, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_set *set = make(cases[i].events, cases[i].metrics, 0);

		CHECK(set && set->operands == cases[i].want, "case %zu: %#x", i,
		      set ? set->operands : 0);
		tach_set_free(set);
	}
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CASE(names_and_formulas);
	CASE(letters);
	CASE(names_given_twice);
	CASE(metrics_of_metrics);
	CASE(separators);
	CASE(long_sums);
	CASE(errors);
	CASE(the_time);
	CASE(limits);
	CASE(renumbered);
	CASE(places);
	CASE(blanks);
	CASE(operands);
	return check_done();
}
