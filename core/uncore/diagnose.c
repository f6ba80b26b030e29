/* SPDX-License-Identifier: MIT */
/* Explains why the kernel does not open an event of a box, with the cure. */
#include <errno.h>
#include "core/base/error.h"
#include "core/os/cause.h"
#include "core/uncore/uncore.h"

/*
 * Returns 1 if the process lacks a privilege. For an event without a process, the kernel
 * requires perfmon_capable() if perf_event_paranoid is above 0 (kernel/events/core.c,
 * perf_allow_cpu).
 */
static int is_privilege(int code, const struct tach__settings *s)
{
	return code == -EACCES && s->paranoid > 0 && (!s->capable || s->user_namespace);
}

int tach__uncore_refused(int code, const char *name, int cpu, const struct tach__settings *s,
			 struct tach_error *err)
{
	enum tach_cause cause;
	char text[160];

	if (is_privilege(code, s))
		return tach__error(
			err, TACH_ERR_PERMISSION, 0, 0,
			"%.40s: a box counts for all programs, which takes CAP_PERFMON "
			"(kernel.perf_event_paranoid is %d)%s; run as root, sudo setcap "
			"cap_perfmon+ep PROGRAM, or sudo sysctl "
			"kernel.perf_event_paranoid=0",
			name, s->paranoid,
			s->user_namespace ? ", of the host's root, not a container's" : "");
	switch (code) {
	case -EACCES:
	case -EPERM:
	case -ENOSYS:
	case -EMFILE:
	case -ENFILE:
		cause = tach__cause_of_refusal(code, s);
		tach__cause_text(cause, s, code, text, sizeof text);
		return tach__error(err,
				   cause == TACH_CAUSE_DESCRIPTORS ? code : TACH_ERR_PERMISSION,
				   0, 0, "%.40s: %s; %s", name, text, tach__causes[cause].cure);
	case -ENODEV:
	case -ENXIO:
		return tach__error(err, TACH_ERR_NOTSUPP, 0, 0,
				   "%.80s: processor %d is not there, or has no such box", name,
				   cpu);
	case -EINVAL:
	case -ENOENT:
	case -EOPNOTSUPP:
		return tach__error(err, TACH_ERR_NOTSUPP, 0, 0,
				   "%.80s: the kernel's driver does not take this event (%s)",
				   name, tach_strerror(code));
	}
	return tach__error(err, code, 0, 0, "%.80s: %s", name, tach_strerror(code));
}
