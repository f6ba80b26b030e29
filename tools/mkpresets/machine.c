/* SPDX-License-Identifier: MIT */
/* The library's code asks for a machine that the program which builds it has not. */
#include <tach/error.h>
#include "core/os/clock.h"
#include "core/os/topology.h"

/* The formula compiler may ask for clocks; the reader of definitions always gives them. */
double tach__max_hz(uint32_t *flags)
{
	(void)flags;
	return 0;
}

double tach__tsc_hz(uint32_t *flags)
{
	return tach__max_hz(flags);
}

/* And for the machine's parameters. */
int tach__machine_parameter(const char *name, size_t length, double *value)
{
	(void)name;
	(void)length;
	*value = 1;
	return TACH_ERR_NOTFOUND;
}
