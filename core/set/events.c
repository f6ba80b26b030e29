/* SPDX-License-Identifier: MIT */
/* Lists of event strings to members of a set. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <tach/arch.h>
#include <tach/pmu.h>
#include "core/base/error.h"
#include "core/os/perf_open.h"
#include "core/set/set.h"

static uint32_t privilege(const struct tach__making *m)
{
	return m->opt->privilege ? m->opt->privilege : TACH_PRIVILEGE_USER;
}

static int encode_event(const struct tach__making *m, const char *string, uint32_t privilege,
			struct tach_event *out, struct tach_error *err)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	int code;

	opt.pmu = m->opt->pmu;
	opt.privilege = privilege;
	/* Of another machine only what the caller plans for by number. */
	opt.any_pmu = m->opt->pmu >= 0;
	code = tach_event_encode(string, &opt, out, err);
	if (!code && out->pmu >= tach_pmu_count())
		return tach__error(
			err, TACH_ERR_NOTSUPP, 0, 1,
			"counts for all processors of a socket together and for no "
			"thread: no set takes it; tach_uncore_open does, and tach run "
			"--outside");
	return code;
}

enum {
	PRIVILEGE_ALL = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL | TACH_PRIVILEGE_HYPERVISOR
};

/*
 * The scheduler's own events happen in the kernel: at user level they count 0 for ever
 * (kernel/events/core.c, perf_exclude_event). Where the string names no level they get it.
 */
static int needs_kernel(const struct tach_event *e)
{
	return e->type == PERF_TYPE_SOFTWARE && (e->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
						 e->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static int attach(struct tach__making *m, const struct tach_event *event,
		  struct tach__span string, struct tach__span label)
{
	struct perf_event_attr attr;
	struct tach__span name = label.length ? label : string;
	int member;

	if (event->cpu >= 0)
		return tach__error(m->err, TACH_ERR_NOTSUPP, 0, string.column,
				   "cpu= has no meaning for a thread that counts itself");
	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	tach_event_attr(event, &attr);
	m->set->exclusive |= attr.exclusive;
	member = tach__set_append(m, &attr, name.at, name.length, event->name);
	if (member < 0 && m->err && m->err->column == 0)
		m->err->column = string.column;
	if (member >= 0 && member < TACH_COUNTERS_MAX &&
	    m->set->member[member].kind == TACH_MEMBER_HARDWARE) {
		m->member[m->nevents] = (uint8_t)member;
		m->event[m->nevents++] = *event;
	}
	return member;
}

/* Is it refused for leaving levels out, and for nothing else? */
static int is_undivided(const struct tach_event *e)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	tach_event_attr(e, &attr);
	return tach__cannot_divide(&attr);
}

/* `string` is what counts; `event` is how the caller wrote it. */
static int counted(struct tach__making *m, const char *string, struct tach__span event,
		   struct tach__span label)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_event coded;
	char why[TACH_EVENT_NAME_MAX + 100];
	int code;

	memset(&coded, 0, sizeof coded);
	code = encode_event(m, string, privilege(m), &coded, &err);
	if (code == 0 && needs_kernel(&coded) && coded.exclude_kernel)
		code = encode_event(m, string, privilege(m) | TACH_PRIVILEGE_KERNEL, &coded,
				    &err);
	/* Where the string, or the caller, names a level, opening it tells what is wrong. */
	if (TACH_ARCH_UNDIVIDED && code == 0 && !m->opt->privilege && is_undivided(&coded)) {
		code = encode_event(m, string, PRIVILEGE_ALL, &coded, &err);
		if (code == 0 && !coded.exclude_kernel) {
			coded.exclude_host = coded.exclude_guest = 0;
			snprintf(why, sizeof why,
				 "%s: counted in the kernel too, which this machine's PMU "
				 "cannot leave out",
				 string);
			tach__set_miss(m->set, string, why);
		}
	}
	if (code == 0) {
		int member = attach(m, &coded, event, label);

		if (m->set->cores && member >= 0 && member < TACH_COUNTERS_MAX &&
		    m->set->member[member].kind == TACH_MEMBER_HARDWARE)
			return tach__cores_event(m, member, string, privilege(m));
		return member;
	}
	if (code == TACH_ERR_NOTFOUND) {
		if (m->set->flags & TACH_SET_OPTIONAL) {
			tach__set_miss(m->set, string, err.text);
			return TACH__LEFT_OUT;
		}
	}
	return tach__error(m->err, code, 0, event.column + (err.column ? err.column - 1 : 0),
			   "%s", err.text);
}

