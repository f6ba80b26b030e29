/* SPDX-License-Identifier: MIT */
/* Adds up the reports of the processes of `tach run`. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tools/tach/report.h"
#include "tools/tach/run.h"

enum { BATCH = 256 }; /* number of reports held at a time: a build may write thousands */

struct batch {
	struct tach_snapshot *list[BATCH];
	int n;
};

/* Adds all reports of the batch into the first one. */
static int add_up(struct batch *b)
{
	struct tach_snapshot *whole;
	int code;

	if (b->n <= 1)
		return 0;
	code = report_merge(&whole, b->list, b->n, "tach run");
	for (int i = 0; i < b->n; i++)
		tach_snapshot_free(b->list[i]);
	b->list[0] = whole;
	b->n = code ? 0 : 1;
	return code;
}

static int take_text(void *batch, const char *text, size_t length)
{
	struct batch *b = batch;
	struct tach_error err = TACH_ERROR_INIT;

	if (tach_snapshot_load(text, length, &b->list[b->n], &err) != 0) {
		fprintf(stderr, "tach run: a process's report: %s\n", err.text);
		return 0;
	}
	b->n++;
	return b->n == BATCH ? add_up(b) : 0;
}

/* A file whose name does not end in .json is incomplete. */
static int take_file(struct batch *b, const char *file)
{
	struct tach_snapshot *one;

	if (tach_report_format(file) != TACH_FORMAT_JSON ||
	    report_load(&one, file, "tach run") != 0)
		return 0;
	b->list[b->n++] = one;
	return b->n == BATCH ? add_up(b) : 0;
}

/* PID.N.json */
static void note_file(struct run_reports *reports, const char *name, pid_t program)
{
	if (tach_report_format(name) != TACH_FORMAT_JSON)
		return;
	reports->left++;
	reports->of_program |= atoi(name) == program;
}

int run_collect(struct run_reports *reports, int results, const char *directory, pid_t program)
{
	struct batch batch = {.n = 0};
	DIR *dir = opendir(directory);
	struct dirent *d;
	int code = run_results_collect(results, reports, program, take_text, &batch);

	while (dir && (d = readdir(dir))) {
		char file[4096];

		if (d->d_name[0] == '.' || strcmp(d->d_name, RUN_LINK) == 0)
			continue;
		snprintf(file, sizeof file, "%s/%s", directory, d->d_name);
		if (code == 0)
			code = take_file(&batch, file);
		note_file(reports, d->d_name, program);
		unlink(file);
	}
	if (dir)
		closedir(dir);
	/* A program with its own regions also writes a report without our object. */
	if (reports->began < reports->left)
		reports->began = reports->left;
	if (reports->running > reports->began - reports->left)
		reports->running = reports->began - reports->left;
	if (code == 0)
		code = add_up(&batch);
	reports->whole = batch.n ? batch.list[0] : NULL;
	run_missing_note(reports);
	return code;
}

int run_collect_add(struct run_reports *reports, struct tach_snapshot *more)
{
	struct batch b = {.list = {more}, .n = 1};
	int code;

	if (reports->whole)
		b.list[b.n++] = reports->whole;
	code = add_up(&b);
	reports->whole = b.n ? b.list[0] : NULL;
	return code;
}
