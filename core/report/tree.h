/* SPDX-License-Identifier: MIT */
/* Functions for metrics that form a tree, which the formats share. */
#ifndef TACH_CORE_REPORT_TREE_H
#define TACH_CORE_REPORT_TREE_H

#include "core/report/report.h"
#include "core/snapshot/snapshot.h"

enum { TACH__TREE_DEPTH = 64 };

struct tach__tree {
	const struct tach_snapshot *s;
	/* Writes any text, such as a name, and escapes what the format requires. */
	void (*text)(struct tach__out *out, const char *text);
	int n;
	int *parent;		  /* for each metric; -1: no parent */
	struct tach_value *value; /* values of the current region */
	char *above, *shown;	  /* for each metric: above its threshold; printed */
};

/* Returns 1 if some metric has a level. */
int tach__tree_has_levels(const struct tach_snapshot *s);
/* Returns 0 if no metric has a level, if there is no region, or in a handler. If out of memory,
 * returns 0 and sets an error in `out`. Otherwise returns 1. */
int tach__tree_begin(struct tach__tree *t, struct tach__out *out, const struct tach_snapshot *s,
		     void (*text)(struct tach__out *out, const char *text));
void tach__tree_end(struct tach__tree *t);

/* Selects a region and returns its name. NULL: the region was not measured. */
const char *tach__tree_region(struct tach__tree *t, int region);
/* Returns a child of `parent` that was not returned yet: metrics above their threshold first,
 * then larger ones; -1: all were returned. */
int tach__tree_next(const struct tach__tree *t, int parent);

const struct tach__place *tach__tree_node(const struct tach__tree *t, int metric);
const char *tach__tree_name(const struct tach__tree *t, int metric);
/* The factor from the value to the shown number, and the unit: " %" or "". */
double tach__tree_scale(const struct tach__tree *t, int metric);
const char *tach__tree_unit(const struct tach__tree *t, int metric);

/* Writes a sentence about the region with the most self time, its worst share, and the parts of
 * that share. */
void tach__tree_sentence(struct tach__out *out, struct tach__tree *t);

#endif
