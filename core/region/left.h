/* SPDX-License-Identifier: MIT */
/*
 * Corrects the stack of open regions if an entry ends while a later one is open (overlap.c),
 * never ends (abandoned.c), or was begun by a handler during an edge (overtaken.c). Also finds
 * threads that ended without their destructor (dead.c). All functions work on the calling
 * thread, with signals blocked.
 */
#ifndef TACH_CORE_REGION_LEFT_H
#define TACH_CORE_REGION_LEFT_H

#include "core/region/region.h"

/* overlap.c does not check or correct deeper levels. */
#define TACH__LEVELS_MOST 1024
#define TACH__OWED_SIZE	  (TACH__LEVELS_MOST * 2 * sizeof(int32_t))

/* abandoned.c */
/* Slightly below the caller's stack pointer: everything on its stack is above. */
#define TACH__STACK_POINTER ((uintptr_t)__builtin_frame_address(0))
/* Removes the entries that have certainly ended. sp: at most the caller's stack pointer. */
void tach__remove_dead_entries(struct tach__thread *record, uintptr_t sp);
/* Does the same for callers that move no entry. Each call checks only some of the marks that
 * are not on the stack. The other marks may no longer exist: do not write to them. */
void tach__remove_some_dead_entries(struct tach__thread *record, uintptr_t sp);
/* Gives up the entries at that level and above. */
void tach__abandon(struct tach__thread *record, uint32_t level);
/* Returns 1 if these words (of 4 bytes each) are at that address, which may be unmapped. */
int tach__memory_equals(uintptr_t at, const void *expected, size_t size);
/*
 * Returns 1 if the part has the mark of an open entry. If an open entry's part has none, a
 * handler runs during START, after the level was raised.
 */
int tach__part_has_mark(const struct tach__slot *slot, const struct tach__part *part);
/*
 * Returns 1 if the entry was counted, but its STOP did not lower the level yet. A handler may
 * have left that STOP.
 */
int tach__part_is_closing(const struct tach__slot *slot, const struct tach__part *part);
/* sp: stack pointer of the code that entered the library, or slightly lower. */
int tach__part_is_alive(struct tach__thread *record, const struct tach__slot *slot,
			const struct tach__part *part, uintptr_t sp);
/* Returns the part of the slot's entry at that level, or NULL if its mark is unknown. Marks are
 * known for the slot's outermost entry and for its last one. */
struct tach__part *tach__part_at(const struct tach__thread *record,
				 const struct tach__slot *slot, uint32_t level);
void tach__part_close(const struct tach__slot *slot, struct tach__part *part);
/* Gives the counts of the regions inside a region that never ended to the enclosing region. */
void tach__give_children_to_parent(const struct tach__thread *record, struct tach__slot *slot,
				   struct tach__slot *around);
/* Gives up an entry. Slot `around` gets the counts of the regions inside it. part: NULL if the
 * mark of the entry is unknown. */
void tach__part_give_up(const struct tach__thread *record, struct tach__slot *slot,
			struct tach__slot *around, struct tach__part *part);

/* overlap.c */
/* Returns the level of that mark's entry, or TACH__LEVEL_NONE if it is not on the stack. */
uint32_t tach__level_of(const struct tach__hot *hot, const struct tach_region_mark *mark);
/* Moves an entry whose mark still exists down to a free level. */
void tach__level_move(struct tach__thread *record, uint32_t level, uint32_t to);
/* Lowers the level after the topmost `by` entries ended or moved. */
void tach__levels_lower(struct tach__thread *record, uint32_t by);
/* Makes the slot's first open entry the outermost one, and finds its last open entry. */
void tach__parts_assign(struct tach__thread *record, struct tach__slot *slot);
/*
 * The entries at levels from `from` to below `to` contain a STOP without its START (by: 1), or
 * the START of a region that never ended (by: -1). The STOPs of these entries take the slow
 * path and correct that.
 */
void tach__owed_add(struct tach__thread *record, uint32_t from, uint32_t to, int fenced,
		    int by);
/* Ends the entry at that level: the innermost, or one that overlaps others. */
void tach__level_end(struct tach__thread *record, struct tach_region_mark *mark, uint32_t level,
		     struct tach__reading *r, int fenced);

/* segments.c: call it when a task's segment at that level ended before entries above it. Open
 * entries of the same region above must not count this segment as their own. */
void tach__task_overlaps(const struct tach__thread *record, struct tach_region_mark *mark,
			 uint32_t level, const struct tach__slot *slot);

/* The functions of tach/task.h around segments. task_cost.c subtracts their cost. */
void tach__segment_begin(struct tach_task *task);
void tach__segment_end(struct tach_task *task);
/* Adds a whole task to histograms and worst entries. Returns 0 if this thread has no memory for
 * them. is_kept: set to 1 if the task is one of the worst. */
int tach__task_keep(struct tach_task *task, int *is_kept);
/* For trials: gives a task these sums, as if it had run. The running task does not change. */
void tach__task_plant(struct tach_task *task, uint64_t sum);
struct tach__tasks_now {
	const void *last;
	uint64_t tag;
	uint32_t number;
};
void tach__tasks_save(struct tach__tasks_now *to);
void tach__tasks_restore(const struct tach__tasks_now *from);

/* Sets the running task from the stack, after segments of tasks on this thread were given up.
 */
void tach__tasks_abandoned(const struct tach__thread *record);

/* overtaken.c */
/* Gives up entries that are open but not on the stack. is_sure: 1 if the stack shows that there
 * may be one. 0: only some calls check. */
void tach__overtaken_mend(struct tach__thread *record, int is_sure);
/* Called by tach_region_begin: a handler may have left an earlier entry of this region open. */
void tach__overtaken_check(const struct tach_site *site);

/* dead.c */
/* Retires the records of threads that ended without their destructor. Call it with signals held
 * and without the lock. */
void tach__threads_reap(void);

/* thread.c */
/* Retires a record that its thread no longer changes. */
void tach__thread_retire(struct tach__thread *record);

#endif
