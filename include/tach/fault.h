/* SPDX-License-Identifier: MIT */
/* A handler for reads that fault because the program lost user access to counters. */
#ifndef TACH_FAULT_H
#define TACH_FAULT_H

#include <tach/error.h>

TACH_BEGIN_DECLS

/*
 * The administrator can remove user access to counters while a program reads them: on x86 by
 * writing 0 to /sys/bus/event_source/devices/cpu/rdpmc; on arm64 and RISC-V by sysctl
 * kernel.perf_user_access=0. Pages do not show this. The next counter instruction then raises
 * SIGSEGV (x86) or SIGILL (arm64, RISC-V). With this handler, the read takes the slow path
 * instead. Its value is correct and has TACH_FLAG_SYSCALL (TACH_FLAG_MIXED if the begin of the
 * region still had access).
 *
 * Installs a handler for both signals, once, and scans all loaded modules for counter
 * instructions. Call it again after dlopen of a module that has counter instructions. Other
 * faults go to the earlier handlers; without one, they kill the program as usual. If this
 * function may be called again, a handler that was installed later must pass on all other
 * faults, with the context that it got.
 *
 * RISC-V: the kernel removes a counter whenever its event stops. This may happen between
 * finding the counter and reading it, so a correct read may raise SIGILL. Therefore opening a
 * reader installs the handler, and scans again if modules were loaded since. While readers are
 * open, do not call tach_fault_remove and do not block SIGILL: such a read would kill the
 * program. Readers on a hybrid CPU have the same problem with SIGSEGV: before the read, a
 * thread may be moved to a core without that counter. This concerns top-down metrics and some
 * other counters of Intel's P cores.
 *
 * Returns the number of counter instructions covered, or an error: TACH_ERR_NOMEM,
 * TACH_ERR_NOTSUPP if counters cannot be read in user space at all, or a negated errno. Any
 * thread may call it, even inside an allocator, but not a signal handler that may interrupt
 * dlopen.
 */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe mem lock | allocates */
TACH_API int tach_fault_install(struct tach_error *err);
/* Restores the earlier handlers, unless another one was installed since. */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe lock | no allocation */
TACH_API void tach_fault_remove(void);

TACH_END_DECLS
#endif
