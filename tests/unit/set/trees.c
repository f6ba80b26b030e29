/* SPDX-License-Identifier: MIT */
/*
 * Trees of top-down metrics from definitions of the test: the metric that is the root and the
 * metrics below it, the depth that a set chooses, and the failures after which it tries a
 * smaller depth.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/set/set.h"
#include "tests/child.h"
#include "tests/unit/set/made.h"

/* Defines records for a PMU whose presets have no tree. */
static void define(const char *records)
{
	char text[2000];

	snprintf(text, sizeof text, "CPU,core\n%s", records);
	CHECK(tach_derived_load_text(tach_derived_default(), "tree", text, strlen(text), NULL) >
	      0);
}

#define NODE(name, level, parent)                                                              \
	"EVENT," name ",DERIVED_INFIX,1+" #level ",LEVEL," #level ",PARENT," parent "\n"
#define ROOT(name) "EVENT," name ",DERIVED_INFIX,2,LEVEL,1\n"

static struct tach_set *make(const char *events, const char *metrics, int want)
{
	return made("core", events, metrics, want);
}

/* Checks the names of the set's metrics, and the message. */
static void has(const char *events, const char *metrics, const char *names, const char *missing)
{
	struct tach_set *set = make(events, metrics, 0);
	char text[1000] = "";

	if (!set)
		return;
	for (int i = 0; i < set->nmetrics; i++)
		sprintf(text + strlen(text), "%s%s", i ? " " : "", set->metric[i].name);
	CHECK(strcmp(text, names) == 0, "%s: %s, want %s", metrics, text, names);
	CHECK(strcmp(tach_set_missing(set), missing) == 0, "%s: %s", metrics,
	      tach_set_missing(set));
	tach_set_free(set);
}

