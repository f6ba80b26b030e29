/* SPDX-License-Identifier: MIT */
/* Counts of sets that took turns, scaled to all entries, with their error; computed by hand. */
#include <math.h>
#include <string.h>
#include <tach.h>
#include "core/set/set.h"
#include "core/snapshot/operands.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"
#include "tests/guarded.h"
#include "tests/unit/snapshot/row.h"

static int frees, rows_left = -1; /* number of allocations that still succeed; -1: unlimited */
static uint32_t asked;

static void sim_free(const void *at, size_t size)
{
	(void)size;
	frees += at != NULL;
}

static struct tach__row *sim_rows_at(struct tach__rows *rows, uint32_t id)
{
	asked = id;
	if (!rows_left)
		return NULL;
	rows_left -= rows_left > 0;
	return tach__rows_at(rows, id);
}

static void sim_put(struct tach__operands *o, uint32_t i, const struct tach_value *v)
{
	CHECK(i < o->count, "%u", i);
	tach__operands_put(o, i, v);
}

static void sim_derive(const struct tach__operands *o, const struct tach_formula *f,
		       struct tach_value *value)
{
	CHECK(o->count == 3, "%u", o->count);
	tach__operands_derive(o, f, value);
}

#define tach__pages	      guarded_pages
#define tach__pages_free      sim_free
#define tach__rows_at	      sim_rows_at
#define tach__operands_put    sim_put
#define tach__operands_derive sim_derive
#include "core/snapshot/turns.c"
#undef tach__pages_free
#undef tach__rows_at
#undef tach__operands_put
#undef tach__operands_derive

enum { SETS = 2, MEMBERS = 2, ID = TACH__SITE_FIRST, X = 1, Y, ALL, SUM, ONE, QUANTITIES = 4 };

static const char *const events[] = {"x", "y", "all"};
static struct tach__plan plan;
static struct tach_set set[SETS];
static struct tach__config config[SETS];
static struct tach__took took[SETS + 1]; /* the last set does not exist */
static struct tach__site sites[ID + 2];
static struct {
	struct tach_snapshot s;
	char behind[64];
} shot;
static struct tach_snapshot *const s = &shot.s;

static struct tach__row *row_of(int k, uint32_t region)
{
	return tach__rows_at(&took[k].rows, ID + region);
}

static void begin(void)
{
	static const char *const names[SETS][MEMBERS] = {{"m0", "all"}, {"all", "m1"}};

	memset(&plan, 0, sizeof plan);
	plan.whole = (struct tach__passes_whole){.nevents = 3,
						 .nmetrics = 2,
						 .event = plan.event,
						 .metric = plan.metric,
						 .repeated = "all",
						 .repeats = 2};
	memcpy(plan.event, events, sizeof events);
	plan.event[3] = "behind";
	plan.metric[0] = (struct tach__passes_metric){.name = "sum", .text = "N0 + 10 * N2"};
	plan.metric[1] = (struct tach__passes_metric){.name = "one", .text = "N1 * 2"};
	plan.metric[1].node.level = 3;
	for (int m = 0; m < 2; m++)
		CHECK(tach_formula_compile(plan.metric[m].text, NULL, &plan.metric[m].formula,
					   NULL) == 0);
	memset(set, 0, sizeof set);
	for (int k = 0; k < SETS; k++) {
		set[k].count = MEMBERS;
		set[k].interrupts = -1;
		for (int i = 0; i < MEMBERS; i++)
			set[k].member[i].name = (char *)(uintptr_t)names[k][i];
		config[k] = (struct tach__config){.set = &set[k], .count = MEMBERS};
		/* As tach__ring_make does it. */
		config[k].ring.plan = k ? NULL : &plan;
		took[k].config = &config[k];
		tach__rows_init(&took[k].rows, MEMBERS);
	}
	memset(&shot, 0, sizeof shot);
	for (int r = 0; r < 2; r++)
		sites[ID + r] = (struct tach__site){.name = r ? "second" : "first"};
	tach__registry.by_id[ID] = &sites[ID];
	tach__registry.by_id[ID + 1] = &sites[ID + 1];
	s->clock_hz = 1e9;
}

