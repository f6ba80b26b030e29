/* SPDX-License-Identifier: MIT */
/*
 * Cold exits of the edges: first entries, sampling, reschedules, refused stops.
 *
 * What a cold exit costs must not show in the regions around it. It is measured with the
 * thread's own counters, and the thread's epoch is advanced, so that the STOPs of those regions
 * come here and take it out: the log has, for each epoch in which one of them began, what had
 * been spent when that epoch ended. What an exit cannot see of itself, before its first and
 * behind its last look at the counters, is always the same and known from calibration.
 */
#include <string.h>
#include "core/region/beacon.h"
#include "core/base/maths.h"
#include "core/reader/reader.h"
#include "core/region/region.h"
#include "core/os/sys.h"

/* ---- the cost of being here ---- */

struct cost {
	struct tach__thread
		*record; /* NULL: no region is open around to which the cost would go */
	struct tach_mark mark;
	sigset_t signals;
	struct tach__held all;
};

/* No signal, no cancellation until its end. */
static void cost_begin(struct cost *cost, uint32_t around)
{
	struct tach__thread *record = tach__self->record;

	tach__signals_hold(&cost->signals);
	cost->record = around ? record : NULL;
	if (cost->record) {
		cost->mark.clock = tach_clock();
		if (record->count)
			tach_reader_begin(record->reader, &cost->mark);
	}
	/* What this takes depends on what was before: inside. */
	tach__hold(&cost->all);
}

/* The row of an epoch: what had been spent when it ended. NULL: out of memory. */
static uint64_t *log_row(struct tach__thread *record, uint32_t epoch)
{
	size_t row = (1 + (size_t)record->count) * sizeof(uint64_t);
	size_t size = tach__pages_round((epoch + 1) * row);

	if (size > record->log_size) {
		size_t old_size = record->log_size;
		uint64_t *old = record->log, *log = tach__pages_larger(old, old_size, size);

		if (!log)
			return NULL;
		__atomic_store_n(&record->log, log, __ATOMIC_RELEASE);
		__atomic_store_n(&record->log_size, size, __ATOMIC_RELEASE);
		tach__pages_free(old, old_size);
	}
	return record->log + epoch * (row / sizeof(uint64_t));
}

/*
 * No open region began in a later epoch than `epoch`: the next one is free, whatever was there.
 * `ended`: its row is written, as the slot was used since.
 */
static void cost_reckon(struct cost *cost, const uint64_t *residue, uint32_t epoch, int ended)
{
	struct tach__thread *record = cost->record;
	struct tach__hot *hot = record->hot;
	uint64_t delta[TACH__SUMS], *row = log_row(record, epoch);

	if (!row || epoch + 1 == TACH__EPOCHS)
		return;
	if (!ended)
		memcpy(row, record->cold, (1 + (size_t)record->count) * sizeof *row);
	record->epoch = epoch + 1;
	TACH__SET(hot->state,
		  TACH__STATE(TACH__OPENING(hot->state), epoch + 1, TACH__LEVEL(hot->state)));
	/* Exact if the group was rescheduled meanwhile, as it may well be. */
	tach__edges_read(hot, &cost->mark, delta, 0);
	for (uint32_t i = 0; i <= record->count; i++)
		record->cold[i] += delta[i] + residue[i];
}

static void cost_end(struct cost *cost, const uint64_t *residue, uint32_t epoch, int ended)
{
	tach__release(&cost->all);
	/* The thread may have moved on to another set. */
	if (cost->record && tach__self->record == cost->record)
		cost_reckon(cost, residue, epoch, ended);
	tach__signals_release(&cost->signals);
}

/* What an entry has to give back that began in an epoch which ended; spent: when it was read.
 */
static void cost_settle(struct tach__thread *record, uint32_t epoch, const uint64_t *spent,
			uint64_t *delta)
{
	const uint64_t *row = log_row(record, epoch);

	for (uint32_t i = 0; row && i <= record->count; i++)
		delta[i] -= spent[i] - row[i];
}

