/* SPDX-License-Identifier: MIT */
/* The memory of a thread: how it is allocated, added to the totals, and used again. */
#include <string.h>
#include <unistd.h>
#include "core/region/region.h"
#include "tests/check.h"
#include "tests/ordered.h"
#include "tests/unit/region/locked.h"

/* The last store that has an order. */
static const void *stored_at;
static int stored_order;
static void ordered(const void *at, int order)
{
	stored_at = at;
	stored_order = order;
}

static struct {
	const char *at;
	size_t size;
} had[32];
static int had_now;
static int no_reserve, no_open;

static void *note(void *at, size_t size)
{
	for (int i = 0; at && i < 32; i++)
		if (!had[i].at) {
			had[i].at = at;
			had[i].size = size;
			had_now++;
			break;
		}
	return at;
}

static void *sim_reserve(size_t size)
{
	return no_reserve ? NULL : note(tach__pages_reserve(size), size);
}

static int sim_open(void *at, size_t size)
{
	return no_open ? -1 : tach__pages_open(at, size);
}

static void sim_free(void *at, size_t size)
{
	for (int i = 0; at && i < 32; i++)
		if (had[i].at == at) {
			CHECK(had[i].size == size, "%d, not %d", (int)size, (int)had[i].size);
			had[i].at = NULL;
			had_now--;
		}
	tach__pages_free(at, size);
}

/* Reserved memory costs nothing until it is used, in whole pages. */
static size_t hole[8][2];
static int holes;
static size_t wiped;
static const void *wiped_at;

static void sim_hole(void *at, size_t begin, size_t end)
{
	(void)at;
	hole[holes % 8][0] = tach__pages_round(begin);
	hole[holes++ % 8][1] = end;
}

static void sim_wiped(void *at, size_t size)
{
	wiped_at = at;
	wiped = size;
}

static int walked, dropped;
static struct tach__config config;
static void sim_drop(struct tach__config *of)
{
	CHECK(of == &config);
	dropped++;
}

/*
 * Rows are requested, and values are added to them, in some order; `of`: the ids of the added
 * values.
 */
static uint32_t rows_most, asked[64], of[64];
static int nasked, nof, no_rows;
static struct tach__row *sim_rows_at(struct tach__rows *rows, uint32_t id)
{
	static struct tach__row row[200];

	CHECK(rows == &config.rows && id < 200);
	asked[nasked++ % 64] = id;
	if (nasked == 1)
		rows_most = id;
	return no_rows ? NULL : &row[id];
}

static void sim_row_add(struct tach__row *row, const struct tach__slot *slot,
			const struct tach__thread *record)
{
	CHECK(row && record->config == &config);
	of[nof++ % 64] = (uint32_t)slot->lost;
}

static const struct tach__thread *cleared[8];
static int clears;
static void sim_clear(struct tach__thread *record)
{
	cleared[clears++ % 8] = record;
	tach__slots_clear(record);
}

/* If rows are divided, the slot's row differs from the site's row. */
static uint32_t apart;
static uint32_t sim_split_row(const struct tach__thread *record, uint32_t id)
{
	CHECK(record->config == &config && id >= TACH__SITE_FIRST);
	return id + apart;
}

/* set: rows of this thread use its name. */
static int named;
static void sim_split_name(struct tach__thread *record)
{
	CHECK(record->config == &config);
	named += nasked == 0;
}

#define tach__split_row	    sim_split_row
#define tach__split_name    sim_split_name
#define tach__slots_clear   sim_clear
#define tach__pages_reserve sim_reserve
#define tach__pages_open    sim_open
#define tach__pages_free    sim_free
#define tach__pages_hole    sim_hole
#define tach__pages_wiped   sim_wiped
#define tach__is_walked()   walked
#define tach__config_drop   sim_drop
#define tach__rows_at	    sim_rows_at
#define tach__row_add	    sim_row_add
#include "core/region/record.c"

enum { STRIDE = 1024, PAGE = 4096 };

static struct tach__thread *record_of(uint32_t stride)
{
	struct tach__thread *record = tach__record_take(stride);

	CHECK(record && record->stride == stride);
	record->config = &config;
	return record;
}

