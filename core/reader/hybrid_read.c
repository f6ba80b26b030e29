/* SPDX-License-Identifier: MIT */
/*
 * Reads a hybrid: the counting group from its pages, the other groups from the bank.
 *
 * Counts only grow. So if all values are read between two moments, in any order, their sum is
 * between the sums at these moments: no count is lost or doubled. A bank that was taken earlier
 * must still be valid, which the leader's lock shows. Signal handlers may read between any two
 * instructions here, except while the bank is written. So no handler sees a half-written bank.
 * Two banks with the same key are equal.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include "core/reader/hybrid.h"
#include "core/os/sys.h"

enum { TRIES = 8 };

#define BARRIER() __asm__ volatile("" ::: "memory")

static const struct perf_event_mmap_page *leader(const struct tach__core *core)
{
	return core->way[core->group.member[0]].page;
}

/* Returns the core whose group counts: only its pages have an index. -1: use read(2). */
static int find_counting_core(const struct tach__hybrid *h)
{
	for (int k = 0; k < h->n; k++)
		if (h->core[k].group.count && TACH_PAGE_LOAD(leader(&h->core[k]), index))
			return k;
	return -1;
}

/* Reads one group by read(2). */
static int read_core(struct tach__reader *r, int core, struct tach__group_read *now)
{
	const struct tach__group *g = &r->hybrid->core[core].group;

	return g == r->topdown.group ? tach__topdown_group(r, now) : tach__group_read(g, now);
}

/* Reads all groups except `core`'s into the bank, which is valid while `core`'s lock equals
 * `key`. */
static int take_bank(struct tach__reader *r, int core, uint64_t key)
{
	struct tach__hybrid *h = r->hybrid;
	uint64_t bank[TACH_COUNTERS_MAX] = {0}, running = 0;
	struct tach__group_read now;
	sigset_t before;

	for (int k = 0; k < h->n; k++) {
		const struct tach__group *g = &h->core[k].group;

		if (k == core || !g->count)
			continue;
		if (read_core(r, k, &now) <= 0)
			return 0;
		for (int i = 0; i < g->count; i++)
			bank[g->member[i]] += now.value[i];
		running += now.running;
	}
	tach__signals_hold(&before);
	memcpy(h->bank, bank, sizeof bank);
	h->bank_running = running;
	h->looks += 2;
	h->key = key;
	tach__signals_release(&before);
	return 1;
}

/* Notes the lag of the counting core. If it has grown, no core type counted during the
 * difference, so all known lags grow by it. */
static void note(struct tach__hybrid *h, int core, int64_t lag)
{
	int64_t *known = &h->core[core].lag;

	if (lag < *known) { /* there is no difference if *known is INT64_MAX */
		*known = lag;
	} else if (lag > *known) {
		int64_t more = lag - *known;

		for (int k = 0; k < h->n; k++)
			if (h->core[k].lag != INT64_MAX)
				h->core[k].lag += more;
		h->grown = h->looks;
	}
	h->noted = h->looks;
}

/* Sums of all members, the number of their bank, and the error of metrics in slots. */
struct sums {
	uint64_t value[TACH_COUNTERS_MAX];
	uint32_t looks;
	uint64_t error, behind;
};

enum when { BEGIN, END, BETWEEN };

/* Adds the group with metrics while its core type counts. Returns 0 if read(2) is needed. */
static int add_topdown(struct tach__reader *r, enum when when, struct sums *sums)
{
	const struct tach__group *g = r->topdown.group;
	struct tach__look l;

	if (when == BEGIN ? tach__topdown_look_afresh(r, &l) <= 0 : !tach__topdown_look(r, &l))
		return 0;
	if (when == END)
		tach__topdown_check(r, &l);
	for (int i = 0; i < g->count; i++)
		sums->value[g->member[i]] += l.count[g->member[i]];
	sums->error = l.error;
	sums->behind = l.behind;
	return l.flags == 0;
}

static int add_pages(const struct tach__core *core, struct sums *sums)
{
	const struct tach__group *g = &core->group;
	uint64_t value = 0;
	uint32_t ignored;

	for (int i = 0; i < g->count; i++) {
		if (!tach__sum(core->way[g->member[i]], TACH__BY_WIDTH, &value, &ignored))
			return 0;
		sums->value[g->member[i]] += value;
	}
	return 1;
}

/*
 * Computes the error of metrics whose core type does not count, from the counts since the last
 * reset.
 */
static void doubt(const struct tach__reader *r, struct sums *sums)
{
	const struct tach__topdown *t = &r->topdown;
	uint32_t lock;

	if (!t->on)
		return;
	lock = TACH_PAGE_LOAD(t->way[t->group->member[0]].page, lock);
	sums->error = tach__topdown_unknown(t->after, lock - t->lock);
	sums->behind = t->behind;
}

