/* SPDX-License-Identifier: MIT */
/*
 * For a test that includes the .c file: checks the order of stores that others read without a
 * lock, and of loads that others store. x86 keeps the order in any case, and a guest with one
 * processor cannot show another order, so no run could detect a mistake.
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
