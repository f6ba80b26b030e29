/* SPDX-License-Identifier: MIT */
/* PMU models: the tables the library knows, and which of them this machine has. */
#ifndef TACH_PMU_H
#define TACH_PMU_H

#include <tach/error.h>

/*
 * A PMU is named by a small number, valid for this version of the library within this process.
 * 0 .. tach_pmu_count()-1 in table order; the last two are "perf" (the kernel's generic events)
 * and "perf_raw" (rXXXX). Behind them come the boxes of uncores: tach_pmu_uncore_count.
 */
struct tach_pmu_info {
	uint32_t size;		 /* sizeof this struct: see tach/base.h */
	const char *name;	 /* "skl"; static storage, as all strings here */
	const char *arch;	 /* "x86", "arm64", "ia64", "linux" */
	const char *description; /* "" where we have none */
	int libpfm4_id;		 /* libpfm-4's number, -1 where it has none */
	int nevents;
	int general;	    /* general counters; 0 = not known */
	int general_width;  /* bits */
	uint32_t fixed;	    /* bit n: fixed counter n exists */
	int fixed_width;    /* bits */
	uint32_t privilege; /* TACH_PRIVILEGE_* bits it can filter by */
	int present;	    /* this machine has it (or TACH_PMU says so) */
	const char *alias;  /* a PMU whose event strings work here too; "" = none */
	const char *perf;   /* the kernel's names for it, blank-separated, best first */
	int uncore;	    /* a box that its processors share: tach_pmu_uncore_count */
};

struct tach_event_info {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	const char *name;
	const char *description;
	const char *alias_of; /* the event string this name stands for, or NULL */
	uint64_t code;
	int numasks;
	uint64_t counters; /* where it may count: bits 0-31 general, 32-63 fixed; 0 = any
			      general */
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
	 * Where libpfm-4 and the vendor's file disagree, the code that was not taken, else
	 * NULL: the vendor's as select/umask/modifiers ("c4/4/c0,i0,e0,t0", codes hexadecimal),
	 * or libpfm-4's register words ("0x530200").
	 */
	const char *vendor_code, *libpfm4_code;
};

TACH_BEGIN_DECLS

/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_pmu_count(void);
/*
 * How many boxes of uncores the tables know: memory controllers, caches, links, energy
 * counters. Their numbers are tach_pmu_count() .. tach_pmu_count() + tach_pmu_uncore_count() -
 * 1, and all calls here take them. A box counts for all its processors together and for no
 * thread: `general` and `fixed` are 0, and no set or region takes its events
 * (tach/uncore.h counts them).
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
 * returns how many there are (hybrid machines: more than one). 0 when the CPU is unknown; err
 * then says what was seen. The environment variable TACH_PMU (a name, or several separated by
 * commas) replaces detection. Reads files once, the first time.
 */
/* MT-Safe env | AS-Unsafe lock | AC-Unsafe lock fd | no allocation */
TACH_API int tach_pmu_host(int *pmus, int max, struct tach_error *err);

TACH_END_DECLS
#endif
