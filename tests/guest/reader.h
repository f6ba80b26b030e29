/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes one reader for guest programs, and has pairs of begin and end whose
 * instructions are counted from outside.
 */
#ifndef TESTS_GUEST_READER_H
#define TESTS_GUEST_READER_H

#include <string.h>
#include <tach/reader.h>

static struct tach_set *set;
static struct tach_reader *reader;
static struct tach_error err; /* of the most recent open */

static inline int open_set(const struct tach_set_options *opt)
{
	int code;

	memset(&err, 0, sizeof err);
	reader = NULL;
	set = NULL;
	code = tach_set_create(opt, &set, &err);
	return code ? code : tach_reader_open(set, &reader, &err);
}

static inline int open_events(const char *events, uint32_t flags)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	opt.events = events;
	opt.flags = flags;
	return open_set(&opt);
}

/* Closes everything that open_set opened, even after a failure. */
static inline void close_all(void)
{
	tach_reader_close(reader);
	tach_set_free(set);
	reader = NULL;
	set = NULL;
}

static struct tach_mark pair_mark;
static uint64_t pair_delta[4];

/* Reference for a pair: the call, and both loads. */
static __attribute__((noinline, unused)) void pair0(void)
{
	__asm__ volatile("" : : "r"(reader), "r"(&pair_mark), "r"(pair_delta) : "memory");
}

static __attribute__((noinline, unused)) void pair1(void)
{
	struct tach_reader *r = reader;

	tach_reader_begin_n(r, &pair_mark, 1);
	tach_reader_end_n(r, &pair_mark, pair_delta, 1);
}

static __attribute__((noinline, unused)) void pair4(void)
{
	struct tach_reader *r = reader;

	tach_reader_begin_n(r, &pair_mark, 4);
	tach_reader_end_n(r, &pair_mark, pair_delta, 4);
}

#endif
