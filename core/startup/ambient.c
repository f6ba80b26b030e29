/* SPDX-License-Identifier: MIT */
/* TACH_AMBIENT: counts uncore boxes for the whole machine, as an additional row in the reports
 * that TACH_OUTPUT asks for. Under `tach run` the command counts them. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "core/os/environment.h"
#include "core/snapshot/snapshot.h"
#include "core/startup/startup.h"
#include "core/uncore/uncore.h"

static struct tach__ambient ambient; /* no uncore: not counting */
static double began;
static char odd[300]; /* the reason why not */

static const char *wanted(void)
{
	return tach__environment("TACH_RUN") ? NULL : tach__environment("TACH_AMBIENT");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int say_why(const struct tach_error *err, char *text, size_t size)
{
	snprintf(text, size,
		 err->column ? "TACH_AMBIENT cannot be used: %s (column %d)"
			     : "TACH_AMBIENT cannot be used: %s",
		 err->text, err->column);
	return 1;
}

int tach__ambient_odd(char *text, size_t size)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__ambient tried;

	if (!wanted())
		return 0;
	if (tach__ambient_open(&tried, wanted(), &err) != 0)
		return say_why(&err, text, size);
	tach__ambient_close(&tried);
	return 0;
}

void tach__ambient_start(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	if (!wanted())
		return;
	if (tach__ambient_open(&ambient, wanted(), &err) != 0) {
		say_why(&err, odd, sizeof odd);
		return;
	}
	began = now();
	tach_uncore_start(ambient.uncore);
}

static void note(struct tach_snapshot *s, const char *text)
{
	size_t used = strlen(s->note);

	snprintf(s->note + used, sizeof s->note - used, "%s%s", used ? "; " : "", text);
}

void tach__ambient_add(struct tach_snapshot *s)
{
	uint64_t read[TACH_COUNTERS_MAX], count[TACH_COUNTERS_MAX];
	uint32_t how[TACH_COUNTERS_MAX], flags[TACH_COUNTERS_MAX];
	struct tach__beside row = {"(whole machine)", ambient.set, count, flags, 0};

	if (*odd)
		note(s, odd);
	if (!ambient.uncore)
		return;
	tach_uncore_read(ambient.uncore, read, how);
	row.seconds = now() - began;
	for (int i = 0; i < tach_set_count(ambient.set); i++) {
		int k = tach__uncore_member(ambient.uncore, ambient.set, i);

		count[i] = read[k];
		flags[i] = how[k];
	}
	if (tach__snapshot_beside(s, &row) == 0)
		tach__ambient_note(ambient.uncore, s->note, sizeof s->note);
}
