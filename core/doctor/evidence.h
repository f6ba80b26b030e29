/* SPDX-License-Identifier: MIT */
/*
 * What an examination of the machine saw: settings read from files and the outcome of attempts.
 * core/doctor/evidence.c gathers, core/doctor/doctor.c judges; the judgement is a pure function
 * of this struct, so that a test can put every machine in front of it.
 */
#ifndef TACH_CORE_DOCTOR_EVIDENCE_H
#define TACH_CORE_DOCTOR_EVIDENCE_H

#include <stdint.h>
#include "core/os/cause.h"
#include "core/os/settings.h"

struct tach__evidence {
	struct tach__settings settings; /* rdpmc: the lowest of several core PMUs' */
	enum tach__user_read user_read; /* how this architecture reads, if at all */
	int32_t core_pmus;		/* event sources for CPU cores in sysfs */
	char tables[96];		/* names of our PMUs for it; "" = none */
	char tables_error[160];
	int counters_general; /* by our tables; 0 = not known */
	int counters_fixed;   /* 1 when instructions has a counter of its own beside them */

	/* Attempts. 0 or a negated errno. */
	int open_software; /* a software event, user level */
	int open_kernel;   /* the same with the kernel's share */
	int open_hardware; /* instructions, else cycles, user level */
	int undivided;	   /* ... which takes the kernel level as well */
	int mediated;	   /* ... which is refused unless it leaves guests out */
	int used_cycles;   /* instructions had no event; cycles were counted */
	int map;
	/* The count of a known loop, valid when open_hardware is 0. */
	int pinned_error; /* read(2) gave 0 bytes: never got a counter */
	uint64_t enabled, running;
	uint64_t loop, counted;
	/* The mapped page, valid when map is 0. */
	int cap_user_read;
	int user_tried;
	uint64_t user_counted;
	int counters_free; /* -1 = not tried */

	/* The environment that regions are configured by. */
	int events_members;	/* of the set it names; 0: it names none */
	char events_error[224]; /* what is wrong with that, "" */
	char output_error[176]; /* with TACH_OUTPUT, "" */
	int output;		/* TACH_OUTPUT is set */
};

/* Clears *e and reads the settings below root/proc and root/sys. */
void tach__evidence_settings(struct tach__evidence *e, const char *root);
/* Opens, maps, counts. */
void tach__evidence_attempts(struct tach__evidence *e);
/* What TACH_EVENTS, TACH_METRICS and TACH_OUTPUT would do; nothing is written. */
void tach__evidence_environment(struct tach__evidence *e);

#endif
