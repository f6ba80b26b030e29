/* SPDX-License-Identifier: MIT */
/*
 * Reports variables that have no effect. The library prints at no other place. A user who sets
 * TACH_OUTPUT expects a report, and would not notice otherwise that it cannot be written.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tach/pmu.h>
#include <tach/report.h>
#include "core/os/environment.h"
#include "core/startup/startup.h"
#include "core/event/event.h"
#include "core/report/report.h"

static const char *const known[] = {
	"TACH_ENABLE",	   "TACH_OUTPUT", "TACH_EVENTS",  "TACH_METRICS",
	"TACH_REGIONS",	   "TACH_SPARSE", "TACH_WARMUP",  "TACH_NOTES",
	"TACH_HISTOGRAMS", "TACH_PMU",	  "TACH_DERIVED", "TACH_INTERRUPTS",
	"TACH_INTERVAL",   "TACH_SIGNAL", "TACH_WORST",	  "TACH_AMBIENT",
	"TACH_TRACE",	   "TACH_TURNS",  "TACH_BY",	  "TACH_OPTIONS",
	"TACH_TREE",	   "TACH_PLACES", NULL,
};
/* Variables of tach run, and of the build and the tests. */
static const char *const others[] = {"TACH_CLOCK",    "TACH_CACHE",	"TACH_RUN",
				     "TACH_RUN_PID",  "TACH_RUN_ROWS",	"TACH_RUN_RESULTS",
				     "TACH_RUN_NOTE", "TACH_FUNCTIONS", "TACH_EMULATE",
				     "TACH_QEMU",     "TACH_PLUGIN",	"TACH_EXPECT_REQUIRED",
				     "TACH_LIB_DIR",  "TACH_SOURCE",	NULL};

static int append_text(char *text, size_t size, const char *format, const char *what,
		       int length, const char *more)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, used ? "; " : "");
	used = strlen(text);
	snprintf(text + used, size - used, format, length, what, more);
	return 1;
}

static int is_in_list(const char *const *names, const char *name, size_t length)
{
	for (; *names; names++)
		if (strlen(*names) == length && memcmp(*names, name, length) == 0)
			return 1;
	return 0;
}

/*
 * Other programs may also have variables that begin with TACH_. Report a name only if it is
 * very similar to a variable of the library.
 */
static int find_misspelt(char *text, size_t size)
{
	int found = 0;

	for (char **e = environ; e && *e; e++) {
		size_t length = strcspn(*e, "=");
		const char *near;

		if (strncasecmp(*e, "TACH_", 5) != 0 || is_in_list(known, *e, length) ||
		    is_in_list(others, *e, length))
			continue;
		near = tach__suggest_word(known, *e, length);
		if (near)
			found = append_text(text, size,
					    "%.*s is not looked at; did you mean %s?", *e,
					    length > 40 ? 40 : (int)length, near);
	}
	return found;
}

/* Finds settings of TACH_OPTIONS that do not exist, or have no value. */
static int find_bad_settings(char *text, size_t size)
{
	const char *all = tach__environment("TACH_OPTIONS"), *at = all;
	struct tach__setting s;
	int found = 0;

	while (at && tach__environment_setting(&at, &s)) {
		int shown = s.length > 40 ? 40 : (int)s.length;
		const char *near = NULL;
		char why[120];

		if (s.length > 0)
			near = tach__suggest_word(tach__environment_settings, s.at, s.length);
		if (!is_in_list(tach__environment_settings, s.at, s.length))
			snprintf(why, sizeof why, "is not a setting%s%s%s (column %d)",
				 near ? "; did you mean " : "", near ? near : "",
				 near ? "?" : "", (int)(s.at - all) + 1);
		else if (!s.value || s.nvalue == 0)
			snprintf(why, sizeof why, "has no value (column %d)",
				 (int)(s.at - all) + 1);
		else if (s.nvalue >= TACH__SETTING_SIZE)
			snprintf(why, sizeof why, "has a value of more than %d bytes",
				 TACH__SETTING_SIZE - 1);
		else
			continue;
		found = append_text(text, size, "TACH_OPTIONS: %.*s %s", s.at, shown, why);
	}
	return found;
}

