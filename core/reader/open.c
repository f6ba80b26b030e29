/* SPDX-License-Identifier: MIT */
/* Opening a set for the calling thread: descriptors, pages, the reader that holds them. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <tach/fault.h>
#include "core/os/descriptor.h"
#include "core/set/set.h"
#include "core/base/error.h"
#include "core/reader/hybrid.h"
#include "core/reader/open.h"
#include "core/os/perf_open.h"
#include "core/os/sys.h"

/* Addresses of the last page are errors, as the kernel returns them. */
static int is_error(long result)
{
	return result < 0 && result > -4096;
}

/* A reader whose members all lead to the slow exit, by pages of zeros. */
static struct tach__reader *allocate(const struct tach_set *set)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	long at = tach__sys(SYS_mmap, 0, (long)(TACH__PAGES * page_size), PROT_READ,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tach__reader *r = (struct tach__reader *)at;

	if (is_error(at))
		return NULL;
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
 * arm64: config1 bit 1 asks for user access, bit 0 for a 64-bit counter
 * (drivers/perf/arm_pmuv3.c, format attributes rdpmc and long); or-ed in, they are the event's
 * own bits else. Before PMUv3p5 only cycles have 64 bits: EOPNOTSUPP, then 32 will do. `wide` 0
 * does not try.
 */
#if TACH_ARCH_SIGNED
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
	/* arm64 does not count a leader that is off when it checks whether a group fits
	 * (drivers/perf/arm_pmu.c, validate_event): there it starts at once. Software events
	 * have nothing to fit, and a clock that joins a group which counts already reads 0
	 * until the thread is next scheduled in (seen in 6.12 and 7.2). */
	attr.disabled = leader < 0 && (!TACH_ARCH_SIGNED || kind == TACH_MEMBER_SOFTWARE);
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

static long open_member(const struct tach__reader *r, int member, int leader, int wide)
{
	const struct tach__member *m = &r->set->member[member];

	return tach__open_event(r->set, &m->attr, m->kind, leader, wide);
}

static int opens_alone(const struct tach__reader *r, int member)
{
	long fd = open_member(r, member, -1, 1);

	if (fd < 0)
		return 0;
	tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
	return 1;
}

static int open_group(struct tach__reader *r, struct tach__group *g, enum tach_member_kind kind,
		      int wide, struct tach_error *err)
{
	for (int i = 0; i < r->set->count; i++) {
		long fd;

		if (r->set->member[i].kind != kind)
			continue;
		fd = open_member(r, i, g->leader, wide);
		if (fd >= 0)
			fd = tach__descriptor_keep(fd, &r->id[i]);
		if (fd < 0)
			return tach__diagnose_open(
				(int)fd, r->set, i, g->count,
				fd == -EINVAL && g->count > 0 && opens_alone(r, i), err);
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
	/* A hybrid's members have their descriptors elsewhere. */
	tach__descriptor_close(r->fd[member], r->id[member]);
	r->fd[member] = -1;
}

static void close_group(struct tach__reader *r, struct tach__group *g)
{
	while (g->count)
		close_member(r, g->member[--g->count]);
	g->leader = -1;
}

void tach__page_zero(struct tach__reader *r, int page)
{
	tach__sys(SYS_mmap, (long)tach__reader_page(r, page), (long)r->page_size, PROT_READ,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	r->mapped &= ~(1u << page);
}

void tach__pages_zero(struct tach__reader *r)
{
	tach__sys(SYS_mmap, (long)tach__reader_page(r, 0),
		  (long)((TACH__PAGES - 1) * r->page_size), PROT_READ,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void tach__slow_because(struct tach__reader *r, enum tach__slow cause, int code)
{
	if (r->slow)
		return;
	r->slow = cause;
	r->slow_code = code;
}

static int map_member(struct tach__reader *r, int member, int page)
{
	long at = (long)tach__reader_page(r, page);
	long got = tach__sys(SYS_mmap, at, (long)r->page_size, PROT_READ,
			     MAP_SHARED | MAP_FIXED, r->fd[member], 0);

	if (got == at) {
		r->mapped |= 1u << page;
		return 0;
	}
	/* The old mapping is gone even when the new one was refused. */
	tach__page_zero(r, page);
	tach__slow_because(r, TACH__SLOW_MAP, (int)got);
	return (int)got;
}

/*
 * PERF_METRICS (Intel SDM vol. 3, 20.3.9.3): packed fractions of slots, not a count; the kernel
 * names it by event 0 with umasks from 0x80 (arch/x86/events/perf_event.h), and its index has
 * bit
 * 29. Never mapped: read(2) gives what the kernel makes of it.
 */
int tach__is_metrics(const struct perf_event_attr *attr)
{
	return TACH_MODULAR && attr->type != PERF_TYPE_HARDWARE &&
	       attr->type != PERF_TYPE_HW_CACHE && (attr->config & 0x80ff) == 0x8000;
}

/* The kernel kills a thread that blocks a signal which its own instruction raises. */
static int is_blocked(void)
{
	sigset_t now;

	return pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGILL);
}

/* Pages before any read(2): see the note on sums in tach/reader.h. */
static void map_all(struct tach__reader *r)
{
	if (r->set->flags & TACH_SET_MULTIPLEX) {
		tach__slow_because(r, TACH__SLOW_MULTIPLEX, 0);
		return;
	}
	if (TACH_ARCH_FAULTS && is_blocked()) {
		tach__slow_because(r, TACH__SLOW_BLOCKED, 0);
		return;
	}
	for (int i = 0; i < r->hard.count; i++) {
		int m = r->hard.member[i];

		if (tach__is_metrics(&r->set->member[m].attr))
			tach__slow_because(r, TACH__SLOW_METRIC, m);
		else if (TACH_ARCH_UNREADABLE(&r->set->member[m].attr))
			tach__slow_because(r, TACH__SLOW_FIRMWARE, m);
		else
			map_member(r, m, m);
	}
}

/*
 * A counter that the page shows and that cannot be read: drivers/perf/riscv_pmu_legacy.c does
 * so from 6.13 or so on (seen in 7.2; in 6.12 user space may read both). Not three times in a
 * row by chance.
 */
static int always_faults(struct tach_way way)
{
	uint64_t sum;
	uint32_t lock;

	for (int i = 0; i < 3; i++)
		if (!TACH_PAGE_LOAD(way.page, index) || tach__sum(way, 1, &sum, &lock) ||
		    !(lock & 1))
			return 0;
	return 1;
}

/* What the pages, now that the group is enabled, say of each counter. */
static void judge_pages(struct tach__reader *r)
{
	unsigned narrowest = 64;

	r->hot.fast = r->hard.count == r->set->count;
	for (int i = 0; i < r->hard.count; i++) {
		int m = r->hard.member[i];
		const struct perf_event_mmap_page *page = tach__reader_page(r, m);
		unsigned width = page->pmc_width;

		if (TACH_ARCH_SIGNED ? width != 32 && width != 64 : width < 1 || width > 64) {
			tach__page_zero(r, m);
			r->hot.fast = 0;
			tach__slow_because(r, TACH__SLOW_ACCESS, 0);
			continue;
		}
		r->hot.way[m].stubs = TACH_STUBS(width);
		if (width < narrowest)
			narrowest = width;
		if (TACH_ARCH_FAULTS && always_faults(r->hot.way[m]))
			tach__page_zero(r, m);
		else if (page->cap_user_rdpmc && page->index)
			continue;
		r->hot.fast = 0;
		tach__slow_because(r, TACH__SLOW_ACCESS, 0);
	}
	if (!TACH_MODULAR || narrowest == 64)
		return;
	r->hot.mask = ((uint64_t)1 << narrowest) - 1;
	if (narrowest >= 40)
		return;
	/* A region may count more than 2^width: begin and end take the signed way, out of line.
	 */
	r->extend = 1;
	r->hot.mask = ~(uint64_t)0;
	if (r->hard.member[0] == 0 && map_member(r, 0, TACH__SPARE) == 0)
		r->hot.way[0].page = tach__reader_page(r, TACH__SPARE);
	tach__page_zero(r, 0);
}

static int start(struct tach__reader *r, struct tach_error *err)
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
	judge_pages(r);
	tach__reader_since(r, 1);
	r->grown_lock = TACH_PAGE_LOAD(r->hot.way[r->hard.member[0]].page, lock);
	return 0;
}

/*
 * A mapped event lives without its descriptor (the mapping holds the file: mmap(2)), stays in
 * its group, and is read through its leader.
 */
static void close_siblings(struct tach__reader *r)
{
	for (int i = 1; i < r->hard.count; i++)
		if (r->mapped >> r->hard.member[i] & 1)
			close_member(r, r->hard.member[i]);
}

static int open_all(struct tach__reader *r, int wide, struct tach_error *err)
{
	int code = r->set->cores ? tach__hybrid_open(r, wide, err)
				 : open_group(r, &r->hard, TACH_MEMBER_HARDWARE, wide, err);

	if (!code)
		code = open_group(r, &r->soft, TACH_MEMBER_SOFTWARE, wide, err);
	if (code)
		return code;
	if (!r->hybrid)
		map_all(r);
	code = start(r, err);
	if (code == 0 && !r->hybrid)
		close_siblings(r);
	return code;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *adds)
{
	(void)size;
	*(unsigned long long *)adds = info->dlpi_adds;
	return 1;
}

/* Where correct reads fault: again when modules came, or somebody put another handler there. */
static int handler(struct tach_error *err)
{
	static unsigned long long known;
	unsigned long long adds = 0;
	struct sigaction now;
	int code;

	dl_iterate_phdr(count_loads, &adds);
	if (__atomic_load_n(&known, __ATOMIC_ACQUIRE) == adds &&
	    sigaction(SIGILL, NULL, &now) == 0 && tach__fault_is_ours(&now))
		return 0;
	code = tach_fault_install(err);
	if (code < 0)
		return code;
	__atomic_store_n(&known, adds, __ATOMIC_RELEASE);
	return 0;
}

int tach_reader_open(const struct tach_set *set, struct tach_reader **out,
		     struct tach_error *err)
{
	struct tach__reader *r;
	int code;

	if (!out || !set)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no set");
	*out = NULL;
	if (TACH_ARCH_FAULTS && set->count && (code = handler(err)) != 0)
		return code;
	r = allocate(set);
	if (!r)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	tach__open_enter(r);
	code = open_all(r, 1, err);
	if (code == TACH_ERR_NOCOUNTER && TACH_ARCH_SIGNED) {
		/* A second 64-bit cycles event opens and gets no counter; with 32 bits it may.
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

	if (!r)
		return;
	/*
	 * Events end with the last of their mapping and their descriptor. The reader stays in
	 * the list until its descriptors are closed, and its pages keep their place: a child
	 * forked at this moment finds them.
	 */
	tach__close_enter();
	/* The kernel takes the counter's number from all threads when a page of an event that
	 * counts goes (drivers/perf/riscv_pmu_sbi.c, pmu_sbi_event_unmapped). */
	if (TACH_ARCH_FAULTS && r->hard.count && !r->hybrid && r->owner)
		tach__sys(SYS_ioctl, r->hard.leader, PERF_EVENT_IOC_DISABLE, 0, 0, 0, 0);
	tach__pages_zero(r);
	close_group(r, &r->hard);
	close_group(r, &r->soft);
	tach__hybrid_close(&r->hybrid);
	tach__close_leave(r);
	tach__sys(SYS_munmap, (long)r, (long)(TACH__PAGES * r->page_size), 0, 0, 0, 0);
}

const struct tach_set *tach_reader_set(const struct tach_reader *reader)
{
	return tach__reader(reader)->set;
}

const char *tach_reader_missing(const struct tach_reader *reader)
{
	struct tach__reader *r = tach__reader(reader);

	if (r->why[0])
		return r->why;
	switch (r->slow) {
	case TACH__FAST:
		break;
	case TACH__SLOW_MULTIPLEX:
		snprintf(r->why, sizeof r->why,
			 "the set may be multiplexed, which takes read(2)'s times");
		break;
	case TACH__SLOW_METRIC:
		snprintf(r->why, sizeof r->why, "%s is a metric of packed fractions",
			 r->set->member[r->slow_code].name);
		break;
	case TACH__SLOW_FIRMWARE:
		snprintf(r->why, sizeof r->why, "%s is counted by the firmware",
			 r->set->member[r->slow_code].name);
		break;
	case TACH__SLOW_BLOCKED:
		snprintf(r->why, sizeof r->why,
			 "the thread blocks SIGILL, which a counter read may raise: leave it "
			 "out of pthread_sigmask");
		break;
	case TACH__SLOW_MAP:
		tach__diagnose_map(r->slow_code, r->why, sizeof r->why);
		break;
	case TACH__SLOW_ACCESS:
		tach__diagnose_access(r->why, sizeof r->why);
		break;
	}
	return r->why;
}
