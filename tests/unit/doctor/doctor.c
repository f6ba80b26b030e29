/* SPDX-License-Identifier: MIT */
/*
 * Tests every cause that the doctor knows, with simulated evidence; doctor_real.c tests real
 * obstacles.
 */
#include <errno.h>
#include <string.h>
#include "core/doctor/doctor.h"
#include "tests/check.h"
#include "tests/unit/doctor/healthy.h"

static struct tach_examination x;

static int seen[TACH_CAUSE_COUNT];
static struct {
	enum tach_cause cause;
	char text[240];
} sentences[64];
static int nsentences;

static const struct tach_finding *finding(enum tach_cause cause)
{
	for (uint32_t i = 0; i < x.nfindings; i++)
		if (x.findings[i].cause == cause)
			return &x.findings[i];
	return NULL;
}

/*
 * Judges the evidence. The doctor must find this cause only, and its sentence must contain
 * `word`.
 */
static void expect(const struct tach__evidence *e, enum tach_cause cause,
		   enum tach_verdict verdict, const char *word)
{
	const struct tach_finding *f;

	tach__doctor_judge(e, &x);
	f = finding(cause);
	CHECK(f, "%s is not found", tach_cause_name(cause));
	CHECK(x.verdict == verdict, "%s: verdict %s", tach_cause_name(cause),
	      tach_verdict_name(x.verdict));
	for (uint32_t i = 0; i < x.nfindings; i++)
		CHECK(x.findings[i].cause == cause || x.findings[i].cause == TACH_CAUSE_NONE,
		      "%s also gives %s", tach_cause_name(cause),
		      tach_cause_name(x.findings[i].cause));
	if (!f)
		return;
	CHECK(strstr(f->text, word), "%s", f->text);
	CHECK(strlen(f->text) + 1 < sizeof f->text, "cut: %s", f->text);
	CHECK(strlen(f->cure) + 1 < sizeof f->cure, "cut: %s", f->cure);
	CHECK(f->severity > TACH_SEVERITY_OK);
	seen[cause]++;
	sentences[nsentences].cause = cause;
	memcpy(sentences[nsentences++].text, f->text, sizeof f->text);
}

static void health_is_all_ok(void)
{
	struct tach__evidence e = healthy();

	tach__doctor_judge(&e, &x);
	CHECK(x.verdict == TACH_VERDICT_FAST);
	CHECK(x.nfindings == 6, "%u findings", x.nfindings);
	for (uint32_t i = 0; i < x.nfindings; i++)
		CHECK(x.findings[i].severity == TACH_SEVERITY_OK && !x.findings[i].cure[0],
		      "%s", x.findings[i].text);
	CHECK(x.loop_counted == 2000000 && x.loop_user_counted == 2000000);
}

static void refusals(void)
{
	struct tach__evidence e = healthy();

	e.open_software = e.open_hardware = -ENOSYS;
	expect(&e, TACH_CAUSE_NO_PERF_EVENTS, TACH_VERDICT_CLOCK, "no perf_event_open");
	e.settings.seccomp = 2;
	expect(&e, TACH_CAUSE_SECCOMP_ENOSYS, TACH_VERDICT_CLOCK, "ENOSYS");
	e.open_software = e.open_hardware = -EPERM;
	expect(&e, TACH_CAUSE_SECCOMP_EPERM, TACH_VERDICT_CLOCK, "EPERM");
	e.settings.seccomp = 0;
	expect(&e, TACH_CAUSE_SECURITY_MODULE, TACH_VERDICT_CLOCK, "EPERM");
	e.settings.confidential = 1;
	expect(&e, TACH_CAUSE_LOCKDOWN, TACH_VERDICT_CLOCK, "locked down");
	e.open_software = e.open_hardware = -EACCES;
	expect(&e, TACH_CAUSE_SECURITY_MODULE, TACH_VERDICT_CLOCK, "EACCES");
	e.settings.selinux = 1;
	expect(&e, TACH_CAUSE_SELINUX, TACH_VERDICT_CLOCK, "SELinux");
	e.settings.paranoid = TACH__UNREADABLE;
	expect(&e, TACH_CAUSE_SELINUX, TACH_VERDICT_CLOCK, "is unreadable");
	for (e.settings.paranoid = 3; e.settings.paranoid <= 4; e.settings.paranoid++)
		expect(&e, TACH_CAUSE_PARANOID, TACH_VERDICT_CLOCK,
		       e.settings.paranoid == 3 ? "paranoid is 3" : "paranoid is 4");
	e.settings.paranoid = 4;
	e.settings.capable = 1;
	expect(&e, TACH_CAUSE_SECURITY_MODULE, TACH_VERDICT_CLOCK, "although this process has");
	strcpy(e.settings.apparmor, "docker-default");
	expect(&e, TACH_CAUSE_APPARMOR, TACH_VERDICT_CLOCK, "profile docker-default");
	e.settings.user_namespace = 1;
	expect(&e, TACH_CAUSE_USER_NAMESPACE, TACH_VERDICT_CLOCK, "user namespace");
	e.open_software = e.open_hardware = -EMFILE;
	expect(&e, TACH_CAUSE_DESCRIPTORS, TACH_VERDICT_CLOCK, "process's file descriptor");
	e.open_software = e.open_hardware = -ENFILE;
	expect(&e, TACH_CAUSE_DESCRIPTORS, TACH_VERDICT_CLOCK, "system's file descriptor");
	e = healthy();
	e.open_hardware = -EIO;
	expect(&e, TACH_CAUSE_OPEN_OTHER, TACH_VERDICT_CLOCK, "errno 5");
	e = healthy();
	e.open_kernel = -EACCES;
	expect(&e, TACH_CAUSE_PARANOID_KERNEL, TACH_VERDICT_FAST, "level 2");
}

