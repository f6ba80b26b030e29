/* SPDX-License-Identifier: MIT */
/*
 * NetBurst: every event gets event selectors and counters that belong together by Intel's
 * manual (SDM volume 3B, "Performance Counter MSRs and Associated CCCR and ESCR MSRs").
 */
#include "core/port/registers.h"
#include "core/tables/tables.h"
#include "tests/unit/dispatch/registers.h"

/* An ESCR by its MSR: its number in the CCCR, and the counters that it feeds, 0x300 + n. */
static const struct escr {
	uint32_t msr;
	unsigned select, counters;
} escrs[] = {
#define PAIR(msr, select, first, second)                                                       \
	{msr, select, first},                                                                  \
	{                                                                                      \
		msr + 1, select, second                                                        \
	}
	PAIR(0x3a0, 7, 0x3, 0xc),	  /* BSU */
	PAIR(0x3a2, 6, 0x3, 0xc),	  /* FSB */
	PAIR(0x3a4, 1, 0x300, 0xc00),	  /* FIRM */
	PAIR(0x3a6, 0, 0x300, 0xc00),	  /* FLAME */
	PAIR(0x3a8, 5, 0x300, 0xc00),	  /* DAC */
	PAIR(0x3aa, 2, 0x3, 0xc),	  /* MOB */
	PAIR(0x3ac, 4, 0x3, 0xc),	  /* PMH */
	PAIR(0x3ae, 2, 0x300, 0xc00),	  /* SAAT */
	PAIR(0x3b0, 3, 0x300, 0xc00),	  /* U2L */
	PAIR(0x3b2, 0, 0x3, 0xc),	  /* BPU */
	PAIR(0x3b4, 1, 0x3, 0xc),	  /* IS */
	PAIR(0x3b6, 3, 0x3, 0xc),	  /* ITLB */
	PAIR(0x3b8, 4, 0x13000, 0x2c000), /* CRU 0, 1 */
	PAIR(0x3ba, 0, 0x13000, 0x2c000), /* IQ */
	PAIR(0x3bc, 2, 0x13000, 0x2c000), /* RAT */
	{0x3be, 3, 0x13000},		  /* SSU */
	PAIR(0x3c0, 0, 0x30, 0xc0),	  /* MS */
	PAIR(0x3c2, 2, 0x30, 0xc0),	  /* TBPU */
	PAIR(0x3c4, 1, 0x30, 0xc0),	  /* TC */
	PAIR(0x3c8, 5, 0x3, 0xc),	  /* IX */
	PAIR(0x3ca, 1, 0x13000, 0x2c000), /* ALF */
	PAIR(0x3cc, 5, 0x13000, 0x2c000), /* CRU 2, 3 */
	PAIR(0x3e0, 6, 0x13000, 0x2c000), /* CRU 4, 5 */
};
enum { ESCRS = sizeof escrs / sizeof *escrs };

static const struct escr *escr_at(uint64_t msr)
{
	for (int i = 0; i < ESCRS; i++)
		if (escrs[i].msr == msr)
			return &escrs[i];
	return NULL;
}

/*
 * Only these events of the front side bus have select 3: b2b_cycles, bnr, snoop and response.
 */
static int selects(const struct escr *e, uint64_t cccr, uint64_t escr)
{
	unsigned event = escr >> 25 & 0x3f, select = cccr >> 13 & 7;

	if ((e->msr & ~1u) == 0x3a2 &&
	    (event == 0x16 || event == 8 || event == 6 || event == 4))
		return select == 3;
	return select == e->select;
}

/* Event i has the registers 2i and 2i + 1 of the list. */
static uint32_t check_event(uint32_t i, const char *name)
{
	const struct tach_register *escr = &out.pmcs[2 * i], *cccr = escr + 1;
	const struct tach_register *counter = &out.pmds[i];
	const struct escr *e = escr_at(escr->address);
	unsigned n = (unsigned)counter->address - 0x300;

	CHECK(e && n < 18 && e->counters >> n & 1, "%s: ESCR %#llx with counter %u", name,
	      (unsigned long long)escr->address, n);
	CHECK(cccr->address == 0x360 + n, "%s: CCCR %#llx with counter %u", name,
	      (unsigned long long)cccr->address, n);
	CHECK(e && selects(e, cccr->value, escr->value), "%s: select %llu of ESCR %#llx", name,
	      (unsigned long long)cccr->value >> 13 & 7, (unsigned long long)escr->address);
	CHECK(!escr->alternative && !cccr->alternative && !counter->alternative);
	return escr->number;
}

