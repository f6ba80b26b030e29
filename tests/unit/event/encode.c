/* SPDX-License-Identifier: MIT */
/*
 * The public functions for encoding: options, sizes, spellings, refusals and their
 * explanations.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "tests/check.h"

static struct tach_encode_options options(enum tach_os os)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = os;
	opt.host = "skl";
	opt.sysfs = "/nonexistent";
	opt.tracefs = "/nonexistent";
	return opt;
}

static uint64_t config_of(const char *string)
{
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);
	struct tach_event e = {0};
	struct tach_error err = TACH_ERROR_INIT;
	int rc = tach_event_encode(string, &opt, &e, &err);

	CHECK(rc == 0, "%s: %s", string, err.text);
	return e.config;
}

static void spellings(void)
{
	static const struct {
		const char *string;
		uint64_t config;
	} same[] = {
		{"skl::BR_INST_RETIRED:NEAR_CALL", 0x2c4},
		{"skl::br_inst_retired.near_call", 0x2c4},
		{"BR_INST_RETIRED.NEAR_CALL", 0x2c4},
		{"skl::BR_INST_RETIRED:0x2", 0x2c4},
		{"CPU_CLK_UNHALTED.THREAD_P", 0x3c},
		{"CPU_CLK_UNHALTED.THREAD_P:u", 0x3c},
		{"amd64_fam19h_zen3::ls_locks.bus_lock", 0x125},
		{"cycles", 0},
		{"instructions:u", 1},
		{"L1-dcache-load-misses", 0x10000},
		{"context-switches", 3},
		{"r01c2", 0x1c2},
		{"cpu/event=0xc0,umask=1/", 0x1c0},
		{"cpu/event=0xc0,umask=1,name=x/u", 0x1c0},
		{"cpu/config=0x1c0/ku", 0x1c0},
		{"armv8_pmuv3_0/event=0x11/", 0x11},
		{"skl::INST_RETIRED:ANY_P,cycles", 0xc0},
	};

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		CHECK(config_of(same[i].string) == same[i].config, "%s", same[i].string);
}

/* Linux finds a fixed counter by the event's own config, not by the pseudo code. */
static void fixed_counters(void)
{
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);
	struct tach_event e = {0};

	CHECK(config_of("adl_grt::CPU_CLK_UNHALTED:CORE") == 0x3c);
	CHECK(config_of("atom::CPU_CLK_UNHALTED.CORE") == 0x3c);
	CHECK(config_of("atom::CPU_CLK_UNHALTED.REF") == 0x300);
	opt.flags = TACH_ENCODE_LIBPFM4;
	CHECK(tach_event_encode("adl_grt::CPU_CLK_UNHALTED:CORE", &opt, &e, NULL) == 0 &&
	      e.config == 0x200);
}

/* The value of a register besides the event select register goes to perf's second field. */
static void second_words(void)
{
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);
	struct tach_event e = {0};

	CHECK(tach_event_encode("skl::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30", &opt, &e,
				NULL) == 0 &&
		      e.config1 == 30 && e.has & TACH_EVENT_HAS_CONFIG1,
	      "%#llx", (unsigned long long)e.config1);
	CHECK(tach_event_encode("skl::UOPS_ISSUED:ANY", &opt, &e, NULL) == 0 && !e.config1 &&
	      !(e.has & (TACH_EVENT_HAS_CONFIG1 | TACH_EVENT_HAS_CONFIG2)));
}