static void missing_hardware(void)
{
	static const int errors[] = {-ENOENT, -ENODEV, -ENXIO, -EOPNOTSUPP};
	struct tach__evidence e = healthy();

	for (int i = 0; i < 4; i++) {
		e.open_hardware = errors[i];
		e.settings.virtual_machine = 0;
		expect(&e, TACH_CAUSE_NO_DRIVER, TACH_VERDICT_CLOCK, "drives no PMU");
		e.settings.virtual_machine = 1;
		expect(&e, TACH_CAUSE_NO_VPMU, TACH_VERDICT_CLOCK, "virtual machine:");
		snprintf(e.settings.hypervisor, sizeof e.settings.hypervisor, "QEMU");
		expect(&e, TACH_CAUSE_NO_VPMU, TACH_VERDICT_CLOCK, "machine (QEMU):");
		e.settings.hypervisor[0] = '\0';
	}
	e = healthy();
	e.open_hardware = -EBUSY;
	expect(&e, TACH_CAUSE_TAKEN_ALL, TACH_VERDICT_CLOCK, "EBUSY");
}

static void bad_counts(void)
{
	struct tach__evidence e = healthy();

	e.counted = 0;
	expect(&e, TACH_CAUSE_COUNT_ZERO, TACH_VERDICT_CLOCK, "stay 0");
	e.settings.virtual_machine = 1;
	expect(&e, TACH_CAUSE_COUNT_ZERO, TACH_VERDICT_CLOCK, "in name only");
	e.enabled = e.running = 0;
	expect(&e, TACH_CAUSE_COUNT_ZERO, TACH_VERDICT_CLOCK, "never runs");
	e = healthy();
	e.counted = e.loop + 301;
	expect(&e, TACH_CAUSE_COUNT_WRONG, TACH_VERDICT_CLOCK, "2000301");
	e.counted = e.loop - 301;
	expect(&e, TACH_CAUSE_COUNT_WRONG, TACH_VERDICT_CLOCK, "1999699");
	e.counted = e.loop + 300; /* interrupts */
	tach__doctor_judge(&e, &x);
	CHECK(x.verdict == TACH_VERDICT_FAST);
	e = healthy();
	e.used_cycles = 1;
	e.counted = e.user_counted = 1234567;
	expect(&e, TACH_CAUSE_NO_INSTRUCTIONS, TACH_VERDICT_FAST, "1234567 cycles");
	e.counted = 3; /* cycles that hardly advance are not a clock */
	expect(&e, TACH_CAUSE_COUNT_WRONG, TACH_VERDICT_CLOCK, "as 3 cycles");
}

