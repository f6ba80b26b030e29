/* SPDX-License-Identifier: MIT */
/* The origin of a run of a history: the commit, its date, the machine. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include "core/os/settings.h"
#include "tools/tach/commands.h"
#include "tools/tach/history.h"

int history_date(const char *text, int64_t *at)
{
	struct tm t = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &t);
	int hours, minutes, length = 0;
	char sign;

	if (!rest)
		return -1;
	*at = timegm(&t);
	if (strcmp(rest, "Z") == 0)
		return 0;
	if (sscanf(rest, "%c%2d:%2d%n", &sign, &hours, &minutes, &length) != 3 ||
	    rest[length] || !strchr("+-", sign) || hours > 23 || minutes > 59)
		return -1;
	*at -= (sign == '-' ? -60 : 60) * (hours * 60 + minutes);
	return 0;
}

void history_date_text(int64_t at, char to[32])
{
	time_t seconds = (time_t)at;
	struct tm t;

	if (!gmtime_r(&seconds, &t) || !strftime(to, 32, "%Y-%m-%dT%H:%M:%SZ", &t))
		strcpy(to, "1970-01-01T00:00:00Z");
}

void history_machine(const char *counted, char *to, size_t size)
{
	struct tach__settings settings = {0};
	struct utsname name = {0};

	uname(&name);
	if (strncmp(counted, "emulated", 8) == 0) {
		snprintf(to, size, "%s", name.machine);
		return;
	}
	tach__settings_read(&settings, "");
	snprintf(to, size, "%s%s%s", settings.cpu, *settings.cpu ? ", " : "", name.machine);
}

/* The commit that is checked out here: its name, date and subject. Returns -1 if git failed. */
static int ask_git(char *line, size_t size)
{
	FILE *git = popen("git log -1 --format='%H %ct %s' 2>/dev/null", "re");
	int bad = !git || !fgets(line, (int)size, git);

	bad |= git && pclose(git) != 0;
	if (!bad)
		line[strcspn(line, "\n")] = '\0';
	return -bad;
}

static char *copy(const char *text)
{
	char *made = strdup(text);

	if (made)
		return made;
	fprintf(stderr, HISTORY_WHO ": out of memory\n");
	exit(EXIT_USAGE);
}

/* git's date belongs only to the commit that git names. */
static int take_git(struct history_run *run, const char *line)
{
	size_t n = strcspn(line, " ");
	char date[32], *subject;

	if (run->commit &&
	    (strlen(run->commit) < 4 || strncmp(run->commit, line, strlen(run->commit)) != 0))
		return -1;
	history_date_text(strtoll(line + n, &subject, 10), date);
	if (!run->date)
		run->date = copy(date);
	if (!run->subject)
		run->subject = copy(*subject ? subject + 1 : "");
	free(run->commit);
	run->commit = strndup(line, n);
	return run->commit ? 0 : -1;
}

int history_origin(struct history_run *run)
{
	char line[1024] = "", text[256];

	if (!run->commit || !run->date || !run->subject)
		if (ask_git(line, sizeof line) == 0)
			take_git(run, line);
	if (!run->commit) {
		fprintf(stderr, HISTORY_WHO ": git knows no commit here: name it with "
					    "--commit\n");
		return EXIT_USAGE;
	}
	if (!run->date) {
		history_date_text((int64_t)time(NULL), text);
		run->date = copy(text);
	}
	if (history_date(run->date, &run->at) != 0) {
		fprintf(stderr,
			HISTORY_WHO ": --date takes a date like 2026-11-27T13:04:05Z, not "
				    "'%s'\n",
			run->date);
		return EXIT_USAGE;
	}
	free(run->date);
	history_date_text(run->at, text);
	run->date = copy(text);
	if (!run->subject)
		run->subject = copy("");
	if (!run->machine) {
		history_machine(run->counted, text, sizeof text);
		run->machine = copy(text);
	}
	return 0;
}
