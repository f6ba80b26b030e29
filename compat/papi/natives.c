/* SPDX-License-Identifier: MIT */
/* Native events. An event gets the next code at its first lookup. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "compat/papi/state.h"

struct entry {
	struct pp_native native;
	uint32_t hash_given, hash_name;
};

/* A larger array replaces an old one, which stays, because other threads read it without a
 * lock. */
static struct entry **entries;
static uint32_t used, room;

static uint32_t hash_of(const char *text)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

static struct entry *entry_of(int code)
{
	uint32_t i = (uint32_t)code & PAPI_NATIVE_AND_MASK;

	return IS_NATIVE(code) && i < __atomic_load_n(&used, __ATOMIC_ACQUIRE) ? entries[i]
									       : NULL;
}

const struct pp_native *pp_native_of(int code)
{
	struct entry *e = entry_of(code);

	return e ? &e->native : NULL;
}

int pp_native_component(int code)
{
	struct entry *e = entry_of(code);

	if (!IS_NATIVE(code))
		return IS_PRESET(code) || IS_USER_DEFINED(code) ? PP_CORE : PAPI_ENOEVNT;
	return e ? e->native.component : PAPI_ENOEVNT;
}

void pp_natives_forget(void)
{
	for (uint32_t i = 0; i < used; i++) {
		free(entries[i]->native.given);
		free(entries[i]);
	}
	used = 0;
}

/* Adds an entry. Returns its number, or -1 without memory. The caller holds the lock. */
static int put_entry(struct entry *e)
{
	if (used == room) {
		uint32_t larger = room ? 2 * room : 256;
		struct entry **to = calloc(larger, sizeof(*to));

		if (!to)
			return -1;
		if (used)
			memcpy(to, entries, used * sizeof(*to));
		__atomic_store_n(&entries, to, __ATOMIC_RELEASE);
		room = larger;
	}
	entries[used] = e;
	__atomic_store_n(&used, used + 1, __ATOMIC_RELEASE);
	return (int)(used - 1);
}

static int find_entry(const char *given, uint32_t hash)
{
	for (uint32_t i = 0; i < used; i++) {
		const struct entry *e = entries[i];

		if ((e->hash_given == hash && strcmp(e->native.given, given) == 0) ||
		    (e->hash_name == hash && strcmp(e->native.name, given) == 0))
			return (int)i;
	}
	return -1;
}

/* Returns 1 if the name has one of the modifiers u, k, h. */
static int names_levels(const char *name)
{
	for (const char *at = strchr(name, ':'); at; at = strchr(at + 1, ':'))
		if (at[1] && strchr("ukhUKH", at[1]) && strchr(":=", at[2]))
			return 1;
	return 0;
}

/* Sets *base to the event's own name, between "PMU::" and ":MASK", and returns its length. */
static size_t base_of(const char *name, const char **base)
{
	const char *pmu = strstr(name, "::");

	*base = pmu ? pmu + 2 : name;
	return strcspn(*base, ":");
}

/*
 * Returns the row of a name, or -1. The encoder's result has the event's row even for an alias,
 * but an alias has its own row.
 */
static int row_of(int pmu, const char *name)
{
	struct tach_pmu_info p = {.size = sizeof p};
	struct tach_event_info e = {.size = sizeof e};
	const char *base;
	size_t length = base_of(name, &base);

	if (tach_pmu_describe(pmu, &p) != 0)
		return -1;
	for (int i = 0; i < p.nevents; i++)
		if (tach_pmu_event(pmu, i, &e) == 0 && strlen(e.name) == length &&
		    strncasecmp(e.name, base, length) == 0)
			return i;
	return -1;
}

/* Returns 1 if the string needs no table (cpu/.../, rXXXX, a tracepoint). Any other name
 * without a row is a derived event; PAPI has these only as presets. */
static int is_raw(const char *name)
{
	const char *base;
	size_t length = base_of(name, &base);

	return strchr(base, '/') || base[length] == ':' ||
	       (base[0] == 'r' && isxdigit(base[1]));
}

static int encode_native(const char *name, struct tach_event *event,
			 struct perf_event_attr *attr)
{
	struct tach_encode_options options = TACH_ENCODE_OPTIONS_INIT;
	int code;

	options.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	options.any_pmu = 0;
	options.flags = TACH_ENCODE_NO_NAME;
	memset(event, 0, sizeof *event);
	event->size = sizeof *event;
	code = tach_event_encode(name, &options, event, NULL);
	if (code != 0)
		return code;
	memset(attr, 0, sizeof *attr);
	attr->size = sizeof *attr;
	return tach_event_attr(event, attr);
}

static int component_of_pmu(int pmu)
{
	struct tach_pmu_info info = {.size = sizeof info};

	return tach_pmu_describe(pmu, &info) == 0 && info.uncore ? PP_UNCORE : PP_CORE;
}

