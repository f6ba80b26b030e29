/* SPDX-License-Identifier: MIT */
/* Inputs of dispatch: numbers of PMUs, events and unit masks, their names, and errors. */
#include "tests/unit/dispatch/registers.h"
#include <tach/error.h>

enum { LISTS = 1000 };

/* The call must be refused with this message, which has no line or column. */
static void says(int code, const char *text, int line)
{
	int rc;

	err.line = err.column = 7;
	rc = run();
	CHECK(rc == code && err.code == code && strcmp(err.text, text) == 0 && !err.line &&
		      !err.column,
	      "line %d: %d: %s (%d, %d)", line, rc, err.text, err.line, err.column);
	CHECK(tach_dispatch_compute(&in, &out, NULL) == code, "line %d: without a text", line);
}

#define SAYS(code, text) says(code, text, __LINE__)

static void pmus(void)
{
	static const int none[] = {-1, -1000, 999, LISTS - 1, LISTS + 1000};

	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		char text[64];

		begin("skl");
		in.pmu = none[i];
		snprintf(text, sizeof text, "no PMU has number %d", none[i]);
		SAYS(TACH_ERR_INVAL, text);
		CHECK(tach_dispatch_find(none[i], 0, "X", events, &err) == TACH_ERR_INVAL &&
		      strcmp(err.text, "no string, or no such PMU") == 0);
	}
	/* Boxes are not dispatched; the first PMU is. */
	begin_at(0);
	DISPATCHED();
	in.pmu = tach_pmu_count();
	CHECK(run() == TACH_ERR_INVAL);
	in.pmu = tach_pmu_count() - 1; /* perf's raw codes */
	SAYS(TACH_ERR_NOTSUPP, "the registers of perf_raw are not the program's to set");
	begin("rv_p550");
	SAYS(TACH_ERR_NOTSUPP, "the registers of rv_p550 are not the program's to set");
}

/* libpfm-3's lists are numbered from 1000 on; its ia64 lists have the numbers of the PMUs. */
static void lists_are_numbered_from_1000(void)
{
	static const char *const names[] = {
		"amd64_fam10h", "atom", "core",	    "coreduo",	"gen_ia32",
		"nhm",		"p6",	"pentium4", "pii",	"pm",
		"ppro",		"wsm",	"amd64_k7", "amd64_k8", "amd64_fam15h"};
	uint64_t seen = 0;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		int list = tach_dispatch_list(names[i]);

		CHECK(list >= LISTS && list < LISTS + 20 && !(seen >> (list - LISTS) & 1),
		      "%s: %d", names[i], list);
		seen |= 1ull << (list - LISTS);
	}
	CHECK(tach_dispatch_list("itanium2") == tach_pmu_find("itanium2"));
	CHECK(tach_dispatch_list("skl") == TACH_ERR_NOTFOUND);
	CHECK(tach_dispatch_list("perf") == TACH_ERR_NOTFOUND);
	CHECK(tach_dispatch_list("") == TACH_ERR_NOTFOUND);
	CHECK(tach_dispatch_list(NULL) == TACH_ERR_INVAL);
}

static void numbers(void)
{
	struct tach_pmu_info info = {.size = sizeof info};
	char text[64];

	begin("skl");
	CHECK(tach_pmu_describe(in.pmu, &info) == 0);
	in.nevents = 1;
	events[0].event = info.nevents;
	snprintf(text, sizeof text, "skl has no event number %d", info.nevents);
	SAYS(TACH_ERR_INVAL, text);
	events[0].event = -1;
	SAYS(TACH_ERR_INVAL, "skl has no event number -1");
	events[0].event = 0;
	DISPATCHED();
	CHECK(err.code == 0 && !err.text[0]);
	in.nevents = 0;
	row("BR_INST_RETIRED:ALL_BRANCHES");
	events[0].numasks = TACH_DISPATCH_UMASKS_MAX + 1;
	SAYS(TACH_ERR_INVAL, "too many unit masks or codes");
	events[0].numasks = TACH_DISPATCH_UMASKS_MAX; /* the same mask many times */
	for (int i = 1; i < TACH_DISPATCH_UMASKS_MAX; i++)
		events[0].umasks[i] = events[0].umasks[0];
	DISPATCHED();
	events[0].umasks[1] = 1000;
	SAYS(TACH_ERR_UMASK, "BR_INST_RETIRED has no such unit mask");
	events[0].numasks = 1;
	events[0].ncodes = TACH_EVENT_CODES_MAX + 1;
	SAYS(TACH_ERR_INVAL, "too many unit masks or codes");
	events[0].ncodes = TACH_EVENT_CODES_MAX;
	DISPATCHED();
	events[0].ncodes = 1;
	events[0].counters = 1ull << 31; /* this PMU does not have that counter */
	SAYS(TACH_ERR_INVAL, "skl lacks the counters that BR_INST_RETIRED needs");
	begin_at(tach_dispatch_list("core"));
	row("L2_LD:SELF");
	events[0].ncodes = 1;
	SAYS(TACH_ERR_INVAL, "pfm3_core takes rows, not encoded events");
	events[0].ncodes = 0;
	events[0].umasks[0] = 9; /* of nine */
	SAYS(TACH_ERR_UMASK, "L2_LD has no such unit mask");
	events[0].numasks = 0;
	SAYS(TACH_ERR_UMASK, "L2_LD needs a unit mask");
}

