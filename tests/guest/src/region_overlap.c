/* SPDX-License-Identifier: MIT */
/*
 * Overlapping regions count exactly: an entry's inclusive count is the instructions between its
 * begin and its end, with any begins or ends in between; its self value is what was counted
 * while it was the last open region to begin. The expected values are the lengths of loops,
 * counted by hand.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/guest/known_loop.h"
#include "tests/guest/machine.h"

static struct tach_snapshot *shot;
static struct tach_region_info info;
static int flagged; /* rows with an entry that was rescheduled */
static char wrong[512];

static int find(const char *name)
{
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, name) == 0)
			return r;
	}
	return -1;
}

static void is(const char *name, enum tach_part part, int64_t want)
{
	struct tach_value v = {0};
	int r = find(name);
	int64_t got;

	if (r < 0) {
		snprintf(wrong, sizeof wrong, "no region %s", name);
		return;
	}
	tach_snapshot_value(shot, r, 1, part, &v);
	flagged += info.provenance[0] != 0;
	got = (int64_t)(v.raw - v.overhead);
	if (got != want && strlen(wrong) < sizeof wrong / 2)
		snprintf(wrong + strlen(wrong), sizeof wrong - strlen(wrong),
			 "%s of %s: %" PRId64 ", %+" PRId64 "; ",
			 part == TACH_PART_SELF ? "self" : "inclusive", name, got, got - want);
}

static void expect(const char *name, int64_t inclusive, int64_t self)
{
	is(name, TACH_PART_INCLUSIVE, inclusive);
	is(name, TACH_PART_SELF, self);
}

static void look(void)
{
	tach_snapshot_free(shot);
	shot = NULL;
	CHECK(tach_snapshot_take(&shot, NULL) == 0);
}

static const char *events;
static uint32_t histograms;

/*
 * As in region_exact.c: if the kernel interrupted a START or STOP, the entry is flagged, and
 * the test is repeated.
 */
enum { TRIES = 200 };
static void configure(void)
{
	struct tach_regions_options opt = {
		.size = sizeof opt, .events = events, .histograms = histograms, .worst = "0"};
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
}

static void undisturbed(void (*test)(void))
{
	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	for (int i = 0; i < TRIES; i++) {
		usleep((useconds_t)(i % 10 * 777));
		flagged = 0;
		*wrong = 0;
		configure();
		test();
		if (!*wrong || !flagged)
			break;
	}
	CHECK(!*wrong, "%s, histograms %d: %s", events, (int)histograms, wrong);
}

#define SITE(name, fenced)                                                                     \
	static struct tach_site site_##name = TACH_SITE_INIT(#name, fenced, "");               \
	struct tach_region_mark mark_##name
#define BEGIN(name) tach__region_start(TACH_ADDRESS(site_##name), &mark_##name)
#define END(name)   tach__region_stop(&mark_##name)

/* ---- two ---- */

static __attribute__((noinline)) void two_once(void)
{
	SITE(a, 0);
	SITE(b, 0);

	BEGIN(a);
	LOOP(1000);
	BEGIN(b);
	LOOP(2000);
	END(a);
	LOOP(3000);
	END(b);
}

static void two(void)
{
	for (int n = 1; n <= 100; n += 99) {
		for (int i = n == 1 ? 0 : 1; i < n; i++)
			two_once();
		look();
		expect("a", n * (TAKES(1000) + TAKES(2000)), n * TAKES(1000));
		expect("b", n * (TAKES(2000) + TAKES(3000)), n * (TAKES(2000) + TAKES(3000)));
	}
}

/* ---- with other regions inside ---- */

static __attribute__((noinline)) void nested_once(void)
{
	SITE(e, 0);
	SITE(f, 1);
	SITE(g, 0);
	SITE(h, 1);

	BEGIN(e);
	LOOP(100);
	BEGIN(f);
	LOOP(200);
	BEGIN(g);
	LOOP(300);
	END(g);
	LOOP(400);
	END(e);
	LOOP(500);
	BEGIN(h);
	LOOP(600);
	END(h);
	LOOP(700);
	END(f);
}

