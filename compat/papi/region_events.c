/* SPDX-License-Identifier: MIT */
/* Regions by name: the events that they count, and each thread's sets of these events. */
#include <stdlib.h>
#include <string.h>
#include "compat/papi/regions.h"

static int open_set(int *set, int component)
{
	int code = PAPI_create_eventset(set);

	if (code != PAPI_OK || component != PP_CORE || !pp_regions.multiplexed)
		return code;
	if (PAPI_assign_eventset_component(*set, component) != PAPI_OK ||
	    PAPI_set_multiplex(*set) != PAPI_OK)
		pp_regions_say("Warning: the events are not multiplexed.\n");
	return PAPI_OK;
}

static void close_set(int *set)
{
	PAPI_cleanup_eventset(*set);
	PAPI_destroy_eventset(set);
	*set = PAPI_NULL;
}

/* Cuts "=instant" or "=delta" off the name. */
static char cut_type(char *name)
{
	char *type = strrchr(name, '=');
	char instant = strstr(name, "nvml:::") != NULL;

	if (type && strcmp(type, "=instant") == 0)
		instant = 1;
	else if (!type || strcmp(type, "=delta") != 0)
		type = NULL;
	if (type)
		*type = '\0';
	return instant;
}

static void cut_spaces(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != ' ')
			*to++ = *text;
	*to = '\0';
}

/*
 * Finds the set of the event's component, and makes one if needed. Returns -1 if the event
 * cannot be counted.
 */
static int try_event(struct pp_choice *choice, const int *sets, const char *name, int *code)
{
	int component, i = 0, set = PAPI_NULL, event = PAPI_OK;

	if (PAPI_event_name_to_code(name, code) != PAPI_OK)
		return -1;
	component = PAPI_get_event_component(*code);
	while (i < choice->nsets && choice->component[i] != component)
		i++;
	/*
	 * Test the event in a set of its own first: a set whose only event fails would have no
	 * component.
	 */
	if (component < 0 || component >= PP_COMPONENTS || open_set(&set, component) != PAPI_OK)
		return -1;
	event = PAPI_add_event(set, *code);
	close_set(&set);
	if (event != PAPI_OK)
		return -1;
	if (i < choice->nsets && PAPI_add_event(sets[i], *code) != PAPI_OK)
		return -1;
	if (i == choice->nsets)
		choice->component[i] = component;
	return i;
}

/* Inserts the event after the other events of its set. */
static int put_event(struct pp_choice *choice, int set, const char *name, int code, char type)
{
	int at = 0;

	for (int i = 0; i <= set; i++)
		at += choice->count[i];
	for (int i = choice->nevents; i > at; i--) {
		choice->name[i] = choice->name[i - 1];
		choice->code[i] = choice->code[i - 1];
		choice->instant[i] = choice->instant[i - 1];
	}
	choice->nevents++;
	choice->count[set]++;
	choice->code[at] = code;
	choice->instant[at] = type;
	choice->name[at] = strdup(name);
	return choice->name[at] ? PAPI_OK : PAPI_ENOMEM;
}

static int add_name(struct pp_choice *choice, int *sets, char *name)
{
	char type = cut_type(name);
	int event,
		set = choice->nevents < PP_EVENTS ? try_event(choice, sets, name, &event) : -1;
	int code = PAPI_OK;

	if (set < 0) {
		pp_regions_say("Warning: \"%s\" does not exist or cannot be counted with the "
			       "others. papi_event_chooser shows what can; PAPI_MULTIPLEX=1 "
			       "counts in turns.\n",
			       name);
		return PAPI_OK;
	}
	if (set == choice->nsets) {
		code = open_set(&sets[set], choice->component[set]);
		choice->nsets++;
		choice->count[set] = 0;
		if (code == PAPI_OK)
			code = PAPI_add_event(sets[set], event);
	}
	return code == PAPI_OK ? put_event(choice, set, name, event, type) : code;
}

