/* SPDX-License-Identifier: MIT */
/* Core types from each architecture's files; identify.c tests their PMUs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "arch/arm64/arm64.h"
#include "core/port/identify.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-cpus-XXXXXX";
static struct tach__cpu cpus[TACH__CPU_KINDS];

#define put(...) root_put(root, __VA_ARGS__)

static void begin(void)
{
	root_wipe(root);
	memset(cpus, 0x5a, sizeof cpus);
}

static int zero(const void *at, size_t size)
{
	const char *c = at;

	while (size && !*c)
		c++, size--;
	return !size;
}

/* ---- ia64 ---- */

static void itanium(void)
{
	begin();
	put("/proc/cpuinfo",
	    "processor  : 0\nvendor     : GenuineIntel and more\narch       : IA-64\n"
	    "family     : 1\nmodel      : 13\nrevision   : 7\n\n"
	    "processor  : 1\nvendor     : Other\nfamily     : 31\nmodel      : 3\n\n");
	CHECK(tach__ia64_cpus(root, 0, cpus, 0) == 0);
	CHECK(tach__ia64_cpus(root, 0, cpus, 1) == 1);
	CHECK(strcmp(cpus[0].vendor, "GenuineIntel an") == 0 && cpus[0].family == 1 &&
		      cpus[0].model == 13 && !cpus[0].stepping && !cpus[0].core &&
		      !cpus[0].noarch,
	      "%s %u %u", cpus[0].vendor, cpus[0].family, cpus[0].model);
	put("/proc/cpuinfo", "\nprocessor  : 0\nvendor     : GenuineIntel\nfamily     : 32");
	CHECK(tach__ia64_cpus(root, 1, cpus, 4) == 1 && cpus[0].family == 32 && !cpus[0].model);
	put("/proc/cpuinfo", "vendor     : GenuineIntel\n\n");
	CHECK(tach__ia64_cpus(root, 0, cpus, 1) == 0);
	root_wipe(root);
	CHECK(tach__ia64_cpus(root, 0, cpus, 1) == 0);
}

/* ---- RISC-V ---- */

#define HART(n) "processor\t: " n "\nhart\t\t: " n "\nisa\t\t: rv64imafdc\n"
#define THEAD	"0x5b7 0x0 0x0"

static int harts(const char *text, int max)
{
	begin();
	put("/proc/cpuinfo", "%s", text);
	return tach__riscv64_cpus(root, 0, cpus, max);
}

