/* SPDX-License-Identifier: MIT */
/*
 * RISC-V: the counters that an event may use, by tables and by devicetrees. The devicetrees are
 * folders in Linux's format, with content for real chips from
 * Documentation/devicetree/bindings/perf/riscv,pmu.yaml and arch/riscv/boot/dts.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tach/pmu.h>
#include <tach/schedule.h>
#include "arch/riscv64/tree.h"
#include "tests/check.h"
#include "tests/root.h"

#define BASE	"/sys/firmware/devicetree/base"
#define ANY_ONE UINT64_MAX

static char root[] = "/tmp/tach-tree-XXXXXX";

static void put(const char *path, const void *bytes, size_t size)
{
	FILE *to = root_file(root, path);

	CHECK(to && fwrite(bytes, 1, size, to) == size && fclose(to) == 0, "%s", path);
}

static void cells(const char *name, const uint32_t *cell, int n)
{
	uint32_t big[64];

	for (int i = 0; i < n; i++)
		big[i] = htobe32(cell[i]);
	put(name, big, (size_t)n * sizeof *big);
}

#define PLACED(kind, code, want)                                                               \
	do {                                                                                   \
		int64_t got = tach__riscv64_placed(root, TACH__RISCV_##kind, code);            \
		CHECK(got == (want), "%#llx: %#llx, not %#llx", (unsigned long long)(code),    \
		      (unsigned long long)got, (unsigned long long)(int64_t)(want));           \
	} while (0)

static void without_a_tree_nothing_is_known(void)
{
	root_wipe(root);
	PLACED(SBI, 3, -1);
	PLACED(RAW, 0x202, -1);
	PLACED(SBI, ANY_ONE, -1);
	put(BASE "/compatible", "riscv-virtio", 13);
	PLACED(SBI, 3, -1);
	PLACED(SBI, ANY_ONE, -1);
}

/* EIC7700 (P550): cycles and instructions have their own counters, other events any of four. */
static void trees_tell_by_event_and_by_selector(void)
{
	static const uint32_t events[] = {0x1,	   0x1,	 0x1,	  0x2,	   0x2,
					  0x4,	   0x4,	 0x6,	  0x78,	   0x10009,
					  0x10009, 0x18, 0x10009, 0x1000a, 0x60};
	static const uint32_t codes[] = {0,   0,   0xffffffff, 0xfc0000ff, 0x78,
					 0,   1,   0xffffffff, 0xfffe07ff, 0x18,
					 0x1, 0x2, 0xff,       0xffffffff, 0x80000008};

	for (int i = 0; i < 2; i++) {
		root_wipe(root);
		cells(i ? BASE "/pmu/riscv,event-to-mhpmcounters"
			: BASE "/soc/pmu/riscv,event-to-mhpmcounters",
		      events, 15);
		PLACED(RAW, 0x100, -1);
		cells(i ? BASE "/pmu/riscv,raw-event-to-mhpmcounters"
			: BASE "/soc/pmu/riscv,raw-event-to-mhpmcounters",
		      codes, 15);
		PLACED(SBI, 0x1, 0); /* the fixed counters are not among them */
		PLACED(SBI, 0x4, 0x78);
		PLACED(SBI, 0x6, 0x78);
		PLACED(SBI, 0x7, 0);
		PLACED(SBI, 0x3, 0);
		PLACED(SBI, 0x10009, 0x78);
		PLACED(SBI, 0x1000a, 0x60);
		PLACED(RAW, 0x3ffff00, 0x78);
		PLACED(RAW, 0x4000000, 0);
		PLACED(RAW, 0x801, 0x18);
		PLACED(RAW, 0x1001, 0x18);
		PLACED(RAW, UINT64_C(0xab00000002), 0);
		PLACED(RAW, UINT64_C(0xab0100000002), 0x80000008);
		PLACED(RAW, UINT64_C(0x100000002), 0x80000008);
		PLACED(SBI, ANY_ONE, 0x80000078);
	}
}

