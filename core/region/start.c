/* SPDX-License-Identifier: MIT */
/* START: one copy for each number of counters, fenced and unfenced. Code that has to branch is
 * in cold_start.c. */
#include "core/region/beacon.h"
#include "core/region/edges.h"
#include "core/region/reads.h"
#include "core/reader/reader.h"
#include "core/region/region.h"

/* False if a signal handler completed a region during this START. */
TACH_INLINE int no_handler_ran(const struct tach__hot *self,
			       const struct tach_region_mark *mark)
{
	return TACH_LIKELY(mark->pairs[0] == TACH__OPERAND(self->pairs[0]));
}

/*
 * Makes the entry visible to signal handlers. Store order matters: stack entry, then level,
 * then mark. A handler that runs after the level is raised is nested in this entry. If it looks
 * for abandoned entries, it sees either a complete mark or a part without one.
 */
TACH_INLINE void push_region(uint64_t state, struct tach_region_mark *mark,
			     struct tach__slot *slot, struct tach__part *part,
			     struct tach__hot *self, struct tach__slot **stack,
			     __typeof__(mark->end) end)
{
	TACH__SET(stack[1], slot);
	TACH__SET(*tach__marks(stack), mark);
	mark->state = state;
	mark->part = part;
	mark->end = end;
	TACH__ORDER();
	TACH__SET(self->state, state + 1);
	TACH__ORDER();
	TACH__SET(part->ceiling, state + 1);
	TACH__ORDER();
	TACH__SET(part->outer, (uintptr_t)mark);
}

/* mark->pairs was read before `state`, so it shows if a handler ran after that. */
TACH_INLINE void open_region(uint64_t state, struct tach_region_mark *mark,
			     struct tach__slot *slot, struct tach__part *part,
			     struct tach__hot *self, uint32_t count, int fenced, int cached)
{
	int read;

	push_region(state, mark, slot, part, self, tach__stack(self, state), self->end[fenced]);
	if (fenced)
		TACH_FENCE();
	read = cached ? tach__known_begin(self, &mark->counters, count)
		      : tach__begin_reads(self->reader, &mark->counters, count);
	if (TACH_UNLIKELY(!read)) {
		tach__begin_torn(fenced, mark, self);
		return;
	}
	mark->counters.clock = tach_clock();
	if (TACH_UNLIKELY(!no_handler_ran(self, mark))) {
		tach__begin_torn(fenced, mark, self);
		return;
	}
	if (fenced)
		TACH_FENCE();
}

TACH_INLINE void begin(struct tach_site *site, struct tach_region_mark *mark,
		       struct tach__slot *slot, struct tach__part *part, struct tach__hot *self,
		       uint32_t count, int fenced, int cached)
{
	uint64_t state;

	if (TACH_UNLIKELY((uintptr_t)mark >= part->outer)) {
		tach__begin_checked(site, mark, slot, fenced, self);
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
	open_region(state, mark, slot, part, self, count, fenced, cached);
}

TACH_INLINE void start_region(struct tach_site *site, struct tach_region_mark *mark, int fenced)
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
	start_region(site, mark, 0);
}

void tach__region_begin_fenced(struct tach_site *site, struct tach_region_mark *mark)
{
	start_region(site, mark, 1);
}

void tach__region_begin_flat(struct tach_site *site, struct tach_region_mark *mark)
{
	uint64_t id = TACH__GET(site->id);
	struct tach__hot *self = tach__self;
	struct tach__slot *slot;

	if (TACH_UNLIKELY(id >= TACH__OPERAND(self->limit))) {
		tach__begin_cold(site, mark, 0);
		return;
	}
	slot = tach__table(self)[id];
	slot->begin(site, mark, slot, tach__part(slot, 0, 0), self);
}

void tach__begin_any(struct tach_site *site, struct tach_region_mark *mark,
		     struct tach__slot *slot, struct tach__part *part, struct tach__hot *self)
{
	self->begin[0](site, mark, slot, part, self);
}

/* START of a flat region if no region is open. It leaves the same mark as any other START. */
TACH_INLINE void begin_flat(struct tach_site *site, struct tach_region_mark *mark,
			    struct tach__slot *slot, struct tach__part *part,
			    struct tach__hot *self, uint32_t count)
{
	uint64_t state;

