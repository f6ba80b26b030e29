/* SPDX-License-Identifier: MIT */
/*
 * The functions that an architecture provides. All architectures are compiled on each host.
 *
 * NAME_encode reads w->event, w->picks and w->privilege, fills rows, shown, ncodes and codes,
 * and returns 0 or the result of tach__refuse. Errors must come in the order of the picks.
 * NAME_perf converts codes to config, config1 and config2 for PERF_TYPE_RAW; w->has says which
 * of the latter two the event sets.
 */
#ifndef TACH_CORE_PORT_ARCH_H
#define TACH_CORE_PORT_ARCH_H

#include "core/port/work.h"

struct tach__cpu;

/* A term of perf's spelling DEVICE/TERM=VALUE/, for use without sysfs. */
struct tach__format {
	char name[12];
	char format[24];
	int8_t encoding; /* TACH__AMD: only AMD; TACH__INTEL: all except AMD; -1: any */
};

/*
 * One for each folder of arch/, tach__part_FOLDER; missing members are NULL. The folder's
 * arch.def has its name and the encodings of its tables. It also says whether the folder
 * schedules (schedule.h), and whether its registers can be dispatched (registers.h).
 */
struct tach__part {
	const char *name;
	const char *native; /* TACH_ARCH_NAME if this is the native architecture */
	/* Lists kinds of core (identify.h), and describes one in words. */
	int (*cpus)(const char *root, int native, struct tach__cpu *out, int max);
	void (*describe)(const struct tach__cpu *cpu, char *out, size_t size);
	/* The name of the PMU whose events CPUs with that PMU have too, or NULL. */
	const char *(*common)(const struct tach__pmu *pmu);
	const struct tach__format *formats; /* formats of its core PMU; the last has no name */
	const char *const *devices; /* names of that PMU in sysfs; with a *, their prefixes */
	/*
	 * For PMUs in sysfs whose names do not tell their cores: gets the name of number i in
	 * `device`, and one of its cores in *cpu. Returns 1, 0 (sysfs does not list its cores),
	 * or -1 (no such number). NULL: all names tell.
	 */
	int (*numbered)(const char *sysfs, int i, char device[32], struct tach__cpu *cpu);
	int (*encode)(struct tach__work *w);
	void (*perf)(struct tach__work *w); /* NULL: Linux never had perf_event there */
};

#define TACH__ARCH(name, NAME, cells, numbers) extern const struct tach__part tach__part_##name;
#include <archs.h>

/* By enum tach__arch; core/pmu defines it. */
extern const struct tach__part *const tach__parts[TACH__NARCHS];

int tach__intel_encode(struct tach__work *w);
void tach__intel_perf(struct tach__work *w);
int tach__amd_encode(struct tach__work *w);
void tach__amd_perf(struct tach__work *w);
int tach__netburst_encode(struct tach__work *w);
void tach__netburst_perf(struct tach__work *w);
/* Uncore boxes of any architecture. */
int tach__box_encode(struct tach__work *w);
void tach__box_perf(struct tach__work *w);
int tach__arm_encode(struct tach__work *w);
void tach__arm_perf(struct tach__work *w);
/* CPUID leaf 0AH: the architectural events and modifiers of this processor. `named`: the string
 * names the architectural PMU itself, so that all its events encode without a CPUID. */
uint32_t tach__archperfmon_mods(const struct tach_encode_options *opt, uint32_t mods);
int tach__archperfmon_event(const struct tach_encode_options *opt,
			    const struct tach__event *event, int named);
/* Counters of this processor; 0: it has no architectural PMU, or is not from Intel. */
int tach__archperfmon_counters(int *general, int *fixed);
int tach__ia64_encode(struct tach__work *w);

#endif
