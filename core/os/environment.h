/* SPDX-License-Identifier: MIT */
/* Variables of the environment that regions are configured by. */
#ifndef TACH_CORE_OS_ENVIRONMENT_H
#define TACH_CORE_OS_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

enum { TACH__ONLY_SIZE = 1024 }; /* of the globs that choose regions */

/* NULL where it is not set, empty, or not to be trusted. */
const char *tach__environment(const char *name);
/* TACH_EVENTS, where "" says something too: no event, the clock alone. */
const char *tach__environment_events(void);
/* TACH_INTERRUPTS as TACH_SET_* flags. */
uint32_t tach__environment_interrupts(void);
/* One sentence on a variable whose value is none of those it may have; 0: there is none. */
int tach__environment_odd(char *text, size_t size);

#endif
