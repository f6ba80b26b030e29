/* SPDX-License-Identifier: MIT */
/* The look of a report, as the environment and the terminal request it; pipes and files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <tach.h>
#include <termios.h>
#include <unistd.h>
#include "core/report/report.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"
#include "tests/unit/report/refused.h"

/* Behind: the descriptor that reads what is written to terminal. */
static int terminal, behind = -1;

static void open_terminal(void)
{
	struct winsize size = {.ws_row = 24, .ws_col = 77};
	struct termios plain;

	behind = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (behind < 0 || grantpt(behind) || unlockpt(behind))
		return;
	terminal = open(ptsname(behind), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	CHECK(terminal >= 0 && ioctl(terminal, TIOCSWINSZ, &size) == 0);
	CHECK(tcgetattr(terminal, &plain) == 0);
	plain.c_oflag &= ~(tcflag_t)OPOST;
	CHECK(tcsetattr(terminal, TCSANOW, &plain) == 0);
}

/* Sets "NAME=VALUE ..."; all other variables of the table are unset. */
static void environment(const char *text)
{
	static const char *const names[] = {"TERM",   "COLUMNS",  "NO_COLOR",
					    "LC_ALL", "LC_CTYPE", "LANG"};
	char copy[200], *rest = NULL;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
	snprintf(copy, sizeof copy, "%s", text);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '=');

		*value = '\0';
		setenv(word, value + 1, 1);
	}
}

static void what_the_environment_says(void)
{
	static const struct {
		const char *environment;
		int color, ascii, width;
	} cases[] = {{"", 1, 0, 77},
		     {"TERM=xterm", 1, 0, 77},
		     {"TERM=dumb", 0, 0, 77},
		     {"NO_COLOR=1", 0, 0, 77},
		     {"NO_COLOR=", 1, 0, 77},
		     {"NO_COLOR=1 TERM=dumb", 0, 0, 77},
		     {"COLUMNS=50", 1, 0, 50},
		     {"COLUMNS=1", 1, 0, 1},
		     {"COLUMNS=0", 1, 0, 77},
		     {"COLUMNS=-5", 1, 0, 77},
		     {"COLUMNS=wide", 1, 0, 77},
		     {"COLUMNS=", 1, 0, 77},
		     {"LANG=C", 1, 1, 77},
		     {"LANG=de_DE.UTF-8", 1, 0, 77},
		     {"LANG=de_DE.utf8", 1, 0, 77},
		     {"LANG=C LC_CTYPE=C.UTF-8", 1, 0, 77},
		     {"LANG=C.UTF-8 LC_CTYPE=POSIX", 1, 1, 77},
		     {"LANG=C.UTF-8 LC_CTYPE=", 1, 0, 77},
		     {"LANG=C.UTF-8 LC_CTYPE=C.UTF-8 LC_ALL=C", 1, 1, 77},
		     {"LANG=C LC_CTYPE=C LC_ALL=C.utf-8", 1, 0, 77}};

	if (behind < 0)
		SKIP("there are no pseudo terminals");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_report_options opt = {0};

		environment(cases[i].environment);
		errno = 77;
		tach__report_terminal(&opt, terminal);
		CHECK(opt.color == cases[i].color && opt.ascii == cases[i].ascii &&
			      opt.width == cases[i].width && errno == 77,
		      "%s: %d, %d, %d", cases[i].environment, opt.color, opt.ascii, opt.width);
	}
}

/* Without a terminal the options do not change, even if the environment sets the format. */
static void no_terminal(void)
{
	struct tach_report_options opt = {.color = 5, .ascii = 6, .width = 7};
	int end[2];

	environment("COLUMNS=50 LANG=C");
	CHECK(pipe(end) == 0);
	errno = 77;
	tach__report_terminal(&opt, end[1]);
	CHECK(errno == 77 && opt.color == 5 && opt.ascii == 6 && opt.width == 7);
	close(end[0]);
	close(end[1]);
}

/* A snapshot with one row, so that reports have the same text and notes in each case. */
static struct tach_snapshot *snapshot(void)
{
	static const char json[] =
		"{\"tach\":1,\"note\":\"\",\"clock\":{\"hz\":1e9},\"threads\":1,\"refused\":0,"
		"\"lost\":0,\"stale\":0,\"unopened\":0,\"quantities\":[{\"name\":\"time\"}],"
		"\"metrics\":[],\"regions\":[]}";
	struct tach_snapshot *s = NULL;

