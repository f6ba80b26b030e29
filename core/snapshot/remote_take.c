/* SPDX-License-Identifier: MIT */
/*
 * Takes a snapshot of another process. Takes no lock there and changes nothing. Threads of the
 * process change some data with the registry's lock held. This data is accepted if the lock was
 * free before and after the read, and if no counter of changes differs. Otherwise the data is
 * read again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/set/set.h"
#include "core/snapshot/remote.h"
#include "core/snapshot/snapshot.h"

enum { TRIES = 100, MOMENTS = 64, ROUNDS = 64, REST_AFTER = 20, REST_NS = 1000000 };

struct taking {
	struct tach__remote *remote;
	const struct tach__beacon *beacon;
	const struct tach__registry *at;
	struct tach__registry registry; /* local copy of the registry, with remote pointers */
	struct tach__config config;	/* with local pointers */
	const struct tach__config *config_at;
	uint32_t generation;
	struct tach__rows rows;
	struct tach__remote_rows totals; /* totals from the last call of moment() */
	struct tach__remote_live live;
	uint32_t nsites;
	struct tach__site *site; /* by id */
	struct tach_snapshot s;
	int last; /* 1: last try, which leaves out threads that end; the note says so */
};

/* ---- the registry ---- */

static int registry_get(struct taking *t)
{
	struct tach__process process;
	int code = tach__remote_get(
		t->remote, tach__remote_at(t->beacon, offsetof(struct tach__beacon, registry)),
		&t->at, sizeof t->at);

	if (!code)
		code = tach__remote_get(t->remote, t->at, &t->registry, sizeof t->registry);
	TACH__FENCE(__ATOMIC_SEQ_CST);
	if (!code && t->registry.busy)
		code = TACH__REMOTE_AGAIN;
	if (!code && (!t->registry.config || !t->registry.page))
		code = TACH_ERR_STATE;
	if (!code)
		code = tach__remote_get(t->remote, t->registry.page, &process, sizeof process);
	/* A child of fork that has not entered a region: the data belongs to its parent. */
	if (!code && !process.alive)
		code = TACH_ERR_STATE;
	t->nsites = t->registry.nsites;
	if (t->nsites > TACH__CHUNKS * TACH__CHUNK_SLOTS)
		t->nsites = TACH__CHUNKS * TACH__CHUNK_SLOTS;
	return code;
}

static int registry_check(struct taking *t)
{
	struct tach__registry now;
	int code;

	TACH__FENCE(__ATOMIC_SEQ_CST);
	code = tach__remote_get(t->remote, t->at, &now, sizeof now);
	if (!code && (now.busy || now.openings != t->registry.openings ||
		      now.folds != t->registry.folds || now.config != t->registry.config ||
		      now.generation != t->registry.generation))
		code = TACH__REMOTE_AGAIN;
	return code;
}

static int config_get(struct taking *t)
{
	struct tach__config *c = &t->config;
	struct tach__rows totals;
	const struct tach_set *set;
	int code = tach__remote_get(t->remote, t->registry.config, c, sizeof *c);

	t->config_at = t->registry.config;
	t->generation = t->registry.generation;
	set = c->set;
	totals = c->rows;
	c->set = NULL;
	c->next = NULL;
	memset(&c->rows, 0, sizeof c->rows);
	c->note[sizeof c->note - 1] = '\0';
	if (!code)
		code = tach__remote_set(t->remote, set, &c->set);
	if (!code && c->count != (uint32_t)c->set->count)
		code = TACH__REMOTE_AGAIN;
	if (code)
		return code;
	if (c->worst > TACH__WORST_MOST || c->worst_by > c->count)
		c->worst = 0;
	tach__rows_init(&t->rows, c->count);
	t->totals.stride = t->rows.stride;
	t->totals.count = t->rows.count;
	code = tach__remote_rows_read(t->remote, &totals, t->nsites, &t->totals);
	return code ? code : tach__remote_rows_own(t->remote, c, &t->totals, &t->rows, 1);
}

static int config_changed(const struct taking *t)
{
	return t->registry.config != t->config_at || t->registry.generation != t->generation;
}

static int totals_get(struct taking *t)
{
	struct tach__rows totals;
	int code = tach__remote_get(
		t->remote, tach__remote_at(t->config_at, offsetof(struct tach__config, rows)),
		&totals, sizeof totals);

	if (!code)
		code = tach__remote_get(
			t->remote,
			tach__remote_at(t->config_at, offsetof(struct tach__config, ended)),
			&t->config.ended, sizeof t->config.ended);
	return code ? code : tach__remote_rows_read(t->remote, &totals, t->nsites, &t->totals);
}

