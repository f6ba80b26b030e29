/* SPDX-License-Identifier: MIT */
/*
 * Top-down metrics in user space (Intel SDM vol. 3, 20.3.9.3, Performance Metrics): the counter
 * of slots, and a register of fields of 8 bits, each the part, in 255ths, that it had of the
 * slots since both were last set to 0.
 *
 * In a group with metrics the pages do not tell counts: every read(2) of the group, by anyone,
 * adds to the kernel's counts what there is and sets slots and metrics to 0, and leaves lock
 * and offset as they are (arch/x86/events/intel/core.c, icl_update_topdown_event; seen in 6.1
 * to 7.3). So a count here is the kernel's at this reader's last read(2), plus what the
 * counters say since; slots times field / 255 for a metric. Whether another process has read
 * the group only the counters tell, by going back: then the reader reads it too, and is right
 * again. It does so unasked before a region when much was counted since, as a 255th of that is
 * how well the metrics are known.
 */
#ifndef TACH_CORE_READER_TOPDOWN_H
#define TACH_CORE_READER_TOPDOWN_H

#include <tach/reader.h>

struct tach__reader;

struct tach__topdown {
	int on;		  /* the group has metrics, and its first event's page is the spare */
	uint32_t members; /* a bit for each metric */
	/*
	 * Changes with every read(2) of this reader's that sets back; odd while it is under
	 * way, as a signal handler finds it that comes in between.
	 */
	uint32_t turn;
	uint32_t lock;			   /* of the page when it was set back */
	uint64_t slots;			   /* the counter when it was last looked at */
	uint64_t base[TACH_COUNTERS_MAX];  /* counts when it was set back */
	uint64_t least[TACH_COUNTERS_MAX]; /* metrics since then, so that none goes backward */
	uint64_t shown[TACH_COUNTERS_MAX]; /* the same of counts since open */
	uint64_t behind; /* how far off, in slots, that is by the reads so far */
	uint64_t error;	 /* of the last difference, in slots */
};

/* The hardware part of the slow exits, where `on`. All members are counts since open. */
void tach__topdown_begin(struct tach__reader *r, struct tach_mark *mark, unsigned n);
uint32_t tach__topdown_end(struct tach__reader *r, const struct tach_mark *mark,
			   uint64_t *delta, unsigned n);
uint32_t tach__topdown_read(struct tach__reader *r, uint64_t *all);
/* Which field of the register the metric is. */
int tach__topdown_field(const struct tach__reader *r, int member);
/* How many of the register's steps that metric may be off where others are by one. */
unsigned tach__topdown_steps(const struct tach__reader *r, int member);
/* After enabling. */
void tach__topdown_start(struct tach__reader *r);

#endif
