/* SPDX-License-Identifier: MIT */
/* The tables in which an event is searched, and the spellings that find it. */
#include <stdlib.h>
#include <string.h>
#include "core/event/event.h"
#include "tests/check.h"

static struct tach_encode_options options(const char *host)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = TACH_OS_NONE;
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	opt.host = host;
	opt.sysfs = "/nonexistent";
	opt.tracefs = "/nonexistent";
	return opt;
}

static int pmu_named(const char *name)
{
	return tach__pmu_find(name, strlen(name));
}

/* ---- the PMUs ---- */

static void candidates(void)
{
	static const struct {
		const char *host, *pmu, *names[5];
	} lists[] = {
		{"skl", NULL, {"skl", "ix86arch", "perf", "perf_raw"}},
		{"ix86arch", NULL, {"ix86arch", "perf", "perf_raw"}},
		{"amd64_fam19h_zen3", NULL, {"amd64_fam19h_zen3", "perf", "perf_raw"}},
		{"arm_ac57", NULL, {"arm_ac57", "perf", "perf_raw"}}, /* number 0 */
		{"", NULL, {"perf", "perf_raw"}},
		{NULL, NULL, {"perf", "perf_raw"}}, /* TACH_PMU names no CPU */
		{"nosuch", NULL, {"perf", "perf_raw"}},
		{"skl", "hsw", {"hsw", "ix86arch", "perf", "perf_raw"}},
		{"skl", "arm_ac57", {"arm_ac57", "perf", "perf_raw"}},
	};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct tach_encode_options opt = options(lists[i].host);
		struct tach__work w = {.ask = {.opt = &opt, .quirks = tach__quirks_of(&opt)}};
		int pmus[TACH__SEARCH_MAX], n, want = 0;

		for (int k = 0; k < TACH__SEARCH_MAX; k++)
			pmus[k] = pmu_named("bdw");
		if (lists[i].pmu)
			opt.pmu = pmu_named(lists[i].pmu);
		n = tach__candidates(&w, pmus);
		for (; lists[i].names[want]; want++)
			CHECK(want >= n || pmus[want] == pmu_named(lists[i].names[want]),
			      "%zu: %d", i, want);
		CHECK(n == want, "%zu: %d", i, n);
	}
}

/* If the caller gives a list of PMUs, only these are searched. */
static void callers_list(void)
{
	int search[3] = {pmu_named("hsw"), pmu_named("arm_n1"), pmu_named("perf")};
	int pmus[TACH__SEARCH_MAX];
	uint64_t boxes[TACH__BOX_WORDS] = {0};
	struct tach_encode_options opt = options("skl");
	struct tach__work w = {.ask = {.opt = &opt, .quirks = tach__quirks_of(&opt)}};
	int box = pmu_named("skx_unc_imc2"), bit = box - tach__npmus();

	w.ask.caller.search = search;
	w.ask.caller.nsearch = 3;
	CHECK(tach__candidates(&w, pmus) == 3 && memcmp(pmus, search, sizeof search) == 0);
	CHECK(tach__pmu_present(&w, search[0]) && tach__pmu_present(&w, search[2]));
	CHECK(!tach__pmu_present(&w, pmu_named("skl")) &&
	      !tach__pmu_present(&w, pmu_named("perf_raw")) && !tach__pmu_present(&w, box));
	boxes[bit / 64] = 1ull << bit % 64;
	w.ask.caller.boxes = boxes;
	CHECK(tach__pmu_present(&w, box) && !tach__pmu_present(&w, box + 1));
	CHECK(!tach__pmu_present(&w, pmu_named("skl")));
	w.ask.caller.nsearch = 2;
	CHECK(tach__pmu_present(&w, search[1]) && !tach__pmu_present(&w, search[2]));
}

static void pmus_of_the_host_are_present(void)
{
	struct tach_encode_options opt = options("skl");
	struct tach__work w = {.ask = {.opt = &opt, .quirks = tach__quirks_of(&opt)}};

	CHECK(tach__pmu_present(&w, pmu_named("skl")) &&
	      tach__pmu_present(&w, pmu_named("ix86arch")) &&
	      tach__pmu_present(&w, pmu_named("perf")) &&
	      tach__pmu_present(&w, pmu_named("perf_raw")));
	CHECK(!tach__pmu_present(&w, pmu_named("hsw")) &&
	      !tach__pmu_present(&w, pmu_named("arm_ac57")));
	opt.pmu = pmu_named("hsw");
	CHECK(tach__pmu_present(&w, opt.pmu) && tach__pmu_present(&w, pmu_named("skl")));
	opt = options("");
	CHECK(!tach__pmu_present(&w, pmu_named("skl")) &&
	      !tach__pmu_present(&w, pmu_named("ix86arch")) &&
	      tach__pmu_present(&w, pmu_named("perf")));
}

