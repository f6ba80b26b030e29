/* SPDX-License-Identifier: MIT */
/*
 * Rows are encoded directly; a string is made of them only for error messages. The test
 * replaces the encoder of strings.
 */
#include "core/dispatch/dispatch.h"

static int asked;
static char spelled[2048];

static int sim_encode(const char *text, const struct tach_encode_options *opt,
		      const struct tach__caller *caller, struct tach_event *out,
		      struct tach_error *err)
{
	(void)opt;
	(void)caller;
	asked++;
	__builtin_snprintf(spelled, sizeof spelled, "%s", text);
	out->ncodes = 0;
	__builtin_snprintf(err->text, sizeof err->text, "no");
	return TACH_ERR_FEATCOMB;
}

#define tach__event_encode sim_encode
#include "core/dispatch/encode.c"
#include "tests/unit/dispatch/registers.h"

/* The value of the first event's register. */
static void check_word(const char *pmu, const char *event, uint32_t flags, uint32_t threshold,
		       uint64_t value)
{
	begin(pmu);
	row(event);
	events[0].flags = flags;
	events[0].threshold = threshold;
	asked = 0;
	DISPATCHED();
	CHECK(out.pmcs[0].value == value && !asked, "%s: %#llx, by %d strings", event,
	      (unsigned long long)out.pmcs[0].value, asked);
}

static void without_a_string(void)
{
	check_word("skl", "BR_INST_RETIRED:ALL_BRANCHES", 0, 0, 0x5100c4);
	check_word("skl", "BR_INST_RETIRED:NEAR_CALL", TACH_DISPATCH_INVERT, 2, 0x2d102c4);
	check_word("skl", "UOPS_ISSUED:ANY", TACH_DISPATCH_EDGE | TACH_DISPATCH_ANYTHREAD, 255,
		   0xff75010e);
	check_word("core", "RS_UOPS_DISPATCHED_NONE", 0, 0, 0x1d100a0); /* wired in */
	check_word("amd64_fam19h_zen4", "RETIRED_INSTRUCTIONS", TACH_DISPATCH_GUEST, 0,
		   0x100005100c0);
	check_word("amd64_fam19h_zen4", "RETIRED_INSTRUCTIONS", TACH_DISPATCH_HOST, 3,
		   0x200035100c0);
	check_word("netburst", "instr_retired:NBOGUSTAG", 0, 0, 4 | 1 | 2 << 9 | 2 << 25);
	CHECK(out.pmcs[1].value == 0x39000, "%#llx", (unsigned long long)out.pmcs[1].value);
	check_word("netburst", "instr_retired:NBOGUSTAG", TACH_DISPATCH_EDGE, 15,
		   4 | 1 | 2 << 9 | 2 << 25);
	CHECK(out.pmcs[1].value == 0x1f79000, "%#llx", (unsigned long long)out.pmcs[1].value);
	check_word("arm_n1", "INST_RETIRED", 0, 0, 1ull << 31 | 8);
	/* Every level that the encoder knows. */
	for (uint32_t level = 1; level <= TACH_PRIVILEGE_HYPERVISOR; level <<= 1) {
		begin("arm_n1");
		row("INST_RETIRED");
		in.privilege = TACH_PRIVILEGE_USER | level;
		asked = 0;
		(void)run();
		CHECK(asked == 0, "%#x", level);
	}
}

/* The most masks, every option and a threshold. */
static void longest_rows_fit(void)
{
	begin("skl");
	row("OFFCORE_RESPONSE:DEMAND_CODE_RD_L3_MISS_LOCAL_DRAM_ANY_SNOOP");
	for (int i = 1; i < TACH_DISPATCH_UMASKS_MAX; i++)
		events[0].umasks[i] = events[0].umasks[0];
	events[0].numasks = TACH_DISPATCH_UMASKS_MAX;
	events[0].flags = TACH_DISPATCH_EDGE | TACH_DISPATCH_INVERT | TACH_DISPATCH_GUEST |
			  TACH_DISPATCH_HOST | TACH_DISPATCH_ANYTHREAD;
	events[0].threshold = UINT32_MAX;
	asked = 0;
	REFUSED(TACH_ERR_FEATCOMB, "skl::OFFCORE_RESPONSE:DEMAND_CODE_RD");
	CHECK(asked == 1 && strlen(spelled) > 2000 && strlen(spelled) < 2048, "%d: %zu", asked,
	      strlen(spelled));
	events[0].numasks = 2;
	REFUSED(TACH_ERR_FEATCOMB,
		"skl::OFFCORE_RESPONSE:DEMAND_CODE_RD_L3_MISS_LOCAL_DRAM_ANY_SNOOP:"
		"DEMAND_CODE_RD_L3_MISS_LOCAL_DRAM_ANY_SNOOP:e=1:i=1:g=1:h=1:t=1:c=4294967295:"
		" "
		"no");
}

int main(void)
{
	CASE(without_a_string);
	CASE(longest_rows_fit);
	return check_done();
}
