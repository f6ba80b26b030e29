/* SPDX-License-Identifier: MIT */
/* Evaluates sums when a snapshot is taken: values with overhead and error, metrics,
 * distributions in units. */
#include <math.h>
#include <string.h>
#include "core/set/set.h"
#include "core/snapshot/operands.h"
#include "core/snapshot/snapshot.h"

/* ---- one value ---- */

static uint32_t flags_of(const struct tach_snapshot *s, const struct tach__row *row,
			 int quantity)
{
	uint32_t flags = row->flags;

	if (quantity == TACH_QUANTITY_TIME)
		return flags | s->clock_flags;
	for (int i = 0; i < 6; i++)
		if (row->provenance[i])
			flags |= 1u << i;
	if (tach_set_kind(s->config->set, quantity - 1) == TACH_MEMBER_SOFTWARE)
		return (flags & (tach__software_flags(s->config->set) | TACH_FLAG_STALE)) |
		       TACH_FLAG_SYSCALL;
	if (tach_set_kind(s->config->set, quantity - 1) == TACH_MEMBER_EMULATED)
		flags |= TACH_FLAG_EMULATED;
	return flags;
}

/* Returns the sample in sparse mode, in units of the value. The self values of enclosing
 * regions include skipped entries, so the error of such self values is unknown. */
static struct tach__sample sample_of(const struct tach__row *row, int quantity,
				     enum tach_part part, double unit)
{
	const struct tach__cell *cell = &row->cell[quantity];
	double n = (double)row->outermost, sum = (double)(int64_t)cell->inclusive * unit;
	int known = part == TACH_PART_INCLUSIVE || row->passed == 0;

	return (struct tach__sample){
		.units = n,
		.sum = sum,
		.square = cell->square * unit * unit,
		.crossed = sum,
		.paced = n,
		.entries = n,
		.seen = (double)row->calls,
		.all = (double)row->calls + (double)row->skipped,
		.fixed = cell->error[part] * unit,
		.most = cell->most * unit,
		.least = known ? TACH__SAMPLE_ENTRIES : INFINITY,
	};
}

static void value(const struct tach_snapshot *s, const struct tach__row *row, int quantity,
		  enum tach_part part, struct tach_value *out, struct tach__sample *keep);

/* With TACH_SET_CORRECT, subtracts one instruction for each interrupt if the CPU counts it. */
static double take_interrupts(const struct tach_snapshot *s, const struct tach__row *row,
			      int quantity, enum tach_part part, struct tach_value *out)
{
	const struct tach_set *set = s->config->set;
	struct tach_value interrupts;

	if (quantity == TACH_QUANTITY_TIME || !(set->corrected >> (quantity - 1) & 1))
		return 0;
	value(s, row, 1 + set->interrupts, part, &interrupts, NULL);
	out->error += interrupts.error;
	out->flags |= TACH_FLAG_CORRECTED;
	return interrupts.value;
}

static void value(const struct tach_snapshot *s, const struct tach__row *row, int quantity,
		  enum tach_part part, struct tach_value *out, struct tach__sample *keep)
{
	const struct tach__cell *cell = &row->cell[quantity];
	uint64_t sum = part == TACH_PART_SELF ? cell->self : cell->inclusive;
	double unit = 1, scale, corrected;
	struct tach__sample sample;

	if (quantity == TACH_QUANTITY_TIME)
		unit = s->clock_hz > 0 ? 1e9 / s->clock_hz : 0;
	sample = sample_of(row, quantity, part, unit);
	/* Skipped entries are assumed to equal measured ones. */
	scale = tach__sample_scale(&sample) * unit;
	/* A self value may be slightly below zero, if a signal handler's region ran between two
	 * edges. */
	out->raw = (int64_t)sum < 0 ? 0 : (double)sum * scale;
	out->overhead = cell->overhead[part] * scale;
	out->error = cell->error[part] * scale;
	out->flags = flags_of(s, row, quantity);
	if (part == TACH_PART_SELF && row->overlapped)
		out->flags |= TACH_FLAG_INCOMPLETE;
	tach__value_sampled(out, tach__sample_error(&sample));
	/* In a multiplexed set, a count is an estimate for the time in which other events had
	 * the counters. */
	if (out->flags & TACH_FLAG_SCALED)
		out->flags |= TACH_FLAG_UNBOUNDED;
	out->share = 0;
	corrected = out->raw - out->overhead;
	sample.extra = out->error;
	corrected -= take_interrupts(s, row, quantity, part, out);
	sample.extra = out->error - sample.extra;
	out->value = corrected > 0 ? corrected : 0;
	if (quantity == TACH_QUANTITY_TIME)
		out->error += tach__snapshot_clock_error(
			s, (double)row->outermost, tach__sample_scale(&sample), out->value);
	tach__value_judge(out);
	if (corrected < 0)
		out->flags |= TACH_FLAG_SMALL;
	if (keep)
		*keep = sample;
}

