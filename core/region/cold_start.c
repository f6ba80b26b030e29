/* SPDX-License-Identifier: MIT */
/* Slow paths of START: first entries, sampling, regions left without STOP, torn reads. */
#include <string.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "core/region/beacon.h"
#include "core/region/cost.h"
#include "core/region/left.h"
#include "core/region/reads.h"

/* Records the region that encloses this thread's first entry, or TACH__PARENT_NONE if threads
 * differ. If two threads record at once, the result of one remains. */
static void note_parent(const struct tach__hot *self, struct tach__site *site)
{
	const struct tach__slot *around = tach__stack(self, TACH__LEVEL(self->state))[0];
	uint32_t known = TACH__GET(site->parent), id = around ? around->id : 0;

	if (id < TACH__SITE_FIRST || (known != TACH__PARENT_UNKNOWN && known != id))
		id = TACH__PARENT_NONE;
	if (known != id)
		TACH__SET(site->parent, id);
}

/*
 * Prepares a slot for its first entry in this thread. Page faults happen here, not at STOP,
 * because their cost is subtracted here.
 */
static void slot_ready(struct tach__thread *record, uint32_t id)
{
	const struct tach__config *config = record->config;
	struct tach__slot *slot = tach__slot_at(record, id);
	volatile uint64_t *last = &slot->word[TACH__SLOT_WORDS(record->count) - 1];

	if (slot->id)
		return;
	*last = 0;
	note_parent(record->hot, tach__site_at(id));
	slot->fenced = TACH__SITE_FENCED_BIT & tach__site_at(id)->fenced;
	slot->task = (tach__site_at(id)->fenced & TACH__SITE_TASK) != 0;
	if (!slot->task && (config->sparse > 1 || config->warmup))
		slot->sampling = tach__pages(sizeof *slot->sampling);
	/* Without memory for sampling, all entries are measured. */
	slot->rest = slot->sampling ? 0 : TACH__OUTER_NONE;
	if (slot->sampling)
		slot->sampling->gap = tach__sampling_draw(record);
	if (config->histograms)
		slot->histograms = tach__histograms_make(record->count + 1);
	slot->begin = tach__site_at(id)->fenced & TACH_SITE_FLAT && tach__flat_ready(record)
			      ? record->hot->begin_flat
			      : record->hot->begin[0];
	tach__worst_slot(record, id);
	for (int inner = 0; inner < 2; inner++)
		tach__part(slot, record->count, inner)->ceiling = TACH__CEILING_OPEN;
	tach__part(slot, record->count, 0)->outer = slot->rest;
	__atomic_store_n(&slot->id, id, __ATOMIC_RELEASE);
	TACH__SET(tach__table(record->hot)[id], slot);
}

/* If the rows are split, also prepares the slot of the row that counts now. */
static void split_ready(struct tach__thread *record, uint32_t id)
{
	uint32_t row;

	if (!record->splits)
		return;
	row = tach__split_id(record, id);
	if (row >= record->limit && tach__slots_grow(record, row) != 0)
		row = id;
	slot_ready(record, row);
	tach__split_set(record, id, tach__slot_at(record, row));
}

/* Gives the calling thread a slot for that site. Returns 0 if the site is not measured. */
static int make_slot_ready(struct tach_site *home, uintptr_t sp)
{
	uint32_t id = (uint32_t)__atomic_load_n(&home->id, __ATOMIC_ACQUIRE);
	struct tach__hot *self = tach__self;

	if (id && id < TACH__SITE_FIRST) { /* calibrating */
		TACH__SET(tach__table(self)[id], tach__slot_at(self->record, id));
		TACH__SET(self->limit, (uint64_t)self->record->limit);
		return 1;
	}
	if (self->record)
		tach__remove_some_dead_entries(self->record, sp);
	if (id == TACH_SITE_NEW) {
		struct tach__held held;

		tach__lock(&held);
		id = tach__site_register(home);
		tach__unlock(&held);
	}
	if (id == TACH_SITE_OFF || !tach__enabled_here())
		return 0;
	do {
		self = tach__thread_ready(id);
		if (!self) {
			/* If regions are switched off now, the entry is not lost. */
			if (tach__enabled_here())
				__atomic_fetch_add(&tach__registry.lost, 1, __ATOMIC_RELAXED);
			return 0;
		}
		slot_ready(self->record, id);
		split_ready(self->record, id);
	} while (TACH__LEVEL(self->state) == 0 && tach__thread_is_outdated());
	return 1;
}

