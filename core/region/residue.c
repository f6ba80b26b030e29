/* SPDX-License-Identifier: MIT */
/* The cost of slow paths that they cannot measure themselves. */
#include <string.h>
#include "core/os/stack.h"
#include "core/region/cost.h"
#include "core/region/left.h"
#include "core/region/trial.h"

/* The median is used, because a run that the kernel interrupted may show less on a busy
 * machine. */
enum { WARM = 1, TRIES = 9, MIDDLE = TRIES / 2 };

/* Computes how much more region s shows if the poke writes `other`. */
static void measure_difference(uint64_t *out, const struct tach__trials *r,
			       void (*trial)(const struct tach__poke *), struct tach__poke poke,
			       uint64_t other, int s)
{
	const uint32_t *ids =
		trial == tach__trial_moved ? tach__trial_ids : tach__trial_fenced_ids;
	uint32_t count = r->record->count;
	struct tach__trials with = *r;
	uint64_t as_usual[TACH__SUMS];

	tach__trials_run(r, trial, &poke, ids);
	for (uint32_t i = 0; i <= count; i++)
		as_usual[i] = r->shown->sum[s][i][MIDDLE];
	poke.value = other;
	with.planted = 1;
	tach__trials_run(&with, trial, &poke, ids);
	for (uint32_t i = 0; i <= count; i++)
		out[i] = r->shown->sum[s][i][MIDDLE] - as_usual[i];
}

/* Measures all residues. Each known one is subtracted while the next is measured. */
static void measure(const struct tach__trials *r)
{
	struct tach__residue *residue = &r->record->residue;
	struct tach__hot *hot = r->record->hot;
	uint64_t unready = (uintptr_t)&tach__slot_unready, once[TACH__SUMS], twice[TACH__SUMS];
	volatile uint64_t *table = (volatile uint64_t *)(void *)tach__table(hot);
	struct tach__poke limit = {&hot->limit, r->record->limit};
	struct tach__poke slot[2] = {{&table[TACH__SITE_EMPTY], table[TACH__SITE_EMPTY]},
				     {&table[TACH__SITE_FENCED], table[TACH__SITE_FENCED]}};
	struct tach__poke lock = {NULL, 0},
			  since = {(volatile uint64_t *)(void *)&hot->since, 0};

	memset(residue, 0, sizeof *residue);
	for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
		measure_difference(residue->again[elsewhere][0], r, tach__trial_moved, lock,
				   TACH__POKE_PAGE(2, elsewhere), TACH__TRIAL_INNER);
		measure_difference(residue->again[elsewhere][1], r, tach__trial_moved_fenced,
				   lock, TACH__POKE_PAGE(2, elsewhere), TACH__TRIAL_INNER);
	}
	measure_difference(once, r, tach__trial_one, limit, 0, TACH__TRIAL_OUTER);
	measure_difference(twice, r, tach__trial_two, limit, 0, TACH__TRIAL_OUTER);
	for (uint32_t i = 0; i <= r->record->count; i++) {
		residue->begin[0][0][i] = twice[i] - once[i];
		residue->before[0][i] = 2 * once[i] - twice[i];
	}
	measure_difference(residue->begin[0][1], r, tach__trial_one_fenced, limit, 0,
			   TACH__TRIAL_OUTER);
	measure_difference(residue->begin[1][0], r, tach__trial_one, slot[0], unready,
			   TACH__TRIAL_OUTER);
	measure_difference(residue->begin[1][1], r, tach__trial_one_fenced, slot[1], unready,
			   TACH__TRIAL_OUTER);
	measure_difference(residue->before[1], r, tach__trial_three_fenced, limit, 0,
			   TACH__TRIAL_MIDDLE);
	measure_difference(residue->after[0], r, tach__trial_three, limit, 0,
			   TACH__TRIAL_OUTER);
	measure_difference(residue->after[1], r, tach__trial_three_fenced, limit, 0,
			   TACH__TRIAL_OUTER);
	for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
		measure_difference(residue->rescheduled[elsewhere][0], r, tach__trial_moved,
				   lock, TACH__POKE_PAGE(2, elsewhere), TACH__TRIAL_OUTER);
		measure_difference(residue->rescheduled[elsewhere][1], r,
				   tach__trial_moved_fenced, lock,
				   TACH__POKE_PAGE(2, elsewhere), TACH__TRIAL_OUTER);
		measure_difference(residue->stale[elsewhere][0], r, tach__trial_stale, since,
				   TACH__POKE_PAGE(1, elsewhere), TACH__TRIAL_OUTER);
		measure_difference(residue->stale[elsewhere][1], r, tach__trial_stale_fenced,
				   since, TACH__POKE_PAGE(1, elsewhere), TACH__TRIAL_OUTER);
	}
}

/* Measures the counts that a kept inner entry adds to the enclosing region. */
static void measure_kept(const struct tach__trials *r)
{
	struct tach__poke bar = {NULL, UINT64_MAX};

	if (!r->worst)
		return;
	bar.at = &r->worst->bar;
	measure_difference(r->record->residue.kept, r, tach__trial_one, bar, 0,
			   TACH__TRIAL_OUTER);
	r->worst->bar = UINT64_MAX;
}

