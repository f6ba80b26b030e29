/* SPDX-License-Identifier: MIT */
#include <time.h>
#include "tools/tach/commands.h"

double clock_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
