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
 *
 * Of a hybrid it is the group of one core type. While the thread is on another, read(2) sets
 * nothing back: the kernel has counted all there is, and puts both registers where they were
 * when the thread comes back. So who reads the group tells by its page where the thread
 * was.
 */
#ifndef TACH_CORE_READER_TOPDOWN_H
#define TACH_CORE_READER_TOPDOWN_H

#include <tach/reader.h>

struct tach_set;
struct tach__group;
struct tach__group_read;
struct tach__reader;

struct tach__topdown {
	int on; /* its metrics are read here */
	/* The group with the metrics, slots first; a hybrid's is that of one core type. */
	const struct tach__group *group;
	const struct tach_way *way;	  /* its pages, by member */
	uint32_t members;		  /* a bit for each metric */
	uint8_t field[TACH_COUNTERS_MAX]; /* ... and which of the register's fields it is */
	/*
	 * Changes with every read(2) of this reader's that sets back; odd while it is under
	 * way, as a signal handler finds it that comes in between.
	 */
	uint32_t turn;
	uint32_t lock; /* of the page when it was set back */
	/* The counter when it was last looked at; UINT64_MAX: it may have been set back since.
	 */
	uint64_t slots;
	uint64_t after;			   /* slots since `base`, by the last read(2) */
	uint64_t base[TACH_COUNTERS_MAX];  /* counts when it was set back */
	uint64_t least[TACH_COUNTERS_MAX]; /* metrics since then, so that none goes backward */
	uint64_t shown[TACH_COUNTERS_MAX]; /* the same of counts since open */
	uint64_t behind; /* how far off, in slots, that is by the reads so far */
	uint64_t error;	 /* of the last difference, in slots */
};

TACH_INLINE int tach__topdown_has(const struct tach__topdown *t, int member)
{
	return (int)(t->members >> member & 1);
}

/* ---- core/reader/fields.c ---- */
/*
 * The slots that have to be opened first of those members, as no kernel takes metrics under
 * another leader; -1: any order will do. `core` as below.
 */
int tach__topdown_leader(const struct tach_set *set, int core, uint32_t members);
/*
 * The metrics of a group whose leader is their slots; `core` is -1, or which of the set's core
 * types it is. 0: there are none, or not so, and `members` tells which are metrics.
 */
int tach__topdown_find(struct tach__topdown *t, const struct tach_set *set, int core,
		       const struct tach__group *group);
/* How many of the register's steps that metric may be off where others are by one. */
unsigned tach__topdown_steps(const struct tach__topdown *t, int member);

/* ---- core/reader/topdown_look.c ---- */
/* What one look gave: counts, and how far off the metrics are, in slots. */
struct tach__look {
	uint64_t count[TACH_COUNTERS_MAX];
	uint64_t slots, error, behind;
	uint64_t enabled, running; /* by read(2) only */
	uint32_t lock, flags;
};

/*
 * In user space, whole: 0 if that cannot be, or another reader has set the counters back. A
 * thread that is elsewhere by then has another lock.
 */
int tach__topdown_look(struct tach__reader *r, struct tach__look *l);
/* Reads the group, which sets back: 1, 0 in error state, a negated errno. */
int tach__topdown_set_back(struct tach__reader *r, struct tach__look *l);
/*
 * Before a region: looks, and sets back before when it is time to. 1; 0: what there is is by
 * read(2); negative: nothing.
 */
int tach__topdown_look_afresh(struct tach__reader *r, struct tach__look *l);
/* Behind a region: takes read(2)'s counts if they show that another has set back. */
void tach__topdown_check(struct tach__reader *r, struct tach__look *l);
/* As tach__group_read does, noting what it set back. Every read(2) of the group goes here. */
int tach__topdown_group(struct tach__reader *r, struct tach__group_read *now);
/* How far off counts are that so many slots were added up to, in so many changes of a lock. */
uint64_t tach__topdown_unknown(uint64_t slots, uint32_t locks);

/* ---- core/reader/topdown.c ---- */
/* The hardware part of the slow exits, where `on`. All members are counts since open. */
void tach__topdown_begin(struct tach__reader *r, struct tach_mark *mark, unsigned n);
uint32_t tach__topdown_end(struct tach__reader *r, const struct tach_mark *mark,
			   uint64_t *delta, unsigned n);
uint32_t tach__topdown_read(struct tach__reader *r, uint64_t *all);
/* After enabling. */
void tach__topdown_start(struct tach__reader *r);
/* What was set back in between may have been taken for more than it was: notes the error. */
void tach__topdown_settle(struct tach__reader *r, const struct tach_mark *mark, uint64_t error,
			  const uint64_t *count, uint64_t *delta, unsigned n);
/* Counts since open never go backward. */
void tach__topdown_show(struct tach__reader *r, uint64_t error, uint64_t *count);

#endif
