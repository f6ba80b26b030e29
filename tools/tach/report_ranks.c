/* SPDX-License-Identifier: MIT */
/* Reports of the ranks of a parallel job: collects them by rank and joins them. */
#include <stdio.h>
#include <stdlib.h>
#include "core/snapshot/ranks.h"
#include "tools/tach/report.h"

/* A rank may have several processes. */
int report_ranks_add(struct report_ranks *to, struct tach_snapshot *one, const char *file,
		     const char *who)
{
	int rank = tach__snapshot_rank(one), i = 0;
	struct tach_snapshot **more;

	if (rank < 0) {
		fprintf(stderr,
			"%s: %s: a report without a rank: its process was not started by "
			"mpirun or srun, or it is a sum of several reports\n",
			who, file);
		tach_snapshot_free(one);
		return -1;
	}
	while (i < to->n && tach__snapshot_rank(to->list[i]) < rank)
		i++;
	if (i < to->n && tach__snapshot_rank(to->list[i]) == rank)
		return report_add(&to->list[i], one, who);
	more = realloc(to->list, (size_t)(to->n + 1) * sizeof(*to->list));
	if (!more) {
		fprintf(stderr, "%s: out of memory\n", who);
		tach_snapshot_free(one);
		return -1;
	}
	to->list = more;
	for (int k = to->n++; k > i; k--)
		more[k] = more[k - 1];
	more[i] = one;
	return 0;
}

/* Merges regions that occur twice in a process. */
static int merge_each(struct report_ranks *r, const char *who)
{
	for (int i = 0; i < r->n; i++) {
		struct tach_snapshot *one = r->list[i];

		if (report_merge(&r->list[i], &one, 1, who) != 0) {
			r->list[i] = one;
			return -1;
		}
		tach_snapshot_free(one);
	}
	return 0;
}

struct tach_snapshot *report_ranks_join(struct report_ranks *r, const char *who)
{
	struct tach_snapshot *whole = NULL, *all = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	int code = merge_each(r, who);

	code = code ? code : report_merge(&whole, r->list, r->n, who);
	if (!code && (code = tach__snapshot_ranks(r->list, r->n, whole, &all, &err)))
		fprintf(stderr, "%s: %s\n", who, err.text);
	tach_snapshot_free(whole);
	return all;
}

void report_ranks_free(struct report_ranks *r)
{
	for (int i = 0; i < r->n; i++)
		tach_snapshot_free(r->list[i]);
	free(r->list);
	*r = (struct report_ranks){NULL, 0};
}
