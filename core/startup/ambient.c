/* SPDX-License-Identifier: MIT */
/*
 * TACH_AMBIENT: counts uncore boxes for the whole machine, as an additional row in the reports
 * that TACH_OUTPUT asks for. Other events in the list count the program: the first thread, and
 * all threads and processes that it starts. Under `tach run`, the command counts all of these
 * events.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/os/descriptor.h"
#include "core/os/environment.h"
#include "core/os/perf_open.h"
#include "core/os/sys.h"
#include "core/snapshot/snapshot.h"
#include "core/startup/startup.h"
#include "core/uncore/uncore.h"

static struct tach__ambient ambient; /* no uncore: not counting */
static double began;
static struct {
	int fd; /* or a negated errno */
	uint64_t id;
} own[TACH_COUNTERS_MAX]; /* members of the set that belong to no box */
static pid_t owner;	  /* the process that counts; a child of fork does not count */
static char scopes[600];  /* the events that count the program, for reports */
static char odd[300];	  /* the reason why TACH_AMBIENT does not count */

static const char *requested_events(void)
{
	return tach__environment("TACH_RUN") ? NULL : tach__environment("TACH_AMBIENT");
}

static double read_seconds(void)
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

	if (!requested_events())
		return 0;
	if (tach__ambient_open(&tried, requested_events(), &err) != 0)
		return say_why(&err, text, size);
	tach__ambient_close(&tried);
	return 0;
}

/* Opens the set's members that belong to no box, so that later threads inherit them. */
static void count_program(void)
{
	size_t used = 0, why = 0;
	char refused[300] = "";

	owner = getpid();
	for (int i = 0; i < tach_set_count(ambient.set); i++) {
		struct perf_event_attr attr = *tach_set_attr(ambient.set, i);
		const char *name = tach_set_name(ambient.set, i);

		if (tach__uncore_member(ambient.uncore, ambient.set, i) >= 0)
			continue;
		attr.inherit = 1;
		attr.disabled = attr.pinned = attr.exclusive = 0;
		attr.sample_period = 0;
		attr.read_format =
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		own[i].fd = (int)tach__descriptor_keep(tach__perf_open(&attr, -1), &own[i].id);
		if (used < 200)
			used += (size_t)snprintf(scopes + used, 200 - used, "%s%s",
						 used ? ", " : "", name);
		if (own[i].fd < 0 && why < sizeof refused)
			why += (size_t)snprintf(refused + why, sizeof refused - why,
						"; %.100s cannot be counted: %.80s", name,
						strerror(-own[i].fd));
	}
	if (used)
		snprintf(scopes + strlen(scopes), sizeof scopes - strlen(scopes),
			 ": of the program alone%s", refused);
}

static uint32_t read_program(int member, uint64_t *count)
{
	uint64_t r[3];
	long got = -1;

	*count = 0;
	if (own[member].fd >= 0 && owner == getpid() &&
	    tach__descriptor_is_event(own[member].fd, own[member].id))
		got = tach__sys(SYS_read, own[member].fd, (long)r, sizeof r, 0, 0, 0);
	if (got != (long)sizeof r || (r[1] && !r[2]))
		return TACH_FLAG_SYSCALL | TACH_FLAG_LOST;
	*count = r[0];
	if (r[2] >= r[1])
		return TACH_FLAG_SYSCALL;
	*count = (uint64_t)((double)r[0] * (double)r[1] / (double)r[2]);
	return TACH_FLAG_SYSCALL | TACH_FLAG_SCALED;
}

void tach__ambient_start(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	if (!requested_events())
		return;
	if (tach__ambient_open(&ambient, requested_events(), &err) != 0) {
		say_why(&err, odd, sizeof odd);
		return;
	}
	began = read_seconds();
	count_program();
	tach_uncore_start(ambient.uncore);
}

static void add_note(struct tach_snapshot *s, const char *text)
{
	size_t used = strlen(s->note);

	snprintf(s->note + used, sizeof s->note - used, "%s%s", used ? "; " : "", text);
}

void tach__ambient_add(struct tach_snapshot *s)
{
	uint64_t read[TACH_COUNTERS_MAX], count[TACH_COUNTERS_MAX];
	uint32_t how[TACH_COUNTERS_MAX], flags[TACH_COUNTERS_MAX];
	struct tach__beside row = {*scopes ? "(machine and program)" : "(whole machine)",
				   ambient.set, count, flags, 0};

	if (*odd)
		add_note(s, odd);
	if (!ambient.uncore)
		return;
	tach_uncore_read(ambient.uncore, read, how);
	row.seconds = read_seconds() - began;
	for (int i = 0; i < tach_set_count(ambient.set); i++) {
		int k = tach__uncore_member(ambient.uncore, ambient.set, i);

		if (k < 0) {
			flags[i] = read_program(i, &count[i]);
		} else {
			count[i] = read[k];
			flags[i] = how[k] | TACH_FLAG_SHARED;
		}
	}
	if (tach__snapshot_add_row(s, &row) != 0)
		return;
	if (*scopes)
		add_note(s, scopes);
	tach__ambient_note(ambient.uncore, s->note, sizeof s->note);
}
