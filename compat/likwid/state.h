/* SPDX-License-Identifier: MIT */
/* LIKWID's marker API over readers: what its files share. */
#ifndef COMPAT_LIKWID_STATE_H
#define COMPAT_LIKWID_STATE_H

#include <likwid.h>
#include <tach.h>

enum { LW_GROUPS = 16, LW_METRICS = 12, LW_PLACES = 1024 };

/* ---- names: tables of what begins with a struct lw_name (names.c) ---- */

struct lw_name {
	uint32_t hash;
	uint32_t id; /* the same in all threads and for ever */
	const char *tag;
};

struct lw_names {
	struct lw_name **slot;
	uint32_t mask, used;
};

static inline uint32_t lw_hash(const char *tag)
{
	uint32_t h = 2166136261u;

	for (; *tag; tag++)
		h = (h ^ (unsigned char)*tag) * 16777619u; /* FNV-1a */
	return h;
}

/* NULL: not there. An empty table is { NULL, 0, 0 }. */
static inline struct lw_name *lw_names_find(const struct lw_names *names, const char *tag,
					    uint32_t hash)
{
	struct lw_name *name;
	const char *a, *b;

	if (!names->slot)
		return NULL;
	for (uint32_t i = hash; (name = names->slot[i & names->mask]); i++) {
		if (name->hash != hash)
			continue;
		/* Names are short: a call of strcmp would cost more. */
		for (a = name->tag, b = tag; *a == *b; a++, b++)
			if (!*a)
				return name;
	}
	return NULL;
}

/* 0: no memory. */
int lw_names_add(struct lw_names *names, struct lw_name *name);
/* The process's name for that tag, a copy made when it is new. Under the lock. */
const struct lw_name *lw_name_intern(const char *tag);
/* How many there are, and one of them. */
uint32_t lw_names_count(void);
const struct lw_name *lw_name_at(uint32_t id);

/* ---- groups: what is counted (group.c, presets.c) ---- */

struct lw_event {
	const char *name, *counter;
	int member; /* of the set; -1: cannot be counted */
};

struct lw_metric {
	const char *name;
	int index; /* of the set; -1: the time */
};

struct lw_group {
	const char *name;
	struct tach_set *set; /* NULL: the clock alone */
	int nevents, nmetrics;
	struct lw_event event[TACH_COUNTERS_MAX];
	struct lw_metric metric[LW_METRICS];
	char *text;	   /* that names are of */
	char missing[512]; /* what cannot be counted and why, or "" */
};

/* As the environment says. How many, at least one. */
int lw_groups_make(struct lw_group *group);
void lw_group_free(struct lw_group *group);
/* Adds a sentence, or as much of it as there is room for. */
void lw_group_misses(struct lw_group *group, const char *what, const char *why);

/* Fills in events and metrics from the set. */
void lw_group_show(struct lw_group *group);

/* LIKWID's groups by name; NULL: there is none of that name. */
struct lw_preset;
const struct lw_preset *lw_preset_find(const char *name, size_t length);
void lw_preset_make(struct lw_group *group, const struct lw_preset *preset);

/* ---- threads and their regions (thread.c) ---- */

/* Of one thread under one group. */
struct lw_region;
/* What START and STOP return. Unsigned: as int gcc makes its 0 of what it has just compared
 * with 0. */
typedef unsigned (*lw_edge)(struct tach_likwid_site *site, struct lw_region *region);

struct lw_region {
	struct lw_name name; /* first */
	lw_edge start, stop;
	uint32_t flags, warned;
	struct tach_reader *reader; /* NULL: the clock alone */
	uint64_t edges;		    /* 2 for each call, 1 more: it is running */
	uint64_t ticks;
	uint64_t sum[TACH_COUNTERS_MAX];
	struct tach_mark mark;
};

/* Where a thread has no region yet: its edges look for one. */
extern struct lw_region lw_nowhere;

static inline uint64_t lw_calls(const struct lw_region *region)
{
	return region->edges / 2;
}

static inline int lw_running(const struct lw_region *region)
{
	return region->edges & 1;
}

struct lw_view {		   /* of a thread on a group */
	struct lw_region **region; /* by the name's id */
	uint32_t size;
	int opened;
	struct lw_names names;
	uint64_t cost[TACH_COUNTERS_MAX], cost_ticks; /* that an empty region shows at least */
};

struct lw_thread {
	/*
	 * The view in use, for the edges. By a place's number, which is its name's id and 1,
	 * the region or lw_nowhere; beyond it names are looked up. Not ready: nor are they.
	 */
	struct lw_region *region[LW_PLACES];
	int ready;
	struct lw_names names;

	struct lw_thread *next;
	int number, cpu; /* cpu -1: it may run on several */
	int alive;
	unsigned epoch;
	int group; /* that the reader is open for; -1: none */
	struct tach_reader *reader;
	struct lw_view view[LW_GROUPS];
};

extern __thread struct lw_thread *lw_self; /* never NULL */

/* The slow way: NULL without memory, or when markers are closed. */
struct lw_region *lw_region_get(const char *tag);
/* All of it goes the slow way. */
void lw_view_drop(struct lw_thread *thread);
/* What is left of threads that ended. Under the lock. */
void lw_threads_forget(void);
/* Its edges, for as many counters as its reader has. */
void lw_edges_choose(struct lw_region *region);

/* ---- the process (state.c) ---- */

struct lw_state {
	int open;	/* between INIT and CLOSE */
	unsigned epoch; /* how many INITs there were */
	int active, ngroups;
	struct lw_group group[LW_GROUPS];
	struct lw_thread *threads; /* the last first */
	int nthreads;
	double hz; /* of the clock */
};

extern struct lw_state lw_state;
void lw_lock(void);
void lw_unlock(void);

/* ---- results (results.c, table.c) ---- */

struct lw_thread *lw_thread_at(int number);
/* NULL: the thread has none. */
const struct lw_region *lw_result_of(const struct lw_thread *thread, int group, uint32_t id);
double lw_seconds(const struct lw_thread *thread, int group, const struct lw_region *region);
/* Less what measuring cost; NaN: not counted, or not all the time. */
double lw_count(const struct lw_thread *thread, int group, const struct lw_region *region,
		int event);
double lw_metric_value(const struct lw_thread *thread, int group,
		       const struct lw_region *region, int metric);
/* Whether any thread has calls. */
int lw_result_is(int group, uint32_t id);
/* 0 or an errno. */
int lw_tables_write(const char *path);

#endif
