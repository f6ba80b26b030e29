/* SPDX-License-Identifier: MIT */
/*
 * Small text files of the kernel under /proc and /sys, read without stdio, allocation or a
 * trace in errno. Paths are relative to a root ("" on a real machine), so that tests can show
 * another machine.
 */
#ifndef TACH_CORE_OS_KERNEL_FILES_H
#define TACH_CORE_OS_KERNEL_FILES_H

#include <stddef.h>
#include <stdint.h>

/* First line, without its newline and cut to size - 1; its length, or -1. */
int tach__file_line(const char *root, const char *path, char *out, size_t size);
/* First line as a number as C spells them; 0 done, -1 no file or no number. */
int tach__file_number(const char *root, const char *path, uint64_t *out);
int tach__file_exists(const char *root, const char *path);
/* The first bytes of a file that need not be text, at most `size`; how many, or -1. */
int tach__file_bytes(const char *root, const char *path, void *out, size_t size);

/* Calls line(context, text) for each line, cut to 4095 bytes, until it returns non-zero. */
void tach__file_lines(const char *root, const char *path,
		      int (*line)(void *context, const char *text), void *context);

/*
 * Is this process in another user namespace than the first? Only the first maps all users to
 * themselves: user_namespaces(7). The kernel asks for capabilities in the first one
 * (perfmon_capable in include/linux/capability.h).
 */
int tach__user_namespace(const char *root);
/* "key   : value" of /proc/cpuinfo: the value when the key is that one, else NULL. */
const char *tach__cpuinfo_value(const char *line, const char *key);

#endif
