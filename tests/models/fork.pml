/* SPDX-License-Identifier: MIT */
/*
 * A fork while another thread has the registry's lock (core/region/process.c). The child has
 * the memory that had taken effect at that moment, only its own thread, and zeros in the page
 * that forks clear: the lock and `alive`. `busy` shows the child that lists and rows may be
 * incomplete.
 *
 * The child uses only complete data, never waits for a lock that no thread will release, and
 * does not reuse a record that another record still points to.
 */
#include "memory.inc"

bool lock, busy, alive;
byte threads, sites; /* both are written by one change: consistent if equal */
bool forked;
bool child_lock, child_busy, child_alive;
byte child_threads, child_sites;

active proctype changer()
{
	byte did, n;

	do
	:: n < 2 ->
		n++;
		atomic { !lock -> lock = true };
		did = 0;
		do
		STORE(0, 0, busy = true)
		STORE(1, UNLESS(1, BIT(0)), threads = n)
		STORE(2, UNLESS(1, BIT(0)), sites = n)
		STORE(3, BIT(0) | UNLESS(2, BIT(1) | BIT(2)), busy = false)
		STORE(4, BEFORE(4), lock = false)
		:: did == 31 -> break
		od
		/* weakening 1: no fence between `busy` and the change */
		/* weakening 2: the clearing of `busy` does not release */
	:: else -> break
	od
}

active proctype forker()
{
	bool recycled;

	atomic {
		child_lock = (M == 3 -> lock : false); /* weakening 3: the lock is not cleared */
		child_alive = (M == 4 -> true : false); /* weakening 4: `alive` is not wiped */
		child_busy = busy;
		child_threads = threads;
		child_sites = sites;
		forked = true
	}
	/* tach__lock in the child */
	assert(!child_lock);
	child_lock = true;
	if
	:: !child_alive ->
		recycled = !child_busy || M == 5; /* weakening 5: recycled although busy */
		assert(!recycled || child_threads == child_sites);
		if
		:: !recycled -> child_threads = 0
		:: else
		fi;
		if
		:: child_busy && M != 6 -> child_sites = child_threads /* tach__sites_mend */
		:: else
		fi;
		/* weakening 6: sites are not repaired */
		child_alive = true
	:: else
	fi;
	assert(child_threads == child_sites)
}
