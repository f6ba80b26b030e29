/* SPDX-License-Identifier: MIT */
/*
 * Tasks count exactly: the loops of a task that is divided among threads are in the sums of the
 * task and its region, and nested regions have their own part, exact to one instruction. So do
 * helpers (tach/team.h), for each region that the owner of the team had open.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/guest/known_loop.h"
#include "tests/guest/machine.h"

enum { OWN = 5000, INNER = 3000, PIECES = 5, TASKS = 8, THREADS = 3 };

static struct tach_snapshot *shot;
static struct tach_region_info info;
static int flagged; /* rows with an entry that was rescheduled */

static double sum(const char *name, enum tach_part part)
{
	struct tach_value v = {0};

	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, name) != 0)
			continue;
		tach_snapshot_value(shot, r, 1, part, &v);
		flagged += info.provenance[0] != 0;
		return v.raw - v.overhead;
	}
	return -1;
}

static int begin(const char *events, uint32_t histograms)
{
	/*
	 * No worst entries are kept, because keeping them adds instructions to the enclosing
	 * code.
	 */
	struct tach_regions_options opt = {
		.size = sizeof opt, .events = events, .histograms = histograms, .worst = "0"};
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach_regions_configure(&opt, &err);

	CHECK(code == 0, "%s", err.text);
	return code;
}

static void look(void)
{
	tach_snapshot_free(shot);
	shot = NULL;
	CHECK(tach_snapshot_take(&shot, NULL) == 0);
}

/*
 * The kernel may interrupt the instructions in which an edge reads its counters. Such an entry
 * is read again and flagged: then everything is repeated at another time.
 */
enum { TRIES = 200 };
static char wrong[256];

static void is(const char *what, double got, int64_t want)
{
	if (got != (double)want && !*wrong)
		snprintf(wrong, sizeof wrong, "%s: %" PRId64 ", %+" PRId64, what, (int64_t)got,
			 (int64_t)got - want);
}

static void undisturbed(void (*test)(void))
{
	for (int i = 0; i < TRIES; i++) {
		usleep((useconds_t)(i % 10 * 777));
		flagged = 0;
		*wrong = 0;
		test();
		if (!*wrong || !flagged)
			break;
	}
	CHECK(!*wrong, "%s", wrong);
}

/* ---- one task, with each segment on its own thread ---- */

static __attribute__((noinline)) void piece(struct tach_task *task)
{
	tach_task_resume(task);
	LOOP(OWN);
	TACH_START(inside);
	LOOP(INNER);
	TACH_STOP(inside);
	tach_task_suspend(task);
}

static void *piece_on_thread(void *task)
{
	piece(task);
	return NULL;
}

/* Passed by pointer: arm64 needs two instructions for the address of a static object. */
static __attribute__((noinline)) void cut(struct tach_task *task, int last_elsewhere)
{
	pthread_t thread;

	__asm__ volatile("" : "+r"(task));
	TACH_TASK_BEGIN(task, request);
	LOOP(OWN);
	tach_task_suspend(task);
	for (int i = 0; i < PIECES; i++) {
		pthread_create(&thread, NULL, piece_on_thread, task);
		pthread_join(thread, NULL);
		piece(task);
	}
	if (last_elsewhere) {
		tach_task_resume(task);
		LOOP(OWN);
	}
	tach_task_end(task);
}

static void check_cut(const char *events, uint32_t histograms)
{
	static struct tach_task task;
	int64_t inner = 2 * PIECES * TAKES(INNER);
	int64_t own = (2 * PIECES + 1 + !histograms) * TAKES(OWN);
	double value = -1;
	int flags;

	if (begin(events, histograms))
		return;
	cut(&task, !histograms);
	flags = tach_task_value(&task, 1, &value);
	CHECK(flags >= 0);
	flagged += flags != 0;
	is(events, value, own + inner);
	look();
	is("self", sum("request", TACH_PART_SELF), own);
	CHECK(info.calls == 1 && info.outermost == 1, "%d", (int)info.calls);
	is("inclusive", sum("request", TACH_PART_INCLUSIVE), own + inner);
	is("inside", sum("inside", TACH_PART_INCLUSIVE), inner);
	CHECK(info.calls == 2 * PIECES);
}

static void cut_one_counter(void)
{
	check_cut("instructions", 0);
}

static void cut_two_counters(void)
{
	check_cut("instructions, cycles", 0);
}

static void cut_with_histograms(void)
{
	check_cut("instructions, cycles", 1);
}

/* ---- tasks passed between threads ---- */

