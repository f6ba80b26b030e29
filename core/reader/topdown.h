/* SPDX-License-Identifier: MIT */
/*
 * Top-down metrics in user space (Intel SDM vol. 3, 20.3.9.3, Performance Metrics): a counter
 * of slots, and a register with fields of 8 bits. Each field is the metric's fraction, in
 * 255ths, of the slots since both were last set to 0.
 *
 * In a group with metrics the pages do not give counts. Each read(2) of the group, by any
 * process, adds the present values to the kernel's counts and sets slots and metrics to 0,
 * without changing lock and offset (arch/x86/events/intel/core.c, icl_update_topdown_event;
 * seen in 6.1 to 7.3). So a count here is the kernel's at this reader's last read(2), plus the
 * counters since then: for a metric, slots times field / 255. If another process has read the
 * group, the counters show it by decreasing. Then the reader reads the group too, and is right
 * again. It also does so before a region when many slots were counted since, because the error
 * of the metrics is 1/255 of them.
 *
 * On a hybrid this is the group of one core type. While the thread is on another type, read(2)
 * resets nothing: the kernel has counted everything, and restores both registers when the
 * thread comes back. So after a read of the group, its page shows where the thread was.
 */
#ifndef TACH_CORE_READER_TOPDOWN_H
#define TACH_CORE_READER_TOPDOWN_H

#include <tach/reader.h>

struct tach_set;
struct tach__group;
struct tach__group_read;
struct tach__reader;

struct tach__topdown {
	int on; /* its metrics are read in user space */
	/* The group with the metrics, slots first; on a hybrid the group of one core type. */
	const struct tach__group *group;
	const struct tach_way *way;	  /* its pages, by member */
	uint32_t members;		  /* a bit for each metric */
	uint8_t field[TACH_COUNTERS_MAX]; /* ... and its field of the register */
	/* Changes with each read(2) of this reader that resets the counters. It is odd during
	 * the read, which a signal handler may see. */
	uint32_t turn;
	uint32_t lock; /* lock of the page when it was reset */
	/* The counter when it was last read; UINT64_MAX: it may have been reset since. */
	uint64_t slots;
	uint64_t after;			   /* slots since `base`, at the last read(2) */
	uint64_t base[TACH_COUNTERS_MAX];  /* counts when it was reset */
	uint64_t least[TACH_COUNTERS_MAX]; /* metrics since then, so that they never decrease */
	uint64_t shown[TACH_COUNTERS_MAX]; /* the same for counts since open */
	uint64_t behind;		   /* their error so far, in slots */
	uint64_t error;			   /* error of the last difference, in slots */
};

TACH_INLINE int tach__topdown_has(const struct tach__topdown *t, int member)
{
	return (int)(t->members >> member & 1);
}

/* ---- core/reader/fields.c ---- */
/* The slots event that must be opened before those members, because the kernel accepts metrics
 * only under that leader; -1: any order works. `core` as below. */
int tach__topdown_leader(const struct tach_set *set, int core, uint32_t members);
/*
 * The metrics of a group whose leader is their slots event; `core` is -1, or the number of the
 * core type in the set. 0: no metrics, or in another order; then `members` shows the metrics.
 */
int tach__topdown_find(struct tach__topdown *t, const struct tach_set *set, int core,
		       const struct tach__group *group);
/* The error of that metric in steps of the register, if other metrics have one step. */
unsigned tach__topdown_steps(const struct tach__topdown *t, int member);

/* ---- core/reader/topdown_look.c ---- */
/* Result of one look: counts, and the error of the metrics in slots. */
struct tach__look {
	uint64_t count[TACH_COUNTERS_MAX];
	uint64_t slots, error, behind;
	uint64_t enabled, running; /* only from read(2) */
	uint32_t lock, flags;
};

/* Reads in user space, consistently. Returns 0 if that is impossible, or if another reader has
 * reset the counters. A thread that has moved by then sees another lock. */
int tach__topdown_look(struct tach__reader *r, struct tach__look *l);
/* Reads the group, which resets it: 1, 0 in error state, or a negated errno. */
int tach__topdown_set_back(struct tach__reader *r, struct tach__look *l);
/* Before a region: looks, and resets first if the error is too large. Returns 1; 0: the counts
 * come from read(2); negative: no counts. */
int tach__topdown_look_afresh(struct tach__reader *r, struct tach__look *l);
/* After a region: uses the counts of read(2) if they show that another reader has reset it. */
void tach__topdown_check(struct tach__reader *r, struct tach__look *l);
/* As tach__group_read, and notes the reset. All read(2) of the group must use this. */
int tach__topdown_group(struct tach__reader *r, struct tach__group_read *now);
/* The error of counts that were added up to `slots`, over `locks` changes of a lock. */
uint64_t tach__topdown_unknown(uint64_t slots, uint32_t locks);

/* ---- core/reader/topdown.c ---- */
/* The hardware part of the slow paths, if `on`. All members are counts since open. */
void tach__topdown_begin(struct tach__reader *r, struct tach_mark *mark, unsigned n);
uint32_t tach__topdown_end(struct tach__reader *r, const struct tach_mark *mark,
			   uint64_t *delta, unsigned n);
uint32_t tach__topdown_read(struct tach__reader *r, uint64_t *all);
/* Call it after enabling. */
void tach__topdown_start(struct tach__reader *r);
/* If the counters were reset in between, the counts may be too high: notes the error. */
void tach__topdown_settle(struct tach__reader *r, const struct tach_mark *mark, uint64_t error,
			  const uint64_t *count, uint64_t *delta, unsigned n);
/* Counts since open never decrease. */
void tach__topdown_show(struct tach__reader *r, uint64_t error, uint64_t *count);

#endif