static int too_long(struct tach__making *m, struct tach__span event)
{
	return tach__error(m->err, TACH_ERR_TOOMANY, 0, event.column,
			   "an event string of %zu characters", event.length);
}

int tach__set_native(struct tach__making *m, struct tach__span event, struct tach__span label)
{
	char string[TACH_EVENT_NAME_MAX];

	if (event.length >= sizeof string)
		return too_long(m, event);
	memcpy(string, event.at, event.length);
	string[event.length] = '\0';
	return counted(m, string, event, label);
}

int tach__set_event(struct tach__making *m, struct tach__span event, struct tach__span label,
		    struct tach_formula **formula)
{
	char string[TACH_EVENT_NAME_MAX];
	int code;

	if (event.length >= sizeof string)
		return too_long(m, event);
	memcpy(string, event.at, event.length);
	string[event.length] = '\0';
	code = tach__set_derived(m, event, formula, string, sizeof string);
	if (code < 0 && m->set->flags & TACH_SET_OPTIONAL) {
		tach__set_miss(m->set, string, m->err ? m->err->text : tach_strerror(code));
		return TACH__LEFT_OUT;
	}
	return code ? code : counted(m, string, event, label);
}

/* A derived event in a list of events is a metric of that name. */
static int listed(struct tach__making *m, struct tach__span event, struct tach__span label)
{
	struct tach_formula *formula;
	int code = tach__set_event(m, event, label, &formula);

	if (code == TACH__DERIVED)
		code = tach__set_metric_keep(m, label.length ? label : event, formula);
	if (code == TACH__LEFT_OUT && m->nmissing < TACH__MISSING_MAX)
		m->missing[m->nmissing++] = label.length ? label : event;
	return code < 0 ? code : 0;
}

static int is_separator(char c)
{
	return c == ',' || c == '\n' || isspace((unsigned char)c);
}

int tach__list_next(struct tach__span *list, struct tach__span *label, struct tach__span *event)
{
	const char *end = list->at + list->length, *at = list->at;
	int slashes = 0;

	while (at < end && is_separator(*at))
		at++;
	*label = *event = (struct tach__span){at, 0, list->column + (int)(at - list->at)};
	for (; at < end && !(is_separator(*at) && (*at != ',' || slashes % 2 == 0)); at++) {
		slashes += *at == '/';
		if (*at == '=' && label->length == 0 && slashes == 0 &&
		    strcspn(event->at, ":./=") == (size_t)(at - event->at)) {
			label->at = event->at;
			label->length = (size_t)(at - event->at);
			event->column += (int)(at + 1 - event->at);
			event->at = at + 1;
		}
	}
	event->length = (size_t)(at - event->at);
	list->column += (int)(at - list->at);
	list->at = at;
	list->length = (size_t)(end - at);
	return event->length || label->length;
}

int tach__set_events(struct tach__making *m)
{
	struct tach__span list = {m->opt->events, 0, 1}, label, event;

	if (!m->opt->events)
		return 0;
	list.length = strlen(m->opt->events);
	while (tach__list_next(&list, &label, &event)) {
		int code;

		if (event.length == 0)
			return tach__error(m->err, TACH_ERR_SYNTAX, 0, event.column,
					   "an event is missing after '='");
		if (*label.at == '=')
			return tach__error(m->err, TACH_ERR_SYNTAX, 0, label.column,
					   "a name is missing before '='");
		if (label.length && tach__set_find(m->set, label.at, label.length) >= 0)
			return tach__error(m->err, TACH_ERR_INVAL, 0, label.column,
					   "'%.*s' names two events", (int)label.length,
					   label.at);
		code = listed(m, event, label);
		if (code)
			return code;
	}
	return 0;
}
