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
		attr; /* complete, except for the fields of the group: see open.c */
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
	char *text; /* infix: made here because snapshots, which want it, may be taken in
		       handlers */
};

enum { TACH__CORES_MAX = 8 };

/* Hybrids: what each core type counts. */
struct tach__cores {
	int n; /* 2 or more, most capable first */
	int pmu[TACH__CORES_MAX];
	int type[TACH__CORES_MAX];	   /* the kernel's number for it */
	uint32_t members[TACH__CORES_MAX]; /* a bit for each member that it counts */
	struct perf_event_attr attr[TACH__CORES_MAX][TACH_COUNTERS_MAX];
};

enum { TACH__METRICS_MAX = 32, TACH__MISSING_MAX = 64 };

struct tach_set {
	int count;
	int nmetrics;
	uint32_t flags;	    /* TACH_SET_* */
	int exclusive;	    /* asked for by a member or the caller; goes to the leader */
	int interrupts;	    /* the member that counts them, or -1 */
	uint32_t corrected; /* a bit for each member from which they are taken out */
	uint32_t operands;  /* a bit for each member that only metrics use, beside named ones */
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
	int nevents; /* hardware members that came as strings: the solver's business */
	struct tach_event event[TACH_COUNTERS_MAX];
	uint8_t member[TACH_COUNTERS_MAX];	      /* member[i] has event[i] */
	struct tach_event (*each)[TACH_COUNTERS_MAX]; /* hybrids: [core][member] */
	uint32_t listed; /* a bit for each member that the caller names as an event */
	/*
	 * Labels, or names, of members that were left out. Metrics that need them are left out
	 * too.
	 */
	int nmissing;
	struct tach__span missing[TACH__MISSING_MAX];
	/* The first event that the kernel refused, with the reason: others have the same. */
	struct {
		int code;
		struct perf_event_attr attr;
		char why[sizeof((struct tach_error *)0)->text];
	} refused;
};

/* ---- core/set/events.c ---- */
/*
 * Adds one event string under a label (length 0: none), or the members that a derived event of
 * that name rests on, whose value *formula becomes. Returns the member's number, TACH__DERIVED
 * with *formula, or a negative code, TACH_ERR_NOTFOUND if nothing has that name. With
 * TACH_SET_OPTIONAL it returns TACH__LEFT_OUT if this machine cannot count the event.
 */
enum { TACH__LEFT_OUT = TACH_COUNTERS_MAX, TACH__DERIVED };
int tach__set_event(struct tach__making *m, struct tach__span event, struct tach__span label,
		    struct tach_formula **formula);
/* The same for a name alone: with TACH_SET_OPTIONAL an unknown name is left out too. */
int tach__set_called(struct tach__making *m, struct tach__span event, struct tach__span label,
		     struct tach_formula **formula);
/* The same for a text that must be an event string. */
int tach__set_native(struct tach__making *m, struct tach__span event, struct tach__span label);
int tach__set_events(struct tach__making *m);

/* ---- core/set/members.c ---- */
/* The new member's number, TACH__LEFT_OUT where it may be missing and is, or a code. */
int tach__set_append(struct tach__making *m, const struct perf_event_attr *attr,
		     const char *name, size_t length, const char *qualified);
/* A caller's attr. */
int tach__set_attr_add(struct tach__making *m, const struct tach_set_member *given);
/* Member of that label or name, or -1. */
int tach__set_find(const struct tach_set *set, const char *name, size_t length);
/* Was the member of that label or name left out? */
uint32_t tach__software_flags(const struct tach_set *set);
/* Was the member of that label or name left out? */
int tach__set_was_left_out(const struct tach__making *m, const char *name, size_t length);
/* Removes the members from number `count` on, which nothing uses. */
void tach__set_forget(struct tach__making *m, int count);
/* Adds a sentence to set->missing. */
void tach__set_miss(struct tach_set *set, const char *name, const char *why);
void tach__set_miss_name(struct tach_set *set, struct tach__span name, const char *why);

