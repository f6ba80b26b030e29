/* SPDX-License-Identifier: MIT */
/*
 * Tasks. A segment is an entry into the task's region. It counts in the slot of the thread that
 * runs it. A segment's counts are the slot's sums after it minus the slot's sums before it.
 * Only that thread changes these sums, so measuring a task adds no cost. This file carries the
 * sums from segment to segment.
 */
#include <string.h>
#include <tach/reader.h>
#include <tach/task.h>
#include "core/os/sys.h"
#include "core/region/carried.h"
#include "core/region/cost.h"
#include "core/region/left.h"
#include "core/region/region.h"

/* The task that this thread resumed last. The address of this variable identifies the
 * thread. */
__attribute__((tls_model("initial-exec"))) static __thread const struct tach__carried *last;

/* Identifies the current sums, which restart with each configuration and in each child of fork.
 */
static uint64_t current_sums(const struct tach__config *config)
{
	return tach__registry.inherited << 32 | config->generation;
}

/* Returns the calling thread's slot, or NULL before its first entry. */
static struct tach__slot *slot_here(uint64_t id)
{
	const struct tach__thread *record = tach__self->record;
	struct tach__slot *slot;

	if (!record || (id < TACH__SITE_FIRST && !tach__calibrating) || id >= record->limit)
		return NULL;
	slot = tach__slot_at(record, (uint32_t)id);
	return slot->id ? slot : NULL;
}

static void sums_of(struct tach__task_sums *out, const struct tach__slot *slot,
		    const struct tach__part *part, uint64_t count)
{
	out->calls = part->calls;
	memcpy(out->nested, part->nested, sizeof out->nested);
	memcpy(out->flag, slot->provenance, sizeof out->flag);
	memcpy(out->sum, part->sum, (1 + count) * sizeof *out->sum);
}

/* ---- segments, in the copy of the library that owns the regions ---- */

/*
 * Chooses the rows of the regions that begin from now on; returns the previous number. If rows
 * are divided, the number of instructions varies, and a lock may be needed. So it runs as a
 * trial: otherwise it could not take the lock, like a handler that interrupted the library.
 */
static uint32_t choose_rows(uint32_t number, uint64_t tag)
{
	struct tach__thread *record = tach__self->record;
	uint32_t level = TACH__LEVEL(tach__self->state);
	uint32_t number_before = tach__split_task(number);
	int before = tach__calibrating;
	struct tach__cost cost;

	if (TACH_LIKELY(!record || !record->splits || !level || tach__signals_held != before)) {
		tach__tag_here(tag);
		return number_before;
	}
	tach__cost_begin(&cost, level);
	tach__calibrating = tach__signals_held;
	tach__tag_here(tag);
	tach__calibrating = before;
	tach__cost_end(&cost, record->residue.aside, level);
	return number_before;
}

void tach__segment_begin(struct tach_task *task)
{
	struct tach__carried *c = tach__carried(task);
	const struct tach__hot *self = tach__self;
	const struct tach__slot *slot = slot_here(TACH__GET(task->site->id));

	if (!c->number)
		c->number = tach__split_task_number(task->site);
	c->here = c;
	c->thread = &last;
	c->tag_before = tach__tag_now();
	c->task_before = choose_rows(c->number, task->tag);
	c->opening = TACH__OPENING(self->state);
	c->part = NULL;
	if (slot) {
		uint32_t count = self->record->count;
		const struct tach__part *part = tach__part(slot, count, 0);

		/* Chooses the part as START does. */
		if (TACH__LEVEL(self->state) >= TACH__LEVEL(part->ceiling))
			part = tach__part(slot, count, 1);
		sums_of(&c->before, slot, part, count);
		c->part = part;
	}
	task->mark.part = NULL;
	task->running = 1;
	TACH__SET(last, c);
}

static int is_task(const struct tach__carried *c)
{
	return tach__memory_equals((uintptr_t)&c->here, &c, sizeof c->here);
}

/* Returns the words of the task whose segment is open at that level, or NULL for a normal
 * entry. */
