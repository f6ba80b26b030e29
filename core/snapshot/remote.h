/* SPDX-License-Identifier: MIT */
/*
 * The registry of another process, read from its memory. The other process controls that
 * memory: it may be inconsistent, stale, freed or malicious. Each value is checked before it is
 * used as a size, an index or an end. Pointers are followed only with `read`.
 */
#ifndef TACH_CORE_SNAPSHOT_REMOTE_H
#define TACH_CORE_SNAPSHOT_REMOTE_H

#include "core/base/arena.h"
#include "core/region/region.h"

struct tach__remote {
	/* Reads memory of the other process. 0 or a negated errno; EFAULT: there is no such
	 * memory. Tests replace this function. */
	int (*read)(void *context, const void *at, void *to, size_t size);
	void *context;
	int failed;		  /* why tach__remote_text returned NULL */
	struct tach__arena arena; /* of strings */
	/* Limits of one look with all its retries, because the other process may be malicious:
	 * bytes and calls that are left, ns of sleep, reserved bytes. */
	uint64_t left, calls, rested, memory;
	double until; /* limit of this thread's processor time, s */
};

enum {
	TACH__REMOTE_AGAIN = 1,		/* the data changed while it was read: read again */
	TACH__REMOTE_THREADS = 1 << 16, /* a larger number of threads is an error */
	TACH__REMOTE_TEXT = 1024,	/* maximum length of a text; the rest is cut off */
};
#define TACH__REMOTE_BYTES  (UINT64_C(8) << 30)
#define TACH__REMOTE_CALLS  (UINT64_C(1) << 21)
#define TACH__REMOTE_MEMORY (UINT64_C(192) << 20) /* histograms and worst entries */
#define TACH__REMOTE_RESTS  UINT64_C(1000000000)  /* ns */
#define TACH__REMOTE_CPU    2.0			  /* s of this thread's processor time */

/* An address in the other process. Computed with integers, because pointer arithmetic outside
 * our own objects is undefined. */
static inline const void *tach__remote_at(const void *base, size_t offset)
{
	return (const void *)((uintptr_t)base + offset);
}

/* ---- remote.c ---- */

/* Sets the limits for one look: `cpu` seconds of processor time, and the constants above. */
void tach__remote_begin(struct tach__remote *r, double cpu);
/* Returns the seconds of this thread's processor time that are left; below 0: used up. */
double tach__remote_left(const struct tach__remote *r);
/* 0, TACH__REMOTE_AGAIN if there is no such memory, or a code: TACH_ERR_TOOMANY if a limit is
 * used up. */
int tach__remote_get(struct tach__remote *r, const void *at, void *to, size_t size);
/* Sleeps, unless the limit TACH__REMOTE_RESTS is used up. */
void tach__remote_sleep(struct tach__remote *r, long ns);
/* Call it before allocating for remote data: 0, or TACH_ERR_TOOMANY. */
int tach__remote_reserve(struct tach__remote *r, size_t size);
/* Copies a remote string to the arena; a remote NULL becomes "". If it returns NULL, `failed`
 * has the reason, or 0 if this process is out of memory. */
const char *tach__remote_text(struct tach__remote *r, const char *at);
/* Sets each of n numbers to 0 if it is not finite or too large to be a sum. */
void tach__remote_finite(double *v, size_t n);

/* ---- remote_set.c: sets, rows and sites, which never change once they exist ---- */

/* Makes a local set with the same names and metrics. Free it with tach_set_free. */
int tach__remote_set(struct tach__remote *r, const struct tach_set *at, struct tach_set **out);
/* A copy of the totals of ended threads, read at once. Its rows contain remote pointers. */
struct tach__remote_rows {
	char *base;
	size_t size;
	uint32_t stride, count, limit;
};
/* Reads rows. Set stride and count of the copy before. Free its pages with tach__pages_free. */
int tach__remote_rows_read(struct tach__remote *r, const struct tach__rows *there,
			   uint32_t nsites, struct tach__remote_rows *copy);
