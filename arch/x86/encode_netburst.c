/* SPDX-License-Identifier: MIT */
/*
 * NetBurst: an event is an ESCR and a CCCR (Intel SDM vol. 3B, "Performance Monitoring and
 * Processors Based on Intel NetBurst Microarchitecture"):
 *
 *	ESCR  0 T1 USR	 1 T1 OS   2 T0 USR   3 T0 OS	4 tag enable   5-8 tag value
 *	      9-24 event mask	25-30 event select
 *	CCCR  12 enable	  13-15 ESCR select   16-17 active thread = 3	18 compare
 *	      19 complement   20-23 threshold	24 edge
 */
#include "core/port/port.h"

#define ANY_THREAD (UINT64_C(3) << 16)

static int take_pick(struct tach__work *w, const struct tach__pick *pick)
{
	w->column = pick->column;
	if (pick->kind == TACH__PICK_OSMOD)
		return 0;
	if (pick->kind != TACH__PICK_MOD)
		return tach__umask_take(w, pick);
	if (pick->number == TACH__MOD_THR && pick->value > 15)
		return tach__refuse(w, TACH_ERR_ATTR_VALUE, "thr must be 0 .. 15");
	if (!pick->value && w->ask.quirks->sticky >> pick->number & 1)
		return 0;
	w->out.shown[pick->number] = (uint32_t)pick->value;
	return 0;
}

static uint64_t escr_word(const struct tach__work *w, uint64_t select)
{
	uint64_t mask = 0, real = 0xffff, tag, user = w->out.shown[TACH__MOD_U],
		 kernel = w->out.shown[TACH__MOD_K];

	for (unsigned i = 0; i < w->got.nrows; i++)
		mask |= tach__umask_at(w->got.event, w->got.rows[i])->code;
	/* Replay events: some umasks choose in other registers what is tagged. */
	tach__attr(w->got.event->attrs, TACH__A_REALMASK, &real, NULL);
	mask &= real | UINT64_C(0xf0000);
	tag = mask >> 16 & 0xf; /* umasks TAG0 .. TAG3 of the tagging events */
	return user | kernel << 1 | user << 2 | kernel << 3 | (uint64_t)(tag != 0) << 4 |
	       tag << 5 | (mask & 0xffff) << 9 | select << 25;
}

static uint64_t cccr_word(const struct tach__work *w)
{
	uint64_t select = 0, threshold = w->out.shown[TACH__MOD_THR];
	uint64_t complement = w->out.shown[TACH__MOD_CMPL], edge = w->out.shown[TACH__MOD_E];

	tach__attr(w->got.event->attrs, TACH__A_ESCRSEL, &select, NULL);
	return UINT64_C(1) << 12 | select << 13 | ANY_THREAD |
	       (uint64_t)(threshold || complement || edge) << 18 | complement << 19 |
	       threshold << 20 | edge << 24;
}

int tach__netburst_encode(struct tach__work *w)
{
	int rc;

	for (unsigned i = 0; i < w->got.npicks; i++) {
		rc = take_pick(w, &w->got.picks[i]);
		if (rc)
			return rc;
	}
	if (!(w->got.given & (1u << TACH__MOD_U | 1u << TACH__MOD_K))) {
		w->out.shown[TACH__MOD_K] = w->ask.privilege & TACH_PRIVILEGE_KERNEL ? 1 : 0;
		w->out.shown[TACH__MOD_U] = w->ask.privilege & TACH_PRIVILEGE_USER ? 1 : 0;
	}
	rc = tach__umask_finish(w, TACH_ERR_ATTR);
	if (rc)
		return rc;
	w->out.codes[0] = escr_word(w, w->got.event->code);
	w->out.codes[1] = cccr_word(w);
	w->out.ncodes = 2;
	return 0;
}

void tach__netburst_perf(struct tach__work *w)
{
	uint64_t select = 0;

	/* Linux has its own event numbers, in the event select field (arch/x86 p4 driver). */
	tach__attr(w->got.event->attrs, TACH__A_PERF, &select, NULL);
	w->out.config = ((w->out.codes[0] & ~(UINT64_C(0x3f) << 25)) | select << 25) << 32 |
			w->out.codes[1];
}
