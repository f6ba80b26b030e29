/* SPDX-License-Identifier: MIT */
/*
 * Register dispatch: computes register values from events and constraints. It accesses no
 * hardware, so any machine can compute the registers of any PMU.
 *
 * PMC = configuration register, PMD = data register. Register numbers are perfmon2's (Linux),
 * if it supported the PMU:
 *
 *   ia64      number = the architecture's PMC/PMD index
 *   P6 family PMC0-1, PMD0-1
 *   Core, Atom, Nehalem, Westmere and all later Intel PMUs (numbers above 19 that perfmon2 did
 *             not have are ours): PMC0-15 PERFEVTSELx, 16 FIXED_CTR_CTRL, 17 PEBS_ENABLE, 18
 *             PEBS_LD_LAT, 19 OFFCORE_RSP0, 20-28 Nehalem's uncore, 30 LBR_SELECT, 31
 *             OFFCORE_RSP1, 32 PEBS_FRONTEND, 33 PERF_GLOBAL_CTRL; PMD0-15 PMCx, 16-22
 *             FIXED_CTR0-6, 24 PERF_METRICS, 31 LBR_TOS, 32-63 LBR from/to
 *   AMD       PMC0-5 PERF_CTLx, PMD0-5 PERF_CTRx; IBS fetch PMC6 and PMD6-8, op PMC7 and
 *             PMD9-15; PMC8 PerfCntrGlobalCtl from Zen 4 on (ours)
 *   NetBurst  PMC0-22 and 32-53 ESCRs, 23-31 and 54-62 CCCRs, 63 PEBS_MATRIX_VERT, 64
 *             PEBS_ENABLE; PMD0-17
 *   arm64     (ours) PMC0-30 PMEVTYPERn_EL0, 31 PMCCFILTR_EL0, 32 PMCNTENSET_EL0; PMD0-30
 *             PMEVCNTRn_EL0, 31 PMCCNTR_EL0; Apple: PMC32 PMCR0_EL1, 33 PMCR1_EL1, 34-35
 *             PMESR0-1_EL1, PMD0-9 PMCn_EL1 (unavailable counters: PMC0-9)
 */
#ifndef TACH_DISPATCH_H
#define TACH_DISPATCH_H

#include <tach/event.h>

#define TACH_DISPATCH_EVENTS_MAX    32 /* more than any PMU has counters */
#define TACH_DISPATCH_UMASKS_MAX    48
#define TACH_DISPATCH_REGISTERS_MAX 64
#define TACH_DISPATCH_PMC_MAX	    512 /* register numbers are below this */

/* Per-event flags; a PMU refuses (TACH_ERR_INVAL) flags that it does not support. */
#define TACH_DISPATCH_INVERT	0x0001u /* x86: count cycles below the threshold */
#define TACH_DISPATCH_EDGE	0x0002u /* x86 */
#define TACH_DISPATCH_ANYTHREAD 0x0004u /* Atom, Nehalem and later */
#define TACH_DISPATCH_OCCUPANCY 0x0008u /* Nehalem uncore: reset the occupancy counter */
#define TACH_DISPATCH_GUEST	0x0010u /* AMD from family 10h: count guests */
#define TACH_DISPATCH_HOST	0x0020u
#define TACH_DISPATCH_NOQUALIFY                                                                \
	0x0040u /* ia64: do not check ranges, opcodes for this event                           \
		 */
/* Montecito: refused, because no hardware supports it */
#define TACH_DISPATCH_ALLTHREADS 0x0080u
#define TACH_DISPATCH_CHAIN	 0x0100u /* arm64: 64 bits from two neighbouring counters */

/* One event to be measured, as rows of the PMU's table (tach_pmu_event, tach_pmu_umask). */
struct tach_dispatch_event {
	int32_t event;
	uint32_t privilege; /* TACH_PRIVILEGE_*; 0 = tach_dispatch.privilege */
	uint32_t flags;	    /* TACH_DISPATCH_* */
	uint32_t threshold; /* x86 counter mask, ia64 thres */
	uint32_t ism;	    /* ia64 instruction set mask, 0-3 */
	uint32_t numasks;
	uint16_t umasks[TACH_DISPATCH_UMASKS_MAX];
	/* If ncodes is not 0, the event is already encoded: codes are the result of
	 * tach_event_encode. umasks, flags and threshold are then ignored. */
	uint32_t ncodes;
	uint32_t reserved; /* 0 */
	uint64_t codes[TACH_EVENT_CODES_MAX];
	uint64_t counters; /* as tach_event.counters */
};

