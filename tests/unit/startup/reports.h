/* SPDX-License-Identifier: MIT */
/* Reports as TACH_OUTPUT requests, in a folder of the test. */
#ifndef TESTS_UNIT_STARTUP_REPORTS_H
#define TESTS_UNIT_STARTUP_REPORTS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/region/region.h"
#include "core/startup/startup.h"
#include "tests/child.h"

static char folder[] = "/tmp/tach-reports-XXXXXX";
static char file[100], got[20000];

static inline const char *in_folder(const char *name)
{
	snprintf(file, sizeof file, "%s/%s", folder, name);
	return file;
}

/* Reads the whole file, and removes it; "": there is none. */
static inline const char *content(const char *name)
{
	FILE *from = fopen(in_folder(name), "r");
	size_t n = from ? fread(got, 1, sizeof got - 1, from) : 0;

	if (from)
		fclose(from);
	unlink(file);
	got[n] = '\0';
	return got;
}

static inline int is_json(const char *text)
{
	return strncmp(text, "{\n  \"tach\": 1,", 14) == 0 &&
	       strstr(text, "\"name\": \"work\"");
}

/* Does the library's start, with one region that was entered. */
static inline void start(const char *output)
{
	unsetenv("TACH_OUTPUT_PID");
	CHECK(tach_regions_configure(&(struct tach_regions_options){.events = ""}, NULL) == 0);
	errno = 77;
	tach__output_at_exit(output);
	CHECK(errno == 77);
	{
		TACH_START(work);
		TACH_STOP(work);
	}
}

/* Checks an error's code, and how its text begins. */
static inline void refused(int code, const char *begins)
{
	struct tach_error err = TACH_ERROR_INIT;

	errno = 77;
	CHECK(tach_report_now(&err) == code && err.code == code && errno == 77, "%d: %s",
	      err.code, err.text);
	CHECK(strncmp(err.text, begins, strlen(begins)) == 0, "%s", err.text);
	CHECK(err.line == 0 && err.column == 0, "%s", err.text);
}

static inline void now(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	errno = 77;
	CHECK(tach_report_now(&err) == 0 && errno == 77, "%s", err.text);
}

#endif
