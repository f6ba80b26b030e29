/* SPDX-License-Identifier: MIT */
/* Opens a set on each core PMU of a machine: a group and its pages for each. */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "core/os/descriptor.h"
#include "core/os/memory.h"
#include "core/set/set.h"
#include "core/base/error.h"
#include "core/reader/hybrid.h"
#include "core/reader/open.h"
#include "core/os/sys.h"

static void *page_at(struct tach__hybrid *h, int core, int member)
{
	size_t number = (size_t)core * TACH_COUNTERS_MAX + (size_t)member;

	return (char *)h + h->pages_at + number * h->page_size;
}

static struct tach__hybrid *allocate(const struct tach__cores *cores, size_t page_size)
{
	size_t head = (sizeof(struct tach__hybrid) + page_size - 1) / page_size * page_size;
	long size = (long)(head + (size_t)cores->n * TACH_COUNTERS_MAX * page_size);
	long at = tach__sys(SYS_mmap, 0, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tach__hybrid *h = (struct tach__hybrid *)at;

	if (at < 0 && at > -4096)
		return NULL;
	TACH__PAGES_COME();
	if (tach__sys(SYS_mprotect, at, (long)head, PROT_READ | PROT_WRITE, 0, 0, 0)) {
		tach__sys(SYS_munmap, at, size, 0, 0, 0, 0);
		return NULL;
	}
	h->n = cores->n;
	h->first = -1;
	h->size = size;
	h->page_size = page_size;
	h->pages_at = head;
	for (int k = 0; k < h->n; k++) {
		h->core[k].group.leader = -1;
		for (int i = 0; i < TACH_COUNTERS_MAX; i++) {
			h->core[k].fd[i] = -1;
			h->core[k].way[i].page = page_at(h, k, i);
		}
	}
	return h;
}

static int open_core(struct tach__reader *r, int number, int wide, struct tach_error *err)
{
	const struct tach__cores *cores = r->set->cores;
	struct tach__core *core = &r->hybrid->core[number];
	struct tach__group *g = &core->group;

	int first = tach__topdown_leader(r->set, number, cores->members[number]);

	for (int n = first < 0 ? 0 : -1; n < r->set->count; n++) {
		int i = n < 0 ? first : n;
		const struct perf_event_attr *attr = &cores->attr[number][i];
		long fd;

		if (!(cores->members[number] >> i & 1) || (n >= 0 && n == first))
			continue;
		fd = tach__open_event(r->set, attr, TACH_MEMBER_HARDWARE, g->leader, wide);
		if (fd >= 0)
			fd = tach__descriptor_keep(fd, &core->id[i]);
		if (fd < 0)
			return tach__refused((int)fd, r->set, attr, i, g->count, err);
		core->fd[i] = (int)fd;
		core->members |= 1u << i;
		if (g->leader < 0) {
			g->leader = (int)fd;
			g->id = core->id[i];
		}
		g->member[g->count++] = (uint8_t)i;
	}
	r->hybrid->members |= core->members;
	if (g->count && r->hybrid->first < 0)
		r->hybrid->first = number;
	return 0;
}

static void page_zero(struct tach__hybrid *h, int core, int member)
{
	tach__sys(SYS_mmap, (long)page_at(h, core, member), (long)h->page_size, PROT_READ,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	h->core[core].mapped &= ~(1u << member);
}

/* If the page cannot be mapped, zeros replace it, and its group is read by read(2). */
static void map_member(struct tach__reader *r, int core, int member)
{
	struct tach__hybrid *h = r->hybrid;
	struct perf_event_mmap_page *page = page_at(h, core, member);
	long got = tach__sys(SYS_mmap, (long)page, (long)h->page_size, PROT_READ,
			     MAP_SHARED | MAP_FIXED, h->core[core].fd[member], 0);

	h->core[core].mapped |= 1u << member;
	if (got != (long)page) {
		page_zero(h, core, member);
		tach__note_slow_cause(r, TACH__SLOW_MAP, (int)got);
	}
}

/*
 * Returns a bit for each metric. Metrics get no page. No machine has two core types with
 * PERF_METRICS; metrics of a second one would be read by read(2).
 */
static uint32_t find_metrics(struct tach__reader *r, int core)
{
	struct tach__topdown found = {.on = 1};
	struct tach__core *c = &r->hybrid->core[core];

	if (tach__topdown_find(&found, r->set, core, &c->group) && !r->topdown.on) {
		found.way = c->way;
		r->topdown = found;
	}
	return found.members;
}

static void map_all(struct tach__reader *r)
{
	struct tach__hybrid *h = r->hybrid;

	if (r->set->flags & TACH_SET_MULTIPLEX) {
		tach__note_slow_cause(r, TACH__SLOW_MULTIPLEX, 0);
		return;
	}
	for (int k = 0; k < h->n; k++) {
		uint32_t metrics = find_metrics(r, k);

		for (int i = 0; i < h->core[k].group.count; i++) {
			int m = h->core[k].group.member[i];

			if (!(metrics >> m & 1))
				map_member(r, k, m);
			else if (r->topdown.group != &h->core[k].group)
				tach__note_slow_cause(r, TACH__SLOW_METRIC, m);
		}
	}
}

/*
 * Pages show widths and access even before a counter is assigned (arch_perf_update_userpage).
 */
static void judge_pages(struct tach__reader *r)
{
	struct tach__hybrid *h = r->hybrid;

	for (int k = 0; k < h->n; k++)
		for (int i = 0; i < h->core[k].group.count; i++) {
			int m = h->core[k].group.member[i];
			const struct perf_event_mmap_page *page = page_at(h, k, m);
			unsigned width = page->pmc_width;

			if (!(h->core[k].mapped >> m & 1))
				continue;
			if (TACH_WIDTH(width))
				h->core[k].way[m].stubs = TACH_STUBS(width);
			else
				page_zero(h, k, m);
			if (!page->cap_user_rdpmc)
				tach__note_slow_cause(r, TACH__SLOW_ACCESS, 0);
		}
}

static int start_counting(struct tach__reader *r, struct tach_error *err)
{
	struct tach__hybrid *h = r->hybrid;
	struct tach__group_read now;
	int state;

	/*
	 * Enables the first group last, so that its enabled time is not longer than any
	 * other's.
	 */
	for (int k = h->n - 1; k >= 0; k--)
		if (h->core[k].group.count)
			tach__sys(SYS_ioctl, h->core[k].group.leader, PERF_EVENT_IOC_ENABLE, 0,
				  0, 0, 0);
	state = tach__hybrid_read_groups(r, 0, &now);
	if (state == 0)
		return tach__diagnose_dead(r->set, err);
	if (state < 0)
		return tach__error(err, state, 0, 0, "cannot read a group: %s",
				   tach_strerror(state));
	judge_pages(r);
	tach__hybrid_settle(r);
	r->topdown.behind = 0;
	return 0;
}

static void close_member(struct tach__core *core, int member)
{
	tach__descriptor_close(core->fd[member], core->id[member]);
	core->fd[member] = -1;
}

/* Closes descriptors of mapped events: see close_siblings in core/reader/open.c. */
static void close_siblings(struct tach__hybrid *h)
{
	for (int k = 0; k < h->n; k++)
		for (int i = 1; i < h->core[k].group.count; i++)
			if (h->core[k].mapped >> h->core[k].group.member[i] & 1)
				close_member(&h->core[k], h->core[k].group.member[i]);
}

int tach__hybrid_open(struct tach__reader *r, int wide, struct tach_error *err)
{
	int code = 0;

	r->hybrid = allocate(r->set->cores, r->page_size);
	if (!r->hybrid)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	for (int k = 0; k < r->hybrid->n && !code; k++)
		code = open_core(r, k, wide, err);
	if (code)
		return code;
	for (int i = 0; i < r->set->count; i++)
		if (r->hybrid->members >> i & 1)
			r->hard.member[r->hard.count++] = (uint8_t)i;
	map_all(r);
	code = start_counting(r, err);
	if (code == 0)
		close_siblings(r->hybrid);
	return code;
}

/* Closes all descriptors, except in a child that shares them with its parent. */
static void close_all(struct tach__hybrid *h, int shared)
{
	for (int k = 0; k < h->n; k++)
		for (int i = 0; i < TACH_COUNTERS_MAX; i++) {
			if (shared)
				h->core[k].fd[i] = -1;
			close_member(&h->core[k], i);
		}
}

void tach__hybrid_close(struct tach__hybrid **at)
{
	struct tach__hybrid *h = *at;
	long size;

	if (!h)
		return;
	close_all(h, 0);
	__atomic_store_n(at, NULL, __ATOMIC_RELEASE);
	size = h->size;
	TACH__PAGES_GO();
	tach__sys(SYS_munmap, (long)h, size, 0, 0, 0, 0);
}

void tach__hybrid_abandon(struct tach__hybrid *h, int shared)
{
	close_all(h, shared);
	tach__sys(SYS_mmap, (long)h + (long)h->pages_at, h->size - (long)h->pages_at, PROT_READ,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
