/* SPDX-License-Identifier: MIT */
/*
 * The stack of open regions when entries leave it in another order than they came: ended while
 * a later one is open (overlap.c), never ended (abandoned.c), or begun by a handler during an
 * edge (overtaken.c); and threads that end without notice (dead.c). All functions work on the
 * calling thread, with signals blocked.
 */
#ifndef TACH_CORE_REGION_LEFT_H
#define TACH_CORE_REGION_LEFT_H

#include "core/region/region.h"

/* overlap.c: deeper levels are neither checked nor corrected. */
#define TACH__LEVELS_MOST 1024
#define TACH__OWED_SIZE	  (TACH__LEVELS_MOST * 2 * sizeof(int32_t))

/* abandoned.c */
/* Slightly below the caller's stack pointer: everything on its stack is above. */
#define TACH__STACK_POINTER ((uintptr_t)__builtin_frame_address(0))
/* Removes the entries that have certainly ended. sp: not above the caller's stack
 * pointer. */
void tach__remove_dead_entries(struct tach__thread *record, uintptr_t sp);
/* The same for entries that may be nested deeply, where nothing moves: of the marks that are
 * not on the stack it checks some in each call. The others may be gone: do not write to them.
 */
void tach__remove_some_dead_entries(struct tach__thread *record, uintptr_t sp);
/* Gives up the entries at that level and above. */
void tach__abandon(struct tach__thread *record, uint32_t level);
/* Returns 1 if these words (of 4 bytes each) are at that address, which may be unmapped. */
int tach__memory_equals(uintptr_t at, const void *expected, size_t size);
/*
 * If there is an entry without a mark, a handler ran during START, after the level was raised.
 */
int tach__part_has_mark(const struct tach__slot *slot, const struct tach__part *part);
/*
 * The entry was counted, and its STOP has yet to lower the level; or a handler left that STOP.
 */
int tach__part_is_closing(const struct tach__slot *slot, const struct tach__part *part);
/* sp: of the code that entered the library, or slightly below. */
int tach__part_is_alive(struct tach__thread *record, const struct tach__slot *slot,
			const struct tach__part *part, uintptr_t sp);
/* The part of the slot's entry at that level, if its mark is known: the outermost and the last
 * entry. */
struct tach__part *tach__part_at(const struct tach__thread *record,
				 const struct tach__slot *slot, uint32_t level);
void tach__part_close(const struct tach__slot *slot, struct tach__part *part);
/* A region never ended: gives the counts of the regions inside it to the enclosing region. */
void tach__give_children_to_parent(const struct tach__thread *record, struct tach__slot *slot,
				   struct tach__slot *around);
/* Gives up an entry; the counts inside it go to slot `around`. part: NULL if its mark is
 * unknown. */
void tach__part_give_up(const struct tach__thread *record, struct tach__slot *slot,
			struct tach__slot *around, struct tach__part *part);

/* overlap.c */
/* The level of that mark's entry; TACH__LEVEL_NONE if it is not on the stack. */
uint32_t tach__level_of(const struct tach__hot *hot, const struct tach_region_mark *mark);
/* Moves an entry with a live mark down to a level that was freed. */
void tach__level_move(struct tach__thread *record, uint32_t level, uint32_t to);
/* The topmost entries have left, or have moved. */
void tach__levels_lower(struct tach__thread *record, uint32_t by);
/* Makes the first open entry of the slot its outermost one, and finds its last one. */
void tach__parts_assign(struct tach__thread *record, struct tach__slot *slot);
/*
 * The entries at these levels counted a STOP without its START (by: 1), or the START of a
 * region that never ended (-1). Their own STOPs correct that; until then they take the slow
 * path.
 */
void tach__owed_add(struct tach__thread *record, uint32_t from, uint32_t to, int fenced,
		    int by);
/* Ends the entry at that level: the innermost, or one that overlaps others. */
void tach__level_end(struct tach__thread *record, struct tach_region_mark *mark, uint32_t level,
		     struct tach__reading *r, int fenced);

/* segments.c: a task's segment at that level ended, with others open above. Entries of the same
 * region above do not count it as their own. */
void tach__task_overlaps(const struct tach__thread *record, struct tach_region_mark *mark,
			 uint32_t level, const struct tach__slot *slot);

/* The calls of tach/task.h around segments, without their cost: task_cost.c. */
void tach__segment_begin(struct tach_task *task);
void tach__segment_end(struct tach_task *task);
/* Of a whole task, to histograms and worst entries; 0: this thread has no place for them.
 * is_kept: set to 1 if it is one of the worst. */
int tach__task_keep(struct tach_task *task, int *is_kept);
/* For trials: makes it a task that ran, with these sums; keeps what its thread runs. */
void tach__task_plant(struct tach_task *task, uint64_t sum);
struct tach__tasks_now {
	const void *last;
	uint64_t tag;
	uint32_t number;
};
void tach__tasks_save(struct tach__tasks_now *to);
void tach__tasks_restore(const struct tach__tasks_now *from);

/* Segments of tasks on this thread were given up: sets the running task by the stack. */
void tach__tasks_abandoned(const struct tach__thread *record);

/* overtaken.c */
/* Gives up entries that are open and not on the stack. is_sure: the stack shows that there may
 * be one; otherwise only some calls check. */
void tach__overtaken_mend(struct tach__thread *record, int is_sure);
/* For tach_region_begin: a handler may have left an earlier entry of this region open. */
void tach__overtaken_check(const struct tach_site *site);

/* dead.c */
/* Retires the records of threads that ended without notice. Signals held, lock not held. */
void tach__threads_reap(void);

/* thread.c */
/* For the record of a thread that no longer changes it. */
void tach__thread_retire(struct tach__thread *record);

#endif
