/* SPDX-License-Identifier: MIT */
/*
 * Intel's PMUs of the tables: counters and related registers (Intel SDM volume 3B, "Performance
 * Monitoring"; volume 4 for the numbers of MSRs).
 */
#include "tests/unit/dispatch/registers.h"

/* PERFEVTSELx: USR 16, OS 17, edge 18, INT 20, any thread 21, enable 22, invert 23, mask 24. */
static void general_counters(void)
{
	begin("skl");
	add("skl::BR_INST_RETIRED:ALL_BRANCHES");
	add("skl::UOPS_ISSUED:ANY:k=1:u=0:c=2:i=1:e=1");
	DISPATCHED();
	PMC(0, 0x5100c4, 0x186);
	PMC(1, 0x2d6010e, 0x187);
	PMC(33, 3, 0x38f);
	PMD(0, 0, 0xc1, 0);
	PMD(1, 1, 0xc2, 1);
	CHECK(out.npmcs == 3 && out.npmds == 2, "%u %u", out.npmcs, out.npmds);
	/* Privilege levels passed to dispatch override those in the encoded word. */
	events[0].privilege = TACH_PRIVILEGE_KERNEL;
	events[1].privilege = TACH_PRIVILEGE_KERNEL | TACH_PRIVILEGE_USER;
	DISPATCHED();
	PMC(0, 0x5200c4, 0x186);
	PMC(1, 0x2d7010e, 0x187);
	take_away(33); /* the kernel's own */
	take_away(1);
	DISPATCHED();
	LACKS(33);
	LACKS(1);
	PMC(2, 0x2d7010e, 0x188);
	in.privilege = TACH_PRIVILEGE_1;
	REFUSED(TACH_ERR_INVAL, "user from kernel");
	in.privilege = TACH_PRIVILEGE_USER;
	events[1].privilege = TACH_PRIVILEGE_2;
	REFUSED(TACH_ERR_INVAL, "user from kernel");
	events[1].privilege = 0;
	/* The encoded word may lack the interrupt and enable bits. */
	events[0].codes[0] &= ~0x500000ull;
	DISPATCHED();
	PMC(0, 0x5200c4, 0x186);
	/* Flags affect events given by rows, not encoded events. */
	events[1].flags = TACH_DISPATCH_OCCUPANCY;
	DISPATCHED();
	events[1].ncodes = 0;
	REFUSED(TACH_ERR_INVAL, "flag");
	events[1].flags = TACH_DISPATCH_NOQUALIFY;
	REFUSED(TACH_ERR_INVAL, "flag");
}

/* FIXED_CTR_CTRL: a nibble each, OS 1, USR 2, any thread 4, interrupt 8. */
static void fixed_counters(void)
{
	begin("skl");
	add("skl::UNHALTED_REFERENCE_CYCLES");
	add_fixed("skl::INST_RETIRED:ANY_P:k=1:u=0", 0);
	DISPATCHED();
	PMC(16, 0xa09, 0x38d);
	PMC(33, 5ull << 32, 0x38f);
	PMD(0, 18, 0x30b, 0x40000002);
	PMD(1, 16, 0x309, 0x40000000);
	CHECK(out.npmcs == 2, "%u", out.npmcs);
	begin("spr"); /* the general counter stays free for the event that needs it */
	add_fixed("spr::INST_RETIRED:ANY_P:k=1:u=1", 0);
	add("spr::INST_RETIRED:ANY");
	add("spr::CPU_CLK_UNHALTED:THREAD:k=1:u=1");
	DISPATCHED();
	PMC(0, 0x5300c0, 0x186);
	PMC(16, 0xba, 0x38d);
	PMC(33, 3ull << 32 | 1, 0x38f);
	PMD(0, 0, 0xc1, 0);
	PMD(1, 16, 0x309, 0x40000000);
	PMD(2, 17, 0x30a, 0x40000001);
	add("spr::INST_RETIRED:ANY");
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
	/*
	 * An event that can use a fixed counter chooses before one that can use only general
	 * counters.
	 */
	begin("spr");
	add("spr::BR_INST_RETIRED:ALL_BRANCHES");
	add_fixed("spr::INST_RETIRED:ANY_P", 0);
	add("spr::INST_RETIRED:ANY");
	DISPATCHED();
	CHECK(out.pmds[0].number == 1 && out.pmds[1].number == 0 && out.pmds[2].number == 16,
	      "%u %u %u", out.pmds[0].number, out.pmds[1].number, out.pmds[2].number);
	begin("spr"); /* one event for each fixed counter */
	add("spr::BR_INST_RETIRED:ALL_BRANCHES");
	add_fixed("spr::INST_RETIRED:ANY_P", 0);
	add_fixed("spr::CPU_CLK_UNHALTED:THREAD_P", 1);
	add("spr::CPU_CLK_UNHALTED:THREAD");
	DISPATCHED();
	CHECK(out.pmds[0].number == 1 && out.pmds[1].number == 16 && out.pmds[2].number == 0 &&
		      out.pmds[3].number == 17,
	      "%u %u %u %u", out.pmds[0].number, out.pmds[1].number, out.pmds[2].number,
	      out.pmds[3].number);
}