/* Makes the thread and its slot ready. unready: 0 in tach__begin_cold, 1 in
 * tach__begin_checked; each has its own residue. */
static __attribute__((noinline)) int make_ready(struct tach_site *site, int fenced, int unready,
						uintptr_t sp)
{
	struct tach__thread *record;
	struct tach__cost cost;
	int can;

	/* This handler interrupted the library itself, whose locks its thread may hold. */
	if (TACH_UNLIKELY(tach__signals_held != tach__calibrating)) {
		__atomic_fetch_add(&tach__registry.lost, 1, __ATOMIC_RELAXED);
		return 0;
	}
	tach__configure_once();
	tach__cost_begin(&cost, TACH__LEVEL(tach__self->state));
	can = make_slot_ready(site, sp);
	record = cost.record;
	if (tach__self->record && TACH__LEVEL(tach__self->state) == 0)
		tach__epochs_reset(tach__self);
	if (record)
		tach__residue_ready(record);
	tach__cost_end(&cost, record ? record->residue.begin[unready][fenced] : NULL,
		       record ? TACH__LEVEL(record->hot->state) : 0);
	return can;
}

/* Begins the region by a tail call, which returns directly to the site. */
static void begin_again(struct tach_site *site, struct tach_region_mark *mark, int fenced)
{
	struct tach__hot *self = tach__self;
	struct tach__slot *slot = tach__table(self)[TACH__GET(site->id)];

	self->begin[fenced](site, mark, slot, tach__part(slot, 0, 0), self);
}

typedef __typeof__(((struct tach_site *)0)->begin) begin_function;

static void begin_nothing(struct tach_site *site, struct tach_region_mark *mark)
{
	(void)site;
	mark->end = NULL;
}

/*
 * Returns the START function for this site if this copy of the library does not run it: the
 * owner's function, or one that does nothing if regions are off. Returns NULL if this copy runs
 * it.
 */
static __attribute__((noinline)) begin_function begin_of_owner(struct tach_site *site,
							       int fenced)
{
	const struct tach__beacon *owner;

	tach__configure_once();
	owner = tach__beacon_owner();
	if (owner) {
		__atomic_store_n(&site->begin, owner->begin[fenced], __ATOMIC_RELAXED);
		return owner->begin[fenced];
	}
	if (!tach__beacon_is_excluded())
		return NULL;
	__atomic_store_n(&site->id, (uint64_t)TACH_SITE_OFF, __ATOMIC_RELAXED);
	return begin_nothing;
}

void tach__begin_cold(struct tach_site *site, struct tach_region_mark *mark, int fenced)
{
	begin_function begins = NULL;

	if (TACH_UNLIKELY(tach__beacon.state != TACH__BEACON_OWNER))
		begins = begin_of_owner(site, fenced);
	/* A tail call, as in begin_again. */
	if (begins)
		begins(site, mark);
	else if (make_ready(site, fenced, 0, TACH__STACK_POINTER))
		begin_again(site, mark, fenced);
}

/* Reads once before the measured read, because code that was not used for a while is slow,
 * above all read(2). Calibration repeats its reads, so overhead does not contain this time. */
static __attribute__((noinline)) void warm_up(struct tach__hot *self)
{
	struct tach_mark mark = {.clock = 0};
	uint64_t delta[TACH__SUMS];

	if (self->count == 0)
		return;
	tach_reader_begin(self->reader, &mark);
	tach__edges_read(self, &mark, delta, 0);
}