/* Lists the live threads of the set. The result is valid if the list did not change. */
static int threads_get(struct taking *t)
{
	const void *end = tach__remote_at(t->at, offsetof(struct tach__registry, threads));
	const struct cds_list_head *node = t->registry.threads.next, *earlier = NULL;
	int code = 0;

	tach__remote_live_list(&t->live);
	for (uint32_t i = 0; node != end && !code; i++) {
		const struct tach__thread *at =
			tach__remote_at(node, 0 - offsetof(struct tach__thread, node));
		struct tach__remote_thread thread = {.at = at};
		struct tach__thread head;

		/*
		 * Detects a cycle: the walk then reaches the node that was kept at the last
		 * power of two.
		 */
		if (i == TACH__REMOTE_THREADS || node == earlier)
			return TACH__REMOTE_AGAIN;
		if ((i & (i - 1)) == 0)
			earlier = node;
		code = tach__remote_get(t->remote, at, &head,
					offsetof(struct tach__thread, destructions));
		if (!code && !head.folded && head.config == t->registry.config) {
			thread.hot = head.hot;
			code = tach__remote_get(
				t->remote,
				tach__remote_at(head.hot, offsetof(struct tach__hot, state)),
				&thread.state, sizeof thread.state);
			/* State 0: the thread was folded after its head was read. */
			if (!code && thread.state == 0)
				code = TACH__REMOTE_AGAIN;
			tach__remote_live_put(&t->live, &thread);
		}
		node = head.node.next;
	}
	return code;
}

/* ---- describing it ---- */

/* Reads sites of regions that enclose worst entries. An open region may have no row. */
static int parents_get(struct taking *t, const struct tach__worst *worst)
{
	int code = 0;

	for (uint64_t i = 0; worst && i < worst->n && !code; i++) {
		uint64_t *parent = &tach__worst_at(worst, i)->parent;

		if (*parent >= t->rows.limit || *parent >= t->nsites)
			*parent = 0;
		if (*parent >= TACH__SITE_FIRST && !t->site[*parent].name)
			code = tach__remote_site(t->remote, t->registry.by_id,
						 (uint32_t)*parent, &t->site[*parent]);
	}
	return code;
}

static int sites_get(struct taking *t)
{
	int code = 0;

	t->site = calloc(t->rows.limit + 1, sizeof *t->site);
	if (!t->site)
		return TACH_ERR_NOMEM;
	for (uint32_t id = TACH__SITE_FIRST; id < t->rows.limit && !code; id++)
		if (tach__row_is_used(tach__rows_row(&t->rows, id)))
			code = tach__remote_site(t->remote, t->registry.by_id, id,
						 &t->site[id]);
	for (uint32_t id = TACH__SITE_FIRST; id < t->rows.limit && !code; id++)
		code = parents_get(t, tach__rows_row(&t->rows, id)->worst);
	return code;
}

static void describe_set(struct taking *t)
{
	struct tach_snapshot *s = &t->s;
	const struct tach__registry *r = &t->registry;
	char why[sizeof r->open_error.text];

	s->threads = t->config.ended + t->live.n;
	s->refused = r->refused;
	s->lost = r->lost;
	s->unopened = r->unopened;
	s->reports = 1;
	s->generation = t->config.generation;
	snprintf(s->note, sizeof s->note, "%s%s%s", t->config.note,
		 t->config.ring.next && *t->config.note ? "; " : "",
		 t->config.ring.next ? "sets of events take turns there: this is the first one"
				     : "");
	memcpy(why, r->open_error.text, sizeof why);
	why[sizeof why - 1] = '\0';
	if (r->unopened)
		snprintf(s->note + strlen(s->note), sizeof s->note - strlen(s->note),
			 "%s%u threads have the clock alone: %s", *s->note ? "; " : "",
			 r->unopened, why);
	s->clock_hz = tach__clock_hz(TACH__CLOCK_EXACT, &s->clock_flags, &s->clock_error);
}

/* ---- the whole ---- */

/* Reads the totals and the list of live threads, while no thread begins or ends. */
static int moment(struct taking *t)
{
	int code = registry_get(t);

	if (!code && config_changed(t))
		code = TACH__REMOTE_AGAIN;
	if (!code)
		code = totals_get(t);
	if (!code)
		code = threads_get(t);
	if (!code)
		code = registry_check(t);
	return code;
}

