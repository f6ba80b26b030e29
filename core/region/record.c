/* SPDX-License-Identifier: MIT */
/* The memory of threads: allocated, added to totals when threads end, and reused. */
#include <string.h>
#include "core/region/left.h"
#include "core/region/region.h"

/*
 * Maps the tables after the hot page; only the pages for the first regions and levels are used.
 */
static char *hot_map(size_t size)
{
	char *base = tach__pages_reserve(size);

	if (!base)
		return NULL;
	tach__pages_hole(base, sizeof(struct tach__hot), TACH__TABLE_AT);
	tach__pages_hole(base, TACH__TABLE_AT + 1, TACH__STACK_AT);
	tach__pages_hole(base, TACH__STACK_AT + 1, TACH__MARKS_AT);
	tach__pages_hole(base, TACH__MARKS_AT + 1, TACH__RECORD_AT);
	return tach__pages_open(base, size) == 0 ? base : NULL;
}

static struct tach__thread *record_map(uint32_t stride)
{
	size_t head = (sizeof(struct tach__thread) + 63) & ~(size_t)63;
	size_t size = TACH__RECORD_AT + head + (TACH__OVERFLOWS + 2) * (size_t)stride;
	char *base = hot_map(size), *slots;
	struct tach__thread *record;

	if (!base)
		return NULL;
	/*
	 * If the kernel does not support this, the hook of fork() resets the child's pointer.
	 */
	tach__pages_wiped(base, tach__pages_round(1));
	record = (struct tach__thread *)(void *)(base + TACH__RECORD_AT);
	record->hot = (struct tach__hot *)(void *)base;
	record->size = size;
	record->stride = stride;
	slots = base + TACH__RECORD_AT + head;
	record->outside = (struct tach__slot *)(void *)slots;
	*tach__stack(record->hot, 0) = record->outside;
	for (int i = 0; i <= TACH__OVERFLOWS; i++)
		record->overflow[i] =
			(struct tach__slot *)(void *)(slots + (size_t)(i + 1) * stride);
	return record;
}

static void record_unmap(struct tach__thread *record)
{
	size_t chunk = (size_t)TACH__CHUNK_SLOTS * record->stride;

	tach__slots_clear(record);
	for (uint32_t i = 0; i < record->nchunks; i++)
		tach__pages_free(record->chunk[i], chunk);
	tach__pages_free(record->log, record->log_size);
	tach__pages_free(record->owed, TACH__OWED_SIZE);
	tach__pages_free(record->hot, record->size);
}

/* Returns the last row with values of the thread, or 0 if no row has any. */
static uint32_t last_row(const struct tach__thread *record)
{
	uint32_t last = 0, row;

	for (uint32_t id = TACH__SITE_FIRST; id < record->limit; id++) {
		row = tach__slot_is_used(tach__slot_at(record, id))
			      ? tach__split_row(record, id)
			      : 0;
		last = row > last ? row : last;
	}
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		row = record->overflow_id[i];
		row = row ? tach__split_row(record, row) : 0;
		last = row > last ? row : last;
	}
	return last;
}

/* Adds a slot to its row, whose memory must exist. */
static void fold_slot(struct tach__thread *record, const struct tach__slot *slot, uint32_t id)
{
	struct tach__row *row =
		tach__rows_at(&record->config->rows, tach__split_row(record, id));

	tach__row_add(row, slot, record);
	if (tach__stack_was_full(record->hot))
		row->flags |= TACH_FLAG_INCOMPLETE;
}

int tach__record_fold(struct tach__thread *record)
{
	struct tach__rows *rows = &record->config->rows;
	uint32_t last;

	tach__split_name(record);
	last = last_row(record);
	if (last && !tach__rows_at(rows, last))
		return 0;
	for (uint32_t id = TACH__SITE_FIRST; id < record->limit; id++) {
		struct tach__slot *slot = tach__slot_at(record, id);

		if (tach__slot_is_used(slot))
			fold_slot(record, slot, id);
	}
	for (int i = 0; i < TACH__OVERFLOWS; i++)
		if (record->overflow_id[i])
			fold_slot(record, record->overflow[i], record->overflow_id[i]);
	record->config->ended += !record->turning.leaving;
	/* Set after the rows were written. Until then, a reader in another process counts the
	 * thread as live. */
	TACH__SET(record->hot->state, (uint64_t)0);
	__atomic_store_n(&record->folded, ++tach__registry.folds, __ATOMIC_RELEASE);
	return 1;
}

void tach__records_reclaim(void)
{
	struct tach__registry *r = &tach__registry;
	struct tach__thread **link = &r->ended, *record;

	if (tach__is_walked())
		return;
	while ((record = *link)) {
		if (!record->folded && !tach__record_fold(record)) {
			link = &record->next;
			continue;
		}
		*link = record->next;
		cds_list_del_rcu(&record->node);
		tach__config_drop(record->config);
		record->config = NULL;
		record->next = r->free;
		r->free = record;
	}
}

struct tach__thread *tach__record_take(uint32_t stride)
{
	struct tach__registry *r = &tach__registry;
	struct tach__thread *record;
	struct tach__held held;

	for (;;) {
		tach__lock(&held);
		tach__records_reclaim();
		record = r->free;
		if (record)
			r->free = record->next;
		tach__unlock(&held);
		if (!record)
			return record_map(stride);
		if (record->stride == stride)
			break;
		record_unmap(record);
	}
	tach__slots_clear(record);
	if (tach__stack_was_full(record->hot))
		tach__stack(record->hot, 0)[TACH__LEVELS] = NULL;
	memset(record->cold, 0, sizeof record->cold);
	memset(&record->whole, 0, sizeof record->whole);
	/* `owed` is freed, not cleared, because without it STOPs need no system call, even in
	 * calibration. */
	tach__pages_free(record->owed, TACH__OWED_SIZE);
	record->owed = NULL;
	record->folded = 0;
	record->stack_low = 0;
	record->destructions = 0;
	return record;
}
