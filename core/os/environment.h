/* SPDX-License-Identifier: MIT */
/* Reads the environment variables that configure regions. */
#ifndef TACH_CORE_OS_ENVIRONMENT_H
#define TACH_CORE_OS_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

enum { TACH__ONLY_SIZE = 1024 }; /* room for the globs that choose regions */

/*
 * Returns the variable's value. NULL: it is not set, it is empty, or the environment is not
 * trusted. If the variable is not set, but TACH_OPTIONS has this setting, returns the value
 * from there. This text is valid until TACH_OPTIONS changes.
 */
const char *tach__environment(const char *name);
/* Finds the next setting in a text that has the form of TACH_OPTIONS, without surrounding
 * blanks. Returns 0 at the end. */
struct tach__setting {
	const char *at, *value; /* value: NULL without a '=' */
	size_t length, nvalue;	/* lengths of the name and the value */
};
int tach__environment_setting(const char **text, struct tach__setting *setting);
/* Names of settings, NULL at the end. */
extern const char *const tach__environment_settings[];
enum { TACH__SETTING_SIZE = 128 }; /* room for the text of a value */
/* Returns TACH_EVENTS. An empty value has a meaning: no event, only the clock. */
const char *tach__environment_events(void);
/* Returns TACH_INTERRUPTS as TACH_SET_* flags. */
uint32_t tach__environment_interrupts(void);
/* Returns the variable's number, or `otherwise` if it is unset or not a number. */
uint32_t tach__environment_number(const char *variable, uint32_t otherwise);
/* Writes one sentence about a variable whose value is not allowed. Returns 0 if all are
 * allowed. */
int tach__environment_odd(char *text, size_t size);

#endif