/*
 * Reads totals and threads. Histograms and worst entries are much larger than their rows:
 * during their read more threads may end, in every retry. So a retry reads only the data that
 * can be read quickly.
 */
static int moments(struct taking *t)
{
	int code = TACH__REMOTE_AGAIN;

	for (int i = 0; i < MOMENTS && code == TACH__REMOTE_AGAIN && !config_changed(t); i++)
		code = moment(t);
	return code ? code
		    : tach__remote_rows_own(t->remote, &t->config, &t->totals, &t->rows, 0);
}

/* Reads the live threads. Each thread in the result existed at the end of the last try. */
static int live_get(struct taking *t)
{
	int code = tach__remote_live_begin(&t->live, t->remote, t->config.count);
	uint32_t ended = 1;

	for (int i = 0; i < ROUNDS && ended && code != TACH_ERR_NOMEM; i++) {
		ended = 0;
		code = moments(t);
		if (!code)
			code = tach__remote_live_follow(&t->live);
		if (!code)
			code = tach__remote_live_read(&t->live, &t->config, t->nsites, &ended);
	}
	if (code == TACH__REMOTE_AGAIN && ended && t->last) {
		t->s.stale += ended;
		code = 0;
	}
	return code ? code : tach__remote_live_add(&t->live, &t->rows, &t->s.stale);
}

static int try_take(struct taking *t)
{
	int code = registry_get(t);

	if (!code)
		code = config_get(t);
	if (!code)
		code = live_get(t);
	return code ? code : sites_get(t);
}

static void free_attempt(struct taking *t)
{
	tach__remote_live_free(&t->live);
	tach__rows_free(&t->rows);
	tach_set_free(t->config.set);
	t->config.set = NULL;
	free(t->site);
	t->site = NULL;
	t->s.stale = 0;
}

/* Returns a copy that has its own strings, which merging makes. */
static int finish(struct taking *t, struct tach_snapshot **out)
{
	const struct tach_snapshot *list = &t->s;
	struct tach__order order;
	int code = tach__order_make(&order, &t->rows);

	describe_set(t);
	t->s.config = &t->config;
	t->s.sites = t->site;
	if (!code)
		code = tach__snapshot_evaluate(&t->s, &t->rows, order.id, order.n);
	if (!code)
		code = tach_snapshot_merge(&list, 1, out, NULL);
	tach__pages_free(t->s.plain.pages, t->s.plain.pages_size);
	tach__order_free(&order);
	return code;
}

static int refuse(int code, struct tach_error *err)
{
	if (code == TACH_ERR_STATE)
		return tach__error(err, code, 0, 0,
				   "no region was entered yet, or regions are not switched on "
				   "(TACH_ENABLE=1)");
	if (code == TACH__REMOTE_AGAIN)
		return tach__error(err, TACH_ERR_STATE, 0, 0,
				   "its regions cannot be read completely: it is ending, "
				   "starting another program, or damaged");
	if (code == TACH_ERR_NOMEM)
		return tach__error(err, code, 0, 0, "out of memory");
	if (code == TACH_ERR_TOOMANY)
		return tach__error(err, code, 0, 0,
				   "its regions are too many to be read, or damaged");
	return tach__error(err, code, 0, 0, "its memory cannot be read: %s",
			   tach_strerror(code));
}

int tach__remote_take(struct tach__remote *r, const struct tach__beacon *beacon,
		      struct tach_snapshot **out, struct tach_error *err)
{
	struct taking *t = calloc(1, sizeof *t);
	int code = TACH_ERR_NOMEM;

	*out = NULL;
	if (t) {
		t->remote = r;
		t->beacon = beacon;
	}
	for (int try = 0; t && (try == 0 || code == TACH__REMOTE_AGAIN) && try < TRIES; try++) {
		if (try > REST_AFTER)
			tach__remote_sleep(r, REST_NS);
		t->last = try + 1 == TRIES;
		free_attempt(t);
		r->memory = 0;
		code = try_take(t);
	}
	if (!code)
		code = finish(t, out);
	if (code)
		code = refuse(code, err);
	if (t) {
		free_attempt(t);
		tach__pages_free(t->totals.base, t->totals.size);
	}
	free(t);
	tach__arena_free(&r->arena);
	return code;
}
