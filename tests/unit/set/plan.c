/* SPDX-License-Identifier: MIT */
/*
 * Whole trees of metrics as passes: every node of the vendor's tree, down to its last level,
 * with the numbers of passes that tach-run-passes(1) states. Also tests how plans are made.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/set/plan.h"
#include "tests/child.h"

static const struct {
	const char *pmu;
	int metrics, events, passes; /* at topdown:6 */
} trees[] = {
	{"snb", 31, 41, 10},	   {"ivb", 65, 80, 20},	      {"hsw", 61, 69, 17},
	{"bdw", 70, 82, 20},	   {"skl", 98, 104, 26},      {"clx", 101, 114, 28},
	{"icl", 103, 116, 16},	   {"tgl", 103, 118, 17},     {"spr", 119, 146, 18},
	{"adl_glc", 109, 129, 16}, {"lnl_lnc", 112, 127, 13}, {"ptl_cgc", 114, 133, 14},
	{"tmt", 27, 21, 5},	   {"arm_n3", 20, 22, 5},
};

static size_t t; /* which of them */

/* Runs in a child, because a process identifies the machine only once. */
static void whole_tree(void)
{
	struct tach__plan *plan = calloc(1, sizeof *plan);
	struct tach_error err = TACH_ERROR_INIT;
	int wide = 0;

	setenv("TACH_PMU", trees[t].pmu, 1);
	CHECK(tach__plan_make(plan, NULL, "topdown:6", &err) == 0, "%s: %s", trees[t].pmu,
	      err.text);
	CHECK(plan->note[0] == '\0', "%s: %s", trees[t].pmu, plan->note);
	CHECK(plan->whole.nmetrics == trees[t].metrics &&
		      plan->whole.nevents == trees[t].events &&
		      plan->passes->count == trees[t].passes,
	      "%s: %d metrics of %d events in %d passes", trees[t].pmu, plan->whole.nmetrics,
	      plan->whole.nevents, plan->passes->count);
	CHECK(tach__plan_compile(plan, &err) == 0, "%s: %s", trees[t].pmu, err.text);
	/* Each pass fits the counters. */
	for (int i = 0; i < plan->passes->count; i++) {
		struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
		struct tach_set *set = NULL;

		opt.events = plan->passes->events[i];
		CHECK(tach_set_create(&opt, &set, &err) == 0, "%s, %d: %s", trees[t].pmu, i,
		      err.text);
		tach_set_free(set);
	}
	for (int i = 0; i < plan->whole.nmetrics; i++) {
		const struct tach__passes_metric *m = &plan->whole.metric[i];
		uint64_t value[TACH_SCHEDULE_MAX];

		for (int k = 0; k < plan->whole.nevents; k++)
			value[k] = 1u + (unsigned)k;
		CHECK(m->formula && m->node.level >= 1 &&
			      (m->node.level == 1 || *m->node.parent),
		      "%s: %s", trees[t].pmu, m->name);
		tach_formula_eval(m->formula, value, 1, NULL);
		wide |= strncmp(m->name, "4K", 2) == 0;
	}
	/* Names that begin with a digit are accepted. */
	CHECK(wide || !strstr("hsw bdw skl clx icl tgl", trees[t].pmu), "%s", trees[t].pmu);
	tach__plan_free(plan);
}

static void whole_trees(void)
{
	for (t = 0; t < sizeof trees / sizeof *trees; t++)
		in_child_named(whole_tree, trees[t].pmu);
}

/* ---- building plans ---- */

/*
 * "EVENTS; METRICS; PASSES; REPEATED": an event is NAME or NAME=STRING, a metric NAME is
 * FORMULA.
 */
