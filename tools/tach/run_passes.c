/* SPDX-License-Identifier: MIT */
/* `tach run --passes`: runs the program several times, with other events each time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/set/set.h"
#include "core/snapshot/passes.h"
#include "tools/tach/commands.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"

struct passes {
	const struct tach__plan *plan;
	struct tach_snapshot *list[TACH__PASSES_MAX]; /* the report of each finished pass */
	int n;
	struct run_reports last; /* without its snapshot */
	struct run_outcome outcome;
};

/* Merges regions that occur twice in a process, as regions of several processes are merged. */
static int keep_run(struct passes *p, struct run_reports *reports)
{
	struct tach_snapshot *one = reports->whole;
	int code = one ? report_merge(&p->list[p->n], &one, 1, "tach run") : 0;

	tach_snapshot_free(one);
	reports->whole = NULL;
	p->last = *reports;
	p->n += one && !code;
	return code ? RUN_FAILED : 0;
}

/*
 * Returns true if the next pass is useful: this pass ended like the first one, and wrote a
 * report.
 */
static int goes_on(const struct passes *p, int pass, int first)
{
	int status = run_status(&p->outcome), left = p->n == pass + 1;

	if (p->outcome.exec_failed)
		return 0;
	if (pass && status != first)
		fprintf(stderr,
			"tach run: pass %d ended with status %d, the first with %d: the "
			"command must do the same in each run\n",
			pass + 1, status, first);
	else if (!left)
		fprintf(stderr, "tach run: pass %d left no report\n", pass + 1);
	return left && status == first && !WIFSIGNALED(p->outcome.status);
}

/* If standard input is a file, each pass starts at the same position. */
static int run_all(struct passes *p, const struct run_arguments *a,
		   const struct run_found *found, int *status)
{
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	int code = 0, more = 1, i;

	for (i = 0; i < p->plan->passes->count && !code && more; i++) {
		struct run_arguments this = *a;
		struct run_reports reports = {0};

		this.events = p->plan->passes->events[i];
		this.metrics = NULL;
		if (i && input >= 0)
			lseek(STDIN_FILENO, input, SEEK_SET);
		p->outcome = (struct run_outcome){0};
		code = run_once(&this, found, &reports, &p->outcome);
		if (!code)
			code = keep_run(p, &reports);
		else
			tach_snapshot_free(reports.whole);
		if (i == 0)
			*status = run_status(&p->outcome);
		more = !code && goes_on(p, i, *status);
	}
	/* If a signal ended the program, shows the counts of the first pass. */
	return !code && !more && i > 1 ? RUN_FAILED : code;
}

static int join_runs(const struct passes *p, struct tach_snapshot **whole)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code;

	code = tach__snapshot_passes((const struct tach_snapshot *const *)p->list, p->n,
				     &p->plan->whole, whole, &err);
	if (code)
		fprintf(stderr, "tach run: %s\n", err.text);
	return code;
}

/* Plans the passes. Returns NULL after printing why not. */
static struct tach__plan *plan_of(const struct run_arguments *a)
{
	struct tach__plan *plan = malloc(sizeof *plan);
	struct tach_error err = TACH_ERROR_INIT;
	int own = a->events || a->metrics;
	const char *events = own ? a->events : getenv("TACH_EVENTS");
	const char *metrics = own ? a->metrics : getenv("TACH_METRICS");

	events = events && *events ? events : NULL;
	metrics = metrics && *metrics ? metrics : NULL;
	if (!plan)
		fprintf(stderr, "tach run: out of memory\n");
	else if (!events && !metrics)
		fprintf(stderr,
			"tach run: --%s is for what -e, -m or --topdown name; the usual "
			"events are counted at once\n",
			a->turns ? "turns" : "passes");
	else if (tach__plan_make(plan, events, metrics, &err) == 0)
		return plan;
	else
		complain("tach run", metrics ? metrics : events, &err);
	free(plan);
	return NULL;
}

int run_check_turns(const struct run_arguments *a)
{
	struct tach__plan *plan = plan_of(a);

	if (!plan)
		return RUN_FAILED;
	tach__plan_free(plan);
	free(plan);
	return 0;
}

int run_passes(struct run_arguments *a, const struct run_found *found)
{
	struct tach__plan *plan = plan_of(a);
	struct passes p = {.plan = plan};
	int status = 0, code;

	if (!plan)
		return RUN_FAILED;
	plan->whole.bound = a->bound;
	if (*plan->note)
		fprintf(stderr, "tach run: %s\n", plan->note);
	code = run_all(&p, a, found, &status);
	if (!code && p.n && join_runs(&p, &p.last.whole) != 0)
		code = RUN_FAILED;
	if (!code && run_report(a, &p.outcome, &p.last) != 0)
		code = RUN_FAILED;
	tach_snapshot_free(p.last.whole);
	for (int i = 0; i < p.n; i++)
		tach_snapshot_free(p.list[i]);
	tach__plan_free(plan);
	free(plan);
	return code ? code : status;
}
