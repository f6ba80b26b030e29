/* SPDX-License-Identifier: MIT */
/* Opens a set for the calling thread: descriptors, and the reader that holds them. */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/descriptor.h"
#include "core/set/set.h"
#include "core/base/error.h"
#include "core/reader/hybrid.h"
#include "core/reader/open.h"
#include "core/os/memory.h"
#include "core/os/perf_open.h"
#include "core/os/sys.h"

/* The kernel returns errors as addresses in the last page. */
static int is_error(long result)
{
	return result < 0 && result > -4096;
}

/* Allocates a reader whose members all take the slow path, because their pages are zeros. */
static struct tach__reader *allocate(const struct tach_set *set)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	long at = tach__sys(SYS_mmap, 0, (long)(TACH__PAGES * page_size), PROT_READ,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tach__reader *r = (struct tach__reader *)at;

	if (is_error(at))
		return NULL;
	TACH__PAGES_COME();
	if (tach__sys(SYS_mprotect, at, (long)page_size, PROT_READ | PROT_WRITE, 0, 0, 0)) {
		tach__sys(SYS_munmap, at, (long)(TACH__PAGES * page_size), 0, 0, 0, 0);
		return NULL;
	}
	r->set = set;
	r->owner = tach__thread_token();
	r->page_size = page_size;
	r->hot.count = (uint32_t)set->count;
	r->hot.mask = ~(uint64_t)0;
	r->hard.leader = r->soft.leader = -1;
	r->extend = !TACH_MODULAR;
	for (int i = 0; i < TACH_COUNTERS_MAX; i++) {
		r->fd[i] = -1;
		r->hot.way[i].page = tach__reader_page(r, i);
	}
	return r;
}

/*
 * arm64: config1 bit 1 requests user access, bit 0 a 64-bit counter (drivers/perf/arm_pmuv3.c,
 * format attributes rdpmc and long). On other architectures these bits belong to the event.
 * Before PMUv3p5 only cycles have 64 bits, so 32 bits are used after EOPNOTSUPP. If `wide` is
 * 0, 64 bits are not tried.
 */
#if TACH_ARCH_ASKS
static const uint64_t access_bits[] = {3, 2};
#else
static const uint64_t access_bits[] = {0};
#endif

long tach__open_event(const struct tach_set *set, const struct perf_event_attr *given,
		      enum tach_member_kind kind, int leader, int wide)
{
	struct perf_event_attr attr = *given;
	size_t n = sizeof access_bits / sizeof *access_bits;
	long fd = -EINVAL;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	/*
	 * arm64 ignores a leader that is off when it checks whether a group fits
	 * (drivers/perf/arm_pmu.c, validate_event), so on arm64 the leader starts enabled.
	 * Software events always fit. They start disabled, because a clock that joins a
	 * counting group reads 0 until the thread is next scheduled in (seen in 6.12 and 7.2).
	 */
	attr.disabled = leader < 0 && (!TACH_ARCH_ASKS || kind == TACH_MEMBER_SOFTWARE);
	attr.pinned = leader < 0 && !(set->flags & TACH_SET_MULTIPLEX) &&
		      kind == TACH_MEMBER_HARDWARE;
	attr.exclusive = attr.pinned && set->exclusive;
	for (size_t i = wide ? 0 : n - 1; i < n; i++) {
		if (kind == TACH_MEMBER_HARDWARE && !(set->flags & TACH_SET_MULTIPLEX))
			attr.config1 = given->config1 | access_bits[i];
		fd = tach__perf_open(&attr, leader);
		if (fd != -EOPNOTSUPP && fd != -EINVAL)
			break;
	}
	return fd;
}

static int can_open_alone(const struct tach_set *set, const struct perf_event_attr *attr,
			  enum tach_member_kind kind)
{
	long fd = tach__open_event(set, attr, kind, -1, 1);

	if (fd < 0)
		return 0;
	tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
	return 1;
}

int tach__refused(int code, const struct tach_set *set, const struct perf_event_attr *attr,
		  int member, int fit, struct tach_error *err)
{
	int alone = code == -EINVAL && fit > 0 &&
		    can_open_alone(set, attr, set->member[member].kind);

	return tach__diagnose_open(code, set, member, fit, alone, err);
}

static uint32_t members_of(const struct tach_set *set, enum tach_member_kind kind)
{
	uint32_t members = 0;

	for (int i = 0; i < set->count; i++)
		members |= (uint32_t)(set->member[i].kind == kind) << i;
	return members;
}

static int open_group(struct tach__reader *r, struct tach__group *g, enum tach_member_kind kind,
		      int wide, struct tach_error *err)
{
	uint32_t members = members_of(r->set, kind);
	int first = tach__topdown_leader(r->set, -1, members);

	for (int k = first < 0 ? 0 : -1; k < r->set->count; k++) {
		int i = k < 0 ? first : k;
		const struct perf_event_attr *attr = &r->set->member[i].attr;
		long fd;

		if (!(members >> i & 1) || (k >= 0 && k == first))
			continue;
		fd = tach__open_event(r->set, attr, kind, g->leader, wide);
		if (fd >= 0)
			fd = tach__descriptor_keep(fd, &r->id[i]);
		if (fd < 0)
			return tach__refused((int)fd, r->set, attr, i, g->count, err);
		r->fd[i] = (int)fd;
		if (g->leader < 0) {
			g->leader = (int)fd;
			g->id = r->id[i];
		}
		g->member[g->count++] = (uint8_t)i;
	}
	return 0;
}

static void close_member(struct tach__reader *r, int member)
{
	/* A hybrid keeps the descriptors of its members in struct tach__hybrid. */
	tach__descriptor_close(r->fd[member], r->id[member]);
	r->fd[member] = -1;
}