/* ---- model-specific input, x86 ---- */
struct tach_dispatch_x86 {
	uint32_t size;		    /* sizeof this struct: see tach/base.h */
	uint32_t pebs;		    /* 1 = sample precisely on the events that can */
	uint32_t ldlat;		    /* load latency threshold in cycles, 3 .. 65535; 0 = off */
	uint32_t lbr;		    /* 1 = record branches */
	uint32_t lbr_privilege;	    /* 0 = tach_dispatch.privilege */
	uint32_t lbr_filter;	    /* LBR_SELECT bits 2-8: branches NOT recorded */
	uint32_t ibs_fetch, ibs_op; /* 1 = use instruction-based sampling (AMD) */
	uint32_t ibs_fetch_period, ibs_op_period; /* bits 19-4 of the interval */
	uint32_t ibs_fetch_random;		  /* 1 = randomise the low bits */
	uint32_t ibs_op_dispatched;		  /* 1 = count dispatched ops, not cycles */
};

/* ---- model-specific input, ia64 ---- */
enum tach_ear_mode { TACH_EAR_CACHE, TACH_EAR_TLB, TACH_EAR_ALAT };

struct tach_dispatch_ear {
	uint32_t used;
	uint32_t mode; /* enum tach_ear_mode */
	uint32_t privilege;
	uint32_t ism, umask;
};

/* Branch (Itanium, Itanium 2) or execution (Montecito) trace buffer. */
struct tach_dispatch_btb {
	uint32_t used;
	uint32_t privilege;
	uint8_t tm, ptm, ppm;  /* taken, predicted target, predicate masks: 0-3 */
	uint8_t brt, ds;       /* Itanium 2, Montecito: branch type; data selector */
	uint8_t tar, tac, bac; /* Itanium: which predictors are recorded */
};

struct tach_dispatch_opcode {
	uint32_t used;
	uint64_t value;	      /* Itanium, Itanium 2: the register itself */
	uint64_t mask, match; /* Montecito: 41 bits each */
	uint8_t m, i, f, b;   /* Montecito: units to check */
};

struct tach_dispatch_range {
	uint64_t start, end; /* [start, end); both 0 ends the list */
	uint32_t privilege;
};
#define TACH_DISPATCH_RANGES_MAX 4
#define TACH_RANGE_INVERSE	 0x1u /* Itanium 2, Montecito: everything but the range */
#define TACH_RANGE_NOFINE	 0x2u /* do not use fine mode */
#define TACH_RANGE_DEMAND	 0x4u /* Montecito: qualify demand fetches */
#define TACH_RANGE_PREFETCH	 0x8u /* Montecito: qualify prefetches */

struct tach_dispatch_ranges {
	uint32_t used;
	uint32_t flags; /* TACH_RANGE_* */
	struct tach_dispatch_range range[TACH_DISPATCH_RANGES_MAX];
};

struct tach_dispatch_ia64 {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	/* Itanium 2: real hardware requires fine-mode limits on 32-byte boundaries. */
	uint32_t fine_32;
	struct tach_dispatch_opcode opcode[2];
	struct tach_dispatch_ear iear, dear;
	struct tach_dispatch_btb btb;
	struct {
		uint32_t used;
		uint32_t privilege;
		uint8_t delay;
	} ipear; /* Montecito */
	struct tach_dispatch_ranges code, data;
};

/* ---- input and output ---- */
#define TACH_DISPATCH_SYSTEMWIDE 0x1u /* ia64: sets the privileged-monitor bit */
/* The caller ignores model-specific output (debug registers, the place of IBS's data). Features
 * that need this output are TACH_ERR_INVAL. */
#define TACH_DISPATCH_NOMODEL 0x2u

struct tach_dispatch {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	int32_t pmu;   /* tach_pmu_find, or tach_dispatch_list */
	uint32_t privilege;
	uint32_t flags; /* TACH_DISPATCH_SYSTEMWIDE, _NOMODEL */
	uint32_t nevents;
	/*
	 * For libpfm-3's lists, which contain several models: AMD K7 1, K8 revision B-G 2-7,
	 * family 10h revision B-E 8-11, family 15h 12; NetBurst: the CPU's model number. 0 =
	 * unknown.
	 */
	uint32_t revision;
	const struct tach_dispatch_event *events;
	uint64_t unavailable[TACH_DISPATCH_PMC_MAX / 64]; /* bit n of word n/64 = PMC n */
	const struct tach_dispatch_x86 *x86;		  /* NULL: none */
	const struct tach_dispatch_ia64 *ia64;
};

