/* SPDX-License-Identifier: MIT */
/*
 * Tasks. The counts of segments on several threads add up to the task's own sum and to its
 * region's. Histograms and worst entries contain whole tasks. Misuse causes no damage. The
 * simulated kernel counts scripted values.
 */
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "tests/unit/region/regions.h"

enum { PIECES = 6, PAGE = 4096 };

static struct tach_task task;
static uint64_t tag_inside;

static void begin(uint32_t histograms, const char *worst)
{
	struct tach_regions_options opt = {.size = sizeof opt,
					   .set = fake_set(2),
					   .histograms = histograms,
					   .worst = worst};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

static void leaf(int n)
{
	TACH_START(leaf);
	fake_count += (uint64_t)n;
	TACH_STOP(leaf);
}

static void *piece(void *n)
{
	tach_task_resume(&task);
	fake_count += 100;
	leaf((int)(intptr_t)n);
	tach_task_suspend(&task);
	return NULL;
}

static void *end(void *unused)
{
	tach_task_end(&task);
	return unused;
}

static void *suspend(void *unused)
{
	tach_task_suspend(&task);
	return unused;
}

static struct tach_site *its_site;

/* Suspends a task on a thread that has itself been at this place. */
static void *suspend_for_another(void *unused)
{
	static struct tach_task own;

	tach_task_begin(&own, its_site);
	fake_count += 4000;
	tach_task_end(&own);
	tach_task_suspend(&task);
	return unused;
}

/* Suspends a task while the thread runs another task, with a tag. */
static void *suspend_in_a_task(void *unused)
{
	static struct tach_task own;

	tach_tag(7);
	own.tag = 8;
	TACH_TASK_BEGIN(&own, third);
	tach_task_suspend(&task);
	leaf(300);
	tach_task_end(&own);
	return unused;
}

static __attribute__((noinline)) void run_a_task_and_leave(jmp_buf out)
{
	struct tach_task stacked = {0};

	TACH_TASK_BEGIN(&stacked, stacked);
	leaf(3);
	longjmp(out, 1);
}

static void run_on_another_thread(void *(*what)(void *), int n)
{
	pthread_t thread;

	pthread_create(&thread, NULL, what, (void *)(intptr_t)n);
	pthread_join(thread, NULL);
}

static int value_of(int quantity, double *v)
{
	*v = -1;
	return tach_task_value(&task, quantity, v);
}

static double self_of(const char *name, int quantity)
{
	struct tach_value v = {0};

	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, name) != 0)
			continue;
		tach_snapshot_value(shot, r, quantity, TACH_PART_SELF, &v);
		return v.value;
	}
	return -1;
}

/* The expected flags include those of read(2), because this kernel's pages cannot be read. */
static int lost(int flags)
{
	return (flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE)) != 0;
}

static void run(uint64_t number, int more)
{
	task.tag = number;
	TACH_TASK_BEGIN(&task, request);
	fake_count += 1000;
	tach_task_suspend(&task);
	for (int i = 0; i < PIECES; i++) {
		run_on_another_thread(piece, more);
		piece((void *)(intptr_t)more);
	}
}

static void adds_up(void)
{
	double v;

	begin(0, NULL);
	run(0, 10);
	CHECK(task.site->begin == tach__region_begin); /* the site has no fence */
	CHECK(!lost(value_of(1, &v)) && v == 1000 + 2 * PIECES * 110, "%g", v);
	tach_task_resume(&task);
	fake_count += 5;
	tach_task_end(&task);
	CHECK(!lost(value_of(1, &v)) && v == 1005 + 2 * PIECES * 110, "%g", v);
	CHECK(!lost(value_of(2, &v)) && v == 2 * (1005 + 2 * PIECES * 110), "%g", v);
	CHECK(value_of(0, &v) >= 0 && v > 0);
	/*
	 * The value has the same flag as its region's value: this kernel's pages cannot be
	 * read.
	 */
	CHECK(value_of(1, &v) & TACH_FLAG_SYSCALL);
	CHECK(value_of(3, &v) == TACH_ERR_NOTFOUND && value_of(-1, &v) == TACH_ERR_NOTFOUND);
	tach_task_end(&task);
	tach_task_suspend(&task);
	tach_task_resume(&task);
	CHECK(regions_look("request", 1) && value.value == 1005 + 2 * PIECES * 110, "%g",
	      value.value);
	CHECK(info.calls == 1 && info.outermost == 1 && info.lost == 0, "%d", (int)info.calls);
	CHECK(self_of("request", 1) == 1005 + 2 * PIECES * 100);
	/* The task has all of its own time, and no time of another task. */
	regions_find("request", 0);
	CHECK((value_of(0, &v) & TACH_FLAG_CLOCK) == (value.flags & TACH_FLAG_CLOCK),
	      "%#x, not %#x", value_of(0, &v), value.flags);
	CHECK(v >= 0.5 * value.value && v <= 2 * value.value, "%g, %g", v, value.value);
	CHECK(regions_look("leaf", 1) && info.calls == 2 * PIECES);
}

