/* SPDX-License-Identifier: MIT */
/*
 * The OMPT tool (OpenMP 5.1, chapter 4). The runtime of LLVM calls ompt_start_tool when it
 * starts. The numbers below are the specification's. A runtime with OMPT always has the
 * callbacks for teams and barriers.
 */
#include <stddef.h>
#include "compat/openmp/openmp.h"

union data {
	uint64_t value;
	void *ptr;
};
typedef void (*callback)(void);
typedef callback (*lookup)(const char *name);
typedef int (*set_callback)(int event, callback function);

enum { PARALLEL_BEGIN = 3, PARALLEL_END = 4, TASK_CREATE = 5, TASK_SCHEDULE = 6 };
enum { IMPLICIT_TASK = 7, SYNC_REGION = 23 };
enum { BEGIN = 1, END = 2 };
enum { TASK_INITIAL = 1, TASK_EXPLICIT = 4 };
enum { BARRIER_IMPLICIT = 2, BARRIER_IMPLICIT_PARALLEL = 9 };
/* Statuses with which the task that ran before does not run again. */
enum { COMPLETE = 1, CANCEL = 3, LATE_FULFILL = 6, DETACH = 4 };

int openmp_has_tool;

static void parallel_begin(union data *task, const void *frame, union data *parallel,
			   unsigned requested, int flags, const void *address)
{
	struct thread *thread = openmp_thread();

	(void)task, (void)frame, (void)requested, (void)flags;
	parallel->ptr = NULL;
	if (!thread || thread->teams++ >= OPENMP_DEPTH)
		return;
	parallel->ptr = &thread->team[thread->teams - 1];
	*(struct team *)parallel->ptr = openmp_team(openmp_place(address));
}

static void parallel_end(union data *parallel, union data *task, int flags, const void *address)
{
	struct thread *thread = openmp_thread();

	(void)parallel, (void)task, (void)flags, (void)address;
	if (thread && thread->teams)
		thread->teams--;
}

/*
 * The runtime may report the end of a worker's part only when its next part begins. So this
 * ignores a worker's end: sync_region ends the part.
 */
static void implicit_task(int edge, union data *parallel, union data *task, unsigned size,
			  unsigned index, int flags)
{
	(void)task, (void)size;
	if (flags & TASK_INITIAL)
		return;
	if (edge == BEGIN)
		openmp_join(parallel ? parallel->ptr : NULL, index != 0);
	else if (index == 0)
		openmp_leave();
}

/*
 * Returns 1 for the barrier at the end of a team. The barrier's address is the team's place, or
 * NULL in a worker. A worker leaves this barrier only when the next team begins, so the wait is
 * not measured in workers.
 */
static int ends_team(int kind, const void *address)
{
	const struct thread *thread = openmp_thread();
	const struct member *m = thread && thread->depth && thread->depth <= OPENMP_DEPTH
					 ? &thread->member[thread->depth - 1]
					 : NULL;

	if (kind == BARRIER_IMPLICIT_PARALLEL || !address)
		return 1;
	return m && m->team && m->team->place && m->team->place->at == (uintptr_t)address;
}

static void sync_region(int kind, int edge, union data *parallel, union data *task,
			const void *address)
{
	(void)parallel, (void)task;
	if (edge != BEGIN)
		openmp_wait_end();
	else if ((kind == BARRIER_IMPLICIT || kind == BARRIER_IMPLICIT_PARALLEL) &&
		 ends_team(kind, address))
		openmp_finish(kind == BARRIER_IMPLICIT && address);
	else
		openmp_wait_begin();
}

static void task_create(union data *task, const void *frame, union data *created, int flags,
			int has_dependences, const void *address)
{
	(void)task, (void)frame, (void)has_dependences;
	created->ptr = flags & TASK_EXPLICIT ? openmp_place(address) : NULL;
}

/*
 * An implicit task has no data (value 0). The lowest bit of the value marks a task that has
 * begun, because a task that waits for its children is scheduled a second time.
 */
static void task_schedule(union data *before, int status, union data *next)
{
	if (before && before->value &&
	    (status == COMPLETE || status == CANCEL || status == DETACH))
		openmp_task_end();
	if (next && next->value && !(next->value & 1)) {
		openmp_task_begin(next->ptr, NULL);
		next->value |= 1;
	}
}

static int initialize(lookup find, int device, union data *tool)
{
	union {
		callback any;
		set_callback set;
	} f = {.any = find("ompt_set_callback")};

	(void)device, (void)tool;
	if (!f.set)
		return 0;
	f.set(PARALLEL_BEGIN, (callback)parallel_begin);
	f.set(PARALLEL_END, (callback)parallel_end);
	f.set(IMPLICIT_TASK, (callback)implicit_task);
	f.set(SYNC_REGION, (callback)sync_region);
	f.set(TASK_CREATE, (callback)task_create);
	f.set(TASK_SCHEDULE, (callback)task_schedule);
	return 1;
}

static void finalize(union data *tool)
{
	(void)tool;
}

struct tool {
	int (*initialize)(lookup find, int device, union data *tool);
	void (*finalize)(union data *tool);
	union data data;
};

OPENMP struct tool *ompt_start_tool(unsigned version, const char *runtime);
struct tool *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct tool tool = {initialize, finalize, {0}};

	(void)version, (void)runtime;
	openmp_has_tool = 1;
	return &tool;
}
