/* SPDX-License-Identifier: MIT */
/* The judgement: evidence to findings, each cause with its own sentence and cure. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "core/doctor/doctor.h"
#include "core/base/error.h"
#include "core/base/sized.h"

static struct tach_finding *next_finding(struct tach_examination *x)
{
	/* The judgement below can yield 14 at most; the test of all causes would see more. */
	return &x->findings[x->nfindings < TACH_FINDINGS_MAX ? x->nfindings++
							     : TACH_FINDINGS_MAX - 1];
}

__attribute__((format(printf, 3, 4))) static void
found(struct tach_examination *x, enum tach_cause cause, const char *format, ...)
{
	struct tach_finding *f = next_finding(x);
	va_list args;

	f->cause = cause;
	f->severity = tach__causes[cause].severity;
	f->check = tach__causes[cause].check;
	snprintf(f->cure, sizeof f->cure, "%s", tach__causes[cause].cure);
	va_start(args, format);
	vsnprintf(f->text, sizeof f->text, format, args);
	va_end(args);
}

__attribute__((format(printf, 3, 4))) static void
fine(struct tach_examination *x, const char *check, const char *format, ...)
{
	struct tach_finding *f = next_finding(x);
	va_list args;

	f->cause = TACH_CAUSE_NONE;
	f->severity = TACH_SEVERITY_OK;
	f->check = check;
	f->cure[0] = '\0';
	va_start(args, format);
	vsnprintf(f->text, sizeof f->text, format, args);
	va_end(args);
}

static void judge_cpu(const struct tach__evidence *e, struct tach_examination *x)
{
	const char *cpu = e->cpu[0] ? e->cpu : "this CPU";

	if (e->tables[0])
		fine(x, "cpu", "%s: event tables %s", cpu, e->tables);
	else
		found(x, TACH_CAUSE_CPU_UNKNOWN, "no event table for %s%s%s", cpu,
		      e->tables_error[0] ? ": " : "", e->tables_error);
}

/* EPERM, and no filter that would answer so. */
static void judge_forbidden(const struct tach__evidence *e, struct tach_examination *x)
{
	if (e->confidential)
		found(x, TACH_CAUSE_LOCKDOWN,
		      "perf_event_open is refused with EPERM, no seccomp filter is active, and "
		      "the kernel is locked down to confidentiality");
	else
		found(x, TACH_CAUSE_SECURITY_MODULE,
		      "perf_event_open is refused with EPERM and no seccomp filter is active: "
		      "a "
		      "sandbox or security module does it");
}

/* EACCES where the level asks for a capability: is there one, and why does it not help? */
static void judge_paranoid(const struct tach__evidence *e, struct tach_examination *x)
{
	if (e->user_namespace)
		found(x, TACH_CAUSE_USER_NAMESPACE,
		      "kernel.perf_event_paranoid is %d, and this process lives in a user "
		      "namespace (a rootless container?): capabilities that it may have there "
		      "do "
		      "not count",
		      e->paranoid);
	else if (e->capable && e->apparmor[0])
		found(x, TACH_CAUSE_APPARMOR,
		      "kernel.perf_event_paranoid is %d, and the AppArmor profile %s keeps the "
		      "process from using its CAP_PERFMON",
		      e->paranoid, e->apparmor);
	else if (e->capable)
		found(x, TACH_CAUSE_SECURITY_MODULE,
		      "perf_event_open is refused with EACCES although this process has "
		      "CAP_PERFMON (kernel.perf_event_paranoid is %d): a security module does "
		      "it",
		      e->paranoid);
	else
		found(x, TACH_CAUSE_PARANOID,
		      "kernel.perf_event_paranoid is %d: users without CAP_PERFMON may open no "
		      "event at all (levels above 2 are Debian's and Ubuntu's)",
		      e->paranoid);
}

static void judge_denied(const struct tach__evidence *e, struct tach_examination *x)
{
	char level[16] = "unreadable";

	if (e->paranoid > 2) {
		judge_paranoid(e, x);
		return;
	}
	if (e->paranoid != TACH__UNREADABLE)
		snprintf(level, sizeof level, "%d", e->paranoid);
	if (e->selinux)
		found(x, TACH_CAUSE_SELINUX,
		      "perf_event_open is refused with EACCES although "
		      "kernel.perf_event_paranoid is %s, and SELinux enforces a policy",
		      level);
	else
		found(x, TACH_CAUSE_SECURITY_MODULE,
		      "perf_event_open is refused with EACCES although "
		      "kernel.perf_event_paranoid is %s: a security module does it",
		      level);
}

