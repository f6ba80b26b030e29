/* SPDX-License-Identifier: MIT */
/*
 * Event tables for the rest of core/ and arch/. tools/mkevents.c writes the arrays from the
 * text files in arch/<arch>/events; only core/tables/tables.c knows their layout beyond these
 * rows. Strings are offsets into one pool, so that the arrays contain no pointers and the
 * shared object needs no relocation for them. Look-ups use hashes and allocate nothing.
 */
#ifndef TACH_CORE_TABLES_H
#define TACH_CORE_TABLES_H

#include <stddef.h>
#include <stdint.h>

/*
 * The folders of arch/ (the makefile writes archs.h, a list of their arch.def), linux last.
 * TACH__ARCH describes a @match line: its number of cells, and the numbers in each; 0: patterns
 * of text.
 */
enum tach__arch {
#define TACH__ARCH(name, NAME, cells, numbers) TACH__##NAME,
#include <archs.h>
	TACH__NARCHS
};

/* TACH__PERF: perf's generic events; TACH__PERF_RAW: rXXXX, no rows. */
enum tach__encoding {
#define TACH__ENCODING(name, NAME) TACH__##NAME,
#include <archs.h>
	TACH__NENCODINGS
};

/* Modifiers, in their order in full names of each family; bit = 1u << enum. */
enum tach__mod {
	TACH__MOD_K,
	TACH__MOD_U,
	TACH__MOD_E,
	TACH__MOD_I,
	TACH__MOD_C,
	TACH__MOD_T,
	TACH__MOD_LDLAT,
	TACH__MOD_INTX,
	TACH__MOD_INTXCP,
	TACH__MOD_FE_THRES,
	TACH__MOD_H,
	TACH__MOD_G,
	TACH__MOD_HV,
	TACH__MOD_CMPL,
	TACH__MOD_THR,
	TACH__MOD_IRANGE,
	TACH__MOD_DRANGE,
	TACH__MOD_OPC,
	TACH__MOD_EQ,
	TACH__NMODS
};

/*
 * Modifiers of uncore boxes: MOD(number, key, NAME, word, integer). Tables use the key, event
 * strings use the word. Several keys share a word; an event has at most one of them. The order
 * is the order in full names. The number is libpfm-4's.
 */
#define TACH__BOX_MODS(MOD)                                                                    \
	MOD(0, e, E, "e", 0)                                                                   \
	MOD(1, i, I, "i", 0)                                                                   \
	MOD(2, t8, T8, "t", 1)                                                                 \
	MOD(3, t5, T5, "t", 1)                                                                 \
	MOD(4, tf, TF, "tf", 1)                                                                \
	MOD(5, cf, CF, "cf", 1)                                                                \
	MOD(6, nf, NF, "nf", 1)                                                                \
	MOD(7, ff, FF, "ff", 1)                                                                \
	MOD(9, nf1, NF1, "nf", 1)                                                              \
	MOD(10, isoc, ISOC, "isoc", 0)                                                         \
	MOD(11, nc, NC, "nc", 0)                                                               \
	MOD(12, cf1, CF1, "cf", 1)                                                             \
	MOD(15, loc, LOC, "loc", 0)                                                            \
	MOD(16, rem, REM, "rem", 0)                                                            \
	MOD(17, lmem, LMEM, "lmem", 0)                                                         \
	MOD(18, rmem, RMEM, "rmem", 0)                                                         \
	MOD(19, dnid, DNID, "dnid", 1)                                                         \
	MOD(20, rcsnid, RCSNID, "rcsnid", 1)                                                   \
	MOD(21, t6, T6, "t", 1)                                                                \
	MOD(22, occ_i, OCC_I, "occ_i", 0)                                                      \
	MOD(23, occ_e, OCC_E, "occ_e", 0)                                                      \
	MOD(24, t12, T12, "t", 1)                                                              \
	MOD(25, c5, C5, "c", 1)                                                                \
	MOD(26, c6, C6, "c", 1)                                                                \
	MOD(27, c8, C8, "c", 1)                                                                \
	MOD(28, o, O, "o", 0)                                                                  \
	MOD(29, k, K, "k", 0)                                                                  \
	MOD(30, u, U, "u", 0)                                                                  \
	MOD(31, hv, HV, "hv", 0)
