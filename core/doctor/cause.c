/* SPDX-License-Identifier: MIT */
/* The causes: name, severity and cure of each, and what the names of all verdicts are. */
#include "core/doctor/doctor.h"

/* Names are what --json prints: frozen. A cure that fits all machines stands here as well. */
const struct tach__cause tach__causes[TACH_CAUSE_COUNT] = {
	[TACH_CAUSE_NONE] = {"none", "", "", TACH_SEVERITY_OK},
	[TACH_CAUSE_NO_PERF_EVENTS] = {"no-perf-events", "kernel",
				       "boot a kernel built with CONFIG_PERF_EVENTS=y",
				       TACH_SEVERITY_FAIL},
	[TACH_CAUSE_SECCOMP_EPERM] =
		{"seccomp-eperm", "kernel",
		 "allow perf_event_open in the container's seccomp profile (docker run "
		 "--security-opt seccomp=PROFILE.json, or --cap-add PERFMON where the default "
		 "profile honours it)",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_SECCOMP_ENOSYS] =
		{"seccomp-enosys", "kernel",
		 "add perf_event_open to the filter's list of allowed system calls (podman: "
		 "--security-opt seccomp=PROFILE.json; systemd: "
		 "SystemCallFilter=perf_event_open)",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_PARANOID] =
		{"paranoid", "kernel",
		 "sudo sysctl kernel.perf_event_paranoid=2 (until reboot; /etc/sysctl.d keeps "
		 "it), "
		 "or give the program the capability: sudo setcap cap_perfmon+ep PROGRAM",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_PARANOID_KERNEL] = {"paranoid-kernel", "kernel",
					"only if you want kernel-level counts: sudo sysctl "
					"kernel.perf_event_paranoid=1",
					TACH_SEVERITY_NOTE},
	[TACH_CAUSE_SECURITY_MODULE] =
		{"security-module", "kernel",
		 "look for a denial of perf_event in the audit log (ausearch -m avc) and allow "
		 "it "
		 "in the policy; sandboxes such as gVisor cannot allow it at all",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_USER_NAMESPACE] =
		{"user-namespace", "kernel",
		 "on the host, whose setting it is: sudo sysctl kernel.perf_event_paranoid=2; "
		 "or "
		 "run "
		 "the container as root of the host with --cap-add PERFMON",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_SELINUX] =
		{"selinux", "kernel",
		 "'ausearch -m avc -ts recent' shows the denial of perf_event { open }, "
		 "audit2allow "
		 "makes a module that allows it; to be sure: setenforce 0 for one try",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_APPARMOR] =
		{"apparmor", "kernel",
		 "add 'capability perfmon,' to the profile (Docker: --security-opt "
		 "apparmor=PROFILE), or as root: sysctl kernel.perf_event_paranoid=2",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_LOCKDOWN] = {"lockdown", "kernel",
				 "boot with lockdown=integrity or without lockdown (Secure "
				 "Boot may set it), or a "
				 "kernel whose lockdown minds only the sampling of registers, "
				 "as mainline's does",
				 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_EVENTS] = {"events", "settings",
			       "'tach list' shows the events of this machine, 'tach encode "
			       "EVENT' tries one, and "
			       "tach_region(3) has the variables; reports say the same",
			       TACH_SEVERITY_WARN},
	[TACH_CAUSE_OUTPUT] = {"output", "settings",
			       "name a file in a folder that the program may write to, or '-' "
			       "for standard error",
			       TACH_SEVERITY_WARN},
	[TACH_CAUSE_NO_VPMU] =
		{"no-vpmu", "counters",
		 "have the virtual PMU switched on by whoever runs the host (QEMU/KVM: -cpu "
		 "host,pmu=on; libvirt: <pmu state='on'/>; VMware: vpmc.enable=TRUE; clouds: "
		 "larger "
		 "or metal instances), or measure outside the VM",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_NO_DRIVER] =
		{"no-driver", "counters",
		 "look for the reason in 'dmesg | grep -i perf'; usual ones are a kernel older "
		 "than "
		 "the CPU, counters switched off in the firmware, or a missing PMU node in the "
		 "device tree",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_COUNT_ZERO] =
		{"count-zero", "counters",
		 "the hypervisor accepts the counter and never runs it: have the virtual PMU "
		 "enabled properly on the host (KVM: kvm.enable_pmu=1 and pmu=on), or measure "
		 "outside the VM",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_COUNT_WRONG] =
		{"count-wrong", "counters",
		 "do not trust counts here; emulators and broken virtual PMUs do this, so "
		 "compare "
		 "with 'perf stat -e instructions:u true' and report it to the host's maker",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_NO_INSTRUCTIONS] = {"no-instructions", "counters",
					"use cycles; on QEMU instructions need -icount shift=N",
					TACH_SEVERITY_WARN},
	[TACH_CAUSE_TAKEN_ALL] = {"taken-all", "counters",
				  "find who holds them ('perf list' is not enough: look for "
				  "perf, VTune, monitoring "
				  "agents and hypervisors; sudo lsof | grep perf_event lists "
				  "holders) and stop it",
				  TACH_SEVERITY_FAIL},
	[TACH_CAUSE_TAKEN_SOME] =
		{"taken-some", "counters",
		 "use smaller sets, or stop the other user (sudo lsof | grep perf_event lists "
		 "holders; SMT siblings and firmware may hold some as well)",
		 TACH_SEVERITY_NOTE},
	[TACH_CAUSE_WATCHDOG] = {"watchdog", "counters",
				 "sudo sysctl kernel.nmi_watchdog=0 sets it free",
				 TACH_SEVERITY_NOTE},
	[TACH_CAUSE_RDPMC_OFF] =
		{"rdpmc-off", "user read",
		 "echo 1 | sudo tee /sys/bus/event_source/devices/cpu*/rdpmc, then start the "
		 "program again: an event opened under 0 never gets the instruction",
		 TACH_SEVERITY_WARN},
	[TACH_CAUSE_RDPMC_ALL] = {"rdpmc-all", "user read",
				  "1 is enough for this library: echo 1 | sudo tee "
				  "/sys/bus/event_source/devices/cpu*/rdpmc",
				  TACH_SEVERITY_NOTE},
	[TACH_CAUSE_USER_ACCESS_OFF] =
		{"user-access-off", "user read",
		 "sudo sysctl kernel.perf_user_access=1, then start the program again",
		 TACH_SEVERITY_WARN},
	[TACH_CAUSE_USER_ACCESS_NONE] = {"user-access-none", "user read",
					 "run Linux 5.17 or newer", TACH_SEVERITY_WARN},
	[TACH_CAUSE_USER_LEGACY] = {"user-legacy", "user read",
				    "update the firmware: OpenSBI 1.0 or newer with a "
				    "description of the counters has the "
				    "SBI PMU extension",
				    TACH_SEVERITY_WARN},
	[TACH_CAUSE_UNDIVIDED] = {"undivided", "counters",
				  "a CPU with the extension Sscofpmf can leave the kernel out",
				  TACH_SEVERITY_NOTE},
	[TACH_CAUSE_USER_NOT_OFFERED] =
		{"user-not-offered", "user read",
		 "the kernel's PMU driver decides this; a newer kernel may offer it",
		 TACH_SEVERITY_WARN},
	[TACH_CAUSE_USER_INDEX_ZERO] =
		{"user-index-zero", "user read",
		 "run this again on a quiet machine; if it stays so, other users rotate this "
		 "event "
		 "out, or the event runs on the other core type of a hybrid CPU",
		 TACH_SEVERITY_WARN},
	[TACH_CAUSE_USER_WRONG] = {"user-wrong", "user read",
				   "please report it with the output of 'tach doctor --json'; "
				   "until then values are "
				   "right only by read(2)",
				   TACH_SEVERITY_FAIL},
	[TACH_CAUSE_USER_UNSUPPORTED] = {"user-unsupported", "user read", "",
					 TACH_SEVERITY_WARN},
	[TACH_CAUSE_MLOCK] = {"mlock", "user read",
			      "raise the limit (ulimit -l, or sudo sysctl "
			      "kernel.perf_event_mlock_kb=N), close "
			      "other mapped events, or grant CAP_IPC_LOCK",
			      TACH_SEVERITY_WARN},
	[TACH_CAUSE_MMAP] = {"mmap", "user read", "", TACH_SEVERITY_WARN},
	[TACH_CAUSE_DESCRIPTORS] =
		{"descriptors", "kernel",
		 "raise it with ulimit -n: every thread needs one descriptor per event",
		 TACH_SEVERITY_FAIL},
	[TACH_CAUSE_OPEN_OTHER] = {"open-other", "counters", "", TACH_SEVERITY_FAIL},
	[TACH_CAUSE_CPU_UNKNOWN] =
		{"cpu-unknown", "cpu",
		 "name a model yourself with TACH_PMU=NAME ('tach list' shows them), use "
		 "perf's "
		 "generic names (cycles, instructions), or raw codes (r00c0)",
		 TACH_SEVERITY_WARN},
	[TACH_CAUSE_CLOCK_VARIES] =
		{"clock-varies", "clock",
		 "fix the frequency while measuring, and judge by counts instead of time",
		 TACH_SEVERITY_WARN},
	[TACH_CAUSE_CLOCK_DISTRUSTED] = {"clock-distrusted", "clock",
					 "'dmesg | grep -i -e tsc -e clocksource' tells why; "
					 "tsc=reliable on the kernel's "
					 "command line overrides it where you know better",
					 TACH_SEVERITY_WARN},
};

static const char *const severities[] = {"ok", "note", "warn", "fail"};
static const char *const verdicts[] = {"fast", "slow", "clock"};

const char *tach_cause_name(enum tach_cause cause)
{
	return (unsigned)cause < TACH_CAUSE_COUNT ? tach__causes[cause].name : "unknown";
}

const char *tach_severity_name(enum tach_severity severity)
{
	return (unsigned)severity <= TACH_SEVERITY_FAIL ? severities[severity] : "unknown";
}

const char *tach_verdict_name(enum tach_verdict verdict)
{
	return (unsigned)verdict <= TACH_VERDICT_CLOCK ? verdicts[verdict] : "unknown";
}
