/* SPDX-License-Identifier: MIT */
/* Variables of the environment that regions are configured by. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/set.h>
#include "core/os/environment.h"

const char *tach__environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

const char *tach__environment_events(void)
{
	return secure_getenv("TACH_EVENTS");
}

uint32_t tach__environment_interrupts(void)
{
	const char *value = tach__environment("TACH_INTERRUPTS");

	if (!value || strcmp(value, "0") == 0)
		return 0;
	return strcmp(value, "correct") == 0 ? TACH_SET_CORRECT : TACH_SET_INTERRUPTS;
}

static int is_number(const char *value)
{
	return value[strspn(value, "0123456789")] == '\0';
}

int tach__environment_odd(char *text, size_t size)
{
	static const char *const numbers[] = {"TACH_SPARSE", "TACH_WARMUP", "TACH_HISTOGRAMS",
					      "TACH_TURNS"};
	const char *value = tach__environment("TACH_INTERRUPTS");

	if (value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0 &&
	    strcmp(value, "correct") != 0) {
		snprintf(text, size, "TACH_INTERRUPTS is 0, 1 or correct, not '%.40s'", value);
		return 1;
	}
	value = tach__environment("TACH_REGIONS");
	if (value && strlen(value) >= TACH__ONLY_SIZE) {
		snprintf(text, size,
			 "TACH_REGIONS takes more than %d bytes; the rest is not "
			 "looked at",
			 TACH__ONLY_SIZE - 1);
		return 1;
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		value = tach__environment(numbers[i]);
		if (value && !is_number(value)) {
			snprintf(text, size, "%s is a number, not '%.40s'", numbers[i], value);
			return 1;
		}
	}
	return 0;
}
