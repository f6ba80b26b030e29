/* SPDX-License-Identifier: MIT */
/*
 * Edges inside other regions block no signals after the thread is calibrated: entries that are
 * kept as the worst, tasks, and the regions around them. The test replaces the C library's
 * function, and counts its calls.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tests/unit/region/regions.h"

static int blocked;

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	blocked++;
	return syscall(SYS_rt_sigprocmask, how, set, before, 8L) ? 1 : 0;
}

enum { WARM = 3, ROUNDS = 40 };

static void begin(const char *worst, uint32_t histograms)
{
	struct tach_regions_options opt = {.size = sizeof opt,
					   .set = fake_set(2),
					   .histograms = histograms,
					   .worst = worst};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

/* Each entry is longer than the previous one. */
static void kept(int round)
{
	TACH_START(outer);
	TACH_START(between);
	TACH_START(inner);
	fake_count += (uint64_t)(100 * round);
	TACH_STOP(inner);
	TACH_STOP(between);
	TACH_STOP(outer);
}

static struct tach_task around, inside;

static void tasks(int round)
{
	TACH_START(serve);
	TACH_TASK_BEGIN(&around, around);
	TACH_TASK_BEGIN(&inside, inside);
	fake_count += (uint64_t)(100 * round);
	tach_task_suspend(&inside);
	tach_task_resume(&inside);
	tach_task_end(&inside);
	tach_task_end(&around);
	TACH_STOP(serve);
}

static void flat(int round)
{
	TACH_START_FLAT(flat);
	TACH_START(in_flat);
	tasks(round);
	TACH_STOP(in_flat);
	TACH_STOP(flat);
}

static void is_quiet(void (*work)(int round))
{
	int before;

	for (int i = 0; i < WARM; i++)
		work(i);
	before = blocked;
	for (int i = 0; i < ROUNDS; i++)
		work(WARM + i);
	CHECK(before > 0 && blocked == before, "%d", blocked - before);
}

static void in_each_setting(void (*work)(int round))
{
	begin("8:fake", 0);
	is_quiet(work);
	begin("3:fake", 1);
	is_quiet(work);
	begin("0", 0);
	is_quiet(work);
}

static void kept_entries(void)
{
	in_each_setting(kept);
}

static void tasks_in_regions_and_tasks(void)
{
	in_each_setting(tasks);
}

static void tasks_in_flat_regions(void)
{
	in_each_setting(flat);
}

/* A region stays open for longer than there are epochs. */
static void inside_a_long_region(void)
{
	begin("0", 0);
	tasks(0);
	{
		TACH_START(server);
		is_quiet(tasks);
		for (int i = 0; i < 5000; i++)
			tasks(i);
		is_quiet(tasks);
		TACH_STOP(server);
	}
}

int main(void)
{
	CASE(kept_entries);
	CASE(tasks_in_regions_and_tasks);
	CASE(tasks_in_flat_regions);
	CASE(inside_a_long_region);
	return check_done();
}
