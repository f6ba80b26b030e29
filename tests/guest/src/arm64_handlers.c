/* SPDX-License-Identifier: MIT */
/*
 * Words that a thread and its signal handlers change, each amid the other's change: the word is
 * read-only then, so that the very store is what the handler interrupts. What a look at a page
 * keeps (TACH_COUNTER_SEE): the address of the code for the counter that the page shows, and
 * the page's lock. Counts (TACH_COUNT) and sequences (TACH_TAKE), by single instructions and
 * without.
 */
#include <stdio.h>

#ifdef __aarch64__
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <tach/page.h>
#include "tests/check.h"

enum { SEES, COUNTS };
static struct perf_event_mmap_page page;
static struct tach_way way = {&page, NULL};
static const char **at; /* alone in its memory page, */
static uint64_t *word;	/* or this is */
static volatile int handled, interrupts, does;
static uint32_t single;

static const char *code(uint32_t index)
{
	return (const char *)((uintptr_t)way.stubs + 16 * (uintptr_t)index);
}

static void show(uint32_t lock, uint32_t index)
{
	page.lock = lock;
	page.index = index;
}

static void writable(int is)
{
	CHECK(mprotect(at, (size_t)getpagesize(), PROT_READ | (is ? PROT_WRITE : 0)) == 0);
}

/* The page changes, and this looks, as the kernel and a handler's START do; or it counts. */
static void handler(int number)
{
	uint32_t lock;

	(void)number;
	handled++;
	writable(1);
	if (does == COUNTS) {
		TACH_COUNT(*word, 100, single);
	} else {
		show(page.lock + 2, page.index + 1);
		CHECK(TACH_COUNTER_SEE(at, way, lock) && lock == page.lock);
	}
	if (handled < interrupts)
		writable(0);
}

static void the_page_is_taken(void)
{
	static const uint32_t indices[] = {1, 2, 31, 32};
	uint32_t lock;

	for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
		show((uint32_t)(2 * i), indices[i]);
		lock = 1;
		CHECK(TACH_COUNTER_SEE(at, way, lock) && lock == 2 * i &&
			      *at == code(indices[i]),
		      "%u", (unsigned)indices[i]);
	}
	CHECK(handled == 0);
}

static void what_cannot_be_read_changes_nothing(void)
{
	uint32_t lock;

	show(2, 3);
	CHECK(TACH_COUNTER_SEE(at, way, lock));
	show(4, 0);
	CHECK(!TACH_COUNTER_SEE(at, way, lock) && *at == code(3));
	show(5, 4);
	CHECK(!TACH_COUNTER_SEE(at, way, lock) && *at == code(3));
}

/* `times` handlers in a row, each with something newer. */
static void interrupted(int times)
{
	uint32_t lock;

	show(2, 3);
	handled = 0;
	interrupts = times;
	writable(0);
	CHECK(TACH_COUNTER_SEE(at, way, lock) && lock == page.lock, "%u, not %u",
	      (unsigned)lock, (unsigned)page.lock);
	CHECK(handled == times && page.index == 3 + (uint32_t)times && *at == code(page.index),
	      "%d handlers, index %u, code of %d", handled, (unsigned)page.index,
	      (int)((*at - way.stubs) / 16));
}

static void what_a_handler_found_stays(void)
{
	interrupted(1);
	interrupted(5);
}

/* Not for ever: there is a slow way. */
static void looks_end(void)
{
	uint32_t lock;

	show(2, 3);
	handled = 0;
	interrupts = 1000;
	writable(0);
	CHECK(!TACH_COUNTER_SEE(at, way, lock) && handled < interrupts, "%d", handled);
	writable(1);
	CHECK(*at == code(page.index));
}

static void interrupted_count(void)
{
	*word = 7;
	handled = 0;
	writable(0);
	TACH_COUNT(*word, 1, single);
	CHECK(handled == interrupts && *word == 8 + 100 * (uint64_t)interrupts, "%d",
	      (int)*word);
	handled = 0;
	writable(0);
	TACH_COUNT(*word, -1, single);
	CHECK(handled == interrupts && *word == 7 + 200 * (uint64_t)interrupts, "%d",
	      (int)*word);
}

static void interrupted_take(void)
{
	int was;

	*word = 4;
	handled = 0;
	writable(0);
	was = TACH_TAKE(*word, single);
	CHECK(!was && *word == 5 + 100 * (uint64_t)interrupts, "%d", (int)*word);
	was = TACH_TAKE(*word, single);
	CHECK(was && *word == 5 + 100 * (uint64_t)interrupts, "%d", (int)*word);
}

/* Those of this processor, and those of any. */
static void what_a_handler_counted_stays(void)
{
	does = COUNTS;
	interrupts = 3;
	for (int s = (int)TACH_SINGLE(); s >= 0; s--) {
		single = (uint32_t)s;
		interrupted_count();
		interrupted_take();
	}
	printf("# single instructions: %d\n", (int)TACH_SINGLE());
}

int main(void)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};

	way.stubs = TACH_STUBS(64);
	at = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	word = (uint64_t *)at;
	CHECK(at != MAP_FAILED && sigaction(SIGSEGV, &action, NULL) == 0);
	CASE(the_page_is_taken);
	CASE(what_cannot_be_read_changes_nothing);
	CASE(what_a_handler_found_stays);
	CASE(looks_end);
	CASE(what_a_handler_counted_stays);
	return check_done();
}
#else
int main(void)
{
	puts("not for this architecture");
	return 77;
}
#endif
