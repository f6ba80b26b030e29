/* SPDX-License-Identifier: MIT */
/*
 * The counters of a RISC-V machine: by its devicetree, the extensions in /proc/cpuinfo and the
 * driver, of which Linux has two. This test describes the machine.
 */
#include <string.h>
#include "arch/riscv64/tree.h"
#include "core/os/kernel_files.h"
#include "core/port/port.h"
#include "tests/check.h"

static const char *cpuinfo[4];
static int by_firmware; /* set: the driver for the SBI PMU extension */
static int64_t tree_any, tree_one;
static int asked;
static enum tach__riscv_code asked_kind;
static uint64_t asked_code;

static void sim_file_lines(const char *root, const char *path,
			   int (*line)(void *context, const char *text), void *context)
{
	CHECK(!*root && strcmp(path, "/proc/cpuinfo") == 0, "%s%s", root, path);
	for (int i = 0; i < 4 && cpuinfo[i] && !line(context, cpuinfo[i]); i++)
		;
}

static int sim_file_exists(const char *root, const char *path)
{
	CHECK(!*root && strcmp(path, "/sys/bus/event_source/devices/cpu/format/event") == 0,
	      "%s%s", root, path);
	return by_firmware;
}

static int64_t sim_placed(const char *root, enum tach__riscv_code kind, uint64_t code)
{
	CHECK(!*root, "%s", root);
	asked++;
	asked_kind = kind;
	asked_code = code;
	return code == UINT64_MAX ? tree_any : tree_one;
}

#define tach__file_lines     sim_file_lines
#define tach__file_exists    sim_file_exists
#define tach__riscv64_placed sim_placed
#include "arch/riscv64/schedule.c"

/* CSR 0xc00 + n: cycle 0, time 1, instret 2, hpmcounters from 3 on. */
#define CSR(n)	    (UINT64_C(1) << (32 + (n)))
#define CYCLES	    CSR(0)
#define INSTRETS    CSR(2)
#define NO_COUNTERS CSR(1)
#define ALL_HPM	    UINT64_C(0xfffffff8)

static struct tach__machine machine;

static void begin(const char *isa, int64_t any)
{
	memset(cpuinfo, 0, sizeof cpuinfo);
	cpuinfo[0] = "processor\t: 0";
	cpuinfo[1] = isa;
	by_firmware = 1;
	tree_any = any;
	tree_one = -1;
}

static uint64_t counters(const char *pmu, int host)
{
	int n = tach__pmu_find(pmu, strlen(pmu));

	machine = (struct tach__machine){.host = (uint8_t)host, .pmu = n};
	tach__machine_riscv64(tach__pmu_at(n), host, &machine);
	return machine.counters;
}

static uint64_t wants(const struct tach_event *e)
{
	struct tach__want want = {0};

	tach__want_riscv64(&machine, e, &want);
	CHECK(want.shared == TACH__SHARED_NONE && !want.metrics && !want.value);
	return want.counters;
}

static uint64_t wants_perf(uint32_t type, uint64_t config)
{
	struct tach_event e = {.size = sizeof e, .pmu = -1, .event = -1};

	e.type = type;
	e.config = config;
	return wants(&e);
}

static uint64_t wants_code(const char *pmu, uint64_t code, uint64_t own)
{
	struct tach_event e = {.size = sizeof e, .event = 0, .ncodes = 1, .counters = own};

	e.pmu = tach__pmu_find(pmu, strlen(pmu));
	e.codes[0] = code;
	e.type = PERF_TYPE_SOFTWARE; /* not looked at */
	return wants(&e);
}

static void hpmcounters(void)
{
	begin("isa\t\t: rv64imafdc", -1);
	CHECK(counters("rv_p550", 0) == (CYCLES | INSTRETS | 0x78));
	CHECK(counters("rv_sbi", 0) == (CYCLES | INSTRETS | ALL_HPM));
	CHECK(asked == 0, "no other machine's tree is this one's");
	CHECK(counters("rv_p550", 1) == (CYCLES | INSTRETS | 0x78));
	CHECK(asked == 1 && asked_kind == TACH__RISCV_SBI && asked_code == UINT64_MAX);
	tree_any = 0x80000018;
	CHECK(counters("rv_p550", 1) == (CYCLES | INSTRETS | 0x80000018));
	tree_any = 0;
	CHECK(counters("rv_p550", 1) == (CYCLES | INSTRETS));
	by_firmware = 0;
	tree_any = 0x18;
	CHECK(counters("rv_p550", 1) == (CYCLES | INSTRETS), "%#llx",
	      (unsigned long long)machine.counters);
	CHECK(counters("rv_p550", 0) == (CYCLES | INSTRETS | 0x78));
}

