/* SPDX-License-Identifier: MIT */
/* Searches names, ignoring ASCII case in any locale: by order, and faster by hash if
 * tools/mkevents has prepared the hashes. */
#ifndef TACH_CORE_TABLES_SEARCH_H
#define TACH_CORE_TABLES_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "core/base/text.h"

/* Returns the first of n sorted elements that is not less than name[0..length), or n.
 * at(context, i) returns element i's name. Takes ceil(log2(n + 1)) steps. */
static inline size_t tach__lower_bound(size_t n, const char *(*at)(const void *, size_t),
				       const void *context, const char *name, size_t length)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tach__name_compare(name, length, at(context, middle)) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- by hash ---- */

/* Loads eight bytes as a little-endian number, so that all build machines have equal hashes. */
static inline uint64_t tach__load8(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static inline uint64_t tach__load4(const char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap32(word);
#endif
	return word;
}

/* Loads the last eight bytes, which may overlap earlier ones, or a whole shorter name. */
static inline uint64_t tach__load_tail(const char *name, size_t length)
{
	if (length >= 8)
		return tach__load8(name + length - 8);
	if (length >= 4)
		return tach__load4(name) << 32 | tach__load4(name + length - 4);
	if (length == 0)
		return 0;
	return (uint64_t)(unsigned char)name[0] << 16 |
	       (uint64_t)(unsigned char)name[length / 2] << 8 | (unsigned char)name[length - 1];
}

/* The hash is equal for names that differ only in case, and for a few others ('_' and 0x7f, '@'
 * and '`'). */
static inline uint16_t tach__name_hash(const char *name, size_t length)
{
	const uint64_t odd = 0x9e3779b97f4a7c15u, bit5 = 0x2020202020202020u;
	uint64_t hash = length;

	for (size_t i = 8; i < length; i += 8) {
		hash = (hash ^ (tach__load8(name + i - 8) | bit5)) * odd;
		hash ^= hash >> 32;
	}
	hash = (hash ^ (tach__load_tail(name, length) | bit5)) * odd;
	return (uint16_t)(hash >> 48);
}

/* Changes eight ASCII letters to lower case at once; other bytes stay. */
static inline uint64_t tach__fold8(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u, high = ones * 0x80;
	uint64_t low7 = word & ~high;
	uint64_t from_a = low7 + ones * (0x80 - 'A'), after_z = low7 + ones * (0x7f - 'Z');

	return word | ((from_a ^ after_z) & ~word & high) >> 2;
}

/* Names are usually written as in the tables. */
static inline int tach__words_equal(uint64_t x, uint64_t y)
{
	return __builtin_expect(x == y, 1) || tach__fold8(x) == tach__fold8(y);
}

/*
 * Compares name[0..length), which contains no NUL byte, with the string `other`. Eight bytes
 * after other's end must be readable. The last words overlap; other cannot end before them,
 * because all earlier bytes were equal and not NUL.
 */
static inline __attribute__((always_inline)) int
tach__name_equal(const char *name, size_t length, const char *other)
{
	for (size_t i = 8; i < length; i += 8)
		if (!tach__words_equal(tach__load8(name + i - 8), tach__load8(other + i - 8)))
			return 0;
	return tach__words_equal(tach__load_tail(name, length),
				 tach__load_tail(other, length)) &&
	       other[length] == 0;
}

/*
 * Returns the first of n sorted hashes that is not less than `hash`, or n. Hashes are spread
 * evenly, so their value predicts the place. In the tables, the place is three steps from the
 * prediction on average (tests/unit/tables/tables.c), in the same cache line.
 */
static inline size_t tach__hash_bound(const uint16_t *hashes, size_t n, uint16_t hash)
{
	size_t at = n * hash >> 16;

	while (at < n && hashes[at] < hash)
		at++;
	while (at > 0 && hashes[at - 1] >= hash)
		at--;
	return at;
}

#endif
