/* SPDX-License-Identifier: MIT */
/*
 * The library's code queries the machine. This build program has no answers, so these functions
 * are stubs.
 */
#include <tach/error.h>
#include "core/os/clock.h"
#include "core/os/topology.h"

/* The formula compiler may query the clock rate; the reader of definitions always gives it. */
double tach__max_hz(uint32_t *flags)
{
	(void)flags;
	return 0;
}

double tach__tsc_hz(uint32_t *flags)
{
	return tach__max_hz(flags);
}

/* The formula compiler may also query the machine's parameters. */
int tach__machine_parameter(const char *name, size_t length, double *value)
{
	(void)name;
	(void)length;
	*value = 1;
	return TACH_ERR_NOTFOUND;
}
