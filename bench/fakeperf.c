/* SPDX-License-Identifier: MIT */
/*
 * A perf_event_open that always succeeds. It is preloaded on machines without a PMU, so that a
 * library's own code can be counted: every event gets a page that shows a live counter, control
 * calls succeed, and read(2) returns growing numbers in the requested format. The kernel's own
 * cost is missing, so judge only instructions of user space, never time. With FAKEPERF_SOFTWARE
 * set, groups of software events are the kernel's own.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FDS = 4096 };

static struct {
	uint64_t read_format;
	int leader; /* 0 = not ours */
	int members;
} events[FDS];
static uint64_t ticks;

static void show_counter(int fd, int number)
{
	struct perf_event_mmap_page page;

	memset(&page, 0, sizeof page);
	page.lock = 2;
	page.index = (uint32_t)number;
	page.cap_user_rdpmc = 1;
	page.cap_bit0_is_deprecated = 1;
	page.cap_user_time = 1;
	page.pmc_width = 48;
	page.time_enabled = page.time_running = 1000;
	page.time_mult = 1;
	if (pwrite(fd, &page, sizeof page, 0) < 0)
		_exit(125);
}

static long open_event(const struct perf_event_attr *attr, int group)
{
	int fd = memfd_create("event", MFD_CLOEXEC), leader = group >= 0 ? group : fd;

	if (fd < 0 || fd >= FDS || ftruncate(fd, 1 << 20) != 0)
		return -1;
	events[fd].read_format = attr->read_format;
	events[fd].leader = leader;
	events[leader].members = fd == leader ? 1 : events[leader].members + 1;
	show_counter(fd, events[leader].members);
	return fd;
}

static long read_event(int fd, uint64_t *out, size_t size)
{
	uint64_t format = events[fd].read_format, word[2 * 64 + 3];
	int times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	int group = !!(format & PERF_FORMAT_GROUP), id = !!(format & PERF_FORMAT_ID);
	int members = group ? events[events[fd].leader].members : 1, n = 0;

	ticks += 1000;
	if (group)
		word[n++] = (uint64_t)members;
	/* A single event's value comes before the times, a group's values after them. */
	if (!group)
		word[n++] = ticks;
	for (int i = 0; i < times; i++)
		word[n++] = ticks;
	for (int i = 0; group && i < members && n < 128; i++) {
		word[n++] = ticks;
		if (id)
			word[n++] = (uint64_t)i;
	}
	size = size < n * sizeof *word ? size : n * sizeof *word;
	memcpy(out, word, size);
	return (long)size;
}

static int ours(long fd)
{
	return fd > 0 && fd < FDS && events[fd].leader;
}

/* Reads the variable once. Budgets count this file too, and system calls should not include
 * this cost. */
static int software_is_kernels;

__attribute__((constructor)) static void read_environment(void)
{
	software_is_kernels = getenv("FAKEPERF_SOFTWARE") != NULL;
}

typedef long (*raw_syscall)(long, ...);
typedef int (*raw_ioctl)(int, unsigned long, void *);

long syscall(long number, ...)
{
	static raw_syscall next;
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open &&
	    !(software_is_kernels && !ours(a[3]) &&
	      ((struct perf_event_attr *)a[0])->type == PERF_TYPE_SOFTWARE))
		return open_event((struct perf_event_attr *)a[0], (int)a[3]);
	if (number == SYS_ioctl && ours(a[0]))
		return 0;
	if (number == SYS_read && ours(a[0]))
		return read_event((int)a[0], (uint64_t *)a[1], (size_t)a[2]);
	if (number == SYS_close && ours(a[0]))
		events[a[0]].leader = 0;
	if (!next)
		next = (raw_syscall)dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_fcntl && ours(a[0]) && a[1] == F_DUPFD_CLOEXEC) {
		long up = next(number, a[0], a[1], a[2]);

		if (up > 0 && up < FDS) {
			events[up] = events[a[0]];
			if (events[up].leader == (int)a[0])
				events[up].leader = (int)up;
		}
		return up;
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int ioctl(int fd, unsigned long request, ...)
{
	static raw_ioctl next;
	va_list args;
	void *p;

	va_start(args, request);
	p = va_arg(args, void *);
	va_end(args);
	if (ours(fd)) {
		if (request == PERF_EVENT_IOC_ID)
			*(uint64_t *)p = (uint64_t)fd;
		return 0;
	}
	if (!next)
		next = (raw_ioctl)dlsym(RTLD_NEXT, "ioctl");
	return next(fd, request, p);
}

ssize_t read(int fd, void *to, size_t size)
{
	static ssize_t (*next)(int, void *, size_t);

	if (ours(fd))
		return read_event(fd, to, size);
	if (!next)
		next = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	return next(fd, to, size);
}

int close(int fd)
{
	static int (*next)(int);

	if (ours(fd))
		events[fd].leader = 0;
	if (!next)
		next = (int (*)(int))dlsym(RTLD_NEXT, "close");
	return next(fd);
}
