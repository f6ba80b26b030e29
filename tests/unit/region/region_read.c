/* SPDX-License-Identifier: MIT */
/* Reads counts of a region that is still open. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/faults.h"

enum { ROOM = 1 + TACH_COUNTERS_MAX };

static uint64_t values[ROOM];
static uint32_t flags, generation;

static int look(const struct tach_region_mark *mark)
{
	return tach_region_read(mark, values, ROOM, &flags, &generation);
}

static int configure(const char *events)
{
	struct tach_regions_options opt = {.events = events};

	return tach_regions_configure(&opt, NULL);
}

static void only_open_regions(void)
{
	struct tach_site *site = tach_site_get("open");
	struct tach_region_mark mark = TACH_REGION_MARK_INIT, inner;

	CHECK(look(&mark) == TACH_ERR_STATE);
	/* Without a site the mark is not a region, whatever it contains. */
	memset(&mark, 0xee, sizeof mark);
	tach_region_begin(NULL, &mark);
	CHECK(look(&mark) == TACH_ERR_STATE);
	tach_region_end(&mark);
	tach_region_begin(site, &mark);
	CHECK(look(&mark) == TACH_ERR_STATE); /* regions are off */
	tach_region_end(&mark);
	CHECK(configure("") == 0);
	tach_region_begin(site, &mark);
	CHECK(look(&mark) == 1 && flags == 0);
	CHECK(tach_region_read(&mark, values, -1, &flags, &generation) == TACH_ERR_INVAL);
	values[0] = 0;
	CHECK(tach_region_read(&mark, values, 0, &flags, &generation) == 1 && values[0] == 0);
	tach_region_begin(site, &inner);
	CHECK(look(&mark) == 1 && look(&inner) == 1);
	tach_region_end(&inner);
	CHECK(look(&inner) == TACH_ERR_STATE);
	CHECK(look(&mark) == 1);
	tach_region_end(&mark);
	CHECK(look(&mark) == TACH_ERR_STATE);
}

static uint64_t now(void)
{
	uint64_t ticks;

	TACH_FENCE();
	ticks = tach_clock();
	TACH_FENCE();
	return ticks;
}

/* The time since START, exact to one tick. */
static void time_since_start_grows(void)
{
	uint64_t before = now(), begun, asked, last = 0;

	TACH_START(clocked);
	begun = now();
	while (now() == begun) /* a clock may stand still for 40 ns */
		;
	for (int i = 0; i < 100; i++) {
		asked = now();
		CHECK(look(&TACH__MARK(clocked)) == 1 && values[0] >= last);
		last = values[0];
		CHECK(last >= asked - begun && last <= now() - before, "%d: %llu", i,
		      (unsigned long long)last);
	}
	CHECK(last > 0);
	TACH_STOP(clocked);
}

static void change_of_set_is_reported(void)
{
	uint32_t first;

	{
		TACH_START(first);
		CHECK(look(&TACH__MARK(first)) == 1);
		TACH_STOP(first);
	}
	first = generation;
	CHECK(configure("") == 0);
	TACH_START(second);
	CHECK(look(&TACH__MARK(second)) == 1 && generation != first);
	TACH_STOP(second);
}

static void *other(void *mark)
{
	TACH_START(own);
	CHECK(look(mark) == TACH_ERR_STATE);
	TACH_STOP(own);
	CHECK(look(mark) == TACH_ERR_STATE);
	return NULL;
}

static void its_own_thread_and_process(void)
{
	struct tach_region_mark mark;
	pthread_t thread;
	pid_t child;
	int status = -1;

	tach_region_begin(tach_site_get("mine"), &mark);
	CHECK(pthread_create(&thread, NULL, other, &mark) == 0 &&
	      pthread_join(thread, NULL) == 0);
	CHECK(look(&mark) == 1);
	child = fork();
	if (child == 0)
		_exit(look(&mark) == TACH_ERR_STATE ? 0 : 1);
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	CHECK(look(&mark) == 1);
	tach_region_end(&mark);
}

/* One page fault per page, or more if a sanitizer or the machine adds some. */
static void members(void)
{
	enum { PAGES = 7 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct tach_region_mark mark;
	uint64_t before, all;
	char *memory;

	if (configure("page-faults") != 0) {
		SKIP("no event opens");
		return;
	}
	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	tach_region_begin(tach_site_get("pages"), &mark);
	CHECK(look(&mark) == 2);
	all = thread_faults();
	CHECK(look(&mark) == 2 && flags & TACH_FLAG_SYSCALL, "%x", flags);
	before = values[1];
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)memory)[i * page] = 1;
	CHECK(look(&mark) == 2);
	all = thread_faults() - all;
	CHECK(values[1] - before >= PAGES && values[1] - before <= all, "%d of %d",
	      (int)(values[1] - before), (int)all);
	tach_region_end(&mark);
	munmap(memory, PAGES * page);
}

int main(void)
{
	CASE(only_open_regions);
	CASE(time_since_start_grows);
	CASE(change_of_set_is_reported);
	CASE(its_own_thread_and_process);
	CASE(members);
	return check_done();
}
