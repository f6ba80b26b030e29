/* SPDX-License-Identifier: MIT */
/* Runs a benchmark: options, passes, readers, and assembling the series. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/reader.h>
#include "core/bench/bench.h"
#include "core/bench/context.h"
#include "core/bench/counting.h"
#include "core/bench/team.h"
#include "core/set/set.h"
#include "core/base/error.h"
#include "core/base/sized.h"

enum { SAMPLES = 31, SAMPLES_MAX = 10000 };
#define SAMPLE_SECONDS 0.001
#define CONFIDENCE     0.95
#define OUTLIER	       5.0
#define EVENTS	       "cycles,instructions"

static void empty_loop(void *context, uint64_t n)
{
	(void)context;
	for (; n; n--)
		__asm__ volatile("" : "+r"(n) : : "memory");
}

/* The data of a run, except its result. */
struct run {
	struct tach_bench *bench;
	struct tach_bench_options opt;
	tach_bench_body body;
	void *context;
	unsigned own; /* number of the caller's counters */
	struct tach_error *err;
};

static int no_memory(struct run *run)
{
	return tach__error(run->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
}

static int check_options(struct run *run, const struct tach_bench_options *opt)
{
	struct tach_bench_options ours, *o = &run->opt;

	memset(o, 0, sizeof *o);
	if (opt)
		opt = tach__sized_in(opt, &ours, TACH__STRUCT(tach_bench_options), run->err);
	else
		opt = o;
	if (!opt)
		return TACH_ERR_INVAL;
	*o = *opt;
	if (o->interrupts & ~(TACH_SET_INTERRUPTS | TACH_SET_CORRECT))
		return tach__error(run->err, TACH_ERR_INVAL, 0, 0,
				   "interrupts are TACH_SET_INTERRUPTS or TACH_SET_CORRECT");
	if (!o->samples)
		o->samples = SAMPLES;
	if (o->sample_seconds == 0)
		o->sample_seconds = SAMPLE_SECONDS;
	if (o->confidence == 0)
		o->confidence = CONFIDENCE;
	if (o->outlier == 0)
		o->outlier = OUTLIER;
	if (!o->empty)
		o->empty = empty_loop;
	if (!o->threads)
		o->threads = 1;
	if (o->before && !o->iterations)
		o->iterations = 1;
	for (const struct tach_bench_counter *c = o->counters; c; c = c->next)
		run->own++;
	if (run->own > TACH__BENCH_OWN_MAX || o->threads > TACH__BENCH_THREADS_MAX)
		return tach__error(run->err, TACH_ERR_TOOMANY, 0, 0,
				   "counters are at most %d, threads %d", TACH__BENCH_OWN_MAX,
				   TACH__BENCH_THREADS_MAX);
	if (o->samples > SAMPLES_MAX || !(o->confidence > 0 && o->confidence < 1) ||
	    isnan(o->outlier) || !(o->sample_seconds > 0 && o->sample_seconds <= 60) ||
	    (o->unit && !(o->units > 0)) || o->cpu > 1 ||
	    !(o->warmup_seconds >= 0 && o->warmup_seconds <= 3600))
		return tach__error(run->err, TACH_ERR_INVAL, 0, 0,
				   "samples must be at most %d, confidence between 0 and 1, "
				   "sample_seconds above 0 and at most 60, units above 0, "
				   "warmup_seconds at most 3600",
				   SAMPLES_MAX);
	return 0;
}

static void set_missing(struct tach_bench *bench, const char *text)
{
	if (!bench->missing[0])
		snprintf(bench->missing, sizeof bench->missing, "%.255s", text);
}

/* Makes room for one quantity's samples at the end of the result. */
static struct tach__bench_series *add_series(struct run *run, const char *name)
{
	struct tach_bench *b = run->bench;
	struct tach__bench_series *s, *all;

	all = realloc(b->series, (size_t)(b->nseries + 1) * sizeof *all);
	if (!all)
		return NULL;
	b->series = all;
	s = &all[b->nseries];
	memset(s, 0, sizeof *s);
	s->name = strdup(name);
	s->sample = malloc(run->opt.samples * sizeof *s->sample);
	s->pass = (uint32_t)b->npasses;
	b->nseries++;
	return s->name && s->sample ? s : NULL;
}

static void drop_series(struct tach_bench *b, int i)
{
	free(b->series[i].name);
	free(b->series[i].sample);
	memmove(&b->series[i], &b->series[i + 1],
		(size_t)(--b->nseries - i) * sizeof *b->series);
}

/* Later passes repeat time and the common event. Drops these series, and records how far the
 * common event differs. */
static void merge_pass(struct tach_bench *b, int first)
{
	for (int i = first; i < b->nseries;) {
		const struct tach__bench_series *s = &b->series[i], *old = NULL;

		for (int j = 0; j < first; j++)
			if (strcmp(b->series[j].name, s->name) == 0)
				old = &b->series[j];
		if (!old) {
			i++;
			continue;
		}
		if (strcmp(s->name, TACH__PASSES_REPEATED) == 0) {
			double m = tach__bench_median(s);
			double base = tach__bench_median(old);
			double drift =
				fabs(m - base) / (fabs(m) > fabs(base) ? fabs(m) : fabs(base));

			b->drift = drift > b->drift ? drift : b->drift;
		}
		drop_series(b, i);
	}
}

/* Adds the quantities of one pass: time, events, the caller's counters, times of threads. */
static int add_all(struct run *run, const struct tach__counting *c)
{
	struct tach__bench_series *s = add_series(run, "time");

	for (unsigned i = 0; s && i + (unsigned)c->cpu < c->events; i++)
		s = add_series(run, tach_set_name(c->set, (int)i));
	if (s && c->cpu)
		s = add_series(run, TACH__BENCH_CPU);
	for (const struct tach_bench_counter *o = c->own; s && o; o = o->next) {
		s = add_series(run, o->name);
		if (s)
			s->rate = o->rate;
	}
	if (s && run->opt.threads > 1)
		s = add_series(run, TACH__BENCH_ALL);
	for (uint32_t t = 1; s && run->opt.threads > 1 && t <= run->opt.threads; t++) {
		s = add_series(run, "time");
		if (s)
			s->thread = t;
	}
	return s ? 0 : no_memory(run);
}

/*
 * Computes a metric from each sample of its operands. A metric that doubles with its operands
 * is a count, and is shown per iteration. Returns 0 if a sample has no value.
 */
static int evaluate_metric(const struct tach_bench *b, const struct tach_set *set, int metric,
			   const struct tach__bench_series *operand, double *to,
			   uint32_t samples)
{
	static const uint32_t flags[TACH_COUNTERS_MAX];
	double n = (double)b->iterations;

	for (uint32_t k = 0; k < samples; k++) {
		uint64_t count[2][TACH_COUNTERS_MAX];
		double value[2];

		for (int i = 0; i < tach_set_count(set); i++) {
			double v = operand[1 + i].sample[k] * n + 0.5;

			count[0][i] = v > 0 ? (uint64_t)v : 0;
			count[1][i] = 2 * count[0][i];
		}
		for (int i = 0; i < 2; i++)
			value[i] = tach_set_eval(set, metric, count[i], flags,
						 operand[0].sample[k] * n * (1 + i), NULL);
		to[k] = fabs(value[1] - 2 * value[0]) < 1e-9 * fabs(value[1]) ? value[0] / n
									      : value[0];
		if (!isfinite(to[k]))
			return 0;
	}
	return 1;
}

/*
 * After the samples of a pass: adds the metrics of its set, and removes quantities that only
 * metrics use.
 */
static int add_metrics(struct run *run, const struct tach__counting *c, int first)
{
	struct tach_bench *b = run->bench;

	for (int m = 0; c->reader && m < tach_set_nmetrics(c->set); m++) {
		struct tach__bench_series *s = add_series(run, tach_set_metric_name(c->set, m));

		if (!s)
			return no_memory(run);
		s->samples = run->opt.samples;
		for (int i = 0; i < tach_set_count(c->set); i++)
			s->flags |= b->series[first + 1 + i].flags;
		if (!evaluate_metric(b, c->set, m, &b->series[first], s->sample, s->samples))
			drop_series(b, b->nseries - 1);
	}
	for (int i = c->reader ? tach_set_count(c->set) : 0; i-- > 0;)
		if (c->set->operands >> i & 1)
			drop_series(b, first + 1 + i);
	return 0;
}

static int take_sample(struct run *run, struct tach__bench_source *source,
		       const struct tach__counting *c)
{
	struct tach_bench *b = run->bench;
	struct tach__bench_plan plan = {.body = run->body,
					.empty = run->opt.empty,
					.context = run->context,
					.samples = run->opt.samples};
	int first = b->nseries;

	if (add_all(run, c))
		return TACH_ERR_NOMEM;
	source->before = run->opt.before;
	if (!b->iterations)
		b->iterations = run->opt.iterations
					? run->opt.iterations
					: tach__bench_choose(source, run->body, run->opt.empty,
							     run->context,
							     run->opt.sample_seconds * 1e9);
	plan.iterations = b->iterations;
	tach__bench_warm(source, &plan, run->opt.warmup_seconds * 1e9);
	if (tach__bench_sample(source, &plan, run->opt.outlier, &b->series[first]))
		return no_memory(run);
	if (add_metrics(run, c, first))
		return TACH_ERR_NOMEM;
	for (int i = first; i < b->nseries; i++)
		if (b->series[i].thread || strcmp(b->series[i].name, TACH__BENCH_ALL) == 0)
			b->series[i].resolution = b->series[first].resolution;
	if (first)
		merge_pass(b, first);
	b->npasses++;
	return 0;
}

/* Samples on several threads. If one of them cannot count, measures only time. */
static int sample_on_team(struct run *run, struct tach__counting *c)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__team *team;
	int code = tach__team_start(&team, c, run->opt.threads, &err);

	if (!team)
		return tach__error(run->err, code, 0, 0, "%s", err.text);
	if (code) {
		set_missing(run->bench, err.text);
		tach__counting_use(c, NULL, NULL);
	}
	code = take_sample(run, tach__team_source(team), c);
	tach__team_end(team);
	return code;
}

