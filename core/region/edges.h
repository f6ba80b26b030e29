/* SPDX-License-Identifier: MIT */
/*
 * The data that the edges of regions work on: slots, and the hot half of a thread.
 *
 * The owning thread and its signal handlers write this data. A handler may run between any two
 * instructions, and open and close its own regions. So a word changes in a single instruction
 * if the processor has one for that, and the order of the stores matters.
 */
#ifndef TACH_CORE_REGION_EDGES_H
#define TACH_CORE_REGION_EDGES_H

#include <string.h>
#include <tach/region.h>
#include "core/region/seen.h"

#define TACH__SUMS	  (1 + TACH_COUNTERS_MAX) /* the clock, then the counters */
#define TACH__CHUNK_SLOTS 64u			  /* slots per chunk; chunks never move */
#define TACH__CHUNKS	  480u
#define TACH__UNROLLED	  8u /* maximum number of counters with straight code */
/* a power of two; deeper regions share entries of the stack */
#define TACH__LEVELS	   65536u
#define TACH__CEILING_OPEN UINT64_MAX
#define TACH__OUTER_NONE   UINTPTR_MAX

/* Ids for calibration: see trial.h. */
enum {
	TACH__SITE_EMPTY = 1,
	TACH__SITE_FENCED,
	TACH__SITE_ENCLOSING,
	TACH__SITE_MIDDLE,
	TACH__SITE_MIDDLE_FENCED,
	TACH__SITE_FLAT,
	TACH__SITE_FIRST /* the first id for a site of the program */
};

/*
 * A slot has two parts: [0] sums entries that were not inside the same region, [1] all others.
 * START chooses by `outer` and `ceiling` of [0], and does not read those of [1].
 */
struct tach__part {
	/*
	 * The mark of the open entry, or TACH__OUTER_NONE. A START whose mark is not below
	 * this address takes the slow path. 0 sends every START there: the slot is not ready,
	 * or each entry needs a check.
	 */
	uintptr_t outer;
	uint64_t ceiling;   /* state after the open entry began, or TACH__CEILING_OPEN */
	uint64_t nested[2]; /* nested pairs that completed: all, and fenced ones */
	uint64_t calls;
	uint64_t sum[];
};

/* Counts of directly nested regions: [1] up to now, [0] up to this region's last STOP. */
struct tach__children {
	uint64_t direct[2]; /* number of entries: all, and fenced ones */
	uint64_t sum[];
};

#define TACH__PART_WORDS(count)	    ((5 + 1 + (size_t)(count) + 1) & ~(size_t)1)
#define TACH__CHILDREN_WORDS(count) ((2 + 1 + (size_t)(count) + 1) & ~(size_t)1)
#define TACH__SLOT_WORDS(count)	    (2 * TACH__PART_WORDS(count) + 2 * TACH__CHILDREN_WORDS(count))

/*
 * The error of the sums of top-down metrics, in slots. It follows a slot's words if the set has
 * such metrics. The owner writes it outside the sequence, so it may include one entry more than
 * the sums that a snapshot reads.
 */
struct tach__inexact {
	uint64_t inclusive; /* for entries that were not inside the same region */
	uint64_t self;	    /* for all entries, and for the regions nested directly */
};

struct tach__hot;

/*
 * One region's sums in one thread. It is written between an odd and an even value of seq, so
 * that a snapshot in another thread gets a consistent copy. Only the owner reads children[1],
 * `outer` and `ceiling`.
 */
struct tach__slot {
	uint64_t seq;
	uint64_t provenance[6]; /* [n]: entries with flag 1 << n */
	union {
		struct {
			uint64_t skipped;  /* entries not measured in sparse mode */
			uint64_t excluded; /* warm-up entries, which are not added */
		};
		/* Used by tasks instead of the words above: number of segments that are not the
		 * first of a task, outermost [0] and inner [1]. */
		uint64_t continued[2];
	};
	struct tach__sampling *sampling; /* NULL: all entries are measured */
	uintptr_t rest;			 /* value of `outer` while no entry is open */
	uint32_t *histograms;
	uint32_t id;
	uint16_t fenced;
	uint8_t task;	    /* 1: entries are segments of tasks (segments.c) */
	uint8_t overlapped; /* 1: an overlap changed the meaning of self sums */
	uint64_t lost;	    /* entries that were never stopped, or did not fit */
	/* The function that a flat START calls: flat code, or the code of normal regions. */
	void (*begin)(struct tach_site *site, struct tach_region_mark *mark,
		      struct tach__slot *slot, struct tach__part *part, struct tach__hot *self);
	uint64_t flat; /* number of flat entries: in part[0].sum, not in .calls */
	/* part[2], children[2], with a size that depends on the number of counters; struct
	 * tach__inexact */
	uint64_t word[];
};
TACH_STATIC_ASSERT(offsetof(struct tach__slot, word) % 16 == 0, "two words in one instruction");

