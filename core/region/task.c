/* SPDX-License-Identifier: MIT */
/* The functions of tach/task.h, for any copy of the library, and a task's values. */
#include <string.h>
#include <tach/reader.h>
#undef TACH_API_INLINE
#define TACH_API_INLINE inline __attribute__((always_inline))
#include <tach/task.h>
#include "core/os/clock.h"
#include "core/region/beacon.h"
#include "core/region/carried.h"
#include "core/region/cost.h"
#include "core/region/region.h"

/* Returns the copy that owns the regions, or NULL if its version does not support tasks. */
static const struct tach__beacon *tasks(void)
{
	const struct tach__beacon *owner = tach__beacon_owner();

	if (!owner)
		return &tach__beacon;
	return owner->size > offsetof(struct tach__beacon, task_ended) ? owner : NULL;
}

void tach__task_resuming(struct tach_task *task)
{
	const struct tach__beacon *owner = tasks();

	if (owner)
		owner->task_resuming(task);
}

void tach__task_suspended(struct tach_task *task)
{
	const struct tach__beacon *owner = tasks();

	if (owner)
		owner->task_suspended(task);
}

/* If the site was not entered yet, marks it as a task's. Returns 1 if it is a task's. */
static int is_of_tasks(struct tach_site *site)
{
	uint32_t mode = TACH__GET(site->fenced);

	if (!(mode & TACH__SITE_TASK) && TACH__GET(site->id) == TACH_SITE_NEW) {
		mode |= TACH__SITE_TASK;
		TACH__SET(site->fenced, mode);
	}
	return (mode & TACH__SITE_TASK) != 0;
}

void tach__task_begin(struct tach_task *task, struct tach_site *site)
{
	struct tach__thread *around;

	tach_task_end(task);
	if (site)
		tach__configure_once();
	around = tach__aside();
	memset(task->word, 0, sizeof(struct tach__carried));
	if (site && tasks() && is_of_tasks(site))
		task->site = site;
	if (around)
		tach__cost_add(around, around->residue.task[TACH__TASK_BEGIN],
			       TACH__LEVEL(tach__self->state));
}

void tach__task_ended(struct tach_task *task)
{
	const struct tach__beacon *owner = tasks();

	if (owner)
		owner->task_ended(task);
}

int tach_task_value(const struct tach_task *task, int quantity, double *out)
{
	const struct tach__carried *c = tach__carried(task);
	uint32_t flags = c->flags;
	double error, hz;

	*out = 0;
	if (quantity < 0 || (c->segments && (uint64_t)quantity > c->count))
		return TACH_ERR_NOTFOUND;
	if (c->segments == 0)
		return (int)c->flags;
	*out = (double)c->sum[quantity];
	if (quantity == 0) {
		hz = tach__clock_hz(TACH__CLOCK_SOON, &flags, &error);
		*out *= hz > 0 ? 1e9 / hz : 0;
	}
	return (int)flags;
}
