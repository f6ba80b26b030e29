/* SPDX-License-Identifier: MIT */
/* Descriptors of events: moves them to high numbers, and checks that they still belong to the
 * library. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <linux/perf_event.h>
#include "core/os/descriptor.h"
#include "core/os/sys.h"

/*
 * HIGH: descriptors are moved to this number or higher, or above half of the program's limit if
 * that is lower. Higher numbers would give every process a long table (dup_fd in fs/file.c).
 * LEFT: the last LEFT numbers, or the last eighth, stay free for the program.
 */
enum { HIGH = 2048, LEFT = 64 };

/* The library may use numbers from *from to below *to. */
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
	/*
	 * If the move fails, but not for lack of free numbers, the descriptor stays at its
	 * number.
	 */
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

int tach__descriptor_is_event(int fd, uint64_t id)
{
	uint64_t now = 0;

	return fd >= 0 &&
	       tach__sys(SYS_ioctl, fd, PERF_EVENT_IOC_ID, (long)&now, 0, 0, 0) == 0 &&
	       now == id;
}

/*
 * An event is recognised by its name (kernel/events/core.c). Without /proc the answer is
 * unknown, so the function returns 0.
 */
static int is_some_event(int fd)
{
	static const char folder[] = "/proc/thread-self/fd/",
			  event[] = "anon_inode:[perf_event]";
	char path[sizeof folder + 10] = "", name[sizeof event];
	char *at = path + sizeof path - 1;

	do
		*--at = (char)('0' + fd % 10);
	while (fd /= 10);
	at -= sizeof folder - 1;
	memcpy(at, folder, sizeof folder - 1);
	return tach__sys(SYS_readlinkat, AT_FDCWD, (long)at, (long)name, sizeof name, 0, 0) ==
		       sizeof event - 1 &&
	       memcmp(name, event, sizeof event - 1) == 0;
}

void tach__descriptor_close(int fd, uint64_t id)
{
	uint64_t now = 0;
	long refused;

	if (fd < 0)
		return;
	refused = tach__sys(SYS_ioctl, fd, PERF_EVENT_IOC_ID, (long)&now, 0, 0, 0);
	if (refused == 0 ? now == id : refused != -EBADF && is_some_event(fd))
		tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
}