	memcpy(mark->pairs, self->pairs, sizeof mark->pairs);
	TACH__ORDER();
	state = TACH__GET(self->state);
	if (TACH_UNLIKELY(TACH__LEVEL(state) != 0)) {
		/* Later STARTs take the normal code directly, because enclosing regions
		 * subtract the cost of a normal START. */
		TACH__SET(slot->begin, self->begin[0]);
		self->begin[0](site, mark, slot, part, self);
		return;
	}
	push_region(state, mark, slot, part, self, tach__stack(self, 0), self->end_flat);
	/* On failure, take the general path. */
	if (TACH_UNLIKELY(!tach__known_begin(self, &mark->counters, count))) {
		tach__begin_torn(0, mark, self);
		return;
	}
	mark->counters.clock = tach_clock();
	if (TACH_UNLIKELY(!no_handler_ran(self, mark)))
		tach__begin_torn(0, mark, self);
}

/*
 * These names are local, so that symbols of another copy of the library cannot preempt them.
 */
void tach__begin_here(struct tach_site *site, struct tach_region_mark *mark)
	__attribute__((alias("tach__region_begin")));
void tach__begin_fenced_here(struct tach_site *site, struct tach_region_mark *mark)
	__attribute__((alias("tach__region_begin_fenced")));

/* ---- the instances ---- */

/* The slow path calls `open`. `begin` contains the same code. */
#define BEGIN(name, count, fenced, cached)                                                     \
	static void open_##name(uint64_t state, struct tach_region_mark *mark,                 \
				struct tach__slot *slot, struct tach__part *part,              \
				struct tach__hot *self)                                        \
	{                                                                                      \
		open_region(state, mark, slot, part, self, count, fenced, cached);             \
	}                                                                                      \
	static void begin_##name(struct tach_site *site, struct tach_region_mark *mark,        \
				 struct tach__slot *slot, struct tach__part *part,             \
				 struct tach__hot *self)                                       \
	{                                                                                      \
		begin(site, mark, slot, part, self, count, fenced, cached);                    \
	}
#define INSTANCE(n)                                                                            \
	BEGIN(plain_##n, n, 0, 0)                                                              \
	BEGIN(fenced_##n, n, 1, 0)                                                             \
	BEGIN(cached_plain_##n, n, 0, 1)                                                       \
	BEGIN(cached_fenced_##n, n, 1, 1)                                                      \
	static void begin_flat_##n(struct tach_site *site, struct tach_region_mark *mark,      \
				   struct tach__slot *slot, struct tach__part *part,           \
				   struct tach__hot *self)                                     \
	{                                                                                      \
		begin_flat(site, mark, slot, part, self, n);                                   \
	}
TACH__INSTANCES(INSTANCE)
BEGIN(plain_any, self->count, 0, 0)
BEGIN(fenced_any, self->count, 1, 0)

#define ROW(n) {{begin_plain_##n, begin_fenced_##n}, {open_plain_##n, open_fenced_##n}, NULL},
#define CACHED(n)                                                                              \
	{{begin_cached_plain_##n, begin_cached_fenced_##n},                                    \
	 {open_cached_plain_##n, open_cached_fenced_##n},                                      \
	 begin_flat_##n},
static const struct instance {
	__typeof__(((struct tach__hot *)0)->begin[0]) begin[2];
	__typeof__(((struct tach__hot *)0)->open[0]) open[2];
	__typeof__(((struct tach__hot *)0)->begin_flat) flat;
} straight[2][TACH__UNROLLED + 1] = {{TACH__INSTANCES(ROW)}, {TACH__INSTANCES(CACHED)}},
			       any[] = {ROW(any)};

/* Asks the CPU only once, because CPUID causes an exit from a virtual machine. */
static int cpu_can_hide_counters(void)
{
	static int known; /* 1: no, 2: yes */

	if (!TACH__GET(known))
		TACH__SET(known, TACH_COUNTERS_HIDE() ? 2 : 1);
	return TACH__GET(known) == 2;
}

int tach__edges_are_straight(const struct tach__hot *self)
{
	return self->count <= TACH__UNROLLED &&
	       (self->count == 0 || tach__reader_is_inline(tach__reader(self->reader)));
}

void tach__start_choose(struct tach__hot *self)
{
	int is_straight = tach__edges_are_straight(self);
	const struct instance *instance = any;

	/* A counter that may be hidden needs a check at each read. */
	self->cached = is_straight && !cpu_can_hide_counters();
	self->single = TACH_SINGLE();
	if (is_straight)
		instance = &straight[self->cached][self->count];
	memcpy(self->begin, instance->begin, sizeof instance->begin);
	memcpy(self->open, instance->open, sizeof self->open);
	self->begin_flat = instance->flat;
	/* The previous set had other pages, and the new pages may have the same locks. */
	memset(self->seen, 0, sizeof self->seen);
#ifdef TACH_COUNTER_AT
	for (uint32_t i = 0; is_straight && i < self->count; i++)
		self->seen[i].page = tach__way(self->reader, i).page;
#endif
	self->since.lock = 1;
	self->since.locks = 1;
}