/* ---- the names ---- */

static void spellings(void)
{
	static const struct {
		uint32_t flags;
		const char *host, *string, *name;
	} good[] = {
		/*
		 * If TACH_PMU names another machine, the architectural PMU has all of version
		 * 3.
		 */
		{0, "skl", "ix86arch::UNHALTED_CORE_CYCLES",
		 "ix86arch::UNHALTED_CORE_CYCLES:k=1:u=1:e=0:i=0:c=0:t=0"},
		{0, "hsw", "ix86arch::LLC_MISSES:u",
		 "ix86arch::LLC_MISSES:k=0:u=1:e=0:i=0:c=0:t=0"},
		{0, "", "arm_armv8::CPU_CYCLES", "arm_armv8::CPU_CYCLES:k=1:u=1:hv=0"},
		/*
		 * Vendors' names: dots in the event's name, umasks after the last dot,
		 * modifiers.
		 */
		{0, "skl", "BR_INST_RETIRED.NEAR_CALL:c=1",
		 "skl::BR_INST_RETIRED:NEAR_CALL:k=1:u=1:e=0:i=0:c=1:t=0:intx=0:intxcp=0"},
		{0, "skl", "skl::CPU_CLK_UNHALTED.THREAD_P:u:c=2",
		 "skl::CPU_CLK_THREAD_UNHALTED:THREAD_P:k=0:u=1:e=0:i=0:c=2:t=0:intx=0:intxcp="
		 "0"},
		{0, "skx", "UOPS_RETIRED.STALL_CYCLES:RETIRE_SLOTS",
		 "skx::UOPS_RETIRED:RETIRE_SLOTS:k=1:u=1:e=0:i=1:c=1:t=0:intx=0:intxcp=0"},
		/* An event OCR exists, but without such a umask. */
		{0, "adl_glc", "OCR.DEMAND_DATA_RD.ANY_RESPONSE:u",
		 "adl_glc::OCR0:DEMAND_DATA_RD_ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp="
		 "0"},
		{TACH_ENCODE_LIBPFM4, "adl_glc", "OCR.DEMAND_DATA_RD.ANY_RESPONSE:u",
		 "adl_glc::OCR0:DEMAND_DATA_RD_ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp="
		 "0"},
	};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct tach_encode_options opt = options(good[i].host);
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc;

		opt.flags = good[i].flags;
		rc = tach_event_encode(good[i].string, &opt, &e, &err);
		CHECK(rc == 0 && strcmp(e.name, good[i].name) == 0, "%s: %s%s", good[i].string,
		      err.text, e.name);
	}
}

/* EVENT:request=A:response=B.C means the umask A_B_C, with any attributes after it. */
static void requests(void)
{
	static const struct {
		const char *string, *same;
	} good[] = {
		{"OFFCORE_RESPONSE:request=DEMAND_RFO:response=LLC_MISS.REMOTE_HITM",
		 "OFFCORE_RESPONSE:DEMAND_RFO_LLC_MISS_REMOTE_HITM"},
		{"OFFCORE_RESPONSE:REQUEST=demand_rfo:RESPONSE=llc_miss.remote_hitm:u:c=3",
		 "OFFCORE_RESPONSE:DEMAND_RFO_LLC_MISS_REMOTE_HITM:u:c=3"},
		{"hsw_ep::OFFCORE_RESPONSE:request=DEMAND_RFO_LLC_MISS_REMOTE_HITM:k",
		 "OFFCORE_RESPONSE:DEMAND_RFO_LLC_MISS_REMOTE_HITM:k"},
	};
	static const char *const bad[] = {
		"OFFCORE_RESPONSE:request=DEMAND_RFO:response=LLC_MISS.REMOTE_HITX",
		"OFFCORE_RESPONSE:request=DEMAND_RFO",
		"OFFCORE_RESPONSE:request=",
		"OFFCORE_RESPONSE:reques=DEMAND_RFO:response=LLC_MISS.REMOTE_HITM",
		"OFFCORE_RESPONSE:request=DEMAND_RFO:u:response=LLC_MISS.REMOTE_HITM",
		"BR_INST_RETIRED:request=NEAR_CALLX",
	};
	struct tach_encode_options opt = options("hsw_ep");
	struct tach_event e = {0}, other = {0};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		CHECK(tach_event_encode(good[i].string, &opt, &e, NULL) == 0 &&
			      tach_event_encode(good[i].same, &opt, &other, NULL) == 0 &&
			      memcmp(&e, &other, sizeof e) == 0,
		      "%s: %s", good[i].string, e.name);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(tach_event_encode(bad[i], &opt, &e, NULL) == TACH_ERR_ATTR, "%s", bad[i]);
	opt.flags = TACH_ENCODE_LIBPFM4;
	CHECK(tach_event_encode(good[0].string, &opt, &e, NULL) == TACH_ERR_ATTR);
}