/* EVENT.UMASK is the vendor's (and perf's) spelling, EVENT:UMASK libpfm-4's. */
static void vendors_meaning(void)
{
	static const struct {
		const char *string;
		uint64_t config;
	} means[] = {
		{"hsw::uops_retired.total_cycles", 0x108001c2},
		{"hsw::UOPS_RETIRED:TOTAL_CYCLES", 0xa8001c2},
		{"skx::UOPS_RETIRED.TOTAL_CYCLES:u", 0x108002c2},
		{"skx::UOPS_RETIRED.STALL_CYCLES", 0x18002c2},
		{"skx::UOPS_RETIRED:STALL_CYCLES", 0x18001c2},
		{"adl_glc::TOPDOWN.BACKEND_BOUND_SLOTS", 0x2a4},
		{"adl_glc::TOPDOWN:BACKEND_BOUND_SLOTS", 0x8300},
		{"adl_glc::PERF_METRICS.HEAVY_OPERATIONS", 0x8400},
		{"mtl_rwc::TOPDOWN_M:FRONTEND_BOUND", 0x8200},
		{"spr::perf_metrics.retiring", 0x8000},
		{"lnl_lnc::LSD.UOPS:c=8:i:eq", 0x10088001a8},
		{"cpu/event=0xa8,umask=1,eq=1/", 0x10000001a8},
		/*
		 * The code differs from the vendor's list, which contradicts its own
		 * description of the event.
		 */
		{"skx::FP_ARITH_INST_RETIRED.8_FLOPS", 0x60c7},
		{"clx::FP_ARITH_INST_RETIRED.8_FLOPS", 0x60c7},
		{"atom::PAGE_WALKS.D_SIDE_WALKS", 0x4010c},
		{"atom::PAGE_WALKS.I_SIDE_WALKS", 0x4020c},
		{"atom::PAGE_WALKS.D_SIDE_CYCLES", 0x10c},
		{"atom::UOPS_RETIRED.STALLED_CYCLES", 0x18010c2},
		{"atom::UOPS_RETIRED.STALLS", 0x18410c2},
	};
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);
	struct tach_event e = {0};

	for (size_t i = 0; i < sizeof means / sizeof *means; i++)
		CHECK(config_of(means[i].string) == means[i].config, "%s: 0x%llx",
		      means[i].string, (unsigned long long)config_of(means[i].string));
	/* With this flag both spellings give libpfm-4's code. */
	opt.flags = TACH_ENCODE_LIBPFM4;
	CHECK(tach_event_encode("skx::UOPS_RETIRED.STALL_CYCLES", &opt, &e, NULL) == 0 &&
		      e.config == 0x18001c2,
	      "0x%llx", (unsigned long long)e.config);
}

