/* SPDX-License-Identifier: MIT */
/*
 * START and STOP. By name, or by the number that a place in the program remembers; then
 * straight to the code for as many counters as the group has. No allocation, lock or string is
 * in the way of a constant tag; one that is computed is hashed and compared.
 */
#include <errno.h>
#include "compat/likwid/state.h"

static inline int add(struct lw_region *region, const uint64_t *delta, unsigned n,
		      uint32_t flags)
{
	region->running = 0;
	region->calls++;
	if (TACH_UNLIKELY(flags))
		region->flags |= flags;
	for (unsigned i = 0; i < n; i++)
		region->sum[i] += delta[i];
	return 0;
}

/* The time is that between the readings of counters, as LIKWID's is. */
#define EDGES(n)                                                                               \
	static int start_##n(struct lw_region *region)                                         \
	{                                                                                      \
		region->running = 1;                                                           \
		tach_reader_begin_n(region->reader, &region->mark, n);                         \
		region->mark.clock = tach_clock();                                             \
		return 0;                                                                      \
	}                                                                                      \
	static int stop_##n(struct lw_region *region)                                          \
	{                                                                                      \
		uint64_t delta[n], now = tach_clock();                                         \
		uint32_t flags;                                                                \
                                                                                               \
		if (TACH_UNLIKELY(!region->running))                                           \
			return -EFAULT;                                                        \
		region->ticks += now - region->mark.clock;                                     \
		flags = tach_reader_end_n(region->reader, &region->mark, delta, n);            \
		return add(region, delta, n, flags);                                           \
	}
EDGES(1)
EDGES(2)
EDGES(3)
EDGES(4)
EDGES(5)
EDGES(6)
EDGES(7)
EDGES(8)

/* No counter, or many. */
static int start_any(struct lw_region *region)
{
	region->running = 1;
	if (region->reader)
		tach_reader_begin(region->reader, &region->mark);
	region->mark.clock = tach_clock();
	return 0;
}

static int stop_any(struct lw_region *region)
{
	uint64_t delta[TACH_COUNTERS_MAX], now = tach_clock();
	uint32_t flags;

	if (!region->running)
		return -EFAULT;
	region->ticks += now - region->mark.clock;
	if (!region->reader)
		return add(region, NULL, 0, 0);
	flags = tach_reader_end(region->reader, &region->mark, delta);
	return add(region, delta, region->reader->count, flags);
}

lw_edge lw_start_of(int counters)
{
	static const lw_edge edges[] = {start_any, start_1, start_2, start_3, start_4,
					start_5,   start_6, start_7, start_8};

	return counters <= 8 ? edges[counters] : start_any;
}

lw_edge lw_stop_of(int counters)
{
	static const lw_edge edges[] = {stop_any, stop_1, stop_2, stop_3, stop_4,
					stop_5,	  stop_6, stop_7, stop_8};

	return counters <= 8 ? edges[counters] : stop_any;
}

/* ---- to the region ---- */

static inline struct lw_region *at_site(const struct lw_thread *self,
					const struct tach_likwid_site *site, const char *tag)
{
	uint32_t id;

	if (TACH_UNLIKELY(__atomic_load_n(&site->tag, __ATOMIC_ACQUIRE) != tag))
		return NULL;
	id = site->id;
	return TACH_LIKELY(id < self->size) ? self->region[id] : NULL;
}

static inline struct lw_region *named(const struct lw_thread *self, const char *tag)
{
	if (TACH_UNLIKELY(self->size == 0 || !tag))
		return NULL;
	return (struct lw_region *)lw_names_find(&self->names, tag, lw_hash(tag));
}

/*
 * The first time; and where a place has several tags, as a function that was given different
 * constants is inlined: the place remembers the first.
 */
static TACH_COLD int start_slowly(struct tach_likwid_site *site, const char *tag)
{
	struct lw_region *region = site && site->tag ? named(lw_self, tag) : NULL;

	if (!region)
		region = lw_region_get(site, tag);
	return region ? lw_self->start(region) : -EFAULT;
}

static TACH_COLD int stop_slowly(struct tach_likwid_site *site, const char *tag)
{
	struct lw_region *region = site && site->tag ? named(lw_self, tag) : NULL;

	if (!region)
		region = lw_region_get(site, tag);
	return region ? lw_self->stop(region) : -EFAULT;
}

int tach_likwidStart(struct tach_likwid_site *site, const char *regionTag)
{
	const struct lw_thread *self = lw_self;
	struct lw_region *region = at_site(self, site, regionTag);

	return TACH_LIKELY(region) ? self->start(region) : start_slowly(site, regionTag);
}

int tach_likwidStop(struct tach_likwid_site *site, const char *regionTag)
{
	const struct lw_thread *self = lw_self;
	struct lw_region *region = at_site(self, site, regionTag);

	return TACH_LIKELY(region) ? self->stop(region) : stop_slowly(site, regionTag);
}

int likwid_markerStartRegion(const char *regionTag)
{
	const struct lw_thread *self = lw_self;
	struct lw_region *region = named(self, regionTag);

	return TACH_LIKELY(region) ? self->start(region) : start_slowly(NULL, regionTag);
}

int likwid_markerStopRegion(const char *regionTag)
{
	const struct lw_thread *self = lw_self;
	struct lw_region *region = named(self, regionTag);

	return TACH_LIKELY(region) ? self->stop(region) : stop_slowly(NULL, regionTag);
}
