/* SPDX-License-Identifier: MIT */
/* The highest clock of simulated machines, and whether it is certain. */
#include <errno.h>
#include <stdlib.h>
#include <tach/flags.h>
#include <unistd.h>
#include "core/os/clock.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-max-hz-XXXXXX";

static void khz(int cpu, const char *text)
{
	char path[96];

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq",
		 cpu);
	root_put(root, path, "%s\n", text);
}

#define IS(hz, flag) is(hz, flag, __LINE__)
static void is(double hz, uint32_t flag, int line)
{
	uint32_t flags = TACH_FLAG_LOST; /* set by the caller */
	double got;

	errno = 4711;
	got = tach__max_hz_at(root, &flags);
	CHECK(got == hz && flags == (TACH_FLAG_LOST | flag) && errno == 4711,
	      "line %d: %.17g, flags %#x, errno %d", line, got, flags, errno);
}

static void unknown_without_files(void)
{
	IS(0, 0);
	root_put(root, "/proc/cpuinfo", "processor : 0\nBogoMIPS : 50.00\n");
	IS(0, 0);
}

static void the_clock_of_this_moment(void)
{
	root_put(root, "/proc/cpuinfo", "cpu MHz\t\t: 2445.404\n");
	IS(2445404000.0, TACH_FLAG_CLOCK);
	root_put(root, "/proc/cpuinfo",
		 "processor\t: 0\ncpu MHz\t\t: 1200.5\nprocessor\t: 1\ncpu MHz\t\t: 3000.25\n"
		 "cpu MHz\t\t: 800.000\ncpu MHz limit : 9000\ncpu MHz\n");
	IS(3000250000.0, TACH_FLAG_CLOCK);
}

static void the_highest_of_the_cpus_that_are_online(void)
{
	root_put(root, "/sys/devices/system/cpu/online", "0,2-4\n");
	IS(3000250000.0, TACH_FLAG_CLOCK);
	khz(0, "2100000");
	IS(2100000e3, 0);
	root_put(root, "/sys/devices/system/cpu/online", "0\n");
	IS(2100000e3, 0);
	root_put(root, "/sys/devices/system/cpu/online", "0,2-4\n");
	khz(3, "4700000"); /* and there is no data for CPU 2 */
	khz(4, "3300000");
	IS(4700000e3, 0);
	khz(1, "5000000");
	IS(4700000e3, 0);
	khz(2, "none");
	IS(4700000e3, 0);
}

/* The result for this machine differs only if the caller gives a root directory. */
static void this_machine(void)
{
	uint32_t flags = 0, here = 0;
	double at = tach__max_hz_at("", &here), hz = tach__max_hz(&flags);

	CHECK((at > 0) == (hz > 0) && here == flags, "%g, %g", at, hz);
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	CASE(unknown_without_files);
	CASE(the_clock_of_this_moment);
	CASE(the_highest_of_the_cpus_that_are_online);
	CASE(this_machine);
	root_wipe(root);
	rmdir(root);
	return check_done();
}
