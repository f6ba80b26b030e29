/* SPDX-License-Identifier: MIT */
/* The boxes of a machine: found by the CPU, or by sysfs if the table requires it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tach/arch.h>
#include <unistd.h>
#include "core/pmu/pmu.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-boxes-XXXXXX";

/* Returns the names of all boxes in the mask. */
static const char *names_of(const uint64_t *boxes)
{
	static char names[4096];
	char *at = names;

	*at = 0;
	for (int i = tach__npmus(); i < tach__npmus() + tach__nboxes(); i++)
		if (tach__box_in(boxes, i) && at < names + sizeof names - 64)
			at += sprintf(at, "%s%s", at > names ? " " : "",
				      tach__str(tach__pmu_at(i)->name));
	return names;
}

static const char *has(enum tach__arch arch, const char *vendor, unsigned family,
		       unsigned model)
{
	struct tach__cpu cpus[2] = {{.vendor = "NoMaker", .family = 99, .model = 99},
				    {.family = family, .model = model}};
	uint64_t boxes[TACH__BOX_WORDS] = {0}, none[TACH__BOX_WORDS] = {0};

	strcpy(cpus[1].vendor, vendor);
	tach__boxes_of(arch, cpus, 1, root, none);
	CHECK(!*names_of(none), "of an unknown CPU: %s", names_of(none));
	tach__boxes_of(arch, cpus + 1, 0, root, none);
	CHECK(!*names_of(none), "of no CPU: %s", names_of(none));
	/* One of several core types is enough. */
	tach__boxes_of(arch, cpus, 2, root, boxes);
	return names_of(boxes);
}

/*
 * Bit n is set if the kernel's PMU power counts event n on that CPU (Linux 7.2.13,
 * arch/x86/events/rapl.c).
 */
static void energy(void)
{
	static const struct {
		const char *vendor;
		unsigned family, model, events;
	} all[] = {
		{"GenuineIntel", 0x6, 0x2a, 0x16}, {"GenuineIntel", 0x6, 0x2d, 0xe},
		{"GenuineIntel", 0x6, 0x3a, 0x16}, {"GenuineIntel", 0x6, 0x3c, 0x1e},
		{"GenuineIntel", 0x6, 0x3d, 0x1e}, {"GenuineIntel", 0x6, 0x3e, 0xe},
		{"GenuineIntel", 0x6, 0x3f, 0xe},  {"GenuineIntel", 0x6, 0x45, 0x1e},
		{"GenuineIntel", 0x6, 0x46, 0x1e}, {"GenuineIntel", 0x6, 0x47, 0x1e},
		{"GenuineIntel", 0x6, 0x4e, 0x3e}, {"GenuineIntel", 0x6, 0x4f, 0xe},
		{"GenuineIntel", 0x6, 0x55, 0xe},  {"GenuineIntel", 0x6, 0x56, 0xe},
		{"GenuineIntel", 0x6, 0x57, 0xc},  {"GenuineIntel", 0x6, 0x5c, 0x1e},
		{"GenuineIntel", 0x6, 0x5e, 0x3e}, {"GenuineIntel", 0x6, 0x5f, 0x1e},
		{"GenuineIntel", 0x6, 0x66, 0x3e}, {"GenuineIntel", 0x6, 0x6a, 0xe},
		{"GenuineIntel", 0x6, 0x6c, 0xe},  {"GenuineIntel", 0x6, 0x7a, 0x1e},
		{"GenuineIntel", 0x6, 0x7d, 0x3e}, {"GenuineIntel", 0x6, 0x7e, 0x3e},
		{"GenuineIntel", 0x6, 0x85, 0xc},  {"GenuineIntel", 0x6, 0x8c, 0x3e},
		{"GenuineIntel", 0x6, 0x8d, 0x3e}, {"GenuineIntel", 0x6, 0x8e, 0x3e},
		{"GenuineIntel", 0x6, 0x8f, 0x2e}, {"GenuineIntel", 0x6, 0x97, 0x3e},
		{"GenuineIntel", 0x6, 0x9a, 0x3e}, {"GenuineIntel", 0x6, 0x9e, 0x3e},
		{"GenuineIntel", 0x6, 0xa5, 0x3e}, {"GenuineIntel", 0x6, 0xa6, 0x3e},
		{"GenuineIntel", 0x6, 0xaa, 0x3e}, {"GenuineIntel", 0x6, 0xac, 0x3e},
		{"GenuineIntel", 0x6, 0xad, 0x2c}, {"GenuineIntel", 0x6, 0xae, 0x2c},
		{"GenuineIntel", 0x6, 0xaf, 0x2c}, {"GenuineIntel", 0x6, 0xb5, 0x3e},
		{"GenuineIntel", 0x6, 0xb7, 0x3e}, {"GenuineIntel", 0x6, 0xba, 0x3e},
		{"GenuineIntel", 0x6, 0xbd, 0x3e}, {"GenuineIntel", 0x6, 0xbe, 0x3e},
		{"GenuineIntel", 0x6, 0xbf, 0x3e}, {"GenuineIntel", 0x6, 0xc5, 0x3e},
		{"GenuineIntel", 0x6, 0xc6, 0x3e}, {"GenuineIntel", 0x6, 0xcc, 0x3e},
		{"GenuineIntel", 0x6, 0xcf, 0x2e}, {"GenuineIntel", 0x6, 0xd5, 0x3e},
		{"GenuineIntel", 0x6, 0xdd, 0x2c}, {"GenuineIntel", 0x13, 0x1, 0x2c},
	};

	root_wipe(root);
	root_put(root, "/sys/bus/event_source/devices/power/type", "33\n");
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach__cpu cpu = {.family = all[i].family, .model = all[i].model};
		uint64_t boxes[TACH__BOX_WORDS] = {0};
		unsigned events = 0;

		strcpy(cpu.vendor, all[i].vendor);
		tach__boxes_of(TACH__X86, &cpu, 1, root, boxes);
		for (int pmu = tach__npmus(); pmu < tach__npmus() + tach__nboxes(); pmu++)
			if (tach__box_in(boxes, pmu) &&
			    !strcmp(tach__str(tach__pmu_at(pmu)->perf), "power"))
				for (int e = 0; e < (int)tach__pmu_at(pmu)->nevents; e++)
					events |= 1u << (tach__event_at(pmu, e)->code & 31);
		CHECK((events & all[i].events) == all[i].events, "%s %x-%x: %#x of %#x",
		      all[i].vendor, all[i].family, all[i].model, events, all[i].events);
	}
}

