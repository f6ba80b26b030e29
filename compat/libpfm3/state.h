/* SPDX-License-Identifier: MIT */
/* The chosen PMU, and the rows of libpfm-3's tables for its indices. */
#ifndef COMPAT_LIBPFM3_STATE_H
#define COMPAT_LIBPFM3_STATE_H

#include <perfmon/pfmlib.h>
#include <tach/dispatch.h>
#include "core/tables/tables.h"

struct p3_pmu {
	int type;
	const char *list; /* for tach_dispatch_list */
	const char *name;
	const char *pmcs, *pmds, *counters; /* which exist: "0-3,16" */
	unsigned width;
	const char *cycles, *instructions; /* events */
	uint32_t revision;		   /* AMD */
};

struct p3_chosen {
	const struct p3_pmu *pmu;
	int number;	   /* for tach_dispatch_compute */
	int table;	   /* in core/tables/tables.h */
	uint32_t revision; /* AMD and Pentium 4: the CPU's model */
};

/*
 * Returns the PMU that pfm_initialize or pfm_force_pmu chose: PFMLIB_SUCCESS or
 * PFMLIB_ERR_NOINIT.
 */
pfm_err_t p3_chosen(struct p3_chosen *out);
/*
 * Finds the row of an index. Also returns PFMLIB_ERR_INVAL, or _BADHOST if this revision lacks
 * the event.
 */
pfm_err_t p3_event(struct p3_chosen *out, unsigned idx, const struct tach__event **row);
pfm_err_t p3_umask(struct p3_chosen *out, unsigned idx, unsigned mask,
		   const struct tach__umask **row);
void p3_regmask(const char *list, pfmlib_regmask_t *out);

pfm_err_t p3_error(int tach_code);
/* Returns true if pfm_set_options or LIBPFM_VERBOSE request messages. */
int p3_verbose(void);

/* Reads model-specific structures; fills events[0 .. n-1] with their parts. */
void p3_x86_input(const struct p3_chosen *c, const void *model_in, struct tach_dispatch *in,
		  struct tach_dispatch_event *events, struct tach_dispatch_x86 *x86);
void p3_ia64_input(const struct p3_chosen *c, const void *model_in, struct tach_dispatch *in,
		   struct tach_dispatch_event *events, struct tach_dispatch_ia64 *ia64);
void p3_output(const struct p3_chosen *c, const struct tach_dispatch_out *from,
	       void *model_out);
void p3_register(const struct tach_register *from, pfmlib_reg_t *to);

#endif