static struct tach__carried *carried_at(const struct tach__hot *hot, uint32_t level)
{
	struct tach__slot **stack = tach__stack(hot, level);
	char *mark = (char *)*tach__marks(stack);
	struct tach_task *task;
	struct tach__carried *c;

	if (!stack[1]->task)
		return NULL;
	task = (struct tach_task *)(void *)(mark - offsetof(struct tach_task, mark));
	c = tach__carried(task);
	return is_task(c) ? c : NULL;
}

/* Called if `c` is suspended before `to`, a task that was resumed later. When `to` is
 * suspended, it then restores the state from before `c`. */
static void swap_saved(struct tach__carried *c, struct tach__carried *to)
{
	uint32_t now = tach__split_task(0);

	to->tag_before = c->tag_before;
	to->task_before = c->task_before;
	c->tag_before = tach__tag_now();
	c->task_before = now;
	tach__split_task(now);
}

void tach__task_overlaps(const struct tach__thread *record, struct tach_region_mark *mark,
			 uint32_t level, const struct tach__slot *slot)
{
	const struct tach__hot *hot = record->hot;
	struct tach__carried *next = NULL, *c;
	char *task = (char *)mark - offsetof(struct tach_task, mark);

	for (uint32_t k = TACH__LEVEL(hot->state); k-- > 0;) {
		struct tach__slot **stack = tach__stack(hot, k);

		c = carried_at(hot, k);
		if (!c)
			continue;
		if (k >= level)
			next = c;
		if (stack[1] != slot)
			continue;
		c->part = (*tach__marks(stack))->part;
		sums_of(&c->before, slot, c->part, record->count);
	}
	c = tach__carried((struct tach_task *)(void *)task);
	if (next && is_task(c))
		swap_saved(c, next);
}

/* Returns 1 if this thread's last task runs without an entry. If a jump left the task, its
 * memory may have other data. If its START counted, it has a part. */
TACH__LOOKS_BACK static int is_starting(const struct tach__carried *c,
					const struct tach_task *task)
{
	return is_task(c) && c->thread == &last && task->running && !task->mark.part;
}

void tach__tasks_abandoned(const struct tach__thread *record)
{
	struct tach__carried *c = (struct tach__carried *)(uintptr_t)TACH__GET(last);
	const struct tach_task *task;
	uint32_t number = 0, *above = &number;

	task = (const void *)((char *)c - offsetof(struct tach_task, word));
	for (uint32_t k = TACH__LEVEL(record->hot->state); k-- > 0;) {
		struct tach__carried *at = carried_at(record->hot, k);

		if (!at)
			continue;
		*above = at->number;
		above = &at->task_before;
		*above = 0;
	}
	/* The task's START is in progress or was refused. So the task runs, but is not on the
	 * stack. */
	if (is_starting(c, task)) {
		c->task_before = number;
		return;
	}
	tach__split_task(number);
	tach__split_choose(record->hot);
}

/* Computes the segment's additions to its part. Returns 0 if it did not count there. */
static int read_segment(const struct tach__carried *c, const struct tach_task *task,
			const struct tach__slot *slot, struct tach__task_sums *out)
{
	const struct tach__part *part = task->mark.part;
	const struct tach__thread *record = tach__self->record;
	struct tach__task_sums before = c->before;

	if (!slot || !part ||
	    (part != tach__part(slot, record->count, 0) &&
	     part != tach__part(slot, record->count, 1)))
		return 0;
	/* The thread's sums began with this segment, or the segment counted in another part
	 * than expected. */
	if (!c->part || TACH__OPENING(tach__self->state) != c->opening)
		memset(&before, 0, sizeof before);
	else if (c->part != part)
		return 0;
	sums_of(out, slot, part, record->count);
	out->calls -= before.calls;
	for (int i = 0; i < 2; i++)
		out->nested[i] -= before.nested[i];
	for (int i = 0; i < TACH__TASK_FLAGS; i++)
		out->flag[i] -= before.flag[i];
	for (uint32_t i = 0; i <= record->count; i++)
		out->sum[i] -= before.sum[i];
	return out->calls > 0;
}

