/* SPDX-License-Identifier: MIT */
/* PMU models: the tables of the library, and the PMUs of this machine. */
#ifndef TACH_PMU_H
#define TACH_PMU_H

#include <tach/error.h>

/*
 * A PMU is identified by a small number, valid for this version of the library within this
 * process. 0 .. tach_pmu_count()-1 in table order; the last two are "perf" (the kernel's
 * generic events) and "perf_raw" (rXXXX). The boxes of uncores follow: tach_pmu_uncore_count.
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
	uint32_t privilege; /* TACH_PRIVILEGE_* bits it can filter by */
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
	/* counters it may use: bits 0-31 general, 32-63 fixed; 0 = any general */
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
	 * If libpfm-4 and the vendor's file differ, the code that was not chosen, else NULL:
	 * the vendor's as select/umask/modifiers ("c4/4/c0,i0,e0,t0", codes hexadecimal), or
	 * libpfm-4's register words ("0x530200").
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
/* The PMU of that name or alias (case ignored), or TACH_ERR_NOTFOUND. O(log n). */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_pmu_find(const char *name) TACH_MUST_USE;
/* MT-Safe env | AS-Unsafe lock | AC-Unsafe lock fd | no allocation */
TACH_API int tach_pmu_describe(int pmu, struct tach_pmu_info *info);
/* Fills *info for event number `event` of that PMU, 0 .. nevents-1; TACH_ERR_INVAL outside. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_pmu_event(int pmu, int event, struct tach_event_info *info);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_pmu_umask(int pmu, int event, int umask, struct tach_umask_info *info);

/*
 * The core PMUs of this machine: writes up to `max` numbers, most capable core type first, and
 * returns their total number (hybrid machines: more than one). 0 if the CPU is unknown; err
 * then has its identification. The environment variable TACH_PMU (a name, or several separated
 * by commas) replaces detection. Reads files once, the first time.
 */
/* MT-Safe env | AS-Unsafe lock | AC-Unsafe lock fd | no allocation */
TACH_API int tach_pmu_host(int *pmus, int max, struct tach_error *err);

TACH_END_DECLS
#endif
