/* SPDX-License-Identifier: MIT */
/* Differences between libpfm-4's results and ours, as data: nothing else depends on
 * TACH_ENCODE_LIBPFM4. The comment of that flag explains why our results are better. */
#ifndef TACH_CORE_PORT_QUIRKS_H
#define TACH_CORE_PORT_QUIRKS_H

#include <tach/event.h>

struct tach__quirks {
	/* ---- the string ---- */
	/* Mask for the number of earlier attributes with which a new one is compared: all or
	 * none. */
	uint32_t compared;
	/* with more attributes, repeated ones are dropped at the end, as in libpfm-4 */
	uint32_t repeats;
	/* maximum number of aliases that are followed; a further alias keeps its own code */
	uint32_t alias_steps;
	/* a number of more than 64 bits becomes the largest number, as with strtoull */
	uint8_t cut_numbers;
	uint8_t letters;      /* accepts perf's modifiers in one word (:uk, :ppp, :D) */
	uint8_t respells;     /* tries vendors' spellings for each attribute that failed */
	uint8_t lone_systems; /* accepts a tracepoint system without a tracepoint as an event */

	/* ---- rows ---- */
	uint32_t keys;		 /* 1u << TACH__A_*: attributes of rows that are used */
	uint32_t default_keys;	 /* the same for default umasks */
	uint32_t default_flags;	 /* TACH__UM_*: flags of default umasks that are used */
	uint32_t default_locks;	 /* 1u << TACH__MOD_*: modifiers that default umasks lock */
	uint32_t silent;	 /* TACH__UM_*: default umasks that the full name may omit */
	uint32_t pmus_without_h; /* TACH__PMU_*: PMUs with such a flag do not offer level h */
	/* a umask whose row has libpfm-4's word (TACH__A_PFM) may be an alias: see umasks.c */
	uint8_t aliases_by_word;
	/* TACH__EV_*: precise events have only TACH__EV_PEBS of these flags */
	uint32_t precise;

	/* ---- modifiers ---- */
	uint32_t replaced; /* modifiers in a row's code that a value of the user replaces */
	uint32_t sticky;   /* NetBurst: 0 does not clear these modifiers */
	uint32_t h_types;  /* 1u << PERF_TYPE_*: generic events that accept h */
	uint8_t named;	   /* mg and mh with any value mean yes */
	/* on machines with several core types, events contain the PMU's number */
	uint8_t core_types;

	/* ---- uncore boxes ---- */
	/*
	 * 1: six differences of libpfm-4. It does not try other kernel names for a box. It does
	 * not treat header filters as umask bits. It loses modifiers under perf (@perfdrop).
	 * Ice Lake's power control unit: its threshold clears the bits after it. It shows rmem
	 * as rem. It shows a name for boxes of several CPUs (@alias) unchanged.
	 */
	uint8_t box_slips;

	/* ---- the full name ---- */
	/* given modifiers that are shown although the umask accepts none */
	uint32_t nomods_shown;
	/* modifiers that are shown with value 0, although 0 means that the umask lacks them */
	uint32_t zeros_shown;
	uint32_t netburst_shown; /* levels that NetBurst's modifiers show, too */
	uint32_t sampling_shown; /* 1u << TACH__OS_*: one of period, freq shows all */
	uint32_t os_shown;	 /* 1u << TACH__OS_*: if given; hw_smpl not with precise */
	uint64_t raw_shown;	 /* bits that are shown of a umask that was given as a number */
	uint8_t cut_names;	 /* omits raw codes; no name for umasks without modifiers */
};

/* The first element is for our results, the second for libpfm-4's. */
extern const struct tach__quirks tach__quirks[2] __attribute__((visibility("hidden")));

static inline const struct tach__quirks *
tach__quirks_of(const struct tach_encode_options *options)
{
	return &tach__quirks[options->flags & TACH_ENCODE_LIBPFM4];
}

#endif
