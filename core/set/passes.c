/* SPDX-License-Identifier: MIT */
/* Plans passes: encodes the events, gets groups from the scheduler, and writes each group as a
 * list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/set/passes.h"
#include "core/base/error.h"
#include "core/derived/derived.h"
#include "core/set/set.h"

/*
 * Events as written, with their labels. The first `anchors` events are in every pass: the
 * repeated event, and interrupts, which the set adds by itself.
 */
struct plan {
	int n, anchors;
	struct tach__span text[TACH_SCHEDULE_MAX];
	struct tach_event event[TACH_SCHEDULE_MAX];
	struct tach_schedule schedule;
	uint32_t privilege;
};

static const struct tach__span repeated = {TACH__PASSES_REPEATED,
					   sizeof TACH__PASSES_REPEATED - 1, 1};

static const struct tach__span interrupts = {"interrupts", sizeof "interrupts" - 1, 1};

static int is_repeated(struct tach__span t)
{
	return t.length == repeated.length && strncmp(t.at, repeated.at, t.length) == 0;
}

/* Encodes an event. Returns 0 if the scheduler must place it. */
static int encode(const struct plan *plan, struct tach__span event, struct tach_event *out)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	char string[TACH_EVENT_NAME_MAX];

	if (event.length >= sizeof string)
		return -1;
	memcpy(string, event.at, event.length);
	string[event.length] = '\0';
	if (plan->privilege)
		opt.privilege = plan->privilege;
	out->size = sizeof *out;
	return tach_event_encode(string, &opt, out, NULL);
}

/* Returns 1 for a name of several events. The set will count these. They may not fit together
 * with other events. */
static int is_derived(struct tach__span event)
{
	struct tach_expansion *x = NULL;
	int found = tach__derived_lookup(-1, event.at, event.length, &x, NULL) > 0;

	if (found)
		tach_expansion_free(x);
	return found;
}

/*
 * Reads a list without braces. Strings that cannot be encoded are copied, NUL-terminated, to
 * *derived or *odd; each has room for the whole list.
 */
static int read_list(struct plan *plan, const char *events, char *derived, char *odd,
		     struct tach_error *err)
{
	struct tach__list list = tach__list_of(events);
	struct tach__listed item;

	plan->text[0] = repeated;
	encode(plan, repeated, &plan->event[0]);
	if (plan->anchors > 1 && encode(plan, interrupts, &plan->event[1]))
		plan->anchors = 1;
	plan->n = plan->anchors;
	while (tach__list_next(&list, &item)) {
		struct tach__span whole = item.whole, event = item.event;

		if (is_repeated(whole))
			continue;
		if (plan->n == TACH_SCHEDULE_MAX)
			return tach__error(err, TACH_ERR_TOOMANY, 0, 0,
					   "a benchmark counts %d events at most",
					   TACH_SCHEDULE_MAX - plan->anchors);
		plan->text[plan->n] = whole;
		if (encode(plan, event, &plan->event[plan->n]) == 0)
			plan->n++;
		else if (is_derived(event))
			derived += sprintf(derived, "%.*s,", (int)whole.length, whole.at);
		else
			odd += sprintf(odd, "%.*s,", (int)whole.length, whole.at);
	}
	return 0;
}

/*
 * Writes the lists into p->text. Each list has the events of a group, then the repeated event.
 * The first list also has `odd`. If there are derived events, the last list has them.
 */
static void write_lists(const struct plan *plan, const char *derived, const char *odd,
			struct tach__passes *p)
{
	char *at = p->text;

	p->count = plan->schedule.ngroups;
	for (int pass = 0; pass < p->count; pass++) {
		p->events[pass] = at;
		at += sprintf(at, "%s", pass == 0 ? odd : "");
		for (int i = plan->anchors; i < plan->n; i++)
			if (plan->schedule.group[i] == pass)
				at += sprintf(at, "%.*s,", (int)plan->text[i].length,
					      plan->text[i].at);
		/* The repeated event is last, because slots must lead their group. */
		at += sprintf(at, "%s", TACH__PASSES_REPEATED) + 1;
	}
	if (*derived) {
		sprintf(at, "%s,%s", TACH__PASSES_REPEATED, derived);
		p->events[p->count++] = at;
	}
}

static int in_group(const struct plan *plan, int group)
{
	int n = 0;

	for (int i = plan->anchors; i < plan->n; i++)
		n += plan->schedule.group[i] == group;
	return n;
}

/*
 * A set holds fewer events than some processors count at once. So events that need a general
 * counter, or no counter, move to another group. Fields of PERF_METRICS stay with their slots.
 */
static void divide_large(struct plan *plan)
{
	enum { FIXED = 32 };
	struct tach_schedule *s = &plan->schedule;

	for (int g = 0; g < s->ngroups && s->ngroups < TACH__PASSES_MAX; g++) {
		int more = in_group(plan, g) + plan->anchors - TACH_COUNTERS_MAX;

		if (more <= 0)
			continue;
		for (int i = plan->n; i-- > plan->anchors && more > 0;)
			if (s->group[i] == g && s->counter[i] < FIXED) {
				s->group[i] = (uint8_t)s->ngroups;
				more--;
			}
		s->ngroups++;
	}
}

static int split_events(struct plan *plan, const char *events, struct tach__passes *p,
			struct tach_error *err)
{
	size_t room = strlen(events) + 2; /* a comma after each */
	char *odd = (char *)calloc(2, room), *derived = odd + room;
	int code = odd ? read_list(plan, events, derived, odd, err) : TACH_ERR_NOMEM;

	plan->schedule.size = sizeof plan->schedule;
	if (!code)
		code = tach_schedule_split(plan->event, plan->n, plan->anchors, NULL,
					   &plan->schedule, err);
	if (code == 0)
		divide_large(plan);
	if (code == 0 && plan->schedule.ngroups >= TACH__PASSES_MAX)
		code = tach__error(err, TACH_ERR_TOOMANY, 0, 0, "%d passes; at most %d",
				   plan->schedule.ngroups, TACH__PASSES_MAX - 1);
	if (code == 0 && (plan->schedule.ngroups > 1 || *derived)) {
		write_lists(plan, derived, odd, p);
	} else if (code == 0 || code == TACH_ERR_NOHARDWARE || code == TACH_ERR_NOTSUPP) {
		/* All events fit at once, or the machine is unknown, so keep the list. */
		p->count = 1;
		p->events[0] = strcpy(p->text, events);
		code = 0;
	}
	free(odd);
	return code;
}

int tach__passes_plan(struct tach__passes **out, const char *list, uint32_t privilege,
		      int with_interrupts, struct tach_error *err)
{
	char *flat = tach__list_flat(list);
	const char *events = flat ? flat : "";
	/* Room for the repeated event in each pass, for the list, and for a comma after each
	 * event. */
	size_t room = TACH__PASSES_MAX * sizeof TACH__PASSES_REPEATED + strlen(events) + 2;
	struct plan *plan = calloc(1, sizeof *plan);
	struct tach__passes *p = calloc(1, sizeof *p + room);
	int code = TACH_ERR_NOMEM;

	if (plan && p && flat) {
		plan->privilege = privilege;
		plan->anchors = with_interrupts ? 2 : 1;
		code = split_events(plan, events, p, err);
	}
	if (code == TACH_ERR_NOMEM)
		tach__error(err, code, 0, 0, "out of memory");
	free(plan);
	free(flat);
	if (code)
		free(p);
	else
		*out = p;
	return code;
}