/*
 * Hardware events that the machine lacks are omitted without an error; a string that no machine
 * can count is an error. *set stays NULL if no event is left.
 */
static int make_set(struct run *run, const char *events, uint32_t interrupts,
		    struct tach_set **set)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	int code;

	opt.events = events;
	opt.privilege = run->opt.privilege;
	opt.flags = TACH_SET_OPTIONAL | interrupts;
	code = tach_set_create(&opt, set, run->err);
	if (code)
		return code;
	set_missing(run->bench, tach_set_missing(*set));
	if (tach_set_count(*set) == 0) {
		tach_set_free(*set);
		*set = NULL;
	}
	return 0;
}

static int open_pass(struct run *run, const char *events, uint32_t interrupts,
		     struct tach_set **set, struct tach_reader **reader)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code = make_set(run, events, interrupts, set);

	if (code || !*set)
		return code;
	code = tach_reader_open(*set, reader, &err);
	if (code == TACH_ERR_NOMEM)
		return no_memory(run);
	if (code == 0)
		return 0;
	if (interrupts && tach_set_interrupts(*set) >= 0) {
		tach_set_free(*set);
		*set = NULL;
		set_missing(run->bench, TACH__NO_ROOM_FOR_INTERRUPTS);
		return open_pass(run, events, 0, set, reader);
	}
	set_missing(run->bench, err.text);
	return 0;
}

