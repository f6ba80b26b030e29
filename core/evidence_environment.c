/* SPDX-License-Identifier: MIT */
/* Gathering: what the environment asks of regions, tried without doing it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tach/set.h>
#include "core/environment.h"
#include "core/evidence.h"

static void look_at_events(struct tach__evidence *e)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set = NULL;

	opt.events = tach__environment("TACH_EVENTS");
	opt.metrics = tach__environment("TACH_METRICS");
	if (!opt.events && !opt.metrics)
		return;
	if (tach_set_create(&set, &opt, &err) == 0)
		e->events_members = tach_set_count(set);
	else if (err.column)
		snprintf(e->events_error, sizeof e->events_error,
			 "TACH_EVENTS or TACH_METRICS cannot be used: column %d: %.150s",
			 err.column, err.text);
	else
		snprintf(e->events_error, sizeof e->events_error,
			 "TACH_EVENTS or TACH_METRICS cannot be used: %.160s", err.text);
	tach_set_free(set);
}

/* The file need not exist; then its folder must take one. %p and %u are digits by then. */
static void look_at_output(struct tach__evidence *e)
{
	const char *file = tach__environment("TACH_OUTPUT"), *slash;
	char folder[4096] = ".";
	struct stat status;

	e->output = file != NULL;
	if (!file || strcmp(file, "-") == 0)
		return;
	slash = strrchr(file, '/');
	if (slash)
		snprintf(folder, sizeof folder, "%.*s", slash == file ? 1 : (int)(slash - file),
			 file);
	if (stat(file, &status) == 0) {
		if (S_ISDIR(status.st_mode) || access(file, W_OK) != 0)
			snprintf(e->output_error, sizeof e->output_error, "%.120s: %s", file,
				 tach_strerror(S_ISDIR(status.st_mode) ? -EISDIR : -errno));
		return;
	}
	if (access(folder, W_OK | X_OK) != 0)
		snprintf(e->output_error, sizeof e->output_error, "the folder %.120s: %s",
			 folder, tach_strerror(-errno));
}

void tach__evidence_environment(struct tach__evidence *e)
{
	look_at_events(e);
	if (!e->events_error[0])
		tach__environment_odd(e->events_error, sizeof e->events_error);
	look_at_output(e);
}
