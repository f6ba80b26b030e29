/* SPDX-License-Identifier: MIT */
/*
 * A snapshot of another process's registry is consistent at one time, after any number of
 * tries; otherwise there is an error.
 */
#include <math.h>
#include "tests/unit/snapshot/registry_there.h"

static struct tach__config another;

static void whole(void)
{
	struct tach_snapshot *s;

	begin();
	link_threads(THREADS);
	/* A thread of another set has ended. */
	thread[1].folded = 1;
	thread[3].config = &another;
	s = take(0);
	CHECK(threads_seen == 4 && nsites_seen == ID + 4 && rests == 0);
	CHECK(there_reads == LAST + THREADS + 4 + 2 * SITE, "%u", there_reads);
	CHECK(s->threads == 7 && s->refused == 11 && s->lost == 12 && s->stale == 4 &&
	      s->unopened == 0 && s->reports == 1 && s->rank == 0);
	CHECK(s->clock_hz == 1e9 && s->clock_flags == TACH_FLAG_CLOCK &&
	      strcmp(s->note, "half") == 0);
	CHECK(s->plain.nregions == 2 && strcmp(s->plain.region[0].info.name, "ended") == 0 &&
	      s->plain.region[0].info.calls == 7 &&
	      strcmp(s->plain.region[1].info.name, "live") == 0 &&
	      s->plain.region[1].info.calls == 400);
	/* The clock may use half of the limit. */
	CHECK(s->plain.region[0].value[0][0].flags == TACH_FLAG_CLOCK &&
	      s->plain.region[0].value[0][0].value == 1000 &&
	      fabs(s->plain.region[0].value[0][0].error - (sqrt(7) + 500)) < 1e-9);
	/*
	 * Frees both lists of threads, the copied totals, and values that were determined
	 * before the copy.
	 */
	CHECK(sets_freed == 1 && pages_freed == 4, "%d", pages_freed);
	end(s);
}

/* Any of the reads fails, or the process no longer exists. */
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
	      strcmp(err.text, "its regions are too many to be read, or damaged") == 0);
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
	/* The other process holds its lock permanently. */
	begin();
	registry.busy = 1;
	end(take(TACH_ERR_STATE));
	CHECK(there_reads == 2 * 100 && rests == 79 &&
		      strstr(err.text, "its regions cannot be read completely"),
	      "%u, %u rests", there_reads, rests);
}

/* A cyclic list of threads is detected at its first repetition. */
static void a_list_that_repeats(void)
{
	for (int to = 0; to < THREADS; to++) {
		begin();
		link_threads(THREADS);
		thread[THREADS - 1].node.next = &thread[to].node;
		end(take(TACH_ERR_STATE));
		CHECK(strstr(err.text, "its regions cannot be read completely"), "%s",
		      err.text);
		CHECK(there_reads < 100 * 64 * (10 + 6 * THREADS), "%u reads", there_reads);
	}
}

/* ---- changes between reads ---- */

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

/* The set is the same, but at another address. */
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
		/* The 21st try is the last one without a pause before it. */
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

/* A try lasts from its first read of the registry to its last. */
static void changes_restart_a_try(void)
{
	static void (*const changes[])(void) = {openings, folds, generation, config_moves};

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		for (unsigned at = 1; at <= LAST; at++) {
			begin();
			what = changes[i];
			when = at;
			there_before = changes_once;
			end(take(0));
			/* If the set changes, everything is read again. */
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
	/* If the set changes with each read, the snapshot fails early. */
	begin();
	what = generation;
	there_before = changes_always;
	end(take(TACH_ERR_STATE));
	CHECK(there_reads == 100 * (BEFORE + CONFIG + 3), "%u", there_reads);
	/* The lock is taken at the end of a try. */
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

/* Sums are from the same time, although large data were read earlier. */
static void sums_are_of_the_last_try(void)
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

/* Large data are read once, for any number of tries. */
static void large_once(void)
{
	static uint32_t histograms[1 << 16];

	begin();
	CHECK(tach__histograms_size(2) <= sizeof histograms);
	there(histograms, tach__histograms_size(2));
	tach__rows_at(&config.rows, ID)->histograms = histograms;
	what = folds;
	when = LAST;
	there_before = changes_once;
	end(take(0));
	CHECK(there_reads == LAST + 1 + MOMENT + SITE, "%u", there_reads);
}

/* In the last try, ending threads are omitted. */
static void threads_that_end(void)
{
	struct tach_snapshot *s;

	begin();
	link_threads(2);
	thread_code = TACH__REMOTE_AGAIN;
	s = take(0);
	CHECK(s->stale == 2 && rests == 79, "%d", threads_seen);
	end(s);
	/* A thread ended before it was completely read: it is read again, and counted once. */
	begin();
	link_threads(2);
	again_at = 2;
	s = take(0);
	CHECK(s->stale == 2 && threads_seen == 3 && s->plain.region[1].info.calls == 200);
	end(s);
}

/* A set from an earlier try is freed once, even if later tries get no set. */
static void busy_behind_sites(unsigned nth)
{
	/* The site changes; then two tries find it busy. */
	site[ID].id = nth <= LAST + 2 ? 0 : ID;
	registry.busy = nth > LAST + 2 && nth <= LAST + 2 + 2 * 2;
}

static void tries_without_a_set(void)
{
	begin();
	there_before = busy_behind_sites;
	end(take(0));
	CHECK(sets_freed == 2 && there_reads == LAST + 2 + 2 * 2 + LAST + SITE, "%u",
	      there_reads);
}

/* ---- threads ---- */

enum { HEAD = (offsetof(struct tach__thread, destructions) + 63) / 64 * 64, HEADS = 65537 };
static char heads[HEADS][HEAD] __attribute__((aligned(64)));

static struct tach__thread *head(int i)
{
	return (struct tach__thread *)(void *)heads[i];
}

/*
 * 65536 are believed. A longer list is read again, until the maximum number of reads is
 * reached.
 */
static void many_threads(void)
{
	for (int n = HEADS - 1; n <= HEADS; n++) {
		begin();
		there(heads, sizeof heads);
		registry.threads.next = &head(0)->node;
		for (int i = 0; i < n; i++) {
			head(i)->config = &another;
			head(i)->node.next = i + 1 < n ? &head(i + 1)->node : &registry.threads;
		}
		end(take(n < HEADS ? 0 : TACH_ERR_TOOMANY));
		CHECK(n == HEADS ? there_reads <= TACH__REMOTE_CALLS
				 : there_reads == LAST + SITE + (unsigned)n,
		      "%d: %u reads", n, there_reads);
	}
}

int main(void)
{
	CASE(whole);
	CASE(ends_amid);
	CASE(no_regions);
	CASE(a_list_that_repeats);
	CASE(tried_again);
	CASE(changes_restart_a_try);
	CASE(sums_are_of_the_last_try);
	CASE(large_once);
	CASE(threads_that_end);
	CASE(tries_without_a_set);
	CASE(many_threads);
	return check_done();
}
