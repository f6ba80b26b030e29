/* SPDX-License-Identifier: MIT */
/* Events of a set, and the native events that they consist of. */
#include <stdlib.h>
#include <string.h>
#include "compat/papi/state.h"

int pp_event_index(const struct pp_set *set, int code)
{
	for (int i = 0; i < set->nevents; i++)
		if (set->event[i].code == code)
			return i;
	return PAPI_EINVAL;
}

static int grow_members(struct pp_set *set)
{
	int room = set->room ? 2 * set->room : 8;
	struct pp_event *event;
	long long *stopped;

	if (set->nevents < set->room)
		return PAPI_OK;
	event = realloc(set->event, (size_t)room * sizeof(*event));
	if (!event)
		return PAPI_ENOMEM;
	set->event = event;
	stopped = realloc(set->stopped, (size_t)room * sizeof(*stopped));
	if (!stopped)
		return PAPI_ENOMEM;
	set->stopped = stopped;
	set->room = room;
	return PAPI_OK;
}

/*
 * Returns the native event's index among the members, or -1 if there is no memory or no space.
 */
static int join_member(struct pp_set *set, int code)
{
	int *member;

	for (int i = 0; i < set->nmembers; i++)
		if (set->member[i] == code)
			return i;
	if (set->nmembers >= PP_EVENTS)
		return -1;
	member = realloc(set->member, (size_t)(set->nmembers + 1) * sizeof(*member));
	if (!member)
		return -1;
	set->member = member;
	member[set->nmembers] = code;
	return set->nmembers++;
}

static const struct pp_derived *derived_of(int code)
{
	if (IS_PRESET(code))
		return pp_preset(code & PAPI_PRESET_AND_MASK);
	return IS_USER_DEFINED(code) ? pp_user_event(code & PAPI_UE_AND_MASK) : NULL;
}

/* Computes members and terms again from the events' codes. */
static int compile(struct pp_set *set)
{
	set->nmembers = 0;
	set->plain = 1;
	for (int i = 0; i < set->nevents; i++) {
		struct pp_event *e = &set->event[i];
		const struct pp_derived *d = derived_of(e->code);
		const struct pp_native *native = d ? NULL : pp_native_of(e->code);
		const int *codes = d ? d->code : &e->code;
		int share[3];

		e->nterms = d ? d->count : 1;
		e->kind = d ? d->kind : PP_PLAIN;
		e->formula = d ? tach_expansion_formula(d->expansion) : NULL;
		if (native && native->component == PP_TOPDOWN) {
			e->nterms = pp_topdown_members(native->event, share);
			if (e->nterms < 0)
				return e->nterms;
			e->kind = PP_SHARE;
			codes = share;
		}
		free(e->term);
		e->term = calloc((size_t)e->nterms, sizeof(*e->term));
		if (!e->term)
			return PAPI_ENOMEM;
		for (int k = 0; k < e->nterms; k++) {
			e->term[k] = join_member(set, codes[k]);
			if (e->term[k] < 0)
				return PAPI_ECOUNT;
		}
		if (e->kind != PP_PLAIN || e->term[0] != i)
			set->plain = 0;
	}
	if (set->nmembers != set->nevents)
		set->plain = 0;
	return PAPI_OK;
}

static void drop_member(struct pp_set *set, int index)
{
	free(set->event[index].term);
	memmove(&set->event[index], &set->event[index + 1],
		(size_t)(set->nevents - index - 1) * sizeof(*set->event));
	set->nevents--;
}

static int settle_set(struct pp_set *set)
{
	int code = compile(set);

	if (code != PAPI_OK)
		return code;
	pp_choose_read(set);
	return pp_open(set);
}

/* Returns PAPI_OK if the event exists, else PAPI's error code. */
static int look_up_event(int code)
{
	const struct pp_derived *d;
	int index;

	if (IS_PRESET(code)) {
		index = code & PAPI_PRESET_AND_MASK;
		if (index >= PAPI_MAX_PRESET_EVENTS)
			return PAPI_EINVAL;
		d = pp_preset(index);
		return d && d->count ? PAPI_OK : PAPI_ENOEVNT;
	}
	if (IS_USER_DEFINED(code)) {
		index = code & PAPI_UE_AND_MASK;
		if (index >= pp_user_events())
			return PAPI_EINVAL;
		d = pp_user_event(index);
		return d && d->count ? PAPI_OK : PAPI_ENOEVNT;
	}
	return pp_native_of(code)->usable ? PAPI_OK : PAPI_ENOEVNT;
}

