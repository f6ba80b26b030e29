/* SPDX-License-Identifier: MIT */
/* What pfm_initialize finds out, and the small translations that every entry point needs. */
#ifndef COMPAT_LIBPFM4_STATE_H
#define COMPAT_LIBPFM4_STATE_H

#include <perfmon/pfmlib_perf_event.h>
#include "core/event/event.h"

struct p4_state {
	int ready;
	pfm_err_t status;
	int verbose; /* refusals are explained on `out` */
	FILE *out;
	int encode_inactive; /* every PMU may be named by prefix */
	int perf;	     /* this kernel has perf_event */
	int nactive, nhidden;
	int active[TACH__SEARCH_MAX];	 /* in the order of search; the hidden ones last */
	uint64_t boxes[TACH__BOX_WORDS]; /* those that are there, a bit each */
	char host[64];			 /* the forced PMU's name, "" when it is no core PMU */
	int forced;
	int arch_general,
		arch_fixed; /* counters of the architectural PMU; 0: it is not there */
};

/*
 * The state, locked for reading until p4_leave, or NULL before pfm_initialize. pfm_terminate
 * waits for readers.
 */
const struct p4_state *p4_enter(void);
void p4_leave(void);
int p4_is_active(const struct p4_state *state, int pmu);

/* libpfm-4's number of a table's PMU and back; -1: none. */
int p4_number(int pmu);
int p4_pmu(int number);

/* idx = number << 21 | event. */
int p4_idx(int pmu, int event);
int p4_from_idx(int idx, int *event); /* the PMU, or -1 */

pfm_err_t p4_error(int tach_code);
/*
 * The rule for sizes: 0 is the first version; larger than ours, it must be zero behind ours.
 */
pfm_err_t p4_check_size(const void *arg, size_t size, size_t ours, size_t first);

/* Options as the state and the call make them. */
struct tach_encode_options p4_options(const struct p4_state *state, pfm_os_t os, int plm);
int p4_os_works(const struct p4_state *state, pfm_os_t os);

/* attrs.c: an event's attributes as a list. */
struct p4_attrs {
	int numasks;
	int nmods, mods[TACH__NBOX_MODS];
	int nosmods, osmods[TACH__NOSMODS];
	struct tach__work w; /* set to the event; for tach__offer */
	struct tach_encode_options opt;
};
uint64_t p4_wired(uint32_t hw);
/* A description, for callers that look into it without a check: the name where there is none.
 */
static inline const char *p4_text(uint32_t description, uint32_t name)
{
	return tach__str(description ? description : name);
}
void p4_attrs(struct p4_attrs *out, const struct p4_state *state, int pmu, int event,
	      pfm_os_t os);

#endif
