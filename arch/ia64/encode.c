/* SPDX-License-Identifier: MIT */
/*
 * ia64 (Itanium, Itanium 2, Montecito): the value of a counter's PMC. Intel Itanium
 * Architecture and processor reference manuals, "Performance Monitoring Configuration
 * Registers".
 *
 *  0-3 privilege levels	4 event in PMU pin   5 overflow interrupt   6 privileged
 *  8-15 event select   16-19 umask   20-22 threshold   23 enable	 24-25 instruction set
 * 27-30 Montecito: MESI states I, S, E, M
 *
 * As in libpfm's answers the enable bit stays 0, Itanium and Itanium 2 interrupt on overflow,
 * and Montecito counts the native instruction set alone. Address ranges and opcode matching
 * need further registers; dispatch handles them.
 */
#include "core/port/port.h"

#define OVERFLOW_INTERRUPT (UINT64_C(1) << 5)
#define ISM_IA64	   (UINT64_C(2) << 24)
#define MESI_SHIFT	   27
#define MESI_ALL	   UINT64_C(0xf)
/* Event address registers and branch buffers count their events with umask 0. */
#define UMASK_IS_MODE                                                                          \
	(TACH__EV_IEAR_CACHE | TACH__EV_IEAR_TLB | TACH__EV_DEAR_CACHE | TACH__EV_DEAR_TLB |   \
	 TACH__EV_DEAR_ALAT)

static int take_pick(struct tach__work *w, const struct tach__pick *pick)
{
	w->column = pick->column;
	if (pick->kind != TACH__PICK_MOD)
		return tach__umask_take(w, pick);
	if (pick->number == TACH__MOD_THR && pick->value > 7)
		return tach__refuse(w, TACH_ERR_ATTR_VALUE, "thr must be 0 .. 7");
	w->out.shown[pick->number] = (uint32_t)pick->value;
	return 0;
}

static uint64_t mesi(const struct tach__work *w)
{
	uint64_t states = 0;

	if (!(w->got.event->flags & TACH__EV_MESI))
		return 0;
	for (unsigned i = 0; i < w->got.nrows; i++)
		states |= tach__umask_at(w->got.event, w->got.rows[i])->code;
	return (states ? states & MESI_ALL : MESI_ALL) << MESI_SHIFT;
}

int tach__ia64_encode(struct tach__work *w)
{
	/* Montecito is the model with twelve counters. */
	int montecito = w->got.pmu->general > 4;
	uint64_t umask = 0, privilege = w->ask.privilege & 0xf;
	int rc;

	for (unsigned i = 0; i < w->got.npicks; i++) {
		rc = take_pick(w, &w->got.picks[i]);
		if (rc)
			return rc;
	}
	if (w->got.given & (1u << TACH__MOD_K | 1u << TACH__MOD_U))
		privilege = (w->out.shown[TACH__MOD_K] ? TACH_PRIVILEGE_KERNEL : 0) |
			    (w->out.shown[TACH__MOD_U] ? TACH_PRIVILEGE_USER : 0);
	w->out.shown[TACH__MOD_K] = privilege & TACH_PRIVILEGE_KERNEL ? 1 : 0;
	w->out.shown[TACH__MOD_U] = privilege & TACH_PRIVILEGE_USER ? 1 : 0;
	if (!(w->got.event->flags & UMASK_IS_MODE))
		tach__attr(w->got.event->attrs, TACH__A_UM, &umask, NULL);
	w->out.codes[0] = privilege | (montecito ? ISM_IA64 : OVERFLOW_INTERRUPT) |
			  (uint64_t)(w->got.event->code & 0xff) << 8 | (umask & 0xf) << 16 |
			  w->out.shown[TACH__MOD_THR] << 20 | mesi(w);
	w->out.ncodes = 1;
	return 0;
}
