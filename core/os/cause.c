/* SPDX-License-Identifier: MIT */
/* Reasons why counting does not work here: each cause with its sentence and its cure. */
#include <errno.h>
#include <stdio.h>
#include <tach/error.h>
#include "core/os/cause.h"

/* tach doctor --json prints these names, so they must not change. */
const struct tach__cause tach__causes[TACH_CAUSE_COUNT] = {
	[TACH_CAUSE_NONE] = {"none", "", TACH_SEVERITY_OK, "", ""},
	[TACH_CAUSE_NO_PERF_EVENTS] = {"no-perf-events", "kernel", TACH_SEVERITY_FAIL,
				       "boot a kernel built with CONFIG_PERF_EVENTS=y", ""},
	[TACH_CAUSE_SECCOMP_EPERM] =
		{"seccomp-eperm", "kernel", TACH_SEVERITY_FAIL,
		 "allow perf_event_open in the container's seccomp profile",
		 " (docker run --security-opt seccomp=PROFILE.json, or --cap-add PERFMON where "
		 "the default profile honours it)"},
	[TACH_CAUSE_SECCOMP_ENOSYS] =
		{"seccomp-enosys", "kernel", TACH_SEVERITY_FAIL,
		 "add perf_event_open to the filter's list of allowed system calls",
		 " (podman: --security-opt seccomp=PROFILE.json; systemd: "
		 "SystemCallFilter=perf_event_open)"},
	[TACH_CAUSE_PARANOID] = {"paranoid", "kernel", TACH_SEVERITY_FAIL,
				 "sudo sysctl kernel.perf_event_paranoid=2",
				 " (until reboot; /etc/sysctl.d keeps it), or give the program "
				 "the capability: sudo setcap cap_perfmon+ep PROGRAM"},
	[TACH_CAUSE_PARANOID_KERNEL] = {"paranoid-kernel", "kernel", TACH_SEVERITY_NOTE,
					"only if you want kernel-level counts: sudo sysctl "
					"kernel.perf_event_paranoid=1",
					""},
	[TACH_CAUSE_SECURITY_MODULE] = {"security-module", "kernel", TACH_SEVERITY_FAIL,
					"look for a denial of perf_event in the audit log "
					"(ausearch -m avc) and allow it in the policy",
					"; sandboxes such as gVisor cannot allow it at all"},
	[TACH_CAUSE_USER_NAMESPACE] =
		{"user-namespace", "kernel", TACH_SEVERITY_FAIL,
		 "on the host, whose setting it is: sudo sysctl kernel.perf_event_paranoid=2",
		 "; or run the container as root of the host with --cap-add PERFMON"},
	[TACH_CAUSE_SELINUX] =
		{"selinux", "kernel", TACH_SEVERITY_FAIL,
		 "'ausearch -m avc -ts recent' shows the denial of perf_event { open }",
		 ", audit2allow makes a module that allows it; to be sure: setenforce 0 for "
		 "one try"},
	[TACH_CAUSE_APPARMOR] = {"apparmor", "kernel", TACH_SEVERITY_FAIL,
				 "add 'capability perfmon,' to the profile",
				 " (Docker: --security-opt apparmor=PROFILE), or as root: "
				 "sysctl kernel.perf_event_paranoid=2"},
	[TACH_CAUSE_LOCKDOWN] =
		{"lockdown", "kernel", TACH_SEVERITY_FAIL,
		 "boot with lockdown=integrity or without lockdown (Secure Boot may set it)",
		 ", or a kernel whose lockdown covers only the sampling of registers, as "
		 "mainline's does"},
	[TACH_CAUSE_EVENTS] =
		{"events", "settings", TACH_SEVERITY_WARN,
		 "'tach list' shows the events of this machine, 'tach encode EVENT' tries one, "
		 "and tach-environment(7) has the variables; reports say the same",
		 ""},
	[TACH_CAUSE_OUTPUT] = {"output", "settings", TACH_SEVERITY_WARN,
			       "name a file in a folder that the program may write to, or '-' "
			       "for standard error",
			       ""},
	[TACH_CAUSE_NO_VPMU] = {"no-vpmu", "counters", TACH_SEVERITY_FAIL,
				"have the virtual PMU enabled on the host",
				" (QEMU/KVM: -cpu host,pmu=on; libvirt: <pmu state='on'/>; "
				"VMware: vpmc.enable=TRUE; clouds: larger or metal instances), "
				"or measure outside the VM"},
	[TACH_CAUSE_NO_DRIVER] =
		{"no-driver", "counters", TACH_SEVERITY_FAIL,
		 "look for the reason in 'dmesg | grep -i perf'",
		 "; usual ones are a kernel older than the CPU, counters switched off in the "
		 "firmware, or a missing PMU node in the device tree"},
	[TACH_CAUSE_COUNT_ZERO] = {"count-zero", "counters", TACH_SEVERITY_FAIL,
				   "the hypervisor accepts the counter and never runs it: have "
				   "the virtual PMU enabled properly on the host (KVM: "
				   "kvm.enable_pmu=1 and pmu=on), or measure outside the VM",
				   ""},
	[TACH_CAUSE_COUNT_WRONG] = {"count-wrong", "counters", TACH_SEVERITY_FAIL,
				    "do not trust counts here; emulators and broken virtual "
				    "PMUs do this, so compare with 'perf stat -e "
				    "instructions:u true' and report it to the host's maker",
				    ""},
	[TACH_CAUSE_NO_INSTRUCTIONS] = {"no-instructions", "counters", TACH_SEVERITY_WARN,
					"use cycles; on QEMU instructions need -icount shift=N",
					""},
	[TACH_CAUSE_TAKEN_ALL] =
		{"taken-all", "counters", TACH_SEVERITY_FAIL, "find who holds them",
		 " ('perf list' is not enough: look for perf, VTune, monitoring agents and "
		 "hypervisors; sudo lsof | grep perf_event lists holders) and stop it"},
	[TACH_CAUSE_TAKEN_SOME] = {"taken-some", "counters", TACH_SEVERITY_NOTE,
				   "use smaller sets, or stop the other user",
				   " (sudo lsof | grep perf_event lists holders; SMT siblings "
				   "and firmware may hold some as well)"},
	[TACH_CAUSE_WATCHDOG] = {"watchdog", "counters", TACH_SEVERITY_NOTE,
				 "sudo sysctl kernel.nmi_watchdog=0 sets it free", ""},
	[TACH_CAUSE_RDPMC_OFF] = {"rdpmc-off", "user read", TACH_SEVERITY_WARN,
				  "echo 1 | sudo tee /sys/bus/event_source/devices/cpu*/rdpmc, "
				  "then start the program again",
				  ": an event opened under 0 never gets the instruction"},
	[TACH_CAUSE_RDPMC_ALL] = {"rdpmc-all", "user read", TACH_SEVERITY_NOTE,
				  "1 is enough for this library: echo 1 | sudo tee "
				  "/sys/bus/event_source/devices/cpu*/rdpmc",
				  ""},
	[TACH_CAUSE_USER_ACCESS_OFF] =
		{"user-access-off", "user read", TACH_SEVERITY_WARN,
		 "sudo sysctl kernel.perf_user_access=1, then start the program again", ""},
	[TACH_CAUSE_USER_ACCESS_NONE] = {"user-access-none", "user read", TACH_SEVERITY_WARN,
					 "run Linux 5.17 or newer", ""},
	[TACH_CAUSE_USER_LEGACY] = {"user-legacy", "user read", TACH_SEVERITY_WARN,
				    "update the firmware",
				    ": OpenSBI 1.0 or newer with a description of the counters "
				    "has the SBI PMU extension"},
	[TACH_CAUSE_UNDIVIDED] = {"undivided", "counters", TACH_SEVERITY_NOTE,
				  "a CPU with the extension Sscofpmf can leave the kernel out",
				  ""},
	[TACH_CAUSE_MEDIATED] =
		{"mediated", "counters", TACH_SEVERITY_NOTE,
		 "nothing to do: a thread that counts itself executes no code there",
		 "; 'perf stat' needs :H here"},
	[TACH_CAUSE_USER_NOT_OFFERED] =
		{"user-not-offered", "user read", TACH_SEVERITY_WARN,
		 "the kernel's PMU driver decides this; a newer kernel may offer it", ""},
	[TACH_CAUSE_USER_INDEX_ZERO] =
		{"user-index-zero", "user read", TACH_SEVERITY_WARN,
		 "run this again on a quiet machine; if it stays so, other users rotate this "
		 "event out, or the event runs on the other core type of a hybrid CPU",
		 ""},
	[TACH_CAUSE_USER_WRONG] = {"user-wrong", "user read", TACH_SEVERITY_FAIL,
				   "please report it with the output of 'tach doctor --json'; "
				   "until then values are right only by read(2)",
				   ""},
	[TACH_CAUSE_USER_UNSUPPORTED] = {"user-unsupported", "user read", TACH_SEVERITY_WARN,
					 "", ""},
	[TACH_CAUSE_MLOCK] =
		{"mlock", "user read", TACH_SEVERITY_WARN,
		 "raise the limit (ulimit -l, or sudo sysctl kernel.perf_event_mlock_kb=N)",
		 ", close other mapped events, or grant CAP_IPC_LOCK"},
	[TACH_CAUSE_MMAP] = {"mmap", "user read", TACH_SEVERITY_WARN, "", ""},
	[TACH_CAUSE_DESCRIPTORS] =
		{"descriptors", "kernel", TACH_SEVERITY_FAIL,
		 "raise it with ulimit -n: every thread needs one descriptor per event", ""},
	[TACH_CAUSE_OPEN_OTHER] = {"open-other", "counters", TACH_SEVERITY_FAIL, "", ""},
	[TACH_CAUSE_CPU_UNKNOWN] =
		{"cpu-unknown", "cpu", TACH_SEVERITY_WARN,
		 "name a model yourself with TACH_PMU=NAME ('tach list' shows them), use "
		 "perf's generic names (cycles, instructions), or raw codes (r00c0)",
		 ""},
	[TACH_CAUSE_CLOCK_VARIES] =
		{"clock-varies", "clock", TACH_SEVERITY_WARN,
		 "fix the frequency while measuring, and judge by counts instead of time", ""},
	[TACH_CAUSE_CLOCK_DISTRUSTED] =
		{"clock-distrusted", "clock", TACH_SEVERITY_WARN,
		 "'dmesg | grep -i -e tsc -e clocksource' tells why; tsc=reliable on the "
		 "kernel's command line overrides it where you know better",
		 ""},
};