/* No region is open, so none began in any epoch. Signals held. */
static void epochs_begin(struct tach__hot *hot)
{
	hot->record->epoch = 0;
	TACH__SET(hot->state, TACH__STATE(TACH__OPENING(hot->state), 0, 0));
}

/* The epoch in which the innermost open region began, or, where that is not known, now. */
static uint32_t epoch_inside(const struct tach__thread *record)
{
	uint64_t state = record->hot->state;
	const struct tach__slot *slot = *tach__stack(record->hot, state);

	for (int inner = 0; TACH__LEVEL(state) && inner < 2; inner++) {
		uint64_t begun = tach__part(slot, record->count, inner)->ceiling;

		if (TACH__LEVEL(begun) == TACH__LEVEL(state))
			return TACH__EPOCH(begun);
	}
	return TACH__EPOCH(state);
}

/* ---- a region's own slot, and its thread ---- */

/* The slot that the part belongs to. */
static struct tach__slot *slot_of(const struct tach__thread *record, const void *part)
{
	for (uint32_t i = 0; i < record->nchunks; i++) {
		uintptr_t at = (uintptr_t)part - (uintptr_t)record->chunk[i];

		if (at < (size_t)TACH__CHUNK_SLOTS * record->stride)
			return tach__slot_at(record, i * TACH__CHUNK_SLOTS +
							     (uint32_t)(at / record->stride));
	}
	return NULL;
}

/* Its own thread still has the region open, and looks at its next START. */
static void orphan(const struct tach_region_mark *mark)
{
	struct tach__thread *record;

	cds_list_for_each_entry(record, &tach__registry.threads, node)
	{
		if (record->folded ||
		    TACH__OPENING(TACH__GET(record->hot->state)) != TACH__OPENING(mark->state))
			continue;
		__atomic_store_n(&record->hot->limit, (uint64_t)0, __ATOMIC_SEQ_CST);
		return;
	}
}

/* A region that was open at a fork belongs to no thread of the child, and is no fault of the
 * program. */
static void refuse(struct tach_region_mark *mark)
{
	struct tach__registry *r = &tach__registry;
	struct tach__held held;

	mark->end = NULL;
	if (tach__signals_held) { /* as in prepare */
		__atomic_fetch_add(&r->refused, 1, __ATOMIC_RELAXED);
		return;
	}
	tach__lock(&held);
	if (TACH__OPENING(mark->state) > r->inherited % TACH__OPENINGS) {
		__atomic_fetch_add(&r->refused, 1, __ATOMIC_RELAXED);
		orphan(mark);
	}
	tach__unlock(&held);
}

/* ---- START ---- */

/* A little below that of the caller's: what it has on its stack lies above. */
#define STACK_POINTER ((uintptr_t)__builtin_frame_address(0))

/* xorshift64: quick, and random enough not to march in step with anything. */
static double uniform(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return (double)(x >> 11) * 0x1p-53;
}

/*
 * How many entries to pass over before the next that is measured. The gaps are geometric, which
 * makes every entry equally likely to be measured whatever the others were, so the mean of
 * those measured is an unbiased estimate of the mean of all.
 */
static uint64_t draw(struct tach__thread *record)
{
	return (uint64_t)(tach__log(1 - uniform(&record->random)) *
			  record->config->per_log_keep);
}

