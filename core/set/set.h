/* SPDX-License-Identifier: MIT */
/* The contents of a set, for the reader and the set's own files. */
#ifndef TACH_CORE_SET_H
#define TACH_CORE_SET_H

#include <tach/set.h>
#include "core/base/arena.h"
#include "core/base/text.h"
#include "core/set/place.h"
#include "core/set/plan.h"

struct tach__member {
	struct perf_event_attr
		attr; /* core/reader/open.c sets fields that depend on the group */
	enum tach_member_kind kind;
	int emulated; /* for TACH_MEMBER_EMULATED: the emulator's number of the event,
			 core/os/emulator.h */
	char *name;
	char *qualified;
};

struct tach__metric {
	char *name;
	struct tach__place node;
	struct tach_formula *formula; /* operand N<i> is member i */
	char *text;		      /* infix; made here, for handlers */
};

enum { TACH__CORES_MAX = 8 };

/* Hybrids: what each core type counts. */
struct tach__cores {
	int n; /* 2 or more, most capable first */
	int pmu[TACH__CORES_MAX];
	int type[TACH__CORES_MAX];	   /* the kernel's numbers of the core types */
	uint32_t members[TACH__CORES_MAX]; /* a bit for each member that the core type counts */
	struct perf_event_attr attr[TACH__CORES_MAX][TACH_COUNTERS_MAX];
};

enum { TACH__METRICS_MAX = 32, TACH__MISSING_MAX = 64 };

struct tach_set {
	int count;
	int nmetrics;
	uint32_t flags;	    /* TACH_SET_* */
	int exclusive;	    /* requested by a member or the caller; set for the leader */
	int interrupts;	    /* the member that counts interrupts, or -1 */
	uint32_t corrected; /* a bit for each member from which interrupts are subtracted */
	uint32_t operands;  /* a bit for each member that only metrics use; 0: no event named */
	struct tach__cores *cores; /* NULL: one core type, and the members' own attrs count */
	struct tach__member member[TACH_COUNTERS_MAX];
	struct tach__metric metric[TACH__METRICS_MAX];
	char missing[512];
};

/* A set in the making. */
struct tach__making {
	struct tach_set *set;
	const struct tach_set_options *opt;
	struct tach_error *err;
	int nevents; /* number of events for the solver */
	struct tach_event event[TACH_COUNTERS_MAX];
	uint8_t member[TACH_COUNTERS_MAX];	      /* member[i] has event[i] */
	struct tach_event (*each)[TACH_COUNTERS_MAX]; /* hybrids: [core][member] */
	uint32_t listed; /* a bit for each member that the caller names as an event */
	/*
	 * Labels or names of members that were left out. Metrics that need them are left out,
	 * too.
	 */
	int nmissing;
	struct tach__span missing[TACH__MISSING_MAX];
	/* The first event that the kernel refused, and why. Other events may have the same
	 * reason. */
	struct {
		int code;
		struct perf_event_attr attr;
		char why[sizeof((struct tach_error *)0)->text];
	} refused;
};

/* ---- core/set/events.c ---- */
/*
 * Adds an event under a label (length 0: no label). If `event` is a derived event, adds the
 * members that it needs, and *formula becomes its formula. Returns the member's number,
 * TACH__DERIVED with *formula, or a negative code; TACH_ERR_NOTFOUND: the name is unknown. With
 * TACH_SET_OPTIONAL, returns TACH__LEFT_OUT if this machine cannot count the event.
 */
enum { TACH__LEFT_OUT = TACH_COUNTERS_MAX, TACH__DERIVED };
int tach__set_event(struct tach__making *m, struct tach__span event, struct tach__span label,
		    struct tach_formula **formula);
/* As tach__set_event, for a name. TACH_SET_OPTIONAL leaves out unknown names, too. */
int tach__set_called(struct tach__making *m, struct tach__span event, struct tach__span label,
		     struct tach_formula **formula);
/* As tach__set_event, for a text that must be an event string. */
int tach__set_native(struct tach__making *m, struct tach__span event, struct tach__span label);
int tach__set_events(struct tach__making *m);

/* ---- core/set/members.c ---- */
/* Returns the new member's number, TACH__LEFT_OUT (optional, cannot be counted), or a code. */
int tach__set_append(struct tach__making *m, const struct perf_event_attr *attr,
		     const char *name, size_t length, const char *qualified);
/* Adds a caller's attr. */
int tach__set_attr_add(struct tach__making *m, const struct tach_set_member *given);
/* Returns the member with that label or name, or -1. */
int tach__set_find(const struct tach_set *set, const char *name, size_t length);
/* Returns the flags of entries that also apply to software members. */
uint32_t tach__software_flags(const struct tach_set *set);
/* Returns 1 if the member of that label or name was left out. */
int tach__set_was_left_out(const struct tach__making *m, const char *name, size_t length);
/* Removes the members from number `count` on, which nothing uses. */
void tach__set_forget(struct tach__making *m, int count);
/* Adds a sentence to set->missing. */
void tach__set_miss(struct tach_set *set, const char *name, const char *why);
void tach__set_miss_name(struct tach_set *set, struct tach__span name, const char *why);

