/* SPDX-License-Identifier: MIT */
/* The output of tach list --json is valid JSON, and has every row of every table. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include "tests/check.h"

static const char *p; /* the reader's position */
static int names;     /* objects that have a "name" */

static void blanks(void)
{
	while (*p == ' ' || *p == '\n')
		p++;
}

static int value(void);

static int string(void)
{
	if (*p++ != '"')
		return 0;
	for (; *p != '"'; p++) {
		if ((unsigned char)*p < ' ')
			return 0;
		if (*p == '\\' && !strchr("\"\\/bfnrtu", *++p))
			return 0;
	}
	p++;
	return 1;
}

/* Reads the rest of a list or an object: members separated by commas up to `end`. */
static int members(char end, int keys)
{
	p++;
	blanks();
	if (*p == end)
		return p++, 1;
	for (;; p++) {
		blanks();
		if (keys) {
			names += strncmp(p, "\"name\"", 6) == 0;
			if (!string() || *p++ != ':')
				return 0;
			blanks();
		}
		if (!value())
			return 0;
		blanks();
		if (*p == end)
			return p++, 1;
		if (*p != ',')
			return 0;
	}
}

static int value(void)
{
	size_t n;

	if (*p == '{')
		return members('}', 1);
	if (*p == '[')
		return members(']', 0);
	if (*p == '"')
		return string();
	n = strspn(p, "-0123456789.");
	if (n == 0 && (strncmp(p, "true", 4) == 0 || strncmp(p, "false", 5) == 0))
		n = *p == 't' ? 4 : 5;
	p += n;
	return n > 0;
}

static char *output(const char *arguments, int *status)
{
	const char *build = getenv("B");
	char command[512];
	size_t room = 1 << 24, used = 0, got;
	char *text = calloc(1, room + 1);
	FILE *from;

	snprintf(command, sizeof command, "%s/tach list %s 2>/dev/null",
		 build ? build : "build", arguments);
	from = popen(command, "r");
	while (from && text && used < room &&
	       (got = fread(text + used, 1, room - used, from)) > 0)
		used += got;
	*status = from ? pclose(from) : -1;
	return text;
}

static int rows_of_the_tables(void)
{
	char line[8192];
	int rows = 0;
	glob_t files;

	CHECK(glob("arch/*/events/*.tsv", 0, NULL, &files) == 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		FILE *from = fopen(files.gl_pathv[i], "r");
		int own = 0;

		while (from && fgets(line, sizeof line, from))
			own += strncmp(line, "E\t", 2) == 0 || strncmp(line, "U\t", 2) == 0;
		/*
		 * The PMU itself counts too, unless none of its events matches (perf_raw has
		 * none).
		 */
		rows += own + (own > 0);
		if (from)
			fclose(from);
	}
	globfree(&files);
	return rows;
}

static void list_json_is_valid(void)
{
	int status, rows = rows_of_the_tables();
	char *text = output("--all --json '*'", &status);

	p = text;
	names = 0;
	blanks();
	CHECK(status == 0 && value(), "at: %.40s", p);
	blanks();
	CHECK(*p == 0, "after the end: %.40s", p);
	/* Presets count too; each has a line in a file. */
	for (const char *at = text; (at = strstr(at, "\"line\": ")); at++)
		names--;
	CHECK(names == rows, "%d names, %d rows", names, rows);
	free(text);
}

static void empty_and_names_only(void)
{
	static const char *const arguments[] = {"--json --pmu skl nosuch", "--json --all",
						"--json --pmu skl lsd"};

	for (int i = 0; i < 3; i++) {
		int status;
		char *text = output(arguments[i], &status);

		p = text;
		CHECK(value(), "%s: %.40s", arguments[i], p);
		blanks();
		CHECK(*p == 0, "%s: %.40s", arguments[i], p);
		CHECK((status != 0) == (i == 0), "%s: %d", arguments[i], status);
		free(text);
	}
}

int main(void)
{
	CASE(list_json_is_valid);
	CASE(empty_and_names_only);
	return check_done();
}
