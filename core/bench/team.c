/* SPDX-License-Identifier: MIT */
/*
 * The threads of a benchmark. They wait for the start by spinning, so that they begin within
 * about a microsecond. They wait for the end asleep, so that a thread that is ready does not
 * slow down the others.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "core/bench/team.h"
#include "core/base/error.h"

struct member {
	struct tach__team *team;
	unsigned number;
	pthread_t thread;
	struct tach__counting counting;
	struct tach_reader *reader; /* to be closed; `counting` may not use it */
	struct tach_error err;
	int code;
	uint64_t delta[TACH__BENCH_QUANTITIES_MAX];
	uint32_t flags[TACH__BENCH_QUANTITIES_MAX];
};

struct tach__team {
	struct tach__bench_source source; /* first */
	atomic_uint threads;
	const struct tach_set *set;
	const struct tach_bench_counter *own; /* counters that all threads change */
	uint64_t before[TACH__BENCH_OWN_MAX];
	/* The next work; body NULL: the thread ends. */
	tach_bench_body body;
	void *context;
	uint64_t iterations;
	atomic_uint opened, arrived, starts;
	pthread_barrier_t ready;
	struct member member[];
};

static _Thread_local unsigned number;

unsigned tach_bench_thread(void)
{
	return number;
}

static void start_together(struct tach__team *team)
{
	unsigned starts = atomic_load(&team->starts);

	if (atomic_fetch_add(&team->arrived, 1) + 1 == team->threads) {
		atomic_store(&team->arrived, 0);
		atomic_store(&team->starts, starts + 1);
		return;
	}
	while (atomic_load(&team->starts) == starts)
		sched_yield();
}

/* Returns 0 when the thread must end. */
static int do_part(struct member *m)
{
	struct tach__team *team = m->team;
	struct tach__bench_source *source = &m->counting.source;

	start_together(team);
	if (!team->body)
		return 0;
	source->begin(source);
	team->body(team->context, team->iterations);
	source->end(source, m->delta, m->flags);
	pthread_barrier_wait(&team->ready);
	return 1;
}

static void *work(void *context)
{
	struct member *m = context;

	number = m->number;
	m->err.size = sizeof m->err;
	if (m->team->set)
		m->code = tach_reader_open(m->team->set, &m->reader, &m->err);
	atomic_fetch_add(&m->team->opened, 1);
	while (do_part(m))
		;
	tach_reader_close(m->reader);
	return NULL;
}

/* Adds up all values, except each thread's own time: see tach__team_source. */
static void combine_counts(struct tach__team *team, uint64_t *delta, uint32_t *flags)
{
	uint64_t start = team->member[0].counting.start, end = team->member[0].counting.end;
	unsigned events = team->member[0].counting.events, i = 0;
	uint64_t *own = delta + events + 1, *all = delta + team->source.sums - 1;

	for (unsigned q = 0; q <= events; q++)
		delta[q] = 0;
	for (unsigned t = 0; t < team->threads; t++) {
		const struct member *m = &team->member[t];

		start = m->counting.start < start ? m->counting.start : start;
		end = m->counting.end > end ? m->counting.end : end;
		for (unsigned q = 0; q <= events; q++) {
			delta[q] += m->delta[q];
			flags[q] |= m->flags[q];
		}
		all[1 + t] = m->delta[0];
	}
	*all = end - start;
	for (const struct tach_bench_counter *o = team->own; o; o = o->next, i++)
		own[i] = *o->at - team->before[i];
}

static void take_on_all(struct tach__bench_source *source, tach_bench_body body, void *context,
			uint64_t n, uint64_t *delta, uint32_t *flags)
{
	struct tach__team *team = (struct tach__team *)source;
	unsigned i = 0;

	team->body = body;
	team->context = context;
	team->iterations = n;
	for (const struct tach_bench_counter *o = team->own; o; o = o->next)
		team->before[i++] = *o->at;
	do_part(&team->member[0]);
	combine_counts(team, delta, flags);
}

/*
 * The program's own threads should get signals, so these threads block them. Returns the number
 * of threads, including this one.
 */
static unsigned start_threads(struct tach__team *team, unsigned threads)
{
	sigset_t all, before;
	unsigned n = 1;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (n < threads &&
	       pthread_create(&team->member[n].thread, NULL, work, &team->member[n]) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (atomic_load(&team->opened) < n - 1)
		sched_yield();
	return n;
}

/* Either all threads count, or no thread counts. */
static int agree_on_counting(struct tach__team *team, struct tach_reader *mine,
			     struct tach_error *err)
{
	const struct tach_bench_counter *o = team->own;
	int code = 0;

	for (unsigned t = 1; t < team->threads && !code; t++)
		if (team->member[t].code)
			code = tach__error(err, team->member[t].code, 0, 0, "%s",
					   team->member[t].err.text);
	for (unsigned t = 0; t < team->threads; t++) {
		struct member *m = &team->member[t];

		m->counting.own = NULL;
		tach__counting_use(&m->counting, code ? NULL : t ? m->reader : mine, team->set);
	}
	for (team->source.sums = team->member[0].counting.events + 2; o; o = o->next)
		team->source.sums++;
	team->source.threads = team->threads;
	team->source.count = team->source.sums - 1 + team->threads;
	return code;
}

int tach__team_start(struct tach__team **out, struct tach__counting *first, unsigned threads,
		     struct tach_error *err)
{
	struct tach__team *team = calloc(1, sizeof *team + threads * sizeof team->member[0]);

	*out = NULL;
	if (!team)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	team->set = first->reader ? first->set : NULL;
	team->own = first->own;
	team->source.resolution = first->source.resolution;
	team->source.take = take_on_all;
	for (unsigned t = 0; t < threads; t++) {
		team->member[t].team = team;
		team->member[t].number = t;
		team->member[t].counting = *first;
	}
	pthread_barrier_init(&team->ready, NULL, threads);
	/* The threads wait until this one arrives, and do not read `threads` before. */
	team->threads = threads;
	team->threads = start_threads(team, threads);
	if (team->threads < threads) {
		tach__team_end(team);
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "%u threads cannot be started",
				   threads);
	}
	*out = team;
	return agree_on_counting(team, first->reader, err);
}

struct tach__bench_source *tach__team_source(struct tach__team *team)
{
	return &team->source;
}

void tach__team_end(struct tach__team *team)
{
	if (!team)
		return;
	team->body = NULL;
	do_part(&team->member[0]);
	for (unsigned t = 1; t < team->threads; t++)
		pthread_join(team->member[t].thread, NULL);
	pthread_barrier_destroy(&team->ready);
	free(team);
}
