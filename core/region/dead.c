/* SPDX-License-Identifier: MIT */
/*
 * Threads that ended without the destructor of thread.c: a thread began its first region in the
 * last round of destructors, or no key was available for the destructor. A thread that opens
 * later retires their records.
 */
#include <errno.h>
#include <sys/syscall.h>
#include "core/os/sys.h"
#include "core/region/left.h"
#include "core/region/region.h"

enum { RARELY = 8 }; /* minimum number of threads that open before the next check */

/* opened: number of threads that opened since the last check. look_after: the number that
 * triggers the next check. Access both with the lock held. */
static uint32_t opened, look_after;

/* Uses tkill(2), because a thread may be in another thread group that shares this memory. */
static int is_dead(const struct tach__thread *record)
{
	return TACH__GET(record->hot->record) &&
	       tach__sys(SYS_tkill, record->tid, 0, 0, 0, 0, 0) == -ESRCH;
}

/* Removes the records of dead threads from the list. Call it with the lock held. */
static struct tach__thread *claim_dead(void)
{
	struct tach__thread *dead = NULL, *record;
	uint32_t threads = 0;

	if (opened++ < look_after)
		return NULL;
	cds_list_for_each_entry(record, &tach__registry.threads, node)
	{
		threads++;
		if (!is_dead(record))
			continue;
		TACH__SET(record->hot->record, NULL);
		record->next = dead;
		dead = record;
	}
	opened = 0;
	look_after = threads > RARELY ? threads : RARELY;
	return dead;
}

/* Gives up all open entries. Their marks were on a stack that no longer exists. */
static void abandon_all(struct tach__thread *record)
{
	struct tach__hot *hot = record->hot;
	uint32_t top = TACH__LEVEL(hot->state);

	while (top > 0 && top < TACH__LEVELS) {
		struct tach__slot **stack = tach__stack(hot, --top), *slot = stack[1];

		tach__part_give_up(record, slot, stack[0], tach__part_at(record, slot, top));
		TACH__SET(hot->state, hot->state - 1);
		tach__slot_mend(record, slot);
	}
}

void tach__threads_reap(void)
{
	struct tach__thread *dead, *record;
	struct tach__held held;

	tach__lock(&held);
	dead = claim_dead();
	tach__unlock(&held);
	while ((record = dead)) {
		dead = record->next;
		tach__busy_unknown();
		tach__whole_end_dead(record);
		abandon_all(record);
		tach__trace_close(record);
		tach__thread_retire(record);
	}
}
