/* SPDX-License-Identifier: MIT */
/* Page faults of a known number. */
#ifndef TESTS_PAGES_H
#define TESTS_PAGES_H

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* Maps so many pages, writes to each, which is one fault or, if the kernel takes it away
 * meanwhile, more, and unmaps them. */
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
