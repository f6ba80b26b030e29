/* SPDX-License-Identifier: MIT */
/*
 * CPUID of x86 CPUs (Intel SDM volume 2, AMD APM volume 3): identification and number of
 * counters. The test provides the answers.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/check.h"

#ifdef __x86_64__
#include "tests/cpuid.h"
#include "tests/root.h"

static int has_sysfs;

static int sim_file_exists(const char *root, const char *path)
{
	CHECK(!*root && strcmp(path, "/sys/bus/event_source/devices/cpu") == 0, "%s", path);
	return has_sysfs;
}

#include "core/os/kernel_files.h"
#define tach__file_exists sim_file_exists
#include "arch/x86/identify.c"
#include "arch/x86/schedule.c"

static char root[] = "/tmp/tach-cpuid-XXXXXX";

/* ---- who ---- */

static void is(const char *vendor, unsigned family, unsigned model, unsigned stepping,
	       int noarch, int line)
{
	struct tach__cpu cpu;

	memset(&cpu, 0x5a, sizeof cpu);
	CHECK(tach__x86_cpus(root, 1, &cpu, 1) == 1, "line %d", line);
	CHECK(strcmp(cpu.vendor, vendor) == 0 && cpu.family == family && cpu.model == model &&
		      cpu.stepping == stepping && cpu.noarch == noarch,
	      "line %d: %s %#x %#x %u %d", line, cpu.vendor, cpu.family, cpu.model,
	      cpu.stepping, cpu.noarch);
	CHECK(cpu.core == 0 && cpu.native == 0 && cpu.capacity == 0 && !cpu.id[0], "line %d",
	      line);
}

#define IS(...) is(__VA_ARGS__, __LINE__)

/* Leaf 1 EAX: stepping 3-0, model 7-4, family 11-8, model 19-16, family 27-20. */
static void families(void)
{
	root_put(root, "/proc/cpuinfo", "vendor_id\t: Other\n");
	cpuid_reset("GenuineIntel", 9);
	cpuid_set(1, 1, 0x000c06f2, 0, 0, 0);
	IS("GenuineIntel", 6, 0xcf, 2, 1);
	CHECK(cpuid_asked == 2, "CPUID is a trap in a virtual machine: %d times", cpuid_asked);
	/* Processor type 13-12 is not part of the model. */
	cpuid_set(1, 1, 0x000cf602, 0, 0, 0);
	IS("GenuineIntel", 6, 0xc0, 2, 1);
	cpuid_set(1, 1, 0xfff10543, 0, 0, 0); /* fields that family 5 does not use */
	IS("GenuineIntel", 5, 4, 3, 1);
	cpuid_set(1, 1, 0x00000f4a, 0, 0, 0);
	IS("GenuineIntel", 15, 4, 10, 1);
	cpuid_set(1, 1, 0x00400f13, 0, 0, 0);
	IS("GenuineIntel", 19, 1, 3, 1);
	cpuid_reset("AuthenticAMD", 0x10);
	cpuid_set(1, 1, 0x00a60f12, 0, 0, 0);
	cpuid_set(2, 0xa, 3, 0, 0, 0);
	IS("AuthenticAMD", 0x19, 0x61, 2, 0);
	cpuid_set(1, 1, 0x0ff00f00, 0, 0, 0);
	IS("AuthenticAMD", 0x10e, 0, 0, 0);
	cpuid_reset("GenuineIntel", 0); /* a processor older than leaf 1: the file decides */
	IS("Other", 0, 0, 0, 0);
	cpuid_reset("GenuineIntel", 1);
	cpuid_set(1, 1, 0x543, 0, 0, 0);
	IS("GenuineIntel", 5, 4, 3, 1);
}

