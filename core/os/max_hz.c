/* SPDX-License-Identifier: MIT */
/*
 * The clocks that formulas may name, as the system tells them. Not in the formula room:
 * mkpresets uses that too, and has no system to ask.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/flags.h>
#include "core/base/number.h"
#include "core/os/clock.h"

/* The highest of all CPUs: hybrids have several, and the constant is one number. kHz. */
static double cpufreq(void)
{
	double max = 0;

	for (int cpu = 0; cpu < 4096; cpu++) {
		char path[96];
		unsigned long khz = 0;
		FILE *file;

		snprintf(path, sizeof path,
			 "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", cpu);
		file = fopen(path, "re");
		if (!file)
			break;
		if (fscanf(file, "%lu", &khz) == 1 && (double)khz > max)
			max = (double)khz;
		fclose(file);
	}
	return 1e3 * max;
}

/* "cpu MHz : 2445.404": the clock of this moment, no maximum. */
static double cpuinfo(void)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];
	double max = 0;

	if (!file)
		return 0;
	while (fgets(line, sizeof line, file)) {
		const char *colon = strchr(line, ':');
		double mhz;

		if (!colon || strncmp(line, "cpu MHz", 7) != 0)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		mhz = tach__number_parse(colon, strspn(colon, "0123456789."));
		if (mhz > max)
			max = mhz;
	}
	fclose(file);
	return 1e6 * max;
}

double tach__max_hz(uint32_t *flags)
{
	int saved = errno;
	double hz = cpufreq();

	if (hz <= 0) {
		hz = cpuinfo();
		if (hz > 0)
			*flags |= TACH_FLAG_CLOCK;
	}
	errno = saved;
	return hz;
}

double tach__tsc_hz(uint32_t *flags)
{
	double error;

	return tach__clock_hz(TACH__CLOCK_EXACT, flags, &error);
}
