/* SPDX-License-Identifier: MIT */
/*
 * Rows of a region divided by what its entries were for: the tag that their thread had as they
 * began (tach_tag), the task that it ran, the thread itself. Each such row is a site of its own
 * beside the region's, made when it is first needed.
 *
 * Tag and task are known at START. A thread has a table of slots for each pair of them that it
 * met; tach_tag and tasks choose which is in use, and what begins takes its slot from there. So
 * an entry takes as many instructions whatever the pair, which calibration sees too. Threads
 * have slots of their own anyway: what is divided by them are rows.
 */
#ifndef TACH_CORE_REGION_SPLIT_H
#define TACH_CORE_REGION_SPLIT_H

#include "core/region/edges.h"

enum {
	TACH__SPLIT_TAG = 1,
	TACH__SPLIT_TASK = 2,
	TACH__SPLIT_THREAD = 4,
	TACH__SPLIT_ROWS = 8,	  /* none of those: more than there is room for */
	TACH__SPLIT_MOST = 1000,  /* tags, and threads */
	TACH__SPLIT_TASKS = 62,	  /* task regions; those beyond are one */
	TACH__SPLIT_SITES = 8000, /* rows; entries beyond are in their region's own */
};

/* What is asked for: bits, and how many of each are told apart. */
struct tach__split {
	uint32_t by, tags, threads;
	uint32_t over; /* TACH__SPLIT_*: of which there were more */
};

/* A site's; "" where it is not divided by that. */
struct tach__parts {
	const char *task, *tag, *thread;
};

struct tach__site;
struct tach__thread;
struct tach__config;
struct tach_error;

/* "tag:100,task,thread"; NULL: nothing. 0 or TACH_ERR_INVAL. */
int tach__split_parse(struct tach__split *split, const char *text, struct tach_error *err);

/* Of the calling thread, as it is opened: behind tach__start_choose, and after calibration. */
void tach__split_open(struct tach__thread *record);
void tach__split_choose(struct tach__hot *self);
void tach__split_clear(struct tach__thread *record); /* for the next thread */

/* The calling thread runs the task of that number; 0: none. Returns the number before. */
uint32_t tach__split_task(uint32_t number);

/* Of a site that the thread has a slot for: the id of that which counts now, or its own. */
uint32_t tach__split_id(const struct tach__thread *record, uint32_t id);
/* Into the table in use. */
void tach__split_set(struct tach__thread *record, uint32_t id, struct tach__slot *slot);

/* How the thread is called now, or was as it ended, for its rows. With the lock. */
void tach__split_name(struct tach__thread *record);
/* The row that a thread's slot goes to. With the lock. */
uint32_t tach__split_row(const struct tach__thread *record, uint32_t id);

/* numbers.c: 0, none; one more than can be told apart, another. Names and tags stay. */
uint32_t tach__split_tag_number(struct tach__split *split, uint64_t tag);
struct tach_site;
/* Not the site: its object may be unloaded while its task is still the thread's. */
uint32_t tach__split_task_number(const struct tach_site *site);
void tach__split_number_tasks(void); /* from now on; until then each task's number is 0 */
uint64_t tach__split_tag(uint32_t number);
const char *tach__split_task_name(uint32_t number);

void tach__split_over(struct tach__split *split, uint32_t which); /* there are more */
/* What found no place, in words for a report; 0: all did. */
int tach__split_note(const struct tach__config *config, char *out, size_t size);

#endif