/* Leaf 0AH EAX 7-0: 0 if the hypervisor provides no PMU. */
static void architectural_pmu(void)
{
	cpuid_reset("GenuineIntel", 0xa);
	cpuid_set(1, 1, 0x306f2, 0, 0, 0);
	IS("GenuineIntel", 6, 0x3f, 2, 1);
	cpuid_set(2, 0xa, 0x07300400, 0, 0, 0x603);
	IS("GenuineIntel", 6, 0x3f, 2, 1);
	cpuid_set(2, 0xa, 0x07300480, 0, 0, 0x603);
	IS("GenuineIntel", 6, 0x3f, 2, 0);
	cpuid_set(2, 0xa, 0x07300401, 0, 0, 0x603);
	cpuid_set(3, 0x1a, 0x40000001, 0, 0, 0); /* the leaf is beyond the last one */
	IS("GenuineIntel", 6, 0x3f, 2, 0);
}

/* Leaf 1AH EAX: core type 31-24, native model 23-0. */
static void core_types(void)
{
	struct tach__cpu cpu;

	cpuid_reset("GenuineIntel", 0x1a);
	cpuid_set(1, 1, 0x90672, 0, 0, 0);
	cpuid_set(2, 0xa, 0x08300805, 0, 0xf, 0x8604);
	cpuid_set(3, 0x1a, 0x40800001, 0, 0, 0);
	CHECK(tach__x86_cpus(root, 1, &cpu, 2) == 1 && cpu.core == 0x40 &&
		      cpu.native == 0x800001 && cpu.model == 0x97 && !cpu.noarch,
	      "%#x %#x", cpu.core, cpu.native);
	cpuid_set(0, 0, 0x20, cpuid_leaves[0].b, cpuid_leaves[0].c, cpuid_leaves[0].d);
	CHECK(tach__x86_cpus(root, 1, &cpu, 1) == 1 && cpu.core == 0x40, "%#x", cpu.core);
	CHECK(tach__x86_cpus(root, 1, &cpu, 0) == 0);
}

/* A file of another machine; the processor must not be queried for it. */
static void by_file(void)
{
	struct tach__cpu cpu;

	cpuid_reset("GenuineIntel", 1);
	root_put(root, "/proc/cpuinfo",
		 "\n\nprocessor\t: 0\nvendor_id\t: AuthenticAMD and more\ncpu family\t: 25\n"
		 "model\t\t: 97\nstepping\t: 2\n\nvendor_id\t: Other\n");
	memset(&cpu, 0x5a, sizeof cpu);
	CHECK(tach__x86_cpus(root, 0, &cpu, 1) == 1 && cpuid_asked == 0);
	CHECK(strcmp(cpu.vendor, "AuthenticAMD an") == 0 && cpu.family == 25 &&
		      cpu.model == 97 && cpu.stepping == 2 && !cpu.noarch && !cpu.core &&
		      !cpu.native,
	      "%s %u %u %u", cpu.vendor, cpu.family, cpu.model, cpu.stepping);
	root_put(root, "/proc/cpuinfo", "processor\t: 0\n\nvendor_id\t: Other\n");
	CHECK(tach__x86_cpus(root, 0, &cpu, 1) == 0, "%s", cpu.vendor);
}

/* ---- how many counters ---- */

#define FIXED_OF(mask) ((uint64_t)(mask) << 32)
#define FIELDS	       (UINT64_C(0xff) << 48)

static void has(const char *pmu, int host, uint64_t counters, int line)
{
	struct tach__machine m = {.host = (uint8_t)host};

	m.pmu = tach__pmu_find(pmu, strlen(pmu));
	tach__machine_x86(tach__pmu_at(m.pmu), host, &m);
	CHECK(m.counters == counters, "line %d: %s: %#llx", line, pmu,
	      (unsigned long long)m.counters);
	/* The watchdog counts cycles: on a general counter or the second fixed counter. */
	CHECK(m.watchdog == (counters & 0x2ffffffff), "line %d: %s: %#llx", line, pmu,
	      (unsigned long long)m.watchdog);
}

#define HAS(...) has(__VA_ARGS__, __LINE__)

