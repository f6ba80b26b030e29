/* SPDX-License-Identifier: MIT */
/*
 * Promises of <tach/dispatch.h> for every PMU; tests/vectors compares the registers themselves.
 */
#include <stdlib.h>
#include <string.h>
#include <tach/dispatch.h>
#include <tach/event.h>
#include <tach/pmu.h>
#include "tests/check.h"

static struct tach_dispatch_event events[TACH_DISPATCH_EVENTS_MAX];
static struct tach_dispatch in;
static struct tach_dispatch_out out = {.size = sizeof out};
static struct tach_error err;

static void begin(int pmu)
{
	memset(&in, 0, sizeof in);
	memset(events, 0, sizeof events);
	in.size = sizeof in;
	in.pmu = pmu;
	in.privilege = TACH_PRIVILEGE_USER;
	in.events = events;
}

static void add(const char *string)
{
	int rc = tach_dispatch_find(in.pmu, 0, string, &events[in.nevents++], &err);

	CHECK(rc == 0, "%s: %s", string, err.text);
}

static int run(void)
{
	memset(&out, 0xa5, sizeof out);
	out.size = sizeof out;
	return tach_dispatch_compute(&in, &out, &err);
}

static int refused(int code)
{
	static const struct tach_dispatch_out zero = {.size = sizeof zero};
	int rc = run();

	return rc == code && err.code == code && err.text[0] &&
	       memcmp(&out, &zero, sizeof out) == 0;
}

/* Each refusal has its own reason and writes no output. */
static void refusal_writes_no_output(void)
{
	struct tach_dispatch_ia64 ia64 = {.size = sizeof ia64};
	struct tach_dispatch_x86 x86 = {.size = sizeof x86};

	begin(tach_dispatch_list("core"));
	for (int i = 0; i < 6; i++)
		add("UNHALTED_CORE_CYCLES");
	CHECK(refused(TACH_ERR_TOOMANY));
	in.nevents = 4; /* one fixed counter and two general ones remain */
	CHECK(refused(TACH_ERR_NOASSIGN));
	in.nevents = 3;
	CHECK(run() == 0 && out.npmds == 3);
	in.ia64 = &ia64;
	CHECK(refused(TACH_ERR_MAGIC));
	in.ia64 = NULL;
	in.x86 = &x86;
	CHECK(run() == 0);
	x86.size--;
	CHECK(refused(TACH_ERR_INVAL));
	in.x86 = NULL;
	in.privilege = 0;
	CHECK(refused(TACH_ERR_INVAL));
	in.privilege = 2;
	CHECK(refused(TACH_ERR_INVAL));
	in.privilege = TACH_PRIVILEGE_USER;
	events[0].numasks = 1;
	CHECK(refused(TACH_ERR_UMASK));
	events[0].numasks = 0;
	events[0].event = 9999;
	CHECK(refused(TACH_ERR_INVAL));
	events[0].event = -1;
	CHECK(refused(TACH_ERR_INVAL));
	CHECK(tach_dispatch_compute(&in, NULL, &err) == TACH_ERR_INVAL);
	CHECK(tach_dispatch_compute(NULL, &out, NULL) == TACH_ERR_INVAL);
	CHECK(tach_dispatch_list("no such list") == TACH_ERR_NOTFOUND);

	begin(tach_dispatch_list("amd64_fam15h"));
	add("DISPATCHED_FPU_OPS:OPS_PIPE0");
	in.x86 = &x86;
	x86.size = sizeof x86;
	x86.ibs_op = 1;
	CHECK(run() == 0);
	in.flags = TACH_DISPATCH_NOMODEL;
	CHECK(refused(TACH_ERR_INVAL));
}

/* The caller cannot give an event a counter that the PMU does not have. */
static void foreign_counters(void)
{
	int pmu = tach_pmu_find("itanium2");

	begin(pmu);
	add("BUS_IO_IO");
	events[0].ncodes = 1;
	events[0].counters = 1; /* PMC0 exists, but is not a counter */
	CHECK(refused(TACH_ERR_INVAL));
	events[0].counters = 0x21;
	CHECK(run() == 0 && out.pmds[0].number == 5, "PMD%u", out.pmds[0].number);
}

