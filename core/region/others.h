/* SPDX-License-Identifier: MIT */
/* Work for a region in other threads than its own: that of helpers, and that which is not
 * counted. */
#ifndef TACH_CORE_REGION_OTHERS_H
#define TACH_CORE_REGION_OTHERS_H

#include "core/region/row.h"

/* ---- team.c ---- */

/* site.c: with the lock, returns the site that helpers of a region enter, or NULL without
 * memory. */
struct tach__site;
struct tach_site *tach__site_helpers(struct tach__site *owner);
/* Adds the rows of teams: the sums of a region and of its helpers. 0 or TACH_ERR_NOMEM. */
int tach__team_rows(struct tach__rows *rows);
/* 1 if more regions were open at a tach_team_take than it names. */
int tach__teams_are_deep(void);
int tach__teams_were_joined(void); /* 1 if any thread joined one */

/* ---- busy.c: processor time of threads without a region ---- */

struct tach__thread;
/* As the first thread of a process opens. */
void tach__busy_begin(void);
/* The calling thread ends; or a thread ended, and its processor time is not known. */
void tach__busy_end(struct tach__thread *record);
void tach__busy_unknown(void);
/* With the lock, in a child. */
void tach__busy_forget(void);

/* For a snapshot: zeros at first, then each live thread, then the answer. */
struct tach__busy {
	int64_t process, threads; /* ns */
	uint64_t open;		  /* the longest time of a thread in regions, ticks */
	int unknown;
};
void tach__busy_look(struct tach__busy *busy);
void tach__busy_add(struct tach__busy *busy, struct tach__thread *record);
/* 1 if threads without a region were busy while regions were open. `hz` of the clock. */
int tach__busy_others(const struct tach__busy *busy, double hz);

#endif
