/* SPDX-License-Identifier: MIT */
/*
 * ia64: registers for a caller's requests of qualifiers, event address registers and trace
 * buffers, and the errors if they are impossible (Intel Itanium 2 Processor Reference Manual
 * chapter 10, Dual-Core Update chapter 3).
 */
#include "tests/unit/dispatch/registers.h"
#include <tach/error.h>

static struct tach_dispatch_ia64 ia64;

static void with(const char *pmu, const char *event)
{
	begin(pmu);
	memset(&ia64, 0, sizeof ia64);
	ia64.size = sizeof ia64;
	in.ia64 = &ia64;
	if (event)
		row(event);
}

static void range(struct tach_dispatch_ranges *list, int i, uint64_t start, uint64_t end)
{
	list->used = 1;
	list->range[i].start = start;
	list->range[i].end = end;
}

static void is(uint32_t number, uint64_t value, int line)
{
	const struct tach_register *r = find(out.pmcs, out.npmcs, number);

	CHECK(r && r->value == value, "line %d: PMC%u = %#llx", line, number,
	      r ? (unsigned long long)r->value : 0);
}

#define IS(...) is(__VA_ARGS__, __LINE__)

static void qualifiers(void)
{
	with("itanium2", "BUS_IO_IO");
	DISPATCHED();
	IS(4, 8 | 1 << 5 | 0x90 << 8 | 1 << 16);
	range(&ia64.code, 0, 0x1000, 0x1010);
	REFUSED(TACH_ERR_FEATCOMB, "BUS_IO_IO cannot be qualified by a code range");
	ia64.code.used = 0;
	range(&ia64.data, 0, 0x1000, 0x1008);
	REFUSED(TACH_ERR_FEATCOMB, "BUS_IO_IO cannot be qualified by a data range");
	ia64.code.used = 1; /* the code range is reported first */
	REFUSED(TACH_ERR_FEATCOMB, "BUS_IO_IO cannot be qualified by a code range");
	ia64.code.used = ia64.data.used = 0;
	for (int i = 0; i < 2; i++) {
		ia64.opcode[0].used = !i;
		ia64.opcode[1].used = (uint32_t)i;
		REFUSED(TACH_ERR_FEATCOMB, "BUS_IO_IO cannot be qualified by an opcode match");
	}
	ia64.opcode[1].used = 0;
	ia64.opcode[0].used = 1;
	events[0].flags = TACH_DISPATCH_NOQUALIFY;
	DISPATCHED();
	events[0].flags = 0;
	in.nevents = 0;
	row("IA64_INST_RETIRED");
	row("BUS_IO_IO"); /* every event is checked */
	REFUSED(TACH_ERR_FEATCOMB, "BUS_IO_IO cannot be qualified by an opcode match");
	with("itanium2", "L2_DATA_REFERENCES_L2_ALL");
	range(&ia64.code, 0, 0x1000, 0x1010);
	range(&ia64.data, 0, 0x1000, 0x1008);
	DISPATCHED();
	events[0].privilege = TACH_PRIVILEGE_KERNEL;
	REFUSED(TACH_ERR_FEATCOMB, "all events count at the same levels");
	ia64.code.used = 0;
	REFUSED(TACH_ERR_FEATCOMB, "all events count at the same levels");
	ia64.code.used = 1;
	ia64.data.used = 0;
	REFUSED(TACH_ERR_FEATCOMB, "all events count at the same levels");
	ia64.code.used = 0;
	DISPATCHED();
	IS(4, 1 | 1 << 5 | 0xb2 << 8 | 3 << 16);
}

