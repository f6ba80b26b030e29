/* SPDX-License-Identifier: MIT */
/*
 * Counts of an emulator that this program runs in (`tach run --emulate`): QEMU's user mode with
 * the plugin tools/emulate/plugin.c, which includes this header, too.
 *
 * Emulator and program share an address space, so the program reads the plugin's memory. It
 * gets the address by a system call whose number Linux does not use. The plugin sees the call
 * first and fills in the answer; a kernel returns ENOSYS. A seccomp filter may kill the process
 * for this call, so it is made only if the variable TACH_EMULATE promises an answer.
 */
#ifndef TACH_CORE_OS_EMULATOR_H
#define TACH_CORE_OS_EMULATOR_H

#include <linux/perf_event.h>
#include <stdint.h>

/* Counts of one vCPU, which is one thread. They never decrease. */
enum tach__emulated_count {
	TACH__EMULATED_INSTRUCTIONS,
	TACH__EMULATED_BRANCHES,
	TACH__EMULATED_LOADS,
	TACH__EMULATED_STORES,
	TACH__EMULATED_COUNTS
};

enum { TACH__EMULATOR_CALL = 0x7ac4, TACH__EMULATOR_VERSION = 1, TACH__EMULATOR_MEMORY = 1 };

/* The call gets the address and size of this. Do not change it: plugin and library may have
 * different versions. */
struct tach__emulator_answer {
	uint64_t version; /* 0: there was no answer */
	uint64_t counts;  /* address of the calling thread's counts */
	uint64_t flags;	  /* TACH__EMULATOR_MEMORY: loads and stores are counted */
};

/* Returns the calling thread's counts; NULL: no emulator. Async-signal-safe after the first
 * call. */
const uint64_t *tach__emulated_counts(void);
/*
 * Returns the number of the event. If the emulator cannot count it, returns -1, and *why is a
 * sentence with the reason. Call it only under the emulator.
 */
int tach__emulated_event(const struct perf_event_attr *attr, const char **why);
/* Reads all counts at the same moment. They include all code before this call in the
 * program. */
void tach__emulated_read(const uint64_t *counts, uint64_t *to);

#endif
