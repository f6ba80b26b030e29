/* SPDX-License-Identifier: MIT */
/* The regions of one thread: its parts in teams, barriers, and tasks. */
#include <pthread.h>
#include <stdlib.h>
#include "compat/openmp/openmp.h"
#include "core/region/region.h"

static __thread struct thread *own;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * The time of a worker between the end of one part and the begin of the next. The last entry is
 * open when the process ends, and does not count as lost.
 */
static struct tach_site idle = {
	tach__region_begin, TACH_SITE_NEW, 0, TACH__SITE_OPEN, "(idle)", "", ""};

static void idle_begin(void)
{
	if (!own->is_worker || own->idle)
		return;
	own->idle = 1;
	tach_region_begin(&idle, &own->idling);
}

static void idle_end(void)
{
	if (own->idle)
		tach_region_end(&own->idling);
	own->idle = 0;
}

static void thread_free(void *thread)
{
	idle_end();
	free(thread);
	own = NULL;
}

static void make_key(void)
{
	pthread_key_create(&key, thread_free);
}

struct thread *openmp_thread(void)
{
	if (!own) {
		pthread_once(&once, make_key);
		own = calloc(1, sizeof *own);
		if (own)
			pthread_setspecific(key, own);
	}
	return own;
}

/* The innermost part in a team, or NULL. */
static struct member *innermost(void)
{
	return own && own->depth && own->depth <= OPENMP_DEPTH ? &own->member[own->depth - 1]
							       : NULL;
}

struct team openmp_team(struct place *place)
{
	struct team team = {.place = place};

	if (place)
		tach_team_take(&team.around);
	return team;
}

static void work_begin(struct member *m)
{
	m->working = 1;
	tach_team_join(&m->team->around, &m->help);
	tach_region_begin(&m->team->place->work, &m->work);
}

static void work_end(struct member *m)
{
	if (m->working) {
		tach_region_end(&m->work);
		tach_team_leave(&m->help);
	}
	m->working = 0;
}

void openmp_join(struct team *team, int is_worker)
{
	struct thread *thread = openmp_thread();
	struct member *m;

	if (!thread)
		return;
	idle_end();
	if (is_worker)
		thread->depth = 0;
	thread->is_worker |= is_worker;
	if (thread->depth++ >= OPENMP_DEPTH)
		return;
	m = innermost();
	m->team = team;
	m->working = m->waiting = 0;
	if (team && team->place)
		work_begin(m);
}

void openmp_wait_begin(void)
{
	struct member *m = innermost();

	if (!m || m->waiting || !m->team || !m->team->place)
		return;
	m->waiting = 1;
	tach_region_begin(&m->team->place->wait, &m->wait);
}

void openmp_wait_end(void)
{
	struct member *m = innermost();

	if (!m || !m->waiting)
		return;
	tach_region_end(&m->wait);
	m->waiting = 0;
}

void openmp_finish(int is_waiting)
{
	struct member *m = innermost();

	if (!m)
		return;
	work_end(m);
	if (is_waiting)
		openmp_wait_begin();
	else if (own->depth == 1)
		idle_begin();
}

void openmp_leave(void)
{
	struct member *m = innermost();

	if (m) {
		openmp_wait_end();
		work_end(m);
	}
	if (own && own->depth && --own->depth == 0)
		idle_begin();
}

/*
 * A thread that has finished its part runs tasks of its team while it waits for the others.
 * During such a task it works for its team again.
 */
void openmp_task_begin(struct place *place, struct team *team)
{
	struct thread *thread = openmp_thread();
	struct member *m = innermost();
	struct task *task;

	if (!thread || thread->tasks++ >= OPENMP_TASKS)
		return;
	idle_end();
	task = &thread->task[thread->tasks - 1];
	task->measured = place != NULL;
	task->joined = !thread->depth && team;
	task->resumed = m && !m->working && m->team && m->team->place;
	if (task->joined)
		openmp_join(team, 1);
	if (task->resumed)
		work_begin(m);
	if (place)
		tach_region_begin(&place->task, &task->mark);
}

void openmp_task_end(void)
{
	struct member *m = innermost();
	struct task *task;

	if (!own || !own->tasks || --own->tasks >= OPENMP_TASKS)
		return;
	task = &own->task[own->tasks];
	if (task->measured)
		tach_region_end(&task->mark);
	if (task->resumed && m)
		work_end(m);
	if (task->joined)
		openmp_leave();
	else if (task->resumed && own->depth == 1)
		idle_begin();
}
