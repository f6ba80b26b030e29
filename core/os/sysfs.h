/* SPDX-License-Identifier: MIT */
/* Reads the few numbers that encoding needs from sysfs and tracefs. Does not change errno. */
#ifndef TACH_CORE_OS_SYSFS_H
#define TACH_CORE_OS_SYSFS_H

#include <stddef.h>
#include <stdint.h>

#define TACH__SYSFS "/sys/bus/event_source/devices"

/*
 * Reads ROOT/DEVICE/FILE into out, without its newline. Returns the length, or -1. DEVICE and
 * FILE must be one path component each: a slash or a leading dot is refused.
 */
int tach__sysfs_read(const char *root, const char *device, size_t device_length,
		     const char *file, char *out, size_t size);
/* Returns the number in ROOT/DEVICE/type, 0 or more, or -1. */
int tach__sysfs_type(const char *root, const char *device, size_t device_length);

/* Finds the device with that type under root, and copies its name. Returns 0, or -1 if there is
 * no such device. */
int tach__sysfs_device(const char *root, uint32_t type, char *name, size_t size);

/*
 * Returns 1 if perf's name for a kind of devices matches `device`. A kind is NAME or
 * uncore_NAME, with or without a number _N. '*' and '?' are wildcards.
 */
int tach__sysfs_matches(const char *kind, size_t length, const char *device);
/* Finds the first matching device under root: shorter names come first, then by letters.
 * Returns 0 and copies its name, or -1. */
int tach__sysfs_first(const char *root, const char *kind, size_t length, char *name,
		      size_t size);

#endif
