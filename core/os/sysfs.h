/* SPDX-License-Identifier: MIT */
/* The few numbers that encoding needs from sysfs and tracefs. errno is preserved. */
#ifndef TACH_CORE_OS_SYSFS_H
#define TACH_CORE_OS_SYSFS_H

#include <stddef.h>
#include <stdint.h>

#define TACH__SYSFS "/sys/bus/event_source/devices"

/*
 * Reads ROOT/DEVICE/FILE into out, without its newline. The length, or -1. DEVICE and FILE are
 * one path component each: anything with a slash or a leading dot is refused.
 */
int tach__sysfs_read(const char *root, const char *device, size_t device_length,
		     const char *file, char *out, size_t size);
/* ROOT/DEVICE/type: a number from 0 on, or -1. */
int tach__sysfs_type(const char *root, const char *device, size_t device_length);

/* Finds the device of that type under root, and its name. Returns 0, or -1 if there is no such
 * device. */
int tach__sysfs_device(const char *root, uint32_t type, char *name, size_t size);

/*
 * Returns 1 if perf's name for a kind of devices matches this one. A kind is NAME or
 * uncore_NAME, with or without a number _N. '*' and '?' are wildcards.
 */
int tach__sysfs_matches(const char *kind, size_t length, const char *device);
/* The first of those under root, by length and letters: 0 with its name, or -1. */
int tach__sysfs_first(const char *root, const char *kind, size_t length, char *name,
		      size_t size);

#endif
