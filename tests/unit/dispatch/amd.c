/* SPDX-License-Identifier: MIT */
/*
 * AMD: counters by generation, instruction-based sampling, revisions (AMD64 APM volume 2, 13.2
 * and 13.3; BKDG of family 10h, 3.12 and 3.13).
 */
#include "tests/unit/dispatch/registers.h"

/* IBSFETCHCTL: interval 15-0, enable 48, random 57; IBSOPCTL: interval 15-0, enable 17, ops 19.
 */
#define FETCH (UINT64_C(1) << 48)
#define OP    (UINT64_C(1) << 17)

enum { FAM10H_B = 8, FAM10H_C = 9 };

static void list(const char *name, uint32_t revision)
{
	begin_at(tach_dispatch_list(name));
	in.revision = revision;
}

/* The event by its row, as this revision has it. */
static void row_of(const char *string)
{
	CHECK(tach_dispatch_find(in.pmu, in.revision, string, &events[in.nevents++], &err) == 0,
	      "%s: %s", string, err.text);
}

static void is(const struct tach_register *r, uint32_t number, uint64_t value, uint64_t address,
	       int line)
{
	CHECK(r->number == number && r->value == value && r->address == address,
	      "line %d: %u = %#llx @ %#llx", line, r->number, (unsigned long long)r->value,
	      (unsigned long long)r->address);
}

#define IS(...) is(__VA_ARGS__, __LINE__)

/* Select 7-0, umask 15-8, USR, OS, edge, INT 20, enable 22, invert, mask 31-24, select 11-8 at
 * 35-32, guest 40, host 41. */