static int enter_event(const char *given, int pmu, int event, int attribute,
		       const struct tach_event *encoded, const struct perf_event_attr *attr)
{
	struct tach_pmu_info info = {.size = sizeof info};
	struct entry *e = calloc(1, sizeof *e);
	struct pp_native *n;
	int at;

	if (!e)
		return PAPI_ENOMEM;
	n = &e->native;
	n->given = strdup(given);
	if (!n->given) {
		free(e);
		return PAPI_ENOMEM;
	}
	base_of(n->given, &n->name);
	n->shown = n->given;
	tach_pmu_describe(pmu, &info);
	if (n->name != n->given && pmu == pp_default_pmu())
		n->shown = n->name;
	n->component = info.uncore ? PP_UNCORE : PP_CORE;
	n->pmu = pmu;
	n->event = event;
	n->attribute = attribute;
	n->levels = names_levels(n->name);
	n->cpu = -1;
	n->usable = encoded != NULL;
	if (encoded) {
		n->attr = *attr;
		n->hardware =
			attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT;
		n->cpu = encoded->has & TACH_EVENT_HAS_CPU ? encoded->cpu : -1;
	}
	e->hash_given = hash_of(n->given);
	e->hash_name = hash_of(n->name);
	pp_enter();
	at = put_entry(e);
	pp_leave();
	return at < 0 ? PAPI_ENOMEM : at;
}

int pp_native_enter(int pmu, int event, int attribute, const char *name, int *code)
{
	struct tach_event encoded;
	struct perf_event_attr attr;
	uint32_t hash = hash_of(name);
	int at;

	pp_enter();
	at = find_entry(name, hash);
	pp_leave();
	if (at < 0)
		at = enter_event(name, pmu, event, attribute,
				 encode_native(name, &encoded, &attr) == 0 ? &encoded : NULL,
				 &attr);
	if (at < 0)
		return at;
	*code = at | PAPI_NATIVE_MASK;
	return PAPI_OK;
}

int pp_native_share(int n, int *code)
{
	static const char prefix[] = "topdown:::";
	const char *share = pp_topdown_name(n);
	char given[PAPI_MIN_STR_LEN];
	struct entry *e;
	int at;

	if (!share)
		return PAPI_ENOEVNT;
	snprintf(given, sizeof given, "%s%s", prefix, share);
	pp_enter();
	at = find_entry(given, hash_of(given));
	pp_leave();
	if (at < 0) {
		at = enter_event(given, -1, n, -1, NULL, NULL);
		if (at < 0)
			return at;
		e = entries[at];
		e->native.component = PP_TOPDOWN;
		e->native.name = e->native.given + sizeof prefix - 1;
		e->native.usable = 1;
		e->hash_name = hash_of(e->native.name);
	}
	*code = at | PAPI_NATIVE_MASK;
	return PAPI_OK;
}

/*
 * Returns the component of "component:::event" or "pmu::event", PP_COMPONENTS for a name
 * without a component ("event"), or -1 if the component is unknown.
 */
static int named_component(const char *name, const char **rest)
{
	const char *mark = strstr(name, ":::");
	char pmu[PAPI_MAX_STR_LEN];
	size_t length;

	*rest = name;
	if (mark) {
		*rest = mark + 3;
		for (int i = PP_CORE; i < PP_COMPONENTS; i++)
			if (strlen(pp_component(i)->name) == (size_t)(mark - name) &&
			    strncmp(pp_component(i)->name, name, (size_t)(mark - name)) == 0)
				return i;
		return -1;
	}
	mark = strstr(name, "::");
	if (!mark)
		return PP_COMPONENTS;
	length = (size_t)(mark - name);
	if (length >= sizeof pmu)
		return -1;
	memcpy(pmu, name, length);
	pmu[length] = '\0';
	return tach_pmu_find(pmu) < 0 ? -1 : component_of_pmu(tach_pmu_find(pmu));
}

/*
 * PAPI searches a name without a component in all enabled components, and returns the error of
 * the last one. Of Debian's last two, rocm_smi ends the search at its first use, and sysdetect
 * has no events.
 */
static int no_event(int component)
{
	int plain = component == PP_COMPONENTS;

	if ((plain || component == PP_ROCM) && pp_component_use_rocm())
		return PAPI_ENOSUPP;
	return (plain || component == PP_SYSDETECT) && !pp_component_disabled(PP_SYSDETECT)
		       ? PAPI_ECMP
		       : PAPI_ENOEVNT;
}

int pp_native_code(const char *name, int *code)
{
	struct tach_event event;
	struct perf_event_attr attr;
	const char *rest;
	int component = named_component(name, &rest), at, row;

	if (component < 0 || component == PP_SYSDETECT ||
	    (component < PP_COMPONENTS && pp_component_disabled(component)))
		return no_event(component);
	if (component == PP_TOPDOWN ||
	    (component == PP_COMPONENTS && pp_topdown_find(rest) >= 0 &&
	     !pp_component_disabled(PP_TOPDOWN)))
		return pp_native_share(pp_topdown_find(rest), code);
	pp_enter();
	at = find_entry(rest, hash_of(rest));
	pp_leave();
	if (at >= 0 && !entries[at]->native.usable)
		return no_event(component);
	if (at < 0) {
		if (encode_native(rest, &event, &attr) != 0 ||
		    pp_component_disabled(component_of_pmu(event.pmu)))
			return no_event(component);
		row = row_of(event.pmu, rest);
		if (row < 0 && !is_raw(rest))
			return no_event(component);
		at = enter_event(rest, event.pmu, row < 0 ? event.event : row, -1, &event,
				 &attr);
		if (at < 0)
			return at;
	}
	*code = at | PAPI_NATIVE_MASK;
	return PAPI_OK;
}
