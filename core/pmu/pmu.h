/* SPDX-License-Identifier: MIT */
/* The PMUs of a machine: which they are, and what counts on them at once. */
#ifndef TACH_CORE_PMU_H
#define TACH_CORE_PMU_H

#include "core/port/port.h"

/* The architecture this library was built for, -1 if it has no tables. */
int tach__native_arch(void);

/*
 * The table PMUs of these cores, most capable first, at most max; how many. sysfs under root
 * tells which core types of a hybrid the kernel serves. err, if given, is always filled: code
 * 0 and "" when all is plain, code 0 and a sentence when something had to be assumed,
 * TACH_ERR_NOTFOUND with what was seen when the result is 0.
 */
int tach__pmus_of(enum tach__arch arch, const struct tach__cpu *cpus, int ncpus,
		  const char *root, int *pmus, int max, struct tach_error *err);
/* All of it: reads the machine under root. */
int tach__identify(enum tach__arch arch, const char *root, int native, int *pmus, int max,
		   struct tach_error *err);
/* The PMUs of a comma-separated list of names; 0 with err->column where one is unknown. */
int tach__pmus_named(const char *names, int *pmus, int max, struct tach_error *err);

/* ---- boxes.c ---- */
/* A bit for each box, in TACH__BOX_WORDS words; tach__npmus() is bit 0. */
#define TACH__BOX_WORDS 64
static inline int tach__box_in(const uint64_t *boxes, int pmu)
{
	unsigned i = (unsigned)(pmu - tach__npmus());

	return i < TACH__BOX_WORDS * 64 && boxes[i / 64] >> i % 64 & 1;
}
/* Adds the boxes of machines with these CPUs, by the tables and by sysfs under root. */
void tach__boxes_of(enum tach__arch arch, const struct tach__cpu *cpus, int ncpus,
		    const char *root, uint64_t *boxes);
/* Adds the boxes of all CPUs that have this core PMU, whether or not this machine is one. */
void tach__boxes_beside(int pmu, uint64_t *boxes);
/* This machine's: looked for once. */
const uint64_t *tach__boxes(void);

/* ---- machine.c ---- */
/* From the table alone, then narrowed or widened by what this host has and opt says. */
int tach__machine(const struct tach_schedule_options *opt, struct tach__machine *machine);
void tach__want(const struct tach__machine *machine, const struct tach_event *event,
		struct tach__want *want);

/* ---- split.c ---- */
/* The work of tach_schedule_split, without words. out->group and ->counter of n events. */
int tach__schedule(const struct tach__machine *machine, const struct tach__want *wants, int n,
		   int nanchors, struct tach_schedule *out);

/* ---- schedule.c ---- */
/*
 * 0 when the n events fit one pinned group on `pmu` (-1: the host's core PMU) as this machine
 * is now; TACH_ERR_NOCOUNTER, with err->text saying how many fit and which groups would, when
 * they do not; the errors of tach_schedule_split.
 */
int tach__schedule_set(int pmu, const struct tach_event *events, int n, struct tach_error *err);

#endif
