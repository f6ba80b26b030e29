/* SPDX-License-Identifier: MIT */
/* Regions of a group with top-down metrics: core/reader/topdown.h. */
#include "core/reader/reader.h"
#include "core/reader/topdown.h"

#define SET(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)

/* Reads the counts in user space if possible, otherwise by read(2). Returns 0 if neither
 * works. */
static int count(struct tach__reader *r, struct tach__look *l)
{
	return tach__topdown_look(r, l) || tach__topdown_set_back(r, l) > 0;
}

/* Reads again. If the enabled time did not advance, the events are turned off, as in
 * tach__turned_off. */
static uint32_t stands_still(struct tach__reader *r, struct tach__look *l)
{
	uint64_t enabled = l->enabled;
	struct tach__look again;

	if (tach__topdown_set_back(r, &again) <= 0)
		return 0;
	*l = again;
	return again.enabled == enabled ? TACH_FLAG_INCOMPLETE : 0;
}

void tach__topdown_begin(struct tach__reader *r, struct tach_mark *mark, unsigned n)
{
	const struct tach__group *g = r->topdown.group;
	struct tach__look l;
	int state = tach__topdown_look_afresh(r, &l);

	if (state < 0) {
		mark->flags |= TACH_FLAG_LOST;
		return;
	}
	if (state == 0 && r->hot.fast)
		mark->flags |= stands_still(r, &l);
	mark->flags |= l.flags;
	mark->lock = l.lock | 1;
	for (int i = 0; i < g->count; i++)
		if (g->member[i] < n)
			mark->value[g->member[i]] = l.count[g->member[i]];
	/* After read(2), the mark stores the enabled time; otherwise the error of this read. */
	mark->enabled = l.flags ? l.enabled : l.error;
	mark->running = l.flags ? l.running : l.behind;
}

void tach__topdown_settle(struct tach__reader *r, const struct tach_mark *mark, uint64_t error,
			  const uint64_t *value, uint64_t *delta, unsigned n)
{
	const struct tach__topdown *t = &r->topdown;

	SET(r->topdown.error, error);
	for (unsigned m = 0; m < n; m++)
		if (tach__topdown_has(t, (int)m) &&
		    mark->value[m] - value[m] <= error * tach__topdown_steps(t, (int)m))
			delta[m] = 0;
}

static uint32_t difference(struct tach__reader *r, const struct tach_mark *mark, uint64_t error,
			   const struct tach__look *l, uint64_t *delta, unsigned n)
{
	const struct tach__group *g = r->topdown.group;
	uint32_t flags = 0;

	for (int i = 0; i < g->count; i++)
		if (g->member[i] < n)
			delta[g->member[i]] =
				l->count[g->member[i]] - mark->value[g->member[i]];
	tach__topdown_settle(r, mark, error, l->count, delta, n);
	/* If a difference is more than was counted since opening, the events were reset. */
	for (int i = 0; i < g->count; i++)
		if (g->member[i] < n && delta[g->member[i]] > l->count[g->member[i]])
			flags = TACH_FLAG_LOST;
	return flags;
}

uint32_t tach__topdown_end(struct tach__reader *r, const struct tach_mark *mark,
			   uint64_t *delta, unsigned n)
{
	uint32_t flags, by_read = mark->flags & TACH_FLAG_SYSCALL, begun = mark->lock & ~1u;
	int leader = r->topdown.group->member[0];
	struct tach__look l;
	uint64_t error;

	if (!count(r, &l))
		return TACH_FLAG_LOST;
	flags = tach__reader_since(r, begun);
	tach__topdown_check(r, &l);
	error = l.error +
		(by_read ? tach__topdown_unknown(l.count[leader] - mark->value[leader],
						 l.lock - begun)
			 : mark->enabled + l.behind - mark->running);
	if (l.flags && !by_read)
		flags |= stands_still(r, &l);
	if (by_read | l.flags)
		flags = (flags & TACH_FLAG_INCOMPLETE) | TACH_FLAG_SYSCALL |
			(by_read != l.flags ? TACH_FLAG_MIXED : 0);
	flags |= mark->flags & TACH_FLAG_INCOMPLETE;
	flags |= difference(r, mark, error, &l, delta, n);
	if (by_read && l.flags) {
		struct tach__group_read now = {.enabled = l.enabled, .running = l.running};

		flags |= tach__scale(r, mark, &now, n, delta);
	}
	return flags;
}

void tach__topdown_show(struct tach__reader *r, uint64_t error, uint64_t *value)
{
	struct tach__topdown *t = &r->topdown;

	for (int m = 0; m < TACH_COUNTERS_MAX; m++) {
		if (!tach__topdown_has(t, m))
			continue;
		if (value[m] < t->shown[m])
			value[m] = t->shown[m];
		t->shown[m] = value[m];
	}
	SET(t->error, error);
}

uint32_t tach__topdown_read(struct tach__reader *r, uint64_t *all)
{
	const struct tach__group *g = r->topdown.group;
	struct tach__look l;

	if (!count(r, &l))
		return TACH_FLAG_SYSCALL | TACH_FLAG_LOST;
	for (int i = 0; i < g->count; i++)
		all[g->member[i]] = l.count[g->member[i]];
	tach__topdown_show(r, l.error + l.behind, all);
	if (l.flags && l.enabled != l.running)
		l.flags |= TACH_FLAG_INCOMPLETE;
	return l.flags;
}

void tach__topdown_start(struct tach__reader *r)
{
	struct tach__group_read now;

	tach__topdown_group(r, &now);
	SET(r->topdown.behind, (uint64_t)0);
}
