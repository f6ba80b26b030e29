/* SPDX-License-Identifier: MIT */
/* A set: events to count, and metrics over them. It is immutable, so threads may share it. */
#ifndef TACH_SET_H
#define TACH_SET_H

#include <tach/event.h>
#include <tach/formula.h>

struct tach_set;

enum tach_member_kind {
	TACH_MEMBER_HARDWARE, /* may be read in user space */
	TACH_MEMBER_SOFTWARE, /* kernel software event: always read(2) */
	TACH_MEMBER_EMULATED, /* counted by the emulator: tach-run-emulate(1) */
};

/*
 * A caller's own event. The library changes the bits that a self-monitoring pinned group needs,
 * and no others. No member (attr or string) may have a sample period or frequency
 * (TACH_ERR_NOTSUPP): the kernel throttles an event that samples too often, and the library
 * could not detect it.
 */
struct tach_set_member {
	const char *name;
	const struct perf_event_attr *attr;
};

struct tach_set_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	/*
	 * Events separated by commas, white space or newlines: any string that
	 * tach_event_encode accepts. "label=event" gives an event a short name. The first
	 * hardware event leads the group. Context switches and migrations happen in the kernel,
	 * so a string without a level counts them there. NULL: none.
	 */
	const char *events;
	/*
	 * Derived metrics, "name = infix formula" separated by ';' or newlines. A formula may
	 * use labels, event names, presets, and further event strings, which then join the set.
	 * The name of a preset or derived event alone ("ipc") is a metric of that name. NULL:
	 * none.
	 */
	const char *metrics;
	const struct tach_set_member *attrs; /* further members */
	int nattrs;
	int pmu;	    /* -1 = host's; 0 is a PMU: start from TACH_SET_OPTIONS_INIT */
	uint32_t privilege; /* 0 = TACH_PRIVILEGE_USER */
	uint32_t flags;	    /* TACH_SET_* */
};
#define TACH_SET_OPTIONS_INIT                                                                  \
	{                                                                                      \
		sizeof(struct tach_set_options), TACH__NULL, TACH__NULL, TACH__NULL, 0, -1, 0, \
			0                                                                      \
	}

/* The group is not pinned: the kernel may multiplex it. Values are then scaled and flagged. */
#define TACH_SET_MULTIPLEX 0x1u
/* Leaves out members that this machine cannot count now, and metrics over them. To find them,
 * it opens each event once, alone, and closes it. tach_set_missing explains the result. */
#define TACH_SET_OPTIONAL 0x2u
/*
 * Adds a member "interrupts", unless a member has that name already: interrupts at the set's
 * privilege levels, counted by the PMU's own event (the preset `interrupts`). It is left out if
 * the PMU, the kernel (which opens the event once, alone) or the set's other members do not
 * allow it. tach_set_missing then explains why.
 */
#define TACH_SET_INTERRUPTS 0x4u
/*
 * The same, and the library subtracts interrupts from retired instructions. x86 counts one more
 * user-level instruction for each interrupt at user level, because the return from it retires
 * at user level in part (Weaver, Terpstra, Moore: Non-Determinism and Overcount on Modern
 * Hardware Performance Counter Implementations, ISPASS 2013; Intel and AMD alike). This applies
 * only to members that count retired instructions, at user level only. Page faults and other
 * exceptions also count one more; these are not subtracted. On arm64 nothing is subtracted: an
 * exception return belongs to the level that executes it.
 */
#define TACH_SET_CORRECT 0x8u

TACH_BEGIN_DECLS

/* Parses, allocates, and may read files; opens no event. The caller owns the set until
 * tach_set_free. Too many events for the PMU: TACH_ERR_NOCOUNTER, and err says how many fit. */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_set_create(const struct tach_set_options *opt, struct tach_set **out,
			     struct tach_error *err) TACH_MUST_USE;
/* MT-Safe race:set | AS-Unsafe heap | AC-Unsafe mem | no allocation */
TACH_API void tach_set_free(struct tach_set *set); /* NULL is fine */

/* Properties of the set. The functions are async-signal-safe, and the set owns the strings. For
 * a number that no member (metric) has, they return NULL or TACH_MEMBER_SOFTWARE. */

/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_set_count(const struct tach_set *set)
	TACH_NONNULL(1); /* members, 0 .. TACH_COUNTERS_MAX */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_set_name(const struct tach_set *set, int member)
	TACH_NONNULL(1); /* label, or the original string */
/*
 * Returns the full name, with all details that the string left open. On hybrids, if the string
 * names no core PMU, all core PMUs that have the event count it. Their full names are joined by
 * " + " if they differ.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_set_qualified(const struct tach_set *set, int member) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API enum tach_member_kind tach_set_kind(const struct tach_set *set, int member)
	TACH_NONNULL(1);
/* Returns the encoded event. On hybrids, it is for the first core type that has the event. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const struct perf_event_attr *tach_set_attr(const struct tach_set *set, int member)
	TACH_NONNULL(1);
/*
 * Returns one sentence about members and metrics that were left out (TACH_SET_OPTIONAL,
 * TACH_SET_INTERRUPTS, TACH_SET_CORRECT) and why, or "". It also names events that count in the
 * kernel although no level was requested, because the PMU cannot exclude it (RISC-V without
 * Sscofpmf).
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_set_missing(const struct tach_set *set) TACH_NONNULL(1);
/* Returns the member that counts interrupts, or -1. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_set_interrupts(const struct tach_set *set) TACH_NONNULL(1);
/*
 * With TACH_SET_CORRECT: subtracts one instruction for each interrupt from the deltas between
 * two reads. In `flags` (one word per member) it adds TACH_FLAG_CORRECTED and the flags of the
 * interrupts. Otherwise it changes nothing. Reports of regions and tach_bench_run do this
 * automatically.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API void tach_set_correct(const struct tach_set *set, uint64_t *deltas, uint32_t *flags)
	TACH_NONNULL(1, 2, 3);

/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_set_nmetrics(const struct tach_set *set) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_set_metric_name(const struct tach_set *set, int metric)
	TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const struct tach_formula *tach_set_metric(const struct tach_set *set, int metric)
	TACH_NONNULL(1);
/*
 * Evaluates metric number `metric` over deltas of the set's members. `flags` has one word per
 * member, or is NULL. *out_flags becomes the flags of the members that it used, combined with
 * or; out_flags may be NULL. If there is no such metric: 0 and TACH_FLAG_LOST.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API double tach_set_eval(const struct tach_set *set, int metric, const uint64_t *deltas,
			      const uint32_t *flags, double elapsed_ns, uint32_t *out_flags)
	TACH_NONNULL(1, 3);

TACH_END_DECLS
#endif