/* ---- derived names ---- */

static const char *derived(int pmu, const struct tach__text *name, int *several)
{
	static const struct {
		const char *name, *text;
	} known[] = {
		{"MY_CALLS", "BR_INST_RETIRED:NEAR_CALL:c=2"},
		{"HSW_CALLS", "hsw::BR_INST_RETIRED:NEAR_CALL"},
		{"NOWHERE", "NO_SUCH_EVENT"},
		{"NO_PMU", "nosuch::BR_INST_RETIRED"},
		{"BLANK", "BR_INST_RETIRED NEAR_CALL"},
		{"BROKEN", "BR_INST_RETIRED:NO_SUCH_UMASK"},
	};

	CHECK(pmu < tach__npmus(), "of a box, %d", pmu);
	*several = tach__text_equal(name, "SEVERAL");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (tach__text_equal(name, known[i].name))
			return known[i].text;
	return NULL;
}

/* A name with two dots is the vendor's spelling; the same parts with colons are libpfm-4's. */
static void vendors_names(void)
{
	static const struct {
		const char *string;
		uint64_t request;
	} all[] = {
		{"nhm::OFFCORE_RESPONSE_0.ANY_DATA.ANY_DRAM", 0x6011},
		{"nhm::OFFCORE_RESPONSE_0:ANY_DATA:ANY_DRAM", 0x6033},
		{"wsm_ex::OFFCORE_RESPONSE_0.ANY_DATA.LOCAL_CACHE", 0x711},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
		struct tach_event e = {0};

		opt.any_pmu = 1;
		opt.os = TACH_OS_NONE;
		CHECK(tach_event_encode(all[i].string, &opt, &e, NULL) == 0 && e.ncodes == 2 &&
			      e.codes[1] == all[i].request,
		      "%s: %llx", all[i].string, (unsigned long long)e.codes[1]);
	}
}

static void derived_names(void)
{
	static const struct {
		const char *string, *same;
		int code, column;
	} all[] = {
		{"skl::MY_CALLS", "skl::BR_INST_RETIRED:NEAR_CALL:c=2", 0, 0},
		{"MY_CALLS", "skl::BR_INST_RETIRED:NEAR_CALL:c=2", 0, 0},
		{"my_calls:u:e", "skl::BR_INST_RETIRED:NEAR_CALL:c=2:u:e", 0, 0},
		{"skl::HSW_CALLS", "hsw::BR_INST_RETIRED:NEAR_CALL", 0, 0},
		{"skl::NOWHERE", NULL, TACH_ERR_NOTFOUND, 6},
		{"NO_PMU", NULL, TACH_ERR_NOTFOUND, 1},
		{"BLANK", NULL, TACH_ERR_NOTFOUND, 1},
		{"skl::BROKEN", NULL, TACH_ERR_ATTR, 1},
		{"skl::MY_CALLS:q", NULL, TACH_ERR_ATTR, 15},
		{"skl::MY_CALLS:c=3", NULL, TACH_ERR_ATTR_SET, 15},
		{"skl::SEVERAL", NULL, TACH_ERR_NOTSUPP, 1},
		{"SEVERAL:u", NULL, TACH_ERR_NOTSUPP, 0},
		{"skx_unc_imc0::MY_CALLS", NULL, TACH_ERR_NOTFOUND, 15},
		{"perf::MY_CALLS", NULL, TACH_ERR_NOTFOUND, 7},
	};
	struct tach__caller caller = {.derived = derived}, none = {0};
	struct tach_encode_options opt = options("skl");

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0}, other = {0};
		int rc = tach__event_encode(all[i].string, &opt, &caller, &e, &err);

		CHECK(rc == all[i].code && (!rc || err.column == all[i].column),
		      "%s: %d, column %d: %s", all[i].string, rc, err.column, err.text);
		CHECK(rc != TACH_ERR_NOTSUPP ||
			      strcmp(err.text,
				     "SEVERAL is derived from several events: a set "
				     "takes it as a metric, 'tach derived show' takes "
				     "it apart") == 0,
		      "%s", err.text);
		if (!all[i].same)
			continue;
		CHECK(tach__event_encode(all[i].same, &opt, &none, &other, NULL) == 0 &&
			      memcmp(&e, &other, sizeof e) == 0,
		      "%s: %s", all[i].string, e.name);
		CHECK(tach__event_encode(all[i].string, &opt, &none, &other, NULL) ==
			      TACH_ERR_NOTFOUND,
		      "%s", all[i].string);
	}
}