TACH_INLINE struct tach__part *tach__part(const struct tach__slot *slot, uint32_t count,
					  int inner)
{
	const uint64_t *at = slot->word + (inner ? TACH__PART_WORDS(count) : 0);

	return (struct tach__part *)(uintptr_t)at;
}

TACH_INLINE struct tach__children *tach__children(const struct tach__slot *slot, uint32_t count,
						  int running)
{
	const uint64_t *at = slot->word + 2 * TACH__PART_WORDS(count) +
			     (running ? TACH__CHILDREN_WORDS(count) : 0);

	return (struct tach__children *)(uintptr_t)at;
}

TACH_INLINE struct tach__inexact *tach__inexact(const struct tach__slot *slot, uint32_t count)
{
	return (struct tach__inexact *)(uintptr_t)(slot->word + TACH__SLOT_WORDS(count));
}

/* Room for a copy of any slot. */
union tach__slot_copy {
	struct tach__slot slot;
	uint64_t room[(sizeof(struct tach__slot) + sizeof(struct tach__inexact)) / 8 +
		      TACH__SLOT_WORDS(TACH_COUNTERS_MAX)];
};
TACH_STATIC_ASSERT(sizeof(union tach__slot_copy) >=
			   sizeof(struct tach__slot) + sizeof(struct tach__inexact) +
				   TACH__SLOT_WORDS(TACH_COUNTERS_MAX) * sizeof(uint64_t),
		   "any slot fits");

/* The hot half of a thread. It is in a MADV_WIPEONFORK page: after any kind of fork the child
 * sees zeros. So its next START takes the slow path, and no mark of the parent matches. */
struct tach__hot {
	uint64_t limit; /* lower ids have a slot; 0 makes the next START take the slow path */
	struct tach_reader *reader;
	/*
	 * Bits 0-31: level, the number of open regions. 32-43: epoch, advanced by slow paths
	 * inside regions, so that STOP can subtract their cost. 44-63: opening, unique to this
	 * opening of this thread. If STOP does not find the mark's value plus one here, it
	 * takes the slow path.
	 */
	uint64_t state;
	uint64_t pairs[2]; /* completed pairs: all, and fenced ones */
	/* Code for this thread's set; [1]: fenced. */
	void (*begin[2])(struct tach_site *site, struct tach_region_mark *mark,
			 struct tach__slot *slot, struct tach__part *part,
			 struct tach__hot *self);
	void (*open[2])(uint64_t state, struct tach_region_mark *mark, struct tach__slot *slot,
			struct tach__part *part, struct tach__hot *self);
	void (*end[2])(struct tach_region_mark *mark);
	uint32_t count; /* number of counters */
	/* Index of the event `slots` in a reading if the set has top-down metrics, which have
	 * an error; else 0. */
	uint32_t inexact;
	struct tach__thread *record;
	/*
	 * If rows are divided by tag or task (split.h): slots by id, and the previous `begin`.
	 */
	struct tach__slot **split;
	void (*begin_unsplit[2])(struct tach_site *site, struct tach_region_mark *mark,
				 struct tach__slot *slot, struct tach__part *part,
				 struct tach__hot *self);
	/* Code of flat regions (flat.c) for this number of counters, or NULL if there is
	 * none. */
	__typeof__(((struct tach__slot *)0)->begin) begin_flat;
	void (*end_flat)(struct tach_region_mark *mark);
	struct tach__seen seen[TACH__UNROLLED];
	struct tach__since since;
	uint32_t cached; /* 1: edges use `seen` */
	uint32_t single; /* 1: words change in single instructions: TACH_SINGLE */
};
#define TACH__LEVEL(state)   ((uint32_t)(state))
#define TACH__LEVEL_NONE     UINT32_MAX /* not a level of the stack */
#define TACH__EPOCH(state)   ((uint32_t)((state) >> 32) & 0xfff)
#define TACH__EPOCHS	     0x1000u
#define TACH__OPENING(state) ((uint32_t)((state) >> 44))
#define TACH__OPENINGS	     0x100000u
#define TACH__STATE(opening, epoch, level)                                                     \
	((uint64_t)(opening) << 44 | (uint64_t)(epoch) << 32 | (uint64_t)(level))

#include "core/region/levels.h"