static int add_event(struct pp_set *set, int event)
{
	int component = pp_native_component(event), code;

	if (component < 0)
		return PAPI_ENOCMP;
	if (pp_component_disabled(component))
		return PAPI_ECMP_DISABLED;
	if (set->component < 0)
		pp_set_take(set, component);
	else if (set->component != component)
		return PAPI_EINVAL;
	if (event == PAPI_NULL || pp_event_index(set, event) >= 0 || set->nevents >= PP_EVENTS)
		return PAPI_ECNFLCT;
	code = look_up_event(event);
	if (code != PAPI_OK)
		return code;
	if (set->reader && set->opener != pp_self)
		return PAPI_ECMP; /* its counters belong to another thread */
	code = grow_members(set);
	if (code != PAPI_OK)
		return code;
	set->event[set->nevents] = (struct pp_event){.code = event};
	set->stopped[set->nevents++] = 0;
	code = settle_set(set);
	if (code != PAPI_OK) {
		drop_member(set, set->nevents - 1);
		settle_set(set); /* restores the earlier state */
	}
	return code;
}

/* ---- PAPI's ---- */

int PAPI_add_event(int EventSet, int Event)
{
	struct pp_set *set = pp_set_of(EventSet);

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (!(Event & PAPI_PRESET_MASK) && !(Event & PAPI_NATIVE_MASK))
		return pp_return(PAPI_EINVAL);
	if (set->state & PAPI_RUNNING)
		return pp_return(PAPI_EISRUN);
	return pp_return(add_event(set, Event));
}

int PAPI_add_named_event(int EventSet, const char *EventName)
{
	int event, code = PAPI_event_name_to_code(EventName, &event);

	return code != PAPI_OK ? code : PAPI_add_event(EventSet, event);
}

int PAPI_remove_event(int EventSet, int EventCode)
{
	struct pp_set *set = pp_set_of(EventSet);
	int index;

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (!(EventCode & PAPI_PRESET_MASK) && !(EventCode & PAPI_NATIVE_MASK))
		return pp_return(PAPI_EINVAL);
	if (!(set->state & PAPI_STOPPED))
		return pp_return(PAPI_EISRUN);
	index = pp_event_index(set, EventCode);
	if (index < 0)
		return pp_return(index);
	if (set->reader && set->opener != pp_self)
		return pp_return(PAPI_ECMP);
	if (set->state & PAPI_PROFILING)
		PAPI_sprofil(NULL, 0, EventSet, EventCode, 0, 0);
	if (set->state & PAPI_OVERFLOWING)
		PAPI_overflow(EventSet, EventCode, 0, 0, NULL);
	drop_member(set, index);
	return pp_return(settle_set(set));
}

int PAPI_remove_named_event(int EventSet, const char *EventName)
{
	int event, code = PAPI_event_name_to_code(EventName, &event);

	return code != PAPI_OK ? pp_return(code) : PAPI_remove_event(EventSet, event);
}

/* If the first event fails, returns its error. If a later one fails, returns the number of
 * events before it. */
static int for_each_event(int EventSet, const int *events, int n,
			  int (*act)(int EventSet, int event))
{
	if (!events || n <= 0)
		return pp_return(PAPI_EINVAL);
	for (int i = 0; i < n; i++) {
		int code = act(EventSet, events[i]);

		if (code != PAPI_OK)
			return i == 0 ? code : i;
	}
	return PAPI_OK;
}

int PAPI_add_events(int EventSet, int *Events, int number)
{
	return for_each_event(EventSet, Events, number, PAPI_add_event);
}

int PAPI_remove_events(int EventSet, int *Events, int number)
{
	return for_each_event(EventSet, Events, number, PAPI_remove_event);
}
