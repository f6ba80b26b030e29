/* SPDX-License-Identifier: MIT */
/*
 * A slot: its thread adds entries (add() of core/region/stop.c), and a signal handler adds one
 * during that (add_reading, tach__region_overflow). Snapshots copy the slot (copy_once,
 * tach__slot_copy of slots.c) and keep the last consistent copy in case its writer stays
 * interrupted (the latch).
 *
 * Two words stand for the sums: after n entries each is n and seq is 2n. A copy that counts as
 * consistent is from one moment; a snapshot never goes back; at the end no entry is missing.
 */
#include "memory.inc"

byte seq, sum, calls;		  /* the slot */
byte over_seq, over_sum, over_calls; /* its overflow */
byte interrupted;		  /* 0: after the first entry; 1: during it */
bool done;

/*
 * Entry number k; its operations are numbered from i; `after`: the last operation of the
 * previous entry.
 */
#define ENTRY(i, k, after, seq, sum, calls)                                                    \
	STORE((i), (after), seq = 2 * (k) - 1)                                                 \
	STORE((i) + 1, (after) | UNLESS(1, BIT(i)), sum = (k))                                 \
	STORE((i) + 2, (after) | UNLESS(1, BIT(i)), calls = (k))                               \
	STORE((i) + 3, BIT(i) | UNLESS(2, BIT((i) + 1) | BIT((i) + 2)), seq = 2 * (k))
/* weakening 1: no release fence after the odd sequence */
/* weakening 2: no release fence before the even sequence */

/* The handler's entry, as if no write was in progress: it reads and writes the same words. */
#define INTO(i)                                                                                \
	STORE((i), BIT(0), seq = 2)                                                            \
	STORE((i) + 1, BIT(i) | BIT(1), sum = 2)                                               \
	STORE((i) + 2, BIT(i), calls = 1)                                                      \
	STORE((i) + 3, BEFORE((i) + 3), seq = 3)
/* weakening 3: a handler during an entry adds to the same slot */

active proctype writer()
{
	short did;

	if
	:: interrupted = 0
	:: interrupted = 1
	fi;
	if
	:: interrupted == 0 ->
		do
		ENTRY(0, 1, 0, seq, sum, calls)
		ENTRY(4, 2, BIT(3) | UNLESS(2, BIT(1) | BIT(2)), seq, sum, calls)
		:: did == 255 -> break
		od
	:: interrupted == 1 && M != 3 ->
		do
		ENTRY(0, 1, 0, seq, sum, calls)
		ENTRY(4, 1, 0, over_seq, over_sum, over_calls)
		:: did == 255 -> break
		od
	:: interrupted == 1 && M == 3 ->
		do
		STORE(0, 0, seq = 1)
		STORE(1, BIT(0), sum = 1)
		INTO(2)
		STORE(6, BEFORE(6), calls = 2)
		STORE(7, BEFORE(7), seq = 4)
		:: did == 255 -> break
		od
	fi;
	done = true
}

/* The snapshot's values. */
byte first, second, got_sum, got_calls;

/* core/region/slots.c: copy_once */
inline copy(seq, sum, calls)
{
	did = 0;
	do
	LOAD(0, 0, 0, first = seq)
	LOAD(1, 0, UNLESS(4, BIT(0)), got_sum = sum)
	LOAD(2, 0, UNLESS(4, BIT(0)), got_calls = calls)
	LOAD(3, 0, BIT(0) | UNLESS(5, BIT(1) | BIT(2)), second = seq)
	:: did == 15 -> break
	od;
	/* weakening 4: the first read of the sequence does not acquire */
	/* weakening 5: no acquire fence before the second read */
	whole = (first % 2 == 0 || M == 6) && (first == second || M == 7);
	/* weakening 6: an odd sequence is accepted */
	/* weakening 7: no second read */
}

active proctype snapshots()
{
	byte did, n, tries, shown, latch_seq, latch_sum, latch_calls;
	bool whole;

	do
	:: n < 2 ->
		n++;
		tries = 0;
		do
		:: tries < 2 ->
			tries++;
			copy(seq, sum, calls);
			if
			:: whole || M == 8 -> /* weakening 8: the latch keeps inconsistent copies */
				latch_seq = first;
				latch_sum = got_sum;
				latch_calls = got_calls
			:: else
			fi;
			if
			:: whole -> break
			:: else
			fi
		:: else ->
			got_sum = latch_sum;
			got_calls = latch_calls;
			first = latch_seq;
			whole = latch_seq != 0;
			break
		od;
		if
		:: whole ->
			assert(got_sum == got_calls && first == 2 * got_sum);
			assert(got_sum >= shown);
			shown = got_sum
		:: else
		fi;
		copy(over_seq, over_sum, over_calls);
		assert(!whole || (got_sum == got_calls && first == 2 * got_sum))
	:: else -> break
	od;
	/* All at rest. */
	done -> assert(sum + over_sum == 2 && calls + over_calls == 2)
}
