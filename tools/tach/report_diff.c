/* SPDX-License-Identifier: MIT */
/* `tach report --diff`: two runs side by side, region by region and quantity by quantity. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/report/deliver.h"
#include "tools/tach/commands.h"
#include "tools/tach/report.h"

enum verdict { SAME, BEYOND, ONLY_OLD, ONLY_NEW };

struct line {
	const char *region, *quantity;
	int is_time;
	double old, new, error; /* error: of the difference */
	enum verdict verdict;
};

struct diff {
	const struct tach_snapshot *old, *new;
	enum tach_format format;
	FILE *to;
	int width;   /* of the longest region's name */
	int beyond;  /* differences beyond the error bars */
	int written; /* lines */
};

static const char *const verdicts[] = {"within error", "differs", "only in old", "only in new"};

/* ---- one line ---- */

static void print_number(FILE *to, double v)
{
	if (isfinite(v))
		fprintf(to, "%.17g", v);
}

static double relative(const struct line *l)
{
	return l->old != 0 ? (l->new - l->old) / fabs(l->old) : NAN;
}

static void print_text(const struct diff *d, const struct line *l)
{
	char percent[32] = "-", name[256], quantity[256];

	tach_printable(l->region, name, sizeof name);
	tach_printable(l->is_time ? "time (ns)" : l->quantity, quantity, sizeof quantity);
	if (isfinite(relative(l)))
		snprintf(percent, sizeof percent, "%+.2f%%", 100 * relative(l));
	fprintf(d->to, "%-*s  %-24s  %14.6g  %14.6g  %+14.6g  %10s  %s\n", d->width, name,
		quantity, l->old, l->new, l->new - l->old, percent, verdicts[l->verdict]);
}

static void print_csv(const struct diff *d, const struct line *l)
{
	const double number[] = {l->old, l->new, l->new - l->old, relative(l), l->error};

	csv_string(d->to, l->region);
	putc(',', d->to);
	csv_string(d->to, l->is_time ? "time_ns" : l->quantity);
	for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
		putc(',', d->to);
		print_number(d->to, number[i]);
	}
	fprintf(d->to, ",%s\r\n", verdicts[l->verdict]);
}

static void print_json(const struct diff *d, const struct line *l)
{
	static const char *const names[] = {"old", "new", "difference", "relative", "error"};
	const double number[] = {l->old, l->new, l->new - l->old, relative(l), l->error};

	fprintf(d->to, "%s\n  {\"region\": ", d->written ? "," : "");
	json_string(d->to, l->region);
	fputs(", \"quantity\": ", d->to);
	json_string(d->to, l->quantity);
	for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
		fprintf(d->to, ", \"%s\": ", names[i]);
		if (isfinite(number[i]))
			print_number(d->to, number[i]);
		else
			fputs("null", d->to);
	}
	fprintf(d->to, ", \"verdict\": \"%s\"}", verdicts[l->verdict]);
}

static void print(struct diff *d, const struct line *l)
{
	if (d->format == TACH_FORMAT_TEXT)
		print_text(d, l);
	else if (d->format == TACH_FORMAT_CSV)
		print_csv(d, l);
	else
		print_json(d, l);
	d->beyond += l->verdict != SAME;
	d->written++;
}

/* ---- what there is to compare ---- */

/* A snapshot's regions by name, and those of one name in their own order. */
struct place {
	struct tach_region_info info;
	int region;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->info.name, y->info.name);

	if (!order)
		order = strcmp(x->info.file, y->info.file);
	if (!order)
		order = (x->info.line > y->info.line) - (x->info.line < y->info.line);
	return order ? order : (x->region > y->region) - (x->region < y->region);
}

static struct place *places_of(const struct tach_snapshot *s)
{
	int n = tach_snapshot_nregions(s);
	struct place *all = calloc((size_t)n + 1, sizeof *all);

	for (int r = 0; all && r < n; r++) {
		tach_snapshot_region(s, r, &all[r].info);
		all[r].region = r;
	}
	if (all)
		qsort(all, (size_t)n, sizeof *all, by_place);
	return all;
}

/* The first that does not come before `like`; n: all do. */
static int first_from(const struct place *all, int n, const struct place *like)
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

/* Regions of the same name may differ in their lines: programs change between runs. -1: none.
 */
static int find_region(const struct place *all, int n, const struct tach_region_info *like)
{
	struct place wanted = {.info = *like, .region = 0};
	int at = first_from(all, n, &wanted);

	if (at < n && strcmp(all[at].info.name, like->name) == 0 &&
	    strcmp(all[at].info.file, like->file) == 0 && all[at].info.line == like->line)
		return all[at].region;
	wanted.info.file = "";
	wanted.info.line = 0;
	at = first_from(all, n, &wanted);
	return at < n && strcmp(all[at].info.name, like->name) == 0 ? all[at].region : -1;
}

/* Number of a quantity or, counted on, of a metric; -1: it has none of that name. */
static int find_quantity(const struct tach_snapshot *s, const char *name)
{
	int n = tach_snapshot_nquantities(s);

	for (int q = 0; q < n; q++)
		if (strcmp(tach_snapshot_quantity(s, q), name) == 0)
			return q;
	for (int m = 0; m < tach_snapshot_nmetrics(s); m++)
		if (strcmp(tach_snapshot_metric(s, m), name) == 0)
			return n + m;
	return -1;
}

