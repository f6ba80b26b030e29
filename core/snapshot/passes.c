/* SPDX-License-Identifier: MIT */
/* Makes one snapshot of several passes of a program: see core/snapshot/passes.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/snapshot/merge.h"
#include "core/snapshot/passes.h"

/*
 * Up to this number of instructions, passes are not compared by a bound in percent, because one
 * interrupt adds an instruction.
 */
enum { FEW = 10 };

/* ---- names ---- */

const char *tach__passes_name(const struct tach__passes_whole *p, const char *name)
{
	int event = tach__plan_event(p, name);

	return event < 0 ? name : p->event[event];
}

int tach__passes_quantities(struct tach__merge *m)
{
	struct tach__plain *s = m->plain;

	s->quantity[s->nquantities++] = tach__arena_copy(&s->arena, "time");
	for (int i = 0; i < m->passes->nevents; i++) {
		if (m->passes->operand)
			tach__plain_mark_operand(s, s->nquantities, m->passes->operand[i]);
		s->quantity[s->nquantities++] =
			tach__arena_copy(&s->arena, m->passes->event[i]);
	}
	for (int i = 0; i < s->nquantities; i++)
		if (!s->quantity[i])
			return TACH_ERR_NOMEM;
	return 0;
}

int tach__passes_metrics(struct tach__merge *m)
{
	struct tach__plain *s = m->plain;

	for (int i = 0; i < m->passes->nmetrics; i++) {
		const struct tach__passes_metric *from = &m->passes->metric[i];
		struct tach__plain_metric *to = &s->metric[s->nmetrics++];

		to->name = tach__arena_copy(&s->arena, from->name);
		to->text = tach__arena_copy(&s->arena, from->text);
		if (!to->name || !to->text || tach__merge_place(s, &to->node, &from->node) != 0)
			return TACH_ERR_NOMEM;
	}
	return 0;
}

/* ---- checks that the passes did the same ---- */

/* Reads one pass's value of the quantity that all passes count. Returns 0 if the pass lacks
 * it. */
static int read_repeated(const struct tach__merge *m, const struct tach__source *s,
			 struct tach_value *value)
{
	for (int q = 0; q < tach_snapshot_nquantities(s->snapshot); q++)
		if (strcmp(tach_snapshot_quantity(s->snapshot, q), m->passes->repeated) == 0)
			return tach_snapshot_value(s->snapshot, s->region, q,
						   TACH_PART_INCLUSIVE, value) == 0 &&
			       !(value->flags & TACH_FLAG_LOST);
	return 0;
}

static int number_of(const struct tach__merge *m, const struct tach__source *s)
{
	int i = 0;

	while (m->list[i] != s->snapshot)
		i++;
	return i + 1;
}

static int have_equal_counts(const struct tach__merge *m, const struct tach__source *a,
			     const struct tach__source *b)
{
	struct tach_value x = {0}, y = {0};
	char note[400];

	if (a->info.calls != b->info.calls || a->info.entries != b->info.entries) {
		int calls = a->info.calls != b->info.calls;

		snprintf(note, sizeof note,
			 "%.200s: %llu %s in pass %d, %llu in pass %d: not merged",
			 a->info.name,
			 (unsigned long long)(calls ? a->info.calls : a->info.entries),
			 calls ? "calls" : "entries", number_of(m, a),
			 (unsigned long long)(calls ? b->info.calls : b->info.entries),
			 number_of(m, b));
		tach__snapshot_note(m->whole, note);
		return 0;
	}
	if (!read_repeated(m, a, &x) || !read_repeated(m, b, &y) ||
	    fabs(x.value - y.value) <=
		    m->passes->bound * fmax(x.value, y.value) + x.error + y.error + FEW)
		return 1;
	snprintf(note, sizeof note, "%.200s: %.0f %s in pass %d, %.0f in pass %d: not merged",
		 a->info.name, x.value, m->passes->repeated, number_of(m, a), y.value,
		 number_of(m, b));
	tach__snapshot_note(m->whole, note);
	return 0;
}

/* ---- values ---- */

struct mean {
	struct tach_value sum;
	double least, most;
	int n;
};

static void add_to_mean(struct mean *to, const struct tach_value *v)
{
	to->sum.value += v->value;
	to->sum.raw += v->raw;
	to->sum.overhead += v->overhead;
	to->sum.error += v->error;
	to->sum.flags |= v->flags & ~(uint32_t)TACH_FLAG_SMALL;
	to->least = to->n ? fmin(to->least, v->value) : v->value;
	to->most = to->n ? fmax(to->most, v->value) : v->value;
	to->n++;
}

