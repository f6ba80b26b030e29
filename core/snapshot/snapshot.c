/* SPDX-License-Identifier: MIT */
/* Takes a snapshot: totals of ended threads, then the slots of each live thread. Memory comes
 * in pages from the kernel, so that a handler of a deadly signal may take a snapshot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/rank.h"
#include "core/os/buffer.h"
#include "core/base/error.h"
#include "core/snapshot/snapshot.h"
#include "core/snapshot/turns.h"
#include "core/os/sys.h"

/* The data that a snapshot collects before the evaluation. */
struct gathering {
	struct tach_snapshot *s;
	/* the parts: one, or one for each set that takes turns */
	struct tach__took took[TACH__PASSES_MAX];
	int n;
	struct tach__order order; /* order of the entered regions */
	/* 1: also counts the open entries that enclose threads: core/region/whole.c */
	int final;
	struct tach__busy busy;
};

static struct tach__inexact read_inexact(const struct tach__slot *slot, uint32_t count)
{
	const struct tach__inexact *off = tach__inexact(slot, count);

	return (struct tach__inexact){TACH__GET(off->inclusive), TACH__GET(off->self)};
}

static uint32_t row_of(const struct tach__thread *record, uint32_t id)
{
	struct tach__held held;

	if (!(record->config->split.by & TACH__SPLIT_THREAD))
		return id;
	tach__lock(&held);
	id = tach__split_row(record, id);
	tach__unlock(&held);
	return id;
}

/* Adds a slot of a live thread, or one of its overflow slots. `id` is the slot's region. */
static void add_slot(struct gathering *g, struct tach__rows *rows, struct tach__thread *record,
		     const struct tach__slot *slot, uint32_t id, struct tach__slot *latch)
{
	union tach__slot_copy copy;
	enum tach__copied how;
	struct tach__row *row;

	memset(&copy, 0, sizeof copy);
	how = tach__slot_copy(&copy.slot, slot, latch, record->count);
	row = tach__rows_at(rows, row_of(record, id));
	if (!row)
		return;
	if (record->inexact)
		*tach__inexact(&copy.slot, record->count) = read_inexact(slot, record->count);
	if (tach__stack_was_full(record->hot))
		row->flags |= TACH_FLAG_INCOMPLETE;
	if (how == TACH__COPIED && g->final)
		how = tach__whole_add(row, &copy.slot, record, slot, latch);
	else if (how != TACH__COPIED_NOT)
		tach__row_add(row, &copy.slot, record);
	if (how != TACH__COPIED) {
		row->flags |= TACH_FLAG_STALE;
		g->s->stale++;
		/*
		 * siglongjmp may have left the code that writes this slot. So the thread's next
		 * START checks it.
		 */
		__atomic_store_n(&record->hot->limit, (uint64_t)0, __ATOMIC_SEQ_CST);
	}
}

/* Returns 1 if the region has no slot yet. It does not read pages of slots. */
static int is_unready(const struct tach__thread *record, uint32_t id)
{
	return TACH__GET(tach__table(record->hot)[id]) == &tach__slot_unready.slot;
}

static void add_thread(struct gathering *g, struct tach__rows *rows,
		       struct tach__thread *record)
{
	uint32_t limit = __atomic_load_n(&record->limit, __ATOMIC_ACQUIRE);

	if (record->config->split.by & TACH__SPLIT_THREAD) {
		struct tach__held held;

		tach__lock(&held);
		tach__split_name(record);
		tach__unlock(&held);
	}
	for (uint32_t id = TACH__SITE_FIRST; id < limit; id++) {
		struct tach__slot *slot = tach__slot_at(record, id);

		if (!(g->final && is_unready(record, id)) &&
		    __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE))
			add_slot(g, rows, record, slot, id,
				 g->final ? NULL : tach__latch_at(record, id));
	}
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		uint32_t id = TACH__GET(record->overflow_id[i]);

		if (id)
			add_slot(g, rows, record, record->overflow[i], id,
				 tach__latch_overflow(record, i));
	}
	tach__overtaken_flag(rows, record);
	if (g->final)
		tach__whole_count_lost(rows, record);
	g->s->threads++;
}

/* Call it with the lock. Makes one part for each set that takes turns. */
static int take_sets(struct gathering *g)
{
	struct tach__config *first = tach__registry.config, *config = first;
	int code = 0;

	do {
		struct tach__took *took = &g->took[g->n++];

		took->config = config;
		config->refs++;
		g->s->threads += config->ended;
		tach__rows_init(&took->rows, config->count);
		if (!code)
			code = tach__rows_copy(&took->rows, &config->rows);
		config = config->ring.next;
	} while (config && config != first);
	return code;
}

/* With the lock: takes the set, the totals of ended threads, and the number of the last
 * fold. */
static int take_totals(struct gathering *g, uint64_t *folds)
{
	struct tach__registry *r = &tach__registry;
	struct tach_snapshot *s = g->s;

	if (!r->config)
		return TACH_ERR_STATE;
	*folds = r->folds;
	s->refused = r->refused;
	s->unopened = r->unopened;
	s->lost = __atomic_load_n(&r->lost, __ATOMIC_RELAXED);
	snprintf(s->note, sizeof s->note, "%s", r->config->note);
	tach__notes_add(s);
	return take_sets(g);
}

