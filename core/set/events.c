/* SPDX-License-Identifier: MIT */
/* Converts event strings, and lists of them, to members of a set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/arch.h>
#include <tach/pmu.h>
#include "core/base/error.h"
#include "core/os/perf_open.h"
#include "core/set/set.h"

static uint32_t requested_privilege(const struct tach__making *m)
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
	/* PMUs of another machine are used only if the caller plans for a PMU by its number. */
	opt.any_pmu = m->opt->pmu >= 0;
	code = tach_event_encode(string, &opt, out, err);
	if (!code && out->pmu >= tach_pmu_count())
		return tach__error(err, TACH_ERR_NOTSUPP, 0, 1,
				   "counts for all processors of a socket, not for a thread: "
				   "use tach_uncore_open or tach run --outside");
	return code;
}

enum {
	PRIVILEGE_ALL = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL | TACH_PRIVILEGE_HYPERVISOR
};

/*
 * The scheduler's own events happen in the kernel: at user level they count 0 for ever
 * (kernel/events/core.c, perf_exclude_event). If the string names no level, they get the
 * kernel level.
 */
static int needs_kernel(const struct tach_event *e)
{
	return e->type == PERF_TYPE_SOFTWARE && (e->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
						 e->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static int attach_event(struct tach__making *m, const struct tach_event *event,
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

/* Returns 1 if the event is refused only because it leaves levels out. */
static int is_undivided(const struct tach_event *e)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	tach_event_attr(e, &attr);
	return tach__cannot_divide(&attr);
}

/* Adds the event of `string`. `event` is the event as the caller wrote it. */
static int add_counted(struct tach__making *m, const char *string, struct tach__span event,
		       struct tach__span label)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_event coded;
	char why[TACH_EVENT_NAME_MAX + 100];
	int code;

	memset(&coded, 0, sizeof coded);
	code = encode_event(m, string, requested_privilege(m), &coded, m->err ? &err : NULL);
	if (code == 0 && needs_kernel(&coded) && coded.exclude_kernel)
		code = encode_event(m, string, requested_privilege(m) | TACH_PRIVILEGE_KERNEL,
				    &coded, &err);
	/* If the string or the caller names a level, this is skipped, and opening the event
	 * reports the error. */
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
		int member = attach_event(m, &coded, event, label);

		if (m->set->cores && member >= 0 && member < TACH_COUNTERS_MAX &&
		    m->set->member[member].kind == TACH_MEMBER_HARDWARE)
			return tach__cores_event(m, member, string, requested_privilege(m));
		return member;
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
	return add_counted(m, string, event, label);
}

/*
 * Handles perf's own clocks. Each set measures the time of an interval, so this needs no event.
 * The kernel updates the other two only at its clock ticks, and for whole threads.
 */
static int is_clock(struct tach__making *m, const char *string, int column,
		    struct tach_formula **formula)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	int code;

	if (strcmp(string, "duration_time") == 0) {
		code = tach_formula_compile("elapsed_ns", &opt, formula, m->err);
		return code ? code : TACH__DERIVED;
	}
	if (strcmp(string, "user_time") == 0 || strcmp(string, "system_time") == 0)
		return tach__error(
			m->err, TACH_ERR_NOTSUPP, 0, column,
			"%s: the kernel measures it by clock ticks for whole threads, not for "
			"regions: tach run prints it below the table; "
			"task-clock is a thread's processor time",
			string);
	return 0;
}

int tach__set_event(struct tach__making *m, struct tach__span event, struct tach__span label,
		    struct tach_formula **formula)
{
	struct tach_error *outer = m->err, err = TACH_ERROR_INIT;
	char string[TACH_EVENT_NAME_MAX];
	int optional = m->set->flags & TACH_SET_OPTIONAL, count = m->set->count, code;

