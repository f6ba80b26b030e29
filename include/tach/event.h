/* SPDX-License-Identifier: MIT */
/* Encodes event strings as register words and as perf_event_attr. */
#ifndef TACH_EVENT_H
#define TACH_EVENT_H

#include <tach/error.h>
#include <linux/perf_event.h>

/* Privilege levels, libpfm's values. */
#define TACH_PRIVILEGE_KERNEL	  0x01
#define TACH_PRIVILEGE_1	  0x02
#define TACH_PRIVILEGE_2	  0x04
#define TACH_PRIVILEGE_USER	  0x08
#define TACH_PRIVILEGE_HYPERVISOR 0x10

enum tach_os {
	TACH_OS_NONE = 0, /* register words */
	TACH_OS_PERF = 1, /* perf_event_attr, hardware modifiers only */
	TACH_OS_PERF_EXT =
		2, /* perf_event_attr with perf's own modifiers (period=, pinned, ...) */
};

#define TACH_EVENT_CODES_MAX 8
#define TACH_EVENT_NAME_MAX  512

/* The optional perf_event_attr fields that an encoding sets, in addition to the fixed ones. */
#define TACH_EVENT_HAS_CONFIG1	 0x01u
#define TACH_EVENT_HAS_CONFIG2	 0x02u
#define TACH_EVENT_HAS_PERIOD	 0x04u
#define TACH_EVENT_HAS_FREQ	 0x08u
#define TACH_EVENT_HAS_PRECISE	 0x10u
#define TACH_EVENT_HAS_EXCLUSIVE 0x20u
#define TACH_EVENT_HAS_CPU	 0x40u
#define TACH_EVENT_HAS_CUT_NAME	 0x80u /* `name` ends early: it did not fit */

/* One encoded event. Plain data, owned by the caller, no pointers: may be copied and kept. */
struct tach_event {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	int32_t pmu;
	int32_t event; /* row in that PMU; for perf and perf_raw their own numbering */
	uint32_t ncodes;
	uint64_t codes[TACH_EVENT_CODES_MAX]; /* the register words (TACH_OS_NONE's answer) */
	/* counters that it may use: bits 0-31 general, 32-63 fixed; 0 = any general */
	uint64_t counters;

	/* For TACH_OS_PERF and TACH_OS_PERF_EXT: */
	uint32_t type; /* PERF_TYPE_* or a dynamic PMU's number */
	uint32_t has;  /* TACH_EVENT_HAS_* */
	uint64_t config, config1, config2;
	uint64_t period; /* sample_period or sample_freq */
	uint8_t exclude_user, exclude_kernel, exclude_hv, exclude_host, exclude_guest;
	uint8_t pinned, exclusive, precise;
	int32_t cpu; /* cpu=, else -1 */

	char name[TACH_EVENT_NAME_MAX]; /* fully qualified: with umasks and all modifiers */
};

struct tach_encode_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	enum tach_os os;
	uint32_t privilege; /* used if the string has no level; 0 is allowed: no level */
	int pmu; /* this PMU instead of the host's if the string has no prefix; -1 = host's */
	int any_pmu;	/* 1: prefixes may name PMUs that this machine lacks */
	uint32_t flags; /* TACH_ENCODE_* */
	/* NULL = this machine's: */
	const char *host;    /* core PMU: perf's generic events filter by its levels */
	const char *sysfs;   /* /sys/bus/event_source/devices */
	const char *tracefs; /* /sys/kernel/tracing/events */
};
/*
 * Encode exactly as libpfm-4. Without this flag, the library differs in these points:
 *
 * - Pseudo events of fixed counters get the config that Linux uses (libpfm-4's counts nothing
 *   there). The default umask of a load latency event gets its threshold.
 * - Generic events on x86 hybrids, and all events on arm64 machines with several core types,
 *   contain the PMU's number.
 * - Full names can be encoded again and give the same result: they show period or freq, not
 *   both, and contain cpu, pinned, raw codes, and names of umasks without modifiers.
 * - mg=0 and mh=0 mean no.
 * - The library refuses an attribute that is repeated with another value, and a tracepoint
 *   system without a tracepoint.
 */
#define TACH_ENCODE_LIBPFM4 0x1u
/* Leave `name` empty, which takes a quarter less time. */
#define TACH_ENCODE_NO_NAME 0x2u
/* Counts user level only, which is the default of the whole library. */
#define TACH_ENCODE_OPTIONS_INIT                                                               \
	{                                                                                      \
		sizeof(struct tach_encode_options), TACH_OS_PERF_EXT, TACH_PRIVILEGE_USER, -1, \
			1, 0, TACH__NULL, TACH__NULL, TACH__NULL                               \
	}

TACH_BEGIN_DECLS

/*
 * Encodes the first event of `string`: an event of a PMU, a vendor's or perf's name, rXXXX,
 * cpu/event=.../, or a preset or derived name that stands for one event. A name that is in no
 * table is looked up in the registry of derived events (tach_derived_default), which is made
 * when it is first needed. All other names need no allocation, no lock and no locale. On error
 * *out is unchanged, and err has the column and a sentence. opt NULL =
 * TACH_ENCODE_OPTIONS_INIT. Errors: TACH_ERR_SYNTAX, _NOTFOUND, _ATTR, _ATTR_VALUE, _ATTR_SET,
 * _UMASK, _FEATCOMB, _TOOMANY for the string; _INVAL, _NOTSUPP for the rest.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_event_encode(const char *string, const struct tach_encode_options *opt,
			       struct tach_event *out, struct tach_error *err) TACH_MUST_USE;

/* Writes only the fields of *attr that the encoding sets; attr->size 0 means
 * PERF_ATTR_SIZE_VER0. A config1 or config2 that the event does not use is unchanged. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_event_attr(const struct tach_event *event, struct perf_event_attr *attr);

TACH_END_DECLS
#endif
