/* SPDX-License-Identifier: MIT */
/*
 * The counters that may count an event, found by its code: x86 (Intel SDM volume 3B,
 * "Architectural Performance Monitoring"; Linux arch/x86/events/intel/core.c,
 * intel_get_event_constraints) and arm64 (drivers/perf/arm_pmuv3.c). A table describes the
 * machine.
 */
#include <stdlib.h>
#include <string.h>
#include <tach/event.h>
#include <tach/pmu.h>
#include "core/port/port.h"
#include "tests/check.h"

#define FIXED(n) (UINT64_C(1) << (32 + (n)))
#define FIELD(n) (UINT64_C(1) << (48 + (n)))

static struct tach__machine machine;
static void (*want_of)(const struct tach__machine *m, const struct tach_event *event,
		       struct tach__want *want);

static void begin(const char *pmu)
{
	const struct tach__pmu *row;

	memset(&machine, 0, sizeof machine);
	machine.pmu = tach_pmu_find(pmu);
	row = tach__pmu_at(machine.pmu);
	if (row->arch == TACH__X86)
		tach__machine_x86(row, 0, &machine);
	else
		tach__machine_arm64(row, 0, &machine);
	want_of = row->arch == TACH__X86 ? tach__want_x86 : tach__want_arm64;
}

static struct tach__want perf(uint32_t type, uint64_t config)
{
	struct tach_event e = {.size = sizeof e, .pmu = tach_pmu_find("perf"), .event = -1};
	struct tach__want want = {0};

	e.type = type;
	e.config = config;
	want_of(&machine, &e, &want);
	return want;
}

static struct tach__want named(const char *string)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event e = {.size = sizeof e};
	struct tach__want want = {0};
	struct tach_error err = TACH_ERROR_INIT;

	opt.os = TACH_OS_PERF_EXT;
	opt.pmu = machine.pmu;
	CHECK(tach_event_encode(string, &opt, &e, &err) == 0, "%s: %s", string, err.text);
	want_of(&machine, &e, &want);
	return want;
}

/* Returns an event of this PMU that only these counters can count. */
static struct tach__want restricted(const char *pmu, uint64_t counters)
{
	struct tach_event e = {.size = sizeof e, .type = PERF_TYPE_RAW, .config = 0xffff};
	struct tach__want want = {0};

	e.pmu = tach_pmu_find(pmu);
	e.event = -1;
	e.counters = counters;
	want_of(&machine, &e, &want);
	return want;
}

#define IS(want, mask)                                                                         \
	do {                                                                                   \
		struct tach__want got = want;                                                  \
		CHECK(got.counters == (mask) && !got.shared && !got.value && !got.metrics,     \
		      "%#llx, not %#llx; %d %d", (unsigned long long)got.counters,             \
		      (unsigned long long)(mask), got.shared, got.metrics);                    \
	} while (0)

/*
 * perf's generic events: three of them have fixed counters; the third can use no other counter.
 */
static void generic_events(void)
{
	begin("spr");
	IS(perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), 0xff | FIXED(1));
	IS(perf(PERF_TYPE_HARDWARE, UINT64_C(0x400000000)), 0xff | FIXED(1)); /* a core type */
	IS(perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS), 0xff | FIXED(0));
	IS(perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES), FIXED(2));
	IS(perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES), 0xff);
	IS(perf(PERF_TYPE_HW_CACHE, 0xc0), 0xff);
	IS(perf(PERF_TYPE_HW_CACHE, 0x10000), 0xff);
	begin("p6"); /* which has none */
	IS(perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), 3);
	IS(perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS), 3);
}