/* Uses all counters, with and without the selectors that were used before. */
static void fill(const char *name)
{
	struct tach_dispatch_event one = events[0];
	uint64_t seen = 0;
	uint32_t n = 0;

	while (run() == 0 && n < 8) {
		n = in.nevents;
		CHECK(out.npmcs == 2 * n && out.npmds == n, "%s", name);
		for (uint32_t i = 0; i < n; i++)
			check_event(i, name);
		for (uint32_t i = 1; i < n; i++)
			CHECK(out.pmds[i].address != out.pmds[0].address &&
				      out.pmcs[2 * i].address != out.pmcs[0].address,
			      "%s: twice the same", name);
		events[in.nevents++] = one;
	}
	CHECK(n == 1 || n == 2, "%s: %u times: %s", name, n, err.text);
	in.nevents = 1;
	while (run() == 0 && n < 8) {
		uint32_t number = check_event(0, name);

		CHECK(!(seen >> number & 1), "%s: PMC%u again", name, number);
		seen |= 1ull << number;
		take_away((int)number);
	}
	CHECK((uint32_t)__builtin_popcountll(seen) == n, "%s", name);
}

static void every_event(const char *pmu)
{
	struct tach_pmu_info info = {.size = sizeof info};

	CHECK(tach_pmu_describe(tach_pmu_find(pmu), &info) == 0 && info.nevents >= 45, "%s",
	      pmu);
	for (int e = 0; e < info.nevents; e++) {
		struct tach_event_info event = {.size = sizeof event};

		begin(pmu);
		CHECK(tach_pmu_event(in.pmu, e, &event) == 0);
		in.nevents = 1;
		events[0].event = e;
		events[0].numasks = event.numasks > 0;
		fill(event.name);
	}
}

static void events_of_tables(void)
{
	every_event("netburst");
	every_event("netburst_p");
}

/* The counters that an event can reach: the two BPU sides, MS, FLAME and IQ. */
static void counters_of_events(void)
{
	static const struct {
		const char *event;
		uint64_t pmds;
	} cases[] = {
		{"BPU_fetch_request", 0x603},  {"BSQ_allocation", 0x3},
		{"BSQ_active_entries", 0x600}, {"tc_ms_xfer", 0x180c},
		{"packed_SP_uop", 0x6030},     {"instr_retired", 0x381c0},
	};
	int pmu = tach_pmu_find("netburst");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *name = cases[i].event;
		int e = tach__event_find(pmu, name, strlen(name));
		uint64_t pmds = tach__netburst_counters(tach__event_at(pmu, e));

		CHECK(pmds == cases[i].pmds, "%s: %#llx", name, (unsigned long long)pmds);
	}
}

static void list(void)
{
	begin_at(tach_dispatch_list("pentium4"));
}

/*
 * One side has four selectors and three counters; another has three selectors and two counters.
 */
static void fewer_counters_than_selectors(void)
{
	list();
	for (int pmc = 32; pmc <= 53; pmc++)
		take_away(pmc);
	row("INSTR_RETIRED:NBOGUSNTAG");
	row("BRANCH_RETIRED:MMTP");
	row("UOPS_TYPE:TAGLOADS");
	DISPATCHED();
	CHECK(out.npmds == 3 && out.pmds[0].number == 6 && out.pmds[1].number == 8 &&
		      out.pmds[2].number == 7,
	      "%u %u %u", out.pmds[0].number, out.pmds[1].number, out.pmds[2].number);
	row("RESOURCE_STALL:SBFULL");
	REFUSED(TACH_ERR_NOASSIGN, "no selectors or counters are left");
	in.nevents = 3;
	take_away(31); /* one of the three selectors */
	REFUSED(TACH_ERR_NOASSIGN, "no selectors or counters are left");
	in.nevents = 2;
	DISPATCHED();
	CHECK(out.pmds[1].number == 7, "%u", out.pmds[1].number);
	list();
	for (int pmc = 32; pmc <= 53; pmc++)
		take_away(pmc);
	row("BPU_FETCH_REQUEST:TCMISS");
	row("ITLB_REFERENCE:HIT");
	DISPATCHED();
	row("PAGE_WALK_TYPE:DTMISS");
	REFUSED(TACH_ERR_NOASSIGN, "no selectors or counters are left");
}

/* ESCR: levels 2 and 3, tag 4-8, mask 9-24, event 25-30; CCCR: enable 12, select 13-15, threads
 * 16-17, compare 18, complement 19, threshold 20-23, edge 24, interrupt 26. */
