/* SPDX-License-Identifier: MIT */
/* The PMU that was chosen, and the rows of libpfm-3's tables behind its indices. */
#ifndef COMPAT_LIBPFM3_STATE_H
#define COMPAT_LIBPFM3_STATE_H

#include <perfmon/pfmlib.h>
#include <tach/dispatch.h>
#include "core/tables/tables.h"

struct p3_pmu {
	int type;
	const char *list; /* of tach_dispatch_list */
	const char *name;
	const char *pmcs, *pmds, *counters; /* which exist: "0-3,16" */
	unsigned width;
	const char *cycles, *instructions; /* events */
	uint32_t revision;		   /* AMD */
};

struct p3_chosen {
	const struct p3_pmu *pmu;
	int number;	   /* of tach_dispatch_compute */
	int table;	   /* of core/tables/tables.h */
	uint32_t revision; /* AMD; Pentium 4: the CPU's model */
};

/* What pfm_initialize or pfm_force_pmu chose: PFMLIB_SUCCESS or PFMLIB_ERR_NOINIT. */
pfm_err_t p3_chosen(struct p3_chosen *out);
/* The row of an index: also PFMLIB_ERR_INVAL, or _BADHOST where this revision lacks it. */
pfm_err_t p3_event(struct p3_chosen *out, unsigned idx, const struct tach__event **row);
pfm_err_t p3_umask(struct p3_chosen *out, unsigned idx, unsigned mask,
		   const struct tach__umask **row);
void p3_regmask(const char *list, pfmlib_regmask_t *out);

pfm_err_t p3_error(int tach_code);
/* What pfm_set_options or LIBPFM_VERBOSE want. */
int p3_verbose(void);

/* Model-specific structures; events[0 .. n-1] get what is said of them there. */
void p3_x86_input(const struct p3_chosen *c, const void *model_in, struct tach_dispatch *in,
		  struct tach_dispatch_event *events, struct tach_dispatch_x86 *x86);
void p3_ia64_input(const struct p3_chosen *c, const void *model_in, struct tach_dispatch *in,
		   struct tach_dispatch_event *events, struct tach_dispatch_ia64 *ia64);
void p3_output(const struct p3_chosen *c, const struct tach_dispatch_out *from,
	       void *model_out);
void p3_register(const struct tach_register *from, pfmlib_reg_t *to);

#endif
