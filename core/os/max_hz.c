/* SPDX-License-Identifier: MIT */
/*
 * Reads from the system the frequencies that formulas may use. This is not in room formula,
 * because mkpresets uses that room without a system.
 */
#include <stdio.h>
#include <string.h>
#include <tach/flags.h>
#include "core/base/number.h"
#include "core/os/clock.h"
#include "core/os/kernel_files.h"
#include "core/os/topology.h"

struct most {
	const char *root;
	double value;
};

static void take_cpu_maximum(void *context, long cpu)
{
	struct most *most = context;
	char path[96];
	uint64_t khz;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cpufreq/cpuinfo_max_freq",
		 cpu);
	if (tach__file_number(most->root, path, &khz) == 0 && (double)khz > most->value)
		most->value = (double)khz;
}

/*
 * Returns the highest clock of all CPUs, in kHz: hybrids have several, and the constant is one
 * number.
 */
static double read_cpufreq(const char *root)
{
	struct most most = {root, 0};

	tach__cpus_online(root, take_cpu_maximum, &most);
	return 1e3 * most.value;
}

static int take_clock_line(void *context, const char *line)
{
	struct most *most = context;
	const char *value = tach__cpuinfo_value(line, "cpu MHz");
	double mhz = value ? tach__number_parse(value, strspn(value, "0123456789.")) : 0;

	if (mhz > most->value)
		most->value = mhz;
	return 0;
}

/* "cpu MHz : 2445.404" is the present clock, not a maximum. */
static double read_cpuinfo(const char *root)
{
	struct most most = {root, 0};

	tach__file_lines(root, "/proc/cpuinfo", take_clock_line, &most);
	return 1e6 * most.value;
}

double tach__max_hz_at(const char *root, uint32_t *flags)
{
	double hz = read_cpufreq(root);

	if (hz <= 0) {
		hz = read_cpuinfo(root);
		if (hz > 0)
			*flags |= TACH_FLAG_CLOCK;
	}
	return hz;
}

double tach__max_hz(uint32_t *flags)
{
	return tach__max_hz_at("", flags);
}

double tach__tsc_hz(uint32_t *flags)
{
	double error;

	return tach__clock_hz(TACH__CLOCK_EXACT, flags, &error);
}
