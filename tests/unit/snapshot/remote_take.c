/* SPDX-License-Identifier: MIT */
/* A snapshot of a registry elsewhere: of one moment, however often that is looked for, and what
 * is said where there is none. */
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

/* Reads: of the registry, of a set with its totals, of a moment, of a site. */
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

static int sim_rest(const struct timespec *t, struct timespec *left)
{
	CHECK(t->tv_sec == 0 && t->tv_nsec == 1000000 && !left);
	rests++;
	return 0;
}

static double sim_clock(double apart, uint32_t *flags, double *error)
{
	CHECK(apart == TACH__CLOCK_EXACT);
	*flags = TACH_FLAG_CLOCK;
	*error = 0.5;
	return 1e9;
}

/* What is asked of a thread, and what is said of it. */
static int thread_code, threads_seen, again_at; /* at that one */
static uint32_t nsites_seen;
static struct tach__config config_seen;

static int sim_thread(struct tach__remote *remote, const struct tach__remote_thread *thread,
		      struct tach__config *config, struct tach__rows *rows, uint32_t nsites,
		      uint64_t *stale)
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

static void sim_set_free(struct tach_set *given)
{
	sets_freed += given != NULL;
	tach_set_free(given);
}

static void sim_rows_free(struct tach__rows *given)
{
	rows_freed += given->base != NULL;
	tach__rows_free(given);
}

static void sim_pages_free(void *pages, size_t size)
{
	pages_freed += pages != NULL;
	tach__pages_free(pages, size);
}

/* What is taken is given back once: there are two at a time at most. */
static void *had[2];

static void *sim_calloc(size_t n, size_t size)
{
	void **to = had[0] ? &had[1] : &had[0];

	CHECK(!*to);
	return *to = calloc(n, size);
}

static void sim_free(void *at)
{
	void **from = had[0] == at ? &had[0] : &had[1];

	CHECK(!at || *from == at);
	if (at && *from == at) {
		*from = NULL;
		free(at);
	}
}

#define calloc			 sim_calloc
#define free			 sim_free
#define tach__pages_free	 sim_pages_free
#define tach_set_free		 sim_set_free
#define tach__rows_free		 sim_rows_free
#define nanosleep		 sim_rest
#define tach__clock_hz		 sim_clock
#define tach__remote_thread(...) sim_thread(__VA_ARGS__)
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
static struct tach__config config, another;
static struct tach_set set;
static struct tach__site site[ID + 8], *by_id[ID + 8];
static struct tach__thread thread[THREADS];
static struct tach__hot hot[THREADS];
static struct tach__remote remote;
static struct tach_error err = TACH_ERROR_INIT;

static char *word(const char *text)
{
	size_t at = sizeof words[0] * (size_t)(nwords % TEXTS);

	strcpy(words[nwords++ % TEXTS], text);
	return (char *)THERE_ELSEWHERE(0) + at;
}

static void link_threads(int n)
{
	struct cds_list_head *last = &registry.threads;

	for (int i = 0; i < n; i++) {
		last->next = &thread[i].node;
		last = last->next;
	}
	last->next = &registry.threads;
}