/* ---- sentences ---- */

static void refusal_text(enum tach_cause cause, const struct tach__settings *s, int code,
			 char *text, size_t size)
{
	char level[16] = "unreadable";

	if (s->paranoid != TACH__UNREADABLE)
		snprintf(level, sizeof level, "%d", s->paranoid);
	if (cause == TACH_CAUSE_SELINUX)
		snprintf(text, size,
			 "perf_event_open is refused with EACCES although "
			 "kernel.perf_event_paranoid is %s, and SELinux enforces a policy",
			 level);
	else if (cause == TACH_CAUSE_PARANOID_KERNEL)
		snprintf(
			text, size,
			"user level only: kernel-level counting is refused (paranoid level %s)",
			level);
	else if (code == -EPERM)
		snprintf(text, size,
			 "perf_event_open is refused with EPERM and no seccomp filter is "
			 "active: a sandbox or security module does it");
	else if (s->paranoid > 2)
		snprintf(text, size,
			 "perf_event_open is refused with EACCES although this process has "
			 "CAP_PERFMON (kernel.perf_event_paranoid is %s): a security module "
			 "does it",
			 level);
	else
		snprintf(text, size,
			 "perf_event_open is refused with EACCES although "
			 "kernel.perf_event_paranoid is %s: a security module does it",
			 level);
}

