/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into tach or another program: a simulated kernel with two memory controllers, whose
 * sysfs is the folder SYSFS. A counter counts 1000 while it runs; REFUSE is the errno for
 * opening one.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char devices[] = "/sys/bus/event_source/devices";

static const char *there(const char *path, char *out, size_t size)
{
	const char *sysfs = getenv("SYSFS");

	if (!sysfs || strncmp(path, devices, strlen(devices)) != 0)
		return path;
	snprintf(out, size, "%s%s", sysfs, path + strlen(devices));
	return out;
}

int open(const char *path, int flags, ...)
{
	char other[512];
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	return openat(AT_FDCWD, there(path, other, sizeof other), flags, mode);
}

DIR *opendir(const char *path)
{
	DIR *(*real)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
	char other[512];

	return real(there(path, other, sizeof other));
}

static int is_box[4096]; /* by descriptor: the event's number */
static int last;
static int running;

long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open && ((struct perf_event_attr *)a[0])->type >= 20 &&
	    a[1] == -1) {
		const struct perf_event_attr *attr = (struct perf_event_attr *)a[0];
		int fd;

		/* As in every driver of boxes: PERF_PMU_CAP_NO_EXCLUDE. */
		if (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv ||
		    attr->exclude_idle || attr->exclude_host || attr->exclude_guest) {
			errno = EINVAL;
			return -1;
		}
		if (getenv("REFUSE")) {
			errno = atoi(getenv("REFUSE"));
			return -1;
		}
		fd = openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
		if (fd >= 0 && fd < 4096)
			is_box[fd] = ++last;
		return fd;
	}
	if (number == SYS_perf_event_open && getenv("REFUSE_PROGRAM") &&
	    ((struct perf_event_attr *)a[0])->inherit) {
		errno = atoi(getenv("REFUSE_PROGRAM"));
		return -1;
	}
	if (a[0] >= 0 && a[0] < 4096 && is_box[a[0]]) {
		if (number == SYS_ioctl && (unsigned long)a[1] == PERF_EVENT_IOC_ID) {
			*(uint64_t *)a[2] = (uint64_t)is_box[a[0]];
			return 0;
		}
		if (number == SYS_fcntl) {
			long fd = real(number, a[0], a[1], a[2]);

			if (fd >= 0 && fd < 4096)
				is_box[fd] = is_box[a[0]];
			return fd;
		}
		if (number == SYS_ioctl) {
			running = (unsigned long)a[1] == PERF_EVENT_IOC_ENABLE ? 1 : running;
			return 0;
		}
		if (number == SYS_read) {
			const uint64_t one[4] = {1, 1, 1, running ? 1000 : 0};

			memcpy((void *)a[1], one, sizeof one);
			return sizeof one;
		}
		if (number == SYS_close)
			is_box[a[0]] = 0;
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
