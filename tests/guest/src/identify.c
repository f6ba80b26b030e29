/* SPDX-License-Identifier: MIT */
/* Identification of a processor that is known by the kernel's name for it. */
#include <stdio.h>
#include <string.h>
#include <tach/pmu.h>
#include "core/pmu/pmu.h"
#include "core/port/port.h"
#include "tests/check.h"
#include "tests/guest/machine.h"

static const struct {
	const char *line, *pmu; /* in /proc/cpuinfo */
} known[] = {
	{"model\t\t: 106", "icx"},
	{"model\t\t: 143", "spr"},
	{"AMD EPYC-Milan", "amd64_fam19h_zen3"},
	{"Intel Xeon Processor (Skylake", "skx"},
	{"Intel Core i7 9xx (Nehalem", "nhm"},
	{"CPU part\t: 0xd0c", "arm_n1"},
	{"CPU implementer\t: 0x00", "arm_armv8"},
};

static const char *expected(void)
{
	static char line[4096];
	FILE *from = fopen("/proc/cpuinfo", "r");
	const char *pmu = NULL;

	while (from && !pmu && fgets(line, sizeof line, from))
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (strstr(line, known[i].line))
				pmu = known[i].pmu;
	if (from)
		fclose(from);
	return pmu;
}

static void this_machine_is_identified(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_pmu_info info = {.size = sizeof info};
	const char *pmu = expected();
	int pmus[8], n;

	if (!machine_is_guest())
		SKIP("not in a guest: it is not known what this processor is");
	CHECK(pmu != NULL, "no line of /proc/cpuinfo is known here");
	n = tach_pmu_host(pmus, 8, &err);
	CHECK(n == 1, "%d: %s", n, err.text);
	CHECK(n == 1 && tach_pmu_describe(pmus[0], &info) == 0 && pmu &&
		      strcmp(info.name, pmu) == 0,
	      "got %s, want %s: %s", info.name, pmu, err.text);
}

/* By instruction and by the kernel's files: both give the same result. */
static void two_ways_agree(void)
{
	int arch = tach__native_arch(), a[8], b[8], n, m;
	struct tach_error err = TACH_ERROR_INIT;

	if (arch < 0)
		SKIP("no tables for this architecture");
	n = tach__identify((enum tach__arch)arch, "", 1, a, 8, &err);
	m = tach__identify((enum tach__arch)arch, "", 0, b, 8, &err);
	CHECK(n == m && (n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0), "%d and %d: %s",
	      n, m, err.text);
}

int main(void)
{
	CASE(this_machine_is_identified);
	CASE(two_ways_agree);
	return check_done();
}