static void add(struct tach__carried *c, const struct tach__slot *slot,
		const struct tach__task_sums *of)
{
	const struct tach__thread *record = tach__self->record;

	/* This loop has no branch: the enclosing regions subtract a constant for it. */
	for (uint32_t i = 0; i < TACH__TASK_FLAGS; i++)
		c->flags |= (uint32_t)(of->flag[i] != 0) << i;
	if (of->calls > 1)
		c->flags |= TACH_FLAG_INCOMPLETE;
	if (record->count < c->count)
		c->flags |= TACH_FLAG_LOST;
	for (uint32_t i = 0; i <= record->count; i++)
		c->sum[i] += tach__entry_net(&record->entry_cost, of->sum, of->nested, i,
					     slot->fenced);
}

/* The first counted segment decides the set. */
static void choose_set(struct tach__carried *c, const struct tach_task *task)
{
	const struct tach__config *config = tach__self->record->config;

	if (c->segments == 0) {
		c->generation = config->generation;
		c->count = config->count;
		c->begun = task->mark.counters.clock;
	} else if (c->generation != config->generation) {
		c->flags |= TACH_FLAG_LOST;
	}
	/* The task's segments may belong to several sets. */
	if (config->ring.next)
		c->flags |= TACH_FLAG_LOST;
}

void tach__segment_end(struct tach_task *task)
{
	struct tach__carried *c = tach__carried(task);
	struct tach__slot *slot = slot_here(TACH__GET(task->site->id));
	struct tach__task_sums of;

	task->running = 0;
	/* If another thread runs the segment, it is refused: this thread may run another task.
	 */
	if (c->thread == &last)
		choose_rows(c->task_before, c->tag_before);
	if (!read_segment(c, task, slot, &of)) {
		c->flags |= TACH_FLAG_LOST;
		return;
	}
	choose_set(c, task);
	if (c->generation == tach__self->record->config->generation)
		add(c, slot, &of);
	c->segments++;
	if (c->called != current_sums(tach__self->record->config))
		c->called = current_sums(tach__self->record->config);
	else
		TACH__ADD(slot->continued[task->mark.part !=
					  tach__part(slot, tach__self->record->count, 0)],
			  1);
}

/*
 * Keeps the task in a slot of the calling thread. Returns 1 if it is one of the worst entries.
 */
static int keep(const struct tach_task *task, const struct tach__carried *c,
		const struct tach__slot *slot)
{
	static const struct tach__entry_cost none;
	static const uint64_t nothing[2];
	const struct tach__thread *record = tach__self->record;

	if (!slot || (c->flags & TACH_FLAG_LOST) ||
	    c->generation != record->config->generation || record->count < c->count)
		return 0;
	if (slot->histograms)
		tach__histograms_add(slot->histograms, c->sum, &none, 0, nothing,
				     record->count + 1);
	return tach__worst_keep(record, slot->id, c->begun, task->tag, c->flags, c->sum);
}

int tach__task_keep(struct tach_task *task, int *is_kept)
{
	const struct tach__carried *c = tach__carried(task);
	const struct tach__slot *slot = slot_here(TACH__GET(task->site->id));

	if (c->segments)
		*is_kept = keep(task, c, slot);
	return !c->segments || slot;
}

void tach__task_plant(struct tach_task *task, uint64_t sum)
{
	struct tach__carried *c = tach__carried(task);

	memset(c, 0, sizeof *c);
	c->number = tach__split_numbers_tasks();
	c->segments = 1;
	c->generation = tach__self->record->config->generation;
	for (uint32_t i = 0; i < TACH__SUMS; i++)
		c->sum[i] = sum;
}

void tach__tasks_save(struct tach__tasks_now *to)
{
	to->last = TACH__GET(last);
	to->number = tach__split_task(0);
	to->tag = tach__tag_now();
}

void tach__tasks_restore(const struct tach__tasks_now *from)
{
	TACH__SET(last, from->last);
	tach__split_task(from->number);
	tach__tag_here(from->tag);
}
