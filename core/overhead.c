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

/* [0] the least and [1] the spread of what slot `id` shows per call of empty(mode). */
static void sample(struct tach__thread *record, void (*empty)(int), int mode, uint32_t id,
		   double out[2][TACH__SUMS])
{
	struct tach_slot *slot = tach__slot_at(record, id);
	uint64_t shown[TACH__SUMS][TRIES], before[TACH__SUMS];

	for (int try = -WARM; try < TRIES; try++) {
		for (uint32_t i = 0; i <= record->count; i++)
			before[i] = slot->sum[i].inclusive;
		empty(mode);
		for (uint32_t i = 0; i <= record->count && try >= 0; i++)
			shown[i][try] = slot->sum[i].inclusive - before[i];
	}
	for (uint32_t i = 0; i <= record->count; i++) {
		qsort(shown[i], TRIES, sizeof shown[i][0], by_value);
		out[0][i] = (double)shown[i][0];
		out[1][i] = (double)(shown[i][HIGH] - shown[i][0]);
	}
}

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
	double empty[2][TACH__SUMS], with[2][TACH__SUMS];

	memset(record->cold_residue, 0, sizeof record->cold_residue);
	sample(record, tach__region_empty, 0, TACH__SITE_EMPTY, empty);
	sample(record, enclose_cold, 0, TACH__SITE_ENCLOSING, with);
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

void tach__overhead_measure(struct tach__thread *record, uint32_t calibrator,
			    void (*empty)(int mode))
{
	struct tach__overhead *o = &record->overhead[calibrator];
	struct kept kept;

	memset(o, 0, sizeof *o);
	keep(&kept, record);
	slots_prepare(record);
	sample(record, empty, 0, TACH__SITE_EMPTY, o->empty[0]);
	sample(record, empty, 1, TACH__SITE_FENCED, o->empty[1]);
	sample(record, empty, 2, TACH__SITE_ENCLOSING, o->pair[0]);
	sample(record, empty, 3, TACH__SITE_ENCLOSING, o->pair[1]);
	if (record->calibrated == 0)
		measure_residue(record);
	restore(&kept, record);
	/* The enclosing region shows its own overhead besides the pair. */
	for (uint32_t i = 0; i <= record->count; i++)
		for (int mode = 0; mode < 2; mode++) {
			double pair = o->pair[mode][0][i] - o->empty[0][0][i];

			o->pair[mode][0][i] = pair > 0 ? pair : 0;
		}
}