/* Evaluates this number of regions. */
static int evaluate(uint32_t n)
{
	uint32_t ids[] = {ID, ID + 1};
	const struct tach__order order = {.id = ids, .n = n};
	int code;

	/* As tach__turns_total does it: each set has a row per region. */
	for (int k = 0; k < SETS; k++)
		row_of(k, 1);
	frees = 0;
	code = tach__turns_evaluate(s, took, SETS, &order);
	/* The rows of each set, and their owner, are freed. */
	CHECK(frees == (code ? frees : SETS + 1), "%d", frees);
	CHECK(code ||
	      (s->plain.nregions == (int)n && s->plain.nquantities == 1 + plan.whole.nevents &&
	       s->plain.nmetrics == plan.whole.nmetrics));
	return code;
}

static void end(void)
{
	for (int m = 0; m < 2; m++)
		tach_formula_free(plan.metric[m].formula);
	for (int k = 0; k < SETS; k++)
		tach__rows_free(&took[k].rows);
	guarded_free();
}

static int is(int region, int part, int quantity, double value, double raw, double overhead,
	      double error, uint32_t flags, uint32_t share)
{
	const struct tach_value *v = &s->plain.region[region].value[part][quantity];

	if (fabs(v->value - value) < 1e-9 && fabs(v->raw - raw) < 1e-9 &&
	    fabs(v->overhead - overhead) < 1e-9 && fabs(v->error - error) < 1e-9 &&
	    v->flags == flags && v->share == share)
		return 1;
	printf("# %d, part %d, quantity %d: %.12g, raw %g, overhead %g, error %.12g, flags "
	       "%#x, share %u\n",
	       region, part, quantity, v->value, v->raw, v->overhead, v->error, v->flags,
	       v->share);
	return 0;
}

/* Set 0 had 20 of 30 outermost entries in 5 turns; there were 30 of 40 entries in all. */
static void make_rows(void)
{
	ROW_SET(row_of(0, 1), .calls = 30, .outermost = 20, .nested = 3, .lost = 4,
		.threads = 2, .turns = 5, .provenance = {1, 2, 3, 0, 5, 0}, .paced = {10, 8});
	ROW_SET(row_of(1, 1), .calls = 10, .outermost = 10, .nested = 30, .lost = 40,
		.threads = 1, .turns = 1, .provenance = {10, 0, 0, 0, 0, 0}, .paced = {1, 1});
	row_of(0, 1)->cell[0].inclusive = 500;
	row_of(0, 1)->cell[0].self = 400;
	row_of(1, 1)->cell[0].inclusive = 100;
	row_of(1, 1)->cell[0].self = 50;
	row_of(0, 1)->cell[1] = (struct tach__cell){.inclusive = 100,
						    .self = 60,
						    .overhead = {10, 4},
						    .error = {2, 1},
						    .turned = {1000, 50},
						    .crossed = {90, 4}};
	row_of(0, 1)->cell[2] = (struct tach__cell){.inclusive = 7, .self = 5};
	row_of(1, 1)->cell[1] = (struct tach__cell){.inclusive = 8, .self = 2};
	row_of(1, 1)->cell[2] = (struct tach__cell){.inclusive = 40, .self = 30};
}

enum { unknown = TACH_FLAG_SCALED | TACH_FLAG_UNBOUNDED | TACH_FLAG_SMALL };

static void scaled_up(void)
{
	const uint32_t first = TACH_FLAG_RESCHEDULED | TACH_FLAG_INCOMPLETE |
			       TACH_FLAG_SYSCALL | TACH_FLAG_MIXED,
		       scaled = first | TACH_FLAG_SCALED;
	const double t = 1.96 + 0.6 + 0.13125; /* of 4 degrees */

	begin();
	make_rows();
	CHECK(evaluate(2) == 0);
	/* The value for all entries is the sum of both sets, with the error of the reads. */
	CHECK(is(1, 0, 0, 600, 600, 0, sqrt(20) + sqrt(10), 0, 0));
	CHECK(is(1, 1, 0, 450, 450, 0, sqrt(20) + sqrt(10), 0, 0));
	CHECK(is(1, 0, ALL, 15, 15, 0, 0, first, 0) && is(1, 1, ALL, 7, 7, 0, 0, first, 0));
	/*
	 * 100 in 20 entries is 5 per entry: 1000 - 2 * 5 * 90 + 25 * 10 is the variation of
	 * turns.
	 */
	CHECK(is(1, 0, X, 135, 150, 15,
		 1.5 * 2 + t * sqrt(350 * 5 / 4.) * 1.5 * sqrt(1 - 2 / 3.), scaled, 666666));
	/* 60 in 30 entries is 2 per entry: 50 - 2 * 2 * 4 + 4 * 8. */
	CHECK(is(1, 1, X, 56 * 4 / 3., 80, 16 / 3.,
		 4 / 3. + t * sqrt(66 * 5 / 4.) * 4 / 3. * sqrt(1 - 0.75), scaled, 750000));
	/* A single turn gives no error estimate: the error may be as large as the value. */
	CHECK(is(1, 0, Y, 120, 120, 0, 120, TACH_FLAG_RESCHEDULED | unknown, 333333));
	CHECK(is(1, 1, Y, 120, 120, 0, 120, TACH_FLAG_RESCHEDULED | unknown, 250000));
	/* 135 and 10 times 15. */
	CHECK(s->plain.region[1].value[0][SUM].value == 285 &&
	      s->plain.region[1].value[1][SUM].value == 75 + 70 &&
	      s->plain.region[1].value[0][ONE].value == 240 &&
	      s->plain.region[1].value[0][SUM].flags == scaled);
	end();
}

