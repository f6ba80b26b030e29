/* SPDX-License-Identifier: MIT */
/* Messages about variables without effect, and about a report that cannot be written. */
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <tach/pmu.h>
#include "tests/unit/startup/reports.h"

static int write_fails;

#pragma GCC visibility push(default)
ssize_t write(int fd, const void *from, size_t n)
{
	if (!write_fails)
		return syscall(SYS_write, fd, from, n);
	errno = EIO;
	return -1;
}
/* Expects only questions about reading, writing and searching. */
int access(const char *path, int mode)
{
	CHECK(mode == R_OK || mode == W_OK || mode == (W_OK | X_OK), "%s: %d", path, mode);
	return faccessat(AT_FDCWD, path, mode, 0);
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct timespec at = {0, 0};

	CHECK(n == 1 && ms == 0);
	return (int)syscall(SYS_ppoll, fds, n, &at, NULL, 0);
}
#pragma GCC visibility pop

static void clear(void)
{
	/* Removes the names that the test sets, and no others. */
	static const char *const names[] = {"TACH_OUTPUT",
					    "TACH_OUTPU",
					    "tach_output",
					    "TACH_SIGNAL",
					    "TACH_INTERVAL",
					    "TACH_AMBIENT",
					    "TACH_RUN",
					    "TACH_RUN_PID",
					    "TACH_DERIVED",
					    "TACH_PMU",
					    "TACH_RUN_PIDS",
					    "TACH_EVENT",
					    "TACH_SOMETHING_ELSE",
					    "XTACH_OUTPU",
					    "TACH_EVENTS_WITH_A_NAME_THAT_IS_TOO_LONG_FOR_THIS",
					    "TACH_BYE",
					    "TACH_OPTIONS"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}

/* Sets variables from a list of NAME=VALUE. */
static void set(const char *const *variables)
{
	char copy[400];

	clear();
	for (; *variables; variables++) {
		char *value;

		snprintf(copy, sizeof copy, "%s", *variables);
		value = strchr(copy, '=');
		*value = '\0';
		setenv(copy, value + 1, 1);
	}
}

#define SIGNALS "is one or more of end, USR1, SIGUSR1, 10, RTMIN+1, joined by colons, or none"

static void what_has_no_effect(void)
{
	static const struct {
		const char *variables[5], *text;
	} cases[] = {
		{{NULL}, ""},
		{{"TACH_OUTPUT=/tmp/a"}, ""},
		{{"TACH_OUTPU=x"}, "TACH_OUTPU is not looked at; did you mean TACH_OUTPUT?"},
		{{"tach_output=x"}, "tach_output is not looked at; did you mean TACH_OUTPUT?"},
		{{"TACH_RUN_PID=1"}, ""},
		{{"TACH_SOMETHING_ELSE=1"}, ""},
		{{"XTACH_OUTPU=1"}, ""},
		{{"TACH_EVENT=x", "TACH_OUTPU=x"},
		 "TACH_EVENT is not looked at; did you mean TACH_EVENTS?"
		 "; TACH_OUTPU is not looked at; did you mean TACH_OUTPUT?"},
		{{"TACH_SIGNAL=FOO", "TACH_OUTPUT=/tmp/a"}, "TACH_SIGNAL, 'FOO', " SIGNALS},
		{{"TACH_SIGNAL=KILL", "TACH_OUTPUT=/tmp/a"},
		 "TACH_SIGNAL, 'KILL', cannot be a signal that no program can handle"},
		{{"TACH_SIGNAL=12345678901234567890123456789012345678901",
		  "TACH_OUTPUT=/tmp/a"},
		 "TACH_SIGNAL, '1234567890123456789012345678901234567890', " SIGNALS},
		{{"TACH_SIGNAL=USR1"}, "TACH_SIGNAL has no effect without TACH_OUTPUT"},
		{{"TACH_INTERVAL=5"}, "TACH_INTERVAL has no effect without TACH_OUTPUT"},
		{{"TACH_INTERVAL=5", "TACH_SIGNAL=USR1"},
		 "TACH_SIGNAL has no effect without TACH_OUTPUT"},
		{{"TACH_INTERVAL=5", "TACH_RUN=1"}, ""},
		{{"TACH_INTERVAL=0", "TACH_OUTPUT=/tmp/a"},
		 "TACH_INTERVAL is 0.01 seconds or more, not '0'"},
		{{"TACH_INTERVAL=0.0000000000000000000000000000000000000001",
		  "TACH_OUTPUT=/tmp/a"},
		 "TACH_INTERVAL is 0.01 seconds or more, not "
		 "'0.00000000000000000000000000000000000000'"},
		{{"TACH_DERIVED=/nowhere/a", "TACH_OUTPUT=/tmp/a"},
		 "TACH_DERIVED: /nowhere/a: No such file or directory"},
		{{"TACH_DERIVED=/dev/null::/nowhere/b:/dev/null"},
		 "TACH_DERIVED: /nowhere/b: No such file or directory"},
		{{"TACH_DERIVED=/nowhere/a:/nowhere/b"},
		 "TACH_DERIVED: /nowhere/a: No such file or directory; "
		 "TACH_DERIVED: /nowhere/b: No such file or directory"},
		{{"TACH_OPTIONS=sparse=16, worst=8,by=tag+task", "TACH_OUTPUT=/tmp/a"}, ""},
		{{"TACH_OPTIONS=sparse=2,wurst=8"},
		 "TACH_OPTIONS: wurst is not a setting; did you mean worst? (column 10)"},
		{{"TACH_OPTIONS=Sparse=1,=2"},
		 "TACH_OPTIONS: Sparse is not a setting; did you mean sparse? (column 1); "
		 "TACH_OPTIONS:  is not a setting (column 10)"},
		{{"TACH_OPTIONS=worst,by="},
		 "TACH_OPTIONS: worst has no value (column 1); TACH_OPTIONS: by has no value "
		 "(column 7)"},
		{{"TACH_OPTIONS=interval=5"},
		 "TACH_INTERVAL has no effect without TACH_OUTPUT"},
		{{"TACH_OPTIONS=signal=FOO", "TACH_OUTPUT=/tmp/a"},
		 "TACH_SIGNAL, 'FOO', " SIGNALS},
		{{"TACH_OUTPU\t=x"},
		 "TACH_OUTPU? is not looked at; did you mean TACH_OUTPUT?"}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[400];
		int found;

		set(cases[i].variables);
		errno = 77;
		found = tach__environment_useless(text, sizeof text);
		CHECK(strcmp(text, cases[i].text) == 0, "%s", text);
		CHECK(found == (*text != '\0') && errno == 77, "%s", text);
		unsetenv("TACH_OUTPU\t");
	}
	clear();
}

static void messages_use_the_users_terms(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	char text[400], wanted[400];
	static char list[4200];

	clear();
	setenv("TACH_PMU", "nosuch", 1);
	CHECK(tach_pmu_host(NULL, 0, &err) <= 0 && *err.text);
	CHECK(tach__environment_useless(text, sizeof text) == 1 && strcmp(text, err.text) == 0,
	      "%s", text);
	clear();
	setenv("TACH_AMBIENT", "page-faults", 1);
	setenv("TACH_OUTPUT", "/tmp/a", 1);
	CHECK(tach__ambient_odd(wanted, sizeof wanted) == 1);
	CHECK(tach__environment_useless(text, sizeof text) == 1 && strcmp(text, wanted) == 0,
	      "%s", text);
	clear();
	/* A list contains a name of 150 bytes. */
	memset(list, 'a', 151);
	list[0] = '/';
	list[151] = '\0';
	setenv("TACH_DERIVED", list, 1);
	snprintf(wanted, sizeof wanted, "TACH_DERIVED: %.150s: No such file or directory",
		 list);
	CHECK(tach__environment_useless(text, sizeof text) == 1 && strcmp(text, wanted) == 0,
	      "%s", text);
	/* A name that no file can have is ignored. */
	memset(list, 'a', 4096);
	CHECK(setenv("TACH_DERIVED", list, 1) == 0 && strlen(list) == 4096);
	CHECK(tach__environment_useless(text, sizeof text) == 0, "%s", text);
	list[4095] = '\0';
	setenv("TACH_DERIVED", list, 1);
	CHECK(tach__environment_useless(text, sizeof text) == 1 &&
	      strstr(text, strerror(ENAMETOOLONG)));
	clear();
}

/* A buffer that is too small is filled completely. */
static void long_messages_are_cut(void)
{
	char text[30];

	clear();
	setenv("TACH_OUTPU", "x", 1);
	setenv("TACH_EVENT", "x", 1);
	CHECK(tach__environment_useless(text, sizeof text) == 1);
	CHECK(strlen(text) == 29 && strncmp(text, "TACH_", 5) == 0, "%s", text);
	clear();
}

static void output_is(const char *output, int cannot, const char *wanted)
{
	char text[300];

	setenv("TACH_OUTPUT", output, 1);
	errno = 77;
	CHECK(!tach__environment_output(text, sizeof text) == !cannot && errno == 77, "%s",
	      output);
	CHECK(strcmp(text, wanted) == 0, "%s: %s", output, text);
}

static void unwritable_places_are_reported(void)
{
	char text[300], name[5000];

	CHECK(chdir(folder) == 0);
	output_is("-", 0, "");
	output_is("", 0, "");
	output_is("a.json", 0, "");
	output_is("./a.json", 0, "");
	output_is("/a.json", access("/", W_OK) != 0,
		  access("/", W_OK) ? "the folder /: Permission denied" : "");
	output_is(folder, 1, (snprintf(text, sizeof text, "%s: Is a directory", folder), text));
	output_is("none/a.json", 1, "the folder none: No such file or directory");
	output_is("/nowhere/at/all/a.json", 1,
		  "the folder /nowhere/at/all: No such file or directory");
	output_is("no\tne/a.json", 1, "the folder no?ne: No such file or directory");
	memset(name, 'a', sizeof name);
	name[0] = '.';
	name[1] = '/';
	name[2 + 255] = '\0';
	/* The name of a part file has NAME_MAX bytes, or one more. */
	snprintf(text, sizeof text, "%.120s: %s", name, strerror(ENAMETOOLONG));
	output_is(name, 1, text);
	name[1 + 255] = '\0';
	name[2] = 'b';
	setenv("TACH_OUTPUT", name, 1);
	CHECK(tach__environment_output(text, sizeof text) == 0);
	memset(name, '/', 4095);
	name[0] = 'x';
	name[4094] = 'a';
	name[4095] = '\0';
	setenv("TACH_OUTPUT", name, 1);
	CHECK(tach__environment_output(text, sizeof text) != 0 &&
		      strncmp(text, "the folder x//", 14) == 0,
	      "%s", text);
	name[4095] = 'a';
	name[4096] = '\0';
	setenv("TACH_OUTPUT", name, 1);
	CHECK(tach__environment_output(text, sizeof text) != 0 && strncmp(text, "x//", 3) == 0,
	      "%s", text);
	unsetenv("TACH_OUTPUT");
	errno = 77;
	CHECK(tach__environment_output(text, sizeof text) == 0 && !*text && errno == 77);
	/* An existing file without write permission: root can write it anyway. */
	fclose(fopen("a.json", "w"));
	CHECK(chmod("a.json", 0400) == 0);
	output_is("a.json", access("a.json", W_OK) != 0,
		  access("a.json", W_OK) ? "a.json: Permission denied" : "");
	CHECK(remove("a.json") == 0);
	CHECK(chdir("/") == 0);
	clear();
}

/* ---- what is said ---- */

/* Makes this pipe standard error. */
static const char *said(const char *const *variables, int full)
{
	static char all[2000];
	int end[2], before = dup(2);
	ssize_t n;

	CHECK(pipe2(end, O_NONBLOCK) == 0);
	while (full && write(end[1], folder, 1) == 1)
		;
	dup2(end[1], 2);
	set(variables);
	errno = 77;
	tach__environment_complain(1);
	CHECK(errno == 77);
	clear();
	dup2(before, 2);
	close(before);
	n = read(end[0], all, sizeof all - 1);
	all[n > 0 ? n : 0] = '\0';
	close(end[0]);
	close(end[1]);
	return all;
}

static void one_line(void)
{
	static const char *const none[] = {NULL}, *const misspelt[] = {"TACH_OUTPU=x", NULL},
				 *const nowhere[] = {"TACH_OUTPUT=/nowhere/a", NULL},
				 *const both[] = {"TACH_OUTPUT=/nowhere/a", "TACH_OUTPU=x",
						  NULL},
				 *const run[] = {"TACH_OUTPUT=/nowhere/a", "TACH_RUN=1", NULL},
				 *const of_another[] = {"TACH_OUTPU=x", "TACH_RUN_PID=1", NULL};
	char own[40];
	const char *const of_this[] = {"TACH_OUTPU=x", own, NULL};

	snprintf(own, sizeof own, "TACH_RUN_PID=%d", (int)getpid());
	CHECK(!*said(none, 0));
	CHECK(strcmp(said(misspelt, 0),
		     "tach: TACH_OUTPU is not looked at; did you mean TACH_OUTPUT?\n") == 0);
	CHECK(strcmp(said(nowhere, 0),
		     "tach: TACH_OUTPUT cannot be written: the folder /nowhere: No such "
		     "file or directory\n") == 0);
	CHECK(strcmp(said(both, 0),
		     "tach: TACH_OUTPU is not looked at; did you mean TACH_OUTPUT?; "
		     "TACH_OUTPUT cannot be written: the folder /nowhere: No such file or "
		     "directory\n") == 0);
	CHECK(!*said(run, 0) && !*said(of_another, 0));
	CHECK(strncmp(said(of_this, 0), "tach: TACH_OUTPU ", 17) == 0);
	write_fails = 1;
	CHECK(!*said(misspelt, 0));
	write_fails = 0;
	/* The library does not wait for a full pipe. */
	CHECK(!strstr(said(misspelt, 1), "TACH"));
}

static void without_a_reader(void)
{
	int end[2];

	CHECK(pipe(end) == 0 && dup2(end[1], 2) == 2);
	close(end[0]);
	close(end[1]);
	setenv("TACH_OUTPU", "x", 1);
	errno = 77;
	tach__environment_complain(1);
	CHECK(errno == 77);
}

static void no_reader(void)
{
	in_child(without_a_reader);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	CASE(what_has_no_effect);
	CASE(messages_use_the_users_terms);
	CASE(long_messages_are_cut);
	CASE(unwritable_places_are_reported);
	CASE(one_line);
	CASE(no_reader);
	CHECK(rmdir(folder) == 0, "something was left in %s", folder);
	return check_done();
}