	CHECK(tach_snapshot_load(json, sizeof json - 1, &s, NULL) == 0);
	return s;
}

static const char *got(int from)
{
	static char text[4000];
	ssize_t n = read(from, text, sizeof text - 1);

	text[n < 0 ? 0 : n] = '\0';
	return text;
}

/* The text itself must not be the fault. */
static void check_error(const struct tach_error *err, int code, const char *begins)
{
	CHECK(err->code == code && err->line == 0 && err->column == 0, "%s", err->text);
	CHECK(strncmp(err->text, begins, strlen(begins)) == 0, "%s", err->text);
}

static const char EMPTY[] = "No region was entered.\n";

/* Writes that are split, interrupted or refused. */
static void to_descriptors(void)
{
	struct tach_report_options csv = {.format = TACH_FORMAT_CSV};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = snapshot();
	int end[2];

	CHECK(pipe2(end, O_NONBLOCK) == 0);
	errno = 77;
	CHECK(tach_report_fd(s, NULL, end[1], NULL) == 0 && errno == 77);
	CHECK(strcmp(got(end[0]), EMPTY) == 0);
	CHECK(tach_report_fd(s, &csv, end[1], NULL) == 0);
	CHECK(strncmp(got(end[0]), "region,file,", 12) == 0);
	chunk = 5;
	refuse("write", EINTR, 1, 2);
	CHECK(tach_report_fd(s, NULL, end[1], NULL) == 0 && errno == 77);
	CHECK(strcmp(got(end[0]), EMPTY) == 0 && calls_refused == 2);
	refuse("write", EAGAIN, 2, 1);
	CHECK(tach_report_fd(s, NULL, end[1], &err) == -EAGAIN && errno == 77);
	CHECK(strncmp(got(end[0]), EMPTY, 10) == 0);
	check_error(&err, -EAGAIN, "the report could not be written: ");
	chunk = 0;
	close(end[0]);
	close(end[1]);
	CHECK(tach_report_fd(s, NULL, end[1], NULL) == -EBADF);
	tach_snapshot_free(s);
}

static int to_pipe(int end, size_t length)
{
	static char text[10000];
	struct tach__buffer all = {.at = text, .length = length};
	int code;

	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)('a' + i % 23);
	longest = 0;
	errno = 77;
	code = tach__deliver_fd(end, &all);
	CHECK(errno == 77);
	return code;
}

/* Returns the content exactly as written. */
static size_t taken_from(int end)
{
	static char is[20000];
	ssize_t n = read(end, is, sizeof is);

	for (ssize_t i = 0; i < n; i++)
		CHECK(is[i] == 'a' + i % 23, "byte %zd", i);
	return n < 0 ? 0 : (size_t)n;
}

static void pipes(void)
{
	static const struct {
		const char *call;
		int code, times, result;
	} cases[] = {{"write", EINTR, 2, 0},	   {"write", EAGAIN, 2, 0},
		     {"poll", EINTR, 2, 0},	   {"write", EIO, 1, -EIO},
		     {"poll", ENOMEM, 1, -ENOMEM}, {"poll", 0, 1, -ETIMEDOUT}};
	int end[2];

	CHECK(pipe2(end, O_NONBLOCK) == 0);
	CHECK(to_pipe(end[1], 10000) == 0 && longest == PIPE_BUF &&
	      taken_from(end[0]) == 10000);
	chunk = 1;
	CHECK(to_pipe(end[1], 20) == 0 && taken_from(end[0]) == 20);
	chunk = 1000;
	CHECK(to_pipe(end[1], 10000) == 0 && taken_from(end[0]) == 10000);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		refuse(cases[i].call, cases[i].code, 2, cases[i].times);
		CHECK(to_pipe(end[1], 10000) == cases[i].result &&
			      calls_refused == cases[i].times,
		      "%s, %d", cases[i].call, cases[i].code);
		CHECK(taken_from(end[0]) == (cases[i].result ? 2000 : 10000));
	}
	refuse(NULL, 0, 0, 0);
	close(end[0]);
	close(end[1]);
	CHECK(to_pipe(end[1], 1) == -EBADF);
	chunk = 0;
}

