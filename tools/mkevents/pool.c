/* SPDX-License-Identifier: MIT */
/* A pool stores each distinct run of elements once. A run is named by its start index. */
#include <stdlib.h>
#include <string.h>
#include "tools/mkevents/mk.h"

static uint32_t hash(const unsigned char *bytes, size_t n)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	while (n-- > 0)
		h = (h ^ *bytes++) * 16777619u;
	return h;
}

static struct mk_slot *slot_for(struct mk_pool *pool, const void *run, size_t count)
{
	size_t bytes = count * pool->size;
	size_t i = hash(run, bytes) & (pool->nslots - 1);

	for (;; i = (i + 1) & (pool->nslots - 1)) {
		struct mk_slot *slot = &pool->slots[i];

		if (slot->length == 0)
			return slot;
		if (slot->length == count &&
		    memcmp(pool->data + slot->start * pool->size, run, bytes) == 0)
			return slot;
	}
}

/* A slot of length 0 is empty, so empty runs are never stored. */
static void rehash(struct mk_pool *pool)
{
	struct mk_slot *old = pool->slots;
	size_t n = pool->nslots;

	pool->nslots = n ? n * 2 : 64;
	pool->slots = mk_alloc(pool->nslots * sizeof *pool->slots);
	for (size_t i = 0; i < n; i++)
		if (old[i].length)
			*slot_for(pool, pool->data + old[i].start * pool->size, old[i].length) =
				old[i];
	free(old);
}

void mk_pool_append(struct mk_pool *pool, const void *run, size_t count)
{
	if (count == 0)
		return;
	while (pool->used + count > pool->room)
		pool->data = mk_grow(pool->data, pool->room, &pool->room, pool->size);
	memcpy(pool->data + pool->used * pool->size, run, count * pool->size);
	pool->used += count;
}

uint32_t mk_pool_add(struct mk_pool *pool, const void *run, size_t count)
{
	struct mk_slot *slot;

	if (count == 0)
		return 0;
	if (pool->nruns * 2 >= pool->nslots)
		rehash(pool);
	slot = slot_for(pool, run, count);
	if (slot->length)
		return slot->start;
	slot->start = (uint32_t)pool->used;
	slot->length = (uint32_t)count;
	mk_pool_append(pool, run, count);
	pool->nruns++;
	return slot->start;
}

uint32_t mk_pool_string(struct mk_pool *pool, const struct mk_cell *cell)
{
	char *copy;
	uint32_t start;

	if (!cell->text || cell->length == 0 || mk_empty(cell))
		return 0;
	copy = mk_alloc(cell->length + 1);
	memcpy(copy, cell->text, cell->length);
	start = mk_pool_add(pool, copy, cell->length + 1);
	free(copy);
	return start;
}

void mk_pool_free(struct mk_pool *pool)
{
	free(pool->data);
	free(pool->slots);
}
