/* SPDX-License-Identifier: MIT */
/*
 * Cold exits of the inline edges: first entries, recursion, sampling, refused stops.
 *
 * What a cold exit costs must not show in the regions around it. It is measured with the
 * thread's own counters and added to the thread's totals, which takes it out of every enclosing
 * self; and the thread's epoch is advanced, so that the enclosing STOPs come here and take it
 * out of inclusive: the log has, for each epoch of this opening, what had been spent when it
 * began.
 */
#include <math.h>
#include <string.h>
#include "core/registry.h"

#define LOW_BITS ((1u << TACH__EPOCH_BITS) - 1)
enum { LOG_ROWS_MAX = 4096 };

/* ---- the cost of being here ---- */

struct cost {
	struct tach__thread *record; /* NULL: no region is open, nobody would pay */
	uint64_t clock;
	struct tach_mark mark;
};

static void cost_begin(struct cost *cost)
{
	struct tach__thread *record = tach__self->record;

	cost->record = NULL;
	if (!record)
		return;
	if (record->hot->open == 0) {
		/* Regions opened from now on begin in this epoch or later: older rows are of no
		 * use. */
		record->log_base = (uint32_t)record->hot->epoch & LOW_BITS;
		return;
	}
	cost->record = record;
	cost->clock = tach_clock();
	if (record->count)
		tach_begin(record->reader, &cost->mark);
}

/* The row of the present epoch: what had been spent when it began. */
static uint64_t *log_row(struct tach__thread *record, uint32_t low)
{
	size_t row = (1 + (size_t)record->count) * sizeof(uint64_t), size;
	uint32_t number = low - record->log_base;

	if (low < record->log_base || number >= LOG_ROWS_MAX)
		return NULL;
	size = tach__pages_round((number + 1) * row);
	if (size > record->log_size) {
		uint64_t *log = tach__pages_grow(record->log, record->log_size, size);

		if (!log)
			return NULL;
		record->log = log;
		record->log_size = size;
	}
	return record->log + number * (row / sizeof(uint64_t));
}

static void cost_end(const struct cost *cost)
{
	struct tach__thread *record = cost->record;
	uint64_t delta[TACH__SUMS], *row;
	struct tach_thread *hot;
	uint32_t low;

	/* Healing may have closed the last region, and the thread moved on to another set. */
	if (!record || tach__self->record != record)
		return;
	hot = record->hot;
	low = (uint32_t)hot->epoch & LOW_BITS;
	row = log_row(record, low);
	if (!row || low == LOW_BITS)
		return;
	memcpy(row, record->cold, (1 + (size_t)record->count) * sizeof *row);
	memset(delta, 0, sizeof delta);
	if (record->count)
		tach_end(record->reader, &cost->mark, delta + 1);
	delta[0] = tach_clock() - cost->clock;
	for (uint32_t i = 0; i <= record->count; i++) {
		delta[i] += record->cold_residue[i];
		record->cold[i] += delta[i];
		TACH__ADD(hot->total[i], delta[i]);
	}
	TACH__ADD(hot->epoch, 1);
}

/* A cold exit that has nothing to do: for calibration. */
void tach__cold_nothing(void)
{
	struct tach__held held;
	struct cost cost;

	tach__hold(&held);
	cost_begin(&cost);
	cost_end(&cost);
	tach__release(&held);
}

/* What STOP has to take out of an entry that began in an older epoch of this opening. */
static void cost_settle(struct tach__thread *record, struct tach_region_mark *mark,
			uint64_t *delta)
{
	const uint64_t *row = log_row(record, (uint32_t)mark->epoch & LOW_BITS);

	if (!row)
		return;
	for (uint32_t i = 0; i <= record->count; i++) {
		uint64_t spent = record->cold[i] - row[i];

		/* Base too: the totals have it, and self is reckoned from them. */
		mark->base[i] += spent;
		delta[i] -= spent;
	}
}

/* ---- START ---- */

/* Page faults are taken here, where they are reckoned as cost, not at the region's STOP. */
static void slot_touch(struct tach_slot *slot, const struct tach__thread *record)
{
	volatile uint64_t *last = &slot->sum[record->count].self;

	*last = 0;
	if (record->config->histograms)
		slot->histograms = tach__histograms_make(record->count + 1);
}

