/* SPDX-License-Identifier: MIT */
/*
 * Reports say once that counts are of the calling thread only, if threads without a region were
 * busy while regions were open; not in programs with one thread, with regions or helpers in all
 * threads, or with regions that are seldom open. Each case is a process of its own.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/region/regions.h"

static const char said[] = "counts are of the calling thread only: threads without a region "
			   "were busy meanwhile (tach_team(3))";

static struct tach_team team;

/* Uses the processor; how long that takes does not matter. */
static void spin(int ms)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

static void *without(void *ms)
{
	spin((int)(intptr_t)ms);
	return NULL;
}

static void *with_region(void *ms)
{
	TACH_SCOPE(own);
	spin((int)(intptr_t)ms);
	return NULL;
}

static void *with_team(void *ms)
{
	struct tach_help help;

	tach_team_join(&team, &help);
	spin((int)(intptr_t)ms);
	tach_team_leave(&help);
	return NULL;
}

static void run_on_another_thread(void *(*what)(void *), int ms)
{
	pthread_t thread;

	pthread_create(&thread, NULL, what, (void *)(intptr_t)ms);
	pthread_join(thread, NULL);
}

static void around(void *(*what)(void *), int ms)
{
	TACH_SCOPE(around);
	tach_team_take(&team);
	run_on_another_thread(what, ms);
}

static int is_said(void)
{
	const char *note, *at;

	regions_look("around", 0);
	note = tach_snapshot_missing(shot);
	at = strstr(note, said);
	CHECK(!at || !strstr(at + 1, said), "%s", note);
	return at != NULL;
}

/* The longer a region is open, the less of the time is outside. */
static int soon_said(void *(*what)(void *))
{
	for (int tries = 0; tries < 30; tries++) {
		around(what, 30);
		if (is_said())
			return 1;
	}
	return 0;
}

static void in_child(int (*says)(void), int want)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		regions_begin(0);
		_exit(says());
	}
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == want, "%#x", status);
}

static int busy_says(void)
{
	return soon_said(without);
}

static void busy(void)
{
	in_child(busy_says, 1);
}

/* Its processor time from before the first region, and a thread's that ended before. */
static int earlier_says(void)
{
	spin(60);
	run_on_another_thread(without, 60);
	around(without, 0);
	spin(1);
	around(with_region, 0);
	return is_said();
}

static int alone_says(void)
{
	for (int i = 0; i < 3; i++) {
		TACH_SCOPE(around);
		spin(30);
	}
	return is_said();
}

static void one_thread(void)
{
	in_child(alone_says, 0);
	in_child(earlier_says, 0);
}

static int regions_say(void)
{
	for (int i = 0; i < 4; i++)
		around(with_region, 30);
	return is_said();
}

static void regions_in_all(void)
{
	in_child(regions_say, 0);
}

static int helpers_say(void)
{
	for (int i = 0; i < 4; i++) {
		around(with_team, 30);
		around(without, 30);
	}
	return is_said();
}

static void helpers(void)
{
	in_child(helpers_say, 0);
}

static int seldom_says(void)
{
	around(with_region, 0);
	for (int i = 0; i < 4; i++)
		run_on_another_thread(without, 60);
	return is_said();
}

static void seldom_open(void)
{
	in_child(seldom_says, 0);
}

int main(void)
{
	CASE(busy);
	CASE(one_thread);
	CASE(regions_in_all);
	CASE(helpers);
	CASE(seldom_open);
	return check_done();
}
