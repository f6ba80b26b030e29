/* SPDX-License-Identifier: MIT */
/* Histograms without regions: the bucket of each value, and the bounds of each bucket. */
#include <math.h>
#include <string.h>
#include "core/region/region.h"
#include "tests/check.h"
#include "tests/guarded.h"

static size_t freed;

static void sim_free(void *at, size_t size)
{
	CHECK(at);
	freed += size;
	guarded_free();
}

static int soils; /* counts touched pages; makes each access visible */
static void *sim_pages(size_t size)
{
	void *at = guarded_pages(size);

	return at && soils ? memset(at, 0x77, size) : at;
}

#define tach__pages	 sim_pages
#define tach__pages_free sim_free
#include "core/region/histogram.c"

enum { SUMS = 2 };
static struct tach__entry_cost cost;

static void add(uint32_t *h, uint64_t first, uint64_t second)
{
	const uint64_t values[SUMS] = {first, second}, pairs[2] = {0, 0};

	tach__histograms_add(h, values, &cost, 0, pairs, SUMS);
}

/* Returns the only bucket that is not empty. */
static struct tach_bucket only(const uint32_t *h, uint32_t sum)
{
	struct tach_bucket one = {0};

	CHECK(tach__histogram_buckets(h, sum, &one, 1) == 1);
	return one;
}

/*
 * A value's bucket is at most an eighth of the value wide; each small value has its own bucket.
 */
static void each_value_has_its_bucket(void)
{
	memset(&cost, 0, sizeof cost);
	for (int power = 0; power < 63; power++)
		for (uint64_t near = 0; near < 3; near++) {
			uint64_t v = ((uint64_t)1 << power) + near - 1;
			uint32_t *h = tach__histograms_make(SUMS);
			struct tach_bucket b;

			CHECK(h);
			if (!h)
				return;
			add(h, 5, v);
			b = only(h, 1);
			CHECK(b.count == 1 && b.low <= (double)v && b.high >= (double)v,
			      "%llu: %g to %g", (unsigned long long)v, b.low, b.high);
			CHECK(b.high - b.low <= b.low / 8, "%g to %g", b.low, b.high);
			CHECK(v >= 16 || b.high == (double)v);
			CHECK(only(h, 0).low == 5);
			tach__histograms_free(h, SUMS);
		}
	CHECK(freed == 3 * 63 * tach__histograms_size(SUMS));
	/* The memory fills its last page completely. */
	CHECK(tach__histograms_size(256) % 4096 == 0 && tach__histograms_make(256));
	guarded_free();
	guarded_left = 0;
	CHECK(!tach__histograms_make(SUMS));
	guarded_free();
}

/* Each page is touched before anything is counted. */
static void pages_are_touched(void)
{
	enum { MANY = 8 };
	size_t size = tach__histograms_size(MANY);
	const unsigned char *h;

	soils = 1;
	h = (const unsigned char *)tach__histograms_make(MANY);
	soils = 0;
	CHECK(h && size > 3 * 4096);
	for (size_t at = 0; h && at + 4096 <= size; at += 4096)
		CHECK(memchr(h + at, 0, 4096), "%d of %d", (int)at, (int)size);
	guarded_free();
}

/* The overhead of both kinds of pairs is subtracted; a negative result becomes 0. */
static void less_what_it_costs(void)
{
	const uint64_t values[SUMS] = {1000, 3}, pairs[2] = {5, 2};

	cost.empty[0][0] = 100;
	cost.empty[1][0] = 400;
	cost.pair[0][0] = 30;
	cost.pair[1][0] = 200;
	cost.empty[0][1] = cost.empty[1][1] = 4;
	for (int fenced = 0; fenced < 2; fenced++) {
		uint32_t *h = tach__histograms_make(SUMS);
		double net = fenced ? 110 : 410;

		CHECK(h);
		if (!h)
			return;
		tach__histograms_add(h, values, &cost, fenced, pairs, SUMS);
		CHECK(only(h, 0).low <= net && only(h, 0).high >= net, "%g", only(h, 0).low);
		CHECK(only(h, 1).high == 0);
		tach__histograms_free(h, SUMS);
	}
	memset(&cost, 0, sizeof cost);
}

static void least_and_greatest(void)
{
	uint32_t *h = tach__histograms_make(SUMS), *more = tach__histograms_make(SUMS);
	struct tach_bucket b[4] = {{0}};

	CHECK(h && more);
	if (!h || !more)
		return;
	CHECK(tach__histogram_buckets(h, 0, b, 4) == 0);
	for (int i = 0; i < 100; i++)
		add(h, i < 10 ? 0 : i < 40 ? 2 : 33, 7);
	CHECK(tach__histogram_buckets(h, 0, b, 2) == 3 && b[1].low == 2 && !b[2].count);
	CHECK(tach__histogram_buckets(h, 0, b, 4) == 3 && b[0].count == 10 &&
	      b[1].count == 30 && b[2].count == 60 && b[2].low == 32 && b[2].high == 33);
	/* If only one value was added, it is known exactly. */
	add(more, 4783, 4783);
	CHECK(tach__histogram_buckets(more, 0, b, 4) == 1 && b[0].low == 4783 &&
	      b[0].high == 4783);
	add(more, 4700, 4900);
	CHECK(tach__histogram_buckets(more, 0, b, 4) == 1 && b[0].low == 4700 &&
	      b[0].high == 4783);
	CHECK(tach__histogram_buckets(more, 1, b, 4) == 1 && b[0].low == 4783 &&
	      b[0].high == 4900);
	tach__histograms_merge(h, more, SUMS);
	CHECK(tach__histogram_buckets(h, 0, b, 4) == 4 && b[0].low == 0 && b[3].low == 4608 &&
	      b[3].high == 4783 && b[3].count == 2 && b[2].high == 35);
	CHECK(tach__histogram_buckets(h, 1, b, 4) == 2 && b[0].low == 7 && b[1].high == 4900);
	/* The bounds of any value's bucket. */
	tach__histogram_bounds(4783.4, b);
	CHECK(b[0].low == 4608 && b[0].high == 5119);
	tach__histogram_bounds(-1, b);
	CHECK(b[0].low == 0 && b[0].high == 0);
	guarded_free();
}

static void full_buckets_stay_full(void)
{
	uint32_t *h = tach__histograms_make(SUMS), *more = tach__histograms_make(SUMS);
	struct tach_bucket b[4] = {{0}};

	CHECK(h && more);
	if (!h || !more)
		return;
	memset(more, 0xff, tach__histograms_size(SUMS));
	tach__histograms_merge(h, more, SUMS);
	add(more, 2, 7);
	CHECK(tach__histogram_buckets(h, 0, b, 4) == BUCKETS && b[0].count == UINT32_MAX);
	CHECK(tach__histogram_buckets(more, 0, b, 4) == BUCKETS && b[2].count == UINT32_MAX);
	guarded_free();
}

int main(void)
{
	CASE(each_value_has_its_bucket);
	CASE(pages_are_touched);
	CASE(less_what_it_costs);
	CASE(least_and_greatest);
	CASE(full_buckets_stay_full);
	return check_done();
}
