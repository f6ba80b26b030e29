/* SPDX-License-Identifier: MIT */
/*
 * From a CPU's identification to its PMUs. arch/<arch>/identify.c reads the machine,
 * core/pmu/identify.c searches the tables. Both use only files below a root folder and their
 * arguments, so that any machine can be examined on any other.
 */
#ifndef TACH_CORE_PORT_IDENTIFY_H
#define TACH_CORE_PORT_IDENTIFY_H

#include <tach/error.h>
#include "core/tables/tables.h"

/* One kind of core. */
struct tach__cpu {
	char vendor[16];		  /* x86, ia64: CPUID's vendor string */
	uint32_t family, model, stepping; /* arm64: implementer, part, 0 */
	uint32_t core, native; /* x86 hybrids: CPUID 1AH EAX 31-24, 23-0; 0 = unknown */
	uint32_t capacity;     /* arm64: the scheduler's measure; 0 = unknown */
	char id[64];	       /* riscv64: mvendorid marchid mimpid, as in /proc/cpuinfo */
	int noarch; /* lacks the architectural PMU, so it must not be assumed by default */
};

enum { TACH__CPU_KINDS = 8 }; /* maximum number of kinds of core in one machine */

/* Lists the kinds of core of the machine under root, at most max; returns their number. native:
 * it is the machine we run on, so that instructions may be used as well as files. */
#define TACH__ARCH(name, NAME, cells, numbers)                                                 \
	int tach__##name##_cpus(const char *root, int native, struct tach__cpu *out, int max);
#include <archs.h>

#endif
