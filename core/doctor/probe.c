/* SPDX-License-Identifier: MIT */
/* Gathers evidence by attempts: opens events for this thread, counts a loop of known length,
 * and closes the events. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <tach/reader.h>
#include "core/pmu/pmu.h"
#include "core/doctor/evidence.h"
#include "core/set/set.h"
#include "core/os/perf_open.h"
#include "core/os/sys.h"

/* Two loops, so that the surrounding code cancels out in the difference of their counts. */
enum { LOOP_LONG = 1000001, LOOP_SHORT = 1, TRIES = 3, FREE_MAX = 32 };

/* read(2) of a single event with both times. */
struct reading {
	uint64_t value, enabled, running;
};

static void close_event(int fd)
{
	tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* Opens an event and closes it immediately. Returns 0 or the negated errno. */
static int try_open(uint32_t type, uint64_t config, int exclude_kernel)
{
	struct perf_event_attr attr = {.type = type,
				       .size = sizeof attr,
				       .config = config,
				       .exclude_kernel = exclude_kernel,
				       .exclude_hv = 1};

	return tach__perf_try(&attr);
}

/*
 * arm64 grants user access by config1: bit 0 a 64-bit counter, bit 1 access. On other
 * architectures generic events ignore config1 or refuse it, so 0 ends the row.
 */
static int open_hardware(struct perf_event_attr *attr, enum tach__user_read way)
{
	static const uint64_t access[] = {3, 2, 0};
	int fd = -EINVAL;

	for (int i = way == TACH__USER_MRS ? 0 : 2; i < 3 && fd < 0; i++) {
		attr->config1 = access[i];
		fd = (int)tach__perf_open(attr, -1);
		if (TACH_ARCH_UNDIVIDED && fd == -EINVAL) {
			attr->exclude_kernel = attr->exclude_hv = 0;
			fd = (int)tach__perf_open(attr, -1);
			attr->exclude_kernel = attr->exclude_hv = fd < 0;
		}
	}
	return fd;
}

static int read_event(int fd, struct reading *r)
{
	/* read(2) returns 0 bytes if a pinned event without a counter is in the error state. */
	return tach__sys(SYS_read, fd, (long)r, sizeof *r, 0, 0, 0) == sizeof *r;
}

/*
 * Returns the lowest count of some tries, because interrupts only add to it. Returns 0 if the
 * event is in the error state.
 */
static int count_loop(int fd, uint64_t iterations, uint64_t *least, struct reading *last)
{
	struct reading before;

	*least = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		if (!read_event(fd, &before))
			return 0;
		tach__arch_loop(iterations);
		if (!read_event(fd, last))
			return 0;
		if (last->value - before.value < *least)
			*least = last->value - before.value;
	}
	return 1;
}

static void count(struct tach__evidence *e, int fd)
{
	struct reading last = {0, 0, 0};
	uint64_t many, few;

	e->loop = (LOOP_LONG - LOOP_SHORT) * (uint64_t)TACH_ARCH_LOOP_INSTRUCTIONS;
	if (!count_loop(fd, LOOP_LONG, &many, &last) ||
	    !count_loop(fd, LOOP_SHORT, &few, &last)) {
		e->pinned_error = 1;
		return;
	}
	e->enabled = last.enabled;
	e->running = last.running;
	e->counted = many - few;
}

static void look_at_page(struct tach__evidence *e, int fd)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	long at = tach__sys(SYS_mmap, 0, (long)size, PROT_READ, MAP_SHARED, fd, 0);
	const struct perf_event_mmap_page *page = (const struct perf_event_mmap_page *)at;

	if (at < 0 && at > -4096) {
		e->map = (int)at;
		return;
	}
	e->cap_user_read = page->cap_user_rdpmc;
	tach__sys(SYS_munmap, at, (long)size, 0, 0, 0, 0);
}

/* Counts by the library's own inline reads: the result that a user of the library would get. */
static void count_by_user_reads(struct tach__evidence *e, const struct perf_event_attr *attr)
{
	const struct tach_set_member member = {"loop", attr};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_reader *reader = NULL;
	struct tach_set *set = NULL;
	uint64_t least[2] = {UINT64_MAX, UINT64_MAX}, delta[TACH_COUNTERS_MAX];
	uint32_t flags = 0;

	opt.attrs = &member;
	opt.nattrs = 1;
	if (tach_set_create(&opt, &set, NULL) == 0 &&
	    tach_reader_open(set, &reader, NULL) == 0) {
		for (int i = 0; i < 2 * TRIES; i++) {
			struct tach_mark mark;

			tach_reader_begin(reader, &mark);
			tach__arch_loop(i % 2 ? LOOP_LONG : LOOP_SHORT);
			flags |= tach_reader_end(reader, &mark, delta);
			if (delta[0] < least[i % 2])
				least[i % 2] = delta[0];
		}
		e->user_tried = !(flags & (TACH_FLAG_SYSCALL | TACH_FLAG_LOST));
		e->user_counted = e->user_tried ? least[1] - least[0] : 0;
	}
	tach_reader_close(reader);
	tach_set_free(set);
}

/* Returns how many pinned events of this kind get a counter at the same time. */
static int count_free(struct perf_event_attr *attr)
{
	int fds[FREE_MAX], n = 0, free = 0;
	struct reading r;

	while (n < FREE_MAX && (fds[n] = (int)tach__perf_open(attr, -1)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		free += read_event(fds[i], &r) && r.running > 0;
	while (n > 0)
		close_event(fds[--n]);
	return free;
}

void tach__evidence_attempts(struct tach__evidence *e)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_HW_INSTRUCTIONS,
				       .pinned = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
						      PERF_FORMAT_TOTAL_TIME_RUNNING};
	int fd;

	e->user_read = tach__user_read();
	e->open_software = try_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1);
	e->open_kernel = try_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0);
	fd = open_hardware(&attr, e->user_read);
	if (fd < 0) {
		e->used_cycles = 1;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		fd = open_hardware(&attr, e->user_read);
	}
	e->open_hardware = fd < 0 ? fd : 0;
	e->undivided = fd >= 0 && !attr.exclude_kernel;
	if (fd < 0)
		return;
	e->mediated = tach__perf_refuses_guests(&attr);
	look_at_page(e, fd);
	count(e, fd);
	close_event(fd);
	count_by_user_reads(e, &attr);
	e->counters_free = count_free(&attr);
}