static void paranoid_text(enum tach_cause cause, const struct tach__settings *s, char *text,
			  size_t size)
{
	if (cause == TACH_CAUSE_USER_NAMESPACE)
		snprintf(text, size,
			 "kernel.perf_event_paranoid is %d, and this process lives in a user "
			 "namespace (a rootless container?): capabilities that it may have "
			 "there do not count",
			 s->paranoid);
	else if (cause == TACH_CAUSE_APPARMOR)
		snprintf(text, size,
			 "kernel.perf_event_paranoid is %d, and the AppArmor profile %s keeps "
			 "the process from using its CAP_PERFMON",
			 s->paranoid, s->apparmor);
	else
		snprintf(text, size,
			 "kernel.perf_event_paranoid is %d: users without CAP_PERFMON may open "
			 "no event at all (levels above 2 are Debian's and Ubuntu's)",
			 s->paranoid);
}

/* Sentences that are always the same; NULL: the cause has a sentence with numbers in it. */
static const char *plain_text(enum tach_cause cause)
{
	switch (cause) {
	case TACH_CAUSE_LOCKDOWN:
		return "perf_event_open is refused with EPERM, no seccomp filter is active, "
		       "and the kernel is locked down to confidentiality";
	case TACH_CAUSE_SECCOMP_ENOSYS:
		return "a seccomp filter hides perf_event_open (ENOSYS), as some container "
		       "runtimes do";
	case TACH_CAUSE_SECCOMP_EPERM:
		return "a seccomp filter forbids perf_event_open (EPERM), as containers do by "
		       "default";
	case TACH_CAUSE_NO_PERF_EVENTS:
		return "this kernel has no perf_event_open (ENOSYS, and no filter is active)";
	case TACH_CAUSE_UNDIVIDED:
		return "this PMU cannot leave the kernel out: counts are of all privilege "
		       "levels";
	case TACH_CAUSE_MEDIATED:
		return "virtual machines on this host have the PMU themselves (mediated "
		       "vPMU): the kernel refuses events that count in guests, so these leave "
		       "guests out";
	case TACH_CAUSE_WATCHDOG:
		return "the NMI watchdog holds one counter of every CPU";
	case TACH_CAUSE_RDPMC_OFF:
		return "user-space reads are switched off: the PMU's rdpmc setting in sysfs is "
		       "0";
	case TACH_CAUSE_USER_ACCESS_NONE:
		return "this kernel has no kernel.perf_user_access: it cannot let user space "
		       "read counters";
	case TACH_CAUSE_USER_ACCESS_OFF:
		return "user-space reads are switched off: kernel.perf_user_access is 0";
	case TACH_CAUSE_USER_LEGACY:
		return "there is no kernel.perf_user_access: the kernel counts by its driver "
		       "for firmware without the SBI PMU extension, which gives user space no "
		       "access";
	case TACH_CAUSE_USER_NOT_OFFERED:
		return "the kernel's page does not offer user-space reads of this event";
	case TACH_CAUSE_USER_INDEX_ZERO:
		return "user-space reads are offered, but the page never showed a counter";
	case TACH_CAUSE_USER_UNSUPPORTED:
		return "Linux offers no user-space counter reads on this architecture";
	default:
		return NULL;
	}
}