static void riscv_harts(void)
{
	static const char *const cores[][2] = {
		{"sifive,bullet0", "0x489 0x8000000000000007 0x0"},
		{"sifive,u7", "0x489 0x8000000000000007 0x0"},
		{"sifive,u74", "0x489 0x8000000000000007 0x0"},
		{"sifive,u74-mc", "0x489 0x8000000000000007 0x0"},
		{"sifive,s7", "0x489 0x8000000000000007 0x0"},
		{"sifive,p550", "0x489 0x8000000000000008 0x0"},
		{"thead,c906", THEAD},
		{"thead,c908", THEAD},
		{"thead,c910", THEAD},
		{"thead,c920", THEAD},
		{"andestech,ax45mp", "0x31e 0x8000000000008a45 0x0"},
		{"starfive,dubhe-80", "0x67e 0x80000000db000080 0x0"},
		{"starfive,dubhe-90", "0x67e 0x80000000db000090 0x0"},
		{"openhwgroup,cva6", "0x602 0x3 0x0"},
	};
	char text[256];

	for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
		snprintf(text, sizeof text, HART("0") "uarch\t\t: %s\n\n", cores[i][0]);
		CHECK(harts(text, 4) == 1 && strcmp(cpus[0].id, cores[i][1]) == 0, "%s: %s",
		      cores[i][0], cpus[0].id);
		CHECK(!cpus[0].family && !cpus[0].vendor[0] && !cpus[0].capacity);
	}
	/* Numbers before the name, each once, in their order, up to the size of the array. */
	snprintf(text, sizeof text,
		 HART("0") "uarch\t\t: sifive,u74\nmvendorid\t: 0x5B7\nmarchid\t\t: 0x0\n"
			   "mimpid\t\t: 0x10\n\n" HART("1") "uarch\t\t: thead,c910\n\n" HART(
				   "2") "uarch\t\t: thead,c906\n\n");
	CHECK(harts(text, 4) == 2 && strcmp(cpus[0].id, "0x5b7 0x0 0x10") == 0 &&
		      strcmp(cpus[1].id, THEAD) == 0,
	      "%s, %s", cpus[0].id, cpus[1].id);
	CHECK(harts(text, 1) == 1 && strcmp(cpus[0].id, "0x5b7 0x0 0x10") == 0);
	CHECK(harts(text, 0) == 0);
	/*
	 * Two of the three numbers are not enough, and numbers of another hart do not complete
	 * them.
	 */
	snprintf(text, sizeof text,
		 HART("0") "mvendorid\t: 0x1\nmarchid\t\t: 0x2\n\n" HART(
			 "1") "mimpid\t\t: 0x3\nuarch\t\t: nosuch\n\n");
	CHECK(harts(text, 4) == 1 && strcmp(cpus[0].id, "not told") == 0, "%s", cpus[0].id);
	CHECK(harts(text, 0) == 0);
	CHECK(harts("not a list of harts\n", 4) == 0);
	snprintf(text, sizeof text,
		 HART("0") "mvendorid\t: 0x1\n\n" HART(
			 "1") "marchid\t\t: 0x2\nmimpid\t\t: 0x3\n\n");
	CHECK(harts(text, 1) == 1 && strcmp(cpus[0].id, "not told") == 0, "%s", cpus[0].id);
	snprintf(text, sizeof text,
		 HART("0") "uarch\t\t: thead,c910\n\n" HART("1") "uarch\t\t: thead,c910\n\n");
	CHECK(harts(text, 4) == 1);
	/*
	 * A hart's numbers have priority over its name, but do not affect the names of other
	 * harts.
	 */
	snprintf(text, sizeof text,
		 HART("0") "uarch\t\t: thead,c910\nmvendorid\t: 0x1\nmarchid\t\t: 0x2\n"
			   "mimpid\t\t: 0x3\n\n" HART("1") "\n");
	CHECK(harts(text, 4) == 1 && strcmp(cpus[0].id, "0x1 0x2 0x3") == 0, "%s", cpus[0].id);
}

/* ---- arm64 ---- */

