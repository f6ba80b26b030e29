/* SPDX-License-Identifier: MIT */
/*
 * arm64: PMUv3's registers (Arm ARM, D19.5: PMEVTYPER<n>_EL0 and related ones) and Apple's
 * (Linux arch/arm64/include/asm/apple_m1_pmu.h).
 */
#include "tests/unit/dispatch/registers.h"

/* The address of a register with op0 = 3, by op1, CRn, CRm, op2. */
#define REG(op1, crn, crm, op2) (3u << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))
#define TYPER(n)		REG(3u, 14u, 12u + (n) / 8u, (n) % 8u)
#define CNTR(n)			REG(3u, 14u, 8u + (n) / 8u, (n) % 8u)
#define NOT_EL1			(UINT64_C(1) << 31)
#define NOT_EL0			(UINT64_C(1) << 30)
#define EL2			(UINT64_C(1) << 27)

static void is(const struct tach_register *r, uint32_t number, uint64_t value, uint64_t address,
	       int line)
{
	CHECK(r->number == number && r->value == value && r->address == address &&
		      r->alternative == 0,
	      "line %d: %u = %#llx @ %#llx", line, r->number, (unsigned long long)r->value,
	      (unsigned long long)r->address);
}

#define IS(...) is(__VA_ARGS__, __LINE__)

/* The excluded and included privilege levels. */
static void levels(void)
{
	static const struct {
		uint32_t privilege;
		uint64_t filter;
	} cases[] = {
		{TACH_PRIVILEGE_USER, NOT_EL1},
		{TACH_PRIVILEGE_KERNEL, NOT_EL0},
		{TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL, 0},
		{TACH_PRIVILEGE_HYPERVISOR, NOT_EL1 | NOT_EL0 | EL2},
		{TACH_PRIVILEGE_USER | TACH_PRIVILEGE_HYPERVISOR, NOT_EL1 | EL2},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin("arm_n1");
		in.privilege = cases[i].privilege;
		row("INST_RETIRED");
		row("CPU_CYCLES");
		DISPATCHED();
		IS(&out.pmcs[0], 0, cases[i].filter | 8, TYPER(0u));
		IS(&out.pmcs[1], 31, cases[i].filter, REG(3u, 14u, 15u, 7u));
		IS(&out.pmcs[2], 32, 1u << 31 | 1, REG(3u, 9u, 12u, 1u));
		IS(&out.pmds[0], 0, 0, CNTR(0u));
		IS(&out.pmds[1], 31, 0, REG(3u, 9u, 13u, 0u));
		CHECK(out.npmcs == 3 && out.npmds == 2);
	}
	/*
	 * The word of an encoded event contains privilege levels, which apply unless the caller
	 * sets others.
	 */
	begin("arm_n1");
	in.privilege = TACH_PRIVILEGE_HYPERVISOR;
	add("arm_n1::INST_RETIRED:k=1:u=0:hv=1");
	add("arm_n1::INST_RETIRED:u=1");
	DISPATCHED();
	IS(&out.pmcs[0], 0, NOT_EL0 | EL2 | 8, TYPER(0u));
	IS(&out.pmcs[1], 1, NOT_EL1 | 8, TYPER(1u));
	events[0].privilege = TACH_PRIVILEGE_USER;
	DISPATCHED();
	IS(&out.pmcs[0], 0, NOT_EL1 | 8, TYPER(0u));
	in.privilege = TACH_PRIVILEGE_1;
	REFUSED(TACH_ERR_INVAL, "user, kernel and hypervisor");
	in.privilege = TACH_PRIVILEGE_USER;
	events[1].privilege = TACH_PRIVILEGE_2;
	REFUSED(TACH_ERR_INVAL, "user, kernel and hypervisor");
	events[1].privilege = 0;
	events[1].threshold = 1;
	REFUSED(TACH_ERR_INVAL, "no threshold");
	events[1].threshold = 0;
	events[1].flags = TACH_DISPATCH_EDGE;
	REFUSED(TACH_ERR_INVAL, "flag");
}

/*
 * Register numbers grow by eight per counter; cycles use a general counter if their own is
 * taken.
 */
static void counters(void)
{
	begin("arm_armv8"); /* the library assumes six counters */
	for (int i = 0; i < 6; i++)
		row("INST_RETIRED");
	DISPATCHED();
	IS(&out.pmcs[5], 5, NOT_EL1 | 8, TYPER(5u));
	IS(&out.pmds[5], 5, 0, CNTR(5u));
	IS(&out.pmcs[6], 32, 0x3f, REG(3u, 9u, 12u, 1u));
	row("CPU_CYCLES");
	DISPATCHED();
	IS(&out.pmcs[7], 32, 1u << 31 | 0x3f, REG(3u, 9u, 12u, 1u));
	row("CPU_CYCLES");
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
	begin("arm_n1");
	row("CPU_CYCLES");
	row("CPU_CYCLES");
	DISPATCHED();
	CHECK(out.pmds[0].number == 31 && out.pmds[1].number == 0);
	IS(&out.pmcs[1], 0, NOT_EL1 | 0x11, TYPER(0u));
	take_away(31);
	in.nevents = 1;
	DISPATCHED();
	IS(&out.pmds[0], 0, 0, CNTR(0u));
	take_away(32);
	REFUSED(TACH_ERR_NOASSIGN, "PMC32");
	begin("arm_n1");
	DISPATCHED();
	CHECK(out.npmcs == 0 && out.npmds == 0, "%u", out.npmcs);
	add("arm_n1::INST_RETIRED"); /* the caller's restriction */
	events[0].counters = 0x28;
	DISPATCHED();
	IS(&out.pmds[0], 3, 0, CNTR(3u));
	take_away(3);
	DISPATCHED();
	IS(&out.pmds[0], 5, 0, CNTR(5u));
	begin("arm_n2"); /* its number of counters comes from the table */
	row("INST_RETIRED");
	DISPATCHED();
}