static void to_a_terminal(void)
{
	struct tach_report_options narrow = {.width = 20};
	struct tach_snapshot *s = NULL;
	static char json[20000];
	FILE *from = fopen("tests/unit/report/formats/clock.json", "r");
	size_t n = from ? fread(json, 1, sizeof json, from) : 0;

	if (from)
		fclose(from);
	if (behind < 0)
		SKIP("there are no pseudo terminals");
	CHECK(tach_snapshot_load(json, n, &s, NULL) == 0);
	environment("TERM=xterm LANG=C");
	CHECK(tach_report_fd(s, NULL, terminal, NULL) == 0);
	CHECK(strncmp(got(behind), "\033[1mregion", 10) == 0);
	/* Options that are not set have no effect. */
	CHECK(tach_report_fd(s, &narrow, terminal, NULL) == 0);
	CHECK(strncmp(got(behind), "region  calls\n", 14) == 0);
	tach_snapshot_free(s);
}

static void what_is_refused(void)
{
	struct tach_report_options odd = {.format = (enum tach_format)5}, size = {.size = 3};
	struct tach_snapshot *s = snapshot();
	struct tach_error err = TACH_ERROR_INIT;
	tach_sink none = NULL;

	CHECK(tach_report_write(s, NULL, none, NULL, &err) == TACH_ERR_INVAL);
	check_error(&err, TACH_ERR_INVAL, "no snapshot, no sink, or no such format");
	CHECK(tach_report_fd(NULL, NULL, 1, NULL) == TACH_ERR_INVAL);
	CHECK(tach_report_fd(s, &odd, 1, NULL) == TACH_ERR_INVAL);
	odd.format = (enum tach_format) - 1;
	CHECK(tach_report_fd(s, &odd, 1, NULL) == TACH_ERR_INVAL);
	CHECK(tach_report_fd(s, &size, 1, NULL) == TACH_ERR_INVAL);
	CHECK(tach_report_file(s, NULL, NULL, &err) == TACH_ERR_INVAL);
	check_error(&err, TACH_ERR_INVAL, "no file");
	CHECK(tach_report_file(s, NULL, "/", &err) == -EISDIR);
	check_error(&err, -EISDIR, "/: Is a directory");
	tach_snapshot_free(s);
}

static void suffixes(void)
{
	static const struct {
		const char *file;
		enum tach_format format;
	} cases[] = {{"a.txt", TACH_FORMAT_TEXT},   {"a.json", TACH_FORMAT_JSON},
		     {".json", TACH_FORMAT_JSON},   {"json", TACH_FORMAT_TEXT},
		     {"a.csv", TACH_FORMAT_CSV},    {"a.json.csv", TACH_FORMAT_CSV},
		     {"a.csv/b", TACH_FORMAT_TEXT}, {"a.prom", TACH_FORMAT_PROMETHEUS},
		     {"a.html", TACH_FORMAT_HTML},  {"a.htm", TACH_FORMAT_TEXT},
		     {"", TACH_FORMAT_TEXT},	    {"a.JSON", TACH_FORMAT_TEXT}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK(tach_report_format(cases[i].file) == cases[i].format, "%s",
		      cases[i].file);
	CHECK(tach_report_format(NULL) == TACH_FORMAT_TEXT);
}

/* The suffix chooses the format, unless the options do. */
static void to_files(void)
{
	char folder[] = "/tmp/tach-report-XXXXXX", file[64], is[100];
	struct tach_report_options text = {0};
	struct tach_snapshot *s = snapshot();
	int fd;

	CHECK(mkdtemp(folder) != NULL);
	snprintf(file, sizeof file, "%s/a.csv", folder);
	for (int given = 0; given < 2; given++) {
		CHECK(tach_report_file(s, given ? &text : NULL, file, NULL) == 0);
		fd = open(file, O_RDONLY | O_CLOEXEC);
		memset(is, 0, sizeof is);
		CHECK(read(fd, is, sizeof is - 1) > 0);
		CHECK(strncmp(is, given ? EMPTY : "region,file,", 12) == 0, "%s", is);
		close(fd);
	}
	unlink(file);
	rmdir(folder);
	tach_snapshot_free(s);
}

int main(void)
{
	open_terminal();
	CASE(what_the_environment_says);
	CASE(no_terminal);
	CASE(to_descriptors);
	CASE(pipes);
	CASE(to_a_terminal);
	CASE(what_is_refused);
	CASE(suffixes);
	CASE(to_files);
	return check_done();
}