/* Called if a new mark is above that of its region's open entry. Returns 1 if it certainly is a
 * recursion that the compiler put into one frame. 0: the open entry may have been left. */
TACH__LOOKS_BACK static int is_recursion(const struct tach__part *part,
					 const struct tach_region_mark *mark, uintptr_t sp)
{
	const struct tach_region_mark *outer = (const struct tach_region_mark *)part->outer;

	return part->outer >= sp && outer < mark && outer->part == part &&
	       outer->state == part->ceiling - 1 && outer->end;
}

void tach__begin_checked(struct tach_site *site, struct tach_region_mark *mark,
			 struct tach__slot *slot, int fenced, struct tach__hot *self)
{
	struct tach__part *part = tach__part(slot, self->count, 0);
	int closing, inside, recursion;

	if (slot->id == 0) {
		if (make_ready(site, fenced, 1, TACH__STACK_POINTER))
			begin_again(site, mark, fenced);
		return;
	}
	if (part->outer == 0) {
		if (tach__sampling_skips(self->record, slot))
			return;
		if (self->record->config->sparse > 1)
			warm_up(self);
		slot->sampling->begun = self->record->passed;
	}
	/* A STOP of this region is nearly complete, or a handler left it: make_ready checks. */
	closing = part->outer && part->ceiling == TACH__CEILING_OPEN;
	inside = TACH__LEVEL(self->state) >= TACH__LEVEL(part->ceiling);
	recursion = inside && is_recursion(part, mark, TACH__STACK_POINTER);
	if (recursion && !closing)
		tach__aside_add(self->record->residue.recursion[fenced]);
	else if ((closing || inside) && !make_ready(site, fenced, 1, TACH__STACK_POINTER))
		return;
	if (TACH__LEVEL(self->state) >= TACH__LEVEL(part->ceiling))
		part = tach__part(slot, self->count, 1);
	memcpy(mark->pairs, self->pairs, sizeof mark->pairs);
	TACH__ORDER();
	self->open[fenced](TACH__GET(self->state), mark, slot, part, self);
}

static int are_readable(const struct tach__hot *self, struct tach_mark *mark)
{
	uint32_t lock;

	for (uint32_t i = 0; i < self->count; i++)
		while (!tach__sum(tach__way(self->reader, i), !TACH_MODULAR, &mark->value[i],
				  &lock))
			if (lock & 1)
				return 0;
	return 1;
}

/*
 * Renews the state in the mark, because a handler may have taken a slow path after START read
 * the state. The old epoch would keep enclosing regions from subtracting the handler's cost. If
 * the handler removed enclosing regions that were left, this entry's level is too high. If it
 * stopped an enclosing region, it counted this entry as lost.
 */
static void renew_state(struct tach__hot *self, struct tach_region_mark *mark)
{
	struct tach__slot *slot = tach__slot_of(self->record, mark->part);
	struct tach__part *part = mark->part;
	uint32_t level = TACH__LEVEL(mark->state), top;
	uint64_t state;

	memcpy(mark->pairs, self->pairs, sizeof mark->pairs);
	TACH__ORDER();
	state = TACH__GET(self->state);
	top = TACH__LEVEL(state);
	/* The handler ended enclosing regions. Then START raised the old level. */
	while (level && top > level && !*tach__marks(tach__stack(self, level - 1)))
		level--;
	if (top <= level) {
		level = top;
		if (level && tach__stack(self, level - 1)[1] == slot)
			level--;
		else
			TACH__ADD(slot->lost, -1);
	}
	/* A handler may have put its own entry here before START raised the level. */
	TACH__SET(tach__stack(self, level)[1], slot);
	TACH__SET(*tach__marks(tach__stack(self, level)), mark);
	state = TACH__STATE(TACH__OPENING(state), tach__epoch_now(self->record, state), level);
	mark->state = state;
	TACH__ORDER();
	TACH__SET(self->state, state + 1);
	TACH__SET(part->ceiling, state + 1);
	TACH__SET(part->outer, (uintptr_t)mark);
	/* If a handler made this entry the outermost of its region, it changed mark->part.
	 * START then wrote its mark to the other part. */
	for (int inner = 0; inner < 2; inner++) {
		struct tach__part *other = tach__part(slot, self->count, inner);

		if (other != part && other->outer == (uintptr_t)mark)
			tach__part_close(slot, other);
	}
}

