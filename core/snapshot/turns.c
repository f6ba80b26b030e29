/* SPDX-License-Identifier: MIT */
/*
 * Combines sets that took turns. A turn is a sequence of entries. Quantities that all sets
 * count are known for all entries. Other quantities are estimated: the counted sum, times all
 * entries, divided by the counted entries. This is valid because turns are chosen independently
 * of the program. The error comes from the differences between turns, not between entries,
 * because neighbouring entries are similar.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/set/set.h"
#include "core/snapshot/operands.h"
#include "core/snapshot/turns.h"

/* ---- the rows of all sets ---- */

static int add_row(struct tach__rows *total, uint32_t id, const struct tach__row *from)
{
	struct tach__row *to = tach__rows_at(total, id);

	if (!to)
		return TACH_ERR_NOMEM;
	to->calls += from->calls;
	to->skipped += from->skipped;
	to->excluded += from->excluded;
	to->lost += from->lost;
	to->flags |= from->flags;
	to->cell[0].inclusive += from->cell[0].inclusive;
	return 0;
}

int tach__turns_total(struct tach__rows *total, struct tach__took *took, int n)
{
	int code = 0;

	tach__rows_init(total, 0);
	for (int k = 0; k < n; k++)
		for (uint32_t id = 0; id < took[k].rows.limit && !code; id++)
			if (tach__row_is_used(tach__rows_row(&took[k].rows, id)))
				code = add_row(total, id, tach__rows_row(&took[k].rows, id));
	/* Gives each set a row for each region. */
	for (int k = 0; k < n && !code && total->limit; k++)
		if (!tach__rows_at(&took[k].rows, total->limit - 1))
			code = TACH_ERR_NOMEM;
	return code;
}

/* ---- one value ---- */

struct whole {
	struct tach_snapshot *s;
	const struct tach__plan *plan;
	struct tach__took *took;
	struct tach_snapshot *part; /* for each set */
	int n;
	/* map[set][i]: the set's quantity for event i; 0: the set does not count that event. */
	uint8_t (*map)[TACH__PLAN_EVENTS];
};

/* Adds the turns of one set, which counts the quantity. */
static void add_sample(struct tach__sample *to, const struct tach__row *row, int q, int what,
		       double unit)
{
	to->units += (double)row->turns;
	to->square += row->cell[q].turned[what] * unit * unit;
	to->crossed += row->cell[q].crossed[what] * unit;
	to->paced += row->paced[what];
	to->fixed += row->cell[q].error[what] * unit;
}

static double entries_of(const struct whole *w, int k, int region, int what)
{
	const struct tach_region_info *info = &w->part[k].plain.region[region].info;

	return (double)(what ? info->calls : info->outermost);
}

static void scale_value(struct tach_value *v, const struct tach__sample *sample)
{
	double by = tach__sample_scale(sample);

	v->value *= by;
	v->raw *= by;
	v->overhead *= by;
	v->error *= by;
	tach__value_sampled(v, tach__sample_error(sample));
	v->flags |= TACH_FLAG_SCALED;
	v->share = (uint32_t)fmax(1, 1e6 * sample->seen / sample->all);
}

/* Estimates the value of an event; -1 is the time. */
static struct tach_value estimate(const struct whole *w, int region, uint32_t id, int event,
				  int what, struct tach__sample *sample)
{
	double unit = event < 0 && w->s->clock_hz > 0 ? 1e9 / w->s->clock_hz : 1;
	struct tach_value sum = {0};

	*sample = (struct tach__sample){.least = TACH__SAMPLE_TURNS};

	for (int k = 0; k < w->n; k++) {
		int q = event < 0 ? TACH_QUANTITY_TIME : w->map[k][event];
		const struct tach_value *v = &w->part[k].plain.region[region].value[what][q];

		sample->all += entries_of(w, k, region, what);
		if (event >= 0 && !q)
			continue;
		add_sample(sample, tach__rows_row(&w->took[k].rows, id), q, what, unit);
		sample->seen += entries_of(w, k, region, what);
		sum.raw += v->raw;
		sum.value += v->value;
		sum.overhead += v->overhead;
		sum.error += v->error;
		sum.flags |= v->flags & ~(uint32_t)TACH_FLAG_SMALL;
	}
	sample->sum = sum.raw;
	sample->entries = sample->seen;
	if (sample->all > 0 && sample->seen == 0)
		return (struct tach_value){.value = NAN, .raw = NAN, .flags = TACH_FLAG_LOST};
	if (sample->seen < sample->all)
		scale_value(&sum, sample);
	tach__value_judge(&sum);
	return sum;
}