static void names_and_sums(void)
{
	const struct tach_region_info *i;

	begin();
	make_rows();
	row_of(0, 0)->flags = TACH_FLAG_STALE;
	CHECK(evaluate(2) == 0);
	for (int q = 0; q < QUANTITIES; q++)
		CHECK(strcmp(s->plain.quantity[q], q ? events[q - 1] : "time") == 0);
	CHECK(strcmp(s->plain.metric[0].name, "sum") == 0 &&
	      strcmp(s->plain.metric[0].text, "N0 + 10 * N2") == 0 &&
	      strcmp(s->plain.metric[1].name, "one") == 0 &&
	      s->plain.metric[1].node.level == 3 && !s->plain.metric[1].formula);
	i = &s->plain.region[1].info;
	CHECK(strcmp(i->name, "second") == 0 && i->entries == 34 + 50 && i->calls == 40 &&
	      i->outermost == 30 && i->lost == 44 && i->nested == 33 && i->threads == 3);
	for (uint64_t p = 0; p < 6; p++)
		CHECK(i->provenance[p] == (p == 0	     ? 11
					   : p < 5 && p != 3 ? 1 + p
							     : 0),
		      "%d", (int)p);
	/* The thread counts once, with any set in its first turn. */
	CHECK(s->plain.region[0].info.threads == 1);
	for (int q = 0; q < QUANTITIES; q++)
		CHECK(s->plain.region[0].histogram[q].count == 0);
	CHECK(strcmp(s->note, "2 sets of events took turns and saw 75.0, 25.0 % of the "
			      "entries; 1 of 2 regions were not seen by all") == 0,
	      "%s", s->note);
	end();
}

static const char first_saw_all[] = "2 sets of events took turns and saw 100.0, 0.0 % of the "
				    "entries; 1 of 1 regions were not seen by all";

static void unseen_regions_are_lost(void)
{
	begin();
	/* The set that counts y had these entries. */
	row_of(0, 0)->calls = row_of(0, 0)->outermost = 4;
	row_of(0, 0)->cell[1].inclusive = row_of(0, 0)->cell[1].self = 6;
	row_of(0, 0)->cell[2].inclusive = 5;
	CHECK(evaluate(1) == 0);
	CHECK(is(0, 0, X, 6, 6, 0, 0, 0, 0) && is(0, 0, ALL, 5, 5, 0, 0, 0, 0));
	for (int part = 0; part < 2; part++) {
		const struct tach_value *v = s->plain.region[0].value[part];

		CHECK(isnan(v[Y].value) && isnan(v[Y].raw) && v[Y].flags == TACH_FLAG_LOST);
		CHECK(isnan(v[ONE].value) && isnan(v[ONE].raw) && v[ONE].flags);
		CHECK(v[SUM].value == (part ? 6 : 56));
	}
	CHECK(strcmp(s->note, first_saw_all) == 0, "%s", s->note);
	end();
	/* Without entries, counts are not scaled. */
	begin();
	row_of(0, 0)->lost = 1;
	row_of(1, 0)->lost = 1;
	strcpy(s->note, "first");
	CHECK(evaluate(1) == 0);
	CHECK(is(0, 0, Y, 0, 0, 0, 0, 0, 0));
	CHECK(strcmp(s->note, "first; 2 sets of events took turns and saw % of the entries; "
			      "1 of 1 regions were not seen by all") == 0,
	      "%s", s->note);
	end();
}