void tach__cause_text(enum tach_cause cause, const struct tach__settings *s, int code,
		      char *text, size_t size)
{
	const char *plain = plain_text(cause);

	if (plain) {
		snprintf(text, size, "%s", plain);
		return;
	}
	switch (cause) {
	case TACH_CAUSE_USER_NAMESPACE:
	case TACH_CAUSE_APPARMOR:
	case TACH_CAUSE_PARANOID:
		paranoid_text(cause, s, text, size);
		return;
	case TACH_CAUSE_DESCRIPTORS:
		snprintf(text, size, "%s file descriptor limit is reached (%d)",
			 code == -EMFILE ? "the process's" : "the system's", s->descriptors);
		return;
	case TACH_CAUSE_NO_VPMU:
		snprintf(text, size,
			 "no PMU in this virtual machine%s%s%s: the host gives it no "
			 "performance counters",
			 s->hypervisor[0] ? " (" : "", s->hypervisor,
			 s->hypervisor[0] ? ")" : "");
		return;
	case TACH_CAUSE_NO_DRIVER:
		snprintf(text, size, "the kernel drives no PMU of this CPU (%s)",
			 tach_strerror(code));
		return;
	case TACH_CAUSE_MLOCK:
		snprintf(text, size,
			 "mapping the event's page is refused: locked memory is used up "
			 "(RLIMIT_MEMLOCK %lld KiB, kernel.perf_event_mlock_kb %d)",
			 (long long)(s->memlock_bytes < 0 ? -1 : s->memlock_bytes / 1024),
			 s->mlock_kb);
		return;
	case TACH_CAUSE_MMAP:
		snprintf(text, size, "mapping the event's page failed: %s",
			 tach_strerror(code));
		return;
	case TACH_CAUSE_OPEN_OTHER:
		snprintf(text, size, "perf_event_open failed: %s (errno %d)",
			 tach_strerror(code), -code);
		return;
	default:
		refusal_text(cause, s, code, text, size);
	}
}

