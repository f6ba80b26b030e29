/* SPDX-License-Identifier: MIT */
/* The counters of a machine's PMU, and the counters that an event may use. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tach/pmu.h>
#include "core/pmu/pmu.h"

#define FIXED (0xffffull << TACH__COUNTER_FIXED)

static const struct {
	void (*machine)(const struct tach__pmu *row, int host, struct tach__machine *m);
	void (*want)(const struct tach__machine *m, const struct tach_event *event,
		     struct tach__want *want);
} schedulers[TACH__NARCHS] = {
#define TACH__SCHEDULED(name, NAME) [TACH__##NAME] = {tach__machine_##name, tach__want_##name},
#include <archs.h>
};

static int reads_one(const char *path)
{
	char c = 0;
	int saved = errno, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (read(fd, &c, 1) != 1)
			c = 0;
		close(fd);
	}
	errno = saved;
	return c == '1';
}

/* Returns 1 for the PMU of a machine with one kind of core, if TACH_PMU does not name one. The
 * processor itself then gives its counters. */
static int is_host(int pmu)
{
	const char *forced = secure_getenv("TACH_PMU");
	int host[2];

	return !(forced && *forced) &&
	       tach_pmu_host(host, sizeof host / sizeof *host, NULL) == 1 && host[0] == pmu;
}

int tach__machine(const struct tach_schedule_options *opt, struct tach__machine *m)
{
	const struct tach__pmu *row;
	int host;

	memset(m, 0, sizeof *m);
	m->pmu = opt->pmu;
	if (m->pmu < 0 && tach_pmu_host(&m->pmu, 1, NULL) < 1)
		return TACH_ERR_NOHARDWARE;
	if (m->pmu >= tach__npmus())
		return TACH_ERR_INVAL;
	row = tach__pmu_at(m->pmu);
	host = is_host(m->pmu);
	if (!schedulers[row->arch].machine)
		return TACH_ERR_NOTSUPP;
	m->host = (uint8_t)host;
	schedulers[row->arch].machine(row, host, m);
	if (opt->general)
		m->counters = (m->counters & ~0xffffffffull) | opt->general;
	if (opt->fixed)
		m->counters = (m->counters & ~FIXED) |
			      ((uint64_t)opt->fixed << TACH__COUNTER_FIXED & FIXED);
	if (opt->flags & TACH_SCHEDULE_NO_WATCHDOG ||
	    (!(opt->flags & TACH_SCHEDULE_WATCHDOG) &&
	     !(host && reads_one("/proc/sys/kernel/nmi_watchdog"))))
		m->watchdog = 0;
	return 0;
}

void tach__want(const struct tach__machine *m, const struct tach_event *event,
		struct tach__want *want)
{
	memset(want, 0, sizeof *want);
	/* Boxes have their own counters. */
	if ((unsigned)(event->pmu - tach__npmus()) < (unsigned)tach__nboxes())
		return;
	switch (event->type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return;
	}
	schedulers[tach__pmu_at(m->pmu)->arch].want(m, event, want);
}
