/* SPDX-License-Identifier: MIT */
/* System calls of the library. */
#ifndef TACH_CORE_OS_SYS_H
#define TACH_CORE_OS_SYS_H

#include <signal.h>

/*
 * Makes a system call. Returns its result or a negated errno. errno does not change, so that
 * callers and signal handlers do not notice it. This is a pointer, so that tests can count
 * calls, and make any call fail once. Set it only before any thread uses the library.
 */
extern long (*tach__sys)(long number, long a, long b, long c, long d, long e, long f);

long tach__sys_real(long number, long a, long b, long c, long d, long e, long f);

/*
 * Blocks all signals of the calling thread except those that its own instructions raise:
 * SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and SIGSYS. If a thread raises a signal that it
 * blocks, the kernel kills the process, even if there is a handler (force_sig_info_to_task in
 * kernel/signal.c). A counter instruction may raise one at any time (tach/fault.h). The number
 * of instructions does not depend on the signals that were blocked before.
 */
void tach__signals_hold(sigset_t *before);
void tach__signals_release(const sigset_t *before);

/*
 * Number of holds of the calling thread. If a handler sees a number above 0, its signal is one
 * of the six above, and it interrupted the library. This handler must take no lock, because the
 * library may hold it.
 */
extern __thread int tach__signals_held;

#endif
