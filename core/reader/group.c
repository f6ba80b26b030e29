/* SPDX-License-Identifier: MIT */
/* Reads a group of events by read(2). */
#include <errno.h>
#include <sys/syscall.h>
#include "core/os/descriptor.h"
#include "core/os/sys.h"
#include "core/reader/reader.h"

int tach__group_read(const struct tach__group *group, struct tach__group_read *to)
{
	long got, want = (long)(offsetof(struct tach__group_read, value) +
				(size_t)group->count * sizeof to->value[0]);

	if (!tach__descriptor_is_event(group->leader, group->id))
		return -EBADF; /* closed by the program */
	do
		got = tach__sys(SYS_read, group->leader, (long)to, (long)sizeof *to, 0, 0, 0);
	while (got == -EINTR);
	if (got == 0)
		return 0; /* error state: a pinned group that found no counters */
	if (got < 0)
		return (int)got;
	return got >= want ? 1 : -EIO;
}
