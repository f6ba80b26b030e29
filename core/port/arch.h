/* SPDX-License-Identifier: MIT */
/*
 * The functions that an architecture provides. Each host compiles all architectures.
 *
 * NAME_encode reads w->got.event, w->got.picks and w->ask.privilege, fills rows, shown, ncodes
 * and codes, and returns 0 or the result of tach__refuse. Errors must come in the order of the
 * picks. NAME_perf converts codes to config, config1 and config2 for PERF_TYPE_RAW. w->out.has
 * has bits for config1 and config2 if the event sets them.
 */
#ifndef TACH_CORE_PORT_ARCH_H
#define TACH_CORE_PORT_ARCH_H

#include "core/port/work.h"

struct tach__cpu;

/* A term of perf's notation DEVICE/TERM=VALUE/, for use without sysfs. */
struct tach__format {
	char name[12];
	char format[24];
	int8_t encoding; /* TACH__AMD: only AMD; TACH__INTEL: all except AMD; -1: any */
};

/*
 * Each folder of arch/ has one: tach__part_FOLDER. Missing members are NULL. The folder's
 * arch.def has its name and the encodings of its tables. It also tells if the folder has
 * functions for scheduling (schedule.h) and for dispatching registers (registers.h).
 */
struct tach__part {
	const char *name;
	const char *native; /* TACH_ARCH_NAME if this is the native architecture */
	/* Lists kinds of core (identify.h), and describes one in words. */
	int (*cpus)(const char *root, int native, struct tach__cpu *out, int max);
	void (*describe)(const struct tach__cpu *cpu, char *out, size_t size);
	/* Returns the PMU whose events CPUs with this PMU also have, by its name, or NULL. */
	const char *(*common)(const struct tach__pmu *pmu);
	const struct tach__format
		*formats;	    /* terms of its core PMU; the last element has no name */
	const char *const *devices; /* names of its PMUs in sysfs; a prefix ends with * */
	/*
	 * For PMUs in sysfs whose names do not identify their cores: gets the name of PMU
	 * number i, and one of its cores in *cpu. Returns 1, 0 (sysfs does not list its cores),
	 * or -1 (there is no such number). NULL: all names identify their cores.
	 */
	int (*numbered)(const char *sysfs, int i, char device[32], struct tach__cpu *cpu);
	int (*encode)(struct tach__work *w);
	void (*perf)(struct tach__work *w); /* NULL: Linux never had perf_event there */
};

#define TACH__ARCH(name, NAME, cells, numbers) extern const struct tach__part tach__part_##name;
#include <archs.h>

/* Indexed by enum tach__arch; core/pmu defines it. */
extern const struct tach__part *const tach__parts[TACH__NARCHS];

int tach__intel_encode(struct tach__work *w);
void tach__intel_perf(struct tach__work *w);
int tach__amd_encode(struct tach__work *w);
void tach__amd_perf(struct tach__work *w);
int tach__netburst_encode(struct tach__work *w);
void tach__netburst_perf(struct tach__work *w);
/* Encode events of uncore boxes, for any architecture. */
int tach__box_encode(struct tach__work *w);
void tach__box_perf(struct tach__work *w);
int tach__arm_encode(struct tach__work *w);
void tach__arm_perf(struct tach__work *w);
/* Check CPUID leaf 0AH: the architectural events and modifiers of this processor. `named`: the
 * string names the architectural PMU itself. Then all its events can be encoded without
 * CPUID. */
uint32_t tach__archperfmon_mods(const struct tach_encode_options *opt, uint32_t mods);
int tach__archperfmon_event(const struct tach_encode_options *opt,
			    const struct tach__event *event, int named);
/* Gets the numbers of counters of this processor. Returns 0 if it has no architectural PMU, or
 * is not from Intel. */
int tach__archperfmon_counters(int *general, int *fixed);
int tach__ia64_encode(struct tach__work *w);

#endif
