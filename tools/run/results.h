/* SPDX-License-Identifier: MIT */
/*
 * How results reach `tach run`: by memory that it shares with the processes it measures. A
 * process maps its part when it begins, when it still has every right; what is written there
 * stays, whatever the process may do, open or name when it ends, and however it ends then.
 *
 * One memfd, handed on by inheritance at a high number, and by /proc to those whose descriptors
 * were closed before they began. The number of areas that were taken, then the areas. A program
 * takes one, and its children by fork use it too: they may have lost both ways. Only the begin
 * of an area, which has the table, is mapped before there is more to write.
 */
#ifndef TOOLS_RUN_RESULTS_H
#define TOOLS_RUN_RESULTS_H

#include <stddef.h>
#include <stdint.h>

/* In the environment: "descriptor inode process", of tach run's. */
#define RUN_RESULTS "TACH_RUN_RESULTS"

enum {
	RUN_HEAD =
		65536, /* the largest page of any kernel: mappings begin at multiples of it */
	RUN_BEGIN = 65536, /* of an area: mapped from the start */
	RUN_AREA = 4 << 20,
	RUN_AREAS = 1 << 16,
	RUN_ENTRIES = 32,
	RUN_NAME = 16,
};

enum run_state {
	RUN_FREE,
	RUN_BEGAN,   /* and has not come to an end that was seen */
	RUN_LEFT,    /* text is its report */
	RUN_CONFINED /* the same, up to where it took a seccomp filter */
};

/* A process, from its start or its last exec to its end or its next. */
struct run_entry {
	uint32_t state; /* enum run_state; atomic */
	int32_t process;
	uint32_t text, length; /* from the begin of the area */
	char program[RUN_NAME];
};

struct run_area {
	uint32_t entries; /* taken; may count beyond RUN_ENTRIES */
	uint32_t used;	  /* bytes from the begin of the area; likewise */
	uint32_t apart;	  /* programs that were started without the object; load.c */
	char first_apart[RUN_NAME];
	struct run_entry entry[RUN_ENTRIES];
};

struct run_head {
	uint32_t areas; /* taken; may count beyond what there is */
};

/* ---- results.c, in the process ---- */

/* The calling process begins; without effect where the memory cannot be had. */
void run_results_begin(void);
/* Its report, as a whole; -1: it does not fit, or there is no memory. Async-signal-safe. */
int run_results_leave(const char *text, size_t length, enum run_state state);
/* Counts a program that cannot load the object. Async-signal-safe, in a child of vfork too. */
void run_results_apart(const char *program);
/* It goes on after all. */
void run_results_go_on(void);

#endif
