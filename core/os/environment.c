/* SPDX-License-Identifier: MIT */
/* Variables of the environment that regions are configured by. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/set.h>
#include "core/os/environment.h"

const char *const tach__environment_settings[] = {
	"sparse", "warmup",	"worst", "by",	   "turns",   "histograms", "interval",
	"signal", "interrupts", "tree",	 "places", "command", NULL};
enum { SETTINGS = sizeof tach__environment_settings / sizeof(char *) - 1 };

int tach__environment_setting(const char **text, struct tach__setting *setting)
{
	const char *at = *text + strspn(*text, " ,"), *equals;
	size_t length = strcspn(at, ",");

	*text = at + length;
	while (length > 0 && at[length - 1] == ' ')
		length--;
	equals = memchr(at, '=', length);
	*setting = (struct tach__setting){.at = at, .length = length};
	if (equals) {
		setting->length = (size_t)(equals - at);
		setting->value = equals + 1;
		setting->nvalue = length - setting->length - 1;
	}
	return length > 0;
}

static int is_variable(const char *setting, const char *name)
{
	return strncmp(name, "TACH_", 5) == 0 && strcasecmp(name + 5, setting) == 0;
}

/*
 * Finds the last setting with that name. A plus sign replaces the comma inside a value of `by`.
 */
static const char *find_setting(int number)
{
	static char kept[SETTINGS][TACH__SETTING_SIZE];
	const char *wanted = tach__environment_settings[number];
	const char *text = secure_getenv("TACH_OPTIONS");
	char value[TACH__SETTING_SIZE] = "";
	struct tach__setting setting;

	while (text && tach__environment_setting(&text, &setting))
		if (setting.value && setting.nvalue < sizeof value &&
		    setting.length == strlen(wanted) &&
		    memcmp(setting.at, wanted, setting.length) == 0)
			snprintf(value, sizeof value, "%.*s", (int)setting.nvalue,
				 setting.value);
	for (char *c = value; *c && strcmp(wanted, "by") == 0; c++)
		*c = *c == '+' ? ',' : *c;
	/* Other threads may be reading the same text. */
	if (strcmp(kept[number], value) != 0)
		strcpy(kept[number], value);
	return *value ? kept[number] : NULL;
}

const char *tach__environment(const char *name)
{
	const char *value = secure_getenv(name);

	if (value && *value)
		return value;
	for (int i = 0; i < SETTINGS; i++)
		if (is_variable(tach__environment_settings[i], name))
			return find_setting(i);
	return NULL;
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

/* One that fits. */
static int is_number(const char *value)
{
	return value[strspn(value, "0123456789")] == '\0' &&
	       strtoul(value, NULL, 10) <= UINT32_MAX;
}

uint32_t tach__environment_number(const char *variable, uint32_t otherwise)
{
	const char *value = tach__environment(variable);

	return value && is_number(value) ? (uint32_t)strtoul(value, NULL, 10) : otherwise;
}

/* "TACH_SPARSE", or "TACH_OPTIONS: sparse". */
static const char *name_source(const char *variable, char *text, size_t size)
{
	const char *value = secure_getenv(variable);

	if (value && *value)
		return variable;
	for (int i = 0; i < SETTINGS; i++)
		if (is_variable(tach__environment_settings[i], variable))
			snprintf(text, size, "TACH_OPTIONS: %s", tach__environment_settings[i]);
	return text;
}

int tach__environment_odd(char *text, size_t size)
{
	static const char *const numbers[] = {"TACH_SPARSE", "TACH_WARMUP", "TACH_HISTOGRAMS",
					      "TACH_TURNS"};
	const char *value = tach__environment("TACH_INTERRUPTS");
	char name[40] = "";

	if (value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0 &&
	    strcmp(value, "correct") != 0) {
		snprintf(text, size, "%s is 0, 1 or correct, not '%.40s'",
			 name_source("TACH_INTERRUPTS", name, sizeof name), value);
		return 1;
	}
	value = tach__environment("TACH_REGIONS");
	if (value && strlen(value) >= TACH__ONLY_SIZE) {
		snprintf(text, size,
			 "TACH_REGIONS takes more than %d bytes; the rest is ignored",
			 TACH__ONLY_SIZE - 1);
		return 1;
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		value = tach__environment(numbers[i]);
		if (value && !is_number(value)) {
			snprintf(text, size, "%s is a number%s, not '%.40s'",
				 name_source(numbers[i], name, sizeof name),
				 value[strspn(value, "0123456789")] ? "" : " up to 4294967295",
				 value);
			return 1;
		}
	}
	return 0;
}