/* A slot's first entry in this thread. Page faults are taken here, as cost, not at STOP. */
static void slot_ready(struct tach__thread *record, uint32_t id)
{
	const struct tach__config *config = record->config;
	struct tach__slot *slot = tach__slot_at(record, id);
	volatile uint64_t *last = &slot->word[TACH__SLOT_WORDS(record->count) - 1];

	if (slot->id)
		return;
	*last = 0;
	slot->fenced = tach__site_at(id)->fenced;
	if (config->sparse > 1 || config->warmup)
		slot->sampling = tach__pages(sizeof *slot->sampling);
	/* Without memory for that all entries are measured. */
	slot->rest = slot->sampling ? 0 : TACH__OUTER_NOBODY;
	if (slot->sampling)
		slot->sampling->gap = draw(record);
	if (config->histograms)
		slot->histograms = tach__histograms_make(record->count + 1);
	for (int inner = 0; inner < 2; inner++)
		tach__part(slot, record->count, inner)->ceiling = TACH__CEILING_OPEN;
	tach__part(slot, record->count, 0)->outer = slot->rest;
	__atomic_store_n(&slot->id, id, __ATOMIC_RELEASE);
	TACH__SET(tach__table(record->hot)[id], slot);
}

/* The calling thread gets a slot for that site; 0: it is not measured. */
static int ready(struct tach_site *home, uintptr_t sp)
{
	uint32_t id = (uint32_t)__atomic_load_n(&home->id, __ATOMIC_ACQUIRE);
	struct tach__hot *self = tach__self;

	if (id && id < TACH__SITE_FIRST) { /* calibrating */
		TACH__SET(tach__table(self)[id], tach__slot_at(self->record, id));
		TACH__SET(self->limit, (uint64_t)self->record->limit);
		return 1;
	}
	if (self->record)
		tach__heal(self->record, sp);
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
			/* Switched off meanwhile: not wanted any more. */
			if (tach__enabled_here())
				__atomic_fetch_add(&tach__registry.lost, 1, __ATOMIC_RELAXED);
			return 0;
		}
		slot_ready(self->record, id);
	} while (TACH__LEVEL(self->state) == 0 && tach__thread_pending());
	return 1;
}

/* Makes the thread and its slot ready. unready: which way it came, as each has its residue. */
static __attribute__((noinline)) int prepare(struct tach_site *site, int fenced, int unready,
					     uintptr_t sp)
{
	struct tach__thread *record;
	struct cost cost;
	uint32_t epoch = 0;
	int can;

	/* A handler that interrupted the library itself: its locks may be ours. */
	if (TACH_UNLIKELY(tach__signals_held != tach__calibrating)) {
		__atomic_fetch_add(&tach__registry.lost, 1, __ATOMIC_RELAXED);
		return 0;
	}
	tach__configure_once();
	cost_begin(&cost, TACH__LEVEL(tach__self->state));
	can = ready(site, sp);
	record = cost.record;
	if (tach__self->record && TACH__LEVEL(tach__self->state) == 0)
		epochs_begin(tach__self);
	if (record)
		epoch = epoch_inside(record);
	cost_end(&cost, record ? record->residue.begin[unready][fenced] : NULL, epoch,
		 epoch != TACH__EPOCH(tach__self->state));
	return can;
}

/* Nothing of its own stays on the stack: what begins returns to the site at once, as ever. */
static void begin_again(struct tach_site *site, struct tach_region_mark *mark, int fenced)
{
	struct tach__hot *self = tach__self;
	struct tach__slot *slot = tach__table(self)[TACH__GET(site->id)];

	self->begin[fenced](site, mark, slot, tach__part(slot, 0, 0), self);
}

/* 1: another copy of the library has the regions, and from now on this site; or none has. */
static __attribute__((noinline)) int elsewhere(struct tach_site *site,
					       struct tach_region_mark *mark, int fenced)
{
	const struct tach__beacon *owner;

	tach__configure_once();
	owner = tach__beacon_owner();
	if (owner) {
		__atomic_store_n(&site->begin, owner->begin[fenced], __ATOMIC_RELAXED);
		owner->begin[fenced](site, mark);
		return 1;
	}
	if (!tach__beacon_alone())
		return 0;
	__atomic_store_n(&site->id, (uint64_t)TACH_SITE_OFF, __ATOMIC_RELAXED);
	mark->end = NULL;
	return 1;
}

