/* SPDX-License-Identifier: MIT */
/*
 * Slots without threads: their addresses, the assignment of overflow slots, and copies of a
 * slot.
 */
#include <sched.h>
#include <string.h>
#include <time.h>
#include "core/region/region.h"
#include "tests/check.h"
#define ORDERED_LOADS
#include "tests/ordered.h"

static int yields, naps, nap_ns;
static void (*meanwhile)(void); /* called at each load and each copy */

/* Counts copies of a slot, and records whether each was made during a change. */
static int tries, tried[8], changes;
static void copied(void);

static int sim_yield(void)
{
	tried[yields % 8] = tries;
	yields++;
	if (meanwhile)
		meanwhile();
	return 0;
}

static int sim_nap(const struct timespec *pause)
{
	naps++;
	nap_ns = (int)(pause->tv_sec * 1000000000 + pause->tv_nsec);
	if (meanwhile)
		meanwhile();
	return 0;
}

static int pages, histograms; /* allocated minus freed */
static int allowed = -1;      /* number of allocations that still succeed; below 0: unlimited */
static struct {
	const void *at;
	size_t size;
} had[TACH__CHUNKS + 32];

static void *sim_pages(size_t size)
{
	void *at = allowed == 0 ? NULL : tach__pages(size);

	allowed -= allowed > 0;
	for (int i = 0; at && i < (int)(sizeof had / sizeof *had); i++)
		if (!had[i].at) {
			had[i].at = at;
			had[i].size = size;
			pages++;
			break;
		}
	return at;
}

static void sim_pages_free(void *at, size_t size)
{
	for (int i = 0; at && i < (int)(sizeof had / sizeof *had); i++)
		if (had[i].at == at && had[i].size == size) {
			had[i].at = NULL;
			pages--;
			tach__pages_free(at, size);
			return;
		}
	CHECK(at == NULL);
}

static void sim_histograms_free(uint32_t *at, uint32_t sums)
{
	histograms -= at && sums == 4;
	tach__histograms_free(at, sums);
}

static int worst_clears, split_clears;
static void sim_worst_clear(struct tach__thread *record)
{
	worst_clears++;
	tach__worst_clear(record);
}

static void sim_split_clear(struct tach__thread *record)
{
	split_clears++;
	tach__split_clear(record);
}

#define tach__worst_clear     sim_worst_clear
#define tach__split_clear     sim_split_clear
#define tach__histograms_free sim_histograms_free
#define tach__pages	      sim_pages
#define tach__pages_free      sim_pages_free
#define sched_yield()	      sim_yield()
#define nanosleep(p, rest)    sim_nap(p)
#undef TACH__FENCE
#define TACH__FENCE(order) (fenced = (order), copied(), __atomic_thread_fence(order))
static int fenced;
#include "core/region/slots.c"

enum { COUNT = 3, CHUNK = (int)TACH__CHUNK_SLOTS };

static uint32_t stride_of(uint32_t count)
{
	size_t size = sizeof(struct tach__slot) + TACH__SLOT_WORDS(count) * sizeof(uint64_t);

	return (uint32_t)((size + 63) & ~(size_t)63);
}

static struct tach__thread *record_of(int chunks)
{
	struct tach__thread *record = tach__record_take(stride_of(COUNT));

	record->count = COUNT;
	if (chunks)
		CHECK(tach__slots_grow(record, (uint32_t)(CHUNK * chunks - 1)) == 0);
	return record;
}

static int unready(const struct tach__thread *record, uint32_t id)
{
	return tach__table(record->hot)[id] == &tach__slot_unready.slot;
}

/* ---- where they lie ---- */

