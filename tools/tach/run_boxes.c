/* SPDX-License-Identifier: MIT */
/* `tach run --outside`: also counts events of boxes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/uncore.h>
#include "core/set/set.h"
#include "core/uncore/uncore.h"
#include "tools/tach/commands.h"
#include "tools/tach/run.h"
#include "tools/tach/run_outside.h"

void run_boxes_blank(char *events, int boxes)
{
	struct tach__list list = tach__list_of(events);
	struct tach__listed item;

	while (tach__list_next(&list, &item)) {
		char string[TACH_EVENT_NAME_MAX];

		snprintf(string, sizeof string, "%.*s", (int)item.event.length, item.event.at);
		if (!tach__uncore_is_event(string) == !boxes)
			memset((char *)item.whole.at, ' ', item.whole.length);
	}
}

char *run_boxes_wanted(const char *events, const char *metrics)
{
	char *wanted = tach__uncore_wanted(metrics, events), *all;

	if (!wanted || asprintf(&all, "%s%s%s", events, *wanted ? "," : "", wanted) < 0)
		all = NULL;
	free(wanted);
	return all;
}

int run_metrics_have_boxes(const char *metrics)
{
	char *wanted = tach__uncore_wanted(metrics, "");
	int has = wanted && *wanted;

	free(wanted);
	return has;
}

static int is_blank(const char *text)
{
	struct tach__list list = tach__list_of(text);
	struct tach__listed item;

	return !tach__list_next(&list, &item);
}

int run_has_boxes(const char *events)
{
	char *boxes = strdup(events);
	int has;

	if (!boxes)
		return 0;
	run_boxes_blank(boxes, 0);
	has = !is_blank(boxes);
	free(boxes);
	return has;
}

int run_boxes_open(struct run_boxes *b, const char *events, const char *shown)
{
	struct tach_uncore_options opt = TACH_UNCORE_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;

	if (is_blank(events))
		return 0;
	opt.events = events;
	if (tach_uncore_open(&opt, &b->uncore, &err) == 0 &&
	    tach_uncore_count(b->uncore) <= TACH_COUNTERS_MAX)
		return 0;
	if (!*err.text)
		snprintf(err.text, sizeof err.text, "%d events of boxes; at most %d",
			 tach_uncore_count(b->uncore), TACH_COUNTERS_MAX);
	complain("tach run", shown, &err);
	return RUN_FAILED;
}

void run_boxes_start(struct run_boxes *b)
{
	if (b->uncore)
		tach_uncore_start(b->uncore);
}

void run_boxes_stop(struct run_boxes *b)
{
	if (b->uncore)
		tach_uncore_stop(b->uncore);
}

void run_boxes_read(struct run_boxes *b)
{
	if (b->uncore)
		tach_uncore_read(b->uncore, b->count, b->flags);
}

void run_boxes_note(const struct run_boxes *b, char *note, size_t size)
{
	if (b->uncore)
		tach__ambient_note(b->uncore, note, size);
}

void run_boxes_close(struct run_boxes *b)
{
	tach_uncore_close(b->uncore);
}
