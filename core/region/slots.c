/* SPDX-License-Identifier: MIT */
/* Slots: where they lie, the overflow for signal handlers, and copying one whole. */
#include <sched.h>
#include <string.h>
#include <time.h>
#include "core/region/region.h"

enum {
	COPY_TRIES = 256,  /* copies of a slot, its writer coming in between */
	COPY_YIELD = 64,   /* every so many it gets the processor */
	PAUSES = 100,	   /* and where there is no older copy yet, so many waits ... */
	PAUSE_NS = 200000, /* ... of that length */
	AMID = 1024,	   /* entries of a handler amid a write of the same region */
};

/* `outer` is 0, which tells every START that it is an unusual one. */
const union tach__slot_copy tach__slot_unready = {.slot = {.begin = tach__begin_any}};

/* Up to what the owner alone looks at. */
static size_t bytes(uint32_t count)
{
	return offsetof(struct tach__slot, word) +
	       (TACH__SLOT_WORDS(count) - TACH__CHILDREN_WORDS(count)) * sizeof(uint64_t);
}

struct tach__slot *tach__slot_at(const struct tach__thread *record, uint32_t id)
{
	char *chunk = __atomic_load_n(&record->chunk[id / TACH__CHUNK_SLOTS], __ATOMIC_ACQUIRE);

	return (struct tach__slot *)(void *)(chunk +
					     (size_t)(id % TACH__CHUNK_SLOTS) * record->stride);
}

struct tach__slot *tach__slot_of(const struct tach__thread *record, const void *part)
{
	for (uint32_t i = 0; i < record->nchunks; i++) {
		uintptr_t at = (uintptr_t)part - (uintptr_t)record->chunk[i];

		if (at < (size_t)TACH__CHUNK_SLOTS * record->stride)
			return tach__slot_at(record, i * TACH__CHUNK_SLOTS +
							     (uint32_t)(at / record->stride));
	}
	return NULL;
}

/* Chunks up to the one of `id`. Their pages cost nothing until a slot in them is used. */
int tach__slots_grow(struct tach__thread *record, uint32_t id)
{
	while (record->nchunks <= id / TACH__CHUNK_SLOTS) {
		char **at = &record->chunk[record->nchunks], *chunk = *at;

		if (record->nchunks == TACH__CHUNKS)
			return TACH_ERR_TOOMANY;
		/* One may be there: a fork cut off the thread that had the record. */
		if (!chunk)
			chunk = tach__pages((size_t)TACH__CHUNK_SLOTS * record->stride);
		if (!chunk)
			return TACH_ERR_NOMEM;
		for (uint32_t i = 0; i < TACH__CHUNK_SLOTS; i++)
			tach__table(record->hot)[record->nchunks * TACH__CHUNK_SLOTS + i] =
				(struct tach__slot *)(uintptr_t)&tach__slot_unready.slot;
		__atomic_store_n(at, chunk, __ATOMIC_RELEASE);
		__atomic_store_n(&record->nchunks, record->nchunks + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&record->limit, record->nchunks * TACH__CHUNK_SLOTS, __ATOMIC_RELEASE);
	return 0;
}

int tach__slot_used(const struct tach__slot *slot)
{
	return slot->seq || slot->skipped || slot->excluded || slot->lost;
}

/*
 * Calibration's slots share histograms and sampling, which are freed behind it: what is there
 * was cut off by a fork.
 */
static void slot_clear(struct tach__thread *record, uint32_t id)
{
	struct tach__slot *slot = tach__slot_at(record, id);

	if (id >= TACH__SITE_FIRST || id == TACH__SITE_EMPTY) {
		tach__histograms_free(slot->histograms, record->count + 1);
		tach__pages_free(slot->sampling, sizeof *slot->sampling);
	}
	if (slot->id || slot->histograms || slot->sampling)
		memset(slot, 0, record->stride);
}

/* For the next thread. Only what was used is touched; record->count is still the last one's. */
void tach__slots_clear(struct tach__thread *record)
{
	tach__worst_clear(record);
	tach__split_clear(record);
	for (uint32_t id = 0; id < record->limit; id++) {
		slot_clear(record, id);
		tach__table(record->hot)[id] =
			(struct tach__slot *)(uintptr_t)&tach__slot_unready.slot;
	}
	memset(record->outside, 0, record->stride);
	for (int i = 0; i <= TACH__OVERFLOWS; i++) {
		record->overflow_id[i] = 0;
		if (record->overflow[i]->seq)
			memset(record->overflow[i], 0, record->stride);
	}
	for (uint32_t i = 0; i < record->nchunks; i++) {
		tach__pages_free(record->latch[i], (size_t)TACH__CHUNK_SLOTS * record->stride);
		record->latch[i] = NULL;
	}
	tach__pages_free(record->overflow_latch, TACH__OVERFLOWS * (size_t)record->stride);
	record->overflow_latch = NULL;
}

/* Some code was amid adding an entry and will not be resumed: sums have part of it. */
static void write_over(struct tach__slot *slot)
{
	if (!(slot->seq & 1))
		return;
	TACH__ADD(slot->provenance[1], 1); /* TACH_FLAG_INCOMPLETE */
	__atomic_store_n(&slot->seq, slot->seq + 1, __ATOMIC_RELEASE);
}

/* Has the code that writes to the slot its level still, below that one? */
static int written(const struct tach__hot *self, const struct tach__slot *slot, uint64_t state)
{
	for (uint32_t k = TACH__LEVEL(state); k-- > 0;)
		if (tach__stack(self, k)[1] == slot)
			return 1;
	return 0;
}

void tach__slot_mend(struct tach__thread *record, struct tach__slot *slot)
{
	if (written(record->hot, slot, record->hot->state))
		return;
	write_over(slot);
	for (int i = 0; i < TACH__OVERFLOWS; i++)
		if (record->overflow_id[i] == slot->id)
			write_over(record->overflow[i]);
}

/*
 * The entry of a write that a handler left by siglongjmp stays open if its mark is intact, as
 * in main's own block. No handler is likely to have so many entries: one in AMID ends the
 * write. If the write goes on all the same, its entry is flagged and the sequence is mended at
 * the next.
 */
static void write_over_in_time(struct tach__thread *record, struct tach__slot *slot,
			       const struct tach__slot *overflow)
{
	if (overflow->seq / 2 % AMID != AMID - 1)
		return;
	write_over(slot);
	for (int i = 0; i < TACH__OVERFLOWS; i++)
		if (record->overflow[i] != overflow && record->overflow_id[i] == slot->id)
			write_over(record->overflow[i]);
}

/*
 * The slot's own is under write by the code this handler interrupted. Each region keeps the
 * entry it got; one that finds none free goes to the bin and is counted as lost. Or else it was
 * under write as a handler left by siglongjmp.
 */
struct tach__slot *tach__region_overflow(struct tach__hot *self, struct tach__slot *slot,
					 uint64_t state)
{
	struct tach__thread *record = self->record;
	uint32_t id = slot->id;

	if (!written(self, slot, state)) {
		write_over(slot);
		return slot;
	}
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		uint32_t none = 0;
		uint32_t *owner = &record->overflow_id[i];

		/* Another handler may interrupt this one; a compare-and-swap settles who has
		 * it.
		 */
		if (__atomic_load_n(owner, __ATOMIC_RELAXED) != id &&
		    !__atomic_compare_exchange_n(owner, &none, id, 0, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED) &&
		    none != id)
			continue;
		if (record->overflow[i]->seq & 1)
			continue;
		write_over_in_time(record, slot, record->overflow[i]);
		return record->overflow[i];
	}
	write_over_in_time(record, slot, record->overflow[TACH__OVERFLOWS]);
	TACH__COUNT(tach__self, slot->lost, 1);
	return record->overflow[TACH__OVERFLOWS];
}