static void counters_by_table(void)
{
	cpuid_reset("GenuineIntel", 0xa);
	cpuid_set(1, 0xa, 0x07300203, 0, 0, 1);
	has_sysfs = 1;
	HAS("skl", 0, 0xf | FIXED_OF(7));
	HAS("spr", 0, 0xff | FIXED_OF(0xf) | FIELDS);
	HAS("lnl_skt", 0, 0xff | FIXED_OF(0x77));
	HAS("amd64_fam19h_zen4", 0, 0x3f);
	HAS("amd64_fam10h_barcelona", 0, 0xf);
	CHECK(cpuid_asked == 0, "%d", cpuid_asked);
	has_sysfs = 0; /* this kernel has no PMU: the table's values are used too */
	HAS("skl", 1, 0xf | FIXED_OF(7));
	CHECK(cpuid_asked == 0, "%d", cpuid_asked);
}

static void counters_of_intel(void)
{
	has_sysfs = 1;
	cpuid_reset("GenuineIntel", 0xa);
	cpuid_set(1, 0xa, 0x07300803, 0, 0xffff, 0x603);
	HAS("skl", 1, 0xff | FIXED_OF(7)); /* hyper-threading is off */
	cpuid_set(1, 0xa, 0x07300204, 0, 0xffff, 0x601);
	HAS("skl", 1, 3 | FIXED_OF(1));
	cpuid_set(1, 0xa, 0x07300005, 0, 0, 0x600);
	HAS("skl", 1, 0);
	/* counters 0 and 1, and those of the mask */
	cpuid_set(1, 0xa, 0x08300805, 0, 0x18, 0x8602);
	HAS("spr", 1, 0xff | FIXED_OF(0x1b) | FIELDS);
	cpuid_set(1, 0xa, 0x08302006, 0, 0xff0077, 0x8600);
	HAS("spr", 1, 0xffffffff | FIXED_OF(0x77));
	cpuid_set(1, 0xa, 0x07301f01, 0, 0, 0x1f);
	HAS("spr", 1, 0x7fffffff | FIXED_OF(0xffff) | FIELDS);
	cpuid_set(1, 0xa, 0x07300800, 0, 0xf, 0x604); /* version 0 */
	HAS("skl", 1, 0xf | FIXED_OF(7));
	cpuid_reset("GenuineIntel", 9);
	HAS("skl", 1, 0xf | FIXED_OF(7));
}

static void counters_of_amd(void)
{
	has_sysfs = 1;
	cpuid_reset("AuthenticAMD", 0x10);
	cpuid_set(1, 0x80000000, 0x80000028, 0, 0, 0);
	cpuid_set(2, 0x80000001, 0, 0, 0xff7fffff, 0);
	HAS("amd64_fam19h_zen4", 1, 0xf);
	cpuid_set(2, 0x80000001, 0, 0, 1 << 23, 0);
	HAS("amd64_fam19h_zen4", 1, 0x3f);
	cpuid_set(3, 0x80000022, 2, 0x45, 0, 0); /* PerfMonV2 is bit 0 */
	HAS("amd64_fam19h_zen4", 1, 0x3f);
	cpuid_set(3, 0x80000022, 3, 0xf5, 0, 0);
	HAS("amd64_fam19h_zen4", 1, 0x1f);
	cpuid_set(1, 0x80000000, 0x80000021, 0, 0, 0);
	HAS("amd64_fam19h_zen4", 1, 0x3f);
	cpuid_set(1, 0x80000000, 0x80000000, 0, 0, 0);
	HAS("amd64_fam10h_barcelona", 1, 0xf);
	/* NetBurst's 18 counters are not reported. */
	cpuid_reset("GenuineIntel", 0xa);
	cpuid_set(1, 0xa, 0x07300203, 0, 0, 1);
	HAS("netburst_p", 1, 0x3ffff);
}

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	CASE(families);
	CASE(architectural_pmu);
	CASE(core_types);
	CASE(by_file);
	CASE(counters_by_table);
	CASE(counters_of_intel);
	CASE(counters_of_amd);
	root_wipe(root);
	rmdir(root);
	return check_done();
}
#else
static void families(void)
{
	SKIP("another architecture");
}

int main(void)
{
	CASE(families);
	return check_done();
}
#endif
