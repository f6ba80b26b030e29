/* SPDX-License-Identifier: MIT */
/* Looks into the process that `tach top` shows, once per interval. */
#include <errno.h>
#include <stdio.h>
#include "tools/tach/commands.h"
#include "tools/tach/top.h"

static int has_histograms(const struct tach_snapshot *s)
{
	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		if (tach_snapshot_buckets(s, r, TACH_QUANTITY_TIME, NULL, 0) > 0)
			return 1;
	return 0;
}

static int take_look(struct top *t, struct tach_snapshot **out, double *when, char *error,
		     size_t size)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach_snapshot_take_process(t->process, out, &err);

	*when = clock_seconds(CLOCK_MONOTONIC);
	if (code)
		snprintf(error, size, "%s", err.text);
	else
		t->histograms |= has_histograms(*out);
	return code;
}

int top_look_first(struct top *t, struct top_look *look)
{
	int code = take_look(t, &look->last, &look->when, look->error, sizeof look->error);

	return code ? EXIT_NO : EXIT_DONE;
}

int top_look_next(struct top *t, struct top_look *look)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *next, *between;
	double when;
	int code;

	*look->error = '\0';
	code = take_look(t, &next, &when, look->error, sizeof look->error);
	/* The process's memory disappears before its pidfd reports the end. */
	if (code == -ESRCH)
		return TOP_ENDED;
	if (code)
		return EXIT_NO;
	code = tach_snapshot_since(next, look->last, &between, &err);
	tach_snapshot_free(look->last);
	look->last = next;
	look->seconds = when - look->when;
	look->when = when;
	if (code) {
		snprintf(look->error, sizeof look->error, "%s", err.text);
		return EXIT_NO;
	}
	tach_snapshot_free(look->between);
	look->between = between;
	return EXIT_DONE;
}

void top_look_free(struct top_look *look)
{
	tach_snapshot_free(look->last);
	tach_snapshot_free(look->between);
}
