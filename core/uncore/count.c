/* SPDX-License-Identifier: MIT */
/* Starts, stops and reads counters of boxes. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/descriptor.h"
#include "core/os/sys.h"
#include "core/uncore/uncore.h"

int tach_uncore_count(const struct tach_uncore *u)
{
	return u->nevents;
}

const char *tach_uncore_name(const struct tach_uncore *u, int event)
{
	return event >= 0 && event < u->nevents ? u->event[event].name : NULL;
}

int tach_uncore_counters(const struct tach_uncore *u, int event)
{
	return event >= 0 && event < u->nevents ? u->event[event].counters : 0;
}

static int control_all(const struct tach_uncore *u, unsigned long what)
{
	long code = 0;

	for (int g = 0; g < u->ngroups && code >= 0; g++)
		code = tach__descriptor_is_event(u->group[g].fd[0], u->group[g].id[0])
			       ? tach__sys(SYS_ioctl, u->group[g].fd[0], (long)what,
					   PERF_IOC_FLAG_GROUP, 0, 0, 0)
			       : -EBADF;
	return code < 0 ? (int)code : 0;
}

int tach_uncore_start(struct tach_uncore *u)
{
	return control_all(u, PERF_EVENT_IOC_ENABLE);
}

int tach_uncore_stop(struct tach_uncore *u)
{
	return control_all(u, PERF_EVENT_IOC_DISABLE);
}

/* The result of read(2) for a group (linux/perf_event.h, enum perf_event_read_format). */
struct answer {
	uint64_t n, enabled, running, value[TACH_COUNTERS_MAX];
};

/* Reads the group's counts into *a, scaled. Returns how they were obtained. */
static uint32_t read_group(const struct tach__uncore_group *g, struct answer *a)
{
	size_t size = offsetof(struct answer, value) + (size_t)g->n * sizeof *a->value;
	long got = -EBADF;

	if (tach__descriptor_is_event(g->fd[0], g->id[0]))
		got = tach__sys(SYS_read, g->fd[0], (long)a, (long)size, 0, 0, 0);
	if (got != (long)size || a->n != (uint64_t)g->n || (a->enabled && !a->running)) {
		memset(a, 0, sizeof *a);
		return TACH_FLAG_SYSCALL | TACH_FLAG_LOST;
	}
	if (a->running >= a->enabled)
		return TACH_FLAG_SYSCALL;
	for (int i = 0; i < g->n; i++)
		a->value[i] = (uint64_t)((double)a->value[i] * (double)a->enabled /
					 (double)a->running);
	return TACH_FLAG_SYSCALL | TACH_FLAG_SCALED;
}

uint32_t tach_uncore_read(const struct tach_uncore *u, uint64_t *value, uint32_t *flags)
{
	uint32_t all = 0;

	for (int e = 0; e < u->nevents; e++) {
		value[e] = 0;
		if (flags)
			flags[e] = 0;
	}
	for (int g = 0; g < u->ngroups; g++) {
		const struct tach__uncore_group *group = &u->group[g];
		struct answer a;
		uint32_t how = read_group(group, &a);

		for (int i = 0; i < group->n; i++) {
			value[group->event[i]] += a.value[i];
			if (flags)
				flags[group->event[i]] |= how;
		}
		all |= how;
	}
	return all;
}
