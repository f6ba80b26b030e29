/* SPDX-License-Identifier: MIT */
/* Why an event could not be opened or mapped, in a sentence with the cure. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <tach/arch.h>
#include "core/set/diagnose.h"
#include "core/base/error.h"
#include "core/os/kernel_files.h"
#include "core/os/perf_open.h"
#include "core/os/sys.h"

/* A sysctl, or `otherwise`. */
static long setting(const char *path, long otherwise)
{
	char line[32], *end;
	long value;

	if (tach__file_line("", path, line, sizeof line) <= 0)
		return otherwise;
	value = strtol(line, &end, 10);
	return end == line ? otherwise : value;
}

/* "Seccomp:	2" in /proc/self/status: a filter is at work. */
static int seccomp_line(void *context, const char *line)
{
	if (strncmp(line, "Seccomp:", 8) != 0)
		return 0;
	*(long *)context = strtol(line + 8, NULL, 10);
	return 1;
}

/*
 * kernel/events/core.c, perf_event_open: EACCES for what perf_event_paranoid forbids; a seccomp
 * filter answers with the errno that its author chose, EPERM as a rule.
 */
static int forbidden(int code, const struct tach__member *m, struct tach_error *err)
{
	long paranoid = setting("/proc/sys/kernel/perf_event_paranoid", -2), seccomp = 0;
	int inner = tach__user_namespace("");

	tach__file_lines("", "/proc/self/status", seccomp_line, &seccomp);
	if (code == -EACCES && paranoid >= 3)
		return tach__error(
			err, TACH_ERR_PERMISSION, 0, 0,
			"%s: kernel.perf_event_paranoid is %ld, which keeps events from "
			"users%s; as root%s: sysctl kernel.perf_event_paranoid=2",
			m->name, paranoid,
			inner ? ", and from holders of capabilities in a user namespace" : "",
			inner ? " of the host" : "");
	if (code == -EACCES && paranoid >= 2 && !m->attr.exclude_kernel)
		return tach__error(err, TACH_ERR_PERMISSION, 0, 0,
				   "%s counts the kernel too, which "
				   "kernel.perf_event_paranoid=%ld forbids; "
				   "count user level only, or as root: sysctl "
				   "kernel.perf_event_paranoid=1",
				   m->name, paranoid);
	if (seccomp == 2)
		return tach__error(
			err, TACH_ERR_PERMISSION, 0, 0,
			"%s: a seccomp filter refuses perf_event_open, as containers do; "
			"allow it there (Docker: --cap-add PERFMON or a seccomp profile "
			"that lists perf_event_open)",
			m->name);
	return tach__error(
		err, TACH_ERR_PERMISSION, 0, 0,
		"%s: the kernel refuses (%s, kernel.perf_event_paranoid=%ld); a security "
		"module or a missing capability: CAP_PERFMON lifts it",
		m->name, tach_strerror(code), paranoid);
}

static int out_of_descriptors(int code, const struct tach_set *set, struct tach_error *err)
{
	struct rlimit limit = {0, 0};

	tach__sys(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
	return tach__error(
		err, code, 0, 0,
		"no more descriptors (limit %llu): every thread needs one per event, "
		"here %d; raise it with ulimit -n",
		(unsigned long long)limit.rlim_cur, set->count);
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

/* The event that every PMU has; other users of counters do not stand in the way of opening it.
 */
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

	switch (code) {
	case -EACCES:
	case -EPERM:
		return forbidden(code, m, err);
	case -ENOSYS:
		return tach__error(
			err, TACH_ERR_PERMISSION, 0, 0,
			"there is no perf_event_open here: a container's seccomp filter "
			"hides it, or the kernel was built without PERF_EVENTS");
	case -EMFILE:
	case -ENFILE:
		return out_of_descriptors(code, set, err);
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
	case -EOPNOTSUPP:
		if (fit == 0 && m->attr.type < PERF_TYPE_MAX && !counts_cycles())
			return tach__error(
				err, TACH_ERR_NOHARDWARE, 0, 0,
				"%s: this machine has no PMU that the kernel can use for it; a "
				"virtual machine needs a virtual PMU (KVM: -cpu host,pmu=on)",
				m->name);
		return tach__error(err, TACH_ERR_NOTSUPP, 0, 0,
				   "%s: this machine's PMU cannot count that", m->name);
	case -EINVAL:
		if (fit > 0 && alone)
			return tach__error(err, TACH_ERR_NOCOUNTER, 0, 0,
					   "%s: the group is too large for this PMU: the first "
					   "%d of %d events "
					   "fit together",
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
	return tach__error(err, code, 0, 0, "%s: perf_event_open: %s", m->name,
			   tach_strerror(code));
}

int tach__diagnose_dead(const struct tach_set *set, struct tach_error *err)
{
	if (TACH_ARCH_WATCHDOG && setting("/proc/sys/kernel/nmi_watchdog", 0) == 1)
		return tach__error(
			err, TACH_ERR_NOCOUNTER, 0, 0,
			"no counters free for %d pinned events; the NMI watchdog holds "
			"one: as root, sysctl kernel.nmi_watchdog=0",
			set->count);
	return tach__error(
		err, TACH_ERR_NOCOUNTER, 0, 0,
		"no counters free for %d pinned events: another profiler, another set of "
		"this thread or the host holds them",
		set->count);
}

void tach__diagnose_map(int code, char *text, size_t size)
{
	if (code == -EPERM || code == -ENOMEM)
		snprintf(text, size,
			 "a page could not be mapped: the budget of kernel.perf_event_mlock_kb "
			 "(%ld "
			 "KiB per CPU and user) and RLIMIT_MEMLOCK is used up; raise one: "
			 "sysctl "
			 "kernel.perf_event_mlock_kb, ulimit -l",
			 setting("/proc/sys/kernel/perf_event_mlock_kb", -1));
	else
		snprintf(text, size, "a page could not be mapped: %s", tach_strerror(code));
}

void tach__diagnose_access(char *text, size_t size)
{
	if (setting("/proc/sys/kernel/perf_user_access", 1) == 0)
		snprintf(text, size,
			 "user access to counters is off; as root: sysctl "
			 "kernel.perf_user_access=1");
	else if (setting("/sys/bus/event_source/devices/cpu/rdpmc", 1) == 0)
		snprintf(text, size,
			 "RDPMC is switched off; as root: echo 1 > "
			 "/sys/bus/event_source/devices/cpu/rdpmc");
	else if (TACH_ARCH_FAULTS && setting("/proc/sys/kernel/perf_user_access", -1) < 0)
		snprintf(text, size,
			 "the kernel's driver for firmware without the SBI PMU extension shows "
			 "counters and gives no access to them; newer firmware (OpenSBI) has "
			 "it");
	else
		snprintf(text, size, "the kernel gives no user access to a counter");
}
