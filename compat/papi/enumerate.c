/* SPDX-License-Identifier: MIT */
/* Enumerate native events: the PMUs of a component, their events, their masks and modifiers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "compat/papi/state.h"

enum { PMUS = 4096 };

/* Modifiers, which tables do not list. An event has a modifier if the name encodes with it. */
static const struct {
	const char *name, *text;
} modifiers[] = {
	{"e", "edges: how often it begins"},
	{"i", "the threshold compared the other way round"},
	{"c", "threshold: cycles with at least so many"},
	{"t", "both threads of the core"},
	{"intx", "inside transactions alone"},
	{"intxcp", "less what transactions that abort did"},
	{"ldlat", "latency of loads, in cycles, from which they count"},
	{"fe_thres", "cycles of the front end from which it counts"},
	{"u", "user level"},
	{"k", "kernel level"},
	{"h", "hypervisor level"},
	{"period", "sampling period"},
	{"freq", "sampling frequency"},
	{"precise", "precise sampling"},
	{"excl", "the PMU for itself"},
	{"mg", "while guests run"},
	{"mh", "while the host runs"},
	{"cpu", "processor to count on"},
	{"pinned", "always on a counter"},
};
enum { MODIFIERS = sizeof modifiers / sizeof *modifiers };

int pp_default_pmu(void)
{
	static int pmu = -2;
	int found[1];

	if (pmu == -2)
		pmu = tach_pmu_host(found, 1, NULL) > 0 ? found[0] : -1;
	return pmu;
}

/* As in PAPI, PMUs are in the order of libpfm-4's numbers: the kernel's generic events come
 * before a processor's. */
static int libpfm4_id(int pmu)
{
	struct tach_pmu_info info = {.size = sizeof info};

	return tach_pmu_describe(pmu, &info) != 0 || info.libpfm4_id < 0 ? PMUS + pmu
									 : info.libpfm4_id;
}

static int by_libpfm4_id(const void *a, const void *b)
{
	return libpfm4_id(*(const int *)a) - libpfm4_id(*(const int *)b);
}

static void list_pmus(int component, int *list, int *count)
{
	struct tach_pmu_info info = {.size = sizeof info};
	int first = component == PP_UNCORE ? tach_pmu_count() : 0;
	int end = tach_pmu_count() + (component == PP_UNCORE ? tach_pmu_uncore_count() : 0);

	for (int i = first; i < end && *count < PMUS; i++)
		if (tach_pmu_describe(i, &info) == 0 && info.present && info.nevents > 0)
			list[(*count)++] = i;
	if (component == PP_CORE)
		qsort(list, (size_t)*count, sizeof(*list), by_libpfm4_id);
}

/* Looks up a component's PMUs only at the first call, because there are many boxes. */
int pp_component_pmu(int component, int n)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	static int list[PP_UNCORE + 1][PMUS], count[PP_UNCORE + 1], done[PP_UNCORE + 1];
	int pmu;

	if (component > PP_UNCORE)
		return -1;
	pthread_mutex_lock(&one);
	if (!done[component]) {
		list_pmus(component, list[component], &count[component]);
		done[component] = 1;
	}
	pmu = n < count[component] ? list[component][n] : -1;
	pthread_mutex_unlock(&one);
	return pmu;
}

static int event_name(int pmu, int event, char *to, size_t size)
{
	struct tach_pmu_info p = {.size = sizeof p};
	struct tach_event_info e = {.size = sizeof e};

	if (tach_pmu_describe(pmu, &p) != 0 || tach_pmu_event(pmu, event, &e) != 0)
		return PAPI_ENOEVNT;
	snprintf(to, size, "%s::%s", p.name, e.name);
	return PAPI_OK;
}

static int is_name(const char *name)
{
	struct tach_encode_options options = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event event = {.size = sizeof event};

	options.flags = TACH_ENCODE_NO_NAME | TACH_ENCODE_LIBPFM4;
	return tach_event_encode(name, &options, &event, NULL) == 0;
}

/* Returns modifier number n of the event, or -1. If the event needs a mask, its first mask is
 * used. */
static int modifier_at(int pmu, int event, const char *base, int n)
{
	struct tach_umask_info u = {.size = sizeof u};
	char name[PAPI_HUGE_STR_LEN];
	const char *mask = "", *colon = "";

	if (!is_name(base) && tach_pmu_umask(pmu, event, 0, &u) == 0) {
		mask = u.name;
		colon = ":";
	}
	for (int i = 0; i < MODIFIERS; i++) {
		snprintf(name, sizeof name, "%s%s%s:%s=0", base, colon, mask,
			 modifiers[i].name);
		if (is_name(name) && n-- == 0)
			return i;
	}
	return -1;
}

