/* SPDX-License-Identifier: MIT */
/*
 * From what a CPU says of itself to the PMUs that it has. arch/<arch>/identify.c reads the
 * machine, core/pmu/identify.c asks the tables; both see only what lies under a root folder and
 * what they are given, so that any machine can be shown to them on any other.
 */
#ifndef TACH_CORE_PORT_IDENTIFY_H
#define TACH_CORE_PORT_IDENTIFY_H

#include <tach/error.h>
#include "core/tables/tables.h"

/* One kind of core. */
struct tach__cpu {
	char vendor[16];		  /* x86, ia64: CPUID's vendor string */
	uint32_t family, model, stepping; /* arm64: implementer, part, 0 */
	uint32_t core, native; /* x86 hybrids: CPUID 1AH EAX 31-24, 23-0; 0 = not told */
	uint32_t capacity;     /* arm64: the scheduler's measure; 0 = not told */
	char id[64]; /* riscv64: mvendorid marchid mimpid, as /proc/cpuinfo has them */
	int noarch;  /* lacks the architectural PMU, so that the default must not be assumed */
};

enum { TACH__CPU_KINDS = 8 }; /* at most so many kinds of core in one machine */

/*
 * The kinds of core of the machine under root, at most max; how many. native: this is the
 * machine we run on, so that instructions may be asked as well as files.
 */
#define TACH__ARCH(name, NAME, cells, numbers)                                                 \
	int tach__##name##_cpus(const char *root, int native, struct tach__cpu *out, int max);
#include <archs.h>

#endif
