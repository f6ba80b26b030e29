/* SPDX-License-Identifier: MIT */
/*
 * Reads live threads of another process. Each thread is read once, into rows of its own, while
 * other threads begin and end. The result contains only threads of the last list. The totals
 * that were read with this list contain threads that ended before.
 */
#include <stdlib.h>
#include "core/snapshot/remote.h"

/* Limit for rows that threads have of their own, in bytes. Above it, rows of a thread are added
 * to the sum at once. */
#define KEPT (UINT64_C(64) << 20)

struct tach__remote_part {
	struct tach__remote_thread thread;
	struct tach__rows rows;
	uint64_t stale, size, memory; /* memory: bytes from tach__remote_reserve */
	enum { UNREAD, APART, ADDED } how;
};

static size_t list_size(void)
{
	return TACH__REMOTE_THREADS * sizeof(struct tach__remote_part);
}

int tach__remote_live_begin(struct tach__remote_live *l, struct tach__remote *r, uint32_t count)
{
	*l = (struct tach__remote_live){.remote = r};
	l->part = tach__pages(list_size());
	l->next = tach__pages(list_size());
	tach__rows_init(&l->rows, count);
	return l->part && l->next ? 0 : TACH_ERR_NOMEM;
}

static void drop(struct tach__remote_live *l, struct tach__remote_part *part)
{
	tach__rows_free(&part->rows);
	l->remote->memory -= part->memory;
	l->kept -= part->size;
	part->size = part->memory = part->stale = 0;
	part->how = UNREAD;
}

void tach__remote_live_free(struct tach__remote_live *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		drop(l, &l->part[i]);
	tach__rows_free(&l->rows);
	tach__pages_free(l->part, list_size());
	tach__pages_free(l->next, list_size());
	*l = (struct tach__remote_live){0};
}

void tach__remote_live_list(struct tach__remote_live *l)
{
	l->nnext = 0;
}

void tach__remote_live_put(struct tach__remote_live *l,
			   const struct tach__remote_thread *thread)
{
	l->next[l->nnext++] = (struct tach__remote_part){.thread = *thread};
}

static int by_address(const void *x, const void *y)
{
	const struct tach__remote_part *a = x, *b = y;

	return ((uintptr_t)a->thread.at > (uintptr_t)b->thread.at) -
	       ((uintptr_t)a->thread.at < (uintptr_t)b->thread.at);
}

static int is_same(const struct tach__remote_thread *a, const struct tach__remote_thread *b)
{
	return a->hot == b->hot && TACH__OPENING(a->state) == TACH__OPENING(b->state);
}

int tach__remote_live_follow(struct tach__remote_live *l)
{
	struct tach__remote_part *list = l->next;
	int code = 0;

	qsort(list, l->nnext, sizeof *list, by_address);
	for (uint32_t i = 0; i < l->n; i++) {
		struct tach__remote_part *old = &l->part[i];
		struct tach__remote_part *now =
			bsearch(old, list, l->nnext, sizeof *list, by_address);

		if (now && now->how == UNREAD && is_same(&now->thread, &old->thread)) {
			struct tach__remote_thread thread = now->thread;

			*now = *old;
			now->thread = thread;
			continue;
		}
		/* The sum already contains this thread, which cannot be subtracted. */
		if (old->how == ADDED)
			code = TACH__REMOTE_AGAIN;
		drop(l, old);
	}
	l->next = l->part;
	l->part = list;
	l->n = l->nnext;
	return code;
}

/* Returns an upper bound of the memory of the rows: one page for each row in use. */
static size_t size_of(const struct tach__rows *rows)
{
	size_t size = 0;

	for (uint32_t id = 0; id < rows->limit; id++)
		if (tach__row_is_used(tach__rows_row(rows, id)))
			size += 4096;
	return size < rows->size ? size : rows->size;
}

/* Returns the bytes that joining a and b will free: histograms and worst entries of rows for
 * which both have some. */
static uint64_t count_common(const struct tach__rows *a, const struct tach__rows *b)
{
	uint32_t limit = a->limit < b->limit ? a->limit : b->limit;
	uint64_t size = 0;

	for (uint32_t id = 0; id < limit; id++) {
		const struct tach__row *x = tach__rows_row(a, id), *y = tach__rows_row(b, id);

		if (x->histograms && y->histograms)
			size += tach__histograms_size(a->count + 1);
		if (x->worst && y->worst)
			size += tach__worst_size(x->worst->most, x->worst->sums);
	}
	return size;
}

/* Adds the rows of a part to `to`. The part then has no rows. */
static int add_part(struct tach__remote_live *l, struct tach__remote_part *part,
		    struct tach__rows *to)
{
	int code;

	l->remote->memory -= count_common(to, &part->rows);
	code = tach__rows_join(to, &part->rows);
	l->kept -= part->size;
	part->size = part->memory = 0;
	part->how = ADDED;
	return code;
}

static int part_read(struct tach__remote_live *l, struct tach__remote_part *part,
		     struct tach__config *config, uint32_t nsites)
{
	uint64_t memory = l->remote->memory;
	int code;

	tach__rows_init(&part->rows, config->count);
	code = tach__remote_thread(l->remote, &part->thread, config, &part->rows, nsites,
				   &part->stale);
	part->memory = l->remote->memory - memory;
	if (code) {
		drop(l, part);
		return code;
	}
	part->how = APART;
	part->size = size_of(&part->rows) + part->memory;
	l->kept += part->size;
	return l->kept <= KEPT ? 0 : add_part(l, part, &l->rows);
}

int tach__remote_live_read(struct tach__remote_live *l, struct tach__config *config,
			   uint32_t nsites, uint32_t *ended)
{
	*ended = 0;
	for (uint32_t i = 0; i < l->n; i++) {
		int code = 0;

		if (l->part[i].how == UNREAD)
			code = part_read(l, &l->part[i], config, nsites);
		if (code == TACH__REMOTE_AGAIN)
			++*ended;
		else if (code)
			return code;
	}
	return *ended ? TACH__REMOTE_AGAIN : 0;
}

int tach__remote_live_add(struct tach__remote_live *l, struct tach__rows *rows, uint64_t *stale)
{
	int code = tach__rows_join(rows, &l->rows);

	for (uint32_t i = 0; i < l->n && !code; i++) {
		*stale += l->part[i].stale;
		if (l->part[i].how == APART)
			code = add_part(l, &l->part[i], rows);
	}
	return code;
}