/* Word by word with relaxed loads: the writer stores words the same way. */
static void words_copy(uint64_t *to, const uint64_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof *to; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/*
 * Partner of the stores in core/region/stop.c. The acquire load of an even sequence sees all
 * of the entry that stored it; the acquire fence keeps the second load of the sequence behind
 * the copy, so an entry that began meanwhile is noticed.
 */
static int copy_once(struct tach__slot *out, const struct tach__slot *slot, size_t size)
{
	uint64_t seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);

	if (seq & 1)
		return 0;
	words_copy((uint64_t *)(void *)out, (const uint64_t *)(const void *)slot, size);
	TACH__FENCE(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&slot->seq, __ATOMIC_RELAXED) == seq;
}

/* Where the last whole copy of a slot is kept; NULL: out of memory. Snapshots' lock held. */
struct tach__slot *tach__latch_at(struct tach__thread *record, uint32_t id)
{
	char **chunk = &record->latch[id / TACH__CHUNK_SLOTS];

	if (!*chunk)
		*chunk = tach__pages((size_t)TACH__CHUNK_SLOTS * record->stride);
	if (!*chunk)
		return NULL;
	return (struct tach__slot *)(void *)(*chunk +
					     (size_t)(id % TACH__CHUNK_SLOTS) * record->stride);
}

struct tach__slot *tach__latch_overflow(struct tach__thread *record, int i)
{
	if (!record->overflow_latch)
		record->overflow_latch = tach__pages(TACH__OVERFLOWS * (size_t)record->stride);
	if (!record->overflow_latch)
		return NULL;
	return (struct tach__slot *)(void *)(record->overflow_latch +
					     (size_t)i * record->stride);
}

/* Some writes last: their thread was taken off its processor amid one. */
static int copy_patiently(struct tach__slot *out, const struct tach__slot *slot, size_t size,
			  int pauses)
{
	struct timespec pause = {0, PAUSE_NS};

	for (int try = 1; try <= COPY_TRIES; try++) {
		if (copy_once(out, slot, size))
			return 1;
		if (try % COPY_YIELD == 0)
			sched_yield();
	}
	while (pauses--) {
		nanosleep(&pause, NULL);
		if (copy_once(out, slot, size))
			return 1;
	}
	return 0;
}

/* A write that was left: the sums lack an entry, or have a part of it. */
static int copy_unfinished(struct tach__slot *out, const struct tach__slot *slot, size_t size)
{
	uint64_t seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);

	if (!(seq & 1))
		return 0;
	words_copy((uint64_t *)(void *)out, (const uint64_t *)(const void *)slot, size);
	TACH__FENCE(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&slot->seq, __ATOMIC_RELAXED) != seq)
		return 0;
	out->provenance[1]++; /* TACH_FLAG_INCOMPLETE */
	return 1;
}

enum tach__copied tach__slot_copy(struct tach__slot *out, const struct tach__slot *slot,
				  struct tach__slot *latch, uint32_t count)
{
	size_t size = bytes(count);

	if (copy_patiently(out, slot, size, latch && latch->seq ? 0 : PAUSES)) {
		if (latch && latch->seq != out->seq)
			memcpy(latch, out, size);
		return TACH__COPIED;
	}
	if (latch && latch->seq && !(latch->seq & 1)) {
		memcpy(out, latch, size);
		out->lost = TACH__GET(slot->lost);
		return TACH__COPIED_LATCH;
	}
	if (!copy_unfinished(out, slot, size))
		return TACH__COPIED_NOT;
	if (latch)
		latch->seq = out->seq; /* odd: the next copy does not wait either */
	return TACH__COPIED_LATCH;
}