void tach__begin_cold(struct tach_site *site, struct tach_region_mark *mark, int fenced)
{
	if (TACH_UNLIKELY(tach__beacon.state != TACH__BEACON_OWNER) &&
	    elsewhere(site, mark, fenced))
		return;
	if (prepare(site, fenced, 0, STACK_POINTER))
		begin_again(site, mark, fenced);
}

/* Whether an entry that every one of its region has to ask for is passed over. */
static int gated(struct tach__thread *record, struct tach__slot *slot)
{
	const struct tach__config *config = record->config;
	struct tach__sampling *s = slot->sampling;
	uint64_t next;

	if (slot->excluded < config->warmup) {
		TACH__ADD(slot->excluded, 1);
		if (config->sparse <= 1 && slot->excluded == config->warmup) {
			slot->rest = TACH__OUTER_NOBODY;
			TACH__SET(tach__part(slot, record->count, 0)->outer, slot->rest);
		}
		TACH__ADD(record->passed, 1);
		return 1;
	}
	if (s->gap) {
		s->gap--;
		TACH__ADD(slot->skipped, 1);
		TACH__ADD(record->passed, 1);
		return 1;
	}
	next = draw(record);
	s->gap = slot->id < TACH__SITE_FIRST ? 0 : next; /* calibration's are all measured */
	return 0;
}

/*
 * What was not used for a while is slow at first, and read(2) most of all: the entry must not
 * show what calibration, which repeats itself, does not.
 */
static __attribute__((noinline)) void warm(struct tach__hot *self)
{
	struct tach_mark mark = {.clock = 0};
	uint64_t delta[TACH__SUMS];

	if (self->count == 0)
		return;
	tach_reader_begin(self->reader, &mark);
	tach__edges_read(self, &mark, delta, 0);
}

/*
 * A mark that is not below that of its region's open entry: beyond doubt a recursion, which the
 * compiler put into one frame? Else it has to be checked whether that entry was left.
 */
TACH__LOOKS_BACK static int recursive(const struct tach__part *part,
				      const struct tach_region_mark *mark, uintptr_t sp)
{
	const struct tach_region_mark *outer = (const struct tach_region_mark *)part->outer;

	return part->outer >= sp && outer < mark && outer->part == part &&
	       outer->state == part->ceiling - 1 && outer->end;
}

void tach__begin_unusual(struct tach_site *site, struct tach_region_mark *mark,
			 struct tach__slot *slot, int fenced, struct tach__hot *self)
{
	struct tach__part *part = tach__part(slot, self->count, 0);
	int closing;

	if (slot->id == 0) {
		if (prepare(site, fenced, 1, STACK_POINTER))
			begin_again(site, mark, fenced);
		return;
	}
	if (part->outer == 0) {
		if (gated(self->record, slot))
			return;
		if (self->record->config->sparse > 1)
			warm(self);
		slot->sampling->begun = self->record->passed;
	}
	/* A STOP of it that is nearly done: somebody has to look whether a handler left it. */
	closing = part->outer && part->ceiling == TACH__CEILING_OPEN;
	if ((closing || (TACH__LEVEL(self->state) >= TACH__LEVEL(part->ceiling) &&
			 !recursive(part, mark, STACK_POINTER))) &&
	    !prepare(site, fenced, 1, STACK_POINTER))
		return;
	if (TACH__LEVEL(self->state) >= TACH__LEVEL(part->ceiling))
		part = tach__part(slot, self->count, 1);
	memcpy(mark->pairs, self->pairs, sizeof mark->pairs);
	TACH__ORDER();
	self->open[fenced](TACH__GET(self->state), mark, slot, part, self);
}

static int readable(const struct tach__hot *self, struct tach_mark *mark)
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
 * A handler's cold exit, that came when START had looked at the state already: what START wrote
 * does not have its epoch, and the regions around would not give back what it took.
 */
