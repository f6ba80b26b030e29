/* SPDX-License-Identifier: MIT */
/*
 * PAPI's topdown component: shares of the pipeline's slots in percent, which a program reads as
 * doubles. Slots and metrics are members of one set, whose reader takes both at one moment.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "compat/papi/state.h"

static const struct {
	const char *name, *text, *metric, *less; /* less: subtracted from metric, or NULL */
} shares[] = {
	{"TOPDOWN_RETIRING_PERC", "Slots that retired, in percent of all", "topdown-retiring",
	 NULL},
	{"TOPDOWN_BAD_SPEC_PERC", "Slots that wrong speculation wasted, in percent of all",
	 "topdown-bad-spec", NULL},
	{"TOPDOWN_FE_BOUND_PERC", "Slots that the front end left empty, in percent of all",
	 "topdown-fe-bound", NULL},
	{"TOPDOWN_BE_BOUND_PERC", "Slots that the back end could not take, in percent of all",
	 "topdown-be-bound", NULL},
	{"TOPDOWN_HEAVY_OPS_PERC", "Slots that retired heavy operations, in percent of all",
	 "topdown-heavy-ops", NULL},
	{"TOPDOWN_BR_MISPREDICT_PERC",
	 "Slots that mispredicted branches wasted, in percent of all", "topdown-br-mispredict",
	 NULL},
	{"TOPDOWN_FETCH_LAT_PERC",
	 "Slots that were empty as nothing was fetched, in percent of all", "topdown-fetch-lat",
	 NULL},
	{"TOPDOWN_MEM_BOUND_PERC", "Slots that waited for loads and stores, in percent of all",
	 "topdown-mem-bound", NULL},
	{"TOPDOWN_LIGHT_OPS_PERC", "Slots that retired light operations, in percent of all",
	 "topdown-retiring", "topdown-heavy-ops"},
	{"TOPDOWN_MACHINE_CLEARS_PERC", "Slots that machine clears wasted, in percent of all",
	 "topdown-bad-spec", "topdown-br-mispredict"},
	{"TOPDOWN_FETCH_BAND_PERC",
	 "Slots that were empty as too little was fetched, in percent of all",
	 "topdown-fe-bound", "topdown-fetch-lat"},
	{"TOPDOWN_CORE_BOUND_PERC", "Slots that waited for the core itself, in percent of all",
	 "topdown-be-bound", "topdown-mem-bound"},
};
enum { FIRST_LEVEL = 4, SHARES = sizeof shares / sizeof *shares };

static int is_event(const char *name)
{
	struct tach_encode_options options = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event event = {.size = sizeof event};

	options.flags = TACH_ENCODE_NO_NAME;
	return tach_event_encode(name, &options, &event, NULL) == 0;
}

int pp_topdown_count(void)
{
	if (!is_event("slots") || !is_event("topdown-retiring"))
		return 0;
	return is_event("topdown-heavy-ops") ? SHARES : FIRST_LEVEL;
}

const char *pp_topdown_name(int n)
{
	return n >= 0 && n < pp_topdown_count() ? shares[n].name : NULL;
}

const char *pp_topdown_text(int n)
{
	return shares[n].text;
}

int pp_topdown_find(const char *name)
{
	for (int i = 0; i < SHARES; i++)
		if (strcasecmp(shares[i].name, name) == 0)
			return i < pp_topdown_count() ? i : -1;
	return -1;
}

static int enter_member(const char *name, int *code)
{
	return pp_native_enter(pp_default_pmu(), 0, -1, name, code);
}

/* The group's leader must be slots, so they come first. */
int pp_topdown_members(int n, int code[3])
{
	int count = shares[n].less ? 3 : 2;

	if (enter_member("slots", &code[0]) != PAPI_OK ||
	    enter_member(shares[n].metric, &code[1]) != PAPI_OK ||
	    (shares[n].less && enter_member(shares[n].less, &code[2]) != PAPI_OK))
		return PAPI_ENOEVNT;
	return count;
}

long long pp_topdown_value(const struct pp_event *e, const uint64_t *raw)
{
	double slots = (double)raw[e->term[0]], part = (double)raw[e->term[1]], percent;
	long long bits;

	if (e->nterms == 3)
		part -= (double)raw[e->term[2]];
	/* The metrics are rounded: a difference may be below 0. */
	percent = slots > 0 && part > 0 ? 100 * part / slots : 0;
	memcpy(&bits, &percent, sizeof bits);
	return bits;
}
