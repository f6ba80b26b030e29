/* SPDX-License-Identifier: MIT */
/*
 * Results reach `tach run` through memory that it shares with the measured processes. A process
 * maps its part at its start, when it still has all rights. Text that was written there stays,
 * however the process ends, even if it can no longer open files.
 *
 * It is one memfd. Processes inherit it at a high descriptor number. Processes whose
 * descriptors were closed before their start open it through /proc. Layout: the number of areas
 * taken, then the areas. Each program takes one area. Its fork children use the same one,
 * because they may be unable to open the memfd. A process maps only the start of an area, with
 * its table, until there is more to write.
 */
#ifndef TOOLS_RUN_RESULTS_H
#define TOOLS_RUN_RESULTS_H

#include <stddef.h>
#include <stdint.h>

/* Environment variable: "descriptor inode process" of tach run. */
#define RUN_RESULTS "TACH_RUN_RESULTS"

enum {
	/* The largest page size of any kernel: mappings start at multiples of this size. */
	RUN_HEAD = 65536,
	RUN_BEGIN = 65536, /* bytes at the start of an area that are always mapped */
	RUN_AREA = 4 << 20,
	RUN_AREAS = 1 << 16,
	RUN_ENTRIES = 32,
	RUN_NAME = 16,
};

enum run_state {
	RUN_FREE,
	RUN_BEGAN,    /* the end was not seen yet */
	RUN_LEFT,     /* its report is in text */
	RUN_CONFINED, /* its report is in text, but covers only the time up to a seccomp filter
		       */
	RUN_NO_MEMORY /* no memory was left for its report */
};

/* Programs that ran unmeasured, by the reason. */
enum run_unmeasured {
	RUN_APART,   /* started without the object, which they cannot load; see load.c */
	RUN_CLEARED, /* started with an environment that lacks the object */
	RUN_REASONS
};
struct run_programs {
	uint32_t n;
	char first[RUN_NAME];
};

/* One process, from its start or latest exec to its end or next exec. */
struct run_entry {
	uint32_t state; /* enum run_state; atomic */
	int32_t process;
	uint32_t text, length; /* offset in the area */
	char program[RUN_NAME];
};

struct run_area {
	uint32_t entries; /* number taken; may exceed RUN_ENTRIES */
	uint32_t used;	  /* bytes used from the start of the area; may exceed its size */
	struct run_programs unmeasured[RUN_REASONS];
	struct run_entry entry[RUN_ENTRIES];
};

struct run_head {
	uint32_t areas; /* number taken; may exceed the number available */
};

/* ---- results.c, in the process ---- */

/* Registers the calling process; does nothing if the memory is not available. */
void run_results_begin(void);
/*
 * Writes its complete report. Returns -1 if it does not fit or there is no memory.
 * Async-signal-safe.
 */
int run_results_leave(const char *text, size_t length, enum run_state state);
/* Counts a program that will run unmeasured. Async-signal-safe, also in a vfork child. */
void run_results_unmeasured(enum run_unmeasured why, const char *program);
/* Records that there is no memory for the report. */
void run_results_no_memory(void);
/* The process continues because exec failed: discards its report. */
void run_results_go_on(void);

#endif
