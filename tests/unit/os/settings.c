/* SPDX-License-Identifier: MIT */
/* Facts about the kernel, the processor and the process, from files of simulated machines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <tach/arch.h>
#include "core/os/settings.h"
#include "core/os/sys.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-settings-XXXXXX";

#define put(path, ...) root_put(root, path, __VA_ARGS__)

static struct tach__settings settings(void)
{
	struct tach__settings s;

	memset(&s, 0xff, sizeof s);
	errno = 4711;
	tach__settings_read(&s, root);
	CHECK(errno == 4711);
	return s;
}

/* Simulates a machine with only this file. */
static struct tach__settings with(const char *path, const char *text)
{
	root_wipe(root);
	put(path, "%s", text);
	return settings();
}

static void numbers(void)
{
	static const struct {
		const char *text;
		int32_t value;
	} of[] = {
		{"2\n", 2},
		{"-1\n", -1},
		{"1000000000\n", 1000000000},
		{"1000000001\n", TACH__UNREADABLE},
		{"-1000000000\n", -1000000000},
		{"-1000000001\n", TACH__UNREADABLE},
		{"2 \n", TACH__UNREADABLE},
		{"2x\n", TACH__UNREADABLE},
		{"\n", TACH__UNREADABLE},
		{"", TACH__UNREADABLE},
	};

	CHECK(tach__setting(root, "/not") == TACH__UNREADABLE);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		put("/number", "%s", of[i].text);
		CHECK(tach__setting(root, "/number") == of[i].value, "'%s': %d", of[i].text,
		      tach__setting(root, "/number"));
	}
}

static void of_the_kernel(void)
{
	struct tach__settings s;

	root_wipe(root);
	s = settings();
	CHECK(s.paranoid == TACH__UNREADABLE && s.rdpmc == TACH__UNREADABLE);
	CHECK(s.user_access == TACH__UNREADABLE && s.mlock_kb == TACH__UNREADABLE);
	CHECK(s.watchdog == (TACH_ARCH_WATCHDOG ? TACH__UNREADABLE : 0));
	CHECK(!s.clocksource[0] && !s.selinux && !s.confidential && !s.seccomp);
	CHECK(!s.capable && !s.user_namespace && !s.apparmor[0]);
	put("/proc/sys/kernel/perf_event_paranoid", "4\n");
	put("/sys/bus/event_source/devices/cpu/rdpmc", "1\n");
	put("/proc/sys/kernel/perf_user_access", "0\n");
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	put("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put("/sys/fs/selinux/enforce", "1");
	put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	s = settings();
	CHECK(s.paranoid == 4 && s.rdpmc == 1 && s.user_access == 0 && s.mlock_kb == 516);
	CHECK(s.watchdog == (TACH_ARCH_WATCHDOG ? 1 : 0));
	CHECK(strcmp(s.clocksource, "tsc") == 0 && s.selinux == 1 && s.confidential == 1);
	put("/sys/fs/selinux/enforce", "0");
	put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	s = settings();
	CHECK(s.selinux == 0 && s.confidential == 0);
}

static void of_the_processor(void)
{
	static const struct {
		const char *flags;
		int invariant, virtual;
	} of[] = {
		{"fpu constant_tsc nonstop_tsc vmx", 1, 0},
		{"constant_tsc nonstop_tsc", 1, 0},
		{"constant_tsc hypervisor", 0, 1},
		{"hypervisor nonstop_tsc", 0, 1},
		{"nonstop_tsc constant_tsc_x constant_tsc", 1, 0},
		{"xconstant_tsc nonstop_tsc", 0, 0},
		{"constant_tsc nonstop_tsc_s3 hypervisors", 0, 0},
	};
	struct tach__settings s;

	root_wipe(root);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		put("/proc/cpuinfo",
		    "processor\t: 0\nmodel name\t: A CPU\nflags\t\t: %s\n\n"
		    "processor\t: 1\nmodel name\t: B CPU\nflags\t\t: constant_tsc nonstop_tsc "
		    "hypervisor\n",
		    of[i].flags);
		s = settings();
		CHECK(strcmp(s.cpu, "A CPU") == 0, "%s", s.cpu);
		CHECK(s.tsc_invariant == of[i].invariant && s.virtual_machine == of[i].virtual,
		      "%s: %d, %d", of[i].flags, s.tsc_invariant, s.virtual_machine);
	}
	s = with("/proc/cpuinfo",
		 "processor : 0\nCPU implementer : 0x41\n"
		 "CPU part : 0xd0c\nCPU implementer : 0x42\nCPU part : 0xd0d\n");
	CHECK(strcmp(s.cpu, "implementer 0x41 part 0xd0c") == 0, "%s", s.cpu);
	CHECK(s.tsc_invariant == -1 && !s.virtual_machine);
	s = with("/proc/cpuinfo", "CPU implementer : 1\nCPU part : 2\nCPU part : 3\n");
	CHECK(strcmp(s.cpu, "implementer 1 part 2") == 0, "%s", s.cpu);
	s = with("/proc/cpuinfo", "CPU implementer : 0x41\n");
	CHECK(strcmp(s.cpu, "implementer 0x41 part ") == 0, "%s", s.cpu);
	s = with(
		"/proc/cpuinfo",
		"model name : C1\nmodel name : C2\nCPU implementer : 0x41\nCPU part : 0xd0c\n");
	CHECK(strcmp(s.cpu, "C1") == 0, "%s", s.cpu);
	s = with("/proc/cpuinfo", "model name : C1\nhart : 1\nmodel name : C2\nisa : rv64\n");
	CHECK(strcmp(s.cpu, "C1") == 0, "%s", s.cpu);
	s = with("/proc/cpuinfo", "processor : 0\n");
	CHECK(!s.cpu[0] && s.tsc_invariant == -1);
}

