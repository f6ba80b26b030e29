/* SPDX-License-Identifier: MIT */
/*
 * Trials: regions of the library, run in the same thread and by the same code as regions of the
 * program.
 *
 * Each trial is straight code. It runs unchanged, or it first changes one word so that an edge
 * takes its slow path. The difference of the counts is exactly that path.
 */
#include <string.h>
#include <tach/task.h>
#include "core/region/cost.h"
#include "core/region/left.h"
#include "core/region/trial.h"

/* Makes sites as the macros do, but with given ids. */
#define SITE(word, fenced)                                                                     \
	{                                                                                      \
		(fenced) ? tach__region_begin_fenced : tach__region_begin, word, 0, fenced,    \
			"", "", ""                                                             \
	}
static struct tach_site
	empty = SITE(TACH__SITE_EMPTY, 0),
	fenced = SITE(TACH__SITE_FENCED, 1), enclosing = SITE(TACH__SITE_ENCLOSING, 0),
	middle = SITE(TACH__SITE_MIDDLE, 0), middle_fenced = SITE(TACH__SITE_MIDDLE_FENCED, 1),
	flat = {tach__region_begin_flat, TACH__SITE_FLAT, 0, 0, "", "", ""},
	segment = {tach__region_begin, TACH__SITE_EMPTY, 0, TACH__SITE_TASK, "", "", ""};

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

/* Measures the cost of a pair in its enclosing region. No poke is between the edges. */
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

void (*tach__hooked_pair)(struct tach_site *site);

void tach__trial_pair_hooked(const struct tach__poke *unused)
{
	struct tach_region_mark outer;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__hooked_pair(TACH_ADDRESS(empty));
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

void tach__trial_ready(const struct tach__poke *unused)
{
	struct tach_region_mark outer;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__aside_ready(tach__self->record, 1);
	tach__region_stop(&outer);
}

static __attribute__((noinline)) void add_nothing(void)
{
	static const uint64_t nothing[TACH__SUMS];

	tach__aside_add(nothing);
}

void tach__trial_add(const struct tach__poke *unused)
{
	struct tach_region_mark outer;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	add_nothing();
	tach__region_stop(&outer);
}

void tach__trial_spent(const struct tach__poke *unused)
{
	struct tach_region_mark outer, between;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(middle), &between);
	add_nothing();
	tach__region_stop(&between);
	tach__region_stop(&outer);
}

void tach__trial_spent_fenced(const struct tach__poke *unused)
{
	struct tach_region_mark outer, between;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(middle_fenced), &between);
	add_nothing();
	tach__region_stop(&between);
	tach__region_stop(&outer);
}

#define RECURSION(name, site, at)                                                              \
	void tach__trial_##name(const struct tach__poke *unused)                               \
	{                                                                                      \
		struct tach_region_mark outer, mark[2];                                        \
                                                                                               \
		(void)unused;                                                                  \
		tach__region_start(TACH_ADDRESS(enclosing), &outer);                           \
		tach__region_start(TACH_ADDRESS(site), &mark[at]);                             \
		tach__region_start(TACH_ADDRESS(site), &mark[!(at)]);                          \
		tach__region_stop(&mark[!(at)]);                                               \
		tach__region_stop(&mark[at]);                                                  \
		tach__region_stop(&outer);                                                     \
	}
RECURSION(below, middle, 1)
RECURSION(below_fenced, middle_fenced, 1)
RECURSION(above, middle, 0)
RECURSION(above_fenced, middle_fenced, 0)

/* ---- the calls of a task; only one of its parts runs inside the outer region ---- */

static void task_plant(struct tach_task *task, uint64_t sum)
{
	memset(task, 0, sizeof *task);
	tach__task_plant(task, sum);
	task->site = TACH_ADDRESS(segment);
}

void tach__trial_task_begin(const struct tach__poke *unused)
{
	struct tach_region_mark outer;
	struct tach_task task;

	(void)unused;
	memset(&task, 0, sizeof task);
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__task_begin(&task, TACH_ADDRESS(segment));
	tach__region_stop(&outer);
}

void tach__trial_task_resume(const struct tach__poke *unused)
{
	struct tach_region_mark outer;
	struct tach_task task;

	(void)unused;
	task_plant(&task, 0);
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__task_resuming(&task);
	tach__region_stop(&outer);
}

void tach__trial_task_segment(const struct tach__poke *unused)
{
	struct tach_region_mark outer;
	struct tach_task task;

	(void)unused;
	task_plant(&task, 0);
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach_task_resume(&task);
	tach_task_suspend(&task);
	tach__region_stop(&outer);
}

void tach__trial_task_end(const struct tach__poke *poke)
{
	struct tach_region_mark outer;
	struct tach_task task;

	task_plant(&task, poke ? ++*poke->at : 0);
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__task_ended(&task);
	tach__region_stop(&outer);
}

void tach__trial_flat(const struct tach__poke *unused)
{
	struct tach_region_mark mark;

	(void)unused;
	tach__region_start(TACH_ADDRESS(flat), &mark);
	tach__region_stop(&mark);
}

/* Returns the change of the sum of locks that a poke makes. */
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

const uint32_t tach__trial_ids[TACH__SHOWN] = {TACH__SITE_EMPTY, TACH__SITE_ENCLOSING,
					       TACH__SITE_MIDDLE};
const uint32_t tach__trial_fenced_ids[TACH__SHOWN] = {TACH__SITE_FENCED, TACH__SITE_ENCLOSING,
						      TACH__SITE_MIDDLE_FENCED};
const uint32_t tach__trial_flat_ids[TACH__SHOWN] = {TACH__SITE_FLAT, TACH__SITE_ENCLOSING,
						    TACH__SITE_MIDDLE};
