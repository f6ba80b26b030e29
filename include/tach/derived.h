/* SPDX-License-Identifier: MIT */
/*
 * Derived events: named formulas over events, from definition files in PAPI's format and from
 * the library's own presets.
 *
 * A file is read line by line. A CPU line names the PMUs for the records after it. A PRESET or
 * EVENT line defines one derived event; both words mean the same:
 *
 *   CPU,skl
 *   PRESET,PAPI_BR_PRC,DERIVED_SUB,BR_INST_RETIRED:CONDITIONAL,BR_MISP_RETIRED:CONDITIONAL
 *   EVENT,MY_IPC,DERIVED_INFIX,N0 / N1,PAPI_TOT_INS,PAPI_TOT_CYC,SDESC,"instructions a cycle"
 *
 * An infix formula may have names in place of N0, N1, ...: events of the PMU, derived events,
 * and the names that tach_formula_compile accepts. After the events, these fields may follow in
 * any order, each with a value: LDESC, SDESC and NOTE (texts). A metric may also have UNIT;
 * SCALE (factor for display); THRESHOLD (a formula, not 0 if the metric deserves attention);
 * LEVEL and PARENT (its place in a tree, 1 at the top); GROUP (names, separated by ';'):
 *
 *   EVENT,stalled,DERIVED_INFIX,NO_UOP / cycles,UNIT,percent,SCALE,100,THRESHOLD,stalled > 0.2
 *
 * Records before the first CPU line apply to every CPU. Name a CPU as in tach_pmu_find, with
 * '-' or '_', or as in PAPI's files ("Intel Nehalem"). A CPU line may have several names,
 * separated by '|'. A base event is any event string of that PMU or the name of another derived
 * event, defined before or after. If a name has two definitions for one PMU, the later one is
 * used.
 */
#ifndef TACH_DERIVED_H
#define TACH_DERIVED_H

#include <tach/event.h>
#include <tach/formula.h>

/* A registry of definitions. Any thread may call all functions at any time. */
struct tach_derived;

enum tach_diagnostic_level {
	TACH_DIAGNOSTIC_NOTE,	 /* harmless: replaced by a later definition, an unknown CPU */
	TACH_DIAGNOSTIC_WARNING, /* suspicious, but accepted */
	TACH_DIAGNOSTIC_ERROR,	 /* the record, or the line, was left out */
};

struct tach_diagnostic {
	uint32_t size; /* set by the library: no fields beyond it */
	enum tach_diagnostic_level level;
	const char *file; /* as the caller named it */
	int line, column; /* from 1; column in bytes */
	const char *text; /* one English sentence; all pointers end with the call */
};
/* This callback may call functions of the registry. */
typedef void (*tach_derived_report)(void *context, const struct tach_diagnostic *diagnostic);

/* tach_derived_options.flags */
#define TACH_DERIVED_PRESETS 0x1u /* the library's own */
/*
 * The user's files: the one in PAPI_CSV_EVENT_FILE, $XDG_CONFIG_HOME/tach/NAME.derived
 * (~/.config if that is not set) in the order of their names, the one in PAPI_USER_EVENTS_FILE,
 * then those listed in TACH_DERIVED, separated by ':'. A set-user-id program does not read
 * them.
 */
#define TACH_DERIVED_USER 0x2u

struct tach_derived_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	uint32_t flags;
	tach_derived_report report; /* for every file loaded, now or later; NULL: none */
	void *context;
	double max_hz; /* for '#' and the types per second; 0 = ask the system if needed */
	double tsc_hz; /* for `tsc_hz` and `tsc`, the same */
	/* As in tach_formula_options: for names that are neither events nor derived events. */
	int (*parameter)(void *context, const char *name, size_t length, double *value);
};

enum tach_derived_type {
	TACH_DERIVED_TYPE_NONE,
	TACH_DERIVED_TYPE_ADD,
	TACH_DERIVED_TYPE_PS,
	TACH_DERIVED_TYPE_ADD_PS,
	TACH_DERIVED_TYPE_CMPD,
	TACH_DERIVED_TYPE_SUB,
	TACH_DERIVED_TYPE_POSTFIX,
	TACH_DERIVED_TYPE_INFIX,
};

