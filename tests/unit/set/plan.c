/* SPDX-License-Identifier: MIT */
/*
 * Whole trees of metrics as passes: every node of the vendor's, down to its last level, with
 * the numbers of passes that tach-run(1) states.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tach.h>
#include <unistd.h>
#include "core/set/plan.h"
#include "tests/check.h"

static const struct {
	const char *pmu;
	int metrics, events, passes; /* at topdown:6 */
} trees[] = {
	{"snb", 31, 41, 10},	   {"ivb", 65, 80, 20},	      {"hsw", 61, 69, 17},
	{"bdw", 70, 82, 20},	   {"skl", 98, 104, 26},      {"clx", 101, 114, 28},
	{"icl", 103, 116, 16},	   {"tgl", 103, 118, 17},     {"spr", 119, 146, 19},
	{"adl_glc", 109, 129, 16}, {"lnl_lnc", 112, 127, 13}, {"ptl_cgc", 114, 133, 14},
	{"tmt", 27, 21, 5},	   {"arm_n3", 20, 22, 5},
};

/* In a process of its own: which machine it is is asked once. */
static int whole_tree(size_t t)
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
	/* A name that begins with a digit is a name. */
	CHECK(wide || !strstr("hsw bdw skl clx icl tgl", trees[t].pmu), "%s", trees[t].pmu);
	tach__plan_free(plan);
	return check__failed != 0;
}

static void whole_trees(void)
{
	for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
		int status = -1;
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0) {
			int failed = whole_tree(t);

			fflush(stdout);
			_exit(failed);
		}
		waitpid(child, &status, 0);
		CHECK(status == 0, "%s: %#x", trees[t].pmu, (unsigned)status);
	}
}

int main(void)
{
	CASE(whole_trees);
	return check_done();
}
