/* SPDX-License-Identifier: MIT */
/*
 * Top-down metrics in user space (Intel SDM vol. 3, 20.3.9.3, Performance Metrics): a counter
 * of slots, and a register with fields of 8 bits. Each field is the metric's fraction, in
 * 255ths, of the slots since both were last set to 0.
 *
 * The pages of a group with metrics do not contain counts. Each read(2) of the group, by any
 * process, adds the present values to the kernel's counts and sets slots and metrics to 0,
 * without changing lock and offset (arch/x86/events/intel/core.c, icl_update_topdown_event;
 * seen in 6.1 to 7.3). So a count is the kernel's count at this reader's last read(2) plus the
 * counter since then: for a metric, slots times field / 255. If another process reads the
 * group, the counters decrease. Then this reader reads the group, too, and has correct counts
 * again. It also reads the group before a region if many slots were counted since the last
 * reset, because the error of the metrics is 1/255 of these slots.
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
	const struct tach_way *way;	  /* pages of the group, by member */
	uint32_t members;		  /* a bit for each metric */
	uint8_t field[TACH_COUNTERS_MAX]; /* for each metric, its field of the register */
	/* Changes with each read(2) of this reader that resets the counters. It is odd during
	 * the read, which a signal handler may see. */
	uint32_t turn;
	uint32_t lock; /* lock of the page at the last reset */
	/* The last value of the slots counter; UINT64_MAX: it may have been reset since. */
	uint64_t slots;
	uint64_t after;			   /* slots since `base`, at the last read(2) */
	uint64_t base[TACH_COUNTERS_MAX];  /* counts at the last reset */
	uint64_t least[TACH_COUNTERS_MAX]; /* lower bounds of metrics since the last reset */
	uint64_t shown[TACH_COUNTERS_MAX]; /* lower bounds of counts since open */
	uint64_t behind;		   /* error of the metrics in `base`, in slots */
	uint64_t error;			   /* error of the last difference, in slots */
};

TACH_INLINE int tach__topdown_has(const struct tach__topdown *t, int member)
{
	return (int)(t->members >> member & 1);
}

/* ---- core/reader/fields.c ---- */
/* Returns the slots event that must be opened before the other members, because the kernel
 * accepts metrics only under that leader; -1: any order works. `core`: see below. */
int tach__topdown_leader(const struct tach_set *set, int core, uint32_t members);
/*
 * Finds the metrics of a group; sets a bit of `members` for each. Returns 1 if there are some
 * and their slots event leads the group. `core` is -1, or the number of the core type in the
 * set.
 */
int tach__topdown_find(struct tach__topdown *t, const struct tach_set *set, int core,
		       const struct tach__group *group);
/* Returns the error of `member` in steps of the register: 1 for most metrics. */
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
 * reset the counters. If the thread was moved since, the page's lock differs from l->lock. */
int tach__topdown_look(struct tach__reader *r, struct tach__look *l);
/* Reads the group, which resets it: 1, 0 in error state, or a negated errno. */
int tach__topdown_set_back(struct tach__reader *r, struct tach__look *l);
/* Call it before a region. Looks, and if the error is too large, resets and looks again.
 * Returns 1, 0 if the counts come from read(2), or a negative number if there are no counts. */
int tach__topdown_look_afresh(struct tach__reader *r, struct tach__look *l);
/* Call it after a region. Uses the counts of read(2) if they show that another reader has reset
 * the counters. */
void tach__topdown_check(struct tach__reader *r, struct tach__look *l);
/* As tach__group_read, and notes the reset. Use this for each read(2) of the group. */
int tach__topdown_group(struct tach__reader *r, struct tach__group_read *now);
/* Returns the error of metrics over `slots` slots, during which the lock grew by `locks`. */
uint64_t tach__topdown_unknown(uint64_t slots, uint32_t locks);

/* ---- core/reader/topdown.c ---- */
/* The hardware part of the slow paths, if `on`. All members are counts since open. */
void tach__topdown_begin(struct tach__reader *r, struct tach_mark *mark, unsigned n);
uint32_t tach__topdown_end(struct tach__reader *r, const struct tach_mark *mark,
			   uint64_t *delta, unsigned n);
uint32_t tach__topdown_read(struct tach__reader *r, uint64_t *all);
/* Sets the start of the counts. Call it after enabling the group. */
void tach__topdown_start(struct tach__reader *r);
/* Notes the error. Sets metrics that decreased by at most the error to 0. */
void tach__topdown_settle(struct tach__reader *r, const struct tach_mark *mark, uint64_t error,
			  const uint64_t *count, uint64_t *delta, unsigned n);
/* Corrects counts since open so that they never decrease. */
void tach__topdown_show(struct tach__reader *r, uint64_t error, uint64_t *count);

#endif
