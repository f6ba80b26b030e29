/* SPDX-License-Identifier: MIT */
/* `tach gate`: whether a program became worse than it was, for CI to stop at. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>
#include <tach/set.h>
#include "tools/tach/commands.h"
#include "tools/tach/emulate.h"
#include "tools/tach/gate.h"
#include "tools/tach/run.h"

/* ---- how it is counted ---- */

static char *events_of(const struct gate_arguments *a)
{
	char *all = a->events ? strdup(a->events)
			      : calloc(GATE_RULES_MAX, sizeof a->rule[0].quantity + 1);

	if (a->events || a->metrics)
		return all;
	for (size_t i = 0; all && i < a->nrules; i++)
		if (strcmp(a->rule[i].quantity, "time") != 0)
			sprintf(all + strlen(all), "%s%s", *all ? "," : "",
				a->rule[i].quantity);
	return all;
}

static int has_pmu(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set;
	int has = 0;

	opt.events = "instructions";
	opt.flags = TACH_SET_OPTIONAL;
	if (tach_set_create(&opt, &set, NULL) == 0) {
		has = tach_set_count(set) > 0;
		tach_set_free(set);
	}
	return has;
}

static int choose_way(struct gate_arguments *a, const char *events, char *how, size_t size)
{
	char path[4096];
	int counts = *events || a->metrics;

	if (!a->emulate && counts && !has_pmu()) {
		fprintf(stderr, "tach gate: no PMU here: counting in QEMU's user mode "
				"(--emulate)\n");
		a->emulate = 1;
	}
	snprintf(how, size, "counted by this machine's PMU");
	if (!counts)
		snprintf(how, size, "time on this machine");
	if (!a->emulate)
		return 0;
	if (gate_rule(a, "time"))
		return gate_usage(
			"time in an emulator is not the program's: judge it in a run of "
			"its own, with no other rule",
			NULL);
	if (run_find_program(path, sizeof path, a->program[0]) != 0) {
		fprintf(stderr, "tach gate: %s: no such program\n", a->program[0]);
		return EXIT_USAGE;
	}
	snprintf(how, size, "emulated, processor %s",
		 getenv("QEMU_CPU") ? getenv("QEMU_CPU") : "max");
	return emulate_ready(path) < 0 ? EXIT_USAGE : 0;
}

/* ---- deciding ---- */

static int is_chosen(const struct gate_arguments *a, const char *region)
{
	const char *at = a->regions;

	for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t n = strcspn(at, ",");

		if (n == strlen(region) && memcmp(at, region, n) == 0)
			return 1;
	}
	return !a->regions;
}

static size_t list(const struct gate_arguments *a, const struct gate_samples *old,
		   const struct gate_samples *now, struct gate_line *lines)
{
	size_t n = 0;

	for (int second = 0; second < 2; second++) {
		const struct gate_samples *s = second ? now : old, *other = second ? old : now;

		for (size_t i = 0; i < s->n; i++) {
			const struct gate_series *at = &s->list[i];
			int both = gate_find(other, at->region, at->quantity) != NULL;
			const struct gate_rule *rule = gate_rule(a, at->quantity);

			if (!rule || !is_chosen(a, at->region) || (second && both))
				continue;
			lines[n++] = (struct gate_line){.region = at->region,
							.quantity = at->quantity,
							.rule = rule,
							.is = {NAN, NAN, NAN, 1, 0},
							.detectable = INFINITY,
							.verdict = both	    ? GATE_SAME
								   : second ? GATE_NEW
									    : GATE_GONE};
		}
	}
	return n;
}

static struct tach__values values(const struct gate_series *s)
{
	return (struct tach__values){s->value, s->n};
}

/* Saved by who knows that each run counts the same: a difference is never chance. */
static int is_exact(const struct gate_samples *s)
{
	return strncmp(s->how, "exact", strlen("exact")) == 0;
}

/* 0, or EXIT_USAGE: too few runs for so many comparisons. */
static int decide(const struct gate_arguments *a, const struct gate_samples *old,
		  const struct gate_samples *now, struct gate_outcome *o,
		  struct gate_line *lines)
{
	for (size_t i = 0; i < o->n; i++)
		o->judged += lines[i].verdict == GATE_SAME;
	for (size_t i = 0; i < o->n; i++) {
		struct gate_line *l = &lines[i];
		const struct gate_series *x = gate_find(old, l->region, l->quantity);
		const struct gate_series *y = gate_find(now, l->region, l->quantity);
		struct tach__rule rule;

		if (l->verdict != GATE_SAME)
			continue;
		rule = (struct tach__rule){l->rule->bound, a->alpha / (double)o->judged,
					   l->rule->less, a->against != NULL};
		if (is_exact(old))
			rule.alpha = 1;
		if (tach__least_p(x->n, y->n) > rule.alpha) {
			fprintf(stderr,
				"tach gate: %zu and %zu runs cannot tell a change from chance "
				"in "
				"%zu comparisons at %g %%: more runs (-n), fewer regions "
				"(--region), or a larger --alpha\n",
				x->n, y->n, o->judged, 100 * a->alpha);
			return EXIT_USAGE;
		}
		tach__decide(&l->is, &rule, values(x), values(y));
		l->detectable = tach__detectable(&l->is, &rule, values(x), values(y));
		l->verdict = (enum gate_verdict)l->is.verdict;
		o->worse += l->verdict == GATE_WORSE;
	}
	if (o->judged)
		return 0;
	fprintf(stderr, "tach gate: nothing to compare: no region has a quantity of the rules "
			"in both\n");
	return EXIT_USAGE;
}

