/* SPDX-License-Identifier: MIT */
/* Differences between libpfm-4's results and ours, as data: nothing else depends on
 * TACH_ENCODE_LIBPFM4. The comment of that flag explains why our results are better. */
#ifndef TACH_CORE_PORT_QUIRKS_H
#define TACH_CORE_PORT_QUIRKS_H

#include <tach/event.h>

struct tach__quirks {
	/* ---- the string ---- */
	/* A mask for the number of attributes that a new one is compared with: all bits, or no
	 * bits. */
	uint32_t compared;
	/* If there are more attributes than this, repeated ones are searched after all are
	 * known. */
	uint32_t repeats;
	/* maximum number of aliases to follow; the next alias keeps its own code */
	uint32_t alias_steps;
	/* a number of more than 64 bits becomes the largest number, as with strtoull */
	uint8_t cut_numbers;
	uint8_t letters;      /* perf's modifiers in one word (:uk, :ppp, :D) are accepted */
	uint8_t respells;     /* vendors' spellings are tried for each attribute that failed */
	uint8_t lone_systems; /* a tracepoint system without a tracepoint is an event */

	/* ---- rows ---- */
	uint32_t keys;		 /* 1u << TACH__A_*: attributes that are used */
	uint32_t default_keys;	 /* the same for default umasks */
	uint32_t default_flags;	 /* TACH__UM_*: flags of default umasks that are used */
	uint32_t default_locks;	 /* 1u << TACH__MOD_*: modifiers that default umasks lock */
	uint32_t silent;	 /* TACH__UM_*: defaults that the full name may omit */
	uint32_t pmus_without_h; /* TACH__PMU_*: PMUs with these flags do not offer level h */
	/* rows with words of libpfm-4 (TACH__A_PFM) have the meaning of these words */
	uint8_t aliases_by_word;
	/* TACH__EV_*: an event is precise if, of these flags, it has exactly TACH__EV_PEBS */
	uint32_t precise;

	/* ---- modifiers ---- */
	uint32_t replaced; /* in a row's code: the user's value replaces them */
	uint32_t sticky;   /* NetBurst: a later 0 does not clear these modifiers */
	uint32_t h_types;  /* 1u << PERF_TYPE_*: generic events that accept h */
	uint8_t named;	   /* mg and mh mean yes with any value */
	/* on machines with several core types, events contain the PMU's number */
	uint8_t core_types;

	/* ---- uncore boxes ---- */
	/*
	 * Six differences. Other names of the kernel for a box are not tried. Header filters
	 * are not umask bits. Modifiers are lost under perf (@perfdrop). The threshold of Ice
	 * Lake's power control unit clears the bits after it. rmem is shown as rem. A name for
	 * boxes of several CPUs (@alias) is shown unchanged.
	 */
	uint8_t box_slips;

	/* ---- the full name ---- */
	/* modifiers that are shown if given, although the umask accepts no modifiers */
	uint32_t nomods_shown;
	/* modifiers that are shown even where their value 0 means that they do not exist */
	uint32_t zeros_shown;
	uint32_t netburst_shown; /* levels in NetBurst's words, in addition to perf's */
	uint32_t sampling_shown; /* 1u << TACH__OS_*: all are shown if one of them is given */
	uint32_t os_shown;	 /* 1u << TACH__OS_*: shown only if given */
	uint64_t raw_shown;	 /* bits of a umask given as a number */
	uint8_t cut_names; /* omits raw codes, and everything for umasks without modifiers */
};

/* The first element is for our results, the second for libpfm-4's. */
extern const struct tach__quirks tach__quirks[2] __attribute__((visibility("hidden")));

static inline const struct tach__quirks *
tach__quirks_of(const struct tach_encode_options *options)
{
	return &tach__quirks[options->flags & TACH_ENCODE_LIBPFM4];
}

#endif
