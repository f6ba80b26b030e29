/* SPDX-License-Identifier: MIT */
/* The pages of a reader: maps the kernel's pages of its members, and evaluates them. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "core/os/sys.h"
#include "core/reader/open.h"
#include "core/reader/reader.h"
#include "core/set/set.h"

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

static int map_member(struct tach__reader *r, int member, int page)
{
	long at = (long)tach__reader_page(r, page);
	long got = tach__sys(SYS_mmap, at, (long)r->page_size, PROT_READ,
			     MAP_SHARED | MAP_FIXED, r->fd[member], 0);

	if (got == at) {
		r->mapped |= 1u << page;
		return 0;
	}
	/* The old mapping is gone even if the new one was refused. */
	tach__page_zero(r, page);
	tach__note_slow_cause(r, TACH__SLOW_MAP, (int)got);
	return (int)got;
}

/* Returns 1 if the thread blocks the signal of a fault. The kernel would kill it at a fault. */
static int is_blocked(void)
{
	sigset_t now;

	return pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGILL);
}

/*
 * Returns 1 for a metric, and for the slots that lead the group of metrics.
 * core/reader/topdown.c reads these; their pages are zeros, so that reads take the slow
 * path.
 */
static int is_topdown(const struct tach__reader *r, int member)
{
	const struct tach__topdown *t = &r->topdown;

	return t->on && (member == r->hard.member[0] || t->members >> member & 1);
}

static void find_topdown(struct tach__reader *r)
{
	if (!tach__topdown_find(&r->topdown, r->set, -1, &r->hard) ||
	    map_member(r, r->hard.member[0], TACH__SPARE))
		return;
	r->topdown.on = 1;
	r->topdown.way = r->hot.way;
	r->hot.way[r->hard.member[0]].page = tach__reader_page(r, TACH__SPARE);
}

/* Maps pages before any read(2): see the note on sums in tach/page.h. */
void tach__pages_map(struct tach__reader *r)
{
	if (r->set->flags & TACH_SET_MULTIPLEX) {
		tach__note_slow_cause(r, TACH__SLOW_MULTIPLEX, 0);
		return;
	}
	if (TACH_ARCH_FAULTS && is_blocked()) {
		tach__note_slow_cause(r, TACH__SLOW_BLOCKED, 0);
		return;
	}
	find_topdown(r);
	for (int i = 0; i < r->hard.count; i++) {
		int m = r->hard.member[i];

		if (is_topdown(r, m))
			continue;
		if (r->topdown.members >> m & 1)
			tach__note_slow_cause(r, TACH__SLOW_METRIC, m);
		else if (TACH_ARCH_UNREADABLE(&r->set->member[m].attr))
			tach__note_slow_cause(r, TACH__SLOW_FIRMWARE, m);
		else
			map_member(r, m, m);
	}
}

/*
 * Detects a counter that the page offers but that always faults.
 * drivers/perf/riscv_pmu_legacy.c has such counters since about 6.13 (seen in 7.2; in 6.12 user
 * space may read both). Three faults in a row are not chance.
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

static void judge_counters(struct tach__reader *r)
{
	unsigned narrowest = 64, widest = 0;

	r->hot.fast = r->hard.count == r->set->count;
	for (int i = 0; i < r->hard.count; i++) {
		int m = r->hard.member[i];
		const struct perf_event_mmap_page *page = tach__reader_page(r, m);
		unsigned width = page->pmc_width;

		if (is_topdown(r, m))
			continue;
		if (!TACH_WIDTH(width)) {
			tach__page_zero(r, m);
			r->hot.fast = 0;
			tach__note_slow_cause(r, TACH__SLOW_ACCESS, 0);
			continue;
		}
		r->hot.way[m].stubs = TACH_STUBS(width);
		if (width < narrowest)
			narrowest = width;
		if (width > widest)
			widest = width;
		if (TACH_ARCH_FAULTS && always_faults(r->hot.way[m]))
			tach__page_zero(r, m);
		else if (page->cap_user_rdpmc && page->index)
			continue;
		r->hot.fast = 0;
		tach__note_slow_cause(r, TACH__SLOW_ACCESS, 0);
	}
	if (!TACH_MODULAR || narrowest == 64)
		return;
	/* Inline reads use one mask for all counters. If only some are 48 bits wide, none is
	 * treated so. */
	if (narrowest == 48 && widest > 48)
		narrowest = 47;
	r->hot.mask = ((uint64_t)1 << narrowest) - 1;
	if (narrowest >= 40)
		return;
	/*
	 * A region may count more than 2^width. So begin and end use sign-extended sums, on the
	 * slow path.
	 */
	r->extend = 1;
	r->hot.mask = ~(uint64_t)0;
	if (r->hard.member[0] == 0 && map_member(r, 0, TACH__SPARE) == 0)
		r->hot.way[0].page = tach__reader_page(r, TACH__SPARE);
	tach__page_zero(r, 0);
}

/* Narrow slots could pass 2^width unnoticed, so they are read by read(2). */
static void judge_topdown(struct tach__reader *r)
{
	const struct perf_event_mmap_page *page = tach__reader_page(r, TACH__SPARE);

	if (page->pmc_width < 40)
		tach__page_zero(r, TACH__SPARE);
	if (!page->cap_user_rdpmc || !page->index) {
		r->hot.fast = 0;
		tach__note_slow_cause(r, TACH__SLOW_ACCESS, 0);
	}
}

void tach__pages_judge(struct tach__reader *r)
{
	judge_counters(r);
	if (r->topdown.on)
		judge_topdown(r);
}
