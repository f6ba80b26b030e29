/* SPDX-License-Identifier: MIT */
/*
 * Slots of a thread in another process: the slots that it entered, their pointers, and no data
 * of another thread.
 */
#include <math.h>
#include <stdlib.h>
#include "tests/unit/snapshot/slots_there.h"

static void entered_slots_are_read(void)
{
	static const uint32_t ids[] = {FIRST, FIRST + 1, 62, 63, 64, 65, 100, 127};
	unsigned reads;

	begin();
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		enter(ids[i]);
	/* Slots of calibration, and a slot that belongs to another id now. */
	enter(FIRST - 1);
	enter(70);
	tach__table(hot)[70] = slot_of(71);
	CHECK(take() == 0 && stale == 0);
	for (uint32_t id = 0, n = 0; id < 128; id++) {
		int is = n < sizeof ids / sizeof *ids && ids[n] == id;

		n += (uint32_t)is;
		CHECK(is ? is_row(id) : !tach__row_is_used(tach__rows_at(&rows, id)), "%d",
		      (int)id);
	}
	/* Reads: the record, a table, three copies of each chunk, and the state. */
	reads = there_reads;
	CHECK(reads == 1 + 2 * 4 + 1, "%u", reads);
	CHECK(made_sums == COUNT + 1 && freed_sums == COUNT + 1 && freed_size == 3 * CHUNK);
	CHECK(nrested == 0);
	end();
	/* Sites beyond the known ones have no rows. */
	begin();
	enter(FIRST);
	enter(99);
	enter(100);
	CHECK(tach__remote_thread(&r, &thread, &config, &rows, 100, &stale) == 0);
	CHECK(is_row(FIRST) && is_row(99) && !tach__row_is_used(tach__rows_at(&rows, 100)));
	end();
	/* All bytes that are read of a chunk belong to slots. */
	begin();
	enter(64);
	CHECK(take() == 0 && there_reads == 1 + 1 + 4 + 1 && is_row(64));
	end();
	/* The memory contains only the slots from the first to the last. */
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
	/* No chunk beyond the maximum number is read. */
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

/* ---- the memory to which a slot's pointers point ---- */

static void pointers_of_slots_are_replaced(void)
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
	sampling.square[1] = INFINITY;
	sampling.square[COUNT] = 5;
	table[64] = THERE_ELSEWHERE(2);
	for (unsigned n = 0; n == 0 || n <= reads; n++) {
		struct tach__slot *s = slot_of(64);

		begin();
		enter(64);
		config.worst = 2;
		/* The memory can be accessed by simulated reads only. */
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
		if (n == 0) {
			r.memory = TACH__REMOTE_MEMORY;
			CHECK(take() == TACH_ERR_TOOMANY);
			there_reads = 0;
			r.memory = 0;
		}
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
		CHECK(row->cell[0].square == 3 && row->cell[1].square == 0 &&
		      row->cell[COUNT].square == 5);
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

/* Entries use the cost of either kind of pair, for any content of `fenced`. */
static void fenced_or_not(void)
{
	static const uint32_t fenced[] = {0, 1, 8};

	for (int i = 0; i < 3; i++) {
		begin();
		enter(64);
		slot_of(64)->fenced = fenced[i];
		record.overhead.empty[0][0][1] = 0.25;
		record.overhead.empty[1][0][1] = 0.5;
		CHECK(take() == 0);
		CHECK(tach__rows_at(&rows, 64)->cell[1].overhead[0] == (i ? 532 : 266));
		end();
	}
}

/* A cost that is not a number, or is impossible, becomes 0. */
static void invalid_costs_become_0(void)
{
	const double costs[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300};

	for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
		begin();
		enter(64);
		record.overhead.empty[0][0][0] = costs[i];
		record.overhead.empty[0][0][1] = 0.25;
		CHECK(take() == 0);
		CHECK(tach__rows_at(&rows, 64)->cell[0].overhead[0] == 0 &&
			      tach__rows_at(&rows, 64)->cell[1].overhead[0] == 266,
		      "%d", (int)i);
		end();
	}
}

/*
 * A slot's id may be any number: if the table has no place for it, the slot has no worst
 * entries.
 */
static void invalid_ids_have_no_worst_entries(void)
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
	/* If only the clock counts, slots are smaller, but have the usual distance. */
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
	int exact = 0;

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
	/* The distance equals the copied size, if that is allowed. */
	for (uint32_t count = 0; count <= TACH_COUNTERS_MAX; count++) {
		size_t copied = offsetof(struct tach__slot, word) +
				8 * (2 * TACH__PART_WORDS(count) + TACH__CHILDREN_WORDS(count));

		record.count = config.count = count;
		record.stride = config.stride = (uint32_t)copied;
		CHECK(take() == (copied % 64 ? TACH__REMOTE_AGAIN : 0), "%u", count);
		exact += copied % 64 == 0;
	}
	CHECK(exact > 0);
	end();
}

/* Both allocations fail, one after the other. */
static void no_memory(void)
{
	for (int i = 0; i < 2; i++) {
		begin();
		enter(64);
		histograms_fail = i == 0;
		pages_fail = i == 1;
		CHECK(take() == TACH_ERR_NOMEM && there_reads == 1, "%d", i);
		CHECK((freed_sums != 0) == (i == 1) && (freed_size != 0) == (i == 0));
		end();
	}
}

/* The record belongs to another thread now, or another level is open. */
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
	CASE(entered_slots_are_read);
	CASE(chunks);
	CASE(overflows);
	CASE(pointers_of_slots_are_replaced);
	CASE(fenced_or_not);
	CASE(invalid_costs_become_0);
	CASE(invalid_ids_have_no_worst_entries);
	CASE(records);
	CASE(strides);
	CASE(no_memory);
	CASE(the_same_thread);
	return check_done();
}
