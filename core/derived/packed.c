/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "core/derived/packed.h"
#include "core/os/memory.h"

static char *block[TACH__PACKED_BLOCKS]; /* unpacked blocks; atomic */

static const unsigned char *length(const unsigned char *from, size_t *n)
{
	unsigned char more = 255;

	if (*n == 15)
		while (more == 255)
			*n += more = *from++;
	return from;
}

static void unpack(char *to, const unsigned char *from, const unsigned char *end)
{
	while (from < end) {
		size_t plain = *from >> 4, again = *from & 15, distance;

		from = length(from + 1, &plain);
		memcpy(to, from, plain);
		to += plain;
		from += plain;
		if (from >= end)
			return;
		distance = from[0] | (size_t)from[1] << 8;
		from = length(from + 2, &again);
		/* Source and destination may overlap. */
		for (again += TACH__PACKED_LEAST; again; again--, to++)
			*to = *(to - distance);
	}
}

/* If two threads unpack at once, one of them keeps its pages. NULL: no memory. */
static const char *unpacked(uint32_t b)
{
	char *pages = __atomic_load_n(&block[b], __ATOMIC_ACQUIRE), *none = NULL;

	if (pages)
		return pages;
	pages = tach__pages(TACH__PACKED_BLOCK);
	if (!pages)
		return NULL;
	unpack(pages, tach__preset_packed + tach__preset_block[b],
	       tach__preset_packed + tach__preset_block[b + 1]);
	if (__atomic_compare_exchange_n(&block[b], &none, pages, 0, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return pages;
	tach__pages_free(pages, TACH__PACKED_BLOCK);
	return none;
}

const char *tach__packed(uint32_t number)
{
	static const char nothing[1024]; /* NULs: more than any list has names */
	const char *all = number ? unpacked(number / TACH__PACKED_BLOCK) : NULL;

	return all ? all + number % TACH__PACKED_BLOCK : nothing;
}