/* Tests perf's modifiers written as one word; libpfm-4 does not know them. */
static void perfs_letters(void)
{
	/* Linux's own event names, on a machine that has PERF_METRICS. */
	static const struct {
		const char *name;
		uint64_t config;
	} slots[] =
		{
			{"slots", 0x400},
			{"topdown-retiring", 0x8000},
			{"topdown-bad-spec", 0x8100},
			{"topdown-fe-bound", 0x8200},
			{"topdown-be-bound", 0x8300},
			{"topdown-heavy-ops:u", 0x8400},
			{"topdown-br-mispredict/name=x/u", 0x8500},
			{"topdown-mem-bound", 0x8700},
		},
	  older[] = {
		  {"topdown-total-slots", 0x3c},
		  {"topdown-slots-issued", 0x10e},
		  {"topdown-slots-retired", 0x2c2},
		  {"topdown-fetch-bubbles", 0x19c},
	  };
	static const char *const terms[][2] = {
		{"cycles/name=x/", "cycles"},
		{"cycles/name='a,b:c=1',period=1000/uk", "cycles:period=1000:uk"},
		{"instructions/freq=99/:k", "instructions:freq=99:k"},
		{"cpu/event=0xc0,name='x,y'/uPSWI", "cpu/event=0xc0/u"},
		{"r1c2/name=x/u", "r1c2:u"},
		{"skl::INST_RETIRED.ANY_P/name=x/k", "skl::INST_RETIRED:ANY_P:k"},
		{"cpu/event=0xc0/upp", "cpu/event=0xc0/:u:precise=2"},
	};
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_event e = {0};

	CHECK(tach_event_encode("cycles:uk", &opt, &e, &err) == 0 && !e.exclude_user &&
		      !e.exclude_kernel,
	      "%s", err.text);
	CHECK(tach_event_encode("cycles:k", &opt, &e, &err) == 0 && e.exclude_user, "%s",
	      err.text);
	CHECK(tach_event_encode("cycles:upp", &opt, &e, &err) == 0 && e.precise == 2 &&
		      !e.exclude_user && e.exclude_kernel,
	      "%s: %d", err.text, e.precise);
	CHECK(tach_event_encode("skl::MEM_LOAD_RETIRED:L1_HIT:ppp", &opt, &e, &err) == 0 &&
		      e.precise == 3,
	      "%s: %d", err.text, e.precise);
	CHECK(tach_event_encode("instructions:uD", &opt, &e, &err) == 0 && e.pinned == 1, "%s",
	      err.text);
	CHECK(tach_event_encode("cycles:GH", &opt, &e, &err) == 0 && !e.exclude_host &&
		      !e.exclude_guest,
	      "%s", err.text);
	CHECK(tach_event_encode("cycles:G", &opt, &e, &err) == 0 && e.exclude_host, "%s",
	      err.text);
	CHECK(tach_event_encode("cycles:uPSWI", &opt, &e, &err) == 0 && e.exclude_kernel, "%s",
	      err.text);
	CHECK(tach_event_encode("cycles:pppp", &opt, &e, &err) == TACH_ERR_ATTR, "%s",
	      err.text);
	CHECK(tach_event_encode("cycles:ux", &opt, &e, &err) == TACH_ERR_ATTR, "%s", err.text);
	CHECK(tach_event_encode("context-switches:p", &opt, &e, &err) == TACH_ERR_ATTR, "%s",
	      err.text);
	/* The letter i keeps the meaning of the hardware modifier if the PMU has one. */
	CHECK(tach_event_encode("skl::UOPS_ISSUED:ANY:c=1:I", &opt, &e, &err) == 0 &&
		      e.config == 0x180010e,
	      "%s: %#llx", err.text, (unsigned long long)e.config);
	for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
		struct tach_event other = {0};

		CHECK(tach_event_encode(terms[i][0], &opt, &e, &err) == 0 &&
			      tach_event_encode(terms[i][1], &opt, &other, NULL) == 0 &&
			      e.config == other.config && e.type == other.type &&
			      e.exclude_kernel == other.exclude_kernel &&
			      e.exclude_user == other.exclude_user &&
			      e.period == other.period && e.precise == other.precise,
		      "%s: %s", terms[i][0], err.text);
	}
	CHECK(tach_event_encode("cycles/bogus/u", &opt, &e, &err) == TACH_ERR_NOTFOUND, "%s",
	      err.text);
	CHECK(tach_event_encode("cyclez/name=x/u", &opt, &e, &err) == TACH_ERR_NOTFOUND &&
		      strstr(err.text, "CYCLES") && err.column == 1,
	      "%d: %s", err.column, err.text);
	CHECK(tach_event_encode("cycles/name=x/ux", &opt, &e, &err) == TACH_ERR_ATTR &&
		      err.column == 7,
	      "%d: %s", err.column, err.text);
	opt.host = "spr";
	CHECK(tach_event_encode("slots", &opt, &e, &err) == 0 && e.config == 0x400, "%s",
	      err.text);
	CHECK(tach_event_encode("topdown-fetch-lat", &opt, &e, &err) == 0 && e.config == 0x8600,
	      "%s", err.text);
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
		CHECK(tach_event_encode(slots[i].name, &opt, &e, &err) == 0 &&
			      e.config == slots[i].config,
		      "%s: %#llx %s", slots[i].name, (unsigned long long)e.config, err.text);
	opt.host = "skl";
	CHECK(tach_event_encode("topdown-recovery-bubbles", &opt, &e, &err) == 0 &&
		      e.config == 0x100030d,
	      "%s", err.text);
	for (size_t i = 0; i < sizeof older / sizeof *older; i++)
		CHECK(tach_event_encode(older[i].name, &opt, &e, &err) == 0 &&
			      e.config == older[i].config,
		      "%s: %#llx %s", older[i].name, (unsigned long long)e.config, err.text);
	opt.flags = TACH_ENCODE_LIBPFM4;
	CHECK(tach_event_encode("skl::INST_RETIRED:ANY_P:uk", &opt, &e, &err) == TACH_ERR_ATTR,
	      "%s", err.text);
}

