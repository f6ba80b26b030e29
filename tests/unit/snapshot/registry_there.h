/* SPDX-License-Identifier: MIT */
/*
 * A simulated registry of another process: one event, a region that ended threads entered, and
 * threads with scripted actions.
 */
#ifndef TESTS_UNIT_SNAPSHOT_REGISTRY_THERE_H
#define TESTS_UNIT_SNAPSHOT_REGISTRY_THERE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tach.h>
#include "core/set/set.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"
#include "tests/unit/snapshot/row.h"
#include "tests/unit/snapshot/there.h"

/* Numbers of reads: of the registry, of a set with its totals, of one try, of a site. */
enum {
	ID = TACH__SITE_FIRST,
	THREADS = 6,
	TEXTS = 64,
	BEFORE = 3,
	CONFIG = 4,
	MOMENT = 7,
	SITE = 2 + 1,
	FIRST = BEFORE + CONFIG + 1,
	LAST = BEFORE + CONFIG + MOMENT
};

static unsigned rests;

static inline void sim_rest(struct tach__remote *r, long ns)
{
	CHECK(r && ns == 1000000);
	rests++;
}

static inline double sim_clock(double apart, uint32_t *flags, double *error)
{
	CHECK(apart == TACH__CLOCK_EXACT);
	*flags = TACH_FLAG_CLOCK;
	*error = 0.5;
	return 1e9;
}

/* Calls about a thread, and the scripted answers. */
static int thread_code, threads_seen, again_at; /* at that one */
static uint32_t nsites_seen;
static struct tach__config config_seen;

static inline int sim_thread(struct tach__remote *remote,
			     const struct tach__remote_thread *thread,
			     struct tach__config *config, struct tach__rows *rows,
			     uint32_t nsites, uint64_t *stale)
{
	CHECK(remote && thread->state == 1 && thread->hot && thread->at);
	threads_seen++;
	nsites_seen = nsites;
	config_seen = *config;
	tach__rows_at(rows, ID + 1)->calls += 100;
	if (threads_seen == again_at)
		return TACH__REMOTE_AGAIN;
	if (thread_code == 0)
		(*stale)++;
	return thread_code;
}

static int sets_freed, rows_freed, pages_freed;

static inline void sim_set_free(struct tach_set *given)
{
	sets_freed += given != NULL;
	tach_set_free(given);
}

static inline void sim_rows_free(struct tach__rows *given)
{
	rows_freed += given->base != NULL;
	tach__rows_free(given);
}

static inline void sim_pages_free(void *pages, size_t size)
{
	pages_freed += pages != NULL;
	tach__pages_free(pages, size);
}

/* Each allocation is freed once: there are at most two at a time. */
static void *had[2];

static inline void *sim_calloc(size_t n, size_t size)
{
	void **to = had[0] ? &had[1] : &had[0];

	CHECK(!*to);
	return *to = calloc(n, size);
}

static inline void sim_free(void *at)
{
	void **from = had[0] == at ? &had[0] : &had[1];

	CHECK(!at || *from == at);
	if (at && *from == at) {
		*from = NULL;
		free(at);
	}
}

static inline int sim_merge(const struct tach_snapshot *const *list, int n,
			    struct tach_snapshot **out, struct tach_error *err)
{
	CHECK(n == 1);
	return tach_snapshot_merge(list, n, out, err);
}

#define tach_snapshot_merge	 sim_merge
#define calloc			 sim_calloc
#define free			 sim_free
#define tach__pages_free	 sim_pages_free
#define tach_set_free		 sim_set_free
#define tach__rows_free		 sim_rows_free
#define tach__remote_sleep	 sim_rest
#define tach__clock_hz		 sim_clock
#define tach__remote_thread(...) sim_thread(__VA_ARGS__)
#include "core/snapshot/remote_live.c"
#include "core/snapshot/remote_take.c"
#undef tach__rows_free
#undef tach__pages_free
#undef calloc
#undef free

