/* SPDX-License-Identifier: MIT */
/*
 * Taking a snapshot: totals of ended threads, then every live thread's slots. Memory comes in
 * pages from the kernel, so that a handler of a deadly signal may take one.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/region/region.h"
#include "core/os/buffer.h"
#include "core/base/error.h"
#include "core/snapshot/snapshot.h"
#include "core/os/sys.h"

/* A slot of a live thread, or one of its overflow; `id` is the region it belongs to. */
static void add_slot(struct tach_snapshot *s, struct tach__thread *record,
		     const struct tach__slot *slot, uint32_t id, struct tach__slot *latch)
{
	union tach__slot_copy copy;
	enum tach__copied how;
	struct tach__row *row;

	memset(&copy, 0, sizeof copy);
	how = tach__slot_copy(&copy.slot, slot, latch, record->count);
	row = tach__rows_at(&s->rows, id);
	if (!row)
		return;
	if (how != TACH__COPIED) {
		row->flags |= TACH_FLAG_STALE;
		s->stale++;
		/* Its writer may have been left by siglongjmp: its thread's next START looks.
		 */
		__atomic_store_n(&record->hot->limit, (uint64_t)0, __ATOMIC_SEQ_CST);
	}
	if (how != TACH__COPIED_NOT)
		tach__row_add(row, &copy.slot, record);
}

static void add_thread(struct tach_snapshot *s, struct tach__thread *record)
{
	uint32_t limit = __atomic_load_n(&record->limit, __ATOMIC_ACQUIRE);

	for (uint32_t id = TACH__SITE_FIRST; id < limit; id++) {
		struct tach__slot *slot = tach__slot_at(record, id);

		if (__atomic_load_n(&slot->id, __ATOMIC_ACQUIRE))
			add_slot(s, record, slot, id, tach__latch_at(record, id));
	}
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		uint32_t id = TACH__GET(record->overflow_id[i]);

		if (id)
			add_slot(s, record, record->overflow[i], id,
				 tach__latch_overflow(record, i));
	}
	s->threads++;
}

__attribute__((format(printf, 2, 3))) static void note(struct tach_snapshot *s,
						       const char *format, ...)
{
	size_t used = strlen(s->note);
	va_list args;

	if (used && used + 2 < sizeof s->note)
		used = (size_t)(stpcpy(s->note + used, "; ") - s->note);
	va_start(args, format);
	vsnprintf(s->note + used, sizeof s->note - used, format, args);
	va_end(args);
}

/* With the lock. A filter that lets nothing through is a slip of the pen. */
static void judge_filter(struct tach_snapshot *s)
{
	const struct tach__registry *r = &tach__registry;
	const struct tach__site *site;
	unsigned sites = 0, selected = 0;

	cds_list_for_each_entry(site, &r->sites, node)
	{
		sites++;
		selected += site->selected != 0;
	}
	if (sites && !selected)
		note(s, "TACH_REGIONS, '%s', fits none of the %u regions that were entered",
		     r->only, sites);
}

/* With the lock: the set, the totals of threads that ended, and the number of the last of them.
 */
static int take_totals(struct tach_snapshot *s, uint64_t *folds)
{
	struct tach__registry *r = &tach__registry;

	if (!r->config)
		return TACH_ERR_STATE;
	s->config = r->config;
	s->config->refs++;
	*folds = r->folds;
	s->threads = r->config->ended;
	s->refused = r->refused;
	s->unopened = r->unopened;
	s->lost = __atomic_load_n(&r->lost, __ATOMIC_RELAXED);
	snprintf(s->note, sizeof s->note, "%s", r->config->note);
	if (r->unopened)
		note(s, "%u threads have the clock alone: %s", r->unopened, r->open_error.text);
	if (*tach__beacon.others)
		note(s, "%s", tach__beacon.others);
	judge_filter(s);
	tach__rows_init(&s->rows, r->config->count);
	return tach__rows_copy(&s->rows, &r->config->rows);
}

/* Threads that ended since take_totals are still in the list, and counted here. */
static void add_threads(struct tach_snapshot *s, uint64_t folds)
{
	struct tach__thread *record;

	cds_list_for_each_entry_rcu(record, &tach__registry.threads, node)
	{
		uint64_t folded;

		TACH__ACQUIRED(record);
		folded = __atomic_load_n(&record->folded, __ATOMIC_ACQUIRE);
		if (record->config == s->config && (!folded || folded > folds))
			add_thread(s, record);
	}
}

static int walk(struct tach_snapshot *s)
{
	struct tach__held held;
	uint64_t folds = 0;
	int code;

	tach__lock(&held);
	code = take_totals(s, &folds);
	tach__walk_begin();
	tach__unlock(&held);
	if (code == 0)
		add_threads(s, folds);
	tach__walk_end();
	return code;
}

/* ---- the order in which regions are shown ---- */

static const struct tach__row *row_of(const struct tach_snapshot *s, uint32_t id)
{
	return (const struct tach__row *)(const void *)(s->rows.base +
							(size_t)id * s->rows.stride);
}

