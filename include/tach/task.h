/* SPDX-License-Identifier: MIT */
/*
 * Tasks: work that moves between threads. A request, a coroutine or a chain of callbacks begins
 * on one thread, is suspended, continues on another and ends on a third. The library adds up
 * its counts.
 *
 *	static struct tach_task task;
 *
 *	TACH_TASK_BEGIN(&task, request);	it runs on this thread
 *	tach_task_suspend(&task);		it waits
 *	tach_task_resume(&task);		on any thread
 *	tach_task_end(&task);
 *
 * In reports, the row `request` has the sums of all segments of such tasks, as exact as for
 * other regions. Its self values exclude nested regions, and its calls are tasks. Histograms
 * and worst entries (tach/region.h) are for whole tasks. A waiting task costs nothing.
 */
#ifndef TACH_TASK_H
#define TACH_TASK_H

#include <tach/region.h>

/*
 * A task, owned by the caller. If another thread will resume it, do not put it on a thread's
 * stack. Before it begins, it must contain zeros or the state after tach_task_end. Two threads
 * must not use it at the same time: the code that hands it over must order the accesses, as for
 * any other object (a queue's lock does).
 */
struct tach_task {
	struct tach_site *site; /* NULL: not measured */
	/* private to the library, like all that follows: not 0 in a segment */
	uint64_t running;
	struct tach_region_mark mark; /* the mark of the segment */
	uint64_t tag; /* the caller may set it: tach_tag() while the task runs */
	uint64_t word[64];
};

TACH_BEGIN_DECLS

/*
 * Begins a task and its first segment. If the task already runs or waits, it is ended first.
 * After its first entry, the site is for tasks only. If the site is NULL or was used by a
 * region before, nothing is measured. tach_task_resume and tach_task_suspend are the edges of a
 * segment, inline. If a region begins inside a segment and is open at its end, it continues to
 * count its thread. If such a region ends on the same thread, it overlaps (tach-threads(7)). On
 * another thread, its end is refused. Resuming a running task, or suspending a waiting one,
 * does nothing.
 *
 * A segment belongs to its thread: tach_task_suspend on another thread is refused and counted,
 * like the end of a region, and the segment is lost. In a child of fork, running segments are
 * lost, too. Waiting tasks keep their sums.
 */
/* MT-Safe race:task | AS-Safe | AC-Safe | allocates */
TACH_API void tach_task_begin(struct tach_task *task, struct tach_site *site) TACH_NONNULL(1);
/* MT-Safe race:task | AS-Safe | AC-Safe | allocates */
TACH_API void tach_task_resume(struct tach_task *task) TACH_NONNULL(1);
/* MT-Safe race:task | AS-Safe | AC-Safe | no allocation */
TACH_API void tach_task_suspend(struct tach_task *task) TACH_NONNULL(1);
/* Ends a task that runs or waits. Any thread may call it. A second call does nothing. */
/* MT-Safe race:task | AS-Safe | AC-Safe | allocates */
TACH_API void tach_task_end(struct tach_task *task) TACH_NONNULL(1);
/*
 * Stores the sum of the task's segments up to its last suspension or its end. Quantity 0 is
 * time in ns; the others are counts, as in a snapshot. The cost of measuring is subtracted.
 * Returns the flags of all segments (tach/flags.h), or 0 if no segment was counted.
 * TACH_FLAG_LOST: a segment was not counted completely, or the set changed in between.
 * TACH_FLAG_INCOMPLETE: tasks of the same site ran inside one another. TACH_FLAG_CLOCK, for
 * time: as in a snapshot. TACH_ERR_NOTFOUND: no such quantity.
 */
/* MT-Safe race:task | AS-Unsafe lock | AC-Unsafe fd | no allocation */
TACH_API int tach_task_value(const struct tach_task *task, int quantity, double *out)
	TACH_NONNULL(1, 3);

/* The inline functions call these before and after the measured code. */
TACH_API void tach__task_begin(struct tach_task *task, struct tach_site *site) TACH_NOTHROW;
TACH_API void tach__task_resuming(struct tach_task *task) TACH_NOTHROW;
TACH_API void tach__task_suspended(struct tach_task *task) TACH_NOTHROW;
TACH_API void tach__task_ended(struct tach_task *task) TACH_NOTHROW;

TACH_END_DECLS

TACH_API_INLINE void tach_task_resume(struct tach_task *task)
{
	struct tach_site *site;

	/* Otherwise the compiler may recompute a constant address after begin. */
	__asm__("" : "+r"(task));
	site = task->site;
	/* TACH_UNLIKELY, because otherwise a compiler may align the following code by an
	 * instruction, which would be counted. */
	if (TACH_UNLIKELY(!site || task->running))
		return;
	TACH_UNLESS(site->id, off);
	tach__task_resuming(task);
	site->begin(site, &task->mark);
off:;
}

TACH_API_INLINE void tach_task_suspend(struct tach_task *task)
{
	TACH_UNLESS(task->mark.end, off);
	task->mark.end(&task->mark);
off:
	if (task->running)
		tach__task_suspended(task);
}

TACH_API_INLINE void tach_task_begin(struct tach_task *task, struct tach_site *site)
{
	tach__task_begin(task, site);
	tach_task_resume(task);
}

TACH_API_INLINE void tach_task_end(struct tach_task *task)
{
	tach_task_suspend(task);
	if (task->site)
		tach__task_ended(task);
}

#ifdef TACH_DISABLE
#define TACH_TASK_BEGIN(task, name) ((task)->site = TACH__NULL)
#else
/* Begins a task with a site of that name. */
#define TACH_TASK_BEGIN(task, name)                                                            \
	do {                                                                                   \
		static struct tach_site tach__site_##name =                                    \
			TACH_SITE_INIT(#name, 0, __func__);                                    \
		tach_task_begin(task, TACH_ADDRESS(tach__site_##name));                        \
	} while (0)
#endif
#endif