/* Returns 1 if the pages have not changed since look_up(). */
static int pages_are_unchanged(const struct tach__hot *self)
{
	tach__word left = (tach__word)TACH__GET(self->since.locks);

	for (uint32_t i = 0; i < self->count; i++)
		left -= TACH_WORD(TACH_PAGE_LOAD(tach__way(self->reader, i).page, lock));
	return left == 0 && !(TACH__GET(self->since.lock) & 1);
}

/* Stores one counter's number, unless a handler stored a newer number during this call. */
static int look_up_one(struct tach__seen *seen, struct tach_way way, uint32_t *lock)
{
#ifdef TACH_COUNTER_AT
	return TACH_COUNTER_SEE(&seen->at, way, *lock);
#else
	uint64_t was = TACH__GET(seen->number);
	tach__word number;

	*lock = TACH_PAGE_LOAD(way.page, lock);
	if (TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number) || (*lock & 1))
		return 0;
	__atomic_compare_exchange_n(&seen->number, &was,
				    (uint64_t)*lock << 32 | (uint32_t)number, 0,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return 1;
#endif
}

/*
 * Copies the numbers of all counters from the pages. Returns 0 if a counter cannot be read in
 * user space. A handler may call it between any two instructions here, after pages changed. The
 * handler's newer numbers stay. If this call adds an older lock, the sum differs from the
 * pages' sum.
 */
static int look_up(struct tach__hot *self)
{
	uint32_t first = 1;
	uint64_t locks = 0;

	self->record->stale++;
	for (uint32_t i = 0; i < self->count; i++) {
		uint32_t lock;

		if (!look_up_one(&self->seen[i], tach__way(self->reader, i), &lock))
			return 0;
		locks += lock;
		if (i == 0)
			first = lock;
	}
	TACH__ORDER();
	TACH__SET(self->since.lock, first);
	TACH__SET(self->since.locks, locks);
	return 1;
}

/* Runs look_up() inside other regions, which subtract its cost. The level is already raised. */
static __attribute__((noinline)) int look_up_inside(struct tach__hot *self, uint32_t level,
						    int fenced)
{
	struct tach__thread *record = self->record;
	struct tach__cost cost;
	uint32_t leader = self->since.lock;
	int found;

	tach__cost_begin(&cost, level);
	tach__residue_ready(record);
	found = look_up(self);
	tach__cost_end(&cost,
		       record->residue.stale[found && self->since.lock == leader][fenced],
		       level);
	return found;
}

void tach__begin_torn(int fenced, struct tach_region_mark *mark, struct tach__hot *self)
{
	uint32_t level = TACH__LEVEL(mark->state);

	if (are_readable(self, &mark->counters) &&
	    (!self->cached || pages_are_unchanged(self) ||
	     (level ? look_up_inside(self, level, fenced) : look_up(self)))) {
		/* Repeat START, because nothing was counted yet. */
		renew_state(self, mark);
		self->open[fenced](mark->state, mark, tach__stack(self, mark->state)[1],
				   mark->part, self);
		return;
	}
	do {
		renew_state(self, mark);
		if (fenced)
			TACH_FENCE();
		tach__begin_slow(self->reader, &mark->counters, self->count);
		tach__known_invalidate(&mark->counters);
		mark->counters.clock = tach_clock();
		if (fenced)
			TACH_FENCE();
	} while (mark->pairs[0] != TACH__GET(self->pairs[0]));
}