static int find_unknown_pmu(char *text, size_t size)
{
	struct tach_error err = TACH_ERROR_INIT;

	if (tach__environment("TACH_PMU"))
		tach_pmu_host(NULL, 0, &err);
	return err.code &&
	       append_text(text, size, "%.*s%s", err.text, (int)strlen(err.text), "");
}

static int find_bad_definitions(char *text, size_t size)
{
	const char *list = tach__environment("TACH_DERIVED");
	char path[PATH_MAX];
	int found = 0;

	for (; list && *list; list += *list == ':') {
		size_t length = strcspn(list, ":");

		if (length && length < sizeof path) {
			memcpy(path, list, length);
			path[length] = '\0';
			if (access(path, R_OK) != 0)
				found = append_text(text, size, "TACH_DERIVED: %.*s: %s", path,
						    length > 150 ? 150 : (int)length,
						    tach_strerror(-errno));
		}
		list += length;
	}
	return found;
}

static int find_bad_service(char *text, size_t size)
{
	const char *odd = tach__deaths_odd(), *name = tach__environment("TACH_SIGNAL");
	const char *interval = tach__environment("TACH_INTERVAL");
	const char *ambient = tach__environment("TACH_AMBIENT");
	int found = 0;

	if (odd)
		found = append_text(text, size, "TACH_SIGNAL, '%.*s', %s", name,
				    (int)strnlen(name, 40), odd);
	if (tach__interval_is_invalid())
		found = append_text(text, size,
				    "TACH_INTERVAL is 0.01 seconds or more, not '%.*s'%s",
				    interval, (int)strnlen(interval, 40), "");
	if ((name || interval || ambient) && !tach__environment("TACH_OUTPUT") &&
	    !tach__environment("TACH_RUN"))
		found = append_text(text, size, "%.*s has no effect without TACH_OUTPUT%s",
				    name       ? "TACH_SIGNAL"
				    : interval ? "TACH_INTERVAL"
					       : "TACH_AMBIENT",
				    40, "");
	return found;
}

static int find_bad_ambient(char *text, size_t size)
{
	char why[300];

	return tach__ambient_odd(why, sizeof why) &&
	       append_text(text, size, "%.*s%s", why, 300, "");
}

/* names_alone: checks only names, not values. */
static int find_useless(char *text, size_t size, int names_alone)
{
	int saved = errno, found;

	*text = '\0';
	if (getauxval(AT_SECURE))
		return 0;
	found = find_misspelt(text, size);
	found |= find_bad_settings(text, size);
	found |= find_bad_service(text, size);
	if (!names_alone) {
		found |= find_unknown_pmu(text, size);
		found |= find_bad_definitions(text, size);
		found |= find_bad_ambient(text, size);
	}
	tach_printable(text, text, size);
	errno = saved;
	return found;
}

int tach__environment_useless(char *text, size_t size)
{
	return find_useless(text, size, 0);
}

/* If the file does not exist, the process must be able to create it in its folder. %p and %u
 * are already replaced. */
int tach__environment_output(char *text, size_t size)
{
	const char *file = tach__environment("TACH_OUTPUT"), *slash;
	int saved = errno, code = 0, folder_code = 0;
	char folder[PATH_MAX] = ".";
	struct stat status;

	*text = '\0';
	if (!file || tach__output_is_stderr(file))
		return 0;
	slash = strrchr(file, '/');
	if (slash)
		snprintf(folder, sizeof folder, "%.*s", slash == file ? 1 : (int)(slash - file),
			 file);
	if (strlen(file) >= PATH_MAX || (slash && strlen(slash) > NAME_MAX))
		code = -ENAMETOOLONG;
	else if (stat(file, &status) == 0)
		code = S_ISDIR(status.st_mode) ? -EISDIR : access(file, W_OK) != 0 ? -errno : 0;
	else if (access(folder, W_OK | X_OK) != 0)
		folder_code = -errno;
	if (code)
		snprintf(text, size, "%.120s: %s", file, tach_strerror(code));
	if (folder_code)
		snprintf(text, size, "the folder %.120s: %s", folder,
			 tach_strerror(folder_code));
	tach_printable(text, text, size);
	errno = saved;
	return code || folder_code;
}

