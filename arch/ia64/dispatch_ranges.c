/* SPDX-License-Identifier: MIT */
/*
 * ia64 address range restriction: chooses the debug register pairs, and the PMCs that use them.
 */
#include "arch/ia64/dispatch.h"

/*
 * Fetch events that only pair 1 qualifies (Itanium 2 manual 10.3.5.1 exception 1, Montecito
 * 3.3.5.2), and Montecito's events that pair 0 qualifies for demand fetches and pair 1 for
 * prefetches. Event selects: L1I_PREFETCHES, L1I_STRM_PREFETCHES, L2_INST_PREFETCHES;
 * ISB_BUNPAIRS_IN, L1I_FETCH_RAB_HIT, L1I_FETCH_ISB_HIT, L1I_FILLS.
 */
static int is_prefetch(uint32_t code)
{
	return code == 0x44 || code == 0x5f || code == 0x45;
}

static int is_dual(uint32_t code)
{
	return code == 0x46 || code == 0x65 || code == 0x66 || code == 0x41;
}

#define CPU_CYCLES 0x12 /* Montecito's CPU_OP_CYCLES_QUAL */

struct fetches {
	int count;	  /* of such events */
	int pair0, pair1; /* pairs that the events need */
};

static int look_for_fetches(const struct tach__ia64 *w, struct fetches *f)
{
	uint32_t flags = w->in->code.flags & (TACH_RANGE_DEMAND | TACH_RANGE_PREFETCH);

	*f = (struct fetches){0, 0, 0};
	for (int i = 0; i < w->d->n; i++) {
		uint32_t code = w->d->item[i].row->code;

		if (is_prefetch(code)) {
			f->count++;
			f->pair1 = 1;
		}
		if (w->model != TACH__MONTECITO || !is_dual(code))
			continue;
		if (!flags)
			return tach__dispatch_error(
				w->d, TACH_ERR_CODE_FLAGS,
				"%s needs to be told: demand fetches, prefetches, or both",
				tach__str(w->d->item[i].row->name));
		f->count++;
		f->pair0 |= (flags & TACH_RANGE_DEMAND) != 0;
		f->pair1 |= (flags & TACH_RANGE_PREFETCH) != 0;
	}
	return 0;
}

/* ---- fine mode: a pair each for the lower and the upper limit ---- */

static uint64_t page(const struct tach__ia64 *w)
{
	return w->model == TACH__MONTECITO ? 64 << 10 : 4 << 10;
}

static int fine_possible(const struct tach__ia64 *w, int n)
{
	uint64_t mask = ~(page(w) - 1);

	if (w->in->code.flags & TACH_RANGE_NOFINE)
		return 0;
	for (int i = 0; i < n; i++)
		if ((w->in->code.range[i].start & mask) != (w->in->code.range[i].end & mask))
			return 0;
	return 1;
}

/* Ranges from pair `pair` on; the upper limits are two pairs higher. */
static void fine(struct tach__ia64 *w, int n, int pair, struct tach_ranges_used *out)
{
	/* The hardware compares addresses in units of two bundles. */
	int by_two = w->model == TACH__MONTECITO || w->in->fine_32;

	for (int i = 0; i < n; i++, pair++) {
		const struct tach_dispatch_range *r = &w->in->code.range[i];
		uint64_t low = by_two ? r->start & ~31ull : r->start, high = r->end - 16;
		uint64_t mask = tach__range_mask(~(page(w) - 1),
						 (uint32_t)tach__level(w, r->privilege));

		/* The bundle at the upper limit is included. */
		if (by_two && !(high & 31))
			high += 16;
		tach__range_register(out, 2 * pair, low);
		tach__range_register(out, 2 * pair + 1, mask);
		tach__range_register(out, 2 * pair + 4, high);
		tach__range_register(out, 2 * pair + 5, mask);
		out->excess[i].before = r->start - low;
		out->excess[i].after = high + 16 - r->end;
	}
}

/* ---- the code range ---- */

static int too_many(const struct tach__ia64 *w, int code)
{
	return tach__dispatch_error(w->d, code,
				    "more ranges than debug register pairs can cover");
}

