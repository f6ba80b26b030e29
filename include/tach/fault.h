/* SPDX-License-Identifier: MIT */
/* Surviving the loss of user access to counters. */
#ifndef TACH_FAULT_H
#define TACH_FAULT_H

#include <tach/error.h>

TACH_BEGIN_DECLS

/*
 * The kernel can remove user access to counters while a program reads them, and the page does
 * not show it: on x86 by 0 written to /sys/bus/event_source/devices/cpu/rdpmc; on arm64 and
 * RISC-V by sysctl kernel.perf_user_access=0. The next counter instruction then raises SIGSEGV
 * (x86) or SIGILL (arm64, RISC-V). With this handler it takes the slow path instead: values
 * stay right and are flagged TACH_FLAG_SYSCALL (TACH_FLAG_MIXED for a region whose begin still
 * had access).
 *
 * Installs a handler for both signals, once, and scans all loaded modules for counter
 * instructions; call it again after dlopen of a module that has some. Other faults go to the
 * earlier handlers, or kill as they would have. Code that installs its own handler later must
 * pass on faults that are not its own, with the context that it got, if this function may be
 * called again.
 *
 * RISC-V: the kernel removes a counter whenever its event stops, which may be between finding
 * it and reading it, so a correct read may raise SIGILL there. Opening a reader installs the
 * handler by itself, and again if modules were loaded since. After tach_fault_remove while
 * readers are open, or with SIGILL blocked after opening, such a read kills the program. The
 * same holds for readers on a hybrid CPU: a thread may be moved to a core without that counter
 * before the read. This concerns top-down metrics and some others of Intel's P cores (SIGSEGV).
 *
 * Returns the number of counter instructions covered, or an error: TACH_ERR_NOMEM,
 * TACH_ERR_NOTSUPP if counters cannot be read in user space at all, or a negated errno. Any
 * thread, even inside an allocator, but not from a signal handler that may interrupt dlopen.
 */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe mem lock | allocates */
TACH_API int tach_fault_install(struct tach_error *err);
/* Restores the earlier handlers, unless another one was installed since. */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe lock | no allocation */
TACH_API void tach_fault_remove(void);

TACH_END_DECLS
#endif
