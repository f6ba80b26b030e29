/* SPDX-License-Identifier: MIT */
/*
 * The registry of threads and sites: the part of this room that its files share.
 *
 * Three kinds of memory have three rules:
 * - Slots and the hot half of a thread (core/region/edges.h) are written by their own thread
 *   only, with relaxed stores and a sequence. Any thread may copy a slot with tach__slot_copy.
 * - The lists of threads and sites are written under the lock. A reader that walks them
 *   forward, between tach__walk_begin and tach__walk_end, sees them consistent at any moment.
 *   START and STOP never wait for a walk.
 * - Everything else here is accessed under the lock.
 *
 * The lock never blocks a thread for ever. It is held for short stretches only. Cancellation is
 * off then, and all signals are blocked except those that instructions raise (core/os/sys.h).
 * Handlers of those signals notice that the lock is held and do not take it. The lock is never
 * held around malloc or stdio. Its holder may take only the lock of core/reader/readers.c. So a
 * handler may take the lock, whatever code it interrupted. If the loader's lock is also needed
 * (rearm.c), it is taken first.
 *
 * No fork hook holds the lock. fork() waits for the locks of malloc after its hooks, and the
 * thread that holds one of these may be in a handler that waits for our lock. A child finds the
 * lock free, because fork wipes its page. If another thread of the parent was in the middle of
 * a change at the fork, `busy` is set in the child, and process.c rebuilds all data that may be
 * inconsistent. The snapshots' lock is wiped in the same way. Its holder does not block
 * signals, so handlers of that thread do not wait for it.
 */
#ifndef TACH_CORE_REGION_H
#define TACH_CORE_REGION_H

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#define URCU_INLINE_SMALL_FUNCTIONS /* the lists are used from headers only */
#include <urcu/rculist.h>
#include <tach/region.h>
#include "core/os/clock.h"
#include "core/os/memory.h"
#include "core/region/edges.h"
#include "core/os/environment.h"
#include "core/region/residue.h"
#include "core/region/row.h"
#include "core/region/split.h"
#include "core/region/trace.h"
#include "core/region/turns.h"
#include "core/region/whole.h"
#include "core/region/worst.h"

#define TACH__OVERFLOWS 8 /* maximum number of regions in a thread's overflow */

/* Stored in a page that every fork wipes: a child reads zeros. */
struct tach__process {
	pthread_mutex_t snapshots; /* one snapshot at a time; never taken with the lock held */
	pthread_mutex_t lock;	   /* zeros are PTHREAD_MUTEX_INITIALIZER: free in a child */
	uint32_t alive;		   /* 0: this forked child must still empty the registry */
	uint32_t hooked;	   /* created by fork(): its atfork hooks ran */
	uint32_t walks;		   /* walks in progress */
	uint32_t owner;		   /* see tach__process_own */
	uint64_t writer; /* the thread that writes a report (core/startup/output.c), or 0 */
};

/* Counts to subtract from an entry for its histogram, by [fenced]: the counts of an empty
 * region, and of each nested pair. They are zero during calibration. */
struct tach__entry_cost {
	uint64_t empty[2][TACH__SUMS], pair[2][TACH__SUMS];
};

/* Subtracts the cost from one value. A negative result becomes 0, without a branch. */
TACH_INLINE uint64_t tach__entry_net(const struct tach__entry_cost *cost, const uint64_t *delta,
				     const uint64_t inside[2], uint32_t i, int fenced)
{
	int64_t v = (int64_t)(delta[i] - cost->empty[fenced][i] -
			      (inside[0] - inside[1]) * cost->pair[0][i] -
			      inside[1] * cost->pair[1][i]);

	return (uint64_t)(v & ~(v >> 63));
}

/* Data of a slot that does not measure all entries, in pages of its own. The owner writes it.
 */
struct tach__sampling {
	uint64_t gap;	   /* entries that are still to be skipped */
	uint64_t begun;	   /* the thread's `passed` when the open entry began */
	uint64_t inside;   /* entries skipped inside measured entries */
	uint64_t below[2]; /* part of `inside` that is in measured nested entries */
	/* Sums of squares and maxima over entries, including the cost of measuring. */
	double square[TACH__SUMS];
	uint64_t most[TACH__SUMS];
};

/* A set in use, with all other options that decide the contents of slots. References are
 * counted with the lock held. */
struct tach__config {
	struct tach_set *set;
	struct tach__config *next; /* in the list of all configs */
	uint32_t generation, refs;
	uint32_t count, stride;
	uint32_t sparse, warmup, histograms;
	uint32_t worst, worst_by; /* how many worst entries are kept, and by which sum */
	uint32_t trace;		  /* 1: every entry is traced */
	struct tach__split split;
	double per_log_keep;	/* 1 / log(1 - 1 / sparse); 0: no entry is skipped */
	struct tach__rows rows; /* totals of ended threads */
	uint64_t ended;		/* threads that are in these totals */
	uint32_t settled;	/* 1: `residue` is known */
	struct tach__residue residue;
	char note[512]; /* missing data and the reasons; "" if no data is missing */
	struct tach__ring ring;
};