/* Writes the counts of the outer region to `out`. */
static void measure_enclosing(uint64_t *out, const struct tach__trials *r,
			      void (*trial)(const struct tach__poke *),
			      const struct tach__poke *poke)
{
	int fenced = trial == tach__trial_spent_fenced || trial == tach__trial_pair_fenced ||
		     trial == tach__trial_below_fenced || trial == tach__trial_above_fenced;
	const uint32_t *ids = fenced ? tach__trial_fenced_ids : tach__trial_ids;

	tach__trials_run(r, trial, poke, ids);
	for (uint32_t i = 0; i <= r->record->count; i++)
		out[i] = r->shown->sum[TACH__TRIAL_OUTER][i][MIDDLE];
}

/* Measures the counts that a STOP which subtracts costs adds to the enclosing region, besides
 * its pair. */
static void measure_spent(const struct tach__trials *r, const uint64_t *empty)
{
	uint64_t added[TACH__SUMS], spent[TACH__SUMS], pair[TACH__SUMS];

	for (int fenced = 0; fenced < 2; fenced++) {
		measure_enclosing(added, r, tach__trial_add, NULL);
		measure_enclosing(spent, r,
				  fenced ? tach__trial_spent_fenced : tach__trial_spent, NULL);
		measure_enclosing(pair, r, fenced ? tach__trial_pair_fenced : tach__trial_pair,
				  NULL);
		for (uint32_t i = 0; i <= r->record->count; i++)
			r->record->residue.spent[fenced][i] =
				spent[i] - added[i] - (pair[i] - empty[i]);
	}
}

/* Both trials differ only in the place of the recursive entry's mark, and in a STOP that
 * subtracts a cost. */
static void measure_recursion(const struct tach__trials *r)
{
	uint64_t below[TACH__SUMS], above[TACH__SUMS];

	for (int fenced = 0; fenced < 2; fenced++) {
		measure_enclosing(below, r,
				  fenced ? tach__trial_below_fenced : tach__trial_below, NULL);
		measure_enclosing(above, r,
				  fenced ? tach__trial_above_fenced : tach__trial_above, NULL);
		for (uint32_t i = 0; i <= r->record->count; i++)
			r->record->residue.recursion[fenced][i] = above[i] - below[i];
	}
}

/* Measures the calls of a task. empty: overhead of the enclosing region. */
static void measure_tasks(const struct tach__trials *r, const uint64_t *empty)
{
	struct tach__slot *slot = tach__slot_at(r->record, TACH__SITE_EMPTY);
	uint64_t(*task)[TACH__SUMS] = r->record->residue.task;
	uint64_t around[TACH__TASK_CALLS][TACH__SUMS], pair[TACH__SUMS], segment[TACH__SUMS];
	uint64_t longest = UINT64_C(1) << 40;
	struct tach__poke longer = {&longest, 0};

	measure_enclosing(pair, r, tach__trial_pair, NULL);
	slot->task = 1;
	measure_enclosing(segment, r, tach__trial_pair, NULL);
	measure_enclosing(around[TACH__TASK_BEGIN], r, tach__trial_task_begin, NULL);
	measure_enclosing(around[TACH__TASK_RESUME], r, tach__trial_task_resume, NULL);
	measure_enclosing(around[TACH__TASK_SUSPEND], r, tach__trial_task_segment, NULL);
	measure_enclosing(around[TACH__TASK_END], r, tach__trial_task_end, NULL);
	measure_enclosing(around[TACH__TASK_END_KEPT], r, tach__trial_task_end, &longer);
	slot->task = 0;
	for (uint32_t i = 0; i <= r->record->count; i++) {
		task[TACH__TASK_BEGIN][i] = around[TACH__TASK_BEGIN][i] - empty[i];
		task[TACH__TASK_RESUME][i] = around[TACH__TASK_RESUME][i] - empty[i];
		task[TACH__TASK_END][i] = around[TACH__TASK_END][i] - empty[i];
		task[TACH__TASK_END_KEPT][i] = around[TACH__TASK_END_KEPT][i] - empty[i];
		task[TACH__TASK_SUSPEND][i] =
			around[TACH__TASK_SUSPEND][i] - segment[i] - task[TACH__TASK_RESUME][i];
		task[TACH__TASK_SUSPEND_FAST][i] =
			task[TACH__TASK_SUSPEND][i] + segment[i] - pair[i];
	}
}

/* Measures the costs that cost.h adds as constants. They are 0 during the measurement. */
static void measure_asides(const struct tach__trials *r, const uint64_t *empty)
{
	struct tach__thread *record = r->record;
	struct tach__slot ***splits = record->splits;
	struct tach__tasks_now before;
	uint64_t ready[TACH__SUMS];

	measure_enclosing(ready, r, tach__trial_ready, NULL);
	for (uint32_t i = 0; i <= record->count; i++)
		record->residue.aside[i] = ready[i] - empty[i];
	record->residue_known = 1;
	measure_spent(r, empty);
	measure_recursion(r);
	measure_kept(r);
	tach__tasks_save(&before);
	record->splits = NULL;
	measure_tasks(r, empty);
	tach__tasks_restore(&before);
	record->splits = splits;
}

