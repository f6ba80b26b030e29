/* SPDX-License-Identifier: MIT */
/* Corrects `parent`, which is a number in the list of regions, when the list is made or
 * sorted. */
#include <stdlib.h>
#include "core/snapshot/merge.h"

/* Removes parents that lead back to the region itself. `mark` must be all zeros. */
static void cut_circles(struct tach__plain *p, int *mark)
{
	for (int r = 0; r < p->nregions; r++)
		for (int at = r; at >= 0 && !mark[at];) {
			int *up = &p->region[at].info.parent;

			mark[at] = r + 1;
			if (*up >= p->nregions || (*up >= 0 && mark[*up] == r + 1))
				*up = -1;
			at = *up;
		}
}

static void forget_parents(struct tach__plain *p)
{
	for (int r = 0; r < p->nregions; r++)
		p->region[r].info.parent = -1;
}

void tach__parents_check(struct tach__plain *p)
{
	int *mark = calloc((size_t)p->nregions + 1, sizeof *mark);

	if (mark)
		cut_circles(p, mark);
	else
		forget_parents(p);
	free(mark);
}

void tach__parents_number(struct tach__plain *p)
{
	for (int r = 0; r < p->nregions; r++)
		p->region[r].number = r;
}

void tach__parents_follow(struct tach__plain *p)
{
	int *place = calloc((size_t)p->nregions + 1, sizeof *place);

	if (!place) {
		forget_parents(p);
		return;
	}
	for (int r = 0; r < p->nregions; r++)
		place[p->region[r].number] = r;
	for (int r = 0; r < p->nregions; r++) {
		int *parent = &p->region[r].info.parent;

		if (*parent >= 0)
			*parent = place[*parent];
	}
	free(place);
	tach__parents_check(p);
}

/* Converts the parents of sources to regions of the result: source i belongs to region[i]. A
 * region whose sources have different parents gets no parent. */
void tach__parents_merge(struct tach__merge *m, const int *region)
{
	struct tach__plain *p = m->plain;
	size_t *first = calloc((size_t)m->n + 1, sizeof *first);
	int *whole = calloc(m->nsources + 1, sizeof *whole); /* for each snapshot's regions */

	for (int i = 0; first && i < m->n; i++)
		first[i + 1] = first[i] + (size_t)m->list[i]->plain.nregions;
	for (size_t i = 0; first && whole && i < m->nsources; i++)
		whole[first[m->source[i].number] + (size_t)m->source[i].region] = region[i];
	for (size_t i = 0; first && whole && i < m->nsources; i++) {
		const struct tach__source *s = &m->source[i];
		int up = s->info.parent, *to = &p->region[region[i]].info.parent;

		up = up < 0 ? -1 : whole[first[s->number] + (size_t)up];
		*to = i == 0 || region[i - 1] != region[i] || *to == up ? up : -1;
	}
	if (!first || !whole)
		forget_parents(p);
	free(first);
	free(whole);
}
