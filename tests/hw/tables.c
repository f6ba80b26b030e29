/* SPDX-License-Identifier: MIT */
/*
 * This machine's PMU table compared with its kernel: which events open, and whether random sets
 * are scheduled as tach_schedule_split predicts.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <tach/pmu.h>
#include <tach/schedule.h>
#include "tests/hw/hardware.h"

enum { EVENTS = 4096, SETS = 500, MOST = 10 };

static struct tach_event good[EVENTS];
static int ngood;

static int open_event(const struct tach_event *event, int leader)
{
	struct perf_event_attr attr = {.size = sizeof attr};

	tach_event_attr(event, &attr);
	attr.disabled = attr.pinned = leader < 0;
	attr.exclude_hv = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/* Returns 1 if the kernel counts all events at the same time from beginning to end. */
static int kernel_counts(const struct tach_event *const *events, int n)
{
	uint64_t values[3] = {0, 0, 0};
	int fd[MOST], opened = 0, counts = 0;

	while (opened < n &&
	       (fd[opened] = open_event(events[opened], opened ? fd[0] : -1)) >= 0)
		opened++;
	if (opened == n) {
		ioctl(fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
		machine_loop(100000);
		counts = read(fd[0], values, sizeof values) == (ssize_t)sizeof values &&
			 values[1] > 0 && values[1] == values[2];
	}
	while (opened > 0)
		close(fd[--opened]);
	return counts;
}

/* Spells the event with each of its umasks, or without one if it has no umask. */
static int spelling(int pmu, const struct tach_event_info *event, int number, int umask,
		    char *to, size_t size)
{
	struct tach_umask_info info = {.size = sizeof info};

	if (event->numasks == 0)
		return snprintf(to, size, "%s", event->name) < (int)size && umask == 0;
	return umask < event->numasks && tach_pmu_umask(pmu, number, umask, &info) == 0 &&
	       snprintf(to, size, "%s:%s", event->name, info.name) < (int)size;
}

/*
 * Cases that tach_schedule_split does not know: Zen's PMCx003 takes two counters in the kernel.
 * Arm's CHAIN is meaningful only with a neighbour, so the kernel treats it as half of a pair.
 */
static int takes_two(const struct tach_pmu_info *pmu, const struct tach_event *event)
{
	if (strcmp(pmu->arch, "arm64") == 0)
		return event->config == 0x1e;
	return strncmp(pmu->name, "amd64_", 6) == 0 && (event->config & 0xf000000ffull) == 3;
}

/*
 * If the kernel refuses an event of the table, the table is wrong for this machine, or the
 * kernel is older.
 */
static void the_kernel_opens_what_the_table_has(void)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_pmu_info pmu_info = {.size = sizeof pmu_info};
	int pmu, tried = 0, opened = 0;
	struct hardware h;

	if (hardware_open(&h, "cycles"))
		SKIP(hardware_why);
	hardware_close(&h);
	if (tach_pmu_host(&pmu, 1, NULL) < 1 || tach_pmu_describe(pmu, &pmu_info))
		SKIP("no table for this CPU");
	opt.pmu = pmu;
	for (int e = 0; e < pmu_info.nevents && ngood < EVENTS; e++) {
		struct tach_event_info info = {.size = sizeof info};
		char name[256];

		if (tach_pmu_event(pmu, e, &info) || info.alias_of || info.deprecated)
			continue;
		for (int u = 0; spelling(pmu, &info, e, u, name, sizeof name); u++) {
			struct tach_event *event = &good[ngood];
			int fd;

			event->size = 0;
			if (tach_event_encode(name, &opt, event, NULL))
				continue; /* umasks that must be combined */
			if (machine_is_guest() && event->has & TACH_EVENT_HAS_CONFIG1)
				continue; /* its PMU has no offcore registers */
			tried++;
			fd = open_event(event, -1);
			if (fd < 0)
				printf("# refused: %s\n", event->name);
			if (fd >= 0)
				close(fd);
			opened += fd >= 0;
			if (fd >= 0 && !takes_two(&pmu_info, event))
				ngood++;
			if (ngood == EVENTS)
				break;
		}
	}
	printf("# %s: %d of %d events open\n", pmu_info.name, opened, tried);
	CHECK(opened >= tried * 9 / 10, "%d of %d", opened, tried);
}

static void random_sets_are_scheduled_as_predicted(void)
{
	unsigned seed = 12345;
	int fit = 0;

	if (ngood == 0)
		SKIP("no event opens");
	for (int i = 0; i < SETS; i++) {
		const struct tach_event *set[MOST];
		struct tach_event events[MOST];
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_schedule plan = {.size = sizeof plan};
		int n = 1 + (int)(rand_r(&seed) % MOST), says, counts;

		for (int k = 0; k < n; k++) {
			set[k] = &good[(unsigned)rand_r(&seed) % (unsigned)ngood];
			events[k] = *set[k];
		}
		says = tach_schedule_split(events, n, 0, NULL, &plan, &err) == 0 &&
		       plan.ngroups == 1;
		counts = kernel_counts(set, n);
		fit += counts;
		if (says != counts)
			for (int k = 0; k < n; k++)
				printf("# set %d: %s\n", i, set[k]->name);
		CHECK(says == counts, "set %d: says %d (%s), the kernel %d", i, says, err.text,
		      counts);
	}
	printf("# %d of %d sets fit\n", fit, SETS);
}

int main(void)
{
	CASE(the_kernel_opens_what_the_table_has);
	CASE(random_sets_are_scheduled_as_predicted);
	return check_done();
}
