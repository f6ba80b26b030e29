/* SPDX-License-Identifier: MIT */
/*
 * Counts of an emulator that this program runs in (`tach run --emulate`): QEMU's user mode with
 * the plugin tools/emulate/plugin.c, which includes this too.
 *
 * Emulator and program share an address space, so the program reads the plugin's own memory. A
 * system call of a number that Linux does not have asks for its address: the plugin sees it
 * first and fills in the answer, a kernel says ENOSYS. It is made only where the variable
 * TACH_EMULATE says that there will be an answer, as a seccomp filter may kill for it.
 */
#ifndef TACH_CORE_OS_EMULATOR_H
#define TACH_CORE_OS_EMULATOR_H

#include <linux/perf_event.h>
#include <stdint.h>

/* One vCPU's, which is one thread's; each only ever grows. */
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
	uint64_t counts;  /* where the calling thread's counts are */
	uint64_t flags;	  /* TACH__EMULATOR_MEMORY: loads and stores are counted */
};

/* The calling thread's counts; NULL: no emulator. Async-signal-safe once it was called. */
const uint64_t *tach__emulated_counts(void);
/*
 * Returns the number of that event, or -1 with a sentence that says why the emulator cannot
 * count it. Call it under the emulator only.
 */
int tach__emulated_event(const struct perf_event_attr *attr, const char **why);
/* All of them at the same instant: they include all code before this call in the program. */
void tach__emulated_read(const uint64_t *counts, uint64_t *to);

#endif
