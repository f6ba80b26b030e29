/* SPDX-License-Identifier: MIT */
/* How many processors of which kind this machine has, by the names that formulas use. */
#ifndef TACH_CORE_OS_TOPOLOGY_H
#define TACH_CORE_OS_TOPOLOGY_H

#include <stddef.h>

/*
 * 0 and *value; TACH_ERR_NOTFOUND: no parameter is called that; TACH_ERR_NOTSUPP: the system
 * does not tell it. Reads sysfs each time.
 */
int tach__machine_parameter(const char *name, size_t length, double *value);
/* The same of the machine under root. */
int tach__machine_parameter_at(const char *root, const char *name, size_t length,
			       double *value);

/*
 * Calls visit, if given, for each processor of a kernel's list such as "0-3,8"; how many there
 * are.
 */
int tach__cpu_list(const char *list, void (*visit)(void *context, long cpu), void *context);
/* The same of those that are online, of the machine under root. */
int tach__cpus_online(const char *root, void (*visit)(void *context, long cpu), void *context);

#endif