/* Codes with options that no fixed counter has. */
static void options(void)
{
	static const uint64_t bits[] = {
		1 << 18,	   /* edge */
		1 << 23,	   /* invert */
		1 << 24,	   /* counter mask */
		UINT64_C(1) << 31, /* ... its last bit */
		UINT64_C(1) << 32, /* in a transaction */
		UINT64_C(1) << 33, /* ... checkpointed */
		UINT64_C(1) << 36, /* equal */
		UINT64_C(1) << 40, /* bits of the extended umask */
		UINT64_C(0x80) << 40,
	};

	begin("spr");
	IS(perf(PERF_TYPE_RAW, 0xc0), 0xff | FIXED(0));
	IS(perf(PERF_TYPE_RAW, 0x3c), 0xff | FIXED(1));
	IS(perf(PERF_TYPE_RAW, 0x300), FIXED(2));
	IS(perf(PERF_TYPE_RAW, 1 << 21 | 0x3c), 0xff | FIXED(1)); /* any thread */
	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
		IS(perf(PERF_TYPE_RAW, bits[i] | 0xc0), 0xff);
		IS(perf(PERF_TYPE_RAW, bits[i] | 0x3c), 0xff);
		for (int metric = 0; metric < 2; metric++) {
			struct tach__want want =
				perf(PERF_TYPE_RAW, bits[i] | (metric ? 0x8000 : 0x400));

			CHECK(!want.metrics && !(want.counters >> 32), "%zu: %#llx", i,
			      (unsigned long long)want.counters);
		}
	}
}

/* PERF_METRICS: event select 0, umasks 0x80 to 0x87, with the slots on the fourth counter. */
static void metrics(void)
{
	struct tach__want want;

	begin("spr");
	CHECK(machine.counters == (0xff | 0xfull << 32 | 0xffull << 48));
	want = perf(PERF_TYPE_RAW, 0x400);
	CHECK(want.counters == FIXED(3) && want.metrics == 2);
	for (int i = 0; i < 8; i++) {
		want = perf(PERF_TYPE_RAW, 0x8000 | (uint64_t)i << 8);
		CHECK(want.counters == FIELD(i) && want.metrics == 1, "%d: %#llx", i,
		      (unsigned long long)want.counters);
	}
	IS(perf(PERF_TYPE_RAW, 0x8001), 0xff);
	IS(perf(PERF_TYPE_RAW, 0x7f00), 0xff);
	want = named("TOPDOWN_M:SLOTS");
	CHECK(want.counters == FIXED(3) && want.metrics == 2);
	want = named("TOPDOWN_M:BACKEND_BOUND");
	CHECK(want.counters == FIELD(3) && want.metrics == 1);
	begin("skl");
	CHECK(machine.counters == (0xf | 7ull << 32), "no metrics, no fields");
}

/* Restrictions that come from the table. */
static void tables(void)
{
	begin("spr");
	/*
	 * A general counter cannot count a pseudo code. If the fixed counter is absent, no
	 * counter can count such an event.
	 */
	IS(named("INST_RETIRED:PREC_DIST"), FIXED(0));
	machine.counters &= ~FIXED(0);
	IS(named("INST_RETIRED:PREC_DIST"), FIXED(0));
	begin("lnl_skt"); /* on this PMU the event has its own code */
	IS(named("TOPDOWN_BAD_SPECULATION:ALL"), 0xff | FIXED(4));
	machine.counters &= ~FIXED(4);
	IS(named("TOPDOWN_BAD_SPECULATION:ALL"), 0xff);
	begin("spr");
	IS(named("INST_RETIRED:ANY_P"), 0xff | FIXED(0));
	begin("hsw");
	IS(named("L1D_PEND_MISS:PENDING"), 4);
	IS(named("CPU_CLK_UNHALTED:THREAD_P"), 0xf | FIXED(1));
	IS(named("CPU_CLK_UNHALTED:THREAD_P:c=1"), 0xf);
	machine.counters |= 0xf0; /* hyper-threading is off */
	IS(named("INST_RETIRED:ANY_P"), 0xff | FIXED(0));
	IS(named("L1D_PEND_MISS:PENDING"), 4);
	IS(perf(PERF_TYPE_RAW, 0x148), 4);
	IS(perf(PERF_TYPE_RAW, 0x5148), 0xff);
	begin("skl"); /* an event of another PMU, with any restrictions in its table */
	IS(perf(PERF_TYPE_RAW, 0x1ff), 0xf);
	machine.counters = 3 | FIXED(0);
	IS(named("UNHALTED_CORE_CYCLES"), 3);
	begin("amd64_fam19h_zen4");
	IS(named("RETIRED_INSTRUCTIONS"), 0x3f);
	IS(perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), 0x3f);
	IS(restricted("amd64_fam19h_zen4", 0x15), 0x15);
	IS(restricted("amd64_fam19h_zen4", 0x40), 0x3f);
	IS(restricted("amd64_fam17h_zen2", 0x15), 0x3f);
	begin("skl");
	IS(restricted("skl", 0x12), 2);
	IS(restricted("skl", 0), 0xf);
	IS(restricted("hsw", 2), 0xf);
}

