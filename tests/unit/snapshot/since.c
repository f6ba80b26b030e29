/* SPDX-License-Identifier: MIT */
/* Counts between two snapshots: each number of a region minus its older value. */
#include <math.h>
#include "tests/unit/snapshot/made.h"

enum { REGIONS = 3 };

static const char *const quantities[] = {"time", "cycles", NULL};
static const char *const names[] = {"a", "b", "c"};
static struct tach_snapshot *newer, *older, *between;
static struct tach__plain_region *now, *then;

static struct tach_snapshot *make(void)
{
	struct tach_snapshot *s = made(quantities, NULL, 0, REGIONS);

	for (int r = 0; r < REGIONS; r++) {
		s->plain.region[r].info.name = names[r];
		s->plain.region[r].info.file = "file";
		s->plain.region[r].info.line = 1;
		/* Merged regions are sorted by time. */
		s->plain.region[r].value[0][0].value = s->plain.region[r].value[0][0].raw =
			1000 - r;
	}
	s->clock_hz = 1e9;
	return s;
}

static void begin(void)
{
	newer = make();
	older = make();
	for (int r = 0; r < REGIONS; r++)
		older->plain.region[r].value[0][0] = (struct tach_value){.value = 0};
	now = newer->plain.region;
	then = older->plain.region;
}

static const struct tach__plain_region *since(int region)
{
	struct tach_error err = TACH_ERROR_INIT;

	between = NULL;
	CHECK(tach_snapshot_since(newer, older, &between, &err) == 0, "%s", err.text);
	return &between->plain.region[region];
}

static void end(void)
{
	tach_snapshot_free(newer);
	tach_snapshot_free(older);
	tach_snapshot_free(between);
}

/* Numbers by their position; all differ. */
static void count(struct tach_region_info *info, uint64_t by)
{
	info->entries = 10 + 1 * by;
	info->calls = 10 + 2 * by;
	info->outermost = 10 + 3 * by;
	info->skipped = 10 + 4 * by;
	info->excluded = 10 + 5 * by;
	info->nested = 10 + 6 * by;
	info->lost = 10 + 7 * by;
	for (uint64_t i = 0; i < 6; i++)
		info->provenance[i] = 10 + (8 + i) * by;
}

static void counts(void)
{
	const struct tach_region_info *info;

	begin();
	count(&now[1].info, 10);
	count(&then[1].info, 9);
	now[1].info.threads = 7;
	then[1].info.threads = 3;
	info = &since(1)->info;
	CHECK(info->entries == 1 && info->calls == 2 && info->outermost == 3);
	CHECK(info->skipped == 4 && info->excluded == 5 && info->nested == 6);
	CHECK(info->lost == 7 && info->threads == 7);
	for (uint64_t i = 0; i < 6; i++)
		CHECK(info->provenance[i] == 8 + i, "%d", (int)i);
	end();
	/* A region with fewer entries than before has restarted. */
	begin();
	count(&now[1].info, 5);
	count(&then[1].info, 4);
	then[1].info.entries = 16;
	info = &since(1)->info;
	CHECK(info->entries == 15 && info->calls == 20);
	end();
}

/*
 * Numbers of the whole snapshot: data that went missing between the two. A stale value in
 * either snapshot makes the difference wrong.
 */
static void numbers_of_the_whole_snapshot(void)
{
	struct tach_counts c = {.size = sizeof c};

	begin();
	newer->refused = 10;
	older->refused = 7;
	newer->lost = 20;
	older->lost = 5;
	newer->stale = 2;
	older->stale = 1;
	then[0].value[0][0].flags = TACH_FLAG_STALE;
	CHECK(since(0)->value[0][0].flags == TACH_FLAG_STALE);
	CHECK(tach_snapshot_counts(between, &c) == 0 && c.refused == 3 && c.lost == 15 &&
	      c.stale == 3);
	end();
}

static void by_place_in_any_order(void)
{
	begin();
	for (int r = 0; r < REGIONS; r++) {
		now[r].info.calls = 100;
		then[r].info.name = names[(r + 1) % REGIONS];
		then[r].info.calls = 1 + (uint64_t)r;
	}
	since(0);
	for (int r = 0; r < REGIONS; r++)
		CHECK(between->plain.region[r].info.calls ==
			      99 - (uint64_t)((r + REGIONS - 1) % REGIONS),
		      "%d", r);
	end();
	/* A region with another name or line is another region. */
	begin();
	now[0].info.calls = now[2].info.calls = 5;
	then[0].info.calls = then[2].info.calls = 3;
	then[0].info.name = "z";
	then[2].info.line = 2;
	CHECK(since(0)->info.calls == 5 && between->plain.region[2].info.calls == 5);
	end();
}

