/* SPDX-License-Identifier: MIT */
/*
 * libpfm-3's lists of Intel PMUs: bounds and refusals that the recorded answers (tests/vectors)
 * do not cover.
 */
#include "tests/unit/dispatch/registers.h"

static void list(const char *name)
{
	begin_at(tach_dispatch_list(name));
	in.x86 = &x86;
}

/* A request and a response; each register has one value. */
static void offcore_register_has_one_value(void)
{
	list("wsm");
	row("OFFCORE_RESPONSE_0:DMND_RFO:LOCAL_DRAM");
	row("OFFCORE_RESPONSE_1:PF_RFO:LOCAL_DRAM");
	row("OFFCORE_RESPONSE_0:DMND_RFO:LOCAL_DRAM");
	DISPATCHED();
	CHECK(find(out.pmcs, out.npmcs, 19) && find(out.pmcs, out.npmcs, 31));
	CHECK(out.pmcs[0].value == 0x5101b7 && out.pmcs[1].value == 0x5101bb, "%#llx",
	      (unsigned long long)out.pmcs[1].value);
	row("OFFCORE_RESPONSE_1:DMND_RFO:LOCAL_DRAM");
	REFUSED(TACH_ERR_NOASSIGN, "offcore response events must have the same masks");
	in.nevents = 2;
	take_away(31);
	REFUSED(TACH_ERR_NOASSIGN, "the offcore response register is not available");
	in.nevents = 1;
	DISPATCHED();
	PMC(19, 0x4002, 0x1a6);
	LACKS(31);
	in.nevents = 0;
	row("OFFCORE_RESPONSE_0:DMND_RFO");
	REFUSED(TACH_ERR_INVAL, "OFFCORE_RESPONSE_0 needs a request and a response mask");
	in.nevents = 0;
	row("OFFCORE_RESPONSE_0:LOCAL_DRAM");
	REFUSED(TACH_ERR_INVAL, "OFFCORE_RESPONSE_0 needs a request and a response mask");
	take_away(19);
	in.nevents = 0;
	row("OFFCORE_RESPONSE_0:DMND_RFO:LOCAL_DRAM");
	REFUSED(TACH_ERR_NOASSIGN, "the offcore response register is not available");
}

static void load_latency(void)
{
	static const uint32_t good[] = {3, 65535}, bad[] = {1, 2, 65536, UINT32_MAX};

	list("nhm");
	row("MEM_INST_RETIRED:LATENCY_ABOVE_THRESHOLD");
	x86.pebs = 1;
	for (int i = 0; i < 2; i++) {
		x86.ldlat = good[i];
		DISPATCHED();
		PMC(17, 1ull << 32 | 1, 0x3f1);
		PMC(18, good[i], 0x3f6);
	}
	for (int i = 0; i < 4; i++) {
		x86.ldlat = bad[i];
		REFUSED(TACH_ERR_INVAL, "the load latency threshold must be 3 .. 65535");
	}
	x86.ldlat = 0; /* off */
	DISPATCHED();
	PMC(17, 1, 0x3f1);
	LACKS(18);
	in.nevents = 0;
	row("MEM_INST_RETIRED:LOADS"); /* not that event */
	x86.ldlat = 2;
	DISPATCHED();
	PMC(17, 1, 0x3f1);
	LACKS(18);
}

/*
 * An eight-bit threshold: larger values are refused, except on the P6 family, where they are
 * truncated as in libpfm-3.
 */
static void thresholds_have_eight_bits(void)
{
	list("nhm");
	row("UOPS_ISSUED:ANY");
	events[0].threshold = 255;
	DISPATCHED();
	PMC(0, 0xff51010e, 0x186);
	events[0].threshold = 256;
	REFUSED(TACH_ERR_INVAL, "the counter mask must be 0 .. 255");
	events[0].threshold = 0;
	events[0].flags = TACH_DISPATCH_OCCUPANCY;
	REFUSED(TACH_ERR_INVAL, "the occupancy reset for uncore events");
	events[0].flags = TACH_DISPATCH_GUEST;
	REFUSED(TACH_ERR_INVAL, "a flag that this PMU's counters lack");
	list("p6");
	row("CPU_CLK_UNHALTED");
	events[0].threshold = 257;
	DISPATCHED();
	PMC(0, 0x1510079, 0x186);
	events[0].threshold = 0;
	events[0].flags = TACH_DISPATCH_ANYTHREAD;
	REFUSED(TACH_ERR_INVAL, "a flag that this PMU's counters lack");
}