/* ---- core/set/perf_metrics.c ---- */
/* The event that leads a group with fields of PERF_METRICS. */
int tach__is_slots(const struct perf_event_attr *attr);
/* Does this machine count events, but not PERF_METRICS? */
int tach__is_metrics(const struct perf_event_attr *attr);
/* Does the definition of that name need PERF_METRICS? */
int tach__perf_metrics_refused(int pmu);
/* Does the definition of that name need PERF_METRICS? */
int tach__perf_metrics_used(int pmu, const char *name);

/* ---- core/set/cores.c: sets on hybrids ---- */
/* Does one of them have that number? c may be NULL. */
int tach__cores_find(struct tach__making *m);
/* Does one of them have that number? c may be NULL. */
int tach__cores_have(const struct tach__cores *c, uint32_t type);
/* The member, which counts that event string, or that attr, on every core type that can. */
int tach__cores_event(struct tach__making *m, int member, const char *string,
		      uint32_t privilege);
void tach__cores_attr(struct tach__making *m, int member, const struct perf_event_attr *attr);
/* No core type counts the member. */
void tach__cores_forget(struct tach__cores *c, int member);
/* After all members; whether they fit every core type's counters. */
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

/* Do both count the same event, whatever else they ask for? */
int tach__set_same_attr(const struct perf_event_attr *a, const struct perf_event_attr *b);
/*
 * Returns the member that counts the same as the last one, and removes the last one; otherwise
 * returns the last one.
 */
int tach__set_merged(struct tach__making *m, int member);

/* ---- core/set/interrupts.c ---- */
/* After all other members: the one that counts interrupts, where the set is to have it. */
enum { TACH__SET_WITH_INTERRUPTS = TACH_SET_INTERRUPTS | TACH_SET_CORRECT };
int tach__set_interrupts(struct tach__making *m);
#define TACH__NO_ROOM_FOR_INTERRUPTS                                                           \
	"interrupts: not counted, the set's other events leave no counter for them"

/* ---- core/set/metrics.c ---- */
int tach__set_metrics(struct tach__making *m);
/* Without the blanks around it. */
struct tach__span tach__trimmed(struct tach__span t);
/* Returns the registry's data about a metric of that name. */
char *tach__formula_text(const struct tach_formula *f);
/* Returns the registry's data about a metric of that name. */
struct tach__place tach__metric_place(int pmu, const char *name);
/* 0: an event or a metric may be called so; or a code and why not. */
int tach__set_check_name(const struct tach__making *m, struct tach__span name);
/* The metric of that name, or -1. */
int tach__set_find_metric(const struct tach_set *set, struct tach__span name);
/* Takes the formula, even when it fails. */
int tach__set_metric_keep(struct tach__making *m, struct tach__span name,
			  struct tach_formula *formula);
/*
 * Into room for TACH__RENUMBERED(text) bytes: a metric's text, where N<number> stands for
 * operand map[number + 1] - 1 of the whole; map has n numbers. 0: one that is not there.
 */
#define TACH__RENUMBERED(text) (2 * strlen(text) + 16)
int tach__renumber(char *to, const char *text, const int *map, int n);
/* A copy, renumbered. NULL: no such operand, or no memory. */
char *tach__metric_renumber(struct tach__arena *arena, const char *text, const int *map, int n);

/* ---- core/set/set.c ---- */
/* As tach_set_create, of options that were checked, and without an error's `errno`. */
int tach__set_make(struct tach_set **out, const struct tach_set_options *opt, uint32_t flags,
		   struct tach_error *err);

/* ---- core/set/topdown.c ---- */
/* Is the word among those metrics? Then tach__topdown_make replaces tach__set_make. */
int tach__topdown_is_asked(const char *metrics);
/*
 * Returns in *out those metrics, with the names of the machine's tree in place of the word: the
 * deepest tree down to its level, and to `limit`. *level is the depth, 0 without the word.
 * free() *out. Returns 0, TACH_ERR_NOTSUPP (the machine lacks such a tree) or TACH_ERR_NOMEM.
 */
int tach__topdown_spelled(const char *metrics, int pmu, int limit, int *level, char **out);
int tach__topdown_make(struct tach_set **out, const struct tach_set_options *opt,
		       uint32_t flags, struct tach_error *err);

#include "core/set/diagnose.h"
#include "core/set/list.h"

#endif
