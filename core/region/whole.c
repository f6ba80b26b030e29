/* SPDX-License-Identifier: MIT */
/*
 * The entry that encloses a whole thread. `tach run` begins one in each thread. A report at the
 * end of the process counts open whole entries as if they ended now. Their threads continue to
 * run. They get no signal, and their data is not changed. The report reads the counts from the
 * mark, the descriptors and the slots, and adds them to its own copy.
 *
 * `calls` of the copied slot shows if the entry is counted in the copy. So an entry that ends
 * during the report is either already in the copy or added to it. A thread's reader stays open
 * while the lock is held.
 *
 * The mark is in the thread's record, which outlives the thread, even if it ended by calling
 * exit(2) directly.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "core/region/region.h"

enum { TRIES = 100, QUIET_TRIES = 4, INSIDE_MOST = 64 };

/* The counts of the entry if it ended now. */
struct so_far {
	struct tach__reading r;
	uint64_t children[TACH__CHILDREN_WORDS(TACH_COUNTERS_MAX)];
	/*
	 * Counts of nested regions that ended during the read. Self may be too large by them.
	 */
	uint64_t loose[TACH__SUMS];
};

/* The calling thread's entry, read before an exec. */
static struct {
	const struct tach__thread *record; /* NULL: not read; atomic */
	struct so_far so_far;
} noted;

void tach__whole_begin(struct tach_site *site)
{
	struct tach__thread *record;
	struct tach__held held;

	tach__configure_once();
	if (!tach__enabled_here() || tach__signals_held)
		return;
	tach__hold(&held);
	tach__thread_ready(TACH__SITE_FIRST - 1);
	tach__release(&held);
	record = tach__self->record;
	if (!record) {
		__atomic_fetch_add(&tach__registry.lost, 1, __ATOMIC_RELAXED);
		return;
	}
	if (record->whole.begun)
		return;
	record->whole.begun = 1;
	memcpy(record->whole.cold, record->cold, sizeof record->cold);
	tach_region_begin(site, &record->whole.mark);
	__atomic_store_n(&record->whole.open, 1, __ATOMIC_RELEASE);
}

void tach__whole_end(void)
{
	struct tach__thread *record = tach__self->record;

	if (record && record->whole.open)
		tach_region_end(&record->whole.mark);
}

int tach__is_whole_mark(const struct tach__thread *record, uintptr_t mark)
{
	return mark == (uintptr_t)&record->whole.mark;
}

/* ---- counts so far ---- */

/* Returns 1 if the entry is open in that copy of its slot. */
static int is_open(const struct tach__thread *record, const struct tach__slot *slot,
		   const struct tach__slot *copy)
{
	const struct tach_region_mark *mark = &record->whole.mark;

	return __atomic_load_n(&record->whole.open, __ATOMIC_ACQUIRE) && mark->part &&
	       tach__slot_of(record, mark->part) == slot &&
	       tach__part(copy, record->count, 0)->calls == 0 &&
	       tach__part(copy, record->count, 0)->ceiling != TACH__CEILING_OPEN;
}

/* Adds the counts of the regions that ended inside an open nested region, which will never be
 * stopped. */
static void add_unfinished(const struct tach__thread *record, const struct tach__slot *slot,
			   uint64_t *children)
{
	const uint64_t *now = (const uint64_t *)tach__children(slot, record->count, 1);
	const uint64_t *known = (const uint64_t *)tach__children(slot, record->count, 0);

	for (size_t i = 0; i < TACH__CHILDREN_WORDS(record->count); i++)
		children[i] += TACH__GET(now[i]) - TACH__GET(known[i]);
}

static int is_on_stack(struct tach__slot *const *stack, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (TACH__GET(stack[k]) == TACH__GET(stack[n]))
			return 1;
	return 0;
}

