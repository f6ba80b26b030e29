/* SPDX-License-Identifier: MIT */
/*
 * The thread of a reader has ended, and a new thread at the same address uses the reader: it
 * counts no thread, and LOST says so.
 */
#include <pthread.h>
#include <string.h>
#include <tach.h>
#include "tests/check.h"

static struct tach_set *set;
static struct tach_reader *reader;
static uintptr_t at[2];
static uint32_t flags;
static uint64_t delta[TACH_COUNTERS_MAX];
static int code;

static void *open_and_end(void *unused)
{
	at[0] = (uintptr_t)pthread_self();
	code = tach_reader_open(set, &reader, NULL);
	return unused;
}

static void *use(void *unused)
{
	struct tach_mark mark;

	at[1] = (uintptr_t)pthread_self();
	memset(delta, 0x5a, sizeof delta);
	tach_reader_begin(reader, &mark);
	flags = tach_reader_end(reader, &mark, delta);
	return unused;
}

static void in_thread(void *(*run)(void *))
{
	/* The C library also puts the thread's variables there. */
	static char stack[1 << 20] __attribute__((aligned(4096)));
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	CHECK(pthread_attr_setstack(&attr, stack, sizeof stack) == 0);
	CHECK(pthread_create(&thread, &attr, run, NULL) == 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

static void reader_of_an_ended_thread_is_lost(void)
{
	in_thread(open_and_end);
	if (code)
		SKIP("no event can be opened here");
	in_thread(use);
	CHECK(at[0] == at[1], "the threads lie at different addresses");
	CHECK(flags & TACH_FLAG_LOST && delta[0] == 0, "%#x %llu", (unsigned)flags,
	      (unsigned long long)delta[0]);
	tach_reader_close(reader);
}

int main(void)
{
	struct tach_set_options opt = {.size = sizeof opt, .events = "page-faults"};

	CHECK(tach_set_create(&opt, &set, NULL) == 0);
	CASE(reader_of_an_ended_thread_is_lost);
	tach_set_free(set);
	return check_done();
}
