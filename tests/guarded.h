/* SPDX-License-Identifier: MIT */
/* Memory with a guard page after it: reading or writing beyond an array is fatal. */
#ifndef TESTS_GUARDED_H
#define TESTS_GUARDED_H

#include <stddef.h>
#include <sys/mman.h>

struct guarded {
	void *at;
	size_t size;
	char *end; /* end of the usable bytes; the requested number is before it */
};

/* 0, or -1 if there is no memory. Unmap with munmap. */
static inline int guarded_map(struct guarded *g, size_t size)
{
	size_t page = 65536, room = (size + page - 1) / page * page;
	char *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED)
		return -1;
	*g = (struct guarded){at, room + page, at + room};
	return mprotect(g->end, page, PROT_NONE);
}

/*
 * ---- replaces tach__pages for code that knows the size it needs: the byte after the last one,
 * rounded up to its alignment, is inaccessible ----
 */

static struct guarded guarded_given[16];
/* number of allocations that still succeed; -1: unlimited */
static int guarded_n, guarded_left = -1;

static inline void *guarded_pages(size_t size)
{
	const int most = sizeof guarded_given / sizeof *guarded_given;

	if (guarded_left == 0 || guarded_n == most ||
	    guarded_map(&guarded_given[guarded_n], size) != 0)
		return NULL;
	guarded_left -= guarded_left > 0;
	return guarded_given[guarded_n++].end - (size + 15) / 16 * 16;
}

/* All of it. */
static inline void guarded_free(void)
{
	while (guarded_n > 0) {
		guarded_n--;
		munmap(guarded_given[guarded_n].at, guarded_given[guarded_n].size);
	}
	guarded_left = -1;
}

#endif
