/* SPDX-License-Identifier: MIT */
/*
 * Register words of each encoder with every option at its limits, computed by hand: Intel SDM
 * volume 3B (PERFEVTSELx, NetBurst's ESCR and CCCR), AMD APM volume 2 13.2.1, Itanium's
 * manuals, and the errors for values beyond them. tests/vectors has libpfm-4's answers.
 */
#include <string.h>
#include <tach.h>
#include "tests/check.h"

static struct tach_event event;
static struct tach_error err;

static int encode(const char *string)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = TACH_OS_NONE;
	opt.host = "skl";
	memset(&event, 0, sizeof event);
	return tach_event_encode(string, &opt, &event, &err);
}

static void words(void)
{
	/*
	 * USR 16, OS 17, edge 18, INT 20, any 21, enable 22, invert 23, mask 24-31,
	 * transactions 32-33, equal 36, more umask bits 40-47; default level: user.
	 */
	static const struct {
		const char *string;
		uint64_t word, second;
	} cases[] = {
		{"skl::UOPS_ISSUED:ANY", 0x51010e, 0},
		{"skl::UOPS_ISSUED:ANY:u:k", 0x53010e, 0},
		{"skl::UOPS_ISSUED:ANY:k=0", 0x50010e, 0},
		{"skl::UOPS_ISSUED:ANY:e=1:c=255", 0xff55010e, 0},
		{"skl::UOPS_ISSUED:ANY:k:t=1:intx=1:intxcp=1:i=1", 0x300f2010e, 0},
		{"skl::UOPS_ISSUED:ANY:intx=1", 0x10051010e, 0},
		{"skl::UOPS_ISSUED:ANY:intxcp=1", 0x20051010e, 0},
		{"skl::INST_RETIRED:0xff", 0x51ffc0, 0},
		{"lnl_lnc::LSD.UOPS:c=8:eq", 0x10085101a8, 0},
		{"arl_lnc::ITLB_MISSES:STLB_HIT", 0x10000512011, 0},
		/* A counter mask that is part of the event, also repeated in the string. */
		{"skl::UOPS_RETIRED:STALL_CYCLES", 0x1d101c2, 0},
		{"skl::UOPS_RETIRED:STALL_CYCLES:c=1:i=1", 0x1d101c2, 0},
		/* A counter mask that is only a default, and one that is part of the event. */
		{"skl::DTLB_LOAD_MISSES:WALK_ACTIVE", 0x1511008, 0},
		{"skl::DTLB_LOAD_MISSES:WALK_ACTIVE:c=2", 0x2511008, 0},
		{"skl::DTLB_LOAD_MISSES:WALK_ACTIVE:c=0", 0x511008, 0},
		{"spr::INST_RETIRED:PREC_DIST:c=0", 0x510100, 0},
		{"spr::EXE:AMX_BUSY", 0x5102b7, 0},
		{"adl_glc::MEM_TRANS_RETIRED:STORE_SAMPLE", 0x5102cd, 0},
		{"adl_glc::INT_MISC:UNKNOWN_BRANCH_CYCLES", 0x5140ad, 7},
		{"spr::FRONTEND_RETIRED:LATENCY_GE_1:fe_thres=1", 0x5101c6, 0x600106},
		/* the second word: a response, a latency, a threshold at bits 8-19 */
		{"wsm::OFFCORE_RESPONSE_0:0xffff", 0x5101b7, 0xffff},
		{"skl::OFFCORE_RESPONSE_0:0x3fffffffff", 0x5101b7, 0x3fffffffff},
		{"skl::MEM_TRANS_RETIRED:LOAD_LATENCY", 0x5101cd, 3},
		{"skl::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=1", 0x5101cd, 1},
		{"skl::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=65535", 0x5101cd, 0xffff},
		{"skl::MEM_TRANS_RETIRED:LOAD_LATENCY_GT_4", 0x5101cd, 4},
		{"skl::MEM_TRANS_RETIRED:LOAD_LATENCY_GT_4:ldlat=4", 0x5101cd, 4},
		{"skl::FRONTEND_RETIRED:IDQ_4_BUBBLES", 0x5101c6, 0x400106},
		{"skl::FRONTEND_RETIRED:IDQ_4_BUBBLES:fe_thres=1", 0x5101c6, 0x400106},
		{"skl::FRONTEND_RETIRED:IDQ_4_BUBBLES:fe_thres=4095", 0x5101c6, 0x4fff06},
		{"skl::FRONTEND_RETIRED:LATENCY_GE_4", 0x5101c6, 0x400406},
		/* AMD: guest 40, host 41, select 11-8 at 35-32 */
		{"amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:c=255:i:e:g", 0x100ffd500c0, 0},
		{"amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:h:k", 0x200005200c0, 0},
		{"amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:h", 0x200005000c0, 0},
		{"amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:0xff", 0x51ffc0, 0},
		{"amd64_fam17h::ALL_DC_ACCESSES", 0x510729, 0},
		{"amd64_fam17h::ALL_DC_ACCESSES:0x1", 0x510129, 0},
		{"amd64_fam10h_barcelona::CPU_TO_DRAM_REQUESTS_TO_TARGET_NODE:LOCAL_TO_0",
		 0x1005101e0, 0},
		/*
		 * NetBurst: levels of both threads 0-3, mask 9, event 25; CCCR enable 12,
		 * select 13, threads 16-17, compare 18, complement 19, threshold 20, edge 24
		 */
		{"netburst::instr_retired:NBOGUSTAG", 0x4000405, 0x39000},
		{"netburst::instr_retired:NBOGUSTAG:k", 0x400040a, 0x39000},
		{"netburst::instr_retired:NBOGUSTAG:thr=15:cmpl:e", 0x4000405, 0x1ff9000},
		{"netburst::instr_retired:NBOGUSTAG:thr=1", 0x4000405, 0x179000},
		{"netburst::instr_retired:NBOGUSTAG:cmpl", 0x4000405, 0xf9000},
		{"netburst::instr_retired:NBOGUSTAG:e", 0x4000405, 0x1079000},
		{"netburst::replay_event:NBOGUS:L1_LD_MISS", 0x12000205, 0x3b000},
		/* ia64: levels, interrupt 5, event 8, umask 16, threshold 20, ISM 24 */
		{"itanium2::CPU_CYCLES:k:thr=7", 0x701221, 0},
		{"montecito::CPU_OP_CYCLES_ALL:u", 0x2001208, 0},
		{"itanium2::BUS_IO_SELF", 0x29028, 0},
		/*
		 * ... MESI states from bit 27 on, all states if the string names none; event
		 * address registers count with umask 0
		 */
		{"montecito::L3_INSERTS", 0x7a00da08, 0},
		{"montecito::L3_INSERTS:M", 0x4200da08, 0},
		{"montecito::L3_INSERTS:I:E", 0x2a00da08, 0},
		{"montecito::L3_READS_ALL_ALL:S", 0x120fdd08, 0},
		{"itanium2::DATA_EAR_TLB_ALL", 0xc828, 0},
		{"itanium2::DATA_EAR_CACHE_LAT128", 0xc828, 0},
		{"itanium2::L1I_EAR_CACHE_LAT4", 0x4328, 0},
		{"itanium2::L1I_EAR_TLB_ALL", 0x4328, 0},
		/* arm64: excluded levels, in libpfm-4's form: hypervisor 27, kernel 30, user
		   31 */
		{"arm_n1::INST_RETIRED:hv", 0xc0000008, 0},
		{"arm_n1::INST_RETIRED", 0x48000008, 0},
		{"arm_n1::INST_RETIRED:u:k:hv", 8, 0},
		{"apple_firestorm::INST_ALL:k", 0x8800008c, 0},
		{"rv_p550::ICACHE_MISS", 0x102, 0},
		{"rv_sbi::HW_CPU_CYCLES", 1, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int rc = encode(cases[i].string);

		CHECK(rc == 0, "%s: %s", cases[i].string, err.text);
		CHECK(event.ncodes == (cases[i].second ? 2u : 1u) &&
			      event.codes[0] == cases[i].word &&
			      event.codes[1] == cases[i].second,
		      "%s: %u: %#llx, %#llx", cases[i].string, event.ncodes,
		      (unsigned long long)event.codes[0], (unsigned long long)event.codes[1]);
	}
}

/* Privilege levels in full names. */
static void names(void)
{
	static const char *const names[][2] = {
		{"itanium2::CPU_CYCLES:k:thr=7", "itanium2::CPU_CYCLES:k=1:u=0:thr=7"},
		{"itanium2::CPU_CYCLES", "itanium2::CPU_CYCLES:k=0:u=1:thr=0"},
		{"netburst::instr_retired:NBOGUSTAG:k",
		 "netburst::instr_retired:NBOGUSTAG:k=1:u=0:e=0:cmpl=0:thr=0"},
		{"arm_n1::INST_RETIRED:hv", "arm_n1::INST_RETIRED:k=0:u=0:hv=1"},
		{"amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:k:g",
		 "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:k=1:u=0:e=0:i=0:c=0:h=0:g=1"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CHECK(encode(names[i][0]) == 0 && strcmp(event.name, names[i][1]) == 0,
		      "%s: %s", names[i][0], event.name);
}

/* Without a prefix, architectural events are found on Intel's machines only. */
static void common_tables(void)
{
	static const struct {
		const char *host, *event;
		int code;
	} cases[] = {
		{"adl_glc", "MISPREDICTED_BRANCH_RETIRED", 0},
		{"amd64_fam19h_zen4", "MISPREDICTED_BRANCH_RETIRED", TACH_ERR_NOTFOUND},
		{"netburst", "MISPREDICTED_BRANCH_RETIRED", TACH_ERR_NOTFOUND},
		{"rv_p550", "FW_SET_TIMER", 0},
		{"arm_n1", "FW_SET_TIMER", TACH_ERR_NOTFOUND},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

		opt.host = cases[i].host;
		opt.pmu = tach_pmu_find(cases[i].host);
		opt.os = TACH_OS_NONE;
		CHECK(tach_event_encode(cases[i].event, &opt, &event, &err) == cases[i].code,
		      "%s: %s", cases[i].host, err.text);
	}
}

static void refusals(void)
{
	static const struct {
		const char *string;
		int code, column;
		const char *text;
	} cases[] = {
		{"skl::UOPS_ISSUED:ANY:c=256", TACH_ERR_ATTR_VALUE, 22, "c must be 0 .. 255"},
		{"skl::UOPS_ISSUED:ANY:u:e=1", TACH_ERR_ATTR, 24,
		 "e needs c=1 or more: edges of nothing otherwise"},
		{"skl::UOPS_ISSUED:e:u", TACH_ERR_ATTR, 18,
		 "e needs c=1 or more: edges of nothing otherwise"},
		{"skl::UOPS_ISSUED:e:VECTOR_WIDTH_MISMATCH", TACH_ERR_ATTR, 18,
		 "e needs c=1 or more: edges of nothing otherwise"},
		{"skl::INST_RETIRED:u:0x100", TACH_ERR_ATTR, 21,
		 "a umask has at most 8 bits here"},
		{"wsm::OFFCORE_RESPONSE_0:0x10000", TACH_ERR_ATTR, 25,
		 "a umask has at most 16 bits here"},
		{"wsm_dp::OFFCORE_RESPONSE_0:0x10000", TACH_ERR_ATTR, 28,
		 "a umask has at most 16 bits here"},
		{"skl::OFFCORE_RESPONSE_0:0x4000000000", TACH_ERR_ATTR, 25,
		 "a umask has at most 38 bits here"},
		{"skl::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=65536", TACH_ERR_ATTR_VALUE, 37,
		 "ldlat must be 1 .. 65535"},
		{"skl::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=0", TACH_ERR_ATTR_VALUE, 37,
		 "ldlat must be 1 .. 65535"},
		{"skl::MEM_TRANS_RETIRED:LOAD_LATENCY_GT_4:ldlat=5", TACH_ERR_ATTR_SET, 0,
		 "this umask means ldlat=4"},
		{"skl::FRONTEND_RETIRED:IDQ_4_BUBBLES:fe_thres=4096", TACH_ERR_ATTR_VALUE, 37,
		 "fe_thres must be 1 .. 4095"},
		{"skl::FRONTEND_RETIRED:IDQ_4_BUBBLES:fe_thres=0", TACH_ERR_ATTR_VALUE, 37,
		 "fe_thres must be 1 .. 4095"},
		{"skl::UOPS_RETIRED:STALL_CYCLES:i=0", TACH_ERR_ATTR_SET, 32,
		 "given before with another value"},
		{"spr::INST_RETIRED:PREC_DIST:c=1", TACH_ERR_ATTR_SET, 0,
		 "c=0 is wired into this umask"},
		{"spr::INST_RETIRED:ANY:e=1", TACH_ERR_ATTR_SET, 0,
		 "e=0 is wired into this umask"},
		{"spr::INST_RETIRED:e=1:c=1", TACH_ERR_ATTR_SET, 0,
		 "e=0 is wired into this umask"}, /* set automatically */
		{"spr::INST_RETIRED:PREC_DIST:intx=1", TACH_ERR_ATTR_SET, 0,
		 "intx=0 is wired into this umask"},
		{"spr::INST_RETIRED:PREC_DIST:intxcp=1", TACH_ERR_ATTR_SET, 0,
		 "intxcp=0 is wired into this umask"},
		{"spr::FRONTEND_RETIRED:LATENCY_GE_1:fe_thres=2", TACH_ERR_ATTR_SET, 0,
		 "this umask means fe_thres=1"},
		{"amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:0x100", TACH_ERR_ATTR, 41,
		 "a umask has at most 8 bits"},
		{"amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:c=256", TACH_ERR_ATTR_VALUE, 41,
		 "c must be 0 .. 255"},
		{"netburst::instr_retired:NBOGUSTAG:thr=16", TACH_ERR_ATTR_VALUE, 35,
		 "thr must be 0 .. 15"},
		{"itanium2::CPU_CYCLES:thr=8:k", TACH_ERR_ATTR_VALUE, 22, "thr must be 0 .. 7"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int rc = encode(cases[i].string);

		CHECK(rc == cases[i].code && err.column == cases[i].column &&
			      strcmp(err.text, cases[i].text) == 0,
		      "%s: %d, column %d: %s", cases[i].string, rc, err.column, err.text);
	}
}

int main(void)
{
	CASE(words);
	CASE(names);
	CASE(common_tables);
	CASE(refusals);
	return check_done();
}