static void slots_grow_by_chunks(void)
{
	struct tach__thread *record = record_of(0);
	char *there;
	uint32_t id;

	CHECK(record->nchunks == 0 && record->limit == 0);
	CHECK(tach__slots_grow(record, 5) == 0);
	CHECK(record->nchunks == 1 && record->limit == CHUNK);
	CHECK(tach__slots_grow(record, CHUNK - 1) == 0 && record->nchunks == 1);
	/* An existing chunk is used. */
	there = record->chunk[1] = tach__pages((size_t)CHUNK * record->stride);
	CHECK(tach__slots_grow(record, 3 * CHUNK) == 0);
	CHECK(record->nchunks == 4 && record->limit == 4 * CHUNK && record->chunk[1] == there);
	for (id = 0; id < 4 * CHUNK; id++)
		if (!unready(record, id))
			break;
	CHECK(id == 4 * CHUNK && tach__table(record->hot)[id] == NULL, "%d", (int)id);
	/* Each slot has its own memory, and any address in it leads to the slot. */
	for (id = 0; id < 4 * CHUNK; id++) {
		struct tach__slot *slot = tach__slot_at(record, id);
		char *last = (char *)slot + record->stride - 1;

		slot->id = id;
		if (tach__slot_of(record, slot) != slot || tach__slot_of(record, last) != slot)
			break;
	}
	CHECK(id == 4 * CHUNK, "%d", (int)id);
	for (id = 0; id < 4 * CHUNK; id++)
		if (tach__slot_at(record, id)->id != id)
			break;
	CHECK(id == 4 * CHUNK, "%d", (int)id);
	CHECK(tach__slot_of(record, &id) == NULL);
	/* Without memory, the number of slots does not change. */
	allowed = 1;
	CHECK(tach__slots_grow(record, 6 * CHUNK) == TACH_ERR_NOMEM);
	allowed = -1;
	CHECK(record->nchunks == 5 && record->limit == 4 * CHUNK);
	CHECK(tach__slots_grow(record, 6 * CHUNK) == 0);
	CHECK(record->nchunks == 7 && record->limit == 7 * CHUNK);
	CHECK(tach__slots_grow(record, TACH__CHUNKS * CHUNK - 1) == 0);
	CHECK(record->nchunks == TACH__CHUNKS);
	CHECK(tach__slots_grow(record, TACH__CHUNKS * CHUNK) == TACH_ERR_TOOMANY);
	CHECK(record->limit == TACH__CHUNKS * CHUNK);
}

/* The address right after a chunk belongs to no chunk, even if another chunk begins there. */
static void behind_a_chunk(void)
{
	struct tach__thread *record = record_of(0);
	size_t size = (size_t)CHUNK * record->stride;
	char *room = tach__pages(3 * size);

	record->chunk[0] = room;
	record->chunk[1] = room + 2 * size;
	CHECK(tach__slots_grow(record, CHUNK) == 0 && record->nchunks == 2);
	CHECK(tach__slot_of(record, room + size - 1) == tach__slot_at(record, CHUNK - 1));
	CHECK(tach__slot_of(record, room + size) == NULL);
	CHECK(tach__slot_of(record, room + 2 * size - 1) == NULL);
	CHECK((char *)tach__slot_of(record, room + 2 * size) == room + 2 * size);
	CHECK(tach__slot_of(record, room - 1) == NULL);
	record->nchunks = 0;
}

static void slot_with_any_entry_is_used(void)
{
	struct tach__slot slot;

	memset(&slot, 0, sizeof slot);
	CHECK(!tach__slot_is_used(&slot));
	slot.seq = 2;
	CHECK(tach__slot_is_used(&slot));
	slot.seq = 0;
	slot.skipped = 1;
	CHECK(tach__slot_is_used(&slot));
	slot.skipped = 0;
	slot.excluded = 1;
	CHECK(tach__slot_is_used(&slot));
	slot.excluded = 0;
	slot.lost = 1;
	CHECK(tach__slot_is_used(&slot));
}

/* ---- the record is prepared for the next thread ---- */

static int zeros(const void *at, size_t size)
{
	const char *byte = at;

	for (size_t i = 0; i < size; i++)
		if (byte[i])
			return 0;
	return 1;
}

static void clearing(void)
{
	static struct tach__sampling shared;
	struct tach__thread *record = record_of(2);
	static const uint32_t ids[] = {TACH__SITE_EMPTY, TACH__SITE_FIRST, CHUNK - 1, CHUNK,
				       2 * CHUNK - 1,	 TACH__SITE_FENCED};

	tach__slots_clear(record);
	pages = 0;
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		struct tach__slot *slot = tach__slot_at(record, ids[i]);

		memset(slot->word, 1, 64);
		slot->id = i == 1 || i == 2 ? 0 : ids[i];
		slot->sampling = i < 2 ? tach__pages(sizeof *slot->sampling) : NULL;
		slot->histograms = i == 2 ? tach__histograms_make(COUNT + 1) : NULL;
		histograms += slot->histograms != NULL;
		if (ids[i] == TACH__SITE_FENCED) /* another's */
			slot->sampling = &shared;
		tach__table(record->hot)[ids[i]] = slot;
	}
	memset(record->outside, 1, record->stride);
	for (int i = 0; i <= TACH__OVERFLOWS; i++) {
		memset(record->overflow[i], 1, record->stride);
		record->overflow_id[i] = 7;
	}
	for (uint32_t i = 0; i < 2; i++) {
		tach__latch_at(record, i * CHUNK)->seq = 4;
		CHECK(record->latch[i]);
	}
	CHECK(tach__latch_overflow(record, 0) && record->overflow_latch);
	worst_clears = split_clears = 0;
	tach__slots_clear(record);
	CHECK(worst_clears == 1 && split_clears == 1);
	CHECK(pages == 0 && histograms == 0, "%d, %d", pages, histograms);
	for (uint32_t id = 0; id < 2 * CHUNK; id++)
		CHECK(zeros(tach__slot_at(record, id), record->stride) && unready(record, id),
		      "%d", (int)id);
	CHECK(zeros(record->outside, record->stride));
	for (int i = 0; i <= TACH__OVERFLOWS; i++)
		CHECK(zeros(record->overflow[i], record->stride) && !record->overflow_id[i],
		      "%d", i);
	CHECK(!record->latch[0] && !record->latch[1] && !record->overflow_latch);
}