static void structures(void)
{
	struct tach_dispatch_ia64 ia64 = {.size = sizeof ia64};
	struct tach_event event = {.size = sizeof event, .event = 7, .ncodes = 2};
	struct tach_dispatch_event made;

	begin("skl");
	in.nevents = 1;
	in.events = NULL;
	SAYS(TACH_ERR_INVAL, "nevents without events");
	in.nevents = 0;
	DISPATCHED();
	CHECK(out.npmcs == 0 && out.npmds == 0);
	in.privilege = 0;
	SAYS(TACH_ERR_INVAL, "the default privilege levels must not be empty");
	in.privilege = TACH_PRIVILEGE_KERNEL;
	in.ia64 = &ia64;
	SAYS(TACH_ERR_MAGIC, "model-specific input is not for skl");
	begin("itanium2");
	in.x86 = &x86;
	SAYS(TACH_ERR_MAGIC, "model-specific input is not for itanium2");
	in.x86 = NULL;
	in.ia64 = &ia64;
	ia64.size--;
	CHECK(run() == TACH_ERR_INVAL);
	begin("amd64_fam19h_zen4");
	for (int i = 0; i < 7; i++)
		row("RETIRED_INSTRUCTIONS");
	SAYS(TACH_ERR_TOOMANY, "7 events, but amd64_fam19h_zen4 has 6 counters");
	event.codes[0] = 0x123;
	event.codes[1] = 0x456;
	event.counters = 0x9;
	memset(&made, 0x5a, sizeof made);
	CHECK(tach_dispatch_from_event(&event, &made) == 0);
	CHECK(made.event == 7 && made.ncodes == 2 && made.codes[0] == 0x123 &&
	      made.codes[1] == 0x456 && made.codes[2] == 0 && made.counters == 9 &&
	      !made.privilege && !made.flags && !made.threshold && !made.ism && !made.numasks &&
	      !made.reserved);
	CHECK(tach_dispatch_from_event(NULL, &made) == TACH_ERR_INVAL);
	CHECK(tach_dispatch_from_event(&event, NULL) == TACH_ERR_INVAL);
	event.size = 7;
	CHECK(tach_dispatch_from_event(&event, &made) == TACH_ERR_INVAL);
}

/* Uses all counters of each kind; one more event is refused. */
static void how_many(void)
{
	static const struct {
		const char *pmu, *list;
		int counters;
	} cases[] = {
		{"skl", NULL, 4 + 3},	     {"spr", NULL, 8 + 4 + 8},
		{"lnl_skt", NULL, 8 + 6},    {"p6", NULL, 2},
		{NULL, "core", 2 + 3},	     {NULL, "nhm", 4 + 3 + 9},
		{NULL, "wsm", 4 + 3 + 9},    {"nhm", NULL, 4 + 3},
		{NULL, "pentium4", 18},	     {"amd64_fam17h", NULL, 6},
		{NULL, "amd64_k8", 4},	     {"itanium2", NULL, 4},
		{"montecito", NULL, 12},     {"arm_n1", NULL, 6 + 1},
		{"arm_armv8", NULL, 31 + 1}, {"apple_firestorm", NULL, 11},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[32];

		begin_at(cases[i].pmu ? tach_pmu_find(cases[i].pmu)
				      : tach_dispatch_list(cases[i].list));
		in.nevents = (uint32_t)cases[i].counters + 1;
		snprintf(text, sizeof text, " has %d counters", cases[i].counters);
		CHECK(run() == TACH_ERR_TOOMANY && strstr(err.text, text), "%s", err.text);
		in.nevents--;
		CHECK(run() != TACH_ERR_TOOMANY, "%s", err.text);
	}
}

/* ---- names ---- */

static int found(const char *string, int nmasks, int first)
{
	struct tach_dispatch_event e;
	int rc = tach_dispatch_find(in.pmu, in.revision, string, &e, &err);

	CHECK(rc == 0, "%s: %s", string, err.text);
	return rc == 0 && e.numasks == (uint32_t)nmasks && (!nmasks || e.umasks[0] == first) &&
	       !e.ncodes && !e.flags && !e.privilege;
}

static void names(void)
{
	begin_at(tach_dispatch_list("core"));
	CHECK(found("l2_ld:self", 1, 5) && found("L2_LD:SELF:MESI", 2, 5));
	CHECK(found("L2_LD:SELF:SELF", 1, 5) && found("L2_LD:SELF:MESI:MESI", 2, 5), "once");
	CHECK(found("INST_QUEUE:0x2", 1, 0));
	/* By code: 0xf is one mask, 0x43 is three masks, in their order. */
	CHECK(found("L2_LD:0xf", 1, 0) && found("L2_LD:15", 1, 0) && found("L2_LD:017", 1, 0));
	CHECK(found("L2_LD:0x43", 3, 1) && found("L2_LD:0x3f", 2, 0) &&
	      found("L2_LD:0x10", 1, 8));
	CHECK(found("INSTRUCTIONS_RETIRED", 0, 0));
}

