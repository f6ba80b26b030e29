/* SPDX-License-Identifier: MIT */
/*
 * Intel's architectural events on this processor (SDM vol. 3B, "Architectural Performance
 * Monitoring"; CPUID leaf 0AH). On other processors, and under a hypervisor without a PMU,
 * version 3 with its seven events is assumed, as libpfm-4 does when that PMU is forced. In that
 * case the later events encode if the string names this PMU, since no processor reports them as
 * absent.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <tach/arch.h>
#include "core/port/port.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

/*
 * The version, never 0, is in bits 0-7; absent events are in bits from 8 on. A processor that
 * is only named has version 3 and its seven events; STANDS_IN shows that this is not from
 * CPUID.
 */
enum { NEVENTS = 13, STANDS_IN = 1 << 30 };
enum { FORCED = 3 | ((1 << NEVENTS) - (1 << 7)) << 8 | STANDS_IN };

struct leaf_0a {
	unsigned eax, ebx, edx;
};

/* Returns 0 for another machine, or if this processor has no such PMU. */
static int read_leaf(struct leaf_0a *l)
{
#ifdef __x86_64__
	const char *forced = secure_getenv("TACH_PMU");
	unsigned a, b, c, d;

	return !(forced && *forced) && __get_cpuid(0, &a, &b, &c, &d) &&
	       b == signature_INTEL_ebx &&
	       __get_cpuid_count(0xa, 0, &l->eax, &l->ebx, &c, &l->edx);
#else
	(void)l;
	return 0;
#endif
}

static uint32_t ask(void)
{
	uint32_t answer = FORCED;
	struct leaf_0a l;

	if (read_leaf(&l) && (l.eax & 0xff)) {
		/* EBX: bit n set = event n absent; EAX 31-24 is the number of valid bits. */
		unsigned n = l.eax >> 24 < NEVENTS ? l.eax >> 24 : NEVENTS;

		l.ebx |= ~0u << n;
		answer = (l.eax & 0xff) | (l.ebx & ((1u << NEVENTS) - 1)) << 8;
	}
	return answer;
}

/*
 * EAX 7-0: the version, 0 if a hypervisor gives no PMU; 15-8: general counters. EDX 4-0: fixed
 * counters.
 */
int tach__archperfmon_counters(int *general, int *fixed)
{
	struct leaf_0a l;

	if (!read_leaf(&l) || !(l.eax & 0xff))
		return 0;
	*general = (int)(l.eax >> 8 & 0xff);
	*fixed = (int)(l.edx & 0x1f);
	return (int)(l.eax & 0xff);
}

static uint32_t leaf(const struct tach_encode_options *opt)
{
	static atomic_uint cached;
	uint32_t answer = atomic_load_explicit(&cached, memory_order_relaxed);

	/* The string is for another machine. */
	if (opt->host)
		return FORCED;
	if (!answer) {
		answer = ask();
		atomic_store_explicit(&cached, answer, memory_order_relaxed);
	}
	return answer;
}

/* Version 3 adds any-thread, 4 adds transactional memory, 5 removes any-thread again. */
uint32_t tach__archperfmon_mods(const struct tach_encode_options *opt, uint32_t mods)
{
	uint32_t version = leaf(opt) & 0xff;

	if (version == 3 || version == 4)
		mods |= 1u << TACH__MOD_T;
	if (version >= 4)
		mods |= 1u << TACH__MOD_INTX | 1u << TACH__MOD_INTXCP;
	return mods;
}

int tach__archperfmon_event(const struct tach_encode_options *opt,
			    const struct tach__event *event, int named)
{
	/* In the order of EBX's bits. */
	static const uint16_t codes[NEVENTS] = {0x3c,  0xc0,  0x13c, 0x4f2e, 0x412e, 0xc4, 0xc5,
						0x1a4, 0x2a4, 0x73,  0x19c,  0x2c2,  0x1e4};
	uint32_t answer = leaf(opt);

	if (named && answer & STANDS_IN)
		return 1;
	for (int i = 0; i < NEVENTS; i++)
		if (codes[i] == event->code)
			return !(answer >> (8 + i) & 1);
	return 1;
}
