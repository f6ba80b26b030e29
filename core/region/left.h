/* SPDX-License-Identifier: MIT */
/* Entries that no STOP ends, and threads that do not tell their end. */
#ifndef TACH_CORE_REGION_LEFT_H
#define TACH_CORE_REGION_LEFT_H

#include "core/region/region.h"

/* abandoned.c */
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
/* One level, or several, lower than it was. */
void tach__part_lower(const struct tach__slot *slot, struct tach__part *part, uint32_t by);
/* What was counted inside a region that never ends was inside the one around it. */
void tach__hand_down(const struct tach__thread *record, struct tach__slot *slot,
		     struct tach__slot *around);
/* Gives up an entry, what was inside goes to the slot around. part: NULL, its mark is not
 * known. */
void tach__part_give_up(const struct tach__thread *record, struct tach__slot *slot,
			struct tach__slot *around, struct tach__part *part);
/* The entry at that level is ended by another mark of its region: its own is lost for that. */
void tach__part_forget(struct tach__thread *record, struct tach__slot *slot, uint32_t level,
		       const struct tach_region_mark *mark);

/* overtaken.c */
/* Puts regions right that a handler left open amid an edge. Of the calling thread, signals
 * blocked. sp: as above. */
void tach__overtaken_mend(struct tach__thread *record, uintptr_t sp);
/* Before the site's region is begun apart from its end: it may have been left so. */
void tach__overtaken_look(const struct tach_site *site);

/* dead.c */
/* Retires the records of threads that ended without a word. Signals held, lock not held. */
void tach__threads_reap(void);

/* thread.c */
/* Of a record to which its thread adds nothing more. */
void tach__thread_retire(struct tach__thread *record);

#endif