static int is(const struct tach_value *v, double value, double raw, double overhead,
	      double error, uint32_t flags)
{
	if (fabs(v->value - value) < 1e-9 && fabs(v->raw - raw) < 1e-9 &&
	    fabs(v->overhead - overhead) < 1e-9 && fabs(v->error - error) < 1e-9 &&
	    v->flags == flags)
		return 1;
	printf("# %.12g, raw %g, overhead %g, error %.12g, flags %#x\n", v->value, v->raw,
	       v->overhead, v->error, v->flags);
	return 0;
}

static void values(void)
{
	begin();
	for (int part = 0; part < 2; part++) {
		now[0].value[part][1] = (struct tach_value){10, 20, 9, 2, TACH_FLAG_MIXED, 0};
		then[0].value[part][1] = (struct tach_value){4, 13, 1, 1, 0, 0};
	}
	since(0);
	for (int part = 0; part < 2; part++)
		CHECK(is(&between->plain.region[0].value[part][1], 6, 7, 8, 1,
			 TACH_FLAG_MIXED));
	end();
	/* The stated error is at most the possible one. */
	begin();
	now[0].value[0][1] = (struct tach_value){10, 10, 0, 2, 0, 0};
	then[0].value[0][1] = (struct tach_value){9, 9, 0, 1, TACH_FLAG_SMALL, 0};
	CHECK(is(&since(0)->value[0][1], 1, 1, 0, 1, TACH_FLAG_SMALL));
	end();
}

/*
 * 25 entries before and 100 since: the error is that of a random walk of 100 reads, not a
 * difference of errors.
 */
static void error_of_the_clock(void)
{
	begin();
	newer->clock_hz = older->clock_hz = 5e8;
	newer->clock_error = 0.01;
	older->clock_error = 0.02;
	now[0].info.entries = now[0].info.outermost = now[0].info.calls = 125;
	then[0].info.entries = then[0].info.outermost = then[0].info.calls = 25;
	now[0].value[0][0] = (struct tach_value){5000, 5000, 0, 30 + 2 * sqrt(125) + 50, 0, 0};
	then[0].value[0][0] = (struct tach_value){1000, 1000, 0, 10 + 2 * 5 + 20, 0, 0};
	CHECK(is(&since(0)->value[0][0], 4000, 4000, 0, 20 + 2 * 10 + 40, 0));
	end();
}

/* The estimate of the clock's rate improved, so the same ticks became other nanoseconds. */
static void better_rate(void)
{
	static struct tach_bucket was[] = {{100 / 1.01, 103 / 1.01, 5},
					   {200 / 1.01, 207 / 1.01, 7}};
	static struct tach_bucket is_now[] = {{100, 103, 6}, {104, 111, 2}, {200, 207, 7}};
	const struct tach__plain_buckets *b;

	begin();
	newer->clock_hz = 1e9;
	older->clock_hz = 1.01e9;
	now[0].value[0][0] = (struct tach_value){.value = 1e6, .raw = 1e6};
	then[0].value[0][0] = (struct tach_value){.value = 1e6 / 1.01, .raw = 1e6 / 1.01};
	now[0].histogram[0] = (struct tach__plain_buckets){.count = 3, .at = is_now};
	then[0].histogram[0] = (struct tach__plain_buckets){.count = 2, .at = was};
	CHECK(since(0)->value[0][0].value < 1e-6);
	b = &between->plain.region[0].histogram[0];
	CHECK(b->count == 2 && b->at[0].low == 100 && b->at[0].count == 1 &&
		      b->at[1].low == 104 && b->at[1].count == 2,
	      "%d", b->count);
	end();
}

/* In the older snapshot, the first and the last bucket may have been narrower. */
static void widened_end_buckets_are_subtracted(void)
{
	static struct tach_bucket was[] = {{18, 18, 2}, {36, 36, 4}};
	static struct tach_bucket is_now[] = {
		{17, 17, 5}, {18, 19, 3}, {32, 39, 9}, {64, 64, 1}};
	const struct tach__plain_buckets *b;

	begin();
	now[0].histogram[1] = (struct tach__plain_buckets){.count = 4, .at = is_now};
	then[0].histogram[1] = (struct tach__plain_buckets){.count = 2, .at = was};
	b = &since(0)->histogram[1];
	CHECK(b->count == 4 && b->at[0].count == 5 && b->at[1].count == 1 &&
	      b->at[2].count == 5 && b->at[3].count == 1);
	CHECK(b->at[2].low == 32 && b->at[3].high == 64);
	end();
}

