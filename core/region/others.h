/* SPDX-License-Identifier: MIT */
/* Work for a region in other threads: the work of helpers (team.c), and work that no region
 * counts (busy.c). */
#ifndef TACH_CORE_REGION_OTHERS_H
#define TACH_CORE_REGION_OTHERS_H

#include "core/region/row.h"

/* ---- team.c ---- */

/* site.c: with the lock, returns the site that helpers of a region enter, or NULL without
 * memory. */
struct tach__site;
struct tach_site *tach__site_helpers(struct tach__site *owner);
/* Adds the rows of teams: sums of a region and of its helpers. Returns 0 or TACH_ERR_NOMEM. */
int tach__team_rows(struct tach__rows *rows);
/* Returns 1 if more regions were open at a tach_team_take than a team can name. */
int tach__teams_are_deep(void);
int tach__teams_were_joined(void); /* returns 1 if any thread joined a team */

/* ---- busy.c: processor time of threads without a region ---- */

struct tach__thread;
/* Call it when the first thread of a process opens. */
void tach__busy_begin(void);
/* Call _end when the calling thread ends, and _unknown if a thread ended whose processor time
 * is not known. _end keeps the time in the record; call _fold with the lock held to add it. */
void tach__busy_end(struct tach__thread *record);
void tach__busy_fold(struct tach__thread *record);
void tach__busy_unknown(void);
/* Resets all, in a child of fork. Call it with the lock held. */
void tach__busy_forget(void);

/* Processor times for one snapshot. Fill it with zeros, call _look, then _add for each live
 * thread, then _others. */
struct tach__busy {
	int64_t process, threads; /* ns */
	uint64_t open;		  /* longest time that one thread was in regions, in ticks */
	int unknown;
};
void tach__busy_look(struct tach__busy *busy);
void tach__busy_add(struct tach__busy *busy, struct tach__thread *record);
/* Returns 1 if threads without a region were busy while regions were open. hz: of the region
 * clock. */
int tach__busy_others(const struct tach__busy *busy, double hz);

#endif
