/* SPDX-License-Identifier: MIT */
/* Surviving the loss of user access to counters. */
#ifndef TACH_FAULT_H
#define TACH_FAULT_H

#include <tach/error.h>

TACH_BEGIN_DECLS

/*
 * The kernel can take user access to counters away while a program reads them, without the page
 * telling: x86, 0 written to /sys/bus/event_source/devices/cpu/rdpmc; arm64 and RISC-V,
 * sysctl kernel.perf_user_access=0. The next counter instruction then raises SIGSEGV (x86) or
 * SIGILL (arm64, RISC-V). With this handler it takes the slow exit instead: values stay right
 * and are flagged TACH_FLAG_SYSCALL (TACH_FLAG_MIXED for a region whose begin still had
 * access).
 *
 * Installs a handler for both signals, once, and looks through all modules loaded by now for
 * counter instructions; call it again after dlopen of a module that has some. Faults anywhere
 * else go to the handlers that were there before, or kill as they would have. Code that
 * installs its own handler later must pass on what it does not know, as ever: with the context
 * that it got, if this may be called again.
 *
 * RISC-V: the kernel takes a counter away whenever its event stops, which may be between
 * finding it and reading it, so a correct read may raise SIGILL there. Opening a reader
 * installs the handler by itself, anew where modules were loaded since. With tach_fault_remove
 * while readers are open, or SIGILL blocked after opening, such a read kills the program.
 * So do readers on a hybrid CPU, as a thread may be moved meanwhile to a core that lacks that
 * counter: top-down metrics and some others of Intel's P cores (SIGSEGV).
 *
 * Returns how many counter instructions are covered, or an error: TACH_ERR_NOMEM,
 * TACH_ERR_NOTSUPP where counters cannot be read in user space at all, or a negated errno.
 * Any thread, amid an allocator too, but not from a signal handler that may come amid dlopen.
 */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe mem lock | allocates */
TACH_API int tach_fault_install(struct tach_error *err);
/* Puts the earlier handlers back, if no other one was installed meanwhile. */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe lock | no allocation */
TACH_API void tach_fault_remove(void);

TACH_END_DECLS
#endif
