/* SPDX-License-Identifier: MIT */
/* `tach gate`: checks in CI whether a program became worse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>
#include <tach/set.h>
#include "tools/tach/commands.h"
#include "tools/tach/emulate.h"
#include "tools/tach/gate.h"
#include "tools/tach/run.h"

/* ---- measuring ---- */

static char *events_of(const struct gate_arguments *a)
{
	char *all = a->events
			    ? strdup(a->events)
			    : calloc(COMPARE_RULES_MAX, sizeof a->compare.rule[0].quantity + 1);

	if (a->events || a->metrics)
		return all;
	for (size_t i = 0; all && i < a->compare.nrules; i++)
		if (strcmp(a->compare.rule[i].quantity, "time") != 0)
			sprintf(all + strlen(all), "%s%s", *all ? "," : "",
				a->compare.rule[i].quantity);
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
	if (compare_rule(&a->compare, "time"))
		return gate_usage("emulated time is not the program's time: judge time in a "
				  "separate run, without other rules",
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

static int judge_samples(const struct gate_arguments *a, struct samples *old,
			 struct samples *now)
{
	struct comparison c = {.old_name = a->baseline ? a->baseline : a->against,
			       .now_name = a->candidate ? a->candidate : a->program[0]};
	int status;

	if (*old->how && *now->how && strcmp(old->how, now->how) != 0) {
		fprintf(stderr,
			"tach gate: %s was '%s', this run is '%s': they cannot be compared; "
			"save the baseline again\n",
			c.old_name, old->how, now->how);
		return EXIT_USAGE;
	}
	status = compare(&c, &a->compare, old, now);
	if (!status)
		status = compare_write(&c);
	if (!status)
		status = compare_status(&c);
	compare_free(&c);
	return status;
}

/* An empty baseline would always pass. */
static int save_baseline(const struct gate_arguments *a, struct samples *now)
{
	if (!now->n) {
		fprintf(stderr, "tach gate: nothing was measured%s%s: %s is not written\n",
			*now->missing ? ": " : "", now->missing, a->save);
		return EXIT_UNKNOWN;
	}
	samples_sort(now);
	return samples_save(now, a->save, "tach gate") == 0 ? EXIT_DONE : EXIT_USAGE;
}

/*
 * Alternates the two commands, and which of them runs first, so that drift affects both
 * equally.
 */
static int measure_commands(const struct gate_arguments *a, char **words, const char *events,
			    struct samples *old, struct samples *now)
{
	/*
	 * If there are metrics, no events are counted unless they are named too: an empty list
	 * counts only the clock.
	 */
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

/* Splits --against into words as a shell does, but runs no shell, which would be counted. */
static int measure_all(const struct gate_arguments *a, const char *events, struct samples *old,
		       struct samples *now)
{
	wordexp_t words;
	int status;

	if (!a->against)
		return measure_commands(a, NULL, events, old, now);
	if (wordexp(a->against, &words, WRDE_NOCMD) != 0 || words.we_wordc == 0)
		return gate_usage("--against takes a program and its arguments, not",
				  a->against);
	status = measure_commands(a, words.we_wordv, events, old, now);
	wordfree(&words);
	return status;
}

/* From a history, this takes the newest run that was counted in the same way. */
static int load_old(const struct gate_arguments *a, struct samples *old,
		    const struct samples *now)
{
	memcpy(old->how, now->how, sizeof old->how);
	if (!a->baseline || samples_load(old, a->baseline, "tach gate") == 0)
		return 0;
	return EXIT_USAGE;
}

/* Runs the commands. Returns 0, or an error after printing why not. */
static int take_samples(struct gate_arguments *a, struct samples *old, struct samples *now)
{
	char *events;
	int status;

	if (a->candidate)
		return samples_load(now, a->candidate, "tach gate") != 0
			       ? EXIT_USAGE
			       : load_old(a, old, now);
	events = events_of(a);
	status = events ? choose_way(a, events, now->how, sizeof now->how) : EXIT_USAGE;
	if (!status)
		status = load_old(a, old, now);
	if (!status)
		status = measure_all(a, events, old, now);
	free(events);
	return status;
}

int cmd_gate(int argc, char **argv)
{
	struct gate_arguments a = {0};
	struct samples old = {0}, now = {0};
	int status = gate_parse(&a, argc, argv), saved = 0;

	if (status)
		return status < 0 ? EXIT_DONE : status;
	a.compare.in_turns = a.against != NULL;
	status = take_samples(&a, &old, &now);
	if (!status && a.save)
		saved = save_baseline(&a, &now);
	if (!status && (a.baseline || a.against))
		status = judge_samples(&a, &old, &now);
	samples_free(&old);
	samples_free(&now);
	return status ? status : saved;
}
