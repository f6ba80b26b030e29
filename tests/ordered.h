/* SPDX-License-Identifier: MIT */
/*
 * For a test that includes its file: checks the order in which the code stores data that others
 * read without a lock, and loads data that others store. x86 keeps the order in any case, and a
 * guest with one processor cannot show another order, so no run could notice a mistake.
 */
#ifndef TESTS_ORDERED_H
#define TESTS_ORDERED_H

/*
 * Defined by the test: called before each atomic store after this include and, with
 * ORDERED_LOADS, before each load.
 */
static void ordered(const void *at, int order);

#define __atomic_store_n(at, value, order)                                                     \
	(ordered(at, order), __atomic_store_n(at, value, order))
#ifdef ORDERED_LOADS
static void ordered_load(const void *at, int order);
#define __atomic_load_n(at, order) (ordered_load(at, order), __atomic_load_n(at, order))
#endif

#endif