static void words_of_rows(void)
{
	static const struct {
		uint32_t flags, threshold;
		uint64_t cccr;
	} cases[] = {
		{0, 0, 0x4039000},
		{0, 1, 0x4179000},
		{0, 15, 0x4f79000},
		{TACH_DISPATCH_INVERT, 0, 0x40f9000},
		{TACH_DISPATCH_INVERT, 3, 0x43f9000},
		{TACH_DISPATCH_EDGE, 0, 0x5039000},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		list();
		row("INSTR_RETIRED:NBOGUSTAG");
		events[0].flags = cases[i].flags;
		events[0].threshold = cases[i].threshold;
		DISPATCHED();
		CHECK(out.pmcs[0].value == (4 | 2 << 9 | 2 << 25), "%#llx",
		      (unsigned long long)out.pmcs[0].value);
		CHECK(out.pmcs[1].value == cases[i].cccr, "%zu: %#llx", i,
		      (unsigned long long)out.pmcs[1].value);
	}
	events[0].threshold = 16;
	REFUSED(TACH_ERR_INVAL, "0 .. 15");
	events[0].threshold = 0;
	events[0].flags = TACH_DISPATCH_ANYTHREAD;
	REFUSED(TACH_ERR_INVAL, "flag");
	events[0].flags = 0;
	events[0].privilege = TACH_PRIVILEGE_KERNEL;
	DISPATCHED();
	CHECK(out.pmcs[0].value == (8 | 2 << 9 | 2 << 25));
	events[0].privilege = TACH_PRIVILEGE_1;
	REFUSED(TACH_ERR_INVAL, "user from kernel");
}

/*
 * The levels also apply to encoded events, if the caller gives levels; USR and OS of T1 are
 * bits 0 and 1, those of T0 bits 2 and 3.
 */
static void levels(void)
{
	begin("netburst");
	in.privilege = TACH_PRIVILEGE_KERNEL;
	add("netburst::instr_retired:NBOGUSTAG");
	DISPATCHED();
	CHECK(out.pmcs[0].value == (5 | 2 << 9 | 2 << 25));
	events[0].privilege = TACH_PRIVILEGE_KERNEL;
	DISPATCHED();
	CHECK(out.pmcs[0].value == (10 | 2 << 9 | 2 << 25));
	events[0].privilege |= TACH_PRIVILEGE_USER;
	DISPATCHED();
	CHECK(out.pmcs[0].value == (15 | 2 << 9 | 2 << 25));
}

/* This event exists on Prescott and later models. */
static void models(void)
{
	for (uint32_t model = 0; model < 9; model++) {
		list();
		in.revision = model;
		row("INSTR_COMPLETED:NBOGUS");
		if (model == 3 || model == 4 || model == 6)
			DISPATCHED();
		else
			REFUSED(TACH_ERR_INCOMPATIBLE,
				"INSTR_COMPLETED exists from model 3 on");
	}
}

/*
 * PEBS_ENABLE (PMC64) and PEBS_MATRIX_VERT (PMC63) select the replayed events: one choice for
 * all counters.
 */
static void replay(void)
{
	list();
	row("REPLAY_EVENT:NBOGUS:L1_LD_MISS");
	DISPATCHED();
	CHECK(out.npmcs == 4 && out.pmcs[0].number == 64 && out.pmcs[0].address == 0x3f1 &&
		      out.pmcs[0].value == 0x1000001 && out.pmcs[1].number == 63 &&
		      out.pmcs[1].address == 0x3f2 && out.pmcs[1].value == 1,
	      "PMC%u %#llx", out.pmcs[0].number, (unsigned long long)out.pmcs[0].value);
	CHECK(out.pmcs[2].value == (4 | 1 << 9 | 9 << 25), "%#llx",
	      (unsigned long long)out.pmcs[2].value);
	row("REPLAY_EVENT:NBOGUS:L1_LD_MISS");
	DISPATCHED();
	CHECK(out.npmcs == 6 && out.npmds == 2, "%u", out.npmcs);
	in.nevents = 1;
	row("REPLAY_EVENT:NBOGUS:L2_LD_MISS"); /* another PEBS_ENABLE */
	REFUSED(TACH_ERR_INCOMPATIBLE, "replay events with different masks");
	in.nevents = 0;
	row("REPLAY_EVENT:NBOGUS:DTLB_LD_MISS");
	row("REPLAY_EVENT:NBOGUS:DTLB_ST_MISS"); /* another matrix */
	REFUSED(TACH_ERR_INCOMPATIBLE, "replay events with different masks");
	in.nevents = 0;
	row("REPLAY_EVENT:NBOGUS:DTLB_LD_MISS:DTLB_ST_MISS"); /* both at once */
	DISPATCHED();
	CHECK(out.pmcs[0].value == 0x1000004 && out.pmcs[1].value == 3, "%#llx",
	      (unsigned long long)out.pmcs[1].value);
	take_away(63);
	REFUSED(TACH_ERR_NOASSIGN, "PMC63");
	take_away(64);
	REFUSED(TACH_ERR_NOASSIGN, "PMC64");
}

int main(void)
{
	CASE(events_of_tables);
	CASE(counters_of_events);
	CASE(fewer_counters_than_selectors);
	CASE(words_of_rows);
	CASE(levels);
	CASE(models);
	CASE(replay);
	return check_done();
}
