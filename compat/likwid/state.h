/* SPDX-License-Identifier: MIT */
/* LIKWID's marker API over readers: shared declarations. */
#ifndef COMPAT_LIKWID_STATE_H
#define COMPAT_LIKWID_STATE_H

#include <likwid.h>
#include <tach.h>

enum { LW_GROUPS = 16, LW_METRICS = 12, LW_PLACES = 1024 };

/* ---- names: tables of structs that begin with a struct lw_name (names.c) ---- */

struct lw_name {
	uint32_t hash;
	uint32_t id; /* the same in all threads, never changes */
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

/* Returns NULL if the table lacks the tag. An empty table is { NULL, 0, 0 }. */
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
		/* Names are short, so a call of strcmp would cost more. */
		for (a = name->tag, b = tag; *a == *b; a++, b++)
			if (!*a)
				return name;
	}
	return NULL;
}

/* Returns 0 without memory. */
int lw_names_add(struct lw_names *names, struct lw_name *name);
/* The process's name for that tag, copied if it is new. Call it under the lock. */
const struct lw_name *lw_name_intern(const char *tag);
/* Names have the numbers 0 to lw_names_count() - 1. */
uint32_t lw_names_count(void);
const struct lw_name *lw_name_at(uint32_t id);

/* ---- groups: counted events (group.c, presets.c) ---- */

struct lw_event {
	const char *name, *counter;
	int member; /* number in the set; -1: cannot be counted */
};

struct lw_metric {
	const char *name;
	int index; /* number in the set; -1: the time */
};

struct lw_group {
	const char *name;
	struct tach_set *set; /* NULL: only the clock */
	int nevents, nmetrics;
	struct lw_event event[TACH_COUNTERS_MAX];
	struct lw_metric metric[LW_METRICS];
	char *text;	   /* storage of the names */
	char missing[512]; /* which events cannot be counted and why, or "" */
};

/* Reads the groups from the environment. Returns their number, at least one. */
int lw_groups_make(struct lw_group *group);
void lw_group_free(struct lw_group *group);
/* Appends a sentence, shortened to the room that is left. */
void lw_group_misses(struct lw_group *group, const char *what, const char *why);

/* Fills in events and metrics from the set. */
void lw_group_show(struct lw_group *group);

/* Finds LIKWID's group of that name, or returns NULL. */
struct lw_preset;
const struct lw_preset *lw_preset_find(const char *name, size_t length);
void lw_preset_make(struct lw_group *group, const struct lw_preset *preset);

/* ---- threads and their regions (thread.c) ---- */

/* A region of one thread under one group. */
struct lw_region;
/*
 * The result of START and STOP. It is unsigned, because with int gcc reuses the register that
 * it has just compared with 0.
 */
typedef unsigned (*lw_edge)(struct tach_likwid_site *site, struct lw_region *region);

struct lw_region {
	struct lw_name name; /* first */
	lw_edge start, stop;
	uint32_t flags, warned;
	struct tach_reader *reader; /* NULL: only the clock */
	uint64_t edges;		    /* 2 for each call, plus 1 while it is running */
	uint64_t ticks;
	uint64_t sum[TACH_COUNTERS_MAX];
	struct tach_mark mark;
};

/* Stands for a region until a thread looks it up: its edges look the region up. */
extern struct lw_region lw_nowhere;

static inline uint64_t lw_calls(const struct lw_region *region)
{
	return region->edges / 2;
}

static inline int lw_running(const struct lw_region *region)
{
	return region->edges & 1;
}

struct lw_view {		   /* one thread's view of a group */
	struct lw_region **region; /* index: the name's id */
	uint32_t size;
	int opened;
	struct lw_names names;
	uint64_t cost[TACH_COUNTERS_MAX], cost_ticks; /* minimum count of an empty region */
};

struct lw_thread {
	/*
	 * Copy of the current view, for the edges. Index: a place's number, which is its name's
	 * id plus 1. Value: the region or lw_nowhere. Names with larger ids are looked up.
	 * Valid only if `ready`.
	 */
	struct lw_region *region[LW_PLACES];
	int ready;
	struct lw_names names;

	struct lw_thread *next;
	int number, cpu; /* cpu -1: may run on several */
	int alive;
	unsigned epoch;
	int group; /* the reader's group; -1: none */
	struct tach_reader *reader;
	struct lw_view view[LW_GROUPS];
};

extern __thread struct lw_thread *lw_self; /* never NULL */

/* Finds or creates the calling thread's region. Returns NULL without memory, or after CLOSE. */
struct lw_region *lw_region_get(const char *tag);
/* Makes all edges of the thread take the slow path. */
void lw_view_drop(struct lw_thread *thread);
/* Frees the data of ended threads. Call it under the lock. */
void lw_threads_forget(void);
/* Chooses the region's edges by the number of counters of its reader. */
void lw_edges_choose(struct lw_region *region);

/* ---- the process (state.c) ---- */

struct lw_state {
	int open;	/* between INIT and CLOSE? */
	unsigned epoch; /* number of INITs so far */
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
/* Returns NULL if the thread has no result. */
const struct lw_region *lw_result_of(const struct lw_thread *thread, int group, uint32_t id);
double lw_seconds(const struct lw_thread *thread, int group, const struct lw_region *region);
/* The count minus the overhead. NaN: not counted, or not all the time. */
double lw_count(const struct lw_thread *thread, int group, const struct lw_region *region,
		int event);
double lw_metric_value(const struct lw_thread *thread, int group,
		       const struct lw_region *region, int metric);
/* Returns true if any thread has calls. */
int lw_result_is(int group, uint32_t id);
/* Returns 0 or an errno. */
int lw_tables_write(const char *path);

#endif
