/* SPDX-License-Identifier: MIT */
/*
 * face read|pair|region|nothing N: that, N times, in C; what every other language's face of the
 * library does too, for bench/faces to compare. One counter.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>

static struct tach_reader *reader_open(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_reader *reader;
	struct tach_set *set;

	opt.events = "instructions";
	if (tach_set_create(&opt, &set, NULL) || tach_reader_open(set, &reader, NULL))
		exit(1);
	return reader;
}

static __attribute__((noinline)) void reads(struct tach_reader *reader, long n)
{
	uint64_t value[1];

	for (long i = 0; i < n; i++) {
		tach_reader_read_n(reader, value, 1);
		__asm__ volatile("" : : "r"(value[0]));
	}
}

static __attribute__((noinline)) void pairs(struct tach_reader *reader, long n)
{
	struct tach_mark mark;
	uint64_t delta[1];

	for (long i = 0; i < n; i++) {
		tach_reader_begin_n(reader, &mark, 1);
		tach_reader_end_n(reader, &mark, delta, 1);
		__asm__ volatile("" : : "r"(delta[0]));
	}
}

static __attribute__((noinline)) void regions(long n)
{
	for (long i = 0; i < n; i++) {
		TACH_START(face);
		__asm__ volatile("");
		TACH_STOP(face);
	}
}

static __attribute__((noinline)) void nothing(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("");
}

int main(int argc, char **argv)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "instructions"};
	long n = argc > 2 ? atol(argv[2]) : 0;
	const char *what = argc > 2 ? argv[1] : "";

	if (strcmp(what, "read") == 0)
		reads(reader_open(), n);
	else if (strcmp(what, "pair") == 0)
		pairs(reader_open(), n);
	else if (strcmp(what, "region") == 0 && tach_regions_configure(&opt, NULL) == 0)
		regions(n);
	else if (strcmp(what, "nothing") == 0)
		nothing(n);
	else
		return 2;
	return 0;
}
