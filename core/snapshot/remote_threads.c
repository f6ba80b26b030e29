/* SPDX-License-Identifier: MIT */
/*
 * Copies slots of a thread of another process. As in core/region/slots.c, a slot's sequence
 * shows if its copy is consistent. Three copies are read with three system calls: the first and
 * the third give the sequence, the second gives the words. A barrier between the calls orders
 * the loads that the kernel makes for this thread. First, a whole chunk is copied in this way.
 * Then slots that were being written are copied one by one.
 */
#include <string.h>
#include "core/snapshot/remote.h"

enum {
	TRIES = 68,   /* attempts to copy one slot */
	PATIENT = 48, /* from this try on, pause, because the writer has probably lost its
			 processor */
	/* length of the first two pauses; each further two are twice as long: 0.2 s in all */
	REST_NS = 100000,
};

struct reading {
	struct tach__remote *remote;
	struct tach__thread record; /* unchanged copy */
	struct tach__config *config;
	struct tach__rows *rows;
	uint32_t nsites;
	uint64_t *stale;
	size_t bytes; /* size of a slot without words that only its owner uses */
	char *bulk;   /* three copies of a chunk */
	uint32_t *histograms;
	struct tach__sampling sampling;
	struct tach__worst **worst; /* remote addresses, by id */
};

static int slot_get(const struct reading *g, const struct tach__slot *at,
		    union tach__slot_copy *out)
{
	int code = tach__remote_get(g->remote, at, out, g->bytes);

	TACH__FENCE(__ATOMIC_SEQ_CST);
	return code;
}

/* Returns 1 if the copy is consistent, 0 if the slot was being written at each try, or a
 * code. */
static int slot_copy(const struct reading *g, const struct tach__slot *at,
		     union tach__slot_copy *out)
{
	long rest = REST_NS;
	union tach__slot_copy before, after;

	for (int try = 0; try < TRIES; try++) {
		int code = slot_get(g, at, &before);

		if (!code)
			code = slot_get(g, at, out);
		if (!code)
			code = slot_get(g, at, &after);
		if (code)
			return code < 0 ? code : -TACH__REMOTE_AGAIN;
		if (!(before.slot.seq & 1) && before.slot.seq == out->slot.seq &&
		    out->slot.seq == after.slot.seq)
			return 1;
		if (try < PATIENT)
			continue;
		tach__remote_sleep(g->remote, rest);
		if (try % 2)
			rest *= 2;
	}
	return 0;
}

/* Replaces remote pointers in the slot by local copies. */
static int slot_own(struct reading *g, struct tach__slot *slot)
{
	int code = 0;

	slot->fenced = slot->fenced != 0;
	if (slot->sampling) {
		code = tach__remote_get(g->remote, slot->sampling, &g->sampling,
					sizeof g->sampling);
		tach__remote_finite(g->sampling.square, TACH__SUMS);
		slot->sampling = &g->sampling;
	}
	if (slot->histograms && !code) {
		code = tach__remote_histograms(g->remote, g->histograms, slot->histograms,
					       g->record.count + 1);
		slot->histograms = g->histograms;
	}
	return code;
}

static int add_worst(struct reading *g, uint32_t id, struct tach__row *row)
{
	const struct tach__worst *at = NULL;
	int code = 0;

	if (g->worst && id < TACH__CHUNKS * TACH__CHUNK_SLOTS)
		code = tach__remote_get(g->remote, tach__remote_at(g->worst, id * sizeof at),
					&at, sizeof at);
	return code ? code : tach__remote_worst(g->remote, at, g->config, &g->record, row);
}

/* Adds a slot to the rows. `whole`: a consistent copy of the slot, or NULL to make one. */
static int add_slot(struct reading *g, const struct tach__slot *at,
		    const struct tach__slot *whole, uint32_t id)
{
	union tach__slot_copy copy;
	struct tach__inexact *inexact = tach__inexact(&copy.slot, g->record.count);
	struct tach__row *row;
	int how = 1;

	memset(&copy, 0, sizeof copy);
	if (whole)
		memcpy(&copy, whole, g->bytes);
	else
		how = slot_copy(g, at, &copy);
	if (how < 0)
		return how == -TACH__REMOTE_AGAIN ? TACH__REMOTE_AGAIN : how;
	row = tach__rows_at(g->rows, id);
	if (!row)
		return TACH_ERR_NOMEM;
	if (how == 0) {
		row->flags |= TACH_FLAG_STALE;
		++*g->stale;
		return 0;
	}
	how = slot_own(g, &copy.slot);
	if (!how && g->record.inexact)
		how = tach__remote_get(
			g->remote,
			tach__remote_at(at, (size_t)((char *)inexact - (char *)&copy)), inexact,
			sizeof *inexact);
	if (!how && copy.slot.histograms && !row->histograms)
		how = tach__remote_reserve(g->remote,
					   tach__histograms_size(g->config->count + 1));
	if (!how)
		tach__row_add(row, &copy.slot, &g->record);
	return how ? how : add_worst(g, copy.slot.id, row);
}

/* ---- a chunk of them ---- */

