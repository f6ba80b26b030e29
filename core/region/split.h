/* SPDX-License-Identifier: MIT */
/*
 * Divides the rows of a region by tag (set by tach_tag before the entry began), by task, or by
 * thread. Each such row is a site of its own, which is made at first use.
 *
 * Tag and task are known at START. A thread has a table of slots for each pair of tag and task
 * that it has used. tach_tag and tasks choose the current table, and a START takes its slot
 * from there. So an entry takes the same number of instructions for each pair, as calibration
 * does. Each thread has slots of its own, so division by thread needs no table.
 */
#ifndef TACH_CORE_REGION_SPLIT_H
#define TACH_CORE_REGION_SPLIT_H

#include "core/region/edges.h"

enum {
	TACH__SPLIT_TAG = 1,
	TACH__SPLIT_TASK = 2,
	TACH__SPLIT_THREAD = 4,
	TACH__SPLIT_ROWS = 8,	 /* bit of `over` for too many rows */
	TACH__SPLIT_MOST = 1000, /* maximum number of tags, and of threads */
	TACH__SPLIT_TASKS =
		62, /* maximum number of task regions; all further ones share one number */
	/* maximum number of rows; further entries count in their region's own row */
	TACH__SPLIT_SITES = 8000,
};

/* The requested kinds of division (bits), and the maximum number of values of each. */
struct tach__split {
	uint32_t by, tags, threads;
	uint32_t over; /* TACH__SPLIT_*: bits of kinds that exceeded the maximum */
};

/* The parts of a site. A part is "" if the row is not divided by it. */
struct tach__parts {
	const char *task, *tag, *thread;
};

struct tach__site;
struct tach__thread;
struct tach__config;
struct tach_error;

/* Parses "tag:100,task,thread"; NULL divides nothing. Returns 0 or TACH_ERR_INVAL. */
int tach__split_parse(struct tach__split *split, const char *text, struct tach_error *err);

/* Call it when the calling thread is opened, after tach__start_choose and calibration. */
void tach__split_open(struct tach__thread *record);
void tach__split_choose(struct tach__hot *self);
void tach__split_clear(struct tach__thread *record); /* for the next thread */

/* Sets the number of the task that the calling thread runs; 0: none. Returns the previous
 * number. */
uint32_t tach__split_task(uint32_t number);

/* Returns the id of the row that counts now for the site `id`. It may be `id` itself. The
 * thread must have a slot for the site. */
uint32_t tach__split_id(const struct tach__thread *record, uint32_t id);
/* Sets the slot in the current table. */
void tach__split_set(struct tach__thread *record, uint32_t id, struct tach__slot *slot);

/*
 * Stores the thread's current or last name for its rows. Call it with the lock held.
 */
void tach__split_name(struct tach__thread *record);
/* Returns the row of a slot of the thread. Call it with the lock held. */
uint32_t tach__split_row(const struct tach__thread *record, uint32_t id);

/* numbers.c: returns 0 for no tag, and the maximum plus 1 for all tags above the maximum. Names
 * and tags are never freed. */
uint32_t tach__split_tag_number(struct tach__split *split, uint64_t tag);
struct tach_site;
/* Keeps no pointer to the site: its object may be unloaded while the thread still has its task.
 */
uint32_t tach__split_task_number(const struct tach_site *site);
/* Returns 1 if tach__split_task_number may return another number than 0. */
uint32_t tach__split_numbers_tasks(void);
void tach__split_number_tasks(void); /* before this call, each task has number 0 */
uint64_t tach__split_tag(uint32_t number);
const char *tach__split_task_name(uint32_t number);

/* records that kind `which` has more values than its maximum */
void tach__split_over(struct tach__split *split, uint32_t which);
/* Writes a sentence for a report about rows that did not fit. Returns 0 if all rows fit. */
int tach__split_note(const struct tach__config *config, char *out, size_t size);

#endif
