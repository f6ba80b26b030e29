/* SPDX-License-Identifier: MIT */
/* Descriptors of events: where they lie, and whether they are still ours. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <linux/perf_event.h>
#include "core/os/descriptor.h"
#include "core/os/sys.h"

/*
 * HIGH: from there on, or half of what the program may have; more would make every process
 * drag a long table along (dup_fd in fs/file.c). LEFT: so many of the last numbers stay the
 * program's, or an eighth of all.
 */
enum { HIGH = 2048, LEFT = 64 };

/* Numbers from *from to below *to are for us. */
static void range(long *from, long *to)
{
	struct rlimit64 limit = {0, 0};
	uint64_t all = INT32_MAX, left;

	if (tach__sys(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0) == 0 &&
	    limit.rlim_cur < all)
		all = limit.rlim_cur;
	left = all / 8 < LEFT ? all / 8 : LEFT;
	*from = all / 2 < HIGH ? (long)(all / 2) : HIGH;
	*to = (long)(all - left);
}

static long move_up(long fd)
{
	long from, to, up;

	range(&from, &to);
	if (fd >= to) {
		tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
		return -EMFILE;
	}
	if (fd >= from)
		return fd;
	up = tach__sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from, 0, 0, 0);
	/* Refused for another reason than that there is none: it may stay where it is. */
	if (up < 0 && up != -EMFILE)
		return fd;
	tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
	if (up >= to) {
		tach__sys(SYS_close, up, 0, 0, 0, 0, 0);
		return -EMFILE;
	}
	return up;
}

long tach__descriptor_keep(long fd, uint64_t *id)
{
	long kept = move_up(fd), refused;

	*id = 0;
	if (kept < 0)
		return kept;
	refused = tach__sys(SYS_ioctl, kept, PERF_EVENT_IOC_ID, (long)id, 0, 0, 0);
	if (refused == 0)
		return kept;
	tach__sys(SYS_close, kept, 0, 0, 0, 0, 0);
	return refused;
}

int tach__descriptor_is(int fd, uint64_t id)
{
	uint64_t now = 0;

	return fd >= 0 &&
	       tach__sys(SYS_ioctl, fd, PERF_EVENT_IOC_ID, (long)&now, 0, 0, 0) == 0 &&
	       now == id;
}

void tach__descriptor_close(int fd, uint64_t id)
{
	if (tach__descriptor_is(fd, id))
		tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
}