/* Rows of threads: segments count as calls of the thread that ran them, and add up. */
static void by_thread(void)
{
	struct tach_regions_options opt = {
		.size = sizeof opt, .set = fake_set(2), .by = "thread"};
	double sum = 0;
	uint64_t calls = 0;
	int rows = 0;

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	run(0, 10);
	tach_task_end(&task);
	regions_look("leaf", 1);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		struct tach_value v = {0};

		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.of, "request") != 0)
			continue;
		rows++;
		CHECK(info.calls > 0 && *info.thread);
		calls += info.calls;
		tach_snapshot_value(shot, r, 1, TACH_PART_INCLUSIVE, &v);
		sum += v.value;
	}
	CHECK(rows == 1 + PIECES, "%d", rows);
	CHECK(calls == 1 + 2 * PIECES && sum == 1000 + 2 * PIECES * 110, "%d: %g", (int)calls,
	      sum);
}

/* ---- whole tasks ---- */

static void whole_ones(void)
{
	static const int more[] = {10, 500, 40, 30};
	struct tach_worst w = {.size = sizeof w};
	struct tach_counts counts = {.size = sizeof counts};
	uint64_t begun = tach_clock();
	double took;
	int at = -1;

	begin(1, "2:fake");
	for (unsigned i = 0; i < sizeof more / sizeof *more; i++) {
		run(70 + i, more[i]);
		if (i % 2)
			run_on_another_thread(end, 0);
		else
			tach_task_end(&task);
	}
	CHECK(regions_look("request", 1) && info.calls == 4, "%d", (int)info.calls);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++)
		if (tach_snapshot_region(shot, r, &info) == 0 &&
		    strcmp(info.name, "request") == 0)
			at = r;
	CHECK(tach_snapshot_quantile(shot, at, 1, 1.0) >= 1000 + 2 * PIECES * 600);
	CHECK(tach_snapshot_quantile(shot, at, 1, 0.0) >= 1000 + 2 * PIECES * 100);
	CHECK(tach_snapshot_worst(shot, at, 0, &w) == 0 && w.tag == 71);
	CHECK(tach_snapshot_worst_value(shot, at, 0, 1) == 1000 + 2 * PIECES * 600);
	/*
	 * The clock shows at most the elapsed time: an earlier cost of the thread is subtracted
	 * only once. In ticks.
	 */
	tach_snapshot_counts(shot, &counts);
	took = tach_snapshot_worst_value(shot, at, 0, 0) * counts.clock_hz / 1e9;
	CHECK(took >= 0 && took < (double)(tach_clock() - begun), "%g", took);
	CHECK(tach_snapshot_worst(shot, at, 1, &w) == 0 && w.tag == 72);
	CHECK(tach_snapshot_worst(shot, at, 2, &w) != 0);
}

/* ---- one inside another ---- */

static void nested_tasks_of_one_region(void)
{
	static struct tach_task inner, innermost;
	static struct tach_site site = TACH_SITE_INIT("request", 0, "");
	double v;

	begin(0, NULL);
	tach_task_begin(&task, &site);
	fake_count += 7;
	tach_task_begin(&inner, &site);
	fake_count += 20;
	tach_task_end(&inner);
	CHECK(!lost(tach_task_value(&inner, 1, &v)) && v == 20, "%g", v);
	tach_task_begin(&inner, &site);
	tach_task_begin(&innermost, &site);
	fake_count += 300;
	tach_task_end(&innermost);
	CHECK(!lost(tach_task_value(&innermost, 1, &v)) && v == 300, "%g", v);
	tach_task_end(&inner);
	CHECK(tach_task_value(&inner, 1, &v) & TACH_FLAG_INCOMPLETE);
	tach_task_end(&task);
	CHECK(!lost(value_of(1, &v)) && v == 327, "%g", v);
	CHECK(regions_look("request", 1) && value.value == 327 && info.calls == 4);
}

