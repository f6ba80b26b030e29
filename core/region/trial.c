/* SPDX-License-Identifier: MIT */
/*
 * Trials: regions of the library's own, run in the same thread and by the same code as real
 * ones.
 *
 * Each trial is straight code. It runs unchanged, or with one word changed first so that an
 * edge takes its slow path: the difference is exactly that path.
 */
#include <string.h>
#include <tach/task.h>
#include "core/region/trial.h"

enum { SPARE = 100 };

/* As the macros make them, but with given ids. */
#define SITE(word, fenced)                                                                     \
	{                                                                                      \
		(fenced) ? tach__region_begin_fenced : tach__region_begin, word, 0, fenced,    \
			"", "", ""                                                             \
	}
static struct tach_site empty = SITE(TACH__SITE_EMPTY, 0), fenced = SITE(TACH__SITE_FENCED, 1),
			enclosing = SITE(TACH__SITE_ENCLOSING, 0),
			middle = SITE(TACH__SITE_MIDDLE, 0),
			middle_fenced = SITE(TACH__SITE_MIDDLE_FENCED, 1),
			flat = {tach__region_begin_flat, TACH__SITE_FLAT, 0, 0, "", "", ""};

/* ---- the trials ---- */

void tach__trial_one(const struct tach__poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

void tach__trial_one_fenced(const struct tach__poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(fenced), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

void tach__trial_two(const struct tach__poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

void tach__trial_three(const struct tach__poke *poke)
{
	struct tach_region_mark outer, between, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(middle), &between);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&between);
	tach__region_stop(&outer);
}

void tach__trial_three_fenced(const struct tach__poke *poke)
{
	struct tach_region_mark outer, between, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(middle_fenced), &between);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&between);
	tach__region_stop(&outer);
}

/* For the cost of a pair in its enclosing region: without a poke in between. */
void tach__trial_pair(const struct tach__poke *unused)
{
	struct tach_region_mark outer, inner;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

void tach__trial_pair_fenced(const struct tach__poke *unused)
{
	struct tach_region_mark outer, inner;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(fenced), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

void tach__trial_overlap(const struct tach__poke *unused)
{
	struct tach_region_mark outer, inner;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&outer);
	tach__region_stop(&inner);
}

void tach__trial_overlap_fenced(const struct tach__poke *unused)
{
	struct tach_region_mark outer, inner;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(fenced), &inner);
	tach__region_stop(&outer);
	tach__region_stop(&inner);
}

void tach__trial_task(const struct tach__poke *unused)
{
	struct tach_region_mark outer;
	struct tach_task task;

	(void)unused;
	memset(&task, 0, sizeof task);
	task.site = TACH_ADDRESS(empty);
	task.running = 1;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach_task_suspend(&task);
	tach__region_stop(&outer);
}

void tach__trial_flat(const struct tach__poke *unused)
{
	struct tach_region_mark mark;

	(void)unused;
	tach__region_start(TACH_ADDRESS(flat), &mark);
	tach__region_stop(&mark);
}

/* How a poke changes the sum of locks. */
TACH_INLINE uint64_t sum_by(uint64_t value)
{
	return (uint32_t)value | value >> 32;
}

TACH_INLINE void change_locks(struct tach_region_mark *mark, uint64_t by)
{
	uint64_t locks;

	mark->counters.lock ^= (uint32_t)by;
	memcpy(&locks, &mark->counters.reader, sizeof locks);
	locks ^= sum_by(by);
	memcpy(&mark->counters.reader, &locks, sizeof locks);
}

void tach__trial_flat_moved(const struct tach__poke *poke)
{
	struct tach_region_mark mark;

	tach__region_start(TACH_ADDRESS(flat), &mark);
	change_locks(&mark, poke->value);
	tach__region_stop(&mark);
}