/* The PMCs of the debug registers on each model, without and with events. */
static void range_registers(void)
{
	with("itanium", "IA64_TAGGED_INST_RETIRED_PMC8");
	range(&ia64.code, 0, 0x1000, 0x1010);
	DISPATCHED();
	IS(13, 0);
	with("itanium", NULL);
	range(&ia64.data, 0, 0x1000, 0x1008);
	in.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_1;
	DISPATCHED();
	IS(11, 0xa);
	ia64.dear.used = 1; /* then PMC11 belongs to the data event address register */
	DISPATCHED();
	IS(11, 0xa);
	CHECK(out.npmcs == 1 && out.npmds == 3, "%u %u", out.npmcs, out.npmds);
	with("itanium2", "IA64_INST_RETIRED");
	range(&ia64.code, 0, 0x1000, 0x1010);
	DISPATCHED();
	CHECK(out.code_fine == 1 && out.code.nregisters == 4, "%u", out.code.nregisters);
	/* Fine mode, pairs 0 and 2: bits 1 and 7 are 0. */
	IS(14, 1 << 13 | (0xdb6 & ~0x82));
	ia64.code.flags = TACH_RANGE_NOFINE;
	DISPATCHED();
	IS(14, 0xdb6 & ~2);
	CHECK(!out.code_fine && out.code.nregisters == 2);
	in.flags = TACH_DISPATCH_NOMODEL;
	REFUSED(TACH_ERR_INVAL, "TACH_DISPATCH_NOMODEL");
	ia64.code.used = 0;
	DISPATCHED();
	range(&ia64.data, 0, 0x1000, 0x1008);
	events[0].flags = TACH_DISPATCH_NOQUALIFY;
	REFUSED(TACH_ERR_INVAL, "TACH_DISPATCH_NOMODEL");
}

/* Ranges that are empty, reversed, unaligned, or more than the pairs can cover. */
static void bad_ranges(void)
{
	with("itanium2", "IA64_INST_RETIRED");
	ia64.code.used = 1;
	REFUSED(TACH_ERR_CODE_RANGE, "a range is empty, or its end is below its start");
	range(&ia64.code, 0, 0x1010, 0x1010);
	REFUSED(TACH_ERR_CODE_RANGE, "a range is empty, or its end is below its start");
	range(&ia64.code, 0, 0x1008, 0x1010);
	REFUSED(TACH_ERR_CODE_ALIGN, "16-byte bundles");
	range(&ia64.code, 0, 0x1000, 0x1001);
	REFUSED(TACH_ERR_CODE_ALIGN, "16-byte bundles");
	for (int i = 0; i < 3; i++)
		range(&ia64.code, i, 0x1000 + 0x100 * (uint64_t)i,
		      0x1010 + 0x100 * (uint64_t)i);
	REFUSED(TACH_ERR_CODE_TOOMANY, "more ranges than debug register pairs");
	ia64.code.range[2].start = ia64.code.range[2].end = 0;
	DISPATCHED();
	CHECK(out.code.nregisters == 8 && out.code_fine);
	ia64.code.used = 0;
	ia64.data.used = 1;
	events[0].flags = TACH_DISPATCH_NOQUALIFY;
	REFUSED(TACH_ERR_DATA_RANGE, "a range is empty, or its end is below its start");
	range(&ia64.data, 0, 0x1001, 0x1002); /* data are not aligned to bundles */
	DISPATCHED();
}

/*
 * One pair for a whole range: it matches the smallest power of two that contains the range.
 * Bits above the mask's 56 are always compared, so a larger range is only partly matched.
 */