static void midr(int cpu, const char *value)
{
	char path[128];

	snprintf(path, sizeof path,
		 "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu);
	put(path, "%s\n", value);
}

/* MIDR_EL1: implementer 31-24, part 15-4. */
static void arm_cores(void)
{
	begin();
	put("/sys/devices/system/cpu/possible", "0-1,3-10\n");
	midr(0, "0x00000000414fd0c1");
	midr(3, "0x00000000414fd0c9"); /* another revision of the same core */
	midr(10, "0x00000000611f0230");
	midr(11, "0x00000000410fd400"); /* beyond the last */
	put("/sys/devices/system/cpu/cpu10/cpu_capacity", "1024\n");
	put("/sys/devices/system/cpu/cpu3/cpu_capacity", "512\n");
	put("/proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd03\n");
	CHECK(tach__arm64_cpus(root, 0, cpus, 4) == 2);
	CHECK(cpus[0].family == 0x41 && cpus[0].model == 0xd0c && !cpus[0].capacity &&
		      !cpus[0].noarch && !cpus[0].stepping,
	      "%#x %#x %u", cpus[0].family, cpus[0].model, cpus[0].capacity);
	CHECK(cpus[1].family == 0x61 && cpus[1].model == 0x23 && cpus[1].capacity == 1024 &&
		      cpus[1].noarch == 1,
	      "%#x %#x %u", cpus[1].family, cpus[1].model, cpus[1].capacity);
	CHECK(zero(cpus[1].vendor, sizeof cpus[1].vendor) && !cpus[1].id[0]);
	CHECK(tach__arm64_cpus(root, 0, cpus, 1) == 1 && cpus[0].model == 0xd0c);
	begin(); /* one CPU: no dash */
	put("/sys/devices/system/cpu/possible", "0\n");
	midr(0, "0x00000000410fd400");
	midr(1, "0x00000000414fd0c1");
	CHECK(tach__arm64_cpus(root, 0, cpus, 4) == 1 && cpus[0].model == 0xd40);
	begin(); /* without the list of possible CPUs: CPU 0 */
	midr(0, "0x00000000410fd400");
	midr(1, "0x00000000414fd0c1");
	CHECK(tach__arm64_cpus(root, 0, cpus, 4) == 1 && cpus[0].model == 0xd40);
	begin(); /* the maximum number of CPUs */
	put("/sys/devices/system/cpu/possible", "0-5000\n");
	midr(4095, "0x00000000410fd400");
	midr(4096, "0x00000000414fd0c1");
	CHECK(tach__arm64_cpus(root, 0, cpus, 4) == 1 && cpus[0].model == 0xd40);
	begin(); /* without the registers, from the file, in which each part follows its
		    implementer */
	put("/proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n"
			     "CPU implementer\t: 0x61\nCPU part\t: 0x022\n\n"
			     "CPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n");
	CHECK(tach__arm64_cpus(root, 0, cpus, 4) == 2 && cpus[0].model == 0xd03 &&
	      cpus[0].family == 0x41 && !cpus[0].noarch && cpus[1].family == 0x61 &&
	      cpus[1].model == 0x22 && cpus[1].noarch == 1);
	root_wipe(root);
	CHECK(tach__arm64_cpus(root, 0, cpus, 4) == 0);
}

/*
 * With ACPI: finds the core type of device number i; 1, 0 if no CPU of it is online, -1 if
 * there is no such device.
 */
static void numbered_devices(void)
{
	static const struct {
		const char *list;
		int answer;
		uint32_t part;
	} cases[] = {
		{"0-1\n", 1, 0xd0c}, {"5-6,1,0\n", 1, 0xd40},
		{"5-6\n", 0, 0},     {"\n", 0, 0},
		{"", 0, 0},	     {"1\n", 1, 0xd40},
		{"2-0\n", 0, 0},     {"6,0-1", 1, 0xd0c},
		{"10\n", 0, 0},	     {"2-10\n", 0, 0},
		{"11\n", 1, 0xd03},  {"5000,0\n", 1, 0xd0c},
		{"4096\n", 0, 0},    {"4094-4096,1\n", 1, 0xd40},
	};
	char sysfs[128], device[32];
	struct tach__cpu cpu;

	begin();
	midr(0, "0x00000000414fd0c1");
	midr(1, "0x00000000410fd400");
	midr(11, "0x00000000410fd034");
	midr(4096, "0x00000000410fd034"); /* the same maximum as for the others */
	snprintf(sysfs, sizeof sysfs, "%s/sys/bus/event_source/devices", root);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		put("/sys/bus/event_source/devices/armv8_pmuv3_3/cpus", "%s", cases[i].list);
		memset(&cpu, 0x5a, sizeof cpu);
		CHECK(tach__arm64_numbered(sysfs, 3, device, &cpu) == cases[i].answer, "'%s'",
		      cases[i].list);
		CHECK(strcmp(device, "armv8_pmuv3_3") == 0, "%s", device);
		CHECK(cases[i].answer != 1 ||
			      (cpu.family == 0x41 && cpu.model == cases[i].part &&
			       !cpu.noarch && !cpu.capacity),
		      "'%s': %#x", cases[i].list, cpu.model);
	}
	CHECK(tach__arm64_numbered(sysfs, 2, device, &cpu) == -1);
}

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	CASE(itanium);
	CASE(riscv_harts);
	CASE(arm_cores);
	CASE(numbered_devices);
	root_wipe(root);
	rmdir(root);
	return check_done();
}
