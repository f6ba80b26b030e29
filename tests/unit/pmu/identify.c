/* SPDX-License-Identifier: MIT */
/*
 * The PMUs of a machine: every @match line of the tables, hybrids with and without sysfs,
 * unknown CPUs, TACH_PMU. Machines are simulated by folders.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tach/pmu.h>
#include <unistd.h>
#include "core/pmu/pmu.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-identify-XXXXXX";

#define put(...) root_put(root, __VA_ARGS__)

/* Returns the names of the found PMUs, separated by blanks. */
static const char *ask(enum tach__arch arch, struct tach_error *err)
{
	static char names[256];
	int pmus[8], n = tach__identify(arch, root, 0, pmus, 8, err);

	names[0] = 0;
	for (int i = 0; i < n; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
			 i ? " " : "", tach__str(tach__pmu_at(pmus[i])->name));
	return names;
}

static void x86(const char *vendor, unsigned family, unsigned model, unsigned stepping)
{
	put("/proc/cpuinfo",
	    "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n"
	    "model name\t: A CPU: with a colon\nstepping\t: %u\nmicrocode\t: 0x1\n\n"
	    "processor\t: 1\nvendor_id\t: Other\ncpu family\t: 1\nmodel\t\t: 1\n\n",
	    vendor, family, model, stepping);
}

#define IS(arch, want) is(arch, want, __LINE__)
static void is(enum tach__arch arch, const char *want, int line)
{
	struct tach_error err = TACH_ERROR_INIT;
	const char *got = ask(arch, &err);

	CHECK(strcmp(got, want) == 0, "line %d: got '%s', want '%s': %s", line, got, want,
	      err.text);
}

/* ---- every line that claims a CPU ---- */

static void ends_of(const char *cell, unsigned low, unsigned high, unsigned out[2])
{
	char *end;

	out[0] = low;
	out[1] = high;
	if (*cell == '*')
		return;
	out[0] = out[1] = (unsigned)strtoul(cell, &end, 16);
	if (strncmp(end, "..", 2) == 0)
		out[1] = (unsigned)strtoul(end + 2, NULL, 16);
}

static int x86_line(char *cell[], int n, const char *vendor, const char *pmu)
{
	char *part[3], *rest = cell[1];
	unsigned family[2], model[2], stepping[2];
	const char *fallback = n == 3 ? strchr(cell[2], '=') : NULL;
	int pmus[4], hybrid = n > 3;

	for (int i = 0; i < 3; i++)
		part[i] = strsep(&rest, "-");
	ends_of(part[0], 0, 0, family);
	ends_of(part[1], 0, 0xff, model);
	ends_of(part[2], 0, 0xf, stepping);
	for (int i = 0; i < 8; i++) {
		struct tach__cpu cpu = {.family = family[i & 1],
					.model = model[i >> 1 & 1],
					.stepping = stepping[i >> 2 & 1]};
		struct tach_error err = TACH_ERROR_INIT;

		strcpy(cpu.vendor, vendor);
		if (hybrid) {
			cpu.core = (unsigned)strtoul(strchr(cell[2], '=') + 1, NULL, 0);
			cpu.native = (unsigned)strtoul(strchr(cell[3], '=') + 1, NULL, 0);
		}
		CHECK(tach__pmus_of(TACH__X86, &cpu, 1, root, pmus, 4, &err) == 1, "%s: %s",
		      pmu, err.text);
		CHECK(strcmp(tach__str(tach__pmu_at(pmus[0])->name), pmu) == 0, "%s", pmu);
		CHECK(err.code == 0 && (fallback ? strstr(err.text, fallback + 1) != NULL
						 : err.text[0] == 0),
		      "%s: %s", pmu, err.text);
		if (hybrid)
			continue;
		x86(vendor, cpu.family, cpu.model, cpu.stepping);
		IS(TACH__X86, pmu);
	}
	return 1;
}

static int arm64_line(char *cell[], int n, const char *pmu)
{
	unsigned long implementer = strtoul(cell[1], NULL, 16);
	unsigned long part = strtoul(cell[2], NULL, 16);
	struct tach_error err = TACH_ERROR_INIT;

	put("/proc/cpuinfo",
	    "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x%02lx\n"
	    "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0x%03lx\n"
	    "CPU revision\t: 1\n\n",
	    implementer, part);
	CHECK(strcmp(ask(TACH__ARM64, &err), pmu) == 0, "%s: %s", pmu, err.text);
	CHECK(err.code == 0 && (err.text[0] != 0) == (n > 3), "%s: %s", pmu, err.text);
	if (n > 3)
		CHECK(strstr(err.text, strchr(cell[3], '=') + 1) != NULL, "%s", err.text);
	return 1;
}

