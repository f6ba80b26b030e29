/* SPDX-License-Identifier: MIT */
/* System calls: the one door through which the library reaches the kernel. */
#ifndef TACH_CORE_SYS_H
#define TACH_CORE_SYS_H

/*
 * Result or negated errno; errno itself is left alone, so that signal handlers and callers see
 * nothing of it. A pointer, so that tests can fail any call once and count them. Set before any
 * thread uses the library, never after.
 */
extern long (*tach__sys)(long number, long a, long b, long c, long d, long e, long f);

long tach__sys_real(long number, long a, long b, long c, long d, long e, long f);

#endif
