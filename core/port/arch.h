/* SPDX-License-Identifier: MIT */
/*
 * What an architecture provides. Every architecture's part is compiled on every host.
 *
 * NAME_encode reads w->event, w->picks and w->privilege, fills rows, shown, ncodes and codes,
 * and returns 0 or what tach__refuse returned. Errors must come in the order of the picks.
 * NAME_perf turns codes into config, config1 and config2 for PERF_TYPE_RAW; w->has says which
 * of the latter two the event decides.
 */
#ifndef TACH_CORE_PORT_ARCH_H
#define TACH_CORE_PORT_ARCH_H

#include "core/port/work.h"

struct tach__cpu;

/* A term of perf's spelling DEVICE/TERM=VALUE/ where sysfs is silent. */
struct tach__format {
	char name[12];
	char format[24];
	int8_t encoding; /* TACH__AMD: AMD's only; TACH__INTEL: all but AMD's; -1: any */
};

/*
 * One for each folder of arch/, tach__part_FOLDER; what a folder leaves out is not there. The
 * folder's arch.def names it and the encodings of its tables, and says whether it schedules
 * (schedule.h) and whether its registers can be dispatched (registers.h).
 */
struct tach__part {
	const char *name;
	const char *native; /* TACH_ARCH_NAME where that is this one */
	/* Kinds of core (identify.h), and one of them in words. */
	int (*cpus)(const char *root, int native, struct tach__cpu *out, int max);
	void (*describe)(const struct tach__cpu *cpu, char *out, size_t size);
	/* The PMU whose events CPUs with that one have too, by name, or NULL. */
	const char *(*common)(const struct tach__pmu *pmu);
	const struct tach__format *formats; /* of its core PMU; the last has no name */
	const char *const
		*devices; /* that PMU's names in sysfs, or, with a *, how they begin */
	/*
	 * Number i of the PMUs in sysfs that are named after no core: its name in device, and
	 * one of the cores it counts on in *cpu. 1, 0 (that PMU does not say), or -1 (there is
	 * none). NULL: all names tell.
	 */
	int (*numbered)(const char *sysfs, int i, char device[32], struct tach__cpu *cpu);
	int (*encode)(struct tach__work *w);
	void (*perf)(struct tach__work *w); /* NULL: Linux never had perf_event there */
};

#define TACH__ARCH(name, NAME, cells, numbers) extern const struct tach__part tach__part_##name;
#include <archs.h>

/* By enum tach__arch; core/pmu has it. */
extern const struct tach__part *const tach__parts[TACH__NARCHS];

int tach__intel_encode(struct tach__work *w);
void tach__intel_perf(struct tach__work *w);
int tach__amd_encode(struct tach__work *w);
void tach__amd_perf(struct tach__work *w);
int tach__netburst_encode(struct tach__work *w);
void tach__netburst_perf(struct tach__work *w);
/* Boxes of the uncore, of any architecture. */
int tach__box_encode(struct tach__work *w);
void tach__box_perf(struct tach__work *w);
int tach__arm_encode(struct tach__work *w);
void tach__arm_perf(struct tach__work *w);
/*
 * CPUID leaf 0AH: the architectural events and modifiers that this processor has. `named`: the
 * string asks for the architectural PMU itself, so that all its events encode without a CPUID.
 */
uint32_t tach__archperfmon_mods(const struct tach_encode_options *opt, uint32_t mods);
int tach__archperfmon_event(const struct tach_encode_options *opt,
			    const struct tach__event *event, int named);
/* Counters of this processor; 0: it has no architectural PMU, or is none of Intel's. */
int tach__archperfmon_counters(int *general, int *fixed);
int tach__ia64_encode(struct tach__work *w);

#endif
