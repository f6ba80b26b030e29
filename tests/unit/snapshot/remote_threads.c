/* SPDX-License-Identifier: MIT */
/* Slots of a thread of another process: those it entered, each whole or said not to be, and
 * nothing that is not there. */
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

static int sim_rest(const struct timespec *t, struct timespec *left)
{
	CHECK(t->tv_sec == 0 && !left && nrested < 64);
	rested[nrested++ % 64] = t->tv_nsec;
	return 0;
}

static uint32_t made_sums, freed_sums;
static size_t freed_size;

static uint32_t *sim_histograms_make(uint32_t sums)
{
	made_sums = sums;
	return tach__histograms_make(sums);
}

static void sim_histograms_free(uint32_t *histograms, uint32_t sums)
{
	freed_sums = histograms ? sums : 0;
	tach__histograms_free(histograms, sums);
}

static void sim_pages_free(void *pages, size_t size)
{
	freed_size = pages ? size : 0;
	tach__pages_free(pages, size);
}

#define tach__histograms_make sim_histograms_make
#define tach__histograms_free sim_histograms_free
#define tach__pages_free      sim_pages_free
#define nanosleep	      sim_rest
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

static struct tach__slot *slot_of(uint32_t id)
{
	return (struct tach__slot *)(void *)(chunk[id / 64] + (size_t)(id % 64) * STRIDE);
}

/* It has its slot, with as many calls as its number tells. */
static void enter(uint32_t id)
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

static void begin(void)
{
	there_forget();
	r = there_remote();
	nrested = 0;
	stale = 0;
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
	/* Of the table what two chunks have. */
	there(tach__table(hot), 2 * TACH__CHUNK_SLOTS * sizeof(void *));
	for (int c = 0; c < 2; c++)
		there(chunk[c], CHUNK);
	there(overflow, STRIDE);
	tach__rows_init(&rows, COUNT);
}

static int take(void)
{
	return tach__remote_thread(&r, &thread, &config, &rows, SITES, &stale);
}

static void end(void)
{
	tach__rows_free(&rows);
}

static int is_row(uint32_t id)
{
	const struct tach__row *row = tach__rows_at(&rows, id);
	int same = row->calls == 1000 + id && row->outermost == 1000 + id &&
		   row->threads == 1 && row->flags == 0;

	for (uint32_t i = 0; i <= COUNT; i++)
		same &= row->cell[i].inclusive == 10 * id + i;
	return same;
}

static void those_entered(void)
{
	static const uint32_t ids[] = {FIRST, FIRST + 1, 62, 63, 64, 65, 100, 127};
	unsigned reads;

	begin();
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		enter(ids[i]);
	/* Calibration's, and one whose slot is another's now. */
	enter(FIRST - 1);
	enter(70);
	tach__table(hot)[70] = slot_of(71);
	CHECK(take() == 0 && stale == 0);
	for (uint32_t id = 0, n = 0; id < 128; id++) {
		int is = n < sizeof ids / sizeof *ids && ids[n] == id;

		n += (uint32_t)is;
		CHECK(is ? is_row(id) : !tach__row_used(tach__rows_at(&rows, id)), "%d",
		      (int)id);
	}
	/* The record, a table and three copies of each chunk, and the state. */
	reads = there_reads;
	CHECK(reads == 1 + 2 * 4 + 1, "%u", reads);
	CHECK(made_sums == COUNT + 1 && freed_sums == COUNT + 1 && freed_size == 3 * CHUNK);
	CHECK(nrested == 0);
	end();
	/* Beyond the sites that are known there are none. */
	begin();
	enter(FIRST);
	enter(99);
	enter(100);
	CHECK(tach__remote_thread(&r, &thread, &config, &rows, 100, &stale) == 0);
	CHECK(is_row(FIRST) && is_row(99) && !tach__row_used(tach__rows_at(&rows, 100)));
	end();
	/* No slot of a chunk is read in vain. */
	begin();
	enter(64);
	CHECK(take() == 0 && there_reads == 1 + 1 + 4 + 1 && is_row(64));
	end();
	/* No more than from the first to the last is there. */
	for (uint32_t id = 0; id < 64; id += 21) {
		begin();
		there_n -= 3;
		there(slot_of(64 + id), STRIDE);
		enter(64 + id);
		CHECK(take() == 0 && is_row(64 + id), "%d", (int)id);
		end();
		begin();
		there_n -= 3;
		there(slot_of(64 + id / 2), (id - id / 2 + 1) * STRIDE);
		enter(64 + id / 2);
		enter(64 + id);
		CHECK(take() == 0 && is_row(64 + id) && is_row(64 + id / 2), "%d", (int)id);
		end();
	}
}

