/* SPDX-License-Identifier: MIT */
/* Values of runs, by region and quantity. */
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/error.h>
#include <tach/flags.h>
#include "core/base/json_out.h"
#include "core/change/change.h"
#include "core/report/units.h"
#include "tools/tach/samples.h"

const char *const series_kinds[SERIES_KINDS] = {"time", "count", "exact", "metric"};

static void *check_memory(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "tach: out of memory\n");
	exit(2);
}

static int order_of(const struct series *x, const struct series *y)
{
	int order = strcmp(x->region, y->region);

	if (!order)
		order = strcmp(x->file, y->file);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

int series_share_place(const struct series *a, const struct series *b)
{
	return order_of(a, b) == 0;
}

static int by_place(const void *a, const void *b)
{
	const struct series *x = a, *y = b;
	int order = order_of(x, y);

	return order ? order : strcmp(x->quantity, y->quantity);
}

const struct series *samples_find(const struct samples *s, const struct series *like)
{
	void *node = tfind(like, &s->tree, by_place);

	return node ? *(struct series **)node : NULL;
}

static struct series *find_or_add(struct samples *s, const struct series *like)
{
	void *node = tfind(like, &s->tree, by_place);
	struct series *at;

	if (node)
		return *(struct series **)node;
	at = check_memory(malloc(sizeof *at));
	*at = (struct series){.region = check_memory(strdup(like->region)),
			      .file = check_memory(strdup(like->file)),
			      .line = like->line,
			      .quantity = check_memory(strdup(like->quantity)),
			      .kind = like->kind};
	if ((s->n & (s->n - 1)) == 0)
		s->list = check_memory(
			realloc(s->list, (s->n ? 2 * s->n : 1) * sizeof(*s->list)));
	s->list[s->n++] = at;
	check_memory(tsearch(at, &s->tree, by_place));
	return at;
}

void samples_add(struct samples *s, const struct series *like, double value)
{
	struct series *at = find_or_add(s, like);

	if (like->kind == SERIES_COUNT && at->kind == SERIES_EXACT)
		at->kind = SERIES_COUNT;
	if ((at->n & (at->n - 1)) == 0)
		at->value = check_memory(
			realloc(at->value, (at->n ? 2 * at->n : 1) * sizeof *at->value));
	at->value[at->n++] = value;
}

static enum series_kind kind_of(const struct tach_snapshot *shot, int q,
				const struct tach_value *v)
{
	static const uint32_t harmless = TACH_FLAG_RESCHEDULED | TACH_FLAG_SYSCALL |
					 TACH_FLAG_CORRECTED | TACH_FLAG_EMULATED;

	if (q == TACH_QUANTITY_TIME)
		return SERIES_TIME;
	if (q >= tach_snapshot_nquantities(shot))
		return SERIES_METRIC;
	return !(v->flags & ~harmless) &&
			       tach__change_is_repeatable(tach_snapshot_quantity(shot, q))
		       ? SERIES_EXACT
		       : SERIES_COUNT;
}

void samples_take(struct samples *s, const struct tach_snapshot *shot,
		  int (*wants)(const void *context, const char *quantity), const void *context)
{
	int n = tach_snapshot_nquantities(shot) + tach_snapshot_nmetrics(shot);
	struct tach_region_info info = {0};

	s->of = "run";
	if (!s->missing[0])
		snprintf(s->missing, sizeof s->missing, "%s", tach_snapshot_missing(shot));
	for (int r = 0; tach_snapshot_region(shot, r, &info) == 0; r++)
		for (int q = 0; info.calls && q < n; q++) {
			const char *quantity = tach__column_name(shot, q);
			struct tach_value v;

			if ((wants && !wants(context, quantity)) ||
			    tach__column_value(shot, r, q, TACH_PART_INCLUSIVE, &v) != 0 ||
			    v.flags & TACH_FLAG_LOST || !isfinite(v.value))
				continue;
			s->emulated |= (v.flags & TACH_FLAG_EMULATED) != 0;
			samples_add(s,
				    &(struct series){.region = (char *)info.name,
						     .file = (char *)info.file,
						     .line = info.line,
						     .quantity = (char *)quantity,
						     .kind = kind_of(shot, q, &v)},
				    v.value);
		}
}

static int by_place_at(const void *a, const void *b)
{
	return by_place(*(struct series *const *)a, *(struct series *const *)b);
}

void samples_sort(struct samples *s)
{
	if (s->n)
		qsort(s->list, s->n, sizeof(*s->list), by_place_at);
}

void samples_range(const struct samples *s, size_t *fewest, size_t *most)
{
	*fewest = *most = s->n ? s->list[0]->n : 0;
	for (size_t i = 1; i < s->n; i++) {
		*fewest = s->list[i]->n < *fewest ? s->list[i]->n : *fewest;
		*most = s->list[i]->n > *most ? s->list[i]->n : *most;
	}
}

static void free_nothing(void *series)
{
	(void)series;
}

void samples_free(struct samples *s)
{
	tdestroy(s->tree, free_nothing);
	for (size_t i = 0; i < s->n; i++) {
		free(s->list[i]->region);
		free(s->list[i]->file);
		free(s->list[i]->quantity);
		free(s->list[i]->value);
		free(s->list[i]);
	}
	free(s->list);
	*s = (struct samples){0};
}

void samples_mark_twins(struct samples *s)
{
	struct series **sorted = check_memory(malloc(s->n * sizeof(*sorted) + 1));

	if (s->n)
		memcpy(sorted, s->list, s->n * sizeof(*sorted));
	qsort(sorted, s->n, sizeof(*sorted), by_place_at);
	for (size_t from = 0, end; from < s->n; from = end) {
		int several = 0;

		for (end = from + 1;
		     end < s->n && strcmp(sorted[end]->region, sorted[from]->region) == 0;
		     end++)
			several |= sorted[end]->line != sorted[from]->line ||
				   strcmp(sorted[end]->file, sorted[from]->file) != 0;
		for (size_t i = from; i < end; i++)
			sorted[i]->twin = several;
	}
	free(sorted);
}

#define CONFIDENCE 0.95

struct series_median series_median(const struct series *of)
{
	double *sorted = check_memory(malloc(of->n * sizeof *sorted + 1));
	struct series_median is;

	memcpy(sorted, of->value, of->n * sizeof *sorted);
	tach__sort(sorted, of->n);
	is.median = tach__median(sorted, of->n);
	is.confidence = tach__median_interval(sorted, of->n, CONFIDENCE, &is.low, &is.high);
	free(sorted);
	return is;
}

void series_label(const struct series *of, int twin, char *to, size_t size)
{
	char place[512] = "";

	if (twin)
		snprintf(place, sizeof place, " %.480s:%u", of->file, of->line);
	snprintf(to, size, "%.480s%s", of->region, place);
	tach_printable(to, to, size);
}

void series_value(const struct series *of, double value, char *to, size_t size)
{
	const char *sign = value < 0 && of->kind != SERIES_METRIC ? "-" : "";
	char text[TACH__UNIT_MAX];

	if (!isfinite(value))
		snprintf(text, sizeof text, "-");
	else if (of->kind == SERIES_METRIC)
		snprintf(text, sizeof text, fabs(value) < 1e6 ? "%.3f" : "%.4g", value);
	else if (of->kind == SERIES_TIME)
		tach__unit_time(text, fabs(value));
	else
		tach__unit_count(text, fabs(value));
	snprintf(to, size, "%s%s", sign, text);
}

void series_json(struct tach__json_out *json, const struct series *of, int is_short)
{
	tach__json_string(json, "region", of->region);
	if (*of->file || !is_short) {
		tach__json_string(json, "file", of->file);
		tach__json_unsigned(json, "line", of->line);
	}
	tach__json_string(json, "quantity", of->quantity);
}

void series_json_values(struct tach__json_out *json, const struct series *of, size_t n)
{
	tach__json_array(json, "values");
	for (size_t i = 0; i < n; i++)
		tach__json_number(json, NULL, of->value[i]);
	tach__json_end(json);
}

void series_csv(struct tach__out *out, const struct series *of, const char *quantity)
{
	tach__out_csv_string(out, of->region);
	tach__out_text(out, ",");
	tach__out_csv_string(out, of->file);
	tach__out(out, ",%u,", of->line);
	tach__out_csv_string(out, quantity);
}

int samples_is_listed(const char *list, const char *name)
{
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t n = strcspn(at, ",");

		if (n == strlen(name) && memcmp(at, name, n) == 0)
			return 1;
	}
	return 0;
}
