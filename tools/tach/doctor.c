/* SPDX-License-Identifier: MIT */
/* `tach doctor`: prints what the library found when it examined this machine. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach/arch.h>
#include <tach/doctor.h>
#include "core/doctor/doctor.h"
#include "core/set/set.h"
#include "core/set/diagnose.h"
#include "tools/tach/commands.h"

enum { LABELS = 19, WIDTH_LEAST = 60, WIDTH_MOST = 100 };

static const char help[] =
	"usage: tach doctor [--json] [--root DIR]\n"
	"\n"
	"Finds out whether performance counters work on this machine. It counts a loop of\n"
	"known length, and names the cause and the cure of each problem.\n"
	"\n"
	"  --json      print one JSON object (schema tach-doctor-1)\n"
	"  --root DIR  read settings from DIR/proc and DIR/sys\n"
	"  -h, --help  print this text\n"
	"\n"
	"man tach-doctor explains the findings. Exit status: 0 counters are read in user\n"
	"space and count right; 1 they are not (the findings say why; counting by read(2)\n"
	"or by the clock may still work); 2 bad usage.\n";

static const char *const verdict_text[] = {
	[TACH_VERDICT_FAST] = "counters are read in user space, without a system call",
	[TACH_VERDICT_SLOW] =
		"counters work, by read(2) only: right values, about 20 times the "
		"cost",
	[TACH_VERDICT_CLOCK] = "no counters here: regions still measure time, and software "
			       "events when asked for by name",
};

static const char nothing_opens[] =
	"no counters and no software events here: regions measure time "
	"alone";

/* Returns true if even software events cannot be opened. */
static int opens_nothing(const struct tach_examination *x)
{
	for (uint32_t i = 0; i < x->nfindings; i++)
		if (x->findings[i].severity == TACH_SEVERITY_FAIL &&
		    strcmp(x->findings[i].check, "kernel") == 0)
			return 1;
	return 0;
}

static int screen_width(void)
{
	struct winsize w;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col == 0)
		return 80;
	return w.ws_col < WIDTH_LEAST  ? WIDTH_LEAST
	       : w.ws_col > WIDTH_MOST ? WIDTH_MOST
				       : w.ws_col;
}

/* Prints text after `column` characters that are already on the line, and wraps it at words. */
static void print_wrapped(const char *text, int column, int limit)
{
	int at = column;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (at > column && at + 1 + length > limit) {
			printf("\n%*s", column, "");
			at = column;
		}
		at += printf("%s%.*s", at > column ? " " : "", length, text);
		text += length + (text[length] == ' ');
	}
	putchar('\n');
}

static void print_text(const struct tach_examination *x)
{
	static const char *const marks[] = {"ok", "note", "WARN", "FAIL"};
	struct utsname os;
	int limit = screen_width();

	if (uname(&os) != 0)
		snprintf(os.release, sizeof os.release, "?");
	printf("tach %s on %s, Linux %s\n\n", tach_version(), TACH_ARCH_NAME, os.release);
	for (uint32_t i = 0; i < x->nfindings; i++) {
		const struct tach_finding *f = &x->findings[i];

		printf("  %-5s %-10s ", marks[f->severity], f->check);
		print_wrapped(f->text, LABELS, limit);
		if (f->cure[0]) {
			printf("%*scure: ", LABELS, "");
			print_wrapped(f->cure, LABELS + 6, limit);
		}
	}
	printf("\nverdict: ");
	print_wrapped(opens_nothing(x) ? nothing_opens : verdict_text[x->verdict], 9, limit);
}

static void print_json(const struct tach_examination *x)
{
	struct json_to to;
	struct tach__json_out *json = &to.json;

	json_begin(&to, stdout, TACH__JSON_COMPACT);
	tach__json_object(json, NULL);
	tach__json_string(json, "schema", "tach-doctor-1");
	tach__json_string(json, "version", tach_version());
	tach__json_string(json, "arch", TACH_ARCH_NAME);
	tach__json_string(json, "verdict", tach_verdict_name(x->verdict));
	tach__json_object(json, "loop");
	tach__json_unsigned(json, "instructions", x->loop_instructions);
	tach__json_unsigned(json, "counted", x->loop_counted);
	tach__json_unsigned(json, "counted_user", x->loop_user_counted);
	tach__json_end(json);
	if (x->counters_free < 0)
		tach__json_null(json, "counters_free");
	else
		tach__json_int(json, "counters_free", x->counters_free);
	tach__json_array(json, "findings");
	for (uint32_t i = 0; i < x->nfindings; i++) {
		const struct tach_finding *f = &x->findings[i];

		tach__json_object(json, NULL);
		tach__json_string(json, "check", f->check);
		tach__json_string(json, "severity", tach_severity_name(f->severity));
		tach__json_string(json, "cause", tach_cause_name(f->cause));
		tach__json_string(json, "text", f->text);
		tach__json_string(json, "cure", f->cure);
		tach__json_end(json);
	}
	tach__json_end(json);
	tach__json_end(json);
	json_end(&to);
}

/* A seccomp filter may kill a process that calls perf_event_open, so a child tries it. */
static int is_killed_by_seccomp(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		prctl(PR_SET_DUMPABLE, 0); /* no core file */
		syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0UL);
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGSYS;
}

/* Examines everything except perf_event_open. */
static void examine_settings(const char *root, struct tach_examination *x)
{
	struct tach__evidence e;

	tach__evidence_settings(&e, root ? root : "");
	e.user_read = tach__user_read();
	e.settings.seccomp = 2;
	e.open_software = e.open_kernel = e.open_hardware = -EPERM;
	e.counters_free = -1;
	tach__doctor_judge(&e, x);
	for (uint32_t i = 0; i < x->nfindings; i++)
		if (x->findings[i].cause == TACH_CAUSE_SECCOMP_EPERM)
			snprintf(x->findings[i].text, sizeof x->findings[i].text,
				 "a seccomp filter kills every process that calls "
				 "perf_event_open (SIGSYS), also programs that count, unless "
				 "regions are off (TACH_ENABLE=0)");
}

int cmd_doctor(int argc, char **argv)
{
	static struct tach_examination x = {.size = sizeof x};
	struct tach_doctor_options opt = {sizeof opt, NULL};
	struct tach_error err = TACH_ERROR_INIT;
	int json = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			fputs(help, stdout);
			return EXIT_DONE;
		}
		if (strcmp(argv[i], "--json") == 0) {
			json = 1;
		} else if (strcmp(argv[i], "--root") == 0 && i + 1 < argc) {
			opt.root = argv[++i];
		} else {
			return refuse_usage("doctor", "cannot use '%s'", argv[i]);
		}
	}
	if (is_killed_by_seccomp()) {
		examine_settings(opt.root, &x);
	} else if (tach_doctor_examine(&opt, &x, &err) != 0) {
		fprintf(stderr, "tach doctor: %s\n", err.text);
		return EXIT_NO;
	}
	if (json)
		print_json(&x);
	else
		print_text(&x);
	return x.verdict == TACH_VERDICT_FAST ? EXIT_DONE : EXIT_NO;
}