/* Initial-exec takes two instructions and no call of __tls_get_addr. Its 8 bytes fit glibc's
 * reserve for dlopen. */
extern __attribute__((tls_model("initial-exec"))) __thread struct tach__hot *tach__self;

/* Accesses are atomic, because a snapshot may read the word, and a signal handler may change it
 * between any two instructions. They are relaxed, because each word has one writer. */
#if TACH_ONCE_IS_VOLATILE && !defined(__SANITIZE_THREAD__)
#define TACH__GET(word)	       (*(const volatile __typeof__(word) *)&(word))
#define TACH__SET(word, value) ((void)(*(volatile __typeof__(word) *)&(word) = (value)))
#else
#define TACH__GET(word)	       __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define TACH__SET(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#endif
/* Reads a word as TACH__GET, but the read may become an operand of the instruction that uses
 * the value. */
#if defined(__SANITIZE_THREAD__)
#define TACH__OPERAND(word) TACH__GET(word)
#else
#define TACH__OPERAND(word) (word)
#endif
#if !defined(TACH_BUMP) || defined(__SANITIZE_THREAD__)
#define TACH__ADD(word, value) TACH__SET(word, TACH__GET(word) + (uint64_t)(value))
#else
#define TACH__ADD(word, value) TACH_BUMP(word, value)
#endif
#if !defined(TACH_COUNT) || defined(__SANITIZE_THREAD__)
#define TACH__COUNT(self, word, value) TACH__ADD(word, value)
#else
#define TACH__COUNT(self, word, value) TACH_COUNT(word, value, (self)->single)
#endif
/* Increments a 32-bit word, without a branch. At its maximum the word stays. */
#if !defined(TACH_SATURATE) || defined(__SANITIZE_THREAD__)
#define TACH__SATURATE(word) TACH__SET(word, TACH__GET(word) + (TACH__GET(word) != UINT32_MAX))
#else
#define TACH__SATURATE(word) TACH_SATURATE(word)
#endif
#if defined(__SANITIZE_THREAD__)
#undef TACH_BUMP_TWO
#endif
/* Put it between two stores whose order a signal handler of this thread must see. */
#define TACH__ORDER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Makes an even sequence odd. Returns 1 and changes nothing if it was odd already. */
#if !defined(TACH_TAKE) || defined(__SANITIZE_THREAD__)
TACH_INLINE int tach__take(uint64_t *seq)
{
	uint64_t was = TACH__GET(*seq);

	if (TACH_LIKELY(!(was & 1)))
		TACH__COUNT(tach__self, *seq, 1);
	return (int)(was & 1);
}
#define TACH__TAKE(self, seq) tach__take(&(seq))
#else
#define TACH__TAKE(self, seq) TACH_TAKE(seq, (self)->single)
#endif

/*
 * Completed pairs, all and fenced, as one vector: no general registers are free for two words.
 */
typedef uint64_t tach__pairs __attribute__((vector_size(16), may_alias));
typedef tach__pairs tach__pairs_in_words __attribute__((aligned(8)));
TACH_INLINE tach__pairs tach__pairs_of(const uint64_t word[2])
{
	return *(const tach__pairs_in_words *)(const void *)word;
}

/* The fence between the odd sequence and the sums. ThreadSanitizer does not support fences, and
 * gcc warns about them. gcc accepts the full barrier. */
#if defined(__SANITIZE_THREAD__)
#define TACH__FENCE(order) __sync_synchronize()
#else
#define TACH__FENCE(order) __atomic_thread_fence(order)
#endif

/*
 * The edges are straight code, with one copy for each number of counters up to TACH__UNROLLED.
 *
 * Calibration runs the same copies. So an empty region shows exactly the counts that edges add
 * to any region, which makes instruction counts exact. This requires code whose number of
 * instructions does not depend on earlier events: nesting and recursion select addresses, not
 * branches. Code that has to branch is in cold_start.c and cold_stop.c, which measure their own
 * cost.
 */
/* step(0) && ... && step(n - 1), as straight code if n is a constant. */
#define TACH__STEPS(n, step)                                                                   \
	__extension__({                                                                        \
		int all = 1;                                                                   \
		if (__builtin_constant_p(n))                                                   \
			all = TACH__EACH(n, step);                                             \
		else                                                                           \
			for (uint32_t at = 0; at < (n) && all; at++)                           \
				all = step(at);                                                \
		all;                                                                           \
	})

/* One instance for each number of counters that has straight code. */
#define TACH__INSTANCES(instance)                                                              \
	instance(0) instance(1) instance(2) instance(3) instance(4) instance(5) instance(6)    \
		instance(7) instance(8)
