/* SPDX-License-Identifier: MIT */
/*
 * Tasks: work that crosses threads. A request, a coroutine or a chain of callbacks begins on
 *one thread, is suspended, goes on on another and ends on a third; what it took is one sum.
 *
 *	static struct tach_task task;
 *
 *	TACH_TASK_BEGIN(&task, request);	it runs here, from here on
 *	tach_task_suspend(&task);		it waits
 *	tach_task_resume(&task);		on any thread
 *	tach_task_end(&task);
 *
 * The region `request` of the report has all of its segments: their sums are exact as those of
 * regions are, what regions inside take is theirs in the self part, and its calls are tasks.
 * Histograms and worst entries (tach/region.h) are of whole tasks. What waits costs nothing.
 */
#ifndef TACH_TASK_H
#define TACH_TASK_H

#include <tach/region.h>

/*
 * A task. The caller's, on no thread's stack if another thread is to resume it; zeros, or as
 * the last tach_task_end left it, before it begins. One thread at a time has it: who hands it
 * over sees to the order, as for any other object (a queue's lock does).
 */
struct tach_task {
	struct tach_site *site;	      /* NULL: nothing is measured */
	uint64_t running;	      /* the library's, like the rest: not 0 in a segment */
	struct tach_region_mark mark; /* of the segment */
	uint64_t tag;		      /* the caller's: tach_tag() has it while the task runs */
	uint64_t word[64];
};

TACH_BEGIN_DECLS

/*
 * Begins a task, which runs: its first segment. The site is one of tasks from its first entry
 * on, and must not have been a region's before: else, and with NULL, nothing is measured. A
 * task that runs or waits is ended first. tach_task_resume and _suspend are the edges, inline:
 * a region that begins between the two and is still open at the second goes on counting its
 * thread. Ended on the same thread it overlaps (tach-threads(7)); on another one it is refused.
 * Resuming what runs, or suspending what waits, does nothing.
 *
 * A segment belongs to its thread: tach_task_suspend on another one is refused and counted, as
 * the end of a region is; that segment is lost. In a child of fork what ran is lost likewise,
 * what waited goes on with the sums that it had.
 */
/* MT-Safe race:task | AS-Safe | AC-Safe | allocates */
TACH_API void tach_task_begin(struct tach_task *task, struct tach_site *site) TACH_NONNULL(1);
/* MT-Safe race:task | AS-Safe | AC-Safe | allocates */
TACH_API void tach_task_resume(struct tach_task *task) TACH_NONNULL(1);
/* MT-Safe race:task | AS-Safe | AC-Safe | no allocation */
TACH_API void tach_task_suspend(struct tach_task *task) TACH_NONNULL(1);
/* From any thread, whether it runs or waits; a second time, nothing. */
/* MT-Safe race:task | AS-Safe | AC-Safe | allocates */
TACH_API void tach_task_end(struct tach_task *task) TACH_NONNULL(1);
/*
 * What its segments took up to its last suspension or its end: quantity 0 is time in ns, the
 * others are counted, as in a snapshot; what measuring took is taken out. Flags of all segments
 * (tach/flags.h): TACH_FLAG_LOST, one was not counted in full, or the set changed in between;
 * TACH_FLAG_INCOMPLETE, tasks of the same site ran inside one another; of time TACH_FLAG_CLOCK,
 * as in a snapshot. TACH_ERR_NOTFOUND: no such quantity. Without a segment that was counted it
 * is 0.
 */
/* MT-Safe race:task | AS-Unsafe lock | AC-Unsafe fd | no allocation */
TACH_API int tach_task_value(const struct tach_task *task, int quantity, double *out)
	TACH_NONNULL(1, 3);

/* What the inlines need; before and behind what is counted. */
TACH_API void tach__task_begin(struct tach_task *task, struct tach_site *site) TACH_NOTHROW;
TACH_API void tach__task_resuming(struct tach_task *task) TACH_NOTHROW;
TACH_API void tach__task_suspended(struct tach_task *task) TACH_NOTHROW;
TACH_API void tach__task_ended(struct tach_task *task) TACH_NOTHROW;

TACH_END_DECLS

TACH_API_INLINE void tach_task_resume(struct tach_task *task)
{
	struct tach_site *site;

	/* Known to be constant, its address would be made anew behind what begins. */
	__asm__("" : "+r"(task));
	site = task->site;
	/* Unlikely, or a compiler may align what follows by an instruction that is counted. */
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
/* With a site of that name. */
#define TACH_TASK_BEGIN(task, name)                                                            \
	do {                                                                                   \
		static struct tach_site tach__site_##name =                                    \
			TACH_SITE_INIT(#name, 0, __func__);                                    \
		tach_task_begin(task, TACH_ADDRESS(tach__site_##name));                        \
	} while (0)
#endif
#endif
