/* SPDX-License-Identifier: MIT */
/* Settings of the kernel and of the process, from /proc and /sys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <tach/arch.h>
#include "core/os/kernel_files.h"
#include "core/os/settings.h"
#include "core/os/sys.h"

int32_t tach__setting(const char *root, const char *path)
{
	char text[32], *end;
	long value;

	if (tach__file_line(root, path, text, sizeof text) <= 0)
		return TACH__UNREADABLE;
	value = strtol(text, &end, 10);
	return *end || value < -1000000000 || value > 1000000000 ? TACH__UNREADABLE
								 : (int32_t)value;
}

/* Returns 1 if the word is in a list separated by blanks. */
static int has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += length)
		if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
			return 1;
	return 0;
}

static void look_at_hypervisor(struct tach__settings *s, const char *root)
{
	/* Vendors whose machines are virtual, as their firmware names them. */
	static const char *const vendors[] = {"QEMU",	   "KVM",	"VMware",     "Xen",
					      "innotek",   "Parallels", "Amazon EC2", "Google",
					      "OpenStack", "Bochs"};
	char text[128];

	if (tach__file_line(root, "/sys/hypervisor/type", text, sizeof text) > 0) {
		s->virtual_machine = 1;
		snprintf(s->hypervisor, sizeof s->hypervisor, "%.47s", text);
		return;
	}
	if (tach__file_line(root, "/sys/firmware/devicetree/base/compatible", text,
			    sizeof text) > 0 &&
	    strcmp(text, "linux,dummy-virt") == 0)
		s->virtual_machine = 1;
	if (tach__file_line(root, "/sys/class/dmi/id/sys_vendor", text, sizeof text) <= 0)
		return;
	for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
		if (strncmp(text, vendors[i], strlen(vendors[i])) == 0) {
			char product[64] = "";

			/* Clouds rent bare metal under the same vendor name: "m5.metal". */
			tach__file_line(root, "/sys/class/dmi/id/product_name", product,
					sizeof product);
			if (strstr(product, "metal"))
				continue;
			s->virtual_machine = 1;
			snprintf(s->hypervisor, sizeof s->hypervisor, "%.47s", text);
		}
}

struct cpu {
	struct tach__settings *s;
	char implementer[32], part[32];
};

/* Reads lines of /proc/cpuinfo; the lines of the first processor come first. */
static int cpu_line(void *context, const char *line)
{
	struct cpu *cpu = context;
	struct tach__settings *s = cpu->s;
	const char *value;

	if ((value = tach__cpuinfo_value(line, "model name")) && !s->cpu[0])
		snprintf(s->cpu, sizeof s->cpu, "%.95s", value);
	if ((value = tach__cpuinfo_value(line, "CPU implementer")))
		snprintf(cpu->implementer, sizeof cpu->implementer, "%.31s", value);
	if ((value = tach__cpuinfo_value(line, "CPU part")))
		snprintf(cpu->part, sizeof cpu->part, "%.31s", value);
	if ((value = tach__cpuinfo_value(line, "flags"))) {
		s->tsc_invariant =
			has_word(value, "constant_tsc") && has_word(value, "nonstop_tsc");
		s->virtual_machine = has_word(value, "hypervisor");
	}
	/* Read only the first processor. On x86, its model is before its flags. */
	return value != NULL || cpu->part[0];
}

static void look_at_cpu(struct tach__settings *s, const char *root)
{
	struct cpu cpu = {.s = s, .part = "", .implementer = ""};

	s->tsc_invariant = -1;
	tach__file_lines(root, "/proc/cpuinfo", cpu_line, &cpu);
	if (!s->cpu[0] && cpu.implementer[0])
		snprintf(s->cpu, sizeof s->cpu, "implementer %s part %s", cpu.implementer,
			 cpu.part);
	look_at_hypervisor(s, root);
}

/* The effective capabilities come before the seccomp mode; numbers of linux/capability.h. */
static int status_line(void *context, const char *line)
{
	enum { SYS_ADMIN = 21, PERFMON = 38 };
	struct tach__settings *s = context;
	const char *value = tach__cpuinfo_value(line, "CapEff");

	if (value)
		s->capable = (strtoull(value, NULL, 16) &
			      (1ull << SYS_ADMIN | 1ull << PERFMON)) != 0;
	value = tach__cpuinfo_value(line, "Seccomp");
	if (value)
		s->seccomp = atoi(value);
	return value != NULL;
}

static void look_at_security_modules(struct tach__settings *s, const char *root)
{
	char text[128];

	s->selinux = tach__setting(root, "/sys/fs/selinux/enforce") == 1;
	if (tach__file_line(root, "/sys/kernel/security/lockdown", text, sizeof text) > 0)
		s->confidential = strstr(text, "[confidentiality]") != NULL;
	/* "docker-default (enforce)"; SELinux has a label in this file, without a mode. */
	if (tach__file_line(root, "/proc/self/attr/current", text, sizeof text) > 0) {
		char *mode = strstr(text, " (enforce)");

		if (mode) {
			*mode = '\0';
			snprintf(s->apparmor, sizeof s->apparmor, "%.63s", text);
		}
	}
}

static void look_at_process(struct tach__settings *s, const char *root)
{
	struct rlimit files = {RLIM_INFINITY, 0}, locked = {RLIM_INFINITY, 0};

	tach__file_lines(root, "/proc/self/status", status_line, s);
	s->user_namespace = tach__user_namespace(root);
	look_at_security_modules(s, root);
	s->descriptors = -1;
	s->memlock_bytes = -1;
	tach__sys(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&files, 0, 0);
	tach__sys(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)&locked, 0, 0);
	if (files.rlim_cur < INT32_MAX)
		s->descriptors = (int32_t)files.rlim_cur;
	if (locked.rlim_cur != RLIM_INFINITY)
		s->memlock_bytes = (int64_t)locked.rlim_cur;
}

void tach__settings_read(struct tach__settings *s, const char *root)
{
	memset(s, 0, sizeof *s);
	s->paranoid = tach__setting(root, "/proc/sys/kernel/perf_event_paranoid");
	s->rdpmc = tach__setting(root, "/sys/bus/event_source/devices/cpu/rdpmc");
	s->user_access = tach__setting(root, "/proc/sys/kernel/perf_user_access");
	s->watchdog =
		TACH_ARCH_WATCHDOG ? tach__setting(root, "/proc/sys/kernel/nmi_watchdog") : 0;
	s->mlock_kb = tach__setting(root, "/proc/sys/kernel/perf_event_mlock_kb");
	tach__file_line(root,
			"/sys/devices/system/clocksource/clocksource0/current_clocksource",
			s->clocksource, sizeof s->clocksource);
	look_at_cpu(s, root);
	look_at_process(s, root);
}
