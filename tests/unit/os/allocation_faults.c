/* SPDX-License-Identifier: MIT */
/*
 * Every allocation fails once, in operations that use several rooms (for one room: its memory.c
 * and no_memory.c), and the fast path allocates nothing. (System calls that fail:
 * tests/unit/reader/open_faults.c.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include <tach/fault.h>
#include "tests/allocations.h"
#include "tests/check.h"

static int set_job(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	int code;

	opt.events = "clock=task-clock, page-faults, context-switches";
	opt.metrics = "faults_per_switch = page-faults / context-switches;"
		      "migrations = cpu-migrations + 0";
	code = tach_set_create(&opt, &set, &err);
	tach_set_free(set);
	return code;
}

static void sets(void)
{
	exhaust(set_job);
}

static const char definitions[] =
	"CPU,skl\nCPU,Intel Nehalem\n"
	"PRESET,A,NOT_DERIVED,INST_RETIRED:ANY_P,SDESC,\"instructions\"\n"
	"EVENT,B,DERIVED_INFIX,N0 / N1,A,CPU_CLK_UNHALTED:THREAD_P,LDESC,'a, b'\n"
	"EVENT,C,DERIVED_ADD,A,B\n";

static int derived_job(void)
{
	struct tach_derived *d = NULL;
	struct tach_expansion *x = NULL;
	int code = tach_derived_create(NULL, &d, NULL);

	if (code == 0)
		code = tach_derived_load_text(d, "text", definitions, strlen(definitions),
					      NULL);
	if (code >= 0)
		code = tach_derived_expand(d, tach_pmu_find("skl"), "C", &x, NULL);
	tach_expansion_free(x);
	tach_derived_free(d);
	return code;
}

static void derived_files(void)
{
	exhaust(derived_job);
}

static int reader_job(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_reader *reader = NULL;
	struct tach_set *set = NULL;
	int code;

	opt.events = "task-clock, page-faults";
	code = tach_set_create(&opt, &set, NULL);
	if (code == 0)
		code = tach_reader_open(set, &reader, NULL);
	tach_reader_close(reader);
	tach_set_free(set);
	return code;
}

static void readers(void)
{
	if (reader_job() == TACH_ERR_PERMISSION)
		SKIP("software events are not permitted here");
	exhaust(reader_job);
}

static int discard(void *context, const char *text, size_t length)
{
	(void)text;
	*(size_t *)context += length;
	return 0;
}

static int report_job(void)
{
	struct tach_snapshot *s = NULL;
	struct tach_report_options opt = {.size = sizeof opt};
	size_t length = 0;
	int code = tach_snapshot_take(&s, NULL);

	for (opt.format = TACH_FORMAT_TEXT; code == 0 && opt.format <= TACH_FORMAT_PROMETHEUS;
	     opt.format++)
		code = tach_report_write(s, &opt, discard, &length, NULL);
	tach_snapshot_free(s);
	return code;
}

static void snapshots_and_reports(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "", .histograms = 1};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		TACH_START(outer);
		TACH_START(inner);
		TACH_STOP(inner);
		TACH_STOP(outer);
	}
	exhaust(report_job);
	tach_regions_disable();
}

struct text {
	char at[1 << 18];
	size_t length;
};

static int keep(void *context, const char *text, size_t length)
{
	struct text *t = context;

	if (t->length + length > sizeof t->at)
		return TACH_ERR_NOMEM;
	memcpy(t->at + t->length, text, length);
	t->length += length;
	return 0;
}

static struct text saved_text;
static size_t saved_whole;

/* Reads a report twice, adds both up, and writes the sum in every format. */
static int saved_job(void)
{
	struct tach_snapshot *s[2] = {NULL, NULL}, *sum = NULL;
	struct tach_report_options opt = {.size = sizeof opt};
	size_t length = 0;
	int code = 0;

	for (int i = 0; code == 0 && i < 2; i++)
		code = tach_snapshot_load(saved_text.at, saved_text.length, &s[i], NULL);
	if (code == 0)
		code = tach_snapshot_merge((const struct tach_snapshot *const *)s, 2, &sum,
					   NULL);
	for (opt.format = TACH_FORMAT_TEXT; code == 0 && opt.format <= TACH_FORMAT_PROMETHEUS;
	     opt.format++)
		code = tach_report_write(sum, &opt, discard, &length, NULL);
	for (int i = 0; i < 2; i++)
		tach_snapshot_free(s[i]);
	tach_snapshot_free(sum);
	/* Success means that no part is missing. */
	if (code == 0 && saved_whole == 0)
		saved_whole = length;
	return code == 0 && length != saved_whole ? 1 : code;
}

static void saved_reports(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "", .histograms = 1};
	struct tach_report_options json = {.size = sizeof json, .format = TACH_FORMAT_JSON};
	struct tach_snapshot *s;

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	TACH_START(saved);
	TACH_STOP(saved);
	CHECK(tach_snapshot_take(&s, NULL) == 0);
	CHECK(tach_report_write(s, &json, keep, &saved_text, NULL) == 0);
	tach_snapshot_free(s);
	tach_regions_disable();
	exhaust(saved_job);
}

/*
 * Tests longest entries, and names of many sizes. Pieces of a snapshot share blocks, and only
 * allocating a block can fail: over all runs, many kinds of pieces are the first in a block.
 */