/* A `struct tach_site` of the program. It may no longer exist: see rearm.c. */
struct tach__home {
	struct tach__home *next;
	struct tach_site *at;
	int owned; /* made by tach_site_get */
};

/* Bits of `fenced`, besides TACH__SITE_GATE. TASK: entries are segments (segments.c). */
enum { TACH__SITE_FENCED_BIT = 1, TACH__SITE_TASK = 2, TACH__SITE_PART = 8 };
/* HELPERS: threads that work for a region. TEAM: the row with the sums of both. OPEN: a region
 * that may be open when the process ends. */
enum { TACH__SITE_HELPERS = 32, TACH__SITE_TEAM = 64, TACH__SITE_OPEN = 128 };

/* UNKNOWN: no entry yet. NONE: entered outside all regions, or inside different ones. */
enum { TACH__PARENT_UNKNOWN, TACH__PARENT_NONE };

struct tach__site {
	struct cds_list_head node;
	struct tach__site *next; /* next with the same hash */
	struct tach__home *homes;
	uint32_t id, line, fenced;
	uint32_t selected;
	uint32_t parent; /* the enclosing region: an id, or one of TACH__PARENT_... */
	const char *name, *file, *function;
	const char *of; /* the region that this row is a part of, or its own name */
	struct tach__parts parts;
	/* Ids or 0: the row of which this is a part; the region of these helpers; both. */
	uint32_t whole, owner, team;
	struct tach_site *helpers; /* NULL: no helpers yet; atomic */
};

/* Cold half of a thread. The hot half precedes it in the same mapping. */
struct tach__thread {
	struct cds_list_head node;
	struct tach__thread *next; /* in the ended or free list */
	struct tach__hot *hot;
	struct tach__config *config;
	struct tach_reader *reader; /* NULL: opening failed, this thread has only the clock */
	size_t size;		    /* size of the mapping */
	uint32_t count, stride;
	uint32_t inexact; /* 1: slots have a struct tach__inexact */
	/* For each counter: the maximum error divided by the reported error. */
	uint8_t steps[TACH_COUNTERS_MAX];
	/* limit: lower ids have a slot. unlooked: slow paths since the last check */
	uint32_t limit, unlooked;
	uint32_t nchunks;
	/* 0: the thread is live, or no memory for folding; else number of the folding */
	uint64_t folded;
	int destructions;
	pid_t tid;
	int is_first; /* 1: it was the first thread of its process when it was opened */
	int64_t cpu;  /* busy.c: ns of processor time when the thread ended; 0: live */
	char comm[16];
	/* Cost of slow paths inside open regions; see cost.h. */
	uint64_t cold[TACH__SUMS];
	uint64_t costs;	  /* how often `cold` changed */
	uint32_t epoch;	  /* the epoch in `state` */
	uint64_t settled; /* completed pairs at the end of the last slow path inside regions */
	struct tach__residue residue;
	int residue_known;
	/* flat.c: flat_known is 1 if the cost of flat regions is known. unflat: extra counts of
	 * entries that began flat and did not end flat. */
	int flat_known;
	uint64_t unflat[TACH__UNFLAT][TACH__SUMS];
	uint64_t stale; /* STARTs that looked the counters up again */
	uint64_t *log;
	size_t log_size;
	uintptr_t stack_low;	    /* abandoned.c: readable from here to the stack's top */
	uint32_t far_next;	    /* abandoned.c: the next entry with a far mark to check */
	struct tach__worst **worst; /* worst entries by id; NULL: none are kept */
	struct tach__trace *trace;  /* NULL: entries are not traced */
	uint32_t worst_by;
	uint32_t keeps;		 /* TACH__KEEPS_*: which of `worst` and `trace` are not NULL */
	uint64_t random, passed; /* passed: number of skipped entries of all regions */
	uint32_t overflow_id[TACH__OVERFLOWS + 1]; /* all further regions use the last */
	struct tach__slot *overflow[TACH__OVERFLOWS + 1];
	struct tach__slot *outside; /* the enclosing slot of outermost regions */
	/* overlap.c: by level, for unfenced and fenced STARTs; NULL: nothing is owed. */
	int32_t (*owed)[2]; /* TACH__OWED_SIZE bytes, left.h */
	char *chunk[TACH__CHUNKS];
	char *latch[TACH__CHUNKS]; /* copies of the chunks, written by snapshots */
	char *overflow_latch;
	struct tach__overhead overhead;
	struct tach__entry_cost entry_cost;
	struct tach__turning turning;
	/*
	 * split.h: tables of slots by pair of task and tag (NULL: none), and the pair in use.
	 */
	struct tach__slot ***splits;
	uint32_t npairs, pair;
	uint32_t number; /* number of this opening, from 1 */
	char shown[16];	 /* the thread's name in rows; under the lock */
	struct tach__whole whole;
};