/* Bit = 1u << enum, in the same fields as enum tach__mod of cores. */
enum tach__box_mod {
#define TACH__BOX_MOD_NUMBER(number, key, NAME, word, integer) TACH__BOX_MOD_##NAME = number,
	TACH__BOX_MODS(TACH__BOX_MOD_NUMBER) TACH__NBOX_MODS
};

/* PMU flags (@flags, and those that the generator derives). */
#define TACH__PMU_RAWUMASK    0x01u
#define TACH__PMU_ECMASK      0x02u
#define TACH__PMU_EXTPEBS     0x04u
#define TACH__PMU_SPEC	      0x08u
#define TACH__PMU_DEPRECATED  0x10u
#define TACH__PMU_ARCHDEFAULT 0x20u
/* An event list of libpfm-3: numbered after all others, found only by tach__pfm3_find. */
#define TACH__PMU_PFM3	    0x40u
#define TACH__PMU_PERFMONV2 0x80u /* AMD: the PMU has global control and overflow status */
/* Intel, unless TACH__PMU_EXTPEBS implies it: each counter samples precisely. */
#define TACH__PMU_PEBSALL 0x100u
#define TACH__PMU_NOH	  0x200u /* libpfm-4 offers no h here, although the level exists */
/*
 * An uncore box (arch/FORMAT.md, "Uncore"): numbered after the core PMUs. The next flags are
 * for boxes: present if sysfs has it (otherwise the CPU alone decides); occupancy events;
 * filters that the kernel wants in one word; type 4 if sysfs has none; header matches that
 * Linux takes as umask bits.
 */
#define TACH__PMU_BOX	 0x00400u
#define TACH__PMU_SYSFS	 0x00800u
#define TACH__PMU_OCC	 0x01000u
#define TACH__PMU_CBO	 0x02000u
#define TACH__PMU_CHA	 0x04000u
#define TACH__PMU_TYPE4	 0x08000u
#define TACH__PMU_HEADER 0x10000u

/* Event flags; the bit numbers are used only by the generator and this header. */
#define TACH__EV_OFFCORE    0x00000001u
#define TACH__EV_FRONTEND   0x00000002u
#define TACH__EV_GRPEXCL    0x00000004u
#define TACH__EV_BARE	    0x00000008u
#define TACH__EV_FIXED	    0x00000010u
#define TACH__EV_PEBS	    0x00000020u
#define TACH__EV_SPEC	    0x00000040u
#define TACH__EV_DEPR	    0x00000080u
#define TACH__EV_CODEDUP    0x00000100u
#define TACH__EV_BTB	    0x00000200u
#define TACH__EV_ETB	    0x00000400u
#define TACH__EV_IEAR_CACHE 0x00000800u
#define TACH__EV_IEAR_TLB   0x00001000u
#define TACH__EV_DEAR_CACHE 0x00002000u
#define TACH__EV_DEAR_TLB   0x00004000u
#define TACH__EV_DEAR_ALAT  0x00008000u
#define TACH__EV_IRANGE	    0x00010000u
#define TACH__EV_DRANGE	    0x00020000u
#define TACH__EV_OPC	    0x00040000u
#define TACH__EV_MESI	    0x00080000u
#define TACH__EV_ALLTHRD    0x00100000u
#define TACH__EV_FALLBACK   0x00200000u
#define TACH__EV_NOAUTO	    0x00400000u
#define TACH__EV_IBSFETCH   0x00800000u
#define TACH__EV_IBSOP	    0x01000000u
#define TACH__EV_FILT	    0x02000000u
#define TACH__EV_FILT0	    0x04000000u
#define TACH__EV_CSPEC	    0x08000000u /* counts one core or both: its umask must say which */
#define TACH__EV_UNCORE	    0x10000000u
#define TACH__EV_PEBSV	    0x20000000u /* next to PEBS: libpfm-4 does not know it */
/* together with BARE: libpfm-4 also accepts the event without a umask, or lacks the event */
#define TACH__EV_BAREL 0x80000000u
/* an earlier row has the same name, so a search by name does not find this row */
#define TACH__EV_SHADOW 0x40000000u

