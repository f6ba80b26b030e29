/* SPDX-License-Identifier: MIT */
/* A stack of the library's own, for what takes more than a program may have left. */
#ifndef TACH_CORE_OS_STACK_H
#define TACH_CORE_OS_STACK_H

/*
 * f(arg) on a stack of 64 KB that is mapped for it, with a guard page below; its result, or
 * TACH_ERR_NOMEM and it was not called. Of the caller's stack it takes some 200 bytes. Only
 * with signals held (core/os/sys.h): what is left to come, handlers of SIGSEGV and the like,
 * has room there. Nothing may jump out of f.
 *
 * Calls and returns stay paired, so shadow stacks (CET, GCS) are content, and debuggers unwind
 * through it. AddressSanitizer, ThreadSanitizer and Helgrind (TACH_HELGRIND), which want to be
 * told of stacks, and architectures without the few lines of assembly that it takes, call f
 * where they are.
 */
int tach__on_own_stack(int (*f)(void *), void *arg);

#endif