struct tach__registry {
	struct cds_list_head threads, sites;
	struct tach__config *config; /* NULL: never configured */
	struct tach__config *configs;
	uint32_t enabled;
	uint32_t generation; /* generation of `config`; atomic */
	uint32_t nsites;     /* sites have the ids TACH__SITE_FIRST .. nsites-1 */
	/* Read without the lock too: an element is set once, before its id is published. */
	struct tach__site **by_id;
	struct tach__process *page; /* NULL: the lock was never taken */
	/*
	 * 1 while the lock is held. If it is set when a child first takes the lock, another
	 * thread of the parent was in the middle of a change. If it is set when another process
	 * reads, the registry may be inconsistent.
	 */
	uint32_t busy;
	uint64_t openings, folds;
	uint64_t inherited; /* openings up to this number were made in the parent process */
	struct tach__thread *ended, *free;
	char only[TACH__ONLY_SIZE];
	/* Counted without the lock: */
	uint64_t refused, lost;
	uint32_t unopened; /* threads whose counters did not open */
	struct tach_error open_error;
	uint32_t numbered; /* threads numbered so far, if rows are divided by thread */
	uint32_t unplaced; /* sites without room or memory: off for ever */
};
extern struct tach__registry tach__registry;

/* process.c */
struct tach__held {
	sigset_t signals;
	int cancel;
	int within; /* 1: this thread had called tach__hold before, so signals are blocked */
};
void tach__hold(struct tach__held *held); /* blocks signals (core/os/sys.h) and cancellation */
void tach__release(const struct tach__held *held);
void tach__lock(struct tach__held *held); /* tach__hold, then takes the registry's lock */
void tach__unlock(const struct tach__held *held);
pthread_mutex_t *tach__snapshots_lock(void);
/*
 * The process that calls tach__process_own is the owner. Its children are not owners, even a
 * child with the same number in another PID namespace. A child of vfork counts as the owner.
 * tach__process_writer returns the word of the thread that writes a report. All three are
 * async-signal-safe.
 */
void tach__process_own(void);
int tach__process_is_owner(void);
uint64_t *tach__process_writer(void);
/*
 * Call it with the lock held. Until tach__walk_end, which needs no lock, the lists of threads
 * and sites lose no element. No thread waits for a walk: ended threads stay in the list until
 * no walk is in progress.
 */
void tach__walk_begin(void);
void tach__walk_end(void);
int tach__is_walked(void); /* with the lock: 1 if a walk is in progress */

/* For a function that reads a mark which may no longer exist: AddressSanitizer may have
 * poisoned the mark's memory. */
#define TACH__LOOKS_BACK __attribute__((no_sanitize("address")))

/* record.c */
/* Returns a cleared record for slots of that stride, or NULL without memory. Do not hold the
 * lock. */
struct tach__thread *tach__record_take(uint32_t stride);
/*
 * With the lock: adds the record's slots to the totals of the set. Returns 0 if there is no
 * memory for them, for example if a filter forbids mmap. Then the thread's own sums stay
 * visible.
 */
int tach__record_fold(struct tach__thread *record);
/*
 * With the lock: frees the records of ended threads. It does nothing during a walk: a snapshot
 * may be reading one of them, or may have read the totals before the record was added. If a
 * record found no memory before, it is folded now.
 */
void tach__records_reclaim(void);

/* thread.c */
extern struct tach__hot tach__thread_closed;
struct tach__thread *tach__thread_record(void); /* the calling thread's record, or NULL */
/* Opens the calling thread if necessary, with a slot for `id`. Returns NULL if that is not
 * possible now. Call it under tach__hold. */
struct tach__hot *tach__thread_ready(uint32_t id);
/* Closes the counters of the calling thread. Its next START opens them again. Call it outside
 * any region. */
void tach__thread_close(void);
int tach__thread_is_outdated(
	void); /* 1 if the calling thread has yet to switch to another set */
/* With the lock: makes the next START of every thread take the slow path. */
void tach__threads_interrupt(void);
/* With the lock, in a child: empties the registry. */
void tach__threads_reset(int recycle);

