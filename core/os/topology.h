/* SPDX-License-Identifier: MIT */
/* Numbers of processors of this machine, by the names that formulas use. */
#ifndef TACH_CORE_OS_TOPOLOGY_H
#define TACH_CORE_OS_TOPOLOGY_H

#include <stddef.h>

/*
 * Returns 0 and sets *value. TACH_ERR_NOTFOUND: there is no parameter with that name.
 * TACH_ERR_NOTSUPP: the system does not report the value. Reads sysfs in each call.
 */
int tach__machine_parameter(const char *name, size_t length, double *value);
/* As tach__machine_parameter, for the machine under root. */
int tach__machine_parameter_at(const char *root, const char *name, size_t length,
			       double *value);

/*
 * Calls visit, unless it is NULL, for each processor of a kernel's list such as "0-3,8".
 * Returns the number of processors.
 */
int tach__cpu_list(const char *list, void (*visit)(void *context, long cpu), void *context);
/* As tach__cpu_list, for the processors that are online on the machine under root. */
int tach__cpus_online(const char *root, void (*visit)(void *context, long cpu), void *context);

#endif
