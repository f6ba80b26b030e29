/* SPDX-License-Identifier: MIT */
/* Event sets: their numbers, how they are made and destroyed. */
#include <stdlib.h>
#include <string.h>
#include "compat/papi/state.h"

struct pp_table pp_table;

/* The old array stays: other threads look into it without a lock. */
static int widen_sets(void)
{
	uint32_t size = pp_table.size ? 2 * pp_table.size : PAPI_INIT_SLOTS;
	struct pp_set **larger = calloc(size, sizeof(*larger));

	if (!larger)
		return PAPI_ENOMEM;
	if (pp_table.size)
		memcpy(larger, pp_table.slot, pp_table.size * sizeof(*larger));
	__atomic_store_n(&pp_table.slot, larger, __ATOMIC_RELEASE);
	__atomic_store_n(&pp_table.size, size, __ATOMIC_RELEASE);
	return PAPI_OK;
}

static int enter_set(struct pp_set *set)
{
	uint32_t i = 0;
	int code = PAPI_OK;

	pp_enter();
	while (i < pp_table.size && pp_table.slot[i])
		i++;
	if (i == pp_table.size)
		code = widen_sets();
	if (code == PAPI_OK) {
		set->number = (int)i;
		pp_table.slot[i] = set;
	}
	pp_leave();
	return code;
}

static void forget_events(struct pp_set *set)
{
	for (int i = 0; i < set->nevents; i++)
		free(set->event[i].term);
	free(set->event);
	free(set->member);
	free(set->stopped);
	set->event = NULL;
	set->member = NULL;
	set->stopped = NULL;
	set->nevents = set->room = set->nmembers = 0;
}

/* The set must no longer be in the table. */
void pp_set_free(struct pp_set *set)
{
	pp_close(set);
	pp_sampling_free(set);
	forget_events(set);
	free(set);
}

/*
 * A reader can be closed only by its own thread: a set of another live thread waits until that
 * thread ends.
 */
static void dispose_set(struct pp_set *set)
{
	if (set->reader && set->opener != pp_self) {
		set->reading = set->ready = NULL;
		set->next = set->opener->orphans;
		set->opener->orphans = set;
		return;
	}
	pp_set_free(set);
}

void pp_sets_free(const struct pp_thread *master)
{
	struct pp_set *set;

	for (uint32_t i = 0; i < pp_table.size; i++) {
		set = pp_table.slot[i];
		if (!set || (master && set->master != master))
			continue;
		if (set->state & PAPI_RUNNING && set->opener == pp_self)
			PAPI_stop((int)i, NULL);
		pp_enter();
		pp_table.slot[i] = NULL;
		dispose_set(set);
		pp_leave();
	}
}

/* Stops all sets: their counters count the parent. */
void pp_sets_forked(void)
{
	struct pp_set *set;

	for (uint32_t i = 0; i < pp_table.size; i++) {
		set = pp_table.slot[i];
		if (!set)
			continue;
		pp_close(set);
		if (set->state & PAPI_RUNNING) {
			set->state = (set->state & ~PAPI_RUNNING) | PAPI_STOPPED;
			if (set->stopped)
				memset(set->stopped, 0,
				       (size_t)set->room * sizeof(*set->stopped));
		}
	}
}

void pp_set_take(struct pp_set *set, int component)
{
	const PAPI_component_info_t *info = pp_component(component);

	set->component = component;
	set->domain = info->default_domain;
	set->granularity = info->default_granularity;
	set->state = PAPI_STOPPED; /* a set is no longer multiplexed after its cleanup */
}

void pp_set_empty(struct pp_set *set)
{
	pp_close(set);
	forget_events(set);
	set->component = -1;
	set->domain = set->granularity = set->inherit = 0;
	set->multiplex_ns = set->multiplex_flags = 0;
	set->attached = 0;
	set->cpu = -1;
}

/* ---- PAPI's ---- */

