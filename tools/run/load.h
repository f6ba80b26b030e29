/* SPDX-License-Identifier: MIT */
/* Removes the object from the environment of programs that cannot load it. */
#ifndef TOOLS_RUN_LOAD_H
#define TOOLS_RUN_LOAD_H

#include <stddef.h>

struct run_load {
	char *const *envp; /* for the program */
	size_t size;	   /* size of its memory; 0: the memory belongs to the caller */
	char list[2048];
};

/*
 * Records which objects this process can load. Call it before anything else changes the
 * environment.
 */
void run_load_begin(void);
/*
 * `file` is relative to `folder`. Call run_load_end if the program was not started, or was
 * started in another process.
 */
void run_load(struct run_load *l, int folder, const char *file, char *const envp[]);
/* Call it before system and popen, which start the shell with this program's environment. */
void run_load_shell(void);
void run_load_end(const struct run_load *l);

#endif
