/* SPDX-License-Identifier: MIT */
/* Leaves out regions with the least self time. */
#include <stdlib.h>
#include "core/snapshot/choose.h"
#include "core/snapshot/plain.h"
#include "core/snapshot/snapshot.h"

static double self_time(const struct tach__plain_region *region)
{
	return region->value[TACH_PART_SELF][TACH_QUANTITY_TIME].value;
}

static int by_self_time(const void *a, const void *b)
{
	const struct tach__plain_region *x = *(const struct tach__plain_region *const *)a;
	const struct tach__plain_region *y = *(const struct tach__plain_region *const *)b;

	if (self_time(x) != self_time(y))
		return self_time(x) < self_time(y) ? 1 : -1;
	return (x > y) - (x < y);
}

/* place[r]: the new number of region r, or -1 if it is left out. */
static void move_regions(struct tach__plain *p, const int *place)
{
	for (int r = 0; r < p->nregions; r++) {
		int *parent = &p->region[r].info.parent;

		while (*parent >= 0 && place[*parent] < 0)
			*parent = p->region[*parent].info.parent;
	}
	for (int r = 0; r < p->nregions; r++) {
		if (place[r] < 0)
			continue;
		if (p->region[r].info.parent >= 0)
			p->region[r].info.parent = place[p->region[r].info.parent];
		p->region[place[r]] = p->region[r];
	}
}

void tach__snapshot_choose(struct tach_snapshot *snapshot, int most,
			   int (*is)(const void *context, const struct tach_region_info *info),
			   const void *context)
{
	struct tach__plain *p = &snapshot->plain;
	const struct tach__plain_region **found =
		calloc((size_t)p->nregions + 1, sizeof(*found));
	int *place = calloc((size_t)p->nregions + 1, sizeof *place);
	int n = 0, to = 0;

	for (int r = 0; r < p->nregions && found; r++)
		if (is(context, &p->region[r].info))
			found[n++] = &p->region[r];
	if (found && place && n > most) {
		qsort(found, (size_t)n, sizeof(*found), by_self_time);
		for (int i = most; i < n; i++)
			place[found[i] - p->region] = -1;
		for (int r = 0; r < p->nregions; r++)
			if (place[r] == 0)
				place[r] = to++;
		move_regions(p, place);
		p->nregions = to;
	}
	free(found);
	free(place);
}
