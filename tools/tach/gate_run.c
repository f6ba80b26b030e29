/* SPDX-License-Identifier: MIT */
/* One run of a command for `tach gate`: runs `tach run` and reads its report. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/os/rank.h"
#include "tools/tach/gate.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"

/*
 * Settings that were made for other runs must not affect the comparison. Variables that only
 * name a file or folder are kept.
 */
static void clear_environment(void)
{
	static const char *const kept[] = {
		"TACH_PMU=", "TACH_CACHE=", "TACH_QEMU=", "TACH_DERIVED="};
	char **at = environ;

	while (*at) {
		size_t i = 0, n = strcspn(*at, "=");
		char *name;

		while (i < sizeof kept / sizeof *kept &&
		       strncmp(*at, kept[i], strlen(kept[i])) != 0)
			i++;
		name = strncmp(*at, "TACH_", 5) == 0 && i == sizeof kept / sizeof *kept
			       ? strndup(*at, n)
			       : NULL;
		/* unsetenv changes the list that this loop walks. */
		if (name)
			unsetenv(name);
		else
			at++;
		free(name);
	}
}

/* Discards the program's output. Keeps messages of tach run, to print them if it fails. */
static void exec_program(const struct gate_command *c, const char *report, int said)
{
	size_t n = 0, at = 0;
	char **argv;

	while (c->words[n])
		n++;
	argv = calloc(n + 12, sizeof *argv);
	if (!argv)
		_exit(RUN_FAILED);
	argv[at++] = (char *)"tach";
	argv[at++] = (char *)"run";
	if (c->arguments->emulate)
		argv[at++] = (char *)"--emulate";
	else if (compare_rule(&c->arguments->compare, "instructions"))
		argv[at++] = (char *)"--correct"; /* if interrupts can be counted */
	if (c->events) {
		argv[at++] = (char *)"-e";
		argv[at++] = (char *)c->events;
	}
	if (c->metrics) {
		argv[at++] = (char *)"-m";
		argv[at++] = (char *)c->metrics;
	}
	argv[at++] = (char *)"-o";
	argv[at++] = (char *)report;
	argv[at++] = (char *)"--";
	memcpy(argv + at, c->words, (n + 1) * sizeof *argv);
	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
	dup2(said, STDERR_FILENO);
	clear_environment();
	execv("/proc/self/exe", argv);
	_exit(RUN_FAILED);
}

static void print_messages(int said)
{
	char text[4096];
	ssize_t n;

	lseek(said, 0, SEEK_SET);
	while ((n = read(said, text, sizeof text)) > 0)
		fwrite(text, 1, (size_t)n, stderr);
}

static int is_wanted(const void *options, const char *quantity)
{
	return compare_rule(options, quantity) != NULL;
}

static int take_report(const struct gate_command *c, const char *report, struct samples *s)
{
	struct tach_snapshot *shot;

	if (report_load(&shot, report, "tach gate") != 0)
		return -1;
	samples_take(s, shot, is_wanted, &c->arguments->compare);
	tach_snapshot_free(shot);
	return 0;
}

/*
 * Each run has its own folder for the report. The file name contains %r, so that a rank of a
 * parallel job also writes its own report.
 */
int gate_run(const struct gate_command *c, struct samples *s)
{
	char *folder = NULL, *report = NULL, *written = NULL;
	const char *temporary = getenv("TMPDIR");
	int status = -1, code = -1, said;
	pid_t child;

	temporary = temporary && *temporary ? temporary : "/tmp";
	if (asprintf(&folder, "%s/tach-gate.XXXXXX", temporary) < 0 || !mkdtemp(folder) ||
	    asprintf(&report, "%s/%%r.json", folder) < 0 ||
	    asprintf(&written, "%s/%d.json", folder, tach__rank() < 0 ? 0 : tach__rank()) < 0) {
		fprintf(stderr, "tach gate: %s: %s\n", temporary, strerror(errno));
		return -1;
	}
	said = memfd_create("tach-gate", MFD_CLOEXEC);
	fflush(NULL);
	child = fork();
	if (child == 0)
		exec_program(c, report, said);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		code = take_report(c, written, s);
	} else {
		print_messages(said);
		if (WIFEXITED(status) && WEXITSTATUS(status) == RUN_FAILED)
			fprintf(stderr, "tach gate: --fail-if, -e or -m names what tach run "
					"cannot count\n");
		else
			fprintf(stderr, "tach gate: %s did not end with status 0\n",
				c->words[0]);
	}
	close(said);
	unlink(written);
	rmdir(folder);
	free(folder);
	free(report);
	free(written);
	return code;
}
