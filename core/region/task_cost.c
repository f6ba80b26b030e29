/* SPDX-License-Identifier: MIT */
/* The calls around a task's segments. Open regions subtract the cost of these calls. */
#include <tach/task.h>
#include "core/os/sys.h"
#include "core/region/beacon.h"
#include "core/region/cost.h"
#include "core/region/left.h"

static void add_cost(struct tach__thread *around, int call)
{
	if (around)
		tach__cost_add(around, around->residue.task[call],
			       TACH__LEVEL(tach__self->state));
}

void tach__task_resuming_here(struct tach_task *task)
{
	struct tach__thread *around = tach__aside();

	tach__segment_begin(task);
	add_cost(around, TACH__TASK_RESUME);
}

/* Returns 1 if STOP was fast. The residue of a slow STOP already contains the histogram. */
static int stop_was_fast(const struct tach__hot *self)
{
	return self->record && self->record->settled != TACH__GET(self->pairs[0]);
}

void tach__task_suspended_here(struct tach_task *task)
{
	int was_fast = stop_was_fast(tach__self);
	struct tach__thread *around = tach__aside();

	tach__segment_end(task);
	add_cost(around, was_fast ? TACH__TASK_SUSPEND_FAST : TACH__TASK_SUSPEND);
}

static int keep_whole(struct tach_task *task)
{
	struct tach__thread *around = tach__aside();
	int is_kept = 0, has_place = tach__task_keep(task, &is_kept);

	add_cost(around, is_kept ? TACH__TASK_END_KEPT : TACH__TASK_END);
	return has_place;
}

void tach__task_ended_here(struct tach_task *task)
{
	/* If the task never ran on this thread, an empty segment makes the slot for it. */
	if (!keep_whole(task)) {
		tach_task_resume(task);
		tach_task_suspend(task);
		keep_whole(task);
	}
	task->site = NULL;
}