static int use_fine(struct tach__ia64 *w, const struct fetches *f, int n,
		    struct tach_ranges_used *out)
{
	if (f->count && n != 1)
		return too_many(w, TACH_ERR_CODE_TOOMANY);
	fine(w, n, f->count && !f->pair0 ? 1 : 0, out);
	if (f->pair0 && f->pair1)
		fine(w, n, 1, out);
	return 0;
}

/* Uses a single pair. Ordinary events use only pair 0. */
static int use_single(struct tach__ia64 *w, const struct fetches *f, int retired,
		      struct tach_ranges_used *out)
{
	const struct tach_dispatch_range *range = &w->in->code.range[0];
	int only_pair1 = f->count && !f->pair0, rc;

	if (only_pair1 && f->count + retired != w->d->n)
		return tach__dispatch_error(w->d, TACH_ERR_FEATCOMB,
					    "prefetch events are qualified by pair 1 of the "
					    "debug registers, other events by pair 0");
	rc = tach__ranges_enclose(range, w->d->in->privilege, only_pair1, out);
	if (!rc && f->pair0 && f->pair1)
		rc = tach__ranges_enclose(range, w->d->in->privilege, 1, out);
	return rc;
}

static int choose_pairs(struct tach__ia64 *w, int n, int *is_fine, struct tach_ranges_used *out)
{
	struct fetches f;
	int retired, rc;

	tach__ia64_retired(w, &retired);
	*is_fine = fine_possible(w, n);
	if ((!*is_fine && retired != w->d->n && n > 1) || (*is_fine && n > 2))
		return too_many(w, TACH_ERR_CODE_TOOMANY);
	rc = look_for_fetches(w, &f);
	if (rc)
		return rc;
	for (int i = 0; w->model == TACH__MONTECITO && f.pair1 && i < w->d->n; i++)
		if (w->d->item[i].row->code == CPU_CYCLES)
			return tach__dispatch_error(w->d, TACH_ERR_FEATCOMB,
						    "CPU_OP_CYCLES_QUAL does not work beside "
						    "events qualified by pair 1");
	if (*is_fine)
		return use_fine(w, &f, n, out);
	if (retired == w->d->n) {
		rc = tach__ranges_cover(&w->in->code, n, w->d->in->privilege, out);
		return rc ? too_many(w, TACH_ERR_CODE_TOOMANY) : 0;
	}
	return use_single(w, &f, retired, out);
}

/* PMC14 (Montecito: PMC38): bits 1, 4, 7, 10 = pair n does not qualify; 13 = fine mode. */
static uint64_t ignored_pairs(const struct tach_ranges_used *used)
{
	uint64_t value = 0xdb6;

	for (uint32_t i = 0; i < used->nregisters; i += 2)
		value &= ~(1ull << (1 + 3 * (used->registers[i].number / 2)));
	return value;
}

/* Checks which retired instructions each channel's opcode matcher and range match. */
static int check_retired(const struct tach__ia64 *w, uint64_t value, int is_fine)
{
	int count;
	unsigned channels = tach__ia64_retired(w, &count);

	if (count != w->d->n)
		return 0;
	for (unsigned pair = 0; pair < 4; pair++) {
		/* The number of the matcher that is not used with this pair. */
		int matcher = (pair & 1) == 0;

		if (value >> (1 + 3 * pair) & 1)
			continue;
		if (w->model == TACH__ITANIUM2 && w->in->opcode[matcher].used)
			return tach__dispatch_error(w->d, TACH_ERR_FEATCOMB,
						    "PMC8 goes with pairs 0 and 2 of the "
						    "debug registers, PMC9 with 1 and 3");
	}
	for (unsigned pair = 0; !is_fine && pair < 4; pair++)
		if (!(value >> (1 + 3 * pair) & 1) && !(channels >> pair & 1))
			return tach__dispatch_error(w->d, TACH_ERR_CODE_RANGE,
						    "the range needs pair %u too: count its "
						    "IA64_TAGGED_INST_RETIRED event as well",
						    pair);
	return 0;
}

static int bad_ranges(const struct tach__ia64 *w, int rc)
{
	if (rc == TACH_ERR_CODE_ALIGN)
		return tach__dispatch_error(w->d, rc,
					    "code ranges start and end on 16-byte bundles");
	return tach__dispatch_error(w->d, rc,
				    "a range is empty, or its end is below its start");
}