static uint64_t state_anew(struct tach__hot *self, struct tach_region_mark *mark)
{
	uint32_t level = TACH__LEVEL(mark->state);
	struct tach__part *part = mark->part;
	uint64_t state;

	memcpy(mark->pairs, self->pairs, sizeof mark->pairs);
	TACH__ORDER();
	state = TACH__STATE(TACH__OPENING(mark->state), TACH__GET(self->record->epoch), level);
	TACH__SET(self->state, state + 1);
	TACH__SET(part->ceiling, state + 1);
	mark->state = state;
	return state;
}

void tach__begin_torn(struct tach_region_mark *mark, int fenced, struct tach__hot *self)
{
	if (readable(self, &mark->counters)) {
		/* Nothing is lost by beginning anew. */
		self->open[fenced](state_anew(self, mark), mark,
				   tach__stack(self, mark->state)[1], mark->part, self);
		return;
	}
	do {
		state_anew(self, mark);
		if (fenced)
			TACH_FENCE();
		mark->counters.clock = tach_clock();
		tach__begin_slow(self->reader, &mark->counters, self->count);
		if (fenced)
			TACH_FENCE();
	} while (mark->pairs[0] != TACH__GET(self->pairs[0]));
}

/* ---- STOP ---- */

/*
 * Makes the mark's level the innermost. 0: its region is not on the stack any more, as one
 * around it was stopped before; it then counts in no other.
 */
static int level_find(struct tach__thread *record, struct tach_region_mark *mark)
{
	struct tach__hot *hot = record->hot;
	const struct tach__slot *slot = slot_of(record, mark->part);
	uint32_t level = TACH__LEVEL(mark->state), top = TACH__LEVEL(hot->state);

	if (level >= top || tach__stack(hot, level)[1] != slot)
		for (level = top; level-- > 0 && tach__stack(hot, level)[1] != slot;)
			;
	if (level >= top)
		return 0;
	tach__abandon(record, level + 1);
	mark->state = TACH__STATE(TACH__OPENING(mark->state), TACH__EPOCH(mark->state), level);
	return 1;
}

static void add(struct tach__thread *record, struct tach_region_mark *mark,
		const struct tach__reading *r, int fenced)
{
	struct tach__hot *hot = record->hot;
	struct tach__slot *slot = slot_of(record, mark->part), **stack, *around;

	if (level_find(record, mark)) {
		tach__edges_add(hot, mark, r, fenced);
		return;
	}
	/* It was taken for lost. */
	TACH__ADD(slot->lost, -1);
	stack = tach__stack(hot, hot->state);
	around = stack[0];
	stack[0] = record->outside;
	stack[1] = slot;
	mark->state = hot->state;
	TACH__SET(hot->state, mark->state + 1);
	tach__edges_add(hot, mark, r, fenced);
	stack[0] = around;
}

/* A reading, and what had been spent by then: a handler may spend more right behind it. */
struct spent {
	uint64_t state, cold[TACH__SUMS];
};

static void read_spent(struct tach__reading *r, struct spent *spent,
		       const struct tach_region_mark *mark, int fenced)
{
	const struct tach__hot *self = tach__self;
	const struct tach__thread *record = self->record;
	size_t size = (1 + (size_t)record->count) * sizeof *record->cold;

	do {
		memcpy(spent->cold, record->cold, size);
		spent->state = TACH__GET(self->state);
		TACH__ORDER();
		/* Whatever was spent took time, so the clock's sum tells. */
	} while (!tach__edges_stop(self, mark, spent->state, r, fenced) ||
		 TACH__GET(record->cold[0]) != spent->cold[0]);
}

