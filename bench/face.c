/* SPDX-License-Identifier: MIT */
/*
 * face read|pair|region|nothing N: does that N times, in C. Programs in other languages do the
 * same, so that bench/faces can compare them. It uses one counter. face count: prints a line
 * READ PAIR REGION, counted by the processor itself (tests/clients/faces.sh).
 */
#include <stdio.h>
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

static __attribute__((noinline)) void regions(struct tach_reader *reader, long n)
{
	(void)reader;
	for (long i = 0; i < n; i++) {
		TACH_START(face);
		__asm__ volatile("");
		TACH_STOP(face);
	}
}

static __attribute__((noinline)) void nothing(struct tach_reader *reader, long n)
{
	(void)reader;
	for (long i = 0; i < n; i++)
		__asm__ volatile("");
}

/*
 * Instructions per iteration: minimum of some tries with 1,000 extra iterations, minus the
 * empty loop.
 */
enum { TRIES = 20, TURNS = 1000 };
typedef void (*turns_fn)(struct tach_reader *reader, long n);

static double least(struct tach_reader *meter, struct tach_reader *reader, turns_fn turns,
		    long n)
{
	uint64_t delta[1], found = UINT64_MAX;
	struct tach_mark mark;

	for (int i = 0; i < TRIES; i++) {
		tach_reader_begin_n(meter, &mark, 1);
		turns(reader, n);
		if (tach_reader_end_n(meter, &mark, delta, 1) == 0 && delta[0] < found)
			found = delta[0];
	}
	return (double)found;
}

static double counted(struct tach_reader *meter, struct tach_reader *reader, turns_fn turns)
{
	return (least(meter, reader, turns, 2 * TURNS) - least(meter, reader, turns, TURNS)) /
	       TURNS;
}

static void count(void)
{
	struct tach_reader *meter = reader_open(), *reader = reader_open();
	double loop = counted(meter, reader, nothing);

	printf("%.1f\t%.1f\t%.1f\n", counted(meter, reader, reads) - loop,
	       counted(meter, reader, pairs) - loop, counted(meter, reader, regions) - loop);
}

int main(int argc, char **argv)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "instructions"};
	long n = argc > 2 ? atol(argv[2]) : 0;
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "read") == 0)
		reads(reader_open(), n);
	else if (strcmp(what, "pair") == 0)
		pairs(reader_open(), n);
	else if (strcmp(what, "region") == 0 && tach_regions_configure(&opt, NULL) == 0)
		regions(NULL, n);
	else if (strcmp(what, "nothing") == 0)
		nothing(NULL, n);
	else if (strcmp(what, "count") == 0 && tach_regions_configure(&opt, NULL) == 0)
		count();
	else
		return 2;
	return 0;
}