/* By descending time, then as they were made. */
static int comes_before(const struct tach_snapshot *s, uint32_t x, uint32_t y)
{
	uint64_t p = row_of(s, x)->cell[0].inclusive, q = row_of(s, y)->cell[0].inclusive;

	return p != q ? p > q : x < y;
}

/* Lets the one at the root of a heap, whose last comes first, sink to its place. */
static void sink(const struct tach_snapshot *s, uint32_t root, uint32_t n)
{
	uint32_t *order = s->order, id = order[root], kid;

	for (; (kid = 2 * root + 1) < n; root = kid) {
		if (kid + 1 < n && comes_before(s, order[kid], order[kid + 1]))
			kid++;
		if (!comes_before(s, id, order[kid]))
			break;
		order[root] = order[kid];
	}
	order[root] = id;
}

/* Not qsort, which may use malloc. */
static void sort(const struct tach_snapshot *s, uint32_t n)
{
	for (uint32_t i = n / 2; i-- > 0;)
		sink(s, i, n);
	while (n-- > 1) {
		uint32_t last = s->order[0];

		s->order[0] = s->order[n];
		s->order[n] = last;
		sink(s, 0, n);
	}
}

static size_t order_size(const struct tach_snapshot *s)
{
	return (s->rows.limit + 1) * sizeof *s->order;
}

static int make_order(struct tach_snapshot *s)
{
	uint32_t n = 0;

	s->order = tach__pages(order_size(s));
	if (!s->order)
		return TACH_ERR_NOMEM;
	for (uint32_t id = TACH__SITE_FIRST; id < s->rows.limit; id++) {
		const struct tach__row *row = row_of(s, id);

		if (row->calls || row->skipped || row->excluded || row->lost || row->flags)
			s->order[n++] = id;
	}
	sort(s, n);
	s->nregions = (int)n;
	return 0;
}

/* ---- the whole ---- */

static pid_t taker; /* the process that has the lock; 0: none */

/*
 * A handler must not wait for the snapshot of the thread that it interrupted, so none comes
 * between taking the lock and saying so.
 */
static int enter(void)
{
	pid_t self = (pid_t)gettid();
	struct tach__held held;
	int code = 0;

	tach__hold(&held);
	if (pthread_mutex_trylock(tach__snapshots_lock()) != 0) {
		if (__atomic_load_n(&taker, __ATOMIC_RELAXED) == self)
			code = TACH_ERR_STATE;
		else
			pthread_mutex_lock(tach__snapshots_lock());
	}
	if (code == 0)
		__atomic_store_n(&taker, self, __ATOMIC_RELAXED);
	tach__release(&held);
	return code;
}

/* Else a thread would find itself in there when the next one has not said so yet. */
static void leave(void)
{
	struct tach__held held;

	tach__hold(&held);
	__atomic_store_n(&taker, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(tach__snapshots_lock());
	tach__release(&held);
}

int tach__snapshot_take_here(struct tach_snapshot **out, struct tach_error *err)
{
	struct tach_snapshot *s;
	int busy, code, cancel, ignored;

	if (!out)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "nowhere to put the snapshot");
	*out = NULL;
	if (tach__signals_held)
		return tach__error(err, TACH_ERR_STATE, 0, 0,
				   "a handler interrupted the library in this thread");
	s = tach__pages(sizeof *s);
	if (!s)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	busy = code = enter();
	if (code == 0) {
		code = walk(s);
		if (code == 0)
			code = make_order(s);
		leave();
	}
	pthread_setcancelstate(cancel, &ignored);
	if (code) {
		tach_snapshot_free(s);
		return tach__error(err, code, 0, 0, "%s",
				   busy			    ? "this thread is taking a snapshot"
				   : code == TACH_ERR_STATE ? "regions were never switched on"
							    : "out of memory");
	}
	s->reports = 1;
	s->clock_hz = tach__clock_hz(TACH__CLOCK_SOON, &s->clock_flags, &s->clock_error);
	*out = s;
	return 0;
}

/* From another copy, of another version perhaps, comes what a report says. */
static int take_from(const struct tach__beacon *owner, struct tach_snapshot **out,
		     struct tach_error *err)
{
	struct tach__buffer text = {0};
	int code = owner->json(tach__buffer_sink, &text, err);

	*out = NULL;
	if (code == 0)
		code = tach_snapshot_load(text.at, text.length, out, err);
	tach__buffer_free(&text);
	return code;
}

int tach_snapshot_take(struct tach_snapshot **out, struct tach_error *err)
{
	const struct tach__beacon *owner = tach__beacon_owner();

	if (out && tach__beacon_alone())
		return tach__beacon_refuse(err);
	return out && owner ? take_from(owner, out, err) : tach__snapshot_take_here(out, err);
}

void tach_snapshot_free(struct tach_snapshot *s)
{
	struct tach__held held;

	if (!s)
		return;
	if (s->saved) {
		tach__saved_free(s->saved);
		free(s);
		return;
	}
	tach__pages_free(s->order, order_size(s));
	if (s->config) {
		tach__lock(&held);
		tach__config_drop(s->config);
		tach__unlock(&held);
		tach__rows_free(&s->rows);
		tach__configs_sweep();
	}
	tach__pages_free(s, sizeof *s);
}
