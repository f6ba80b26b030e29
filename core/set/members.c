/* SPDX-License-Identifier: MIT */
/* Adds members to a set: checks events, and accepts callers' own attrs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "core/set/diagnose.h"
#include "core/base/error.h"
#include "core/event/event.h"
#include "core/os/kernel_files.h"
#include "core/set/set.h"
#include "core/os/emulator.h"
#include "core/os/perf_open.h"
#include "core/os/sysfs.h"

/*
 * Returns 1 if the PMU with this number belongs to the CPU's cores: no other PMU counts per
 * thread. Its name is cpu, cpu_core or cpu_atom (x86), or it has a file `cpus` (arm64). Other
 * PMUs, such as probes, have no counters that user space could read.
 */
static int is_core_type(uint32_t type)
{
	char device[64], line[16];

	if (tach__sysfs_device(TACH__SYSFS, type, device, sizeof device) != 0)
		return 0;
	return strcmp(device, "cpu") == 0 || strncmp(device, "cpu_", 4) == 0 ||
	       tach__sysfs_read(TACH__SYSFS, device, strlen(device), "cpus", line,
				sizeof line) >= 0;
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

/* In an emulator there is no PMU, so changes a hardware member to an emulated one. */
static int emulate_member(struct tach__member *it, struct tach_error *err)
{
	const char *why;

	if (it->kind != TACH_MEMBER_HARDWARE || !tach__emulated_counts())
		return 0;
	it->kind = TACH_MEMBER_EMULATED;
	it->emulated = tach__emulated_event(&it->attr, &why);
	if (it->emulated >= 0)
		return 0;
	return tach__error(err, TACH_ERR_NOHARDWARE, 0, 0, "%s: %s", it->name, why);
}

/*
 * Returns 1 if `part` is a whole part of the text. It must follow the beginning, "; " or a
 * quote. The end, or a text of `after`, must follow it.
 */
static int has_part(const char *text, const char *part, const char *const *after)
{
	size_t length = strlen(part);

	for (const char *at = text; (at = strstr(at, part)); at++) {
		const char *end = at + length;

		if (*part != ':' && at != text && at[-1] != '\'' &&
		    (at - text < 2 || strncmp(at - 2, "; ", 2) != 0))
			continue;
		if (!*end)
			return 1;
		for (int i = 0; after[i]; i++)
			if (strncmp(end, after[i], strlen(after[i])) == 0)
				return 1;
	}
	return 0;
}

void tach__set_miss(struct tach_set *set, const char *name, const char *why)
{
	static const char *const after_cause[] = {"; ", NULL};
	static const char *const after_name[] = {": ", "'", " likewise", NULL};
	size_t used = strlen(set->missing), room = sizeof set->missing - used;
	const char *cause = strstr(why, ": ");

	/* Writes each cause once, with its cure. Then writes only the names of other members
	 * with that cause. */
	if (!has_part(set->missing, cause ? cause : why, after_cause))
		snprintf(set->missing + used, room, "%s%s", used ? "; " : "", why);
	else if (!has_part(set->missing, name, after_name))
		snprintf(set->missing + used, room, "; %s likewise", name);
}

void tach__set_miss_name(struct tach_set *set, struct tach__span name, const char *why)
{
	char text[TACH_EVENT_NAME_MAX];

	snprintf(text, sizeof text, "%.*s", (int)name.length, name.at);
	tach__set_miss(set, text, why);
}

/*
 * Returns 1 if an event of the same kind and privilege levels was refused with this code. The
 * reason is then the same, so its files are not read again. EINVAL has a cause in the event
 * itself.
 */
static int was_refused_alike(const struct tach__making *m, const struct perf_event_attr *attr,
			     int code)
{
	const struct perf_event_attr *first = &m->refused.attr;

	return code == m->refused.code && code != -EINVAL && attr->type == first->type &&
	       attr->exclude_user == first->exclude_user &&
	       attr->exclude_kernel == first->exclude_kernel &&
	       attr->exclude_hv == first->exclude_hv;
}

/* For TACH_SET_OPTIONAL: returns 0 if the kernel can open the member now, as a group of its
 * own. */
static int probe_member(struct tach__making *m, int member)
{
	const struct tach__member *it = &m->set->member[member];
	struct tach_error why = TACH_ERROR_INIT;
	int code = it->kind == TACH_MEMBER_EMULATED ? 0 : tach__perf_try(&it->attr);
	int fit = 0; /* hardware events that this machine counts, so it has a PMU */

	if (code == 0)
		return 0;
	for (int i = 0; i < member; i++)
		fit += m->set->member[i].kind == TACH_MEMBER_HARDWARE;
	if (fit == 0 && was_refused_alike(m, &it->attr, code)) {
		snprintf(why.text, sizeof why.text, "%s%s", it->name, m->refused.why);
	} else {
		const char *cause;

		tach__diagnose_open(code, m->set, member, fit, 0, &why);
		cause = strstr(why.text, ": ");
		if (fit == 0 && cause) {
			m->refused.code = code;
			m->refused.attr = it->attr;
			snprintf(m->refused.why, sizeof m->refused.why, "%s", cause);
		}
	}
	tach__set_miss(m->set, it->name, why.text);
	return -1;
}

static void drop_member(struct tach__member *it)
{
	free(it->name);
	free(it->qualified);
	it->name = it->qualified = NULL;
}

/*
 * If a sampling event interrupts too often, the kernel stops it until the next tick
 * (kernel/events/core.c, __perf_event_account_interrupt), while its times and its page run on.
 * The missing counts would not be detected. On x86, the page's sums can then be 2^width too
 * small (tests/guest/src/adv_samplers.c).
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

int tach__set_append(struct tach__making *m, const struct perf_event_attr *attr,
		     const char *name, size_t length, const char *qualified)
{
	struct tach_set *set = m->set;
	struct tach__member *it = &set->member[set->count];
	struct tach_error err = TACH_ERROR_INIT;
	int code;

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
		drop_member(it);
		return tach__error(m->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	code = emulate_member(it, &err);
	if (code) {
		if (!(set->flags & TACH_SET_OPTIONAL)) {
			drop_member(it);
			return tach__error(m->err, code, 0, 0, "%s", err.text);
		}
		tach__set_miss(set, it->name, err.text);
		drop_member(it);
		return TACH__LEFT_OUT;
	}
	set->count++;
	if ((set->flags & TACH_SET_OPTIONAL) && probe_member(m, set->count - 1)) {
		set->count--;
		drop_member(it);
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
	/* A struct of a later version may have members that this version does not know. */
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
	code = tach__set_append(m, &attr, given->name ? given->name : "attr",
				strlen(given->name ? given->name : "attr"),
				given->name ? given->name : "attr");
	if (code >= 0 && code < TACH_COUNTERS_MAX)
		m->listed |= 1u << code;
	if (code >= 0 && code < TACH_COUNTERS_MAX && m->set->cores &&
	    m->set->member[code].kind == TACH_MEMBER_HARDWARE)
		tach__cores_attr(m, code, &m->set->member[code].attr);
	return code < 0 ? code : 0;
}