/* An even counter, and the next one, which counts CHAIN (0x1e). */
static void chain_uses_an_even_counter_and_the_next(void)
{
	begin("arm_n1");
	row("INST_RETIRED");
	row("INST_RETIRED");
	row("CPU_CYCLES");
	events[1].flags = events[2].flags = TACH_DISPATCH_CHAIN;
	DISPATCHED();
	IS(&out.pmcs[0], 2, NOT_EL1 | 8, TYPER(2u));
	IS(&out.pmcs[1], 0, NOT_EL1 | 8, TYPER(0u));
	IS(&out.pmcs[2], 1, NOT_EL1 | 0x1e, TYPER(1u));
	IS(&out.pmcs[3], 31, NOT_EL1, REG(3u, 14u, 15u, 7u)); /* has 64 bits anyway */
	IS(&out.pmcs[4], 32, 1u << 31 | 7, REG(3u, 9u, 12u, 1u));
	CHECK(out.npmcs == 5 && out.npmds == 4);
	IS(&out.pmds[1], 0, 0, CNTR(0u));
	IS(&out.pmds[3], 1, 0, CNTR(1u));
	/* Only whole pairs are used: 1 and 2 are not a pair. */
	in.nevents = 2;
	take_away(0);
	DISPATCHED();
	CHECK(out.pmds[1].number == 2 && out.pmds[0].number == 1 && out.pmds[2].number == 3);
	take_away(3);
	DISPATCHED();
	CHECK(out.pmds[1].number == 4, "PMD%u", out.pmds[1].number);
	take_away(4);
	REFUSED(TACH_ERR_NOASSIGN, "no two neighbouring counters");
	begin("arm_n1");
	for (int i = 0; i < 4; i++) {
		row("INST_RETIRED");
		events[i].flags = TACH_DISPATCH_CHAIN;
	}
	REFUSED(TACH_ERR_NOASSIGN, "no two neighbouring counters");
	events[3].flags = 0;
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
	in.nevents = 3;
	DISPATCHED();
	CHECK(out.pmds[2].number == 4 && out.npmcs == 7);
	IS(&out.pmcs[6], 32, 0x3f, REG(3u, 9u, 12u, 1u));
}

/* Ten counters: 0 and 1 count one event each, the others have a byte of PMESR0 or 1. */
static void apple_counters_0_and_1_are_fixed(void)
{
	begin("apple_firestorm");
	DISPATCHED();
	CHECK(out.npmcs == 0);
	row("CORE_ACTIVE_CYCLE");
	row("INST_ALL");
	row("INST_ALL");
	DISPATCHED();
	CHECK(out.npmcs == 4 && out.npmds == 3);
	IS(&out.pmds[0], 0, 0, REG(2u, 15u, 0u, 0u));
	IS(&out.pmds[1], 1, 0, REG(2u, 15u, 1u, 0u));
	IS(&out.pmds[2], 7, 0, REG(2u, 15u, 7u, 0u));
	IS(&out.pmcs[0], 34, 0, REG(1u, 15u, 5u, 0u));
	IS(&out.pmcs[1], 35, 0x8c00, REG(1u, 15u, 6u, 0u));
	IS(&out.pmcs[2], 33, 0x8300, REG(1u, 15u, 1u, 0u));
	IS(&out.pmcs[3], 32, 0x83, REG(1u, 15u, 0u, 0u));
	in.privilege = TACH_PRIVILEGE_KERNEL;
	DISPATCHED();
	IS(&out.pmcs[2], 33, 0x830000, REG(1u, 15u, 1u, 0u));
	/* The last two counters have their bits at another place. */
	begin("apple_firestorm");
	in.privilege = TACH_PRIVILEGE_KERNEL | TACH_PRIVILEGE_USER;
	for (int i = 0; i < 3; i++)
		row("CORE_ACTIVE_CYCLE");
	for (int i = 0; i < 7; i++)
		take_away(i);
	DISPATCHED();
	CHECK(out.pmds[0].number == 7);
	IS(&out.pmds[1], 8, 0, REG(2u, 15u, 9u, 0u));
	IS(&out.pmds[2], 9, 0, REG(2u, 15u, 10u, 0u));
	IS(&out.pmcs[1], 35, 0x02020200, REG(1u, 15u, 6u, 0u));
	IS(&out.pmcs[2], 33, 0x3030000808000, REG(1u, 15u, 1u, 0u));
	IS(&out.pmcs[3], 32, 0x300000080, REG(1u, 15u, 0u, 0u));
	row("CORE_ACTIVE_CYCLE");
	REFUSED(TACH_ERR_NOASSIGN, "no counters are left");
	begin("apple_firestorm");
	row("CORE_ACTIVE_CYCLE");
	row("CORE_ACTIVE_CYCLE");
	take_away(0);
	take_away(1);
	take_away(2);
	DISPATCHED();
	IS(&out.pmcs[0], 34, 0x020200, REG(1u, 15u, 5u, 0u));
	for (int number = 32; number <= 35; number++) {
		char text[16];

		in.unavailable[0] = 7;
		take_away(number);
		snprintf(text, sizeof text, "PMC%d", number);
		REFUSED(TACH_ERR_NOASSIGN, text);
	}
	in.unavailable[0] = 0;
	events[0].flags = TACH_DISPATCH_CHAIN;
	REFUSED(TACH_ERR_INVAL, "flag");
}

int main(void)
{
	CASE(levels);
	CASE(counters);
	CASE(chain_uses_an_even_counter_and_the_next);
	CASE(apple_counters_0_and_1_are_fixed);
	return check_done();
}