static void latches(void)
{
	struct tach__thread *record = record_of(2);
	struct tach__slot *first = tach__latch_at(record, 0);

	for (uint32_t id = 0; id < 2 * CHUNK; id++) {
		struct tach__slot *latch = tach__latch_at(record, id);

		CHECK(latch && (char *)latch == record->latch[id / CHUNK] +
							(size_t)(id % CHUNK) * record->stride);
		CHECK(zeros(latch, record->stride), "%d", (int)id);
		memset(latch, 1, record->stride);
	}
	CHECK(tach__latch_at(record, 0) == first);
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		struct tach__slot *latch = tach__latch_overflow(record, i);

		CHECK(zeros(latch, record->stride), "%d", i);
		memset(latch, 1, record->stride);
	}
	tach__slots_clear(record);
	allowed = 0;
	CHECK(!tach__latch_at(record, 3) && !tach__latch_overflow(record, 0));
	allowed = -1;
	CHECK(tach__latch_at(record, 3) && tach__latch_overflow(record, 1));
}

/* ---- the overflow ---- */

static struct tach__slot *slot_of(struct tach__thread *record, uint32_t id)
{
	struct tach__slot *slot = tach__slot_at(record, id);

	slot->id = id;
	slot->seq = 5;
	return slot;
}

/*
 * The slot for a writer that interrupted a write: each region has its own, and reuses it while
 * no write is in progress.
 */
static void overflow(void)
{
	struct tach__thread *record = record_of(1);
	struct tach__hot *self = record->hot;
	struct tach__slot *slot[TACH__OVERFLOWS + 2], *got[TACH__OVERFLOWS];
	uint64_t state = TACH__STATE(1, 0, TACH__OVERFLOWS + 2);

	tach__slots_clear(record);
	tach__self = self;
	self->record = record;
	self->state = state;
	for (uint32_t i = 0; i < TACH__OVERFLOWS + 2; i++) {
		slot[i] = slot_of(record, 10 + i);
		tach__stack(self, i)[1] = slot[i];
	}
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		got[i] = tach__region_overflow(self, slot[i], state);
		CHECK(got[i] == record->overflow[i] && record->overflow_id[i] == slot[i]->id,
		      "%d", i);
	}
	for (int i = 0; i < TACH__OVERFLOWS; i++)
		CHECK(tach__region_overflow(self, slot[i], state) == got[i], "%d", i);
	for (int i = 0; i < 2; i++) {
		struct tach__slot *late = slot[TACH__OVERFLOWS + i];

		CHECK(tach__region_overflow(self, late, state) ==
			      record->overflow[TACH__OVERFLOWS] &&
		      late->lost == 1);
	}
	/* The handler's own slot is also in the middle of a write. */
	got[2]->seq = 1;
	CHECK(tach__region_overflow(self, slot[2], state) == record->overflow[TACH__OVERFLOWS]);
	CHECK(slot[2]->lost == 1 && slot[3]->lost == 0 && slot[2]->seq == 5);
	record->overflow_id[6] = 0;
	CHECK(tach__region_overflow(self, slot[2], state) == record->overflow[6]);
	CHECK(record->overflow_id[6] == slot[2]->id && slot[2]->lost == 1);
	/*
	 * After this many levels of entries in progress, the entry is abandoned, and so are the
	 * slots of the others.
	 */
	got[2]->seq = 2 * 1023;
	CHECK(tach__region_overflow(self, slot[2], state) == got[2] && slot[2]->seq == 6);
	CHECK(slot[2]->provenance[1] == 1 && slot[3]->seq == 5 && got[3]->seq != 6);
	slot[2]->seq = 5;
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		record->overflow_id[i] = slot[2]->id;
		record->overflow[i]->seq = 7;
	}
	record->overflow[TACH__OVERFLOWS]->seq = 2 * 1023;
	CHECK(tach__region_overflow(self, slot[2], state) == record->overflow[TACH__OVERFLOWS]);
	CHECK(slot[2]->seq == 6 && slot[2]->lost == 2 && record->overflow[0]->seq == 8);
	for (uint32_t i = 0; i < TACH__OVERFLOWS; i++) {
		record->overflow_id[i] = slot[i]->id;
		record->overflow[i]->seq = 0;
	}
	/* If no writer has a level below that state, the slot was abandoned. */
	CHECK(tach__region_overflow(self, slot[1], TACH__STATE(1, 0, 1)) == slot[1]);
	CHECK(slot[1]->seq == 6 && slot[1]->provenance[1] == 1);
	CHECK(tach__region_overflow(self, slot[0], TACH__STATE(1, 0, 1)) == got[0]);
	CHECK(slot[0]->seq == 5 && slot[0]->provenance[1] == 0);
}

