/* SPDX-License-Identifier: MIT */
/*
 * The registry of another process, read from its memory. That is whatever the other process
 * makes of it: torn, stale, freed, or made to harm. Nothing of it is taken for a size, an index
 * or an end before it was looked at, and no pointer of it is ever followed but by `read`.
 */
#ifndef TACH_CORE_SNAPSHOT_REMOTE_H
#define TACH_CORE_SNAPSHOT_REMOTE_H

#include "core/base/arena.h"
#include "core/region/region.h"

struct tach__remote {
	/* 0 or negated errno; EFAULT: there is no such memory. A pointer, for tests. */
	int (*read)(void *context, const void *at, void *to, size_t size);
	void *context;
	int failed;		  /* why there was no string */
	struct tach__arena arena; /* of strings */
	/*
	 * What one look may take in all, however often it begins anew: bytes and calls that are
	 * left, time and memory that were used. The other process may be made to harm.
	 */
	uint64_t left, calls, rested, memory;
	double until; /* this thread's processor time, s */
};

enum {
	TACH__REMOTE_AGAIN = 1,		/* it changed meanwhile */
	TACH__REMOTE_THREADS = 1 << 16, /* more are not believed */
	TACH__REMOTE_TEXT = 1024,	/* what goes beyond that is cut off */
};
#define TACH__REMOTE_BYTES  (UINT64_C(8) << 30)
#define TACH__REMOTE_CALLS  (UINT64_C(1) << 21)
#define TACH__REMOTE_MEMORY (UINT64_C(192) << 20) /* histograms and worst entries */
#define TACH__REMOTE_RESTS  UINT64_C(1000000000)  /* ns */
#define TACH__REMOTE_CPU    2.0			  /* s of this thread's processor time */

/* An address there, whatever it is: pointers of ours may not be odd, nor wrap around. */
static inline const void *tach__remote_at(const void *base, size_t offset)
{
	return (const void *)((uintptr_t)base + offset);
}

/* ---- remote.c ---- */

/* Gives a look all that it may take. */
void tach__remote_begin(struct tach__remote *r);
/* 0, TACH__REMOTE_AGAIN where there is no such memory, or a code: TACH_ERR_TOOMANY, the look
 * has used up what it may take. */
int tach__remote_get(struct tach__remote *r, const void *at, void *to, size_t size);
/* Waits, as long as it may. */
void tach__remote_rest(struct tach__remote *r, long ns);
/* Before so much is allocated for what is there: 0, or TACH_ERR_TOOMANY. */
int tach__remote_room(struct tach__remote *r, size_t size);
/* A string there, as one of the arena's; NULL there is "". NULL: why is in `failed`; 0: there
 * is no memory here. */
const char *tach__remote_text(struct tach__remote *r, const char *at);
/* n numbers from there: what is none, or too large for sums to be one, becomes 0. */
void tach__remote_finite(double *v, size_t n);

/* ---- remote_set.c: what is counted and where, which does not change once it is there ---- */

/* A set of the same names and metrics, which tach_set_free frees. */
int tach__remote_set(struct tach__remote *r, const struct tach_set *at, struct tach_set **out);
/* Totals of ended threads as they were read at once: rows of theirs, with pointers of theirs.
 */
struct tach__remote_rows {
	char *base;
	size_t size;
	uint32_t stride, count, limit;
};
/* Into a copy whose stride and count say what rows are read; tach__pages_free its pages. */
int tach__remote_rows_read(struct tach__remote *r, const struct tach__rows *there,
			   uint32_t nsites, struct tach__remote_rows *copy);
/* Copied rows become ours; their histograms and worst entries too, or those that the rows have
 * stay. */
int tach__remote_rows_own(struct tach__remote *r, const struct tach__config *config,
			  const struct tach__remote_rows *copy, struct tach__rows *rows,
			  int with_histograms);
/* The histograms that `at` points to there, into ours. */
int tach__remote_histograms(struct tach__remote *r, uint32_t *to, const uint32_t *at,
			    uint32_t sums);
/* The site, with strings of the arena; 0, or as above. */
int tach__remote_site(struct tach__remote *r, struct tach__site *const *by_id, uint32_t id,
		      struct tach__site *out);

/* ---- remote_threads.c ---- */

/* A live thread of the set in use, as the list had it. */
struct tach__remote_thread {
	const struct tach__thread *at;
	const struct tach__hot *hot;
	uint64_t state;
};
/*
 * Adds its slots to `rows`, whose number of counters `config` has; ids below nsites. *stale:
 * slots that no whole copy was to be had of. TACH__REMOTE_AGAIN: it ended meanwhile, and `rows`
 * may have a part of it.
 */
int tach__remote_thread(struct tach__remote *r, const struct tach__remote_thread *thread,
			struct tach__config *config, struct tach__rows *rows, uint32_t nsites,
			uint64_t *stale);

/* ---- remote_live.c: the live threads, each read once while others come and go ---- */

struct tach__remote_part;
struct tach__remote_live {
	struct tach__remote *remote;
	struct tach__remote_part *part,
		*next; /* of the last list, and of the one that is being made */
	uint32_t n, nnext;
	struct tach__rows rows; /* of threads whose rows are not kept apart */
	uint64_t kept;		/* bytes of those that are */
};

int tach__remote_live_begin(struct tach__remote_live *l, struct tach__remote *r,
			    uint32_t count);
void tach__remote_live_free(struct tach__remote_live *l);
/* A list begins; a thread of it, at most TACH__REMOTE_THREADS. */
void tach__remote_live_list(struct tach__remote_live *l);
void tach__remote_live_put(struct tach__remote_live *l,
			   const struct tach__remote_thread *thread);
/* The list is whole. TACH__REMOTE_AGAIN: an ended thread cannot be taken out; begin anew. */
int tach__remote_live_follow(struct tach__remote_live *l);
/* Reads those that were not read. TACH__REMOTE_AGAIN: so many ended before; make a new list. */
int tach__remote_live_read(struct tach__remote_live *l, struct tach__config *config,
			   uint32_t nsites, uint32_t *ended);
/* Adds them to rows, and their slots that no whole copy was to be had of to *stale. */
int tach__remote_live_add(struct tach__remote_live *l, struct tach__rows *rows,
			  uint64_t *stale);

/* ---- remote_worst.c ---- */

/* Those that `at` points to there, beside those that the row has; record: of that thread, with
 * its number and name, or NULL: of several, and they have them. */
int tach__remote_worst(struct tach__remote *r, const struct tach__worst *at,
		       const struct tach__config *config, const struct tach__thread *record,
		       struct tach__row *row);

/* ---- remote_take.c ---- */

/* A snapshot of the registry that a beacon there names. */
struct tach_snapshot;
int tach__remote_take(struct tach__remote *r, const struct tach__beacon *beacon,
		      struct tach_snapshot **out, struct tach_error *err);

/* ---- remote_find.c ---- */

/* The beacon of the copy that has the regions of a process; 0, or a code and why. */
int tach__remote_find(struct tach__remote *r, int process, const struct tach__beacon **out,
		      struct tach_error *err);

#endif