/* ---- how a task affects other data ---- */

static void tags(void)
{
	begin(0, "4:fake");
	tach_tag(5);
	task.tag = 6;
	TACH_TASK_BEGIN(&task, tagged);
	leaf(50);
	tach_task_suspend(&task);
	leaf(60);
	tach_task_end(&task);
	CHECK(regions_look("leaf", 1));
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		struct tach_worst w = {.size = sizeof w};

		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, "leaf") != 0)
			continue;
		CHECK(tach_snapshot_worst(shot, r, 0, &w) == 0 && w.tag == 5);
		CHECK(tach_snapshot_worst(shot, r, 1, &w) == 0 && w.tag == 6);
		tag_inside++;
	}
	CHECK(tag_inside == 1);
	tach_tag(0);
}

/* Sparse mode and warm-up skip entries, but never tasks, because each task exists once. */
static void tasks_are_never_skipped(void)
{
	struct tach_regions_options opt = {.set = fake_set(1), .sparse = 1000, .warmup = 50};
	double v;

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	run(0, 10);
	tach_task_end(&task);
	CHECK(!lost(value_of(1, &v)) && v >= 1000 + 2 * PIECES * 110, "%g", v);
	CHECK(regions_look("request", 1) && info.calls == 1 && info.skipped == 0);
}

/* ---- misuse, and threads or sites that end in between ---- */

static void another_threads(void)
{
	static struct tach_site site = TACH_SITE_INIT("also at", 0, "");
	struct tach_counts counts = {0};
	double v;

	begin(0, NULL);
	TACH_TASK_BEGIN(&task, request);
	fake_count += 10;
	run_on_another_thread(suspend, 0);
	piece((void *)1);
	tach_task_end(&task);
	CHECK(value_of(1, &v) >= 0 && (value_of(1, &v) & TACH_FLAG_LOST));
	/* The next task is counted normally. */
	TACH_TASK_BEGIN(&task, request);
	fake_count += 10;
	tach_task_suspend(&task);
	piece((void *)1);
	tach_task_end(&task);
	CHECK(!lost(value_of(1, &v)) && v == 111, "%g", v);
	CHECK(regions_look("request", 1));
	tach_snapshot_counts(shot, &counts);
	CHECK(counts.refused == 1, "%d", (int)counts.refused);
	its_site = &site;
	tach_task_begin(&task, &site);
	fake_count += 500;
	tach_task_begin(&task, &site);
	fake_count += 10;
	run_on_another_thread(suspend_for_another, 0);
	CHECK(value_of(1, &v) >= 0 && (value_of(1, &v) & TACH_FLAG_LOST) && v == 0, "%g", v);
	tach_task_end(&task);
}

static struct tach_region_mark mark;

static void *end_region(void *unused)
{
	tach_region_end(&mark);
	return unused;
}

static void a_region_left_open(void)
{
	static struct tach_site site = TACH_SITE_INIT("left", 0, "");
	double v;

	begin(0, NULL);
	TACH_TASK_BEGIN(&task, request);
	tach_region_begin(&site, &mark);
	fake_count += 10;
	tach_task_suspend(&task);
	run_on_another_thread(end_region, 0);
	piece((void *)1);
	tach_task_end(&task);
	CHECK(value_of(1, &v) >= 0 && v >= 111, "%g", v);
	CHECK(regions_look("left", 1) && info.calls == 0 && info.lost == 1);
}

static void not_for_tasks(void)
{
	static struct tach_site site = TACH_SITE_INIT("of_a_region", 0, "");

	begin(0, NULL);
	tach_region_begin(&site, &mark);
	tach_region_end(&mark);
	tach_task_begin(&task, &site);
	fake_count += 10;
	tach_task_end(&task);
	tach_task_begin(&task, NULL);
	tach_task_end(&task);
	CHECK(regions_look("of_a_region", 1) && info.calls == 1);
}

static void set_changes_during_a_task(void)
{
	double v;

	begin(0, NULL);
	TACH_TASK_BEGIN(&task, request);
	fake_count += 10;
	tach_task_suspend(&task);
	begin(0, NULL);
	piece((void *)1);
	tach_task_end(&task);
	CHECK(value_of(1, &v) & TACH_FLAG_LOST);
	CHECK(v == 10, "%g", v);
	/* The counts from the second set are in that set's row. */
	CHECK(regions_look("request", 1) && info.calls == 1 && value.value == 101, "%g",
	      value.value);
	tach_regions_disable();
	TACH_TASK_BEGIN(&task, request);
	tach_task_suspend(&task);
	tach_task_resume(&task);
	tach_task_end(&task);
	begin(0, NULL);
	CHECK(!regions_look("request", 1));
}