static void derived(const struct tach_snapshot *s, const struct tach_value *values, int metric,
		    struct tach_value *out)
{
	struct tach__operands o = {.count = s->config->count,
				   .time = values[TACH_QUANTITY_TIME]};

	for (uint32_t i = 0; i < o.count; i++)
		tach__operands_put(&o, i, &values[i + 1]);
	tach__operands_derive(&o, tach_set_metric(s->config->set, metric), out);
}

/* ---- the memory: one piece, which the same code first measures and then fills ---- */

struct memory {
	char *at; /* NULL: only measure */
	size_t used;
};

static void *get(struct memory *m, size_t size)
{
	size_t at = m->used;

	m->used += (size + 15) / 16 * 16;
	return m->at ? m->at + at : NULL;
}

/* ---- regions ---- */

static const struct tach__site *site_of(const struct tach_snapshot *s, uint32_t id)
{
	return s->sites ? &s->sites[id] : tach__site_at(id);
}

static void describe(const struct tach_snapshot *s, struct tach_region_info *info,
		     const struct tach__row *row, uint32_t id)
{
	const struct tach__site *site = site_of(s, id);

	info->size = sizeof *info;
	info->name = site->name;
	info->file = site->file;
	info->function = site->function;
	info->of = site->of;
	info->task = site->parts.task;
	info->tag = site->parts.tag;
	info->thread = site->parts.thread;
	info->line = site->line;
	info->fenced = (int)(site->fenced & TACH__SITE_FENCED_BIT);
	info->entries = row->calls + row->skipped + row->excluded + row->lost;
	info->calls = row->calls;
	info->outermost = row->outermost;
	info->skipped = row->skipped;
	info->excluded = row->excluded;
	info->lost = row->lost;
	info->nested = row->nested;
	memcpy(info->provenance, row->provenance, sizeof info->provenance);
	info->threads = row->threads;
	info->overlapping = row->overlapped;
}

static void distribution(const struct tach_snapshot *s, struct tach__plain_buckets *to,
			 const struct tach__row *row, int quantity, struct memory *m)
{
	int in_ticks = quantity == TACH_QUANTITY_TIME && s->clock_hz > 0;
	int n = tach__histogram_buckets(row->histograms, (uint32_t)quantity, NULL, 0);
	struct tach_bucket *at = get(m, (size_t)n * sizeof *at);

	if (!at)
		return;
	*to = (struct tach__plain_buckets){.count = n, .at = at};
	tach__histogram_buckets(row->histograms, (uint32_t)quantity, at, n);
	/* Use the same operations as for worst entries, so that equal values stay equal. */
	for (int b = 0; b < n && in_ticks; b++) {
		at[b].low = at[b].low * 1e9 / s->clock_hz;
		at[b].high = at[b].high * 1e9 / s->clock_hz;
	}
}

