/* SPDX-License-Identifier: MIT */
/* Explains why an event could not be opened or mapped, in a sentence with the cure. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tach/arch.h>
#include "core/os/emulator.h"
#include "core/set/diagnose.h"
#include "core/base/error.h"
#include "core/os/cause.h"
#include "core/os/perf_open.h"
#include "core/pmu/pmu.h"

/* Writes "NAME: the finding; the cure". */
static int write_diagnosis(enum tach_cause cause, const struct tach__settings *s,
			   const char *name, int code, int result, struct tach_error *err)
{
	const char *cure = tach__causes[cause].cure;
	char text[200];

	tach__cause_text(cause, s, code, text, sizeof text);
	return tach__error(err, result, 0, 0, "%s: %s%s%s", name, text, *cure ? "; " : "",
			   cure);
}

/* Returns 1 if the kernel refuses even the event with the fewest requirements. */
static int kernel_refuses_all(void)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
					     .size = PERF_ATTR_SIZE_VER0,
					     .config = PERF_COUNT_SW_TASK_CLOCK,
					     .exclude_kernel = 1,
					     .exclude_hv = 1};

	return tach__perf_try(&attr) < 0;
}

static int diagnose_forbidden(int code, const struct tach__settings *s,
			      const struct tach__member *m, struct tach_error *err)
{
	enum tach_cause cause = tach__cause_of_refusal(code, s);

	if (code == -EACCES && s->paranoid == 2 && !m->attr.exclude_kernel)
		cause = TACH_CAUSE_PARANOID_KERNEL;
	else if (code != -ENOSYS && !kernel_refuses_all())
		return tach__error(err, TACH_ERR_PERMISSION, 0, 0,
				   "%s: the kernel refuses this event, and not all (%s, "
				   "kernel.perf_event_paranoid=%d): it may ask for a "
				   "capability; CAP_PERFMON lifts that",
				   m->name, tach_strerror(code), s->paranoid);
	return write_diagnosis(cause, s, m->name, code, TACH_ERR_PERMISSION, err);
}

int tach__cannot_divide(const struct perf_event_attr *attr)
{
	struct perf_event_attr whole = *attr;
	int code;

	if (!attr->exclude_user && !attr->exclude_kernel && !attr->exclude_hv)
		return 0;
	whole.exclude_user = whole.exclude_kernel = whole.exclude_hv = 0;
	whole.exclude_host = whole.exclude_guest = 0;
	if (tach__perf_try(attr) != -EINVAL)
		return 0;
	code = tach__perf_try(&whole);
	return code == 0 || code == -EACCES || code == -EPERM;
}

/* Opens an event that every PMU has. It can be opened even if other programs hold counters. */
static int counts_cycles(void)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
					     .size = PERF_ATTR_SIZE_VER0,
					     .config = PERF_COUNT_HW_CPU_CYCLES,
					     .exclude_kernel = 1,
					     .exclude_hv = 1};

	return tach__perf_try(&attr) == 0 ||
	       (TACH_ARCH_UNDIVIDED && tach__cannot_divide(&attr));
}

int tach__diagnose_open(int code, const struct tach_set *set, int member, int fit, int alone,
			struct tach_error *err)
{
	const struct tach__member *m = &set->member[member];
	struct tach__settings s;

	if (tach__emulated_counts())
		return tach__error(err, TACH_ERR_NOHARDWARE, 0, 0,
				   "%s: the emulator has no events of the kernel, it counts "
				   "instructions, branches, loads and stores",
				   m->name);
	tach__settings_read(&s, "");
	switch (code) {
	case -EACCES:
	case -EPERM:
	case -ENOSYS:
		return diagnose_forbidden(code, &s, m, err);
	case -EMFILE:
	case -ENFILE:
		return write_diagnosis(TACH_CAUSE_DESCRIPTORS, &s, m->name, code, code, err);
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
	case -EOPNOTSUPP:
		if (fit == 0 && m->attr.type < PERF_TYPE_MAX && !counts_cycles())
			return write_diagnosis(tach__cause_of_refusal(code, &s), &s, m->name,
					       code, TACH_ERR_NOHARDWARE, err);
		return tach__error(err, TACH_ERR_NOTSUPP, 0, 0,
				   "%s: this machine's PMU cannot count that", m->name);
	case -EINVAL:
		if (fit > 0 && alone)
			return tach__error(err, TACH_ERR_NOCOUNTER, 0, 0,
					   "%s: the group is too large for this PMU: the first "
					   "%d of %d events fit together",
					   m->name, fit, set->count);
		if (TACH_ARCH_UNDIVIDED && tach__cannot_divide(&m->attr))
			return tach__error(err, TACH_ERR_NOTSUPP, 0, 0,
					   "%s: this machine's PMU cannot leave a privilege "
					   "level out; count it with the kernel (levels u, k "
					   "and h), or name no level",
					   m->name);
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "%s: the kernel does not take this event (invalid argument)",
				   m->name);
	}
	return write_diagnosis(TACH_CAUSE_OPEN_OTHER, &s, m->name, code, code, err);
}

int tach__diagnose_dead(const struct tach_set *set, struct tach_error *err)
{
	struct tach__settings s;
	char text[80];

	tach__settings_read(&s, "");
	if (s.watchdog != 1)
		return tach__error(err, TACH_ERR_NOCOUNTER, 0, 0,
				   "no counters free for %d pinned events: another profiler, "
				   "another set of this thread or the host holds them",
				   set->count);
	tach__cause_text(TACH_CAUSE_WATCHDOG, &s, 0, text, sizeof text);
	return tach__error(err, TACH_ERR_NOCOUNTER, 0, 0,
			   "no counters free for %d pinned events: %s; %s", set->count, text,
			   tach__causes[TACH_CAUSE_WATCHDOG].cure);
}

static void say_why(enum tach_cause cause, const struct tach__settings *s, int code, char *text,
		    size_t size)
{
	const char *cure = tach__causes[cause].cure;
	size_t n;

	tach__cause_text(cause, s, code, text, size);
	n = strlen(text);
	snprintf(text + n, size - n, "%s%s", *cure ? "; " : "", cure);
}

void tach__diagnose_map(int code, char *text, size_t size)
{
	struct tach__settings s;

	tach__settings_read(&s, "");
	say_why(tach__cause_of_map(code), &s, code, text, size);
}

void tach__diagnose_access(char *text, size_t size)
{
	struct tach__settings s;

	tach__settings_read(&s, "");
	say_why(tach__cause_of_no_index(&s, tach__user_read(), 0), &s, 0, text, size);
}

enum tach__user_read tach__user_read(void)
{
	if (!TACH_ARCH_FAST)
		return TACH__USER_NONE;
	if (TACH_ARCH_FAULTS)
		return TACH__USER_CSR;
	return tach__native_arch() == TACH__X86 ? TACH__USER_RDPMC : TACH__USER_MRS;
}