static void chunks(void)
{
	begin();
	enter(64);
	record.nchunks = 1;
	CHECK(take() == 0 && there_reads == 1 + 1 + 1);
	record.nchunks = 3;
	CHECK(take() == TACH__REMOTE_AGAIN);
	/* Of more than there may be nothing is looked at. */
	there_reads = 0;
	there_n = 2;
	there(tach__table(hot), TACH__CHUNKS * TACH__CHUNK_SLOTS * sizeof(void *));
	record.nchunks = TACH__CHUNKS + 9;
	for (uint32_t c = 2; c < TACH__CHUNKS; c++)
		record.chunk[c] = chunk[1];
	tach__table(hot)[64] = NULL;
	CHECK(take() == 0 && there_reads == 1 + TACH__CHUNKS + 1, "%u", there_reads);
	end();
}

static void overflows(void)
{
	static const struct {
		uint32_t id;
		int is;
	} cases[] = {{FIRST, 1}, {SITES - 1, 1}, {0, 0}, {FIRST - 1, 0}, {SITES, 0}};
	struct tach__slot *s = (struct tach__slot *)(void *)overflow;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int at = 0; at <= TACH__OVERFLOWS; at++) {
			const struct tach__row *row;

			begin();
			s->seq = 6;
			tach__part(s, COUNT, 0)->calls = 9;
			tach__part(s, COUNT, 0)->ceiling = TACH__CEILING_OPEN;
			record.overflow[at] = s;
			record.overflow_id[at] = cases[i].id;
			CHECK(take() == 0);
			row = tach__rows_at(&rows, cases[i].id);
			CHECK(row->calls == (cases[i].is && at < TACH__OVERFLOWS ? 9 : 0),
			      "%d at %d", (int)cases[i].id, at);
			end();
		}
}

/* ---- what changes between reads ---- */

static unsigned odd_from, even_from, moves_from, moves_to, moves_every, moves_at;

static void changes(unsigned nth)
{
	struct tach__slot *s = slot_of(64);

	if (odd_from && nth >= odd_from)
		s->seq |= 1;
	if (even_from && nth >= even_from)
		s->seq &= ~(uint64_t)1;
	if (moves_every && nth >= moves_from && nth < moves_to && nth % moves_every == moves_at)
		s->seq += 2;
}

/* Words of the second copy are those between the sequences of the others. */
static void words_change(unsigned nth)
{
	tach__part(slot_of(64), COUNT, 0)->calls = nth % 3 == (moves_at + 1) % 3 ? 1064 : 5;
}

enum { BEFORE = 1 + 1 + 1, BULK = BEFORE + 1, SINGLE = BULK + 3, TIMES = 68 };

