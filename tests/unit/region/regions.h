/* SPDX-License-Identifier: MIT */
/*
 * Shared by tests of regions: configuration with the simulated kernel, finding a region in a
 * snapshot, and the memory, mappings and descriptors of the process.
 */
#ifndef TESTS_UNIT_REGIONS_H
#define TESTS_UNIT_REGIONS_H

#include <stdlib.h>
#include <sys/prctl.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/unit/region/fakekernel.h"

static struct tach_snapshot *shot;
static struct tach_region_info info;
static struct tach_value value;

/* Finds a region in the present snapshot. */
static inline int regions_find(const char *name, int quantity)
{
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, name) != 0)
			continue;
		tach_snapshot_value(shot, r, quantity, TACH_PART_INCLUSIVE, &value);
		return 1;
	}
	return 0;
}

/* In a new one. */
static inline int regions_look(const char *name, int quantity)
{
	tach_snapshot_free(shot);
	return tach_snapshot_take(&shot, NULL) == 0 && regions_find(name, quantity);
}

/* Counts this number of members of the simulated kernel; 0: only the clock. */
static inline void regions_begin(int members)
{
	struct tach_regions_options opt = {.events = ""};

	if (members)
		opt.set = fake_set(members);
	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

/* ---- ending threads that work until a flag is set ---- */

static int regions_stop;

static inline int regions_stopped(void)
{
	return __atomic_load_n(&regions_stop, __ATOMIC_RELAXED);
}

static inline void regions_tell(int stop)
{
	__atomic_store_n(&regions_stop, stop, __ATOMIC_RELAXED);
}

/* ---- resources of the process ---- */

/*
 * 0 under a checker, whose own memory would be counted; tests also do less work then, because a
 * checker follows every access.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TACH_HELGRIND)
#define REGIONS_MEMORY_IS_OURS 0
#define REGIONS_LESS	       20
#else
#define REGIONS_MEMORY_IS_OURS 1
#define REGIONS_LESS	       1
#endif

/*
 * Includes swapped memory. Excludes huge pages, because they depend on chance: the kernel may
 * have a free one, or merge small pages.
 */
static inline long regions_resident_kb(void)
{
	FILE *f;
	char line[256];
	long kb = -1, dirty, swapped;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* existing pages stay as they are */
	f = fopen("/proc/self/smaps_rollup", "re");
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "Private_Dirty: %ld", &dirty) == 1)
			kb = dirty;
		if (sscanf(line, "Swap: %ld", &swapped) == 1)
			kb += swapped;
	}
	if (f)
		fclose(f);
	return kb;
}

static inline int regions_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	int n = 0, c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

static inline int regions_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

#endif
