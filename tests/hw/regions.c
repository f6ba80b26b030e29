/* SPDX-License-Identifier: MIT */
/* Regions on this machine, on any processor: sums of known loops, and metrics over them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tach/region.h>
#include <tach/report.h>
#include "tests/hw/hardware.h"

enum { ENTRIES = 2000, TURNS = 10000 };

static void work(void)
{
	for (int i = 0; i < ENTRIES; i++) {
		TACH_START(outer);
		TACH_START(inner);
		machine_loop(TURNS);
		TACH_STOP(inner);
		TACH_STOP(outer);
	}
}

static int region_named(const struct tach_snapshot *snapshot, const char *name)
{
	for (int r = 0; r < tach_snapshot_nregions(snapshot); r++) {
		struct tach_region_info info = {.size = sizeof info};

		tach_snapshot_region(snapshot, r, &info);
		if (strcmp(info.name, name) == 0)
			return r;
	}
	return -1;
}

/*
 * Some processors count one extra instruction per interrupt; regions with an interrupt are
 * flagged. Both together change loops of this length by less than 0.2 %.
 */
static void judge(const struct tach_snapshot *snapshot, const char *name)
{
	double expected = (double)ENTRIES * TURNS * MACHINE_LOOP_INSTRUCTIONS;
	int region = region_named(snapshot, name);
	struct tach_value value, ipc;

	CHECK(region >= 0, "no region %s", name);
	if (region < 0)
		return;
	tach_snapshot_value(snapshot, region, 1, TACH_PART_INCLUSIVE, &value);
	CHECK(fabs(value.value - expected) <= expected / 500, "%s: %.0f of %.0f", name,
	      value.value, expected);
	tach_snapshot_derived(snapshot, region, 0, TACH_PART_INCLUSIVE, &ipc);
	CHECK(ipc.value > 0.05 && (machine_is_guest() || ipc.value < 16), "%s: ipc %g", name,
	      ipc.value);
	printf("# %s: %.0f instructions, %.0f by the loops, ipc %.2f\n", name, value.value,
	       expected, ipc.value);
}

static void sums_of_known_loops(void)
{
	struct tach_regions_options opt = {.events = "instructions, cycles",
					   .metrics = "ipc = instructions / cycles"};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *snapshot;
	struct hardware h;

	if (hardware_open(&h, "instructions, cycles"))
		SKIP(hardware_why);
	hardware_close(&h);
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	work();
	CHECK(tach_snapshot_take(&snapshot, &err) == 0, "%s", err.text);
	judge(snapshot, "outer");
	judge(snapshot, "inner");
	tach_snapshot_free(snapshot);
}

int main(void)
{
	CASE(sums_of_known_loops);
	return check_done();
}