/* Returns the core that counts, or -1 if read(2) is needed. */
static int sum_pages(struct tach__reader *r, enum when when, struct sums *sums)
{
	struct tach__hybrid *h = r->hybrid;

	for (int tries = 0; tries < TRIES; tries++) {
		const struct perf_event_mmap_page *page;
		int k = find_counting_core(h), added;
		uint32_t lock;
		uint64_t key;
		int64_t lag;

		if (k < 0)
			break;
		page = leader(&h->core[k]);
		lock = TACH_PAGE_LOAD(page, lock);
		key = (uint64_t)(k + 1) << 32 | lock;
		if (h->key != key && !take_bank(r, k, key))
			break;
		memcpy(sums->value, h->bank, sizeof h->bank);
		doubt(r, sums);
		added = &h->core[k].group == r->topdown.group ? add_topdown(r, when, sums)
							      : add_pages(&h->core[k], sums);
		if (!added) {
			/*
			 * If another reader reset the metrics, only read(2) gives their counts.
			 * If the page has no index, the thread was moved before the lock was
			 * read.
			 */
			if (TACH_PAGE_LOAD(page, lock) == lock && TACH_PAGE_LOAD(page, index))
				break;
			continue;
		}
		lag = (int64_t)(TACH_PAGE_LOAD(page, time_enabled) -
				TACH_PAGE_LOAD(page, time_running) - h->bank_running);
		sums->looks = h->looks;
		BARRIER();
		if (TACH_PAGE_LOAD(page, lock) != lock || h->key != key)
			continue;
		if (h->noted != sums->looks)
			note(h, k, lag);
		return k;
	}
	return -1;
}

/*
 * Reads all groups by read(2). The first group gives the enabled time. `downwards` reads it
 * last, for a begin; otherwise it is read first, before all running times. So the difference
 * between two reads never shows more time without counters than there was.
 */
int tach__hybrid_read_groups(struct tach__reader *r, int downwards, struct tach__group_read *to)
{
	const struct tach__hybrid *h = r->hybrid;
	struct tach__group_read now;

	memset(to, 0, sizeof *to);
	for (int i = 0; i < h->n; i++) {
		int k = downwards ? h->n - 1 - i : i, state;
		const struct tach__group *g = &h->core[k].group;

		if (!g->count)
			continue;
		state = read_core(r, k, &now);
		if (state <= 0)
			return state;
		for (int m = 0; m < g->count; m++)
			to->value[g->member[m]] += now.value[m];
		to->running += now.running;
		if (k == h->first)
			to->enabled = now.enabled;
	}
	return 1;
}

/* Makes all lags unknown, until a page of the group is read again. */
static void forget_lags(struct tach__hybrid *h)
{
	for (int k = 0; k < h->n; k++)
		h->core[k].lag = INT64_MAX;
}

/* Reads all groups. Enables groups in error state again; regions that are open then are
 * incomplete. */
static int groups_or_recover(struct tach__reader *r, int downwards, struct tach__group_read *to)
{
	int state = tach__hybrid_read_groups(r, downwards, to);
	struct tach__hybrid *h = r->hybrid;

	if (state != 0)
		return state;
	for (int k = 0; k < h->n; k++)
		if (h->core[k].group.count && read_core(r, k, to) == 0 &&
		    tach__sys(SYS_ioctl, h->core[k].group.leader, PERF_EVENT_IOC_ENABLE, 0, 0,
			      0, 0) != 0)
			return 0;
	state = tach__hybrid_read_groups(r, downwards, to);
	if (state > 0) {
		/*
		 * Enabling a group changes its lock, so the next read takes a bank, which gets
		 * this number.
		 */
		h->grown = h->looks + 2;
		forget_lags(h);
	}
	return state;
}

/*
 * Sets the first lag of each group. The groups were enabled one after the other, so their lags
 * differ by constants. A group's exact lag is known only when the group counts. Until then, the
 * lag here is too high by the time since the kernel wrote the page of the counting group. So if
 * the thread is moved to this group, and for a shorter time no group counted, that is not
 * detected.
 */
void tach__hybrid_settle(struct tach__reader *r)
{
	struct tach__hybrid *h = r->hybrid;
	struct tach__group_read now;
	struct sums sums;
	int core;

	forget_lags(h);
	core = sum_pages(r, BETWEEN, &sums);
	for (int k = 0; core >= 0 && k < h->n; k++)
		if (k != core && h->core[k].group.count && read_core(r, k, &now) > 0)
			h->core[k].lag =
				(int64_t)(now.enabled - h->bank_running -
					  TACH_PAGE_LOAD(leader(&h->core[core]), time_running));
}

