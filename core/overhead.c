/* SPDX-License-Identifier: MIT */
/* What measuring costs: empty regions, timed in the thread and with the code that measures. */
#include <stdlib.h>
#include <string.h>
#include "core/registry.h"

enum { WARM = 3, TRIES = 16, HIGH = 13 }; /* HIGH: the rank whose distance is the spread */

/* The state of the thread that empty regions change and must not leave changed. */
struct kept {
	uint32_t open;
	uint64_t pairs, children, total[TACH__SUMS];
};

static void keep(struct kept *kept, const struct tach_thread *hot)
{
	kept->open = hot->open;
	kept->pairs = hot->pairs;
	kept->children = hot->children;
	memcpy(kept->total, hot->total, sizeof kept->total);
}

static void restore(const struct kept *kept, struct tach_thread *hot)
{
	hot->open = kept->open;
	hot->pairs = kept->pairs;
	hot->children = kept->children;
	memcpy(hot->total, kept->total, sizeof kept->total);
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

void tach__overhead_measure(struct tach__thread *record, uint32_t calibrator,
			    void (*empty)(int mode))
{
	struct tach__overhead *o = &record->overhead[calibrator];
	struct kept kept;

	for (uint32_t id = TACH__SITE_EMPTY; id < TACH__SITE_FIRST; id++) {
		struct tach_slot *slot = tach__slot_at(record, id);

		slot->id = id;
		slot->ceiling = slot->rest = TACH__CEILING_OPEN;
	}
	memset(o, 0, sizeof *o);
	keep(&kept, record->hot);
	sample(record, empty, 0, TACH__SITE_EMPTY, o->empty[0]);
	sample(record, empty, 1, TACH__SITE_FENCED, o->empty[1]);
	sample(record, empty, 2, TACH__SITE_ENCLOSING, o->pair[0]);
	sample(record, empty, 3, TACH__SITE_ENCLOSING, o->pair[1]);
	restore(&kept, record->hot);
	/* The enclosing region shows its own overhead besides the pair. */
	for (uint32_t i = 0; i <= record->count; i++)
		for (int mode = 0; mode < 2; mode++) {
			double pair = o->pair[mode][0][i] - o->empty[0][0][i];

			o->pair[mode][0][i] = pair > 0 ? pair : 0;
		}
}