static void large_ranges(void)
{
	with("itanium2", "IA64_INST_RETIRED");
	row("CPU_CYCLES");
	events[1].flags = TACH_DISPATCH_NOQUALIFY;
	ia64.code.flags = TACH_RANGE_NOFINE;
	range(&ia64.code, 0, 0x1010, 0x2000);
	DISPATCHED();
	CHECK(!out.code.inexact && out.code.excess[0].before == 0x10 &&
	      out.code.excess[0].after == 0);
	CHECK(out.code.registers[0].value == 0x1000 &&
	      out.code.registers[1].value == (8ull << 56 | 0x00fffffffffff000));
	range(&ia64.code, 0, 0x1010, 0x1020);
	DISPATCHED();
	CHECK(!out.code.excess[0].before && !out.code.excess[0].after &&
	      out.code.registers[1].value == (8ull << 56 | 0x00fffffffffffff0));
	range(&ia64.code, 0, 0x1ff0, 0x2010); /* the range crosses a power of two */
	DISPATCHED();
	CHECK(out.code.excess[0].before == 0x1ff0 && out.code.excess[0].after == 0x1ff0);
	range(&ia64.code, 0, 0, 1ull << 56);
	DISPATCHED();
	CHECK(!out.code.inexact);
	range(&ia64.code, 0, 0, (1ull << 57) - 16);
	DISPATCHED();
	CHECK(out.code.inexact == 1 && out.code.excess[0].after == 16);
	range(&ia64.code, 0, 0, (1ull << 62) + 16);
	DISPATCHED();
	CHECK(out.code.inexact == 1 && out.code.excess[0].after == (1ull << 62) - 16);
	range(&ia64.code, 0, 0, (1ull << 63) + 16);
	REFUSED(TACH_ERR_CODE_TOOBIG, "");
}

/* Events of one cache belong to sets: only one set can be counted at a time. */
static void event_sets(void)
{
	with("itanium2", "L1D_READS_SET0");
	row("L1D_READS_SET1");
	REFUSED(TACH_ERR_EVENTSET,
		"L1D_READS_SET0 and L1D_READS_SET1 are in different event sets of one cache");
	with("itanium2", "L1D_READS_SET0");
	row("L2_DATA_REFERENCES_L2_ALL");
	DISPATCHED(); /* another cache's */
	CHECK(out.pmds[0].number == 5 && out.pmds[1].number == 4, "PMD%u, PMD%u",
	      out.pmds[0].number, out.pmds[1].number);
	row("L2_FORCE_RECIRC_ANY");
	REFUSED(TACH_ERR_EVENTSET, "L2_DATA_REFERENCES_L2_ALL and L2_FORCE_RECIRC_ANY");
	with("montecito", "L1D_READS_SET0");
	row("L1D_READS_SET1");
	REFUSED(TACH_ERR_EVENTSET, "L1D_READS_SET0 and L1D_READS_SET1");
	with("montecito", "CPU_OP_CYCLES_ALL");
	events[0].flags = TACH_DISPATCH_ALLTHREADS;
	REFUSED(TACH_ERR_NOTSUPP, "counting both threads of a core is not available");
	with("itanium2", "L2_FORCE_RECIRC_ANY"); /* on PMC4 alone */
	row("L2_FORCE_RECIRC_ANY");
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
}

/* Settings by the caller override those by an event; without both the register stays unused. */
static void event_address_registers(void)
{
	static const struct {
		const char *pmu;
		uint32_t iear, dear, most;
	} models[] = {{"itanium", 10, 11, TACH_EAR_ALAT},
		      {"itanium2", 10, 11, TACH_EAR_TLB},
		      {"montecito", 37, 40, TACH_EAR_TLB}};

	for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
		with(models[i].pmu, NULL);
		DISPATCHED();
		LACKS(models[i].iear);
		ia64.iear.used = 1;
		ia64.iear.mode = models[i].most;
		DISPATCHED();
		CHECK(out.npmds == 2);
		ia64.iear.mode++;
		REFUSED(TACH_ERR_INVAL, "the instruction event address register has no mode");
		ia64.iear.used = 0;
		ia64.dear.used = 1;
		ia64.dear.mode = TACH_EAR_ALAT;
		DISPATCHED();
		CHECK(out.npmds == 3 && find(out.pmcs, out.npmcs, models[i].dear));
		ia64.dear.mode++;
		REFUSED(TACH_ERR_INVAL, "the data event address register has no mode 3");
	}
	with("itanium2", "DATA_EAR_TLB_ALL"); /* level 0-3, mode 7-8, umask 16-19 */
	DISPATCHED();
	IS(11, 8 | 1 << 7 | 0xe << 16);
	IS(12, 0); /* the branch buffer must not run */
	ia64.dear.used = 1;
	ia64.dear.mode = TACH_EAR_CACHE;
	ia64.dear.privilege = TACH_PRIVILEGE_KERNEL;
	ia64.dear.umask = 0x13;
	ia64.dear.ism = 7;
	in.flags = TACH_DISPATCH_SYSTEMWIDE;
	DISPATCHED();
	IS(11, 1 | 1 << 6 | 3 << 16 | 3 << 24);
	with("itanium2", "L1I_EAR_CACHE_LAT4"); /* in cache mode bit 13, umask bits 5-12 */
	row("L1I_EAR_CACHE_LAT128");		/* the first event decides */
	DISPATCHED();
	IS(10, 8 | 0xff << 5 | 1 << 13);
	with("itanium2", NULL);
	ia64.iear.used = 1;
	ia64.iear.mode = TACH_EAR_TLB;
	ia64.iear.umask = 0x1ff;
	ia64.iear.ism = 5;
	in.flags = TACH_DISPATCH_SYSTEMWIDE;
	DISPATCHED();
	IS(10, 8 | 1 << 4 | 0x7f << 5 | 1 << 14);
}