static void another_set(void)
{
	begin();
	now[0].info.calls = then[0].info.calls = 5;
	CHECK(since(0)->info.calls == 0);
	tach_snapshot_free(between);
	older->plain.quantity[1] = "instructions";
	CHECK(since(0)->info.calls == 5);
	tach_snapshot_free(between);
	older->plain.quantity[1] = "cycles";
	older->plain.nquantities = 1;
	CHECK(since(0)->info.calls == 5);
	older->plain.nquantities = 2;
	end();
}

/* Other sums have the same names: the counts begin again. */
static void same_set_again(void)
{
	begin();
	newer->generation = 2;
	older->generation = 1;
	now[0].info.calls = now[0].info.entries = 150;
	then[0].info.calls = then[0].info.entries = 100;
	CHECK(since(0)->info.calls == 150);
	tach_snapshot_free(between);
	older->generation = 2;
	CHECK(since(0)->info.calls == 50 && between->generation == 2);
	tach_snapshot_free(between);
	/* A report of an older version lacks this number. */
	older->generation = 0;
	CHECK(since(0)->info.calls == 50);
	end();
}

/* In sparse mode, entries since the older snapshot are treated as a sample of their own. */
static void later_entries_are_a_sample_of_their_own(void)
{
	struct tach__sample s[2] = {{0}}, was[2] = {{0}};
	double t = 1.96 + 2.4 / 399 + 8.4 / (399. * 399 * 399), error;

	begin();
	now[0].info.skipped = 1500;
	then[0].info.skipped = 300;
	now[0].sample[0] = s;
	then[0].sample[0] = was;
	was[1] = (struct tach__sample){.units = 100,
				       .sum = 1000,
				       .square = 40000,
				       .crossed = 1000,
				       .paced = 100,
				       .entries = 100,
				       .seen = 100,
				       .all = 400,
				       .fixed = 10,
				       .least = TACH__SAMPLE_ENTRIES};
	s[1] = (struct tach__sample){.units = 500,
				     .sum = 5000,
				     .square = 100000,
				     .crossed = 5000,
				     .paced = 500,
				     .entries = 500,
				     .seen = 500,
				     .all = 2000,
				     .fixed = 50,
				     .most = 20,
				     .least = TACH__SAMPLE_ENTRIES};
	now[0].value[0][1] = (struct tach_value){20000, 20000, 0, 3000, 0, 0};
	then[0].value[0][1] = (struct tach_value){4000, 4000, 0, 2900, TACH_FLAG_UNBOUNDED, 0};
	/* 400 of 1600 entries, of 10 each; the sum of squares is 60000. */
	error = 4 * (40 + t * sqrt(400 * 20000 / 399. * 3 / 4));
	CHECK(is(&since(0)->value[0][1], 16000, 16000, 0, error, 0));
	tach_snapshot_free(between);
	/* The greatest value may be from before the older snapshot, so it is unknown. */
	s[1].most = 1000;
	CHECK(is(&since(0)->value[0][1], 16000, 16000, 0, 16000,
		 TACH_FLAG_UNBOUNDED | TACH_FLAG_SMALL));
	tach_snapshot_free(between);
	/* Saved reports contain no samples, so the error of the total is used. */
	now[0].sample[0] = NULL;
	CHECK(is(&since(0)->value[0][1], 16000, 16000, 0, 3000, 0));
	end();
}

static void failures(void)
{
	struct tach_snapshot *out = NULL, *volatile none = NULL;
	struct tach_snapshot **volatile nowhere = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	begin();
	between = NULL;
	CHECK(tach_snapshot_since(none, older, &out, &err) == TACH_ERR_INVAL);
	CHECK(err.code == TACH_ERR_INVAL && err.line == 0 && err.column == 0 && err.text[0]);
	CHECK(tach_snapshot_since(newer, none, &out, &err) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_since(newer, older, nowhere, &err) == TACH_ERR_INVAL && !out);
	end();
}

int main(void)
{
	CASE(counts);
	CASE(numbers_of_the_whole_snapshot);
	CASE(by_place_in_any_order);
	CASE(values);
	CASE(error_of_the_clock);
	CASE(better_rate);
	CASE(widened_end_buckets_are_subtracted);
	CASE(another_set);
	CASE(same_set_again);
	CASE(later_entries_are_a_sample_of_their_own);
	CASE(failures);
	return check_done();
}
