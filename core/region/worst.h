/* SPDX-License-Identifier: MIT */
/* Worst entries: for each region, the few entries with the greatest value of a quantity. A
 * thread keeps its own, in pages that are made with the slot. A row has the worst entries of
 * several threads. */
#ifndef TACH_CORE_REGION_WORST_H
#define TACH_CORE_REGION_WORST_H

#include "core/region/edges.h"

enum { TACH__WORST_MOST = 64 };

struct tach__kept {
	uint64_t key;	/* the value of the quantity */
	uint64_t begun; /* the region clock */
	uint64_t tag, flags;
	uint64_t parent; /* id of the enclosing region; below TACH__SITE_FIRST: no region */
	uint64_t
		thread; /* the thread and its name: unknown until the entry is added to a row */
	char name[16];
	uint64_t sum[]; /* without the cost of measuring */
};

struct tach__worst {
	uint64_t seq;	 /* odd while entries are written, as in a slot */
	uint64_t bar;	 /* entries with a smaller value are not checked */
	uint64_t least;	 /* entries are kept only if their value is above this */
	uint64_t missed; /* entries of handlers that ran during a write */
	uint64_t n;
	uint32_t most, sums; /* maximum number of entries, and sums of each */
	uint64_t word[];
};

size_t tach__worst_size(uint32_t most, uint32_t sums); /* in bytes: whole pages */
struct tach__worst *tach__worst_make(uint32_t most, uint32_t sums);
void tach__worst_free(struct tach__worst *worst);
struct tach__kept *tach__worst_at(const struct tach__worst *worst, uint64_t i);

/* The worst entries of a thread, by id. A pointer is NULL without memory, or if none are kept.
 */
struct tach__thread;
void tach__worst_open(struct tach__thread *record);
void tach__worst_slot(struct tach__thread *record, uint32_t id);
void tach__worst_name(struct tach__thread *record);  /* the calling thread's current name */
void tach__worst_clear(struct tach__thread *record); /* for the next thread */

/* Call it for an entry that was added to its slot. It takes the same number of instructions for
 * each entry that is not kept. */
void tach__worst_add(struct tach__hot *self, const struct tach_region_mark *mark,
		     const struct tach__slot *slot, const uint64_t *delta,
		     const uint64_t inside[2], uint32_t flags, int fenced);
/* Keeps a whole task; `sum` is without the cost of measuring. Returns 1 if it is kept. */
int tach__worst_keep(const struct tach__thread *record, uint32_t id, uint64_t begun,
		     uint64_t number, uint32_t flags, const uint64_t *sum);
/* Copies a thread's entries for a row. Returns 0 without memory, or if the write of an entry
 * took too long, because its thread lost its processor. */
int tach__worst_take(struct tach__worst **to, const struct tach__thread *record, uint32_t id);
/* Adds a copy of a thread's entries. Without a record, adds the entries of a row. */
void tach__worst_merge(struct tach__worst *row, const struct tach__worst *w,
		       const struct tach__thread *record);
struct tach__worst *tach__worst_copy(const struct tach__worst *from);

/* Stores the option `worst` in the set's configuration. Returns 0, TACH_ERR_INVAL, or
 * TACH_ERR_NOTFOUND if the set has no such quantity; then entries are compared by time. */
struct tach__config;
int tach__worst_choose(struct tach__config *config, const char *text, struct tach_error *err);
/* Parses "8" or "8:cycles". Returns the number, at most TACH__WORST_MOST, or 0 if it is
 * invalid. Sets *by to the quantity, "" for time. */
uint32_t tach__worst_parse(const char *text, const char **by);

#endif