static int ia64_line(char *cell[], const char *pmu)
{
	put("/proc/cpuinfo",
	    "processor  : 0\nvendor     : GenuineIntel\narch       : IA-64\n"
	    "family     : %lu\nmodel      : 1\n\n",
	    strtoul(cell[1], NULL, 16));
	IS(TACH__IA64, pmu);
	return 1;
}

/*
 * Writes a text that matches the pattern: the last byte of each class, and "last" as digits for
 * ~.
 */
static void sample(const char *pattern, const char *last, char *out)
{
	for (; *pattern; pattern++) {
		if (*pattern == '~') {
			out += sprintf(out, "%s", last);
		} else if (*pattern == '[') {
			pattern = strchr(pattern, ']');
			*out++ = pattern[-1];
		} else {
			*out++ = *pattern;
		}
	}
	*out = 0;
}

static void riscv64(const char *vendor, const char *architecture, const char *implementation)
{
	put("/proc/cpuinfo",
	    "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\n"
	    "mvendorid\t: %s\nmarchid\t\t: %s\nmimpid\t\t: %s\n\n",
	    vendor, architecture, implementation);
}

static int riscv64_line(char *cell[], const char *pmu)
{
	static const char *const lasts[] = {"0", "7f", "200630"};
	char id[3][64];

	for (int i = 0; i < 3; i++) {
		for (int c = 0; c < 3; c++)
			sample(cell[1 + c], lasts[i], id[c]);
		riscv64(id[0], id[1], id[2]);
		IS(TACH__RISCV64, pmu);
	}
	return 1;
}

static int lines_of(const char *file)
{
	char line[4096], pmu[64] = "", vendor[64] = "", *cell[8], *rest;
	FILE *from = fopen(file, "r");
	int n, lines = 0;

	while (from && fgets(line, sizeof line, from)) {
		line[strcspn(line, "\n")] = 0;
		rest = line;
		for (n = 0; n < 8 && (cell[n] = strsep(&rest, "\t")) != NULL;)
			n++;
		if (strcmp(cell[0], "@pmu") == 0)
			snprintf(pmu, sizeof pmu, "%s", cell[1]);
		else if (strcmp(cell[0], "@vendor") == 0)
			snprintf(vendor, sizeof vendor, "%s", cell[1]);
		else if (strcmp(cell[0], "@match") == 0)
			lines += strstr(file, "/x86/")	     ? x86_line(cell, n, vendor, pmu)
				 : strstr(file, "/arm64/")   ? arm64_line(cell, n, pmu)
				 : strstr(file, "/riscv64/") ? riscv64_line(cell, pmu)
							     : ia64_line(cell, pmu);
	}
	if (from)
		fclose(from);
	return lines;
}

static void every_match_line(void)
{
	glob_t files;
	int lines = 0;

	root_wipe(root);
	CHECK(glob("arch/*/events/*.tsv", 0, NULL, &files) == 0, "no tables");
	for (size_t i = 0; i < files.gl_pathc; i++)
		lines += lines_of(files.gl_pathv[i]);
	globfree(&files);
	CHECK(lines > 200, "%d", lines);
}

/*
 * RISC-V: every digit counts, old kernels have the devicetree's name, and a CPU without a
 * vendor has no table.
 */
static void riscv64_machines(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	root_wipe(root);
	riscv64("0x489", "0x8000000000000107", "0x9001"); /* between two tables */
	CHECK(strcmp(ask(TACH__RISCV64, &err), "rv_sbi") == 0, "%s", err.text);
	CHECK(strstr(err.text, "0x8000000000000107") != NULL, "%s", err.text);
	riscv64("0x489", "0x80000000000000070", "0x1");
	CHECK(strcmp(ask(TACH__RISCV64, &err), "rv_sbi") == 0, "%s", err.text);
	riscv64("0x0", "0x70216", "0x70216"); /* QEMU */
	CHECK(strcmp(ask(TACH__RISCV64, &err), "rv_sbi") == 0, "%s", err.text);
	put("/proc/cpuinfo", "processor\t: 0\nhart\t\t: 1\nuarch\t\t: sifive,u74-mc\n\n"
			     "processor\t: 1\nhart\t\t: 2\nuarch\t\t: sifive,u74-mc\n\n");
	IS(TACH__RISCV64, "rv_bullet");
	put("/proc/cpuinfo", "processor\t: 0\nhart\t\t: 0\nisa\t\t: rv64imac\n\n");
	CHECK(strcmp(ask(TACH__RISCV64, &err), "rv_sbi") == 0, "%s", err.text);
	put("/proc/cpuinfo", "processor\t: 0\nmvendorid\t: 0x5b7\nmarchid\t\t: 0x0\n"
			     "mimpid\t\t: 0x0\n\nprocessor\t: 1\nmvendorid\t: 0x31e\n"
			     "marchid\t\t: 0x8000000000008a45\nmimpid\t\t: 0x500\n\n");
	IS(TACH__RISCV64, "rv_c900 rv_ax45");
}