static void words(void)
{
	static const struct {
		const char *metrics;
		int asked;
	} cases[] = {
		{NULL, 0},
		{"", 0},
		{"topdown", 1},
		{"topdown:1", 1},
		{"topdown:12", 1},
		{"topdown:", 0},
		{"topdown:x", 0},
		{"topdown:1x", 0},
		{"topdown:slots", 0},
		{"topdow", 0},
		{"topdowns", 0},
		{"topdown1", 0},
		{"Topdown", 0},
		{"topdown = 1", 0},
		{"a;topdown", 1},
		{"a\n \ttopdown:3\t;b", 1},
		{";;\ntopdown;", 1},
		{"a = topdown;b", 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK(tach__topdown_is_asked(cases[i].metrics) == cases[i].asked, "'%s'",
		      cases[i].metrics);
}

static void roots(void)
{
	define(ROOT("Frontend_Bound") ROOT("tma_backend_bound") ROOT("BAD_SPECULATION")
		       ROOT("TMA_Retiring") ROOT("smt_contention") ROOT("retired_fraction")
			       ROOT("slots_lost_misspeculation_fraction") ROOT("other")
				       ROOT("retirin") ROOT("retiring2") ROOT("tm_retiring"));
	has(NULL, "topdown",
	    "BAD_SPECULATION Frontend_Bound retired_fraction "
	    "slots_lost_misspeculation_fraction smt_contention tma_backend_bound TMA_Retiring",
	    "");
}

/* A metric with a parent in the tree, one level up, down to the requested level. */
static void levels(void)
{
	define(ROOT("Retiring") NODE("c1", 2, "RETIRING") NODE("c2", 2, "retirin")
		       NODE("c3", 3, "Retiring") NODE("d1", 3, "C1") NODE("d2", 3, "c2")
			       NODE("e1", 4, "d1") NODE("g1", 6, "d1"));
	has(NULL, "topdown", "Retiring c1", "");
	has(NULL, "topdown:1", "Retiring", "");
	has(NULL, "topdown:3", "Retiring c1 c3 d1", "");
	has(NULL, "topdown:4", "Retiring c1 c3 d1 e1", "");
	has(NULL, "topdown:6", "Retiring c1 c3 d1 e1",
	    "topdown: level 4 is what can be counted at once here, not level 6");
	has("cycles", "a = cycles; topdown:1;topdown ; b = 1", "a b Retiring", "");
}

/*
 * Of the library's and the vendor's tree, the deeper one is used; if both are equally deep, the
 * first one.
 */
static void two_trees(void)
{
	define(ROOT("Retiring") ROOT("topdown_x") NODE("topdown_y", 2, "topdown_x")
		       NODE("c1", 2, "topdown_x"));
	has(NULL, "topdown:1", "topdown_x", "");
	has(NULL, "topdown", "topdown_x topdown_y", "");
	define(NODE("c1", 2, "Retiring") NODE("d1", 3, "c1"));
	has(NULL, "topdown:1", "topdown_x", "");
	has(NULL, "topdown", "topdown_x topdown_y", "");
	has(NULL, "topdown:3", "Retiring c1 d1", "");
}

#define CHILD(events) "EVENT,c1,DERIVED_ADD," events ",LEVEL,2,PARENT,Retiring\n"

static void where_less_will_do(void)
{
	static const char *const children[] = {
		/*
		 * reasons: unknown event; one counter too few; more events than a set holds;
		 * not for a thread
		 */
		CHILD("cycles,bogus"),
		CHILD("r0101,r0102,r0103,r0104,r0105"),
		CHILD("r0101,r0102,r0103,r0104,r0105,r0106,r0107,r0108,r0109,r010a,r010b,r010c,"
		      "r010d,r010e,r010f,r0110,r0111"),
		CHILD("cycles:cpu=1"),
	};

	for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
		define(ROOT("Retiring"));
		define(children[i]);
		has(NULL, "topdown", "Retiring", "");
		has(NULL, "topdown:2", "Retiring",
		    "topdown: level 1 is what can be counted at once here, not level 2");
	}
}

static void fails(const char *metrics, int code, int column, const char *text)
{
	make("page-faults", metrics, code);
	CHECK(err.column == column && strncmp(err.text, text, strlen(text)) == 0, "%s: %d: %s",
	      metrics, err.column, err.text);
}

static void where_it_will_not(void)
{
	/* A faulty definition is not reported as a lack of counters. */
	define(ROOT("Retiring") CHILD("c2") "EVENT,c2,DERIVED_ADD,c1,cycles\n");
	fails("a = 1; topdown", TACH_ERR_CYCLE, 8,
	      "the definition refers to itself: c1 -> c2 -> c1");
	has(NULL, "topdown:1", "Retiring", "");
	/* Not even the first level fits. */
	define("EVENT,Retiring,DERIVED_ADD,r0101,r0102,r0103,r0104,r0105,LEVEL,1\n");
	fails(" topdown:1", TACH_ERR_NOCOUNTER, 2,
	      "topdown: not even its first level can be counted at once (core): ");
	/* Errors in the caller's text are reported at their position. */
	define(ROOT("Retiring"));
	fails("topdown; b = 1 +", TACH_ERR_SYNTAX, 17, "");
	fails("b = bogus; topdown:1", TACH_ERR_NOTFOUND, 5,
	      "topdown: not even its first level can be counted at once (core): ");
	fails("b = 1; b = 2;topdown", TACH_ERR_INVAL, 8, "'b' names two metrics");
}

static void none(void)
{
	fails("b = 1; topdown", TACH_ERR_NOTSUPP, 8,
	      "topdown: core (Intel Core 2: Merom, Penryn) has no events for its issue slots");
	fails("b = 1; topdown:7", TACH_ERR_SYNTAX, 8,
	      "topdown:N needs a level from 1 to 6 after the colon");
	fails("topdown:11", TACH_ERR_SYNTAX, 1, "topdown:N needs a level");
	fails("topdown:0", TACH_ERR_SYNTAX, 1, "topdown:N needs a level");
}

static void is_spelled(const char *metrics, int limit, int want, int level, const char *text)
{
	char *got = NULL;
	int deep = -1,
	    code = tach__topdown_spelled(metrics, tach_pmu_find("core"), limit, &deep, &got);

	CHECK(code == want && deep == level, "%s: %d, level %d", metrics, code, deep);
	CHECK(got ? text && strcmp(got, text) == 0 : !text, "%s: '%s'", metrics, got);
	free(got);
}

/* Blanks replace the word, so that columns stay the same; the tree's text follows. */
static void spelled(void)
{
	define(ROOT("Retiring") NODE("c1", 2, "Retiring") NODE("d1", 3, "c1"));
	is_spelled("a = 1; b", 6, 0, 0, "a = 1; b");
	is_spelled("topdown", 6, 0, 2, "       ;Retiring;c1");
	is_spelled("a; topdown:3 ;topdown;b", 6, 0, 3,
		   "a;           ;       ;b;Retiring;c1;d1");
	is_spelled("topdown:3", 2, 0, 2, "         ;Retiring;c1");
	is_spelled("topdown:3", 1, 0, 1, "         ;Retiring");
	is_spelled("topdown:6", 6, 0, 3, "         ;Retiring;c1;d1");
	is_spelled("topdown", 0, TACH_ERR_NOTSUPP, 0, NULL);
	is_spelled("topdown:7", 6, TACH_ERR_NOTSUPP, 0, NULL);
}

/* Metrics beyond the maximum are omitted. */
static void many(void)
{
	enum { MOST = 256 };
	char *text = calloc(400, 80), *to = text, *got = NULL;
	int level, n = 0;

	to += sprintf(to, "CPU,core\n" ROOT("Retiring"));
	for (int i = 0; i < 399; i++)
		to += sprintf(to, "EVENT,n%03d,DERIVED_INFIX,1,LEVEL,2,PARENT,Retiring\n", i);
	CHECK(tach_derived_load_text(tach_derived_default(), "many", text, strlen(text),
				     NULL) == 400);
	CHECK(tach__topdown_spelled("topdown", tach_pmu_find("core"), 6, &level, &got) == 0);
	for (char *at = got; at && (at = strchr(at, ';')); at++)
		n++;
	CHECK(n == MOST && level == 2, "%d", n);
	free(got);
	free(text);
}

static void in_children(void)
{
	in_child(none);
	in_child(roots);
	in_child(levels);
	in_child(two_trees);
	in_child(where_less_will_do);
	in_child(where_it_will_not);
	in_child(spelled);
	in_child(many);
}

int main(void)
{
	setenv("TACH_PMU", "core", 1); /* so that the real processor is not used */
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CASE(words);
	CASE(in_children);
	return check_done();
}
