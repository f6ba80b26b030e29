/* SPDX-License-Identifier: MIT */
/* Opening a set for the calling thread: descriptors, pages, the reader that holds them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/error.h"
#include "core/reader.h"
#include "core/set.h"
#include "core/sys.h"

enum { PAGES = 1 + TACH_COUNTERS_MAX };

static void *page_of(struct tach__reader *r, int member)
{
	return (char *)r + r->page_size * (size_t)(member + 1);
}

/* A reader whose members all lead to the slow exit, by pages of zeros. */
static struct tach__reader *allocate(const struct tach_set *set)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	long at = tach__sys(SYS_mmap, 0, (long)(PAGES * page_size), PROT_READ,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tach__reader *r = (struct tach__reader *)at;

	if (at < 0 && at > -4096)
		return NULL;
	if (tach__sys(SYS_mprotect, at, (long)page_size, PROT_READ | PROT_WRITE, 0, 0, 0)) {
		tach__sys(SYS_munmap, at, (long)(PAGES * page_size), 0, 0, 0, 0);
		return NULL;
	}
	r->set = set;
	r->owner = tach__thread_token();
	r->page_size = page_size;
	r->hot.count = (uint32_t)set->count;
	r->hot.mask = ~(uint64_t)0;
	r->hard.leader = r->soft.leader = -1;
	for (int i = 0; i < TACH_COUNTERS_MAX; i++) {
		r->fd[i] = -1;
		r->hot.way[i].page = page_of(r, i);
	}
	return r;
}

static long open_member(const struct tach__reader *r, int member, int leader)
{
	struct perf_event_attr attr = r->set->member[member].attr;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.disabled = leader < 0;
	attr.pinned = leader < 0 && !(r->set->flags & TACH_SET_MULTIPLEX) &&
		      r->set->member[member].kind == TACH_MEMBER_HARDWARE;
	attr.exclusive = attr.pinned && r->set->exclusive;
	return tach__sys(SYS_perf_event_open, (long)&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC,
			 0);
}

static int open_group(struct tach__reader *r, struct tach__group *g, enum tach_member_kind kind,
		      struct tach_error *err)
{
	for (int i = 0; i < r->set->count; i++) {
		long fd;

		if (r->set->member[i].kind != kind)
			continue;
		fd = open_member(r, i, g->leader);
		if (fd < 0)
			return tach__error(err, (int)fd, 0, 0, "cannot open %s: %s",
					   r->set->member[i].name, tach_strerror((int)fd));
		r->fd[i] = (int)fd;
		if (g->leader < 0)
			g->leader = (int)fd;
		g->member[g->count++] = (uint8_t)i;
	}
	return 0;
}

static void map_member(struct tach__reader *r, int member)
{
	void *at = page_of(r, member);
	long got = tach__sys(SYS_mmap, (long)at, (long)r->page_size, PROT_READ,
			     MAP_SHARED | MAP_FIXED, r->fd[member], 0);

	/* The old mapping is gone even when the new one was refused: put zeros back. */
	if (got != (long)at)
		tach__sys(SYS_mmap, (long)at, (long)r->page_size, PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void judge_pages(struct tach__reader *r)
{
	unsigned narrowest = 64;

	r->hot.fast = r->hard.count == r->set->count;
	for (int i = 0; i < r->hard.count; i++) {
		int m = r->hard.member[i];
		const struct perf_event_mmap_page *page = page_of(r, m);

		if (!page->cap_user_rdpmc || page->index == 0)
			r->hot.fast = 0;
		r->hot.way[m].stubs = TACH_STUBS(page->pmc_width);
		if (page->pmc_width && page->pmc_width < narrowest)
			narrowest = page->pmc_width;
	}
	if (TACH_MODULAR && narrowest < 64)
		r->hot.mask = ((uint64_t)1 << narrowest) - 1;
}

int tach_reader_open(struct tach_reader **out, const struct tach_set *set,
		     struct tach_error *err)
{
	struct tach__reader *r;
	int code;

	*out = NULL;
	r = allocate(set);
	if (!r)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	code = open_group(r, &r->hard, TACH_MEMBER_HARDWARE, err);
	if (!code)
		code = open_group(r, &r->soft, TACH_MEMBER_SOFTWARE, err);
	if (code) {
		tach_reader_close(&r->hot);
		return code;
	}
	for (int i = 0; i < r->hard.count; i++)
		map_member(r, r->hard.member[i]);
	if (r->hard.count)
		tach__sys(SYS_ioctl, r->hard.leader, PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0);
	if (r->soft.count)
		tach__sys(SYS_ioctl, r->soft.leader, PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0);
	judge_pages(r);
	*out = &r->hot;
	return 0;
}

void tach_reader_close(struct tach_reader *reader)
{
	struct tach__reader *r = tach__reader(reader);
	int fd[TACH_COUNTERS_MAX];

	if (!r)
		return;
	/* Pages first: a mapping keeps its event counting after the descriptor is closed. */
	memcpy(fd, r->fd, sizeof fd);
	tach__sys(SYS_munmap, (long)r, (long)(PAGES * r->page_size), 0, 0, 0, 0);
	for (int i = TACH_COUNTERS_MAX - 1; i >= 0; i--)
		if (fd[i] >= 0)
			tach__sys(SYS_close, fd[i], 0, 0, 0, 0, 0);
}

const struct tach_set *tach_reader_set(const struct tach_reader *reader)
{
	return tach__reader(reader)->set;
}

const char *tach_reader_why_slow(const struct tach_reader *reader)
{
	return tach__reader(reader)->why;
}
