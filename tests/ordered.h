/* SPDX-License-Identifier: MIT */
/*
 * For a test that includes the file it asks: in which order that stores what others read
 * without a lock, and loads what others store. x86 keeps them in their order whatever was asked
 * for, and a guest of one processor shows no other, so that no run could tell.
 */
#ifndef TESTS_ORDERED_H
#define TESTS_ORDERED_H

/* The test's: before each atomic store behind this include; where there is ORDERED_LOADS, each
 * load. */
static void ordered(const void *at, int order);

#define __atomic_store_n(at, value, order)                                                     \
	(ordered(at, order), __atomic_store_n(at, value, order))
#ifdef ORDERED_LOADS
static void ordered_load(const void *at, int order);
#define __atomic_load_n(at, order) (ordered_load(at, order), __atomic_load_n(at, order))
#endif

#endif