int tach__ia64_code_range(struct tach__ia64 *w)
{
	struct tach_ranges_used *used = &w->d->out->code;
	int n, rc, is_fine = 0;
	uint64_t value;

	if (!w->in || !w->in->code.used)
		return 0;
	if (w->d->in->flags & TACH_DISPATCH_NOMODEL)
		return tach__dispatch_error(
			w->d, TACH_ERR_INVAL,
			"what comes back has nowhere to go: TACH_DISPATCH_NOMODEL is set");
	rc = tach__ranges_count(&w->in->code, 1, &n);
	if (rc)
		return bad_ranges(w, rc);
	if (w->model == TACH__ITANIUM) {
		rc = tach__ranges_cover(&w->in->code, n, w->d->in->privilege, used);
		return rc ? too_many(w, TACH_ERR_CODE_TOOMANY)
			  : tach__ia64_pmc(w, w->regs.code_range, 0);
	}
	rc = choose_pairs(w, n, &is_fine, used);
	if (rc)
		return rc;
	value = ignored_pairs(used) | (uint64_t)is_fine << 13;
	rc = check_retired(w, value, is_fine);
	if (rc)
		return rc;
	w->d->out->code_fine = (uint32_t)is_fine;
	return tach__ia64_pmc(w, w->regs.code_range, value);
}

/* ---- the data range ---- */

static uint32_t pairs_used(const struct tach_ranges_used *used)
{
	uint32_t pairs = 0;

	for (uint32_t i = 0; i < used->nregisters; i += 2)
		pairs |= 1u << used->registers[i].number / 2;
	return pairs;
}

/*
 * PMC13 (Montecito: PMC41): for each pair, whether code range, opcode and data range qualify
 * it.
 */
static uint64_t range_qualifiers(const struct tach__ia64 *w)
{
	/* Index: bit 0 data, 1 opcode, 2 code. An unused matcher matches everything. */
	static const uint64_t config[8] = {3, 2, 3, 0, 1, 0, 1, 0};
	uint32_t data = pairs_used(&w->d->out->data), code = pairs_used(&w->d->out->code);
	uint64_t value = 0x2078fefefefeull;

	/* In fine mode the bits of the lower limit's pair apply to both pairs. */
	if (w->d->out->code_fine)
		code &= 3;
	for (unsigned pair = 0; pair < 4; pair++) {
		unsigned use = (data >> pair & 1) | (code >> pair & 1) << 2;
		unsigned at = 3 + 8 * pair;

		if (use && w->in->opcode[pair & 1].used)
			use |= 2;
		value &= ~(3ull << at | 1ull << (45 + pair));
		value |= config[use] << at | (uint64_t)(use != 0) << (45 + pair);
	}
	return value;
}

/* Itanium: if a data event address register is used, PMC11 has been written already. */
static int itanium_data(struct tach__ia64 *w)
{
	int captured = w->in->dear.used != 0;

	for (int i = 0; i < w->d->n; i++)
		captured |= (w->d->item[i].row->flags & TACH__EV_DEAR) != 0;
	return captured ? 0 : tach__ia64_pmc(w, w->regs.data_range, w->d->in->privilege & 0xf);
}

int tach__ia64_data_range(struct tach__ia64 *w)
{
	int n, rc;

	if (!w->in || (!w->in->data.used && (!w->in->code.used || w->model == TACH__ITANIUM)))
		return 0;
	if (w->in->data.used) {
		if (w->d->in->flags & TACH_DISPATCH_NOMODEL)
			return tach__dispatch_error(w->d, TACH_ERR_INVAL,
						    "what comes back has nowhere to go: "
						    "TACH_DISPATCH_NOMODEL is set");
		rc = tach__ranges_count(&w->in->data, 0, &n);
		if (rc)
			return bad_ranges(w, rc);
		rc = tach__ranges_cover(&w->in->data, n, w->d->in->privilege, &w->d->out->data);
		if (rc)
			return too_many(w, TACH_ERR_DATA_TOOMANY);
	}
	if (w->model == TACH__ITANIUM)
		return itanium_data(w);
	return tach__ia64_pmc(w, w->regs.data_range, range_qualifiers(w));
}
