/* SPDX-License-Identifier: MIT */
/*
 * The registry's lock, for tests without other threads: it is taken once, and another thread
 * may act before that.
 */
#ifndef TESTS_UNIT_REGION_LOCKED_H
#define TESTS_UNIT_REGION_LOCKED_H

#include "core/region/region.h"
#include "tests/check.h"

static int locks;
static void (*meanwhile)(void); /* actions of another thread before the lock is taken */

static void sim_lock(struct tach__held *held)
{
	(void)held;
	if (meanwhile)
		meanwhile();
	CHECK(locks++ == 0);
}

static void sim_unlock(const struct tach__held *held)
{
	(void)held;
	CHECK(--locks == 0);
}

#define tach__lock   sim_lock
#define tach__unlock sim_unlock

#endif
