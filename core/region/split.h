/* SPDX-License-Identifier: MIT */
/*
 * Divides the rows of a region by tag (tach_tag, the thread's tag when the entry began), by
 * task, or by thread. Each such row is a site of its own next to the region's site, made when
 * it is first needed.
 *
 * Tag and task are known at START. A thread has a table of slots for each pair of tag and task
 * that it has used. tach_tag and tasks choose the current table, and a START takes its slot
 * from there. So an entry takes the same number of instructions for each pair, and calibration
 * covers this. Threads have separate slots anyway, so only rows are divided by thread.
 */
#ifndef TACH_CORE_REGION_SPLIT_H
#define TACH_CORE_REGION_SPLIT_H

#include "core/region/edges.h"

enum {
	TACH__SPLIT_TAG = 1,
	TACH__SPLIT_TASK = 2,
	TACH__SPLIT_THREAD = 4,
	TACH__SPLIT_ROWS = 8,	 /* not one of these: too many rows */
	TACH__SPLIT_MOST = 1000, /* maximum of tags, and of threads */
	TACH__SPLIT_TASKS = 62,	 /* maximum of task regions; further ones share one number */
	/* maximum of rows; further entries are in their region's own row */
	TACH__SPLIT_SITES = 8000,
};

/* The kinds of division: bits, and the maximum number of each. */
struct tach__split {
	uint32_t by, tags, threads;
	uint32_t over; /* TACH__SPLIT_*: those with more than the maximum */
};

/* The parts of a site; "" if it is not divided by that. */
struct tach__parts {
	const char *task, *tag, *thread;
};

struct tach__site;
struct tach__thread;
struct tach__config;
struct tach_error;

/* "tag:100,task,thread"; NULL: nothing. 0 or TACH_ERR_INVAL. */
int tach__split_parse(struct tach__split *split, const char *text, struct tach_error *err);

/* For the calling thread, when it is opened: after tach__start_choose and calibration. */
void tach__split_open(struct tach__thread *record);
void tach__split_choose(struct tach__hot *self);
void tach__split_clear(struct tach__thread *record); /* for the next thread */

/* Sets the number of the task that the calling thread runs; 0: none. Returns the previous
 * number. */
uint32_t tach__split_task(uint32_t number);

/* For a site that the thread has a slot for: the id that counts now, which may be its own. */
uint32_t tach__split_id(const struct tach__thread *record, uint32_t id);
/* Sets it in the current table. */
void tach__split_set(struct tach__thread *record, uint32_t id, struct tach__slot *slot);

/*
 * Stores the name of the thread, as it is now or was at its end, for its rows. With the lock.
 */
void tach__split_name(struct tach__thread *record);
/* Returns the row that a slot of the thread goes to. With the lock. */
uint32_t tach__split_row(const struct tach__thread *record, uint32_t id);

/* numbers.c. Returns 0 for no tag, and one number above the maximum for all tags beyond it.
 * Names and tags are kept. */
uint32_t tach__split_tag_number(struct tach__split *split, uint64_t tag);
struct tach_site;
/* Does not keep the site: its object may be unloaded while the thread still has its task. */
uint32_t tach__split_task_number(const struct tach_site *site);
/* Returns 1 if it may return another number than 0. */
uint32_t tach__split_numbers_tasks(void);
void tach__split_number_tasks(void); /* from now on; until then each task has number 0 */
uint64_t tach__split_tag(uint32_t number);
const char *tach__split_task_name(uint32_t number);

/* there are more than the maximum */
void tach__split_over(struct tach__split *split, uint32_t which);
/* Writes a sentence for a report on rows without a place. Returns 0 if all did. */
int tach__split_note(const struct tach__config *config, char *out, size_t size);

#endif
