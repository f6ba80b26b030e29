/* SPDX-License-Identifier: MIT */
/*
 * A simulated thread for cold_begins.c and cold_ends.c: the functions that the slow paths of
 * START and STOP call are replaced, and record each call. UNDER_TEST: the file with the slow
 * paths.
 */
#ifndef TESTS_UNIT_REGION_COLD_H
#define TESTS_UNIT_REGION_COLD_H

#include <stdio.h>
#include "core/os/sys.h"
#include "core/region/cost.h"
#include "core/region/left.h"
#include "core/region/reads.h"
#include "tests/check.h"

static void sim_cost_begin(struct tach__cost *of, uint32_t around);
static void sim_cost_end(struct tach__cost *of, const uint64_t *residue, uint32_t level);
static void sim_residue_ready(struct tach__thread *of);
static void sim_heal(struct tach__thread *of, uintptr_t sp);
static void sim_epochs_begin(struct tach__hot *self);
static void sim_lock(struct tach__held *held);
static void sim_unlock(const struct tach__held *held);
static int sim_pending(void);
static struct tach__slot *sim_slot_of(const struct tach__thread *of, const void *part);
static __attribute__((unused)) void sim_aside_add(const uint64_t *sums);
static void order(void);
#undef TACH__ORDER
#define TACH__ORDER()		       order()
#define tach__cost_begin	       sim_cost_begin
#define tach__cost_end		       sim_cost_end
#define tach__residue_ready	       sim_residue_ready
#define tach__remove_dead_entries      sim_heal
#define tach__remove_some_dead_entries sim_heal
#define tach__epochs_reset	       sim_epochs_begin
#define tach__lock		       sim_lock
#define tach__unlock		       sim_unlock
#define tach__thread_is_outdated       sim_pending
#define tach__slot_of		       sim_slot_of
#define tach__aside_add		       sim_aside_add

#include UNDER_TEST

enum { COUNT = 2, SUMS = 1 + COUNT, SLOTS = 5, OPENING = 77, EPOCH = 6, LEVEL = 3 };

static _Alignas(4096) char memory[TACH__RECORD_AT];
static struct tach__hot *const hot = (struct tach__hot *)(void *)memory;
static struct tach__thread record;
static union tach__slot_copy slots[SLOTS];
static struct tach_region_mark mark;

static char said[400];
#define SAY(...) snprintf(said + strlen(said), sizeof said - strlen(said), __VA_ARGS__)
#define SAID(text)                                                                             \
	do {                                                                                   \
		CHECK(strcmp(said, text) == 0, "%s", said);                                    \
		said[0] = 0;                                                                   \
	} while (0)

/* Called at ordered stores, so that a handler can run there. */
static void (*at_order)(void);
static int orders;
static void order(void)
{
	orders++;
	if (at_order)
		at_order();
}
/* Arguments for the begin and end of a cost; record NULL: no enclosing region. */
static struct tach__thread *cost_record;
static struct {
	/* around: number of enclosing regions; level: number that stay open */
	uint32_t around, level;
	uint64_t residue[SUMS];
} cost;

static void sim_cost_begin(struct tach__cost *of, uint32_t around)
{
	SAY("cost ");
	of->record = cost_record;
	cost.around = around;
}

static void sim_cost_end(struct tach__cost *of, const uint64_t *residue, uint32_t level)
{
	SAY("spent ");
	CHECK(of->record == cost_record && !residue == !cost_record);
	if (residue)
		memcpy(cost.residue, residue, sizeof cost.residue);
	cost.level = level;
}

static __attribute__((unused)) void sim_aside_add(const uint64_t *sums)
{
	SAY("aside%d ", (int)((sums - record.residue.recursion[0]) / TACH__SUMS));
}

static void sim_residue_ready(struct tach__thread *of)
{
	CHECK(of == &record);
	SAY("residue ");
}

static void sim_heal(struct tach__thread *of, uintptr_t sp)
{
	CHECK(of == &record && sp != 0);
	SAY("heal ");
}

static void sim_epochs_begin(struct tach__hot *self)
{
	CHECK(self == hot);
	SAY("epochs ");
}

static void sim_lock(struct tach__held *held)
{
	held->within = 5;
	SAY("lock ");
}

static void sim_unlock(const struct tach__held *held)
{
	CHECK(held->within == 5);
	SAY("unlock ");
}

static int pending; /* so many times */
static int sim_pending(void)
{
	return pending > 0 && pending--;
}

static struct tach__slot *sim_slot_of(const struct tach__thread *of, const void *part)
{
	CHECK(of == &record);
	for (int i = 0; i < SLOTS; i++)
		if ((const char *)part >= (const char *)&slots[i] &&
		    (const char *)part < (const char *)&slots[i + 1])
			return &slots[i].slot;
	CHECK(0, "a part of no slot");
	return NULL;
}

/* Resets the thread, without an open region. */
static void thread_begin(void)
{
	memset(memory, 0, sizeof memory);
	memset(&record, 0, sizeof record);
	memset(slots, 0, sizeof slots);
	memset(&mark, 0, sizeof mark);
	memset(&cost, 0, sizeof cost);
	said[0] = 0;
	at_order = NULL;
	orders = pending = 0;
	cost_record = &record;
	tach__self = hot;
	hot->record = &record;
	hot->count = record.count = COUNT;
	hot->limit = 64;
	record.hot = hot;
	record.outside = &slots[0].slot;
	record.residue_known = 1;
	for (uint32_t i = 0; i < TACH__SUMS; i++) {
		record.cold[i] = 40 + i;
		for (int f = 0; f < 2; f++) {
			record.residue.before[f][i] = 200 + 10 * (uint64_t)f + i;
			record.residue.after[f][i] = 3000 + 100 * (uint64_t)f + i;
			for (uint64_t e = 0; e < 2; e++) {
				record.residue.rescheduled[e][f][i] =
					5000 + 1000 * e + 100 * (uint64_t)f + i;
				record.residue.again[e][f][i] =
					600 + 1000 * e + 10 * (uint64_t)f + i;
				record.residue.stale[e][f][i] =
					700 + 1000 * e + 10 * (uint64_t)f + i;
			}
			for (int u = 0; u < 2; u++)
				record.residue.begin[u][f][i] =
					8000 + 100 * (uint64_t)u + 10 * (uint64_t)f + i;
		}
		for (uint64_t w = 0; w < TACH__UNFLAT; w++)
			record.unflat[w][i] = 900 + 10 * w + i;
	}
}

#endif