static void judge_refusal(const struct tach__evidence *e, struct tach_examination *x, int error)
{
	switch (-error) {
	case ENOSYS:
		if (e->seccomp == 2)
			found(x, TACH_CAUSE_SECCOMP_ENOSYS,
			      "a seccomp filter hides perf_event_open (ENOSYS), as some "
			      "container "
			      "runtimes do");
		else
			found(x, TACH_CAUSE_NO_PERF_EVENTS,
			      "this kernel has no perf_event_open (ENOSYS, and no filter is "
			      "active)");
		return;
	case EPERM:
		if (e->seccomp == 2)
			found(x, TACH_CAUSE_SECCOMP_EPERM,
			      "a seccomp filter forbids perf_event_open (EPERM), as containers "
			      "do "
			      "by default");
		else
			judge_forbidden(e, x);
		return;
	case EACCES:
		judge_denied(e, x);
		return;
	case EMFILE:
	case ENFILE:
		found(x, TACH_CAUSE_DESCRIPTORS, "%s file descriptor limit is reached (%d)",
		      error == -EMFILE ? "the process's" : "the system's", e->descriptors);
		return;
	default:
		found(x, TACH_CAUSE_OPEN_OTHER, "perf_event_open failed: %s (errno %d)",
		      tach_strerror(error), -error);
	}
}

/* Whether the kernel lets this thread open events at all. */
static int judge_kernel(const struct tach__evidence *e, struct tach_examination *x)
{
	char level[16] = "unreadable";

	if (e->open_software < 0) {
		judge_refusal(e, x, e->open_software);
		return 0;
	}
	if (e->paranoid != TACH__UNREADABLE)
		snprintf(level, sizeof level, "%d", e->paranoid);
	fine(x, "kernel", "perf_event_open works (kernel.perf_event_paranoid: %s)", level);
	if (e->open_kernel < 0)
		found(x, TACH_CAUSE_PARANOID_KERNEL,
		      "user level only: kernel-level counting is refused (paranoid level %s)",
		      level);
	return 1;
}

static void judge_no_hardware(const struct tach__evidence *e, struct tach_examination *x)
{
	switch (-e->open_hardware) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		if (e->virtual_machine)
			found(x, TACH_CAUSE_NO_VPMU,
			      "no PMU in this virtual machine%s%s%s: the host gives it no "
			      "performance counters",
			      e->hypervisor[0] ? " (" : "", e->hypervisor,
			      e->hypervisor[0] ? ")" : "");
		else
			found(x, TACH_CAUSE_NO_DRIVER,
			      "the kernel drives no PMU of this CPU (%s, and sysfs lists %d "
			      "core "
			      "PMUs)",
			      tach_strerror(e->open_hardware), e->core_pmus);
		return;
	case EBUSY:
		found(x, TACH_CAUSE_TAKEN_ALL,
		      "the PMU is held by somebody else altogether (EBUSY)");
		return;
	default:
		judge_refusal(e, x, e->open_hardware);
	}
}

static int counted_right(const struct tach__evidence *e, uint64_t counted)
{
	uint64_t off = counted > e->loop ? counted - e->loop : e->loop - counted;

	/* Cycles of a loop are not known; between 16 and 1/1000 a cycle is all one can ask. */
	if (e->used_cycles)
		return counted >= e->loop / 16 && counted / 1000 <= e->loop;
	/* Each interrupt may add a few to a user-level count, and is in a count of all levels.
	 */
	return off <= 100 + e->loop / (e->undivided ? 10 : 10000);
}

static int judge_count(const struct tach__evidence *e, struct tach_examination *x)
{
	const char *what = e->used_cycles ? "cycles" : "instructions";

	if (e->pinned_error || e->running == 0) {
		if (e->virtual_machine && e->counted == 0 && !e->pinned_error &&
		    e->enabled == 0)
			found(x, TACH_CAUSE_COUNT_ZERO,
			      "the %s event opens but its time never runs in this virtual "
			      "machine",
			      what);
		else
			found(x, TACH_CAUSE_TAKEN_ALL,
			      "the %s event opened but never got a counter: others hold them "
			      "all",
			      what);
		return 0;
	}
	if (e->counted == 0) {
		found(x, TACH_CAUSE_COUNT_ZERO,
		      "the %s event opens and runs, and counts stay 0 for a loop of %llu "
		      "instructions%s",
		      what, (unsigned long long)e->loop,
		      e->virtual_machine ? ": a virtual PMU in name only" : "");
		return 0;
	}
	if (!counted_right(e, e->counted)) {
		found(x, TACH_CAUSE_COUNT_WRONG,
		      "a loop of %llu instructions was counted as %llu %s",
		      (unsigned long long)e->loop, (unsigned long long)e->counted, what);
		return 0;
	}
	if (e->used_cycles)
		found(x, TACH_CAUSE_NO_INSTRUCTIONS,
		      "no event counts instructions here; %llu cycles were counted for a loop "
		      "of "
		      "%llu instructions",
		      (unsigned long long)e->counted, (unsigned long long)e->loop);
	else
		fine(x, "counters", "a loop of %llu instructions was counted as %llu%s",
		     (unsigned long long)e->loop, (unsigned long long)e->counted,
		     e->counted == e->loop ? ": exact" : "");
	return 1;
}

