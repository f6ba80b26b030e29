/* SPDX-License-Identifier: MIT */
/* Arenas: many allocations that are freed at once. */
#ifndef TACH_CORE_BASE_ARENA_H
#define TACH_CORE_BASE_ARENA_H

#include <stddef.h>

struct tach__arena_block;

struct tach__arena {
	struct tach__arena_block *blocks;
	size_t used, size;
};

/* Zeroed, and aligned for any type; returns NULL if there is no memory. */
void *tach__arena_get(struct tach__arena *arena, size_t size);
char *tach__arena_copy(struct tach__arena *arena, const char *text);
void tach__arena_free(struct tach__arena *arena);

#endif
