/* SPDX-License-Identifier: MIT */
/*
 * START and STOP. Finds the region by name, or by the number stored at the place in the
 * program, then jumps to the code for the group's number of counters. A constant tag needs no
 * allocation, lock or string operation; a computed tag is hashed and compared. The slow path is
 * a tail call, so that no register must be saved for it.
 */
#include <errno.h>
#include <stdio.h>
#include "compat/likwid/state.h"

#define REFUSED ((unsigned)-EFAULT)

/*
 * TACH_BUMP adds in one instruction. Otherwise compilers may combine values to add vectors,
 * which takes more instructions.
 */
#ifdef TACH_BUMP
#define ADD_TO(word, by) TACH_BUMP(word, by)
#else
#define ADD_TO(word, by) ((word) += (by))
#endif

TACH_INLINE int add_one(struct lw_region *region, const uint64_t *delta, unsigned i)
{
	ADD_TO(region->sum[i], delta[i]);
	return 1;
}

/* Reads the clock after the counters: the time excludes both counter reads, as in LIKWID. */
TACH_INLINE unsigned begun(struct lw_region *region)
{
	region->mark.clock = tach_clock();
	return 0;
}

static TACH_COLD unsigned begin_again(struct lw_region *region)
{
	tach__begin_slow(region->reader, &region->mark, region->reader->count);
	return begun(region);
}

static TACH_COLD unsigned end_again(struct lw_region *region)
{
	uint64_t delta[TACH_COUNTERS_MAX];

	region->flags |=
		tach__end_slow(region->reader, &region->mark, delta, region->reader->count);
	for (unsigned i = 0; i < region->reader->count; i++)
		region->sum[i] += delta[i];
	region->edges++;
	return 0;
}

/* Like LIKWID's warnings, but once for each region and thread. */
enum { STOP_ALONE = 1, STARTED_TWICE = 2 };
static TACH_COLD void warn(struct lw_region *region, uint32_t mistake)
{
	int saved = errno;

	if (!(region->warned & mistake) && region->name.tag)
		fprintf(stderr,
			mistake == STOP_ALONE
				? "WARN: region %s is stopped, and was not started\n"
				: "WARN: region %s is started again before its stop; what it "
				  "counted since its first start is lost\n",
			region->name.tag);
	region->warned |= mistake;
	errno = saved;
}

static TACH_COLD unsigned start_twice(struct lw_region *region)
{
	warn(region, STARTED_TWICE);
	return begin_again(region);
}

static TACH_COLD unsigned stop_alone(struct lw_region *region)
{
	warn(region, STOP_ALONE);
	return REFUSED;
}

#define BEGIN(i) tach__begin_one(reader, &region->mark, i)
#define END(i)	 tach__end_one(reader, &region->mark, delta, i)
#define ADD(i)	 add_one(region, delta, i)
TACH_INLINE unsigned start(struct lw_region *region, unsigned n)
{
	struct tach_reader *reader = region->reader;

	if (TACH_UNLIKELY(region->edges & 1))
		return start_twice(region);
	ADD_TO(region->edges, 1);
	if (TACH_UNLIKELY(!TACH__EACH(n, BEGIN)))
		return begin_again(region);
	return begun(region);
}

TACH_INLINE unsigned stop(struct lw_region *region, unsigned n)
{
	uint64_t delta[TACH_COUNTERS_MAX], now = tach_clock();
	const struct tach_reader *reader;

	if (TACH_UNLIKELY(!(region->edges & 1)))
		return stop_alone(region);
	ADD_TO(region->ticks, now - region->mark.clock);
	reader = region->reader;
	if (TACH_UNLIKELY(!TACH__EACH(n, END)))
		return end_again(region);
	(void)TACH__EACH(n, ADD);
	region->edges++;
	return 0;
}

#define EDGES(n)                                                                               \
	static unsigned start_##n(struct tach_likwid_site *site, struct lw_region *region)     \
	{                                                                                      \
		(void)site;                                                                    \
		return start(region, n);                                                       \
	}                                                                                      \
	static unsigned stop_##n(struct tach_likwid_site *site, struct lw_region *region)      \
	{                                                                                      \
		(void)site;                                                                    \
		return stop(region, n);                                                        \
	}
