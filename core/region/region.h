/* SPDX-License-Identifier: MIT */
/*
 * The registry of threads and sites: what the files of the region half share.
 *
 * Three kinds of memory, three rules:
 *  - slots and the hot half of a thread (core/region/edges.h): written by their thread alone,
 * with relaxed stores and a sequence; any thread may read a slot whole through tach__slot_copy.
 *  - the lists of threads and sites: written under the lock, and so that they are whole at any
 *    moment for who walks them forward, between tach__walk_begin and tach__walk_end. Nothing
 *    that START and STOP do waits for a walk.
 *  - everything else here: under the lock.
 *
 * The lock, and why it blocks no thread for ever. It is held for short stretches, with all
 * signals blocked but those that instructions raise (core/os/sys.h; their handlers find out and
 * take none), with cancellation off, and never around malloc, stdio or another lock but that of
 * core/reader/readers.c, which is always the inner one; so a handler may take it whatever it
 * interrupted. The loader's lock, where both are held (rearm.c), is the outer one. No hook of
 * fork holds it: fork() waits for the locks of malloc after its hooks, and the thread that has
 * one of those may be in a handler that wants ours. The child finds its lock free, as fork
 * wipes the page of it, and may find that another thread was cut off amid a change: `busy`
 * tells, and what can be torn then is made anew (process.c). The snapshots' lock is wiped
 * likewise; who holds it blocks no signals, so handlers of its own thread do not wait for it.
 */
#ifndef TACH_CORE_REGION_H
#define TACH_CORE_REGION_H

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#define URCU_INLINE_SMALL_FUNCTIONS /* its lists, of which all is in headers */
#include <urcu/rculist.h>
#include <tach/region.h>
#include "core/os/clock.h"
#include "core/os/memory.h"
#include "core/region/edges.h"
#include "core/os/environment.h"
#include "core/region/row.h"
#include "core/region/split.h"
#include "core/region/trace.h"
#include "core/region/turns.h"
#include "core/region/whole.h"
#include "core/region/worst.h"

#define TACH__OVERFLOWS 8 /* regions a thread may have in the overflow at once */

/* Lies in a page that fork wipes: in a child it reads as zeros whatever flavour of fork it was.
 */
struct tach__process {
	pthread_mutex_t snapshots; /* one at a time; never taken with the lock held */
	pthread_mutex_t lock;	   /* zeros are PTHREAD_MUTEX_INITIALIZER: free in the child */
	uint32_t alive;	 /* 0: this is a child that has not emptied the registry yet */
	uint32_t hooked; /* the child came by fork(): its atfork hooks ran */
	uint32_t walks;	 /* going on */
};

/*
 * What cold exits cost beyond what they see of themselves, last by [fenced]: code that is
 * always the same, once per set. See residue.c.
 */
struct tach__residue {
	uint64_t begin[2][2][TACH__SUMS]; /* [1]: found its slot not ready */
	uint64_t before[2][TACH__SUMS];	  /* a STOP, up to its reading */
	uint64_t after[2][TACH__SUMS];	  /* and behind it */
	/* [1]: another page than the leader's had changed, as is seen behind the reads. */
	uint64_t rescheduled[2][2][TACH__SUMS]; /* behind the reading of such a STOP */
	uint64_t again[2][2][TACH__SUMS];	/* what it shows more, as it was read twice */
	uint64_t stale[2][2][TACH__SUMS]; /* a START that looked anew where counters are */
	/* Not a slow path's: what any START adds to the region around it. */
	uint64_t start[2][TACH__SUMS];
};

/*
 * What goes out of one entry before it is put into a histogram, by [fenced]: what an empty
 * region shows, and what a pair inside adds. Zeros while that is being found out.
 */
struct tach__entry_cost {
	uint64_t empty[2][TACH__SUMS], pair[2][TACH__SUMS];
};

/* Less than nothing is nothing: without a branch. */
TACH_INLINE uint64_t tach__entry_less(const struct tach__entry_cost *cost,
				      const uint64_t *delta, const uint64_t inside[2],
				      uint32_t i, int fenced)
{
	int64_t v = (int64_t)(delta[i] - cost->empty[fenced][i] -
			      (inside[0] - inside[1]) * cost->pair[0][i] -
			      inside[1] * cost->pair[1][i]);

	return (uint64_t)(v & ~(v >> 63));
}