/* Modern PMUs: tests the fixed counters, then removes the registers above them one by one. */
static void until_none(void)
{
	static const char *const names[] = {"skl", "spr", "amd64_fam19h_zen4", "arm_n1"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		unsigned before = 99;
		int n = 0;

		begin(tach_pmu_find(names[i]));
		CHECK(in.pmu >= 0, "%s", names[i]);
		add(i < 2    ? "INST_RETIRED:ANY_P"
		    : i == 2 ? "RETIRED_INSTRUCTIONS"
			     : "INST_RETIRED");
		while (run() == 0 && n < 40) {
			unsigned number = out.pmds[0].number;

			CHECK(number != before, "%s: %u again", names[i], number);
			CHECK(out.npmcs >= 1 && out.pmcs[0].address);
			before = number;
			for (uint32_t k = 0; k < out.npmcs; k++)
				in.unavailable[out.pmcs[k].number / 64] |=
					1ull << out.pmcs[k].number % 64;
			n++;
		}
		CHECK(n >= 1 && refused(TACH_ERR_NOASSIGN), "%s: %d times, then %s", names[i],
		      n, err.text);
	}
}

static uint64_t value_of(uint32_t number)
{
	for (uint32_t i = 0; i < out.npmcs; i++)
		if (out.pmcs[i].number == number)
			return out.pmcs[i].value;
	return 0;
}

/* Encoded words for the newest Intel PMUs, P- and E-cores. */
static void encoded(const char *string)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event event = {.size = sizeof event};

	opt.os = TACH_OS_NONE;
	opt.any_pmu = 1;
	CHECK(tach_event_encode(string, &opt, &event, &err) == 0, "%s: %s", string, err.text);
	tach_dispatch_from_event(&event, &events[in.nevents++]);
}

/*
 * Fixed counters 0-3 and PERF_METRICS on P-cores, 0-2 and 4-6 on E-cores since Skymont, eight
 * or ten general counters; PEBS works on all of these counters: the bits that once enabled load
 * latency now enable fixed counters (Linux: intel_lnc_event_constraints,
 * intel_skt_event_constraints).
 */
static void newest_intel(void)
{
	struct tach_dispatch_x86 x86 = {.size = sizeof x86, .pebs = 1};

	begin(tach_pmu_find("lnl_lnc"));
	encoded("lnl_lnc::TOPDOWN:SLOTS");
	encoded("lnl_lnc::TOPDOWN:BAD_SPEC_SLOTS");
	for (int i = 0; i < 9; i++)
		encoded("lnl_lnc::BR_INST_RETIRED:ALL_BRANCHES");
	CHECK(run() == 0, "%s", err.text);
	CHECK(out.pmds[0].number == 19 && out.pmds[0].address == 0x30c, "PMD%u",
	      out.pmds[0].number);
	CHECK(value_of(16) == 0xa000 && value_of(33) >> 32 == 8, "%llx %llx",
	      (unsigned long long)value_of(16), (unsigned long long)value_of(33));
	CHECK(value_of(9) && out.pmds[10].address == 0xca, "PMD%u", out.pmds[10].number);

	begin(tach_pmu_find("lnl_skt"));
	encoded("lnl_skt::TOPDOWN_BAD_SPECULATION:ALL");
	encoded("lnl_skt::TOPDOWN_FE_BOUND:ALL");
	encoded("lnl_skt::TOPDOWN_RETIRING:ALL");
	CHECK(run() == 0 && value_of(16) == 0xaaa0000 && value_of(33) == 0x7000000000, "%s",
	      err.text);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(out.pmds[i].number == 20 + i && out.pmds[i].address == 0x30d + i &&
			      out.pmds[i].alternative == 0x40000004 + i,
		      "PMD%u", out.pmds[i].number);

	begin(tach_pmu_find("adl_glc"));
	encoded("adl_glc::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30");
	in.x86 = &x86;
	CHECK(run() == 0, "%s", err.text);
	CHECK(value_of(17) == 1ull << out.pmds[0].number && value_of(18) == 30, "%llx",
	      (unsigned long long)value_of(17));

	begin(tach_pmu_find("skl")); /* like before */
	encoded("skl::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30");
	in.x86 = &x86;
	CHECK(run() == 0 && value_of(17) == (1ull << 32 | 1) << out.pmds[0].number, "%llx",
	      (unsigned long long)value_of(17));
}

/* Zen's six counters are in the extended register space. */
static void zen_uses_the_extended_registers(void)
{
	begin(tach_pmu_find("amd64_fam19h_zen4"));
	for (int i = 0; i < 6; i++)
		add("RETIRED_INSTRUCTIONS");
	CHECK(run() == 0 && out.npmds == 6, "%s", err.text);
	for (uint32_t i = 0; i < 6; i++)
		CHECK(out.pmcs[i].address == 0xc0010200 + 2 * out.pmcs[i].number &&
		      out.pmds[i].address == 0xc0010201 + 2 * out.pmds[i].number);
	add("RETIRED_INSTRUCTIONS");
	CHECK(refused(TACH_ERR_TOOMANY));
}

