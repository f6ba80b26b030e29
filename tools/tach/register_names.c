/* SPDX-License-Identifier: MIT */
/*
 * Names of registers in the manuals, by address: MSR numbers of x86 (Intel SDM volume 4, AMD
 * PPR), system registers of arm64 as op0<<14|op1<<11|CRn<<7|CRm<<3|op2 (Arm ARM D24). Both
 * kinds of numbers are disjoint. Addresses below 0x100 are register numbers of ia64, whose
 * names are the numbers.
 */
#include <stdio.h>
#include "tools/tach/dispatch.h"

/*
 * Pentium 4 uses numbers that other CPUs use for other registers: its registers have no second
 * address.
 */
enum where { ANYWHERE, NETBURST, ELSEWHERE };

static const struct range {
	uint32_t first, n, step;
	const char *name; /* %u: which of them */
	enum where where;
} ranges[] = {
	{0x0c1, 10, 1, "IA32_PMC%u", ANYWHERE},
	{0x186, 10, 1, "IA32_PERFEVTSEL%u", ANYWHERE},
	{0x1a6, 2, 1, "MSR_OFFCORE_RSP_%u", ANYWHERE},
	{0x1c8, 1, 1, "MSR_LBR_SELECT", ANYWHERE},
	{0x1c9, 1, 1, "MSR_LASTBRANCH_TOS", ANYWHERE},
	{0x300, 4, 1, "MSR_BPU_COUNTER%u", ANYWHERE},
	{0x304, 4, 1, "MSR_MS_COUNTER%u", ANYWHERE},
	{0x308, 4, 1, "MSR_FLAME_COUNTER%u", NETBURST},
	{0x30c, 6, 1, "MSR_IQ_COUNTER%u", NETBURST},
	{0x309, 7, 1, "IA32_FIXED_CTR%u", ELSEWHERE},
	{0x329, 1, 1, "MSR_PERF_METRICS", ANYWHERE},
	{0x360, 4, 1, "MSR_BPU_CCCR%u", ANYWHERE},
	{0x364, 4, 1, "MSR_MS_CCCR%u", ANYWHERE},
	{0x368, 4, 1, "MSR_FLAME_CCCR%u", ANYWHERE},
	{0x36c, 6, 1, "MSR_IQ_CCCR%u", ANYWHERE},
	{0x38d, 1, 1, "IA32_FIXED_CTR_CTRL", ANYWHERE},
	{0x38f, 1, 1, "IA32_PERF_GLOBAL_CTRL", ANYWHERE},
	{0x394, 1, 1, "MSR_UNCORE_FIXED_CTR0", ANYWHERE},
	{0x395, 1, 1, "MSR_UNCORE_FIXED_CTR_CTRL", ANYWHERE},
	{0x3b0, 8, 1, "MSR_UNCORE_PMC%u", ELSEWHERE},
	{0x3c0, 8, 1, "MSR_UNCORE_PERFEVTSEL%u", ELSEWHERE},
	{0x3f1, 1, 1, "IA32_PEBS_ENABLE", ANYWHERE},
	{0x3f2, 1, 1, "MSR_PEBS_MATRIX_VERT", ANYWHERE},
	{0x3f6, 1, 1, "MSR_PEBS_LD_LAT", ANYWHERE},
	{0x3f7, 1, 1, "MSR_PEBS_FRONTEND", ANYWHERE},
	{0x680, 16, 1, "MSR_LASTBRANCH_%u_FROM_IP", ANYWHERE},
	{0x6c0, 16, 1, "MSR_LASTBRANCH_%u_TO_IP", ANYWHERE},
	{0xc0000301, 1, 1, "PerfCntrGlobalCtl", ANYWHERE},
	{0xc0010000, 4, 1, "PERF_LEGACY_CTL%u", ANYWHERE},
	{0xc0010004, 4, 1, "PERF_LEGACY_CTR%u", ANYWHERE},
	{0xc0010200, 6, 2, "PERF_CTL%u", ANYWHERE},
	{0xc0010201, 6, 2, "PERF_CTR%u", ANYWHERE},
	{0xc0011030, 1, 1, "IBS_FETCH_CTL", ANYWHERE},
	{0xc0011031, 1, 1, "IBS_FETCH_LINADDR", ANYWHERE},
	{0xc0011032, 1, 1, "IBS_FETCH_PHYSADDR", ANYWHERE},
	{0xc0011033, 1, 1, "IBS_OP_CTL", ANYWHERE},
	{0xc0011034, 1, 1, "IBS_OP_RIP", ANYWHERE},
	{0xc0011035, 3, 1, "IBS_OP_DATA%u", ANYWHERE},
	{0xc0011038, 1, 1, "IBS_DC_LINADDR", ANYWHERE},
	{0xc0011039, 1, 1, "IBS_DC_PHYSADDR", ANYWHERE},
	{0xdce1, 1, 1, "PMCNTENSET_EL0", ANYWHERE},
	{0xdce8, 1, 1, "PMCCNTR_EL0", ANYWHERE},
	{0xdf40, 31, 1, "PMEVCNTR%u_EL0", ANYWHERE},
	{0xdf60, 31, 1, "PMEVTYPER%u_EL0", ANYWHERE},
	{0xdf7f, 1, 1, "PMCCFILTR_EL0", ANYWHERE},
	{0xcf80, 1, 1, "PMCR0_EL1", ANYWHERE},
	{0xcf88, 1, 1, "PMCR1_EL1", ANYWHERE},
	{0xcfa8, 2, 8, "PMESR%u_EL1", ANYWHERE},
	{0xd780, 8, 8, "PMC%u_EL1", ANYWHERE},
	{0xd7c8, 2, 8, "PMC%u_EL1", ANYWHERE},
};

const char *register_name(const struct tach_register *reg, char *out, size_t size)
{
	*out = 0;
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		const struct range *r = &ranges[i];
		uint64_t at = reg->address - r->first;

		if (reg->address < r->first || at % r->step || at / r->step >= r->n ||
		    (r->where == NETBURST && reg->alternative) ||
		    (r->where == ELSEWHERE && !reg->alternative))
			continue;
		/* Apple's last two counters follow after a gap. */
		snprintf(out, size, r->name,
			 (unsigned)(at / r->step) + (r->first == 0xd7c8 ? 8 : 0));
		break;
	}
	return out;
}