/* One event, a region that ended threads entered and one that live ones did. */
static void begin(void)
{
	const char *other;

	there_forget();
	remote = there_remote();
	rests = 0;
	sets_freed = rows_freed = pages_freed = 0;
	nwords = thread_code = threads_seen = again_at = 0;
	remote.left = 0; /* each try has as much as there may be */
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

static struct tach_snapshot *take(int code)
{
	struct tach_snapshot *s = NULL;
	int is = tach__remote_take(&remote, &beacon, &s, &err);

	CHECK(is == code && (is == 0) == (s != NULL) && (is == 0 || err.code == is),
	      "%d, not %d: %s", is, code, err.text);
	CHECK(is == 0 || (err.line == 0 && err.column == 0));
	CHECK(remote.arena.blocks == NULL && !had[0] && !had[1]);
	return s;
}

static void end(struct tach_snapshot *s)
{
	config.rows.limit = (uint32_t)(config.rows.size / config.rows.stride);
	memset(tach__rows_at(&config.rows, 0), 0, config.rows.size);
	tach__rows_free(&config.rows);
	tach_snapshot_free(s);
}

static void whole(void)
{
	struct tach_snapshot *s;

	begin();
	link_threads(THREADS);
	/* Ended, of another set, not opened yet. */
	thread[1].folded = 1;
	thread[3].config = &another;
	hot[5].state = 0;
	s = take(0);
	CHECK(threads_seen == 3 && nsites_seen == ID + 4 && rests == 0);
	CHECK(there_reads == LAST + THREADS + 4 + 2 * SITE, "%u", there_reads);
	CHECK(s->threads == 6 && s->refused == 11 && s->lost == 12 && s->stale == 3 &&
	      s->unopened == 0 && s->reports == 1 && s->rank == 0);
	CHECK(s->clock_hz == 1e9 && s->clock_flags == TACH_FLAG_CLOCK &&
	      strcmp(s->note, "half") == 0);
	CHECK(s->plain.nregions == 2 && strcmp(s->plain.region[0].info.name, "ended") == 0 &&
	      s->plain.region[0].info.calls == 7 &&
	      strcmp(s->plain.region[1].info.name, "live") == 0 &&
	      s->plain.region[1].info.calls == 300);
	/* Of which the clock may be half. */
	CHECK(s->plain.region[0].value[0][0].flags == TACH_FLAG_CLOCK &&
	      s->plain.region[0].value[0][0].value == 1000 &&
	      fabs(s->plain.region[0].value[0][0].error - (sqrt(7) + 500)) < 1e-9);
	/* The list of threads, and what was worked out before it was copied. */
	CHECK(sets_freed == 1 && rows_freed == 1 && pages_freed == 2, "%d", pages_freed);
	end(s);
}

/* Whichever read finds nothing, or no process any more. */
static void ends_amid(void)
{
	unsigned reads;

	begin();
	link_threads(2);
	end(take(0));
	reads = there_reads;
	for (unsigned n = 1; n <= reads; n++) {
		begin();
		link_threads(2);
		there_fails = n;
		end(take(-ESRCH));
		CHECK(there_reads == n && strstr(err.text, "its memory cannot be read: "),
		      "%u: %s", n, err.text);
	}
	begin();
	link_threads(1);
	thread_code = TACH_ERR_TOOMANY;
	end(take(TACH_ERR_TOOMANY));
	CHECK(threads_seen == 1 &&
	      strcmp(err.text, "its regions are too many to be read") == 0);
}

static void no_regions(void)
{
	begin();
	registry.config = NULL;
	end(take(TACH_ERR_STATE));
	CHECK(there_reads == 2 && strstr(err.text, "no region was entered yet"));
	begin();
	registry.page = NULL;
	end(take(TACH_ERR_STATE));
	CHECK(there_reads == 2 && strstr(err.text, "no region was entered yet"));
	begin();
	page.alive = 0;
	end(take(TACH_ERR_STATE));
	CHECK(there_reads == 3 && strstr(err.text, "no region was entered yet"));
	/* Its lock is held all the time. */
	begin();
	registry.busy = 1;
	end(take(TACH_ERR_STATE));
	CHECK(there_reads == 2 * 100 && rests == 79 &&
		      strstr(err.text, "its regions cannot be read whole"),
	      "%u, %u rests", there_reads, rests);
}

/* ---- what changes between reads ---- */

static unsigned until, when;
static void (*what)(void);

static void busy_until(unsigned nth)
{
	registry.busy = nth < until;
}

static void changes_once(unsigned nth)
{
	if (nth == when)
		what();
}

static void changes_always(unsigned nth)
{
	(void)nth;
	what();
}

static void busy(void)
{
	registry.busy = 1;
}

static void openings(void)
{
	registry.openings++;
}

static void folds(void)
{
	registry.folds++;
}

static void generation(void)
{
	registry.generation++;
}

/* One that is of the same set in another place. */
static void config_moves(void)
{
	another = config;
	there(&another, sizeof another);
	registry.config = &another;
}

static void tried_again(void)
{
	static const struct {
		unsigned until, reads, rests;
	} cases[] = {
		/* The 21st try is the last without a rest before it. */
		{2 * 20 + 1, 2 * 20 + LAST + SITE, 0},
		{2 * 21 + 1, 2 * 21 + LAST + SITE, 1},
		{2 * 99 + 1, 2 * 99 + LAST + SITE, 79},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		until = cases[i].until;
		there_before = busy_until;
		end(take(0));
		CHECK(there_reads == cases[i].reads && rests == cases[i].rests,
		      "%d: %u reads, %u rests", (int)i, there_reads, rests);
	}
}

/* Within a moment: between its first look at the registry and its last one. */
static void of_a_moment(void)
{
	static void (*const changes[])(void) = {openings, folds, generation, config_moves};

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		for (unsigned at = 1; at <= LAST; at++) {
			begin();
			what = changes[i];
			when = at;
			there_before = changes_once;
			end(take(0));
			/* Another set is looked at from the beginning. */
			if (i < 2)
				CHECK(there_reads ==
					      LAST + SITE + (at > FIRST + 1 ? MOMENT : 0),
				      "%d, %u: %u", (int)i, at, there_reads);
			else
				CHECK((there_reads > LAST + SITE) == (at > 2), "%d, %u: %u",
				      (int)i, at, there_reads);
		}
	/* 64 moments a try. */
	begin();
	what = folds;
	there_before = changes_always;
	end(take(TACH_ERR_STATE));
	CHECK(there_reads == 100 * (BEFORE + CONFIG + 64 * MOMENT) && sets_freed == 100 &&
		      rows_freed == 100,
	      "%u", there_reads);
	/* A set that is another one each time: no moment is looked for. */
	begin();
	what = generation;
	there_before = changes_always;
	end(take(TACH_ERR_STATE));
	CHECK(there_reads == 100 * (BEFORE + CONFIG + 3), "%u", there_reads);
	/* The lock is taken as the moment ends. */
	begin();
	what = busy;
	when = LAST;
	there_before = changes_once;
	there_fails = when + 3;
	end(take(-ESRCH));
}

static void row_grows(void)
{
	tach__rows_at(&config.rows, ID)->calls = 9;
	config.ended = 5;
}

/* Sums are those of the moment, though what is large was read before. */
static void as_it_is_then(void)
{
	struct tach_snapshot *s;

	begin();
	what = row_grows;
	when = FIRST;
	there_before = changes_once;
	s = take(0);
	CHECK(s->threads == 5 && s->plain.region[0].info.calls == 9);
	end(s);
}

/* At last what ends meanwhile is left out. */
static void threads_that_end(void)
{
	struct tach_snapshot *s;

	begin();
	link_threads(2);
	thread_code = TACH__REMOTE_AGAIN;
	s = take(0);
	CHECK(s->stale == 2 && threads_seen == 99 + 2 && rests == 79, "%d", threads_seen);
	end(s);
	/* Of a try that came to nothing nothing is left. */
	begin();
	link_threads(2);
	again_at = 2;
	s = take(0);
	CHECK(s->stale == 2 && threads_seen == 4 && s->plain.region[1].info.calls == 200);
	end(s);
}

/* A set that a try had is given back once, though the next tries have none. */
static void busy_then(unsigned nth)
{
	registry.busy = nth > LAST + 2 && nth <= LAST + 2 + 2 * 2;
	thread_code = nth > LAST + 2 ? 0 : TACH__REMOTE_AGAIN;
}

static void busy_behind_sites(unsigned nth)
{
	/* The site is another one; then two tries find it busy. */
	site[ID].id = nth <= LAST + 2 ? 0 : ID;
	registry.busy = nth > LAST + 2 && nth <= LAST + 2 + 2 * 2;
}

static void tries_without_a_set(void)
{
	begin();
	link_threads(1);
	there_before = busy_then;
	end(take(0));
	CHECK(threads_seen == 2 && sets_freed == 2 && rows_freed == 2, "%d, %d", sets_freed,
	      rows_freed);
	begin();
	there_before = busy_behind_sites;
	end(take(0));
	CHECK(sets_freed == 2 && there_reads == LAST + 2 + 2 * 2 + LAST + SITE, "%u",
	      there_reads);
}

/* ---- threads ---- */

static unsigned heads, most_heads;

/* A list that is one thread again and again, so many times. */
static void goes_round(unsigned nth)
{
	if (nth >= LAST && heads < most_heads)
		heads++;
	thread[0].node.next = heads < most_heads ? &thread[0].node : &registry.threads;
}

static void many_threads(void)
{
	for (unsigned more = 0; more < 2; more++) {
		begin();
		link_threads(1);
		thread[0].config = &another;
		heads = 0;
		most_heads = TACH__REMOTE_THREADS + more;
		there_before = goes_round;
		end(take(0));
		/* One more than are believed: the next moment finds one. */
		CHECK(there_reads ==
			      LAST + SITE + TACH__REMOTE_THREADS + more * (MOMENT - 1 + 1),
		      "%u: %u", more, there_reads);
	}
}

/* ---- the set ---- */

static void sites_up_to(void)
{
	begin();
	link_threads(1);
	registry.nsites = TACH__CHUNKS * TACH__CHUNK_SLOTS + 1;
	end(take(0));
	CHECK(nsites_seen == TACH__CHUNKS * TACH__CHUNK_SLOTS);
	begin();
	link_threads(1);
	registry.nsites = TACH__CHUNKS * TACH__CHUNK_SLOTS;
	end(take(0));
	CHECK(nsites_seen == TACH__CHUNKS * TACH__CHUNK_SLOTS);
	/* Where nothing was entered nothing is. */
	begin();
	config.rows.limit = 0;
	tach_snapshot_free(take(0));
	end(NULL);
	/* One that is in no list yet has no name, and is not shown. */
	begin();
	registry.nsites = ID + 1;
	tach__rows_at(&config.rows, ID + 1)->calls = 1;
	end(take(0));
}

static void configurations(void)
{
	static const struct {
		uint32_t worst, by, is;
	} cases[] = {{TACH__WORST_MOST, 1, TACH__WORST_MOST},
		     {TACH__WORST_MOST + 1, 0, 0},
		     {3, 2, 0},
		     {3, 0, 3}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		link_threads(1);
		config.worst = cases[i].worst;
		config.worst_by = cases[i].by;
		end(take(0));
		CHECK(config_seen.worst == cases[i].is && config_seen.next == NULL &&
			      config_seen.set != &set,
		      "%d: %u", (int)i, config_seen.worst);
	}
	begin();
	config.count = 2;
	end(take(TACH_ERR_STATE));
	begin();
	set.count = -1;
	end(take(TACH_ERR_STATE));
}

static void notes(void)
{
	static const struct {
		const char *note;
		int turns;
		uint32_t unopened;
		const char *is;
	} cases[] = {
		{"", 0, 0, ""},
		{"half", 0, 0, "half"},
		{"", 1, 0, "sets of events take turns there: this is the first one"},
		{"half", 1, 0, "half; sets of events take turns there: this is the first one"},
		{"", 0, 2, "2 threads have the clock alone: why"},
		{"half", 0, 2, "half; 2 threads have the clock alone: why"},
	};
	struct tach_snapshot *s;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		strcpy(config.note, cases[i].note);
		config.ring.next = cases[i].turns ? &config : NULL;
		registry.unopened = cases[i].unopened;
		strcpy(registry.open_error.text, "why");
		s = take(0);
		CHECK(strcmp(s->note, cases[i].is) == 0 && s->unopened == cases[i].unopened,
		      "%s", s->note);
		end(s);
	}
	/* Texts without an end have one. */
	begin();
	memset(config.note, 'n', sizeof config.note);
	memset(registry.open_error.text, 'w', sizeof registry.open_error.text);
	registry.unopened = 1;
	s = take(0);
	CHECK(strspn(s->note, "n") == sizeof config.note - 1 &&
		      strlen(s->note) == sizeof config.note - 1 +
						 strlen("; 1 threads have the clock alone: ") +
						 sizeof registry.open_error.text - 1,
	      "%d", (int)strlen(s->note));
	end(s);
}

