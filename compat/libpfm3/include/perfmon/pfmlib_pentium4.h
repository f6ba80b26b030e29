/* SPDX-License-Identifier: MIT */
/*
 * Pentium 4: no model-specific input. For each event pfp_pmcs has an event selector (ESCR) and
 * its counter's configuration (CCCR). The unions give access to their fields.
 */
#ifndef PERFMON_PFMLIB_PENTIUM4_H
#define PERFMON_PFMLIB_PENTIUM4_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_PENTIUM4_NUM_COUNTERS 18
#define EVENT_MASK_BITS		  16
#define EVENT_SELECT_BITS	  6

typedef union {
	unsigned long val;
	struct {			  /* from bit 0 on */
		unsigned long t1_usr : 1; /* t1: levels of the core's second thread, t0: of its
					     first */
		unsigned long t1_os : 1;
		unsigned long t0_usr : 1;
		unsigned long t0_os : 1;
		unsigned long tag_enable : 1;
		unsigned long tag_value : 4;
		unsigned long event_mask : EVENT_MASK_BITS;
		unsigned long event_select : EVENT_SELECT_BITS;
		unsigned long reserved : 1;
	} bits;
} pentium4_escr_value_t;

typedef union {
	unsigned long val;
	struct { /* from bit 0 on */
		unsigned long reserved1 : 12;
		unsigned long enable : 1;
		unsigned long escr_select : 3;
		unsigned long active_thread : 2; /* 0 none, 1 one, 2 both, 3 any */
		unsigned long compare : 1;
		unsigned long complement : 1;
		unsigned long threshold : 4;
		unsigned long edge : 1;
		unsigned long force_ovf : 1;
		unsigned long ovf_pmi_t0 : 1;
		unsigned long ovf_pmi_t1 : 1;
		unsigned long reserved2 : 2;
		unsigned long cascade : 1;
		unsigned long overflow : 1;
	} bits;
} pentium4_cccr_value_t;

#ifdef __cplusplus
}
#endif
#endif
