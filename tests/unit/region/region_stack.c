/* SPDX-License-Identifier: MIT */
/*
 * The stack use of regions in the program, measured with a fill pattern. A thread's first
 * START, which opens its counters, may run in a signal handler with little more stack left than
 * the signal's frame.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <tach.h>
#include "tests/check.h"

/*
 * README.md states both limits; the deepest measured path after the first START uses 1,304
 * bytes (LATER).
 */
enum { FIRST = 2048, LATER = 1536, SIZE = 256 * 1024, PAINT = 0xa5 };

static unsigned char *stack;
static volatile uintptr_t frame; /* of the handler */
static int entries;

static __attribute__((noinline)) void region(void)
{
	TACH_START(region_on_painted_stack);
	TACH_STOP(region_on_painted_stack);
}

static void handler(int number)
{
	unsigned char *here = __builtin_frame_address(0);

	(void)number;
	frame = (uintptr_t)here;
	/* The signal's frame is above; the stack below is unused, or will be filled again. */
	for (unsigned char *p = stack; p < here - 512; p++)
		*(volatile unsigned char *)p = PAINT;
	for (int i = 0; i < entries; i++)
		region();
}

static void *visitor(void *later)
{
	if (later)
		region();
	raise(SIGUSR1);
	return NULL;
}

/* Returns the bytes used below the handler's frame; `later`: the thread was opened before. */
static long taken(int later, int n)
{
	static int yes;
	pthread_attr_t attr;
	pthread_t thread;
	long at = 0;

	stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		return -1;
	entries = n;
	signal(SIGUSR1, handler);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, SIZE);
	CHECK(pthread_create(&thread, &attr, visitor, later ? &yes : NULL) == 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	while (at < SIZE && stack[at] == PAINT)
		at++;
	at = (long)(frame - (uintptr_t)(stack + at));
	munmap(stack, SIZE);
	return at;
}

static void begin(const char *events)
{
	struct tach_regions_options opt = {.events = events, .histograms = 1};
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
}

static int instrumented(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return 1;
#else
	return 0;
#endif
}

static void first_start(void)
{
	static const char *const events[] = {"", "task-clock,page-faults", NULL};

	if (instrumented())
		SKIP("a sanitizer's own frames are among it");
	for (int i = 0; i < 3; i++) {
		long first, later;

		begin(events[i]);
		first = taken(0, 1);
		later = taken(1, 100);
		printf("# %s: %ld bytes at the first START, %ld later\n",
		       events[i] ? events[i] : "as usual", first, later);
		CHECK(first > 512 && first < FIRST, "%ld bytes", first);
		CHECK(later > 0 && later < LATER, "%ld bytes", later);
	}
}

int main(void)
{
	CASE(first_start);
	return check_done();
}