/* Returns 0 if more regions are open inside than this function checks. */
static int children_add(const struct tach__thread *record, const struct tach__slot *slot,
			uint64_t state, uint64_t *children)
{
	uint32_t level = TACH__LEVEL(record->whole.mark.state), n = TACH__LEVEL(state) - level;
	struct tach__slot *const *stack = tach__stack(record->hot, level) + 1;
	const uint64_t *from = (const uint64_t *)tach__children(slot, record->count, 1);

	for (size_t i = 0; i < TACH__CHILDREN_WORDS(record->count); i++)
		children[i] = TACH__GET(from[i]);
	for (uint32_t k = 1; k < n && k < INSIDE_MOST; k++)
		if (TACH__GET(stack[k]) && !is_on_stack(stack, k))
			add_unfinished(record, TACH__GET(stack[k]), children);
	return n <= INSIDE_MOST;
}

/*
 * Reads the sums of regions that ended inside, and the completed pairs. They change while the
 * slot of the innermost region is being written, which completes another pair. Returns 0 if
 * they are inconsistent, because the thread lost its processor during a change.
 */
static int read_children(const struct tach__thread *record, const struct tach__slot *slot,
			 uint64_t *children, uint64_t pairs[2])
{
	const struct tach__hot *hot = record->hot;

	for (int tries = 0; tries < TRIES; tries++) {
		uint64_t state = __atomic_load_n(&hot->state, __ATOMIC_ACQUIRE);
		struct tach__slot **innermost = tach__stack(hot, state);
		const struct tach__slot *inner = TACH__GET(*innermost);
		uint64_t seq = inner ? __atomic_load_n(&inner->seq, __ATOMIC_ACQUIRE) : 0;
		int all;

		for (int i = 0; i < 2; i++)
			pairs[i] = __atomic_load_n(&hot->pairs[i], __ATOMIC_ACQUIRE);
		all = children_add(record, slot, state, children);
		TACH__FENCE(__ATOMIC_ACQUIRE);
		if (!(seq & 1) && TACH__GET(*innermost) == inner &&
		    (!inner || TACH__GET(inner->seq) == seq) &&
		    TACH__GET(hot->pairs[0]) == pairs[0] && TACH__GET(hot->state) == state)
			return all;
	}
	return 0;
}

/* Reads the cost of slow paths inside the entry. Its STOP would subtract this cost (cost.h). */
static void read_cost(const struct tach__thread *record, uint64_t *spent)
{
	for (uint32_t i = 0; i <= record->count; i++)
		spent[i] = TACH__GET(record->cold[i]) - record->whole.cold[i];
}

/*
 * Returns 1 if the thread ended by calling exit(2) directly. Its counters stopped then, but the
 * clock did not.
 */
static int has_exited(const struct tach__thread *record)
{
	return tach__sys(SYS_tgkill, getpid(), record->tid, 0, 0, 0, 0) == -ESRCH;
}

/* Reads an open entry. If a region ends during the read, reads again, because the thread may
 * continue to run. Call it with the lock held. */
static void read_entry(const struct tach__thread *record, const struct tach__slot *slot,
		       struct so_far *at)
{
	const struct tach_region_mark *mark = &record->whole.mark;
	uint64_t later[TACH__CHILDREN_WORDS(TACH_COUNTERS_MAX)], pairs[2], after[2];
	uint64_t spent[TACH__SUMS];
	int whole, tries = 0;

	do {
		whole = read_children(record, slot, at->children, pairs);
		read_cost(record, spent);
		at->r.flags = 0;
		at->r.error = 0;
		if (record->count)
			at->r.flags = tach__reader_end_other(record->reader, &mark->counters,
							     at->r.delta + 1, &at->r.error);
		at->r.delta[0] = tach_clock() - mark->counters.clock;
		whole &= read_children(record, slot, later, after);
	} while (after[0] != pairs[0] && ++tries < QUIET_TRIES);
	for (int i = 0; i < 2; i++)
		at->r.inside[i] = pairs[i] - mark->pairs[i];
	for (uint32_t i = 0; i <= record->count; i++) {
		at->r.delta[i] -= at->r.flags & TACH_FLAG_LOST && i ? 0 : spent[i];
		at->loose[i] = ((struct tach__children *)later)->sum[i] -
			       ((struct tach__children *)at->children)->sum[i];
	}
	if (!whole || has_exited(record))
		at->r.flags |= TACH_FLAG_INCOMPLETE;
}