static void nested(void)
{
	for (int i = 0; i < 100; i++)
		nested_once();
	look();
	expect("g", 100 * TAKES(300), 100 * TAKES(300));
	expect("h", 100 * TAKES(600), 100 * TAKES(600));
	is("e", TACH_PART_INCLUSIVE, 100 * (TAKES(100) + TAKES(200) + TAKES(300) + TAKES(400)));
	is("f", TACH_PART_INCLUSIVE,
	   100 * (TAKES(200) + TAKES(300) + TAKES(400) + TAKES(500) + TAKES(600) + TAKES(700)));
}

static __attribute__((noinline)) void around_once(void)
{
	SITE(outer, 0);
	SITE(i, 0);
	SITE(j, 0);
	SITE(k, 0);

	BEGIN(outer);
	LOOP(100);
	BEGIN(i);
	LOOP(1000);
	BEGIN(j);
	LOOP(3000);
	BEGIN(k);
	LOOP(50);
	END(k);
	END(i);
	LOOP(2000);
	END(j);
	LOOP(200);
	END(outer);
}

static void around(void)
{
	for (int n = 0; n < 100; n++)
		around_once();
	look();
	expect("outer",
	       100 * (TAKES(100) + TAKES(1000) + TAKES(3000) + TAKES(50) + TAKES(2000) +
		      TAKES(200)),
	       100 * (TAKES(100) + TAKES(200)));
	expect("i", 100 * (TAKES(1000) + TAKES(3000) + TAKES(50)), 100 * TAKES(1000));
	expect("j", 100 * (TAKES(3000) + TAKES(50) + TAKES(2000)),
	       100 * (TAKES(3000) + TAKES(2000)));
	expect("k", 100 * TAKES(50), 100 * TAKES(50));
}

/* The first entries of a new set, after regions overlapped with the previous set. */
static __attribute__((noinline)) void nested_anew(void)
{
	SITE(u, 0);
	SITE(v, 0);
	SITE(w, 1);

	BEGIN(u);
	LOOP(50);
	BEGIN(v);
	LOOP(30);
	BEGIN(w);
	LOOP(20);
	END(w);
	LOOP(10);
	END(v);
	LOOP(40);
	END(u);
}

static void anew(void)
{
	two_once();
	configure();
	nested_anew();
	look();
	expect("u", TAKES(50) + TAKES(30) + TAKES(20) + TAKES(10) + TAKES(40),
	       TAKES(50) + TAKES(40));
	expect("v", TAKES(30) + TAKES(20) + TAKES(10), TAKES(30) + TAKES(10));
	expect("w", TAKES(20), TAKES(20));
}

/* ---- three regions: the middle one and the first end before the last ---- */

static __attribute__((noinline)) void three_once(void)
{
	SITE(l, 0);
	SITE(m, 1);
	SITE(n, 0);

	BEGIN(l);
	LOOP(10);
	BEGIN(m);
	LOOP(20);
	BEGIN(n);
	LOOP(30);
	END(m);
	LOOP(40);
	END(l);
	LOOP(50);
	END(n);
}

/*
 * Each site appears once in a function: otherwise the compiler keeps its address with an
 * instruction that counts.
 */
static __attribute__((noinline)) void three_more(void)
{
	SITE(r, 0);
	SITE(s, 0);
	SITE(t, 1);

	BEGIN(r);
	LOOP(70);
	BEGIN(s);
	LOOP(80);
	BEGIN(t);
	LOOP(90);
	END(r);
	LOOP(100);
	END(s);
	LOOP(110);
	END(t);
}

static void three(void)
{
	for (int i = 0; i < 50; i++) {
		three_once();
		three_more();
	}
	look();
	is("l", TACH_PART_INCLUSIVE, 50 * (TAKES(10) + TAKES(20) + TAKES(30) + TAKES(40)));
	is("m", TACH_PART_INCLUSIVE, 50 * (TAKES(20) + TAKES(30)));
	expect("n", 50 * (TAKES(30) + TAKES(40) + TAKES(50)),
	       50 * (TAKES(30) + TAKES(40) + TAKES(50)));
	is("r", TACH_PART_INCLUSIVE, 50 * (TAKES(70) + TAKES(80) + TAKES(90)));
	is("s", TACH_PART_INCLUSIVE, 50 * (TAKES(80) + TAKES(90) + TAKES(100)));
	is("t", TACH_PART_INCLUSIVE, 50 * (TAKES(90) + TAKES(100) + TAKES(110)));
}