/* Of a slot that does not measure all its entries: the owner's, in pages of its own. */
struct tach__sampling {
	uint64_t gap;	   /* entries still to pass over */
	uint64_t begun;	   /* the thread's `passed` as the open entry began */
	uint64_t inside;   /* entries passed over inside those measured */
	uint64_t below[2]; /* of them, those inside a measured one in there: see children */
	/* Of the entries, as counted: sums of squares, and the greatest. */
	double square[TACH__SUMS];
	uint64_t most[TACH__SUMS];
};

/* A set in use, and whatever else decides what slots hold. Counted references, under the lock.
 */
struct tach__config {
	struct tach_set *set;
	struct tach__config *next; /* in the list of all */
	uint32_t generation, refs;
	uint32_t count, stride;
	uint32_t sparse, warmup, histograms;
	uint32_t worst, worst_by; /* how many entries are kept, and by which sum */
	uint32_t trace;		  /* each is */
	struct tach__split split;
	double per_log_keep;	/* 1 / log(1 - 1 / sparse); 0: nothing is passed over */
	struct tach__rows rows; /* totals of ended threads */
	uint64_t ended;		/* threads in them */
	uint32_t settled;	/* 1: `residue` is known */
	struct tach__residue residue;
	char note[512]; /* what is missing and why, "" */
	struct tach__ring ring;
};

/* A word of the program's; may be gone: see rearm.c. */
struct tach__home {
	struct tach__home *next;
	struct tach_site *at;
	int owned; /* made by tach_site_get */
};

/* Bits of a site's `fenced`, beside TACH__SITE_GATE. A task's whole entries are its own affair:
 * task.c. */
enum { TACH__SITE_FENCED_BIT = 1, TACH__SITE_TASK = 2, TACH__SITE_PART = 8 };

/* Not entered yet; entered outside all regions, or around it are several. */
enum { TACH__PARENT_UNKNOWN, TACH__PARENT_NONE };

struct tach__site {
	struct cds_list_head node;
	struct tach__site *next; /* same hash */
	struct tach__home *homes;
	uint32_t id, line, fenced;
	uint32_t selected;
	uint32_t parent; /* the region around it: an id, or one of TACH__PARENT_... */
	const char *name, *file, *function;
	const char *of; /* the region that its row is a part of, or its own name */
	struct tach__parts parts;
};

/* Cold half of a thread; the hot half lies before it in the same mapping. */
struct tach__thread {
	struct cds_list_head node;
	struct tach__thread *next; /* in the ended or free list */
	struct tach__hot *hot;
	struct tach__config *config;
	struct tach_reader *reader; /* NULL: open failed, this thread has the clock alone */
	size_t size;		    /* of the mapping */
	uint32_t count, stride;
	uint32_t inexact; /* slots have a struct tach__inexact */
	/* Of each counter, how many times what that tells it may be off. */
	uint8_t steps[TACH_COUNTERS_MAX];
	uint32_t limit, unlooked; /* ids below have a slot; exits since all were looked at */
	uint32_t nchunks;
	uint64_t folded; /* 0: live, or no memory to fold it; else the number of the folding */
	int destructions;
	pid_t tid;
	int is_first; /* the first thread of its process, as its number told when it was opened
		       */
	char comm[16];
	/* Cost of cold exits inside open regions; see cost.h. */
	uint64_t cold[TACH__SUMS];
	uint32_t epoch; /* the one in `state` */
	struct tach__residue residue;
	int residue_known;
	/* flat.c: whether the thread knows what flat regions take; what one shows more that
	 * ended as another. */
	int flat_known;
	uint64_t unflat[TACH__UNFLAT][TACH__SUMS];
	uint64_t stale; /* STARTs that looked anew where the counters are */
	uint64_t *log;
	size_t log_size;
	uintptr_t stack_low;	    /* known to be readable from here to the top; abandoned.c */
	struct tach__worst **worst; /* by id; NULL: none are kept */
	struct tach__trace *trace;  /* NULL: entries are not traced */
	uint32_t worst_by;
	uint32_t keeps;		 /* TACH__KEEPS_*: which of the two are not NULL */
	uint64_t random, passed; /* entries that were passed over, in all its regions */
	uint32_t overflow_id[TACH__OVERFLOWS +
			     1]; /* the last one: a bin for what does not fit */
	struct tach__slot *overflow[TACH__OVERFLOWS + 1];
	struct tach__slot *outside; /* stands for "no region" around others */
	/* overlap.c: by level, of plain STARTs and fenced ones; NULL: none are owed. */
	int32_t (*owed)[2]; /* TACH__OWED_SIZE bytes, left.h */
	char *chunk[TACH__CHUNKS];
	char *latch[TACH__CHUNKS]; /* copies of the same, the snapshots' */
	char *overflow_latch;
	struct tach__overhead overhead;
	struct tach__entry_cost entry_cost;
	struct tach__turning turning;
	/* split.h: tables of slots by pair of task and tag, NULL: none; the pair in use. */
	struct tach__slot ***splits;
	uint32_t npairs, pair;
	uint32_t number; /* of those that were opened, from 1 */
	char shown[16];	 /* its name in rows; under the lock */
	struct tach__whole whole;
};

