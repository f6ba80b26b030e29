/* SPDX-License-Identifier: MIT */
/*
 * A scripted kernel behind the library's only function for system calls: opened events are
 * /dev/null, their pages are zeros, and read(2) returns `fake_count`. Every read also advances
 * `fake_count`, before and after, because real reads cost instructions.
 */
#ifndef TESTS_UNIT_FAKEKERNEL_H
#define TESTS_UNIT_FAKEKERNEL_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"

static __thread uint64_t fake_count;
static uint64_t fake_before = 10, fake_after = 7; /* an empty region shows the sum of both */
static int fake_members;			  /* members of the current set */
static int fake_open_error;			  /* errno for perf_event_open, or 0 */
static __thread int fake_read_empty;   /* number of next reads that find the error state */
static __thread uint64_t fake_missing; /* ns during which the group had no counters */
static __thread uint64_t fake_time;    /* ns that the group has counted */
static int fake_opens, fake_closes;
static int fake_room; /* events that may be open at once; 0: any number */
/* Additional counts, and the number of a member whose count reads do not change. */
static __thread uint64_t fake_extra[TACH_COUNTERS_MAX];
static int fake_still = -1;
static uint64_t fake_refused; /* a config that the kernel does not know */
static int fake_no_pmu;	      /* set: only software events exist */
static int fake_reads;
/* Extra cost of a read if other code ran before it, added after its count. */
static __thread uint64_t fake_cold;
static uint64_t (*fake_more)(void); /* additional counts up to now */

static long fake_read(struct tach__group_read *to)
{
	uint64_t count;

	if (fake_read_empty)
		return 0;
	fake_count += fake_before;
	count = fake_count + (fake_more ? fake_more() : 0);
	to->count = (uint64_t)fake_members;
	fake_time += 1000;
	to->enabled = fake_time + fake_missing;
	to->running = fake_time;
	for (int i = 0; i < fake_members; i++)
		to->value[i] =
			(i == fake_still ? 0 : count * (uint64_t)(i + 1)) + fake_extra[i];
	fake_count += fake_after + fake_cold;
	fake_cold = 0;
	return (long)offsetof(struct tach__group_read, value[fake_members]);
}

static int fake_fd[1 << 16]; /* 1: the descriptor of an event; 2: the same, with a duplicate */

static long fake_sys(long number, long a, long b, long c, long d, long e, long f)
{
	int ours = (a >= 0 && a < (1 << 16)) ? fake_fd[a] : 0;
	long fd;

	switch (number) {
	case SYS_perf_event_open:
		if (fake_open_error)
			return -fake_open_error;
		if (fake_refused && ((const struct perf_event_attr *)a)->config == fake_refused)
			return -ENOENT;
		if (fake_no_pmu &&
		    ((const struct perf_event_attr *)a)->type != PERF_TYPE_SOFTWARE)
			return -ENOENT;
		if (fake_room && fake_opens - fake_closes >= fake_room)
			return -EMFILE;
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		fake_fd[fd] = 1;
		__atomic_fetch_add(&fake_opens, 1, __ATOMIC_RELAXED);
		return fd;
	case SYS_fcntl:
		fd = tach__sys_real(number, a, b, c, d, e, f);
		if (ours && b == F_DUPFD_CLOEXEC && fd >= 0) {
			fake_fd[fd] = 1;
			fake_fd[a] = 2;
		}
		return fd;
	case SYS_read:
		if (ours)
			__atomic_fetch_add(&fake_reads, 1, __ATOMIC_RELAXED);
		if (ours)
			return fake_read((struct tach__group_read *)b);
		break;
	case SYS_ioctl:
		if (ours)
			return 0;
		break;
	case SYS_close:
		if (ours) {
			fake_fd[a] = 0;
			__atomic_fetch_add(&fake_closes, ours == 1, __ATOMIC_RELAXED);
		}
		break;
	case SYS_mmap:
		if (e >= 0 && fake_fd[e])
			return tach__sys_real(number, a, b, PROT_READ,
					      MAP_PRIVATE | MAP_ANONYMOUS | (d & MAP_FIXED), -1,
					      0);
		break;
	}
	return tach__sys_real(number, a, b, c, d, e, f);
}

/*
 * A set of that many hardware events; the library owns it until regions are configured again.
 */
__attribute__((unused)) static struct tach_set *fake_set(int members)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr[TACH_COUNTERS_MAX];
	struct tach_set_member attrs[TACH_COUNTERS_MAX];
	struct tach_set *set = NULL;

	tach__sys = fake_sys;
	fake_members = members;
	memset(attr, 0, sizeof attr);
	for (int i = 0; i < members; i++) {
		attr[i].type = PERF_TYPE_RAW;
		attr[i].size = sizeof attr[i];
		attrs[i] = (struct tach_set_member){"fake", &attr[i]};
	}
	opt.attrs = attrs;
	opt.nattrs = members;
	return tach_set_create(&opt, &set, NULL) == 0 ? set : NULL;
}

#endif
