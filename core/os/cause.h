/* SPDX-License-Identifier: MIT */
/*
 * Causes why counting does not work on this machine, each with a sentence and a cure, for tach
 * doctor and for errors of opening. The functions find the cause from the kernel's answer and
 * the settings.
 */
#ifndef TACH_CORE_OS_CAUSE_H
#define TACH_CORE_OS_CAUSE_H

#include <stddef.h>
#include <tach/doctor.h>
#include "core/os/settings.h"

struct tach__cause {
	const char *name, *check; /* as in tach_finding */
	enum tach_severity severity;
	const char *cure; /* short enough to follow the sentence in a tach_error */
	const char *more; /* a text that continues the sentence of `cure` */
};
extern const struct tach__cause tach__causes[TACH_CAUSE_COUNT];

/* How an architecture reads counters in user space; NONE: it cannot. */
enum tach__user_read { TACH__USER_NONE, TACH__USER_RDPMC, TACH__USER_MRS, TACH__USER_CSR };

/* Writes the finding for a cause that a function below returned. code: the negated errno. */
void tach__cause_text(enum tach_cause cause, const struct tach__settings *s, int code,
		      char *text, size_t size);

/* Returns the cause if perf_event_open returned `code` for an event that any machine with a PMU
 * counts. */
enum tach_cause tach__cause_of_refusal(int code, const struct tach__settings *s);
/* Returns the cause if mmap of an event's page returned `code`. */
enum tach_cause tach__cause_of_map(int code);
/* Returns the cause if a page shows no counter. offered: cap_user_rdpmc of the page is set. */
enum tach_cause tach__cause_of_no_index(const struct tach__settings *s,
					enum tach__user_read way, int offered);

#endif
