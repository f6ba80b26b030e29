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
	/* 0 or negated errno; EFAULT: there is no such memory. A pointer, so that tests can
	 * replace it. */
	int (*read)(void *context, const void *at, void *to, size_t size);
	void *context;
	int failed;		  /* why there was no string */
	struct tach__arena arena; /* of strings */
	/* Limits of one look, over all its retries: bytes and calls that are left; time and
	 * memory used so far. The other process may be malicious. */
	uint64_t left, calls, rested, memory;
	double until; /* limit of this thread's processor time, s */
};

enum {
	TACH__REMOTE_AGAIN = 1,		/* it changed in the meantime */
	TACH__REMOTE_THREADS = 1 << 16, /* a larger number is not believed */
	TACH__REMOTE_TEXT = 1024,	/* longer text is cut off */
};
#define TACH__REMOTE_BYTES  (UINT64_C(8) << 30)
#define TACH__REMOTE_CALLS  (UINT64_C(1) << 21)
#define TACH__REMOTE_MEMORY (UINT64_C(192) << 20) /* histograms and worst entries */
#define TACH__REMOTE_RESTS  UINT64_C(1000000000)  /* ns */
#define TACH__REMOTE_CPU    2.0			  /* s of this thread's processor time */

/* An address in the other process. Computed with integers, because our pointers must not
 * be invalid or wrap around. */
static inline const void *tach__remote_at(const void *base, size_t offset)
{
	return (const void *)((uintptr_t)base + offset);
}

/* ---- remote.c ---- */

/* Sets the limits for one look: of time as given, of the rest as above. */
void tach__remote_begin(struct tach__remote *r, double cpu);
/* Seconds of this thread's processor time that are left; less than 0: they are used up. */
double tach__remote_left(const struct tach__remote *r);
/* 0, TACH__REMOTE_AGAIN if there is no such memory, or a code: TACH_ERR_TOOMANY if a limit is
 * used up. */
int tach__remote_get(struct tach__remote *r, const void *at, void *to, size_t size);
/* Waits within the limit. */
void tach__remote_sleep(struct tach__remote *r, long ns);
/* Call it before allocating for remote data: 0, or TACH_ERR_TOOMANY. */
int tach__remote_reserve(struct tach__remote *r, size_t size);
/* Copies a remote string to the arena; a remote NULL becomes "". NULL: the reason is in
 * `failed`; 0 there: out of memory here. */
const char *tach__remote_text(struct tach__remote *r, const char *at);
/* Replaces invalid numbers, and numbers too large to be a sum, by 0. n numbers. */
void tach__remote_finite(double *v, size_t n);

/* ---- remote_set.c: sets, rows and sites, which never change once they exist ---- */

/* A set with the same names and metrics; free it with tach_set_free. */
int tach__remote_set(struct tach__remote *r, const struct tach_set *at, struct tach_set **out);
/* Totals of ended threads, read at once: remote rows with remote pointers. */
struct tach__remote_rows {
	char *base;
	size_t size;
	uint32_t stride, count, limit;
};
/*
 * Reads rows; stride and count of the copy must be set. Free its pages with tach__pages_free.
 */
int tach__remote_rows_read(struct tach__remote *r, const struct tach__rows *there,
			   uint32_t nsites, struct tach__remote_rows *copy);
/* Converts copied rows to local ones. Also reads their histograms and worst entries, unless the
 * rows have some already. */
int tach__remote_rows_own(struct tach__remote *r, const struct tach__config *config,
			  const struct tach__remote_rows *copy, struct tach__rows *rows,
			  int with_histograms);
/* Reads the remote histograms `at` into ours. */
int tach__remote_histograms(struct tach__remote *r, uint32_t *to, const uint32_t *at,
			    uint32_t sums);
/* Reads a site, with its strings in the arena; 0, or as above. */
int tach__remote_site(struct tach__remote *r, struct tach__site *const *by_id, uint32_t id,
		      struct tach__site *out);

/* ---- remote_threads.c ---- */

/* A live thread of the set in use, from the list. */
struct tach__remote_thread {
	const struct tach__thread *at;
	const struct tach__hot *hot;
	uint64_t state;
};
/*
 * Adds its slots to `rows`. `config` has the number of counters of rows; only ids below nsites.
 * *stale counts slots without a consistent copy. TACH__REMOTE_AGAIN: the thread ended in the
 * meantime, and `rows` may contain a part of it.
 */
int tach__remote_thread(struct tach__remote *r, const struct tach__remote_thread *thread,
			struct tach__config *config, struct tach__rows *rows, uint32_t nsites,
			uint64_t *stale);

/* ---- remote_live.c: live threads, each read once while others begin and end ---- */

struct tach__remote_part;
struct tach__remote_live {
	struct tach__remote *remote;
	struct tach__remote_part *part,
		*next; /* from the last list, and from the one in progress */
	uint32_t n, nnext;
	struct tach__rows rows; /* sum over threads without separate rows */
	uint64_t kept;		/* bytes of separate rows */
};

int tach__remote_live_begin(struct tach__remote_live *l, struct tach__remote *r,
			    uint32_t count);
void tach__remote_live_free(struct tach__remote_live *l);
/* Begins a list; adds a thread to it, at most TACH__REMOTE_THREADS. */
void tach__remote_live_list(struct tach__remote_live *l);
void tach__remote_live_put(struct tach__remote_live *l,
			   const struct tach__remote_thread *thread);
/* Ends a list. TACH__REMOTE_AGAIN: an ended thread cannot be removed, so start again. */
int tach__remote_live_follow(struct tach__remote_live *l);
/* Reads the new threads. TACH__REMOTE_AGAIN: too many ended first; make a new list. */
int tach__remote_live_read(struct tach__remote_live *l, struct tach__config *config,
			   uint32_t nsites, uint32_t *ended);
/* Adds them to rows. *stale counts their slots without a consistent copy. */
int tach__remote_live_add(struct tach__remote_live *l, struct tach__rows *rows,
			  uint64_t *stale);

/* ---- remote_worst.c ---- */

/* Adds the remote entries `at` to the row's entries. record: the thread of all entries, with
 * number and name; NULL: each entry has its own. */
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
