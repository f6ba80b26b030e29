/* SPDX-License-Identifier: MIT */
/* The examination with fake folders of settings, and with real obstacles set up in a child. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/doctor/doctor.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[64];

#define put(path, text) root_put(root, path, "%s", text)

static struct tach__evidence settings(void)
{
	struct tach__evidence e;

	tach__evidence_settings(&e, root);
	return e;
}

static void nothing_readable(void)
{
	struct tach__evidence e = settings();

	CHECK(e.settings.paranoid == TACH__UNREADABLE && e.settings.rdpmc == TACH__UNREADABLE);
	CHECK(e.settings.user_access == TACH__UNREADABLE &&
	      e.settings.watchdog == TACH__UNREADABLE);
	CHECK(e.core_pmus == 0 && !e.settings.virtual_machine && !e.settings.cpu[0] &&
	      e.settings.tsc_invariant == -1);
}

static void an_x86_machine(void)
{
	struct tach__evidence e;

	put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	put("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	put("/proc/self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Foo CPU @ 3 GHz\n"
			     "flags\t\t: fpu constant_tsc nonstop_tsc_s3 nonstop_tsc\n");
	put("/sys/bus/event_source/devices/cpu/rdpmc", "2\n");
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	e = settings();
	CHECK(e.settings.paranoid == -1 && e.settings.watchdog == 1 &&
		      e.settings.mlock_kb == 516,
	      "%d", e.settings.paranoid);
	CHECK(e.settings.seccomp == 2 && e.settings.rdpmc == 2 && e.core_pmus == 1, "%d",
	      e.core_pmus);
	CHECK(strcmp(e.settings.cpu, "Foo CPU @ 3 GHz") == 0, "%s", e.settings.cpu);
	CHECK(e.settings.tsc_invariant == 1 && strcmp(e.settings.clocksource, "hpet") == 0);
	CHECK(!e.settings.virtual_machine);
	put("/proc/cpuinfo", "flags\t\t: fpu constant_tsc nonstop_tsc_s3 hypervisor\n");
	e = settings();
	CHECK(e.settings.tsc_invariant == 0, "a longer word is another word");
	CHECK(e.settings.virtual_machine);
}

static void a_hybrid_machine(void)
{
	struct tach__evidence e;

	put("/sys/bus/event_source/devices/cpu_core/cpus", "0-7\n");
	put("/sys/bus/event_source/devices/cpu_core/rdpmc", "1\n");
	put("/sys/bus/event_source/devices/cpu_atom/cpus", "8-15\n");
	put("/sys/bus/event_source/devices/cpu_atom/rdpmc", "0\n");
	e = settings();
	CHECK(e.core_pmus == 2 && e.settings.rdpmc == 0, "%d core PMUs, rdpmc %d", e.core_pmus,
	      e.settings.rdpmc);
}

static void an_arm64_machine(void)
{
	struct tach__evidence e;

	put("/proc/sys/kernel/perf_user_access", "1\n");
	put("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp\nCPU implementer\t: 0x41\n"
			     "CPU part\t: 0xd0c\n");
	put("/sys/bus/event_source/devices/armv8_pmuv3_0/cpus", "0-3\n");
	e = settings();
	CHECK(e.settings.user_access == 1 && e.core_pmus == 1);
	CHECK(strcmp(e.settings.cpu, "implementer 0x41 part 0xd0c") == 0, "%s", e.settings.cpu);
	CHECK(e.settings.tsc_invariant == -1, "no time-stamp counter");
	CHECK(!e.settings.virtual_machine);
	put("/sys/firmware/devicetree/base/compatible", "linux,dummy-virt");
	CHECK(settings().settings.virtual_machine);
}

static void virtual_by_firmware(void)
{
	struct tach__evidence e;

	put("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	put("/sys/class/dmi/id/product_name", "m5.metal\n");
	CHECK(!settings().settings.virtual_machine, "bare metal for rent");
	put("/sys/class/dmi/id/product_name", "m5.large\n");
	e = settings();
	CHECK(e.settings.virtual_machine && strcmp(e.settings.hypervisor, "Amazon EC2") == 0,
	      "%s", e.settings.hypervisor);
	put("/sys/hypervisor/type", "xen\n");
	CHECK(strcmp(settings().settings.hypervisor, "xen") == 0);
}

static void malformed_settings_are_unreadable(void)
{
	static const char *const bad[] = {"", "x", "1x", "99999999999999999999", "--1", "\n"};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		put("/proc/sys/kernel/perf_event_paranoid", bad[i]);
		CHECK(settings().settings.paranoid == TACH__UNREADABLE, "'%s'", bad[i]);
	}
}

/* Runs each fake machine in a folder of its own. */
#define FAKE(function)                                                                         \
	do {                                                                                   \
		char command[96];                                                              \
		snprintf(root, sizeof root, "/tmp/tach-doctor.XXXXXX");                        \
		if (!mkdtemp(root))                                                            \
			return 1;                                                              \
		CASE(function);                                                                \
		snprintf(command, sizeof command, "rm -rf %s", root);                          \
		if (system(command) != 0)                                                      \
			return 1;                                                              \
	} while (0)

