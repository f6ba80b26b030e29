/* SPDX-License-Identifier: MIT */
/* Turns of sets in each thread. */
#include "core/region/region.h"

/*
 * A STOP, and then work that enclosing regions measure, but not the region itself. The work
 * takes a constant number of instructions. In a child of fork, or for another thread's mark,
 * STOP is refused.
 */
static void end_turning(struct tach_region_mark *mark, int fenced)
{
	struct tach__thread *record = tach__self->record;
	struct tach__hot *self;

	if (TACH_UNLIKELY(!record || !record->turning.end[fenced])) {
		tach__end_cold(mark, fenced);
		return;
	}
	record->turning.end[fenced](mark);
	self = tach__self;
	record = self->record;
	if (TACH__LEVEL(TACH__GET(self->state)) || !record || --record->turning.left)
		return;
	record->turning.left = 1;
	record->turning.due = 1;
	TACH__SET(self->limit, (uint64_t)0);
}

static void end_plain(struct tach_region_mark *mark)
{
	end_turning(mark, 0);
}

static void end_fenced(struct tach_region_mark *mark)
{
	end_turning(mark, 1);
}

void tach__turn_choose(struct tach__thread *record, const struct tach__turn *turn)
{
	struct tach__hot *hot = record->hot;

	record->turning = (struct tach__turning){.left = UINT64_MAX, .before = turn->before};
	if (!record->config->ring.next)
		return;
	for (int fenced = 0; fenced < 2; fenced++)
		record->turning.end[fenced] = hot->end[fenced];
	hot->end[0] = end_plain;
	hot->end[1] = end_fenced;
}

/*
 * Chooses a random length up to twice the mean, so that turns do not follow a pattern of the
 * program.
 */
void tach__turn_begin(struct tach__thread *record)
{
	if (record->config->ring.next)
		record->turning.left =
			1 +
			tach__random(record) % (2 * (uint64_t)record->config->ring.length - 1);
}

void tach__turn_leave(struct tach__thread *record, struct tach__turn *next)
{
	if (!record->turning.due)
		return;
	record->turning.leaving = 1;
	*next = (struct tach__turn){record->config->ring.next, record->config->generation,
				    record->turning.before + 1};
}

/* New threads begin with different sets, so that short-lived threads do not all use the same
 * set. */
struct tach__config *tach__turn_config(struct tach__config *first,
				       const struct tach__turn *turn)
{
	struct tach__config *config = first;

	if (turn->config && turn->generation == first->generation)
		return turn->config;
	if (first->ring.next)
		for (uint32_t n = first->ring.begun++ % first->ring.sets; n; n--)
			config = config->ring.next;
	return config;
}
