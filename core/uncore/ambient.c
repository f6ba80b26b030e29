/* SPDX-License-Identifier: MIT */
/* Events of boxes as a set, so that metrics can use them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/set/set.h"
#include "core/uncore/uncore.h"

/* config1 of a member that represents a box's event: no dummy event of a user has it. */
enum { BOX_MARK = 0x626f7800 };

void tach__uncore_members(const struct tach_uncore *u, struct tach_set_options *opt,
			  struct tach_set_member *members, struct perf_event_attr *attrs)
{
	opt->attrs = members;
	opt->nattrs = u ? u->nevents : 0;
	for (int k = 0; k < opt->nattrs; k++) {
		attrs[k] = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
						    .size = sizeof *attrs,
						    .config = PERF_COUNT_SW_DUMMY,
						    .config1 = BOX_MARK + (uint64_t)k};
		members[k] = (struct tach_set_member){u->event[k].name, &attrs[k]};
	}
}

int tach__uncore_member(const struct tach_uncore *u, const struct tach_set *set, int member)
{
	const struct perf_event_attr *attr = tach_set_attr(set, member);
	uint64_t k = attr->config1 - BOX_MARK;

	return u && attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY &&
			       k < (uint64_t)u->nevents
		       ? (int)k
		       : -1;
}

/* Makes the set. threads: the list, with spaces in place of the events of boxes. */
static int make_set(struct tach__ambient *a, const char *threads, const char *metrics,
		    struct tach_error *err)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attrs[TACH_COUNTERS_MAX];
	struct tach_set_member members[TACH_COUNTERS_MAX];

	if (a->uncore->nevents > TACH_COUNTERS_MAX)
		return tach__error(err, TACH_ERR_TOOMANY, 0, 0,
				   "%d events of boxes; at most %d", a->uncore->nevents,
				   TACH_COUNTERS_MAX);
	tach__uncore_members(a->uncore, &opt, members, attrs);
	opt.events = threads;
	opt.metrics = metrics;
	if (threads)
		opt.flags |= TACH_SET_MULTIPLEX;
	return tach_set_create(&opt, &a->set, err);
}

/*
 * Keeps the events of boxes if `boxes` is 1, or all other events if it is 0. Replaces the rest
 * by spaces. Returns the number of events that remain.
 */
static int keep_kind(char *events, int boxes)
{
	struct tach__list list = tach__list_of(events);
	struct tach__listed item;
	int kept = 0;

	while (tach__list_next(&list, &item)) {
		char string[TACH_EVENT_NAME_MAX];

		snprintf(string, sizeof string, "%.*s", (int)item.event.length, item.event.at);
		if (!tach__uncore_is_event(string) == !boxes)
			kept++;
		else
			memset((char *)item.whole.at, ' ', item.whole.length);
	}
	return kept;
}

static int is_set(const char *events)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;
	int code;

	opt.events = events;
	opt.flags = TACH_SET_MULTIPLEX;
	code = tach_set_create(&opt, &set, NULL);
	tach_set_free(set);
	return code == 0;
}

/* Opens the events of boxes, and makes the set. err is the caller's own struct. */
static int open_both(struct tach__ambient *a, const char *events, const char *metrics,
		     struct tach_error *err)
{
	struct tach_uncore_options opt = TACH_UNCORE_OPTIONS_INIT;
	char *wanted = tach__uncore_wanted(metrics, events), *all = NULL;
	char *boxes = strdup(events), *threads = strdup(events);
	int code, mixed;

	/* If neither the list nor the metrics have a box, the list is refused as a list of
	 * boxes. */
	mixed = wanted && boxes && threads && (keep_kind(boxes, 1) || *wanted) &&
		keep_kind(threads, 0);
	if (!wanted || !boxes || asprintf(&all, "%s,%s", mixed ? boxes : events, wanted) < 0)
		all = NULL;
	free(wanted);
	free(boxes);
	if (!mixed) {
		free(threads);
		threads = NULL;
	}
	if (!all) {
		free(threads);
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	opt.events = all;
	code = all[strspn(all, ", \t\n")]
		       ? tach_uncore_open(&opt, &a->uncore, err)
		       : tach__error(err, TACH_ERR_INVAL, 0, 0, "the list names no events");
	free(all);
	if (code) {
		/* The column belongs to an event that the caller did not write. */
		if (err->column > (int)strlen(events) + 1)
			err->column = 0;
		free(threads);
		return code;
	}
	code = make_set(a, threads, metrics, err);
	/* Metrics follow the events. They are the cause if the events alone form a set. */
	if (code && err->column && (!threads || is_set(threads)))
		err->column += (int)strlen(events) + 1;
	free(threads);
	return code;
}

/* Replaces the names of metrics among the events by spaces, which keeps columns. Returns these
 * names, followed by the list's own metrics. The caller frees the text. NULL: out of memory. */
static char *take_metrics(char *events, const char *metrics)
{
	char *all = calloc(1, strlen(events) + strlen(metrics) + 2);
	struct tach__list list = tach__list_of(events);
	struct tach__listed item;

	if (!all)
		return NULL;
	while (tach__list_next(&list, &item))
		if (!item.label.length &&
		    tach__uncore_is_metric(item.event.at, item.event.length)) {
			strncat(all, item.event.at, item.event.length);
			strcat(all, ";");
			memset((char *)item.whole.at, ' ', item.whole.length);
		}
	return strcat(all, metrics);
}

int tach__ambient_open(struct tach__ambient *a, const char *list, struct tach_error *err)
{
	struct tach_error ours = TACH_ERROR_INIT;
	size_t length = strcspn(list, ";");
	char *events = strndup(list, length);
	char *metrics =
		events ? take_metrics(events, list[length] ? list + length + 1 : "") : NULL;
	int code;

	*a = (struct tach__ambient){NULL, NULL};
	if (!metrics) {
		free(events);
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	code = open_both(a, events, metrics, &ours);
	free(events);
	free(metrics);
	if (!code)
		return 0;
	tach__ambient_close(a);
	return tach__error(err, code, 0, ours.column, "%s", ours.text);
}

void tach__ambient_close(struct tach__ambient *a)
{
	tach_uncore_close(a->uncore);
	tach_set_free(a->set);
	*a = (struct tach__ambient){NULL, NULL};
}

void tach__ambient_note(const struct tach_uncore *u, char *note, size_t size)
{
	size_t used = strlen(note);

	for (int k = 0; k < u->nevents; k++) {
		snprintf(note + used, size - used, "%s%s", k ? ", " : (used ? "; " : ""),
			 u->event[k].name);
		used = strlen(note);
	}
	snprintf(note + used, size - used, ": of the whole machine, all programs together");
}