struct tach_register {
	uint64_t value;	      /* to be written (PMC), 0 (PMD) */
	uint64_t address;     /* MSR; arm64: op0<<14|op1<<11|CRn<<7|CRm<<3|op2; ia64: number */
	uint64_t alternative; /* x86: RDPMC index of a PMD, MSR of a PMC, 0 = none */
	uint32_t number;
	uint32_t reserved; /* 0 */
};

/* Debug registers for address ranges (ia64): even numbers = address, odd = mask. */
struct tach_ranges_used {
	uint32_t nregisters;
	/*
	 * 1: earlier ranges left only one pair of registers. So a range is not matched
	 * completely, or more addresses outside it are counted than `excess` says. libpfm-3
	 * chooses the same registers, without a report. Another order of the ranges may give a
	 * better result. A single range is always exact.
	 */
	uint32_t inexact;
	struct tach_register registers[8];
	struct {
		/* bytes counted outside the range, before its start and after its end */
		uint64_t before, after;
	} excess[TACH_DISPATCH_RANGES_MAX];
};

struct tach_dispatch_out {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	uint32_t npmcs, npmds;
	struct tach_register pmcs[TACH_DISPATCH_REGISTERS_MAX];
	/* The counters of the events, in the order of the events, then other data registers. */
	struct tach_register pmds[TACH_DISPATCH_REGISTERS_MAX];
	struct tach_ranges_used code, data; /* ia64 */
	uint32_t code_fine;		    /* ia64: fine mode was used */
	uint32_t ibs_fetch_pmd, ibs_op_pmd; /* AMD: index in pmds of IBS's first register */
};

TACH_BEGIN_DECLS

/*
 * Computes the registers. Overwrites *out except its size: unused fields become 0, and on an
 * error all fields. The result is deterministic. If an assignment exists, it is found.
 *
 * Time: some 10,000 instructions for four events on the slowest PMU. It is limited, because the
 * assignment is a matching and not a search. n events that may use m counters need at most (n *
 * m + n) * m steps of some ten instructions. The worst sets that could be constructed needed 25
 * steps for 4 events, 600 for 16 on 16 counters, 3,000 for 32 on 32, and 4,200 for 18 on
 * NetBurst's 45 event selectors.
 *
 * TACH_ERR_INVAL	an argument, privilege level, flag or threshold the PMU does not have
 * TACH_ERR_TOOMANY	more events than counters
 * TACH_ERR_NOASSIGN	constraints conflict, or a register that is needed is unavailable
 * TACH_ERR_MAGIC	model-specific input is not of this PMU's kind
 * TACH_ERR_NOTSUPP	a feature that this PMU lacks
 * TACH_ERR_UMASK	a unit mask is missing or does not exist
 * TACH_ERR_FEATCOMB	umasks or features exclude each other
 * TACH_ERR_EVENTSET, TACH_ERR_INCOMPATIBLE, TACH_ERR_MODEL, TACH_ERR_CODE_*, TACH_ERR_DATA_*
 *			see error.h
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_dispatch_compute(const struct tach_dispatch *in,
				   struct tach_dispatch_out *out,
				   struct tach_error *err) TACH_MUST_USE;

/*
 * Returns the PMU number of a list of libpfm-3 ("core", "nhm", "amd64_k8", "pentium4",
 * "itanium2", ...), or TACH_ERR_NOTFOUND. Only functions of this header accept this number.
 * These lists differ from the tables of this library, and libpfm-3's event and unit mask
 * numbers are part of its interface.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_dispatch_list(const char *name) TACH_MUST_USE;

/*
 * Finds "EVENT", "EVENT:MASK", "EVENT:MASK:..." and fills *out's event and umasks. Case is
 * ignored. A number as MASK is a code, or the codes of several masks combined with or. revision
 * is as in struct tach_dispatch. TACH_ERR_NOTFOUND: no such event. TACH_ERR_UMASK: no such
 * mask, or a missing mask. No default masks apply here.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_dispatch_find(int pmu, uint32_t revision, const char *string,
				struct tach_dispatch_event *out,
				struct tach_error *err) TACH_MUST_USE;

/*
 * Makes a dispatch event from an encoded event. event->pmu must be the PMU of the dispatch. 0,
 * or TACH_ERR_INVAL: a NULL pointer, or a size that struct tach_event cannot have.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_dispatch_from_event(const struct tach_event *event,
				      struct tach_dispatch_event *out);

TACH_END_DECLS
#endif