static char words[TEXTS][64] __attribute__((aligned(64)));
static int nwords;
static struct tach__beacon beacon;
static struct tach__registry registry;
static struct tach__process page;
static struct tach__config config;
static struct tach_set set;
static struct tach__site site[ID + 8], *by_id[ID + 8];
static struct tach__thread thread[THREADS];
static struct tach__hot hot[THREADS];
static struct tach__remote remote;
static struct tach_error err = TACH_ERROR_INIT;

static inline char *word(const char *text)
{
	size_t at = sizeof words[0] * (size_t)(nwords % TEXTS);

	strcpy(words[nwords++ % TEXTS], text);
	return (char *)THERE_ELSEWHERE(0) + at;
}

static inline void link_threads(int n)
{
	struct cds_list_head *last = &registry.threads;

	for (int i = 0; i < n; i++) {
		last->next = &thread[i].node;
		last = last->next;
	}
	last->next = &registry.threads;
}

/* One event, a region that ended threads entered, and a region of live threads. */
static inline void begin(void)
{
	const char *other;

	there_forget();
	remote = there_remote();
	rests = 0;
	sets_freed = rows_freed = pages_freed = 0;
	nwords = thread_code = threads_seen = again_at = 0;
	there_as(THERE_ELSEWHERE(0), words, sizeof words);
	there(&beacon.registry, sizeof beacon.registry);
	there(&registry, sizeof registry);
	there(&page, sizeof page);
	there(&config, sizeof config);
	there(&set, sizeof set);
	there(by_id, sizeof by_id);
	there(site, sizeof site);
	there(thread, sizeof thread);
	there(hot, sizeof hot);
	memset(&registry, 0, sizeof registry);
	memset(&config, 0, sizeof config);
	memset(&set, 0, sizeof set);
	memset(thread, 0, sizeof thread);
	beacon.registry = &registry;
	page.alive = 1;
	set.count = 1;
	set.interrupts = -1;
	set.member[0].name = word("x");
	config.set = &set;
	config.count = 1;
	config.ended = 3;
	strcpy(config.note, "half");
	tach__rows_init(&config.rows, 1);
	ROW_SET(tach__rows_at(&config.rows, ID), .calls = 7, .outermost = 7);
	tach__rows_at(&config.rows, ID)->cell[0].inclusive = 1000;
	config.rows.limit = ID + 3;
	there(config.rows.base, (size_t)config.rows.limit * config.rows.stride);
	other = word("other");
	for (uint32_t i = 0; i < sizeof site / sizeof *site; i++) {
		by_id[i] = &site[i];
		site[i] = (struct tach__site){.id = i, .name = other};
	}
	for (int i = 0; i < THREADS; i++) {
		hot[i].state = 1;
		thread[i].hot = &hot[i];
		thread[i].config = &config;
	}
	site[ID].name = word("ended");
	site[ID + 1].name = word("live");
	registry.config = &config;
	registry.page = &page;
	registry.by_id = by_id;
	registry.nsites = ID + 4;
	registry.refused = 11;
	registry.lost = 12;
	link_threads(0);
}

static inline struct tach_snapshot *take(int code)
{
	struct tach_snapshot *s = NULL;
	int is = tach__remote_take(&remote, &beacon, &s, &err);

	CHECK(is == code && (is == 0) == (s != NULL) && (is == 0 || err.code == is),
	      "%d, not %d: %s", is, code, err.text);
	CHECK(is == 0 || (err.line == 0 && err.column == 0));
	CHECK(remote.arena.blocks == NULL && !had[0] && !had[1]);
	return s;
}

static inline void end(struct tach_snapshot *s)
{
	config.rows.limit = (uint32_t)(config.rows.size / config.rows.stride);
	memset(tach__rows_at(&config.rows, 0), 0, config.rows.size);
	tach__rows_free(&config.rows);
	tach_snapshot_free(s);
}

#endif
