/* SPDX-License-Identifier: MIT */
/* Arenas: many allocations that are freed at once. */
#include <stdlib.h>
#include <string.h>
#include "core/base/arena.h"

struct tach__arena_block {
	struct tach__arena_block *next;
	max_align_t data[];
};

enum { BLOCK = 16384, ALIGN = sizeof(max_align_t) };

void *tach__arena_get(struct tach__arena *arena, size_t size)
{
	char *at;

	if (size > (size_t)-1 / 2)
		return NULL;
	size = (size + ALIGN - 1) / ALIGN * ALIGN;
	if (arena->size - arena->used < size) {
		size_t room = size > BLOCK ? size : BLOCK;
		struct tach__arena_block *block = calloc(1, sizeof *block + room);

		if (!block)
			return NULL;
		block->next = arena->blocks;
		arena->blocks = block;
		arena->used = 0;
		arena->size = room;
	}
	at = (char *)arena->blocks->data + arena->used;
	arena->used += size;
	return at;
}

char *tach__arena_copy(struct tach__arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = tach__arena_get(arena, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

void tach__arena_free(struct tach__arena *arena)
{
	while (arena->blocks) {
		struct tach__arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	arena->used = arena->size = 0;
}
