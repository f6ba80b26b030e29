/* SPDX-License-Identifier: MIT */
/*
 * Events opened by perf_event_open and read by read(2): multiplexed or inherited events, events
 * of other threads or processors, and sets of software events only.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "compat/papi/state.h"

enum { VALUE, ENABLED, RUNNING, WORDS };

struct pp_kernel {
	int n, grouped, kept;
	int *fd;
	uint64_t (*base)[WORDS], (*now)[WORDS];
};

static int event_open(struct perf_event_attr *attr, int pid, int cpu, int leader)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

static struct pp_kernel *make_kernel(int n)
{
	struct pp_kernel *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->n = n;
	k->fd = malloc((size_t)n * sizeof(*k->fd));
	k->base = calloc((size_t)n, sizeof(*k->base));
	k->now = calloc((size_t)n, sizeof(*k->now));
	if (!k->fd || !k->base || !k->now) {
		pp_kernel_close(k);
		return NULL;
	}
	for (int i = 0; i < n; i++)
		k->fd[i] = -1;
	return k;
}

void pp_kernel_close(struct pp_kernel *k)
{
	if (!k)
		return;
	for (int i = 0; k->fd && i < k->n; i++)
		if (k->fd[i] >= 0)
			close(k->fd[i]);
	free(k->fd);
	free(k->base);
	free(k->now);
	free(k);
}

/*
 * Returns PAPI_ECNFLCT if a pinned group has no counters: read(2) then returns 0, as at the end
 * of a file (perf_event_open(2)).
 */
static int read_group(struct pp_kernel *k)
{
	uint64_t words[3 + PP_EVENTS];
	ssize_t got = read(k->fd[0], words, sizeof words);

	if (got == 0)
		return PAPI_ECNFLCT;
	if (got < (ssize_t)((3 + (size_t)k->n) * sizeof(*words)))
		return PAPI_ESYS;
	for (int i = 0; i < k->n; i++) {
		k->now[i][ENABLED] = words[1];
		k->now[i][RUNNING] = words[2];
		k->now[i][VALUE] = words[3 + i];
	}
	return PAPI_OK;
}

static int read_all(struct pp_kernel *k)
{
	if (k->grouped)
		return read_group(k);
	for (int i = 0; i < k->n; i++) {
		ssize_t got = read(k->fd[i], k->now[i], sizeof k->now[i]);

		if (got == 0)
			return PAPI_ECNFLCT;
		if (got != sizeof k->now[i])
			return PAPI_ESYS;
	}
	return PAPI_OK;
}

static int control_group(const struct pp_kernel *k, int enable)
{
	unsigned long what = enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (int i = 0; i < k->n; i++)
		if (ioctl(k->fd[i], what, 0) != 0)
			return PAPI_ESYS;
	return PAPI_OK;
}

static int open_all(struct pp_kernel *k, const struct perf_event_attr *attr,
		    const struct pp_kernel_options *opt)
{
	for (int i = 0; i < k->n; i++) {
		struct perf_event_attr a = attr[i];
		int first = i == 0 || opt->multiplexed;

		a.size = sizeof a;
		a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
				PERF_FORMAT_TOTAL_TIME_RUNNING |
				(k->grouped ? PERF_FORMAT_GROUP : 0);
		a.disabled = !opt->kept;
		a.pinned = first && !opt->multiplexed;
		a.inherit = opt->inherit != 0;
		a.exclusive = 0;
		k->fd[i] = event_open(&a, opt->pid, opt->cpu, first ? -1 : k->fd[0]);
		if (k->fd[i] < 0 && errno == EINVAL && a.exclude_guest) {
			a.exclude_guest = 0;
			k->fd[i] = event_open(&a, opt->pid, opt->cpu, first ? -1 : k->fd[0]);
		}
		if (k->fd[i] < 0)
			return pp_from_errno(errno);
	}
	return PAPI_OK;
}

/* Lets the events count for a moment: the kernel shows only then if counters are free. */
static int prove_counters(struct pp_kernel *k, const struct pp_kernel_options *opt)
{
	int code;

	if (opt->multiplexed)
		return PAPI_OK;
	if (!opt->kept && control_group(k, 1) != PAPI_OK)
		return PAPI_ESYS;
	code = read_all(k);
	if (!opt->kept && control_group(k, 0) != PAPI_OK)
		return PAPI_ESYS;
	return code;
}

int pp_kernel_open(const struct perf_event_attr *attr, int n,
		   const struct pp_kernel_options *opt, struct pp_kernel **out)
{
	struct pp_kernel *k = make_kernel(n);
	int code;

	if (!k)
		return PAPI_ENOMEM;
	k->grouped = !opt->multiplexed && !opt->inherit;
	k->kept = opt->kept;
	code = open_all(k, attr, opt);
	if (code == PAPI_OK)
		code = prove_counters(k, opt);
	if (code != PAPI_OK) {
		pp_kernel_close(k);
		return code;
	}
	*out = k;
	return PAPI_OK;
}

int pp_kernel_reset(struct pp_kernel *k)
{
	int code = read_all(k);

	if (code == PAPI_OK)
		memcpy(k->base, k->now, (size_t)k->n * sizeof(*k->base));
	return code;
}

int pp_kernel_begin(struct pp_kernel *k)
{
	int code = pp_kernel_reset(k);

	return code != PAPI_OK || k->kept ? code : control_group(k, 1);
}

int pp_kernel_end(struct pp_kernel *k)
{
	return k->kept ? PAPI_OK : control_group(k, 0);
}

/*
 * Scales counts to the time in which the events should have counted. The value of an event that
 * never counted is 0.
 */
int pp_kernel_read(struct pp_kernel *k, uint64_t *value)
{
	int code = read_all(k);

	if (code != PAPI_OK)
		return code;
	for (int i = 0; i < k->n; i++) {
		uint64_t enabled = k->now[i][ENABLED] - k->base[i][ENABLED];
		uint64_t running = k->now[i][RUNNING] - k->base[i][RUNNING];

		value[i] = k->now[i][VALUE] - k->base[i][VALUE];
		if (running && running < enabled)
			value[i] = (uint64_t)((unsigned __int128)value[i] * enabled / running);
	}
	return PAPI_OK;
}

/* Opens instructions, like PAPI. If there is no PMU, opens an event that always exists. */
int pp_kernel_try(const struct pp_set *set, int pid, int cpu, int domain, int inherit)
{
	struct perf_event_attr attr = {.size = sizeof attr,
				       .config = PERF_COUNT_HW_INSTRUCTIONS};
	int fd;

	/*
	 * PAPI tests only the processor's counters here. Opening reports errors of other
	 * components.
	 */
	if (set->component != PP_CORE)
		return PAPI_OK;
	attr.exclude_hv = !(domain & PAPI_DOM_SUPERVISOR);
	attr.exclude_user = !(domain & PAPI_DOM_USER);
	attr.exclude_kernel = !(domain & PAPI_DOM_KERNEL);
	attr.inherit = inherit != 0;
	attr.disabled = 1;
	if (set->granularity == PAPI_GRN_SYS)
		pid = -1;
	fd = event_open(&attr, pid, cpu, -1);
	if (fd < 0 && (errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP)) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
		fd = event_open(&attr, pid, cpu, -1);
	}
	if (fd < 0)
		return pp_from_errno(errno);
	close(fd);
	return PAPI_OK;
}