/* Umask flags. */
#define TACH__UM_DFL	 0x0001u
#define TACH__UM_NC	 0x0002u
#define TACH__UM_SOLO	 0x0004u
#define TACH__UM_XGT	 0x0008u
#define TACH__UM_XBUT0	 0x0010u
#define TACH__UM_GRPNONE 0x0020u
#define TACH__UM_OMIT	 0x0040u
#define TACH__UM_LDLAT	 0x0080u
#define TACH__UM_FETHR	 0x0100u
#define TACH__UM_NOMODS	 0x0200u
#define TACH__UM_PEBS	 0x0400u
#define TACH__UM_SPEC	 0x0800u
#define TACH__UM_DEPR	 0x1000u
#define TACH__UM_FIXED	 0x2000u
#define TACH__UM_NOAUTO	 0x4000u

/* src column. */
enum tach__src { TACH__SRC_L, TACH__SRC_V, TACH__SRC_LV, TACH__SRC_LX, TACH__SRC_LF };

/* attrs column: keys with a number or a string. */
enum tach__attr {
	TACH__A_EQ,
	TACH__A_VN,
	TACH__A_SEL,
	TACH__A_BASE,
	TACH__A_PLAIN,
	TACH__A_MSR,
	TACH__A_LDLAT,
	TACH__A_REQ,
	TACH__A_LOCK,
	TACH__A_F0,
	TACH__A_F1,
	TACH__A_SAV,
	TACH__A_ERR,
	TACH__A_LA,
	TACH__A_L1H,
	TACH__A_ALONE,
	TACH__A_PEBSONLY,
	TACH__A_PDIST,
	TACH__A_PERF,
	TACH__A_ONLY,
	TACH__A_UM,
	TACH__A_ESCR,
	TACH__A_ESCRSEL,
	TACH__A_REALMASK,
	TACH__A_CAF,
	TACH__A_GROUP,
	TACH__A_SET,
	TACH__A_MAXINC,
	TACH__A_O,
	TACH__A_PFM,
	TACH__A_VC,
	TACH__A_REV, /* revisions of the CPU that have it: first, last << 8; 0 = any */
	TACH__NATTRS
};

struct tach__pmu {
	uint32_t name, description; /* string pool offsets; offset 0 is "" */
	uint32_t perf; /* kernel PMU names, separated by spaces, best first; "" = none */
	uint8_t arch, encoding;
	uint8_t general, general_width; /* @gp; 0 = unknown */
	uint8_t general_libpfm4, fixed_libpfm4;
	union {
		uint8_t fixed_width;
		uint8_t words; /* boxes: maximum number of register words of an event */
	};
	uint8_t privilege; /* TACH_PRIVILEGE_* */
	union {
		uint32_t fixed;	 /* bit n = fixed counter n */
		uint32_t osmods; /* boxes: 1u << TACH__OS_* of modifiers that perf accepts */
	};
	union {
		uint32_t general_mask; /* bit n = general counter n (ia64: 4-15) */
		uint32_t perfdrop;     /* boxes: modifiers that only raw words accept */
	};
	uint32_t mods;	/* 1u << TACH__MOD_* of modifiers that exist; boxes: TACH__BOX_MOD_* */
	uint32_t flags; /* TACH__PMU_* */
	int32_t libpfm4_id; /* -1: none */
	uint32_t nevents;
	uint32_t alias; /* another PMU whose strings work here too; "" = none */
};

