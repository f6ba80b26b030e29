/* SPDX-License-Identifier: MIT */
/*
 * Reads small text files of the kernel under /proc and /sys, without stdio or allocation, and
 * without changing errno. Paths are relative to a root ("" for this machine), so that tests can
 * use another machine's files.
 */
#ifndef TACH_CORE_OS_KERNEL_FILES_H
#define TACH_CORE_OS_KERNEL_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Reads the first line, without its newline and cut to size - 1. Returns its length, or -1. */
int tach__file_line(const char *root, const char *path, char *out, size_t size);
/* Reads the first line as a number in C's notation. Returns 0, or -1 if there is no file or no
 * number. */
int tach__file_number(const char *root, const char *path, uint64_t *out);
int tach__file_exists(const char *root, const char *path);
/* Reads at most `size` bytes from the beginning of any file. Returns their number, or -1. */
int tach__file_bytes(const char *root, const char *path, void *out, size_t size);

/* Calls line(context, text) for each line, cut to 4095 bytes, until it returns non-zero. */
void tach__file_lines(const char *root, const char *path,
		      int (*line)(void *context, const char *text), void *context);

/*
 * Returns 1 if this process is in a user namespace that is not the first. The first is the only
 * one that maps all users to themselves: user_namespaces(7). For counting, the kernel requires
 * capabilities in the first one (perfmon_capable in include/linux/capability.h).
 */
int tach__user_namespace(const char *root);
/* If the line of /proc/cpuinfo, "key : value", has this key, returns the value, otherwise
 * NULL. */
const char *tach__cpuinfo_value(const char *line, const char *key);

#endif
