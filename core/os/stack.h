/* SPDX-License-Identifier: MIT */
/* A separate stack, for functions that need more stack than the program may have left. */
#ifndef TACH_CORE_OS_STACK_H
#define TACH_CORE_OS_STACK_H

/*
 * Calls f(arg) on a stack of 64 KB that is mapped for it, with a guard page below. Returns its
 * result, or TACH_ERR_NOMEM without calling it. It uses about 200 bytes of the caller's stack.
 * Call it only with signals held (core/os/sys.h). Handlers that can still run, such as
 * SIGSEGV's, have room on the new stack. f must not be left by longjmp. Calls and returns stay
 * paired, as shadow stacks (CET, GCS) require, and debuggers unwind through the call. On
 * architectures without this assembly, f runs on the caller's stack. It does so, too, under
 * AddressSanitizer, ThreadSanitizer and Helgrind (TACH_HELGRIND), which must be informed of
 * stacks.
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
