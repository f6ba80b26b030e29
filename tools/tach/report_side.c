/* SPDX-License-Identifier: MIT */
/* The runs of one program, as `tach report --diff` compares them, and where regions are in
 * each. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/snapshot/plain.h"
#include "tools/tach/report.h"

/* ---- a report, or a folder with one of every run ---- */

static int is_report(const struct dirent *entry)
{
	const char *end = report_suffix(entry->d_name);

	return end && strcmp(end, ".json") == 0;
}

/* The names of a folder's reports; a file's own. *n < 0: printed. */
static char **reports_in(const char *path, int *n)
{
	struct dirent **found = NULL;
	struct stat status;
	char **names;

	*n = stat(path, &status) == 0 && S_ISDIR(status.st_mode)
		     ? scandir(path, &found, is_report, alphasort)
		     : 1;
	names = calloc((size_t)(*n > 0 ? *n : 1), sizeof *names);
	for (int i = 0; names && i < *n; i++)
		if (found ? asprintf(&names[i], "%s/%s", path, found[i]->d_name) < 0
			  : !(names[i] = strdup(path)))
			names[i] = NULL;
	for (int i = 0; found && i < *n; i++)
		free(found[i]);
	free(found);
	if (names && *n > 0)
		return names;
	fprintf(stderr, "tach report: %s: %s\n", path,
		*n == 0 ? "no reports in it" : strerror(errno));
	free(names);
	*n = -1;
	return NULL;
}

void report_side_free(struct report_side *s)
{
	for (int i = 0; s->list && i < s->n; i++)
		tach_snapshot_free(s->list[i]);
	free(s->list);
}

int report_side_load(struct report_side *s, const char *path)
{
	char **names = reports_in(path, &s->n);
	int code = names ? 0 : -1;

	s->list = names ? calloc((size_t)s->n, sizeof *s->list) : NULL;
	for (int i = 0; names && i < s->n; i++) {
		if (!code && s->list && names[i])
			code = report_load(&s->list[i], names[i], "tach report");
		free(names[i]);
	}
	free(names);
	return s->list ? code : -1;
}

/* ---- where regions are ---- */

static int by_place(const void *a, const void *b)
{
	const struct report_place *x = a, *y = b;
	int order = tach__place_order(&x->info, &y->info);

	return order ? order : (x->region > y->region) - (x->region < y->region);
}

struct report_place *report_places(const struct tach_snapshot *s)
{
	int n = tach_snapshot_nregions(s);
	struct report_place *all = calloc((size_t)n + 1, sizeof *all);

	for (int r = 0; all && r < n; r++) {
		tach_snapshot_region(s, r, &all[r].info);
		all[r].region = r;
	}
	if (all)
		qsort(all, (size_t)n, sizeof *all, by_place);
	return all;
}

/* The first that does not come before `like`; n: all do. */
static int first_from(const struct report_place *all, int n, const struct report_place *like)
{
	int low = 0, high = n;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (by_place(&all[middle], like) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Regions of the same name may differ in their lines: programs change between runs. -1: none.
 */
int report_place_find(const struct report_place *all, int n,
		      const struct tach_region_info *like)
{
	struct report_place wanted = {.info = *like, .region = 0};
	int at = first_from(all, n, &wanted);

	if (at < n && tach__place_order(&all[at].info, like) == 0)
		return all[at].region;
	wanted.info.file = "";
	wanted.info.line = 0;
	at = first_from(all, n, &wanted);
	return at < n && strcmp(all[at].info.name, like->name) == 0 ? all[at].region : -1;
}