static void virtual_machines(void)
{
	static const struct {
		const char *vendor, *product;
		int is;
	} of[] = {
		{"KVM", NULL, 1},
		{"QEMU", "Standard PC", 1},
		{"VMware, Inc.", "", 1},
		{"Xen", "HVM domU", 1},
		{"innotek GmbH", "Box", 1},
		{"Parallels Software", "", 1},
		{"Amazon EC2", "c5.large", 1},
		{"Google", "Compute Engine", 1},
		{"OpenStack Foundation", "", 1},
		{"Bochs", "", 1},
		{"Amazon EC2", "c5.metal", 0},
		{"Dell Inc.", "QEMU", 0},
		{"My QEMU", "", 0},
		{"qemu", "", 0},
	};
	struct tach__settings s;

	root_wipe(root);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		put("/sys/class/dmi/id/sys_vendor", "%s\n", of[i].vendor);
		if (of[i].product)
			put("/sys/class/dmi/id/product_name", "%s\n", of[i].product);
		s = settings();
		CHECK(s.virtual_machine == of[i].is &&
			      strcmp(s.hypervisor, of[i].is ? of[i].vendor : "") == 0,
		      "%s, %s: %d, '%s'", of[i].vendor, of[i].product, s.virtual_machine,
		      s.hypervisor);
	}
	/* The hypervisor's own file has priority over the firmware's. */
	put("/sys/hypervisor/type", "xen\n");
	put("/sys/class/dmi/id/sys_vendor", "QEMU\n");
	s = settings();
	CHECK(s.virtual_machine == 1 && strcmp(s.hypervisor, "xen") == 0, "%s", s.hypervisor);
	s = with("/sys/hypervisor/type", "x\n");
	CHECK(s.virtual_machine == 1 && strcmp(s.hypervisor, "x") == 0);
	s = with("/sys/hypervisor/type", "\n");
	CHECK(!s.virtual_machine);
	s = with("/sys/firmware/devicetree/base/compatible", "linux,dummy-virt");
	CHECK(s.virtual_machine == 1 && !s.hypervisor[0]);
	s = with("/sys/firmware/devicetree/base/compatible", "raspberrypi,4");
	CHECK(!s.virtual_machine);
	s = with("/sys/firmware/devicetree/base/compatible", "");
	CHECK(!s.virtual_machine);
}

