/* SPDX-License-Identifier: MIT */
/* Makes a known number of page faults. */
#ifndef TESTS_PAGES_H
#define TESTS_PAGES_H

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Maps this number of pages, writes to each, and unmaps them. Each write is one fault, or more
 * if the kernel takes the page away again.
 */
static void pages_touch(int pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)pages * page;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	madvise(at, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += page)
		((volatile char *)at)[i] = 1;
	munmap(at, size);
}

#endif