/* A property that is cut off or too long has only the content that fits. */
static void hostile_trees(void)
{
	static const uint32_t cut[] = {3, 3, 0x8, 4, 4};
	static const uint32_t whole[] = {3, 3, 0x8, 4, 4, 0x20, 5, 5, 0x40, 0x80, 0x80, 0x8};
	static const uint32_t cut_raw[] = {0, 1, 0xffffffff, 0xffffffff, 0x10, 0, 2, 0, 0};
	uint32_t *many = calloc(5000, sizeof *many);

	root_wipe(root);
	cells(BASE "/pmu/riscv,event-to-mhpmcounters", cut, 5);
	PLACED(SBI, 3, 8);
	PLACED(SBI, 4, 0);
	put(BASE "/pmu/riscv,event-to-mhpmcounters", "abc", 3);
	PLACED(SBI, 3, 0);
	put(BASE "/pmu/riscv,event-to-mhpmcounters", many, 5000 * sizeof *many);
	PLACED(SBI, 3, 0);
	/* If one property is truncated, its row does not get data of another. */
	root_wipe(root);
	cells(BASE "/pmu/riscv,event-to-mhpmcounters", whole, 12);
	cells(BASE "/pmu/riscv,raw-event-to-mhpmcounters", cut_raw, 9);
	PLACED(SBI, ANY_ONE, 0x78);
	cells(BASE "/pmu/riscv,raw-event-to-mhpmcounters", cut_raw, 4);
	PLACED(SBI, ANY_ONE, 0x68);
	PLACED(RAW, 1, 0);
	cells(BASE "/pmu/riscv,event-to-mhpmcounters", whole, 2);
	PLACED(SBI, ANY_ONE, 0);
	root_wipe(root);
	put(BASE "/pmu/riscv,event-to-mhpmcounters/x", "", 0); /* a folder */
	PLACED(SBI, 3, -1);
	put(BASE "/compatible", "unended", 7);
	PLACED(SBI, 3, -1);
	free(many);
}

/* Each property is sufficient by itself. */
static void trees_with_one_property(void)
{
	static const uint32_t events[] = {3, 3, 0x18, 4, 6, 0x8000000f};
	static const uint32_t codes[] = {0, 1, 0, 0xff, 0xffffffff};

	root_wipe(root);
	cells(BASE "/pmu/riscv,event-to-mhpmcounters", events, 6);
	PLACED(SBI, ANY_ONE, 0x80000018);
	PLACED(SBI, 3, 0x18);
	PLACED(SBI, 5, 0x80000008);
	PLACED(SBI, 2, 0);
	PLACED(RAW, 3, -1);
	root_wipe(root);
	cells(BASE "/soc/pmu/riscv,raw-event-to-mhpmcounters", codes, 5);
	PLACED(SBI, ANY_ONE, 0xfffffff8);
	PLACED(RAW, 0x101, 0xfffffff8);
	PLACED(RAW, 0x102, 0);
	PLACED(SBI, 3, -1);
}

/* sun20i-d1s.dtsi: these events of the SBI, with these codes; code n is on counter n + 2. */
static void every_event_of_the_d1(void)
{
	static const uint32_t events[][2] = {
		{0x3, 0x1},	{0x4, 0x2},	{0x5, 0x7},	{0x6, 0x6},	{0x10000, 0xc},
		{0x10001, 0xd}, {0x10002, 0xe}, {0x10003, 0xf}, {0x10019, 0x4}, {0x10021, 0x3},
	};
	size_t next = 0;

	root_wipe(root);
	put(BASE "/compatible", "allwinner,sun20i-d1", 20);
	for (uint32_t event = 0; event < 0x10040; event += event == 0x40 ? 0xffc0 : 1) {
		int known = next < 10 && events[next][0] == event;

		PLACED(SBI, event, known ? 1 << (events[next][1] + 2) : 0);
		next += (size_t)known;
	}
	CHECK(next == 10);
	for (uint32_t code = 0; code < 40; code++)
		PLACED(RAW, code,
		       (code >= 1 && code <= 7) || (code >= 0xb && code <= 0xf) ? 4 << code
										: 0);
}

