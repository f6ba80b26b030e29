/* SPDX-License-Identifier: MIT */
/*
 * Words that a thread and its signal handlers change, each during the other's change: the word
 * is read-only at that moment, so that the handler interrupts exactly the store. The state kept
 * about a page (TACH_COUNTER_SEE): the address of the code for the counter that the page shows,
 * and the page's lock. Counts (TACH_COUNT) and sequences (TACH_TAKE), with and without
 * single-instruction updates. With single instructions an interrupt adds nothing to the
 * enclosing regions.
 */
#include <stdio.h>

#ifdef __aarch64__
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/guest/machine.h"

enum { SEES, COUNTS };
static struct perf_event_mmap_page page;
static struct tach_way way = {&page, NULL};
static const char **at; /* alone in its memory page */
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

/* Changes the page and looks at it, as the kernel and a handler's START do; or counts. */
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

/* Runs `times` handlers in a row, each with a newer value. */
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

/* The loop ends, because there is a slow path. */
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

/* Tests the instructions of this processor, and those that any processor has. */
static void counts_of_a_handler_stay(void)
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

/* ---- interrupts ---- */

enum { PAIRS = 20, TURNS = 1000 };

static __attribute__((noinline)) void pair(void)
{
	TACH_START(pair);
	TACH_STOP(pair);
}

static __attribute__((noinline)) void around(void)
{
	TACH_START(around);
	for (int i = 0; i < PAIRS; i++)
		pair();
	TACH_STOP(around);
}

struct shown {
	double count;
	uint64_t flagged;
};

static struct shown shown(void)
{
	struct shown s = {0, 0};
	struct tach_snapshot *shot;

	CHECK(tach_snapshot_take(&shot, NULL) == 0);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		struct tach_region_info info = {.size = sizeof info};
		struct tach_value value;

		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, "around") != 0)
			continue;
		tach_snapshot_value(shot, r, 1, TACH_PART_INCLUSIVE, &value);
		s.count = value.raw;
		for (int i = 0; i < 6; i++)
			s.flagged += info.provenance[i];
	}
	tach_snapshot_free(shot);
	return s;
}

/* An interrupt every 60 us: a software event that samples without a buffer. */
static int interrupt(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = 60000};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* All entries without a flag have the length of the shortest one. */
static void entries_are_as_long(const char *when)
{
	struct shown before = shown();
	double least = 0, most = 0;
	int n = 0;

	for (int turn = 0; turn < TURNS; turn++) {
		struct shown now;
		double one;

		around();
		now = shown();
		one = now.count - before.count;
		if (now.flagged == before.flagged) {
			least = n == 0 || one < least ? one : least;
			most = n == 0 || one > most ? one : most;
			n++;
		}
		before = now;
	}
	printf("# %s: %d of %d without a flag, %.0f to %.0f instructions\n", when, n, TURNS,
	       least, most);
	CHECK(n > 0 && least == most);
}

static void interrupts_add_nothing(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "instructions"};
	int fd;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	if (!TACH_SINGLE())
		SKIP("this architecture's first version has no single instructions");
	CHECK(tach_regions_configure(&opt, NULL) == 0);
	around(); /* the first entry opens and calibrates */
	entries_are_as_long("alone");
	fd = interrupt();
	CHECK(fd >= 0);
	entries_are_as_long("interrupted");
	close(fd);
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
	CASE(counts_of_a_handler_stay);
	sigaction(SIGSEGV, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	CASE(interrupts_add_nothing);
	return check_done();
}
#else
int main(void)
{
	puts("not for this architecture");
	return 77;
}
#endif
