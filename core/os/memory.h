/* SPDX-License-Identifier: MIT */
/* Pages from the kernel, because signal handlers must not call malloc. */
#ifndef TACH_CORE_OS_MEMORY_H
#define TACH_CORE_OS_MEMORY_H

#include <stddef.h>
#include <tach/base.h>

void *tach__pages(size_t size); /* returns zeros, or NULL */
/*
 * Reserves addresses, without access. Then call tach__pages_hole for ranges whose pages shall
 * be filled only at their first use, and then tach__pages_open. Without holes,
 * mlockall(MCL_FUTURE) would fill all pages when access is allowed (mm/mlock.c).
 */
void *tach__pages_reserve(size_t size);
void tach__pages_hole(void *reserved, size_t from, size_t to);
int tach__pages_open(
	void *reserved,
	size_t size); /* allows access; nonzero: no memory, and `reserved` is unmapped */
/*
 * Returns a larger copy, or NULL. Store the new pointer before you free the old pages: then a
 * child that is forked at any moment has valid pages.
 */
void *tach__pages_larger(const void *old, size_t old_size, size_t new_size);
void tach__pages_free(void *pages, size_t size);
int tach__pages_wiped(void *pages,
		      size_t size); /* a forked child gets zeros; nonzero: the call failed */
size_t tach__pages_round(size_t size);

/*
 * Informs race detectors of orders that they cannot see: the reader of a published pointer runs
 * after its writer, memory is reused after all walks have ended, and tach__sys unmaps pages
 * before it maps them again. TACH_HELGRIND: a build for tests/check/slow/helgrind.sh.
 */
#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define TACH__RELEASED(address) __tsan_release(address)
#define TACH__ACQUIRED(address) __tsan_acquire(address)
#elif defined(TACH_HELGRIND)
#include <valgrind/helgrind.h>
#define TACH__RELEASED(address) ANNOTATE_HAPPENS_BEFORE(address)
#define TACH__ACQUIRED(address) ANNOTATE_HAPPENS_AFTER(address)
#else
#define TACH__RELEASED(address) ((void)(address))
#define TACH__ACQUIRED(address) ((void)(address))
#endif

/*
 * Call TACH__PAGES_GO before unmapping pages, and TACH__PAGES_COME after mapping some. The
 * kernel does both under one lock of the process. So a thread that gets pages runs after the
 * thread that returned them.
 */
extern char tach__pages_order;
#define TACH__PAGES_GO()   TACH__RELEASED(&tach__pages_order)
#define TACH__PAGES_COME() TACH__ACQUIRED(&tach__pages_order)

#endif
