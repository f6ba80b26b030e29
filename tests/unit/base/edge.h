/* SPDX-License-Identifier: MIT */
/* A copy of bytes with an unreadable page after it. */
#ifndef TESTS_UNIT_BASE_EDGE_H
#define TESTS_UNIT_BASE_EDGE_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns a copy that ends at inaccessible memory; valid until the next call. */
static inline const char *at_the_edge(const void *bytes, size_t n)
{
	static char *pages;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!pages) {
		pages = mmap(NULL, 17 * page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(pages + 16 * page, page, PROT_NONE);
	}
	memset(pages, 'f', 16 * page);
	return memcpy(pages + 16 * page - n, bytes, n);
}

#endif
