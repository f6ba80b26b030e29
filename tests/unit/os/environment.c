/* SPDX-License-Identifier: MIT */
/*
 * Variables that configure regions: values that count as set, and values that cause a
 * complaint.
 */
#include <stdlib.h>
#include <string.h>
#include <tach/set.h>
#include "core/os/environment.h"
#include "tests/check.h"

static void empty_is_not_set(void)
{
	const char *value;

	unsetenv("TACH_OUTPUT");
	CHECK(tach__environment("TACH_OUTPUT") == NULL);
	setenv("TACH_OUTPUT", "", 1);
	CHECK(tach__environment("TACH_OUTPUT") == NULL);
	setenv("TACH_OUTPUT", "x", 1);
	value = tach__environment("TACH_OUTPUT");
	CHECK(value && strcmp(value, "x") == 0);
}

static void no_events_are_a_choice(void)
{
	const char *value;

	unsetenv("TACH_EVENTS");
	CHECK(tach__environment_events() == NULL);
	setenv("TACH_EVENTS", "", 1);
	value = tach__environment_events();
	CHECK(value && *value == '\0');
	setenv("TACH_EVENTS", "cycles", 1);
	value = tach__environment_events();
	CHECK(value && strcmp(value, "cycles") == 0);
	unsetenv("TACH_EVENTS");
}

static void interrupts(void)
{
	static const struct {
		const char *value;
		uint32_t flags;
	} of[] = {
		{"", 0},
		{"0", 0},
		{"1", TACH_SET_INTERRUPTS},
		{"correct", TACH_SET_CORRECT},
		{"corrected", TACH_SET_INTERRUPTS},
		{"00", TACH_SET_INTERRUPTS},
	};

	unsetenv("TACH_INTERRUPTS");
	CHECK(tach__environment_interrupts() == 0);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		setenv("TACH_INTERRUPTS", of[i].value, 1);
		CHECK(tach__environment_interrupts() == of[i].flags, "'%s': %#x", of[i].value,
		      tach__environment_interrupts());
	}
	unsetenv("TACH_INTERRUPTS");
}

/* One variable at a time; NULL: no complaint is expected. */
static void odd(const char *name, const char *value, const char *want)
{
	char text[200] = "untouched";
	int is;

	setenv(name, value, 1);
	is = tach__environment_odd(text, sizeof text);
	CHECK(is == (want != NULL) && strcmp(text, want ? want : "untouched") == 0,
	      "%s=%.50s: %d, '%s'", name, value, is, text);
	unsetenv(name);
}

#define TEN  "0123456789"
#define LONG "a" TEN TEN TEN TEN /* the message shows 40 bytes of the value */

static void odd_values(void)
{
	static const char *const numbers[] = {"TACH_SPARSE", "TACH_WARMUP", "TACH_HISTOGRAMS",
					      "TACH_TURNS"};
	char text[200];

	odd("TACH_NONE", "?", NULL);
	odd("TACH_INTERRUPTS", "", NULL);
	odd("TACH_INTERRUPTS", "0", NULL);
	odd("TACH_INTERRUPTS", "1", NULL);
	odd("TACH_INTERRUPTS", "correct", NULL);
	odd("TACH_INTERRUPTS", "2", "TACH_INTERRUPTS is 0, 1 or correct, not '2'");
	odd("TACH_INTERRUPTS", LONG,
	    "TACH_INTERRUPTS is 0, 1 or correct, not 'a" TEN TEN TEN "012345678'");
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		odd(numbers[i], "", NULL);
		odd(numbers[i], "0", NULL);
		odd(numbers[i], TEN, NULL);
		setenv(numbers[i], "12", 1);
		CHECK(tach__environment_number(numbers[i], 5) == 12);
		setenv(numbers[i], "-1", 1);
		CHECK(tach__environment_number(numbers[i], 5) == 5);
		unsetenv(numbers[i]);
		CHECK(tach__environment_number(numbers[i], 5) == 5);
		snprintf(text, sizeof text, "%s is a number, not '1k'", numbers[i]);
		odd(numbers[i], "1k", text);
		snprintf(text, sizeof text, "%s is a number up to 4294967295, not '4294967296'",
			 numbers[i]);
		odd(numbers[i], "4294967296", text);
		snprintf(text, sizeof text, "%s is a number, not '-1'", numbers[i]);
		odd(numbers[i], "-1", text);
		snprintf(text, sizeof text, "%s is a number, not 'a" TEN TEN TEN "012345678'",
			 numbers[i]);
		odd(numbers[i], LONG, text);
	}
}

