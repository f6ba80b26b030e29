/* SPDX-License-Identifier: MIT */
/* The cost of slow paths: the trials that measure it; the thread's state does not change. */
#include <string.h>
#include "core/os/stack.h"
#include "core/os/sys.h"
#include "core/region/trial.h"
#include "tests/check.h"

/* Scripted results of each trial, normally and with the poked value. */
static struct told {
	void (*trial)(const struct tach__poke *);
	const void *at;
	uint64_t usual, other;
	const uint32_t *ids;
	int shown;
	uint64_t costs; /* extra cost of the poked value; half of it for the clock */
	int ran[2];
} told[20];
static int ntold, strays;

static union tach__slot_copy empty_slot;
static struct tach__slot *sim_slot_at(const struct tach__thread *of, uint32_t id)
{
	CHECK(of && id == TACH__SITE_EMPTY);
	return &empty_slot.slot;
}

/* Values of the outer region around these, in addition to 10000 for each counter. */
static const struct around {
	void (*trial)(const struct tach__poke *);
	int is_fenced, task, pokes;
	uint64_t times, shows;
} scripts[] = {
	{tach__trial_pair, 0, 0, 0, 1, 66},
	/* A task's segment shows 19 less than another region. */
	{tach__trial_pair, 0, 1, 0, 1, 47},
	{tach__trial_pair_fenced, 1, 0, 0, 1, 70},
	{tach__trial_overlap, 0, 0, 0, 1, 66},
	{tach__trial_overlap_fenced, 1, 0, 0, 1, 72},
	{tach__trial_ready, 0, 0, 0, 1, 95},
	{tach__trial_add, 0, 0, 0, 1, 200},
	{tach__trial_spent, 0, 0, 0, 3, 600},
	{tach__trial_spent_fenced, 1, 0, 0, 3, 650},
	{tach__trial_below, 0, 0, 0, 1, 150},
	{tach__trial_below_fenced, 1, 0, 0, 1, 160},
	{tach__trial_above, 0, 0, 0, 2, 205},
	{tach__trial_above_fenced, 1, 0, 0, 2, 221},
	{tach__trial_task_begin, 0, 1, 0, 1, 301},
	{tach__trial_task_resume, 0, 1, 0, 1, 401},
	{tach__trial_task_segment, 0, 1, 0, 3, 1001},
	{tach__trial_task_end, 0, 1, 0, 1, 501},
	{tach__trial_task_end, 0, 1, 1, 1, 701},
};

static void sim_run(const struct tach__trials *r, void (*trial)(const struct tach__poke *),
		    const struct tach__poke *poke, const uint32_t *ids)
{
	CHECK(r->warm == 1 && r->tries == 9);
	memset(r->shown, 0x11, sizeof *r->shown);
	for (uint32_t i = 0; i <= r->record->count && !poke; i++) {
		/* A plain region shows 5. */
		r->shown->sum[TACH__TRIAL_INNER][i][4] = 5;
		r->shown->sum[TACH__TRIAL_OUTER][i][4] = 10000 * i + 66;
	}
	for (int k = 0; k < (int)(sizeof scripts / sizeof *scripts); k++) {
		const struct around *a = &scripts[k];

		if (a->trial != trial || a->task != empty_slot.slot.task || a->pokes != !!poke)
			continue;
		CHECK(ids == (a->is_fenced ? tach__trial_fenced_ids : tach__trial_ids));
		CHECK(!poke || *poke->at >= UINT64_C(1) << 40);
		for (uint32_t i = 0; i <= r->record->count; i++)
			r->shown->sum[TACH__TRIAL_OUTER][i][4] =
				a->times * 10000 * i + a->shows;
	}
	for (int k = 0; poke && k < ntold; k++) {
		const struct told *t = &told[k];
		int other = poke->value == t->other;

		if (t->trial != trial || t->at != (const void *)poke->at ||
		    (!other && poke->value != t->usual))
			continue;
		told[k].ran[other]++;
		CHECK(!t->ids || t->ids == ids);
		for (uint32_t i = 0; i <= r->record->count; i++)
			r->shown->sum[t->shown][i][4] =
				1000 * i + 7 + (other ? t->costs + 10000 * i : 0);
	}
	strays += r->shown->sum[0][0][4] == 0x1111111111111111u &&
		  r->shown->sum[1][0][4] == 0x1111111111111111u &&
		  r->shown->sum[2][0][4] == 0x1111111111111111u;
}

