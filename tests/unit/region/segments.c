/* SPDX-License-Identifier: MIT */
/*
 * A segment is added to its task: the difference of its slot before and after, computed by
 * hand; slots, edges and the storage of whole tasks are simulated.
 */
#include <stdio.h>
#include <string.h>
#include <tach/reader.h>
#include <tach/task.h>
#include "core/os/clock.h"
#include "core/region/beacon.h"
#include "core/region/region.h"
#include "tests/check.h"

static struct tach__slot *sim_slot_at(const struct tach__thread *of, uint32_t id);
static void sim_histograms_add(uint32_t *to, const uint64_t *values,
			       const struct tach__entry_cost *cost, int fenced,
			       const uint64_t pairs[2], uint32_t sums);
static int sim_worst_keep(const struct tach__thread *of, uint32_t id, uint64_t begun,
			  uint64_t number, uint32_t flags, const uint64_t *sum);
static void sim_configure(void);
static const struct tach__beacon *sim_owner(void);
static double sim_hz(double apart, uint32_t *flags, double *error);

#define tach__slot_at	     sim_slot_at
#define tach__histograms_add sim_histograms_add
#define tach__worst_keep     sim_worst_keep
#define tach__configure_once sim_configure
#define tach__beacon_owner   sim_owner
#define tach__clock_hz	     sim_hz
#include "core/region/segments.c"
#include "core/region/task.c"

enum { ID = TACH__SITE_FIRST, COUNT = 2, OPENING = 5, GENERATION = 8 };

static struct tach__hot self[2]; /* of two threads */
static struct tach__thread threads[2];
static struct tach__config config[2];
static union tach__slot_copy slots[2];
static struct tach_site site;
static struct tach_task task;
static uint32_t histograms;
static int begins, ends, begins_nothing, added, kept;
static uint64_t begun_at, tag_kept;
static char asked[40];
static double hz;

static struct tach__slot *sim_slot_at(const struct tach__thread *of, uint32_t id)
{
	CHECK(id == ID && id < of->limit);
	return &slots[of - threads].slot;
}

static void sim_histograms_add(uint32_t *to, const uint64_t *values,
			       const struct tach__entry_cost *cost, int fenced,
			       const uint64_t pairs[2], uint32_t sums)
{
	(void)cost, (void)fenced, (void)pairs;
	CHECK(to == &histograms && sums == 1 + COUNT && values);
	added++;
}

static int sim_worst_keep(const struct tach__thread *of, uint32_t id, uint64_t begun,
			  uint64_t number, uint32_t flags, const uint64_t *sum)
{
	(void)flags, (void)sum;
	CHECK(of == tach__self->record && id == ID);
	begun_at = begun;
	tag_kept = number;
	kept++;
	return 1;
}

static void sim_configure(void)
{
	strcat(asked, "configured ");
}

static const struct tach__beacon *sim_owner(void)
{
	if (asked[0] && !strstr(asked, "owner"))
		strcat(asked, "owner ");
	return NULL;
}

static double sim_hz(double apart, uint32_t *flags, double *error)
{
	(void)apart, (void)flags;
	*error = 0;
	return hz;
}

static struct tach__part *part_of(int thread, int inner)
{
	return tach__part(&slots[thread].slot, threads[thread].count, inner);
}

static void sim_end(struct tach_region_mark *mark)
{
	mark->end = NULL;
	ends++;
}

static void sim_begin(struct tach_site *at, struct tach_region_mark *mark)
{
	struct tach__part *part = part_of(0, 0);

	CHECK(at == &site);
	begins++;
	if (begins_nothing)
		return;
	part->calls++;
	part->sum[0] += 7;
	mark->part = part;
	mark->end = sim_end;
}

static void begin(void)
{
	memset(self, 0, sizeof self);
	memset(threads, 0, sizeof threads);
	memset(config, 0, sizeof config);
	memset(slots, 0, sizeof slots);
	memset(&task, 0, sizeof task);
	begins = ends = begins_nothing = added = kept = 0;
	asked[0] = '\0';
	hz = 1e9;
	for (int i = 0; i < 2; i++) {
		config[i].generation = GENERATION + (uint32_t)i;
		config[i].count = COUNT;
		self[i].record = &threads[i];
		self[i].state = TACH__STATE(OPENING, 0, 0);
		threads[i].hot = &self[i];
		threads[i].config = &config[0];
		threads[i].count = COUNT;
		threads[i].limit = ID + 1;
		slots[i].slot.id = ID;
		slots[i].slot.histograms = &histograms;
		for (int inner = 0; inner < 2; inner++) {
			struct tach__part *part = part_of(i, inner);

			part->ceiling = TACH__CEILING_OPEN;
			part->calls = 3;
			for (uint64_t q = 0; q <= COUNT; q++)
				part->sum[q] = 1000 * (q + 1);
		}
		for (uint64_t f = 0; f < 6; f++)
			slots[i].slot.provenance[f] = 10 + f;
	}
	tach__self = &self[0];
	site = (struct tach_site){.begin = sim_begin, .id = ID, .fenced = TACH__SITE_TASK};
	task.site = &site;
}

static void on(int thread)
{
	tach__self = &self[thread];
}

/* Counts one more entry in the thread's outermost part. */
static void counted(int thread, uint64_t by)
{
	struct tach__part *part = part_of(thread, 0);

	part->calls++;
	for (uint64_t q = 0; q <= threads[thread].count; q++)
		part->sum[q] += by * (q + 1);
	task.mark.part = part;
}

static void segment(int thread, uint64_t by)
{
	on(thread);
	tach__task_resuming_here(&task);
	counted(thread, by);
	tach__task_suspended_here(&task);
}