static void taken_counters(void)
{
	struct tach__evidence e = healthy();

	e.pinned_error = 1;
	e.running = e.counted = 0;
	expect(&e, TACH_CAUSE_TAKEN_ALL, TACH_VERDICT_CLOCK, "never got a counter");
	e = healthy();
	e.counters_free = 7;
	expect(&e, TACH_CAUSE_TAKEN_SOME, TACH_VERDICT_FAST, "7 of 9");
	e = healthy();
	e.settings.watchdog = 1;
	expect(&e, TACH_CAUSE_WATCHDOG, TACH_VERDICT_FAST, "watchdog");
	e = healthy();
	e.undivided = 1;
	expect(&e, TACH_CAUSE_UNDIVIDED, TACH_VERDICT_FAST, "all privilege levels");
	e = healthy();
	e.mediated = 1;
	expect(&e, TACH_CAUSE_MEDIATED, TACH_VERDICT_FAST, "mediated vPMU");
}

/* Returns true if one of the findings contains the word. */
static int says(const struct tach__evidence *e, const char *word)
{
	int found = 0;

	tach__doctor_judge(e, &x);
	for (uint32_t i = 0; i < x.nfindings; i++)
		found |= strstr(x.findings[i].text, word) != NULL &&
			 strlen(x.findings[i].text) + 1 < sizeof x.findings[i].text;
	return found;
}

static void user_reads(void)
{
	struct tach__evidence e = healthy();

	e.settings.rdpmc = 2;
	expect(&e, TACH_CAUSE_RDPMC_ALL, TACH_VERDICT_FAST, "is 2");
	e.settings.rdpmc = 1;
	e.user_counted = e.loop * 2;
	expect(&e, TACH_CAUSE_USER_WRONG, TACH_VERDICT_SLOW, "4000000");
	e = healthy();
	e.user_tried = 0;
	expect(&e, TACH_CAUSE_USER_INDEX_ZERO, TACH_VERDICT_SLOW, "never showed");
	e.cap_user_read = 0;
	expect(&e, TACH_CAUSE_USER_NOT_OFFERED, TACH_VERDICT_SLOW, "does not offer");
	e.settings.rdpmc = 0;
	expect(&e, TACH_CAUSE_RDPMC_OFF, TACH_VERDICT_SLOW, "rdpmc setting in sysfs is 0");
	e.user_read = TACH__USER_MRS;
	e.settings.tsc_invariant = -1;
	expect(&e, TACH_CAUSE_USER_ACCESS_NONE, TACH_VERDICT_SLOW,
	       "no kernel.perf_user_access");
	e.settings.user_access = 0;
	expect(&e, TACH_CAUSE_USER_ACCESS_OFF, TACH_VERDICT_SLOW, "perf_user_access is 0");
	e.user_read = TACH__USER_CSR;
	expect(&e, TACH_CAUSE_USER_ACCESS_OFF, TACH_VERDICT_SLOW, "perf_user_access is 0");
	e.settings.user_access = TACH__UNREADABLE;
	expect(&e, TACH_CAUSE_USER_LEGACY, TACH_VERDICT_SLOW, "SBI PMU extension");
	e.user_read = TACH__USER_NONE;
	expect(&e, TACH_CAUSE_USER_UNSUPPORTED, TACH_VERDICT_SLOW, "this architecture");
	e = healthy();
	e.user_read = TACH__USER_MRS;
	CHECK(says(&e, "FEAT_PMUv3_ICNTR") && x.verdict == TACH_VERDICT_FAST);
	e.used_cycles = 1;
	e.user_counted = e.counted = e.loop;
	CHECK(!says(&e, "FEAT_PMUv3_ICNTR"));
	e = healthy();
	e.map = -EPERM;
	e.settings.memlock_bytes = 65536;
	expect(&e, TACH_CAUSE_MLOCK, TACH_VERDICT_SLOW, "64 KiB");
	e.map = -ENOMEM;
	expect(&e, TACH_CAUSE_MMAP, TACH_VERDICT_SLOW, "failed");
}

static void settings(void)
{
	struct tach__evidence e = healthy();

	strcpy(e.events_error, "column 8: no event 'instrutions'");
	expect(&e, TACH_CAUSE_EVENTS, TACH_VERDICT_FAST, "column 8: no event");
	e = healthy();
	e.output = 1;
	strcpy(e.output_error, "/x: Permission denied");
	expect(&e, TACH_CAUSE_OUTPUT, TACH_VERDICT_FAST, "Permission denied");
	e.output_error[0] = '\0';
	e.events_members = 3;
	tach__doctor_judge(&e, &x);
	CHECK(x.nfindings == 8 && strstr(x.findings[6].text, "name 3 events") &&
	      strstr(x.findings[7].text, "can be written"));
}

