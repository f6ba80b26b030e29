/* SPDX-License-Identifier: MIT */
/* Finds quantities of the whole machine in a merge. */
#include "core/snapshot/merge.h"

int tach__merge_is_shared(const struct tach__merge *m, int quantity)
{
	struct tach_value v;

	for (size_t i = 0; i < m->nsources; i++) {
		const struct tach__source *from = &m->source[i];

		for (int q = 0; q < tach_snapshot_nquantities(from->snapshot); q++) {
			if (from->map[q] != quantity)
				continue;
			tach_snapshot_value(from->snapshot, from->region, q,
					    TACH_PART_INCLUSIVE, &v);
			if (v.flags & TACH_FLAG_SHARED)
				return 1;
		}
	}
	return 0;
}