static void unfinished_write_is_mended(void)
{
	struct tach__thread *record = record_of(1);
	struct tach__hot *self = record->hot;
	struct tach__slot *mine, *other;

	tach__slots_clear(record);
	mine = slot_of(record, 10);
	other = slot_of(record, 11);
	self->state = TACH__STATE(1, 0, 1);
	tach__stack(self, 0)[1] = mine;
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		record->overflow_id[i] = i % 3 == 0 ? 10 : i % 3 == 1 ? 11 : 0;
		record->overflow[i]->seq = 3;
	}
	record->overflow[3]->seq = 4;
	record->overflow[TACH__OVERFLOWS]->seq = 3;
	tach__slot_mend(record, mine); /* has it open */
	CHECK(mine->seq == 5 && record->overflow[0]->seq == 3);
	tach__stack(self, 0)[1] = other;
	tach__slot_mend(record, mine);
	CHECK(mine->seq == 6 && mine->provenance[1] == 1 && other->seq == 5);
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		const struct tach__slot *slot = record->overflow[i];

		CHECK(slot->seq == (i == 3 || i % 3 == 0 ? 4 : 3), "%d: %d", i, (int)slot->seq);
		CHECK(slot->provenance[1] == (i != 3 && i % 3 == 0), "%d", i);
	}
	CHECK(record->overflow[TACH__OVERFLOWS]->seq == 3);
	tach__slot_mend(record, mine);
	CHECK(mine->seq == 6 && mine->provenance[1] == 1);
}

/* ---- copies ---- */

static union tach__slot_copy from, out, latch;
static int until; /* waits */

static void written_whole(void)
{
	if (--until == 0)
		from.slot.seq++;
}

static void copied(void)
{
	tries++;
	if (changes)
		from.slot.seq += 2;
}

static enum tach__copied copy(uint64_t seq, int waits, struct tach__slot *latch_)
{
	memset(&out, 0xaa, sizeof out);
	for (size_t i = 0; i < sizeof from.room / sizeof *from.room; i++)
		from.room[i] = 1000 + i;
	from.slot.seq = seq;
	yields = naps = nap_ns = tries = 0;
	until = waits;
	meanwhile = waits ? written_whole : NULL;
	return tach__slot_copy(&out.slot, &from.slot, latch_, COUNT);
}

/* Copies as far as the part that only the owner uses, and no byte more. */
static int is_copied(const union tach__slot_copy *to)
{
	size_t size = bytes(COUNT);

	CHECK(size == (size_t)((const char *)tach__children(&from.slot, COUNT, 1) -
			       (const char *)&from));
	return memcmp(to, &from, size) == 0;
}

static void copies(void)
{
	size_t size = bytes(COUNT);

	CHECK(copy(4, 0, NULL) == TACH__COPIED && yields == 0 && naps == 0);
	CHECK(is_copied(&out) && ((unsigned char *)&out)[size] == 0xaa);
	/* The slot is being written for a short time, for a long time, or forever. */
	CHECK(copy(3, 2, NULL) == TACH__COPIED && yields == 2 && naps == 0, "%d %d", yields,
	      naps);
	CHECK(is_copied(&out));
	CHECK(copy(3, 4 + 7, NULL) == TACH__COPIED && yields == 4 && naps == 7, "%d %d", yields,
	      naps);
	CHECK(is_copied(&out) && nap_ns == 200000, "%d", nap_ns);
	CHECK(copy(3, 4 + 100, NULL) == TACH__COPIED && naps == 100);
	CHECK(copy(3, 0, NULL) == TACH__COPIED_LATCH && yields == 4 && naps == 100, "%d %d",
	      yields, naps);
	CHECK(out.slot.provenance[1] == from.slot.provenance[1] + 1);
	out.slot.provenance[1]--;
	CHECK(is_copied(&out));
}