static void value_of(const struct tach_snapshot *s, int region, int q, struct tach_value *v)
{
	int n = tach_snapshot_nquantities(s);

	if (q < n)
		tach_snapshot_value(s, region, q, TACH_PART_INCLUSIVE, v);
	else
		tach_snapshot_derived(s, region, q - n, TACH_PART_INCLUSIVE, v);
}

/* Counts are compared as they are: who ran twice as long sees twice as much. */
static void compare(struct diff *d, const struct tach_region_info *info, int old_region,
		    int new_region)
{
	int n = tach_snapshot_nquantities(d->old) + tach_snapshot_nmetrics(d->old);

	for (int q = 0; q < n; q++) {
		int first = tach_snapshot_nquantities(d->old);
		const char *name = q < first ? tach_snapshot_quantity(d->old, q)
					     : tach_snapshot_metric(d->old, q - first);
		int other = find_quantity(d->new, name);
		struct line l = {.region = info->name, .quantity = name, .is_time = q == 0};
		struct tach_value a, b;

		if (other < 0)
			continue;
		value_of(d->old, old_region, q, &a);
		value_of(d->new, new_region, other, &b);
		l.old = a.value;
		l.new = b.value;
		l.error = a.error + b.error;
		l.verdict = fabs(b.value - a.value) > l.error ? BEYOND : SAME;
		if (isnan(a.value) != isnan(b.value))
			l.verdict = BEYOND;
		print(d, &l);
	}
}

/* A region that only one of them has: its time stands for it. */
static void alone(struct diff *d, const struct tach_snapshot *s, int region, const char *name)
{
	struct line l = {.region = name, .quantity = "time", .is_time = 1};
	struct tach_value v;

	tach_snapshot_value(s, region, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE, &v);
	l.verdict = s == d->old ? ONLY_OLD : ONLY_NEW;
	*(s == d->old ? &l.old : &l.new) = v.value;
	l.error = v.error;
	print(d, &l);
}

static void widen(struct diff *d, const struct tach_snapshot *s)
{
	struct tach_region_info info = {0};

	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		if ((int)strlen(info.name) > d->width)
			d->width = (int)strlen(info.name);
}

static void head(struct diff *d)
{
	d->width = (int)strlen("region");
	widen(d, d->old);
	widen(d, d->new);
	if (d->format == TACH_FORMAT_CSV)
		fputs("region,quantity,old,new,difference,relative,error,verdict\r\n", d->to);
	else if (d->format == TACH_FORMAT_JSON)
		fputs("{\"tach-diff\": 1, \"lines\": [", d->to);
	else
		fprintf(d->to, "%-*s  %-24s  %14s  %14s  %14s  %10s  %s\n", d->width, "region",
			"quantity", "old", "new", "difference", "relative", "verdict");
}

static void foot(const struct diff *d)
{
	if (d->format == TACH_FORMAT_JSON)
		fprintf(d->to, "\n], \"differences\": %d}\n", d->beyond);
	else if (d->format == TACH_FORMAT_TEXT)
		fprintf(d->to, "\n%d of %d differ by more than their error bars together.\n",
			d->beyond, d->written);
}

static int write_all(struct diff *d)
{
	struct place *old_places = places_of(d->old), *new_places = places_of(d->new);
	struct tach_region_info info = {0};
	int code = old_places && new_places ? 0 : -1;

	if (!code) {
		head(d);
		for (int r = 0; tach_snapshot_region(d->old, r, &info) == 0; r++) {
			int other =
				find_region(new_places, tach_snapshot_nregions(d->new), &info);

			if (other < 0)
				alone(d, d->old, r, info.name);
			else
				compare(d, &info, r, other);
		}
		for (int r = 0; tach_snapshot_region(d->new, r, &info) == 0; r++)
			if (find_region(old_places, tach_snapshot_nregions(d->old), &info) < 0)
				alone(d, d->new, r, info.name);
		foot(d);
	} else {
		errno = ENOMEM;
	}
	free(old_places);
	free(new_places);
	return code;
}

/* A file has the older text or all of the new one; a pipe's reader is waited for. */
static int write_file(struct diff *d, const char *file)
{
	struct tach__buffer text = {0};
	struct stat status;
	int special = stat(file, &status) == 0 && !S_ISREG(status.st_mode), code;

	d->to = special ? fopen(file, "we") : open_memstream(&text.at, &text.length);
	if (!d->to)
		return -1;
	code = write_all(d);
	if (fclose(d->to) != 0)
		code = -1;
	if (!code && !special && (code = tach__deliver_file(file, 0, &text)))
		errno = -code;
	free(text.at);
	return code;
}

int report_diff(const struct tach_snapshot *old, const struct tach_snapshot *new,
		enum tach_format format, const char *file)
{
	struct diff d = {.old = old, .new = new, .format = format, .to = stdout};

	if (file ? write_file(&d, file) : write_all(&d) || fflush(stdout)) {
		fprintf(stderr, "tach report: %s%s%s\n", file ? file : "", file ? ": " : "",
			strerror(errno));
		return EXIT_NO;
	}
	return d.beyond ? EXIT_NO : EXIT_DONE;
}
