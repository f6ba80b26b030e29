/* SPDX-License-Identifier: MIT */
/* Regions in the order of a tree. */
#ifndef TACH_CORE_REPORT_NEST_H
#define TACH_CORE_REPORT_NEST_H

#include <tach/snapshot.h>

struct tach__nest {
	int n;
	int *region; /* in their order */
	int *depth;  /* 0: in no other region */
};

/* Without `tree` as they are listed, at depth 0. 0: out of memory. */
int tach__nest_make(struct tach__nest *nest, const struct tach_snapshot *s, int tree);
void tach__nest_free(struct tach__nest *nest);

#endif
