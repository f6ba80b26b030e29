/* SPDX-License-Identifier: MIT */
/*
 * The target number for an event's descriptor, and the descriptors that are closed, for every
 * result of a simulated kernel that records its calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <linux/perf_event.h>
#include "core/os/descriptor.h"
#include "core/os/sys.h"
#include "tests/check.h"

enum { SAME = 0 }; /* the kernel returns the requested number */

static struct {
	uint64_t limit;
	long limit_refused, moved, id_refused;
	uint64_t id;
	const char *name; /* the target of a number; NULL: no /proc */
} kernel;
static char did[200]; /* one word for each call that changes something */

static void note(const char *what, long a, long b)
{
	size_t used = strlen(did);

	snprintf(did + used, sizeof did - used, b >= 0 ? "%s %ld %ld; " : "%s %ld; ", what, a,
		 b);
}

static long answer(long number, long a, long b, long c, long d, long e, long f)
{
	(void)e;
	(void)f;
	switch (number) {
	case SYS_prlimit64:
		if (kernel.limit_refused)
			return kernel.limit_refused;
		CHECK(a == 0 && b == RLIMIT_NOFILE && c == 0);
		*(struct rlimit64 *)d = (struct rlimit64){kernel.limit, UINT64_MAX};
		return 0;
	case SYS_fcntl:
		CHECK(b == F_DUPFD_CLOEXEC);
		note("move", a, c);
		return kernel.moved == SAME ? c : kernel.moved;
	case SYS_ioctl:
		CHECK(b == (long)PERF_EVENT_IOC_ID);
		if (kernel.id_refused)
			return kernel.id_refused;
		*(uint64_t *)c = kernel.id;
		return 0;
	case SYS_readlinkat:
		CHECK(a == AT_FDCWD);
		strcat(strcat(strcat(did, "name "), (const char *)b), "; ");
		if (!kernel.name)
			return -ENOENT;
		a = (long)strlen(kernel.name) < d ? (long)strlen(kernel.name) : d;
		memcpy((char *)c, kernel.name, (size_t)a);
		return a;
	case SYS_close:
		note("close", a, -1);
		return 0;
	default:
		CHECK(0, "system call %ld", number);
		return -ENOSYS;
	}
}

static void descriptors_are_moved_up(void)
{
	static const struct {
		uint64_t limit;
		long limit_refused, fd, moved, id_refused, result;
		const char *did;
	} of[] = {
		/* Starts at half of the program's limit, at most at 2048. */
		{1024, 0, 5, SAME, 0, 512, "move 5 512; close 5; "},
		{1024, 0, 511, SAME, 0, 512, "move 511 512; close 511; "},
		{1024, 0, 512, SAME, 0, 512, ""},
		{4094, 0, 5, SAME, 0, 2047, "move 5 2047; close 5; "},
		{4096, 0, 5, SAME, 0, 2048, "move 5 2048; close 5; "},
		{4098, 0, 5, SAME, 0, 2048, "move 5 2048; close 5; "},
		{RLIM64_INFINITY, 0, 5, SAME, 0, 2048, "move 5 2048; close 5; "},
		{1024, -EPERM, 5, SAME, 0, 2048, "move 5 2048; close 5; "},
		/* The program keeps 64 numbers, or an eighth of its limit. */
		{1024, 0, 959, SAME, 0, 959, ""},
		{1024, 0, 960, SAME, 0, -EMFILE, "close 960; "},
		{1024, 0, 5, 959, 0, 959, "move 5 512; close 5; "},
		{1024, 0, 5, 960, 0, -EMFILE, "move 5 512; close 5; close 960; "},
		{504, 0, 440, SAME, 0, 440, ""},
		{504, 0, 441, SAME, 0, -EMFILE, "close 441; "},
		{575, 0, 510, SAME, 0, 510, ""},
		{575, 0, 511, SAME, 0, -EMFILE, "close 511; "},
		{1, 0, 0, SAME, 0, 0, ""},
		{16, 0, 13, SAME, 0, 13, ""},
		{16, 0, 14, SAME, 0, -EMFILE, "close 14; "},
		{RLIM64_INFINITY, 0, INT32_MAX - 65, SAME, 0, INT32_MAX - 65, ""},
		{RLIM64_INFINITY, 0, INT32_MAX - 64, SAME, 0, -EMFILE, "close 2147483583; "},
		/* No number is free, or the kernel refuses the move. */
		{1024, 0, 5, -EMFILE, 0, -EMFILE, "move 5 512; close 5; "},
		{1024, 0, 5, -EPERM, 0, 5, "move 5 512; "},
		{1024, 0, 5, -EINVAL, 0, 5, "move 5 512; "},
		/* The descriptor's type is unknown. */
		{1024, 0, 5, SAME, -ENOTTY, -ENOTTY, "move 5 512; close 5; close 512; "},
		{1024, 0, 600, SAME, -EPERM, -EPERM, "close 600; "},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		uint64_t id = 1;
		long fd;

		kernel.limit = of[i].limit;
		kernel.limit_refused = of[i].limit_refused;
		kernel.moved = of[i].moved;
		kernel.id_refused = of[i].id_refused;
		kernel.id = 77;
		did[0] = '\0';
		fd = tach__descriptor_keep(of[i].fd, &id);
		CHECK(fd == of[i].result && strcmp(did, of[i].did) == 0, "%zu: %ld, %s", i, fd,
		      did);
		CHECK(id == (fd >= 0 ? 77 : 0), "%zu: %llu", i, (unsigned long long)id);
	}
}

#define EVENT	     "anon_inode:[perf_event]"
#define NAME(number) "name /proc/thread-self/fd/" number "; "

static void closed_if_it_is_still_the_event(void)
{
	static const struct {
		int fd;
		uint64_t id;
		long refused;
		const char *name;
		int is;
		const char *did;
	} of[] = {
		{-1, 77, 0, EVENT, 0, ""},
		{0, 77, 0, EVENT, 1, "close 0; "},
		{600, 77, 0, EVENT, 1, "close 600; "},
		{600, 76, 0, EVENT, 0, ""},
		{600, 0, -EBADF, EVENT, 0, ""},
		{600, 0, -ENOTTY, "/dev/null", 0, NAME("600")},
		{600, 0, -EPERM, "socket:[12345678901234]", 0, NAME("600")},
		{600, 0, -EPERM, "anon_inode:[perf_event", 0, NAME("600")},
		{600, 0, -EPERM, "anon_inode:[perf_event}", 0, NAME("600")},
		{600, 0, -EPERM, EVENT "s", 0, NAME("600")},
		{600, 0, -EPERM, NULL, 0, NAME("600")},
		{0, 0, -EPERM, EVENT, 0, NAME("0") "close 0; "},
		{9, 0, -EPERM, EVENT, 0, NAME("9") "close 9; "},
		{10, 0, -EPERM, EVENT, 0, NAME("10") "close 10; "},
		{INT_MAX, 0, -EPERM, EVENT, 0, NAME("2147483647") "close 2147483647; "},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		int is;

		kernel.id = 77;
		kernel.id_refused = of[i].refused;
		kernel.name = of[i].name;
		did[0] = '\0';
		is = tach__descriptor_is_event(of[i].fd, of[i].id);
		CHECK(is == of[i].is && !*did, "%zu: %d, %s", i, is, did);
		tach__descriptor_close(of[i].fd, of[i].id);
		CHECK(strcmp(did, of[i].did) == 0, "%zu: %s", i, did);
	}
}

int main(void)
{
	tach__sys = answer;
	CASE(descriptors_are_moved_up);
	CASE(closed_if_it_is_still_the_event);
	return check_done();
}