static void region(struct tach_snapshot *s, struct tach__plain_region *to,
		   const struct tach__row *row, uint32_t id, struct memory *m)
{
	size_t quantities = (size_t)s->plain.nquantities,
	       all = quantities + (size_t)s->plain.nmetrics;
	struct tach__plain_buckets *histogram = get(m, quantities * sizeof *histogram);
	struct tach_value *values = get(m, 2 * all * sizeof *values);
	size_t sampled = s->config->sparse > 1 ? 2 * quantities : 0;
	struct tach__sample *samples = get(m, sampled * sizeof *samples);
	size_t nworst = row->worst ? (size_t)row->worst->n : 0;
	struct tach__plain_worst *worst = get(m, nworst * sizeof *worst);
	double *counted = get(m, nworst * quantities * sizeof *counted);
	char(*thread)[16] = get(m, nworst * sizeof *thread);

	for (int q = 0; row->histograms && q < s->plain.nquantities; q++)
		distribution(s, histogram ? &histogram[q] : NULL, row, q, m);
	if (!values)
		return;
	describe(s, &to->info, row, id);
	to->repeats = (site_of(s, id)->fenced & TACH__SITE_TEAM) != 0;
	to->worst = worst;
	for (size_t i = 0; i < nworst; i++) {
		worst[i].value = counted + i * quantities;
		worst[i].info.thread_name = thread[i];
	}
	if (nworst)
		tach__plain_worst_take(s, to, row);
	to->histogram = histogram;
	if (!sampled)
		samples = NULL;
	for (int part = 0; part < 2; part++) {
		struct tach_value *v = to->value[part] = values + (size_t)part * all;

		to->sample[part] = samples ? samples + (size_t)part * quantities : NULL;
		for (int q = 0; q < s->plain.nquantities; q++)
			value(s, row, q, (enum tach_part)part, &v[q],
			      samples ? &samples[(size_t)part * quantities + (size_t)q] : NULL);
		for (int k = 0; k < s->plain.nmetrics; k++)
			derived(s, v, k, &v[s->plain.nquantities + k]);
	}
}

/* ---- the whole ---- */

static void names(struct tach_snapshot *s, struct memory *m)
{
	struct tach__plain *p = &s->plain;
	const struct tach_set *set = s->config->set;

	for (int q = 0; m->at && q < p->nquantities; q++)
		p->quantity[q] = q ? tach_set_name(set, q - 1) : "time";
	/* Bit 0 is the time, so the set's bits are shifted. Reports show the quantity by which
	 * worst entries are compared. */
	p->operands[0] = (uint64_t)set->operands << 1;
	if (p->worst)
		tach__plain_mark_operand(p, p->worst - 1, 0);
	for (int k = 0; m->at && k < p->nmetrics; k++) {
		p->metric[k].name = set->metric[k].name;
		p->metric[k].text = set->metric[k].text;
		p->metric[k].node = set->metric[k].node;
	}
}

/* Returns the nearest enclosing region that has a row. An open region may have no row. */
static int parent_of(const struct tach_snapshot *s, uint32_t id, const int *place,
		     uint32_t limit)
{
	uint32_t up = TACH__GET(site_of(s, id)->parent);

	for (uint32_t steps = 0; up >= TACH__SITE_FIRST && up < limit && steps < limit;
	     steps++) {
		if (place[up])
			return up == id ? -1 : place[up] - 1;
		up = TACH__GET(site_of(s, up)->parent);
	}
	return -1;
}

static void all(struct tach_snapshot *s, const struct tach__rows *rows, const uint32_t *order,
		struct memory *m)
{
	struct tach__plain *p = &s->plain;
	int *place; /* by id: 1 + its place in the list */

	p->quantity = get(m, (size_t)p->nquantities * sizeof *p->quantity);
	p->metric = get(m, (size_t)p->nmetrics * sizeof *p->metric);
	p->region = get(m, (size_t)p->nregions * sizeof *p->region);
	place = get(m, (size_t)rows->limit * sizeof *place);
	names(s, m);
	for (int r = 0; place && r < p->nregions; r++)
		place[order[r]] = r + 1;
	for (int r = 0; r < p->nregions; r++)
		region(s, m->at ? &p->region[r] : NULL, tach__rows_row(rows, order[r]),
		       order[r], m);
	for (int r = 0; place && r < p->nregions; r++)
		p->region[r].info.parent = parent_of(s, order[r], place, rows->limit);
}

int tach__snapshot_evaluate(struct tach_snapshot *s, const struct tach__rows *rows,
			    const uint32_t *order, uint32_t nregions)
{
	struct tach__plain *p = &s->plain;
	struct memory m = {NULL, 0};

	p->nquantities = 1 + (int)s->config->count;
	p->nmetrics = tach_set_nmetrics(s->config->set);
	p->nregions = (int)nregions;
	p->worst = s->config->worst ? 1 + (int)s->config->worst_by : 0;
	all(s, rows, order, &m);
	p->pages_size = m.used;
	m = (struct memory){p->pages = tach__pages(p->pages_size), 0};
	if (!m.at) {
		p->nregions = p->nmetrics = 0;
		return TACH_ERR_NOMEM;
	}
	all(s, rows, order, &m);
	return 0;
}
