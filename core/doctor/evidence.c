/* SPDX-License-Identifier: MIT */
/* Gathering: settings from /proc and /sys, and attempts on this thread's own events. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tach/pmu.h>
#include <tach/arch.h>
#include "core/doctor/evidence.h"
#include "core/os/kernel_files.h"

static int32_t setting(const char *root, const char *path)
{
	char text[32], *end;
	long value;

	if (tach__file_line(root, path, text, sizeof text) <= 0)
		return TACH__UNREADABLE;
	value = strtol(text, &end, 10);
	return *end || value < -1000000000 || value > 1000000000 ? TACH__UNREADABLE
								 : (int32_t)value;
}

/* Whether a word stands in a blank-separated list. */
static int has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += length)
		if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
			return 1;
	return 0;
}

/* Core PMUs list their CPUs ("cpus") or are the x86 one of a uniform machine ("cpu"). */
static void look_at_event_sources(struct tach__evidence *e, const char *root)
{
	static const char folder[] = "/sys/bus/event_source/devices";
	char full[256], path[400], text[64];
	struct dirent *d;
	DIR *dir;

	snprintf(full, sizeof full, "%s%s", root, folder);
	dir = opendir(full);
	while (dir && (d = readdir(dir))) {
		int32_t rdpmc;

		if (d->d_name[0] == '.' || strlen(d->d_name) > 64)
			continue;
		snprintf(path, sizeof path, "%s/%s/rdpmc", folder, d->d_name);
		rdpmc = setting(root, path);
		if (rdpmc != TACH__UNREADABLE &&
		    (e->rdpmc == TACH__UNREADABLE || rdpmc < e->rdpmc))
			e->rdpmc = rdpmc;
		snprintf(path, sizeof path, "%s/%s/cpus", folder, d->d_name);
		if (strcmp(d->d_name, "cpu") == 0 ||
		    tach__file_line(root, path, text, sizeof text) > 0)
			e->core_pmus++;
	}
	if (dir)
		closedir(dir);
}

static void look_at_hypervisor(struct tach__evidence *e, const char *root)
{
	/* Vendors whose machines are virtual, as their firmware names them. */
	static const char *const vendors[] = {"QEMU",	   "KVM",	"VMware",     "Xen",
					      "innotek",   "Parallels", "Amazon EC2", "Google",
					      "OpenStack", "Bochs"};
	char text[128];

	if (tach__file_line(root, "/sys/hypervisor/type", text, sizeof text) > 0) {
		e->virtual_machine = 1;
		snprintf(e->hypervisor, sizeof e->hypervisor, "%.47s", text);
		return;
	}
	if (tach__file_line(root, "/sys/firmware/devicetree/base/compatible", text,
			    sizeof text) > 0 &&
	    strcmp(text, "linux,dummy-virt") == 0)
		e->virtual_machine = 1;
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
			e->virtual_machine = 1;
			snprintf(e->hypervisor, sizeof e->hypervisor, "%.47s", text);
		}
}

struct cpu {
	struct tach__evidence *e;
	char implementer[32], part[32];
};

/* Lines of /proc/cpuinfo; those of the first processor come first. */
static int cpu_line(void *context, const char *line)
{
	struct cpu *cpu = context;
	struct tach__evidence *e = cpu->e;
	const char *value;

	if ((value = tach__cpuinfo_value(line, "model name")) && !e->cpu[0])
		snprintf(e->cpu, sizeof e->cpu, "%.95s", value);
	if ((value = tach__cpuinfo_value(line, "CPU implementer")))
		snprintf(cpu->implementer, sizeof cpu->implementer, "%.31s", value);
	if ((value = tach__cpuinfo_value(line, "CPU part")))
		snprintf(cpu->part, sizeof cpu->part, "%.31s", value);
	if ((value = tach__cpuinfo_value(line, "flags"))) {
		e->tsc_invariant =
			has_word(value, "constant_tsc") && has_word(value, "nonstop_tsc");
		e->virtual_machine = has_word(value, "hypervisor");
	}
	/* One processor is enough; x86 tells the model before the flags. */
	return value != NULL || cpu->part[0];
}

