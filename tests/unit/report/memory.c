/* SPDX-License-Identifier: MIT */
/*
 * Memory of reports: each refused allocation gives TACH_ERR_NOMEM, the output is a part of the
 * report, and all memory is freed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/region/region.h"
#include "core/report/report.h"
#include "core/startup/startup.h"
#include "tests/allocations.h"
#include "tests/check.h"

#if !WATCHED
int main(void)
{
	puts("this C library or a sanitizer has a malloc that cannot be watched");
	return 77 + check__failed;
}
#else

static size_t written;

static int discard(void *context, const char *text, size_t length)
{
	(void)context;
	(void)text;
	written += length;
	return 0;
}

/* Runs a job that makes this number of allocations, each of which fails once. */
static void each_piece(int (*job)(int), int which, long pieces)
{
	long blocks_before = live, pages_before = mapped;
	size_t whole;

	written = 0;
	fail_at = -1;
	calls = 0;
	armed = 1;
	CHECK(job(which) == 0);
	armed = 0;
	whole = written;
	CHECK(calls == pieces, "%d: %ld pieces", which, calls);
	CHECK(live == blocks_before && mapped == pages_before, "%d: %ld blocks, %ld pages",
	      which, live - blocks_before, mapped - pages_before);
	for (long k = 0; k < pieces; k++) {
		int code;

		written = 0;
		calls = 0;
		fail_at = k;
		armed = 1;
		code = job(which);
		armed = 0;
		CHECK(code == TACH_ERR_NOMEM, "%d, piece %ld: %d", which, k, code);
		CHECK(written <= whole, "%d, piece %ld: %zu bytes", which, k, written);
		CHECK(live == blocks_before && mapped == pages_before,
		      "%d, piece %ld: %ld blocks, %ld pages", which, k, live - blocks_before,
		      mapped - pages_before);
	}
}

static struct tach_snapshot *snapshot;

static int report(int format)
{
	struct tach_report_options opt = {.format = (enum tach_format)format};

	return tach_report_write(snapshot, &opt, discard, NULL, NULL);
}

static void of_formats(void)
{
	static char json[1 << 16];
	char *threshold;
	FILE *from = fopen("tests/unit/report/formats/whole.json", "r");
	size_t n = from ? fread(json, 1, sizeof json, from) : 0;

	if (from)
		fclose(from);
	threshold = strstr(json, "\"threshold\"");
	CHECK(threshold != NULL);
	if (!threshold)
		return;
	/* If a formula cannot be allocated, the default threshold applies. */
	memcpy(threshold, "\"no\"       ", 11);
	CHECK(tach_snapshot_load(json, n, &snapshot, NULL) == 0);
	if (!snapshot)
		return;
	/* The environment's settings for reports are read by the first report, and kept. */
	CHECK(report(TACH_FORMAT_TEXT) == 0);
	/*
	 * Allocations: two histograms for regions, three, and four times one; four pieces for a
	 * tree of metrics, one for a tree of regions.
	 */
	each_piece(report, TACH_FORMAT_TEXT, 4 + 6 + 4 + 1);
	each_piece(report, TACH_FORMAT_JSON, 2 + 3 + 4);
	each_piece(report, TACH_FORMAT_CSV, 0);
	each_piece(report, TACH_FORMAT_PROMETHEUS, 6);
	each_piece(report, TACH_FORMAT_HTML, 2 + 4 + 6 + 9 + 1);
	tach_snapshot_free(snapshot);
}

static int trace(int folded)
{
	return tach__report_trace(discard, NULL, folded);
}

static void of_traces(void)
{
	struct tach_regions_options opt = {.events = ""};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	tach__registry.config->trace = 1;
	for (int i = 0; i < 2; i++) {
		TACH_START(traced);
		TACH_STOP(traced);
	}
	each_piece(trace, 0, 1);
	each_piece(trace, 1, 2);
}

static int trace_file(int unused)
{
	(void)unused;
	return tach__trace_write();
}

static void of_the_process(void)
{
	long blocks_before = 0, pages_before = 0;

	setenv("TACH_RUN", "1", 1); /* so that the library starts nothing else */
	setenv("TACH_TRACE", "/dev/null", 1);
	tach__output_at_exit(NULL);
	each_piece(trace_file, 0, 2);
	/* The first report makes allocations that are kept. */
	for (int i = 0; i < 2; i++) {
		blocks_before = live;
		pages_before = mapped;
		CHECK(tach__beacon_json(discard, NULL, NULL) == 0);
	}
	CHECK(live == blocks_before && mapped == pages_before, "%ld blocks, %ld pages",
	      live - blocks_before, mapped - pages_before);
}

int main(void)
{
	CASE(of_formats);
	CASE(of_traces);
	CASE(of_the_process);
	return check_done();
}
#endif
