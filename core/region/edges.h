/* SPDX-License-Identifier: MIT */
/*
 * What the edges of regions work on: slots, and the hot half of a thread.
 *
 * All of it has one writer, the thread it belongs to, and its signal handlers, which may come
 * between any two instructions and open and close regions of their own. Hence words change in
 * single instructions where the processor has them, and the order of the stores matters.
 */
#ifndef TACH_CORE_REGION_EDGES_H
#define TACH_CORE_REGION_EDGES_H

#include <string.h>
#include <tach/region.h>
#include "core/region/seen.h"

#define TACH__SUMS	   (1 + TACH_COUNTERS_MAX) /* the clock, then the counters */
#define TACH__CHUNK_SLOTS  64u			   /* slots per chunk; chunks never move */
#define TACH__CHUNKS	   480u
#define TACH__UNROLLED	   8u	  /* counters up to which there is straight code */
#define TACH__LEVELS	   65536u /* a power of two; deeper regions share entries of the stack */
#define TACH__CEILING_OPEN UINT64_MAX
#define TACH__OUTER_NOBODY UINTPTR_MAX

/* Ids that belong to calibration: see trial.h. */
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
 * Sums of the entries that were not inside the same region [0], and of those that were [1].
 * `outer` and `ceiling` tell the two apart; those of [1] are written and never read.
 */
struct tach__part {
	/*
	 * The mark of the open entry, TACH__OUTER_NOBODY while there is none. A START whose
	 * mark does not lie below it is an unusual one; 0, so that all are: the slot is not
	 * ready, or every entry has to be asked.
	 */
	uintptr_t outer;
	uint64_t ceiling;   /* state behind the open entry, or TACH__CEILING_OPEN */
	uint64_t nested[2]; /* pairs completed inside: all, and those fenced */
	uint64_t calls;
	uint64_t sum[];
};

/* What regions one level below counted: as they end [1], as of this region's last end [0]. */
struct tach__children {
	uint64_t direct[2]; /* their number: all, and those fenced */
	uint64_t sum[];
};

#define TACH__PART_WORDS(count)	    ((5 + 1 + (size_t)(count) + 1) & ~(size_t)1)
#define TACH__CHILDREN_WORDS(count) ((2 + 1 + (size_t)(count) + 1) & ~(size_t)1)
#define TACH__SLOT_WORDS(count)	    (2 * TACH__PART_WORDS(count) + 2 * TACH__CHILDREN_WORDS(count))

/*
 * Behind a slot's words where the set has top-down metrics: how far off their sums are, in
 * slots. The owner's, in no sequence; sums that are seen with it may lack the last entry.
 */
struct tach__inexact {
	uint64_t inclusive; /* of the entries that were not inside the same region */
	uint64_t self;	    /* of all entries, and of the regions one level below */
};

struct tach__hot;

/*
 * One region's sums in one thread. Written between an odd and an even value of seq, so that a
 * snapshot by another thread sees it whole; but for children[1] and what tells parts apart, the
 * owner's alone.
 */