/* One entry is the minimum for scaling. */
static void one_entry(void)
{
	begin();
	row_of(0, 0)->calls = row_of(0, 0)->outermost = 1;
	row_of(0, 0)->cell[2].error[0] = 0.5;
	CHECK(evaluate(1) == 0 && is(0, 0, ALL, 0, 0, 0, 0.5, TACH_FLAG_SMALL, 0));
	CHECK(isnan(s->plain.region[0].value[0][Y].value) &&
	      s->plain.region[0].value[0][Y].flags == TACH_FLAG_LOST);
	CHECK(strcmp(s->note, first_saw_all) == 0, "%s", s->note);
	end();
}

static void no_metrics(void)
{
	begin();
	make_rows();
	row_of(0, 0)->calls = row_of(0, 0)->outermost = 4;
	s->clock_flags = TACH_FLAG_CLOCK;
	s->clock_error = 0.25;
	plan.whole.nmetrics = 0;
	CHECK(evaluate(2) == 0 &&
	      is(1, 0, 0, 600, 600, 0, sqrt(20) + sqrt(10) + 150, TACH_FLAG_CLOCK, 0));
	for (int r = 0; r < 2; r++)
		for (int q = 0; q < QUANTITIES; q++)
			CHECK(s->plain.region[r].histogram[q].count == 0 &&
			      !s->plain.region[r].histogram[q].at);
	end();
}

/* The maximum number of events in a plan; the last set counts the last event. */
static void most_events(void)
{
	char last[8];

	begin();
	make_rows();
	plan.whole.nmetrics = 0;
	plan.whole.nevents = TACH__PLAN_EVENTS;
	for (int i = 0; i < TACH__PLAN_EVENTS; i++)
		plan.event[i] = "one";
	snprintf(last, sizeof last, "m%d", TACH__PLAN_EVENTS - 1);
	set[1].member[1].name = last;
	CHECK(evaluate(2) == 0 && is(1, 0, TACH__PLAN_EVENTS, 120, 120, 0, 120,
				     TACH_FLAG_RESCHEDULED | unknown, 333333));
	end();
}

static void bounds(void)
{
	/* A share below one in a million; and two equal turns. */
	begin();
	row_of(0, 0)->calls = row_of(0, 0)->outermost = 1;
	row_of(1, 0)->calls = row_of(1, 0)->outermost = 2999999;
	row_of(0, 0)->turns = 2;
	row_of(0, 0)->cell[1] = (struct tach__cell){.inclusive = 5,
						    .self = 5,
						    .overhead = {7, 0},
						    .turned = {25, 24},
						    .crossed = {5, 5}};
	row_of(0, 0)->paced[0] = row_of(0, 0)->paced[1] = 1;
	CHECK(evaluate(1) == 0);
	CHECK(is(0, 0, X, 0, 15000000, 21000000, 0, TACH_FLAG_SCALED, 1));
	CHECK(is(0, 1, X, 15000000, 15000000, 0, 0, TACH_FLAG_SCALED, 1));
	CHECK(strcmp(s->note, "2 sets of events took turns and saw 0.0, 100.0 % of the "
			      "entries") == 0,
	      "%s", s->note);
	end();
	/* An error estimate needs two turns; a value within its error is small. */
	begin();
	row_of(0, 0)->calls = row_of(0, 0)->outermost = 4;
	row_of(1, 0)->calls = row_of(1, 0)->outermost = 4;
	row_of(0, 0)->turns = 2;
	row_of(0, 0)->cell[1] = (struct tach__cell){.inclusive = 4, .turned = {0.5}};
	row_of(0, 0)->cell[2] = (struct tach__cell){.inclusive = 4, .error = {1}};
	row_of(1, 0)->cell[1] = (struct tach__cell){.inclusive = 3, .error = {6}};
	row_of(1, 0)->cell[2] = (struct tach__cell){.inclusive = 3, .error = {1}};
	CHECK(evaluate(1) == 0);
	CHECK(is(0, 0, X, 8, 8, 0, 12.76 * 2 * sqrt(0.5), TACH_FLAG_SCALED | TACH_FLAG_SMALL,
		 500000));
	CHECK(is(0, 0, ALL, 7, 7, 0, 7, TACH_FLAG_SMALL, 0));
	CHECK(is(0, 0, Y, 6, 6, 0, 6, unknown, 500000));
	end();
}

