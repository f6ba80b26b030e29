/* SPDX-License-Identifier: MIT */
/*
 * The list of threads: one thread ends and is added to the totals (record.c: tach__record_fold,
 * tach__records_reclaim). The next takes its record, clears it and is listed
 * (tach__record_take, thread.c: record_publish). Meanwhile a snapshot walks without the lock
 * (process.c: tach__walk_begin; core/snapshot/snapshot.c: take_totals, add_threads).
 *
 * The first thread has counted 1, the second counts 10, so a snapshot shows 1 or 11.
 */
#include "memory.inc"

bool locked, listed = true, ended, free;
byte calls = 1, folded;	    /* the record */
byte totals, folds, walks; /* changed under the lock, except by the last walks-- */

#define LOCK   atomic { !locked -> locked = true }
#define UNLOCK locked = false

/* With the lock. */
inline reclaim()
{
	if
	:: ended && (walks == 0 || M == 1) -> /* weakening 1: no check if a walk is running */
		ended = false;
		listed = false;
		free = true
	:: else
	fi
}

active proctype first()
{
	byte did;

	LOCK;
	do
	STORE(0, 0, totals = totals + calls)
	STORE(1, 0, folds = folds + 1)
	STORE(2, BIT(0) | BIT(1), folded = folds; ended = true)
	:: did == 7 -> break
	od;
	if
	:: reclaim()
	:: skip /* another walk is in progress */
	fi;
	UNLOCK
}

active proctype second()
{
	byte did;

	LOCK;
	reclaim();
	if
	:: free -> free = false; UNLOCK
	:: else -> UNLOCK; goto none /* a record of its own */
	fi;
	/* The lock taken for the list does not order earlier stores. */
	do
	STORE(0, 0, calls = 0)
	STORE(1, 0, folded = 0)
	NEXT(2, STORES_WAIT(2, UNLESS(2, BIT(0) | BIT(1))), !locked -> locked = true; listed = true)
	STORE(3, BEFORE(3), locked = false)
	STORE(4, BIT(0) | BIT(2), calls = 10)
	:: did == 31 -> break
	od
	/* weakening 2: listed before it is cleared (rcu_assign_pointer) */
none:
	skip
}

active proctype snapshot()
{
	byte did, sum, since, number, more;
	bool there;

	LOCK;
	sum = totals;
	since = folds;
	if
	:: M == 3 -> UNLOCK; walks++ /* weakening 3: the walk begins after the lock is released */
	:: else -> walks++; UNLOCK
	fi;
	do
	LOAD(0, 0, 0, there = listed)
	LOAD(1, 0, BIT(0), number = folded)
	LOAD(2, 0, BIT(0) | BIT(1), more = calls)
	STORE(3, UNLESS(4, BEFORE(3)), walks--)
	:: did == 15 -> break
	od;
	/* weakening 4: the end of a walk does not release */
	if
	:: there && (!number || (number > since && M != 5) || M == 6) -> sum = sum + more
	:: else
	fi;
	/* weakening 5: threads that ended since the totals are omitted */
	/* weakening 6: threads in the totals are not omitted */
	assert(sum == 1 || sum == 11)
}