/* A fixed counter supports only the any-thread option, and not while sampling. */
static void fixed_counters(void)
{
	static const char *const lists[] = {"atom", "nhm"};

	for (int i = 0; i < 2; i++) {
		list(lists[i]);
		row("INSTRUCTIONS_RETIRED");
		events[0].flags = TACH_DISPATCH_ANYTHREAD;
		DISPATCHED();
		PMC(16, 0xe, 0x38d);
		PMD(0, 16, 0x309, 0x40000000);
		x86.pebs = 1;
		DISPATCHED();
		PMC(0, 0x7100c0, 0x186);
		PMC(17, 1, 0x3f1);
		LACKS(16);
		list(lists[i]);
		row("UNHALTED_REFERENCE_CYCLES"); /* only this counter counts it */
		events[0].flags = TACH_DISPATCH_ANYTHREAD;
		DISPATCHED();
		PMC(16, 0xe00, 0x38d);
		events[0].flags = TACH_DISPATCH_EDGE;
		REFUSED(TACH_ERR_NOASSIGN,
			"UNHALTED_REFERENCE_CYCLES has a fixed counter, and that has no "
			"options");
		events[0].flags = TACH_DISPATCH_INVERT;
		REFUSED(TACH_ERR_NOASSIGN, "that has no options");
		events[0].flags = 0;
		events[0].threshold = 1;
		REFUSED(TACH_ERR_NOASSIGN, "that has no options");
		events[0].threshold = 0;
		DISPATCHED();
		PMC(16, 0xa00, 0x38d);
	}
	/* with a sampled event, the fixed counter stays unused, even after other events */
	list("atom");
	row("UNHALTED_CORE_CYCLES");
	row("INSTRUCTIONS_RETIRED");
	x86.pebs = 1;
	DISPATCHED();
	PMD(0, 17, 0x30a, 0x40000001);
	PMD(1, 0, 0xc1, 0);
	PMC(16, 0xa0, 0x38d);
	PMC(17, 1, 0x3f1);
	in.nevents = 0; /* the fixed counter stays free for the next event */
	row("SIMD_INSTR_RETIRED");
	row("INSTRUCTIONS_RETIRED");
	row("INSTRUCTIONS_RETIRED");
	DISPATCHED();
	PMD(0, 1, 0xc2, 1);
	PMD(1, 0, 0xc1, 0);
	PMD(2, 16, 0x309, 0x40000000);
	list("core"); /* without that option */
	row("UNHALTED_REFERENCE_CYCLES");
	events[0].flags = TACH_DISPATCH_ANYTHREAD;
	REFUSED(TACH_ERR_INVAL, "a flag that this PMU's counters lack");
	events[0].flags = TACH_DISPATCH_INVERT;
	REFUSED(TACH_ERR_NOASSIGN, "that has no options");
	list("core"); /* on other lists a general counter accepts options */
	row("INSTRUCTIONS_RETIRED");
	events[0].threshold = 2;
	DISPATCHED();
	PMC(0, 0x25100c0, 0x186);
	LACKS(16);
}

/* Nehalem's uncore counts at all levels. */
static void uncore(void)
{
	list("nhm");
	row("UNC_DRAM_OPEN:CH0");
	REFUSED(TACH_ERR_NOASSIGN, "the uncore counts at all levels");
	in.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	DISPATCHED();
	PMC(21, 0x500160, 0x3c0);
	PMD(0, 21, 0x3b0, 0x3b0);
	events[0].flags = TACH_DISPATCH_OCCUPANCY;
	DISPATCHED();
	PMC(21, 0x520160, 0x3c0);
	events[0].flags = TACH_DISPATCH_ANYTHREAD;
	REFUSED(TACH_ERR_INVAL, "any-thread is for core events");
	in.nevents = 0;
	row("UNC_CLK_UNHALTED");
	DISPATCHED();
	PMC(20, 5, 0x395);
	PMD(0, 20, 0x394, 0x394);
	events[0].threshold = 1;
	REFUSED(TACH_ERR_NOASSIGN, "the uncore's fixed counter has no options");
	events[0].threshold = 0;
	row("UNC_CLK_UNHALTED");
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
	row("UOPS_ISSUED:ANY"); /* the first impossible event is reported */
	events[2].flags = TACH_DISPATCH_GUEST;
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
	in.nevents = 1;
	in.privilege = TACH_PRIVILEGE_USER;
	events[0].privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	DISPATCHED();
}

/* LBR_SELECT: bit 0 excludes ring 0, bit 1 the other rings, bits 2-8 kinds of branches. */
static void branch_records(void)
{
	list("nhm");
	row("UOPS_ISSUED:ANY");
	x86.lbr = 1;
	x86.lbr_filter = 0xffffffff;
	DISPATCHED();
	PMC(30, 0x1fd, 0x1c8);
	CHECK(out.npmds == 1 + 1 + 32 && out.pmds[1].number == 31 &&
	      out.pmds[1].address == 0x1c9);
	for (uint32_t i = 0; i < 32; i++)
		CHECK(out.pmds[2 + i].number == 32 + i &&
			      out.pmds[2 + i].address == (i & 1 ? 0x6c0 : 0x680) + i / 2,
		      "%u: %#llx", i, (unsigned long long)out.pmds[2 + i].address);
	x86.lbr_filter = 0;
	x86.lbr_privilege = TACH_PRIVILEGE_KERNEL;
	DISPATCHED();
	PMC(30, 2, 0x1c8);
	x86.lbr_privilege |= TACH_PRIVILEGE_USER;
	DISPATCHED();
	PMC(30, 0, 0x1c8);
	take_away(30);
	REFUSED(TACH_ERR_NOASSIGN, "PMC30");
	list("core"); /* this list has no such register */
	row("INSTRUCTIONS_RETIRED");
	x86.lbr = 1;
	DISPATCHED();
	LACKS(30);
}

int main(void)
{
	CASE(offcore_register_has_one_value);
	CASE(load_latency);
	CASE(thresholds_have_eight_bits);
	CASE(fixed_counters);
	CASE(uncore);
	CASE(branch_records);
	return check_done();
}