static struct tach_value mean_of(const struct mean *mean)
{
	struct tach_value v = mean->sum;

	if (!mean->n)
		return (struct tach_value){.value = NAN, .raw = NAN, .flags = TACH_FLAG_LOST};
	v.value /= mean->n;
	v.raw /= mean->n;
	v.overhead /= mean->n;
	v.error = v.error / mean->n + (mean->most - mean->least) / 2;
	return v;
}

static int add_values(struct tach__merge *m, int region, const struct tach__source *from,
		      struct mean (*mean)[TACH__PLAIN_QUANTITIES_MAX])
{
	struct tach__plain *s = m->plain;
	int code = 0;

	for (int q = 0; q < tach_snapshot_nquantities(from->snapshot) && !code; q++) {
		int at = from->map[q];
		struct tach_value v;

		if (!mean[0][at].n)
			code = tach__merge_buckets(m, &s->region[region].histogram[at], from,
						   q);
		for (int part = 0; part < 2; part++) {
			tach_snapshot_value(from->snapshot, from->region, q,
					    (enum tach_part)part, &v);
			add_to_mean(&mean[part][at], &v);
		}
	}
	return code;
}

/* Returns the source from the earliest pass. */
static const struct tach__source *first_of(const struct tach__merge *m,
					   const struct tach__source *source, size_t n)
{
	const struct tach__source *first = source;

	for (size_t i = 1; i < n; i++)
		if (number_of(m, &source[i]) < number_of(m, first))
			first = &source[i];
	return first;
}

static void take_info(struct tach_region_info *to, const struct tach__source *source, size_t n,
		      const struct tach__source *first)
{
	struct tach_region_info info = first->info;

	for (size_t i = 0; i < n; i++)
		for (int p = 0; p < 6; p++)
			if (info.provenance[p] < source[i].info.provenance[p])
				info.provenance[p] = source[i].info.provenance[p];
	/* The texts belong to the result. */
	info.name = to->name;
	info.file = to->file;
	info.function = to->function;
	info.of = to->of;
	info.task = to->task;
	info.tag = to->tag;
	info.thread = to->thread;
	*to = info;
}

int tach__passes_region(struct tach__merge *m, int region, const struct tach__source *source,
			size_t n)
{
	struct mean(*mean)[TACH__PLAIN_QUANTITIES_MAX] = calloc(2, sizeof *mean);
	const struct tach__source *first = first_of(m, source, n);
	struct tach__plain *s = m->plain;
	int code = mean ? 0 : TACH_ERR_NOMEM;

	take_info(&s->region[region].info, source, n, first);
	for (size_t i = 0; i < n && !code; i++)
		if (&source[i] == first || have_equal_counts(m, first, &source[i]))
			code = add_values(m, region, &source[i], mean);
	for (int part = 0; part < 2 && !code; part++)
		for (int q = 0; q < s->nquantities; q++)
			s->region[region].value[part][q] = mean_of(&mean[part][q]);
	free(mean);
	return code;
}

/* Takes the counts of the process from its first run. */
void tach__passes_counts(struct tach__merge *m)
{
	struct tach_snapshot *s = m->whole;
	const struct tach_snapshot *first = m->list[0];
	char note[300];

	s->threads = first->threads;
	s->refused = first->refused;
	s->lost = first->lost;
	s->stale = first->stale;
	s->unopened = first->unopened;
	/* Each pass counts different events. So if data is missing in one pass, the result
	 * lacks it. */
	s->missing_processes = s->missing_threads = 0;
	for (int i = 0; i < m->n; i++) {
		const struct tach_snapshot *pass = m->list[i];

		if (s->missing_processes < pass->missing_processes)
			s->missing_processes = pass->missing_processes;
		if (s->missing_threads < pass->missing_threads)
			s->missing_threads = pass->missing_threads;
	}
	s->reports = first->reports;
	if (m->n == 1)
		return;
	snprintf(
		note, sizeof note,
		"counted in %d passes; time and %.200s are their means, and the rest is of one "
		"pass each",
		m->n, m->passes->repeated);
	tach__snapshot_note(s, note);
}

int tach__snapshot_passes(const struct tach_snapshot *const *list, int n,
			  const struct tach__passes_whole *whole, struct tach_snapshot **out,
			  struct tach_error *err)
{
	struct tach__merge m = {.list = list, .n = n, .passes = whole};

	return tach__merge(out, &m, err);
}
