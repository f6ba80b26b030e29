/* SPDX-License-Identifier: MIT */
/*
 * Pages directly from the kernel: a first entry may be in a signal handler, where malloc must
 * not be called.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/os/memory.h"

char tach__pages_order;

size_t tach__pages_round(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) & ~(page - 1);
}

static void *map(size_t size, int access)
{
	int saved = errno;
	void *p = mmap(NULL, tach__pages_round(size), access,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

void *tach__pages(size_t size)
{
	return map(size, PROT_READ | PROT_WRITE);
}

void *tach__pages_reserve(size_t size)
{
	return map(size, PROT_NONE);
}

/* Makes a hole of the whole pages between the two offsets. */
void tach__pages_hole(void *reserved, size_t from, size_t to)
{
	int saved = errno;
	size_t begin = tach__pages_round(from);

	if (begin < to)
		munlock((char *)reserved + begin, to - begin);
	errno = saved;
}

/*
 * The kernel fills pages that become writable while they are locked (mprotect_fixup in
 * mm/mprotect.c).
 */
int tach__pages_open(void *reserved, size_t size)
{
	int saved = errno;
	int refused = mprotect(reserved, tach__pages_round(size), PROT_READ | PROT_WRITE);

	if (refused)
		tach__pages_free(reserved, size);
	errno = saved;
	return refused;
}

int tach__pages_wiped(void *pages, size_t size)
{
	int saved = errno, refused = madvise(pages, size, MADV_WIPEONFORK);

	errno = saved;
	return refused;
}

/* Copies instead of mremap, because growing is rare, and sanitizers understand a copy. */
void *tach__pages_larger(const void *old, size_t old_size, size_t new_size)
{
	void *p = tach__pages(new_size);

	if (p && old)
		memcpy(p, old, old_size);
	return p;
}

void tach__pages_free(void *pages, size_t size)
{
	int saved = errno;

	if (pages)
		munmap(pages, tach__pages_round(size));
	errno = saved;
}
