/* SPDX-License-Identifier: MIT */
/* Results of other tools: hyperfine's JSON, and the folder that criterion writes. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/json.h"
#include "tools/tach/report.h"
#include "tools/tach/samples.h"

static void add_time(struct samples *s, const char *name, double ns)
{
	samples_add(s,
		    &(struct series){.region = (char *)name,
				     .file = (char *)"",
				     .quantity = (char *)"time",
				     .kind = SERIES_TIME},
		    ns);
}

/*
 * Reads the seconds of each run, or the mean if there are none (--export-json of a failed run).
 */
int samples_load_hyperfine(struct samples *s, const struct tach__json *root, const char *file,
			   const char *who)
{
	const struct tach__json *list = tach__json_member(root, "results");

	s->of = "run";
	for (const struct tach__json *one = list->kid; one; one = one->next) {
		const struct tach__json *name = tach__json_member(one, "command");
		const struct tach__json *times = tach__json_member(one, "times");
		const struct tach__json *mean = tach__json_member(one, "mean");

		if (!name || name->type != TACH__JSON_STRING || (!times && !mean)) {
			fprintf(stderr, "%s: %s:%d:%d: this is no result of hyperfine\n", who,
				file, one->line, one->column);
			return -1;
		}
		if (!times)
			add_time(s, name->text, 1e9 * mean->number);
		for (const struct tach__json *t = times ? times->kid : NULL; t; t = t->next)
			add_time(s, name->text, 1e9 * t->number);
	}
	return 0;
}

/* ---- criterion: NAME/new/sample.json contains times and their numbers of iterations ---- */

static struct criterion {
	struct samples *to;
	const char *who;
	size_t folder; /* length of the folder's name */
	int code;
} walk;

static int take_sample(const char *path, const char *text, size_t length, const char *name)
{
	const struct tach__json *iterations, *times;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__arena arena = {0};
	struct tach__json *root;
	int code = tach__json_read(&root, &arena, text, length, &err);

	iterations = code ? NULL : tach__json_member(root, "iters");
	times = code ? NULL : tach__json_member(root, "times");
	if (!iterations || !times) {
		fprintf(stderr, "%s: %s:%d:%d: %s\n", walk.who, path, err.line, err.column,
			code ? err.text : "this is no sample of criterion");
		code = -1;
	} else {
		iterations = iterations->kid;
		times = times->kid;
	}
	for (; !code && iterations && times; iterations = iterations->next, times = times->next)
		add_time(walk.to, name, times->number / iterations->number);
	tach__arena_free(&arena);
	return code;
}

static int visit_file(const char *path, const struct stat *status, int type, struct FTW *at)
{
	static const char end[] = "/new/sample.json";
	size_t n = strlen(path), length;
	char *text, *name;

	(void)status;
	(void)at;
	if (type != FTW_F || n <= walk.folder + sizeof end ||
	    strcmp(path + n - (sizeof end - 1), end) != 0)
		return 0;
	text = report_slurp(path, &length, walk.who);
	name = strndup(path + walk.folder + 1, n - walk.folder - sizeof end);
	walk.code = text && name ? take_sample(path, text, length, name) : -1;
	free(text);
	free(name);
	return walk.code;
}

int samples_load_criterion(struct samples *s, const char *folder, const char *who)
{
	size_t before = s->n;

	walk = (struct criterion){s, who, strlen(folder), 0};
	while (walk.folder > 1 && folder[walk.folder - 1] == '/')
		walk.folder--;
	s->of = "sample";
	if (nftw(folder, visit_file, 16, FTW_PHYS) != 0 || walk.code)
		return -1;
	return s->n > before ? 0 : 1;
}
