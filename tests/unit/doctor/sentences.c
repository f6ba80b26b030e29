/* SPDX-License-Identifier: MIT */
/*
 * All findings of a judgement, with full texts: those of a healthy machine, and those at each
 * limit.
 */
#include <errno.h>
#include <string.h>
#include "core/doctor/doctor.h"
#include "tests/check.h"
#include "tests/unit/doctor/healthy.h"

static char said[40000];

static void judge(const char *name, const struct tach__evidence *e)
{
	static struct tach_examination x;
	char *to = said + strlen(said);

	memset(&x, 0xee, sizeof x);
	tach__doctor_judge(e, &x);
	to += sprintf(to, "== %s: %s, %llu, %llu, %llu, %d free\n", name,
		      tach_verdict_name(x.verdict), (unsigned long long)x.loop_instructions,
		      (unsigned long long)x.loop_counted,
		      (unsigned long long)x.loop_user_counted, x.counters_free);
	for (uint32_t i = 0; i < x.nfindings; i++) {
		const struct tach_finding *f = &x.findings[i];

		to += sprintf(to, "%s (%s%s%s): %s\n", f->check,
			      tach_severity_name(f->severity), f->cause ? ", " : "",
			      f->cause ? tach_cause_name(f->cause) : "", f->text);
		CHECK(f->cause == TACH_CAUSE_NONE
			      ? !*f->cure
			      : !*f->cure == !tach__causes[f->cause].cure[0],
		      "%s: %s", f->text, f->cure);
	}
}

#define CASE_OF(name, ...)                                                                     \
	do {                                                                                   \
		struct tach__evidence e = healthy();                                           \
		__VA_ARGS__;                                                                   \
		judge(name, &e);                                                               \
	} while (0)

static void machine(void)
{
	CASE_OF("healthy", (void)0);
	CASE_OF("no name", e.settings.cpu[0] = '\0');
	CASE_OF("no table", e.tables[0] = '\0');
	CASE_OF("no table, and why", e.tables[0] = '\0'; strcpy(e.tables_error, "a reason"));
	CASE_OF("paranoid", e.settings.paranoid = 4);
	CASE_OF("unreadable", e.settings.paranoid = TACH__UNREADABLE);
	CASE_OF("no kernel", e.open_kernel = -EACCES);
	CASE_OF("nothing", e.open_software = -EACCES);
	CASE_OF("no hardware", e.open_hardware = -ENOENT);
	CASE_OF("busy", e.open_hardware = -EBUSY);
	CASE_OF("invariant clock of no TSC", e.settings.tsc_invariant = -1);
	CASE_OF("of no source", e.settings.tsc_invariant = -1;
		e.settings.clocksource[0] = '\0');
	CASE_OF("source not readable", e.settings.clocksource[0] = '\0');
	CASE_OF("source distrusted", strcpy(e.settings.clocksource, "hpet"));
	CASE_OF("varies", e.settings.tsc_invariant = 0);
	CASE_OF("events", e.events_members = 1; e.output = 1);
	CASE_OF("odd events", e.events_members = 1; e.output = 1; strcpy(e.events_error, "odd");
		strcpy(e.output_error, "odd too"));
}

static void counts(void)
{
	CASE_OF("not exact", e.counted++; e.user_counted--);
	CASE_OF("most", e.counted += 300; e.user_counted += 300);
	CASE_OF("more", e.counted += 301);
	CASE_OF("least", e.counted -= 300; e.user_counted -= 300);
	CASE_OF("less", e.counted -= 301);
	CASE_OF("user more", e.user_counted += 301);
	CASE_OF("undivided, most", e.undivided = 1; e.counted += 200100);
	CASE_OF("undivided, more", e.undivided = 1; e.counted += 200101);
	CASE_OF("cycles, least", e.used_cycles = 1; e.counted = e.user_counted = 125000);
	CASE_OF("cycles, less", e.used_cycles = 1; e.counted = 124999);
	CASE_OF("cycles, most", e.used_cycles = 1; e.counted = 2000000999);
	CASE_OF("cycles, more", e.used_cycles = 1; e.counted = 2000001000);
	CASE_OF("cycles as many", e.used_cycles = 1);
	CASE_OF("zero", e.counted = 0);
	CASE_OF("zero, virtual", e.counted = 0; e.settings.virtual_machine = 1);
	CASE_OF("pinned", e.pinned_error = 1);
	CASE_OF("never ran", e.running = 0);
	CASE_OF("never ran, virtual", e.running = 0; e.settings.virtual_machine = 1);
	CASE_OF("no time, virtual", e.running = e.enabled = e.counted = 0;
		e.settings.virtual_machine = 1);
	CASE_OF("no time", e.running = e.enabled = e.counted = 0);
	CASE_OF("no time but a count, virtual", e.running = e.enabled = 0;
		e.settings.virtual_machine = 1);
	CASE_OF("pinned, virtual", e.running = e.enabled = e.counted = 0; e.pinned_error = 1;
		e.settings.virtual_machine = 1; e.used_cycles = 1);
}

static void free_counters_are_reported(void)
{
	CASE_OF("one taken", e.counters_free = 8);
	CASE_OF("all taken", e.counters_free = 0);
	CASE_OF("one more", e.counters_free = 10);
	CASE_OF("not tried", e.counters_free = -1);
	CASE_OF("not known", e.counters_free = 0; e.counters_general = 0);
	CASE_OF("not known, one", e.counters_free = 1; e.counters_general = 0);
	CASE_OF("one of one", e.counters_free = 1; e.counters_general = 1;
		e.counters_fixed = 0);
	CASE_OF("undivided", e.undivided = 1);
	CASE_OF("mediated", e.mediated = 1);
	CASE_OF("watchdog", e.settings.watchdog = 1);
	CASE_OF("watchdog unreadable", e.settings.watchdog = TACH__UNREADABLE);
}

static void user_reads(void)
{
	CASE_OF("no way", e.user_read = TACH__USER_NONE; e.map = -EPERM);
	CASE_OF("no map", e.map = -EPERM);
	CASE_OF("not tried", e.user_tried = 0);
	CASE_OF("every process", e.settings.rdpmc = 2);
	CASE_OF("arm", e.user_read = TACH__USER_MRS; e.settings.rdpmc = 2);
	CASE_OF("arm, cycles", e.user_read = TACH__USER_MRS; e.used_cycles = 1);
}

static void findings_have_their_text(void)
{
	static char wanted[sizeof said];
	FILE *from = fopen("tests/unit/doctor/sentences/said.txt", "r");
	size_t n = from ? fread(wanted, 1, sizeof wanted - 1, from) : 0, i = 0, begin = 0;

	if (from)
		fclose(from);
	wanted[n] = '\0';
	for (; said[i] == wanted[i] && said[i]; i++)
		begin = said[i] == '\n' ? i + 1 : begin;
	CHECK(said[i] == wanted[i], "%.*s", (int)strcspn(said + begin, "\n"), said + begin);
}

int main(void)
{
	CASE(machine);
	CASE(counts);
	CASE(free_counters_are_reported);
	CASE(user_reads);
	CASE(findings_have_their_text);
	return check_done();
}