/* Returns PAPI_EINVAL if no event can be counted. */
static int choose_events(struct pp_choice *choice, const char *events)
{
	char *copy = strdup(events), *more = NULL;
	int sets[PP_COMPONENTS], code = PAPI_OK;

	if (!copy)
		return PAPI_ENOMEM;
	for (int i = 0; i < PP_COMPONENTS; i++)
		sets[i] = PAPI_NULL;
	cut_spaces(copy);
	for (char *name = strtok_r(copy, ",", &more); name && code == PAPI_OK;
	     name = strtok_r(NULL, ",", &more))
		code = add_name(choice, sets, name);
	for (int i = 0; i < choice->nsets; i++)
		close_set(&sets[i]);
	free(copy);
	return code == PAPI_OK && choice->nevents == 0 ? PAPI_EINVAL : code;
}

void pp_choice_forget(struct pp_choice *choice)
{
	for (int i = 0; i < choice->nevents; i++)
		free(choice->name[i]);
	memset(choice, 0, sizeof *choice);
}

int pp_choice_make(struct pp_choice *choice, const char *events)
{
	int code;

	if (!events)
		events = secure_getenv("PAPI_EVENTS");
	code = choose_events(choice, events ? events : "");
	if (code != PAPI_OK) {
		if (events && *events)
			pp_regions_say("Warning: none of the events can be counted; "
				       "PAPI_TOT_CYC is instead.\n");
		pp_choice_forget(choice);
		code = choose_events(choice, "PAPI_TOT_CYC");
	}
	for (int i = 0; i < choice->nevents; i++)
		pp_regions_say("Info: counts %s.\n", choice->name[i]);
	return code;
}

/* ---- a thread's sets ---- */

int pp_choice_open(const struct pp_choice *choice, struct pp_log *log)
{
	int code, at = 0;

	for (int i = 0; i < choice->nsets; i++) {
		code = open_set(&log->set[i], choice->component[i]);
		for (int k = 0; k < choice->count[i] && code == PAPI_OK; k++)
			code = PAPI_add_event(log->set[i], choice->code[at++]);
		if (code != PAPI_OK)
			return code;
	}
	return PAPI_OK;
}

int pp_choice_start(const struct pp_choice *choice, struct pp_log *log)
{
	struct pp_set *set;

	for (int i = 0; i < choice->nsets; i++) {
		int code = PAPI_start(log->set[i]);

		if (code != PAPI_OK)
			return code;
	}
	set = pp_set_of(log->set[0]);
	/* `only` needs a reader: another thread's PAPI_shutdown may free a set without one.
	 * Instant values come from PAPI_read. */
	log->only = choice->nsets == 1 && set && set->reading == pp_self &&
				    !memchr(choice->instant, 1, (size_t)choice->nevents)
			    ? set
			    : NULL;
	log->running = 1;
	return PAPI_OK;
}

int pp_events_read(const struct pp_log *log, long long *values)
{
	const struct pp_choice *choice = &pp_regions.choice;

	if (log->only) {
		if (log->only->reading != pp_self ||
		    log->only->totals(log->only->reader, (uint64_t *)values) & TACH_FLAG_LOST)
			return PAPI_ECLOST;
		return PAPI_OK;
	}
	for (int i = 0, at = 0; i < choice->nsets; at += choice->count[i++]) {
		int code = PAPI_read(log->set[i], values + at);

		if (code != PAPI_OK)
			return code;
	}
	return PAPI_OK;
}

int pp_events_end(const struct pp_log *log, struct pp_record *record,
		  const struct pp_record *entry)
{
	const struct pp_choice *choice = &pp_regions.choice;
	long long now[PP_EVENTS];
	int code = pp_events_read(log, now);

	if (code != PAPI_OK)
		return code;
	for (int i = 0; i < choice->nevents; i++)
		record->value[i] = choice->instant[i] ? now[i] : now[i] - entry->value[i];
	return PAPI_OK;
}
