/* SPDX-License-Identifier: MIT */
/*
 * What in the environment has no effect. The one place where the library prints: who sets
 * TACH_OUTPUT asked for a report, and where none can come nothing else would tell.
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
#include "core/os/environment.h"
#include "core/startup/startup.h"
#include "core/event/event.h"

static const char *const known[] = {
	"TACH_ENABLE",	   "TACH_OUTPUT",   "TACH_EVENTS",     "TACH_METRICS", "TACH_REGIONS",
	"TACH_SPARSE",	   "TACH_WARMUP",   "TACH_HISTOGRAMS", "TACH_PMU",     "TACH_DERIVED",
	"TACH_INTERRUPTS", "TACH_INTERVAL", "TACH_SIGNAL",     "TACH_WORST",   "TACH_AMBIENT",
	"TACH_TRACE",	   "TACH_TURNS",    "TACH_BY",	       NULL,
};
/* Of tach run, of its sources' build and tests. */
static const char *const others[] = {"TACH_CLOCK",
				     "TACH_CACHE",
				     "TACH_RUN",
				     "TACH_RUN_PID",
				     "TACH_RUN_ROWS",
				     "TACH_RUN_RESULTS",
				     "TACH_RUN_NOTE",
				     "TACH_EMULATE",
				     "TACH_QEMU",
				     "TACH_PLUGIN",
				     NULL};

static int add(char *text, size_t size, const char *format, const char *what, int length,
	       const char *more)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, used ? "; " : "");
	used = strlen(text);
	snprintf(text + used, size - used, format, length, what, more);
	return 1;
}

static int is_one_of(const char *const *names, const char *name, size_t length)
{
	for (; *names; names++)
		if (strlen(*names) == length && memcmp(*names, name, length) == 0)
			return 1;
	return 0;
}

/*
 * Other programs have variables that begin with TACH_ too. Only a name that is nearly one of
 * ours is taken for a mistake.
 */
static int misspelt(char *text, size_t size)
{
	int found = 0;

	for (char **e = environ; e && *e; e++) {
		size_t length = strcspn(*e, "=");
		const char *near;

		if (strncasecmp(*e, "TACH_", 5) != 0 || is_one_of(known, *e, length) ||
		    is_one_of(others, *e, length))
			continue;
		near = tach__suggest_word(known, *e, length);
		if (near)
			found = add(text, size, "%.*s is not looked at; did you mean %s?", *e,
				    length > 40 ? 40 : (int)length, near);
	}
	return found;
}

static int no_pmu(char *text, size_t size)
{
	struct tach_error err = TACH_ERROR_INIT;

	if (tach__environment("TACH_PMU"))
		tach_pmu_host(NULL, 0, &err);
	return err.code && add(text, size, "%.*s%s", err.text, (int)strlen(err.text), "");
}

static int no_definitions(char *text, size_t size)
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
				found = add(text, size, "TACH_DERIVED: %.*s: %s", path,
					    length > 150 ? 150 : (int)length,
					    tach_strerror(-errno));
		}
		list += length;
	}
	return found;
}

static int no_service(char *text, size_t size)
{
	const char *odd = tach__deaths_odd(), *name = tach__environment("TACH_SIGNAL");
	const char *interval = tach__environment("TACH_INTERVAL");
	const char *ambient = tach__environment("TACH_AMBIENT");
	int found = 0;

	if (odd)
		found = add(text, size, "TACH_SIGNAL, '%.*s', %s", name, (int)strnlen(name, 40),
			    odd);
	if (tach__interval_odd())
		found = add(text, size, "TACH_INTERVAL is 0.01 seconds or more, not '%.*s'%s",
			    interval, (int)strnlen(interval, 40), "");
	if ((name || interval || ambient) && !tach__environment("TACH_OUTPUT") &&
	    !tach__environment("TACH_RUN"))
		found = add(text, size, "%.*s has no effect without TACH_OUTPUT%s",
			    name       ? "TACH_SIGNAL"
			    : interval ? "TACH_INTERVAL"
				       : "TACH_AMBIENT",
			    40, "");
	return found;
}

static int no_boxes(char *text, size_t size)
{
	char why[300];

	return tach__ambient_odd(why, sizeof why) && add(text, size, "%.*s%s", why, 300, "");
}

int tach__environment_useless(char *text, size_t size)
{
	int saved = errno, found;

	*text = '\0';
	if (getauxval(AT_SECURE))
		return 0;
	found = misspelt(text, size);
	found |= no_pmu(text, size);
	found |= no_definitions(text, size);
	found |= no_service(text, size);
	found |= no_boxes(text, size);
	tach_printable(text, text, size);
	errno = saved;
	return found;
}

/*
 * The file need not exist, but then its folder must let us make it. %p and %u are replaced by
 * now.
 */
int tach__environment_output(char *text, size_t size)
{
	const char *file = tach__environment("TACH_OUTPUT"), *slash;
	int saved = errno, code = 0, folder_code = 0;
	char folder[PATH_MAX] = ".";
	struct stat status;

	*text = '\0';
	if (!file || strcmp(file, "-") == 0)
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

/* One write of one line. A pipe without a reader, or a full one, is not written to: the program
 * is not to end, or to wait, for this. */
static void say(const char *line, size_t length)
{
	struct pollfd fd = {STDERR_FILENO, POLLOUT, 0};
	int saved = errno;

	if (poll(&fd, 1, 0) == 1 && fd.revents == POLLOUT) {
		ssize_t written = write(STDERR_FILENO, line, length);

		(void)written;
	}
	errno = saved;
}

void tach__environment_complain(void)
{
	const char *root = tach__environment("TACH_RUN_PID");
	char useless[400], output[200], line[640]; /* which takes both */
	int n;

	/* Once, not for every process that `tach run` measures. */
	if (root && strtol(root, NULL, 10) != getpid())
		return;
	tach__environment_useless(useless, sizeof useless);
	/*
	 * Under `tach run` the report goes another way, whatever the process may write by now.
	 */
	if (tach__environment("TACH_RUN"))
		*output = '\0';
	else
		tach__environment_output(output, sizeof output);
	if (!*useless && !*output)
		return;
	n = snprintf(line, sizeof line, "tach: %s%s%s%s\n", useless,
		     *useless && *output ? "; " : "",
		     *output ? "TACH_OUTPUT cannot be written: " : "", output);
	say(line, (size_t)n);
}