static void fresh(void)
{
	struct tach__thread *record;
	const char *base, *last;

	no_reserve = 1;
	CHECK(!tach__record_take(STRIDE));
	no_reserve = 0;
	no_open = 1;
	CHECK(!tach__record_take(STRIDE));
	no_open = 0;
	memset(had, 0, sizeof had);
	had_now = holes = 0;
	record = record_of(STRIDE);
	base = (const char *)record->hot;
	CHECK(had_now == 1 && had[0].at == base && had[0].size == record->size);
	CHECK((const char *)record == base + TACH__RECORD_AT);
	/* Forks clear the hot half, but not the tables after it. */
	CHECK(wiped_at == base && wiped == tach__pages_round(1) &&
	      sizeof(struct tach__hot) <= wiped);
	/* Each table keeps its first page. */
	CHECK(holes == 4 && hole[0][0] == PAGE && hole[0][1] == TACH__TABLE_AT &&
	      hole[1][0] == TACH__TABLE_AT + PAGE && hole[1][1] == TACH__STACK_AT &&
	      hole[2][0] == TACH__STACK_AT + PAGE && hole[2][1] == TACH__MARKS_AT &&
	      hole[3][0] == TACH__MARKS_AT + PAGE && hole[3][1] == TACH__RECORD_AT);
	CHECK(record->stride == STRIDE && record->limit == 0 && record->nchunks == 0);
	CHECK(tach__stack(record->hot, 0)[0] == record->outside);
	/* The slots are consecutive, from the start of a cache line to the end. */
	last = (const char *)record->outside;
	CHECK((uintptr_t)last % 64 == 0 && last >= (const char *)(record + 1) &&
	      last < (const char *)(record + 1) + 64);
	for (int i = 0; i <= TACH__OVERFLOWS; i++) {
		CHECK((const char *)record->overflow[i] == last + STRIDE, "%d", i);
		last = (const char *)record->overflow[i];
		memset(record->overflow[i], 0, STRIDE);
	}
	CHECK(last + STRIDE == base + record->size, "%d",
	      (int)(base + record->size - last - STRIDE));
}

static void give_back(struct tach__thread *record)
{
	record->next = tach__registry.free;
	tach__registry.free = record;
}

static void taken_again(void)
{
	struct tach__thread *a = record_of(STRIDE), *b = record_of(2 * STRIDE), *c;
	int were = had_now;

	CHECK(tach__slots_grow(a, TACH__SITE_FIRST) == 0);
	memset(a->cold, 1, sizeof a->cold);
	a->folded = 3;
	a->stack_low = 4;
	a->destructions = 5;
	tach__slot_at(a, TACH__SITE_FIRST)->id = TACH__SITE_FIRST;
	tach__slot_at(a, TACH__SITE_FIRST)->lost = 9;
	give_back(a);
	c = record_of(STRIDE);
	CHECK(c == a && tach__registry.free == NULL && had_now == were);
	for (int i = 0; i < (int)(sizeof a->cold / sizeof *a->cold); i++)
		CHECK(a->cold[i] == 0, "%d", i);
	CHECK(!a->folded && !a->stack_low && !a->destructions);
	CHECK(tach__slot_at(a, TACH__SITE_FIRST)->lost == 0);
	/* Chunks that were added to a record are freed, with their slots. */
	for (uint32_t i = 1; i < 3; i++)
		CHECK(tach__slots_grow(b, i * TACH__CHUNK_SLOTS) == 0);
	for (uint32_t i = 0; i < b->nchunks; i++)
		note(b->chunk[i], (size_t)TACH__CHUNK_SLOTS * 2 * STRIDE);
	b->log_size = 3 * PAGE;
	b->log = note(tach__pages(b->log_size), b->log_size);
	CHECK(had_now == were + 4);
	give_back(a);
	give_back(b);
	clears = 0;
	CHECK(record_of(STRIDE) == a && had_now == were - 1, "%d, %d", had_now, were);
	/* Additional data of slots are freed with the slots. */
	CHECK(clears == 2 && cleared[0] == b && cleared[1] == a, "%d", clears);
}

/* ---- put into totals ---- */

static void enter(struct tach__thread *record, uint32_t id)
{
	struct tach__slot *slot = tach__slot_at(record, id);

	slot->id = id;
	slot->lost = id;
}

static void folds_begin(void)
{
	nasked = nof = named = 0;
	rows_most = 0;
	memset(asked, 0, sizeof asked);
	memset(of, 0, sizeof of);
}

