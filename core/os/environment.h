/* SPDX-License-Identifier: MIT */
/* Variables of the environment that regions are configured by. */
#ifndef TACH_CORE_OS_ENVIRONMENT_H
#define TACH_CORE_OS_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

enum { TACH__ONLY_SIZE = 1024 }; /* size of the globs that choose regions */

/*
 * NULL where it is not set, empty, or not to be trusted. A variable that is a setting of
 * TACH_OPTIONS has its value from there, unless it is set itself. That text lasts until
 * TACH_OPTIONS changes.
 */
const char *tach__environment(const char *name);
/* Finds the next setting of a text in the form of TACH_OPTIONS, without surrounding blanks; 0:
 * the end. */
struct tach__setting {
	const char *at, *value; /* value: NULL without a '=' */
	size_t length, nvalue;	/* lengths of the name and the value */
};
int tach__environment_setting(const char **text, struct tach__setting *setting);
/* Names of settings, NULL at the end. */
extern const char *const tach__environment_settings[];
enum { TACH__SETTING_SIZE = 128 }; /* of a value */
/* TACH_EVENTS, where "" says something too: no event, the clock alone. */
const char *tach__environment_events(void);
/* TACH_INTERRUPTS as TACH_SET_* flags. */
uint32_t tach__environment_interrupts(void);
/* The number of a variable; `otherwise` if it is unset or not a number. */
uint32_t tach__environment_number(const char *variable, uint32_t otherwise);
/* Writes one sentence about a variable with a value that is not allowed; 0: no such variable.
 */
int tach__environment_odd(char *text, size_t size);

#endif