static void look_at_cpu(struct tach__evidence *e, const char *root)
{
	struct cpu cpu = {.e = e, .part = "", .implementer = ""};

	e->tsc_invariant = -1;
	tach__file_lines(root, "/proc/cpuinfo", cpu_line, &cpu);
	if (!e->cpu[0] && cpu.implementer[0])
		snprintf(e->cpu, sizeof e->cpu, "implementer %s part %s", cpu.implementer,
			 cpu.part);
	look_at_hypervisor(e, root);
}

static void look_at_tables(struct tach__evidence *e)
{
	struct tach_error err = TACH_ERROR_INIT;
	int pmus[8], n = tach_pmu_host(pmus, 8, &err);
	size_t used = 0;

	for (int i = 0; i < n && i < 8; i++) {
		struct tach_pmu_info info = {.size = sizeof info};

		if (tach_pmu_describe(pmus[i], &info) != 0)
			continue;
		used += (size_t)snprintf(e->tables + used, sizeof e->tables - used, "%s%s",
					 used ? ", " : "", info.name);
		if (used >= sizeof e->tables)
			break;
		if (i == 0) {
			e->counters_general = info.general;
			/* Intel's fixed counter 0 counts instructions, and only them. */
			e->counters_fixed = info.fixed & 1;
		}
	}
	if (n <= 0)
		snprintf(e->tables_error, sizeof e->tables_error, "%.159s", err.text);
}

/* The effective capabilities come before the seccomp mode; numbers of linux/capability.h. */
static int status_line(void *context, const char *line)
{
	enum { SYS_ADMIN = 21, PERFMON = 38 };
	struct tach__evidence *e = context;
	const char *value = tach__cpuinfo_value(line, "CapEff");

	if (value)
		e->capable = (strtoull(value, NULL, 16) &
			      (1ull << SYS_ADMIN | 1ull << PERFMON)) != 0;
	value = tach__cpuinfo_value(line, "Seccomp");
	if (value)
		e->seccomp = atoi(value);
	return value != NULL;
}

static void look_at_security_modules(struct tach__evidence *e, const char *root)
{
	char text[128];

	e->selinux = setting(root, "/sys/fs/selinux/enforce") == 1;
	if (tach__file_line(root, "/sys/kernel/security/lockdown", text, sizeof text) > 0)
		e->confidential = strstr(text, "[confidentiality]") != NULL;
	/* "docker-default (enforce)"; SELinux has a label in this file, without a mode. */
	if (tach__file_line(root, "/proc/self/attr/current", text, sizeof text) > 0) {
		char *mode = strstr(text, " (enforce)");

		if (mode) {
			*mode = '\0';
			snprintf(e->apparmor, sizeof e->apparmor, "%.63s", text);
		}
	}
}

static void look_at_process(struct tach__evidence *e, const char *root)
{
	struct rlimit limit;

	tach__file_lines(root, "/proc/self/status", status_line, e);
	e->user_namespace = tach__user_namespace(root);
	look_at_security_modules(e, root);
	e->descriptors = -1;
	e->memlock_bytes = -1;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < INT32_MAX)
		e->descriptors = (int32_t)limit.rlim_cur;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		e->memlock_bytes = (int64_t)limit.rlim_cur;
}

void tach__evidence_settings(struct tach__evidence *e, const char *root)
{
	memset(e, 0, sizeof *e);
	e->rdpmc = TACH__UNREADABLE;
	e->counters_free = -1;
	e->paranoid = setting(root, "/proc/sys/kernel/perf_event_paranoid");
	e->user_access = setting(root, "/proc/sys/kernel/perf_user_access");
	e->watchdog = TACH_ARCH_WATCHDOG ? setting(root, "/proc/sys/kernel/nmi_watchdog") : 0;
	e->mlock_kb = setting(root, "/proc/sys/kernel/perf_event_mlock_kb");
	tach__file_line(root,
			"/sys/devices/system/clocksource/clocksource0/current_clocksource",
			e->clocksource, sizeof e->clocksource);
	look_at_event_sources(e, root);
	look_at_cpu(e, root);
	look_at_tables(e);
	look_at_process(e, root);
}
