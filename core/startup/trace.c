/* SPDX-License-Identifier: MIT */
/* TACH_TRACE: writes all traced entries to a file, at the same times as reports. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include "core/os/buffer.h"
#include "core/os/environment.h"
#include "core/report/report.h"
#include "core/startup/startup.h"

static char trace[PATH_MAX]; /* "": nothing is written */

int tach__trace_choose(void)
{
	const char *file = tach__environment("TACH_TRACE");

	if (file && *file && tach__output_is_owner(file)) {
		tach__output_absolute(trace, file);
		tach__output_add_rank(trace);
	}
	return tach__trace_wanted();
}

int tach__trace_wanted(void)
{
	return *trace != '\0';
}

/* The suffix of the name decides the format, as for reports. */
static int is_folded(void)
{
	const char *suffix = strrchr(trace, '.');

	return suffix && strcmp(suffix, ".folded") == 0;
}

int tach__trace_write(void)
{
	struct tach__buffer text = {0};
	char file[PATH_MAX];
	int code;

	if (!*trace || !tach__output_is_here(trace))
		return 0;
	if (!tach__output_expand(file, sizeof file, trace, 0))
		return -ENAMETOOLONG;
	code = tach__report_trace(tach__buffer_sink, &text, is_folded());
	if (code == 0)
		code = tach__deliver_file(file, 0, &text);
	if (code)
		tach__environment_unwritten("TACH_TRACE", file, code);
	tach__buffer_free(&text);
	return code;
}