/* After an earlier note there may be no room left. */
static void notes_end(void)
{
	for (size_t length = sizeof s->note - 120; length < sizeof s->note; length++) {
		char whole[2048];

		begin();
		make_rows();
		row_of(0, 0)->calls = 1;
		memset(s->note, 'n', length);
		memset(shot.behind, 'b', sizeof shot.behind);
		CHECK(evaluate(2) == 0);
		snprintf(whole, sizeof whole,
			 "%0*d; 2 sets of events took turns and saw 75.6, 24.4 %% of the "
			 "entries; 1 of 2 regions were not seen by all",
			 (int)length, 0);
		memset(whole, 'n', length);
		whole[sizeof s->note - 1] = '\0';
		CHECK(strcmp(s->note, whole) == 0, "%d: %s", (int)length, s->note + length);
		for (size_t i = 0; i < sizeof shot.behind; i++)
			CHECK(shot.behind[i] == 'b');
		end();
	}
}

static void totals(void)
{
	struct tach__rows total;

	begin();
	make_rows();
	row_of(0, 1)->flags = TACH_FLAG_STALE;
	row_of(1, 1)->flags = TACH_FLAG_MIXED;
	row_of(0, 1)->skipped = row_of(1, 1)->skipped = 2;
	row_of(0, 1)->excluded = row_of(1, 1)->excluded = 3;
	tach__rows_init(&took[SETS].rows, MEMBERS);
	tach__rows_at(&took[SETS].rows, ID + 1)->calls = 1000;
	/* This row is far beyond the other set's rows. */
	row_of(1, 20000)->calls = 6;
	row_of(1, 20000)->cell[0].inclusive = 9;
	CHECK(tach__turns_total(&total, took, SETS) == 0);
	CHECK(total.count == 0 && total.limit > ID + 20000);
	/* The last existing row of each set. */
	CHECK(asked == total.limit - 1, "%u, %u", asked, total.limit);
	for (int k = 0; k < SETS; k++)
		CHECK(took[k].rows.limit >= total.limit, "%d", k);
	for (uint32_t id = 0; id < total.limit; id++) {
		const struct tach__row *row = tach__rows_row(&total, id);

		if (id == ID + 1)
			CHECK(row->calls == 40 && row->skipped == 4 && row->excluded == 6 &&
			      row->lost == 44 &&
			      row->flags == (TACH_FLAG_STALE | TACH_FLAG_MIXED) &&
			      row->cell[0].inclusive == 600);
		else if (id == ID + 20000)
			CHECK(row->calls == 6 && row->cell[0].inclusive == 9);
		else
			CHECK(!tach__row_is_used(row) && !row->cell[0].inclusive);
	}
	tach__rows_free(&total);
	tach__rows_free(&took[SETS].rows);
	end();
	/* Of none. */
	begin();
	CHECK(tach__turns_total(&total, took, SETS) == 0 && total.limit == 0);
	tach__rows_free(&total);
	end();
}

static void no_memory(void)
{
	for (int left = 0; left < 2; left++) {
		begin();
		make_rows();
		guarded_left = left;
		CHECK(evaluate(2) == TACH_ERR_NOMEM && s->plain.nregions == 0 && !s->note[0]);
		end();
	}
	/* Two regions with rows in both sets, and each set's last row. */
	for (int left = 0; left < 6; left++) {
		struct tach__rows total;

		begin();
		make_rows();
		row_of(0, 0)->calls = 1;
		rows_left = left;
		CHECK(tach__turns_total(&total, took, SETS) == (left < 5 ? TACH_ERR_NOMEM : 0),
		      "%d", left);
		rows_left = -1;
		tach__rows_free(&total);
		end();
	}
}

int main(void)
{
	static struct tach__site *ids[ID + 2];

	tach__registry.by_id = ids;
	CASE(scaled_up);
	CASE(names_and_sums);
	CASE(unseen_regions_are_lost);
	CASE(one_entry);
	CASE(no_metrics);
	CASE(most_events);
	CASE(bounds);
	CASE(notes_end);
	CASE(totals);
	CASE(no_memory);
	return check_done();
}