static void judge_shares(const struct tach__evidence *e, struct tach_examination *x)
{
	int have = e->counters_general ? e->counters_general + e->counters_fixed : 0;

	if (e->counters_free >= 0 && have > e->counters_free)
		found(x, TACH_CAUSE_TAKEN_SOME,
		      "%d of %d counters were free for this event: others hold the rest, or "
		      "this "
		      "machine has fewer than its model may have",
		      e->counters_free, have);
	else if (e->counters_free > 0)
		fine(x, "counters", "%d counters were free for this event", e->counters_free);
	if (e->undivided)
		found(x, TACH_CAUSE_UNDIVIDED,
		      "this PMU cannot leave the kernel out: counts are of all privilege "
		      "levels");
	if (e->watchdog > 0)
		found(x, TACH_CAUSE_WATCHDOG,
		      "the NMI watchdog holds one counter of every CPU");
}

static void judge_map(const struct tach__evidence *e, struct tach_examination *x)
{
	if (e->map == -EPERM)
		found(x, TACH_CAUSE_MLOCK,
		      "mapping the event's page is refused: locked memory is used up "
		      "(RLIMIT_MEMLOCK %lld KiB, kernel.perf_event_mlock_kb %d)",
		      (long long)(e->memlock_bytes < 0 ? -1 : e->memlock_bytes / 1024),
		      e->mlock_kb);
	else
		found(x, TACH_CAUSE_MMAP, "mapping the event's page failed: %s",
		      tach_strerror(e->map));
}

/* Why the page shows no counter, by what this architecture's switch says. */
static void judge_no_index(const struct tach__evidence *e, struct tach_examination *x)
{
	if (e->user_read == TACH__USER_RDPMC && e->rdpmc == 0)
		found(x, TACH_CAUSE_RDPMC_OFF,
		      "user-space reads are switched off: the PMU's rdpmc setting in sysfs is "
		      "0");
	else if (e->user_read == TACH__USER_MRS && e->user_access == TACH__UNREADABLE)
		found(x, TACH_CAUSE_USER_ACCESS_NONE,
		      "this kernel has no kernel.perf_user_access: it cannot let user space "
		      "read "
		      "counters");
	else if (e->user_read == TACH__USER_MRS && e->user_access == 0)
		found(x, TACH_CAUSE_USER_ACCESS_OFF,
		      "user-space reads are switched off: kernel.perf_user_access is 0 (the "
		      "default)");
	else if (e->user_read == TACH__USER_CSR && e->user_access == 0)
		found(x, TACH_CAUSE_USER_ACCESS_OFF,
		      "user-space reads are switched off: kernel.perf_user_access is 0");
	else if (e->user_read == TACH__USER_CSR && e->user_access == TACH__UNREADABLE)
		found(x, TACH_CAUSE_USER_LEGACY,
		      "there is no kernel.perf_user_access: the kernel counts by its driver "
		      "for "
		      "firmware without the SBI PMU extension, which gives user space no "
		      "access");
	else if (!e->cap_user_read)
		found(x, TACH_CAUSE_USER_NOT_OFFERED,
		      "the kernel's page does not offer user-space reads of this event");
	else
		found(x, TACH_CAUSE_USER_INDEX_ZERO,
		      "user-space reads are offered, but the page never showed a counter");
}