/* ---- hybrids ---- */

#define DEVICES "/sys/bus/event_source/devices/"

static void hybrids_by_sysfs(void)
{
	root_wipe(root);
	x86("GenuineIntel", 6, 0x97, 2);
	put(DEVICES "cpu_core/type", "4\n");
	IS(TACH__X86, "adl_glc");
	put(DEVICES "cpu_atom/type", "10\n");
	IS(TACH__X86, "adl_glc adl_grt");
	x86("GenuineIntel", 6, 0xc5, 2);
	IS(TACH__X86, "arl_lnc arl_skt");
	put(DEVICES "cpu_lowpower/type", "11\n");
	IS(TACH__X86, "arl_lnc arl_skt arl_cmt");
	x86("GenuineIntel", 6, 0xc6, 2);
	IS(TACH__X86, "arl_lnc arl_skt");
	/* Alder Lake N: only efficient cores, and one device named cpu. */
	root_wipe(root);
	x86("GenuineIntel", 6, 0xbe, 0);
	put(DEVICES "cpu/type", "4\n");
	IS(TACH__X86, "adl_grt");
}

/* Less known CPUs have their own tables, or a note names their fallback. */
static void less_known_ones(void)
{
	static const struct {
		const char *vendor;
		unsigned family, model, stepping;
		const char *pmus, *told;
	} all[] = {
		{"  Shanghai  ", 7, 0x1b, 0, "zxd", NULL},
		{"  Shanghai  ", 7, 0x3b, 0, "zxe", NULL},
		{"CentaurHauls", 6, 0xf, 0xe, "zxc", NULL},
		{"CentaurHauls", 6, 0x19, 3, "zxc", NULL},
		{"GenuineIntel", 6, 0x75, 0, "slm", NULL},
		{"GenuineIntel", 6, 0x16, 0, "core", NULL},
		{"GenuineIntel", 6, 0xd7, 0, "adl_glc", "Bartlett Lake"},
		{"GenuineIntel", 0x13, 1, 0, "nvl_cyc", "Diamond Rapids"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		const char *pmus;

		root_wipe(root);
		x86(all[i].vendor, all[i].family, all[i].model, all[i].stepping);
		put(DEVICES "cpu/type", "4\n");
		pmus = ask(TACH__X86, &err);
		CHECK(strcmp(pmus, all[i].pmus) == 0 &&
			      (all[i].told ? strstr(err.text, all[i].told) != NULL
					   : !*err.text),
		      "%s %x-%x: %s: %s", all[i].vendor, all[i].family, all[i].model, pmus,
		      err.text);
	}
	root_wipe(root);
	put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd15\n\n");
	IS(TACH__ARM64, "arm_r82");
	put("/proc/cpuinfo", "processor\t: 0\nhart\t: 0\nmvendorid\t: 0x5b7\nmarchid\t\t: "
			     "0x8000000009201600\nmimpid\t\t: 0x1\n\n");
	IS(TACH__RISCV64, "rv_c930");
}

static void hybrids_without_sysfs(void)
{
	struct tach__cpu cpu = {.vendor = "GenuineIntel", .family = 6, .model = 0x9a};
	struct tach_error err = TACH_ERROR_INIT;
	int pmus[4];

	root_wipe(root);
	cpu.core = 0x20;
	cpu.native = 1;
	CHECK(tach__pmus_of(TACH__X86, &cpu, 1, root, pmus, 4, &err) == 1);
	CHECK(pmus[0] == tach_pmu_find("adl_grt") && err.text[0] == 0, "%s", err.text);
	cpu.native = 77; /* a known core type in an unknown generation */
	CHECK(tach__pmus_of(TACH__X86, &cpu, 1, root, pmus, 4, &err) == 1);
	CHECK(pmus[0] == tach_pmu_find("adl_grt") && strstr(err.text, "adl_grt"), "%s",
	      err.text);
	cpu.core = cpu.native = 0;
	CHECK(tach__pmus_of(TACH__X86, &cpu, 1, root, pmus, 4, &err) == 1);
	CHECK(pmus[0] == tach_pmu_find("adl_glc") && strstr(err.text, "assuming adl_glc"), "%s",
	      err.text);
	/* A device with another name does not count. */
	put(DEVICES "cpu/type", "4\n");
	cpu.core = 0x40;
	cpu.native = 1;
	CHECK(tach__pmus_of(TACH__X86, &cpu, 1, root, pmus, 4, &err) == 1);
	CHECK(pmus[0] == tach_pmu_find("adl_glc") && err.text[0] == 0, "%s", err.text);
}

static void midr(int cpu, unsigned implementer, unsigned part, int capacity)
{
	char path[128];

	snprintf(path, sizeof path,
		 "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu);
	put(path, "0x%016llx\n",
	    (unsigned long long)implementer << 24 | 0xf0000u | part << 4 | 1);
	if (capacity) {
		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu);
		put(path, "%d\n", capacity);
	}
}

static void big_and_little_arm_cores(void)
{
	root_wipe(root);
	put("/sys/devices/system/cpu/possible", "0-7\n");
	for (int i = 0; i < 4; i++)
		midr(i, 0x41, 0xd03, 446);
	/* CPU 4 is offline, so it has no registers. */
	for (int i = 5; i < 8; i++)
		midr(i, 0x41, 0xd08, 1024);
	IS(TACH__ARM64, "arm_ac72 arm_ac53");
	/* sysfs has priority over /proc/cpuinfo, which differs in 32-bit processes. */
	put("/proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
	IS(TACH__ARM64, "arm_ac72 arm_ac53");
	root_wipe(root);
	put("/sys/devices/system/cpu/possible", "0\n");
	midr(0, 0x41, 0xd0c, 0);
	IS(TACH__ARM64, "arm_n1");
	/*
	 * Two core types in /proc/cpuinfo, which does not rank them: the order of the file is
	 * kept.
	 */
	root_wipe(root);
	put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\n"
			     "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\n"
			     "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\n");
	IS(TACH__ARM64, "arm_ac55 arm_ac76");
}

/* ---- unknown ---- */

static void unknown_cpus_are_said_to_be(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	int pmus[4];

	root_wipe(root);
	CHECK(ask(TACH__X86, &err)[0] == 0 && err.code == TACH_ERR_NOTFOUND, "%s", err.text);
	CHECK(strstr(err.text, "TACH_PMU") != NULL, "%s", err.text);
	CHECK(ask(TACH__ARM64, &err)[0] == 0 && err.code == TACH_ERR_NOTFOUND, "%s", err.text);
	CHECK(ask(TACH__IA64, &err)[0] == 0 && err.code == TACH_ERR_NOTFOUND, "%s", err.text);

	x86("HygonGenuine", 0x18, 1, 1);
	CHECK(ask(TACH__X86, &err)[0] == 0 && err.code == TACH_ERR_NOTFOUND, "%s", err.text);
	CHECK(strstr(err.text, "HygonGenuine family 0x18 model 0x1 stepping 0x1"), "%s",
	      err.text);
	CHECK(strstr(err.text, "TACH_PMU") != NULL, "%s", err.text);

	x86("GenuineIntel", 6, 0xfe, 3);
	IS(TACH__X86, "ix86arch");
	ask(TACH__X86, &err);
	CHECK(err.code == 0 && strstr(err.text, "model 0xfe"), "%s", err.text);

	/* An Intel CPU without the architectural PMU. */
	struct tach__cpu old = {.vendor = "GenuineIntel", .family = 5, .noarch = 1};
	CHECK(tach__pmus_of(TACH__X86, &old, 1, root, pmus, 4, &err) == 0, "%d", pmus[0]);
	CHECK(strstr(err.text, "family 0x5"), "%s", err.text);

	root_wipe(root);
	put("/sys/devices/system/cpu/possible", "0\n");
	midr(0, 0x41, 0xfff, 0);
	IS(TACH__ARM64, "arm_armv8");
	ask(TACH__ARM64, &err);
	CHECK(err.code == 0 && strstr(err.text, "implementer 0x41 part 0xfff"), "%s", err.text);
	midr(0, 0x61, 0xfff, 0); /* an Apple core, which cannot use PMUv3 instead */
	CHECK(ask(TACH__ARM64, &err)[0] == 0 && err.code == TACH_ERR_NOTFOUND, "%s", err.text);
	put("/sys/devices/system/cpu/possible", "0-1\n");
	midr(1, 0x61, 0x023, 0); /* together with a known core */
	IS(TACH__ARM64, "apple_firestorm");
	ask(TACH__ARM64, &err);
	CHECK(err.code == 0 && strstr(err.text, "unknown: implementer 0x61 part 0xfff"), "%s",
	      err.text);
}

static void hostile_files(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	char line[6000];

	root_wipe(root);
	memset(line, 'x', sizeof line - 1);
	line[sizeof line - 1] = 0;
	put("/proc/cpuinfo", "%s\nvendor_id : GenuineIntel%s\ncpu family : 99999999999999\n",
	    line, line);
	ask(TACH__X86, &err);
	put("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 97");
	IS(TACH__X86, "amd64_fam19h_zen4"); /* the last line has no newline */
	put("/sys/devices/system/cpu/possible", "0-4294967295\n");
	put("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "\n");
	CHECK(ask(TACH__ARM64, &err)[0] == 0, "%s", err.text);
	put("/sys/devices/system/cpu/possible", "-\n");
	CHECK(ask(TACH__ARM64, &err)[0] == 0, "%s", err.text);
}

/* ---- TACH_PMU, and the public calls ---- */

static void names_given(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	int pmus[4];

	CHECK(tach__pmus_named("skl", pmus, 4, &err) == 1 && pmus[0] == tach_pmu_find("skl"));
	CHECK(err.code == 0);
	CHECK(tach__pmus_named("ADL_GLC,adl_grt", pmus, 4, &err) == 2 &&
	      pmus[1] == tach_pmu_find("adl_grt"));
	CHECK(tach__pmus_named("adl_glc,nosuch", pmus, 4, &err) == 0);
	CHECK(err.code == TACH_ERR_NOTFOUND && err.column == 9 && strstr(err.text, "nosuch"),
	      "%d %s", err.column, err.text);
	CHECK(tach__pmus_named("perf", pmus, 4, &err) == 0, "no model");
	CHECK(tach__pmus_named(",", pmus, 4, &err) == 0);
	CHECK(tach__pmus_named("skl,skx_unc_imc0", pmus, 4, &err) == 0 && err.column == 5 &&
		      strstr(err.text, "'skx_unc_imc0' is a box of the uncore"),
	      "%s", err.text);
	/* The spelling of PAPI's files. */
	CHECK(tach__pmus_named("nhm-ex", pmus, 4, &err) == 1 &&
	      pmus[0] == tach_pmu_find("nhm_ex") && tach_pmu_find("NHM-EX") == pmus[0]);
}

/* Runs with TACH_PMU=value in a child: returns the number of PMUs and the first one. */
static int in_child(const char *value, int *n)
{
	int pipes[2], got[2] = {0, 0}, status;
	pid_t child;

	CHECK(pipe(pipes) == 0);
	child = fork();
	if (child == 0) {
		int pmus[4] = {-1};

		setenv("TACH_PMU", value, 1);
		got[0] = tach_pmu_host(pmus, 4, NULL);
		got[1] = pmus[0];
		_exit(write(pipes[1], got, sizeof got) != sizeof got);
	}
	CHECK(read(pipes[0], got, sizeof got) == sizeof got);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	close(pipes[0]);
	close(pipes[1]);
	*n = got[0];
	return got[1];
}

static void the_environment_overrides(void)
{
	int n;

	CHECK(in_child("skx", &n) == tach_pmu_find("skx") && n == 1);
	CHECK(in_child("arm_n1,arm_v1", &n) == tach_pmu_find("arm_n1") && n == 2);
	CHECK(in_child("nosuch", &n) == -1 && n == 0);
}

static void public_calls(void)
{
	struct {
		struct tach_pmu_info info;
		char more[16];
	} larger;
	struct tach_pmu_info info = {.size = sizeof info};
	struct tach_event_info event = {.size = sizeof event};
	struct tach_umask_info umask = {.size = sizeof umask};
	int pmu = tach_pmu_find("SKL"), pmus[8], n;

	CHECK(tach_pmu_count() == tach__npmus());
	CHECK(tach_pmu_find("perf") == tach__npmus() - 2);
	CHECK(tach_pmu_find("PERF_RAW") == tach__npmus() - 1);
	CHECK(tach_pmu_find("nosuch") == TACH_ERR_NOTFOUND);
	CHECK(tach_pmu_find(NULL) == TACH_ERR_INVAL);
	for (int i = 0; i < tach_pmu_count(); i++) {
		CHECK(tach_pmu_describe(i, &info) == 0);
		CHECK(tach_pmu_find(info.name) == i, "%s", info.name);
	}
	CHECK(tach_pmu_describe(-1, &info) == TACH_ERR_INVAL);
	for (int i = tach_pmu_count(); i < tach_pmu_count() + tach_pmu_uncore_count(); i++) {
		CHECK(tach_pmu_describe(i, &info) == 0 && info.uncore && !info.general);
		CHECK(tach_pmu_find(info.name) == i, "%s", info.name);
		CHECK(tach_pmu_event(i, info.nevents - 1, &event) == 0);
		CHECK(tach_pmu_event(i, info.nevents, &event) == TACH_ERR_INVAL);
	}
	CHECK(tach_pmu_uncore_count() >= 566);
	CHECK(tach_pmu_describe(tach_pmu_count() + tach_pmu_uncore_count(), &info) ==
	      TACH_ERR_INVAL);
	CHECK(tach_pmu_describe(pmu, NULL) == TACH_ERR_INVAL);

	CHECK(tach_pmu_describe(pmu, &info) == 0 && info.libpfm4_id == 200);
	CHECK(info.general == 4 && info.general_width == 48 && info.fixed == 7);
	memset(&larger, 0x5a, sizeof larger);
	larger.info.size = sizeof larger;
	CHECK(tach_pmu_describe(pmu, &larger.info) == 0 && larger.info.size == sizeof larger);
	CHECK(larger.more[0] == 0 && larger.more[15] == 0, "a larger struct's tail is zeroed");
	info.size = 7;
	CHECK(tach_pmu_describe(pmu, &info) == TACH_ERR_INVAL, "no struct has that size");

	CHECK(tach_pmu_event(pmu, 0, &event) == 0 && event.name[0]);
	CHECK(tach_pmu_event(pmu, -1, &event) == TACH_ERR_INVAL);
	CHECK(tach_pmu_event(pmu, 100000, &event) == TACH_ERR_INVAL);
	pmu = tach_pmu_find("snb");
	n = tach__event_find(pmu, "LSD", 3);
	CHECK(tach_pmu_event(pmu, n, &event) == 0 && event.numasks >= 3);
	CHECK(tach_pmu_umask(pmu, n, 0, &umask) == 0 && umask.is_default == 1);
	CHECK(tach_pmu_umask(pmu, n, 1, &umask) == 0 && umask.alias_of != NULL);
	CHECK(tach_pmu_umask(pmu, n, event.numasks, &umask) == TACH_ERR_INVAL);

	n = tach__event_find(pmu, "OFFCORE_RESPONSE_0", 18);
	CHECK(tach_pmu_umask(pmu, n, 0, &umask) == 0 && umask.counters == 0xf,
	      "a umask counts where its event does: %#llx", (unsigned long long)umask.counters);

	CHECK(tach_pmu_host(NULL, 1, NULL) == TACH_ERR_INVAL);
	CHECK(tach_pmu_host(NULL, -1, NULL) == TACH_ERR_INVAL);
	n = tach_pmu_host(pmus, 8, NULL);
	CHECK(n >= 0 && tach_pmu_host(NULL, 0, NULL) == n, "asking how many");
	for (int i = 0; i < n && i < 8; i++) {
		info.size = sizeof info;
		CHECK(tach_pmu_describe(pmus[i], &info) == 0 && info.present, "%s", info.name);
	}
}

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	CASE(every_match_line);
	CASE(riscv64_machines);
	CASE(hybrids_by_sysfs);
	CASE(hybrids_without_sysfs);
	CASE(less_known_ones);
	CASE(big_and_little_arm_cores);
	CASE(unknown_cpus_are_said_to_be);
	CASE(hostile_files);
	CASE(names_given);
	CASE(the_environment_overrides);
	CASE(public_calls);
	root_wipe(root);
	rmdir(root);
	return check_done();
}
