/* SPDX-License-Identifier: MIT */
/* Metrics that form a tree: functions that the formats share. */
#ifndef TACH_CORE_REPORT_TREE_H
#define TACH_CORE_REPORT_TREE_H

#include "core/report/report.h"
#include "core/snapshot/snapshot.h"

enum { TACH__TREE_DEPTH = 64 };

struct tach__tree {
	const struct tach_snapshot *s;
	/* Writes text of any origin, such as a name, in the way of the format. */
	void (*text)(struct tach__out *out, const char *text);
	int n;
	int *parent;		  /* per metric, -1: none */
	struct tach_value *value; /* values of the current region */
	char *above, *shown;	  /* above the threshold; printed */
};

/* Returns 1 if some metric has a level. */
int tach__tree_has_levels(const struct tach_snapshot *s);
/* Returns 1; 0: no metric has a level, or there is no region; in a handler; or without memory,
 * which is noted in `out`. */
int tach__tree_begin(struct tach__tree *t, struct tach__out *out, const struct tach_snapshot *s,
		     void (*text)(struct tach__out *out, const char *text));
void tach__tree_end(struct tach__tree *t);

/* Selects that region and returns its name. NULL: it was not measured. */
const char *tach__tree_region(struct tach__tree *t, int region);
/* A metric that was not shown yet: first those above their threshold, then larger ones; -1: all
 * were returned. */
int tach__tree_next(const struct tach__tree *t, int parent);

const struct tach__place *tach__tree_node(const struct tach__tree *t, int metric);
const char *tach__tree_name(const struct tach__tree *t, int metric);
/* Factor from the value to the shown number; unit " %", or "". */
double tach__tree_scale(const struct tach__tree *t, int metric);
const char *tach__tree_unit(const struct tach__tree *t, int metric);

/* The sentence: about the region with the most self time, its worst share and the parts of
 * that. */
void tach__tree_sentence(struct tach__out *out, struct tach__tree *t);

#endif