static int judge_user_read(const struct tach__evidence *e, struct tach_examination *x)
{
	if (e->user_read == TACH__USER_NONE) {
		found(x, TACH_CAUSE_USER_UNSUPPORTED,
		      "Linux offers no user-space counter reads on this architecture");
		return 0;
	}
	if (e->map < 0) {
		judge_map(e, x);
		return 0;
	}
	if (!e->user_tried) {
		judge_no_index(e, x);
		return 0;
	}
	if (!counted_right(e, e->user_counted)) {
		found(x, TACH_CAUSE_USER_WRONG,
		      "user-space reads counted %llu for a loop of %llu instructions; read(2) "
		      "counted %llu",
		      (unsigned long long)e->user_counted, (unsigned long long)e->loop,
		      (unsigned long long)e->counted);
		return 0;
	}
	fine(x, "user read", "read without a system call, the loop counts as %llu%s",
	     (unsigned long long)e->user_counted,
	     e->user_counted == e->loop && !e->used_cycles ? ": exact" : "");
	if (e->user_read == TACH__USER_RDPMC && e->rdpmc == 2)
		found(x, TACH_CAUSE_RDPMC_ALL,
		      "the PMU's rdpmc setting is 2: every process may read every counter at "
		      "any "
		      "time");
	return 1;
}

static void judge_clock(const struct tach__evidence *e, struct tach_examination *x)
{
	/* These are the time-stamp counter in another coat. */
	static const char *const by_tsc[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
					     "xen"};
	int trusted = e->clocksource[0] == '\0';

	if (e->tsc_invariant < 0) {
		fine(x, "clock", "the architecture's counter ticks at a constant rate (%s)",
		     e->clocksource[0] ? e->clocksource : "clock source not readable");
		return;
	}
	for (size_t i = 0; i < sizeof by_tsc / sizeof *by_tsc; i++)
		trusted |= strcmp(e->clocksource, by_tsc[i]) == 0;
	if (!e->tsc_invariant)
		found(x, TACH_CAUSE_CLOCK_VARIES,
		      "the time-stamp counter is not invariant: its rate follows frequency or "
		      "stops in sleep");
	else if (!trusted)
		found(x, TACH_CAUSE_CLOCK_DISTRUSTED,
		      "the kernel keeps time by %s, not by the time-stamp counter, which it "
		      "may "
		      "have found unstable",
		      e->clocksource);
	else
		fine(x, "clock", "the time-stamp counter is invariant (clock source: %s)",
		     e->clocksource[0] ? e->clocksource : "not readable");
}

static void judge_environment(const struct tach__evidence *e, struct tach_examination *x)
{
	if (e->events_error[0])
		found(x, TACH_CAUSE_EVENTS, "%s", e->events_error);
	else if (e->events_members)
		fine(x, "settings", "TACH_EVENTS and TACH_METRICS name %d events",
		     e->events_members);
	if (e->output_error[0])
		found(x, TACH_CAUSE_OUTPUT, "TACH_OUTPUT cannot be written: %s",
		      e->output_error);
	else if (e->output)
		fine(x, "settings", "TACH_OUTPUT can be written");
}

void tach__doctor_judge(const struct tach__evidence *e, struct tach_examination *x)
{
	x->nfindings = 0;
	x->verdict = TACH_VERDICT_CLOCK;
	x->loop_instructions = e->loop;
	x->loop_counted = e->counted;
	x->loop_user_counted = e->user_counted;
	x->counters_free = e->counters_free;
	judge_cpu(e, x);
	if (judge_kernel(e, x)) {
		if (e->open_hardware < 0) {
			judge_no_hardware(e, x);
		} else if (judge_count(e, x)) {
			judge_shares(e, x);
			x->verdict =
				judge_user_read(e, x) ? TACH_VERDICT_FAST : TACH_VERDICT_SLOW;
		}
	}
	judge_clock(e, x);
	judge_environment(e, x);
}

int tach_doctor_examine(const struct tach_doctor_options *opt, struct tach_examination *out,
			struct tach_error *err)
{
	struct tach_doctor_options options;
	struct tach_examination ours, *x;
	struct tach__evidence e;
	int saved = errno;

	x = tach__sized_out(out, &ours, TACH__STRUCT(tach_examination), err);
	if (opt)
		opt = tach__sized_in(opt, &options, TACH__STRUCT(tach_doctor_options), err);
	else
		opt = memset(&options, 0, sizeof options);
	if (!x || !opt)
		return TACH_ERR_INVAL;
	tach__evidence_settings(&e, opt->root ? opt->root : "");
	tach__evidence_attempts(&e);
	tach__evidence_environment(&e);
	tach__doctor_judge(&e, x);
	tach__sized_done(out, x, TACH__STRUCT(tach_examination));
	errno = saved;
	return 0;
}
