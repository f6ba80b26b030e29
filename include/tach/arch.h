/* SPDX-License-Identifier: MIT */
/* The only architecture ladder in the tree. */
#ifndef TACH_ARCH_H
#define TACH_ARCH_H

#if defined(__x86_64__) && !defined(__ILP32__)
#include <tach/arch/x86.h>
#elif defined(__i386__) || defined(__x86_64__)
#error "libtach reads counters in 64-bit x86 programs only"
#elif defined(__aarch64__)
#include <tach/arch/arm64.h>
#elif defined(__ia64__)
#include <tach/arch/ia64.h>
#else
#include <tach/arch/none.h>
#endif

#endif