static int locked;
static void sim_lock(struct tach__held *held)
{
	CHECK(held && !locked++);
}

static void sim_unlock(const struct tach__held *held)
{
	CHECK(held && locked-- == 1);
}

static struct tach__shown shown;
static int no_begin, no_stack, begun;
static uintptr_t their;

static int sim_begin(struct tach__trials *trials, struct tach__thread *record)
{
	begun += !no_begin;
	*trials = (struct tach__trials){.record = record, .shown = &shown};
	their = (uintptr_t)trials;
	return !no_begin;
}

static void sim_end(const struct tach__trials *trials)
{
	CHECK((uintptr_t)trials == their);
	begun--;
}

static const void *freed;
static size_t freed_size;
static void sim_free(void *at, size_t size)
{
	freed = at;
	freed_size = size;
}

static int sim_own_stack(int (*f)(void *), void *arg)
{
	return no_stack ? TACH_ERR_NOMEM : f(arg);
}

#define tach__slot_at	   sim_slot_at
#define tach__trials_run   sim_run
#define tach__lock	   sim_lock
#define tach__unlock	   sim_unlock
#define tach__trials_begin sim_begin
#define tach__trials_end   sim_end
#define tach__pages_free   sim_free
#define tach__on_own_stack sim_own_stack
#include "core/region/residue.c"

enum { COUNT = 2 };
static struct tach__thread *record;
static struct tach__config config;

static void tell(void (*trial)(const struct tach__poke *), const volatile void *at,
		 uint64_t usual, uint64_t other, const uint32_t *ids, int region,
		 uint64_t costs)
{
	told[ntold++] =
		(struct told){trial, (const void *)at, usual, other, ids, region, costs, {0}};
}

static void begin(void)
{
	struct tach__hot *hot;
	struct tach__slot **table;
	uint64_t unready = (uintptr_t)&tach__slot_unready;

	if (!record)
		record = tach__record_take(512);
	hot = record->hot;
	table = tach__table(hot);
	memset(&config, 0, sizeof config);
	memset(&record->residue, 0x22, sizeof record->residue);
	record->config = &config;
	record->count = config.count = COUNT;
	record->limit = 64;
	record->residue_known = 0;
	ntold = strays = 0;
	table[TACH__SITE_EMPTY] = (struct tach__slot *)(uintptr_t)16;
	table[TACH__SITE_FENCED] = (struct tach__slot *)(uintptr_t)32;
	for (int e = 0; e < 2; e++) { /* the page of the leader or of another member changed */
		uint64_t moved = (uint64_t)2 << 32 * e, stale = (uint64_t)1 << 32 * e,
			 more = 100 * (uint64_t)e;

		tell(tach__trial_moved, NULL, 0, moved, tach__trial_ids, TACH__TRIAL_INNER,
		     more + 3);
		tell(tach__trial_moved_fenced, NULL, 0, moved, tach__trial_fenced_ids,
		     TACH__TRIAL_INNER, more + 5);
		tell(tach__trial_moved, NULL, 0, moved, NULL, TACH__TRIAL_OUTER, more + 11);
		tell(tach__trial_moved_fenced, NULL, 0, moved, NULL, TACH__TRIAL_OUTER,
		     more + 13);
		tell(tach__trial_stale, &hot->since, 0, stale, NULL, TACH__TRIAL_OUTER,
		     more + 47);
		tell(tach__trial_stale_fenced, &hot->since, 0, stale, NULL, TACH__TRIAL_OUTER,
		     more + 53);
	}
	tell(tach__trial_one, &hot->limit, 64, 0, NULL, TACH__TRIAL_OUTER, 170);
	tell(tach__trial_two, &hot->limit, 64, 0, NULL, TACH__TRIAL_OUTER, 290);
	tell(tach__trial_one_fenced, &hot->limit, 64, 0, NULL, TACH__TRIAL_OUTER, 23);
	tell(tach__trial_one, &table[TACH__SITE_EMPTY], 16, unready, NULL, TACH__TRIAL_OUTER,
	     29);
	tell(tach__trial_one_fenced, &table[TACH__SITE_FENCED], 32, unready, NULL,
	     TACH__TRIAL_OUTER, 31);
	tell(tach__trial_three_fenced, &hot->limit, 64, 0, tach__trial_fenced_ids,
	     TACH__TRIAL_MIDDLE, 37);
	tell(tach__trial_three, &hot->limit, 64, 0, NULL, TACH__TRIAL_OUTER, 41);
	tell(tach__trial_three_fenced, &hot->limit, 64, 0, NULL, TACH__TRIAL_OUTER, 43);
}

