/* SPDX-License-Identifier: MIT */
/* Software events by read(2): works on every machine, with or without a PMU. */
#include <string.h>
#include <sys/prctl.h>
#include <tach/reader.h>
#include "core/reader/reader.h"
#include "tests/check.h"
#include "tests/pages.h"
#include "tests/faults.h"

static struct tach_set *set_of(uint64_t a, uint64_t b)
{
	static struct perf_event_attr attr[2];
	struct tach_set_member members[2] = {{"first", &attr[0]}, {"second", &attr[1]}};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set;

	memset(attr, 0, sizeof attr);
	attr[0].type = attr[1].type = PERF_TYPE_SOFTWARE;
	attr[0].size = attr[1].size = sizeof attr[0];
	attr[0].config = a;
	attr[1].config = b;
	attr[0].exclude_kernel = attr[1].exclude_kernel = 1;
	opt.attrs = members;
	opt.nattrs = 2;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	return set;
}

static void page_faults_are_counted(void)
{
	struct tach_set *set = set_of(PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_TASK_CLOCK);
	static struct tach_error err = TACH_ERROR_INIT;
	struct tach_reader *reader;
	struct tach_mark mark;
	uint64_t delta[2], value[2], more[2], all;
	uint32_t flags;

	if (tach_reader_open(set, &reader, &err)) {
		tach_set_free(set);
		SKIP(err.text);
	}
	all = thread_faults();
	tach_reader_begin(reader, &mark);
	pages_touch(50);
	flags = tach_reader_end(reader, &mark, delta);
	all = thread_faults() - all;
	CHECK(flags == TACH_FLAG_SYSCALL, "flags %#x", flags);
	CHECK(delta[0] >= 50 && delta[0] <= all, "%llu faults of %llu",
	      (unsigned long long)delta[0], (unsigned long long)all);
	CHECK(delta[1] > 0, "no time passed");
	all = thread_faults();
	tach_reader_begin_n(reader, &mark, 2);
	CHECK(tach_reader_end_n(reader, &mark, delta, 2) == TACH_FLAG_SYSCALL,
	      "by system call");
	all = thread_faults() - all;
	CHECK(delta[0] <= all, "%llu faults in nothing", (unsigned long long)delta[0]);
	CHECK(tach_reader_read(reader, value) == TACH_FLAG_SYSCALL, "by system call");
	CHECK(tach_reader_read_one(reader, 1, &more[1]) == TACH_FLAG_SYSCALL, "by system call");
	CHECK(more[1] > value[1], "the clock stands");
	tach_reader_close(reader);
	tach_set_free(set);
}

/*
 * The program closed the descriptor before begin; at the end its number belongs to another
 * file.
 */
static void a_begin_that_failed_is_lost(void)
{
	struct tach_set *set = set_of(PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_TASK_CLOCK);
	static struct tach_error err = TACH_ERROR_INIT;
	struct tach_reader *reader;
	struct tach_mark mark;
	uint64_t delta[2] = {1, 1};
	int leader;

	if (tach_reader_open(set, &reader, &err)) {
		tach_set_free(set);
		SKIP(err.text);
	}
	leader = tach__reader(reader)->soft.leader;
	tach__reader(reader)->soft.leader = -1;
	tach_reader_begin(reader, &mark);
	tach__reader(reader)->soft.leader = leader;
	CHECK(tach_reader_end(reader, &mark, delta) & TACH_FLAG_LOST);
	CHECK(delta[0] == 0 && delta[1] == 0);
	tach_reader_begin(reader, &mark);
	tach__reader(reader)->soft.leader = -1;
	CHECK(tach_reader_end(reader, &mark, delta) & TACH_FLAG_LOST);
	tach__reader(reader)->soft.leader = leader;
	tach_reader_begin(reader, &mark);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_SYSCALL);
	tach_reader_close(reader);
	tach_set_free(set);
}

/*
 * Events are turned off by prctl(2) before the region, in it, or both: faults during that time
 * are missing.
 */
static void turned_off_is_incomplete(void)
{
	struct tach_set *set = set_of(PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	static struct tach_error err = TACH_ERROR_INIT;
	struct tach_reader *reader;
	struct tach_mark mark;
	uint64_t delta[2];

	if (tach_reader_open(set, &reader, &err)) {
		tach_set_free(set);
		SKIP(err.text);
	}
	for (int off = 0; off < 4; off++) {
		uint32_t flags;

		if (off & 1)
			prctl(PR_TASK_PERF_EVENTS_DISABLE);
		tach_reader_begin(reader, &mark);
		prctl(off & 2 ? PR_TASK_PERF_EVENTS_DISABLE : PR_TASK_PERF_EVENTS_ENABLE);
		pages_touch(100);
		flags = tach_reader_end(reader, &mark, delta);
		CHECK(tach_reader_flags(reader, 0, flags) ==
			      (TACH_FLAG_SYSCALL | (off ? TACH_FLAG_INCOMPLETE : 0)),
		      "off %d: flags %#x, %llu faults", off, flags,
		      (unsigned long long)delta[0]);
		CHECK(off & 2 ? delta[0] < 100 : delta[0] >= 100);
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
	}
	tach_reader_close(reader);
	tach_set_free(set);
}

int main(void)
{
	CASE(page_faults_are_counted);
	CASE(a_begin_that_failed_is_lost);
	CASE(turned_off_is_incomplete);
	return check_done();
}
