/* SPDX-License-Identifier: MIT */
/* Members of a set: lists of event strings, callers' attrs, and what either has to become. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tach/arch.h>
#include "core/set/diagnose.h"
#include "core/base/error.h"
#include "core/os/kernel_files.h"
#include "core/set/set.h"
#include "core/os/perf_open.h"
#include "core/os/sysfs.h"

/*
 * A PMU with a number of its own counts per thread only if it belongs to the CPU's cores: those
 * are called cpu, cpu_core, cpu_atom (x86) or have a file `cpus` (arm64). Others, probes among
 * them, have no counter that user space could read.
 */
static int is_core_type(uint32_t type)
{
	int saved = errno, core = 0;
	DIR *dir = opendir(TACH__SYSFS);
	struct dirent *d;

	while (dir && !core && (d = readdir(dir))) {
		size_t length = strlen(d->d_name);
		char line[16];

		if (tach__sysfs_type(TACH__SYSFS, d->d_name, length) != (int)type)
			continue;
		core = strcmp(d->d_name, "cpu") == 0 || strncmp(d->d_name, "cpu_", 4) == 0 ||
		       tach__sysfs_read(TACH__SYSFS, d->d_name, length, "cpus", line,
					sizeof line) >= 0;
	}
	if (dir)
		closedir(dir);
	errno = saved;
	return core;
}

static enum tach_member_kind kind_of(const struct tach_set *set,
				     const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return TACH_MEMBER_HARDWARE;
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return TACH_MEMBER_SOFTWARE;
	}
	return tach__cores_have(set->cores, attr->type) || is_core_type(attr->type)
		       ? TACH_MEMBER_HARDWARE
		       : TACH_MEMBER_SOFTWARE;
}

void tach__set_miss(struct tach_set *set, const char *name, const char *why)
{
	size_t used = strlen(set->missing), room = sizeof set->missing - used;
	const char *cause = strstr(why, ": ");

	/* Each cause once, with its cure; then the names of those that share it. */
	if (!strstr(set->missing, cause ? cause : why))
		snprintf(set->missing + used, room, "%s%s", used ? "; " : "", why);
	else if (!strstr(set->missing, name))
		snprintf(set->missing + used, room, "; %s likewise", name);
}

/* TACH_SET_OPTIONAL: 0 if the kernel opens it now, alone. */
static int probe(struct tach__making *m, int member)
{
	const struct tach__member *it = &m->set->member[member];
	struct tach_error why = TACH_ERROR_INIT;
	int code = tach__perf_try(&it->attr);
	int fit = 0; /* hardware events that this machine counts, so it has a PMU */

	if (code == 0)
		return 0;
	for (int i = 0; i < member; i++)
		fit += m->set->member[i].kind == TACH_MEMBER_HARDWARE;
	tach__diagnose_open(code, m->set, member, fit, 0, &why);
	tach__set_miss(m->set, it->name, why.text);
	return -1;
}

static void drop(struct tach__member *it)
{
	free(it->name);
	free(it->qualified);
	it->name = it->qualified = NULL;
}

/*
 * A sampling event that interrupts too often the kernel stops until the next tick
 * (kernel/events/core.c, __perf_event_account_interrupt), while its times and its page run on:
 * nothing would tell of the counts that are missing.
 */
static int refuse_sampling(struct tach__making *m, const struct perf_event_attr *attr,
			   const char *name, size_t length)
{
	return tach__error(
		m->err, TACH_ERR_NOTSUPP, 0, 0,
		"%.*s: has a sample %s of %llu: the kernel may throttle a sampling "
		"event and not tell; leave the %s out, or sample by an event of your "
		"own beside the set",
		(int)length, name, attr->freq ? "frequency" : "period",
		(unsigned long long)attr->sample_period, attr->freq ? "frequency" : "period");
}