static void names_of_regions_that_are_too_many(void)
{
	char globs[1100];

	memset(globs, 'r', sizeof globs);
	globs[1023] = '\0';
	odd("TACH_REGIONS", globs, NULL);
	globs[1023] = 'r';
	globs[1024] = '\0';
	odd("TACH_REGIONS", globs,
	    "TACH_REGIONS takes more than 1023 bytes; the rest is ignored");
}

/* A sentence that is longer than the buffer is cut at the buffer's end. */
static void complaints_are_cut_at_the_buffers_end(void)
{
	static const char *const set[][2] = {
		{"TACH_INTERRUPTS", "2"}, {"TACH_REGIONS", NULL}, {"TACH_WARMUP", "x"}};
	char globs[1025], text[12];

	memset(globs, 'r', sizeof globs - 1);
	globs[sizeof globs - 1] = '\0';
	for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
		memset(text, '?', sizeof text);
		setenv(set[i][0], set[i][1] ? set[i][1] : globs, 1);
		CHECK(tach__environment_odd(text, 8) == 1);
		CHECK(memcmp(text, set[i][0], 7) == 0 && text[7] == '\0' && text[8] == '?',
		      "%.12s", text);
		unsetenv(set[i][0]);
	}
}

static void is(const char *name, const char *wanted)
{
	const char *value = tach__environment(name);

	CHECK(!value == !wanted && (!value || strcmp(value, wanted) == 0), "%s: %s", name,
	      value ? value : "(null)");
}

static void settings(void)
{
	char text[200], longest[300];

	setenv("TACH_OPTIONS",
	       "sparse=16, worst=8:cycles ,by=tag:100+task,signal=RTMIN+1,sparse=32", 1);
	is("TACH_SPARSE", "32");
	is("TACH_WORST", "8:cycles");
	is("TACH_BY", "tag:100,task");
	is("TACH_SIGNAL", "RTMIN+1");
	is("TACH_WARMUP", NULL);
	is("TACH_OUTPUT", NULL);
	CHECK(tach__environment("TACH_BY") == tach__environment("TACH_BY"));
	setenv("TACH_SPARSE", "4", 1);
	is("TACH_SPARSE", "4");
	setenv("TACH_SPARSE", "", 1);
	is("TACH_SPARSE", "32");
	unsetenv("TACH_SPARSE");
	setenv("TACH_OPTIONS", "sparse=1k,interrupts=correct,histograms,turns=", 1);
	CHECK(tach__environment_interrupts() == TACH_SET_CORRECT);
	CHECK(tach__environment_odd(text, sizeof text) == 1 &&
		      strcmp(text, "TACH_OPTIONS: sparse is a number, not '1k'") == 0,
	      "%s", text);
	is("TACH_HISTOGRAMS", NULL);
	is("TACH_TURNS", NULL);
	is("TACH_BY", NULL);
	/* A value that does not fit is omitted completely. */
	snprintf(longest, sizeof longest, "worst=%0127d,by=%0128d", 1, 2);
	setenv("TACH_OPTIONS", longest, 1);
	CHECK(strlen(tach__environment("TACH_WORST")) == 127);
	is("TACH_BY", NULL);
	unsetenv("TACH_OPTIONS");
	is("TACH_WORST", NULL);
}

int main(void)
{
	clearenv();
	CASE(settings);
	CASE(empty_is_not_set);
	CASE(no_events_are_a_choice);
	CASE(interrupts);
	CASE(odd_values);
	CASE(names_of_regions_that_are_too_many);
	CASE(complaints_are_cut_at_the_buffers_end);
	return check_done();
}