static void fold_adds_slots_to_the_totals(void)
{
	struct tach__thread *record = record_of(STRIDE);
	uint64_t folds = tach__registry.folds, ended = config.ended;
	uint32_t was[7];

	/* Nothing was entered. */
	record->hot->state = 1;
	folds_begin();
	CHECK(tach__record_fold(record) == 1 && nasked == 0 && nof == 0);
	CHECK(record->folded == folds + 1 && tach__registry.folds == folds + 1);
	/* A thread that sees the number also sees the totals. */
	CHECK(stored_at == &record->folded && stored_order == __ATOMIC_RELEASE &&
	      record->hot->state == 0);
	CHECK(config.ended == ended + 1);
	CHECK(tach__slots_grow(record, 2 * TACH__CHUNK_SLOTS - 1) == 0);
	folds_begin();
	CHECK(tach__record_fold(record) == 1 && nasked == 0 && nof == 0);
	/* Regions of the calibration have no rows. */
	enter(record, TACH__SITE_FIRST - 1);
	enter(record, TACH__SITE_FIRST);
	folds_begin();
	CHECK(tach__record_fold(record) == 1 && rows_most == TACH__SITE_FIRST);
	CHECK(named == 1);
	CHECK(nof == 1 && of[0] == TACH__SITE_FIRST, "%d", nof);
	/*
	 * The largest id comes first, so that either memory for all rows exists or none is
	 * added.
	 */
	enter(record, 100);
	enter(record, 2 * TACH__CHUNK_SLOTS - 1);
	enter(record, 40);
	folds_begin();
	CHECK(tach__record_fold(record) == 1);
	CHECK(rows_most == 2 * TACH__CHUNK_SLOTS - 1, "%d", (int)rows_most);
	CHECK(nof == 4 && nasked == 5 && of[0] == TACH__SITE_FIRST && of[1] == 40 &&
	      of[2] == 100 && of[3] == 2 * TACH__CHUNK_SLOTS - 1);
	CHECK(asked[1] == of[0] && asked[2] == of[1] && asked[3] == of[2] && asked[4] == of[3]);
	/* Entries of handlers are included. */
	record->overflow_id[0] = 150;
	record->overflow[0]->lost = 151;
	record->overflow_id[TACH__OVERFLOWS - 1] = 20;
	record->overflow[TACH__OVERFLOWS - 1]->lost = 21;
	record->overflow[TACH__OVERFLOWS]->lost = 22; /* of no region */
	record->turning.leaving = 1;
	ended = config.ended;
	folds_begin();
	CHECK(tach__record_fold(record) == 1 && rows_most == 150 && config.ended == ended);
	CHECK(nof == 6 && of[4] == 151 && of[5] == 21 && asked[5] == 150 && asked[6] == 20,
	      "%d", nof);
	for (int i = 1; i < 7; i++)
		was[i] = asked[i];
	apart = 30;
	folds_begin();
	CHECK(tach__record_fold(record) == 1 && rows_most == 180 && nof == 6);
	for (int i = 1; i < 7; i++)
		CHECK(asked[i] == was[i] + 30, "%d: %d", i, (int)asked[i]);
	apart = 0;
	no_rows = 1;
	folds = tach__registry.folds;
	folds_begin();
	record->folded = 0;
	CHECK(tach__record_fold(record) == 0 && nof == 0 && nasked == 1);
	CHECK(!record->folded && tach__registry.folds == folds);
	no_rows = 0;
}

static void end_of(struct tach__thread *record)
{
	cds_list_add_rcu(&record->node, &tach__registry.threads);
	record->next = tach__registry.ended;
	tach__registry.ended = record;
}

static void reclaimed(void)
{
	struct tach__registry *r = &tach__registry;
	struct tach__thread *done[2], *late = record_of(STRIDE);

	for (int i = 0; i < 2; i++) {
		done[i] = record_of(STRIDE);
		done[i]->folded = 1;
	}
	CHECK(tach__slots_grow(late, TACH__SITE_FIRST) == 0);
	enter(late, TACH__SITE_FIRST);
	late->folded = 0;
	end_of(done[0]);
	end_of(late);
	end_of(done[1]);
	CHECK(r->free == NULL);
	dropped = 0;
	/* Nothing is reclaimed while a walk is running. */
	walked = 1;
	tach__records_reclaim();
	CHECK(r->free == NULL && r->ended == done[1] && dropped == 0);
	walked = 0;
	/* A record without memory for its totals waits for the next time. */
	no_rows = 1;
	tach__records_reclaim();
	CHECK(r->ended == late && late->next == NULL && dropped == 2);
	CHECK(r->free == done[0] && done[0]->next == done[1] && done[1]->next == NULL);
	CHECK(done[0]->config == NULL && late->config == &config);
	CHECK(r->threads.next == &late->node && late->node.next == &r->threads);
	no_rows = 0;
	folds_begin();
	tach__records_reclaim();
	CHECK(r->ended == NULL && r->free == late && late->next == done[0] && dropped == 3);
	CHECK(nof == 1 && late->folded && late->config == NULL);
	CHECK(r->threads.next == &r->threads);
	/* A thread that asks for a record gets it. */
	r->free = NULL;
	late->config = &config;
	end_of(late);
	CHECK(record_of(STRIDE) == late && r->ended == NULL && dropped == 4);
}

int main(void)
{
	CDS_INIT_LIST_HEAD(&tach__registry.threads);
	CASE(fresh);
	CASE(taken_again);
	CASE(fold_adds_slots_to_the_totals);
	CASE(reclaimed);
	return check_done();
}
