/* SPDX-License-Identifier: MIT */
/* Pages straight from the kernel, since malloc is not for signal handlers. */
#ifndef TACH_CORE_OS_MEMORY_H
#define TACH_CORE_OS_MEMORY_H

#include <stddef.h>
#include <tach/base.h>

void *tach__pages(size_t size); /* zeroed, or NULL */
/*
 * Reserves addresses that cannot be touched yet. Then make the holes, which are filled when
 * they are used. mlockall(MCL_FUTURE) would otherwise fill them, because it fills whatever can
 * be touched (mm/mlock.c). Then call tach__pages_open.
 */
void *tach__pages_reserve(size_t size);
void tach__pages_hole(void *reserved, size_t from, size_t to);
int tach__pages_open(void *reserved, size_t size); /* nonzero: out of memory, and unmapped */
/*
 * Returns a larger copy, or NULL. The owner frees the old pages after it stored the new
 * pointer, so a child forked in between has one or the other.
 */
void *tach__pages_larger(const void *old, size_t old_size, size_t new_size);
void tach__pages_free(void *pages, size_t size);
int tach__pages_wiped(void *pages, size_t size); /* by every fork; nonzero: not here */
size_t tach__pages_round(size_t size);

/*
 * Tells race detectors what they cannot see: publishing, walks that ended, and pages that
 * tach__sys unmapped and mapped again. TACH_HELGRIND: a build for tests/check/slow/helgrind.sh.
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
 * Before such pages go, and after they came: the kernel does both under one lock of the
 * process, so a thread that gets them comes after the one that gave them back.
 */
extern char tach__pages_order;
#define TACH__PAGES_GO()   TACH__RELEASED(&tach__pages_order)
#define TACH__PAGES_COME() TACH__ACQUIRED(&tach__pages_order)

#endif