/* ---- of one site ---- */

static __attribute__((noinline)) void one_site_once(void)
{
	static struct tach_site site = TACH_SITE_INIT("request", 0, "");
	struct tach_region_mark mark[3];
	SITE(serve, 0);
	/*
	 * On arm64 each START computes the address again, as calibration does; x86 compilers
	 * keep it.
	 */
#if defined(__x86_64__)
	struct tach_site *at = TACH_ADDRESS(site);

	__asm__ volatile("" : "+r"(at));
#else
#define at TACH_ADDRESS(site)
#endif
	BEGIN(serve);
	LOOP(10);
	tach__region_start(at, &mark[2]);
	LOOP(20);
	tach__region_start(at, &mark[1]);
	LOOP(30);
	tach__region_start(at, &mark[0]);
	LOOP(40);
	tach__region_stop(&mark[1]);
	LOOP(50);
	tach__region_stop(&mark[2]);
	LOOP(60);
	tach__region_stop(&mark[0]);
	LOOP(70);
	END(serve);
}

/* The second entry is inside the first; the third continues after both, and is inside none. */
static void one_site(void)
{
	for (int i = 0; i < 50; i++)
		one_site_once();
	look();
	expect("request",
	       50 * (TAKES(20) + TAKES(30) + TAKES(40) + TAKES(50) + TAKES(40) + TAKES(50) +
		     TAKES(60)),
	       50 * (TAKES(20) + TAKES(30) + TAKES(40) + TAKES(50) + TAKES(60)));
	CHECK(find("request") >= 0 && info.calls == 150 && info.outermost == 100, "%d of %d",
	      (int)info.outermost, (int)info.calls);
	expect("serve",
	       50 * (TAKES(10) + TAKES(20) + TAKES(30) + TAKES(40) + TAKES(50) + TAKES(60) +
		     TAKES(70)),
	       50 * (TAKES(10) + TAKES(70)));
}

/* ---- long entries, which the kernel interrupts ---- */

static __attribute__((noinline)) void long_once(void)
{
	SITE(o, 0);
	SITE(p, 0);
	SITE(q, 0);

	BEGIN(o);
	LOOP(4000000);
	BEGIN(p);
	LOOP(4000000);
	BEGIN(q);
	LOOP(4000000);
	END(q);
	END(o);
	LOOP(4000000);
	END(p);
}

static void long_ones(void)
{
	long_once();
	look();
	is("o", TACH_PART_INCLUSIVE, 3 * TAKES(4000000));
	is("p", TACH_PART_INCLUSIVE, 3 * TAKES(4000000));
	expect("q", TAKES(4000000), TAKES(4000000));
}

/* ---- tasks ---- */

static void task_is(const char *what, const struct tach_task *task, int64_t want)
{
	double value = -1;
	int flags = tach_task_value(task, 1, &value);

	if (value != (double)want || (flags & ~TACH_FLAG_RESCHEDULED))
		snprintf(wrong + strlen(wrong), 100, "%s: %.0f, %+.0f, flags %x; ", what, value,
			 value - (double)want, (unsigned)flags);
}

/* A region stays open while the enclosing task waits, and when it continues. */
static __attribute__((noinline)) void kept_open_once(struct tach_task *task)
{
	SITE(kept, 0);

	__asm__ volatile("" : "+r"(task));
	TACH_TASK_BEGIN(task, work);
	LOOP(100);
	BEGIN(kept);
	LOOP(200);
	tach_task_suspend(task);
	LOOP(1000);
	tach_task_resume(task);
	LOOP(300);
	END(kept);
	LOOP(400);
	tach_task_end(task);
}

static void kept_open(void)
{
	static struct tach_task task;

	for (int i = 0; i < 20; i++)
		kept_open_once(&task);
	task_is("a task with a region that was left open", &task,
		TAKES(100) + TAKES(200) + TAKES(300) + TAKES(400));
	look();
	is("work", TACH_PART_INCLUSIVE,
	   20 * (TAKES(100) + TAKES(200) + TAKES(300) + TAKES(400)));
}

static __attribute__((noinline)) void two_tasks_once(struct tach_task *one,
						     struct tach_task *two)
{
	static struct tach_site site = TACH_SITE_INIT("of two", 0, "");

