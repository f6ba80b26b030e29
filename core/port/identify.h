/* SPDX-License-Identifier: MIT */
/*
 * Finds the PMUs of a CPU by its identification. arch/<arch>/identify.c reads the machine, and
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
	uint32_t capacity;     /* arm64: the scheduler's cpu_capacity; 0 = unknown */
	char id[64];	       /* riscv64: mvendorid marchid mimpid, as in /proc/cpuinfo */
	int noarch;	       /* 1: lacks the architectural PMU, which is otherwise assumed */
};

enum { TACH__CPU_KINDS = 8 }; /* maximum number of kinds of core in one machine */

/* Lists the kinds of core of the machine under root, at most max; returns their number. native:
 * the root is of this machine, so instructions may be used in addition to files. */
#define TACH__ARCH(name, NAME, cells, numbers)                                                 \
	int tach__##name##_cpus(const char *root, int native, struct tach__cpu *out, int max);
#include <archs.h>

#endif
