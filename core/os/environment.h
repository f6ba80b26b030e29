/* SPDX-License-Identifier: MIT */
/* Variables of the environment that regions are configured by. */
#ifndef TACH_CORE_OS_ENVIRONMENT_H
#define TACH_CORE_OS_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

enum { TACH__ONLY_SIZE = 1024 }; /* of the globs that choose regions */

/*
 * NULL where it is not set, empty, or not to be trusted. A variable that is a setting of
 * TACH_OPTIONS has its value from there, unless it is set itself. That text lasts until
 * TACH_OPTIONS changes.
 */
const char *tach__environment(const char *name);
/* The next setting of a text as TACH_OPTIONS has it, without blanks around; 0: no more. */
struct tach__setting {
	const char *at, *value; /* value: NULL without a '=' */
	size_t length, nvalue;	/* of the name, of the value */
};
int tach__environment_setting(const char **text, struct tach__setting *setting);
/* Names of settings, NULL at the end. */
extern const char *const tach__environment_settings[];
enum { TACH__SETTING_SIZE = 128 }; /* of a value */
/* TACH_EVENTS, where "" says something too: no event, the clock alone. */
const char *tach__environment_events(void);
/* TACH_INTERRUPTS as TACH_SET_* flags. */
uint32_t tach__environment_interrupts(void);
/* Of a variable; `otherwise` where it is not set or is no number. */
uint32_t tach__environment_number(const char *variable, uint32_t otherwise);
/* One sentence on a variable whose value is none of those it may have; 0: there is none. */
int tach__environment_odd(char *text, size_t size);

#endif