static struct tach_task tasks[TASKS];
static int done[TASKS], busy[TASKS], left;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int take(void)
{
	int at = -1;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < TASKS && at < 0; i++)
		if (!busy[i] && done[i] <= done[(i + 1) % TASKS] && done[i] < PIECES)
			at = i;
	for (int i = 0; i < TASKS && at < 0; i++)
		if (!busy[i] && done[i] < PIECES)
			at = i;
	if (at >= 0)
		busy[at] = 1;
	pthread_mutex_unlock(&lock);
	return at;
}

static void put(int at)
{
	pthread_mutex_lock(&lock);
	busy[at] = 0;
	if (++done[at] == PIECES)
		left--;
	pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
	int at;

	while (__atomic_load_n(&left, __ATOMIC_RELAXED)) {
		at = take();
		if (at < 0) {
			sched_yield();
			continue;
		}
		piece(&tasks[at]);
		put(at);
	}
	return unused;
}

static void handed(void)
{
	pthread_t thread[THREADS];
	double value;

	if (begin("instructions", 0))
		return;
	left = TASKS;
	memset(done, 0, sizeof done);
	for (int i = 0; i < TASKS; i++) {
		TACH_TASK_BEGIN(&tasks[i], pooled);
		tach_task_suspend(&tasks[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < TASKS; i++) {
		tach_task_end(&tasks[i]);
		flagged += tach_task_value(&tasks[i], 1, &value) != 0;
		is("task of the pool", value, PIECES * (TAKES(OWN) + TAKES(INNER)));
	}
	look();
	is("pool, self", sum("pooled", TACH_PART_SELF), TASKS * PIECES * TAKES(OWN));
	CHECK(info.calls == TASKS, "%d", (int)info.calls);
}

/* ---- threads that work for the regions of another thread ---- */

static struct tach_team team;

/* The numbers of iterations are constants, because the loop's size must not vary. */
static __attribute__((noinline)) void help_a_little(void)
{
	struct tach_help help;

	tach_team_join(&team, &help);
	LOOP(OWN);
	tach_team_leave(&help);
}

static void *help_much(void *unused)
{
	struct tach_help help;

	help_a_little();
	tach_team_join(&team, &help);
	LOOP(INNER);
	TACH_START(inside);
	LOOP(OWN);
	TACH_STOP(inside);
	tach_team_leave(&help);
	return unused;
}

static void own_team(void)
{
	pthread_t thread[THREADS];

	TACH_START(outer);
	TACH_START(middle);
	TACH_START(inner);
	CHECK(tach_team_take(&team) == 3);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, help_much, NULL);
	help_a_little(); /* counts as the owner's */
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	TACH_STOP(inner);
	TACH_STOP(middle);
	TACH_STOP(outer);
}

static void check_helpers(const char *events)
{
	static const char *const names[] = {"outer", "middle", "inner"};
	int64_t own = TAKES(OWN) + TAKES(INNER), all = own + TAKES(OWN);
	char helpers[32], with[32];

	if (begin(events, 0))
		return;
	own_team();
	look();
	for (int i = 0; i < 3; i++) {
		snprintf(helpers, sizeof helpers, "%s [helpers]", names[i]);
		snprintf(with, sizeof with, "%s [with team]", names[i]);
		is(helpers, sum(helpers, TACH_PART_INCLUSIVE), THREADS * all);
		CHECK(info.calls == 2 * THREADS && info.threads == THREADS, "%d, %d",
		      (int)info.calls, (int)info.threads);
		is("self", sum(helpers, TACH_PART_SELF), i == 2 ? THREADS * own : 0);
		is(with, sum(with, TACH_PART_INCLUSIVE),
		   (int64_t)sum(names[i], TACH_PART_INCLUSIVE) + THREADS * all);
	}
	is("inside", sum("inside", TACH_PART_INCLUSIVE), THREADS * TAKES(OWN));
}

static void helpers_one_counter(void)
{
	check_helpers("instructions");
}

static void helpers_two_counters(void)
{
	check_helpers("instructions, cycles");
}

static void helpers(void)
{
	undisturbed(helpers_one_counter);
	undisturbed(helpers_two_counters);
}

static void one_counter(void)
{
	undisturbed(cut_one_counter);
}

static void two_counters(void)
{
	undisturbed(cut_two_counters);
}

static void with_histograms(void)
{
	undisturbed(cut_with_histograms);
}

static void pool(void)
{
	undisturbed(handed);
}

int main(void)
{
	if (!machine_is_exact()) {
		puts("instruction counts are not exact on this machine");
		return 77;
	}
	CASE(one_counter);
	CASE(two_counters);
	CASE(with_histograms);
	CASE(pool);
	CASE(helpers);
	tach_snapshot_free(shot);
	return check_done();
}
