/* SPDX-License-Identifier: MIT */
/* Sorts regions in tree order: each after its enclosing region, and siblings in list order. */
#include "core/os/memory.h"
#include "core/report/nest.h"

/* Uses pages, as all reports do, because a handler of a deadly signal may write one. */
int tach__nest_make(struct tach__nest *nest, const struct tach_snapshot *s, int tree)
{
	int n = nest->n = tach_snapshot_nregions(s), at = -1;
	struct tach_region_info info = {.size = sizeof info};
	int *kid, *next;

	nest->region = tach__pages(4 * ((size_t)n + 1) * sizeof *nest->region);
	if (!nest->region)
		return 0;
	nest->depth = nest->region + n + 1;
	/* kid[0] is the first region of the root; values are 1 + region, 0 is the end */
	kid = nest->depth + n + 1;
	next = kid + n + 1;
	for (int r = n; r-- > 0;) {
		tach_snapshot_region(s, r, &info);
		next[r] = kid[tree ? info.parent + 1 : 0];
		kid[tree ? info.parent + 1 : 0] = r + 1;
	}
	/* Goes to the first child. If there is no child, goes to the next sibling of the
	 * nearest region that has a sibling. */
	for (int i = 0, depth = 0; i < n; i++) {
		int to = kid[at + 1];

		depth += i > 0 && to;
		while (!to && at >= 0) {
			to = next[at];
			tach_snapshot_region(s, at, &info);
			if (!to) {
				at = tree ? info.parent : -1;
				depth--;
			}
		}
		if (!to)
			return 0;
		at = to - 1;
		nest->region[i] = at;
		nest->depth[i] = depth;
	}
	return 1;
}

void tach__nest_free(struct tach__nest *nest)
{
	tach__pages_free(nest->region, 4 * ((size_t)nest->n + 1) * sizeof *nest->region);
}
