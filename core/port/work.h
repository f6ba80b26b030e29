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
/* Maximum numbers: each pick may be a umask, and each group may add its defaults. */
#define TACH__ROWS_MAX	 128
#define TACH__GROUPS_MAX 8
/* Core PMUs of a machine, the architectural PMU, perf, and perf_raw are searched. */
#define TACH__SEARCH_MAX 12

enum tach__pick_kind { TACH__PICK_UMASK, TACH__PICK_RAW, TACH__PICK_MOD, TACH__PICK_OSMOD };

/* One attribute, from the string or from an alias in it. */
struct tach__pick {
	uint64_t value;	 /* value of a modifier; RAW: the umask */
	uint16_t number; /* umask row, enum tach__mod or enum tach__osmod */
	uint16_t column;
	uint8_t kind;
};

/* Data of the caller in addition to the options. */
struct tach__caller {
	int freq, period;  /* 1: the caller's attr already has one */
	const int *search; /* the only PMUs for strings without a prefix; NULL: default */
	int nsearch;
	/* Boxes that are also searched, as bits (core/pmu/pmu.h). NULL: this machine's boxes if
	 * search is NULL, otherwise no boxes. */
	const uint64_t *boxes;
	/* Returns the event string of a derived event with that name on this PMU, or NULL;
	 * *several: it needs several events. NULL: derived names are not supported. */
	const char *(*derived)(int pmu, const struct tach__text *name, int *several);
};

/* The request of the caller. */
struct tach__question {
	const char *string;
	const struct tach_encode_options *opt;
	const struct tach__quirks *quirks; /* for opt */
	struct tach_error *err;
	enum tach_os os;
	uint32_t privilege;	    /* TACH_PRIVILEGE_*, if the string has no level */
	struct tach__caller caller; /* set before tach__encode, which keeps it */
};

/* The result of the search by name: PMU, event, and attributes as picks. */
struct tach__picks {
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
	/* 1: the name has a dot, and the vendor has another code for it */
	uint8_t vendor_differs;
	unsigned nattrs; /* attributes, with repeated ones and those of aliases */
	unsigned npicks;
	int conflict; /* column of a modifier that has two values, or 0 */

	/* ---- the umasks: see core/port/umasks.c ---- */
	struct {
		uint32_t used; /* groups with a umask */
		uint32_t nc;   /* groups whose umask excludes a second umask */
		uint8_t count[TACH__GROUPS_MAX];
		int8_t above;  /* umasks of higher groups are refused; -1: no limit */
		int8_t only;   /* only umasks of groups 0 and this are accepted; -1: all */
		int8_t last;   /* group of the previous umask */
		int8_t silent; /* group whose default the full name omits; -1: none */
		uint8_t solo;  /* 1: one of the umasks excludes all others */
	} groups;
	unsigned nrows;
	int has_raw;
	uint64_t raw;

	/* These arrays are not cleared. The counts tell how many elements are valid. */
	struct tach__pick picks[TACH__PICKS_MAX];
	uint16_t rows[TACH__ROWS_MAX]; /* umasks that apply, including defaults */
};

/* The result: arch/ fills in the words, the OS layer the fields of perf_event_attr. */
struct tach__answer {
	/* ---- arch/ ---- */
	int nomods; /* 1: the full name has no modifiers */
	/* The value of each modifier for the full name; the operating system's are last. */
	uint64_t shown[TACH__NMODS + TACH__NOSMODS];
	unsigned ncodes;

	/* ---- the OS layer ---- */
	uint32_t type, has, osshown;
	uint64_t config, config1, config2, period;
	uint8_t counted; /* TACH_PRIVILEGE_* that the event counts */
	uint8_t guest, host, pinned, exclusive, precise;
	int32_t cpu;

	/* These arrays are not cleared, as above. */
	uint64_t codes[TACH_EVENT_CODES_MAX];
	/* as `shown`, for boxes; only modifiers in `spelled` are valid */
	uint64_t box_shown[TACH__NBOX_MODS];
};

struct tach__work {
	struct tach__question ask;
	int column; /* the present position, for errors */
	int alias;  /* depth in aliases; errors have the alias's column */
	struct tach__picks got;
	struct tach__answer out;
	/* the string in our notation, if it was in perf's */
	char respelled[TACH_EVENT_NAME_MAX];
};

/* Zeroes a fixed size with stores of 32 bytes, because compilers' memset starts slowly. */
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
/* Adds a umask to w->got.rows, or sets the raw one. Fails if it excludes a present umask. */
int tach__umask_take(struct tach__work *w, const struct tach__pick *pick);
/*
 * Adds the defaults of groups without a umask; `missing` is the code if a group has no default.
 */
int tach__umask_finish(struct tach__work *w, int missing);
/* Sorts rows in table order. */
void tach__umask_sort(struct tach__work *w);

#endif