/* Converts copied rows to local ones. If `with_histograms`, also reads histograms and worst
 * entries for rows that have none yet. */
int tach__remote_rows_own(struct tach__remote *r, const struct tach__config *config,
			  const struct tach__remote_rows *copy, struct tach__rows *rows,
			  int with_histograms);
/* Reads the remote histograms `at` into local ones. */
int tach__remote_histograms(struct tach__remote *r, uint32_t *to, const uint32_t *at,
			    uint32_t sums);
/* Reads a site, and copies its strings to the arena. Returns the same codes as
 * tach__remote_get. */
int tach__remote_site(struct tach__remote *r, struct tach__site *const *by_id, uint32_t id,
		      struct tach__site *out);

/* ---- remote_threads.c ---- */

/* A live thread of the process that uses the current set. */
struct tach__remote_thread {
	const struct tach__thread *at;
	const struct tach__hot *hot;
	uint64_t state;
};
/*
 * Adds the thread's slots with ids below nsites to `rows`, which have as many counters as
 * `config`. *stale counts slots without a consistent copy. TACH__REMOTE_AGAIN: the thread ended
 * in the meantime, and `rows` may contain a part of its sums.
 */
int tach__remote_thread(struct tach__remote *r, const struct tach__remote_thread *thread,
			struct tach__config *config, struct tach__rows *rows, uint32_t nsites,
			uint64_t *stale);

/* ---- remote_live.c: reads each live thread once, while other threads begin and end ---- */

struct tach__remote_part;
struct tach__remote_live {
	struct tach__remote *remote;
	struct tach__remote_part *part, *next; /* the last list, and the list in progress */
	uint32_t n, nnext;
	struct tach__rows rows; /* the sum of threads that have no rows of their own */
	uint64_t kept;		/* bytes of the threads' own rows */
};

int tach__remote_live_begin(struct tach__remote_live *l, struct tach__remote *r,
			    uint32_t count);
void tach__remote_live_free(struct tach__remote_live *l);
/* Call _list to begin a list, and then _thread for each thread, at most TACH__REMOTE_THREADS
 * times. */
void tach__remote_live_list(struct tach__remote_live *l);
void tach__remote_live_put(struct tach__remote_live *l,
			   const struct tach__remote_thread *thread);
/* Ends a list. TACH__REMOTE_AGAIN: start again, because the sum contains a thread that has
 * ended. */
int tach__remote_live_follow(struct tach__remote_live *l);
/* Reads the new threads. TACH__REMOTE_AGAIN: make a new list, because too many threads ended
 * before they were read. */
int tach__remote_live_read(struct tach__remote_live *l, struct tach__config *config,
			   uint32_t nsites, uint32_t *ended);
/* Adds all threads to rows. *stale counts slots without a consistent copy. */
int tach__remote_live_add(struct tach__remote_live *l, struct tach__rows *rows,
			  uint64_t *stale);

/* ---- remote_worst.c ---- */

/* Adds the remote entries `at` to the row's entries. record: the number and name of the thread
 * of all entries; NULL: each entry has its thread's number and name. */
int tach__remote_worst(struct tach__remote *r, const struct tach__worst *at,
		       const struct tach__config *config, const struct tach__thread *record,
		       struct tach__row *row);

/* ---- remote_take.c ---- */

/* Takes a snapshot of the registry that a remote beacon names. */
struct tach_snapshot;
int tach__remote_take(struct tach__remote *r, const struct tach__beacon *beacon,
		      struct tach_snapshot **out, struct tach_error *err);

/* ---- remote_find.c ---- */

/*
 * Finds the beacon of the copy that owns the regions of a process; 0, or a code and the reason.
 */
int tach__remote_find(struct tach__remote *r, int process, const struct tach__beacon **out,
		      struct tach_error *err);

#endif
