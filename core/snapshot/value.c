/* SPDX-License-Identifier: MIT */
/* What a snapshot says: regions, values with their overhead and error, metrics made of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/sized.h"
#include "core/snapshot/operands.h"
#include "core/set/set.h"
#include "core/snapshot/snapshot.h"

static const struct tach__row *row_at(const struct tach_snapshot *s, int region)
{
	if (region < 0 || region >= s->nregions)
		return NULL;
	return (const struct tach__row *)(const void *)(s->rows.base +
							(size_t)s->order[region] *
								s->rows.stride);
}

int tach_snapshot_nregions(const struct tach_snapshot *s)
{
	return s->saved ? s->saved->nregions : s->nregions;
}

int tach_snapshot_nquantities(const struct tach_snapshot *s)
{
	return s->saved ? s->saved->nquantities : 1 + (int)s->config->count;
}

int tach_snapshot_nmetrics(const struct tach_snapshot *s)
{
	return s->saved ? s->saved->nmetrics : tach_set_nmetrics(s->config->set);
}

const char *tach_snapshot_quantity(const struct tach_snapshot *s, int quantity)
{
	if (quantity < 0 || quantity >= tach_snapshot_nquantities(s))
		return NULL;
	if (s->saved)
		return s->saved->quantity[quantity];
	return quantity ? tach_set_name(s->config->set, quantity - 1) : "time";
}

const char *tach_snapshot_metric(const struct tach_snapshot *s, int metric)
{
	if (metric < 0 || metric >= tach_snapshot_nmetrics(s))
		return NULL;
	return s->saved ? s->saved->metric[metric].name
			: tach_set_metric_name(s->config->set, metric);
}

const char *tach_snapshot_missing(const struct tach_snapshot *s)
{
	return s->note;
}

int tach_snapshot_counts(const struct tach_snapshot *s, struct tach_counts *counts)
{
	const struct tach_counts ours = {.threads = s->threads,
					 .refused = s->refused,
					 .lost = s->lost,
					 .stale = s->stale,
					 .unopened = s->unopened,
					 .reports = s->reports,
					 .clock_hz = s->clock_hz};

	if (!tach__sized(counts, TACH__STRUCT(tach_counts), NULL))
		return TACH_ERR_INVAL;
	tach__sized_done(counts, &ours, TACH__STRUCT(tach_counts));
	return 0;
}

int tach_snapshot_region(const struct tach_snapshot *s, int region,
			 struct tach_region_info *out)
{
	const struct tach__row *row;
	const struct tach__site *site;
	struct tach_region_info ours, *info;

	if (region < 0 || region >= tach_snapshot_nregions(s))
		return TACH_ERR_INVAL;
	info = tach__sized_out(out, &ours, TACH__STRUCT(tach_region_info), NULL);
	if (!info)
		return TACH_ERR_INVAL;
	if (s->saved) {
		tach__sized_done(out, &s->saved->region[region].info,
				 TACH__STRUCT(tach_region_info));
		return 0;
	}
	row = row_at(s, region);
	site = tach__site_at(s->order[region]);
	info->name = site->name;
	info->file = site->file;
	info->function = site->function;
	info->line = site->line;
	info->fenced = (int)site->fenced;
	info->entries = row->calls + row->skipped + row->excluded + row->lost;
	info->calls = row->calls;
	info->outermost = row->outermost;
	info->skipped = row->skipped;
	info->excluded = row->excluded;
	info->lost = row->lost;
	info->nested = row->nested;
	memcpy(info->provenance, row->provenance, sizeof info->provenance);
	info->threads = row->threads;
	tach__sized_done(out, info, TACH__STRUCT(tach_region_info));
	return 0;
}

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
		return (flags & (TACH_FLAG_LOST | TACH_FLAG_STALE)) | TACH_FLAG_SYSCALL;
	return flags;
}

/* TACH_SET_CORRECT: an instruction for every interrupt, as those were counted here. */
static double take_interrupts(const struct tach_snapshot *s, int region, int quantity,
			      enum tach_part part, struct tach_value *value)
{
	const struct tach_set *set = s->config->set;
	struct tach_value interrupts;

	if (quantity == TACH_QUANTITY_TIME || !(set->corrected >> (quantity - 1) & 1))
		return 0;
	tach_snapshot_value(s, region, 1 + set->interrupts, part, &interrupts);
	value->error += interrupts.error;
	value->flags |= TACH_FLAG_CORRECTED;
	return interrupts.value;
}

/*
 * How far, 95 times in 100, the sum of the entries measured is off because others were passed
 * over: Student's t times the standard error, of a sample without replacement. Of the sum of
 * one entry is unknown.
 */
static double sampling_error(const struct tach__row *row, const struct tach__cell *cell)
{
	double n = (double)row->outermost, sum = (double)(int64_t)cell->inclusive;
	double all = (double)row->calls + (double)row->skipped, of = n - 1, variance, t;

	if (!row->skipped || n == 0)
		return 0;
	if (n == 1)
		return sum;
	variance = (cell->square - sum * sum / n) / of;
	/* Within 4 % of the tables. */
	t = 1.96 + 2.4 / of + 8.4 / (of * of * of);
	return variance > 0 ? t * sqrt(n * variance * (1 - (double)row->calls / all)) : 0;
}

