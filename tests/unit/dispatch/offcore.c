/* SPDX-License-Identifier: MIT */
/*
 * Intel's offcore responses: two codes and two registers, and the values that each register
 * accepts (Linux arch/x86/events/intel/core.c, intel_snb_extra_regs and similar tables).
 */
#include "tests/unit/dispatch/registers.h"

/* One event needs its select register and one of the two offcore response registers. */
static void offcore(const char *string, uint64_t select, int other, uint64_t value, int line)
{
	add(string);
	dispatched(line);
	pmc(in.nevents - 1, select, 0x185 + in.nevents, line);
	pmc(other ? 31 : 19, value, other ? 0x1a7 : 0x1a6, line);
}

#define OFFCORE(...) offcore(__VA_ARGS__, __LINE__)

static void offcore_registers(void)
{
	begin("skl");
	OFFCORE("skl::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE", 0x5101b7, 0, 0x10001);
	LACKS(31);
	OFFCORE("skl::OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE", 0x5101bb, 1, 0x10002);
	PMC(19, 0x10001, 0x1a6);
	OFFCORE("skl::OFFCORE_RESPONSE_1:DMND_DATA_RD:ANY_RESPONSE", 0x5101b7, 0, 0x10001);
	OFFCORE("skl::OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE", 0x5101bb, 1, 0x10002);
	CHECK(out.npmcs == 4 + 2 + 1, "%u", out.npmcs);
	in.nevents = 2;
	add("skl::OFFCORE_RESPONSE_0:DMND_CODE_RD:ANY_RESPONSE");
	REFUSED(TACH_ERR_NOASSIGN, "more different values than registers");
	begin("skl");
	OFFCORE("skl::OFFCORE_RESPONSE_1:DMND_RFO:ANY_RESPONSE", 0x5101bb, 1, 0x10002);
	LACKS(19);
	take_away(31);
	in.nevents = 0;
	OFFCORE("skl::OFFCORE_RESPONSE_1:DMND_RFO:ANY_RESPONSE", 0x5101b7, 0, 0x10002);
	take_away(19);
	REFUSED(TACH_ERR_NOASSIGN, "more different values than registers");
	begin("spr");
	OFFCORE("spr::OCR:DEMAND_CODE_RD_ANY_RESPONSE", 0x51012a, 0, 0x10004);
	OFFCORE("spr::OCR:DEMAND_CODE_RD_DRAM", 0x51012b, 1, 0x73c000004);
	begin("spr"); /* an event encoded for the second register uses that register */
	add("spr::OCR:DEMAND_CODE_RD_ANY_RESPONSE");
	events[0].codes[0] ^= 0x12a ^ 0x12b;
	DISPATCHED();
	PMC(0, 0x51012b, 0x186);
	PMC(31, 0x10004, 0x1a7);
	LACKS(19);
	begin("spr"); /* 0xb7 is not an offcore response there */
	add("spr::EXE:AMX_BUSY");
	DISPATCHED();
	PMC(0, 0x5102b7, 0x186);
	CHECK(out.npmcs == 2, "%u", out.npmcs);
	begin("nhm"); /* one register */
	OFFCORE("nhm::OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE", 0x5101b7, 0, 0xff02);
	add("nhm::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE");
	REFUSED(TACH_ERR_NOASSIGN, "more different values than registers");
	in.nevents = 1;
	take_away(19);
	REFUSED(TACH_ERR_NOASSIGN, "more different values than registers");
}

/*
 * Small cores: the second register's code is 0x2b7, and some values are accepted by one
 * register only.
 */
static void offcore_of_small_cores(void)
{
	begin("glm");
	OFFCORE("glm::OFFCORE_RESPONSE_1:DMND_RFO:ANY_RESPONSE", 0x5102b7, 1, 0x10002);
	LACKS(19);
	begin("glm");
	OFFCORE("glm::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE", 0x5101b7, 0, 0x10001);
	OFFCORE("glm::OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE", 0x5102b7, 1, 0x10002);
	begin("arl_skt");
	OFFCORE("arl_skt::OCR:STREAMING_WR_ANY_RESPONSE", 0x5101b7, 0, 0x10800);
	OFFCORE("arl_skt::OCR:PARTIAL_STREAMING_WR_ANY_RESPONSE", 0x5102b7, 1, 0x400000010000);
	begin("glp");
	OFFCORE("glp::OFFCORE_RESPONSE:DEMAND_RFO_OUTSTANDING", 0x5101b7, 0, 0x4000000002);
	OFFCORE("glp::OFFCORE_RESPONSE:DEMAND_CODE_RD_ANY_RESPONSE", 0x5102b7, 1, 0x10004);
	add("glp::OFFCORE_RESPONSE:DEMAND_DATA_RD_OUTSTANDING");
	REFUSED(TACH_ERR_NOASSIGN, "more different values than registers");
	events[1] = events[2];
	in.nevents = 2;
	REFUSED(TACH_ERR_NOASSIGN, "more different values than registers");
	in.nevents = 1;
	take_away(19);
	REFUSED(TACH_ERR_NOASSIGN, "more different values than registers");
	begin("knl");
	OFFCORE("knl::OFFCORE_RESPONSE:PARTIAL_WRITES_MCDRAM_FAR", 0x5102b7, 1, 0x100400100);
	LACKS(19);
	take_away(31);
	REFUSED(TACH_ERR_NOASSIGN, "more different values than registers");
	/*
	 * A value with additional bits is recognised; a value that lacks some of the bits is
	 * not.
	 */
	begin("knl");
	add("knl::OFFCORE_RESPONSE:PARTIAL_STREAMING_STORES_ANY_RESPONSE");
	events[0].codes[1] = 0x14001;
	DISPATCHED();
	PMC(31, 0x14001, 0x1a7);
	LACKS(19);
	events[0].codes[1] = 0x10000;
	DISPATCHED();
	PMC(19, 0x10000, 0x1a6);
	LACKS(31);
}

int main(void)
{
	CASE(offcore_registers);
	CASE(offcore_of_small_cores);
	return check_done();
}