/* Bits of Itanium: tar 7, tm 8-9, ptm 10-11, ppm 12-13, tac 14, bac 15. */
static void itaniums_branch_buffer(void)
{
	with("itanium", "BRANCH_EVENT");
	DISPATCHED();
	IS(12, 8 | 1 << 7 | 0x3f << 8 | 3 << 14);
	CHECK(out.npmds == 1 + 9);
	in.flags = TACH_DISPATCH_SYSTEMWIDE;
	ia64.btb = (struct tach_dispatch_btb){1, 0, 1, 2, 3, 3, 1, 1, 0, 0};
	DISPATCHED();
	IS(12, 8 | 1 << 6 | 1 << 7 | 1 << 8 | 2 << 10 | 3 << 12);
	ia64.btb = (struct tach_dispatch_btb){1, 0, 6, 5, 4, 3, 1, 2, 1, 0}; /* too wide */
	DISPATCHED();
	IS(12, 8 | 1 << 6 | 2 << 8 | 1 << 10 | 1 << 14);
	ia64.btb = (struct tach_dispatch_btb){1, 0, 0, 0, 0, 0, 0, 0, 2, 1};
	DISPATCHED();
	IS(12, 8 | 1 << 6 | 1 << 15);
	ia64.dear.used = 1; /* the data event address register permits it */
	ia64.dear.mode = TACH_EAR_TLB;
	DISPATCHED();
}

static void trace_buffers(void)
{
	with("itanium2", "BRANCH_EVENT"); /* levels, tm 8-9, ptm 10-11, ppm 12-13 */
	DISPATCHED();
	IS(12, 8 | 0x3f << 8);
	CHECK(out.npmds == 1 + 9 && out.pmds[1].number == 8 && out.pmds[9].number == 16);
	row("DATA_EAR_TLB_ALL");
	REFUSED(TACH_ERR_INCOMPATIBLE, "the trace buffer cannot run while");
	in.nevents = 1;
	for (uint32_t mode = TACH_EAR_CACHE; mode <= TACH_EAR_ALAT; mode++) {
		ia64.dear.used = 1;
		ia64.dear.mode = mode;
		if (mode == TACH_EAR_CACHE)
			DISPATCHED();
		else
			REFUSED(TACH_ERR_INCOMPATIBLE, "the trace buffer cannot run while");
	}
	ia64.dear.used = 0;
	ia64.btb = (struct tach_dispatch_btb){1, TACH_PRIVILEGE_1, 1, 2, 3, 1, 1, 0, 0, 0};
	in.flags = TACH_DISPATCH_SYSTEMWIDE;
	DISPATCHED();
	IS(12, 2 | 1 << 6 | 1 << 7 | 1 << 8 | 2 << 10 | 3 << 12 | 1 << 14);
	with("montecito", NULL); /* The buffer is in PMD38, 39 and 48-63; ds = 1 is reserved */
	ia64.btb = (struct tach_dispatch_btb){1, 0, 1, 2, 3, 1, 1, 0, 0, 0};
	DISPATCHED();
	IS(39, 8 | 1 << 8 | 2 << 10 | 3 << 12 | 1 << 14);
	CHECK(out.npmds == 18 && out.pmds[1].number == 39 && out.pmds[2].number == 48 &&
	      out.pmds[17].number == 63);
	ia64.ipear.used = 1;
	REFUSED(TACH_ERR_FEATCOMB, "share their data registers");
	ia64.btb.used = 0;
	ia64.ipear.delay = 0x85;
	DISPATCHED();
	IS(42, 8 | 4 << 8 | 0x85 << 11);
	CHECK(out.npmds == 18 && out.pmds[2].number == 48);
	row("ETB_EVENT");
	REFUSED(TACH_ERR_FEATCOMB, "share their data registers");
	with("itanium2", NULL); /* which has none */
	ia64.ipear.used = 1;
	DISPATCHED();
	LACKS(42);
}

