/* SPDX-License-Identifier: MIT */
/* The data of a registry of derived events: derived.c, load.c and table.c share them. */
#ifndef TACH_CORE_DERIVED_REGISTRY_H
#define TACH_CORE_DERIVED_REGISTRY_H

#include <stdbool.h>
#include <tach/derived.h>

#define TACH__EVERY_PMU (-1)

/* A record of a file with its strings. */
struct tach__definition {
	struct tach__definition *next;
	struct tach_derived_info info;
	char strings[];
};

/* A file's name, shared by its definitions. */
struct tach__source {
	struct tach__source *next;
	char name[];
};

struct tach__entry {
	const struct tach__definition *definition; /* NULL: free */
	int pmu;
	unsigned order;
};

struct tach_derived {
	struct tach_derived_options opt;
	struct tach__definition *definitions;
	struct tach__source *sources;
	struct tach__entry *entry; /* open addressing, a power of two, at most half full */
	size_t capacity, used;
	unsigned order;
	/* The names of one PMU, sorted; the first enumeration makes them. */
	struct tach_derived_info *listing;
	int listing_pmu, listing_count;
};

/* ---- derived.c: the lock of all registries ---- */
void tach__derived_enter(const struct tach_derived *d);
void tach__derived_leave(void);

/* ---- table.c: definitions by PMU and name; the caller has the lock ---- */
/* Returns the entry with that name, or the free entry where it belongs. */
struct tach__entry *tach__derived_slot(const struct tach_derived *d, int pmu, const char *name,
				       size_t length);
/* Makes room for one more entry. Returns false if there is no memory. */
bool tach__derived_reserve(struct tach_derived *d);
/* Returns the entry that is valid for that PMU, or NULL. */
const struct tach__entry *tach__derived_entry(const struct tach_derived *d, int pmu,
					      const char *name, size_t length);

#endif