/* arm64: the cycle counter, filters, and two counters as one. */
static void arm64(void)
{
	begin(tach_pmu_find("arm_n1"));
	add("CPU_CYCLES");
	add("INST_RETIRED");
	CHECK(run() == 0, "%s", err.text);
	CHECK(out.pmds[0].number == 31 && out.pmcs[0].number == 31);
	/* op0 3, op1 3, CRn 14, CRm 15, op2 7: PMCCFILTR_EL0; P is set, U is not */
	CHECK(out.pmcs[0].address == (3u << 14 | 3u << 11 | 14u << 7 | 15u << 3 | 7u));
	CHECK(out.pmcs[0].value >> 31 == 1 && !(out.pmcs[0].value >> 30 & 1));
	events[1].flags = TACH_DISPATCH_CHAIN;
	CHECK(run() == 0 && out.pmds[1].number % 2 == 0, "%s", err.text);
}

static uint64_t seed = 1;

static unsigned rnd(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static const struct {
	uint32_t flag;
	const char *word;
} words[] = {
	{TACH_DISPATCH_EDGE, ":e=1"},	   {TACH_DISPATCH_INVERT, ":i=1"},
	{TACH_DISPATCH_ANYTHREAD, ":t=1"}, {TACH_DISPATCH_GUEST, ":g=1"},
	{TACH_DISPATCH_HOST, ":h=1:u=1"},
};

/* Writes the same event as text. */
static void spell(const struct tach_pmu_info *pmu, const struct tach_dispatch_event *e,
		  const char *name, char *text, size_t size)
{
	size_t n = (size_t)snprintf(text, size, "%s::%s", pmu->name, name);

	for (uint32_t u = 0; u < e->numasks; u++) {
		struct tach_umask_info mask = {.size = sizeof mask};

		tach_pmu_umask(in.pmu, e->event, e->umasks[u], &mask);
		n += (size_t)snprintf(text + n, size - n, ":%s", mask.name);
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (e->flags & words[i].flag)
			n += (size_t)snprintf(text + n, size - n, "%s", words[i].word);
	if (e->threshold)
		snprintf(text + n, size - n, ":%s=%u",
			 strncmp(pmu->name, "netburst", 8) ? "c" : "thr", e->threshold);
}

static long same, refused_both;

static void row_as_string(const struct tach_pmu_info *pmu, const char *name)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event event = {.size = sizeof event};
	struct tach_dispatch_event row = events[0];
	struct tach_dispatch_out by_row = {.size = sizeof by_row};
	char text[1024];
	int rc = run(), encoded;

	by_row = out;
	opt.os = TACH_OS_NONE;
	opt.privilege = in.privilege;
	opt.any_pmu = 1;
	spell(pmu, &row, name, text, sizeof text);
	encoded = tach_event_encode(text, &opt, &event, NULL);
	if (encoded == 0) {
		tach_dispatch_from_event(&event, &events[0]);
		encoded = run();
	}
	CHECK(!rc == !encoded && (rc || memcmp(&by_row, &out, sizeof out) == 0),
	      "%s: %d as a row, %d as a string", text, rc, encoded);
	events[0] = row;
	*(rc ? &refused_both : &same) += 1;
}

/* A row with its umasks and flags encodes to the same codes as its name, on every PMU. */
static void rows_as_strings(void)
{
	for (int pmu = 0; pmu < tach_pmu_count(); pmu++) {
		struct tach_pmu_info info = {.size = sizeof info};

		tach_pmu_describe(pmu, &info);
		if (strcmp(info.arch, "ia64") == 0 || strcmp(info.arch, "linux") == 0)
			continue;
		for (int e = 0;; e += 1 + (int)rnd(5)) {
			struct tach_event_info row = {.size = sizeof row};

			begin(pmu);
			if (tach_pmu_event(pmu, e, &row))
				break;
			in.nevents = 1;
			events[0].event = e;
			if (row.numasks && rnd(5))
				events[0].numasks = 1 + rnd(2);
			for (uint32_t u = 0; u < events[0].numasks; u++)
				events[0].umasks[u] = (uint16_t)rnd((unsigned)row.numasks);
			if (rnd(3) == 0)
				events[0].flags = words[rnd(5)].flag;
			if (rnd(3) == 0)
				events[0].threshold = 1 + rnd(300);
			row_as_string(&info, row.name);
		}
	}
	CHECK(same > 2000 && refused_both > 500, "%ld the same, %ld refused: a lopsided test",
	      same, refused_both);
}

int main(void)
{
	CASE(refusal_writes_no_output);
	CASE(foreign_counters);
	CASE(until_none);
	CASE(newest_intel);
	CASE(zen_uses_the_extended_registers);
	CASE(arm64);
	CASE(rows_as_strings);
	return check_done();
}