static int is(const uint64_t *sums, uint64_t costs)
{
	for (uint64_t i = 0; i <= COUNT; i++)
		if (sums[i] != costs + 10000 * i)
			return 0;
	return sums[COUNT + 1] == 0;
}

static int is_known(const struct tach__residue *r)
{
	/* The extra cost for two STARTs: 290 - 170; the STOP's is 170 minus that. */
	for (uint64_t i = 0; i <= COUNT; i++)
		CHECK(r->begin[0][0][i] == 120 && r->before[0][i] == 50 + 10000 * i);
	CHECK(r->begin[0][0][COUNT + 1] == 0 && r->before[0][COUNT + 1] == 0);
	CHECK(is(r->begin[0][1], 23) && is(r->begin[1][0], 29) && is(r->begin[1][1], 31));
	CHECK(is(r->start[0], 61) && is(r->start[1], 67));
	CHECK(is(r->aside, 90) && is(r->spent[0], 339) && is(r->spent[1], 385));
	CHECK(is(r->recursion[0], 55) && is(r->recursion[1], 61));
	CHECK(is(r->task[TACH__TASK_BEGIN], 296) && is(r->task[TACH__TASK_RESUME], 396));
	/* The segment and the call before it are subtracted. */
	CHECK(is(r->task[TACH__TASK_SUSPEND], 1001 - 47 - 396));
	CHECK(is(r->task[TACH__TASK_SUSPEND_FAST], 1001 - 66 - 396));
	CHECK(is(r->task[TACH__TASK_END], 496) && is(r->task[TACH__TASK_END_KEPT], 696));
	CHECK(empty_slot.slot.task == 0);
	CHECK(is(r->before[1], 37) && is(r->after[0], 41) && is(r->after[1], 43));
	for (int e = 0; e < 2; e++) {
		uint64_t more = 100 * (uint64_t)e;

		CHECK(is(r->again[e][0], more + 3) && is(r->again[e][1], more + 5));
		CHECK(is(r->rescheduled[e][0], more + 11) &&
		      is(r->rescheduled[e][1], more + 13));
		CHECK(is(r->stale[e][0], more + 47) && is(r->stale[e][1], more + 53));
	}
	return 1;
}

static void every_residue_is_measured(void)
{
	struct tach__trials trials;

	begin();
	trials =
		(struct tach__trials){.record = record, .shown = &shown, .warm = 9, .tries = 9};
	tach__residue_measure(&trials);
	CHECK(is_known(&record->residue) && strays == 0 && record->residue_known == 1);
	for (int k = 0; k < ntold; k++)
		/*
		 * Changed pages are tested in two ways, and each trial also runs without a
		 * change.
		 */
		CHECK(told[k].ran[1] && told[k].ran[0] == (k < 12 ? 2 : 1) * told[k].ran[1],
		      "%d", k);
	CHECK(trials.warm == 9 && trials.tries == 9);
	/* The set stores the result. */
	CHECK(config.settled == 1 && is_known(&config.residue) && !locked);
}