static const char *said(const struct tach__plan *plan)
{
	static char text[8000];
	size_t n = 0;

#define SAY(...) (n += (size_t)snprintf(text + n, sizeof text - n, __VA_ARGS__))
	for (int i = 0; i < plan->whole.nevents; i++) {
		SAY("%s%s", i ? " " : "", plan->event[i]);
		if (strcmp(plan->event[i], plan->string[i]))
			SAY("=%s", plan->string[i]);
	}
	for (int i = 0; i < plan->whole.nmetrics; i++)
		SAY("%s%s is %s", i ? ", " : "; ", plan->metric[i].name, plan->metric[i].text);
	for (int i = 0; i < plan->passes->count; i++)
		SAY("%s%s", i ? " | " : "; ", plan->passes->events[i]);
	SAY("; %d", plan->whole.repeats);
#undef SAY
	return text;
}

static struct tach__plan a_plan;

static void is_made(const char *events, const char *metrics, const char *want, const char *note)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach__plan_make(&a_plan, events, metrics, &err);

	CHECK(code == 0, "%s | %s: %s", events, metrics, err.text);
	if (code)
		return;
	CHECK(!want || strcmp(said(&a_plan), want) == 0, "%s | %s: %s, want %s", events,
	      metrics, said(&a_plan), want);
	CHECK(strcmp(a_plan.note, note) == 0, "%s | %s: '%s'", events, metrics, a_plan.note);
	CHECK(tach__plan_compile(&a_plan, &err) == 0, "%s", err.text);
	for (int m = 0; m < a_plan.whole.nmetrics; m++)
		CHECK(a_plan.metric[m].formula);
	tach__plan_free(&a_plan);
}

static void fails(const char *events, const char *metrics, int want, int column,
		  const char *text)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach__plan_make(&a_plan, events, metrics, &err);

	CHECK(code == want && err.code == want && err.line == 0 && err.column == column,
	      "%.60s | %.60s: %d at %d: %s", events, metrics, code, err.column, err.text);
	CHECK(strstr(err.text, text), "%.60s | %.60s: %s", events, metrics, err.text);
	if (code == 0)
		tach__plan_free(&a_plan);
}

/* On skl only one counter can count this event, with any threshold. */
#define ONE "INST_RETIRED:PREC_DIST"

static void of_events(void)
{
	setenv("TACH_PMU", "skl", 1);
	is_made("cycles,instructions,x=branches", NULL,
		"cycles instructions x=branches; m0=cycles,instructions,m2=branches,; 1", "");
	/*
	 * Each event is planned once, even if it is named in two ways; a repeated name is
	 * listed separately.
	 */
	is_made("cycles,cycles,c=cycles", NULL, "cycles c=cycles; m0=cycles,m1=cycles,; -1",
		"");
	is_made("{cycles,x=" ONE "}:k,cpu/event=0xc0,name=yy/", NULL,
		"cycles:k x=" ONE ":k yy=cpu/event=0xc0,name=yy/; "
		"m0=cycles:k,m1=" ONE ":k,m2=cpu/event=0xc0,name=yy/,; -1",
		"");
	is_made("instructions," ONE "," ONE ":c=1", NULL,
		"instructions " ONE " " ONE ":c=1; m1=" ONE ",instructions | m2=" ONE
		":c=1,instructions; 0",
		"");
	is_made(NULL, NULL, "; ; -1", "");
	fails("x=cycles,x=branches", NULL, TACH_ERR_INVAL, 0, "one name for two events");
	fails("cycles, bogus", NULL, TACH_ERR_NOTFOUND, 9, "bogus");
	fails("cycles, x=cycles:bogus", NULL, TACH_ERR_ATTR, 18, "bogus");
}