static void refusals(void)
{
	static const struct {
		const char *string;
		int code, column;
		const char *says;
	} refused[] = {
		{"skl::INST_RETIRED:ANY_Q:u", TACH_ERR_ATTR, 19, "did you mean ANY_P?"},
		{"skll::FOO", TACH_ERR_NOTFOUND, 1, "did you mean skl?"},
		{"skl::INST_RETIREX", TACH_ERR_NOTFOUND, 6, "did you mean skl::INST_RETIRED?"},
		{"cyclse", TACH_ERR_NOTFOUND, 1, "CYCLES"},
		{"skl::INST_RETIRED:ANY_P :u", TACH_ERR_SYNTAX, 24, "blank"},
		{"skl::INST_RETIRED:ANY_P,a b", TACH_ERR_SYNTAX, 26, "blank"},
		{"skl::INST_RETIRED:ANY_P:c=300", TACH_ERR_ATTR_VALUE, 25, "0 .. 255"},
		{"skl::INST_RETIRED:ANY_P:c", TACH_ERR_ATTR_VALUE, 25, "number"},
		{"skl::INST_RETIRED:ANY_P:u=2", TACH_ERR_ATTR_VALUE, 25, "y t 1 n f 0"},
		{"skl::INST_RETIRED:ANY_P:u:u=0", TACH_ERR_ATTR_SET, 27, "another value"},
		{"skl::INST_RETIRED:ANY_P:u:u:u=0", TACH_ERR_ATTR_SET, 29, "another value"},
		{"skl::INST_RETIRED:", TACH_ERR_ATTR, 19, "expected"},
		{"skl::BR_INST_RETIRED:NEAR_CALL:NEAR_TAKEN", TACH_ERR_FEATCOMB, 32,
		 "combined"},
		{"skl::ICACHE_64B", TACH_ERR_UMASK, 0, "IFTAG_HIT"},
		{"skl::INST_RETIRED:0x100", TACH_ERR_ATTR, 19, "8 bits"},
		{"skl::INST_RETIRED:period=1:freq=1", TACH_ERR_ATTR_VALUE, 28, "not both"},
		{"cpu/event=0xc0", TACH_ERR_SYNTAX, 15, "'/'"},
		{"cpu/nosuch=1/", TACH_ERR_ATTR, 5, "nosuch"},
		{"cpu/event=0x100/", TACH_ERR_ATTR_VALUE, 5, "config:0-7"},
		{"nosuch/event=1/", TACH_ERR_NOTFOUND, 1, "nosuch"},
		{"cpu/event=1/q", TACH_ERR_ATTR, 13, "letters"},
		{"itanium2::CPU_CYCLES", TACH_ERR_NOTSUPP, 1, "perf_event"},
		{"", TACH_ERR_NOTFOUND, 1, ""},
		{"::", TACH_ERR_NOTFOUND, 1, ""},
	};
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e, before;
		int rc;

		memset(&e, 0x5a, sizeof e);
		e.size = sizeof e;
		before = e;
		rc = tach_event_encode(refused[i].string, &opt, &e, &err);
		CHECK(rc == refused[i].code && err.code == rc, "%s: %s", refused[i].string,
		      tach_strerror(rc));
		CHECK(err.column == refused[i].column && strstr(err.text, refused[i].says),
		      "%s: column %d: %s", refused[i].string, err.column, err.text);
		CHECK(memcmp(&e, &before, sizeof e) == 0, "%s wrote", refused[i].string);
	}
}

static void bounds(void)
{
	struct tach_encode_options opt = options(TACH_OS_NONE);
	struct tach_event e = {0};
	char string[4096] = "skl::BR_INST_RETIRED";

	CHECK(tach_event_encode(NULL, NULL, &e, NULL) == TACH_ERR_INVAL);
	CHECK(tach_event_encode("cycles", NULL, NULL, NULL) == TACH_ERR_INVAL);
	CHECK(tach_event_encode("cycles", NULL, &e, NULL) == 0);
	e.size = 7;
	CHECK(tach_event_encode("cycles", NULL, &e, NULL) == TACH_ERR_INVAL);
	e.size = 0;
	opt.size = 3;
	CHECK(tach_event_encode("cycles", &opt, &e, NULL) == TACH_ERR_INVAL);
	opt.size = 0;
	opt.privilege = 0x20;
	CHECK(tach_event_encode("cycles", &opt, &e, NULL) == TACH_ERR_INVAL);
	opt.privilege = 0;
	CHECK(tach_event_encode("cycles", &opt, &e, NULL) == 0);
	opt.os = (enum tach_os)3;
	CHECK(tach_event_encode("cycles", &opt, &e, NULL) == TACH_ERR_NOTSUPP);
	opt.os = TACH_OS_NONE;
	opt.pmu = tach_pmu_count() + tach_pmu_uncore_count();
	CHECK(tach_event_encode("cycles", &opt, &e, NULL) == TACH_ERR_INVAL);
	opt.pmu = -1;
	for (int i = 0; i < 70; i++)
		strcat(string, ":NEAR_CALL");
	CHECK(tach_event_encode(string, &opt, &e, NULL) == TACH_ERR_TOOMANY);
}