/* A slot's first entry in this thread. */
static void slot_ready(struct tach__thread *record, struct tach_site *home, uint32_t id)
{
	const struct tach__config *config = record->config;
	struct tach_slot *slot = tach__slot_at(record, id);
	const struct tach__site *site = tach__site_at(id);
	int gated = config->sparse > 1 || config->warmup;

	if (slot->id)
		return;
	if (!(record->calibrated >> site->calibrator & 1)) {
		tach__overhead_measure(record, site->calibrator, home->empty);
		record->calibrated |= 1u << site->calibrator;
	}
	slot_touch(slot, record);
	slot->calibrator = (uint16_t)site->calibrator;
	slot->fenced = (uint16_t)site->fenced;
	slot->gap = 0;
	slot->note = slot->histograms ? TACH__SLOT_NOTE : 0;
	slot->rest = gated ? 0 : TACH__CEILING_OPEN;
	TACH__SET(slot->ceiling, slot->rest);
	__atomic_store_n(&slot->id, id, __ATOMIC_RELEASE);
}

/* The calling thread with a slot for that site, or NULL. */
static struct tach_thread *ready(struct tach_site *home)
{
	uint32_t id = TACH__GET(home->id);
	struct tach_thread *self = tach__self;

	if (id < TACH__SITE_FIRST) {
		/* Calibrating, and somebody changes the set: we look again when that is done.
		 */
		TACH__SET(self->limit, ((struct tach__thread *)self->record)->limit);
		return self;
	}
	if (id == TACH_SITE_NEW) {
		struct tach__held held;

		tach__lock(&held);
		id = tach__site_register(home);
		tach__unlock(&held);
	}
	if (id == TACH_SITE_OFF || !tach_regions_enabled())
		return NULL;
	do {
		self = tach__thread_ready(id);
		if (!self) {
			__atomic_fetch_add(&tach__registry.lost, 1, __ATOMIC_RELAXED);
			return NULL;
		}
		slot_ready(self->record, home, id);
	} while (self->open == 0 && tach__thread_pending());
	return self;
}

void tach__region_begin_cold(struct tach_site *site, struct tach_region_mark *mark)
{
	struct tach_thread *self;
	struct tach__held held;
	struct cost cost;

	tach__configure_once();
	tach__hold(&held);
	cost_begin(&cost);
	self = ready(site);
	cost_end(&cost);
	tach__release(&held);
	if (self)
		tach__region_begin(site, mark, (int)site->fenced);
}

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
 * Entries not to measure: the first ones, and in sparse mode all but one in N. The gaps are
 * geometric, which makes every entry equally likely to be measured whatever the others were, so
 * the mean of those measured is an unbiased estimate of the mean of all.
 */
static int gated(struct tach__thread *record, struct tach_slot *slot)
{
	const struct tach__config *config = record->config;

	if (slot->excluded < config->warmup) {
		TACH__ADD(slot->excluded, 1);
		if (config->sparse <= 1 && slot->excluded == config->warmup) {
			slot->rest = TACH__CEILING_OPEN;
			TACH__SET(slot->ceiling, slot->rest);
		}
		return 1;
	}
	if (slot->gap == 0) {
		double keep = 1 - 1.0 / config->sparse;

		slot->gap = 1 + (uint64_t)(log1p(-uniform(&record->random)) / log(keep));
	}
	if (--slot->gap == 0)
		return 0;
	TACH__ADD(slot->skipped, 1);
	return 1;
}

void tach__region_begin_unusual(struct tach_thread *self, struct tach_slot *slot,
				struct tach_site *site, struct tach_region_mark *mark)
{
	struct tach__thread *record = self->record;
	uint32_t level, ceiling;
	int outermost = 1;