/* Names of several chips; the last one may lack its end or be cut off at the limit. */
static void names_of_chips(void)
{
	char long_one[] = "/tmp/tach-tree-XXXXXX", names[600];
	char *one = mkdtemp(long_one);

	memset(names, 'x', sizeof names);
	root_put(one, BASE "/compatible", "%.600s", names);
	root_wipe(root);
	put(BASE "/compatible", "thead,th1520", 12);
	PLACED(SBI, 3, 0x7fff8);
	/*
	 * The bytes of the long property remain in the buffer into which the short one is read.
	 */
	CHECK(tach__riscv64_placed(one, TACH__RISCV_SBI, 3) == -1 &&
	      tach__riscv64_placed(root, TACH__RISCV_SBI, 3) == 0x7fff8);
	root_wipe(one);
	rmdir(one);
	put(BASE "/compatible", "thead,th1520x\0allwinner,sun20i\0x", 33);
	PLACED(SBI, 3, -1);
	put(BASE "/compatible", "\0\0thead,th1520", 15);
	PLACED(SBI, 3, 0x7fff8);
	put(BASE "/compatible", "x\0allwinner,sun20i-d1\0thead,th1520", 35);
	PLACED(SBI, ANY_ONE, 0x3e3f8);
	/* Byte 511 is the last one that is read. */
	memset(names, 'x', sizeof names);
	memcpy(names + 498, "\0thead,th1520", 13);
	put(BASE "/compatible", names, 511);
	PLACED(SBI, 3, 0x7fff8);
	put(BASE "/compatible", names, 513);
	PLACED(SBI, 3, 0x7fff8);
	memcpy(names + 499, "\0thead,th1520", 13);
	put(BASE "/compatible", names, 512);
	PLACED(SBI, 3, -1);
}

/* These two chips have cores with the same numbers. */
static void chips_that_differ(void)
{
	static const char d1[] = "sipeed,lichee-rv\0allwinner,sun20i-d1";
	static const char th1520[] =
		"sipeed,lichee-pi-4a\0sipeed,lichee-module-4a\0thead,th1520";

	root_wipe(root);
	put(BASE "/compatible", d1, sizeof d1);
	PLACED(SBI, 0x3, 1 << 3);
	PLACED(SBI, 0x5, 1 << 9);
	PLACED(SBI, 0x10003, 1 << 17);
	PLACED(SBI, 0x10009, 0);
	PLACED(RAW, 0x1, 1 << 3);
	PLACED(RAW, 0xf, 1 << 17);
	PLACED(RAW, 0x8, 0);
	PLACED(RAW, 0x10, 0);
	PLACED(RAW, UINT64_C(0x100000001), 0);
	PLACED(SBI, ANY_ONE, 0x3e3f8);
	put(BASE "/compatible", th1520, sizeof th1520);
	PLACED(SBI, 0x3, 0x7fff8);
	PLACED(RAW, 0x2a, 0x7fff8);
	PLACED(SBI, ANY_ONE, 0x7fff8);
	put(BASE "/pmu/riscv,event-to-mhpmcounters", "\0\0\0\3\0\0\0\3\0\0\0\x10", 12);
	PLACED(SBI, 0x3, 0x10);
}

/* ---- PMUs of other machines, by their tables ---- */

static struct tach_schedule plan = {.size = sizeof plan};
static struct tach_error err;

static int schedule(const char *pmu, const char *list, int os)
{
	struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach_encode_options how = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event events[16];
	char copy[512], *save = NULL;
	int n = 0, rc;

	opt.pmu = how.pmu = tach_pmu_find(pmu);
	how.os = os;
	how.host = pmu;
	how.sysfs = how.tracefs = "/nonexistent";
	snprintf(copy, sizeof copy, "%s", list);
	for (char *e = strtok_r(copy, " ", &save); e; e = strtok_r(NULL, " ", &save)) {
		memset(&events[n], 0, sizeof *events);
		rc = tach_event_encode(e, &how, &events[n++], &err);
		CHECK(rc == 0, "%s %s: %s", pmu, e, err.text);
		if (rc)
			return rc;
	}
	rc = tach_schedule_split(events, n, 0, &opt, &plan, &err);
	return rc ? rc : plan.ngroups;
}