static void of_metrics(void)
{
	static const char wide[] =
		"EVENT,wide,DERIVED_ADD,r0102,r0103,r0104,r0105,r0106,r0107,r0108,r0109,"
		"r010a,r010b,r010c,r010d,r010e,r010f,r0110,r0111,r0101\n";
	char *metrics = calloc(600, 40), *to = metrics;

	setenv("TACH_PMU", "skl", 1);
	CHECK(tach_derived_load_text(tach_derived_default(), "wide", wide, sizeof wide - 1,
				     NULL) == 1);
	/* Metrics may use labels, and events that are listed with another name. */
	is_made("cycles,x=branches,yy=UNHALTED_CORE_CYCLES", "a = x / cycles; ipc\n;; ipc ",
		"cycles x=branches yy=UNHALTED_CORE_CYCLES INSTRUCTION_RETIRED; a is N1 / N0, "
		"ipc is N3 / N2; m0=cycles,m1=branches,m2=UNHALTED_CORE_CYCLES,"
		"m3=INSTRUCTION_RETIRED,; -1",
		"");
	is_made("x=cpu/event=0xc0,name=yy/,r01c2", "b = 2 * x",
		"x=cpu/event=0xc0,name=yy/ r01c2; b is 2 * N0; "
		"m0=cpu/event=0xc0,name=yy/,m1=r01c2,; -1",
		"");
	is_made("x=ipc", "b = duration_time",
		"INSTRUCTION_RETIRED UNHALTED_CORE_CYCLES; x is N0 / N1, b is elapsed_ns; "
		"m0=INSTRUCTION_RETIRED,m1=UNHALTED_CORE_CYCLES,; -1",
		"");
	/* The list has more events than a set holds. */
	CHECK(tach__plan_make(&a_plan, "r0101,cycles", "a = cycles; wide\n", NULL) == 0);
	CHECK(a_plan.whole.nevents == 18 && a_plan.whole.nmetrics == 2 &&
		      strncmp(a_plan.metric[1].text, "N2 + N3 + N4 + N5", 17) == 0 &&
		      strncmp(said(&a_plan), "r0101 cycles r0102 r0103", 24) == 0,
	      "%s", said(&a_plan));
	tach__plan_free(&a_plan);
	fails("cycles", "a = cycles; b = cycles + bogus", TACH_ERR_NOTFOUND, 26, "bogus");
	fails("cycles", "a = cycles\n bogus / 2", TACH_ERR_SYNTAX, 13, "expected 'name =");
	fails("x=cycles", "a = wide + 1", TACH_ERR_TOOMANY, 5, "16 events at most");
	for (int i = 0; i < TACH__PLAN_METRICS; i++)
		to += sprintf(to, "m%d=1;", i);
	CHECK(tach__plan_make(&a_plan, NULL, metrics, NULL) == 0 &&
	      a_plan.whole.nmetrics == TACH__PLAN_METRICS);
	tach__plan_free(&a_plan);
	sprintf(to, "more=1");
	fails(NULL, metrics, TACH_ERR_TOOMANY, 0, "too many metrics");
	free(metrics);
}

/* The maximum number of planned events; all are software events, which fit any pass. */
static void of_many(void)
{
	char *events = calloc(TACH__PLAN_EVENTS + 2, 20), *to = events;

	setenv("TACH_PMU", "skl", 1);
	for (int i = 0; i < TACH__PLAN_EVENTS; i++)
		to += sprintf(to, "e%03d=page-faults,", i);
	CHECK(tach__plan_make(&a_plan, events, "a = e007 + e190", NULL) == TACH_ERR_TOOMANY);
	CHECK(tach__plan_make(&a_plan, events, NULL, NULL) == 0 &&
	      a_plan.whole.nevents == TACH__PLAN_EVENTS && a_plan.passes->count == 13);
	tach__plan_free(&a_plan);
	strcpy(to, "more=page-faults");
	fails(events, NULL, TACH_ERR_TOOMANY, 0, "more events than passes are planned for");
	free(events);
}

/* Fields of PERF_METRICS need slots, which are added in front. */
static void of_slots(void)
{
	setenv("TACH_PMU", "icl", 1);
	is_made("topdown-fe-bound,x=topdown-retiring", "a = x / topdown-fe-bound",
		"topdown-fe-bound x=topdown-retiring TOPDOWN:SLOTS; a is N1 / N0; "
		"m2=TOPDOWN:SLOTS,m0=topdown-fe-bound,m1=topdown-retiring,; -1",
		"");
	is_made("topdown-fe-bound,TOPDOWN:SLOTS", NULL,
		"topdown-fe-bound TOPDOWN:SLOTS; m1=TOPDOWN:SLOTS,m0=topdown-fe-bound,; -1",
		"");
}

