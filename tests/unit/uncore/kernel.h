/* SPDX-License-Identifier: MIT */
/*
 * A simulated kernel that opens every event, and records each event's leader and which events
 * are still open.
 */
#ifndef TESTS_UNIT_UNCORE_KERNEL_H
#define TESTS_UNIT_UNCORE_KERNEL_H

#include <errno.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <linux/perf_event.h>
#include "core/os/sys.h"
#include "tests/check.h"

enum { FD = 1000, MOST = 100 };

static long leaders[MOST];
static int open_now[MOST], nopened, nopen;
static long refusal;
static int from_0; /* the next event gets descriptor 0, and is moved up from there */

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	int ours = a >= FD && a < FD + nopened;

	if (number == SYS_perf_event_open) {
		const struct perf_event_attr *attr = (const struct perf_event_attr *)a;

		CHECK(!attr->pinned && !attr->exclusive);
		if (refusal)
			return refusal;
		leaders[nopened] = d;
		open_now[nopened] = 1;
		nopen++;
		return from_0 ? nopened++, 0 : FD + nopened++;
	}
	if (from_0 && a == 0 && number == SYS_fcntl)
		return FD + nopened - 1;
	if (from_0 && a == 0 && number == SYS_close)
		return from_0 = 0;
	if (number == SYS_fcntl && ours)
		return -EINVAL;
	if (number == SYS_ioctl && ours && (unsigned long)b == PERF_EVENT_IOC_ID) {
		*(uint64_t *)c = (uint64_t)a;
		return 0;
	}
	if (number == SYS_close && ours) {
		nopen -= open_now[a - FD];
		open_now[a - FD] = 0;
		return 0;
	}
	return tach__sys_real(number, a, b, c, d, e, f);
}

#endif
