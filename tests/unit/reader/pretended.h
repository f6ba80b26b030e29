/* SPDX-License-Identifier: MIT */
/*
 * Simulates hardware events on a machine without a PMU: page faults replace them, and their
 * descriptors identify them.
 */
#ifndef TACH_TESTS_UNIT_READER_PRETENDED_H
#define TACH_TESTS_UNIT_READER_PRETENDED_H

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <tach/arch.h>
#include "core/os/sys.h"

enum { DESCRIPTORS = 4096 };
/* The width of a counter that can be read inline. */
enum { PRETENDED_WIDTH = TACH_WIDTH(48) ? 48 : 64 };

static int pretended[DESCRIPTORS];

static int pretends(long fd)
{
	return fd >= 0 && fd < DESCRIPTORS && pretended[fd];
}

/* A group holds FIT hardware events; one more gives EINVAL. 0: any number. */
static long pretended_open(const struct perf_event_attr *attr, long leader, int fit)
{
	struct perf_event_attr soft = *attr;
	int hard = attr->type != PERF_TYPE_SOFTWARE, siblings = 0;
	long fd;

	for (int i = 0; i < DESCRIPTORS; i++)
		siblings += pretended[i];
	if (hard && leader >= 0 && fit && siblings >= fit)
		return -EINVAL;
	if (hard) {
		soft.type = PERF_TYPE_SOFTWARE;
		soft.config = PERF_COUNT_SW_PAGE_FAULTS;
		soft.config1 = soft.pinned = soft.exclusive = 0;
	}
	fd = tach__sys_real(SYS_perf_event_open, (long)&soft, 0, -1, leader,
			    PERF_FLAG_FD_CLOEXEC, 0);
	if (fd >= 0 && hard)
		pretended[fd] = 1;
	return fd;
}

/* fcntl(2), which gives a descriptor another number. */
static long pretended_move(long fd, long command, long from)
{
	long up = tach__sys_real(SYS_fcntl, fd, command, from, 0, 0, 0);

	if (up >= 0 && pretends(fd)) {
		pretended[up] = 1;
		pretended[fd] = 0;
	}
	return up;
}

#endif
