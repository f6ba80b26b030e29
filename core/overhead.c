/* SPDX-License-Identifier: MIT */
/* What measuring costs: empty regions, timed in the thread and with the code that measures. */
#include <stdlib.h>
#include <string.h>
#include "core/registry.h"

enum { WARM = 3, TRIES = 16, HIGH = 13 }; /* HIGH: the rank whose distance is the spread */

/* The state of the thread that empty regions change and must not leave changed. */
struct kept {
	uint32_t open, log_base;
	uint64_t epoch, pairs, children, total[TACH__SUMS], cold[TACH__SUMS];
};

static void keep(struct kept *kept, const struct tach__thread *record)
{
	const struct tach_thread *hot = record->hot;

	kept->open = hot->open;
	kept->epoch = hot->epoch;
	kept->pairs = hot->pairs;
	kept->children = hot->children;
	kept->log_base = record->log_base;
	memcpy(kept->total, hot->total, sizeof kept->total);
	memcpy(kept->cold, record->cold, sizeof kept->cold);
}

static void restore(const struct kept *kept, struct tach__thread *record)
{
	struct tach_thread *hot = record->hot;

	hot->open = kept->open;
	hot->epoch = kept->epoch;
	hot->pairs = kept->pairs;
	hot->children = kept->children;
	record->log_base = kept->log_base;
	memcpy(hot->total, kept->total, sizeof kept->total);
	memcpy(record->cold, kept->cold, sizeof record->cold);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

enum { INNER, OUTER, NSHOWN };
/* In pages of its own: the stack may be a signal handler's. */
struct shown {
	uint64_t sum[NSHOWN][TACH__SUMS][TRIES];
};

/* [0] the least and [1] the spread above it. */
static void bounds(uint64_t *sum, double out[2][TACH__SUMS], uint32_t i)
{
	qsort(sum, TRIES, sizeof *sum, by_value);
	out[0][i] = (double)sum[0];
	out[1][i] = (double)(sum[HIGH] - sum[0]);
}

/* What the two slots show per call of empty(mode). */
static void sample(struct tach__thread *record, void (*empty)(int), int mode,
		   const uint32_t *id, double inner[2][TACH__SUMS], double outer[2][TACH__SUMS])
{
	struct tach_slot *slot[NSHOWN] = {tach__slot_at(record, id[INNER]),
					  tach__slot_at(record, id[OUTER])};
	uint64_t before[NSHOWN][TACH__SUMS];
	struct shown *shown = tach__pages(sizeof *shown);

	if (!shown)
		return;

	for (int try = -WARM; try < TRIES; try++) {
		for (int s = 0; s < NSHOWN; s++)
			for (uint32_t i = 0; i <= record->count; i++)
				before[s][i] = slot[s]->sum[i].inclusive;
		empty(mode);
		for (int s = 0; s < NSHOWN && try >= 0; s++)
			for (uint32_t i = 0; i <= record->count; i++)
				shown->sum[s][i][try] =
					slot[s]->sum[i].inclusive - before[s][i];
	}
	for (uint32_t i = 0; i <= record->count; i++) {
		bounds(shown->sum[INNER][i], inner, i);
		bounds(shown->sum[OUTER][i], outer, i);
	}
	tach__pages_free(shown, sizeof *shown);
}

static const uint32_t plain[] = {TACH__SITE_EMPTY, TACH__SITE_ENCLOSING};
static const uint32_t fenced[] = {TACH__SITE_FENCED, TACH__SITE_FENCED};

static void enclose_cold(int mode)
{
	static struct tach_site site = {TACH__SITE_ENCLOSING, 0, 0, 0, 0, 0, 0};
	struct tach_region_mark mark;

	(void)mode;
	tach__region_begin(&site, &mark, 0);
	tach__cold_nothing();
	tach__region_end(&mark, 0);
}

/* What a region still shows of a cold exit after that took out what it saw of itself. */
static void measure_residue(struct tach__thread *record)
{
	double empty[2][TACH__SUMS] = {{0}}, with[2][TACH__SUMS] = {{0}},
	       ignored[2][TACH__SUMS];

	memset(record->cold_residue, 0, sizeof record->cold_residue);
	sample(record, tach__region_empty, 0, plain, empty, ignored);
	sample(record, enclose_cold, 0, plain, ignored, with);
	for (uint32_t i = 0; i <= record->count; i++)
		if (with[0][i] > empty[0][i])
			record->cold_residue[i] = (uint64_t)(with[0][i] - empty[0][i]);
}

static void slots_prepare(const struct tach__thread *record)
{
	for (uint32_t id = TACH__SITE_EMPTY; id < TACH__SITE_FIRST; id++) {
		struct tach_slot *slot = tach__slot_at(record, id);

		slot->id = id;
		slot->ceiling = slot->rest = TACH__CEILING_OPEN;
	}
}

static double above_zero(double v)
{
	return v > 0 ? v : 0;
}

void tach__overhead_measure(struct tach__thread *record, uint32_t calibrator,
			    void (*empty)(int mode))
{
	struct tach__overhead *o = &record->overhead[calibrator];
	struct kept kept;

	memset(o, 0, sizeof *o);
	keep(&kept, record);
	slots_prepare(record);
	sample(record, empty, 0, plain, o->empty[0], o->pair[0]);
	sample(record, empty, 1, fenced, o->empty[1], o->pair[1]);
	if (record->calibrated == 0)
		measure_residue(record);
	restore(&kept, record);
	/*
	 * The enclosing region shows its own overhead besides the pair. A fenced pair has two
	 * fences inside its region, which its own overhead shows, and two outside.
	 */
	for (uint32_t i = 0; i <= record->count; i++) {
		double fences = 2 * (o->empty[1][0][i] - o->empty[0][0][i]);

		o->pair[0][0][i] = above_zero(o->pair[0][0][i] - o->empty[0][0][i]);
		o->pair[1][0][i] = above_zero(o->pair[0][0][i] + fences);
		o->pair[1][1][i] = o->pair[0][1][i] + 2 * o->empty[1][1][i];
	}
}
