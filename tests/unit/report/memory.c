/* SPDX-License-Identifier: MIT */
/*
 * Memory of reports: each piece that is refused is told as TACH_ERR_NOMEM, what is written is a
 * part of the report, and all that was taken is given back. The program's own malloc and mmap
 * stand before the C library's, as in tests/unit/os/allocation_faults.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <tach.h>
#include <unistd.h>
#include "core/region/region.h"
#include "core/report/report.h"
#include "core/startup/startup.h"
#include "tests/check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
int main(void)
{
	puts("skip memory: the sanitizer brings a malloc of its own");
	return 0;
}
#else

static long calls, fail_at = -1; /* of those that are refused */
static long blocks, pages;	 /* taken, and not given back */

static int is_refused(void)
{
	return calls++ == fail_at;
}

#pragma GCC visibility push(default)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void __libc_free(void *p);

void *malloc(size_t size)
{
	void *p = __libc_malloc(size);

	blocks += p != NULL;
	return p;
}

void *calloc(size_t n, size_t size)
{
	void *p = is_refused() ? NULL : __libc_calloc(n, size);

	blocks += p != NULL;
	return p;
}

void free(void *p)
{
	blocks -= p != NULL;
	__libc_free(p);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *p;

	if (is_refused()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	p = (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
	pages += p != MAP_FAILED ? (long)((size + 4095) / 4096) : 0;
	return p;
}

int munmap(void *at, size_t size)
{
	pages -= (long)((size + 4095) / 4096);
	return (int)syscall(SYS_munmap, at, size);
}
#pragma GCC visibility pop

static size_t written;

static int discard(void *context, const char *text, size_t length)
{
	(void)context;
	(void)text;
	written += length;
	return 0;
}

/* A job that takes so many. */
static void each_piece(int (*job)(int), int which, long pieces)
{
	long blocks_before = blocks, pages_before = pages;
	size_t whole;

	written = 0;
	fail_at = -1;
	calls = 0;
	CHECK(job(which) == 0);
	whole = written;
	CHECK(calls == pieces, "%d: %ld pieces", which, calls);
	CHECK(blocks == blocks_before && pages == pages_before, "%d: %ld blocks, %ld pages",
	      which, blocks - blocks_before, pages - pages_before);
	for (long k = 0; k < pieces; k++) {
		int code;

		written = 0;
		calls = 0;
		fail_at = k;
		code = job(which);
		fail_at = -1;
		CHECK(code == TACH_ERR_NOMEM, "%d, piece %ld: %d", which, k, code);
		CHECK(written <= whole, "%d, piece %ld: %zu bytes", which, k, written);
		CHECK(blocks == blocks_before && pages == pages_before,
		      "%d, piece %ld: %ld blocks, %ld pages", which, k, blocks - blocks_before,
		      pages - pages_before);
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
	/* Where a formula has no memory, the usual threshold holds. */
	memcpy(threshold, "\"no\"       ", 11);
	CHECK(tach_snapshot_load(json, n, &snapshot, NULL) == 0);
	if (!snapshot)
		return;
	/* Regions have two histograms, three, and four times one; a tree takes four pieces. */
	each_piece(report, TACH_FORMAT_TEXT, 4 + 6 + 4);
	each_piece(report, TACH_FORMAT_JSON, 2 + 3 + 4);
	each_piece(report, TACH_FORMAT_CSV, 0);
	each_piece(report, TACH_FORMAT_PROMETHEUS, 6);
	each_piece(report, TACH_FORMAT_HTML, 2 + 4 + 6 + 9);
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

	setenv("TACH_RUN", "1", 1); /* nothing else is begun */
	setenv("TACH_TRACE", "/dev/null", 1);
	tach__output_at_exit(NULL);
	each_piece(trace_file, 0, 2);
	/* The first time takes what stays. */
	for (int i = 0; i < 2; i++) {
		blocks_before = blocks;
		pages_before = pages;
		CHECK(tach__beacon_json(discard, NULL, NULL) == 0);
	}
	CHECK(blocks == blocks_before && pages == pages_before, "%ld blocks, %ld pages",
	      blocks - blocks_before, pages - pages_before);
}

int main(void)
{
	CASE(of_formats);
	CASE(of_traces);
	CASE(of_the_process);
	return check_done();
}
#endif
