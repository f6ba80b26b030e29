/* SPDX-License-Identifier: MIT */
/*
 * AMD core PMUs: PERF_CTL (AMD64 APM vol. 2, 13.2.1; BKDG of the family):
 *
 *	 0-7 event select 7:0	8-15 umask   16 USR   17 OS   18 edge	20 INT	 22 enable
 *	23 invert   24-31 counter mask	 32-35 event select 11:8   40 guest only   41 host only
 */
#include "core/port/port.h"

#define INT_BIT	   (UINT64_C(1) << 20)
#define ENABLE_BIT (UINT64_C(1) << 22)
#define LEVELS	   (1u << TACH__MOD_K | 1u << TACH__MOD_U | 1u << TACH__MOD_H)

static int take_pick(struct tach__work *w, const struct tach__pick *pick)
{
	w->column = pick->column;
	switch (pick->kind) {
	case TACH__PICK_OSMOD:
		return 0;
	case TACH__PICK_MOD:
		if (pick->number == TACH__MOD_C && pick->value > 255)
			return tach__refuse(w, TACH_ERR_ATTR_VALUE, "c must be 0 .. 255");
		w->out.shown[pick->number] = (uint32_t)pick->value;
		return 0;
	case TACH__PICK_RAW:
		if (pick->value > 0xff)
			return tach__refuse(w, TACH_ERR_ATTR, "a umask has at most 8 bits");
		break;
	}
	return tach__umask_take(w, pick);
}

static uint64_t umask_bits(const struct tach__work *w)
{
	uint64_t bits = w->got.has_raw ? w->got.raw : 0;

	for (unsigned i = 0; i < w->got.nrows; i++)
		bits |= tach__umask_at(w->got.event, w->got.rows[i])->code;
	if (!w->got.nrows && !w->got.has_raw)
		tach__attr(w->got.event->attrs, TACH__A_UM, &bits, NULL);
	return bits & 0xff;
}

int tach__amd_encode(struct tach__work *w)
{
	const uint64_t *v = w->out.shown;
	uint64_t code = w->got.event->code;
	uint64_t host;
	int rc;

	for (unsigned i = 0; i < w->got.npicks; i++) {
		rc = take_pick(w, &w->got.picks[i]);
		if (rc)
			return rc;
	}
	if (!(w->got.given & LEVELS)) {
		w->out.shown[TACH__MOD_K] = w->ask.privilege & TACH_PRIVILEGE_KERNEL ? 1 : 0;
		w->out.shown[TACH__MOD_U] = w->ask.privilege & TACH_PRIVILEGE_USER ? 1 : 0;
		/* CPU families without a modifier for this bit still have the bit. */
		w->out.shown[TACH__MOD_H] =
			w->ask.privilege & TACH_PRIVILEGE_HYPERVISOR ? 1 : 0;
	}
	host = v[TACH__MOD_H];
	rc = tach__umask_finish(w, TACH_ERR_UMASK);
	if (rc)
		return rc;
	w->out.codes[0] = (code & 0xff) | umask_bits(w) << 8 | (code >> 8 & 0xf) << 32 |
			  v[TACH__MOD_U] << 16 | v[TACH__MOD_K] << 17 | v[TACH__MOD_E] << 18 |
			  INT_BIT | ENABLE_BIT | v[TACH__MOD_I] << 23 | v[TACH__MOD_C] << 24 |
			  v[TACH__MOD_G] << 40 | host << 41;
	w->out.ncodes = 1;
	return 0;
}

void tach__amd_perf(struct tach__work *w)
{
	/* perf has its own bits for levels, guest and host. */
	w->out.config = w->out.codes[0] &
			~(INT_BIT | ENABLE_BIT | UINT64_C(0x30000) | UINT64_C(3) << 40);
}
