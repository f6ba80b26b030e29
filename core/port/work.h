/* SPDX-License-Identifier: MIT */
/* The data for encoding one event string, on the stack: no allocation, no lock. arch/ converts
 * the picks to register words. */
#ifndef TACH_CORE_PORT_WORK_H
#define TACH_CORE_PORT_WORK_H

#include <tach/event.h>
#include "core/port/grammar.h"
#include "core/port/modifiers.h"
#include "core/port/quirks.h"
#include "core/tables/tables.h"

#define TACH__PICKS_MAX 64
/* Every pick may be a umask, and every group may add its defaults. */
#define TACH__ROWS_MAX	 128
#define TACH__GROUPS_MAX 8
/* Core PMUs of one machine, the architectural one, perf, perf_raw. */
#define TACH__SEARCH_MAX 12

enum tach__pick_kind { TACH__PICK_UMASK, TACH__PICK_RAW, TACH__PICK_MOD, TACH__PICK_OSMOD };

/* One attribute, from the string or from an alias in it. */
struct tach__pick {
	uint64_t value;	 /* modifiers; RAW: the umask */
	uint16_t number; /* umask row, enum tach__mod or enum tach__osmod */
	uint16_t column;
	uint8_t kind;
};

/* Data of the caller in addition to the options. */
struct tach__caller {
	int freq, period;  /* its attr already has one of these */
	const int *search; /* the only PMUs for strings without a prefix; NULL: default */
	int nsearch;
	/* Additional boxes, as bits (core/pmu/pmu.h). NULL: no boxes, or this machine's if
	 * search is NULL. */
	const uint64_t *boxes;
	/* Returns the event string of a derived event with that name on this PMU, or NULL;
	 * *several: it is derived from more than one. NULL: derived names are not supported. */
	const char *(*derived)(int pmu, const struct tach__text *name, int *several);
};

struct tach__work {
	/* ---- the input ---- */
	const char *string;
	const struct tach_encode_options *opt;
	const struct tach__quirks *quirks; /* for opt */
	struct tach_error *err;
	enum tach_os os;
	uint32_t privilege;	    /* TACH_PRIVILEGE_*, if the string has no level */
	int column;		    /* the present position, for errors */
	int alias;		    /* depth in aliases: columns stay at the alias */
	struct tach__caller caller; /* set before tach__encode, which keeps it */

	/* ---- the names in the string ---- */
	int generic; /* enum tach__generic; 0: an event of a PMU model */
	struct tach__text
		system; /* system of tracepoints, or a raw code; text NULL: a row's event */
	struct tach__text point; /* tracepoint; text NULL: none */
	struct tach__text terms; /* device/terms/ in the original spelling; text NULL: none */
	int pmu_number, event_number;
	const struct tach__pmu *pmu;
	const struct tach__event *event;
	uint32_t mods, osmods;		/* modifiers that are allowed */
	uint32_t spelled;		/* modifiers in the full name */
	uint32_t given;			/* hardware modifiers among the picks */
	unsigned alias_steps;		/* number of aliases followed */
	uint8_t raw_given, named_given; /* kinds of umasks in the string itself */
	/* 1: a name with a dot that has another code at the vendor */
	uint8_t vendor_differs;
	unsigned nattrs; /* including repeated ones and those of aliases */
	unsigned npicks;
	int conflict; /* column of a modifier that has two values, or 0 */

	/* ---- the umasks: see core/port/umasks.c ---- */
	struct {
		uint32_t used; /* groups with a umask */
		uint32_t nc;   /* groups whose umask excludes a second umask */
		uint8_t count[TACH__GROUPS_MAX];
		int8_t above;  /* no umask of a higher group; -1: no limit */
		int8_t only;   /* no umask of groups other than 0 and this; -1: any */
		int8_t last;   /* group of the previous umask */
		int8_t silent; /* group whose default the full name omits; -1: none */
		uint8_t solo;  /* 1: there is a umask that excludes all others */
	} groups;
	unsigned nrows;
	int has_raw;
	uint64_t raw;

	/* ---- the result of arch/ ---- */
	int nomods; /* 1: the full name has no modifiers */
	/*
	 * Value of each modifier, for the full name; the operating system's follow the others.
	 */
	uint64_t shown[TACH__NMODS + TACH__NOSMODS];
	unsigned ncodes;

	/* ---- the result of the OS layer ---- */
	uint32_t type, has, osshown;
	uint64_t config, config1, config2, period;
	uint8_t counted; /* TACH_PRIVILEGE_* that it counts */
	uint8_t guest, host, pinned, exclusive, precise;
	int32_t cpu;

	/* These are not cleared: the counts above show how far they are filled. */
	struct tach__pick picks[TACH__PICKS_MAX];
	uint16_t rows[TACH__ROWS_MAX]; /* umasks that apply, including defaults */
	uint64_t codes[TACH_EVENT_CODES_MAX];
	/* as `shown`, for boxes; only those of `spelled` */
	uint64_t box_shown[TACH__NBOX_MODS];
	/* the string in our spelling, if it was in perf's */
	char respelled[TACH_EVENT_NAME_MAX];
};

/* Zeroes a fixed size with stores of 32 bytes: the memset of compilers starts slowly. */
static inline void tach__clear(void *at, size_t size)
{
	char *p = at;

#pragma GCC unroll 32
	for (; size >= 32; size -= 32, p += 32)
		__builtin_memset(p, 0, 32);
	__builtin_memset(p, 0, size);
}

/* Records the error at the present column and returns code. */
int tach__refuse(struct tach__work *w, int code, const char *format, ...)
	__attribute__((cold, format(printf, 3, 4)));

/* ---- umasks.c: groups, defaults, exclusions ---- */
/* Adds one umask to w->rows, or the raw one, unless it excludes those already there. */
int tach__umask_take(struct tach__work *w, const struct tach__pick *pick);
/*
 * Adds the defaults of groups without a umask; `missing` is the code if a group has no default.
 */
int tach__umask_finish(struct tach__work *w, int missing);
/* Sorts rows in table order. */
void tach__umask_sort(struct tach__work *w);

#endif
