/* SPDX-License-Identifier: MIT */
/*
 * For a test that includes the file it asks: in which order that stores what others read
 * without a lock. x86 keeps stores in their order whatever was asked for, so that no run could
 * tell.
 */
#ifndef TESTS_ORDERED_H
#define TESTS_ORDERED_H

/* The test's: before each atomic store behind this include. */
static void ordered(const void *at, int order);

#define __atomic_store_n(at, value, order)                                                     \
	(ordered(at, order), __atomic_store(at, &(__typeof__(*(at))){value}, order))

#endif
