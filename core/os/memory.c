/* SPDX-License-Identifier: MIT */
/* Pages straight from the kernel: a first entry may come in a signal handler, where malloc may
 * not. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/os/memory.h"

size_t tach__pages_round(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) & ~(page - 1);
}

void *tach__pages(size_t size)
{
	int saved = errno;
	void *p = mmap(NULL, tach__pages_round(size), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

int tach__pages_wiped(void *pages, size_t size)
{
	int saved = errno, refused = madvise(pages, size, MADV_WIPEONFORK);

	errno = saved;
	return refused;
}

/* A copy, not mremap: growing is rare, and the sanitizers know what a copy is. */
void *tach__pages_grow(void *old, size_t old_size, size_t new_size)
{
	void *p = tach__pages(new_size);

	if (p && old) {
		memcpy(p, old, old_size);
		tach__pages_free(old, old_size);
	}
	return p;
}

void tach__pages_free(void *pages, size_t size)
{
	int saved = errno;

	if (pages)
		munmap(pages, tach__pages_round(size));
	errno = saved;
}