#define FOUR "INTEGER_LOAD_RETIRED INTEGER_STORE_RETIRED ICACHE_MISS DCACHE_MISS "

static void tables_tell_how_many(void)
{
	static const int systems[] = {TACH_OS_NONE, TACH_OS_PERF, TACH_OS_PERF_EXT};

	for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
		int os = systems[i];

		CHECK(schedule("rv_p550", FOUR "rv_sbi::HW_CPU_CYCLES rv_sbi::HW_INSTRUCTIONS",
			       os) == 1,
		      "%d: %s", plan.ngroups, err.text);
		CHECK(plan.counter[0] >= 3 && plan.counter[3] <= 6 && plan.counter[4] == 32 &&
			      plan.counter[5] == 34,
		      "%d %d %d %d", plan.counter[0], plan.counter[3], plan.counter[4],
		      plan.counter[5]);
		CHECK(schedule("rv_p550", FOUR "DTLB_MISS", os) == 2 && plan.nfit == 4,
		      "%d groups, %d fit", plan.ngroups, plan.nfit);
		CHECK(schedule("rv_bullet", FOUR, os) == 2 && plan.nfit == 2,
		      "%d groups, %d fit", plan.ngroups, plan.nfit);
		/*
		 * The event has one counter, or none: a second event of this kind does not fit.
		 */
		CHECK(schedule("rv_p550", "rv_sbi::HW_CPU_CYCLES rv_sbi::HW_CPU_CYCLES", os) ==
			      2,
		      "%d", plan.ngroups);
		/* An hpmcounter too. */
		CHECK(schedule("rv_bullet",
			       "rv_sbi::HW_BRANCH_MISSES rv_sbi::CACHE_L1D_READ_MISS "
			       "ICACHE_MISS",
			       os) == 2,
		      "%d", plan.ngroups);
		/* The firmware counts this event without a counter. */
		CHECK(schedule("rv_bullet", FOUR "rv_sbi::FW_SET_TIMER", os) == 2 &&
			      plan.counter[4] == -1,
		      "%d", plan.counter[4]);
	}
	CHECK(schedule("rv_c900", "L1_ICACHE_ACCESS L1_ICACHE_MISS ITLB_MISS DTLB_MISS", 0) ==
		      1,
	      "how many is not known: %d", plan.ngroups);
}

/* perf's own names are events of the firmware, or keep their number. */
static void generic_names(void)
{
	CHECK(schedule("rv_bullet", "cycles instructions branches cache-misses",
		       TACH_OS_PERF) == 1,
	      "%d", plan.ngroups);
	CHECK(schedule("rv_bullet", "cycles cycles", TACH_OS_PERF) == 2, "%d", plan.ngroups);
	CHECK(schedule("rv_bullet", "branches cache-misses L1-dcache-load-misses",
		       TACH_OS_PERF) == 2,
	      "%d", plan.ngroups);
	CHECK(schedule("rv_bullet", "context-switches branches cache-misses", TACH_OS_PERF) ==
		      1,
	      "%d", plan.ngroups);
}

int main(void)
{
	unsetenv("TACH_PMU");
	CHECK(mkdtemp(root) != NULL, "%s", root);
	CASE(without_a_tree_nothing_is_known);
	CASE(trees_tell_by_event_and_by_selector);
	CASE(hostile_trees);
	CASE(trees_with_one_property);
	CASE(every_event_of_the_d1);
	CASE(names_of_chips);
	CASE(chips_that_differ);
	CASE(tables_tell_how_many);
	CASE(generic_names);
	root_wipe(root);
	rmdir(root);
	return check_done();
}
