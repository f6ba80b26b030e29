/* SPDX-License-Identifier: MIT */
/* One run of a command for `tach gate`: by `tach run`, whose report is read back. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach/flags.h>
#include "tools/tach/gate.h"
#include "tools/tach/report.h"

/* What the program prints is not what is asked for; what tach run says is, when it failed. */
static void become(const struct gate_command *c, const char *report, int said)
{
	size_t n = 0, at = 0;
	char **argv;

	while (c->words[n])
		n++;
	argv = calloc(n + 12, sizeof *argv);
	if (!argv)
		_exit(125);
	argv[at++] = (char *)"tach";
	argv[at++] = (char *)"run";
	if (c->arguments->emulate)
		argv[at++] = (char *)"--emulate";
	else if (gate_rule(c->arguments, "instructions"))
		argv[at++] = (char *)"--correct"; /* where interrupts can be counted */
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
	/* What was configured for others is not what is compared. */
	unsetenv("TACH_OUTPUT");
	unsetenv("TACH_METRICS");
	unsetenv("TACH_SPARSE");
	execv("/proc/self/exe", argv);
	_exit(125);
}

static void tell(int said)
{
	char text[4096];
	ssize_t n;

	lseek(said, 0, SEEK_SET);
	while ((n = read(said, text, sizeof text)) > 0)
		fwrite(text, 1, (size_t)n, stderr);
}

/* A quantity or, counted on, a metric of a region. */
static void take_one(const struct gate_command *c, const struct tach_snapshot *shot, int region,
		     const char *name, int q, struct gate_samples *s)
{
	int first = tach_snapshot_nquantities(shot), metric = q >= first, code;
	const char *quantity = metric ? tach_snapshot_metric(shot, q - first)
				      : tach_snapshot_quantity(shot, q);
	struct tach_value v;

	code = metric ? tach_snapshot_derived(shot, region, q - first, TACH_PART_INCLUSIVE, &v)
		      : tach_snapshot_value(shot, region, q, TACH_PART_INCLUSIVE, &v);
	if (code == 0 && !(v.flags & TACH_FLAG_LOST) && !isnan(v.value) &&
	    gate_rule(c->arguments, quantity))
		gate_add(s, name, quantity, v.value);
}

static int take(const struct gate_command *c, const char *report, struct gate_samples *s)
{
	struct tach_snapshot *shot;
	int n;

	if (report_load(&shot, report, "tach gate") != 0)
		return -1;
	n = tach_snapshot_nquantities(shot) + tach_snapshot_nmetrics(shot);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		struct tach_region_info info = {0};

		tach_snapshot_region(shot, r, &info);
		for (int q = 0; info.calls && q < n; q++)
			take_one(c, shot, r, info.name, q, s);
	}
	tach_snapshot_free(shot);
	return 0;
}

int gate_run(const struct gate_command *c, struct gate_samples *s)
{
	const char *folder = getenv("TMPDIR");
	char report[4096], words[4096];
	int status = -1, code = -1, fd, said;
	pid_t child;

	folder = folder && *folder ? folder : "/tmp";
	snprintf(report, sizeof report, "%s/tach-gate.XXXXXX.json", folder);
	snprintf(words, sizeof words, "%s/tach-gate.XXXXXX", folder);
	fd = mkostemps(report, 5, O_CLOEXEC);
	said = mkostemp(words, O_CLOEXEC);
	if (fd < 0 || said < 0) {
		fprintf(stderr, "tach gate: %s: %s\n", folder, strerror(errno));
		return -1;
	}
	close(fd);
	unlink(words);
	fflush(NULL);
	child = fork();
	if (child == 0)
		become(c, report, said);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		code = take(c, report, s);
	else {
		tell(said);
		fprintf(stderr, "tach gate: %s did not end with status 0\n", c->words[0]);
	}
	close(said);
	unlink(report);
	return code;
}
