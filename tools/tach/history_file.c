/* SPDX-License-Identifier: MIT */
/* A history's file: lines of JSON, which are only appended. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/json.h"
#include "core/os/buffer.h"
#include "tools/tach/commands.h"
#include "tools/tach/history.h"
#include "tools/tach/report.h"

/* ---- writing ---- */

static int all_equal(const struct series *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (s->value[i] != s->value[0])
			return 0;
	return 1;
}

static void write_series(struct tach__json_out *json, const struct series *s)
{
	size_t n = s->n > 1 && all_equal(s) ? 1 : s->n;

	tach__json_object(json, NULL);
	series_json(json, s, 1);
	tach__json_string(json, "kind", series_kinds[s->kind]);
	if (n != s->n)
		tach__json_unsigned(json, "times", s->n);
	series_json_values(json, s, n);
	tach__json_end(json);
}

/* The date comes first, so that sort(1) sorts lines by date. */
void history_write_run(struct tach__out *out, const struct history_run *run)
{
	struct tach__json_out json;

	tach__json_begin(&json, out, TACH__JSON_COMPACT);
	tach__json_object(&json, NULL);
	tach__json_unsigned(&json, "tach-history", 1);
	tach__json_string(&json, "date", run->date);
	tach__json_string(&json, "commit", run->commit);
	tach__json_string(&json, "subject", run->subject);
	tach__json_string(&json, "machine", run->machine);
	tach__json_string(&json, "counted", run->counted);
	tach__json_string(&json, "of", run->of.of ? run->of.of : "run");
	tach__json_array(&json, "series");
	for (size_t i = 0; i < run->of.n; i++)
		write_series(&json, run->of.list[i]);
	tach__json_end(&json);
	tach__json_end(&json);
	tach__out_text(out, "\n");
}

/* ---- reading ---- */

static char *take_text(const struct tach__json *object, const char *key)
{
	const char *text = samples_text(object, key);

	return text ? strdup(text) : NULL;
}

/* -Returns 1 if it is another kind of JSON. */
static int read_run(struct history_run *run, const struct tach__json *root)
{
	const struct tach__json *list = tach__json_member(root, "series");
	const char *of = samples_text(root, "of");

	run->commit = take_text(root, "commit");
	run->subject = take_text(root, "subject");
	run->date = take_text(root, "date");
	run->machine = take_text(root, "machine");
	run->counted = take_text(root, "counted");
	if (!tach__json_member(root, "tach-history") || !run->commit || !run->date ||
	    !run->subject || !run->machine || !run->counted || !list ||
	    history_date(run->date, &run->at) != 0)
		return -1;
	run->of.of = of && strcmp(of, "sample") == 0 ? "sample" : "run";
	snprintf(run->of.how, sizeof run->of.how, "%s", run->counted);
	for (const struct tach__json *one = list->kid; one; one = one->next)
		if (samples_take_series(&run->of, one) != 0)
			return -1;
	samples_sort(&run->of);
	return 0;
}

void history_run_free(struct history_run *run)
{
	free(run->commit);
	free(run->subject);
	free(run->date);
	free(run->machine);
	free(run->counted);
	samples_free(&run->of);
}

void history_free(struct history *h)
{
	for (size_t i = 0; i < h->n; i++)
		history_run_free(&h->run[i]);
	free(h->run);
	*h = (struct history){0};
}

static int add_run(struct history *h, const char *text, size_t length, size_t line,
		   struct tach_error *err)
{
	struct tach__arena arena = {0};
	struct history_run run = {.line = line}, *more;
	struct tach__json *root;
	int code = tach__json_read(&root, &arena, text, length, err);

	if (!code && read_run(&run, root) != 0) {
		snprintf(err->text, sizeof err->text, "this is no run of a history");
		err->column = 1;
		code = TACH_ERR_INVAL;
	}
	tach__arena_free(&arena);
	more = code ? NULL : realloc(h->run, (h->n + 1) * sizeof *h->run);
	if (more) {
		h->run = more;
		h->run[h->n++] = run;
		return 0;
	}
	history_run_free(&run);
	return code ? code : TACH_ERR_NOMEM;
}

static int is_conflict(const char *text)
{
	return strncmp(text, "<<<<<<<", 7) == 0 || strncmp(text, "=======", 7) == 0 ||
	       strncmp(text, ">>>>>>>", 7) == 0 || strncmp(text, "|||||||", 7) == 0;
}