void tach__set_forget(struct tach__making *m, int count)
{
	struct tach_set *set = m->set;

	while (m->nevents && m->member[m->nevents - 1] >= count)
		m->nevents--;
	while (set->count > count) {
		set->count--;
		if (set->cores)
			tach__cores_forget(set->cores, set->count);
		drop_member(&set->member[set->count]);
	}
	m->listed &= (1u << count) - 1;
}

/* Returns 1 if the word around text[at] consists of perf's modifiers, such as u, kH or pp. */
static int is_modifier_word(const char *text, size_t length, size_t at)
{
	size_t from = at;
	int unused;

	while (from && !strchr(":/", text[from - 1]))
		from--;
	for (at = from; at < length && text[at] != ':'; at++)
		if (!tach__letter(text[at], &unused))
			return 0;
	return from > 0;
}

/*
 * Compares names and ignores case, because people write names in any case. In words of perf's
 * modifier letters, case matters: h is the hypervisor, H is the host.
 */
static int is_same_name(const char *have, const char *name, size_t length)
{
	if (strncasecmp(have, name, length) != 0)
		return 0;
	for (size_t i = 0; i < length; i++)
		if (have[i] != name[i] && is_modifier_word(have, length, i) &&
		    is_modifier_word(name, length, i))
			return 0;
	return 1;
}

int tach__set_find(const struct tach_set *set, const char *name, size_t length)
{
	for (int i = 0; i < set->count; i++)
		if (strlen(set->member[i].name) == length &&
		    is_same_name(set->member[i].name, name, length))
			return i;
	return -1;
}

int tach__set_was_left_out(const struct tach__making *m, const char *name, size_t length)
{
	for (int i = 0; i < m->nmissing; i++)
		if (m->missing[i].length == length &&
		    is_same_name(m->missing[i].at, name, length))
			return 1;
	return 0;
}