static void end_cold(struct tach_region_mark *mark, uint32_t more, int fenced)
{
	struct tach__hot *self = tach__self;
	struct tach__thread *record = self->record;
	uint64_t residue[TACH__SUMS];
	uint32_t epoch = TACH__EPOCH(mark->state);
	struct tach__reading r;
	struct spent spent;
	struct cost cost;
	int ended;

	if (!record || TACH__OPENING(self->state) != TACH__OPENING(mark->state)) {
		refuse(mark);
		return;
	}
	read_spent(&r, &spent, mark, fenced);
	cost_begin(&cost, TACH__LEVEL(mark->state));
	tach__edges_since(self, mark, &r);
	r.flags |= more;
	if (epoch != TACH__EPOCH(spent.state))
		cost_settle(record, epoch, spent.cold, r.delta);
	for (uint32_t i = 0; i <= record->count; i++) {
		r.delta[i] -= record->residue.before[fenced][i];
		residue[i] =
			record->residue.before[fenced][i] + record->residue.after[fenced][i];
	}
	ended = epoch != TACH__EPOCH(self->state);
	tach__heal(record, STACK_POINTER);
	add(record, mark, &r, fenced);
	if (TACH__LEVEL(self->state) == 0) {
		epochs_begin(self);
		if (tach__thread_pending())
			TACH__SET(self->limit, (uint64_t)0);
	}
	cost_end(&cost, residue, epoch, ended);
}

void tach__end_cold(struct tach_region_mark *mark, int fenced)
{
	end_cold(mark, 0, fenced);
}

void tach__end_read(struct tach_region_mark *mark, struct tach__reading *r, int fenced)
{
	struct tach__hot *self = tach__self;
	struct tach__thread *record = self->record;
	uint32_t epoch = TACH__EPOCH(mark->state), around = TACH__LEVEL(mark->state);
	struct cost cost;
	int ended = 0;

	/* Without a region around there is no cost to take out, and no system call is made. */
	if (around) {
		cost_begin(&cost, around);
		/* A handler's cold exit since this was read: those around give that back. */
		ended = epoch != TACH__EPOCH(self->state);
		tach__heal(record, STACK_POINTER);
	}
	tach__edges_since(self, mark, r);
	tach__edges_add(self, mark, r, fenced);
	if (around)
		cost_end(&cost, record->residue.rescheduled[fenced], epoch, ended);
}

void tach__end_torn(struct tach_region_mark *mark, int fenced)
{
	struct tach__hot *self = tach__self;
	struct tach__reading r;

	if (TACH__GET(self->state) - 1 != mark->state ||
	    !tach__edges_stop(self, mark, mark->state + 1, &r, fenced)) {
		/* A handler took a cold exit, after this STOP had looked. */
		end_cold(mark, TACH_FLAG_RESCHEDULED, fenced);
		return;
	}
	tach__edges_since(self, mark, &r);
	/* Nothing changed for the leader: another page did, a handler came in between, or the
	 * instruction faulted. Its reads that were for nothing are counted in it. */
	if (!r.flags)
		r.flags = TACH_FLAG_RESCHEDULED;
	tach__end_read(mark, &r, fenced);
}

void tach__end_rescheduled(struct tach_region_mark *mark, int fenced)
{
	struct tach__reading r = {.flags = 0};

	r.delta[0] = tach__end_time(mark);
	memcpy(r.delta + 1, mark->counters.value + TACH__UNROLLED,
	       tach__self->count * sizeof *r.delta);
	memcpy(r.inside, mark->pairs, sizeof r.inside);
	tach__end_read(mark, &r, fenced);
}

/* ---- the edges as functions ---- */

TACH_STATIC_ASSERT(_Alignof(struct tach_region_mark) <= _Alignof(uint64_t), "malloc's will do");

size_t tach_region_mark_size(void)
{
	return sizeof(struct tach_region_mark);
}

void tach_region_begin(struct tach_site *site, struct tach_region_mark *mark)
{
	if (TACH_UNLIKELY(!site)) {
		mark->end = NULL;
		return;
	}
	tach__region_start(site, mark);
}

void tach_region_end(struct tach_region_mark *mark)
{
	tach__region_stop(mark);
}
