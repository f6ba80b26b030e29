/* SPDX-License-Identifier: MIT */
/* Reads worst entries of another process: of a live thread, or of a row of ended threads. */
#include <stdlib.h>
#include "core/snapshot/remote.h"

enum { TRIES = 64 };

/* Copies worst entries, consistently by their sequence. Returns 1, 0 if they were being written
 * at each try, or a code below 0. */
static int copy_whole(struct tach__remote *r, const struct tach__worst *at,
		      struct tach__worst *copy, size_t size)
{
	uint64_t seq;

	for (int try = 0; try < TRIES; try++) {
		int code = tach__remote_get(r, at, &seq, sizeof seq);

		TACH__FENCE(__ATOMIC_SEQ_CST);
		if (!code)
			code = tach__remote_get(r, at, copy, size);
		TACH__FENCE(__ATOMIC_SEQ_CST);
		if (!code && copy->seq == seq && !(seq & 1))
			code = tach__remote_get(r, at, &seq, sizeof seq);
		else if (!code)
			continue;
		if (code)
			return code < 0 ? code : -TACH__REMOTE_AGAIN;
		if (copy->seq == seq)
			return 1;
	}
	return 0;
}

/* Uses the numbers in `head`, which were checked, instead of the numbers in the copy. */
static int take_worst(struct tach__remote *r, const struct tach__worst *at,
		      const struct tach__worst *head, const struct tach__thread *record,
		      struct tach__row *row)
{
	size_t size = tach__worst_size(head->most, head->sums);
	struct tach__worst *copy = calloc(
		1, size); /* malloc instead of pages, because each region needs and frees it */
	int how = copy ? copy_whole(r, at, copy, size) : TACH_ERR_NOMEM;

	if (copy) {
		copy->most = head->most;
		copy->sums = head->sums;
	}
	if (how == 0)
		row->flags |= TACH_FLAG_STALE;
	if (how == 1 && copy->n <= copy->most)
		tach__worst_merge(row->worst, copy, record);
	free(copy);
	return how == -TACH__REMOTE_AGAIN ? TACH__REMOTE_AGAIN : how < 0 ? how : 0;
}

int tach__remote_worst(struct tach__remote *r, const struct tach__worst *at,
		       const struct tach__config *config, const struct tach__thread *record,
		       struct tach__row *row)
{
	struct tach__worst head;
	int code;

	if (!at || !config->worst)
		return 0;
	code = tach__remote_get(r, at, &head, sizeof head);
	/* Ignore lists of another length. A thread that has only the clock has one sum. */
	if (code || head.most != config->worst ||
	    (head.sums != config->count + 1 && head.sums != 1))
		return code;
	if (!row->worst) {
		code = tach__remote_reserve(r,
					    tach__worst_size(config->worst, config->count + 1));
		if (code)
			return code;
		row->worst = tach__worst_make(config->worst, config->count + 1);
	}
	return row->worst ? take_worst(r, at, &head, record, row) : TACH_ERR_NOMEM;
}
