/* SPDX-License-Identifier: MIT */
/* The table in which definitions are found; it is hashed by PMU and name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/derived/registry.h"
#include "core/tables/tables.h"

static size_t hash(int pmu, const char *name, size_t length)
{
	uint64_t h = 14695981039346656037u ^ (uint64_t)(pmu + 1);

	for (size_t i = 0; i < length; i++)
		h = (h ^ tach__fold(name[i])) * 1099511628211u;
	return (size_t)(h ^ h >> 29);
}

struct tach__entry *tach__derived_slot(const struct tach_derived *d, int pmu, const char *name,
				       size_t length)
{
	size_t i = hash(pmu, name, length) & (d->capacity - 1);

	while (d->entry[i].definition &&
	       (d->entry[i].pmu != pmu ||
		tach__name_compare(name, length, d->entry[i].definition->info.name)))
		i = (i + 1) & (d->capacity - 1);
	return &d->entry[i];
}

bool tach__derived_reserve(struct tach_derived *d)
{
	struct tach__entry *old = d->entry;
	size_t n = d->capacity;

	if (2 * (d->used + 1) <= n)
		return true;
	d->entry = calloc(n ? 2 * n : 256, sizeof *old);
	if (!d->entry) {
		d->entry = old;
		return false;
	}
	d->capacity = n ? 2 * n : 256;
	for (size_t i = 0; i < n; i++)
		if (old[i].definition) {
			const char *name = old[i].definition->info.name;

			*tach__derived_slot(d, old[i].pmu, name, strlen(name)) = old[i];
		}
	free(old);
	return true;
}

const struct tach__entry *tach__derived_entry(const struct tach_derived *d, int pmu,
					      const char *name, size_t length)
{
	const struct tach__entry *here, *every;

	if (!d->capacity)
		return NULL;
	here = tach__derived_slot(d, pmu, name, length);
	every = tach__derived_slot(d, TACH__EVERY_PMU, name, length);
	if (!every->definition)
		return here->definition ? here : NULL;
	return here->definition && here->order > every->order ? here : every;
}
