/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/syscall.h>
#include "core/os/perf_open.h"
#include "core/os/sys.h"

static long open_unchanged(const struct perf_event_attr *attr, int leader)
{
	return tach__sys(SYS_perf_event_open, (long)attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC,
			 0);
}

long tach__perf_open(const struct perf_event_attr *attr, int leader)
{
	struct perf_event_attr host = *attr;
	long fd = open_unchanged(attr, leader), again;

	if (fd != -EOPNOTSUPP || attr->exclude_guest)
		return fd;
	host.exclude_guest = 1;
	again = open_unchanged(&host, leader);
	return again >= 0 ? again : fd;
}

long tach__perf_open_cpu(const struct perf_event_attr *attr, int cpu, int leader)
{
	return tach__sys(SYS_perf_event_open, (long)attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC,
			 0);
}

int tach__perf_refuses_guests(const struct perf_event_attr *attr)
{
	long fd = open_unchanged(attr, -1);

	if (fd >= 0)
		tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
	return fd == -EOPNOTSUPP && tach__perf_try(attr) == 0;
}

int tach__perf_try(const struct perf_event_attr *attr)
{
	struct perf_event_attr off = *attr;
	long fd;

	off.disabled = 1;
	fd = tach__perf_open(&off, -1);
	if (fd < 0)
		return (int)fd;
	tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
	return 0;
}