/* Returns the task's flags, and checks that its sums are 1, 2 and 3 times this value. */
static int flags_of(uint64_t by)
{
	const struct tach__carried *c = tach__carried(&task);

	for (uint64_t q = 0; q <= COUNT; q++)
		CHECK(c->sum[q] == by * (q + 1), "%d: %d", (int)q, (int)c->sum[q]);
	return (int)c->flags;
}

static void provenance(void)
{
	for (uint32_t f = 0; f < 6; f++) {
		begin();
		segment(0, 4);
		CHECK(flags_of(4) == 0, "%#x", flags_of(4));
		tach__task_resuming_here(&task);
		counted(0, 5);
		slots[0].slot.provenance[f]++;
		/* Simulates a nested task of the same region. */
		slots[0].slot.continued[0]++;
		tach__task_suspended_here(&task);
		CHECK(flags_of(9) == 1 << f, "%u: %#x", f, flags_of(9));
	}
}

/* The slot is made during the segment, after a segment on another thread. */
static void slot_made(void)
{
	begin();
	segment(0, 4);
	on(1);
	threads[1].limit = ID;
	tach__task_resuming_here(&task);
	threads[1].limit = ID + 1;
	memset(part_of(1, 0)->sum, 0, (1 + COUNT) * sizeof(uint64_t));
	part_of(1, 0)->calls = 0;
	counted(1, 6);
	memset(slots[1].slot.provenance, 0, sizeof slots[1].slot.provenance);
	tach__task_suspended_here(&task);
	CHECK(flags_of(10) == 0, "%#x", flags_of(10));
}

/* The thread changes to another set when the segment begins: the sums start with that set. */
static void moved_on(void)
{
	begin();
	tach__task_resuming_here(&task);
	self[0].state = TACH__STATE(OPENING + 1, 0, 0);
	memset(part_of(0, 0)->sum, 0, (1 + COUNT) * sizeof(uint64_t));
	part_of(0, 0)->calls = 0;
	memset(slots[0].slot.provenance, 0, sizeof slots[0].slot.provenance);
	counted(0, 6);
	tach__task_suspended_here(&task);
	CHECK(flags_of(6) == 0, "%#x", flags_of(6));
}

static void not_counted(void)
{
	/* The entry is in another part than expected. */
	begin();
	tach__task_resuming_here(&task);
	counted(0, 6);
	task.mark.part = part_of(0, 1);
	part_of(0, 1)->calls++;
	tach__task_suspended_here(&task);
	CHECK(flags_of(0) == TACH_FLAG_LOST && tach__carried(&task)->segments == 0);
	/* The library refused the segment's end. */
	begin();
	tach__task_resuming_here(&task);
	task.mark.part = part_of(0, 0);
	tach__task_suspended_here(&task);
	CHECK(flags_of(0) == TACH_FLAG_LOST && tach__carried(&task)->segments == 0);
}

/* A segment on a thread whose counters did not open. */
static void fewer_counters(void)
{
	const struct tach__carried *c = tach__carried(&task);

	begin();
	segment(0, 4);
	threads[1].count = 0;
	for (int inner = 0; inner < 2; inner++)
		part_of(1, inner)->ceiling = TACH__CEILING_OPEN;
	segment(1, 6);
	CHECK(c->flags == TACH_FLAG_LOST && c->segments == 2, "%#x", c->flags);
	CHECK(c->sum[0] == 10 && c->sum[1] == 8 && c->sum[2] == 12);
}

static void turns(void)
{
	begin();
	config[0].ring.next = &config[1];
	segment(0, 4);
	CHECK(flags_of(4) == TACH_FLAG_LOST, "%#x", flags_of(4));
}

/* ---- whole tasks ---- */

static int is_kept(void)
{
	tach__task_ended_here(&task);
	CHECK(!task.site && added == kept);
	return kept;
}

static void whole(void)
{
	begin();
	task.tag = 70;
	task.mark.counters.clock = 500;
	segment(0, 4);
	task.mark.counters.clock = 900;
	segment(0, 4);
	CHECK(is_kept() == 1 && begun_at == 500 && tag_kept == 70 && begins == 0);
	begin();
	segment(0, 4);
	tach__carried(&task)->flags = TACH_FLAG_LOST;
	CHECK(!is_kept());
	/* The segment ends with another set, with fewer counters, or without a slot. */
	begin();
	segment(0, 4);
	threads[0].config = &config[1];
	CHECK(!is_kept());
	begin();
	segment(0, 4);
	threads[0].count = 1;
	CHECK(!is_kept());
	begin();
	segment(0, 4);
	slots[0].slot.id = 0;
	begins_nothing = 1;
	CHECK(!is_kept() && begins == 1);
}

/* ---- what begins ---- */

static void begun_anew(void)
{
	begin();
	tach_task_begin(&task, &site);
	CHECK(begins == 1 && ends == 0);
	tach_task_begin(&task, &site);
	CHECK(begins == 2 && ends == 1 && kept == 1);
	/* At that time it is known which copy owns the regions. */
	begin();
	tach_task_begin(&task, &site);
	CHECK(strcmp(asked, "configured owner ") == 0, "%s", asked);
}

static void values(void)
{
	double v;

	begin();
	segment(0, 4);
	hz = 1;
	CHECK(tach_task_value(&task, 0, &v) == 0 && v == 4e9, "%g", v);
	/* The clock's rate is unknown. */
	hz = 0;
	CHECK(tach_task_value(&task, 0, &v) == 0 && v == 0, "%g", v);
}

int main(void)
{
	CASE(provenance);
	CASE(slot_made);
	CASE(moved_on);
	CASE(not_counted);
	CASE(fewer_counters);
	CASE(turns);
	CASE(whole);
	CASE(begun_anew);
	CASE(values);
	return check_done();
}
