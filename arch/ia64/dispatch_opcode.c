/* SPDX-License-Identifier: MIT */
/*
 * ia64 opcode matching: PMC8-9 and PMC15 (Montecito: PMC32-35). The first matcher also contains
 * whether the code range is used and whether it is inverted. Montecito's PMC36 need not be
 * written: after reset all channels use the matchers, and those match everything.
 */
#include <string.h>
#include "arch/ia64/dispatch.h"

/*
 * Returns true if this tagged IA64_INST_RETIRED channel is counted. The untagged event has
 * channel 0 too.
 */
static int counts_channel(const struct tach__ia64 *w, unsigned channel)
{
	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];
		const char *name = tach__str(item->row->name);

		if (strncmp(name, "IA64_TAGGED_INST_RETIRED_IBRP", 29) == 0 &&
		    tach__ia64_attr(item, TACH__A_UM, 0) == channel)
			return 1;
	}
	return 0;
}

/*
 * Bits "channel n ignores the matcher", to be cleared for the channels that matcher `first`
 * qualifies (0: channels 0 and 2, 1: channels 1 and 3): the counted ones, or both.
 */
static uint64_t qualified(const struct tach__ia64 *w, unsigned first)
{
	int low = counts_channel(w, first), high = counts_channel(w, first + 2);
	uint64_t bits = 0;

	if (low || !high)
		bits |= 1ull << first;
	if (high || !low)
		bits |= 1ull << (first + 2);
	return bits;
}

static int only_retired(const struct tach__ia64 *w)
{
	int count;

	tach__ia64_retired(w, &count);
	return count == w->d->n;
}

static int program_itanium(struct tach__ia64 *w)
{
	int rc = 0;

	for (int i = 0; !rc && i < 2; i++)
		if (w->in->opcode[i].used)
			rc = tach__ia64_pmc(w, w->regs.opcode[i], w->in->opcode[i].value);
	return rc;
}

/* Bits of PMC8 and PMC9. */
#define IGNORE_RANGE 1ull
#define INVERT_RANGE 2ull
#define ALWAYS_SET   4ull
#define MATCH_ALL    0xffffffff3fffffffull

static int second_needs_retired(const struct tach__ia64 *w)
{
	return tach__dispatch_error(w->d, TACH_ERR_FEATCOMB,
				    "PMC9 qualifies IA64_INST_RETIRED events only");
}

static int program_itanium2(struct tach__ia64 *w)
{
	const struct tach_dispatch_opcode *first = &w->in->opcode[0];
	const struct tach_dispatch_opcode *second = &w->in->opcode[1];
	uint64_t channels = 0xffffffff, value;
	int rc = 0;

	if (first->used || w->in->code.used) {
		value = first->used ? first->value : MATCH_ALL;
		value &= ~(IGNORE_RANGE | INVERT_RANGE);
		if (!w->in->code.used)
			value |= IGNORE_RANGE;
		else if (w->in->code.flags & TACH_RANGE_INVERSE)
			value |= INVERT_RANGE;
		rc = tach__ia64_pmc(w, 8, value | ALWAYS_SET);
		if (first->used)
			channels &= ~qualified(w, 0);
	}
	if (!rc && second->used) {
		if (!only_retired(w))
			return second_needs_retired(w);
		/* The second matcher's range bits have no effect; these are their defaults. */
		value = (second->value & ~INVERT_RANGE) | IGNORE_RANGE | ALWAYS_SET;
		rc = tach__ia64_pmc(w, 9, value);
		channels &= ~qualified(w, 1);
	}
	return rc ? rc : tach__ia64_pmc(w, 15, channels);
}

/* PMC32 and PMC34: mask 0-40, b 48, f 49, i 50, m 51, and in PMC32 inv 56, ig_ad 57. */
static uint64_t montecito_mask(const struct tach_dispatch_opcode *o)
{
	return (o->mask & 0x1ffffffffffull) | (uint64_t)(o->b & 1) << 48 |
	       (uint64_t)(o->f & 1) << 49 | (uint64_t)(o->i & 1) << 50 |
	       (uint64_t)(o->m & 1) << 51;
}

static int montecito_pair(struct tach__ia64 *w, int i, uint64_t mask)
{
	int rc = tach__ia64_pmc(w, w->regs.opcode[i], mask);

	if (!rc && w->in->opcode[i].used)
		rc = tach__ia64_pmc(w, w->regs.opcode[i] + 1u,
				    w->in->opcode[i].match & 0x1ffffffffffull);
	return rc;
}

static int program_montecito(struct tach__ia64 *w)
{
	const struct tach_dispatch_opcode *first = &w->in->opcode[0];
	const struct tach_dispatch_opcode *second = &w->in->opcode[1];
	uint64_t mask;
	int rc = 0;

	if (first->used || w->in->code.used) {
		mask = first->used ? montecito_mask(first) : 0x000f01ffffffffffull;
		if (!w->in->code.used)
			mask |= 1ull << 57;
		else if (w->in->code.flags & TACH_RANGE_INVERSE)
			mask |= 1ull << 56;
		rc = montecito_pair(w, 0, mask);
	}
	if (!rc && second->used)
		rc = montecito_pair(w, 1, montecito_mask(second));
	return rc;
}

int tach__ia64_opcode(struct tach__ia64 *w)
{
	if (!w->in)
		return 0;
	return w->model == TACH__ITANIUM    ? program_itanium(w)
	       : w->model == TACH__ITANIUM2 ? program_itanium2(w)
					    : program_montecito(w);
}