/* Of rows that were made up to that one. */
static uint32_t limit_of(uint32_t id)
{
	struct tach__rows rows;
	uint32_t limit;

	tach__rows_init(&rows, 1);
	tach__rows_at(&rows, id);
	limit = rows.limit;
	tach__rows_free(&rows);
	return limit;
}

/* Regions around the worst entries have names, though they are open still. */
static void parents(void)
{
	uint64_t limit = limit_of(ID + 2);
	const struct {
		uint64_t parent;
		const char *is;
		uint32_t nsites;
	} cases[] = {{ID - 1, "", ID + 4},  {ID, "ended", ID + 4}, {ID + 2, "other", ID + 4},
		     {ID + 4, "", ID + 4},  {1 << 20, "", ID + 4}, {limit, "", limit + 1},
		     {20000, "", limit + 9}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach__worst *w = tach__worst_make(1, 2);
		struct tach_snapshot *s;
		struct tach_worst out = {.size = sizeof out};

		begin();
		config.worst = 1;
		registry.nsites = cases[i].nsites;
		w->n = 1;
		tach__worst_at(w, 0)->key = 5;
		tach__worst_at(w, 0)->parent = cases[i].parent;
		there(w, tach__worst_size(1, 2));
		tach__rows_at(&config.rows, ID)->calls = 0;
		tach__rows_at(&config.rows, ID + 1)->calls = 7;
		tach__rows_at(&config.rows, ID + 1)->worst = w;
		s = take(0);
		CHECK(tach_snapshot_worst(s, 0, 0, &out) == 0 &&
			      strcmp(out.parent, cases[i].is) == 0,
		      "%d: %s", (int)i, out.parent);
		end(s);
		tach__worst_free(w);
	}
}

int main(void)
{
	CASE(whole);
	CASE(ends_amid);
	CASE(no_regions);
	CASE(tried_again);
	CASE(of_a_moment);
	CASE(as_it_is_then);
	CASE(threads_that_end);
	CASE(tries_without_a_set);
	CASE(many_threads);
	CASE(sites_up_to);
	CASE(configurations);
	CASE(notes);
	CASE(parents);
	return check_done();
}