static int read_lines(struct history *h, const char *text, size_t length, const char *file)
{
	const char *end = text + length;

	for (size_t line = 1; text < end; line++) {
		const char *next = memchr(text, '\n', (size_t)(end - text));
		struct tach_error err = TACH_ERROR_INIT;

		if (is_conflict(text)) {
			fprintf(stderr,
				HISTORY_WHO ": %s:%zu: git left a conflict here: delete its "
					    "marker lines, keep the lines between them, and "
					    "put 'merge=union' for this file into "
					    ".gitattributes\n",
				file, line);
			return EXIT_USAGE;
		}
		if (!next) {
			fprintf(stderr,
				HISTORY_WHO ": %s:%zu: the last line is cut off; delete it to "
					    "go on\n",
				file, line);
			return EXIT_UNKNOWN;
		}
		if (add_run(h, text, (size_t)(next - text), line, &err) != 0) {
			fprintf(stderr, HISTORY_WHO ": %s:%zu:%d: %s\n", file, line, err.column,
				err.text);
			return EXIT_USAGE;
		}
		text = next + 1;
	}
	return 0;
}

static int by_date(const void *a, const void *b)
{
	const struct history_run *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

int history_read(struct history *h, const char *file)
{
	size_t length;
	char *text = report_slurp(file, &length, HISTORY_WHO);
	int status;

	if (!text)
		return EXIT_USAGE;
	status = read_lines(h, text, length, file);
	free(text);
	for (size_t i = 1; i < h->n && !h->backward; i++)
		if (h->run[i].at < h->run[i - 1].at)
			h->backward = h->run[i].line;
	if (h->n)
		qsort(h->run, h->n, sizeof *h->run, by_date);
	if (status || !h->backward)
		return status;
	fprintf(stderr,
		HISTORY_WHO ": %s:%zu: this run is dated before the one above it: runs are "
			    "taken by date; sort(1) puts the lines into that order\n",
		file, h->backward);
	return EXIT_UNKNOWN;
}

/* ---- appending ---- */

static int put_line(int fd, const struct tach__buffer *text, const char *file)
{
	struct stat before;
	size_t done = 0;

	if (fstat(fd, &before) != 0)
		return -1;
	while (done < text->length) {
		ssize_t n = write(fd, text->at + done, text->length - done);

		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			break;
	}
	if (done == text->length && fsync(fd) == 0)
		return 0;
	fprintf(stderr, HISTORY_WHO ": %s: %s; the file is as it was\n", file, strerror(errno));
	if (ftruncate(fd, before.st_size) != 0)
		fprintf(stderr, HISTORY_WHO ": %s: its last line is cut off\n", file);
	return -1;
}

/* Reads the file before appending: only the last line may be incomplete. */
static int check_file(const char *file, const struct history_run *run)
{
	struct history h = {0};
	int status = history_read(&h, file);

	if (!status && h.n && run->at < h.run[h.n - 1].at) {
		fprintf(stderr,
			HISTORY_WHO ": %s:%zu: this run (%s) is dated before the last one (%s) "
				    "and was not added; give its --date\n",
			file, h.run[h.n - 1].line, run->date, h.run[h.n - 1].date);
		status = EXIT_USAGE;
	}
	history_free(&h);
	return status;
}

int history_append(const char *file, const struct history_run *run)
{
	int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666), status;
	struct tach__buffer text = {0};
	struct tach__out out;

	if (fd < 0 || flock(fd, LOCK_EX) != 0) {
		fprintf(stderr, HISTORY_WHO ": %s: %s\n", file, strerror(errno));
		if (fd >= 0)
			close(fd);
		return EXIT_USAGE;
	}
	tach__out_open(&out, tach__buffer_sink, &text);
	history_write_run(&out, run);
	status = tach__out_flush(&out) == 0 ? check_file(file, run) : EXIT_USAGE;
	if (!status && put_line(fd, &text, file) != 0)
		status = EXIT_USAGE;
	tach__buffer_free(&text);
	close(fd);
	return status;
}

/* ---- as a baseline ---- */

static int is_comparable(const struct history_run *run, const char *how)
{
	char here[256];

	if (*how && strcmp(run->counted, how) != 0)
		return 0;
	history_machine(run->counted, here, sizeof here);
	return !*how || strcmp(run->machine, here) == 0;
}

int history_newest(struct samples *s, const char *file, const char *who)
{
	struct history h = {0};
	size_t i;

	if (history_read(&h, file) != 0) {
		history_free(&h);
		return -1;
	}
	i = h.n;
	while (i && !is_comparable(&h.run[i - 1], s->how))
		i--;
	if (i) {
		samples_free(s);
		*s = h.run[i - 1].of;
		h.run[i - 1].of = (struct samples){0};
	} else {
		fprintf(stderr,
			"%s: %s: no run in it was '%s' on this machine: there is no baseline; "
			"tach history add makes one\n",
			who, file, s->how);
	}
	history_free(&h);
	return i ? 0 : -1;
}
