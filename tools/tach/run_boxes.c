/* SPDX-License-Identifier: MIT */
/* Events of boxes that `tach run --outside` counts beside those of the program. */
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
		if (!tach__uncore_is(string) == !boxes)
			memset((char *)item.whole.at, ' ', item.whole.length);
	}
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

/*
 * What config1 of a member that is a box's tells apart from a dummy event that was asked for.
 */
enum { BOX_MARK = 0x626f7800 };

void run_boxes_add(const struct run_boxes *b, struct tach_set_options *opt,
		   struct tach_set_member *members, struct perf_event_attr *attrs)
{
	opt->attrs = members;
	opt->nattrs = b->uncore ? tach_uncore_count(b->uncore) : 0;
	for (int k = 0; k < opt->nattrs; k++) {
		attrs[k] = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
						    .size = sizeof *attrs,
						    .config = PERF_COUNT_SW_DUMMY,
						    .config1 = BOX_MARK + (uint64_t)k};
		members[k] =
			(struct tach_set_member){tach_uncore_name(b->uncore, k), &attrs[k]};
	}
}

int run_boxes_find(const struct run_boxes *b, const struct tach_set *set, int member)
{
	const struct perf_event_attr *attr = tach_set_attr(set, member);
	uint64_t k = attr->config1 - BOX_MARK;

	return b->uncore && attr->type == PERF_TYPE_SOFTWARE &&
			       attr->config == PERF_COUNT_SW_DUMMY &&
			       k < (uint64_t)tach_uncore_count(b->uncore)
		       ? (int)k
		       : -1;
}

void run_boxes_start(struct run_boxes *b)
{
	if (b->uncore)
		tach_uncore_start(b->uncore);
}

void run_boxes_stop(struct run_boxes *b)
{
	if (!b->uncore)
		return;
	tach_uncore_stop(b->uncore);
	tach_uncore_read(b->uncore, b->count, b->flags);
}

void run_boxes_note(const struct run_boxes *b, char *note, size_t size)
{
	size_t used = strlen(note);

	if (!b->uncore)
		return;
	for (int k = 0; k < tach_uncore_count(b->uncore); k++) {
		snprintf(note + used, size - used, "%s%s", k ? ", " : (used ? "; " : ""),
			 tach_uncore_name(b->uncore, k));
		used = strlen(note);
	}
	snprintf(note + used, size - used, ": of the whole machine, all programs together");
}

void run_boxes_close(struct run_boxes *b)
{
	tach_uncore_close(b->uncore);
}
