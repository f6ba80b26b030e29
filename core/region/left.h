/* SPDX-License-Identifier: MIT */
/*
 * The stack of open regions where entries leave it in another order than they came: ended while
 * a later one is open (overlap.c), never ended (abandoned.c), or begun by a handler during an
 * edge (overtaken.c); and threads that do not tell their end (dead.c). All of the calling
 * thread, signals blocked.
 */
#ifndef TACH_CORE_REGION_LEFT_H
#define TACH_CORE_REGION_LEFT_H

#include "core/region/region.h"

/* overlap.c: beyond so many levels nothing is looked at or corrected. */
#define TACH__LEVELS_MOST 1024
#define TACH__OWED_SIZE	  (TACH__LEVELS_MOST * 2 * sizeof(int32_t))

/* abandoned.c */
/* A little below that of the caller's: what it has on its stack lies above. */
#define TACH__STACK_POINTER ((uintptr_t)__builtin_frame_address(0))
/* Takes away what certainly is open no more. sp: not above the stack pointer of the caller. */
void tach__heal(struct tach__thread *record, uintptr_t sp);
/* Gives up the entries from that level on. */
void tach__abandon(struct tach__thread *record, uint32_t level);
/* Whether those words lie there, of 4 bytes each, in memory that may be gone. */
int tach__holds(uintptr_t at, const void *expected, size_t size);
/* Where there is an entry and no mark, a handler came amid START, behind the level. */
int tach__part_marked(const struct tach__slot *slot, const struct tach__part *part);
/* Its entry was counted, and its STOP has yet to lower the level; or a handler left that. */
int tach__part_closing(const struct tach__slot *slot, const struct tach__part *part);
/* sp: of the code that entered the library, or a little below. */
int tach__part_alive(struct tach__thread *record, const struct tach__slot *slot,
		     const struct tach__part *part, uintptr_t sp);
/* Whose mark is known, of the slot's entry at that level: the outermost and the last. */
struct tach__part *tach__part_at(const struct tach__thread *record,
				 const struct tach__slot *slot, uint32_t level);
void tach__part_close(const struct tach__slot *slot, struct tach__part *part);
/* What was counted inside a region that never ends was inside the one around it. */
void tach__hand_down(const struct tach__thread *record, struct tach__slot *slot,
		     struct tach__slot *around);
/* Gives up an entry, what was inside goes to the slot around. part: NULL, its mark is not
 * known. */
void tach__part_give_up(const struct tach__thread *record, struct tach__slot *slot,
			struct tach__slot *around, struct tach__part *part);

/* overlap.c */
/* Where the entry of that mark is; TACH__LEVEL_NONE: it is not on the stack. */
uint32_t tach__level_of(const struct tach__hot *hot, const struct tach_region_mark *mark);
/* The entry, whose mark is alive, comes down to a level whose entry has left. */
void tach__level_move(struct tach__thread *record, uint32_t level, uint32_t to);
/* The uppermost have left, or have moved. */
void tach__levels_lower(struct tach__thread *record, uint32_t by);
/* The first entry of the slot that is open is its outermost; the last is known as well. */
void tach__parts_sort(struct tach__thread *record, struct tach__slot *slot);
/*
 * The entries at those levels counted a STOP without its START (by: 1), or a START whose region
 * never ended (-1). Their own STOPs take that out; until then they are slow.
 */
void tach__owed_add(struct tach__thread *record, uint32_t from, uint32_t to, int fenced,
		    int by);
/* Ends the entry at that level: the innermost, or one that overlaps others. */
void tach__level_end(struct tach__thread *record, struct tach_region_mark *mark, uint32_t level,
		     struct tach__reading *r, int fenced);

/*
 * task.c: the entry of a task's segment was ended, at that level, with others open above. Those
 * of its region do not count it as theirs.
 */
void tach__task_overlaps(const struct tach__thread *record, struct tach_region_mark *mark,
			 uint32_t level, const struct tach__slot *slot);

/* Segments of tasks on the calling thread were given up: what it runs is what the stack has. */
void tach__tasks_left(const struct tach__thread *record);

/* overtaken.c */
/* Gives up entries that are open and not on the stack. is_sure: the stack tells that there may
 * be one; else not every call looks. */
void tach__overtaken_mend(struct tach__thread *record, int is_sure);
/* Before the site's region is begun apart from its end: it may have been left so. */
void tach__overtaken_look(const struct tach_site *site);

/* dead.c */
/* Retires the records of threads that ended without a word. Signals held, lock not held. */
void tach__threads_reap(void);

/* thread.c */
/* Of a record to which its thread adds nothing more. */
void tach__thread_retire(struct tach__thread *record);

#endif
