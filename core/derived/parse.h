/* SPDX-License-Identifier: MIT */
/*
 * Parses the text of derived event files: lines to records. It does not know PMUs or
 * registries, so the program that compiles our own presets reads them with the same code as the
 * library.
 */
#ifndef TACH_CORE_DERIVED_PARSE_H
#define TACH_CORE_DERIVED_PARSE_H

#include <stdbool.h>
#include <tach/derived.h>
#include "core/base/text.h"

#define TACH__D_EVENTS_MAX TACH_FORMULA_OPERANDS_MAX
#define TACH__D_FILE_MAX   (4u << 20) /* maximum size in bytes, about 20 times PAPI's file */
#define TACH__D_NAME_MAX   255	      /* maximum bytes in the name of an event */

/* A record that is valid in itself. Spans point into the text. */
struct tach__record {
	bool preset;
	enum tach_derived_type type;
	int line;
	int nevents;
	struct tach__span name, formula, long_description, short_description, note;
	struct tach__span unit, threshold, parent, groups;
	double scale; /* 1 if the record has no SCALE */
	int level;    /* 0: none */
	struct tach__span event[TACH__D_EVENTS_MAX];
};

struct tach__derived_sink {
	void *context;
	/* Called for each name of a CPU line. first: the name begins a new list. */
	void (*cpu)(void *context, const struct tach__span *name, int line, bool first);
	void (*record)(void *context, const struct tach__record *record);
	void (*report)(void *context, enum tach_diagnostic_level level, int line, int column,
		       const char *text);
	bool *no_memory; /* set if a record is omitted because there is no memory; or NULL */
};

void tach__derived_parse(const char *text, size_t length,
			 const struct tach__derived_sink *sink);
const char *tach__derived_type_name(enum tach_derived_type type);

/* ---- between parse.c and record.c ---- */

#define TACH__D_FIELDS_MAX 256

struct tach__fields {
	const struct tach__derived_sink *sink;
	int line;
	int count;
	int end; /* column after the last field */
	struct tach__span field[TACH__D_FIELDS_MAX];
};

void tach__derived_report(const struct tach__derived_sink *sink,
			  enum tach_diagnostic_level level, int line, int column,
			  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Returns the type with that name, or -1. */
int tach__derived_type(const struct tach__span *name);
bool tach__span_is(const struct tach__span *span, const char *word); /* case ignored */
/* Checks name, type, formula, events and tails of one record. Reports an error, or passes the
 * record on. */
void tach__derived_record(const struct tach__fields *fields, bool preset);

#endif