static void measured_once(void)
{
	struct tach__trials trials;

	begin();
	ntold = 0;
	config.settled = 1;
	config.residue.stale[0][1][0] = 77;
	trials = (struct tach__trials){.record = record, .shown = &shown};
	tach__residue_measure(&trials);
	CHECK(record->residue.stale[0][1][0] == 77 && !record->residue.stale[0][0][0]);
	CHECK(record->residue_known == 1 && config.residue.stale[0][1][0] == 77 && strays == 0);
	CHECK(config.settled == 1);
	/* A thread without counters has its own result. */
	begin();
	record->count = 0;
	config.settled = 1;
	tach__residue_measure(&trials);
	CHECK(record->residue.stale[0][1][0] == 53 && record->residue_known == 1);
	CHECK(!config.residue.stale[0][1][0]);
	begin();
	record->count = 0;
	tach__residue_measure(&trials);
	CHECK(config.settled == 0 && !config.residue.stale[0][1][0]);
	record->count = COUNT;
}

/* ---- while the thread does other work ---- */

static void all_over(const struct tach__trials *trials)
{
	struct tach__thread *r = trials->record;
	struct tach__hot *hot = r->hot;

	CHECK((uintptr_t)trials == their && begun == 1);
	CHECK(!r->log && !r->log_size && !r->epoch && hot->state == TACH__STATE(5, 0, 0));
	for (int i = 1; i <= 3; i++)
		tach__stack(hot, 0)[i] = NULL;
	memset(r->cold, 1, sizeof r->cold);
	memset(hot->pairs, 1, sizeof hot->pairs);
	r->log = r->cold;
	r->log_size = 44;
	r->epoch = 9;
	hot->state = 1;
}

static void inside(void)
{
	struct tach__hot *hot;
	uint64_t log;
	struct tach__slot **stack;

	begin();
	hot = record->hot;
	stack = tach__stack(hot, 0);
	for (uintptr_t i = 0; i < 5; i++)
		stack[i] = (struct tach__slot *)(16 * (i + 1));
	for (uint64_t i = 0; i < TACH__SUMS; i++)
		record->cold[i] = i + 5;
	hot->pairs[0] = 6;
	hot->pairs[1] = 7;
	record->log = &log;
	record->log_size = 99;
	record->epoch = 3;
	hot->state = TACH__STATE(5, 3, 4);
	CHECK(tach__trials_inside(record, all_over) == 1 && begun == 0);
	CHECK(freed == record->cold && freed_size == 44);
	for (uintptr_t i = 0; i < 5; i++)
		CHECK(stack[i] == (struct tach__slot *)(16 * (i + 1)), "%d", (int)i);
	for (uint64_t i = 0; i < TACH__SUMS; i++)
		CHECK(record->cold[i] == i + 5);
	CHECK(hot->pairs[0] == 6 && hot->pairs[1] == 7 && record->log == &log);
	CHECK(record->log_size == 99 && record->epoch == 3);
	CHECK(hot->state == TACH__STATE(5, 3, 4));
	no_begin = 1;
	CHECK(tach__trials_inside(record, all_over) == 0);
	CHECK(hot->state == TACH__STATE(5, 3, 4) && record->log == &log);
	no_begin = 0;
	no_stack = 1;
	CHECK(tach__trials_inside(record, all_over) == 0);
	no_stack = 0;
	record->log = NULL;
}

static void measurement_is_postponed(void)
{
	begin();
	tach__self = record->hot;
	record->hot->record = record;
	record->hot->state = TACH__STATE(5, 0, 0);
	record->residue_known = 1;
	config.settled = 1;
	tach__residue_ready(record);
	CHECK(record->residue.stale[0][0][0] == 0x2222222222222222u);
	record->residue_known = 0;
	tach__calibrating = 1;
	tach__residue_ready(record);
	CHECK(!record->residue_known);
	tach__calibrating = 0;
	record->hot->record = NULL;
	tach__residue_ready(record);
	CHECK(!record->residue_known);
	record->hot->record = record;
	tach__residue_ready(record);
	CHECK(record->residue_known == 1 && record->residue.stale[0][0][0] == 0);
	tach__self = &tach__thread_closed;
}

int main(void)
{
	CASE(every_residue_is_measured);
	CASE(measured_once);
	CASE(inside);
	CASE(measurement_is_postponed);
	return check_done();
}