/* The fields of rows are sorted by size: thousands of rows, no padding. Both kinds have 32
 * bytes, so that finding one by number takes a shift. */
struct tach__event {
	uint32_t name, description; /* string pool offsets */
	uint32_t code;
	uint32_t flags;	 /* TACH__EV_* */
	uint32_t mods;	 /* 1u << TACH__MOD_*, '*' already expanded for the PMU */
	uint16_t umasks; /* private to tables.c */
	uint16_t numasks;
	uint16_t counter_set; /* index for tach__counter_set(), 0 = any general */
	uint16_t hw;	      /* wired-in modifiers: index for tach__hw(), 0 = none */
	uint16_t attrs;	      /* index for tach__attr(), 0 = none */
	uint8_t ngroups, src;
};

struct tach__umask {
	uint64_t code;
	uint32_t name, description;
	uint16_t counter_set; /* index for tach__counter_set(), 0 = the event's */
	uint16_t mods;	      /* modifiers that the string must have; all below bit 16 */
	uint16_t flags;	      /* TACH__UM_* */
	uint16_t hw, attrs;
	uint8_t group;
	uint8_t requires; /* group that must be present too, 0xff = none */
	uint8_t src;
};

/* Core PMUs are 0 .. tach__npmus()-1; order: enum tach__arch; within one: see tables.c. */
static inline int tach__npmus(void);
/* The boxes follow: tach__npmus() .. tach__npmus() + tach__nboxes() - 1. */
static inline int tach__nboxes(void);
/* Returns 1 if a PMU or a list of libpfm-3 has this number. */
int tach__pmu_exists(int pmu);
/* Returns libpfm-3's list of that name ("core" for arch/x86/pfm3/pfm3_core.tsv), or -1. */
int tach__pfm3_find(const char *name);
/* 32 bytes after the end of any string are readable. */
static inline const char *tach__str(uint32_t offset);
static inline const struct tach__pmu *tach__pmu_at(int pmu);
/* Finds a PMU by name or alias, case ignored; -1 if there is no such PMU. */
int tach__pmu_find(const char *name, size_t length);

static inline const struct tach__event *tach__event_at(int pmu, int event);
static inline const struct tach__umask *tach__umask_at(const struct tach__event *event,
						       int umask);
/* Finds the first event of that name in table order, case ignored; -1 if it does not exist. */
int tach__event_find(int pmu, const char *name, size_t length);
/* Finds the first umask of that name in table order; -1 if it does not exist. */
int tach__umask_find(const struct tach__event *event, const char *name, size_t length);
/*
 * Finds an event by the vendor's spelling: a name from vn=, or EVENT or EVENT.UMASK. Dots after
 * the first replace the umask's underscores, and EVENT may be a name from vn=. Returns the
 * event number and sets *umask to the umask or -1. Returns -1 if there is no such event.
 */
int tach__vendor_find(int pmu, const char *name, size_t length, int *umask);

/* Returns a row's counters: bits 0-31 general, 32-63 fixed. */
static inline uint64_t tach__counter_set(uint32_t counter_set);
/* Gets the value of a wired-in modifier: returns 1 and sets *value, or returns 0 if the row
 * does not have it. */
int tach__hw(uint32_t hw, enum tach__mod mod, uint32_t *value);
/*
 * Finds an attribute by key. Returns 1 if it exists. number and text may be NULL. Flag
 * attributes have number 1.
 * Vendor spellings (TACH__A_VN) are not kept here; see tach__vendor_find.
 */
static inline int tach__attr(uint32_t attrs, enum tach__attr key, uint64_t *number,
			     const char **text);
/* Returns the keys that exist, as bits 1u << key. */
static inline uint32_t tach__attr_keys(uint32_t attrs);

#include "core/tables/data.h" /* the inline ones */
#include "core/tables/pattern.h"
#include "core/tables/search.h"

#endif
