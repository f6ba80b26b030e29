/* SPDX-License-Identifier: MIT */
/* What `tach run` has to know before it starts a program. */
#ifndef TOOLS_TACH_RUN_H
#define TOOLS_TACH_RUN_H

#include <stddef.h>

#define RUN_OBJECT "libtach-run.so" /* what is preloaded */

/* Where it is: beside this program, or in the lib folder beside its folder. */
int run_find_object(char *path, size_t size);
/* As execvp looks for a program. */
int run_find_program(char *path, size_t size, const char *name);
/* 1: an ELF program without an interpreter, that is without a dynamic linker. */
int run_is_static(const char *path);

#endif