static int child(void)
{
	double v;

	check__failed = 0;
	fake_count += 1000;
	tach_task_suspend(&task);
	piece((void *)1);
	tach_task_end(&task);
	CHECK(value_of(1, &v) & TACH_FLAG_LOST);
	CHECK(v == 120 + 101, "%g", v);
	CHECK(regions_look("request", 1) && info.calls == 1 && value.value == 101, "%g",
	      value.value);
	return check__failed;
}

/* ---- rows by task ---- */

static void begin_by(const char *by)
{
	struct tach_regions_options opt = {.set = fake_set(1), .by = by};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

/* The site lies in pages that can be unmapped, as in an unloaded library. */
static struct tach_site *site_in_pages(void)
{
	static const struct tach_site site = TACH_SITE_INIT(NULL, 0, "");
	char *page =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	memcpy(page, &site, sizeof site);
	strcpy(page + PAGE / 2, "unloaded");
	((struct tach_site *)(void *)page)->name = page + PAGE / 2;
	return (struct tach_site *)(void *)page;
}

/* A task ends on another thread, and its site is unmapped while the first thread runs it. */
static void a_site_that_is_gone(void)
{
	struct tach_site *site = site_in_pages();

	begin_by("task");
	leaf(1);
	tach_task_begin(&task, site);
	leaf(2);
	run_on_another_thread(end, 0);
	munmap(site, PAGE);
	tach_tag(5);
	leaf(30);
	tach_tag(0);
	leaf(400);
	CHECK(regions_look("unloaded > leaf", 1) && value.value == 2, "%g", value.value);
	CHECK(regions_look("leaf", 1) && value.value == 431, "%g", value.value);
}

/* Code that ends a task of another thread continues with its own tag and task. */
static void another_threads_rows(void)
{
	static struct tach_task own;

	begin_by("task,tag");
	tach_tag(5);
	TACH_TASK_BEGIN(&task, request);
	TACH_TASK_BEGIN(&own, other);
	run_on_another_thread(suspend_in_a_task, 0);
	leaf(1);
	tach_task_end(&own);
	tach_tag(6);
	leaf(20);
	tach_tag(0);
	CHECK(regions_look("other > leaf", 1) && value.value == 1, "%g", value.value);
	CHECK(regions_find("third > leaf [tag 0x8]", 1) && value.value == 300, "%g",
	      value.value);
	CHECK(regions_find("leaf [tag 0x6]", 1) && value.value == 20, "%g", value.value);
}

/* A task's segment is left by longjmp: later counts do not belong to the task. */
static void left_by_longjmp(void)
{
	static jmp_buf out;
	struct tach_region_mark marks[2];
	static struct tach_site region = TACH_SITE_INIT("around", 0, "");

	begin_by("task");
	tach_region_begin(&region, &marks[0]);
	if (setjmp(out) == 0)
		run_a_task_and_leave(out);
	tach_region_end(&marks[0]);
	leaf(20);
	CHECK(regions_look("leaf", 1) && value.value == 20, "%g", value.value);
	CHECK(regions_look("stacked > leaf", 1) && value.value == 3, "%g", value.value);
}

static void a_fork(void)
{
	double v;
	pid_t pid;
	int status = -1;

	begin(0, NULL);
	TACH_TASK_BEGIN(&task, request);
	fake_count += 120;
	tach_task_suspend(&task);
	tach_task_resume(&task);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		status = child();
		fflush(stdout);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "%x", (unsigned)status);
	fake_count += 4;
	tach_task_end(&task);
	CHECK(!lost(value_of(1, &v)) && v == 124, "%g", v);
}

int main(void)
{
	CASE(adds_up);
	CASE(by_thread);
	CASE(whole_ones);
	CASE(nested_tasks_of_one_region);
	CASE(tags);
	CASE(tasks_are_never_skipped);
	CASE(another_threads);
	CASE(a_region_left_open);
	CASE(not_for_tasks);
	CASE(set_changes_during_a_task);
	CASE(a_site_that_is_gone);
	CASE(another_threads_rows);
	CASE(left_by_longjmp);
	CASE(a_fork);
	return check_done();
}
