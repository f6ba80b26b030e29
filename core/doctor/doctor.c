/* SPDX-License-Identifier: MIT */
/* The judgement converts evidence to findings; each cause has its own sentence and cure. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "core/doctor/doctor.h"
#include "core/base/error.h"
#include "core/base/sized.h"

static struct tach_finding *next_finding(struct tach_examination *x)
{
	/* The judgement below produces at most 15 findings. The unit test of all causes fails
	 * if there are more. */
	return &x->findings[x->nfindings < TACH_FINDINGS_MAX ? x->nfindings++
							     : TACH_FINDINGS_MAX - 1];
}

static struct tach_finding *begin_finding(struct tach_examination *x, enum tach_cause cause)
{
	const struct tach__cause *c = &tach__causes[cause];
	struct tach_finding *f = next_finding(x);

	f->cause = cause;
	f->severity = c->severity;
	f->check = c->check;
	snprintf(f->cure, sizeof f->cure, "%s%s", c->cure, c->more);
	return f;
}

/* Adds a finding with the text that errors have for this cause. */
static void found_cause(struct tach_examination *x, enum tach_cause cause,
			const struct tach__evidence *e, int code)
{
	struct tach_finding *f = begin_finding(x, cause);

	tach__cause_text(cause, &e->settings, code, f->text, sizeof f->text);
}

__attribute__((format(printf, 3, 4))) static void
found(struct tach_examination *x, enum tach_cause cause, const char *format, ...)
{
	struct tach_finding *f = begin_finding(x, cause);
	va_list args;

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
	const char *cpu = e->settings.cpu[0] ? e->settings.cpu : "this CPU";

	if (e->tables[0])
		fine(x, "cpu", "%s: event tables %s", cpu, e->tables);
	else
		found(x, TACH_CAUSE_CPU_UNKNOWN, "no event table for %s%s%s", cpu,
		      e->tables_error[0] ? ": " : "", e->tables_error);
}

/* Returns 1 if the kernel lets this thread open events at all. */
static int judge_kernel(const struct tach__evidence *e, struct tach_examination *x)
{
	char level[16] = "unreadable";

	if (e->open_software < 0) {
		found_cause(x, tach__cause_of_refusal(e->open_software, &e->settings), e,
			    e->open_software);
		return 0;
	}
	if (e->settings.paranoid != TACH__UNREADABLE)
		snprintf(level, sizeof level, "%d", e->settings.paranoid);
	fine(x, "kernel", "perf_event_open works (kernel.perf_event_paranoid: %s)", level);
	if (e->open_kernel < 0)
		found_cause(x, TACH_CAUSE_PARANOID_KERNEL, e, e->open_kernel);
	return 1;
}

static void judge_no_hardware(const struct tach__evidence *e, struct tach_examination *x)
{
	if (e->open_hardware == -EBUSY)
		found(x, TACH_CAUSE_TAKEN_ALL, "another program holds the whole PMU (EBUSY)");
	else
		found_cause(x, tach__cause_of_refusal(e->open_hardware, &e->settings), e,
			    e->open_hardware);
}

static int counted_right(const struct tach__evidence *e, uint64_t counted)
{
	uint64_t off = counted > e->loop ? counted - e->loop : e->loop - counted;

	/* The loop's cycles are unknown, so accept from 1 cycle per 16 instructions to 1000
	 * cycles per instruction. */
	if (e->used_cycles)
		return counted >= e->loop / 16 && counted / 1000 <= e->loop;
	/*
	 * An interrupt may add a few events to a user-level count. If the kernel level is
	 * counted, too, the count includes all work of the interrupt.
	 */
	return off <= 100 + e->loop / (e->undivided ? 10 : 10000);
}

static int judge_count(const struct tach__evidence *e, struct tach_examination *x)
{
	const char *what = e->used_cycles ? "cycles" : "instructions";

	if (e->pinned_error || e->running == 0) {
		if (e->settings.virtual_machine && e->counted == 0 && !e->pinned_error &&
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
		      e->settings.virtual_machine ? ": a virtual PMU in name only" : "");
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
		found_cause(x, TACH_CAUSE_UNDIVIDED, e, 0);
	if (e->mediated)
		found_cause(x, TACH_CAUSE_MEDIATED, e, 0);
	if (e->settings.watchdog > 0)
		found_cause(x, TACH_CAUSE_WATCHDOG, e, 0);
}

static int judge_user_read(const struct tach__evidence *e, struct tach_examination *x)
{
	if (e->user_read != TACH__USER_NONE && e->map < 0) {
		found_cause(x, tach__cause_of_map(e->map), e, e->map);
		return 0;
	}
	if (e->user_read == TACH__USER_NONE || !e->user_tried) {
		found_cause(
			x,
			tach__cause_of_no_index(&e->settings, e->user_read, e->cap_user_read),
			e, 0);
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
	/* drivers/perf/arm_pmuv3.c, armv8pmu_get_event_idx, since Linux 6.12. */
	if (e->user_read == TACH__USER_MRS && !e->used_cycles)
		fine(x, "user read",
		     "instructions take a general counter: the one for them that newer cores "
		     "have (FEAT_PMUv3_ICNTR) Linux gives to no event that user space may "
		     "read");
	if (e->user_read == TACH__USER_RDPMC && e->settings.rdpmc == 2)
		found(x, TACH_CAUSE_RDPMC_ALL,
		      "the PMU's rdpmc setting is 2: every process may read every counter at "
		      "any "
		      "time");
	return 1;
}

static void judge_clock(const struct tach__evidence *e, struct tach_examination *x)
{
	/* Clock sources that read the time-stamp counter. */
	static const char *const by_tsc[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
					     "xen"};
	int trusted = e->settings.clocksource[0] == '\0';

	if (e->settings.tsc_invariant < 0) {
		fine(x, "clock", "the architecture's counter ticks at a constant rate (%s)",
		     e->settings.clocksource[0] ? e->settings.clocksource
						: "clock source not readable");
		return;
	}
	for (size_t i = 0; i < sizeof by_tsc / sizeof *by_tsc; i++)
		trusted |= strcmp(e->settings.clocksource, by_tsc[i]) == 0;
	if (!e->settings.tsc_invariant)
		found(x, TACH_CAUSE_CLOCK_VARIES,
		      "the time-stamp counter is not invariant: its rate follows frequency or "
		      "stops in sleep");
	else if (!trusted)
		found(x, TACH_CAUSE_CLOCK_DISTRUSTED,
		      "the kernel keeps time by %s, not by the time-stamp counter, which it "
		      "may "
		      "have found unstable",
		      e->settings.clocksource);
	else
		fine(x, "clock", "the time-stamp counter is invariant (clock source: %s)",
		     e->settings.clocksource[0] ? e->settings.clocksource : "not readable");
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