TACH_STATIC_ASSERT(TACH__UNROLLED == 8, "TACH__INSTANCES");

/* ---- start.c ---- */

/* Returns 1 if straight code exists for this number of counters, and the counters are read
 * inline. If they are not, straight code would always take the slow path. */
int tach__edges_are_straight(const struct tach__hot *self);
/* Chooses the START code for the thread's counters. */
void tach__start_choose(struct tach__hot *self);

/* The START of a flat region whose slot is not ready. */
void tach__begin_any(struct tach_site *site, struct tach_region_mark *mark,
		     struct tach__slot *slot, struct tach__part *part, struct tach__hot *self);

/* ---- stop.c ---- */

/* Chooses the STOP code. plain: entries only change sums, and may also be kept. */
enum { TACH__KEEPS_WORST = 1, TACH__KEEPS_EACH = 2 }; /* bits: which entries are kept */
void tach__stop_choose(struct tach__hot *self, int plain, uint32_t keeps);
/* Reads counters and clock since the mark: the fast way, or the slow way if that fails. Returns
 * the flags of the slow way. */
uint32_t tach__edges_read(const struct tach__hot *self, const struct tach_mark *begun,
			  uint64_t *delta, int fenced);
/*
 * Reads the end of a region, and the pairs that completed inside it: all, and fenced ones. If a
 * handler completed a pair during the reads, it reads again. Returns 0 if the thread's state
 * after that is not `state`.
 */
struct tach__reading {
	uint64_t delta[TACH__SUMS], inside[2];
	uint64_t error; /* in slots, if the thread's `inexact` is not 0 */
	uint32_t flags;
	uint32_t again; /* 1: a first read was discarded */
};
int tach__edges_stop(const struct tach__hot *self, const struct tach_region_mark *mark,
		     uint64_t state, struct tach__reading *r, int fenced);
/* If the fast way gave no flags: finds out how the group was rescheduled since begin, and
 * computes full counts instead of counts modulo 2^width. */
void tach__edges_since(const struct tach__hot *self, const struct tach_region_mark *mark,
		       struct tach__reading *r);
/* Adds an entry to its slot and to the enclosing one. The mark's level must be the innermost. A
 * lost entry adds no counts. */
void tach__edges_add(struct tach__hot *self, struct tach_region_mark *mark,
		     struct tach__reading *r, int fenced);

/* ---- cold_start.c ---- */

/* START if the thread or the slot is not ready. */
TACH_COLD void tach__begin_cold(struct tach_site *site, struct tach_region_mark *mark,
				int fenced);
/* START if the slot is not ready, if its entries need a check, or if an earlier entry may have
 * been left without STOP. */
TACH_COLD void tach__begin_checked(struct tach_site *site, struct tach_region_mark *mark,
				   struct tach__slot *slot, int fenced, struct tach__hot *self);
/* START if a read is not possible, or if the kernel or a handler's region tore it. The mark
 * stays in its register, which saves an instruction. */
TACH_COLD void tach__begin_torn(int fenced, struct tach_region_mark *mark,
				struct tach__hot *self);

/* ---- cold_stop.c ---- */

/*
 * The reason why a flat STOP cannot end flat: the state differs from START's; a page changed,
 * as all pages do in a reschedule; regions ended inside; the slot is being written.
 */
enum tach__unflat {
	TACH__FLAT_STATE,
	TACH__FLAT_MOVED,
	TACH__FLAT_MOVED_ELSEWHERE, /* a page other than the leader's changed */
	TACH__FLAT_INSIDE,
	TACH__FLAT_TORN,
	TACH__UNFLAT
};
TACH_COLD void tach__end_not_flat(struct tach_region_mark *mark, enum tach__unflat why);

/* STOP if the thread's level or epoch is not the mark's. */
TACH_COLD void tach__end_cold(struct tach_region_mark *mark, int fenced);
/* STOP if a page changed since START, so that the wrong counters may have been read. */
TACH_COLD void tach__end_moved(struct tach_region_mark *mark, int fenced);
/* STOP if the kernel or a handler's region tore a read. */
TACH_COLD void tach__end_torn(struct tach_region_mark *mark, int fenced);
/* STOP if the group was rescheduled, or if this handler interrupted code that writes the slot.
 * The mark holds the differences: see tach__store_reading. */
TACH_COLD void tach__end_rescheduled(struct tach_region_mark *mark, int fenced);
/* Does the same with the result of tach__edges_stop. */
TACH_COLD void tach__end_read(struct tach_region_mark *mark, struct tach__reading *r,
			      int fenced);

#endif
