/* SPDX-License-Identifier: MIT */
/*
 * ia64 dispatch: checks of the input, and the order of the stages, which is the order of the
 * PMCs.
 */
#include <string.h>
#include "arch/ia64/dispatch.h"

uint64_t tach__ia64_attr(const struct tach__item *item, enum tach__attr key, uint64_t none)
{
	uint64_t n;

	return tach__attr(item->row->attrs, key, &n, NULL) ? n : none;
}

int tach__ia64_pmc(struct tach__ia64 *w, unsigned number, uint64_t value)
{
	return tach__pmc(w->d, number, value, number, number);
}

/* Event select of IA64_INST_RETIRED and its tagged variants; the umask is the channel. */
#define INST_RETIRED 0x08

unsigned tach__ia64_retired(const struct tach__ia64 *w, int *count)
{
	unsigned channels = 0;

	*count = 0;
	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];

		if (item->row->code != INST_RETIRED)
			continue;
		++*count;
		channels |= 1u << (tach__ia64_attr(item, TACH__A_UM, 0) & 3);
	}
	return channels;
}

int tach__ia64_uses_opcode(const struct tach__ia64 *w)
{
	return w->in && (w->in->opcode[0].used || w->in->opcode[1].used);
}

/* Checks that these events may have the requested qualifiers. */
static int check_qualifiers(const struct tach__ia64 *w)
{
	uint32_t need = 0;

	if (w->in->code.used)
		need |= TACH__EV_IRANGE;
	if (w->in->data.used)
		need |= TACH__EV_DRANGE;
	if (tach__ia64_uses_opcode(w))
		need |= TACH__EV_OPC;
	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];
		uint32_t lacks = need & ~item->row->flags;

		if (!lacks || item->flags & TACH_DISPATCH_NOQUALIFY)
			continue;
		return tach__dispatch_error(w->d, TACH_ERR_FEATCOMB,
					    "%s cannot be qualified by %s",
					    tach__str(item->row->name),
					    lacks & TACH__EV_IRANGE   ? "a code range"
					    : lacks & TACH__EV_DRANGE ? "a data range"
								      : "an opcode match");
	}
	return 0;
}

/* Checks that all events have the same levels, because debug registers have one privilege
 * mask. */
static int check_privilege(const struct tach__ia64 *w)
{
	if (!w->in->code.used && !w->in->data.used)
		return 0;
	for (int i = 0; i < w->d->n; i++)
		if (w->d->item[i].privilege != w->d->in->privilege)
			return tach__dispatch_error(
				w->d, TACH_ERR_FEATCOMB,
				"with an address range all events count at the same levels");
	return 0;
}

typedef int (*stage)(struct tach__ia64 *);

static const stage itanium[] = {
	tach__ia64_counters, tach__ia64_iear,	    tach__ia64_dear,	   tach__ia64_opcode,
	tach__ia64_btb,	     tach__ia64_code_range, tach__ia64_data_range, NULL,
};
static const stage itanium2[] = {
	tach__ia64_counters,   tach__ia64_iear,	      tach__ia64_dear,
	tach__ia64_code_range, tach__ia64_data_range, tach__ia64_opcode,
	tach__ia64_btb,	       tach__ia64_ipear,      NULL,
};
static const stage generic[] = {tach__ia64_counters, NULL};

static void choose_model(struct tach__ia64 *w)
{
	static const struct tach__ia64_regs regs[] = {
		[TACH__ITANIUM] = {10, 11, 12, 13, 11, {8, 9}},
		[TACH__ITANIUM2] = {10, 11, 12, 14, 13, {8, 9}},
		[TACH__MONTECITO] = {37, 40, 39, 38, 41, {32, 34}},
	};
	const struct tach__pmu *pmu = w->d->pmu;

	/*
	 * 32-bit counters: Itanium. Twelve: Montecito. A PMU without qualifiers is architected
	 * only.
	 */
	w->model = pmu->general_width == 32		? TACH__ITANIUM
		   : pmu->general == 12			? TACH__MONTECITO
		   : pmu->mods & 1u << TACH__MOD_IRANGE ? TACH__ITANIUM2
							: TACH__IA64_GENERIC;
	if (w->model != TACH__IA64_GENERIC)
		w->regs = regs[w->model];
}

int tach__dispatch_ia64(struct tach__dispatch *d)
{
	struct tach__ia64 w = {.d = d, .in = d->in->ia64};
	const stage *stages;
	int rc = 0;

	choose_model(&w);
	if (w.model == TACH__IA64_GENERIC)
		w.in = NULL;
	if (w.in)
		rc = check_qualifiers(&w);
	if (!rc && w.in)
		rc = check_privilege(&w);
	stages = w.model == TACH__ITANIUM	 ? itanium
		 : w.model == TACH__IA64_GENERIC ? generic
						 : itanium2;
	for (; !rc && *stages; stages++)
		rc = (*stages)(&w);
	return rc;
}
