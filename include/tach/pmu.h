/* SPDX-License-Identifier: MIT */
/* PMU models: the tables of the library, and the PMUs of this machine. */
#ifndef TACH_PMU_H
#define TACH_PMU_H

#include <tach/error.h>

/*
 * A PMU has a small number, which is valid for this version of the library in this process.
 * Numbers 0 .. tach_pmu_count()-1 are in table order. The last two are "perf" (the kernel's
 * generic events) and "perf_raw" (rXXXX). The boxes of uncores follow: see
 * tach_pmu_uncore_count.
 */
struct tach_pmu_info {
	uint32_t size;		 /* sizeof this struct: see tach/base.h */
	const char *name;	 /* "skl"; static storage, as all strings here */
	const char *arch;	 /* "x86", "arm64", "ia64", "linux" */
	const char *description; /* "" if missing */
	int libpfm4_id;		 /* libpfm-4's number, -1 if it lacks the PMU */
	int nevents;
	int general;	    /* general counters; 0 = unknown */
	int general_width;  /* bits */
	uint32_t fixed;	    /* bit n: fixed counter n exists */
	int fixed_width;    /* bits */
	uint32_t privilege; /* TACH_PRIVILEGE_*: levels that it can select */
	int present;	    /* this machine has it (or TACH_PMU says so) */
	const char *alias;  /* a PMU whose event strings are valid here too; "" = none */
	const char *perf;   /* the kernel's names for it, separated by spaces, best first */
	int uncore;	    /* 1: a box that its processors share: tach_pmu_uncore_count */
};

struct tach_event_info {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	const char *name;
	const char *description;
	const char *alias_of; /* the event string that this name stands for, or NULL */
	uint64_t code;
	int numasks;
	/* counters that it may use: bits 0-31 general, 32-63 fixed; 0 = any general */
	uint64_t counters;
	int deprecated;
	const char *vendor_code;  /* as below */
	const char *libpfm4_code; /* as below */
};

struct tach_umask_info {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	const char *name;
	const char *description;
	const char *alias_of;
	uint64_t code;
	uint64_t counters;
	int group;
	int is_default;
	int deprecated;
	/*
	 * If libpfm-4 and the vendor's file differ, the code that the table does not use, else
	 * NULL. vendor_code: select/umask/modifiers ("c4/4/c0,i0,e0,t0", codes hexadecimal).
	 * libpfm4_code: register words ("0x530200").
	 */
	const char *vendor_code, *libpfm4_code;
};

TACH_BEGIN_DECLS

/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_pmu_count(void);
/*
 * Number of uncore boxes in the tables: memory controllers, caches, links, energy counters.
 * Their numbers are tach_pmu_count() .. tach_pmu_count() + tach_pmu_uncore_count() - 1, and all
 * calls here accept them. A box counts for all its processors together, not for a thread:
 * `general` and `fixed` are 0, and no set or region accepts its events (tach/uncore.h counts
 * them).
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_pmu_uncore_count(void);
/* Returns the PMU of that name or alias (case ignored), or TACH_ERR_NOTFOUND. O(log n). */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_pmu_find(const char *name) TACH_MUST_USE;
/* MT-Safe env | AS-Unsafe lock | AC-Unsafe lock fd | no allocation */
TACH_API int tach_pmu_describe(int pmu, struct tach_pmu_info *info);
/* Fills *info for event number `event` (0 .. nevents-1) of that PMU. TACH_ERR_INVAL: no such
 * number. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_pmu_event(int pmu, int event, struct tach_event_info *info);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_pmu_umask(int pmu, int event, int umask, struct tach_umask_info *info);

/*
 * Finds the core PMUs of this machine. Writes up to `max` numbers, most capable core type
 * first, and returns how many there are (hybrid machines: more than one). Returns 0 if the CPU
 * is unknown; err then has its identification. The environment variable TACH_PMU (names
 * separated by commas) replaces detection. Only the first call reads files.
 */
/* MT-Safe env | AS-Unsafe lock | AC-Unsafe lock fd | no allocation */
TACH_API int tach_pmu_host(int *pmus, int max, struct tach_error *err);

TACH_END_DECLS
#endif
