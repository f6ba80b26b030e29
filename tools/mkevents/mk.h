/* SPDX-License-Identifier: MIT */
/*
 * mkevents compiles the event tables (arch/FORMAT.md) into read-only C arrays. Data flow:
 * parse.c reads one file into struct mk_pmu, check.c checks lines and files against each other,
 * build.c pools all data, emit.c writes the arrays. Each fault is one line "file:line:column:
 * sentence". Text that does not follow the format is a fault.
 */
#ifndef TOOLS_MKEVENTS_MK_H
#define TOOLS_MKEVENTS_MK_H

#include <stdio.h>
#include "core/tables/data.h"

/* A cell: a part of the file's text. column counts from 1. */
struct mk_cell {
	const char *text;
	size_t length;
	int line, column;
};

struct mk_attr {
	enum tach__attr key;
	struct mk_cell cell; /* the value; for flags the key itself */
	uint64_t number;
};

/* One E or U line. */
struct mk_row {
	struct mk_cell name, description, eq, where;
	uint64_t code, counters;
	uint32_t flags, mods;
	uint32_t hw[TACH__NMODS]; /* packed as tach__tab_hw */
	uint32_t nhw;
	size_t first_attr, nattrs;   /* in mk->attrs */
	size_t first_umask, numasks; /* index in mk_pmu.umasks; events only */
	int box;		     /* index of the only box that has the row, or -1 for all */
	uint8_t group;		     /* events: number of groups */
	uint8_t requires, src;
	enum { MK_NEW, MK_OPEN, MK_DONE } mark; /* for following aliases */
};

struct mk_match {
	struct tach__tab_match row;
	struct mk_cell cell, fallback, inst;
	char pattern[96];
};

/* A line of boxes: PMUs that share the rows of one file. */
struct mk_inst {
	struct mk_cell name, perf; /* with %d or %x in place of the number */
	int first, last;	   /* -1: one unnumbered box */
	int libpfm4_id, order;	   /* of the first box; -1: not set */
};

struct mk_pmu {
	const char *file;
	int boxes; /* pmuevents-uncore/1 */
	struct mk_inst *insts;
	size_t ninsts, inst_room;
	struct mk_cell single; /* the kernel's other name for the first box */
	struct tach__pmu row;
	struct mk_cell name, description, alias, vendor, flags_cell;
	struct mk_cell perf[4];
	int nperf;
	uint32_t seen; /* header keys seen so far: bits 1u << enum mk_key */
	struct mk_row *events, *umasks;
	size_t nevents, numasks, event_room, umask_room;
	struct mk_match *matches;
	size_t nmatches, match_room;
};

struct mk {
	FILE *to; /* output for faults; NULL: only count them */
	int faults;
	struct mk_pmu *pmus;
	size_t npmus, pmu_room;
	struct mk_attr *attrs;
	size_t nattrs, attr_room;
};

/* Runs of equal elements, each stored once: strings, rows, lists of row numbers. */
struct mk_pool {
	size_t size; /* of one element */
	unsigned char *data;
	size_t used, room; /* in elements */
	struct mk_slot {
		uint32_t start, length; /* in elements */
	} * slots;
	size_t nslots, nruns;
};

/* All data that emit.c writes. */
struct mk_image {
	struct mk_pool strings, attr_values, attr_lists, hw, counters;
	struct mk_pool umasks, umask_ids, umask_order, umask_hash;
	struct mk_pool events, event_ids, event_order, event_hash;
	struct mk_pool names, name_hash;
	struct tach__pmu *pmus;
	struct tach__tab_pmu *runs;
	/* all PMUs; boxes and libpfm-3's lists are the last of them */
	size_t npmus, nboxes, npfm3;
	struct tach__tab_boxes *box_matches;
	size_t nbox_matches;
	uint32_t box_names;
	struct tach__tab_match *matches;
	size_t nmatches;
	uint32_t pmu_names, npmu_names;
};

/* ---- text.c: cells, faults, numbers ---- */
void mk_fault(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *at,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));
int mk_is(const struct mk_cell *cell, const char *text);
int mk_empty(const struct mk_cell *cell); /* "-" */
/* Orders names like core/tables/search.h: case-folded bytes, the shorter one first. */
int mk_order(const struct mk_cell *a, const struct mk_cell *b);
int mk_same(const struct mk_cell *a, const struct mk_cell *b); /* case ignored */
/* Reports a fault at the first byte that is neither TAB nor printable ASCII, and returns 0. */
int mk_printable(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *line);
/* Removes the part before `separator` from *rest; returns 0 if nothing is left. */
int mk_split(struct mk_cell *rest, char separator, struct mk_cell *part);
/* Parses the whole cell as an unsigned number. Returns 0 if it is not a number or above max. */
int mk_number(const struct mk_cell *cell, int base, uint64_t max, uint64_t *out);
void *mk_alloc(size_t bytes); /* zeroed; never NULL */
/* Makes room for one more element of `size` bytes. */
void *mk_grow(void *array, size_t count, size_t *room, size_t size);