void tach__hybrid_begin(struct tach__reader *r, struct tach_mark *mark, unsigned n)
{
	struct tach__hybrid *h = r->hybrid;
	struct tach__group_read now;
	const uint64_t *from;
	struct sums sums;

	if (sum_pages(r, BEGIN, &sums) >= 0) {
		mark->lock = sums.looks | 1;
		mark->enabled = sums.error;
		mark->running = sums.behind;
		from = sums.value;
	} else {
		mark->flags |= TACH_FLAG_SYSCALL;
		if (groups_or_recover(r, 1, &now) <= 0) {
			mark->flags |= TACH_FLAG_LOST;
			return;
		}
		mark->enabled = now.enabled;
		mark->running = now.running;
		from = now.value;
	}
	for (unsigned i = 0; i < n; i++)
		if (h->members >> i & 1)
			mark->value[i] = from[i];
}

/*
 * Returns the flags of a region whose ends were both read by pages. If the thread was moved, a
 * member that some core types do not count is incomplete.
 */
static uint32_t since(const struct tach__hybrid *h, int core, uint32_t looks, uint32_t begun)
{
	uint32_t flags = 0, here = h->core[core].members;

	if (looks != begun) {
		flags = (int32_t)(h->grown - begun) > 0 ? TACH_FLAG_INCOMPLETE
							: TACH_FLAG_RESCHEDULED;
		for (int k = 0; k < h->n; k++)
			here &= h->core[k].members;
	}
	return here != h->members ? flags | TACH_FLAG_INCOMPLETE : flags;
}

/* Returns the flags of a region whose begin was read by pages and whose end by read(2). */
static uint32_t flags_of_mixed_ends(const struct tach__hybrid *h,
				    const struct tach__group_read *now, uint32_t begun)
{
	int64_t lag = (int64_t)(now->enabled - now->running);

	return TACH_FLAG_MIXED | ((int32_t)(h->grown - begun) > 0 || lag > h->core[h->first].lag
					  ? TACH_FLAG_INCOMPLETE
					  : TACH_FLAG_RESCHEDULED);
}

/*
 * Sets the error of metrics. If the begin was read by read(2), this is the error of the end
 * plus that for all slots of the region.
 */
static void settle_topdown(struct tach__reader *r, const struct tach_mark *mark, int paged,
			   const struct sums *end, uint64_t *delta, unsigned n)
{
	unsigned leader = r->topdown.on ? r->topdown.group->member[0] : n;
	uint64_t error;

	if (leader >= n)
		return;
	error = end->error + (paged ? mark->enabled + end->behind - mark->running
				    : tach__topdown_unknown(delta[leader], 4));
	tach__topdown_settle(r, mark, error, end->value, delta, n);
}

uint32_t tach__hybrid_end(struct tach__reader *r, const struct tach_mark *mark, uint64_t *delta,
			  unsigned n)
{
	int paged = !(mark->flags & TACH_FLAG_SYSCALL), core = -1;
	struct tach__hybrid *h = r->hybrid;
	struct tach__group_read now;
	uint32_t flags, begun = mark->lock & ~1u;
	struct sums sums;

	if (paged)
		core = sum_pages(r, END, &sums);
	if (core >= 0) {
		flags = since(h, core, sums.looks, begun);
	} else {
		if (tach__hybrid_read_groups(r, 0, &now) <= 0)
			return TACH_FLAG_LOST;
		memcpy(sums.value, now.value, sizeof sums.value);
		doubt(r, &sums);
		flags = TACH_FLAG_SYSCALL | (paged ? flags_of_mixed_ends(h, &now, begun) : 0);
	}
	for (unsigned i = 0; i < n; i++) /* the caller then sets members of other kinds */
		delta[i] = sums.value[i] - mark->value[i];
	settle_topdown(r, mark, paged, &sums, delta, n);
	if (!paged)
		flags |= tach__scale(r, mark, &now, n, delta);
	return flags;
}

uint32_t tach__hybrid_read(struct tach__reader *r, uint64_t *all)
{
	struct tach__group_read now;
	struct sums sums;
	uint32_t flags = 0;

	if (sum_pages(r, BETWEEN, &sums) < 0) {
		if (groups_or_recover(r, 0, &now) <= 0)
			return TACH_FLAG_SYSCALL | TACH_FLAG_LOST;
		flags = TACH_FLAG_SYSCALL |
			(now.enabled > now.running ? TACH_FLAG_INCOMPLETE : 0);
		memcpy(sums.value, now.value, sizeof sums.value);
		doubt(r, &sums);
	}
	if (r->topdown.on)
		tach__topdown_show(r, sums.error + sums.behind, sums.value);
	memcpy(all, sums.value, sizeof sums.value);
	return flags;
}
