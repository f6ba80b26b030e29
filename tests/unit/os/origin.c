/* SPDX-License-Identifier: MIT */
/* The text of a report's origin, also without the program's arguments. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/os/origin.h"
#include "tests/check.h"

static struct tach__origin noted(const char *options)
{
	struct tach__origin o;

	setenv("TACH_OPTIONS", options, 1);
	tach__origin_note();
	tach__origin_take(&o);
	return o;
}

/* The program runs again with arguments that a report should not show. */
static int is_second;

static void arguments(void)
{
	struct tach__origin o = noted(""), other;

	CHECK(is_second && strcmp(o.program, "origin") == 0 && *o.host && o.date > 0);
	CHECK(strstr(o.command, "origin --password hunter2"), "%s", o.command);
	tach__origin_of(&other, getpid());
	CHECK(strcmp(other.command, o.command) == 0);
}

static void left_out(void)
{
	struct tach__origin o = noted("sparse=2,command=0"), other;

	CHECK(strcmp(o.program, "origin") == 0 && !*o.command && *o.host && o.date > 0);
	tach__origin_of(&other, getpid());
	CHECK(strcmp(other.program, "origin") == 0 && !*other.command);
	CHECK(*noted("command=1").command);
}

int main(int argc, char **argv)
{
	is_second = argc == 3;
	if (!is_second)
		execl("/proc/self/exe", argv[0], "--password", "hunter2", (char *)NULL);
	CASE(arguments);
	CASE(left_out);
	return check_done();
}