	__asm__ volatile("" : "+r"(one), "+r"(two));
	tach_task_begin(one, TACH_ADDRESS(site));
	LOOP(100);
	tach_task_begin(two, TACH_ADDRESS(site));
	LOOP(200);
	tach_task_suspend(one);
	LOOP(300);
	tach_task_suspend(two);
	LOOP(400);
	tach_task_resume(two);
	LOOP(500);
	tach_task_resume(one);
	LOOP(600);
	tach_task_suspend(two);
	LOOP(700);
	tach_task_suspend(one);
	tach_task_end(one);
	tach_task_end(two);
}

static void end_of(const struct tach_task *task, int64_t least, const char *what)
{
	double value = -1;
	int flags = tach_task_value(task, 1, &value);

	/* This compiler also inlined parts of the other task's calls. */
	if (value < (double)least - 20 || value > (double)least + 20 ||
	    (flags & ~TACH_FLAG_RESCHEDULED))
		snprintf(wrong + strlen(wrong), 100, "%s: %.0f, %+.0f, flags %x; ", what, value,
			 value - (double)least, (unsigned)flags);
}

static void two_tasks(void)
{
	static struct tach_task one, two;

	for (int i = 0; i < 20; i++)
		two_tasks_once(&one, &two);
	end_of(&one, TAKES(100) + TAKES(200) + TAKES(600) + TAKES(700), "the first");
	end_of(&two, TAKES(200) + TAKES(300) + TAKES(500) + TAKES(600), "the second");
	look();
	CHECK(find("of two") >= 0 && info.calls == 40 && info.lost == 0, "%d, %d lost",
	      (int)info.calls, (int)info.lost);
}

/* ---- many entries, so that the numbers of epochs run out ---- */

static __attribute__((noinline)) void chain_once(struct tach_region_mark *last,
						 struct tach_region_mark *next)
{
	static struct tach_site site = TACH_SITE_INIT("chain", 0, "");

	tach__region_start(TACH_ADDRESS(site), next);
	LOOP(10);
	tach__region_stop(last);
	LOOP(10);
}

static void chain(void)
{
	struct tach_region_mark mark[2] = {{0}, {0}};
	struct tach_value v = {0};
	double each;
	int links = 6000;

	for (int i = 0; i < links; i++)
		chain_once(&mark[(i + 1) & 1], &mark[i & 1]);
	tach__region_stop(&mark[(links + 1) & 1]);
	look();
	tach_snapshot_value(shot, find("chain"), 1, TACH_PART_INCLUSIVE, &v);
	each = (v.raw - v.overhead) / links;
	/* The loops, and the call between them. */
	CHECK(info.calls == (uint64_t)links && each > 3 * TAKES(10) &&
		      each < 3 * TAKES(10) + 60,
	      "%.2f an entry, of %d", each, (int)info.calls);
	CHECK(info.provenance[1] == 0, "%d", (int)info.provenance[1]);
}

static void all(void (*test)(void))
{
	static const struct {
		const char *events;
		uint32_t histograms;
	} sets[] = {{"instructions:u", 0},
		    {"instructions:u,cycles:u", 1},
		    {"instructions:u,cycles:u,branches:u,branch-misses:u", 0}};

	for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
		if (machine_is_arm64() && i == 2)
			continue;
		events = sets[i].events;
		histograms = sets[i].histograms;
		undisturbed(test);
	}
}

#define SHAPE(name)                                                                            \
	static void shape_##name(void)                                                         \
	{                                                                                      \
		all(name);                                                                     \
	}
SHAPE(two)
SHAPE(nested)
SHAPE(around)
SHAPE(anew)
SHAPE(three)
SHAPE(one_site)
SHAPE(long_ones)
SHAPE(kept_open)
SHAPE(two_tasks)
SHAPE(chain)

int main(void)
{
	CASE(shape_two);
	CASE(shape_nested);
	CASE(shape_around);
	CASE(shape_anew);
	CASE(shape_three);
	CASE(shape_one_site);
	CASE(shape_long_ones);
	CASE(shape_kept_open);
	CASE(shape_two_tasks);
	CASE(shape_chain);
	tach_snapshot_free(shot);
	return check_done();
}
