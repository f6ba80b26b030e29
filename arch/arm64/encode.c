/* SPDX-License-Identifier: MIT */
/*
 * Arm PMUv3 and Apple's PMU. One word: the event number in bits 0-15 and exclude bits as
 * libpfm-4 numbers them (30 kernel, 31 user, 27 hypervisor). These are not PMEVTYPER<n>_EL0's
 * positions (there 31 excludes EL1, 30 EL0, and 27 includes EL2); under Linux the kernel writes
 * that register from perf's own exclude bits.
 */
#include "core/port/port.h"

#define EXCLUDE_HYPERVISOR (UINT64_C(1) << 27)
#define EXCLUDE_KERNEL	   (UINT64_C(1) << 30)
#define EXCLUDE_USER	   (UINT64_C(1) << 31)
#define LEVELS		   (1u << TACH__MOD_K | 1u << TACH__MOD_U | 1u << TACH__MOD_HV)

int tach__arm_encode(struct tach__work *w)
{
	uint64_t *v = w->out.shown;

	for (unsigned i = 0; i < w->got.npicks; i++)
		if (w->got.picks[i].kind == TACH__PICK_MOD)
			v[w->got.picks[i].number] |= (uint32_t)w->got.picks[i].value;
	if (!(w->got.given & LEVELS)) {
		v[TACH__MOD_K] = w->ask.privilege & TACH_PRIVILEGE_KERNEL ? 1 : 0;
		v[TACH__MOD_U] = w->ask.privilege & TACH_PRIVILEGE_USER ? 1 : 0;
		v[TACH__MOD_HV] = w->ask.privilege & TACH_PRIVILEGE_HYPERVISOR ? 1 : 0;
	}
	w->out.codes[0] = w->got.event->code | (v[TACH__MOD_K] ? 0 : EXCLUDE_KERNEL) |
			  (v[TACH__MOD_U] ? 0 : EXCLUDE_USER) |
			  (v[TACH__MOD_HV] ? 0 : EXCLUDE_HYPERVISOR);
	w->out.ncodes = 1;
	return 0;
}

void tach__arm_perf(struct tach__work *w)
{
	w->out.config = w->out.codes[0] & ~(EXCLUDE_HYPERVISOR | EXCLUDE_KERNEL | EXCLUDE_USER);
}
