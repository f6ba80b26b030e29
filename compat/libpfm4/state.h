/* SPDX-License-Identifier: MIT */
/* Results of pfm_initialize, and small conversions that every entry point needs. */
#ifndef COMPAT_LIBPFM4_STATE_H
#define COMPAT_LIBPFM4_STATE_H

#include <perfmon/pfmlib_perf_event.h>
#include "core/event/event.h"

struct p4_state {
	int ready;
	pfm_err_t status;
	int verbose; /* explain refusals on `out` */
	FILE *out;
	int encode_inactive; /* accept every PMU as a prefix */
	int perf;	     /* this kernel has perf_event */
	int nactive, nhidden;
	int active[TACH__SEARCH_MAX];	 /* in search order; the hidden ones last */
	uint64_t boxes[TACH__BOX_WORDS]; /* boxes of this machine, one bit each */
	char host[64]; /* the forced PMU's name, or "" if it is not a core PMU */
	int forced;
	int arch_general, arch_fixed; /* counters of the architectural PMU; 0: not there */
};

/*
 * Returns the state, locked for reading until p4_leave, or NULL before pfm_initialize.
 * pfm_terminate waits for readers.
 */
const struct p4_state *p4_enter(void);
void p4_leave(void);
int p4_is_active(const struct p4_state *state, int pmu);

/* libpfm-4's number of a table's PMU and back; -1: not found. */
int p4_number(int pmu);
int p4_pmu(int number);

/* idx = number << 21 | event. */
int p4_idx(int pmu, int event);
int p4_from_idx(int idx, int *event); /* the PMU, or -1 */

pfm_err_t p4_error(int tach_code);
/*
 * Checks a size: 0 is the first version; if it is larger than ours, the bytes after our size
 * must be zero.
 */
pfm_err_t p4_check_size(const void *arg, size_t size, size_t ours, size_t first);

/* Combines the options of the state and the call. */
struct tach_encode_options p4_options(const struct p4_state *state, pfm_os_t os, int plm);
int p4_os_works(const struct p4_state *state, pfm_os_t os);

/* attrs.c: an event's attributes as a list. */
struct p4_attrs {
	int numasks;
	int nmods, mods[TACH__NBOX_MODS];
	int nosmods, osmods[TACH__NOSMODS];
	struct tach__work w; /* set to the event, for tach__offer */
	struct tach_encode_options opt;
};
uint64_t p4_wired(uint32_t hw);
/*
 * Returns a description, or the name if there is no description: callers use the text without a
 * check.
 */
static inline const char *p4_text(uint32_t description, uint32_t name)
{
	return tach__str(description ? description : name);
}
void p4_attrs(struct p4_attrs *out, const struct p4_state *state, int pmu, int event,
	      pfm_os_t os);

#endif
