/* SPDX-License-Identifier: MIT */
/* The PMUs of a machine, and the events that they can count at once. */
#ifndef TACH_CORE_PMU_H
#define TACH_CORE_PMU_H

#include "core/port/port.h"

/* Returns the architecture for which this library was built, or -1 if it has no tables. */
int tach__native_arch(void);

/*
 * Lists the table PMUs of these cores, most capable first, at most max. Returns their number.
 * sysfs under root shows which core types of a hybrid the kernel supports. If err is not NULL,
 * it is always filled. Normally, it has code 0 and an empty text. If the function had to assume
 * something, it has code 0 and a sentence. If the result is 0, it has TACH_ERR_NOTFOUND and the
 * identification.
 */
int tach__pmus_of(enum tach__arch arch, const struct tach__cpu *cpus, int ncpus,
		  const char *root, int *pmus, int max, struct tach_error *err);
/* Does the whole identification: reads the machine under root. */
int tach__identify(enum tach__arch arch, const char *root, int native, int *pmus, int max,
		   struct tach_error *err);
/* Lists the PMUs of a comma-separated list of names. Returns 0 and sets err->column if a name
 * is unknown. */
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
/* Adds the boxes of all CPUs that have this core PMU, also of other machines. */
void tach__boxes_of_pmu(int pmu, uint64_t *boxes);
/* Returns this machine's boxes, which are cached. */
const uint64_t *tach__boxes(void);

/* ---- machine.c ---- */
/* Takes the machine from the table, and adapts it to this host and opt. */
int tach__machine(const struct tach_schedule_options *opt, struct tach__machine *machine);
void tach__want(const struct tach__machine *machine, const struct tach_event *event,
		struct tach__want *want);

/* ---- split.c ---- */
/* Does the work of tach_schedule_split, without texts. Fills out->group and ->counter for n
 * events. */
int tach__schedule(const struct tach__machine *machine, const struct tach__want *wants, int n,
		   int nanchors, struct tach_schedule *out);

/* ---- schedule.c ---- */
/*
 * Returns 0 if the n events fit one pinned group on `pmu` (-1: the host's core PMU) in the
 * current state of this machine. If not, returns TACH_ERR_NOCOUNTER: err->text has the number
 * of events that fit, and groups that fit. Other errors are those of tach_schedule_split.
 */
int tach__schedule_set(int pmu, const struct tach_event *events, int n, struct tach_error *err);

#endif