static void unknown(const char *string, int code, int column, const char *text)
{
	struct tach_dispatch_event e;
	int rc = tach_dispatch_find(in.pmu, in.revision, string, &e, &err);

	CHECK(rc == code && tach_dispatch_find(in.pmu, in.revision, string, &e, NULL) == code,
	      "%s: %d", string, rc);
	CHECK(strcmp(err.text, text) == 0 && err.column == column && err.line == 1,
	      "%s: %d: %s", string, err.column, err.text);
}

static void unknown_names(void)
{
	char many[200] = "";

	begin_at(tach_dispatch_list("core"));
	unknown("L2_LE:SELF", TACH_ERR_NOTFOUND, 1,
		"core has no event 'L2_LE'; did you mean L2_LD?");
	unknown("xyzzy", TACH_ERR_NOTFOUND, 1, "core has no event 'xyzzy'");
	unknown("L2_L", TACH_ERR_NOTFOUND, 1, "core has no event 'L2_L'; did you mean L2_LD?");
	unknown("L2_LD:SELF:SELV", TACH_ERR_UMASK, 12,
		"L2_LD has no unit mask 'SELV'; did you mean SELF?");
	unknown("L2_LD:SELF:", TACH_ERR_UMASK, 12, "L2_LD has no unit mask ''");
	unknown("L2_LD:0x1ff", TACH_ERR_UMASK, 7, "L2_LD has no unit mask '0x1ff'");
	unknown("L2_LD:0", TACH_ERR_UMASK, 8, "L2_LD needs a unit mask: MESI, ...");
	unknown("L2_LD:0x4x", TACH_ERR_UMASK, 7, "L2_LD has no unit mask '0x4x'");
	unknown("INSTRUCTIONS_RETIRED:1", TACH_ERR_UMASK, 22,
		"INSTRUCTIONS_RETIRED has no unit mask '1'");
	unknown("L2_LD", TACH_ERR_UMASK, 6, "L2_LD needs a unit mask: MESI, ...");
	unknown("INST_QUEUE", TACH_ERR_UMASK, 11, "INST_QUEUE needs a unit mask: FULL");
	memset(many, 'y', 100);
	unknown(many, TACH_ERR_NOTFOUND, 1,
		"core has no event "
		"'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'");
	begin("skl");
	unknown("xyzzy", TACH_ERR_NOTFOUND, 1, "skl has no event 'xyzzy'");
	CHECK(tach_dispatch_find(in.pmu, 0, NULL, events, &err) == TACH_ERR_INVAL);
	CHECK(tach_dispatch_find(in.pmu, 0, "x", NULL, &err) == TACH_ERR_INVAL);
}

/* A message of the encoder contains the row in its written form. */
static void refused_rows(void)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} flags[] = {
		{TACH_DISPATCH_EDGE, "skl::BR_INST_RETIRED:ALL_BRANCHES:e=1: "},
		{TACH_DISPATCH_GUEST, "skl::BR_INST_RETIRED:ALL_BRANCHES:g=1: "},
		{TACH_DISPATCH_HOST | TACH_DISPATCH_INVERT,
		 "skl::BR_INST_RETIRED:ALL_BRANCHES:i=1:h=1: "},
		{TACH_DISPATCH_GUEST | TACH_DISPATCH_ANYTHREAD,
		 "skl::BR_INST_RETIRED:ALL_BRANCHES:g=1:t=1: "},
	};

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		begin("skl");
		row("BR_INST_RETIRED:ALL_BRANCHES");
		events[0].flags = flags[i].flag;
		REFUSED(TACH_ERR_INVAL, flags[i].text);
		CHECK(strstr(err.text, flags[i].text) == err.text, "%s", err.text);
	}
	events[0].flags = 0;
	events[0].threshold = 256;
	REFUSED(TACH_ERR_INVAL, "skl::BR_INST_RETIRED:ALL_BRANCHES:c=256: c must be 0 .. 255");
	events[0].threshold = 0;
	row("BR_INST_RETIRED:NEAR_CALL");
	in.nevents = 1;
	events[0].numasks = 2;
	events[0].umasks[1] = events[1].umasks[0];
	REFUSED(TACH_ERR_FEATCOMB, "skl::BR_INST_RETIRED:ALL_BRANCHES:NEAR_CALL: ");
	events[0].numasks = 1;
	in.privilege = 0x20;
	REFUSED(TACH_ERR_INVAL, "skl::BR_INST_RETIRED:ALL_BRANCHES: ");
	begin("netburst");
	row("instr_retired:NBOGUSTAG");
	events[0].threshold = 16;
	REFUSED(TACH_ERR_INVAL,
		"netburst::instr_retired:NBOGUSTAG:thr=16: thr must be 0 .. 15");
}

int main(void)
{
	CASE(pmus);
	CASE(lists_are_numbered_from_1000);
	CASE(numbers);
	CASE(structures);
	CASE(how_many);
	CASE(names);
	CASE(unknown_names);
	CASE(refused_rows);
	return check_done();
}