/* Computes the counts of a START without its STOP in an enclosing region, minus the overhead of
 * that region. An unfenced inner region has the same overhead. */
static void measure_starts(const struct tach__trials *r)
{
	struct tach__trials with = *r;
	uint64_t empty[TACH__SUMS];

	with.planted = 1;
	tach__trials_run(r, tach__trial_pair, NULL, tach__trial_ids);
	for (uint32_t i = 0; i <= r->record->count; i++)
		empty[i] = r->shown->sum[TACH__TRIAL_INNER][i][MIDDLE];
	/* Measure this before regions overlap, which makes later STOPs slow. */
	measure_asides(&with, empty);
	for (int fenced = 0; fenced < 2; fenced++) {
		uint64_t start[TACH__SUMS];

		tach__trials_run(&with,
				 fenced ? tach__trial_overlap_fenced : tach__trial_overlap,
				 NULL, fenced ? tach__trial_fenced_ids : tach__trial_ids);
		for (uint32_t i = 0; i <= r->record->count; i++)
			start[i] = r->shown->sum[TACH__TRIAL_OUTER][i][MIDDLE] - empty[i];
		memcpy(r->record->residue.start[fenced], start, sizeof start);
	}
}

/* Measures once per set, because each thread runs the same code. */
void tach__residue_measure(const struct tach__trials *trials)
{
	struct tach__thread *record = trials->record;
	struct tach__config *config = record->config;
	int shared = record->count == config->count;
	struct tach__trials few = *trials;
	struct tach__held held;

	if (shared && __atomic_load_n(&config->settled, __ATOMIC_ACQUIRE)) {
		record->residue = config->residue;
	} else {
		few.warm = WARM;
		few.tries = TRIES;
		measure(&few);
		measure_starts(&few);
	}
	record->residue_known = 1;
	if (!shared)
		return;
	tach__lock(&held);
	if (!config->settled)
		config->residue = record->residue;
	__atomic_store_n(&config->settled, 1, __ATOMIC_RELEASE);
	tach__unlock(&held);
}

enum { TRIAL_LEVELS = 3 };

struct inside {
	struct tach__thread *record;
	void (*measure)(const struct tach__trials *trials);
};

/* Runs on a stack of its own, like thread_open. */
static int measure_inside(void *of)
{
	const struct inside *inside = of;
	struct tach__thread *record = inside->record;
	struct tach__hot *hot = record->hot;
	struct tach__slot **stack = tach__stack(hot, 0), *slots[TRIAL_LEVELS];
	struct tach_region_mark **marks = tach__marks(stack), *mark[TRIAL_LEVELS];
	int32_t(*owed)[2] = record->owed;
	uint64_t settled = record->settled;
	uint64_t state = hot->state, cold[TACH__SUMS], pairs[2], *log = record->log;
	size_t log_size = record->log_size;
	uint32_t epoch = record->epoch;
	struct tach__trials trials;

	if (!tach__trials_begin(&trials, record))
		return TACH_ERR_NOMEM;
	memcpy(slots, stack + 1, sizeof slots);
	memcpy(mark, marks, sizeof mark);
	memcpy(cold, record->cold, sizeof cold);
	memcpy(pairs, hot->pairs, sizeof pairs);
	record->log = NULL;
	record->log_size = 0;
	record->owed = NULL;
	record->epoch = 0;
	TACH__SET(hot->state, TACH__STATE(TACH__OPENING(state), 0, 0));
	inside->measure(&trials);
	tach__pages_free(record->log, record->log_size);
	record->log = log;
	record->log_size = log_size;
	record->epoch = epoch;
	record->settled = settled;
	memcpy(record->cold, cold, sizeof cold);
	for (int i = 0; i < 2; i++)
		TACH__SET(hot->pairs[i], pairs[i]);
	for (int i = 0; i < TRIAL_LEVELS; i++)
		TACH__SET(stack[i + 1], slots[i]);
	for (int i = 0; i < TRIAL_LEVELS; i++)
		TACH__SET(marks[i], mark[i]);
	TACH__SET(hot->state, state);
	tach__trials_end(&trials);
	record->owed = owed;
	return 0;
}

int tach__trials_inside(struct tach__thread *record,
			void (*what)(const struct tach__trials *trials))
{
	struct inside inside = {record, what};

	return tach__on_own_stack(measure_inside, &inside) == 0;
}

void tach__residue_ready(struct tach__thread *record)
{
	/* The thread may have switched to another set, so that this record has ended. */
	if (!record->residue_known && !tach__calibrating && record == tach__self->record)
		tach__trials_inside(record, tach__residue_measure);
}
