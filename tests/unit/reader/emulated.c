/* SPDX-License-Identifier: MIT */
/*
 * A reader of an emulator's counts: the test provides the answer and the counts. It is a
 * separate program, because the library looks for an emulator only once.
 */
#include <stdlib.h>
#include <string.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "tests/check.h"

#if defined(__x86_64__) || defined(__aarch64__)
static uint64_t counts[TACH__EMULATED_COUNTS];
static int is_there = 1;

static long emulate(long number, long a, long b, long c, long d, long e, long f)
{
	struct tach__emulator_answer *answer = (struct tach__emulator_answer *)a;

	if (number != TACH__EMULATOR_CALL)
		return tach__sys_real(number, a, b, c, d, e, f);
	if (is_there)
		*answer = (struct tach__emulator_answer){TACH__EMULATOR_VERSION,
							 (uintptr_t)counts, 0};
	return 0;
}

static struct tach_error err = TACH_ERROR_INIT;

static struct tach_set *make(const char *events)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set;

	opt.events = events;
	is_there = 1;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	return set;
}

/* Counts start when the reader is opened; a region gets the counts that are added during it. */
static void read_from_where_they_stood(const char *events, int instructions, int branches)
{
	struct tach_set *set = make(events);
	struct tach_reader *reader;
	struct tach_mark mark;
	uint64_t delta[TACH_COUNTERS_MAX], value[TACH_COUNTERS_MAX];
	int n = tach_set_count(set);

	counts[TACH__EMULATED_INSTRUCTIONS] = 1000;
	counts[TACH__EMULATED_BRANCHES] = 100;
	CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
	CHECK(tach__reader(reader)->emulated.count == n);
	counts[TACH__EMULATED_INSTRUCTIONS] += 30;
	counts[TACH__EMULATED_BRANCHES] += 3;
	tach_reader_begin(reader, &mark);
	counts[TACH__EMULATED_INSTRUCTIONS] += 40;
	counts[TACH__EMULATED_BRANCHES] += 4;
	CHECK(tach_reader_end(reader, &mark, delta) == 0);
	CHECK(tach_reader_read(reader, value) == 0);
	if (instructions >= 0)
		CHECK(delta[instructions] == 40 && value[instructions] == 70);
	if (branches >= 0)
		CHECK(delta[branches] == 4 && value[branches] == 7);
	tach_reader_close(reader);
	tach_set_free(set);
}

static void regions_have_what_was_added(void)
{
	read_from_where_they_stood("instructions:u", 0, -1);
	read_from_where_they_stood("branches:u instructions:u", 1, 0);
}

/* Each thread asks for its own counts; a thread that gets no answer has no counts. */
static void without_the_emulator_it_is_not_opened(void)
{
	struct tach_set *set = make("instructions:u");
	struct tach_reader *reader = (struct tach_reader *)counts;

	is_there = 0;
	CHECK(tach_reader_open(set, &reader, &err) == TACH_ERR_NOHARDWARE && !reader);
	CHECK(err.line == 0 && err.column == 0);
	CHECK(strstr(err.text, "the set was made in an emulator"), "%s", err.text);
	tach_set_free(set);
}

int main(void)
{
	setenv("TACH_EMULATE", "1", 1);
	tach__sys = emulate;
	CASE(regions_have_what_was_added);
	CASE(without_the_emulator_it_is_not_opened);
	return check_done();
}
#else
int main(void)
{
	puts("skip emulated: no emulator is read on this architecture");
	return 77;
}
#endif