static void by_sysfs(void)
{
	static const struct {
		const char *vendor;
		unsigned family, model;
		const char *names;
	} machines[] = {
		/* the kernel calls a single box uncore_imc; its number is 0 */
		{"GenuineIntel", 6, 0x55, "skx_unc_imc0 skx_unc_upi1 rapl_hswep"},
		{"GenuineIntel", 6, 0x57, "knl_unc_imc0 rapl_knl"},
		{"GenuineIntel", 6, 0x4e, "rapl_skl"},
		/* These boxes exist on each machine with this CPU. */
		{"GenuineIntel", 6, 0x1a, "nhm_unc"},
		{"AuthenticAMD", 0x19, 1, "amd64_fam19h_zen3_l3 amd64_rapl"},
		{"AuthenticAMD", 6, 0x55, ""},
		{"GenuineIntel", 0x19, 1, ""},
		{"GenuineIntel", 6, 1, ""},
	};

	root_wipe(root);
	root_put(root, "sys/bus/event_source/devices/uncore_imc/type", "1\n");
	root_put(root, "sys/bus/event_source/devices/uncore_upi_1/type", "1\n");
	root_put(root, "sys/bus/event_source/devices/power/type", "1\n");
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		const char *names = has(TACH__X86, machines[i].vendor, machines[i].family,
					machines[i].model);

		CHECK(strcmp(names, machines[i].names) == 0, "%s %x %x: %s", machines[i].vendor,
		      machines[i].family, machines[i].model, names);
	}
	root_wipe(root);
	root_put(root, "sys/bus/event_source/devices/uncore_imc_3/type", "1\n");
	CHECK(strcmp(has(TACH__X86, "GenuineIntel", 6, 0x55), "skx_unc_imc3") == 0);
	root_wipe(root);
	CHECK(!*has(TACH__X86, "GenuineIntel", 6, 0x55));
	CHECK(strcmp(has(TACH__X86, "GenuineIntel", 6, 0x1a), "nhm_unc") == 0);
}

/* Kunpeng 920: four dies with 4 memory controllers, 2 home agents and 8 caches each. */
static void arm(void)
{
	const char *names;
	int n = 1;

	names = has(TACH__ARM64, "", 0x48, 0xd01);
	for (const char *at = strchr(names, ' '); at; at = strchr(at + 1, ' '))
		n++;
	CHECK(n == 56 && !strncmp(names, "hisi_sccl1_ddrc0 hisi_sccl1_ddrc1 ", 34), "%d: %s", n,
	      names);
	CHECK(strstr(names, "hisi_sccl7_ddrc3 ") && strstr(names, "hisi_sccl5_hha6 ") &&
		      strstr(names, "hisi_sccl1_l3c15 "),
	      "%s", names);
	CHECK(!*has(TACH__X86, "", 0x48, 0xd01) && !*has(TACH__ARM64, "", 0x48, 0xd02));
	CHECK(!*has(TACH__ARM64, "GenuineIntel", 6, 0x1a));
}

static int all_devices; /* set: this machine's sysfs has every device */

#pragma GCC visibility push(default)
int access(const char *path, int mode)
{
	static const char devices[] = "/sys/bus/event_source/devices/";

	if (all_devices && strncmp(path, devices, sizeof devices - 1) == 0)
		return 0;
	return faccessat(AT_FDCWD, path, mode, 0);
}
#pragma GCC visibility pop

/* The boxes of this machine are those of its CPUs, and do not change. */
static void this_machines(void)
{
	uint64_t boxes[TACH__BOX_WORDS] = {0};
	struct tach__cpu cpus[TACH__CPU_KINDS];
	int arch = tach__native_arch(), n;

	all_devices = 1;
	CHECK(arch >= 0 && strcmp(tach__parts[arch]->native, TACH_ARCH_NAME) == 0, "%d", arch);
	n = tach__parts[arch]->cpus("", 1, cpus, TACH__CPU_KINDS);
	tach__boxes_of((enum tach__arch)arch, cpus, n, "", boxes);
	CHECK(memcmp(tach__boxes(), boxes, sizeof boxes) == 0);
	CHECK(tach__boxes() == tach__boxes());
}

/* A number above the last bit is not a box number. */
static void as_many_as_there_are_bits(void)
{
	uint64_t boxes[TACH__BOX_WORDS + 1] = {0};
	int end = tach__npmus() + TACH__BOX_WORDS * 64;

	boxes[TACH__BOX_WORDS - 1] = (uint64_t)1 << 63;
	boxes[TACH__BOX_WORDS] = UINT64_MAX;
	CHECK(tach__box_in(boxes, end - 1) && !tach__box_in(boxes, end - 2));
	CHECK(!tach__box_in(boxes, end) && !tach__box_in(boxes, end + 63));
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	CASE(by_sysfs);
	CASE(energy);
	CASE(arm);
	CASE(this_machines);
	CASE(as_many_as_there_are_bits);
	root_wipe(root);
	rmdir(root);
	return check_done();
}