struct tach__slot {
	uint64_t seq;
	uint64_t provenance[6]; /* entries that had flag 1 << n */
	union {
		struct {
			uint64_t skipped;  /* entries not measured in sparse mode */
			uint64_t excluded; /* entries not added: warm-up */
		};
		/* Of tasks, which know neither: segments that are no task's first, outermost
		 * and inner ones. */
		uint64_t continued[2];
	};
	struct tach__sampling *sampling; /* NULL: all entries are measured */
	uintptr_t rest;			 /* `outer` while no entry is open */
	uint32_t *histograms;
	uint32_t id;
	uint16_t fenced;
	uint8_t task;	    /* 1: entries are segments of tasks (task.c) */
	uint8_t overlapped; /* 1: an overlap changed what its self sums mean (overlap.c) */
	uint64_t lost;	    /* entries that were never stopped, or found no place */
	/* What a flat START calls: flat code, or that of all others. */
	void (*begin)(struct tach_site *site, struct tach_region_mark *mark,
		      struct tach__slot *slot, struct tach__part *part, struct tach__hot *self);
	uint64_t flat; /* entries that were flat; not in part[0].calls, but in its sums */
	/* part[2], children[2], as long as the thread's counters ask for; struct tach__inexact
	 */
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

/* Where a copy of any slot fits. */
union tach__slot_copy {
	struct tach__slot slot;
	uint64_t room[(sizeof(struct tach__slot) + sizeof(struct tach__inexact)) / 8 +
		      TACH__SLOT_WORDS(TACH_COUNTERS_MAX)];
};
TACH_STATIC_ASSERT(sizeof(union tach__slot_copy) >=
			   sizeof(struct tach__slot) + sizeof(struct tach__inexact) +
				   TACH__SLOT_WORDS(TACH_COUNTERS_MAX) * sizeof(uint64_t),
		   "any slot fits");

/*
 * A thread's half of the registry. It lies in a MADV_WIPEONFORK page: after any flavour of fork
 * the child sees zeros, so its next START takes the cold exit and no mark of the parent's
 * matches.
 */
struct tach__hot {
	uint64_t limit; /* ids below have a slot; 0 makes the next START take the cold exit */
	struct tach_reader *reader;
	/*
	 * Bits 0-31: level, the regions open now. 32-43: epoch, advanced by cold exits taken
	 * inside regions so that STOP can take their cost out again. 44-63: unique to this
	 * opening of this thread. A STOP finds what its START left plus one, or is no usual
	 * one.
	 */
	uint64_t state;
	uint64_t pairs[2]; /* completed: all, and those fenced */
	/* Code for this thread's set; [1]: fenced. */
	void (*begin[2])(struct tach_site *site, struct tach_region_mark *mark,
			 struct tach__slot *slot, struct tach__part *part,
			 struct tach__hot *self);
	void (*open[2])(uint64_t state, struct tach_region_mark *mark, struct tach__slot *slot,
			struct tach__part *part, struct tach__hot *self);
	void (*end[2])(struct tach_region_mark *mark);
	uint32_t count; /* counters */
	/* 0, or where a reading has the slots whose top-down metrics are known to an error. */
	uint32_t inexact;
	struct tach__thread *record;
	/* Where rows are divided by tag or task (split.h): slots by id, and `begin` as it was.
	 */
	struct tach__slot **split;
	void (*beneath[2])(struct tach_site *site, struct tach_region_mark *mark,
			   struct tach__slot *slot, struct tach__part *part,
			   struct tach__hot *self);
	/* Flat regions, flat.c: their code for the thread's counters, NULL: there is none. */
	__typeof__(((struct tach__slot *)0)->begin) begin_flat;
	void (*end_flat)(struct tach_region_mark *mark);
	struct tach__seen seen[TACH__UNROLLED];
	struct tach__since since;
	uint32_t knows;	 /* whether edges read by them */
	uint32_t single; /* whether words change in single instructions: TACH_SINGLE */
};
#define TACH__LEVEL(state)   ((uint32_t)(state))
#define TACH__LEVEL_NONE     UINT32_MAX /* no level of the stack's */
#define TACH__EPOCH(state)   ((uint32_t)((state) >> 32) & 0xfff)
#define TACH__EPOCHS	     0x1000u
#define TACH__OPENING(state) ((uint32_t)((state) >> 44))
#define TACH__OPENINGS	     0x100000u
#define TACH__STATE(opening, epoch, level)                                                     \
	((uint64_t)(opening) << 44 | (uint64_t)(epoch) << 32 | (uint64_t)(level))

#include "core/region/levels.h"

/*
 * Initial-exec: two instructions, no __tls_get_addr; 8 bytes fit glibc's reserve for dlopen.
 */
extern __attribute__((tls_model("initial-exec"))) __thread struct tach__hot *tach__self;

/*
 * Relaxed: one writer per word. Atomic so that a snapshot may read it and a signal handler may
 * change it between any two instructions.
 */
#if TACH_ONCE_IS_VOLATILE && !defined(__SANITIZE_THREAD__)
#define TACH__GET(word)	       (*(const volatile __typeof__(word) *)&(word))
#define TACH__SET(word, value) ((void)(*(volatile __typeof__(word) *)&(word) = (value)))
#else
#define TACH__GET(word)	       __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define TACH__SET(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#endif
/* The same, and it may become the operand of the instruction that needs it. */
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
/* A word of 32 bits: one more, but its greatest value stays. Without a branch. */
#if !defined(TACH_SATURATE) || defined(__SANITIZE_THREAD__)
#define TACH__SATURATE(word) TACH__SET(word, TACH__GET(word) + (TACH__GET(word) != UINT32_MAX))
#else
#define TACH__SATURATE(word) TACH_SATURATE(word)
#endif
#if defined(__SANITIZE_THREAD__)
#undef TACH_BUMP_TWO
#endif
/* Between stores whose order a signal handler of this thread's sees. */
#define TACH__ORDER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Makes an even sequence odd; whether it was odd before, and then it stays so. */
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

/* Pairs completed, all and those fenced, as one: where there is room for no more words. */
typedef uint64_t tach__pairs __attribute__((vector_size(16), may_alias));
typedef tach__pairs tach__pairs_in_words __attribute__((aligned(8)));
TACH_INLINE tach__pairs tach__pairs_of(const uint64_t word[2])
{
	return *(const tach__pairs_in_words *)(const void *)word;
}

/*
 * Between the odd sequence and the sums. ThreadSanitizer does not know fences and gcc warns of
 * them there; the full barrier it lets pass.
 */
#if defined(__SANITIZE_THREAD__)
#define TACH__FENCE(order) __sync_synchronize()
#else
#define TACH__FENCE(order) __atomic_thread_fence(order)
#endif

/*
 * The edges are straight code, a copy for every number of counters up to TACH__UNROLLED.
 *
 * Calibration goes through the same copies, so an empty region shows exactly what a region of
 * the program does: that is what makes instruction counts exact. It asks for code whose number
 * of instructions does not depend on what happened before: nesting and recursion select
 * addresses, not branches. Whatever has to branch leaves for cold_start.c and cold_stop.c,
 * which reckon their own cost.
 */
/* step(0) && ... && step(n - 1): straight code where n is a constant. */
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

/* Of what there is straight code for: one for each number of counters. */
#define TACH__INSTANCES(instance)                                                              \
	instance(0) instance(1) instance(2) instance(3) instance(4) instance(5) instance(6)    \
		instance(7) instance(8)
TACH_STATIC_ASSERT(TACH__UNROLLED == 8, "TACH__INSTANCES");

/* ---- start.c ---- */

/* Whether the thread's counters are as many, and read inline: else straight code would only
 * take its exits. */
int tach__edges_straight(const struct tach__hot *self);
/* Sets the thread's code for its counters. */
void tach__start_choose(struct tach__hot *self);

/* A flat START of a slot that is not ready. */
void tach__begin_any(struct tach_site *site, struct tach_region_mark *mark,
		     struct tach__slot *slot, struct tach__part *part, struct tach__hot *self);

/* ---- stop.c ---- */

/* The same. `plain`: entries go to sums and nowhere else, but they may be kept. */
enum { TACH__KEEPS_WORST = 1, TACH__KEEPS_EACH = 2 }; /* of entries: bits */
void tach__stop_choose(struct tach__hot *self, int plain, uint32_t keeps);
/* What a mark's counters and clock say now, in whatever way works; the slow way's flags. */
uint32_t tach__edges_read(const struct tach__hot *self, const struct tach_mark *begun,
			  uint64_t *delta, int fenced);
/*
 * The end of a region: the same, and the pairs completed inside: all, and those fenced. It
 * reads again if a handler completed some meanwhile. 0: the thread's state is another than
 * `state` behind it.
 */
struct tach__reading {
	uint64_t delta[TACH__SUMS], inside[2];
	uint64_t error; /* where the thread is `inexact`: in slots */
	uint32_t flags;
	uint32_t again; /* it was read for nothing before */
};
int tach__edges_stop(const struct tach__hot *self, const struct tach_region_mark *mark,
		     uint64_t state, struct tach__reading *r, int fenced);
/*
 * Where the fast way gave no flags: what became of the group since begin, and the counts as a
 * whole, not modulo 2^width.
 */
void tach__edges_since(const struct tach__hot *self, const struct tach_region_mark *mark,
		       struct tach__reading *r);
/* Adds an entry to its slot and to the one around it; the mark's level is the innermost. What
 * was lost counts nothing. */
void tach__edges_add(struct tach__hot *self, struct tach_region_mark *mark,
		     struct tach__reading *r, int fenced);

/* ---- cold_start.c ---- */

/* The thread or the slot is not ready. */
TACH_COLD void tach__begin_cold(struct tach_site *site, struct tach_region_mark *mark,
				int fenced);
/* The slot is not ready, its entries have to be asked, or an earlier one may have been left. */
TACH_COLD void tach__begin_unusual(struct tach_site *site, struct tach_region_mark *mark,
				   struct tach__slot *slot, int fenced, struct tach__hot *self);
/* A read of START was torn, by the kernel or by a handler's region, or is not possible. The
 * mark where START has it: an instruction less there. */
TACH_COLD void tach__begin_torn(int fenced, struct tach_region_mark *mark,
				struct tach__hot *self);

/* ---- cold_stop.c ---- */

/*
 * A flat STOP that is none: the state is another than its START left; a page changed, as all
 * do where the group was rescheduled; regions ended inside; the slot is under write.
 */
enum tach__unflat {
	TACH__FLAT_STATE,
	TACH__FLAT_MOVED,
	TACH__FLAT_MOVED_ELSEWHERE, /* not the leader's page */
	TACH__FLAT_INSIDE,
	TACH__FLAT_TORN,
	TACH__UNFLAT
};
TACH_COLD void tach__end_unflat(struct tach_region_mark *mark, enum tach__unflat why);

/* Another level or epoch than the mark's. */
TACH_COLD void tach__end_cold(struct tach_region_mark *mark, int fenced);
/* A page changed since START, so that the counters may have been others than were read. */
TACH_COLD void tach__end_moved(struct tach_region_mark *mark, int fenced);
/* A read was torn, by the kernel or by a handler's region. */
TACH_COLD void tach__end_torn(struct tach_region_mark *mark, int fenced);
/*
 * The group was rescheduled, or the slot is under write by the code that this handler
 * interrupted. The mark has the differences behind the values.
 */
TACH_COLD void tach__end_rescheduled(struct tach_region_mark *mark, int fenced);
/* The same with what tach__edges_stop gave. */
TACH_COLD void tach__end_read(struct tach_region_mark *mark, struct tach__reading *r,
			      int fenced);

#endif
