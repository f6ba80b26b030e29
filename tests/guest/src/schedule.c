/* SPDX-License-Identifier: MIT */
/*
 * A schedulable mix counts all the time; a refused mix does not count at all. Largest number of
 * each event in a mix.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <tach/pmu.h>
#include <tach/schedule.h>
#include "tests/check.h"
#include "tests/guest/machine.h"

enum { KINDS = 4, MOST = 16 };
static const char *const kinds[KINDS] = {"cycles", "instructions", "ref-cycles", "branches"};
/* Some PMUs of RISC-V cannot exclude the kernel. */
static const int most_of[KINDS] = {3, 9, 2, 9};

static struct tach_event kind[KINDS];
static int there[KINDS];

/* Returns 1 if the kernel counts all events at the same time from beginning to end. */
static int undivided;

static int open_event(const struct tach_event *event, int leader)
{
	struct perf_event_attr attr = {.size = sizeof attr};

	tach_event_attr(event, &attr);
	attr.exclude_kernel = attr.exclude_hv = !undivided;
	if (undivided)
		attr.exclude_guest = attr.exclude_host = 0;
	attr.disabled = leader < 0;
	attr.pinned = leader < 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static void find_kinds(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	for (int k = 0; k < KINDS; k++) {
		int fd;

		memset(&kind[k], 0, sizeof kind[k]);
		if (tach_event_encode(kinds[k], NULL, &kind[k], &err))
			continue;
		fd = open_event(&kind[k], -1);
		if (fd < 0 && errno == EINVAL && !undivided) {
			undivided = 1;
			fd = open_event(&kind[k], -1);
		}
		there[k] = fd >= 0;
		if (fd >= 0)
			close(fd);
	}
}

/* Returns 1 if the kernel counts all of them at the same time from beginning to end. */
static int kernel_counts(const struct tach_event *events, int n)
{
	uint64_t values[3] = {0, 0, 0};
	int fd[MOST], opened = 0, counts;

	while (opened < n) {
		fd[opened] = open_event(&events[opened], opened ? fd[0] : -1);
		if (fd[opened] < 0)
			break;
		opened++;
	}
	counts = opened == n;
	if (counts) {
		ioctl(fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
		for (volatile int i = 0; i < 20000; i++)
			;
		counts = read(fd[0], values, sizeof values) == (ssize_t)sizeof values &&
			 values[1] > 0 && values[1] == values[2];
	}
	while (opened > 0)
		close(fd[--opened]);
	return counts;
}

static void one_mix(const int *number)
{
	struct tach_schedule plan = {.size = sizeof plan};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_event events[MOST];
	int n = 0, rc, fits;

	for (int k = 0; k < KINDS; k++)
		for (int i = 0; i < number[k]; i++)
			events[n++] = kind[k];
	rc = tach_schedule_split(events, n, 0, NULL, &plan, &err);
	CHECK(rc == 0, "%s", err.text);
	fits = kernel_counts(events, n);
	CHECK((plan.ngroups == 1) == fits,
	      "%d cycles, %d instructions, %d ref-cycles, %d branches: %d groups, the kernel "
	      "says "
	      "%s",
	      number[0], number[1], number[2], number[3], plan.ngroups, fits ? "fits" : "no");
}

static void kernel_agrees(void)
{
	int number[KINDS], pmu, mixes = 0;

	if (!machine_is_guest())
		SKIP("not in a guest: others may hold counters");
	if (tach_pmu_host(&pmu, 1, NULL) < 1)
		SKIP("no PMU");
	find_kinds();
	if (!there[0])
		SKIP("cycles do not count here");
	for (number[0] = 0; number[0] <= most_of[0]; number[0]++)
		for (number[1] = 0; number[1] <= most_of[1] * there[1]; number[1]++)
			for (number[2] = 0; number[2] <= most_of[2] * there[2]; number[2]++)
				for (number[3] = 0; number[3] <= most_of[3] * there[3];
				     number[3]++) {
					int n = number[0] + number[1] + number[2] + number[3];

					if (n == 0 || n > MOST)
						continue;
					one_mix(number);
					mixes++;
				}
	printf("# %d mixes\n", mixes);
	CHECK(mixes >= 3, "%d", mixes);
}

int main(void)
{
	CASE(kernel_agrees);
	return check_done();
}
