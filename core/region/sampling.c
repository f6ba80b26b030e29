/* SPDX-License-Identifier: MIT */
/* Sparse mode and warm-up: decides which entries are measured. */
#include "core/base/maths.h"
#include "core/region/region.h"

/* xorshift64 is fast, and random enough: it does not follow a pattern of the program. */
uint64_t tach__random(struct tach__thread *record)
{
	uint64_t x = record->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return record->random = x;
}

static double draw_uniform(struct tach__thread *record)
{
	return (double)(tach__random(record) >> 11) * 0x1p-53;
}

/* The gaps have a geometric distribution. So each entry is measured with the same probability,
 * independent of the others. The mean of measured entries then estimates the mean of all
 * entries without bias. */
uint64_t tach__sampling_draw(struct tach__thread *record)
{
	return (uint64_t)(tach__log(1 - draw_uniform(record)) * record->config->per_log_keep);
}

int tach__sampling_skips(struct tach__thread *record, struct tach__slot *slot)
{
	const struct tach__config *config = record->config;
	struct tach__sampling *s = slot->sampling;
	uint64_t next;

	if (slot->excluded < config->warmup) {
		TACH__ADD(slot->excluded, 1);
		if (config->sparse <= 1 && slot->excluded == config->warmup) {
			slot->rest = TACH__OUTER_NONE;
			TACH__SET(tach__part(slot, record->count, 0)->outer, slot->rest);
		}
		TACH__ADD(record->passed, 1);
		return 1;
	}
	if (s->gap) {
		s->gap--;
		TACH__ADD(slot->skipped, 1);
		TACH__ADD(record->passed, 1);
		return 1;
	}
	next = tach__sampling_draw(record);
	s->gap = slot->id < TACH__SITE_FIRST ? 0 : next; /* calibration measures all entries */
	return 0;
}