int PAPI_create_eventset(int *EventSet)
{
	struct pp_thread *self;
	struct pp_set *set;
	int code;

	if (pp_process.level == PAPI_NOT_INITED)
		return pp_return(PAPI_ENOINIT);
	code = pp_thread_get(&self);
	if (code != PAPI_OK)
		return pp_return(code);
	if (!EventSet || *EventSet != PAPI_NULL)
		return pp_return(PAPI_EINVAL);
	set = calloc(1, sizeof *set);
	if (!set)
		return pp_return(PAPI_ENOMEM);
	set->component = set->cpu = -1;
	set->state = PAPI_STOPPED;
	set->read = pp_read_long;
	set->master = self;
	code = enter_set(set);
	if (code != PAPI_OK) {
		free(set);
		return pp_return(code);
	}
	*EventSet = set->number;
	return PAPI_OK;
}

int PAPI_assign_eventset_component(int EventSet, int cidx)
{
	struct pp_set *set = pp_set_of(EventSet);

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (!pp_component_valid(cidx))
		return pp_return(PAPI_ENOCMP);
	if (set->component >= 0)
		return PAPI_EINVAL;
	pp_set_take(set, cidx);
	/* These components have no counters; the set is still assigned to them, as in PAPI. */
	return cidx == PP_ROCM ? PAPI_ENOMEM : cidx == PP_SYSDETECT ? PAPI_ECMP : PAPI_OK;
}

int PAPI_get_eventset_component(int EventSet)
{
	struct pp_set *set = pp_set_of(EventSet);

	if (!set)
		return pp_return(PAPI_ENOEVST);
	return set->component < 0 ? pp_return(PAPI_ENOCMP) : set->component;
}

static int cut_sampling(int EventSet, struct pp_set *set)
{
	int code = PAPI_OK;

	for (int i = 0; code == PAPI_OK && i < set->nevents; i++) {
		if (set->state & PAPI_PROFILING)
			PAPI_sprofil(NULL, 0, EventSet, set->event[i].code, 0,
				     PAPI_PROFIL_POSIX);
		if (set->state & PAPI_OVERFLOWING)
			PAPI_overflow(EventSet, set->event[i].code, 0, 0, NULL);
	}
	return code;
}

int PAPI_cleanup_eventset(int EventSet)
{
	struct pp_set *set = pp_set_of(EventSet);

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (set->component < 0)
		return PAPI_OK;
	if (set->state & PAPI_RUNNING)
		return pp_return(PAPI_EISRUN);
	if (set->component == PP_SYSDETECT)
		return pp_return(PAPI_ECMP);
	cut_sampling(EventSet, set);
	if (set->reader && set->opener != pp_self)
		return pp_return(PAPI_ECMP);
	pp_set_empty(set);
	return PAPI_OK;
}

int PAPI_destroy_eventset(int *EventSet)
{
	struct pp_set *set;

	if (!EventSet)
		return pp_return(PAPI_EINVAL);
	set = pp_set_of(*EventSet);
	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (!(set->state & PAPI_STOPPED))
		return pp_return(PAPI_EISRUN);
	if (set->nevents)
		return pp_return(PAPI_EINVAL);
	pp_enter();
	pp_table.slot[set->number] = NULL;
	dispose_set(set);
	pp_leave();
	*EventSet = PAPI_NULL;
	return PAPI_OK;
}

int PAPI_state(int EventSet, int *status)
{
	struct pp_set *set = pp_set_of(EventSet);

	if (!status)
		return pp_return(PAPI_EINVAL);
	if (!set)
		return pp_return(PAPI_ENOEVST);
	*status = set->state;
	return PAPI_OK;
}

int PAPI_num_events(int EventSet)
{
	struct pp_set *set = pp_set_of(EventSet);

	return set ? set->nevents : pp_return(PAPI_ENOEVST);
}

int PAPI_list_events(int EventSet, int *Events, int *number)
{
	struct pp_set *set = pp_set_of(EventSet);

	if (!number || *number < 0 || (!Events && *number > 0))
		return pp_return(PAPI_EINVAL);
	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (!Events || *number == 0) {
		*number = set->nevents;
		return PAPI_OK;
	}
	if (*number > set->nevents)
		*number = set->nevents;
	for (int i = 0; i < *number; i++)
		Events[i] = set->event[i].code;
	return PAPI_OK;
}
