/* SPDX-License-Identifier: MIT */
/* Metrics that form a tree: what the formats that show it share. */
#ifndef TACH_CORE_REPORT_TREE_H
#define TACH_CORE_REPORT_TREE_H

#include "core/report/report.h"
#include "core/snapshot/snapshot.h"

enum { TACH__TREE_DEPTH = 64 };

struct tach__tree {
	const struct tach_snapshot *s;
	/* Writes what comes from anywhere, a name say, as the format wants it. */
	void (*text)(struct tach__out *out, const char *text);
	int n;
	int *parent;		  /* per metric, -1: none */
	struct tach_value *value; /* of the region in hand */
	char *above, *shown;	  /* the threshold; printed */
};

/* Whether some metric has a level. */
int tach__tree_wanted(const struct tach_snapshot *s);
/* 1; 0: no metric has a level, or there is no region; in a handler; or no memory, which `out`
 * is told. */
int tach__tree_begin(struct tach__tree *t, struct tach__out *out, const struct tach_snapshot *s,
		     void (*text)(struct tach__out *out, const char *text));
void tach__tree_end(struct tach__tree *t);

/* Takes that region in hand; its name. NULL: it was not measured. */
const char *tach__tree_region(struct tach__tree *t, int region);
/* A metric not shown yet; above its threshold first, then what is more; -1: all were. */
int tach__tree_next(const struct tach__tree *t, int parent);

const struct tach__place *tach__tree_node(const struct tach__tree *t, int metric);
const char *tach__tree_name(const struct tach__tree *t, int metric);
/* What is shown is that times the value; " %", or "". */
double tach__tree_scale(const struct tach__tree *t, int metric);
const char *tach__tree_unit(const struct tach__tree *t, int metric);

/* The sentence: of the region with most time of its own, the worst share and what is in it. */
void tach__tree_sentence(struct tach__out *out, struct tach__tree *t);

#endif
