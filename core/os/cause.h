/* SPDX-License-Identifier: MIT */
/*
 * Why counting does not work here, for tach doctor and for errors of opening alike: causes, the
 * sentence and the cure of each, and which one the kernel's answer and the settings speak for.
 */
#ifndef TACH_CORE_OS_CAUSE_H
#define TACH_CORE_OS_CAUSE_H

#include <stddef.h>
#include <tach/doctor.h>
#include "core/os/settings.h"

struct tach__cause {
	const char *name, *check; /* as tach_finding has them */
	enum tach_severity severity;
	const char *cure; /* short enough to follow the sentence in a tach_error */
	const char *more; /* goes on in the same sentence */
};
extern const struct tach__cause tach__causes[TACH_CAUSE_COUNT];

/* How an architecture reads counters in user space, if at all. */
enum tach__user_read { TACH__USER_NONE, TACH__USER_RDPMC, TACH__USER_MRS, TACH__USER_CSR };

/* Writes the finding for the causes of the functions below; code: the negated errno. */
void tach__cause_text(enum tach_cause cause, const struct tach__settings *s, int code,
		      char *text, size_t size);

/* perf_event_open returned `code` for an event that any machine with a PMU counts. */
enum tach_cause tach__cause_of_refusal(int code, const struct tach__settings *s);
/* mmap of an event's page gave `code`. */
enum tach_cause tach__cause_of_map(int code);
/* The page shows no counter; offered: its cap_user_rdpmc is set. */
enum tach_cause tach__cause_of_no_index(const struct tach__settings *s,
					enum tach__user_read way, int offered);

#endif