/* ---- choose the cause ---- */

/*
 * Returns the cause of EACCES if perf_event_paranoid requires a capability: the process lacks
 * it, or it is not sufficient.
 */
static enum tach_cause denied(const struct tach__settings *s)
{
	if (s->paranoid <= 2)
		return s->selinux ? TACH_CAUSE_SELINUX : TACH_CAUSE_SECURITY_MODULE;
	if (s->user_namespace)
		return TACH_CAUSE_USER_NAMESPACE;
	if (!s->capable)
		return TACH_CAUSE_PARANOID;
	return s->apparmor[0] ? TACH_CAUSE_APPARMOR : TACH_CAUSE_SECURITY_MODULE;
}

enum tach_cause tach__cause_of_refusal(int code, const struct tach__settings *s)
{
	switch (code) {
	case -ENOSYS:
		return s->seccomp == 2 ? TACH_CAUSE_SECCOMP_ENOSYS : TACH_CAUSE_NO_PERF_EVENTS;
	case -EPERM:
		return s->seccomp == 2	 ? TACH_CAUSE_SECCOMP_EPERM
		       : s->confidential ? TACH_CAUSE_LOCKDOWN
					 : TACH_CAUSE_SECURITY_MODULE;
	case -EACCES:
		return denied(s);
	case -EMFILE:
	case -ENFILE:
		return TACH_CAUSE_DESCRIPTORS;
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
	case -EOPNOTSUPP:
		return s->virtual_machine ? TACH_CAUSE_NO_VPMU : TACH_CAUSE_NO_DRIVER;
	default:
		return TACH_CAUSE_OPEN_OTHER;
	}
}

enum tach_cause tach__cause_of_map(int code)
{
	return code == -EPERM ? TACH_CAUSE_MLOCK : TACH_CAUSE_MMAP;
}

enum tach_cause tach__cause_of_no_index(const struct tach__settings *s,
					enum tach__user_read way, int offered)
{
	if (way == TACH__USER_NONE)
		return TACH_CAUSE_USER_UNSUPPORTED;
	if (way == TACH__USER_RDPMC && s->rdpmc == 0)
		return TACH_CAUSE_RDPMC_OFF;
	if (way != TACH__USER_RDPMC && s->user_access == 0)
		return TACH_CAUSE_USER_ACCESS_OFF;
	if (way != TACH__USER_RDPMC && s->user_access == TACH__UNREADABLE)
		return way == TACH__USER_CSR ? TACH_CAUSE_USER_LEGACY
					     : TACH_CAUSE_USER_ACCESS_NONE;
	return offered ? TACH_CAUSE_USER_INDEX_ZERO : TACH_CAUSE_USER_NOT_OFFERED;
}