/*
 * The only option of a fixed counter is any thread; without its control register the counter
 * does not exist.
 */
static void options_of_fixed_counters(void)
{
	static const struct {
		const char *string;
		uint32_t pmd;
		uint64_t value;
	} cases[] = {
		{"skl::INST_RETIRED:ANY_P", 16, 0xa},
		{"skl::INST_RETIRED:ANY_P:t=1", 16, 0xe},
		{"skl::INST_RETIRED:ANY_P:c=1", 0, 0x15100c0},
		{"skl::INST_RETIRED:ANY_P:c=1:t=1", 0, 0x17100c0},
		{"skl::INST_RETIRED:ANY_P:i=1", 0, 0xd100c0},
		{"skl::INST_RETIRED:ANY_P:i=1:t=1", 0, 0xf100c0},
		{"skl::INST_RETIRED:ANY_P:e=1:c=1", 0, 0x15500c0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tach_register *r;

		begin("skl");
		add_fixed(cases[i].string, 0);
		DISPATCHED();
		r = find(out.pmcs, out.npmcs, cases[i].pmd);
		CHECK(out.pmds[0].number == cases[i].pmd && r && r->value == cases[i].value,
		      "%s: PMD%u, %#llx", cases[i].string, out.pmds[0].number,
		      r ? (unsigned long long)r->value : 0);
	}
	begin("skl");
	take_away(16);
	add_fixed("skl::INST_RETIRED:ANY_P", 0);
	DISPATCHED();
	PMC(0, 0x5100c0, 0x186);
	LACKS(16);
	events[0].ncodes = 0; /* its rows */
	events[0].counters = 0;
	row("UNHALTED_REFERENCE_CYCLES");
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
}

/*
 * P6: the enable bit of the first register starts both counters; the second register has no
 * such bit.
 */
static void one_enable_bit(void)
{
	begin("p6");
	add("p6::DIV");
	DISPATCHED();
	PMC(0, 0x400000, 0x186);
	PMC(1, 0x110013, 0x187);
	PMD(0, 1, 0xc2, 1);
	CHECK(out.npmcs == 2 && out.npmds == 1, "%u %u", out.npmcs, out.npmds);
	add("p6::FLOPS");
	DISPATCHED();
	PMC(0, 0x5100c1, 0x186);
	PMC(1, 0x110013, 0x187);
	CHECK(out.npmcs == 2, "%u", out.npmcs);
	in.nevents = 1;
	take_away(0);
	DISPATCHED();
	LACKS(0);
	/* Core Duo has architectural counters, of version 1. */
	begin("coreduo");
	add("coreduo::INSTRUCTIONS_RETIRED");
	add("coreduo::UNHALTED_CORE_CYCLES");
	DISPATCHED();
	PMC(0, 0x5100c0, 0x186);
	PMC(1, 0x51003c, 0x187);
	CHECK(out.npmcs == 2, "%u", out.npmcs);
	begin("core");
	add("core::INSTRUCTIONS_RETIRED");
	DISPATCHED();
	PMC(16, 0xa, 0x38d);
	PMC(33, 1ull << 32, 0x38f);
	LACKS(0);
}

/*
 * Knights Corner has two counters with its own register numbers, and one register that enables
 * both.
 */
static void knights_corner(void)
{
	begin("knc");
	add("knc::BRANCHES");
	DISPATCHED();
	PMC(0, 0x510012, 0x28);
	PMC(33, 1, 0x2f);
	PMD(0, 0, 0x20, 0);
	CHECK(out.npmcs == 2 && out.npmds == 1, "%u %u", out.npmcs, out.npmds);
	add("knc::BANK_CONFLICTS:u");
	DISPATCHED();
	PMC(1, 0x51000a, 0x29);
	PMC(33, 3, 0x2f);
	PMD(1, 1, 0x21, 1);
	take_away(33);
	DISPATCHED();
	LACKS(33);
}

/*
 * Load latency and the front end have one register each, so all events must agree on its value.
 */
static void shared_registers(void)
{
	begin("spr");
	add("spr::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30");
	add("spr::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30:k=1");
	DISPATCHED();
	PMC(18, 30, 0x3f6);
	LACKS(17); /* nothing samples */
	LACKS(32);
	add("spr::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=31");
	REFUSED(TACH_ERR_NOASSIGN, "different load latencies");
	in.nevents = 2;
	take_away(18);
	REFUSED(TACH_ERR_NOASSIGN, "PMC18");
	begin("skl");
	add("skl::FRONTEND_RETIRED:L1I_MISS");
	add("skl::FRONTEND_RETIRED:L1I_MISS:k=1");
	DISPATCHED();
	PMC(0, 0x5101c6, 0x186);
	PMC(32, 0x12, 0x3f7);
	LACKS(18);
	add("skl::FRONTEND_RETIRED:L2_MISS");
	REFUSED(TACH_ERR_NOASSIGN, "different front end settings");
	in.nevents = 2;
	take_away(32);
	REFUSED(TACH_ERR_NOASSIGN, "PMC32");
}

/* Fields of PERF_METRICS have no registers, and need the fixed counter of slots. */
static void perf_metrics_need_slots(void)
{
	begin("spr");
	add("spr::TOPDOWN_M:BACKEND_BOUND");
	REFUSED(TACH_ERR_FEATCOMB, "slots");
	add("spr::TOPDOWN_M:RETIRING");
	add("spr::TOPDOWN_M:SLOTS");
	DISPATCHED();
	PMC(16, 0xa000, 0x38d);
	PMC(33, 1ull << 48 | 8ull << 32, 0x38f);
	PMD(0, 51, 0x329, 0x20000000);
	PMD(1, 48, 0x329, 0x20000000);
	PMD(2, 19, 0x30c, 0x40000003);
	CHECK(out.npmcs == 2, "%u", out.npmcs);
	/*
	 * The entry after the last event is ignored, even if it contains the earlier slots
	 * event.
	 */
	CHECK(tach_dispatch_compute(&in, &out, &err) == 0);
	in.nevents = 2;
	CHECK(tach_dispatch_compute(&in, &out, &err) == TACH_ERR_FEATCOMB);
	in.nevents = 3;
	add("spr::TOPDOWN_M:RETIRING");
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
	in.nevents = 3;
	take_away(33);
	DISPATCHED();
	LACKS(33);
	begin("spr"); /* PERF_METRICS is a fixed counter too */
	add("spr::TOPDOWN_M:RETIRING");
	REFUSED(TACH_ERR_FEATCOMB, "slots");
	/* The mask of slots: this event is not a field of PERF_METRICS. */
	events[0].counters = 8ull << 32;
	REFUSED(TACH_ERR_FEATCOMB, "slots");
	begin("skl"); /* looks like a field of PERF_METRICS, but this PMU has none */
	add("skl::UOPS_ISSUED:ANY");
	events[0].codes[0] = 0x8000;
	REFUSED(TACH_ERR_FEATCOMB, "slots");
}

/*
 * PEBS_ENABLE: at first bits for general counters 0-3, later for every counter, with fixed ones
 * from bit 32 on.
 */
static void precise_sampling(void)
{
	static const struct {
		const char *pmu, *event;
		uint32_t pmd;
		uint64_t enable;
	} cases[] = {
		{"skl", "skl::MEM_LOAD_RETIRED:L1_HIT", 0, 1},
		{"skl", "skl::INST_RETIRED:PREC_DIST", 1, 2},
		{"skl", "skl::UOPS_ISSUED:ANY", 0, 0},
		{"icl", "icl::RTM_RETIRED:ABORTED", 0, 1}, /* one of several umasks */
		{"icl", "icl::RTM_RETIRED:ABORTED_MEM", 0, 0},
		{"spr", "spr::INSTRUCTION_RETIRED", 0, 1},
		{"spr", "spr::INST_RETIRED:PREC_DIST", 16, 1ull << 32},
		{"spr", "spr::TOPDOWN_M:SLOTS", 19, 0},
		{"arl_lnc", "arl_lnc::BR_INST_RETIRED:ALL_BRANCHES", 0, 1},
		{"lnl_lnc", "lnl_lnc::INST_RETIRED:PREC_DIST", 16, 1ull << 32},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(cases[i].pmu);
		x86.pebs = 1;
		in.x86 = &x86;
		add(cases[i].event);
		DISPATCHED();
		CHECK(out.pmds[0].number == cases[i].pmd, "%s: PMD%u", cases[i].event,
		      out.pmds[0].number);
		if (cases[i].enable)
			PMC(17, cases[i].enable, 0x3f1);
		else
			LACKS(17);
		x86.pebs = 0;
		DISPATCHED();
		LACKS(17);
	}
	begin("skl"); /* without sampling the fixed counter is used */
	in.x86 = &x86;
	add_fixed("skl::MEM_LOAD_RETIRED:L1_HIT", 0);
	add_fixed("skl::UOPS_ISSUED:ANY", 1);
	DISPATCHED();
	CHECK(out.pmds[0].number == 16 && out.pmds[1].number == 17, "PMD%u, PMD%u",
	      out.pmds[0].number, out.pmds[1].number);
	x86.pebs = 1;
	DISPATCHED();
	CHECK(out.pmds[0].number == 0 && out.pmds[1].number == 17, "PMD%u, PMD%u",
	      out.pmds[0].number, out.pmds[1].number);
	PMC(17, 1, 0x3f1);
	begin("spr");
	x86.pebs = 1;
	in.x86 = &x86;
	add_fixed("spr::MEM_LOAD_RETIRED:L1_HIT", 1);
	DISPATCHED();
	PMD(0, 17, 0x30a, 0x40000001);
	PMC(17, 2ull << 32, 0x3f1);
	begin("skl"); /* load latency has its own bits, only for that event */
	x86.pebs = 1;
	in.x86 = &x86;
	add("skl::MEM_LOAD_RETIRED:L1_HIT");
	add("skl::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30");
	DISPATCHED();
	PMD(1, 3, 0xc4, 3);
	PMC(17, 8ull << 32 | 9, 0x3f1);
	take_away(17);
	REFUSED(TACH_ERR_NOASSIGN, "PMC17");
	/* The same event, given by its row. */
	begin("skl");
	x86.pebs = 1;
	in.x86 = &x86;
	row("MEM_LOAD_RETIRED:L1_HIT");
	row("MEM_LOAD_RETIRED:FB_HIT");
	DISPATCHED();
	PMC(17, 3, 0x3f1);
}

static void refused_features(void)
{
	begin("skl");
	in.x86 = &x86;
	add("skl::UOPS_ISSUED:ANY");
	x86.lbr = 1;
	REFUSED(TACH_ERR_NOTSUPP, "branch records");
	x86.lbr = 0;
	x86.ibs_fetch = 1;
	REFUSED(TACH_ERR_NOTSUPP, "instruction-based sampling");
	x86.ibs_fetch = 0;
	x86.ibs_op = 1;
	REFUSED(TACH_ERR_NOTSUPP, "instruction-based sampling");
	x86.ibs_op = 0;
	DISPATCHED();
}

int main(void)
{
	CASE(general_counters);
	CASE(fixed_counters);
	CASE(options_of_fixed_counters);
	CASE(one_enable_bit);
	CASE(knights_corner);
	CASE(shared_registers);
	CASE(perf_metrics_need_slots);
	CASE(precise_sampling);
	CASE(refused_features);
	return check_done();
}
