/* SPDX-License-Identifier: MIT */
/*
 * Processor time of threads without a region. Edges make no system call, so this time is known
 * only for the period from the first START to a snapshot. If regions were open for at least
 * half of that period, the time is assumed to be spread evenly.
 */
#include <string.h>
#include <time.h>
#include "core/os/clock.h"
#include "core/region/region.h"

enum { LEAST = 10000000 }; /* minimum time in ns that is reported */

/* Access it with the registry's lock held. */
static struct {
	int64_t before; /* ns of the other threads when the first thread opened */
	int64_t ended;	/* ns of the ended threads that had regions */
	uint64_t begun; /* clock ticks when the first thread opened; 0: no thread has opened */
	int unknown;
} busy;

/* Returns nanoseconds, or -1 if the clock cannot be read. */
static int64_t read_cpu(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) == 0 ? t.tv_sec * INT64_C(1000000000) + t.tv_nsec : -1;
}

/* The clock of a thread of this process: include/linux/posix-timers.h, CPUCLOCK_PERTHREAD. */
static int64_t read_thread(pid_t tid)
{
	return read_cpu((clockid_t)(~(unsigned)tid << 3 | 6));
}

void tach__busy_begin(void)
{
	int64_t process, own;
	struct tach__held held;

	if (TACH__GET(busy.begun))
		return;
	own = read_cpu(CLOCK_THREAD_CPUTIME_ID);
	process = read_cpu(CLOCK_PROCESS_CPUTIME_ID);
	tach__lock(&held);
	if (!busy.begun) {
		busy.before = process - own;
		busy.unknown |= process < 0 || own < 0;
		TACH__SET(busy.begun, (uint64_t)tach_clock() | 1);
	}
	tach__unlock(&held);
}

void tach__busy_forget(void)
{
	memset(&busy, 0, sizeof busy);
}

void tach__busy_unknown(void)
{
	struct tach__held held;

	tach__lock(&held);
	busy.unknown = 1;
	tach__unlock(&held);
}

/*
 * Returns 1 if the thread entered a region other than the one for the whole thread. Sums up the
 * ticks of outermost regions.
 */
static int has_regions(const struct tach__thread *record, uint64_t *open)
{
	uint32_t limit = __atomic_load_n(&record->limit, __ATOMIC_ACQUIRE);
	const struct tach__slot *around = record->outside, *whole = NULL;
	int found = 0;

	if (__atomic_load_n(&record->whole.open, __ATOMIC_ACQUIRE) && record->whole.mark.part)
		around = whole = tach__slot_of(record, record->whole.mark.part);
	for (uint32_t id = TACH__SITE_FIRST; id < limit && !found; id++) {
		const struct tach__slot *slot = TACH__GET(tach__table(record->hot)[id]);

		found = slot != &tach__slot_unready.slot && slot != whole;
	}
	*open = TACH__GET(tach__children(around, record->count, 1)->sum[0]);
	return found;
}

void tach__busy_end(struct tach__thread *record)
{
	uint64_t open;

	if (has_regions(record, &open))
		TACH__SET(record->cpu, read_cpu(CLOCK_THREAD_CPUTIME_ID));
}

void tach__busy_fold(struct tach__thread *record)
{
	busy.ended += record->cpu;
	busy.unknown |= record->cpu < 0;
	TACH__SET(record->cpu, (int64_t)0);
}

/* Call it before tach__busy_add. If a thread runs between the two reads, the other threads
 * then seem less busy, not busier. */
void tach__busy_look(struct tach__busy *to)
{
	to->process = read_cpu(CLOCK_PROCESS_CPUTIME_ID);
	to->unknown = to->process < 0;
}

void tach__busy_add(struct tach__busy *to, struct tach__thread *record)
{
	int64_t own = TACH__GET(record->cpu);
	uint64_t open = 0;

	if (own == 0) {
		if (!TACH__GET(record->hot->record) || !has_regions(record, &open))
			return;
		own = read_thread(record->tid);
	}
	to->threads += own;
	to->unknown |= own < 0;
	to->open = open > to->open ? open : to->open;
}

int tach__busy_others(const struct tach__busy *from, double hz)
{
	double in_regions, all, others;
	struct tach__held held;

	tach__lock(&held);
	others = (double)(from->process - busy.before - from->threads - busy.ended);
	all = busy.begun ? 1e9 * (double)(tach_clock() - busy.begun) / hz : 0;
	in_regions = busy.unknown || from->unknown ? 0 : 1e9 * (double)from->open / hz;
	tach__unlock(&held);
	return hz > 0 && all > 0 && in_regions >= all / 2 && others > LEAST &&
	       others > (double)(from->threads + busy.ended) / 10;
}
