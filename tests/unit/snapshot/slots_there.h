/* SPDX-License-Identifier: MIT */
/* A simulated thread of another process, with slots in two chunks. */
#ifndef TESTS_UNIT_SNAPSHOT_SLOTS_THERE_H
#define TESTS_UNIT_SNAPSHOT_SLOTS_THERE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tach.h>
#include "core/region/region.h"
#include "tests/check.h"
#include "tests/unit/snapshot/there.h"

static long rested[64];
static unsigned nrested;

static inline void sim_rest(struct tach__remote *r, long ns)
{
	CHECK(r && nrested < 64);
	rested[nrested++ % 64] = ns;
}

static uint32_t made_sums, freed_sums;
static size_t freed_size;
static int histograms_fail, pages_fail; /* 1: allocations fail */

static inline uint32_t *sim_histograms_make(uint32_t sums)
{
	made_sums = sums;
	return histograms_fail ? NULL : tach__histograms_make(sums);
}

static inline void *sim_pages(size_t size)
{
	return pages_fail ? NULL : tach__pages(size);
}

static inline void sim_histograms_free(uint32_t *histograms, uint32_t sums)
{
	freed_sums = histograms ? sums : 0;
	tach__histograms_free(histograms, sums);
}

static inline void sim_pages_free(void *pages, size_t size)
{
	freed_size = pages ? size : 0;
	tach__pages_free(pages, size);
}

#define tach__histograms_make sim_histograms_make
#define tach__histograms_free sim_histograms_free
#define tach__pages	      sim_pages
#define tach__pages_free      sim_pages_free
#define tach__remote_sleep    sim_rest
#include "core/snapshot/remote_threads.c"

enum {
	COUNT = 2,
	FIRST = TACH__SITE_FIRST,
	STRIDE = (sizeof(struct tach__slot) + 63 +
		  8 * (2 * ((5 + 1 + COUNT + 1) & ~1) + 2 * ((2 + 1 + COUNT + 1) & ~1)) +
		  sizeof(struct tach__inexact)) /
		 64 * 64,
	CHUNK = TACH__CHUNK_SLOTS * STRIDE,
	SITES = 140
};

static char hot_pages[TACH__RECORD_AT] __attribute__((aligned(4096)));
static struct tach__hot *const hot = (struct tach__hot *)hot_pages;
static struct tach__thread record;
static char chunk[2][CHUNK] __attribute__((aligned(64)));
static char overflow[STRIDE] __attribute__((aligned(64)));
static struct tach__config config;
static struct tach__rows rows;
static struct tach__remote r;
static struct tach__remote_thread thread;
static uint64_t stale;

static inline struct tach__slot *slot_of(uint32_t id)
{
	return (struct tach__slot *)(void *)(chunk[id / 64] + (size_t)(id % 64) * STRIDE);
}

/* A slot's number of calls depends on its id. */
static inline void enter(uint32_t id)
{
	struct tach__slot *s = slot_of(id);

	tach__table(hot)[id] = s;
	s->seq = 2;
	s->id = id;
	tach__part(s, COUNT, 0)->calls = 1000 + id;
	tach__part(s, COUNT, 0)->ceiling = TACH__CEILING_OPEN;
	for (uint32_t i = 0; i <= COUNT; i++)
		tach__part(s, COUNT, 0)->sum[i] = 10 * id + i;
}

static inline void begin(void)
{
	there_forget();
	r = there_remote();
	nrested = 0;
	stale = 0;
	histograms_fail = pages_fail = 0;
	memset(hot_pages, 0, sizeof hot_pages);
	memset(chunk, 0, sizeof chunk);
	memset(overflow, 0, sizeof overflow);
	memset(&record, 0, sizeof record);
	memset(&config, 0, sizeof config);
	config.count = COUNT;
	config.stride = STRIDE;
	record = (struct tach__thread){.hot = hot,
				       .count = COUNT,
				       .stride = STRIDE,
				       .nchunks = 2,
				       .tid = 77,
				       .comm = "theirs",
				       .chunk = {chunk[0], chunk[1]}};
	hot->state = TACH__STATE(5, 3, 2);
	thread = (struct tach__remote_thread){.at = &record, .hot = hot, .state = hot->state};
	there(&record, sizeof record);
	there(&hot->state, sizeof hot->state);
	/* Makes the table's two chunks readable. */
	there(tach__table(hot), 2 * TACH__CHUNK_SLOTS * sizeof(void *));
	for (int c = 0; c < 2; c++)
		there(chunk[c], CHUNK);
	there(overflow, STRIDE);
	tach__rows_init(&rows, COUNT);
}

static inline int take(void)
{
	return tach__remote_thread(&r, &thread, &config, &rows, SITES, &stale);
}

static inline void end(void)
{
	tach__rows_free(&rows);
}

static inline int is_row(uint32_t id)
{
	const struct tach__row *row = tach__rows_at(&rows, id);
	int same = row->calls == 1000 + id && row->outermost == 1000 + id &&
		   row->threads == 1 && row->flags == 0;

	for (uint32_t i = 0; i <= COUNT; i++)
		same &= row->cell[i].inclusive == 10 * id + i;
	return same;
}

#endif
