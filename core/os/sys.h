/* SPDX-License-Identifier: MIT */
/* System calls: the one door through which the library reaches the kernel. */
#ifndef TACH_CORE_OS_SYS_H
#define TACH_CORE_OS_SYS_H

#include <signal.h>

/*
 * Result or negated errno; errno itself is left alone, so that signal handlers and callers see
 * nothing of it. A pointer, so that tests can fail any call once and count them. Set before any
 * thread uses the library, never after.
 */
extern long (*tach__sys)(long number, long a, long b, long c, long d, long e, long f);

long tach__sys_real(long number, long a, long b, long c, long d, long e, long f);

/*
 * Blocks the calling thread's signals but those that its own instructions raise: SIGSEGV,
 * SIGBUS, SIGILL, SIGFPE, SIGTRAP and SIGSYS. The kernel kills a process whose thread raises
 * one that it blocks, whatever handler there is (force_sig_info_to_task in kernel/signal.c),
 * and a counter instruction may raise one at any time (tach/fault.h). The same number of
 * instructions whatever was blocked before.
 */
void tach__signals_hold(sigset_t *before);
void tach__signals_release(const sigset_t *before);

/*
 * How many holds the calling thread is in. If it is not 0 in a handler, the handler is for one
 * of the six signals above and interrupted the library. It must take no lock, because the
 * library may hold it.
 */
extern __thread int tach__signals_held;

#endif
