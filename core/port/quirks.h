/* SPDX-License-Identifier: MIT */
/*
 * Where libpfm-4 answers otherwise than this library: all of it, as data, for nothing else asks
 * for TACH_ENCODE_LIBPFM4. What is better about the library's own answers is said at that flag.
 */
#ifndef TACH_CORE_PORT_QUIRKS_H
#define TACH_CORE_PORT_QUIRKS_H

#include <tach/event.h>

struct tach__quirks {
	/* ---- the string ---- */
	/* Bits of the number of attributes that a new one is compared with: all, or none. */
	uint32_t compared;
	/* More attributes than that are searched for repeated ones when all are there. */
	uint32_t repeats;
	uint32_t alias_steps; /* aliases of events followed; a further one keeps its own code */
	uint8_t cut_numbers;  /* one beyond 64 bits is the largest there is, as strtoull has it
			       */
	uint8_t letters;      /* perf's modifiers in one word (:uk, :ppp, :D) are understood */
	uint8_t respells;     /* vendors' spellings are tried whichever attribute failed */
	uint8_t lone_systems; /* a tracepoint system without a tracepoint is an event */

	/* ---- what rows say ---- */
	uint32_t keys;		 /* 1u << TACH__A_*: attributes that count */
	uint32_t default_keys;	 /* the same of umasks that come by default */
	uint32_t default_flags;	 /* TACH__UM_*: flags of those that count */
	uint32_t default_locks;	 /* 1u << TACH__MOD_*: what those lock */
	uint32_t silent;	 /* TACH__UM_*: defaults that the full name may leave out */
	uint32_t pmus_without_h; /* TACH__PMU_*: flags by which the level h is not offered */
	uint8_t aliases_by_word; /* rows that have its words (TACH__A_PFM) are what those say */
	uint32_t precise;	 /* TACH__EV_*: of these exactly TACH__EV_PEBS makes precise */

	/* ---- modifiers ---- */
	uint32_t replaced;  /* wired into a row: the user's replaces it, else it is or-ed */
	uint32_t sticky;    /* NetBurst: given again as 0 they stay */
	uint32_t h_types;   /* 1u << PERF_TYPE_*: generic events that take h */
	uint8_t named;	    /* mg and mh mean yes whatever their value */
	uint8_t core_types; /* machines of several: events carry the PMU's number */

	/* ---- boxes of the uncore ---- */
	/*
	 * The kernel's other names for a box are not tried, header filters are no umask bits,
	 * modifiers are lost under perf (@perfdrop), the threshold of Ice Lake's power control
	 * unit clears the bits behind it, rmem shows rem, and what one name means on several
	 * CPUs (@alias) is shown under that name.
	 */
	uint8_t box_slips;

	/* ---- the full name ---- */
	uint32_t nomods_shown;	 /* modifiers shown of a umask that takes none, if given */
	uint32_t zeros_shown;	 /* modifiers shown even where 0 says that there is no such */
	uint32_t netburst_shown; /* levels that NetBurst's words hold, beside perf's */
	uint32_t sampling_shown; /* 1u << TACH__OS_*: where one of them is given */
	uint32_t os_shown;	 /* 1u << TACH__OS_*: by what was given, not always or never */
	uint64_t raw_shown;	 /* bits of a umask given as a number */
	uint8_t cut_names; /* no raw code, and nothing at all for umasks without modifiers */
};

/* Ours, and libpfm-4's. */
extern const struct tach__quirks tach__quirks[2] __attribute__((visibility("hidden")));

static inline const struct tach__quirks *
tach__quirks_of(const struct tach_encode_options *options)
{
	return &tach__quirks[options->flags & TACH_ENCODE_LIBPFM4];
}

#endif