static void words_have_their_bits(void)
{
	static const struct {
		uint32_t flags, threshold;
		uint64_t value;
	} cases[] = {
		{0, 0, 0x5101c0},
		{TACH_DISPATCH_EDGE, 0, 0x5501c0},
		{TACH_DISPATCH_INVERT, 3, 0x3d101c0},
		{TACH_DISPATCH_GUEST, 0, 0x100005101c0},
		{TACH_DISPATCH_HOST, 1, 0x200015101c0},
		{TACH_DISPATCH_HOST | TACH_DISPATCH_GUEST, 0, 0x300005101c0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		list("amd64_fam10h", FAM10H_C);
		row_of("RETIRED_X87_OPS:ADD_SUB_OPS");
		events[0].flags = cases[i].flags;
		events[0].threshold = cases[i].threshold;
		DISPATCHED();
		IS(&out.pmcs[0], 0, cases[i].value | 1ull << 32, 0xc0010000);
		CHECK(out.pmcs[0].alternative == 0xc0010000 && out.npmcs == 1);
		PMD(0, 0, 0xc0010004, 0);
	}
	events[0].threshold = 4;
	REFUSED(TACH_ERR_INVAL, "0 .. 3");
	events[0].threshold = 0;
	events[0].flags = TACH_DISPATCH_ANYTHREAD;
	REFUSED(TACH_ERR_INVAL, "flag");
	events[0].flags = 0;
	events[0].privilege = TACH_PRIVILEGE_KERNEL;
	DISPATCHED();
	IS(&out.pmcs[0], 0, 0x1005201c0, 0xc0010000);
	events[0].privilege = TACH_PRIVILEGE_2;
	REFUSED(TACH_ERR_INVAL, "user from kernel");
	in.privilege = TACH_PRIVILEGE_1;
	events[0].privilege = 0;
	REFUSED(TACH_ERR_INVAL, "user from kernel");
	begin("amd64_fam19h_zen4"); /* the encoder sets all bits of the mask */
	row("RETIRED_INSTRUCTIONS");
	events[0].threshold = 255;
	DISPATCHED();
	IS(&out.pmcs[0], 0, 0xff5100c0, 0xc0010200);
	events[0].threshold = 256;
	REFUSED(TACH_ERR_INVAL, "0 .. 255");
	/*
	 * Levels other than the host's come from the row or the string, unless the caller sets
	 * others.
	 */
	events[0].threshold = 0;
	events[0].flags = TACH_DISPATCH_HOST;
	DISPATCHED();
	IS(&out.pmcs[0], 0, 0x200005100c0, 0xc0010200);
	in.privilege = TACH_PRIVILEGE_KERNEL;
	in.nevents = 0;
	add("amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:h=1:u=1");
	DISPATCHED();
	IS(&out.pmcs[0], 0, 0x200005100c0, 0xc0010200);
	events[0].privilege = TACH_PRIVILEGE_KERNEL;
	DISPATCHED();
	IS(&out.pmcs[0], 0, 0x200005200c0, 0xc0010200);
}

/*
 * The registers of four counters are consecutive, those of six alternate; from Zen 4 on PMC8
 * enables all counters except IBS.
 */
static void counters(void)
{
	begin("amd64_fam10h_barcelona");
	for (int i = 0; i < 4; i++)
		row("RETIRED_INSTRUCTIONS");
	DISPATCHED();
	IS(&out.pmcs[3], 3, 0x5100c0, 0xc0010003);
	PMD(3, 3, 0xc0010007, 3);
	CHECK(out.npmcs == 4, "%u", out.npmcs);
	take_away(2);
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
	in.nevents = 3;
	DISPATCHED();
	PMD(2, 3, 0xc0010007, 3);
	begin("amd64_fam17h_zen2");
	for (int i = 0; i < 6; i++)
		row("RETIRED_INSTRUCTIONS");
	DISPATCHED();
	PMD(5, 5, 0xc001020b, 5);
	CHECK(out.npmcs == 6, "%u", out.npmcs);
	begin("amd64_fam19h_zen4");
	row("RETIRED_INSTRUCTIONS");
	row("RETIRED_INSTRUCTIONS");
	take_away(0);
	x86.ibs_fetch = 1;
	in.x86 = &x86;
	DISPATCHED();
	CHECK(out.npmcs == 4 && out.npmds == 3 && out.ibs_fetch_pmd == 2, "%u %u", out.npmcs,
	      out.npmds);
	IS(&out.pmcs[0], 1, 0x5100c0, 0xc0010202);
	IS(&out.pmcs[2], 6, FETCH, 0xc0011030);
	IS(&out.pmcs[3], 8, 6, 0xc0000301);
	in.nevents = 0; /* no counter is left to enable */
	DISPATCHED();
	CHECK(out.npmcs == 1 && out.npmds == 1 && out.ibs_fetch_pmd == 0, "%u", out.npmcs);
	x86.ibs_fetch = 0;
	REFUSED(TACH_ERR_INVAL, "nothing to measure");
	in.nevents = 1;
	take_away(8);
	REFUSED(TACH_ERR_NOASSIGN, "PMC8");
}

/* The caller requests IBS, and the two events for it do too. */
static void instruction_based_sampling(void)
{
	list("amd64_fam10h", FAM10H_C);
	in.x86 = &x86;
	x86.ibs_fetch = x86.ibs_op = 1;
	x86.ibs_fetch_period = 0xfabcde;
	x86.ibs_op_period = 0x12345f;
	DISPATCHED();
	CHECK(out.npmcs == 2 && out.npmds == 2 && out.ibs_fetch_pmd == 0 &&
	      out.ibs_op_pmd == 1);
	IS(&out.pmcs[0], 6, FETCH | 0xabcd, 0xc0011030);
	IS(&out.pmcs[1], 7, OP | 0x2345, 0xc0011033);
	IS(&out.pmds[0], 6, 0, 0xc0011030);
	IS(&out.pmds[1], 9, 0, 0xc0011033);
	x86.ibs_fetch_random = x86.ibs_op_dispatched = 1;
	DISPATCHED();
	IS(&out.pmcs[0], 6, FETCH | UINT64_C(1) << 57 | 0xabcd, 0xc0011030);
	IS(&out.pmcs[1], 7, OP | 1 << 19 | 0x2345, 0xc0011033);
	x86.ibs_fetch = 0;
	DISPATCHED();
	CHECK(out.npmcs == 1 && out.ibs_op_pmd == 0 && out.pmcs[0].number == 7);
	take_away(7);
	REFUSED(TACH_ERR_NOASSIGN, "PMC7");
	list("amd64_fam10h", FAM10H_C);
	in.x86 = &x86;
	x86.ibs_fetch_period = 0xfabcde;
	x86.ibs_op_period = 0x12345f;
	row_of("IBSFETCH_EVENT:RANDOM");
	row_of("IBSOP_EVENT:UOPS");
	DISPATCHED();
	CHECK(out.npmcs == 2 && out.npmds == 2);
	IS(&out.pmcs[0], 6, FETCH | UINT64_C(1) << 57 | 0xabcd, 0xc0011030);
	IS(&out.pmcs[1], 7, OP | 1 << 19 | 0x2345, 0xc0011033);
	IS(&out.pmds[0], 6, 0, 0xc0011030);
	IS(&out.pmds[1], 9, 0, 0xc0011033);
	in.x86 = NULL;
	in.nevents = 0;
	row_of("IBSFETCH_EVENT:NO_RANDOM");
	row_of("IBSOP_EVENT:CYCLES");
	DISPATCHED();
	IS(&out.pmcs[0], 6, FETCH, 0xc0011030);
	IS(&out.pmcs[1], 7, OP, 0xc0011033);
	in.nevents = 1; /* an event and a request share one register */
	in.x86 = &x86;
	x86.ibs_fetch = 1;
	REFUSED(TACH_ERR_NOASSIGN, "one register for each kind");
	x86.ibs_fetch = 0;
	x86.ibs_op = 1;
	DISPATCHED();
	row_of("IBSFETCH_EVENT:NO_RANDOM");
	REFUSED(TACH_ERR_NOASSIGN, "one register for each kind");
	in.nevents = 0;
	row_of("IBSOP_EVENT:CYCLES");
	REFUSED(TACH_ERR_NOASSIGN, "one register for each kind");
	x86.ibs_op = 0;
	in.flags = TACH_DISPATCH_NOMODEL;
	DISPATCHED();
	x86.ibs_fetch = 1;
	REFUSED(TACH_ERR_INVAL, "TACH_DISPATCH_NOMODEL");
}

/* An IBS event uses no counter. */
static void ibs_event_uses_no_counter(void)
{
	list("amd64_fam10h", FAM10H_C);
	row_of("IBSFETCH_EVENT:RANDOM");
	row_of("RETIRED_INSTRUCTIONS");
	DISPATCHED();
	CHECK(out.pmds[0].number == 6 && out.pmds[1].number == 1, "PMD%u", out.pmds[1].number);
	for (int i = 0; i < 2; i++)
		row_of("RETIRED_INSTRUCTIONS");
	DISPATCHED();
	CHECK(out.pmds[3].number == 3, "PMD%u", out.pmds[3].number);
	take_away(1);
	DISPATCHED();
	CHECK(out.pmds[1].number == 2 && out.pmds[2].number == 3 && out.pmds[3].number == 0,
	      "PMD%u, PMD%u, PMD%u", out.pmds[1].number, out.pmds[2].number,
	      out.pmds[3].number);
	take_away(0);
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
	in.x86 = &x86;
	x86.pebs = 1;
	REFUSED(TACH_ERR_NOTSUPP, "Intel's");
	x86.pebs = 0;
	x86.ldlat = 3;
	REFUSED(TACH_ERR_NOTSUPP, "Intel's");
	x86.ldlat = 0;
	x86.lbr = 1;
	REFUSED(TACH_ERR_NOTSUPP, "Intel's");
}

/* Revisions: K7 1, K8 2-7, family 10h 8-11; 0 means unknown. */
static void revisions(void)
{
	struct tach_dispatch_event event;

	CHECK(tach_dispatch_find(tach_dispatch_list("amd64_k8"), 3,
				 "SIZED_BLOCKS:32_BYTE_WRITES", &event,
				 NULL) == TACH_ERR_NOTFOUND);
	list("amd64_fam10h", FAM10H_C);
	row_of("IBS_OPS_TAGGED");
	DISPATCHED();
	IS(&out.pmcs[0], 0, 0x1005100cf, 0xc0010000);
	in.revision = FAM10H_B;
	REFUSED(TACH_ERR_MODEL, "IBS_OPS_TAGGED");
	in.revision = 0;
	DISPATCHED();
	list("amd64_fam10h", FAM10H_B);
	row_of("L1_DTLB_MISS_AND_L2_DTLB_HIT:ALL");
	DISPATCHED();
	IS(&out.pmcs[0], 0, 0x510345, 0xc0010000);
	in.revision = FAM10H_C;
	REFUSED(TACH_ERR_MODEL, "ALL");
	list("amd64_fam10h", FAM10H_C);
	row_of("L1_DTLB_MISS_AND_L2_DTLB_HIT:ALL");
	DISPATCHED();
	IS(&out.pmcs[0], 0, 0x510745, 0xc0010000);
	/*
	 * Family 10h has guests, selects above 0xff and IBS; from revision C on IBS counts
	 * dispatched ops.
	 */
	list("amd64_fam10h", FAM10H_B);
	row_of("MEMORY_CONTROLLER_REQUESTS:WRITE_REQUESTS");
	DISPATCHED();
	in.revision = FAM10H_B - 1;
	REFUSED(TACH_ERR_MODEL, "guest and host bits and event selects above 0xff");
	list("amd64_fam10h", FAM10H_B - 1);
	row_of("RETIRED_INSTRUCTIONS");
	DISPATCHED();
	events[0].flags = TACH_DISPATCH_GUEST;
	REFUSED(TACH_ERR_MODEL, "guest and host bits");
	events[0].flags = TACH_DISPATCH_HOST;
	REFUSED(TACH_ERR_MODEL, "guest and host bits");
	events[0].flags = 0;
	in.x86 = &x86;
	x86.ibs_op = 1;
	REFUSED(TACH_ERR_MODEL, "instruction-based sampling");
	in.revision = FAM10H_B;
	DISPATCHED();
	x86.ibs_op_dispatched = 1;
	REFUSED(TACH_ERR_MODEL, "dispatched ops");
	x86.ibs_op = 0; /* the content of an unused field does not matter */
	DISPATCHED();
	in.x86 = NULL;
	row_of("IBSOP_EVENT:UOPS");
	REFUSED(TACH_ERR_MODEL, "dispatched ops");
	in.nevents = 0;
	row_of("IBSOP_EVENT:CYCLES");
	row_of("IBSFETCH_EVENT:RANDOM");
	DISPATCHED();
	in.revision = 0;
	in.nevents = 0;
	row_of("IBSOP_EVENT:UOPS");
	DISPATCHED();
	list("amd64_fam10h", FAM10H_C);
	row_of("IBSOP_EVENT:UOPS");
	row_of("IBSFETCH_EVENT:RANDOM");
	events[1].numasks = 2; /* one mask at a time */
	events[1].umasks[0] = 0;
	events[1].umasks[1] = 1;
	REFUSED(TACH_ERR_FEATCOMB, "one unit mask at a time");
}

int main(void)
{
	CASE(words_have_their_bits);
	CASE(counters);
	CASE(instruction_based_sampling);
	CASE(ibs_event_uses_no_counter);
	CASE(revisions);
	return check_done();
}