static void under_write(void)
{
	static const struct {
		unsigned odd, even, every, at, from, to, reads;
		int whole;
	} cases[] = {
		/* Never whole. */
		{1, 0, 0, 0, 0, 0, SINGLE - 1 + 3 * TIMES + 1, 0},
		/* From the second or the third copy of the chunk on it is. */
		{1, BULK + 1, 0, 0, 0, 0, SINGLE - 1 + 3 + 1, 1},
		{1, BULK + 2, 0, 0, 0, 0, SINGLE - 1 + 3 + 1, 1},
		{1, BULK, 0, 0, 0, 0, SINGLE, 1},
		/* Another one in the second, or the third. */
		{0, 0, 1000, BULK + 1, 1, ~0u, SINGLE - 1 + 3 + 1, 1},
		{0, 0, 1000, BULK + 2, 1, ~0u, SINGLE - 1 + 3 + 1, 1},
		/* Then singly: before the second, or the third of each three; up to some try.
		 */
		{0, 0, 3, (BULK + 1) % 3, 1, ~0u, SINGLE - 1 + 3 * TIMES + 1, 0},
		{0, 0, 3, (BULK + 2) % 3, 1, ~0u, SINGLE - 1 + 3 * TIMES + 1, 0},
		{0, 0, 3, (BULK + 2) % 3, 1, SINGLE + 3 * 9, SINGLE - 1 + 3 * 10 + 1, 1},
		{1, SINGLE + 3 * 20, 0, 0, 0, 0, SINGLE - 1 + 3 * 21 + 1, 1},
		/* The last one. */
		{1, SINGLE + 3 * (TIMES - 1), 0, 0, 0, 0, SINGLE - 1 + 3 * TIMES + 1, 1},
		{1, SINGLE + 3 * (TIMES - 1) + 1, 0, 0, 0, 0, SINGLE - 1 + 3 * TIMES + 1, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tach__row *row;

		begin();
		enter(64);
		enter(70);
		odd_from = cases[i].odd;
		even_from = cases[i].even;
		moves_every = cases[i].every;
		moves_at = cases[i].at;
		moves_from = cases[i].from;
		moves_to = cases[i].to;
		there_before = changes;
		CHECK(take() == 0 && there_reads == cases[i].reads, "%d: %u, not %u", (int)i,
		      there_reads, cases[i].reads);
		row = tach__rows_at(&rows, 64);
		CHECK(cases[i].whole ? is_row(64)
				     : row->calls == 0 && row->flags == TACH_FLAG_STALE,
		      "%d: %d", (int)i, (int)row->calls);
		CHECK(stale == !cases[i].whole && is_row(70));
		end();
	}
}

static void words_of_the_second(void)
{
	for (int singly = 0; singly < 2; singly++) {
		begin();
		enter(64);
		moves_at = BULK % 3;
		if (singly)
			tach__table(hot)[64] = NULL;
		record.overflow[0] = slot_of(64);
		record.overflow_id[0] = singly ? 64 : 0;
		there_before = words_change;
		CHECK(take() == 0);
		CHECK(is_row(64));
		end();
	}
}

/* With rests that grow, where its writer has no processor: 0.2 s in all. */
static void rests(void)
{
	long all = 0;

	begin();
	enter(64);
	odd_from = 1;
	even_from = moves_every = 0;
	there_before = changes;
	CHECK(take() == 0 && stale == 1 && nrested == TIMES - 48, "%u", nrested);
	for (unsigned i = 0; i < nrested; i++) {
		CHECK(rested[i] == 100000L << i / 2, "%u: %ld ns", i, rested[i]);
		all += rested[i];
	}
	CHECK(all > 200000000 && all < 210000000);
	end();
	/* The one that would be the first rest. */
	begin();
	enter(64);
	even_from = SINGLE + 3 * 47;
	there_before = changes;
	CHECK(take() == 0 && stale == 0 && nrested == 0);
	end();
}

/* Whichever read it is that finds nothing there. */
static void it_is_not_there(void)
{
	unsigned reads;

	for (int gone = 0; gone < 2; gone++)
		for (int singly = 0; singly < 2; singly++) {
			begin();
			enter(FIRST);
			enter(64);
			odd_from = 1;
			even_from = singly ? SINGLE + 3 * 3 : 1;
			there_before = changes;
			CHECK(take() == 0);
			reads = there_reads;
			end();
			for (unsigned n = 1; n <= reads; n++) {
				begin();
				enter(FIRST);
				enter(64);
				there_before = changes;
				there_fails = n;
				there_code = gone ? -ESRCH : -EFAULT;
				CHECK(take() == (gone ? -ESRCH : TACH__REMOTE_AGAIN) &&
					      there_reads == n,
				      "%u: %u", n, there_reads);
				end();
			}
		}
}

/* ---- what a slot points to ---- */

static void what_slots_point_to(void)
{
	static struct tach__sampling sampling;
	static struct tach__worst *table[128];
	uint32_t *histograms = calloc(1, tach__histograms_size(COUNT + 1));
	struct tach__worst *worst = tach__worst_make(2, COUNT + 1);
	const struct tach__row *row;
	unsigned reads = 0;

	histograms[tach__histograms_size(COUNT + 1) / 4 - 1] = 4;
	worst->n = 1;
	tach__worst_at(worst, 0)->key = 9;
	sampling.square[0] = 3;
	sampling.square[COUNT] = 5;
	table[64] = THERE_ELSEWHERE(2);
	for (unsigned n = 0; n == 0 || n <= reads; n++) {
		struct tach__slot *s = slot_of(64);

		begin();
		enter(64);
		config.worst = 2;
		/* Nothing of it may be looked at but through the reads. */
		s->sampling = THERE_ELSEWHERE(0);
		s->histograms = THERE_ELSEWHERE(1);
		s->fenced = 8;
		s->skipped = 7;
		record.worst = table;
		record.inexact = 1;
		record.steps[COUNT - 1] = 2;
		record.overhead.empty[1][0][1] = 0.5;
		record.overhead.empty[1][0][0] = INFINITY;
		record.overhead.empty[1][1][0] = -1e300;
		record.overhead.passed[1][COUNT] = 1e300;
		record.overhead.pair[0][0][0] = NAN;
		tach__inexact(s, COUNT)->inclusive = 30;
		there_as(s->sampling, &sampling, sizeof sampling);
		there_as(s->histograms, histograms, tach__histograms_size(COUNT + 1));
		there(&table[64], sizeof *table);
		there_as(table[64], worst, tach__worst_size(2, COUNT + 1));
		there_fails = n;
		if (n) {
			CHECK(take() == -ESRCH && there_reads == n, "%u", n);
			end();
			continue;
		}
		CHECK(take() == 0);
		reads = there_reads;
		row = tach__rows_at(&rows, 64);
		CHECK(row->calls == 1064 && row->skipped == 7 && row->flags == 0);
		CHECK(row->cell[0].square == 3 && row->cell[COUNT].square == 5);
		CHECK(row->histograms && row->histograms != histograms &&
		      row->histograms[tach__histograms_size(COUNT + 1) / 4 - 1] == 4);
		CHECK(row->worst && row->worst->n == 1 &&
		      tach__worst_at(row->worst, 0)->thread == 77 &&
		      strcmp(tach__worst_at(row->worst, 0)->name, "theirs") == 0);
		CHECK(row->cell[COUNT].error[0] == 60 && row->cell[1].error[0] == 0);
		CHECK(row->cell[1].overhead[0] == 532 && row->cell[0].overhead[0] == 0 &&
		      row->cell[0].error[0] == 0);
		end();
	}
	tach__worst_free(worst);
	free(histograms);
}

/* A slot's own id may be any: what has no place in the table of worst entries has none. */
static void ids_that_are_none(void)
{
	static struct tach__worst *table[1];

	begin();
	enter(64);
	config.worst = 2;
	record.worst = table;
	slot_of(64)->id = TACH__CHUNKS * TACH__CHUNK_SLOTS;
	CHECK(take() == 0 && tach__rows_at(&rows, 64)->calls == 1064);
	slot_of(64)->id--;
	CHECK(take() == TACH__REMOTE_AGAIN);
	end();
}

/* ---- the record ---- */

static void records(void)
{
	begin();
	enter(64);
	record.stride += 64;
	CHECK(take() == TACH__REMOTE_AGAIN && there_reads == 1);
	record.stride -= 64;
	record.count = COUNT + 1;
	CHECK(take() == TACH__REMOTE_AGAIN && there_reads == 2);
	record.count = COUNT - 1;
	CHECK(take() == TACH__REMOTE_AGAIN && there_reads == 3);
	record.count = COUNT;
	record.hot = (struct tach__hot *)(void *)chunk[0];
	CHECK(take() == TACH__REMOTE_AGAIN && there_reads == 4);
	record.hot = hot;
	CHECK(take() == 0 && is_row(64));
	end();
	/* The clock alone: its slots are that small, as far apart as others. */
	begin();
	enter(64);
	record.count = 0;
	tach__part(slot_of(64), 0, 0)->sum[0] = 8;
	CHECK(take() == 0 && tach__rows_at(&rows, 64)->calls == 1064 &&
	      tach__rows_at(&rows, 64)->cell[0].inclusive == 8 &&
	      tach__rows_at(&rows, 64)->provenance[5] == 1064);
	end();
}

static void strides(void)
{
	size_t words = 2 * TACH__PART_WORDS(COUNT) + TACH__CHILDREN_WORDS(COUNT);
	uint32_t least = (uint32_t)((sizeof(struct tach__slot) + 8 * words + 63) / 64 * 64);
	uint32_t most = (uint32_t)((sizeof(union tach__slot_copy) + 63) / 64 * 64);
	const uint32_t bad[] = {0, 64, least - 64, least + 8, most + 64, 1u << 31};

	begin();
	record.nchunks = 0;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		record.stride = config.stride = bad[i];
		CHECK(take() == TACH__REMOTE_AGAIN, "%u", bad[i]);
	}
	record.stride = config.stride = least;
	CHECK(take() == 0);
	record.stride = config.stride = most;
	CHECK(take() == 0);
	end();
}

/* Another thread has the record now, or another level is open. */
static void the_same_thread(void)
{
	begin();
	enter(64);
	thread.state = TACH__STATE(5, 9, 70);
	CHECK(take() == 0);
	thread.state = TACH__STATE(6, 3, 2);
	CHECK(take() == TACH__REMOTE_AGAIN);
	end();
}

int main(void)
{
	CASE(those_entered);
	CASE(chunks);
	CASE(overflows);
	CASE(under_write);
	CASE(words_of_the_second);
	CASE(rests);
	CASE(it_is_not_there);
	CASE(what_slots_point_to);
	CASE(ids_that_are_none);
	CASE(records);
	CASE(strides);
	CASE(the_same_thread);
	return check_done();
}