struct tach__registry {
	struct cds_list_head threads, sites;
	struct tach__config *config;  /* NULL: never configured */
	struct tach__config *configs; /* all of them */
	uint32_t enabled;
	uint32_t generation; /* of config; atomic */
	uint32_t nsites;     /* ids TACH__SITE_FIRST .. nsites-1 are taken */
	/* Of them; read without the lock too: an entry is set once, before its id is known. */
	struct tach__site **by_id;
	struct tach__process *page; /* NULL: the lock was never taken */
	/*
	 * The lock is held. A child that takes it for the first time finds it so if another
	 * thread of its parent was cut off amid a change, a reader in another process while
	 * the rest may be torn.
	 */
	uint32_t busy;
	uint64_t openings, folds;
	uint64_t inherited; /* openings up to here were the parent process's */
	struct tach__thread *ended, *free;
	char only[TACH__ONLY_SIZE];
	/* Counted without the lock: */
	uint64_t refused, lost;
	uint32_t unopened; /* threads whose counters did not open */
	struct tach_error open_error;
	uint32_t numbered; /* threads, where rows are divided by them */
	uint32_t unplaced; /* sites without room or memory: off for ever */
};
extern struct tach__registry tach__registry;

/* process.c */
struct tach__held {
	sigset_t signals;
	int cancel;
	int within; /* another hold of the thread: signals are blocked already */
};
void tach__hold(struct tach__held *held); /* blocks signals (core/os/sys.h) and cancellation */
void tach__release(const struct tach__held *held);
void tach__lock(struct tach__held *held); /* hold, and take the registry's lock */
void tach__unlock(const struct tach__held *held);
pthread_mutex_t *tach__snapshots_lock(void);
/*
 * With the lock: from now on until tach__walk_end, which needs none, what is in the lists of
 * threads and sites stays there. No thread waits for a walk: ended threads stay in the list
 * until there is none.
 */
void tach__walk_begin(void);
void tach__walk_end(void);
int tach__walked(void); /* with the lock: whether a walk is under way */

/*
 * Of a function that looks for a mark where it may be gone: it compares whatever lies there,
 * which AddressSanitizer may have fenced off since.
 */
#define TACH__LOOKS_BACK __attribute__((no_sanitize("address")))

/* record.c */
/* A cleared record for slots of that stride; lock not held. NULL: no memory. */
struct tach__thread *tach__record_take(uint32_t stride);
/*
 * With the lock: what its slots hold goes to the totals of the set. 0: there is no memory for
 * them, as under a filter that forbids mmap; the thread's own sums still show.
 */
int tach__record_fold(struct tach__thread *record);
/*
 * With the lock: those of ended threads are free again. Not while a snapshot walks, which may
 * stand on one of them, or have taken the totals before theirs were among them. What found no
 * memory there is tried again.
 */
void tach__records_reclaim(void);

/* thread.c */
extern struct tach__hot tach__thread_closed;
struct tach__thread *tach__thread_record(void); /* the calling thread's, or NULL */
/* Under hold: opens the calling thread if need be, with a slot for `id`; NULL: not now. */
struct tach__hot *tach__thread_ready(uint32_t id);
/* The calling thread, outside any region, lets its counters go; its next START opens again. */
void tach__thread_close(void);
int tach__thread_pending(void); /* the calling thread has yet to follow to another set */
/* With the lock: every thread's next START takes the cold exit. */
void tach__threads_interrupt(void);
/* With the lock, in a child: empties the registry. */
void tach__threads_reset(int recycle);

