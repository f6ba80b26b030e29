/* SPDX-License-Identifier: MIT */
/*
 * Slots of a thread in another process while they are written: each is consistent, or flagged;
 * and a thread that no longer exists.
 */
#include "tests/unit/snapshot/slots_there.h"

static unsigned odd_from, even_from, moves_from, moves_to, moves_every, moves_at;

static void changes(unsigned nth)
{
	struct tach__slot *s = slot_of(64);

	if (odd_from && nth >= odd_from)
		s->seq |= 1;
	if (even_from && nth >= even_from)
		s->seq &= ~(uint64_t)1;
	if (moves_every && nth >= moves_from && nth < moves_to && nth % moves_every == moves_at)
		s->seq += 2;
}

/* Words of the second copy are valid only if the sequences of the other copies agree. */
static void words_change(unsigned nth)
{
	tach__part(slot_of(64), COUNT, 0)->calls = nth % 3 == (moves_at + 1) % 3 ? 1064 : 5;
}

enum { BEFORE = 1 + 1 + 1, BULK = BEFORE + 1, SINGLE = BULK + 3, TIMES = 68 };

static void under_write(void)
{
	static const struct {
		unsigned odd, even, every, at, from, to, reads;
		int whole;
	} cases[] = {
		/* Never whole. */
		{1, 0, 0, 0, 0, 0, SINGLE - 1 + 3 * TIMES + 1, 0},
		/* The slot is consistent from the second or the third copy of the chunk on. */
		{1, BULK + 1, 0, 0, 0, 0, SINGLE - 1 + 3 + 1, 1},
		{1, BULK + 2, 0, 0, 0, 0, SINGLE - 1 + 3 + 1, 1},
		{1, BULK, 0, 0, 0, 0, SINGLE, 1},
		/* Another change in the second or the third copy. */
		{0, 0, 1000, BULK + 1, 1, ~0u, SINGLE - 1 + 3 + 1, 1},
		{0, 0, 1000, BULK + 2, 1, ~0u, SINGLE - 1 + 3 + 1, 1},
		/*
		 * Then slots are read one by one; changes happen before the second or third
		 * read of each three, up to a certain try.
		 */
		{0, 0, 3, (BULK + 1) % 3, 1, ~0u, SINGLE - 1 + 3 * TIMES + 1, 0},
		{0, 0, 3, (BULK + 2) % 3, 1, ~0u, SINGLE - 1 + 3 * TIMES + 1, 0},
		{0, 0, 3, (BULK + 2) % 3, 1, SINGLE + 3 * 9, SINGLE - 1 + 3 * 10 + 1, 1},
		{1, SINGLE + 3 * 20, 0, 0, 0, 0, SINGLE - 1 + 3 * 21 + 1, 1},
		/* The last one. */
		{1, SINGLE + 3 * (TIMES - 1), 0, 0, 0, 0, SINGLE - 1 + 3 * TIMES + 1, 1},
		{1, SINGLE + 3 * (TIMES - 1) + 1, 0, 0, 0, 0, SINGLE - 1 + 3 * TIMES + 1, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tach__row *row;

		begin();
		enter(64);
		enter(70);
		odd_from = cases[i].odd;
		even_from = cases[i].even;
		moves_every = cases[i].every;
		moves_at = cases[i].at;
		moves_from = cases[i].from;
		moves_to = cases[i].to;
		there_before = changes;
		CHECK(take() == 0 && there_reads == cases[i].reads, "%d: %u, not %u", (int)i,
		      there_reads, cases[i].reads);
		row = tach__rows_at(&rows, 64);
		CHECK(cases[i].whole ? is_row(64)
				     : row->calls == 0 && row->flags == TACH_FLAG_STALE,
		      "%d: %d", (int)i, (int)row->calls);
		CHECK(stale == !cases[i].whole && is_row(70));
		end();
	}
}

static void words_of_the_second(void)
{
	for (int singly = 0; singly < 2; singly++) {
		begin();
		enter(64);
		moves_at = BULK % 3;
		if (singly)
			tach__table(hot)[64] = NULL;
		record.overflow[0] = slot_of(64);
		record.overflow_id[0] = singly ? 64 : 0;
		there_before = words_change;
		CHECK(take() == 0);
		CHECK(is_row(64));
		end();
	}
}

/* Pauses grow while the slot's writer has no processor: 0.2 s in total. */
static void pauses_grow_up_to_the_limit(void)
{
	long all = 0;

	begin();
	enter(64);
	odd_from = 1;
	even_from = moves_every = 0;
	there_before = changes;
	CHECK(take() == 0 && stale == 1 && nrested == TIMES - 48, "%u", nrested);
	for (unsigned i = 0; i < nrested; i++) {
		CHECK(rested[i] == 100000L << i / 2, "%u: %ld ns", i, rested[i]);
		all += rested[i];
	}
	CHECK(all > 200000000 && all < 210000000);
	end();
	/* The try before the first pause. */
	begin();
	enter(64);
	even_from = SINGLE + 3 * 47;
	there_before = changes;
	CHECK(take() == 0 && stale == 0 && nrested == 0);
	end();
}

/* Each of the reads fails in turn. */
static void failed_reads_end_the_thread(void)
{
	unsigned reads;

	for (int gone = 0; gone < 2; gone++)
		for (int singly = 0; singly < 2; singly++) {
			begin();
			enter(FIRST);
			enter(64);
			odd_from = 1;
			even_from = singly ? SINGLE + 3 * 3 : 1;
			there_before = changes;
			CHECK(take() == 0);
			reads = there_reads;
			end();
			for (unsigned n = 1; n <= reads; n++) {
				begin();
				enter(FIRST);
				enter(64);
				there_before = changes;
				there_fails = n;
				there_code = gone ? -ESRCH : -EFAULT;
				CHECK(take() == (gone ? -ESRCH : TACH__REMOTE_AGAIN) &&
					      there_reads == n,
				      "%u: %u", n, there_reads);
				end();
			}
		}
}

int main(void)
{
	CASE(under_write);
	CASE(words_of_the_second);
	CASE(pauses_grow_up_to_the_limit);
	CASE(failed_reads_end_the_thread);
	return check_done();
}