static int write_report(const struct gate_arguments *a, const struct gate_outcome *o)
{
	FILE *to = a->output ? fopen(a->output, "we") : stdout;
	int bad = !to;

	if (to) {
		gate_report(to, a->format, o);
		bad = fflush(to) != 0 || ferror(to);
	}
	if (to && a->output && fclose(to) != 0)
		bad = 1;
	if (bad)
		fprintf(stderr, "tach gate: %s: %s\n", a->output ? a->output : "output",
			strerror(errno));
	return bad ? EXIT_USAGE : 0;
}

static int compare(const struct gate_arguments *a, struct gate_samples *old,
		   struct gate_samples *now)
{
	struct gate_line *lines;
	struct gate_outcome o = {.alpha = a->alpha,
				 .runs = a->runs,
				 .against = a->baseline ? a->baseline : a->against,
				 .how = now->how};
	int status;

	if (strcmp(old->how, now->how) != 0) {
		fprintf(stderr,
			"tach gate: %s was '%s', this run is '%s': these do not compare; save "
			"it anew\n",
			a->baseline, old->how, now->how);
		return EXIT_USAGE;
	}
	lines = calloc(old->n + now->n + 1, sizeof *lines);
	if (!lines)
		return EXIT_USAGE;
	o.line = lines;
	gate_sort(old);
	gate_sort(now);
	o.n = list(a, old, now, lines);
	status = decide(a, old, now, &o, lines);
	if (!status)
		status = write_report(a, &o);
	free(lines);
	return status ? status : o.worse ? EXIT_NO : EXIT_DONE;
}

/* In turns, and each of the two first in every other turn: what drifts drifts for both. */
static int measure(const struct gate_arguments *a, char **words, const char *events,
		   struct gate_samples *old, struct gate_samples *now)
{
	/* Without metrics an empty list is the clock alone. */
	const char *list = *events || !a->metrics ? events : NULL;
	struct gate_command first = {words, list, a->metrics, a};
	struct gate_command second = {a->program, list, a->metrics, a};
	int code = 0;

	for (size_t i = 0; i < 2 * a->runs && !code; i++) {
		int is_old = i % 2 == (i / 2) % 2;

		if (is_old && words)
			code = gate_run(&first, old);
		else if (!is_old)
			code = gate_run(&second, now);
	}
	return code ? EXIT_USAGE : 0;
}

/* --against is words as a shell takes them, without a shell in what is counted. */
static int measure_all(const struct gate_arguments *a, const char *events,
		       struct gate_samples *old, struct gate_samples *now)
{
	wordexp_t words;
	int status;

	if (!a->against)
		return measure(a, NULL, events, old, now);
	if (wordexp(a->against, &words, WRDE_NOCMD) != 0 || words.we_wordc == 0)
		return gate_usage("--against takes a program and its arguments, not",
				  a->against);
	status = measure(a, words.we_wordv, events, old, now);
	wordfree(&words);
	return status;
}

/* Runs what is to be run; 0, or why not was said. */
static int take(struct gate_arguments *a, struct gate_samples *old, struct gate_samples *now)
{
	char *events;
	int status;

	if (a->baseline && gate_load(old, a->baseline) != 0)
		return EXIT_USAGE;
	if (a->candidate)
		return gate_load(now, a->candidate) != 0 ? EXIT_USAGE : 0;
	events = events_of(a);
	status = events ? choose_way(a, events, now->how, sizeof now->how) : EXIT_USAGE;
	if (a->against)
		memcpy(old->how, now->how, sizeof old->how);
	if (!status)
		status = measure_all(a, events, old, now);
	free(events);
	return status;
}

int cmd_gate(int argc, char **argv)
{
	struct gate_arguments a = {.alpha = 0.01};
	struct gate_samples old = {0}, now = {0};
	int status = gate_parse(&a, argc, argv);

	if (status)
		return status < 0 ? EXIT_DONE : status;
	status = take(&a, &old, &now);
	if (!status && (a.baseline || a.against))
		status = compare(&a, &old, &now);
	if (status != EXIT_USAGE && a.save) {
		gate_sort(&now);
		if (gate_save(&now, a.save) != 0)
			status = EXIT_USAGE;
	}
	gate_free(&old);
	gate_free(&now);
	return status;
}