/*
 * Entries end during each copy: the copy is tried this often, and yields to the writer
 * regularly.
 */
static void copies_amid_changes(void)
{
	CHECK(copy(4, 0, NULL) == TACH__COPIED && tries == 1);
	changes = 1;
	CHECK(copy(4, 0, NULL) == TACH__COPIED_NOT && tries == 256 + 100, "%d", tries);
	CHECK(yields == 4 && naps == 100, "%d %d", yields, naps);
	for (int i = 0; i < 4; i++)
		CHECK(tried[i] == 64 * (i + 1), "%d: %d", i, tried[i]);
	changes = 0;
}

static void earlier_copies_are_used(void)
{
	size_t size = bytes(COUNT);

	/* The latch is still empty: the copy waits as if there was no latch. */
	memset(&latch, 0, sizeof latch);
	CHECK(copy(3, 0, &latch.slot) == TACH__COPIED_LATCH && naps == 100);
	CHECK(copy(3, 0, &latch.slot) == TACH__COPIED_LATCH && naps == 0);
	CHECK(out.slot.seq == 3 && out.slot.provenance[1] == from.slot.provenance[1] + 1);
	CHECK(copy(4, 0, &latch.slot) == TACH__COPIED && is_copied(&out));
	CHECK(is_copied(&latch) && zeros((char *)&latch + size, sizeof latch - size));
	/* A latch with the same sequence is equally good. */
	latch.slot.lost = 77;
	CHECK(copy(4, 0, &latch.slot) == TACH__COPIED && latch.slot.lost == 77);
	CHECK(is_copied(&out));
	CHECK(copy(6, 0, &latch.slot) == TACH__COPIED && is_copied(&latch));
	/* The copy uses the last latch, without waiting. */
	latch.slot.lost = 78;
	CHECK(copy(7, 0, &latch.slot) == TACH__COPIED_LATCH && yields == 4 && naps == 0);
	CHECK(out.slot.seq == 6 && out.slot.lost == from.slot.lost && latch.slot.lost == 78);
	out.slot.lost = 78;
	CHECK(memcmp(&out, &latch, size) == 0 && ((unsigned char *)&out)[size] == 0xaa);
}

/* ---- order for readers without the lock ---- */

/* Records the last three stores and the first load since the last check. */
static struct {
	const void *at;
	int order;
} stored[3], loaded;

static void ordered(const void *at, int order)
{
	memmove(stored, stored + 1, 2 * sizeof *stored);
	stored[2].at = at;
	stored[2].order = order;
}

static void ordered_load(const void *at, int order)
{
	if (loaded.at)
		return;
	loaded.at = at;
	loaded.order = order;
}

/*
 * A chunk is published after its content, and the end of a write after both; a copy starts
 * after reading the sequence, and reads the sequence again after the copy.
 */
static void in_order(void)
{
	struct tach__thread *record = record_of(0);
	struct tach__slot *slot;

	CHECK(tach__slots_grow(record, 0) == 0);
	CHECK(stored[0].at == &record->chunk[0] && stored[1].at == &record->nchunks &&
	      stored[2].at == &record->limit);
	for (int i = 0; i < 3; i++)
		CHECK(stored[i].order == __ATOMIC_RELEASE, "%d", i);
	loaded.at = NULL;
	slot = tach__slot_at(record, 5);
	CHECK(loaded.at == &record->chunk[0] && loaded.order == __ATOMIC_ACQUIRE);
	slot->seq = 5;
	end_write(slot);
	CHECK(stored[2].at == &slot->seq && stored[2].order == __ATOMIC_RELEASE);
	fenced = 0;
	loaded.at = NULL;
	CHECK(copy(4, 0, NULL) == TACH__COPIED && fenced == __ATOMIC_ACQUIRE);
	CHECK(loaded.at == &from.slot.seq && loaded.order == __ATOMIC_ACQUIRE);
}

int main(void)
{
	CASE(slots_grow_by_chunks);
	CASE(behind_a_chunk);
	CASE(slot_with_any_entry_is_used);
	CASE(clearing);
	CASE(latches);
	CASE(overflow);
	CASE(unfinished_write_is_mended);
	CASE(copies);
	CASE(copies_amid_changes);
	CASE(earlier_copies_are_used);
	CASE(in_order);
	return check_done();
}