static void saved_pieces(void)
{
	enum { REGIONS = 48, WORST = 12 };
	static const char *const texts[] = {"name", "file", "function", "of",
					    "task", "tag",  "thread"};
	char *at = saved_text.at;

	saved_whole = 0;
	at += sprintf(at, "{\"tach\":1,\"note\":\"\",\"clock\":{\"hz\":1,\"estimate\":false},"
			  "\"threads\":1,\"refused\":0,\"lost\":0,\"stale\":0,"
			  "\"unopened\":0,\"worst_by\":\"time\",\"metrics\":[],"
			  "\"quantities\":[{\"name\":\"time\"}],\"regions\":[");
	for (int i = 0; i < REGIONS; i++) {
		at += sprintf(at, "%s{", i ? "," : "");
		for (int k = 0; k < 7; k++)
			at += sprintf(at, "\"%s\":\"%d%0*d\",", texts[k], i,
				      30 + 90 * (k == i % 7), 0);
		at += sprintf(at, "\"line\":1,\"entries\":1,\"calls\":1,\"outermost\":1,"
				  "\"skipped\":0,\"excluded\":0,\"nested\":0,\"threads\":1,"
				  "\"provenance\":{}");
		for (int part = 0; part < 2; part++)
			at += sprintf(at,
				      ",\"%s\":{\"time\":{\"value\":1,\"raw\":1,"
				      "\"overhead\":0,\"error\":0,\"flags\":[]}}",
				      part ? "self" : "inclusive");
		at += sprintf(at, ",\"worst\":[");
		for (int k = 0; k < WORST; k++)
			at += sprintf(at,
				      "%s{\"at\":1,\"tag\":\"0\",\"thread\":1,\"flags\":[],"
				      "\"thread_name\":\"\",\"parent\":\"\","
				      "\"values\":{\"time\":%d}}",
				      k ? "," : "", 1 + k);
		at += sprintf(at, "]}");
	}
	at += sprintf(at, "]}");
	saved_text.length = (size_t)(at - saved_text.at);
	exhaust(saved_job);
}

/* An earlier configuration stays if a new one fails. */
static int configure_job(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "page-faults"};
	int code;

	opt.metrics = "twice = 2 * page-faults";
	opt.only = "a*,b*";
	code = tach_regions_configure(&opt, NULL);
	tach_regions_disable();
	return code;
}

static void configurations(void)
{
	if (reader_job() == TACH_ERR_PERMISSION)
		SKIP("software events are not permitted here");
	configure_job(); /* the first configuration stays until the next replaces it */
	exhaust(configure_job);
}

static int handlers_job(void)
{
	int code = tach_fault_install(NULL);

	tach_fault_remove();
	return code < 0 ? code : 0;
}

static void handlers(void)
{
	long tables;

	if (handlers_job() == TACH_ERR_NOTSUPP)
		SKIP("no counter is read in user space on this architecture");
		/*
		 * A handler may still read an older table, so old tables are never freed: one
		 * table for every success.
		 */
#if WATCHED
	tables = live;
	handlers_job();
	tables = live - tables;
	CHECK(tables <= 1, "%ld", tables);
	for (long k = 0; k < 4; k++) {
		long before = live;
		int code;

		calls = 0;
		fail_at = k;
		armed = 1;
		code = handlers_job();
		armed = 0;
		CHECK(code == 0 || code == TACH_ERR_NOMEM, "%d",
		      code); /* qsort(3) can work without memory */
		CHECK(live == before + (code == 0 ? tables : 0), "%ld", live - before);
	}
#else
	(void)tables;
#endif
}

/* The fast path and code for signal handlers never allocate. */
static void no_allocation(void)
{
#if WATCHED
	struct tach_event event = {0};
	struct tach_formula *f = NULL;
	uint64_t n[4] = {1, 2, 3, 4};
	uint32_t flags = 0;

	CHECK(tach_formula_compile("max(N0, N1) / N2 + N3 * N3", NULL, &f, NULL) == 0);
	/* Reads files once. */
	CHECK(tach_event_encode("skl::INST_RETIRED:ANY_P:u", NULL, &event, NULL) == 0);
	calls = 0;
	fail_at = -1;
	armed = 1;
	event.size = 0;
	CHECK(tach_event_encode("skl::INST_RETIRED:ANY_P:u", NULL, &event, NULL) == 0);
	event.size = 0;
	CHECK(tach_event_encode("skl::NO_SUCH_EVENT", NULL, &event, NULL) < 0);
	CHECK(tach_formula_eval(f, n, 0, &flags) > 0);
	armed = 0;
	CHECK(calls == 0, "%ld allocations", calls);
	tach_formula_free(f);
#else
	SKIP("a sanitizer's malloc cannot be counted");
#endif
}

/* As in a handler of a fatal signal: takes the last snapshot, and writes it as JSON. */
static void no_allocation_at_death(void)
{
#if WATCHED
	struct tach_regions_options opt = {.size = sizeof opt,
					   .events = "page-faults",
					   .metrics = "half = page-faults / 2",
					   .histograms = 1};
	struct tach_report_options json = {.format = TACH_FORMAT_JSON};
	struct tach_snapshot *s = NULL;
	size_t length = 0;

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		TACH_SCOPE(outer);
		TACH_SCOPE(inner);
	}
	mallocs = 0;
	fail_at = -1;
	armed = 1;
	CHECK(tach_snapshot_take(&s, NULL) == 0);
	CHECK(tach_report_write(s, &json, discard, &length, NULL) == 0);
	armed = 0;
	CHECK(mallocs == 0 && length > 1000, "%ld times malloc, %zu bytes", mallocs, length);
	tach_snapshot_free(s);
	tach_regions_disable();
#else
	SKIP("a sanitizer's malloc cannot be counted");
#endif
}

int main(void)
{
	CASE(sets);
	CASE(derived_files);
	CASE(readers);
	CASE(snapshots_and_reports);
	CASE(saved_reports);
	CASE(saved_pieces);
	CASE(configurations);
	CASE(handlers);
	CASE(no_allocation);
	CASE(no_allocation_at_death);
	return check_done();
}
