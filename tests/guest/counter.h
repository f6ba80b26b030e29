/* SPDX-License-Identifier: MIT */
/*
 * Events and counters of x86 as the kernel returns them, without the library. Programs use it
 * to state what the emulated PMU and the kernel do, so that tests of the library can rely on
 * it.
 */
#ifndef TESTS_GUEST_COUNTER_H
#define TESTS_GUEST_COUNTER_H

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { COUNTER_PAGE = 4096 };

struct counter {
	int fd;
	volatile struct perf_event_mmap_page *page;
};

static inline struct perf_event_attr counter_attr(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = type;
	attr.config = config;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

/* fd < 0: errno has the reason. */
static inline struct counter counter_open(const struct perf_event_attr *attr, pid_t thread,
					  int cpu, int group)
{
	struct counter c = {-1, NULL};
	void *page;

	c.fd = (int)syscall(SYS_perf_event_open, attr, thread, cpu, group,
			    PERF_FLAG_FD_CLOEXEC);
	if (c.fd < 0)
		return c;
	page = mmap(NULL, COUNTER_PAGE, PROT_READ, MAP_SHARED, c.fd, 0);
	if (page != MAP_FAILED)
		c.page = page;
	return c;
}

static inline void counter_close(struct counter *c)
{
	if (c->page)
		munmap((void *)(uintptr_t)c->page, COUNTER_PAGE);
	if (c->fd >= 0)
		close(c->fd);
	*c = (struct counter){-1, NULL};
}

static inline void counter_off_and_on(const struct counter *c)
{
	ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0);
}

static inline uint64_t counter_rdpmc(uint32_t number)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number) : "memory");
	return low | (uint64_t)high << 32;
}

static inline int64_t counter_extend(uint64_t raw, unsigned width)
{
	return (int64_t)(raw << (64 - width)) >> (64 - width);
}

/* The first line of a file of the PMU's folder in sysfs; "" if the file does not exist. */
static inline const char *counter_setting(const char *file, char *line, size_t size)
{
	char path[128];
	FILE *from;

	line[0] = '\0';
	snprintf(path, sizeof path, "/sys/bus/event_source/devices/cpu/%s", file);
	from = fopen(path, "re");
	if (from && !fgets(line, (int)size, from))
		line[0] = '\0';
	if (from)
		fclose(from);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* The version of the running kernel: 702 is 7.2. */
static inline int counter_kernel(void)
{
	struct utsname name;
	int major = 0, minor = 0;

	uname(&name);
	return sscanf(name.release, "%d.%d", &major, &minor) == 2 ? major * 100 + minor : 0;
}

/*
 * Sleeps at least this long, until the thread was switched out: a sleep that ends before the
 * thread waits does not switch (do_nanosleep, kernel/time/hrtimer.c).
 */
static inline void counter_sleep(long microseconds)
{
	struct rusage before, now;

	getrusage(RUSAGE_THREAD, &before);
	do {
		nanosleep(&(struct timespec){0, microseconds * 1000}, NULL);
		getrusage(RUSAGE_THREAD, &now);
	} while (now.ru_nvcsw == before.ru_nvcsw);
}

static inline int counter_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	return sched_setaffinity(0, sizeof set, &set);
}

#endif