static void cpu_and_clock(void)
{
	static const char *const sources[] = {"tsc", "kvm-clock",
					      "hyperv_clocksource_tsc_page"};
	struct tach__evidence e = healthy();

	e.tables[0] = '\0';
	expect(&e, TACH_CAUSE_CPU_UNKNOWN, TACH_VERDICT_FAST, "no event table");
	e = healthy();
	e.settings.tsc_invariant = 0;
	expect(&e, TACH_CAUSE_CLOCK_VARIES, TACH_VERDICT_FAST, "not invariant");
	e.settings.tsc_invariant = 1;
	snprintf(e.settings.clocksource, sizeof e.settings.clocksource, "hpet");
	expect(&e, TACH_CAUSE_CLOCK_DISTRUSTED, TACH_VERDICT_FAST, "by hpet");
	for (int i = 0; i < 3; i++) {
		snprintf(e.settings.clocksource, sizeof e.settings.clocksource, "%s",
			 sources[i]);
		tach__doctor_judge(&e, &x);
		CHECK(!finding(TACH_CAUSE_CLOCK_DISTRUSTED), "%s", sources[i]);
	}
}

static void every_cause_was_seen_and_has_its_own_sentence(void)
{
	for (int c = 1; c < TACH_CAUSE_COUNT; c++)
		CHECK(seen[c], "%s was never provoked", tach_cause_name(c));
	for (int i = 0; i < nsentences; i++)
		for (int j = 0; j < i; j++)
			CHECK(sentences[i].cause == sentences[j].cause ||
				      strcmp(sentences[i].text, sentences[j].text) != 0,
			      "%s", sentences[i].text);
	for (int c = 0; c < TACH_CAUSE_COUNT; c++)
		for (int d = 0; d < c; d++) {
			CHECK(strcmp(tach_cause_name(c), tach_cause_name(d)) != 0, "%d", c);
			CHECK(!tach__causes[c].cure[0] ||
				      strcmp(tach__causes[c].cure, tach__causes[d].cure) != 0,
			      "%s", tach_cause_name(c));
		}
	CHECK(strcmp(tach_cause_name(TACH_CAUSE_COUNT), "unknown") == 0, "out of range");
	CHECK(strcmp(tach_verdict_name(-1), "unknown") == 0, "out of range");
	CHECK(strcmp(tach_severity_name(4), "unknown") == 0, "out of range");
}

/* An error of opening is one line: NAME: the sentence; the remedy. */
static void errors_have_room_for_sentence_and_cure(void)
{
	static const int codes[] = {-EPERM, -EACCES, -ENOSYS, -EMFILE, -ENOENT, -EIO};
	struct tach__settings s;
	char text[400];

	for (int bits = 0; bits < 1 << 8; bits++) {
		memset(&s, 0, sizeof s);
		s.paranoid = bits & 1 ? 4 : TACH__UNREADABLE;
		s.seccomp = bits & 2 ? 2 : 0;
		s.capable = bits >> 2 & 1;
		s.user_namespace = bits >> 3 & 1;
		s.selinux = bits >> 4 & 1;
		s.confidential = bits >> 5 & 1;
		s.virtual_machine = bits >> 6 & 1;
		if (bits & 128)
			strcpy(s.apparmor, "profile-of-30-characters-length");
		strcpy(s.hypervisor, "a hypervisor of 30 characters.");
		for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
			enum tach_cause cause = tach__cause_of_refusal(codes[i], &s);

			tach__cause_text(cause, &s, codes[i], text, sizeof text);
			CHECK(strlen(text) > 10 &&
				      strlen(text) + strlen(tach__causes[cause].cure) + 24 <
					      sizeof(((struct tach_error *)0)->text),
			      "%s: %zu, %s", tach_cause_name(cause), strlen(text), text);
		}
	}
}

int main(void)
{
	CASE(errors_have_room_for_sentence_and_cure);
	CASE(health_is_all_ok);
	CASE(refusals);
	CASE(missing_hardware);
	CASE(bad_counts);
	CASE(taken_counters);
	CASE(user_reads);
	CASE(cpu_and_clock);
	CASE(settings);
	CASE(every_cause_was_seen_and_has_its_own_sentence);
	return check_done();
}
