/* SPDX-License-Identifier: MIT */
/* Finds the site of a name that is known at run time, by a cache for tach_site_get. Readers
 * take no lock. Names are added until the cache is full, and never removed. */
#include <string.h>
#include "core/os/sys.h"
#include "core/region/beacon.h"
#include "core/region/region.h"

enum { PLACES_LOG2 = 12, PLACES = 1 << PLACES_LOG2 }; /* at most half of them are used */
TACH_STATIC_ASSERT(2 * TACH_NAMES_MAX <= PLACES, "searches end soon, and at a free place");

static struct place {
	uint64_t hash; /* written first */
	/* NULL: the place is free. Written last, so that readers see a complete place */
	struct tach_site *site;
} place[PLACES];
static uint32_t taken;		/* changed with the lock held */
static struct tach_site *other; /* atomic; not NULL: the table is full for new names */

/*
 * Hashes eight bytes at a time; the last eight may overlap the ones before. If two words differ
 * only in their top bits, their products also differ only in these bits. The shift moves this
 * difference down, so that later multiplications spread it. It is not a multiple of 8:
 * otherwise a letter of the next word could cancel the difference.
 */
static uint64_t hash_of(const char *name, size_t length)
{
	uint64_t h = length, word = 0;
	const char *end = name + length;

	for (; end - name >= 8; name += 8) {
		memcpy(&word, name, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	if (length >= 8)
		memcpy(&word, end - 8, 8);
	else
		for (; name < end; name++)
			word = word << 8 | (unsigned char)*name;
	return (h ^ word) * 0x9e3779b97f4a7c15u;
}

/* Uses the top bits of the hash, because all bits of the last word affect them. */
static uint32_t first_place(uint64_t hash)
{
	return (uint32_t)(hash >> (64 - PLACES_LOG2));
}

/* Returns the place of the name, or the free place for it. */
static struct place *find(const char *name, uint64_t hash)
{
	for (uint32_t at = first_place(hash);; at++) {
		struct place *p = &place[at % PLACES];
		const struct tach_site *site = __atomic_load_n(&p->site, __ATOMIC_ACQUIRE);

		if (!site || (TACH__GET(p->hash) == hash && strcmp(site->name, name) == 0))
			return p;
	}
}

/* Adds a name at its first use. */
static struct tach_site *name_add(const char *name, uint64_t hash)
{
	struct tach_site *site = tach_site_get(name);
	struct tach__held held;
	struct place *p;

	tach__lock(&held);
	p = find(name, hash);
	if (!p->site && site && taken < TACH_NAMES_MAX) {
		TACH__SET(p->hash, hash);
		__atomic_store_n(&p->site, site, __ATOMIC_RELEASE);
		TACH__SET(taken, taken + 1);
	}
	site = p->site;
	tach__unlock(&held);
	return site;
}

/* Returns NULL if this entry cannot be counted under any name. */
static __attribute__((noinline)) struct tach_site *find_cold(const char *name, uint64_t hash)
{
	struct tach_site *site = __atomic_load_n(&other, __ATOMIC_ACQUIRE);

	/* The second condition is true if a handler interrupted the library itself. */
	if (site || tach__signals_held != tach__calibrating)
		return site;
	if (TACH__GET(taken) < TACH_NAMES_MAX)
		site = name_add(name, hash);
	if (!site) {
		site = tach_site_get(TACH_NAMES_OTHER);
		__atomic_store_n(&other, site, __ATOMIC_RELEASE);
	}
	return site;
}

int tach__names_are_full(void)
{
	return __atomic_load_n(&other, __ATOMIC_RELAXED) != NULL;
}

/*
 * Prepares a gate at its first use. In the copy of the library that owns the regions, the gate
 * is registered as a site, so that it is switched off and on with the other sites. Returns 0 if
 * no region may begin.
 */
static __attribute__((noinline)) int gate_open(struct tach_site *gate)
{
	uint64_t id = TACH_SITE_OFF;
	struct tach__held held;

	if (tach__signals_held != tach__calibrating)
		return 1;
	tach__configure_once();
	if (tach__beacon_owner())
		id = TACH__SITE_FIRST; /* the named sites decide what is off */
	if (tach__beacon.state == TACH__BEACON_OWNER) {
		tach__lock(&held);
		id = tach__site_register(gate);
		tach__unlock(&held);
	} else {
		__atomic_store_n(&gate->id, id, __ATOMIC_RELAXED);
	}
	return id != TACH_SITE_OFF;
}

void tach__region_begin_named(struct tach_site *gate, struct tach_region_mark *mark)
{
	const char *name = mark->part;
	struct tach_site *site;
	struct place *p;
	uint64_t hash;
	size_t length;

	if (!name || (TACH_UNLIKELY(TACH__GET(gate->id) == TACH_SITE_NEW) && !gate_open(gate)))
		return;
	length = strlen(name);
	hash = hash_of(name, length);
	p = find(name, hash);
	site = __atomic_load_n(&p->site, __ATOMIC_ACQUIRE);
	if (TACH_UNLIKELY(!site))
		site = find_cold(name, hash);
	if (site)
		tach__region_start(site, mark);
	else
		__atomic_fetch_add(&tach__registry.lost, 1, __ATOMIC_RELAXED);
}