/* ---- names.c: keywords of the format ---- */
int mk_word(const char *const *words, size_t count, const struct mk_cell *cell);
int mk_mod(const struct mk_cell *cell);
int mk_box_mod(const struct mk_cell *cell);   /* by key */
int mk_only_text(const struct mk_cell *name); /* an attribute that the library does not use */
int mk_attr_key(const struct mk_cell *cell);
enum mk_attr_kind { MK_FLAG, MK_NUMBER, MK_TEXT };
enum mk_attr_kind mk_attr_kind(enum tach__attr key);
extern const struct mk_flag {
	const char *name;
	uint32_t bit;
} mk_event_flags[], mk_umask_flags[], mk_pmu_flags[];
extern const char *const mk_arch_names[TACH__NARCHS],
	*const mk_encoding_names[TACH__NENCODINGS];
extern const char *const mk_src_names[5];
/* The required cells of a @match line, before its options. */
struct mk_claim {
	int cells, numbers; /* numbers 0: text patterns */
};
extern const struct mk_claim mk_claims[TACH__NARCHS];
extern const char *const mk_mod_names[TACH__NMODS];

/* ---- header.c, cells.c, parse.c ---- */
void mk_header(struct mk *mk, struct mk_pmu *pmu, struct mk_cell line);
void mk_header_done(struct mk *mk, struct mk_pmu *pmu);
void mk_flags(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *cell,
	      const struct mk_flag *known, const char *what, uint32_t *out);
void mk_counters(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *cell,
		 uint64_t *out);
void mk_mods(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *cell,
	     uint32_t *out);
void mk_hw(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *cell,
	   struct mk_row *row);
void mk_attrs(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *cell,
	      struct mk_row *row);
/* The umasks of an event, or NULL if it has no umasks. */
struct mk_row *mk_umasks(const struct mk_pmu *pmu, const struct mk_row *event);
/* Reads one file's text, which must outlive mk. */
void mk_parse(struct mk *mk, const char *file, const char *text, size_t length);

/* ---- match.c ---- */
/* Parses a @match line: n cells after @arch. */
void mk_match(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value, int n);

/* ---- index.c ---- */

/* A name to be sorted; the position breaks ties, so the first of equal names stays first. */
struct mk_sorted {
	struct mk_cell name;
	uint32_t first, second;
	uint16_t hash;
};

struct mk_sorted mk_sortable(const struct mk_cell *name, size_t first, size_t second);
/* Stores a sorted run of names. *n: the number before, then the number without duplicates. */
uint32_t mk_names(struct mk_image *im, struct mk_sorted *s, size_t *n);
/* Stores sorted positions and hashes for a run of rows that is new in its pool. */
void mk_index_rows(struct mk_pool *orders, struct mk_pool *hashes, const struct mk_row *rows,
		   size_t n);

/* ---- boxes.c ---- */
void mk_inst(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value);
void mk_osmods(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value);
/*
 * Adds the PMUs of all box files, starting at row im->npmus. Their events must already be
 * built.
 */
void mk_boxes(struct mk *mk, struct mk_image *im);

/* ---- build.c, index.c ---- */
/* Adds the events of a file that the box has. *nevents is for the box's PMU row. */
uint32_t mk_build_events(struct mk *mk, struct mk_image *im, const struct mk_pmu *pmu, int box,
			 uint32_t *nevents);
void mk_build_vendor(struct mk *mk, struct mk_image *im, const struct mk_pmu *pmu,
		     struct tach__tab_pmu *out);
/*
 * Stores a sorted run of PMU names. *n: the number before, then the number without duplicates.
 */
uint32_t mk_build_names(struct mk_image *im, const struct mk_cell *name, const uint16_t *pmu,
			size_t *n);

/* ---- describe.c ---- */
/* Adds the descriptions of one file to the rows; its text must outlive mk. */
void mk_describe(struct mk *mk, const char *file, const char *text, size_t length);

/* ---- check.c, order.c, build.c, emit.c ---- */
void mk_check(struct mk *mk);
void mk_sort(struct mk *mk);
void mk_build(struct mk *mk, struct mk_image *image);
int mk_emit(const struct mk_image *image, FILE *to);
void mk_free(struct mk *mk);
void mk_image_free(struct mk_image *image);

/* ---- pool.c ---- */
uint32_t mk_pool_add(struct mk_pool *pool, const void *run, size_t count);
/* Appends the run even if the pool already has it. */
void mk_pool_append(struct mk_pool *pool, const void *run, size_t count);
uint32_t mk_pool_string(struct mk_pool *pool, const struct mk_cell *cell);
void mk_pool_free(struct mk_pool *pool);

#endif
