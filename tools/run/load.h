/* SPDX-License-Identifier: MIT */
/* Programs that cannot load this object get an environment without it. */
#ifndef TOOLS_RUN_LOAD_H
#define TOOLS_RUN_LOAD_H

#include <stddef.h>

struct run_load {
	char *const *envp; /* for the program */
	size_t size;	   /* of its memory; 0: it is the caller's */
	char list[2048];
};

/* Notes what this process could load. Before anything else changes the environment. */
void run_load_begin(void);
/* `file` is relative to `folder`. Call run_load_end if the program did not start, or elsewhere.
 */
void run_load(struct run_load *l, int folder, const char *file, char *const envp[]);
void run_load_end(const struct run_load *l);

#endif