static void pmu_choice(void)
{
	struct tach_encode_options opt = options(TACH_OS_NONE);
	struct tach_event e = {0};

	opt.any_pmu = 0;
	CHECK(tach_event_encode("skl::INST_RETIRED", &opt, &e, NULL) == 0, "it is the host's");
	CHECK(tach_event_encode("hsw::INST_RETIRED", &opt, &e, NULL) == TACH_ERR_NOTFOUND);
	opt.pmu = tach_pmu_find("arm_n1");
	CHECK(tach_event_encode("CPU_CYCLES", &opt, &e, NULL) == 0 && e.pmu == opt.pmu);
	CHECK(tach_event_encode("cycles", &opt, &e, NULL) == 0 &&
		      e.pmu == tach_pmu_find("perf"),
	      "perf's names are everywhere");
	opt.host = "";
	opt.pmu = -1;
	CHECK(tach_event_encode("INST_RETIRED", &opt, &e, NULL) == TACH_ERR_NOTFOUND);
}

/* Writes only the fields that the event decides. */
static void attr_fields(void)
{
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);
	struct tach_event e = {0};
	struct perf_event_attr attr, before;

	memset(&attr, 0xa5, sizeof attr);
	attr.size = sizeof attr;
	attr.freq = 0;
	before = attr;
	CHECK(tach_event_encode("skl::INST_RETIRED:ANY_P:u", &opt, &e, NULL) == 0);
	CHECK(tach_event_attr(&e, &attr) == 0);
	CHECK(attr.type == 4 && attr.config == 0xc0 && attr.config1 == before.config1 &&
	      attr.exclude_kernel && !attr.exclude_user && attr.exclude_guest && !attr.pinned &&
	      attr.sample_period == before.sample_period && attr.size == before.size &&
	      attr.read_format == before.read_format && attr.inherit == before.inherit &&
	      attr.exclusive == before.exclusive);
	CHECK(tach_event_encode("skl::INST_RETIRED:ANY_P:freq=100:pinned", &opt, &e, NULL) ==
	      0);
	CHECK(tach_event_attr(&e, &attr) == TACH_ERR_ATTR_VALUE, "a period is there already");
	attr.sample_period = 0;
	CHECK(tach_event_attr(&e, &attr) == 0 && attr.freq && attr.sample_freq == 100 &&
	      attr.pinned);
	CHECK(tach_event_attr(NULL, &attr) == TACH_ERR_INVAL);
	CHECK(tach_event_attr(&e, NULL) == TACH_ERR_INVAL);
}

static void errno_is_kept(void)
{
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);
	struct tach_event e = {0};

	errno = ERANGE;
	(void)!tach_event_encode("sched:sched_switch", &opt, &e, NULL);
	(void)!tach_event_encode("adl_glc::INST_RETIRED:ANY", &opt, &e, NULL);
	CHECK(tach_event_encode("r1234", &opt, &e, NULL) == 0);
	CHECK(errno == ERANGE, "%d", errno);
}

/* All threads share one memory location for each core type's number, and must agree. */
static void *hammer(void *failures)
{
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);
	long bad = 0;

	opt.sysfs = NULL;
	for (int i = 0; i < 2000; i++) {
		struct tach_event a = {0}, b = {0};

		bad += tach_event_encode("adl_glc::BR_INST_RETIRED:NEAR_CALL:u", &opt, &a,
					 NULL) != 0;
		bad += tach_event_encode("adl_glc::BR_INST_RETIRED:NEAR_CALL:u", &opt, &b,
					 NULL) != 0;
		bad += memcmp(&a, &b, offsetof(struct tach_event, name)) != 0;
	}
	*(long *)failures = bad;
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];
	long bad[4] = {0};

	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&thread[i], NULL, hammer, &bad[i]) == 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		CHECK(bad[i] == 0);
	}
}

int main(void)
{
	CASE(spellings);
	CASE(fixed_counters);
	CASE(second_words);
	CASE(vendors_meaning);
	CASE(perfs_letters);
	CASE(refusals);
	CASE(bounds);
	CASE(pmu_choice);
	CASE(attr_fields);
	CASE(errno_is_kept);
	CASE(threads);
	return check_done();
}