/* ---- core/set/perf_metrics.c ---- */
/* Returns 1 for the slots event, which leads a group with fields of PERF_METRICS. */
int tach__is_slots(const struct perf_event_attr *attr);
/* Returns 1 for a field of PERF_METRICS. */
int tach__is_metrics(const struct perf_event_attr *attr);
/* Returns 1 if this machine counts events, but not PERF_METRICS. */
int tach__perf_metrics_refused(int pmu);
/* Returns 1 if the definition of that name needs PERF_METRICS. */
int tach__perf_metrics_used(int pmu, const char *name);

/* ---- core/set/cores.c: sets on hybrids ---- */
/* Finds the core types. If there is only one, m->set->cores stays NULL. */
int tach__cores_find(struct tach__making *m);
/* Returns 1 if a core type has this number in the kernel. c may be NULL. */
int tach__cores_have(const struct tach__cores *c, uint32_t type);
/* Encode the member, from a string or an attr, for each core type that can count it. */
int tach__cores_event(struct tach__making *m, int member, const char *string,
		      uint32_t privilege);
void tach__cores_attr(struct tach__making *m, int member, const struct perf_event_attr *attr);
/* Removes the member from all core types. */
void tach__cores_forget(struct tach__cores *c, int member);
/* Call these after all members. The second checks if they fit every core type's counters. */
int tach__cores_finish(struct tach__making *m);
int tach__cores_fit(struct tach__making *m);

/* ---- core/set/derived.c ---- */
/*
 * Returns TACH__DERIVED with *formula over members, which it adds. Returns 0 if the name is not
 * a derived event, or if it only renames an event; the event is then copied to `plain`.
 * Otherwise as tach__set_event.
 */
int tach__set_derived(struct tach__making *m, struct tach__span name,
		      struct tach_formula **formula, char *plain, size_t size);

/* Returns 1 if both attrs count the same event. Ignores options that do not change the
 * count. */
int tach__set_same_attr(const struct perf_event_attr *a, const struct perf_event_attr *b);
/*
 * Returns the member that counts the same as the last one, and removes the last one; otherwise
 * returns the last one.
 */
int tach__set_merged(struct tach__making *m, int member);

/* ---- core/set/interrupts.c ---- */
/* If requested, adds the member that counts interrupts. Call it after all other members. */
enum { TACH__SET_WITH_INTERRUPTS = TACH_SET_INTERRUPTS | TACH_SET_CORRECT };
int tach__set_interrupts(struct tach__making *m);
#define TACH__NO_ROOM_FOR_INTERRUPTS                                                           \
	"interrupts: not counted, the set's other events leave no counter for them"

/* ---- core/set/metrics.c ---- */
int tach__set_metrics(struct tach__making *m);
/* Removes surrounding blanks. */
struct tach__span tach__trimmed(struct tach__span t);
/* Returns the formula as infix text; free() it. NULL: out of memory. */
char *tach__formula_text(const struct tach_formula *f);
/* Returns the registry's data about a metric of that name. */
struct tach__place tach__metric_place(int pmu, const char *name);
/* Returns 0 if an event or a metric may have this name. Otherwise reports why not. */
int tach__set_check_name(const struct tach__making *m, struct tach__span name);
/* Returns the metric with that name, or -1. */
int tach__set_find_metric(const struct tach_set *set, struct tach__span name);
/* Owns the formula from now on, even if it fails. */
int tach__set_metric_keep(struct tach__making *m, struct tach__span name,
			  struct tach_formula *formula);
/*
 * Copies a metric's text to TACH__RENUMBERED(text) bytes, and replaces N<i> by N<map[i + 1] -
 * 1>. `map` has n numbers. Returns 0 if `map` lacks an operand of the text.
 */
#define TACH__RENUMBERED(text) (2 * strlen(text) + 16)
int tach__renumber(char *to, const char *text, const int *map, int n);
/* Calls tach__renumber, and returns a copy in the arena. NULL: unknown operand, or no
 * memory. */
char *tach__metric_renumber(struct tach__arena *arena, const char *text, const int *map, int n);

/* ---- core/set/set.c ---- */
/* As tach_set_create, with options that were checked. It may change errno. */
int tach__set_make(struct tach_set **out, const struct tach_set_options *opt, uint32_t flags,
		   struct tach_error *err);

/* ---- core/set/topdown.c ---- */
/* Returns 1 if "topdown" is among the metrics. Then call tach__topdown_make, not
 * tach__set_make. */
int tach__topdown_is_asked(const char *metrics);
/*
 * Sets *out to the metrics, with "topdown" replaced by the metrics of the machine's deepest
 * tree. The tree ends at the level in "topdown:LEVEL", at most at `limit`. *level is the depth,
 * or 0 without "topdown". free() *out. Returns 0, TACH_ERR_NOTSUPP (the machine lacks such a
 * tree) or TACH_ERR_NOMEM.
 */
int tach__topdown_spelled(const char *metrics, int pmu, int limit, int *level, char **out);
int tach__topdown_make(struct tach_set **out, const struct tach_set_options *opt,
		       uint32_t flags, struct tach_error *err);

#include "core/set/diagnose.h"
#include "core/set/list.h"

#endif