static void derived(const struct tach_formula *f, const struct tach_value *v, int events,
		    struct tach_value *out)
{
	struct tach__operands o = {.count = (uint32_t)events, .time = v[TACH_QUANTITY_TIME]};
	int missing = 0;

	for (int i = 0; i < events; i++) {
		tach__operands_put(&o, (uint32_t)i, &v[i + 1]);
		missing |= tach_formula_uses(f, i) && isnan(v[i + 1].value);
	}
	tach__operands_derive(&o, f, out);
	if (missing)
		out->value = out->raw = NAN;
}

/* ---- regions ---- */

static void add_info(struct tach_region_info *to, const struct tach_region_info *from)
{
	to->entries += from->entries;
	to->calls += from->calls;
	to->outermost += from->outermost;
	to->lost += from->lost;
	to->nested += from->nested;
	to->threads += from->threads;
	to->overlapping |= from->overlapping;
	for (int i = 0; i < 6; i++)
		to->provenance[i] += from->provenance[i];
}

static void take_region(const struct whole *w, int region, uint32_t id)
{
	struct tach__plain *p = &w->s->plain;
	struct tach__plain_region *to = &p->region[region];

	to->info = w->part[0].plain.region[region].info;
	for (int k = 1; k < w->n; k++)
		add_info(&to->info, &w->part[k].plain.region[region].info);
	to->repeats = w->part[0].plain.region[region].repeats;
	/* A thread is counted only in its first turn, so this row may have no thread. */
	to->info.threads += to->info.threads == 0;
	for (int what = 0; what < 2; what++) {
		struct tach_value *v = to->value[what];

		for (int q = 0; q < p->nquantities; q++)
			v[q] = estimate(w, region, id, q - 1, what, &to->sample[what][q]);
		for (int m = 0; m < p->nmetrics; m++)
			derived(w->plan->metric[m].formula, v, p->nquantities - 1,
				&v[p->nquantities + m]);
	}
}

/* ---- the whole ---- */

/* Adds to the note how many entries each set counted. */
static void note_shares(const struct whole *w)
{
	char *to = w->s->note + strlen(w->s->note), *end = w->s->note + sizeof w->s->note;
	double all = 0, seen[TACH__PASSES_MAX] = {0};
	int unseen = 0;

	for (int r = 0; r < w->s->plain.nregions; r++) {
		int without = 0;

		for (int k = 0; k < w->n; k++) {
			seen[k] += entries_of(w, k, r, 1);
			all += entries_of(w, k, r, 1);
			without |= entries_of(w, k, r, 1) == 0;
		}
		unseen += without;
	}
	to += snprintf(to, (size_t)(end - to), "%s%d sets of events took turns and saw",
		       to == w->s->note ? "" : "; ", w->n);
	for (int k = 0; k < w->n && to < end && all > 0; k++)
		to += snprintf(to, (size_t)(end - to), "%s %.1f", k ? "," : "",
			       100 * seen[k] / all);
	if (to < end)
		to += snprintf(to, (size_t)(end - to), " %% of the entries");
	if (unseen && to < end)
		snprintf(to, (size_t)(end - to), "; %d of %d regions were not seen by all",
			 unseen, w->s->plain.nregions);
}