/* Derived names are not searched in boxes: if they were, derived() would report it. */
static void not_of_boxes(void)
{
	struct tach__caller caller = {.derived = derived};
	struct tach_encode_options opt = options("skl");
	struct tach_event e = {0};

	opt.pmu = tach__npmus();
	CHECK(tach__event_encode("MY_CALLS", &opt, &caller, &e, NULL) == TACH_ERR_NOTFOUND);
}

/* ---- boxes, for strings without a prefix ---- */

static void boxes(void)
{
	int skl = pmu_named("skl");
	uint64_t boxes[TACH__BOX_WORDS] = {0};
	struct tach__caller caller = {.search = &skl, .nsearch = 1};
	struct tach_encode_options opt = options("skl");
	struct tach_event e = {0};

	CHECK(tach__event_encode("UNC_M_CAS_COUNT:RD", &opt, &caller, &e, NULL) ==
	      TACH_ERR_NOTFOUND);
	caller.boxes = boxes;
	CHECK(tach__event_encode("UNC_M_CAS_COUNT:RD", &opt, &caller, &e, NULL) ==
	      TACH_ERR_NOTFOUND);
	for (int i = 3; i > 1; i--) {
		int box = pmu_named(i == 3 ? "skx_unc_imc3" : "skx_unc_imc2");
		int bit = box - tach__npmus();

		boxes[bit / 64] |= 1ull << bit % 64;
		CHECK(tach__event_encode("UNC_M_CAS_COUNT:RD", &opt, &caller, &e, NULL) == 0 &&
			      e.pmu == box,
		      "%d: %s", i, e.name);
		CHECK(tach__event_encode("UNC_M_CAS_COUNT.RD", &opt, &caller, &e, NULL) == 0 &&
			      e.pmu == box,
		      "%d: %s", i, e.name);
		CHECK(tach__event_encode("INST_RETIRED:ANY_P", &opt, &caller, &e, NULL) == 0 &&
		      e.pmu == skl);
	}
}

static void other_machines(void)
{
	struct tach_encode_options opt = options("skl");
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_event e = {0};

	opt.any_pmu = 0;
	CHECK(tach_event_encode("hsw::INST_RETIRED:ANY_P", &opt, &e, &err) ==
			      TACH_ERR_NOTFOUND &&
		      err.column == 1 && !strcmp(err.text, "this machine's PMU is not hsw"),
	      "%d: %s", err.column, err.text);
	opt.pmu = pmu_named("hsw");
	CHECK(tach_event_encode("hsw::INST_RETIRED:ANY_P", &opt, &e, &err) == 0, "%s",
	      err.text);
	CHECK(tach_event_encode("INST_RETIRED:ANY_P", &opt, &e, &err) == 0 && e.pmu == opt.pmu);
}

/* tach_event_find only searches and checks. */
static void looked_up(void)
{
	struct tach_encode_options opt = options("skl");
	struct tach__work w;

	memset(&w, 0, sizeof w);
	CHECK(tach__lookup(&w, "BR_INST_RETIRED.NEAR_CALL:u", &opt) == 0);
	CHECK(w.got.pmu_number == pmu_named("skl") && w.out.ncodes == 0 && w.got.nrows == 0 &&
	      w.got.event_number == tach__event_find(w.got.pmu_number, "BR_INST_RETIRED", 15));
	CHECK(tach__lookup(&w, "skl::ICACHE_64B", &opt) == 0, "which umask is not asked");
	CHECK(tach__lookup(&w, "skl::INST_RETIRED:q", &opt) == TACH_ERR_ATTR);
	CHECK(tach__lookup(&w, "cpu/event=1/", &opt) == 0);
	CHECK(w.got.pmu_number == pmu_named("perf_raw") && w.got.event_number == -1);
}

int main(void)
{
	setenv("TACH_PMU", "nosuch", 1);
	CASE(candidates);
	CASE(callers_list);
	CASE(pmus_of_the_host_are_present);
	CASE(spellings);
	CASE(requests);
	CASE(vendors_names);
	CASE(derived_names);
	CASE(not_of_boxes);
	CASE(boxes);
	CASE(other_machines);
	CASE(looked_up);
	return check_done();
}
