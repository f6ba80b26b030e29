/* SPDX-License-Identifier: MIT */
/*
 * Worst entries: of each region the few whose quantity was greatest. A thread keeps its own,
 * in pages made with the slot; rows have those of several threads.
 */
#ifndef TACH_CORE_REGION_WORST_H
#define TACH_CORE_REGION_WORST_H

#include "core/region/edges.h"

enum { TACH__WORST_MOST = 64 };

struct tach__kept {
	uint64_t key;	/* what they are compared by */
	uint64_t begun; /* the region clock */
	uint64_t tag, flags;
	uint64_t parent; /* id of the region around, below TACH__SITE_FIRST: none */
	uint64_t thread; /* and its name: not known until it goes to a row */
	char name[16];
	uint64_t sum[]; /* less what measuring them cost */
};

struct tach__worst {
	uint64_t seq;	 /* odd: under write, as a slot's */
	uint64_t bar;	 /* entries that are not above are not looked at */
	uint64_t least;	 /* what is not above is not kept */
	uint64_t missed; /* of handlers that came in between */
	uint64_t n;
	uint32_t most, sums; /* entries, and sums of each */
	uint64_t word[];
};

size_t tach__worst_size(uint32_t most, uint32_t sums); /* in bytes: of pages */
struct tach__worst *tach__worst_make(uint32_t most, uint32_t sums);
void tach__worst_free(struct tach__worst *worst);
struct tach__kept *tach__worst_at(const struct tach__worst *worst, uint64_t i);

/* A thread's, by id. NULL: no memory, or nothing is to be kept. */
struct tach__thread;
void tach__worst_open(struct tach__thread *record);
void tach__worst_slot(struct tach__thread *record, uint32_t id);
void tach__worst_name(struct tach__thread *record);  /* the calling thread's, as it is now */
void tach__worst_clear(struct tach__thread *record); /* for the next thread */

/* An entry that was added to its slot. As many instructions whatever it was, unless it is kept.
 */
void tach__worst_add(struct tach__hot *self, const struct tach_region_mark *mark,
		     const struct tach__slot *slot, const uint64_t *delta,
		     const uint64_t inside[2], uint32_t flags, int fenced);
/* A whole task, less what measuring took. */
void tach__worst_keep(const struct tach__thread *record, uint32_t id, uint64_t begun,
		      uint64_t number, uint32_t flags, const uint64_t *sum);
/*
 * Of a row: a thread's, which may be under write, for long if its thread has no processor. 0:
 * so it was, or there is no memory.
 */
int tach__worst_take(struct tach__worst **to, const struct tach__thread *record, uint32_t id);
/* A copy of a thread's, or, without one, of a row's. */
void tach__worst_merge(struct tach__worst *row, const struct tach__worst *w,
		       const struct tach__thread *record);
struct tach__worst *tach__worst_copy(const struct tach__worst *from);

/*
 * What the options say, into the set's configuration: 0, TACH_ERR_INVAL or, where the set has
 * no such quantity, TACH_ERR_NOTFOUND; then by time.
 */
struct tach__config;
int tach__worst_choose(struct tach__config *config, const char *text, struct tach_error *err);
/* "8", or "8:cycles": how many, at most TACH__WORST_MOST, and by what, "" for the time. 0: not
 * so. */
uint32_t tach__worst_parse(const char *text, const char **by);

#endif
