/* SPDX-License-Identifier: MIT */
/* Names of regions: strings, each with a number, found by content. */
#include <stdlib.h>
#include <string.h>
#include "compat/likwid/state.h"

static struct lw_names all;
static const struct lw_name **by_id;
static uint32_t by_id_size;

static void put(const struct lw_names *names, struct lw_name *name)
{
	uint32_t i = name->hash;

	while (names->slot[i & names->mask])
		i++;
	names->slot[i & names->mask] = name;
}

/* At least half of the slots are empty, so a search ends. */
static int grow(struct lw_names *names)
{
	struct lw_names larger = {NULL, names->slot ? names->mask * 2 + 1 : 15, names->used};

	larger.slot = calloc((size_t)larger.mask + 1, sizeof(struct lw_name *));
	if (!larger.slot)
		return 0;
	for (uint32_t i = 0; names->slot && i <= names->mask; i++)
		if (names->slot[i])
			put(&larger, names->slot[i]);
	free(names->slot);
	*names = larger;
	return 1;
}

int lw_names_add(struct lw_names *names, struct lw_name *name)
{
	if ((!names->slot || names->used * 2 >= names->mask) && !grow(names))
		return 0;
	put(names, name);
	names->used++;
	return 1;
}

static int numbered(const struct lw_name *name)
{
	if (name->id == by_id_size) {
		uint32_t size = by_id_size ? by_id_size * 2 : 64;
		const struct lw_name **larger = realloc(by_id, size * sizeof(*by_id));

		if (!larger)
			return 0;
		by_id = larger;
		by_id_size = size;
	}
	by_id[name->id] = name;
	return 1;
}

const struct lw_name *lw_name_intern(const char *tag)
{
	uint32_t hash = lw_hash(tag);
	struct lw_name *name = lw_names_find(&all, tag, hash);
	size_t length = strlen(tag) + 1;

	if (name)
		return name;
	name = malloc(sizeof *name + length);
	if (!name)
		return NULL;
	*name = (struct lw_name){hash, all.used, memcpy(name + 1, tag, length)};
	if (numbered(name) && lw_names_add(&all, name))
		return name;
	free(name);
	return NULL;
}

uint32_t lw_names_count(void)
{
	return all.used;
}

const struct lw_name *lw_name_at(uint32_t id)
{
	return by_id[id];
}
