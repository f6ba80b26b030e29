/* SPDX-License-Identifier: MIT */
/*
 * Snapshots are loaded, merged and subtracted while each allocation fails once: the result is
 * complete, or there is an error. Here each piece of an arena is a separate allocation, so that
 * a write beyond its end is detected.
 */
#include <string.h>
#include <sys/uio.h>
#include <tach.h>
#include "core/base/arena.h"
#include "core/snapshot/passes.h"
#include "core/snapshot/ranks.h"
#include "core/snapshot/remote.h"
#include "core/snapshot/snapshot.h"
#include "tests/allocations.h"

/* ---- replaces core/base/arena.c ---- */

struct tach__arena_block {
	struct tach__arena_block *next;
	max_align_t data[];
};

void *tach__arena_get(struct tach__arena *arena, size_t size)
{
	struct tach__arena_block *b = calloc(1, sizeof *b + size);

	if (!b)
		return NULL;
	b->next = arena->blocks;
	arena->blocks = b;
	return b->data;
}

char *tach__arena_copy(struct tach__arena *arena, const char *text)
{
	char *copy = tach__arena_get(arena, strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

void tach__arena_free(struct tach__arena *arena)
{
	while (arena->blocks) {
		struct tach__arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
}

/* ---- loading and merging ---- */

static char json[1 << 14];

/* A report with this event, this rank, and regions up to this letter. */
static const char *report(const char *event, int rank, char last)
{
	char *at = json;

	at += sprintf(
		at,
		"{\"tach\":1,\"note\":\"n\",\"rank\":%d,\"clock\":{\"hz\":1},\"threads\":1,"
		"\"refused\":0,\"lost\":0,\"stale\":0,\"unopened\":0,"
		"\"worst_by\":\"time\",\"quantities\":[{\"name\":\"time\"},"
		"{\"name\":\"%s\"},{\"name\":\"all\"}],\"metrics\":[{\"name\":\"m\","
		"\"formula\":\"N0 + N1\",\"level\":1,\"scale\":1,\"unit\":\"u\","
		"\"parent\":\"p\",\"threshold\":\"t\",\"description\":\"d\"}],"
		"\"regions\":[",
		rank, event);
	for (char name = 'a'; name <= last; name++) {
		at += sprintf(at,
			      "%s{\"name\":\"%c\",\"file\":\"f\",\"function\":\"g\","
			      "\"of\":\"o\",\"task\":\"k\",\"tag\":\"t\",\"thread\":\"h\","
			      "\"line\":1,\"entries\":1,\"calls\":1,\"outermost\":1,"
			      "\"skipped\":0,\"excluded\":0,\"nested\":0,\"threads\":1,"
			      "\"provenance\":{}",
			      name > 'a' ? "," : "", name);
		for (int part = 0; part < 2; part++) {
			at += sprintf(at, ",\"%s\":{", part ? "self" : "inclusive");
			for (int q = 0; q < 4; q++)
				at += sprintf(at,
					      "%s\"%s\":{\"value\":%d,\"raw\":1,"
					      "\"overhead\":0,\"error\":0,\"flags\":[]}",
					      q ? "," : "",
					      q == 0   ? "time"
					      : q == 1 ? event
					      : q == 2 ? "all"
						       : "m",
					      q + name);
			at += sprintf(at, "}");
		}
		at += sprintf(at,
			      ",\"histograms\":{\"time\":[[1,2,3],[4,5,6]]},\"worst\":["
			      "{\"at\":1,\"tag\":\"0\",\"thread\":1,\"flags\":[],"
			      "\"thread_name\":\"w\",\"parent\":\"q\",\"values\":{\"time\":1,"
			      "\"%s\":1,\"all\":2}}]}",
			      event);
	}
	sprintf(at, "]}");
	return json;
}

static int keep(void *context, const char *text, size_t length)
{
	uint64_t *sum = context;

	for (size_t i = 0; i < length; i++)
		*sum = *sum * 31 + (unsigned char)text[i];
	return 0;
}

static uint64_t whole; /* checksum of the first complete result */

/* Success means that no part is missing. */
static int as_it_was(struct tach_snapshot *s, int code)
{
	struct tach_report_options opt = {.size = sizeof opt, .format = TACH_FORMAT_JSON};
	uint64_t sum = 1;
#if WATCHED
	int was = armed;

	armed = 0;
#endif
	if (!code)
		CHECK(tach_report_write(s, &opt, keep, &sum, NULL) == 0);
	whole = whole ? whole : sum;
	CHECK(code || sum == whole);
	tach_snapshot_free(s);
#if WATCHED
	armed = was;
#endif
	return code;
}

/*
 * If it did. Errors of formulas have a position; no memory is allocated for the first
 * character, so it is never there.
 */
static int failed_so(int code, const struct tach_snapshot *s, const struct tach_error *err)
{
	return code == 0 || (code == TACH_ERR_NOMEM && err->code == code && err->line == 0 &&
			     err->column != 1 && strcmp(err->text, "out of memory") == 0 && !s);
}

static int load_job(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;
	int code = tach_snapshot_load(json, strlen(json), &s, &err);

	CHECK(failed_so(code, s, &err), "%d: %d:%d: %s", code, err.line, err.column, err.text);
	return as_it_was(s, code);
}

static void loaded(void)
{
	report("x", 1, 'b');
	whole = 0;
	exhaust(load_job);
}

static struct tach_snapshot *list[2];
static const struct tach_snapshot *const *const given =
	(const struct tach_snapshot *const *)list;

static void have(const char *first, const char *second)
{
	const char *const events[] = {first, second};

	for (int i = 0; i < 2; i++) {
		report(events[i], i, i ? 'a' : 'b');
		CHECK(tach_snapshot_load(json, strlen(json), &list[i], NULL) == 0);
	}
	whole = 0;
}

static void have_not(void)
{
	tach_snapshot_free(list[0]);
	tach_snapshot_free(list[1]);
	list[0] = list[1] = NULL;
}

static int merge_job(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;
	int code = tach_snapshot_merge(given, 2, &s, &err);

	CHECK(failed_so(code, s, &err));
	return as_it_was(s, code);
}

static int since_job(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;
	int code = tach_snapshot_since(list[0], list[1], &s, &err);

	CHECK(failed_so(code, s, &err));
	return as_it_was(s, code);
}

static void added_up(void)
{
	have("x", "y");
	exhaust(merge_job);
	have_not();
	have("x", "x");
	exhaust(since_job);
	have_not();
}

static int npasses_metrics;

static int passes_job(void)
{
	static const char *const events[] = {"x", "y", "all"};
	static const struct tach__passes_metric metrics[] = {
		{"m", "N0 + N1", {1, 1, "u", "p", "t", "d"}, NULL},
		{"n", "N0 / N2", {0}, NULL}};
	const struct tach__passes_whole of = {.nevents = 3,
					      .nmetrics = npasses_metrics,
					      .event = events,
					      .metric = metrics,
					      .repeated = "all",
					      .repeats = 2,
					      .bound = 0.01};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;
	int code = tach__snapshot_passes(given, 2, &of, &s, &err);

	CHECK(failed_so(code, s, &err));
	return as_it_was(s, code);
}

static void passes(void)
{
	for (npasses_metrics = 0; npasses_metrics <= 2; npasses_metrics += 2) {
		have("m0", "m1");
		exhaust(passes_job);
		have_not();
	}
}

/* Regions are renamed, so that each one is distinct. */
static int ranks_job(void)
{
	struct tach_snapshot *s = NULL, *all = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	int code = 0;

	for (int i = 0; i < 2 && !code; i++) {
		report("x", i, i ? 'a' : 'b');
		code = tach_snapshot_load(json, strlen(json), &list[i], NULL);
	}
	if (!code)
		code = tach_snapshot_merge(given, 2, &all, NULL);
	if (!code) {
		code = tach__snapshot_ranks(list, 2, all, &s, &err);
		CHECK((code == 0) == (s != NULL) && failed_so(code, s, &err));
	}
	tach_snapshot_free(all);
	have_not();
	CHECK(code == 0 || code == TACH_ERR_NOMEM);
	return as_it_was(s, code);
}

static void ranks(void)
{
	whole = 0;
	exhaust(ranks_job);
}

/* ---- snapshots of another process, which is this process itself ---- */

static int read_here(void *context, const void *at, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)at, size};

	(void)context;
	return syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0) == (long)size
		       ? 0
		       : -EFAULT;
}

static int take_job(void)
{
	struct tach__remote r = {.read = read_here};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;
	int code;

	tach__remote_begin(&r, TACH__REMOTE_CPU);
	code = tach__remote_take(&r, &tach__beacon, &s, &err);

	CHECK(failed_so(code, s, &err), "%d: %s", code, err.text);
	CHECK(code || tach_snapshot_nregions(s) == 2);
	tach_snapshot_free(s);
	return code;
}

static void taken(void)
{
	struct tach_regions_options opt = {
		.size = sizeof opt, .events = "", .histograms = 1, .worst = "2"};
	char byte;

	if (read_here(NULL, &opt, &byte, 1) != 0)
		SKIP("no process may trace another here");
	CHECK(tach_regions_configure(&opt, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		TACH_SCOPE(outer);
		TACH_SCOPE(inner);
	}
	exhaust(take_job);
}

int main(void)
{
	CASE(loaded);
	CASE(added_up);
	CASE(passes);
	CASE(ranks);
	CASE(taken);
	return check_done();
}