int tach_snapshot_value(const struct tach_snapshot *s, int region, int quantity,
			enum tach_part part, struct tach_value *value)
{
	const struct tach__row *row = row_at(s, region);
	const struct tach__cell *cell;
	uint64_t sum;
	double scale = 1, corrected;

	if (!value)
		return TACH_ERR_INVAL;
	if (s->saved)
		return quantity < s->saved->nquantities
			       ? tach__saved_value(s->saved, region, quantity, part, value)
			       : TACH_ERR_INVAL;
	if (!row || quantity < 0 || quantity > (int)s->config->count || part > TACH_PART_SELF)
		return TACH_ERR_INVAL;
	cell = &row->cell[quantity];
	sum = part == TACH_PART_SELF ? cell->self : cell->inclusive;
	/* Entries that sparse mode passed over were like those it took. */
	if (row->calls)
		scale = ((double)row->calls + (double)row->skipped) / (double)row->calls;
	if (quantity == TACH_QUANTITY_TIME)
		scale *= s->clock_hz > 0 ? 1e9 / s->clock_hz : 0;
	/* Self may be a little below zero: a signal handler's region between two edges. */
	value->raw = (int64_t)sum < 0 ? 0 : (double)sum * scale;
	value->overhead = cell->overhead[part] * scale;
	value->error = (cell->error[part] + sampling_error(row, cell)) * scale;
	/* Each reading falls into a tick of the clock anywhere: such errors add up as walks do.
	 */
	if (quantity == TACH_QUANTITY_TIME)
		value->error += sqrt((double)row->outermost) * scale;
	value->flags = flags_of(s, row, quantity);
	value->reserved = 0;
	corrected = value->raw - value->overhead;
	corrected -= take_interrupts(s, region, quantity, part, value);
	value->value = corrected > 0 ? corrected : 0;
	if (quantity == TACH_QUANTITY_TIME)
		value->error += value->value * s->clock_error;
	if (corrected < 0 || (value->error > 0 && value->value <= value->error))
		value->flags |= TACH_FLAG_SMALL;
	return 0;
}

int tach_snapshot_derived(const struct tach_snapshot *s, int region, int metric,
			  enum tach_part part, struct tach_value *value)
{
	const struct tach_formula *f;
	struct tach__operands o;

	if (!value || metric < 0 || metric >= tach_snapshot_nmetrics(s))
		return TACH_ERR_INVAL;
	if (s->saved)
		return tach__saved_value(s->saved, region, s->saved->nquantities + metric, part,
					 value);
	f = tach_set_metric(s->config->set, metric);
	o.count = s->config->count;
	if (!row_at(s, region) || part > TACH_PART_SELF)
		return TACH_ERR_INVAL;
	for (uint32_t i = 0; i < o.count; i++) {
		struct tach_value v;

		tach_snapshot_value(s, region, (int)i + 1, part, &v);
		tach__operands_put(&o, i, &v);
	}
	tach_snapshot_value(s, region, TACH_QUANTITY_TIME, part, &o.time);
	tach__operands_derive(&o, f, value);
	return 0;
}

double tach_snapshot_quantile(const struct tach_snapshot *s, int region, int quantity, double p)
{
	const struct tach__row *row;
	double v;

	if (s->saved)
		return tach__saved_quantile(s->saved, region, quantity, p);
	row = row_at(s, region);
	if (!row || !row->histograms || quantity < 0 || quantity > (int)s->config->count ||
	    !(p >= 0 && p <= 1))
		return NAN;
	v = tach__histogram_quantile(row->histograms, (uint32_t)quantity, p);
	if (quantity == TACH_QUANTITY_TIME)
		v *= s->clock_hz > 0 ? 1e9 / s->clock_hz : 0;
	return v;
}

int tach_snapshot_buckets(const struct tach_snapshot *s, int region, int quantity,
			  struct tach_bucket *buckets, int max)
{
	const struct tach__row *row;
	double unit = quantity == TACH_QUANTITY_TIME && s->clock_hz > 0 ? 1e9 / s->clock_hz : 1;
	int n;

	if (!buckets && max > 0)
		return TACH_ERR_INVAL;
	if (s->saved)
		return tach__saved_buckets(s->saved, region, quantity, buckets, max);
	row = row_at(s, region);
	if (!row || quantity < 0 || quantity > (int)s->config->count)
		return TACH_ERR_INVAL;
	if (!row->histograms)
		return 0;
	n = tach__histogram_buckets(row->histograms, (uint32_t)quantity, buckets, max);
	for (int b = 0; b < n && b < max; b++) {
		buckets[b].low *= unit;
		buckets[b].high *= unit;
	}
	return n;
}

char *tach__snapshot_formula(const struct tach_snapshot *s, int metric)
{
	const struct tach_formula *f;
	char *text;
	int n;

	if (s->saved)
		return s->saved->metric[metric].text ? strdup(s->saved->metric[metric].text)
						     : NULL;
	f = tach_set_metric(s->config->set, metric);
	n = tach_formula_print(f, TACH_FORMULA_INFIX, NULL, 0);
	text = n >= 0 ? malloc((size_t)n + 1) : NULL;
	if (text)
		tach_formula_print(f, TACH_FORMULA_INFIX, text, (size_t)n + 1);
	return text;
}
