/* SPDX-License-Identifier: MIT */
/* Which entries are skipped: each decision, with known random numbers. */
#include <math.h>
#include <string.h>
#include "core/region/region.h"
#include "core/region/sampling.c"
#include "tests/check.h"

static struct tach__config config;
static struct tach__thread record;
static struct tach__sampling sampling;
static union tach__slot_copy copy;
static struct tach__slot *const slot = &copy.slot;

static void begin(uint32_t sparse, uint32_t warmup)
{
	memset(&copy, 0, sizeof copy);
	memset(&sampling, 0, sizeof sampling);
	config = (struct tach__config){.count = 2, .sparse = sparse, .warmup = warmup};
	if (sparse > 1)
		config.per_log_keep = 1 / log(1 - 1.0 / sparse);
	record.config = &config;
	record.count = 2;
	record.passed = 0;
	record.random = 1;
	slot->sampling = &sampling;
	slot->id = TACH__SITE_FIRST;
}

/* Marsaglia's xorshift64 with the shifts 13, 7, 17, starting with 1. */
static void numbers(void)
{
	begin(0, 0);
	CHECK(tach__random(&record) == 0x40822041);
	CHECK(tach__random(&record) == 0x100041060c011441);
	CHECK(tach__random(&record) == 0x9b1e842f6e862629);
}

/*
 * A gap has a geometric distribution: `sparse` gives its mean, and with one entry in two the
 * gap is 0 half of the time.
 */
static void gaps(void)
{
	static const uint32_t sparse[] = {2, 10, 1000};
	enum { N = 100000 };

	for (int k = 0; k < 3; k++) {
		double sum = 0, none = 0, mean = sparse[k] - 1;

		begin(sparse[k], 0);
		for (int i = 0; i < N; i++) {
			uint64_t gap = tach__sampling_draw(&record);

			sum += (double)gap;
			none += gap == 0;
		}
		/* Five standard deviations; the random numbers are always the same. */
		CHECK(fabs(sum / N - mean) < 5 * sparse[k] / sqrt(N), "%g", sum / N);
		CHECK(fabs(none / N - 1.0 / sparse[k]) < 5 * sqrt(1.0 / sparse[k] / N), "%g",
		      none / N);
	}
}

/*
 * The first entries are measured; after that no entry requests it, except for another reason.
 */
static void warmed_up(void)
{
	for (uint32_t sparse = 1; sparse < 3; sparse++) {
		struct tach__part *part = tach__part(slot, 2, 0);

		begin(sparse, 2);
		CHECK(tach__sampling_skips(&record, slot) == 1);
		CHECK(slot->excluded == 1 && record.passed == 1 && !slot->rest && !part->outer);
		CHECK(tach__sampling_skips(&record, slot) == 1);
		CHECK(slot->excluded == 2 && record.passed == 2 && !slot->skipped);
		CHECK(slot->rest == (sparse == 1 ? TACH__OUTER_NONE : 0));
		CHECK(part->outer == slot->rest);
		CHECK(tach__sampling_skips(&record, slot) == 0 && slot->excluded == 2 &&
		      record.passed == 2);
	}
}

static void skipped_entries_are_counted(void)
{
	begin(10, 0);
	sampling.gap = 2;
	for (uint64_t i = 1; i <= 2; i++) {
		CHECK(tach__sampling_skips(&record, slot) == 1);
		CHECK(sampling.gap == 2 - i && slot->skipped == i && record.passed == i &&
		      !slot->excluded);
	}
	/* The next random number is 0.606 of the maximum. */
	record.random = 0x100041060c011441;
	CHECK(tach__sampling_skips(&record, slot) == 0);
	CHECK(sampling.gap == 8 && !slot->excluded, "%d", (int)sampling.gap);
	/* All entries of a calibration are measured, although this takes longer. */
	sampling.gap = 0;
	slot->id = TACH__SITE_FIRST - 1;
	record.random = 0x100041060c011441;
	CHECK(tach__sampling_skips(&record, slot) == 0 && !sampling.gap);
	CHECK(record.random == 0x9b1e842f6e862629);
}

int main(void)
{
	CASE(numbers);
	CASE(gaps);
	CASE(warmed_up);
	CASE(skipped_entries_are_counted);
	return check_done();
}
