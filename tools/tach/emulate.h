/* SPDX-License-Identifier: MIT */
/* Programs in QEMU's user mode, with the plugin that counts. */
#ifndef TOOLS_TACH_EMULATE_H
#define TOOLS_TACH_EMULATE_H

/*
 * Finds QEMU and the plugin for a program of that file's architecture, and tells the
 * environment: TACH_EMULATE, this command; TACH_QEMU, the folder; TACH_PLUGIN. 1: of
 * another architecture than this command, so that what it preloads cannot be; -1: printed.
 */
int emulate_ready(const char *program);
/* Whether events and metrics can be used in there; else the exit status, and why was printed.
 */
struct run_arguments;
int emulate_check(const struct run_arguments *a);
/* As execv, in QEMU; scripts too. Returns -1 with errno: ENOEXEC where it cannot be emulated.
 */
int emulate_exec(const char *file, char **argv);

#endif
