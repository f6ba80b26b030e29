/* SPDX-License-Identifier: MIT */
/* Intel dispatch: choosing counters (dispatch_intel.c) and writing registers (intel_emit.c). */
#ifndef ARCH_X86_DISPATCH_INTEL_H
#define ARCH_X86_DISPATCH_INTEL_H

#include "arch/x86/dispatch.h"

/* perfmon2's numbers if it had any; see include/tach/dispatch.h. */
enum {
	PMC_FIXED_CTRL = 16,
	PMC_PEBS_ENABLE = 17,
	PMC_LD_LAT = 18,
	PMC_OFFCORE_0 = 19,
	PMC_UNCORE_FIXED = 20,
	PMC_LBR_SELECT = 30,
	PMC_OFFCORE_1 = 31,
	PMC_FRONTEND = 32,
	PMC_GLOBAL_CTRL = 33,
	PMD_FIXED_0 = 16,
	PMD_UNCORE_FIXED = 20,
	PMD_UNCORE_0 = 21,
	PMD_LBR_TOS = 31,
	PMD_LBR_0 = 32,
	PMD_METRICS_0 = 48,
};

#define MSR_OFFCORE_0 0x1a6u
#define MSR_OFFCORE_1 0x1a7u

/* The differences between the families. */
struct tach__intel_model {
	const char *list;
	int combine;	    /* error code for unit masks that exclude each other */
	int enable_each;    /* 1: each select register has an enable bit, not only the first */
	int wide_threshold; /* 1: thresholds above 255 are cut, not refused */
	int core_specific;  /* 1: events may count two cores: bits 14-15 select the core */
	int pebs_first;	    /* 1: PEBS works only on PMC0 */
	int any_thread;
	int uncore;
	int lbr;     /* entries */
	int encoded; /* 1: register values come from the encoder */
	int knc;     /* Knights Corner's MSRs */
};

struct tach__intel {
	struct tach__dispatch *d;
	const struct tach__intel_model *model;
	int8_t counter[TACH_DISPATCH_EVENTS_MAX]; /* PMD number */
	uint64_t offcore[2];
	int offcore_used[2], offcore_registers; /* 0: not looked up */
	uint64_t frontend, ldlat;		/* 0 = not used */
	uint32_t latency;			/* events with a load latency, one bit each */
	int pebs_placed;			/* 1: an event that needs PMC0 has it */
};

int tach__intel_counts_pebs(const struct tach__item *item);
int tach__intel_emit(struct tach__intel *w);

/* ---- intel_encoded.c: PMUs of the tables ---- */
/* Unpacks the encoder's words, and sets the values of shared registers. */
int tach__intel_encoded(struct tach__intel *w);
int tach__intel_is_metric(const struct tach__item *item);
uint64_t tach__intel_metric_counter(const struct tach__item *item);
void tach__intel_metric_register(struct tach__intel *w, unsigned n);
/*
 * Returns PERFEVTSELx as the encoder made it, with the requested levels, and without its enable
 * bit.
 */
uint64_t tach__intel_word(const struct tach__item *item);
int tach__intel_emit_encoded(struct tach__intel *w);

#endif
