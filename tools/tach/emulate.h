/* SPDX-License-Identifier: MIT */
/* Runs programs in QEMU's user mode, with the plugin that counts. */
#ifndef TOOLS_TACH_EMULATE_H
#define TOOLS_TACH_EMULATE_H

/*
 * Finds QEMU and the plugin for the architecture of that file, and sets the environment:
 * TACH_EMULATE, this command; TACH_QEMU, the folder; TACH_PLUGIN. Returns 1 if the program's
 * architecture differs from this command's, so that our object cannot be preloaded; -1 after
 * printing an error.
 */
int emulate_ready(const char *program);
/*
 * Checks that the emulator can count the events and metrics. Returns 0, or the exit status
 * after printing why not.
 */
struct run_arguments;
int emulate_check(const struct run_arguments *a);
/*
 * Executes a file in QEMU as execv does; scripts too. Returns -1 with errno; ENOEXEC: the file
 * cannot be emulated.
 */
int emulate_exec(const char *file, char **argv);

#endif
