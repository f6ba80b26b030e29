/* SPDX-License-Identifier: MIT */
/*
 * ia64 event address registers: instruction, data, and Montecito's register for instruction
 * pointers. Settings come from the caller, or otherwise from the event that counts the captured
 * accesses.
 */
#include "arch/ia64/dispatch.h"

/* The event that names the settings: the last one on Itanium, else the first; NULL = none. */
static const struct tach__item *ear_event(const struct tach__ia64 *w, uint32_t flags)
{
	const struct tach__item *found = NULL;

	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];

		if (item->row->flags & flags && (!found || w->model == TACH__ITANIUM))
			found = item;
	}
	return found;
}

/* Returns 1 and *ear if the register must be programmed. */
static int choose_settings(const struct tach__ia64 *w, const struct tach_dispatch_ear *given,
			   uint32_t flags, struct tach_dispatch_ear *ear)
{
	const struct tach__item *item = ear_event(w, flags);
	uint32_t mode;

	if (given && given->used) {
		*ear = *given;
		return 1;
	}
	if (!item)
		return 0;
	mode = item->row->flags;
	*ear = (struct tach_dispatch_ear){.used = 1};
	ear->mode = mode & (TACH__EV_IEAR_TLB | TACH__EV_DEAR_TLB) ? TACH_EAR_TLB
		    : mode & TACH__EV_DEAR_ALAT			   ? TACH_EAR_ALAT
								   : TACH_EAR_CACHE;
	ear->umask = (uint32_t)tach__ia64_attr(item, TACH__A_UM, 0);
	return 1;
}

static int bad_mode(const struct tach__ia64 *w, const char *what, uint32_t mode)
{
	return tach__dispatch_error(w->d, TACH_ERR_INVAL,
				    "the %s event address register has no mode %u", what, mode);
}

/* PMC10 (Montecito: PMC37): selects what is captured in PMD0-1 (PMD34-35). */
int tach__ia64_iear(struct tach__ia64 *w)
{
	struct tach_dispatch_ear ear;
	int tlb, first = w->model == TACH__MONTECITO ? 34 : 0, rc;
	uint64_t value;

	if (!choose_settings(w, w->in ? &w->in->iear : NULL, TACH__EV_IEAR, &ear))
		return 0;
	if (ear.mode > (w->model == TACH__ITANIUM ? TACH_EAR_ALAT : TACH_EAR_TLB))
		return bad_mode(w, "instruction", ear.mode);
	tlb = ear.mode == TACH_EAR_TLB;
	value = tach__level(w, ear.privilege);
	if (w->model == TACH__ITANIUM) {
		value |= tach__systemwide(w) << 6 | (uint64_t)(ear.mode & 1) << 7 |
			 (uint64_t)(ear.umask & 0xf) << 16 | (uint64_t)(ear.ism & 3) << 24;
	} else {
		/* The unit mask is one bit longer in cache mode, which bit 13 selects. */
		value |= tach__systemwide(w) << 4;
		value |= tlb ? (uint64_t)(ear.umask & 0x7f) << 5
			     : (uint64_t)(ear.umask & 0xff) << 5 | 1 << 13;
		if (w->model == TACH__ITANIUM2)
			value |= (uint64_t)(ear.ism & 3) << 14;
	}
	rc = tach__ia64_pmc(w, w->regs.iear, value);
	for (int i = first; !rc && i < first + 2; i++)
		tach__pmd(w->d, (unsigned)i, (uint64_t)i, (uint64_t)i);
	return rc;
}

/* PMC11 (Montecito: PMC40): selects what is captured in PMD2, 3 and 17 (PMD32, 33 and 36). */
int tach__ia64_dear(struct tach__ia64 *w)
{
	static const uint8_t older[] = {2, 3, 17}, montecito[] = {32, 33, 36};
	const uint8_t *pmds = w->model == TACH__MONTECITO ? montecito : older;
	struct tach_dispatch_ear ear;
	uint64_t value, ism;
	int rc;

	if (!choose_settings(w, w->in ? &w->in->dear : NULL, TACH__EV_DEAR, &ear))
		return 0;
	if (ear.mode > TACH_EAR_ALAT)
		return bad_mode(w, "data", ear.mode);
	ism = w->model == TACH__MONTECITO ? 2 : ear.ism & 3;
	value = tach__level(w, ear.privilege) | tach__systemwide(w) << 6 |
		(uint64_t)(ear.umask & 0xf) << 16 | ism << 24;
	if (w->model == TACH__ITANIUM) {
		/* Bit 28, pass tags: the register ignores the data range. */
		int ranged = w->in && w->in->dear.used && w->in->data.used;

		value |= (uint64_t)(ear.mode & 1) << 7 | (uint64_t)!ranged << 28;
	} else {
		value |= (uint64_t)ear.mode << 7;
	}
	/* As in older libraries, Itanium's register has no second address. */
	rc = tach__pmc(w->d, w->regs.dear, value, w->regs.dear,
		       w->model == TACH__ITANIUM ? 0 : w->regs.dear);
	for (int i = 0; !rc && i < 3; i++)
		tach__pmd(w->d, pmds[i], pmds[i], pmds[i]);
	return rc;
}

/* PMC42 (Montecito) records instruction pointers in the trace buffer's registers. */
int tach__ia64_ipear(struct tach__ia64 *w)
{
	int traced = w->in && w->in->btb.used, rc;

	if (w->model != TACH__MONTECITO || !w->in || !w->in->ipear.used)
		return 0;
	for (int i = 0; i < w->d->n; i++)
		traced |= (w->d->item[i].row->flags & TACH__EV_ETB) != 0;
	if (traced)
		return tach__dispatch_error(w->d, TACH_ERR_FEATCOMB,
					    "the trace buffer and the instruction pointer "
					    "register share their data registers");
	rc = tach__ia64_pmc(w, 42,
			    tach__level(w, w->in->ipear.privilege) | tach__systemwide(w) << 6 |
				    4 << 8 | (uint64_t)w->in->ipear.delay << 11);
	for (unsigned i = 38; !rc && i < 64; i = i == 39 ? 48 : i + 1)
		tach__pmd(w->d, i, i, i);
	return rc;
}