/* slots.c */
struct tach__slot *tach__slot_at(const struct tach__thread *record, uint32_t id);
/* the table's element for each slot that is not ready */
extern const union tach__slot_copy tach__slot_unready;
/* Returns the slot that contains this part or word. */
struct tach__slot *tach__slot_of(const struct tach__thread *record, const void *part);
int tach__slots_grow(struct tach__thread *record, uint32_t id);
void tach__slots_clear(struct tach__thread *record);
int tach__slot_is_used(const struct tach__slot *slot);
/*
 * Returns the slot in which a handler counts if it interrupted a write to *slot. state: of the
 * handler's mark.
 */
TACH_COLD struct tach__slot *tach__region_overflow(struct tach__hot *self,
						   struct tach__slot *slot, uint64_t state);
/* For the calling thread: if no region has the slot open, ends a write to *slot that no code
 * will complete. */
void tach__slot_mend(struct tach__thread *record, struct tach__slot *slot);
/* Copies *slot consistently. If that fails, *out is the last consistent copy, or a copy whose
 * last entry is incomplete and flagged. Hold the snapshots' lock. */
enum tach__copied { TACH__COPIED_NOT, TACH__COPIED, TACH__COPIED_LATCH };
enum tach__copied tach__slot_copy(struct tach__slot *out, const struct tach__slot *slot,
				  struct tach__slot *latch, uint32_t count);
struct tach__slot *tach__latch_at(struct tach__thread *record, uint32_t id);
struct tach__slot *tach__latch_overflow(struct tach__thread *record, int i);

/* site.c */
/* returns its id or TACH_SITE_OFF; lock held */
uint32_t tach__site_register(struct tach_site *home);
void tach__site_select(struct tach__site *site); /* applies the filter; lock held */
/* With the lock: returns the id of a row for that part of `base`, or base's id if there is no
 * room. */
uint32_t tach__site_part(const struct tach__site *base, const char *name,
			 const struct tach__parts *parts);
void tach__sites_mend(void); /* with the lock, in a child: repairs inconsistent data */
struct tach__site *tach__site_at(uint32_t id); /* load the id with acquire first */
int tach__glob_list(const char *globs, const char *name);

int tach__names_are_full(
	void); /* named.c: 1 if TACH_START_NAMED had more names than it can keep */

/* rearm.c: gives every site that still exists in the program its id, or TACH_SITE_OFF. */
void tach__sites_rearm(void);

/* sampling.c */
uint64_t tach__random(struct tach__thread *record);
/* Returns a random number of entries to skip before the next measured entry. */
uint64_t tach__sampling_draw(struct tach__thread *record);
/*
 * Returns 1 if an entry of a sampled region is skipped. Every entry of such a region calls it.
 */
int tach__sampling_skips(struct tach__thread *record, struct tach__slot *slot);

/* overtaken.c: flags the rows of regions that ended before a region inside them. */
void tach__overtaken_flag(struct tach__rows *rows, struct tach__thread *record);

/* trial.c: tach__signals_held while the library's own regions run, else 0. */
extern __thread int tach__calibrating;
/* trial.c: not NULL if other code than the macros enters regions. It runs an empty region,
 * whose cost then applies to all regions. Set it before the first region. */
extern void (*tach__hooked_pair)(struct tach_site *site);
/* overhead.c: runs regions in the calling thread, outside any other region. */
void tach__overhead_measure(struct tach__thread *record);

/* counted.c: makes the set that the options name; the environment may have completed them.
 * note: gets a sentence on missing events. */
int tach__counted_set(struct tach_set **out, const struct tach_regions_options *opt, char *note,
		      size_t size, struct tach_error *err);

/* configure.c */
void tach__configure_once(void); /* reads the environment, once; no lock held */
void tach__config_drop(struct tach__config *config); /* drops a reference; lock held */
/* lists `first` and the configs that take turns with it; lock held */
void tach__config_list(struct tach__config *first);
struct tach__config *tach__config_make(struct tach_set *set,
				       const struct tach_regions_options *opt);
/* frees configs without references; no lock held; may call malloc */
void tach__configs_sweep(void);

#include "core/region/histogram.h"
#include "core/region/others.h"

/* core/startup, called at the first START. `file` is TACH_OUTPUT; NULL: nothing is written. */
void tach__output_at_exit(const char *file);
void tach__environment_complain(int is_wanted);
void tach__environment_uncounted(const char *why);

#include "core/region/beacon.h"

/* Freezes the configuration: tach_regions_configure and tach_regions_disable then do nothing,
 * and succeed. */
void tach__regions_freeze(void);
/* In a frozen configuration, most processes have one region per thread and no slow path inside
 * a region. The calibration of slow paths takes the most time, so it waits for the first one.
 */
int tach__regions_are_frozen(void);
/* After this call, no region begins in this process, so regions no longer make system calls. */
void tach__regions_end(void);

#endif
