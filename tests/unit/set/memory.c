/* SPDX-License-Identifier: MIT */
/* Sets and plans for turns, if an allocation fails: no memory leaks. */
#include <errno.h>
#include <string.h>
#include <tach.h>
#include "core/os/sys.h"
#include "core/set/passes.h"
#include "core/set/set.h"
#include "tests/allocations.h"

/* Arguments of a job, and its result if there is memory. */
static struct {
	const char *events, *metrics, *pmu;
	uint32_t flags;
	int code;
} job;

/*
 * The position of an allocation failure is never the first column here, except for slots that
 * were added in front.
 */
static void says_so(int code, const struct tach_error *err)
{
	static const char text[] = "out of memory";

	if (code == 0)
		return;
	CHECK(err->code == code && err->line == 0, "%d: %d at %d", code, err->code, err->line);
	if (code == TACH_ERR_NOMEM)
		CHECK(strlen(err->text) >= strlen(text) &&
			      strcmp(err->text + strlen(err->text) - strlen(text), text) == 0 &&
			      (err->column != 1 || strstr(job.events, "topdown-")),
		      "%s; %s: %d: %s", job.events, job.metrics, err->column, err->text);
}

static int set_job(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE};
	struct tach_set_member member = {"attr", &attr};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set = NULL;
	int code;

	opt.events = job.events;
	opt.metrics = job.metrics;
	opt.flags = job.flags;
	opt.attrs = &member;
	opt.nattrs = job.events != NULL;
	if (job.pmu)
		opt.pmu = tach_pmu_find(job.pmu);
	code = tach_set_create(&opt, &set, &err);
	says_so(code, &err);
	CHECK(code == job.code || code == TACH_ERR_NOMEM, "%s: %d", job.events, code);
	CHECK((code == 0) == (set != NULL));
	for (int i = 0; set && i < set->count; i++)
		CHECK(set->member[i].name && set->member[i].qualified);
	for (int i = 0; set && i < set->nmetrics; i++)
		CHECK(set->metric[i].name && set->metric[i].text);
	tach_set_free(set);
	return code == job.code ? 0 : code;
}

static void of_set(const char *events, const char *metrics, const char *pmu, uint32_t flags,
		   int code)
{
	job.events = events;
	job.metrics = metrics;
	job.pmu = pmu;
	job.flags = flags;
	job.code = code;
	exhaust(set_job);
}

static void sets(void)
{
	of_set(" {cycles,x=branches}:k, ipc, PAPI_TOT_INS",
	       " a = 2 * x / cycles; b = ipc + 1; ipc", "skl", 0, 0);
	/* An event that the set already has, with another name. */
	of_set(" x=INSTRUCTION_RETIRED,ipc", NULL, "skl", 0, 0);
	of_set(NULL, " topdown:1", "icl", 0, 0);
	of_set(" instructions", NULL, "skl", TACH_SET_CORRECT, 0);
	/* If there are only fields of PERF_METRICS, slots are added in front. */
	of_set(" topdown-fe-bound", " topdown:1", "icl", 0, 0);
}

static void sets_that_fail(void)
{
	static char many[20 * (TACH__METRICS_MAX + 1)];

	for (int i = 0; i <= TACH__METRICS_MAX; i++)
		sprintf(many + strlen(many), " m%d = cycles;", i);
	of_set(" cycles", many, "skl", 0, TACH_ERR_TOOMANY);
	of_set(" cycles,x=bogus", NULL, "skl", 0, TACH_ERR_NOTFOUND);
	of_set(" cycles", " a = 1; a = 2", "skl", 0, TACH_ERR_INVAL);
	of_set(" cycles", " a = cycles / bogus", "skl", 0, TACH_ERR_NOTFOUND);
	of_set(" cycles", " a = ipc + bogus", "skl", 0, TACH_ERR_NOTFOUND);
	of_set(" ipc:bogus", NULL, "skl", 0, TACH_ERR_ATTR);
	of_set(NULL, " topdown", "core", 0, TACH_ERR_NOTSUPP);
	of_set(" INST_RETIRED:PREC_DIST,INST_RETIRED:PREC_DIST:c=1", NULL, "skl", 0,
	       TACH_ERR_NOCOUNTER);
}

