/* SPDX-License-Identifier: MIT */
/* A stack of the library's own, for functions that need more than a program may have left. */
#ifndef TACH_CORE_OS_STACK_H
#define TACH_CORE_OS_STACK_H

/*
 * Calls f(arg) on a stack of 64 KB that is mapped for it, with a guard page below. Returns its
 * result, or TACH_ERR_NOMEM without calling it. It takes some 200 bytes of the caller's stack.
 * Call it only with signals held (core/os/sys.h); the handlers that can still run, of SIGSEGV
 * and the like, have room there. Nothing may jump out of f. Calls and returns stay paired,
 * which suits shadow stacks (CET, GCS), and debuggers unwind through it. AddressSanitizer,
 * ThreadSanitizer and Helgrind (TACH_HELGRIND) need to know of stacks: under them, and on
 * architectures without this assembly, f runs on the caller's stack.
 */
int tach__on_own_stack(int (*f)(void *), void *arg);

/* For a function that may be called with a stack of any alignment: musl calls a thread's
 * destructors so after an asynchronous cancellation. */
#if defined(__x86_64__) || defined(__i386__)
#define TACH__ANY_ALIGNMENT __attribute__((force_align_arg_pointer))
#else
#define TACH__ANY_ALIGNMENT
#endif

#endif