/* A tree from user definitions, for a PMU without one; its second level is `child`. */
static void tree(const char *child)
{
	static char text[8000];

	setenv("TACH_PMU", "core", 1);
	snprintf(text, sizeof text,
		 "CPU,core\nEVENT,Retiring,DERIVED_INFIX,r0100/cycles,LEVEL,1\n"
		 "EVENT,child,DERIVED_ADD%s,LEVEL,2,PARENT,RETIRING\n",
		 child);
	CHECK(tach_derived_load_text(tach_derived_default(), "tree", text, strlen(text),
				     NULL) == 2);
}

static void of_a_tree(void)
{
	tree(",page-faults,page-faults");
	is_made(NULL, "topdown",
		"r0100 cycles page-faults; Retiring is N0 / N1, child is N2 + N2; "
		"m0=r0100,m1=cycles,m2=page-faults,; -1",
		"");
	is_made(NULL, "topdown:1", "r0100 cycles; Retiring is N0 / N1; m0=r0100,m1=cycles,; -1",
		"");
}

/*
 * A part of the tree that this machine lacks is omitted and reported; if it was requested, it
 * is an error.
 */
static void of_a_tree_with_a_hole(void)
{
	tree(",page-faults,bogus");
	is_made("cycles", "a = cycles; topdown",
		"cycles r0100; a is N0, Retiring is N1 / N0; m0=cycles,m1=r0100,; -1",
		"child: child cannot count 'bogus': no event 'bogus'");
	fails(NULL, "topdown; a = bogus", TACH_ERR_NOTFOUND, 14, "bogus");
	fails("cycles", "topdown:9", TACH_ERR_NOTSUPP, 0, "level from 1 to 6");
}

/* A tree is planned down to the level whose events fit. */
static void of_a_wide_tree(void)
{
	static char child[4000];
	char *to = child;

	for (int i = 0; i < TACH__PLAN_EVENTS - 1; i++)
		to += sprintf(to, ",r%04x", 0x101 + i);
	tree(child);
	is_made(NULL, "topdown:3", "r0100 cycles; Retiring is N0 / N1; m0=r0100,m1=cycles,; -1",
		"topdown: level 1 is what 191 events tell, not level 2");
}

/* Checks which events only metrics use: 1 for each of them. */
static void are_operands(const char *events, const char *metrics, const char *want)
{
	char text[TACH__PLAN_EVENTS + 1] = "";

	CHECK(tach__plan_make(&a_plan, events, metrics, NULL) == 0, "%s | %s", events, metrics);
	for (int i = 0; i < a_plan.whole.nevents; i++)
		text[i] = (char)('0' + a_plan.whole.operand[i]);
	CHECK(strcmp(text, want) == 0, "%s | %s: %s", events, metrics, text);
	tach__plan_free(&a_plan);
}

static void operands(void)
{
	setenv("TACH_PMU", "skl", 1);
	are_operands("cycles", "x = branches / cycles", "01");
	are_operands("cycles", "x = branches / cycles; branches", "00");
	are_operands("c=cycles", "x = branches / c; y = instructions / c; instructions", "010");
	are_operands(NULL, "x = branches / cycles", "00");
}

static void parts(void)
{
	in_child(operands);
	in_child(of_events);
	in_child(of_metrics);
	in_child(of_many);
	in_child(of_slots);
	in_child(of_a_tree);
	in_child(of_a_tree_with_a_hole);
	in_child(of_a_wide_tree);
}

int main(void)
{
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CASE(whole_trees);
	CASE(parts);
	return check_done();
}
