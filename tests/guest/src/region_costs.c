/* SPDX-License-Identifier: MIT */
/*
 * The enclosing region does not contain the library's own work outside START and STOP: keeping
 * an entry as one of the worst, and the calls that begin, suspend, resume and end a task.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/guest/known_loop.h"
#include "tests/guest/machine.h"

/*
 * A task's call may add this number of instructions to the enclosing region: its inline part.
 */
enum { CALL = 8 };
enum { ENTRIES = 40, TRIES = 200 };

static const struct set {
	const char *events;
	uint32_t histograms;
	const char *worst;
} sets[] = {{"instructions:u", 0, "8"},
	    {"instructions:u,cycles:u", 0, "8:instructions:u"},
	    {"instructions:u,cycles:u", 1, "3"},
#if !defined(__aarch64__)
	    {"instructions:u,cycles:u,branches:u,branch-misses:u", 0, "8"},
#endif
	    {"instructions:u", 0, "0"}};

static struct tach_snapshot *shot;
static int flagged;
static char wrong[512];

static double of(const char *name, enum tach_part part, int entries)
{
	struct tach_region_info info;
	struct tach_value v = {0};

	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		memset(&info, 0, sizeof info);
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, name) != 0)
			continue;
		tach_snapshot_value(shot, r, 1, part, &v);
		flagged += info.provenance[0] != 0;
		CHECK(info.calls == (uint64_t)entries, "%s: %d", name, (int)info.calls);
		return (v.raw - v.overhead) / entries;
	}
	return -1;
}

static void is(const char *name, enum tach_part part, int entries, double want, int within)
{
	double off = of(name, part, entries) - want;

	if (off < -within || off > within)
		snprintf(wrong + strlen(wrong), sizeof wrong - strlen(wrong),
			 "%s of %s: %+.2f; ", part == TACH_PART_SELF ? "self" : "inclusive",
			 name, off);
}

static void look(void)
{
	tach_snapshot_free(shot);
	shot = NULL;
	CHECK(tach_snapshot_take(&shot, NULL) == 0);
}

/*
 * The kernel flags a START or STOP that it interrupted; such an entry may include a repeated
 * read.
 */
static void all(void (*test)(void))
{
	for (unsigned s = 0; s < sizeof sets / sizeof *sets; s++) {
		struct tach_regions_options opt = {.size = sizeof opt,
						   .events = sets[s].events,
						   .histograms = sets[s].histograms,
						   .worst = sets[s].worst};
		struct tach_error err = TACH_ERROR_INIT;

		for (int i = 0; i < TRIES; i++) {
			usleep((useconds_t)(i % 10 * 777));
			flagged = 0;
			*wrong = 0;
			CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
			test();
			if (!*wrong || !flagged)
				break;
		}
		CHECK(!*wrong, "%s, histograms %d, worst %s: %s", sets[s].events,
		      (int)sets[s].histograms, sets[s].worst, wrong);
	}
}

/* ---- worst entries ---- */

static __attribute__((noinline)) void longer(int turns)
{
	TACH_START(inner);
	for (int k = 0; k <= turns; k++)
		LOOP(100);
	TACH_STOP(inner);
}

/* Each entry is longer than the previous one, so each is kept. */
static __attribute__((noinline)) void kept_once(int turn)
{
	TACH_START(outer);
	LOOP(500);
	TACH_START(between);
	LOOP(300);
	longer(turn);
	longer(turn + 1);
	TACH_STOP(between);
	LOOP(200);
	TACH_STOP(outer);
}

static void worst(void)
{
	double inner, between;

	for (int turn = 0; turn < ENTRIES; turn++)
		kept_once(turn);
	look();
	inner = of("inner", TACH_PART_INCLUSIVE, 2 * ENTRIES);
	between = of("between", TACH_PART_INCLUSIVE, ENTRIES);
	CHECK(inner > ENTRIES * TAKES(100) / 2.0 && between > 2 * inner);
	is("between", TACH_PART_SELF, ENTRIES, TAKES(300), 30);
	is("outer", TACH_PART_SELF, ENTRIES, TAKES(500) + TAKES(200), 0);
	is("outer", TACH_PART_INCLUSIVE, ENTRIES, between + TAKES(500) + TAKES(200), 0);
}

static void a_kept_entry_costs_nothing_around(void)
{
	all(worst);
}

/* ---- tasks ---- */

static __attribute__((noinline)) void task_once(struct tach_task *task)
{
	__asm__ volatile("" : "+r"(task));
	TACH_START(serve);
	LOOP(100);
	TACH_TASK_BEGIN(task, request);
	LOOP(1000);
	tach_task_suspend(task);
	LOOP(200);
	tach_task_resume(task);
	LOOP(1000);
	tach_task_suspend(task);
	LOOP(300);
	TACH_STOP(serve);
	tach_task_end(task);
}

static __attribute__((noinline)) void whole_once(struct tach_task *task)
{
	__asm__ volatile("" : "+r"(task));
	TACH_START(worker);
	LOOP(100);
	TACH_TASK_BEGIN(task, job);
	LOOP(1000);
	tach_task_end(task);
	LOOP(200);
	TACH_STOP(worker);
}

static __attribute__((noinline)) void inner_once(struct tach_task *task,
						 struct tach_task *inside)
{
	__asm__ volatile("" : "+r"(task), "+r"(inside));
	TACH_TASK_BEGIN(task, around);
	LOOP(100);
	TACH_TASK_BEGIN(inside, inside);
	LOOP(1000);
	tach_task_end(inside);
	LOOP(200);
	tach_task_end(task);
}

static void tasks(void)
{
	static struct tach_task task, inside;

	for (int i = 0; i < ENTRIES; i++) {
		task_once(&task);
		whole_once(&task);
		inner_once(&task, &inside);
	}
	look();
	is("request", TACH_PART_SELF, ENTRIES, 2 * TAKES(1000), 0);
	is("serve", TACH_PART_SELF, ENTRIES, TAKES(100) + TAKES(200) + TAKES(300), 4 * CALL);
	is("worker", TACH_PART_SELF, ENTRIES, TAKES(100) + TAKES(200), 3 * CALL);
	is("around", TACH_PART_SELF, ENTRIES, TAKES(100) + TAKES(200), 3 * CALL);
}

static void a_task_costs_little_around(void)
{
	all(tasks);
}

int main(void)
{
	if (!machine_is_exact()) {
		puts("instruction counts are not exact on this machine");
		return 77;
	}
	CASE(a_kept_entry_costs_nothing_around);
	CASE(a_task_costs_little_around);
	tach_snapshot_free(shot);
	return check_done();
}