/* Adds the threads of the list. Threads that ended since take_totals are still there. */
static void add_threads(struct gathering *g, uint64_t folds)
{
	struct tach__thread *record;

	tach__busy_look(&g->busy);
	cds_list_for_each_entry_rcu(record, &tach__registry.threads, node)
	{
		uint64_t folded;

		TACH__ACQUIRED(record);
		folded = __atomic_load_n(&record->folded, __ATOMIC_ACQUIRE);
		for (int k = 0; k < g->n && (!folded || folded > folds); k++)
			if (record->config == g->took[k].config)
				add_thread(g, &g->took[k].rows, record);
		tach__busy_add(&g->busy, record);
	}
}

static int walk(struct gathering *g)
{
	struct tach__held held;
	uint64_t folds = 0;
	int code;

	tach__lock(&held);
	code = take_totals(g, &folds);
	tach__walk_begin();
	tach__unlock(&held);
	/* Block signals once, not for each thread. */
	if (g->final)
		tach__hold(&held);
	if (code == 0)
		add_threads(g, folds);
	if (g->final)
		tach__release(&held);
	tach__walk_end();
	return code;
}

/* ---- the whole ---- */

static pid_t taker; /* the thread that has the lock; 0: no thread */

/* Takes the lock of snapshots. A handler must not wait for a snapshot of the thread that it
 * interrupted. So no handler may run between taking the lock and setting `taker`. */
static int enter(void)
{
	pid_t self = (pid_t)syscall(SYS_gettid);
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

/* Clears `taker` before the unlock. After the unlock, another thread may already have set
 * it. */
static void release_turn(void)
{
	struct tach__held held;

	tach__hold(&held);
	__atomic_store_n(&taker, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(tach__snapshots_lock());
	tach__release(&held);
}

static int order_make(struct gathering *g)
{
	struct tach__rows total;
	int code;

	if (g->n == 1)
		return tach__order_make(&g->order, &g->took[0].rows);
	code = tach__turns_total(&total, g->took, g->n);
	if (!code)
		code = tach__order_make(&g->order, &total);
	tach__rows_free(&total);
	return code;
}

/* Releases the sets. The snapshot keeps the first one, because it has the names. */
static void let_go(struct gathering *g)
{
	struct tach__held held;

	for (int k = 0; k < g->n; k++)
		tach__rows_free(&g->took[k].rows);
	if (!g->n)
		return;
	g->s->config = g->took[0].config;
	tach__lock(&held);
	for (int k = 1; k < g->n; k++)
		tach__config_drop(g->took[k].config);
	tach__unlock(&held);
}

/* Collects all data. One thread at a time may do this. */
static int gather(struct gathering *g, int *busy)
{
	int cancel, ignored, code;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	*busy = code = enter();
	if (code == 0) {
		code = walk(g);
		for (int k = 0; k < g->n && !code; k++)
			code = tach__team_rows(&g->took[k].rows);
		if (code == 0)
			code = order_make(g);
		release_turn();
	}
	pthread_setcancelstate(cancel, &ignored);
	return code;
}

static void note_others(struct tach_snapshot *s, const struct tach__busy *busy)
{
	if (!tach__teams_were_joined() && tach__busy_others(busy, s->clock_hz))
		tach__snapshot_note(s, "counts are of the calling thread only: threads without "
				       "a region were busy meanwhile (tach_team(3))");
}

static int take(struct tach_snapshot *s, int final, int *busy)
{
	struct gathering g = {.s = s, .final = final};
	int code = gather(&g, busy);
	struct tach__held held;

	if (code == 0) {
		tach__lock(&held);
		tach__origin_take(&s->origin);
		tach__unlock(&held);
		s->reports = 1;
		s->rank = 1 + tach__rank();
		s->clock_hz =
			tach__clock_hz(TACH__CLOCK_SOON, &s->clock_flags, &s->clock_error);
		note_others(s, &g.busy);
		s->config = g.took[0].config;
		s->generation = s->config->generation;
		code = g.n > 1 ? tach__turns_evaluate(s, g.took, g.n, &g.order)
			       : tach__snapshot_evaluate(s, &g.took[0].rows, g.order.id,
							 g.order.n);
	}
	tach__order_free(&g.order);
	let_go(&g);
	return code;
}

static int take_here(struct tach_snapshot **out, int final, struct tach_error *err)
{
	struct tach_snapshot *s;
	int busy, code;

	if (!out)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "nowhere to put the snapshot");
	*out = NULL;
	if (tach__signals_held)
		return tach__error(err, TACH_ERR_STATE, 0, 0,
				   "a handler interrupted the library in this thread");
	s = tach__pages(sizeof *s);
	if (!s)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	code = take(s, final, &busy);
	if (code) {
		tach_snapshot_free(s);
		return tach__error(err, code, 0, 0, "%s",
				   busy			    ? "this thread is taking a snapshot"
				   : code == TACH_ERR_STATE ? "regions were never switched on"
							    : "out of memory");
	}
	*out = s;
	return 0;
}

int tach__snapshot_take_here(struct tach_snapshot **out, struct tach_error *err)
{
	return take_here(out, 0, err);
}

int tach__snapshot_take_final(struct tach_snapshot **out, struct tach_error *err)
{
	return take_here(out, 1, err);
}

/* Another copy of the library passes its snapshot as JSON, because it may have another
 * version. */
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

	if (out && tach__beacon_is_excluded())
		return tach__beacon_refuse(err);
	return out && owner ? take_from(owner, out, err) : tach__snapshot_take_here(out, err);
}
