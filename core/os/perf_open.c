/* SPDX-License-Identifier: MIT */
#include <sys/syscall.h>
#include "core/os/perf_open.h"
#include "core/os/sys.h"

long tach__perf_open(const struct perf_event_attr *attr, int leader)
{
	return tach__sys(SYS_perf_event_open, (long)attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC,
			 0);
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
