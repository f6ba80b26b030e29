/* SPDX-License-Identifier: MIT */
/* Saved samples: baselines, reports, benchmark results. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/change/change.h"
#include "tools/tach/history.h"
#include "tools/tach/report.h"
#include "tools/tach/samples.h"

/*
 * ---- a baseline: one line per series, cells separated by tabs, special characters as %XX ----
 */

static const char head[] = "# tach gate 2: ", old_head[] = "# tach gate 1: ";

static void put_name(FILE *to, const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == '%' || *name == 127)
			fprintf(to, "%%%02X", (unsigned char)*name);
		else
			putc(*name, to);
}

static void put_series(FILE *to, const struct series *s)
{
	put_name(to, s->region);
	putc('\t', to);
	put_name(to, s->quantity);
	fprintf(to, "\t%s\t", series_kinds[s->kind]);
	put_name(to, s->file);
	fprintf(to, ":%u", s->line);
	for (size_t v = 0; v < s->n; v++)
		fprintf(to, "%c%.17g", v ? ' ' : '\t', s->value[v]);
	putc('\n', to);
}

/* Writes a new file and renames it: there is always a complete file, old or new. */
int samples_save(const struct samples *s, const char *file, const char *who)
{
	char *beside;
	FILE *to;
	int bad;

	if (asprintf(&beside, "%s.%d.tmp", file, (int)getpid()) < 0)
		return -1;
	to = fopen(beside, "we");
	if (to) {
		fprintf(to, "%s%s\n", head, s->how);
		for (size_t i = 0; i < s->n; i++)
			put_series(to, s->list[i]);
	}
	bad = !to || ferror(to);
	if (to && fclose(to) != 0)
		bad = 1;
	if (!bad && rename(beside, file) != 0)
		bad = 1;
	if (bad) {
		fprintf(stderr, "%s: %s: %s\n", who, file, strerror(errno));
		unlink(beside);
	}
	free(beside);
	return -bad;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place. Returns -1 for a % without two digits after it. */
static int take_name(char *name)
{
	char *to = name;

	for (; *name; name++) {
		if (*name != '%') {
			*to++ = *name;
			continue;
		}
		if (hex_digit(name[1]) < 0 || hex_digit(name[2]) < 0)
			return -1;
		*to++ = (char)(hex_digit(name[1]) << 4 | hex_digit(name[2]));
		name += 2;
	}
	*to = '\0';
	return 0;
}

static int take_place(struct series *s, char *place)
{
	char *colon = strrchr(place, ':'), *end;

	if (!colon || colon[1] < '0' || colon[1] > '9')
		return -1;
	s->line = (unsigned)strtoul(colon + 1, &end, 10);
	*colon = '\0';
	s->file = place;
	return *end ? -1 : take_name(place);
}

int series_kind(struct series *s, const char *name)
{
	for (int k = 0; k < SERIES_KINDS; k++)
		if (strcmp(series_kinds[k], name) == 0) {
			s->kind = (enum series_kind)k;
			return 0;
		}
	return -1;
}

static int take_values(struct samples *s, const struct series *like, char *text)
{
	size_t n = 0;

	for (char *end; *text; n++) {
		double value = strtod(text, &end);

		if (end == text || (*end != ' ' && *end != '\0') || !isfinite(value))
			return -1;
		samples_add(s, like, value);
		text = end + (*end == ' ');
	}
	return n ? 0 : -1;
}

/* Version 1 has lines REGION QUANTITY VALUES. */
static enum series_kind kind_of(const struct samples *s, const char *quantity)
{
	return strcmp(quantity, "time") == 0	      ? SERIES_TIME
	       : strncmp(s->how, "exact", 5) == 0     ? SERIES_EXACT
	       : tach__change_is_repeatable(quantity) ? SERIES_EXACT
						      : SERIES_COUNT;
}

static int take_line(struct samples *s, char *line)
{
	struct series like = {.file = (char *)""};
	char *cell[5], *rest = line;
	size_t n = 0;

	while (n < 5 && (cell[n] = strsep(&rest, "\t")))
		n++;
	if (rest || (n != 3 && n != 5) || take_name(cell[0]) != 0 || take_name(cell[1]) != 0)
		return -1;
	like.region = cell[0];
	like.quantity = cell[1];
	like.kind = kind_of(s, like.quantity);
	if (n == 5 && (series_kind(&like, cell[2]) != 0 || take_place(&like, cell[3]) != 0))
		return -1;
	return samples_find(s, &like) ? -1 : take_values(s, &like, cell[n - 1]);
}

static int load_baseline(struct samples *s, char *text, const char *file, const char *who)
{
	char *rest = text, *line = strsep(&rest, "\n");

	snprintf(s->how, sizeof s->how, "%s", line + strlen(head));
	s->of = "run";
	for (int number = 2; (line = strsep(&rest, "\n")); number++)
		if ((*line || rest) && take_line(s, line) != 0) {
			fprintf(stderr, "%s: %s:%d: this is not a line of a baseline\n", who,
				file, number);
			return -1;
		}
	return 0;
}

/* ---- a file of any format ---- */

static int load_file(struct samples *s, const char *file, const char *who)
{
	size_t length;
	char *text = report_slurp(file, &length, who);
	int code;

	if (!text)
		return -1;
	if (strncmp(text, "{\"tach-history\"", 15) == 0)
		code = history_newest(s, file, who);
	else if (strncmp(text, head, strlen(head)) == 0 ||
		 strncmp(text, old_head, strlen(old_head)) == 0)
		code = load_baseline(s, text, file, who);
	else
		code = samples_load_json(s, text, length, file, who);
	free(text);
	return code;
}

static int is_report(const struct dirent *entry)
{
	const char *end = report_suffix(entry->d_name);

	return end && strcmp(end, ".json") == 0;
}

static int load_folder(struct samples *s, const char *path, const char *who)
{
	struct dirent **found = NULL;
	int n = scandir(path, &found, is_report, alphasort), code = 0;

	if (n == 0) {
		free(found);
		code = samples_load_criterion(s, path, who);
		if (code > 0)
			fprintf(stderr, "%s: %s: there is no report in it\n", who, path);
		return code ? -1 : 0;
	}
	if (n < 0)
		fprintf(stderr, "%s: %s: %s\n", who, path, strerror(errno));
	for (int i = 0; i < n; i++) {
		char file[4400];

		snprintf(file, sizeof file, "%s/%s", path, found[i]->d_name);
		code = code ? code : load_file(s, file, who);
		free(found[i]);
	}
	free(found);
	return n > 0 ? code : -1;
}

int samples_load(struct samples *s, const char *path, const char *who)
{
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return load_folder(s, path, who);
	return load_file(s, path, who);
}
