/* SPDX-License-Identifier: MIT */
/* ia64 branch trace buffer (PMC12 -> PMD8-16), Montecito: execution trace buffer (PMC39). */
#include "arch/ia64/dispatch.h"

static uint64_t itanium_value(const struct tach__ia64 *w, const struct tach_dispatch_btb *b)
{
	return tach__level(w, b->privilege) | tach__systemwide(w) << 6 |
	       (uint64_t)(b->tar & 1) << 7 | (uint64_t)(b->tm & 3) << 8 |
	       (uint64_t)(b->ptm & 3) << 10 | (uint64_t)(b->ppm & 3) << 12 |
	       (uint64_t)(b->tac & 1) << 14 | (uint64_t)(b->bac & 1) << 15;
}

static uint64_t later_value(const struct tach__ia64 *w, const struct tach_dispatch_btb *b)
{
	/* Montecito reserves ds = 1. */
	uint64_t ds = w->model == TACH__ITANIUM2 ? b->ds & 1 : 0;

	return tach__level(w, b->privilege) | tach__systemwide(w) << 6 | ds << 7 |
	       (uint64_t)(b->tm & 3) << 8 | (uint64_t)(b->ptm & 3) << 10 |
	       (uint64_t)(b->ppm & 3) << 12 | (uint64_t)(b->brt & 3) << 14;
}

static int counted(const struct tach__ia64 *w, uint32_t flags)
{
	for (int i = 0; i < w->d->n; i++)
		if (w->d->item[i].row->flags & flags)
			return 1;
	return 0;
}

/* A data EAR that captures TLB or ALAT misses needs this register to be 0. */
static int must_be_zero(const struct tach__ia64 *w)
{
	if (w->model == TACH__ITANIUM)
		return 0;
	if (counted(w, TACH__EV_DEAR_TLB | TACH__EV_DEAR_ALAT))
		return 1;
	return w->in && w->in->dear.used &&
	       (w->in->dear.mode == TACH_EAR_TLB || w->in->dear.mode == TACH_EAR_ALAT);
}

static void data_registers(struct tach__ia64 *w)
{
	if (w->model != TACH__MONTECITO) {
		for (unsigned i = 8; i < 17; i++)
			tach__pmd(w->d, i, i, i);
		return;
	}
	for (unsigned i = 38; i < 64; i = i == 39 ? 48 : i + 1)
		tach__pmd(w->d, i, i, i);
}

int tach__ia64_btb(struct tach__ia64 *w)
{
	/* Without settings, all branches are recorded. */
	struct tach_dispatch_btb all = {
		.tm = 3, .ptm = 3, .ppm = 3, .tar = 1, .tac = 1, .bac = 1};
	int given = w->in && w->in->btb.used, zero = must_be_zero(w);
	int active = given || counted(w, TACH__EV_BTB | TACH__EV_ETB), rc;
	const struct tach_dispatch_btb *b = given ? &w->in->btb : &all;
	uint64_t value = 0;

	if (!active && !zero)
		return 0;
	if (active)
		value = w->model == TACH__ITANIUM ? itanium_value(w, b) : later_value(w, b);
	if (zero && value)
		return tach__dispatch_error(w->d, TACH_ERR_INCOMPATIBLE,
					    "the trace buffer cannot run while the data event "
					    "address register captures TLB or ALAT misses");
	rc = tach__ia64_pmc(w, w->regs.btb, value);
	if (!rc && active)
		data_registers(w);
	return rc;
}