static void map_events(const struct whole *w)
{
	for (int k = 0; k < w->n; k++) {
		const struct tach_set *set = w->took[k].config->set;

		for (int i = 0; i < tach_set_count(set); i++) {
			int event = tach__plan_event(&w->plan->whole, tach_set_name(set, i));

			if (event >= 0)
				w->map[k][event] = (uint8_t)(1 + i);
		}
	}
}

static void names(const struct whole *w)
{
	struct tach__plain *p = &w->s->plain;

	p->quantity[0] = "time";
	for (int i = 0; i < w->plan->whole.nevents; i++) {
		p->quantity[i + 1] = w->plan->event[i];
		tach__plain_mark_operand(p, i + 1, w->plan->operand[i]);
	}
	for (int m = 0; m < p->nmetrics; m++) {
		p->metric[m].name = w->plan->metric[m].name;
		p->metric[m].text = w->plan->metric[m].text;
		p->metric[m].node = w->plan->metric[m].node;
	}
}

/* Allocates all memory in one piece. Returns 0 if out of memory. */
static int lay_out(struct whole *w, int nregions)
{
	struct tach__plain *p = &w->s->plain;
	size_t q = 1 + (size_t)w->plan->whole.nevents, m = (size_t)w->plan->whole.nmetrics;
	size_t r = (size_t)nregions;
	char *at;

	p->pages_size = (size_t)w->n * sizeof *w->map + q * sizeof *p->quantity +
			m * sizeof *p->metric + r * sizeof *p->region +
			r * (2 * (q + m) * sizeof(struct tach_value) +
			     2 * q * sizeof(struct tach__sample) +
			     q * sizeof(struct tach__plain_buckets));
	p->pages = at = tach__pages(p->pages_size);
	if (!at)
		return 0;
	p->nquantities = (int)q;
	p->nmetrics = (int)m;
	p->nregions = nregions;
	p->region = (void *)at;
	at += r * sizeof *p->region;
	p->metric = (void *)at;
	at += m * sizeof *p->metric;
	p->quantity = (void *)at;
	at += q * sizeof *p->quantity;
	for (int i = 0; i < nregions; i++) {
		p->region[i].histogram = (void *)at;
		at += q * sizeof *p->region[i].histogram;
		for (int what = 0; what < 2; what++) {
			p->region[i].value[what] = (void *)at;
			at += (q + m) * sizeof(struct tach_value);
			p->region[i].sample[what] = (void *)at;
			at += q * sizeof(struct tach__sample);
		}
	}
	w->map = (void *)at;
	return 1;
}

static int evaluate_parts(struct whole *w, const struct tach__order *order)
{
	int code = 0;

	for (int k = 0; k < w->n && !code; k++) {
		w->part[k].config = w->took[k].config;
		w->part[k].clock_hz = w->s->clock_hz;
		w->part[k].clock_flags = w->s->clock_flags;
		w->part[k].clock_error = w->s->clock_error;
		code = tach__snapshot_evaluate(&w->part[k], &w->took[k].rows, order->id,
					       order->n);
	}
	return code;
}

int tach__turns_evaluate(struct tach_snapshot *s, struct tach__took *took, int n,
			 const struct tach__order *order)
{
	struct whole w = {.s = s, .plan = took[0].config->ring.plan, .took = took, .n = n};
	int code = TACH_ERR_NOMEM;

	w.part = tach__pages((size_t)n * sizeof *w.part);
	if (!w.part)
		return code;
	code = evaluate_parts(&w, order);
	if (!code && !lay_out(&w, (int)order->n))
		code = TACH_ERR_NOMEM;
	if (!code) {
		map_events(&w);
		names(&w);
		for (uint32_t r = 0; r < order->n; r++)
			take_region(&w, (int)r, order->id[r]);
		note_shares(&w);
	}
	for (int k = 0; k < n; k++)
		tach__pages_free(w.part[k].plain.pages, w.part[k].plain.pages_size);
	tach__pages_free(w.part, (size_t)n * sizeof *w.part);
	return code;
}