/* ---- before an exec ---- */

/* Reads the calling thread's own pages, as exactly as a STOP. */
int tach__whole_read(void)
{
	struct tach__hot *self = tach__self;
	struct tach__thread *record = self->record;
	struct so_far *at = &noted.so_far;
	uint64_t spent[TACH__SUMS], pairs[2];
	struct tach__slot *slot;

	if (!record || !record->whole.open || !record->whole.mark.end)
		return 0;
	while (!tach__edges_stop(self, &record->whole.mark, TACH__GET(self->state), &at->r, 0))
		;
	read_cost(record, spent);
	tach__edges_since(self, &record->whole.mark, &at->r);
	slot = tach__slot_of(record, record->whole.mark.part);
	if (!read_children(record, slot, at->children, pairs))
		at->r.flags |= TACH_FLAG_INCOMPLETE;
	memset(at->loose, 0, sizeof at->loose);
	for (uint32_t i = 0; i <= record->count; i++)
		at->r.delta[i] -= at->r.flags & TACH_FLAG_LOST && i ? at->r.delta[i] : spent[i];
	__atomic_store_n(&noted.record, record, __ATOMIC_RELEASE);
	return 1;
}

void tach__whole_forget(void)
{
	__atomic_store_n(&noted.record, NULL, __ATOMIC_RELEASE);
}

/* ---- in a report ---- */

/* Changes the slot as tach__entry_add and add_reading (stop.c) do. */
static void end_in_copy(const struct tach__thread *record, struct tach__slot *copy,
			const struct so_far *at)
{
	struct tach__part *part = tach__part(copy, record->count, 0);

	for (uint32_t i = 0; i <= record->count; i++)
		part->sum[i] += at->r.delta[i];
	for (int i = 0; i < 2; i++)
		part->nested[i] += at->r.inside[i];
	for (int i = 0; i < 6; i++)
		copy->provenance[i] += at->r.flags >> i & 1;
	memcpy(tach__children(copy, record->count, 0), at->children,
	       TACH__CHILDREN_WORDS(record->count) * sizeof(uint64_t));
	part->calls++;
	part->ceiling = TACH__CEILING_OPEN;
	if (record->inexact) {
		tach__inexact(copy, record->count)->inclusive += at->r.error;
		tach__inexact(copy, record->count)->self += at->r.error;
	}
}

void tach__whole_end_dead(struct tach__thread *record)
{
	struct tach__slot *slot =
		record->whole.mark.part ? tach__slot_of(record, record->whole.mark.part) : NULL;
	struct tach__held held;
	struct so_far at;

	if (!slot || (slot->seq & 1) || !is_open(record, slot, slot) ||
	    (record->count && !record->reader))
		return;
	tach__lock(&held);
	read_entry(record, slot, &at);
	tach__unlock(&held);
	TACH__ADD(slot->seq, 1);
	TACH__FENCE(__ATOMIC_RELEASE);
	end_in_copy(record, slot, &at);
	TACH__FENCE(__ATOMIC_RELEASE);
	TACH__ADD(slot->seq, 1);
}

/* Adds the entry to the sample if only some entries are measured, as `sample` (stop.c) does. */
static void sample(const struct tach__thread *record, struct tach__sampling *s,
		   const struct so_far *at)
{
	s->inside += TACH__GET(record->passed) - s->begun;
	s->below[0] = s->below[1];
	for (uint32_t i = 0; i <= record->count; i++)
		s->square[i] +=
			(double)(int64_t)at->r.delta[i] * (double)(int64_t)at->r.delta[i];
}