/* ---- events that the kernel does not count are omitted ---- */

static long refuse(long number, long a, long b, long c, long d, long e, long f)
{
	return number == SYS_perf_event_open ? -ENOENT
					     : tach__sys_real(number, a, b, c, d, e, f);
}

static void members_left_out(void)
{
	tach__sys = refuse;
	of_set(" cycles,x=bogus,page-faults", " a = x + 1; ipc; b = 2 * ipc", "skl",
	       TACH_SET_OPTIONAL, 0);
	of_set(" page-faults", NULL, NULL, TACH_SET_CORRECT, 0);
	tach__sys = tach__sys_real;
}

/* More labels of omitted members than the set keeps: the others become unknown names. */
static void many_left_out(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	char events[20 * TACH__MISSING_MAX] = "";
	struct tach_set *set = NULL;

	strcpy(events, "a=bogus,");
	for (int i = 2; i < TACH__MISSING_MAX; i++)
		sprintf(events + strlen(events), "a%d=bogus,", i);
	strcat(events, "b=bogus,c=bogus,d=bogus");
	opt.events = events;
	opt.metrics = "x = a; y = b; z = c; one = 1";
	opt.flags = TACH_SET_OPTIONAL;
	opt.pmu = tach_pmu_find("skl");
	CHECK(tach_set_create(&opt, &set, NULL) == 0 && set->count == 0 && set->nmetrics == 1);
	CHECK(set && strncmp(set->missing, "no event 'bogus'; no event 'c'", 30) == 0, "%s",
	      set ? set->missing : "");
	tach_set_free(set);
#if WATCHED
	CHECK(overrun == 0, "written behind what there is room for");
#endif
}

/* ---- plans ---- */

static int plan_job(void)
{
	static struct tach__plan plan;
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach__plan_make(&plan, job.events, job.metrics, &err);

	says_so(code, &err);
	CHECK(code == job.code || code == TACH_ERR_NOMEM, "%s: %d", job.events, code);
	if (code == 0) {
		code = tach__plan_compile(&plan, NULL);
		tach__plan_free(&plan);
		return code;
	}
	CHECK(!plan.passes && !plan.arena.blocks, "what failed was given back");
	return code == job.code ? 0 : code;
}

static void of_plan(const char *events, const char *metrics, int code)
{
	job.events = events;
	job.metrics = metrics;
	job.code = code;
	exhaust(plan_job);
}

static void plans(void)
{
	of_plan(" cycles,x=branches,{cycles:k,y=instructions}:u", " a = x / y; ipc", 0);
	of_plan(" cycles", " wide", 0);
	of_plan(" cycles,x=bogus", NULL, TACH_ERR_NOTFOUND);
	of_plan(" x=cycles,x=branches", NULL, TACH_ERR_INVAL);
	of_plan(" cycles", " a = bogus", TACH_ERR_NOTFOUND);
	of_plan(" cycles", " topdown:9", TACH_ERR_NOTSUPP);
}

static int passes_job(void)
{
	struct tach__passes *passes = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach__passes_plan(&passes,
				     "{a=INST_RETIRED:PREC_DIST,INST_RETIRED:PREC_DIST:c=1}:k,"
				     "ipc,bogus",
				     0, 1, &err);

	says_so(code, &err);
	free(passes);
	return code;
}

static void passes(void)
{
	exhaust(passes_job);
}

int main(void)
{
	static const char wide[] =
		"EVENT,wide,DERIVED_ADD,r0101,r0102,r0103,r0104,r0105,r0106,r0107,r0108,r0109,"
		"r010a,r010b,r010c,r010d,r010e,r010f,r0110,r0111\n";

	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CHECK(tach_derived_load_text(tach_derived_default(), "wide", wide, sizeof wide - 1,
				     NULL) == 1);
	CASE(sets);
	CASE(sets_that_fail);
	CASE(members_left_out);
	CASE(many_left_out);
	CASE(plans);
	CASE(passes);
	return check_done();
}
