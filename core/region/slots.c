/* SPDX-License-Identifier: MIT */
/* Slots: their memory, the overflow for signal handlers, and consistent copies. */
#include <sched.h>
#include <string.h>
#include <time.h>
#include "core/region/region.h"

enum {
	COPY_TRIES = 256,  /* attempts to copy a slot while its thread writes */
	COPY_YIELD = 64,   /* after this number of attempts, yield to the writer */
	PAUSES = 100,	   /* maximum number of waits if there is no older copy yet */
	PAUSE_NS = 200000, /* length of a wait */
	AMID = 1024,	   /* handler entries during one write: see end_old_write */
};

/* `outer` is 0, which sends each START to the slow path. */
const union tach__slot_copy tach__slot_unready = {.slot = {.begin = tach__begin_any}};

/* Returns the size of a slot without the words that are private to the owner. */
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

/* Adds chunks up to the chunk of `id`. Their pages use no memory until a slot in them is used.
 */
int tach__slots_grow(struct tach__thread *record, uint32_t id)
{
	while (record->nchunks <= id / TACH__CHUNK_SLOTS) {
		char **at = &record->chunk[record->nchunks], *chunk = *at;

		if (record->nchunks == TACH__CHUNKS)
			return TACH_ERR_TOOMANY;
		/* The chunk may exist: a fork may have cut off the thread that had the record.
		 */
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

int tach__slot_is_used(const struct tach__slot *slot)
{
	return slot->seq || slot->skipped || slot->excluded || slot->lost;
}

/* Slots of calibration share histograms and sampling, which calibration frees at its end. They
 * still exist if a fork interrupted calibration. */
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

/* Clears the used slots for the next thread. record->count still belongs to the previous
 * thread. */
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

/* Ends an interrupted write that will not be resumed. The sums contain a part of that entry. */
static void end_write(struct tach__slot *slot)
{
	if (!(slot->seq & 1))
		return;
	TACH__ADD(slot->provenance[1], 1); /* TACH_FLAG_INCOMPLETE */
	__atomic_store_n(&slot->seq, slot->seq + 1, __ATOMIC_RELEASE);
}

/* Returns 1 if the entry that writes to the slot is still on the stack, below `state`. */
static int has_writer(const struct tach__hot *self, const struct tach__slot *slot,
		      uint64_t state)
{
	for (uint32_t k = TACH__LEVEL(state); k-- > 0;)
		if (tach__stack(self, k)[1] == slot)
			return 1;
	return 0;
}

void tach__slot_mend(struct tach__thread *record, struct tach__slot *slot)
{
	if (has_writer(record->hot, slot, record->hot->state))
		return;
	end_write(slot);
	for (int i = 0; i < TACH__OVERFLOWS; i++)
		if (record->overflow_id[i] == slot->id)
			end_write(record->overflow[i]);
}

/*
 * Ends a write that a handler may have left by siglongjmp. Its entry stays open if its mark is
 * intact, for example in a block of main. A handler rarely has AMID entries during one write,
 * so after AMID entries the write is ended. If the writer continues nevertheless, its entry is
 * flagged, and the next entry repairs the sequence.
 */
static void end_old_write(struct tach__thread *record, struct tach__slot *slot,
			  const struct tach__slot *overflow)
{
	if (overflow->seq / 2 % AMID != AMID - 1)
		return;
	end_write(slot);
	for (int i = 0; i < TACH__OVERFLOWS; i++)
		if (record->overflow[i] != overflow && record->overflow_id[i] == slot->id)
			end_write(record->overflow[i]);
}

/*
 * Called if this handler interrupted a write to the slot, or if a handler left such a write by
 * siglongjmp. Each region keeps the overflow slot that it got. If none is free, the entry goes
 * to the last overflow slot and is counted as lost.
 */
struct tach__slot *tach__region_overflow(struct tach__hot *self, struct tach__slot *slot,
					 uint64_t state)
{
	struct tach__thread *record = self->record;
	uint32_t id = slot->id;

	if (!has_writer(self, slot, state)) {
		end_write(slot);
		return slot;
	}
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		uint32_t none = 0;
		uint32_t *owner = &record->overflow_id[i];

		/* Another handler may interrupt this one, so a compare-and-swap decides. */
		if (__atomic_load_n(owner, __ATOMIC_RELAXED) != id &&
		    !__atomic_compare_exchange_n(owner, &none, id, 0, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED) &&
		    none != id)
			continue;
		if (record->overflow[i]->seq & 1)
			continue;
		end_old_write(record, slot, record->overflow[i]);
		return record->overflow[i];
	}
	end_old_write(record, slot, record->overflow[TACH__OVERFLOWS]);
	TACH__COUNT(tach__self, slot->lost, 1);
	return record->overflow[TACH__OVERFLOWS];
}

/* Copies word by word with relaxed loads, because the writer stores words in this way. */
static void words_copy(uint64_t *to, const uint64_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof *to; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/*
 * The loads pair with the stores in core/region/stop.c. An acquire load of an even sequence
 * sees the complete entry that stored it. The acquire fence keeps the second load of the
 * sequence after the copy, so that an entry which began in the meantime is noticed.
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

/*
 * Returns the place for the last consistent copy of a slot, or NULL without memory. Hold the
 * snapshots' lock.
 */
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

/* Copies a slot. It also waits, because a write takes long if its thread loses the
 * processor. */
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

/* Copies a slot whose write was abandoned. The sums lack an entry, or contain a part of it. */
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
		latch->seq = out->seq; /* odd, so that the next copy does not wait, too */
	return TACH__COPIED_LATCH;
}