void tach__trial_flat_pair(const struct tach__poke *unused)
{
	struct tach_region_mark outer, inner;

	(void)unused;
	tach__region_start(TACH_ADDRESS(flat), &outer);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

void tach__trial_flat_one(const struct tach__poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(flat), &outer);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

TACH_INLINE void make_stale(const struct tach__poke *poke)
{
	TACH__SET(poke->at[0], TACH__GET(poke->at[0]) | (uint32_t)poke->value);
	TACH__SET(poke->at[1], TACH__GET(poke->at[1]) | sum_by(poke->value));
}

void tach__trial_stale(const struct tach__poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	make_stale(poke);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

void tach__trial_stale_fenced(const struct tach__poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	make_stale(poke);
	tach__region_start(TACH_ADDRESS(fenced), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

void tach__trial_moved(const struct tach__poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	change_locks(&inner, poke->value);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

void tach__trial_moved_fenced(const struct tach__poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(fenced), &inner);
	change_locks(&inner, poke->value);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

/* ---- running them ---- */

/* By insertion: there are at most sixteen. */
static void sort_values(uint64_t *value, int n)
{
	for (int i = 1; i < n; i++) {
		uint64_t v = value[i];
		int to = i;

		for (; to && value[to - 1] > v; to--)
			value[to] = value[to - 1];
		value[to] = v;
	}
}

static uint64_t sum_of(const struct tach__thread *record, uint32_t id, uint32_t i)
{
	return tach__part(tach__slot_at(record, id), record->count, 0)->sum[i];
}

/* Counts their rescheduled entries, and STARTs that looked the counters up again: caused by the
 * trial or by the kernel. */
static uint64_t count_reschedules(const struct tach__thread *record, const uint32_t *id)
{
	uint64_t n = record->stale;

	for (int s = 0; s < TACH__SHOWN; s++)
		n += tach__slot_at(record, id[s])->provenance[0];
	return n;
}

/* After an interrupted trial, waits for varying times: otherwise all trials could be
 * interrupted periodically at the same place. */
static void wait_random_time(int number)
{
	for (int n = number * 67 % 101 * 50; n > 0; n--)
		__asm__ volatile("");
}

/*
 * The kernel only adds to the reschedules that the trial causes. So a trial that the kernel did
 * not interrupt has the minimum, and is used. When a run has fewer than the ones before, those
 * are repeated.
 */
void tach__trials_run(const struct tach__trials *r, void (*trial)(const struct tach__poke *),
		      const struct tach__poke *poke, const uint32_t *id)
{
	uint64_t(*before)[TACH__SUMS] = r->shown->before;
	uint32_t count = r->record->count;
	uint64_t least = r->planted ? UINT64_MAX : 0;
	int spare = SPARE;

	for (int try = -r->warm; try < r->tries; try++) {
		uint64_t came;

		if (spare < SPARE)
			wait_random_time(try + r->warm + spare);
		came = count_reschedules(r->record, id);
		for (int s = 0; s < TACH__SHOWN; s++)
			for (uint32_t i = 0; i <= count; i++)
				before[s][i] = sum_of(r->record, id[s], i);
		trial(poke);
		came = count_reschedules(r->record, id) - came;
		if (spare && came > least) {
			spare--;
			try--;
			continue;
		}
		if (came < least && try > 0)
			try = 0;
		least = came < least ? came : least;
		for (int s = 0; s < TACH__SHOWN && try >= 0; s++)
			for (uint32_t i = 0; i <= count; i++)
				r->shown->sum[s][i][try] =
					sum_of(r->record, id[s], i) - before[s][i];
	}
	for (int s = 0; s < TACH__SHOWN; s++)
		for (uint32_t i = 0; i <= count; i++)
			sort_values(r->shown->sum[s][i], r->tries);
}

const uint32_t tach__trial_ids[TACH__SHOWN] = {TACH__SITE_EMPTY, TACH__SITE_ENCLOSING,
					       TACH__SITE_MIDDLE};
const uint32_t tach__trial_fenced_ids[TACH__SHOWN] = {TACH__SITE_FENCED, TACH__SITE_ENCLOSING,
						      TACH__SITE_MIDDLE_FENCED};
const uint32_t tach__trial_flat_ids[TACH__SHOWN] = {TACH__SITE_FLAT, TACH__SITE_ENCLOSING,
						    TACH__SITE_MIDDLE};