	if (slot->id == 0) {
		tach__region_begin_cold(site, mark);
		return;
	}
	tach__heal(record);
	level = TACH__GET(self->open);
	ceiling = TACH__GET(slot->ceiling);
	if (ceiling == 0) {
		if (gated(record, slot))
			return;
	} else if (level >= ceiling) {
		/* The same mark again: its first entry was left by a jump. Else a recursion. */
		if (slot->outer == mark)
			level = ceiling - 1;
		else
			outermost = 0;
	}
	if (outermost) {
		TACH__SET(slot->ceiling, level + 1);
		TACH__SET(slot->outer, (const void *)mark);
	}
	tach__region_open(self, slot, mark, level, outermost, (int)site->fenced);
}

/* ---- STOP ---- */

/* Its own thread still has the region open: it will heal when it next looks. */
static void orphan(const struct tach_region_mark *mark)
{
	struct tach__registry *r = &tach__registry;
	struct tach__thread *record;

	cds_list_for_each_entry(record, &r->threads, node)
	{
		if (record->folded ||
		    (record->hot->epoch ^ mark->epoch) >> TACH__EPOCH_BITS != 0)
			continue;
		if (record->norphans < TACH__ORPHANS) {
			uint32_t n = record->norphans;

			record->orphan[n].slot = mark->slot;
			record->orphan[n].mark = mark;
			__atomic_store_n(&record->norphans, n + 1, __ATOMIC_RELEASE);
		}
		return;
	}
}

/* A region that was open at a fork is nobody's in the child, and no fault of the program. */
static void refuse(struct tach_region_mark *mark)
{
	struct tach__registry *r = &tach__registry;
	struct tach__held held;

	tach__lock(&held);
	if (mark->epoch >> TACH__EPOCH_BITS > r->inherited) {
		r->refused++;
		orphan(mark);
	}
	tach__unlock(&held);
	mark->epoch = 0;
}

void tach__heal(struct tach__thread *record)
{
	struct tach_thread *hot = record->hot;
	struct tach__held held;

	if (__atomic_load_n(&record->norphans, __ATOMIC_ACQUIRE) == 0)
		return;
	tach__lock(&held);
	for (uint32_t i = 0; i < record->norphans; i++) {
		struct tach_slot *slot = record->orphan[i].slot;

		if (slot->outer == record->orphan[i].mark)
			TACH__SET(slot->ceiling, slot->rest);
		if (hot->open)
			TACH__ADD(hot->open, (uint32_t)-1);
	}
	record->norphans = 0;
	tach__unlock(&held);
}

void tach__region_end_cold(struct tach_region_mark *mark, int fenced)
{
	struct tach_thread *self = tach__self;
	uint64_t delta[TACH__SUMS];
	uint32_t flags = 0;

	if (!self->record || (self->epoch ^ mark->epoch) >> TACH__EPOCH_BITS != 0) {
		refuse(mark);
		return;
	}
	if (fenced)
		TACH_FENCE();
	delta[0] = tach_clock();
	if (self->count)
		flags = tach_end(self->reader, &mark->counters, delta + 1);
	delta[0] -= mark->counters.clock;
	cost_settle(self->record, mark, delta);
	tach__region_add(self, mark, delta, flags, fenced);
	if (TACH__GET(self->open) == 0 && tach__thread_pending())
		TACH__SET(self->limit, 0);
}

/* Inside the odd sequence, before the sums. */
void tach__region_note(struct tach_thread *self, struct tach_slot *slot,
		       const struct tach_region_mark *mark, uint64_t *delta, uint32_t flags)
{
	uint64_t nested = TACH__GET(self->pairs) - mark->pairs;

	for (int i = 0; i < 6; i++)
		if (flags >> i & 1)
			TACH__ADD(slot->provenance[i], 1);
	TACH__ADD(slot->direct_fenced, TACH__GET(self->children) >> 32);
	if (mark->outermost)
		TACH__ADD(slot->nested_fenced, nested >> 32);
	if (flags & TACH_LOST)
		memset(delta + 1, 0, self->count * sizeof *delta);
	else if (slot->histograms)
		tach__histograms_add(slot->histograms, delta, self->count + 1);
}

/* ---- the edges as functions ---- */

void tach_region_begin(struct tach_site *site, struct tach_region_mark *mark)
{
	tach__region_begin(site, mark, (int)site->fenced);
}

void tach_region_end(struct tach_region_mark *mark)
{
	tach__region_end(mark, mark->fenced);
}