EDGES(1)
EDGES(2)
EDGES(3)
EDGES(4)
EDGES(5)
EDGES(6)
EDGES(7)
EDGES(8)

/* Used if the group has no counters, or more than 8. */
static unsigned start_any(struct tach_likwid_site *site, struct lw_region *region)
{
	(void)site;
	if (TACH_UNLIKELY(region->edges & 1))
		warn(region, STARTED_TWICE);
	region->edges |= 1;
	if (region->reader)
		tach_reader_begin(region->reader, &region->mark);
	return begun(region);
}

static unsigned stop_any(struct tach_likwid_site *site, struct lw_region *region)
{
	uint64_t delta[TACH_COUNTERS_MAX], now = tach_clock();

	(void)site;
	if (!(region->edges & 1))
		return stop_alone(region);
	region->ticks += now - region->mark.clock;
	if (region->reader)
		region->flags |= tach_reader_end(region->reader, &region->mark, delta);
	for (unsigned i = 0; region->reader && i < region->reader->count; i++)
		region->sum[i] += delta[i];
	region->edges++;
	return 0;
}

void lw_edges_choose(struct lw_region *region)
{
	static const lw_edge starts[] = {start_any, start_1, start_2, start_3, start_4,
					 start_5,   start_6, start_7, start_8};
	static const lw_edge stops[] = {stop_any, stop_1, stop_2, stop_3, stop_4,
					stop_5,	  stop_6, stop_7, stop_8};
	unsigned n = region->reader ? region->reader->count : 0;

	region->start = n <= 8 ? starts[n] : start_any;
	region->stop = n <= 8 ? stops[n] : stop_any;
}

/* ---- to the region ---- */

static inline struct lw_region *named(const struct lw_thread *self, const char *tag)
{
	if (TACH_UNLIKELY(!self->ready || !tag))
		return NULL;
	return (struct lw_region *)lw_names_find(&self->names, tag, lw_hash(tag));
}

/*
 * Runs when a thread first reaches a place under a group. After the place numbers are used up,
 * it runs at every edge of the other names.
 */
static TACH_COLD struct lw_region *region_find(struct tach_likwid_site *site, const char *tag)
{
	struct lw_region *region = named(lw_self, tag);

	if (!region)
		region = lw_region_get(tag);
	if (region && site && region->name.id < LW_PLACES - 1) {
		uint32_t id = region->name.id + 1;

		lw_self->region[id] = region;
		__atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
	}
	return region;
}

static TACH_COLD unsigned start_slowly(struct tach_likwid_site *site, const char *tag)
{
	struct lw_region *region = region_find(site, tag);

	return region ? region->start(site, region) : REFUSED;
}

static TACH_COLD unsigned stop_slowly(struct tach_likwid_site *site, const char *tag)
{
	struct lw_region *region = region_find(site, tag);

	return region ? region->stop(site, region) : REFUSED;
}

static unsigned start_nowhere(struct tach_likwid_site *site, struct lw_region *region)
{
	(void)region;
	return start_slowly(site, site->tag);
}

static unsigned stop_nowhere(struct tach_likwid_site *site, struct lw_region *region)
{
	(void)region;
	return stop_slowly(site, site->tag);
}

struct lw_region lw_nowhere = {.start = start_nowhere, .stop = stop_nowhere};

static inline struct lw_region *at(const struct tach_likwid_site *site)
{
	return lw_self->region[__atomic_load_n(&site->id, __ATOMIC_RELAXED)];
}

int tach_likwidStart(struct tach_likwid_site *site)
{
	struct lw_region *region = at(site);

	return (int)region->start(site, region);
}

int tach_likwidStop(struct tach_likwid_site *site)
{
	struct lw_region *region = at(site);

	return (int)region->stop(site, region);
}

int likwid_markerStartRegion(const char *regionTag)
{
	struct lw_region *region = named(lw_self, regionTag);

	return (int)(TACH_LIKELY(region) ? region->start(NULL, region)
					 : start_slowly(NULL, regionTag));
}

int likwid_markerStopRegion(const char *regionTag)
{
	struct lw_region *region = named(lw_self, regionTag);

	return (int)(TACH_LIKELY(region) ? region->stop(NULL, region)
					 : stop_slowly(NULL, regionTag));
}
