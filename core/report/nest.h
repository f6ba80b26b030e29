/* SPDX-License-Identifier: MIT */
/* Regions in the order of a tree. */
#ifndef TACH_CORE_REPORT_NEST_H
#define TACH_CORE_REPORT_NEST_H

#include <tach/snapshot.h>

struct tach__nest {
	int n;
	int *region; /* regions in that order */
	int *depth;  /* number of enclosing regions */
};

/* If `tree` is 0, keeps the order of the list, with depth 0. Returns 0 if out of memory. */
int tach__nest_make(struct tach__nest *nest, const struct tach_snapshot *s, int tree);
void tach__nest_free(struct tach__nest *nest);

#endif