/* Sets a bit of *entered for each slot that the thread entered: the table has its address. */
static int chunk_entered(struct reading *g, uint32_t chunk, uint64_t *entered)
{
	const struct tach__slot *table[TACH__CHUNK_SLOTS];
	uint32_t first = chunk * TACH__CHUNK_SLOTS;
	int code = tach__remote_get(
		g->remote,
		tach__remote_at(g->record.hot, TACH__TABLE_AT + first * sizeof *table), table,
		sizeof table);

	*entered = 0;
	for (uint32_t i = 0; i < TACH__CHUNK_SLOTS && !code; i++) {
		const void *at =
			tach__remote_at(g->record.chunk[chunk], (size_t)i * g->record.stride);

		if (first + i >= TACH__SITE_FIRST && first + i < g->nsites &&
		    (const void *)table[i] == at)
			*entered |= UINT64_C(1) << i;
	}
	return code;
}
TACH_STATIC_ASSERT(TACH__CHUNK_SLOTS == 64, "a bit for each");

static struct tach__slot *bulk_slot(const struct reading *g, int copy, uint32_t i)
{
	size_t size = (size_t)TACH__CHUNK_SLOTS * g->config->stride;

	return (struct tach__slot *)(void *)(g->bulk + (size_t)copy * size +
					     (size_t)i * g->config->stride);
}

/* Reads the range from the first to the last entered slot three times, with one call each. */
static int bulk_get(const struct reading *g, uint32_t chunk, uint64_t entered)
{
	uint32_t from = (uint32_t)__builtin_ctzll(entered), to = TACH_HIGHEST(entered),
		 stride = g->config->stride;
	int code = 0;

	for (int copy = 0; copy < 3 && !code; copy++) {
		code = tach__remote_get(
			g->remote,
			tach__remote_at(g->record.chunk[chunk], (size_t)from * stride),
			bulk_slot(g, copy, from), (size_t)(to - from + 1) * stride);
		TACH__FENCE(__ATOMIC_SEQ_CST);
	}
	return code;
}

/* Returns the copy of slot i, or NULL if the slot was being written. */
static const struct tach__slot *bulk_whole(const struct reading *g, uint32_t i)
{
	const struct tach__slot *slot = bulk_slot(g, 1, i);
	uint64_t seq = slot->seq;

	return !(seq & 1) && bulk_slot(g, 0, i)->seq == seq && bulk_slot(g, 2, i)->seq == seq
		       ? slot
		       : NULL;
}

static int add_chunk(struct reading *g, uint32_t chunk)
{
	uint64_t entered;
	int code = chunk_entered(g, chunk, &entered);

	if (!code && entered)
		code = bulk_get(g, chunk, entered);
	for (uint32_t i = 0; i < TACH__CHUNK_SLOTS && !code; i++)
		if (entered >> i & 1)
			code = add_slot(g,
					tach__remote_at(g->record.chunk[chunk],
							(size_t)i * g->record.stride),
					bulk_whole(g, i), chunk * TACH__CHUNK_SLOTS + i);
	return code;
}

static int add_slots(struct reading *g)
{
	uint32_t chunks = g->record.nchunks;
	int code = 0;

	for (uint32_t c = 0; c < chunks && c < TACH__CHUNKS && !code; c++)
		code = add_chunk(g, c);
	for (int i = 0; i < TACH__OVERFLOWS && !code; i++) {
		uint32_t id = g->record.overflow_id[i];

		if (id >= TACH__SITE_FIRST && id < g->nsites)
			code = add_slot(g, g->record.overflow[i], NULL, id);
	}
	return code;
}

/* Checks that the thread is still the one in the list. */
static int check(struct tach__remote *r, const struct tach__remote_thread *thread)
{
	uint64_t state;
	int code;

	TACH__FENCE(__ATOMIC_SEQ_CST);
	code = tach__remote_get(r,
				tach__remote_at(thread->hot, offsetof(struct tach__hot, state)),
				&state, sizeof state);
	if (!code && TACH__OPENING(state) != TACH__OPENING(thread->state))
		code = TACH__REMOTE_AGAIN;
	return code;
}

int tach__remote_thread(struct tach__remote *r, const struct tach__remote_thread *thread,
			struct tach__config *config, struct tach__rows *rows, uint32_t nsites,
			uint64_t *stale)
{
	struct reading g = {
		.remote = r, .config = config, .rows = rows, .nsites = nsites, .stale = stale};
	size_t bulk = 3 * (size_t)TACH__CHUNK_SLOTS * config->stride;
	size_t most = (sizeof(union tach__slot_copy) + 63) & ~(size_t)63;
	int code = tach__remote_get(r, thread->at, &g.record, sizeof g.record);

	/* A thread may have no counters, only the clock; otherwise it has all counters of the
	 * set. */
	if (!code && ((g.record.count && g.record.count != config->count) ||
		      g.record.stride != config->stride || g.record.hot != thread->hot))
		code = TACH__REMOTE_AGAIN;
	if (code)
		return code;
	g.record.config = config;
	g.worst = g.record.worst;
	g.record.worst = NULL;
	g.bytes = offsetof(struct tach__slot, word) +
		  (TACH__SLOT_WORDS(g.record.count) - TACH__CHILDREN_WORDS(g.record.count)) *
			  sizeof(uint64_t);
	/* The stride comes from the other process, and the sizes of buffers depend on it. */
	if (config->stride < g.bytes || config->stride > most || config->stride % 64)
		return TACH__REMOTE_AGAIN;
	tach__remote_finite(&g.record.overhead.empty[0][0][0],
			    sizeof g.record.overhead / sizeof(double));
	g.histograms = tach__histograms_make(config->count + 1);
	g.bulk = tach__pages(bulk);
	code = g.histograms && g.bulk ? add_slots(&g) : TACH_ERR_NOMEM;
	tach__histograms_free(g.histograms, config->count + 1);
	tach__pages_free(g.bulk, bulk);
	return code ? code : check(r, thread);
}
