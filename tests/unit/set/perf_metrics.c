/* SPDX-License-Identifier: MIT */
/*
 * PERF_METRICS: the attrs that are its fields, the definitions that need them, and the calls
 * that test if this machine counts them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <tach.h>
#include <tach/page.h>
#include "core/os/sys.h"
#include "core/set/set.h"
#include "tests/allocations.h"

static void attrs(void)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		int slots, field;
	} cases[] = {
		{PERF_TYPE_RAW, 0x0400, 1, 0},
		{PERF_TYPE_RAW, 0x10400, 1, 0},
		{10, 0x0400, 1, 0},
		{PERF_TYPE_RAW, 0x0401, 0, 0},
		{PERF_TYPE_RAW, 0x0500, 0, 0},
		{PERF_TYPE_RAW, 0x8400, 0, 1},
		{PERF_TYPE_RAW, 0x8000, 0, 1},
		{PERF_TYPE_RAW, 0x8700, 0, 1},
		{PERF_TYPE_RAW, 0x18100, 0, 1},
		{PERF_TYPE_RAW, 0x7f00, 0, 0},
		{PERF_TYPE_RAW, 0x8001, 0, 0},
		{PERF_TYPE_RAW, 0x8080, 0, 0},
		{PERF_TYPE_RAW, 0, 0, 0},
		{10, 0x8000, 0, 1},
		{PERF_TYPE_HARDWARE, 0x0400, 0, 0},
		{PERF_TYPE_HARDWARE, 0x8000, 0, 0},
		{PERF_TYPE_HW_CACHE, 0x0400, 0, 0},
		{PERF_TYPE_HW_CACHE, 0x8000, 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct perf_event_attr attr = {.type = cases[i].type,
					       .config = cases[i].config};

		CHECK(tach__is_slots(&attr) == (TACH_MODULAR && cases[i].slots),
		      "%u:%#llx: slots", cases[i].type, (unsigned long long)cases[i].config);
		CHECK(tach__is_metrics(&attr) == (TACH_MODULAR && cases[i].field),
		      "%u:%#llx: a field", cases[i].type, (unsigned long long)cases[i].config);
	}
}

static void definitions(void)
{
	static const char text[] = "CPU,icl\n"
				   "EVENT,last,DERIVED_ADD,cycles,topdown-fe-bound\n"
				   "EVENT,first,DERIVED_ADD,topdown-fe-bound,cycles\n"
				   "EVENT,neither,DERIVED_ADD,TOPDOWN:SLOTS,cycles\n";
	int pmu = tach_pmu_find("icl");

	CHECK(tach_derived_load_text(tach_derived_default(), "text", text, sizeof text - 1,
				     NULL) == 3);
	CHECK(tach__perf_metrics_used(pmu, "last") == TACH_MODULAR);
	CHECK(tach__perf_metrics_used(pmu, "first") == TACH_MODULAR);
	CHECK(tach__perf_metrics_used(pmu, "neither") == 0);
	CHECK(tach__perf_metrics_used(pmu, "topdown_frontend") == 0);
	CHECK(tach__perf_metrics_used(pmu, "nosuch") == 0);
}

static int job(void)
{
	int pmu = tach_pmu_find("icl");

	CHECK(tach__perf_metrics_used(pmu, "neither") == 0 &&
	      tach__perf_metrics_used(pmu, "last") <= TACH_MODULAR);
	return 0;
}

/* If there is no memory, the answer is no. */
static void without_memory(void)
{
	exhaust(job);
}

/*
 * ---- the simulated kernel: its results for three events, and the events that were opened ----
 */

enum { CYCLES, SLOTS, FIELD, KINDS, FIRST_FD = 100 };
static int answer[KINDS]; /* 0: a descriptor, its kind's */
static int zero;	  /* the event whose descriptor is 0, a valid number */
static int asked[KINDS], closed[KINDS];

static int descriptor(int kind)
{
	return kind == zero ? 0 : FIRST_FD + kind;
}

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;
	int kind;

	for (int k = 0; k < KINDS && number == SYS_close; k++)
		if (a == descriptor(k)) {
			closed[k]++;
			/* A field is opened while its leader is open. */
			CHECK(k != FIELD || !closed[SLOTS]);
			return 0;
		}
	if (number != SYS_perf_event_open)
		return tach__sys_real(number, a, b, c, d, e, f);
	kind = attr->type == PERF_TYPE_HARDWARE ? CYCLES
	       : attr->config == 0x0400		? SLOTS
						: FIELD;
	asked[kind]++;
	CHECK(b == 0 && c == -1 && d == (kind == FIELD ? descriptor(SLOTS) : -1), "%d: %ld %ld",
	      kind, b, d);
	/*
	 * The event opens at user level, which needs no privilege; enabling the group's first
	 * event starts the group.
	 */
	CHECK(attr->size == sizeof *attr && attr->exclude_kernel && !attr->exclude_user &&
		      attr->disabled == (kind != FIELD),
	      "%d", kind);
	CHECK(kind == FIELD ? attr->type == PERF_TYPE_RAW && attr->config == 0x8000
			    : kind == SLOTS || attr->config == PERF_COUNT_HW_CPU_CYCLES,
	      "%d: %u:%#llx", kind, attr->type, (unsigned long long)attr->config);
	return answer[kind] ? answer[kind] : descriptor(kind);
}

static void refused(int pmu, int cycles, int slots, int field, int want)
{
	int reached = 0, got;

	answer[CYCLES] = cycles;
	answer[SLOTS] = slots;
	answer[FIELD] = field;
	memset(asked, 0, sizeof asked);
	memset(closed, 0, sizeof closed);
	tach__sys = kernel;
	got = tach__perf_metrics_refused(pmu);
	tach__sys = tach__sys_real;
	CHECK(got == (TACH_MODULAR && want), "%d %d %d: %d", cycles, slots, field, got);
	while (TACH_MODULAR && pmu == tach_pmu_find("icl") && reached < KINDS &&
	       (!reached || !answer[reached - 1]))
		reached++;
	for (int k = 0; k < KINDS; k++)
		CHECK(asked[k] == (k < reached) && closed[k] == (k < reached && !answer[k]),
		      "%d %d %d: of %d %d were asked for, %d closed", cycles, slots, field, k,
		      asked[k], closed[k]);
}

static void kernels(void)
{
	int icl = tach_pmu_find("icl");

	for (zero = SLOTS; zero <= KINDS; zero++) {
		refused(icl, 0, 0, 0, 0);
		/* If the kernel counts no event at all, this proves nothing about the field. */
		refused(icl, -ENOENT, 0, 0, 0);
		refused(icl, 0, -EINVAL, 0, 1);
		refused(icl, 0, 0, -EINVAL, 1);
	}
	/* A PMU without such events, and no PMU. */
	refused(tach_pmu_find("skl"), 0, -EINVAL, -EINVAL, 0);
	refused(-1, 0, -EINVAL, -EINVAL, 0);
}

int main(void)
{
	setenv("TACH_PMU", "icl", 1); /* so that the real processor is not used */
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CASE(attrs);
	CASE(definitions);
	CASE(without_memory);
	CASE(kernels);
	return check_done();
}