static void close_group(struct tach__reader *r, struct tach__group *g)
{
	while (g->count)
		close_member(r, g->member[--g->count]);
	g->leader = -1;
}

static int start_counting(struct tach__reader *r, struct tach_error *err)
{
	struct tach__group_read now;
	int state;

	if (r->soft.count)
		tach__sys(SYS_ioctl, r->soft.leader, PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0);
	if (!r->hard.count || r->hybrid)
		return 0;
	tach__sys(SYS_ioctl, r->hard.leader, PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0);
	state = tach__group_read(&r->hard, &now);
	if (state == 0)
		return tach__diagnose_dead(r->set, err);
	if (state < 0)
		return tach__error(err, state, 0, 0, "cannot read the group: %s",
				   tach_strerror(state));
	tach__pages_judge(r);
	if (r->topdown.on)
		tach__topdown_start(r);
	tach__reader_since(r, 1);
	r->grown_lock = TACH_PAGE_LOAD(r->hot.way[r->hard.member[0]].page, lock);
	return 0;
}

/* A mapped event survives its descriptor (the mapping holds the file: mmap(2)), stays in its
 * group, and is read through its leader. */
static void close_siblings(struct tach__reader *r)
{
	for (int i = 1; i < r->hard.count; i++)
		if (r->mapped >> r->hard.member[i] & 1)
			close_member(r, r->hard.member[i]);
}

/* Opens the members that an emulator counts. Each reader does this, because each thread has its
 * own counts. */
static int open_emulated(struct tach__reader *r, struct tach_error *err)
{
	for (int i = 0; i < r->set->count; i++)
		r->emulated.count += r->set->member[i].kind == TACH_MEMBER_EMULATED;
	if (!r->emulated.count)
		return 0;
	r->emulated.counts = tach__emulated_counts();
	if (!r->emulated.counts)
		return tach__error(
			err, TACH_ERR_NOHARDWARE, 0, 0,
			"the set was made in an emulator, and this process runs without it");
	tach__emulated_read(r->emulated.counts, r->emulated.begun);
	return 0;
}

static int open_all(struct tach__reader *r, int wide, struct tach_error *err)
{
	int code = r->set->cores ? tach__hybrid_open(r, wide, err)
				 : open_group(r, &r->hard, TACH_MEMBER_HARDWARE, wide, err);

	if (!code)
		code = open_group(r, &r->soft, TACH_MEMBER_SOFTWARE, wide, err);
	if (!code)
		code = open_emulated(r, err);
	if (code)
		return code;
	if (!r->hybrid)
		tach__pages_map(r);
	code = start_counting(r, err);
	if (code == 0 && !r->hybrid)
		close_siblings(r);
	return code;
}

/*
 * Returns 1 if a correct read may fault. On a hybrid, the kernel may move a thread to a core
 * without the counter, after the thread found the counter and before it reads it: top-down
 * metrics on E cores, the seventh counter of Golden Cove (Intel SDM vol. 2, RDPMC: #GP).
 */
static int may_fault(const struct tach_set *set)
{
	return (TACH_ARCH_FAULTS || (TACH_ARCH_FAST && set->cores)) && set->count;
}

int tach_reader_open(const struct tach_set *set, struct tach_reader **out,
		     struct tach_error *err)
{
	struct tach__reader *r;
	int code;

	if (!out || !set)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no set");
	*out = NULL;
	if (may_fault(set) && (code = tach__fault_ready(err)) != 0)
		return code;
	r = allocate(set);
	if (!r)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	tach__open_enter(r);
	code = open_all(r, 1, err);
	if (code == TACH_ERR_NOCOUNTER && TACH_ARCH_ASKS) {
		/*
		 * A second 64-bit cycles event can be opened but gets no counter. With 32 bits
		 * it may get one.
		 */
		for (int i = 0; i < r->hard.count; i++)
			tach__page_zero(r, r->hard.member[i]);
		close_group(r, &r->hard);
		close_group(r, &r->soft);
		tach__hybrid_close(&r->hybrid);
		code = open_all(r, 0, err);
	}
	tach__open_leave(r, code == 0);
	if (code) {
		tach_reader_close(&r->hot);
		return code;
	}
	*out = &r->hot;
	return 0;
}

void tach_reader_close(struct tach_reader *reader)
{
	struct tach__reader *r = tach__reader(reader);
	size_t size;

	if (!r)
		return;
	/*
	 * An event ends when its mapping and its descriptor are both gone. The reader stays in
	 * the list until its descriptors are closed, and its pages stay mapped: a child that is
	 * forked at this moment finds them.
	 */
	tach__close_enter();
	/* When a page of a counting event is unmapped, the kernel takes the counter's number
	 * from all threads (drivers/perf/riscv_pmu_sbi.c, pmu_sbi_event_unmapped). */
	if (TACH_ARCH_FAULTS && r->hard.count && !r->hybrid && r->owner)
		tach__sys(SYS_ioctl, r->hard.leader, PERF_EVENT_IOC_DISABLE, 0, 0, 0, 0);
	tach__pages_zero(r);
	close_group(r, &r->hard);
	close_group(r, &r->soft);
	tach__hybrid_close(&r->hybrid);
	tach__close_leave(r);
	size = TACH__PAGES * r->page_size;
	TACH__PAGES_GO();
	tach__sys(SYS_munmap, (long)r, (long)size, 0, 0, 0, 0);
}

const struct tach_set *tach_reader_set(const struct tach_reader *reader)
{
	return tach__reader(reader)->set;
}
