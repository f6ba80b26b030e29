/* SPDX-License-Identifier: MIT */
/*
 * Evidence about the machine: settings read from files and the outcome of attempts.
 * core/doctor/evidence.c gathers it, core/doctor/doctor.c judges it. The judgement depends only
 * on this struct, so a test can simulate any machine.
 */
#ifndef TACH_CORE_DOCTOR_EVIDENCE_H
#define TACH_CORE_DOCTOR_EVIDENCE_H

#include <stdint.h>
#include "core/os/cause.h"
#include "core/os/settings.h"

struct tach__evidence {
	struct tach__settings settings; /* its rdpmc is the minimum of several core PMUs */
	/* How this architecture reads counters in user space. */
	enum tach__user_read user_read;
	int32_t core_pmus; /* event sources for CPU cores in sysfs */
	char tables[96];   /* names of this machine's PMUs in the tables; "": none */
	char tables_error[160];
	int counters_general; /* number of general counters in the tables; 0 = unknown */
	int counters_fixed;   /* 1 if instructions have a counter of their own in addition */

	/* Results of attempts: 0 or a negated errno. */
	int open_software; /* a software event, user level */
	int open_kernel;   /* a software event, including the kernel level */
	int open_hardware; /* instructions, otherwise cycles, user level */
	int undivided;	   /* 1: the event also counts the kernel level */
	int mediated;	   /* 1: the kernel refuses the event unless it excludes guests */
	int used_cycles;   /* instructions had no event, so cycles were counted */
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

	/* The environment for regions. */
	int events_members;	/* members of the set in the environment; 0: no set */
	char events_error[224]; /* the error in TACH_EVENTS or TACH_METRICS, or "" */
	char output_error[176]; /* the error in TACH_OUTPUT, or "" */
	int output;		/* TACH_OUTPUT is set */
};

/* Clears *e and reads the settings below root/proc and root/sys. */
void tach__evidence_settings(struct tach__evidence *e, const char *root);
/* Tries to open, map and read counters, and records the results in *e. */
void tach__evidence_attempts(struct tach__evidence *e);
/* Evaluates TACH_EVENTS, TACH_METRICS and TACH_OUTPUT without writing anything. */
void tach__evidence_environment(struct tach__evidence *e);

#endif