static struct tach_examination *shared;

/* Examines in a child with an obstacle; returns 0 if the obstacle could not be set up. */
static int examine_behind(int (*obstacle)(void))
{
	int status;
	pid_t child;

	memset(shared, 0, sizeof *shared);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		static struct tach_examination x = {.size = sizeof x};

		if (obstacle && obstacle() != 0)
			_exit(9);
		errno = 4711;
		if (tach_doctor_examine(NULL, &x, NULL) != 0 || errno != 4711)
			_exit(1);
		*shared = x;
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 0;
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 1, "child's status %#x", status);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const struct tach_finding *found(enum tach_cause cause)
{
	for (uint32_t i = 0; i < shared->nfindings; i++)
		if (shared->findings[i].cause == cause)
			return &shared->findings[i];
	return NULL;
}

static int refuse_perf_event_open(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int refuse_eperm(void)
{
	return refuse_perf_event_open(EPERM);
}

static int refuse_enosys(void)
{
	return refuse_perf_event_open(ENOSYS);
}

static void seccomp_eperm(void)
{
	if (!examine_behind(refuse_eperm))
		SKIP("this machine forbids seccomp filters");
	CHECK(found(TACH_CAUSE_SECCOMP_EPERM), "%s", shared->findings[1].text);
	CHECK(shared->verdict == TACH_VERDICT_CLOCK);
}

static void seccomp_enosys(void)
{
	if (!examine_behind(refuse_enosys))
		SKIP("this machine forbids seccomp filters");
	CHECK(found(TACH_CAUSE_SECCOMP_ENOSYS), "%s", shared->findings[1].text);
}

static int can_open(void)
{
	return !found(TACH_CAUSE_NO_PERF_EVENTS) && !found(TACH_CAUSE_SECCOMP_EPERM) &&
	       !found(TACH_CAUSE_SECCOMP_ENOSYS) && !found(TACH_CAUSE_SECURITY_MODULE) &&
	       !found(TACH_CAUSE_PARANOID);
}

/*
 * Files of /proc must stay readable: the limit leaves room for one descriptor, events need two.
 */
static int no_descriptors(void)
{
	struct rlimit limit = {64, 64};
	int fd = -1;

	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return -1;
	while ((fd = dup(STDOUT_FILENO)) >= 0)
		;
	return 0;
}

static void descriptors_used_up(void)
{
	examine_behind(NULL);
	if (!can_open())
		SKIP("perf_event_open is refused here for another reason");
	if (!examine_behind(no_descriptors))
		SKIP("this machine forbids setrlimit");
	CHECK(found(TACH_CAUSE_DESCRIPTORS), "%s", shared->findings[1].text);
}

/* Drops root privileges, if the test has them. */
static int become_nobody(void)
{
	if (geteuid() == 0)
		return setgid(65534) || setuid(65534);
	return 0;
}

static void unprivileged_user(void)
{
	char text[16] = "";
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC), level;

	if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
		SKIP("perf_event_paranoid is not readable");
	close(fd);
	level = atoi(text);
	if (!examine_behind(become_nobody))
		SKIP("cannot drop to an unprivileged user");
	if (level > 2)
		CHECK(found(TACH_CAUSE_PARANOID), "level %d", level);
	else if (!can_open())
		SKIP("perf_event_open is refused here for another reason");
	else
		CHECK(!!found(TACH_CAUSE_PARANOID_KERNEL) == (level == 2), "level %d", level);
}

static void a_bad_size_is_refused(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	static struct tach_examination x = {.size = 1};
	static const struct tach_doctor_options opt = {1, NULL};

	CHECK(tach_doctor_examine(NULL, &x, &err) == TACH_ERR_INVAL && err.text[0]);
	CHECK(tach_doctor_examine(NULL, NULL, NULL) == TACH_ERR_INVAL);
	x.size = sizeof x;
	CHECK(tach_doctor_examine(&opt, &x, NULL) == TACH_ERR_INVAL);
}

int main(void)
{
	FAKE(nothing_readable);
	FAKE(an_x86_machine);
	FAKE(a_hybrid_machine);
	FAKE(an_arm64_machine);
	FAKE(virtual_by_firmware);
	FAKE(malformed_settings_are_unreadable);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	CASE(seccomp_eperm);
	CASE(seccomp_enosys);
	CASE(descriptors_used_up);
	CASE(unprivileged_user);
	CASE(a_bad_size_is_refused);
	return check_done();
}
