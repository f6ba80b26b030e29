/* SPDX-License-Identifier: MIT */
/*
 * START: one copy for every number of counters, fenced and not. Whatever has to branch leaves
 * for cold_start.c.
 */
#include "core/region/beacon.h"
#include "core/region/edges.h"
#include "core/reader/reader.h"
#include "core/region/region.h"

TACH_INLINE int read_begin(const struct tach_reader *reader, struct tach_mark *mark,
			   uint32_t count)
{
#define STEP(i) tach__begin_one(reader, mark, i)
	return TACH__STEPS(count, STEP);
#undef STEP
}

/* What began in a handler while this did is not nested in it. */
TACH_INLINE int alone(const struct tach__hot *self, const struct tach_region_mark *mark)
{
	return TACH_LIKELY(mark->pairs[0] == TACH__OPERAND(self->pairs[0]));
}

/* mark->pairs is older than `state`, so that it tells whether that is still true. */
TACH_INLINE void open_region(uint64_t state, struct tach_region_mark *mark,
			     struct tach__slot *slot, struct tach__part *part,
			     struct tach__hot *self, uint32_t count, int fenced)
{
	/*
	 * A handler's region after this is nested here: the entry first, then the level. Its
	 * look for what was left finds the mark whole, or the part without one.
	 */
	TACH__SET(tach__stack(self, state)[1], slot);
	mark->state = state;
	mark->part = part;
	mark->end = self->end[fenced];
	TACH__ORDER();
	TACH__SET(self->state, state + 1);
	TACH__ORDER();
	TACH__SET(part->ceiling, state + 1);
	TACH__ORDER();
	TACH__SET(part->outer, (uintptr_t)mark);
	if (fenced)
		TACH_FENCE();
	mark->counters.clock = tach_clock();
	if (TACH_UNLIKELY(!read_begin(self->reader, &mark->counters, count) ||
			  !alone(self, mark))) {
		tach__begin_torn(mark, fenced, self);
		return;
	}
	if (fenced)
		TACH_FENCE();
}

/* Behind it comes open_region, in a function of its own: unusual entries go there too. */
TACH_INLINE void begin(struct tach_site *site, struct tach_region_mark *mark,
		       struct tach__slot *slot, struct tach__part *part, struct tach__hot *self,
		       uint32_t count, int fenced, __typeof__(self->open[0]) open)
{
	uint64_t state;

	if (TACH_UNLIKELY((uintptr_t)mark >= part->outer)) {
		tach__begin_unusual(site, mark, slot, fenced, self);
		return;
	}
	memcpy(mark->pairs, self->pairs, sizeof mark->pairs);
	TACH__ORDER();
	state = TACH__GET(self->state);
#ifdef TACH_BELOW
	TACH_BELOW(state, part->ceiling, part, tach__part(slot, count, 1));
#else
	if (TACH__LEVEL(state) >= TACH__LEVEL(part->ceiling))
		part = tach__part(slot, count, 1);
#endif
	open(state, mark, slot, part, self);
}

TACH_INLINE void enter(struct tach_site *site, struct tach_region_mark *mark, int fenced)
{
	uint64_t id = TACH__GET(site->id);
	struct tach__hot *self = tach__self;
	struct tach__slot *slot;

	if (TACH_UNLIKELY(id >= TACH__OPERAND(self->limit))) {
		tach__begin_cold(site, mark, fenced);
		return;
	}
	slot = tach__table(self)[id];
	self->begin[fenced](site, mark, slot, tach__part(slot, 0, 0), self);
}

void tach__region_begin(struct tach_site *site, struct tach_region_mark *mark)
{
	enter(site, mark, 0);
}

void tach__region_begin_fenced(struct tach_site *site, struct tach_region_mark *mark)
{
	enter(site, mark, 1);
}

/* Names that no other copy of the library in the process stands in front of. */
void tach__begin_here(struct tach_site *site, struct tach_region_mark *mark)
	__attribute__((alias("tach__region_begin")));
void tach__begin_fenced_here(struct tach_site *site, struct tach_region_mark *mark)
	__attribute__((alias("tach__region_begin_fenced")));

/* ---- the instances ---- */

#define BEGIN(name, count, fenced)                                                             \
	static __attribute__((noinline)) void open_##name(                                     \
		uint64_t state, struct tach_region_mark *mark, struct tach__slot *slot,        \
		struct tach__part *part, struct tach__hot *self)                               \
	{                                                                                      \
		open_region(state, mark, slot, part, self, count, fenced);                     \
	}                                                                                      \
	static void begin_##name(struct tach_site *site, struct tach_region_mark *mark,        \
				 struct tach__slot *slot, struct tach__part *part,             \
				 struct tach__hot *self)                                       \
	{                                                                                      \
		begin(site, mark, slot, part, self, count, fenced, open_##name);               \
	}
#define INSTANCE(n)                                                                            \
	BEGIN(plain_##n, n, 0)                                                                 \
	BEGIN(fenced_##n, n, 1)
TACH__INSTANCES(INSTANCE)
BEGIN(plain_any, self->count, 0)
BEGIN(fenced_any, self->count, 1)

#define ROW(n) {{begin_plain_##n, begin_fenced_##n}, {open_plain_##n, open_fenced_##n}},
static const struct instance {
	__typeof__(((struct tach__hot *)0)->begin[0]) begin[2];
	__typeof__(((struct tach__hot *)0)->open[0]) open[2];
} straight[] = {TACH__INSTANCES(ROW)}, any[] = {ROW(any)};

int tach__edges_straight(const struct tach__hot *self)
{
	return self->count <= TACH__UNROLLED &&
	       (self->count == 0 || tach__reader_inline(tach__reader(self->reader)));
}

void tach__start_choose(struct tach__hot *self)
{
	const struct instance *instance =
		tach__edges_straight(self) ? &straight[self->count] : any;

	memcpy(self->begin, instance->begin, sizeof self->begin);
	memcpy(self->open, instance->open, sizeof self->open);
}
