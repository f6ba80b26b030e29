/* SPDX-License-Identifier: MIT */
/* The calls around a task's segments. Open regions do not include their cost. */
#include <tach/task.h>
#include "core/os/sys.h"
#include "core/region/beacon.h"
#include "core/region/cost.h"
#include "core/region/left.h"

/*
 * A task may get its number for rows in between, which takes a lock. So this code counts as a
 * trial: otherwise the lock would be refused, as in a handler that interrupted the library.
 */
static int enter(struct tach__cost *cost)
{
	int before = tach__calibrating;

	tach__cost_aside_begin(cost);
	if (cost->record)
		tach__calibrating = tach__signals_held;
	return before;
}

static void leave(struct tach__cost *cost, int before, int is_after_stop)
{
	tach__calibrating = before;
	tach__cost_aside_end(cost, is_after_stop);
}

void tach__task_resuming_here(struct tach_task *task)
{
	struct tach__cost cost;
	int before = enter(&cost);

	tach__segment_begin(task);
	leave(&cost, before, 0);
}

/* The residue of a slow STOP has the histogram already. */
static int stop_was_fast(const struct tach__hot *self)
{
	return self->record && self->record->settled != TACH__GET(self->pairs[0]);
}

void tach__task_suspended_here(struct tach_task *task)
{
	struct tach__cost cost;
	int before = enter(&cost), was_fast = stop_was_fast(tach__self);

	tach__segment_end(task);
	leave(&cost, before, was_fast);
}

static int keep_whole(struct tach_task *task)
{
	struct tach__cost cost;
	int before = enter(&cost), has_place = tach__task_keep(task);

	leave(&cost, before, 0);
	return has_place;
}

void tach__task_ended_here(struct tach_task *task)
{
	/* A thread on which it never ran gets a place for it by an empty segment. */
	if (!keep_whole(task)) {
		tach_task_resume(task);
		tach_task_suspend(task);
		keep_whole(task);
	}
	task->site = NULL;
}
