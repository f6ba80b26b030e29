/* SPDX-License-Identifier: MIT */
/*
 * What encodes one event string has on its stack, from the text to the answer: no allocation,
 * no lock. arch/ turns the picks into register words.
 */
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

/* One attribute that the string (or an alias it uses) gave. */
struct tach__pick {
	uint64_t value;	 /* modifiers; RAW: the umask */
	uint16_t number; /* umask row, enum tach__mod or enum tach__osmod */
	uint16_t column;
	uint8_t kind;
};

/* What a caller knows beyond the options. */
struct tach__caller {
	int freq, period;  /* its attr already samples by these */
	const int *search; /* PMUs for strings without a prefix, and no others; NULL */
	int nsearch;
	/* Boxes there are besides, a bit each (core/pmu/pmu.h); NULL: none, or this machine's
	 * where search is NULL. */
	const uint64_t *boxes;
	/*
	 * The event string that a derived event of that name stands for on this PMU, or NULL;
	 * *several: it is derived from more than one. NULL: derived names are not known.
	 */
	const char *(*derived)(int pmu, const struct tach__text *name, int *several);
};

struct tach__work {
	/* ---- the question ---- */
	const char *string;
	const struct tach_encode_options *opt;
	const struct tach__quirks *quirks; /* those of opt */
	struct tach_error *err;
	enum tach_os os;
	uint32_t privilege;	    /* TACH_PRIVILEGE_*, when the string names none */
	int column;		    /* of what is being looked at */
	int alias;		    /* depth inside aliases' texts: columns stay at the alias */
	struct tach__caller caller; /* set before tach__encode, and kept by it */

	/* ---- what the string named ---- */
	int generic;		  /* enum tach__generic; 0: an event of a PMU model */
	struct tach__text system; /* of tracepoints, or a raw code; text NULL: a row's event */
	struct tach__text point;  /* tracepoint; text NULL: none */
	struct tach__text terms;  /* device/terms/ as written; text NULL: none */
	int pmu_number, event_number;
	const struct tach__pmu *pmu;
	const struct tach__event *event;
	uint32_t mods, osmods;		/* modifiers that may be given */
	uint32_t spelled;		/* modifiers that the full name shows */
	uint32_t given;			/* hardware modifiers among the picks */
	unsigned alias_steps;		/* aliases of events followed */
	uint8_t raw_given, named_given; /* kinds of umasks the string itself holds */
	uint8_t vendor_differs;		/* a name with a dot whose codes are not the vendor's */
	unsigned nattrs;		/* doubles and aliases' included */
	unsigned npicks;
	int conflict; /* column of a modifier given twice with two values, or 0 */

	/* ---- the umasks: see core/port/umasks.c ---- */
	struct {
		uint32_t used; /* groups with a umask */
		uint32_t nc;   /* groups whose umask tolerates no second one */
		uint8_t count[TACH__GROUPS_MAX];
		int8_t above;  /* no umask of a higher group, -1: no limit */
		int8_t only;   /* no umask of groups other than 0 and this, -1: any */
		int8_t last;   /* group of the umask before */
		int8_t silent; /* group whose default the full name leaves out, -1: none */
		uint8_t solo;  /* a umask that stands alone is among them */
	} groups;
	unsigned nrows;
	int has_raw;
	uint64_t raw;

	/* ---- the answer of arch/ ---- */
	int nomods; /* the event is spelled without modifiers */
	/*
	 * Value of every modifier, for the spelling; the operating system's behind the others.
	 */
	uint64_t shown[TACH__NMODS + TACH__NOSMODS];
	unsigned ncodes;

	/* ---- the answer of the OS layer ---- */
	uint32_t type, has, osshown;
	uint64_t config, config1, config2, period;
	uint8_t counted; /* TACH_PRIVILEGE_* that it counts at */
	uint8_t guest, host, pinned, exclusive, precise;
	int32_t cpu;

	/* Not cleared: the counts above say how far they are filled. */
	struct tach__pick picks[TACH__PICKS_MAX];
	uint16_t rows[TACH__ROWS_MAX]; /* umasks that apply, defaults included */
	uint64_t codes[TACH_EVENT_CODES_MAX];
	uint64_t box_shown[TACH__NBOX_MODS]; /* as `shown`, of boxes; those of `spelled` */
	char respelled[TACH_EVENT_NAME_MAX]; /* the string, where perf writes it otherwise */
};

/* Zeroes a fixed size in stores of 32 bytes: what compilers make of memset starts slowly. */
static inline void tach__clear(void *at, size_t size)
{
	char *p = at;

#pragma GCC unroll 32
	for (; size >= 32; size -= 32, p += 32)
		__builtin_memset(p, 0, 32);
	__builtin_memset(p, 0, size);
}

/* Records the error at the column being looked at and returns code. */
int tach__refuse(struct tach__work *w, int code, const char *format, ...)
	__attribute__((cold, format(printf, 3, 4)));

/* ---- umasks.c: groups, defaults, exclusions ---- */
/* Adds one umask to w->rows, or the raw one, unless it excludes what is there already. */
int tach__umask_take(struct tach__work *w, const struct tach__pick *pick);
/* Adds the defaults of groups that have none; `missing` is the code if there is none either. */
int tach__umask_finish(struct tach__work *w, int missing);
/* Sorts rows as the table has them. */
void tach__umask_sort(struct tach__work *w);

#endif
