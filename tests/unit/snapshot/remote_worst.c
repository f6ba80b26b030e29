/* SPDX-License-Identifier: MIT */
/*
 * Worst entries of another process: only consistent ones are used, whatever changes while they
 * are read.
 */
#include <string.h>
#include <tach.h>
#include "core/region/region.h"
#include "tests/check.h"
#include "tests/unit/snapshot/there.h"

enum { MOST = 3, COUNT = 2, TRIES = 64 };

static struct tach__worst *worst;
static struct tach__config config = {.count = COUNT, .worst = MOST};
static struct tach__row row;
static struct tach__remote r;

/* Two of three entries, with one sum or with all. */
static void begin(uint32_t sums)
{
	there_forget();
	r = there_remote();
	memset(&row, 0, sizeof row);
	worst = tach__worst_make(MOST, sums);
	there(worst, tach__worst_size(MOST, sums));
	worst->seq = 4;
	worst->n = 2;
	worst->missed = 6;
	for (uint64_t i = 0; i < 2; i++) {
		struct tach__kept *k = tach__worst_at(worst, i);

		*k = (struct tach__kept){
			.key = 10 + i, .begun = 20 + i, .tag = 30 + i, .thread = 40 + i};
		strcpy(k->name, "theirs");
		for (uint32_t q = 0; q < sums; q++)
			k->sum[q] = 100 * (1 + i) + q;
	}
	config.worst = MOST;
}

static int take(const struct tach__thread *record)
{
	return tach__remote_worst(&r, worst, &config, record, &row);
}

static void end(void)
{
	tach__worst_free(worst);
	tach__worst_free(row.worst);
}

static void taken(void)
{
	struct tach__thread record = {.tid = 77, .comm = "ours"};

	for (int of_thread = 0; of_thread < 2; of_thread++)
		for (uint32_t sums = 1; sums <= 1 + COUNT; sums += COUNT) {
			begin(sums);
			CHECK(take(of_thread ? &record : NULL) == 0 && there_reads == 4 &&
			      row.flags == 0);
			CHECK(row.worst && row.worst->n == 2 && row.worst->missed == 6 &&
			      row.worst->most == MOST && row.worst->sums == 1 + COUNT);
			for (uint64_t i = 0; i < 2; i++) {
				const struct tach__kept *k = tach__worst_at(row.worst, i);

				CHECK(k->key == 10 + i && k->begun == 20 + i &&
				      k->tag == 30 + i &&
				      k->thread == (of_thread ? 77 : 40 + i) &&
				      strcmp(k->name, of_thread ? "ours" : "theirs") == 0);
				for (uint32_t q = 0; q <= COUNT; q++)
					CHECK(k->sum[q] == (q < sums ? 100 * (1 + i) + q : 0));
			}
			/* The worst entries need memory in addition to the row's. */
			tach__worst_at(worst, 0)->key = 12;
			tach__worst_at(worst, 1)->key = 1;
			CHECK(take(NULL) == 0 && row.worst->n == 3);
			end();
		}
}

/* No entries are kept, or the entries belong to another set. */
static void entries_of_another_set_are_not_read(void)
{
	begin(1 + COUNT);
	CHECK(tach__remote_worst(&r, NULL, &config, NULL, &row) == 0 && there_reads == 0);
	config.worst = 0;
	CHECK(take(NULL) == 0 && there_reads == 0 && !row.worst);
	config.worst = MOST - 1;
	CHECK(take(NULL) == 0 && there_reads == 1 && !row.worst);
	config.worst = MOST;
	worst->sums = 2;
	CHECK(take(NULL) == 0 && there_reads == 2 && !row.worst);
	worst->sums = 2 + COUNT;
	CHECK(take(NULL) == 0 && there_reads == 3 && !row.worst);
	worst->sums = 1 + COUNT;
	/* There are more entries than fit. */
	worst->n = MOST + 1;
	CHECK(take(NULL) == 0 && row.worst && row.worst->n == 0 && row.flags == 0);
	worst->n = MOST;
	CHECK(take(NULL) == 0 && row.worst->n == 2 && row.flags == 0);
	end();
}

static void failed_reads_are_errors(void)
{
	for (unsigned n = 1; n <= 4; n++)
		for (int gone = 0; gone < 2; gone++) {
			begin(1 + COUNT);
			there_fails = n;
			there_code = gone ? -ESRCH : -EFAULT;
			CHECK(take(NULL) == (gone ? -ESRCH : TACH__REMOTE_AGAIN) &&
				      there_reads == n,
			      "%u: %u", n, there_reads);
			CHECK(!row.worst || row.worst->n == 0);
			end();
		}
}

/* ---- changes between reads ---- */

static unsigned odd_from, even_from, moves_every, moves_at;

/*
 * The first read gets the numbers; then each try has three reads, or two if the copy is
 * inconsistent.
 */
static void changes(unsigned nth)
{
	if (odd_from && nth >= odd_from)
		worst->seq |= 1;
	if (even_from && nth >= even_from)
		worst->seq &= ~(uint64_t)1;
	if (moves_every && nth % moves_every == moves_at)
		worst->seq += 2;
}

static void under_write(void)
{
	static const struct {
		unsigned odd, even, every, at, reads;
		int whole;
	} cases[] = {
		/* All the time. */
		{2, 0, 0, 0, 1 + 2 * TRIES, 0},
		/* Changes up to the last try, or one more. */
		{2, 2 * TRIES, 0, 0, 2 + 2 * TRIES, 1},
		{2, 2 * TRIES + 1, 0, 0, 1 + 2 * TRIES, 0},
		/* A change after the copy, or after the check. */
		{3, 0, 0, 0, 1 + 2 * TRIES, 0},
		{4, 0, 0, 0, 1 + 3 + 2 * (TRIES - 1), 0},
		{4, 6, 0, 0, 1 + 3 + 2 + 3, 1},
		/*
		 * Changes before each third read, which follows the copy, or before each second
		 * read, which is the copy.
		 */
		{0, 0, 3, 1, 1 + 3 * TRIES, 0},
		{0, 0, 2, 1, 1 + 2 * TRIES, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(1 + COUNT);
		there_before = changes;
		odd_from = cases[i].odd;
		even_from = cases[i].even;
		moves_every = cases[i].every;
		moves_at = cases[i].at;
		CHECK(take(NULL) == 0 && there_reads == cases[i].reads, "%d: %u", (int)i,
		      there_reads);
		CHECK(row.flags == (cases[i].whole ? 0 : TACH_FLAG_STALE), "%d", (int)i);
		CHECK(row.worst && row.worst->n == (cases[i].whole ? 2 : 0), "%d", (int)i);
		end();
	}
}

static uint32_t becomes_most, becomes_sums;

static void grows(unsigned nth)
{
	if (nth == 2) {
		worst->most = becomes_most;
		worst->sums = becomes_sums;
	}
}

static void checked_sizes_are_used(void)
{
	for (int sums = 0; sums < 2; sums++) {
		begin(1 + COUNT);
		there_before = grows;
		becomes_most = sums ? MOST : 1000000;
		becomes_sums = sums ? 1000000 : 1 + COUNT;
		CHECK(take(NULL) == 0 && row.worst->n == 2 && row.worst->most == MOST);
		worst->most = MOST;
		worst->sums = 1 + COUNT;
		end();
	}
}

int main(void)
{
	CASE(taken);
	CASE(entries_of_another_set_are_not_read);
	CASE(failed_reads_are_errors);
	CASE(under_write);
	CASE(checked_sizes_are_used);
	return check_done();
}