static int run_pass(struct run *run, const char *events)
{
	struct tach__counting c;
	struct tach_reader *reader = NULL;
	struct tach_set *set = NULL;
	int code = open_pass(run, events, run->opt.interrupts, &set, &reader);

	tach__counting_init(&c, run->opt.counters, (int)run->opt.cpu);
	if (reader)
		tach__counting_use(&c, reader, set);
	if (!code)
		code = run->opt.threads > 1 ? sample_on_team(run, &c)
					    : take_sample(run, &c.source, &c);
	tach_reader_close(reader);
	tach_set_free(set);
	return code;
}

static int run_all(struct run *run, const char *events)
{
	struct tach__passes *passes;
	int code = tach__passes_plan(&passes, events, run->opt.privilege,
				     run->opt.interrupts != 0, run->err);

	if (code)
		return code;
	for (int pass = 0; pass < passes->count && !code; pass++)
		code = run_pass(run, passes->events[pass]);
	free(passes);
	return code;
}

int tach_bench_run(const char *name, tach_bench_body body, void *context,
		   const struct tach_bench_options *opt, struct tach_bench **out,
		   struct tach_error *err)
{
	struct run run = {.body = body, .context = context, .err = err};
	const char *events;
	int code;

	if (!out || !body)
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "nothing to run, or nowhere to "
				   "put the result");
	*out = NULL;
	code = check_options(&run, opt);
	if (code)
		return code;
	run.bench = calloc(1, sizeof *run.bench);
	if (!run.bench)
		return no_memory(&run);
	run.bench->confidence = run.opt.confidence;
	run.bench->name = strdup(name ? name : "");
	run.bench->units = run.opt.units;
	run.bench->threads = run.opt.threads;
	if (run.opt.unit)
		run.bench->unit = strdup(run.opt.unit);
	tach__machine_name(run.bench->date, sizeof run.bench->date, run.bench->host,
			   sizeof run.bench->host, run.bench->machine,
			   sizeof run.bench->machine);
	events = run.opt.events ? run.opt.events : EVENTS;
	code = run.bench->name && (run.bench->unit || !run.opt.unit) ? run_all(&run, events)
								     : no_memory(&run);
	if (code) {
		tach_bench_free(run.bench);
		return code;
	}
	*out = run.bench;
	return 0;
}
