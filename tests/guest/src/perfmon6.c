/* SPDX-License-Identifier: MIT */
/*
 * Intel's architectural performance monitoring, version 6, as the emulated PMU and the kernel
 * show it: CPUID leaf 23H, and the bits umask2 and eq of an event.
 */
#if defined(__x86_64__)
#include <cpuid.h>
#include <inttypes.h>
#include "tests/check.h"
#include "tests/guest/counter.h"
#include "tests/guest/machine.h"

enum {
	TURNS = 100000,
	SLACK = 200,
	OTHER = 8 /* instructions per count of an unknown event */
};

/* Intel SDM volume 3, architectural performance monitoring version 6, CPUID leaf 23H. */
static void leaf_23h(void)
{
	unsigned a = 0, b = 0, c = 0, d = 0, general, fixed;

	__get_cpuid_count(0xa, 0, &a, &b, &c, &d);
	CHECK((a & 255) == 6, "version %u", a & 255);
	general = a >> 8 & 255;
	fixed = d & 31;
	CHECK(__get_cpuid_count(0x23, 0, &a, &b, &c, &d));
	CHECK((b & 3) == 3, "umask2, eq: %#x", b);
	CHECK((c & 255) == 4, "%u slots a cycle", c & 255);
	CHECK((a & 3) == 3, "sub-leaves %#x", a);
	CHECK(__get_cpuid_count(0x23, 1, &a, &b, &c, &d));
	CHECK(a == (1u << general) - 1, "general counters %#x", a);
	CHECK((b & 7) == 7 && fixed >= 3, "fixed counters %#x", b);
}

/* User-level counts of a loop of TURNS branches and twice as many instructions. */
static uint64_t count(uint64_t config)
{
	struct perf_event_attr attr = counter_attr(PERF_TYPE_RAW, config);
	struct counter c = counter_open(&attr, 0, -1, -1);
	uint64_t before = 0, after = 0;

	CHECK(c.fd >= 0, "%#" PRIx64 " cannot be opened", config);
	if (c.fd < 0)
		return 0;
	CHECK(read(c.fd, &before, sizeof before) == sizeof before);
	machine_loop(TURNS);
	CHECK(read(c.fd, &after, sizeof after) == sizeof after);
	counter_close(&c);
	return after - before;
}

static void expect(uint64_t config, uint64_t want)
{
	uint64_t n = count(config);

	CHECK(n >= want && n <= want + SLACK * 8, "%#" PRIx64 ": %" PRIu64 " of %" PRIu64,
	      config, n, want);
}

static void plain_events(void)
{
	expect(0xc0, MACHINE_LOOP_INSTRUCTIONS * TURNS);
	expect(0xc4, TURNS);
}

/* Linux 7.0 and newer offer both; older ones accept and ignore the bits. */
static void umask2_and_eq(void)
{
	const uint64_t umask2 = (uint64_t)1 << 40, eq = (uint64_t)1 << 36;
	char format[64], line[64];
	int offered = counter_kernel() >= 700;

	CHECK((strstr(counter_setting("format/umask", format, sizeof format), "40-47") !=
	       NULL) == offered,
	      "%s", format);
	CHECK((counter_setting("format/eq", line, sizeof line)[0] != 0) == offered, "%s", line);
	/* The emulator does not know branches with a umask2, so it counts an unknown event. */
	expect(0xc4 | umask2, offered ? MACHINE_LOOP_INSTRUCTIONS * TURNS / OTHER : TURNS);
	expect(0xc4 | eq, TURNS);
	/* For an event with a fixed counter the kernel ignores umask2. */
	expect(0xc0 | umask2, MACHINE_LOOP_INSTRUCTIONS * TURNS);
}

int main(void)
{
	unsigned a, b, c, d;

	if (!machine_has_pmu() || !__get_cpuid_count(0x23, 0, &a, &b, &c, &d) || !a) {
		puts("skip perfmon6: the PMU is not of version 6");
		return check_done();
	}
	CASE(leaf_23h);
	CASE(plain_events);
	CASE(umask2_and_eq);
	return check_done();
}
#else
#include <stdio.h>

int main(void)
{
	puts("skip perfmon6: this architecture has another PMU");
	return 0;
}
#endif