static int append(struct tach__making *m, const struct perf_event_attr *attr, const char *name,
		  size_t length, const char *qualified)
{
	struct tach_set *set = m->set;
	struct tach__member *it = &set->member[set->count];

	if (attr->sample_period)
		return refuse_sampling(m, attr, name, length);
	if (set->count == TACH_COUNTERS_MAX)
		return tach__error(m->err, TACH_ERR_TOOMANY, 0, 0,
				   "a set holds %d events at most", TACH_COUNTERS_MAX);
	it->attr = *attr;
	it->attr.inherit = 0; /* an inherited event cannot be mapped */
	it->attr.pinned = it->attr.exclusive = 0;
	it->kind = kind_of(set, attr);
	it->name = strndup(name, length);
	it->qualified = strdup(qualified);
	if (!it->name || !it->qualified) {
		drop(it);
		return tach__error(m->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	set->count++;
	if ((set->flags & TACH_SET_OPTIONAL) && probe(m, set->count - 1)) {
		set->count--;
		drop(it);
		return TACH__LEFT_OUT;
	}
	return set->count - 1;
}

int tach__set_attr_add(struct tach__making *m, const struct tach_set_member *given)
{
	const struct perf_event_attr *theirs = given->attr;
	struct perf_event_attr attr;
	size_t size = PERF_ATTR_SIZE_VER0;
	int leader = 1, code;

	if (!theirs)
		return tach__error(m->err, TACH_ERR_INVAL, 0, 0, "attrs[%d].attr is NULL",
				   (int)(given - m->opt->attrs));
	if (theirs->size)
		size = theirs->size;
	/* A struct of a later version may hold what this one has no word for. */
	for (size_t i = sizeof attr; i < size; i++)
		if (((const char *)theirs)[i])
			return tach__error(m->err, TACH_ERR_NOTSUPP, 0, 0,
					   "%s: the attr has fields that this library does not "
					   "know",
					   given->name ? given->name : "attr");
	memset(&attr, 0, sizeof attr);
	memcpy(&attr, theirs, size < sizeof attr ? size : sizeof attr);
	attr.size = sizeof attr;
	for (int i = 0; i < m->set->count; i++)
		if (m->set->member[i].kind == TACH_MEMBER_HARDWARE)
			leader = 0;
	if (!leader && (attr.pinned || attr.exclusive))
		return tach__error(m->err, TACH_ERR_INVAL, 0, 0,
				   "%s: pinned and exclusive belong to the group's first event",
				   given->name ? given->name : "attr");
	m->set->exclusive |= attr.exclusive;
	code = append(m, &attr, given->name ? given->name : "attr",
		      strlen(given->name ? given->name : "attr"),
		      given->name ? given->name : "attr");
	if (code >= 0 && code < TACH_COUNTERS_MAX && m->set->cores &&
	    m->set->member[code].kind == TACH_MEMBER_HARDWARE)
		tach__cores_attr(m, code, &m->set->member[code].attr);
	return code < 0 ? code : 0;
}

static uint32_t levels(const struct tach__making *m)
{
	return m->opt->privilege ? m->opt->privilege : TACH_PRIVILEGE_USER;
}

static int encode(const struct tach__making *m, const char *string, uint32_t privilege,
		  struct tach_event *out, struct tach_error *err)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.pmu = m->opt->pmu;
	opt.privilege = privilege;
	/* Of another machine only what the caller plans for by number. */
	opt.any_pmu = m->opt->pmu >= 0;
	return tach_event_encode(string, &opt, out, err);
}

enum { ALL_LEVELS = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL | TACH_PRIVILEGE_HYPERVISOR };

/*
 * The scheduler's own events happen in the kernel: at user level they count 0 for ever
 * (kernel/events/core.c, perf_exclude_event). Where the string names no level they get it.
 */
static int needs_kernel(const struct tach_event *e)
{
	return e->type == PERF_TYPE_SOFTWARE && (e->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
						 e->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

/* Names are found as people write them: label, string, or the event's own name. */
int tach__set_find(const struct tach_set *set, const char *name, size_t length)
{
	for (int i = 0; i < set->count; i++)
		if (strlen(set->member[i].name) == length &&
		    strncasecmp(set->member[i].name, name, length) == 0)
			return i;
	return -1;
}

int tach__set_was_left_out(const struct tach__making *m, const char *name, size_t length)
{
	for (int i = 0; i < m->nmissing; i++)
		if (m->missing[i].length == length &&
		    strncasecmp(m->missing[i].at, name, length) == 0)
			return 1;
	return 0;
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
	member = append(m, &attr, name.at, name.length, event->name);
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
	code = encode(m, string, levels(m), &coded, &err);
	if (code == 0 && needs_kernel(&coded) && coded.exclude_kernel)
		code = encode(m, string, levels(m) | TACH_PRIVILEGE_KERNEL, &coded, &err);
	/* Where the string, or the caller, names a level, opening it tells what is wrong. */
	if (TACH_ARCH_UNDIVIDED && code == 0 && !m->opt->privilege && is_undivided(&coded)) {
		code = encode(m, string, ALL_LEVELS, &coded, &err);
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
			return tach__cores_event(m, member, string, levels(m));
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