	if (event.length >= sizeof string)
		return too_long(m, event);
	memcpy(string, event.at, event.length);
	string[event.length] = '\0';
	if (optional)
		m->err = &err;
	code = is_clock(m, string, event.column, formula);
	if (!code)
		code = tach__set_derived(m, event, formula, string, sizeof string);
	m->err = outer;
	if (code < 0 || code == TACH__LEFT_OUT)
		tach__set_forget(m, count);
	if (code < 0 && optional) {
		if (code == TACH_ERR_NOMEM)
			return tach__error(m->err, code, 0, 0, "%s", err.text);
		tach__set_miss(m->set, string, err.text);
		return TACH__LEFT_OUT;
	}
	return code ? code : add_counted(m, string, event, label);
}

int tach__set_called(struct tach__making *m, struct tach__span event, struct tach__span label,
		     struct tach_formula **formula)
{
	struct tach_error *outer = m->err, err = TACH_ERROR_INIT;
	int code;

	m->err = &err;
	code = tach__set_event(m, event, label, formula);
	m->err = outer;
	if (code == TACH_ERR_NOTFOUND && m->set->flags & TACH_SET_OPTIONAL) {
		tach__set_miss_name(m->set, event, err.text);
		return TACH__LEFT_OUT;
	}
	return code < 0 ? tach__error(outer, code, 0, err.column, "%s", err.text) : code;
}

static int refuse_twice(const struct tach__making *m, struct tach__span name)
{
	return tach__error(m->err, TACH_ERR_INVAL, 0, name.column,
			   "'%.*s' names two of the events", (int)name.length, name.at);
}

/*
 * Returns 1 if the event is in the set already, because a derived event uses it, or a negative
 * code if the list has used the name before.
 */
static int has_member(struct tach__making *m, struct tach__span name, int labelled)
{
	int member = tach__set_find(m->set, name.at, name.length);

	if (tach__set_find_metric(m->set, name) >= 0 ||
	    tach__set_was_left_out(m, name.at, name.length))
		return refuse_twice(m, name);
	if (member < 0)
		return 0;
	if (labelled || m->listed >> member & 1)
		return refuse_twice(m, name);
	m->listed |= 1u << member;
	return 1;
}

/* Adds an event of a list. A derived event becomes a metric of its name. */
static int add_listed(struct tach__making *m, const struct tach__listed *item,
		      struct tach__span event)
{
	struct tach__span name = item->label.length ? item->label : event;
	struct tach_formula *formula;
	int code = has_member(m, name, item->label.length > 0);

	if (code)
		return code < 0 ? code : 0;
	code = tach__set_called(m, event, item->label, &formula);
	if (code == TACH__DERIVED)
		return tach__set_metric_keep(m, name, formula);
	if (code == TACH__LEFT_OUT && m->nmissing < TACH__MISSING_MAX)
		m->missing[m->nmissing++] = item->label.length ? item->label : item->event;
	else if (code >= 0 && code < TACH_COUNTERS_MAX)
		m->listed |= 1u << code;
	return code < 0 ? code : 0;
}

static int add_item(struct tach__making *m, const struct tach__listed *item)
{
	struct tach__span event = item->event;
	char *string = tach__list_string(item);
	int code;

	if (!string)
		return tach__error(m->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	event.at = string;
	event.length = strlen(string);
	code = add_listed(m, item, event);
	free(string);
	return code;
}

static int check_item(const struct tach__making *m, const struct tach__listed *item)
{
	const struct tach__span *label = &item->label, *event = &item->event;

	if (event->length == 0)
		return tach__error(m->err, TACH_ERR_SYNTAX, 0, event->column,
				   "an event is missing after '='");
	if (*label->at == '=')
		return tach__error(m->err, TACH_ERR_SYNTAX, 0, label->column,
				   "a name is missing before '='");
	for (size_t i = 0; i < event->length; i++)
		if (event->at[i] == '{' || event->at[i] == '}')
			return tach__error(m->err, TACH_ERR_SYNTAX, 0, event->column + (int)i,
					   "braces enclose events, {a,b}:u; a name or other "
					   "braces cannot be inside");
	return tach__set_check_name(m, *label);
}

int tach__set_events(struct tach__making *m)
{
	struct tach__list list = tach__list_of(m->opt->events);
	struct tach__listed item;
	int code = 0;

	while (!code && tach__list_next(&list, &item)) {
		code = check_item(m, &item);
		if (!code)
			code = add_item(m, &item);
	}
	return code;
}