/* One definition. Strings are valid until the registry is freed; "" if missing in the file. */
struct tach_derived_info {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	int preset;    /* 1: PRESET, 0: EVENT */
	const char *name;
	enum tach_derived_type type;
	const char *type_name; /* "DERIVED_ADD" */
	const char *formula;   /* for POSTFIX and INFIX, in the original text */
	int nevents;
	const char *events; /* nevents strings, one after the other, each with its NUL */
	const char *long_description, *short_description, *note;
	const char *file;
	int line;
	int level; /* in a tree of metrics, from 1; 0: none */
	/* For display; "" if missing in the file. A name in `threshold` means its formula,
	 * unscaled. */
	const char *unit, *threshold, *parent, *groups;
	double scale; /* factor for display; 1 if missing in the file */
};

/* A definition, resolved to native events and one formula over them. */
struct tach_expansion;

TACH_BEGIN_DECLS

/* opt NULL: flags 0, no report. A user's file that cannot be read is reported, not fatal. */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_derived_create(const struct tach_derived_options *opt,
				 struct tach_derived **out,
				 struct tach_error *err) TACH_MUST_USE;
/* MT-Safe race:d | AS-Unsafe heap | AC-Unsafe mem | no allocation */
TACH_API void tach_derived_free(struct tach_derived *d); /* NULL is fine */
/*
 * Returns the registry of the process, which sets and event strings use. It contains presets
 * and user files. It is made when it is first needed, and never freed. NULL: no memory. If you
 * load a file into it, sets and event strings know the file's names.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API struct tach_derived *tach_derived_default(void);

/*
 * Adds the definitions of a file (or of a text, for which name is used in reports), and returns
 * the number of accepted records. Records with errors are reported and left out. Fails if the
 * file cannot be read or is larger than 4 MB (-EFBIG), or without memory.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_derived_load(struct tach_derived *d, const char *path,
			       struct tach_error *err);
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_derived_load_text(struct tach_derived *d, const char *name, const char *text,
				    size_t length, struct tach_error *err);

/* Number of names that are defined for that PMU; name number i, in the order of names. */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_derived_count(struct tach_derived *d, int pmu);
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_derived_at(struct tach_derived *d, int pmu, int i,
			     struct tach_derived_info *info);
/* Finds a definition by its name (case ignored). Returns 0 or TACH_ERR_NOTFOUND. */
/* MT-Safe env | AS-Unsafe lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_derived_find(struct tach_derived *d, int pmu, const char *name,
			       struct tach_derived_info *info);

/*
 * Resolves the definition to events that the PMU has. The name may have the form of an event,
 * PMU::NAME:MODIFIERS ("ipc:k", "skl::PAPI_L1_TCM:u:k"). It is then resolved for that PMU, and
 * each of its events gets the modifiers. Errors: TACH_ERR_NOTFOUND (no such name, or a base
 * event that this PMU lacks: err says which and why), TACH_ERR_CYCLE (err names the cycle),
 * TACH_ERR_TOOMANY (more than TACH_FORMULA_OPERANDS_MAX events), TACH_ERR_NOTSUPP (a parameter
 * that is unknown on this machine).
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_derived_expand(struct tach_derived *d, int pmu, const char *name,
				 struct tach_expansion **out,
				 struct tach_error *err) TACH_MUST_USE;
/* Resolves an infix formula without a name, over events and definitions, as in a file. A
 * threshold becomes 1 or 0. */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_derived_expand_formula(struct tach_derived *d, int pmu, const char *formula,
					 struct tach_expansion **out,
					 struct tach_error *err) TACH_MUST_USE;
/* MT-Safe race:x | AS-Unsafe heap | AC-Unsafe mem | no allocation */
TACH_API void tach_expansion_free(struct tach_expansion *x); /* NULL is fine */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_expansion_count(const struct tach_expansion *x) TACH_NONNULL(1);
/* Returns event i, as its first use spells it. Equal events appear once. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_expansion_event(const struct tach_expansion *x, int i)
	TACH_NONNULL(1);
/* Returns all events encoded at user level, for tach_schedule. The expansion owns them. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const struct tach_event *tach_expansion_encoded(const struct tach_expansion *x)
	TACH_NONNULL(1);
/* Returns the formula, in which N<i> is event i. The expansion owns it. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const struct tach_formula *tach_expansion_formula(const struct tach_expansion *x)
	TACH_NONNULL(1);

TACH_END_DECLS
#endif