static int next_attribute(const struct pp_native *native, int *code)
{
	struct tach_event_info e = {.size = sizeof e};
	struct tach_umask_info u = {.size = sizeof u};
	char base[PAPI_HUGE_STR_LEN / 2], name[PAPI_HUGE_STR_LEN];
	int n = native->attribute + 1, modifier;

	if (event_name(native->pmu, native->event, base, sizeof base) != PAPI_OK ||
	    tach_pmu_event(native->pmu, native->event, &e) != 0)
		return PAPI_ENOEVNT;
	if (n < e.numasks && tach_pmu_umask(native->pmu, native->event, n, &u) == 0) {
		snprintf(name, sizeof name, "%s:%s", base, u.name);
	} else {
		modifier = modifier_at(native->pmu, native->event, base, n - e.numasks);
		if (modifier < 0)
			return PAPI_ENOEVNT;
		snprintf(name, sizeof name, "%s:%s=0", base, modifiers[modifier].name);
	}
	return pp_native_enter(native->pmu, native->event, n, name, code);
}

static int enter_event(int pmu, int event, int *code)
{
	char name[PAPI_HUGE_STR_LEN / 2];
	int outcome = event_name(pmu, event, name, sizeof name);

	return outcome != PAPI_OK ? outcome : pp_native_enter(pmu, event, -1, name, code);
}

static int next_event(const struct pp_native *native, int *code)
{
	int n = 0, pmu;

	if (enter_event(native->pmu, native->event + 1, code) == PAPI_OK)
		return PAPI_OK;
	while ((pmu = pp_component_pmu(native->component, n++)) >= 0 && pmu != native->pmu)
		;
	pmu = pmu < 0 ? -1 : pp_component_pmu(native->component, n);
	return pmu < 0 ? PAPI_ENOEVNT : enter_event(pmu, 0, code);
}

static int next_share(const struct pp_native *native, int *code, int modifier)
{
	if (modifier == PAPI_ENUM_FIRST)
		return pp_native_share(0, code);
	return native && modifier == PAPI_ENUM_EVENTS ? pp_native_share(native->event + 1, code)
						      : PAPI_ENOEVNT;
}

int pp_native_next(int *code, int modifier, int component)
{
	const struct pp_native *native = pp_native_of(*code);
	int pmu;

	if (component == PP_TOPDOWN)
		return next_share(native, code, modifier);
	if (modifier == PAPI_ENUM_FIRST) {
		pmu = pp_component_pmu(component, 0);
		return pmu < 0 ? PAPI_ENOEVNT : enter_event(pmu, 0, code);
	}
	if (!native)
		return PAPI_ENOEVNT;
	if (modifier == PAPI_ENUM_EVENTS)
		return next_event(native, code);
	return modifier == PAPI_NTV_ENUM_UMASKS ? next_attribute(native, code) : PAPI_ENOIMPL;
}

static void append(char *text, size_t size, const char *more)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s", more);
}

/* The event's description, then the description of each mask and modifier. */
void pp_native_describe(const struct pp_native *native, char *text, size_t size)
{
	struct tach_event_info e = {.size = sizeof e};
	struct tach_umask_info u = {.size = sizeof u};
	const char *part = strchr(native->name, ':'), *before = ", masks:";

	text[0] = '\0';
	if (native->component == PP_TOPDOWN)
		append(text, size, pp_topdown_text(native->event));
	if (native->component == PP_TOPDOWN ||
	    tach_pmu_event(native->pmu, native->event, &e) != 0)
		return;
	append(text, size, e.description);
	for (; part; part = strchr(part + 1, ':')) {
		size_t length = strcspn(part + 1, ":=");
		const char *says = NULL;

		for (int i = 0; i < e.numasks && !says; i++)
			if (tach_pmu_umask(native->pmu, native->event, i, &u) == 0 &&
			    strlen(u.name) == length &&
			    strncasecmp(u.name, part + 1, length) == 0)
				says = u.description;
		for (int i = 0; i < MODIFIERS && !says; i++)
			if (strlen(modifiers[i].name) == length &&
			    strncmp(modifiers[i].name, part + 1, length) == 0)
				says = modifiers[i].text;
		if (!says)
			continue;
		append(text, size, before);
		append(text, size, says);
		before = ":";
	}
}