/* Registers besides the counters, and how many there are. */
static void shared_registers(void)
{
	static const struct {
		const char *pmu, *event;
		enum tach__shared shared;
		uint64_t value;
	} events[] = {
		{"skl", "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30", TACH__SHARED_LDLAT, 30},
		{"skl", "FRONTEND_RETIRED:L1I_MISS", TACH__SHARED_FRONTEND, 0x12},
		{"skl", "OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE", TACH__SHARED_OFFCORE,
		 0x10002},
		{"skl", "INST_RETIRED:ANY_P", TACH__SHARED_NONE, 0},
	};
	static const struct {
		const char *pmu;
		int offcore;
	} pmus[] = {{"skl", 2},	 {"nhm", 1}, {"wsm", 2}, {"spr", 2},
		    {"core", 1}, {"glp", 2}, {"slm", 2}};

	for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
		struct tach__want want;

		begin(events[i].pmu);
		want = named(events[i].event);
		CHECK(want.shared == events[i].shared && want.value == events[i].value,
		      "%s: %d %#llx", events[i].event, want.shared,
		      (unsigned long long)want.value);
	}
	for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++) {
		begin(pmus[i].pmu);
		CHECK(machine.nshared[TACH__SHARED_OFFCORE] == pmus[i].offcore &&
			      machine.nshared[TACH__SHARED_LDLAT] == 1 &&
			      machine.nshared[TACH__SHARED_FRONTEND] == 1,
		      "%s: %d", pmus[i].pmu, machine.nshared[TACH__SHARED_OFFCORE]);
	}
	begin("amd64_fam19h_zen4");
	CHECK(!machine.nshared[TACH__SHARED_OFFCORE] && !machine.nshared[TACH__SHARED_LDLAT]);
}

/*
 * The cycle counter only counts cycles (event 0x11); Apple's cycle counter is one of ten
 * counters.
 */
static void arm64(void)
{
	begin("arm_n1");
	CHECK(machine.counters == (0x3f | FIXED(0)) && machine.watchdog == 0);
	IS(perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), 0x3f | FIXED(0));
	IS(perf(PERF_TYPE_HARDWARE, 0x11), 0x3f);
	IS(perf(PERF_TYPE_RAW, 0x11), 0x3f | FIXED(0));
	IS(perf(PERF_TYPE_RAW, 0x10011), 0x3f | FIXED(0)); /* the event has 16 bits */
	IS(perf(PERF_TYPE_RAW, 0x8011), 0x3f);
	IS(perf(PERF_TYPE_HW_CACHE, 0x11), 0x3f);
	IS(perf(PERF_TYPE_HW_CACHE, 0), 0x3f);
	IS(perf(PERF_TYPE_RAW, 0x12), 0x3f);
	IS(named("CPU_CYCLES"), 0x3f | FIXED(0));
	IS(named("INST_RETIRED"), 0x3f);
	begin("apple_firestorm");
	CHECK(machine.counters == 0x3ff, "%#llx", (unsigned long long)machine.counters);
	IS(named("INST_ALL"), 0x82);
	IS(restricted("apple_firestorm", 0x21), 0x21);
	IS(perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), 0x3ff);
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	CASE(generic_events);
	CASE(options);
	CASE(metrics);
	CASE(tables);
	CASE(shared_registers);
	CASE(arm64);
	return check_done();
}