/*
 * Adds the missing counts to the copy's row. The entry has no STOP, so it does not include the
 * code of STOP. The subtracted overhead includes it, and may be too large by up to the whole
 * overhead.
 */
static void add_rest(const struct tach__thread *record, struct tach__row *row,
		     const struct tach__slot *slot, const struct so_far *at)
{
	const struct tach__overhead *o = &record->overhead;

	for (uint32_t i = 0; i <= record->count; i++) {
		row->cell[i].error[0] += o->empty[0][0][i];
		row->cell[i].error[1] += o->empty[0][0][i] + (double)at->loose[i];
	}
	if (slot->histograms && !(at->r.flags & TACH_FLAG_LOST) && row->histograms)
		tach__histograms_add(row->histograms, at->r.delta, &record->entry_cost, 0,
				     at->r.inside, record->count + 1);
}

/* Returns 0 if the thread ended its entry after the copy was made. */
static int end_copied_entry(struct tach__thread *record, const struct tach__slot *slot,
			    struct so_far *at)
{
	uint64_t seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);
	struct tach__held held;
	int open;

	if (__atomic_load_n(&noted.record, __ATOMIC_ACQUIRE) == record) {
		*at = noted.so_far;
		return 1;
	}
	tach__lock(&held);
	open = !(seq & 1) && (!record->count || record->reader) && is_open(record, slot, slot);
	if (open)
		read_entry(record, slot, at);
	tach__unlock(&held);
	return open && __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE) == seq;
}

static void row_add(struct tach__row *row, struct tach__slot *copy,
		    const struct tach__thread *record, const struct tach__slot *slot,
		    const struct so_far *at)
{
	struct tach__sampling sampling;

	end_in_copy(record, copy, at);
	if (copy->sampling) {
		sampling = *copy->sampling;
		sample(record, &sampling, at);
		copy->sampling = &sampling;
	}
	tach__row_add(row, copy, record);
	add_rest(record, row, slot, at);
}

int tach__whole_add(struct tach__row *row, struct tach__slot *copy, struct tach__thread *record,
		    const struct tach__slot *slot, struct tach__slot *latch)
{
	enum tach__copied how = TACH__COPIED;
	struct so_far at;

	for (int tries = 0; how == TACH__COPIED && is_open(record, slot, copy); tries++) {
		if (tries == TRIES)
			return TACH__COPIED_NOT;
		if (end_copied_entry(record, slot, &at)) {
			row_add(row, copy, record, slot, &at);
			return TACH__COPIED;
		}
		how = tach__slot_copy(copy, slot, latch, record->count);
	}
	if (how != TACH__COPIED_NOT)
		tach__row_add(row, copy, record);
	return how;
}

/* The regions that are open inside will never be stopped, so they count as lost. */
void tach__whole_count_lost(struct tach__rows *rows, const struct tach__thread *record)
{
	const struct tach_region_mark *mark = &record->whole.mark;
	uint32_t level = TACH__LEVEL(mark->state), top;
	struct tach__slot **stack;
	struct tach__held held;

	if (!__atomic_load_n(&record->whole.open, __ATOMIC_ACQUIRE) || !mark->part ||
	    TACH__GET(tach__part(tach__slot_of(record, mark->part), record->count, 0)->calls))
		return;
	top = TACH__LEVEL(TACH__GET(record->hot->state));
	stack = tach__stack(record->hot, level) + 1;
	tach__lock(&held);
	for (uint32_t k = 1; k < top - level && k < INSIDE_MOST; k++) {
		const struct tach__slot *slot = TACH__GET(stack[k]);
		struct tach__row *row = NULL;

		if (slot && slot->id >= TACH__SITE_FIRST &&
		    !(tach__site_at(slot->id)->fenced & TACH__SITE_OPEN))
			row = tach__rows_at(rows, tach__split_row(record, slot->id));
		if (row)
			row->lost++;
	}
	tach__unlock(&held);
}
