/* SPDX-License-Identifier: MIT */
/* Address ranges by debug registers: a pair matches one aligned power of two. */
#include "arch/ia64/dispatch.h"

#define PAIRS	  4
#define ADDRESS	  0x00ffffffffffffffull /* bits that a mask register compares */
#define LEVELS_AT 56

void tach__range_register(struct tach_ranges_used *out, int number, uint64_t value)
{
	struct tach_register *r = &out->registers[out->nregisters++];

	r->number = (uint32_t)number;
	r->value = value;
	r->address = r->alternative = (uint64_t)number;
}

uint64_t tach__range_mask(uint64_t mask, uint32_t privilege)
{
	return (mask & ADDRESS) | (uint64_t)(privilege & 0xf) << LEVELS_AT;
}

int tach__ranges_count(const struct tach_dispatch_ranges *list, int code, int *n)
{
	for (*n = 0; *n < TACH_DISPATCH_RANGES_MAX; ++*n) {
		const struct tach_dispatch_range *r = &list->range[*n];

		if (r->start == 0 && r->end == 0)
			break;
		if (r->start >= r->end)
			return TACH_ERR_CODE_RANGE;
		if (code && (r->start | r->end) & 0xf)
			return TACH_ERR_CODE_ALIGN;
	}
	return *n ? 0 : code ? TACH_ERR_CODE_RANGE : TACH_ERR_DATA_RANGE;
}

struct cover {
	struct tach_ranges_used *out;
	uint32_t privilege;
	int pair; /* the next pair to use */
};

enum side { LEFT, RIGHT };

/*
 * The largest aligned chunk inside [start, end) takes one pair. The remaining pairs cover the
 * rest on both sides; if their number is odd, the larger side gets one more. The last pair of a
 * side extends beyond the range there.
 */
static void cover(struct cover *c, uint64_t start, uint64_t end, int pairs, enum side side)
{
	int bits, left_pairs, right_pairs;
	uint64_t at, size, left, right;

	if (pairs < 1 || end <= start)
		return;
	bits = 63 - __builtin_clzll(end - start);
	size = 1ull << bits;
	at = (end & ~(size - 1)) - size;
	if (at + size < size || at < start) { /* if it does not fit, half of it does */
		uint64_t middle = end & ~(size - 1);

		size >>= 1;
		at = size && middle + size <= end ? middle : middle - size;
	}
	if (pairs == 1 && side == LEFT && at != start) {
		size <<= 1;
		at = end - size;
	} else if (pairs == 1 && side == RIGHT && at + size != end) {
		size <<= 1;
		at = start;
	}
	tach__range_register(c->out, 2 * c->pair, at);
	tach__range_register(c->out, 2 * c->pair + 1,
			     tach__range_mask(~(size - 1), c->privilege));
	c->pair++;
	left = at - start;
	right = end - at - size;
	left_pairs = right_pairs = (pairs - 1) / 2;
	if ((pairs - 1) % 2)
		left > right ? left_pairs++ : right_pairs++;
	cover(c, start, at, left_pairs, LEFT);
	cover(c, at + size, end, right_pairs, RIGHT);
}

static uint64_t end_of(const struct tach_register *pair)
{
	return pair[0].value + ((~pair[1].value & ADDRESS) + 1);
}

/*
 * A pair matches addresses that agree with it in the bits of its mask and in those above it,
 * which are always compared (Intel Itanium Architecture SDM volume 2, 7.1.1). Returns the end
 * of the matched range that begins at `at`.
 */
static uint64_t matched_to(const struct tach_ranges_used *out, uint64_t at)
{
	for (uint32_t j = 0; j < out->nregisters; j += 2) {
		uint64_t mask = out->registers[j + 1].value | ~ADDRESS;

		if ((at & mask) == (out->registers[j].value & mask))
			return (at & mask) + ~mask + 1;
	}
	return at;
}

static int is_matched(const struct tach_ranges_used *out, uint64_t start, uint64_t end)
{
	uint64_t next;

	while (start < end && (next = matched_to(out, start)) > start)
		start = next;
	return start >= end;
}

int tach__ranges_cover(const struct tach_dispatch_ranges *list, int n, uint32_t privilege,
		       struct tach_ranges_used *out)
{
	struct cover c = {.out = out};

	for (int i = 0; i < n; i++) {
		const struct tach_dispatch_range *r = &list->range[i];
		uint32_t from = out->nregisters;

		if (c.pair == PAIRS)
			return TACH_ERR_TOOMANY;
		c.privilege = r->privilege ? r->privilege : privilege;
		cover(&c, r->start, r->end, PAIRS - c.pair, LEFT);
		for (uint32_t j = from; j < out->nregisters; j += 2) {
			const struct tach_register *pair = &out->registers[j];

			if (pair[0].value <= r->start)
				out->excess[i].before = r->start - pair[0].value;
			if (end_of(pair) >= r->end)
				out->excess[i].after = end_of(pair) - r->end;
			out->inexact |= (pair[0].value & ~pair[1].value & ADDRESS) != 0;
		}
		out->inexact |= !is_matched(out, r->start, r->end);
	}
	return 0;
}

int tach__ranges_enclose(const struct tach_dispatch_range *range, uint32_t privilege, int pair,
			 struct tach_ranges_used *out)
{
	uint64_t size = range->end - range->start;
	int bits = 63 - __builtin_clzll(size);

	if (size & (size - 1) && ++bits > 63)
		return TACH_ERR_CODE_TOOBIG;
	for (; bits < 64; bits++) {
		uint64_t chunk = 1ull << bits, at = range->start & ~(chunk - 1);

		if (at + chunk < range->end)
			continue;
		tach__range_register(out, 2 * pair, at);
		tach__range_register(out, 2 * pair + 1,
				     tach__range_mask(~(chunk - 1), range->privilege
									    ? range->privilege
									    : privilege));
		out->excess[0].before = range->start - at;
		out->excess[0].after = at + chunk - range->end;
		out->inexact |= !is_matched(out, range->start, range->end);
		return 0;
	}
	return TACH_ERR_CODE_RANGE;
}