/* Cycles and instructions have an hpmcounter only if that counter can overflow. */
static void own_counters(void)
{
	static const struct {
		const char *isa;
		int any;
	} machines[] = {
		{"isa\t\t: rv64imafdc_zicsr_sscofpmf_svinval", 1},
		{"isa\t\t: rv64imafdc_xandespmu", 1},
		{"isa\t\t: rv64imafdc", 0},
		{"hart isa\t: rv64imafdc_sscofpmf", 0},
	};

	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		begin(machines[i].isa, -1);
		cpuinfo[2] = "isa\t\t: rv64imafdc_sscofpmf"; /* the second hart's */
		if (i > 2)
			cpuinfo[2] = NULL;
		for (int host = 0; host < 2; host++) {
			uint64_t more;

			counters("rv_p550", host);
			more = machines[i].any && host ? 0x78 : 0;
			CHECK(wants_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) ==
				      (CYCLES | more),
			      "%zu", i);
			CHECK(wants_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) ==
				      (INSTRETS | more),
			      "%zu", i);
			CHECK(wants_code("rv_sbi", 1, 0) == (CYCLES | more), "%zu", i);
			CHECK(wants_code("rv_sbi", 2, 0) == (INSTRETS | more), "%zu", i);
		}
	}
}

/* The event by the devicetree's numbers: event_idx of the SBI PMU extension, or mhpmevent. */
static void words_of_the_tree(void)
{
#define ASKED(wanted, kind, code)                                                              \
	do {                                                                                   \
		uint64_t got;                                                                  \
		asked = 0;                                                                     \
		got = wanted;                                                                  \
		CHECK(got == 0x18 && asked == 1 && asked_kind == TACH__RISCV_##kind &&         \
			      asked_code == (code),                                            \
		      "%#llx, asked %d: %#llx", (unsigned long long)got, asked,                \
		      (unsigned long long)asked_code);                                         \
	} while (0)
	begin("isa\t\t: rv64imafdc", 0x78);
	counters("rv_p550", 1);
	tree_one = 0x18;
	ASKED(wants_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES), SBI, 4);
	ASKED(wants_perf(PERF_TYPE_HARDWARE, UINT64_C(0x500000005)), SBI, 6);
	/* cache << 3 | operation << 1 | result */
	ASKED(wants_perf(PERF_TYPE_HW_CACHE, 0x10000), SBI, 0x10001);
	ASKED(wants_perf(PERF_TYPE_HW_CACHE, 0x00103), SBI, 0x1001a);
	ASKED(wants_perf(PERF_TYPE_HW_CACHE, 0x10206), SBI, 0x10035);
	ASKED(wants_perf(PERF_TYPE_RAW, 1), RAW, 1);
	ASKED(wants_perf(PERF_TYPE_RAW, UINT64_C(0x7fffffffffffffff)), RAW,
	      UINT64_C(0x7fffffffffffffff));
	ASKED(wants_code("rv_sbi", 0x10009, 0), SBI, 0x10009);
	ASKED(wants_code("rv_p550", 2, 0), RAW, 2);
	ASKED(wants_code("rv_p550", UINT64_C(0xf0001), 0), RAW, 0xf0001);
}

/* Events of the firmware, and events that no CPU counts, need no counter. */
static void no_counter(void)
{
	begin("isa\t\t: rv64imafdc", 0x78);
	counters("rv_p550", 1);
	asked = 0;
	CHECK(wants_perf(PERF_TYPE_SOFTWARE, 1) == 0);
	CHECK(wants_perf(PERF_TYPE_RAW, UINT64_C(1) << 63 | 1) == 0);
	CHECK(wants_code("rv_sbi", 0xf0001, 0) == 0);
	CHECK(asked == 0);
}

/* Counters that devicetree, table and event allow together. */
static void allowed_counters_are_the_common_ones(void)
{
	begin("isa\t\t: rv64imafdc", 0x78);
	counters("rv_p550", 1);
	CHECK(wants_code("rv_p550", 2, 0) == 0x78);
	CHECK(wants_code("rv_p550", 2, 0x18) == 0x18);
	CHECK(wants_code("rv_p550", 2, 0x7) == 0x78, "no hpmcounter is named");
	tree_one = 0x60;
	CHECK(wants_code("rv_p550", 2, 0x38) == 0x20);
	CHECK(wants_code("rv_p550", 2, 0x18) == NO_COUNTERS);
	tree_one = 0;
	CHECK(wants_code("rv_p550", 2, 0) == NO_COUNTERS);
	CHECK(wants_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) == CYCLES);
	begin("isa\t\t: rv64imafdc_sscofpmf", 0x78);
	counters("rv_p550", 1);
	CHECK(wants_code("rv_sbi", 1, 0x10) == (CYCLES | 0x10));
	tree_one = 0x8;
	CHECK(wants_code("rv_sbi", 1, 0x10) == CYCLES);
	CHECK(wants_code("rv_sbi", 2, 0) == (INSTRETS | 0x8));
	/* A PMU of another machine has no devicetree here. */
	counters("rv_bullet", 0);
	asked = 0;
	CHECK(wants_code("rv_bullet", 2, 0) == 0x18 && asked == 0);
}

/*
 * Linux's older driver: any number of events can read the two counters, and there are no other
 * counters.
 */
static void older_driver(void)
{
	begin("isa\t\t: rv64imafdc_sscofpmf", -1);
	by_firmware = 0;
	counters("rv_sbi", 1);
	CHECK(wants_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) == 0);
	CHECK(wants_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) == 0);
	CHECK(wants_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES) == NO_COUNTERS);
	CHECK(wants_perf(PERF_TYPE_RAW, 1) == NO_COUNTERS);
}

int main(void)
{
	CASE(hpmcounters);
	CASE(own_counters);
	CASE(words_of_the_tree);
	CASE(no_counter);
	CASE(allowed_counters_are_the_common_ones);
	CASE(older_driver);
	return check_done();
}