/* Writes one line by one call. If a pipe is full or has no reader, it writes nothing: the
 * program must not end or wait because of the line. */
static void write_line(const char *line, size_t length)
{
	struct pollfd fd = {STDERR_FILENO, POLLOUT, 0};
	int saved = errno;

	if (poll(&fd, 1, 0) == 1 && fd.revents == POLLOUT) {
		struct tach__quiet quiet;
		ssize_t written;

		/* A file may already have its maximum size. */
		tach__quiet_begin(&quiet);
		written = write(STDERR_FILENO, line, length);
		(void)written;
		tach__quiet_end(&quiet);
	}
	errno = saved;
}

static struct stat began; /* standard error when the process began; st_nlink 0: unknown */
static int told_of_output;

static int is_root_of_run(void)
{
	const char *root = tach__environment("TACH_RUN_PID");

	return !root || strtol(root, NULL, 10) == getpid();
}

void tach__environment_complain(int is_wanted)
{
	char text[400], output[200] = "", line[640]; /* line: text and output fit */
	int n;

	if (fstat(STDERR_FILENO, &began) != 0)
		began.st_nlink = 0;
	/* Report this once, not for each process that `tach run` measures. */
	if (!is_root_of_run())
		return;
	find_useless(text, sizeof text, !is_wanted);
	/*
	 * With `tach run` the report is passed in another way, even if the process cannot
	 * write.
	 */
	if (is_wanted && !tach__environment("TACH_RUN"))
		told_of_output = tach__environment_output(output, sizeof output) != 0;
	if (!*text && !*output)
		return;
	n = snprintf(line, sizeof line, "tach: %s%s%s%s\n", text, *text && *output ? "; " : "",
		     *output ? "TACH_OUTPUT cannot be written: " : "", output);
	write_line(line, (size_t)n);
}

/* Writes nothing if standard error is another file by now: it may be the program's data. */
static void say_late(const char *line, size_t length)
{
	struct stat now;

	if (began.st_nlink && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == began.st_dev &&
	    now.st_ino == began.st_ino)
		write_line(line, length);
}

/* Returns 1 if the reader of the file ended or is slow. The reader knows that it did not get
 * the whole report. */
static int is_fault_of_reader(int code)
{
	return code == -EPIPE || code == -ENXIO || code == -EAGAIN || code == -ETIMEDOUT ||
	       code == -EBUSY;
}

void tach__environment_unwritten(const char *variable, const char *file, int code)
{
	static int told;
	char line[400];
	int n;

	if (is_fault_of_reader(code) || told_of_output ||
	    __atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))
		return;
	n = snprintf(line, sizeof line, "tach: %s was not written: %.200s: %s\n", variable,
		     file, tach_strerror(code));
	if (n > 0 && (size_t)n < sizeof line) {
		tach_printable(line, line, sizeof line);
		line[n - 1] = '\n';
		say_late(line, (size_t)n);
	}
}

void tach__environment_uncounted(const char *why)
{
	const char *file = tach__environment("TACH_OUTPUT");
	char line[640];
	int n;

	/* A text report contains the reason already. */
	if (!file || !*why || tach__environment("TACH_RUN") ||
	    tach_report_format(file) == TACH_FORMAT_TEXT || !is_root_of_run())
		return;
	n = snprintf(line, sizeof line, "tach: %.500s\n", why);
	if (n > 0 && (size_t)n < sizeof line)
		write_line(line, (size_t)n);
}