/*
 * PMC8, 9, 15: bit 0 means no range, bit 1 inverted, bit 2 always; also the channels to which
 * the range applies.
 */
static void opcode_matchers(void)
{
	with("itanium2", "IA64_INST_RETIRED");
	ia64.opcode[1].used = 1;
	ia64.opcode[1].value = 0xf0000000000002;
	DISPATCHED();
	IS(9, 0xf0000000000005);
	IS(15, 0xffffffff & ~0xaull);
	ia64.opcode[0].used = 1;
	DISPATCHED();
	IS(8, 5);
	IS(15, 0xffffffff & ~0xfull);
	row("CPU_CYCLES");
	events[1].flags = TACH_DISPATCH_NOQUALIFY;
	REFUSED(TACH_ERR_FEATCOMB, "PMC9 qualifies IA64_INST_RETIRED events only");
	with("itanium2", "IA64_TAGGED_INST_RETIRED_IBRP0_PMC8");
	ia64.opcode[0].used = 1;
	DISPATCHED();
	IS(15, 0xffffffff & ~1ull);
	with("itanium2", "IA64_TAGGED_INST_RETIRED_IBRP2_PMC8");
	ia64.opcode[0].used = 1;
	DISPATCHED();
	IS(15, 0xffffffff & ~4ull);
	row("IA64_TAGGED_INST_RETIRED_IBRP0_PMC8");
	DISPATCHED();
	IS(15, 0xffffffff & ~5ull);
	/* Only a range: the matcher matches every opcode. */
	with("itanium2", "IA64_INST_RETIRED");
	range(&ia64.code, 0, 0x1000, 0x1010);
	ia64.code.flags = TACH_RANGE_INVERSE;
	DISPATCHED();
	IS(8, 0xffffffff3ffffffcull | 2 | 4);
	IS(15, 0xffffffff);
	with("montecito", "IA64_INST_RETIRED");
	ia64.opcode[1] = (struct tach_dispatch_opcode){
		.used = 1, .mask = ~0ull, .match = ~0ull, .m = 1, .f = 1};
	DISPATCHED();
	IS(34, 0x1ffffffffffull | 1ull << 51 | 1ull << 49);
	IS(35, 0x1ffffffffffull);
	LACKS(32);
	range(&ia64.code, 0, 0x1000, 0x1010);
	DISPATCHED();
	IS(32, 0xf01ffffffffffull);
	LACKS(33);
}

int main(void)
{
	CASE(qualifiers);
	CASE(range_registers);
	CASE(bad_ranges);
	CASE(large_ranges);
	CASE(event_sets);
	CASE(event_address_registers);
	CASE(itaniums_branch_buffer);
	CASE(trace_buffers);
	CASE(opcode_matchers);
	return check_done();
}
