/* SPDX-License-Identifier: MIT */
/* Memory behind whose last byte, but for its alignment, nothing can be touched: in place of
 * tach__pages, where code says itself how much it takes. */
#ifndef TESTS_GUARDED_H
#define TESTS_GUARDED_H

#include <stddef.h>
#include <sys/mman.h>

static struct {
	void *at;
	size_t size;
} guarded[16];
static int guarded_n, guarded_left = -1; /* so many may still be had; -1: any number */

static inline void *guarded_pages(size_t size)
{
	size_t page = 65536, room = (size + page - 1) / page * page;
	char *at;

	if (guarded_left == 0 || guarded_n == sizeof guarded / sizeof *guarded)
		return NULL;
	at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		  0);
	if (at == MAP_FAILED || mprotect(at + room, page, PROT_NONE) != 0)
		return NULL;
	guarded_left -= guarded_left > 0;
	guarded[guarded_n].at = at;
	guarded[guarded_n++].size = room + page;
	return at + room - (size + 15) / 16 * 16;
}

/* All of it. */
static inline void guarded_free(void)
{
	while (guarded_n > 0) {
		guarded_n--;
		munmap(guarded[guarded_n].at, guarded[guarded_n].size);
	}
	guarded_left = -1;
}

#endif