static void of_the_process(void)
{
	static const struct {
		const char *effective;
		int capable;
	} of[] = {
		{"0000000000000000", 0}, {"0000000000200000", 1}, {"0000000000100000", 0},
		{"0000000000400000", 0}, {"0000004000000000", 1}, {"0000002000000000", 0},
		{"0000008000000000", 0}, {"000001ffffffffff", 1},
	};
	struct tach__settings s;

	root_wipe(root);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		put("/proc/self/status",
		    "CapPrm:\t000001ffffffffff\nCapEff:\t%s\nSeccomp:\t2\nSeccomp:\t1\n",
		    of[i].effective);
		s = settings();
		CHECK(s.capable == of[i].capable && s.seccomp == 2, "%s: %d, %d",
		      of[i].effective, s.capable, s.seccomp);
	}
	s = with("/proc/self/uid_map", "0 1000 1\n");
	CHECK(s.user_namespace == 1);
	s = with("/proc/self/attr/current", "docker-default (enforce)\n");
	CHECK(strcmp(s.apparmor, "docker-default") == 0, "%s", s.apparmor);
	s = with("/proc/self/attr/current", "docker-default (complain)\n");
	CHECK(!s.apparmor[0]);
	s = with("/proc/self/attr/current", "system_u:object_r:httpd_t:s0\n");
	CHECK(!s.apparmor[0]);
}

/* Texts longer than their buffer are shortened, and the bytes after the buffer stay. */
static void long_texts(void)
{
	char text[2][200];
	struct tach__settings s;

	memset(text, 'x', sizeof text);
	text[0][199] = text[1][190] = '\0';
	root_wipe(root);
	put("/proc/cpuinfo", "model name : %s\n", text[0]);
	put("/sys/hypervisor/type", "%s\n", text[0]);
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "%s", text[0]);
	put("/proc/self/attr/current", "%.100s (enforce)\n", text[0]);
	s = settings();
	CHECK(strlen(s.cpu) == 95 && strlen(s.hypervisor) == 47 &&
		      strlen(s.clocksource) == 31 && strlen(s.apparmor) == 63,
	      "%zu, %zu, %zu, %zu", strlen(s.cpu), strlen(s.hypervisor), strlen(s.clocksource),
	      strlen(s.apparmor));
	root_wipe(root);
	put("/proc/cpuinfo", "CPU implementer : %s\nCPU part : %s\n", text[0], text[1]);
	put("/sys/class/dmi/id/sys_vendor", "QEMU%s\n", text[0]);
	s = settings();
	CHECK(strlen(s.cpu) == strlen("implementer  part ") + 31 + 31, "%s", s.cpu);
	CHECK(strlen(s.hypervisor) == 47, "%s", s.hypervisor);
}

/* ---- limits ---- */

static uint64_t files, locked;
static int refused;

static long limits(long number, long a, long b, long c, long d, long e, long f)
{
	(void)e;
	(void)f;
	CHECK(number == SYS_prlimit64 && a == 0 && c == 0, "system call %ld", number);
	if (refused)
		return -EPERM;
	*(struct rlimit *)d = (struct rlimit){b == RLIMIT_NOFILE    ? files
					      : b == RLIMIT_MEMLOCK ? locked
								    : 4711,
					      0};
	return 0;
}

static void of_limits(void)
{
	static const struct {
		uint64_t files, locked;
		int refused;
		int32_t descriptors;
		int64_t memlock;
	} of[] = {
		{1024, 65536, 0, 1024, 65536},
		{INT32_MAX - 1, 0, 0, INT32_MAX - 1, 0},
		{INT32_MAX, INT64_MAX, 0, -1, INT64_MAX},
		{RLIM_INFINITY, RLIM_INFINITY, 0, -1, -1},
		{1024, 65536, 1, -1, -1},
	};

	tach__sys = limits;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct tach__settings s;

		files = of[i].files;
		locked = of[i].locked;
		refused = of[i].refused;
		s = settings();
		CHECK(s.descriptors == of[i].descriptors && s.memlock_bytes == of[i].memlock,
		      "%zu: %d, %lld", i, s.descriptors, (long long)s.memlock_bytes);
	}
	tach__sys = tach__sys_real;
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	CASE(numbers);
	CASE(of_the_kernel);
	CASE(of_the_processor);
	CASE(virtual_machines);
	CASE(of_the_process);
	CASE(long_texts);
	CASE(of_limits);
	root_wipe(root);
	rmdir(root);
	return check_done();
}