/* slots.c */
struct tach__slot *tach__slot_at(const struct tach__thread *record, uint32_t id);
extern const union tach__slot_copy tach__slot_unready; /* in the table for what is not ready */
/* The slot that the part, or any other word of it, belongs to. */
struct tach__slot *tach__slot_of(const struct tach__thread *record, const void *part);
int tach__slots_grow(struct tach__thread *record, uint32_t id);
void tach__slots_clear(struct tach__thread *record);
int tach__slot_used(const struct tach__slot *slot);
/* Where the thread's handlers count while *slot is under write, in a region of that state. */
TACH_COLD struct tach__slot *tach__region_overflow(struct tach__hot *self,
						   struct tach__slot *slot, uint64_t state);
/* Of the calling thread: ends writes to *slot that no code will end, if no region has it open.
 */
void tach__slot_mend(struct tach__thread *record, struct tach__slot *slot);
/* A whole copy of *slot, or else the last one that was had, or one whose last entry is
 * unfinished and flagged; snapshots' lock held. */
enum tach__copied { TACH__COPIED_NOT, TACH__COPIED, TACH__COPIED_LATCH };
enum tach__copied tach__slot_copy(struct tach__slot *out, const struct tach__slot *slot,
				  struct tach__slot *latch, uint32_t count);
struct tach__slot *tach__latch_at(struct tach__thread *record, uint32_t id);
struct tach__slot *tach__latch_overflow(struct tach__thread *record, int i);

/* site.c */
uint32_t tach__site_register(struct tach_site *home); /* its id, or TACH_SITE_OFF; lock held */
void tach__site_select(struct tach__site *site);      /* by the filter; lock held */
/* With the lock: the id of a row of `base` alone; base's, if there is no room. */
uint32_t tach__site_part(const struct tach__site *base, const char *name,
			 const struct tach__parts *parts);
void tach__sites_mend(void); /* with the lock, in a child: makes anew what may be torn */
struct tach__site *tach__site_at(uint32_t id); /* an id that was loaded with acquire */
int tach__glob_list(const char *globs, const char *name);

int tach__names_over(void); /* named.c: TACH_START_NAMED had more names than it can keep */

/* rearm.c: tells every site of the program that still exists its id, or TACH_SITE_OFF. */
void tach__sites_rearm(void);

/* sampling.c */
uint64_t tach__random(struct tach__thread *record);
/* How many entries to pass over before the next that is measured. */
uint64_t tach__sampling_draw(struct tach__thread *record);
/* Whether an entry that every one of its region has to ask for is passed over. */
int tach__sampling_gated(struct tach__thread *record, struct tach__slot *slot);

/* overtaken.c: flags rows of regions around others that are over. */
void tach__overtaken_flag(struct tach__rows *rows, struct tach__thread *record);

/* trial.c: tach__signals_held while the library's own regions run, else 0. */
extern __thread int tach__calibrating;
/* overhead.c: of the calling thread, outside any region; its regions run. */
void tach__overhead_measure(struct tach__thread *record);

/*
 * counted.c: the set that the options name, which may have been completed from the environment.
 * `note`: what is missing of it.
 */
int tach__counted_set(struct tach_set **out, const struct tach_regions_options *opt, char *note,
		      size_t size, struct tach_error *err);

/* configure.c */
void tach__configure_once(void); /* from the environment, once; no lock held */
void tach__config_drop(struct tach__config *config); /* a reference; lock held */
void tach__config_list(struct tach__config *first);  /* of its generation; lock held */
struct tach__config *tach__config_make(struct tach_set *set,
				       const struct tach_regions_options *opt);
void tach__configs_sweep(void); /* frees what is not referenced; no lock held; may malloc */

#include "core/region/histogram.h"

/* core/startup: what the first START brings in. TACH_OUTPUT; NULL: nothing is written. */
void tach__output_at_exit(const char *file);
void tach__environment_complain(int is_wanted);
void tach__environment_uncounted(const char *why);

#include "core/region/beacon.h"

/* What is counted stays as it is: tach_regions_configure and _disable do nothing, and succeed.
 */
void tach__regions_decided(void);
/*
 * Then most processes have one region a thread and no cold exit inside one: what those cost,
 * most of what calibration takes, is put off to the first.
 */
int tach__regions_are_decided(void);
/* From now on regions take no system call in this process, as none begins. */
void tach__regions_over(void);

#endif
