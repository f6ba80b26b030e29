/* SPDX-License-Identifier: MIT */
/*
 * Regions with names computed at run time: identified by content, not by address; used by many
 * threads at once; switched off and filtered like others; limited, with a note.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include "tests/unit/region/regions.h"

static int asked;

static const char *name_of(char *buffer, const char *stem, int n)
{
	asked++;
	sprintf(buffer, "%s %d", stem, n);
	return buffer;
}

static void work(const char *stem, int n)
{
	char buffer[400];

	TACH_START_NAMED(name_of(buffer, stem, n));
	fake_count += (uint64_t)n;
	/* The library has a copy of the name. */
	memset(buffer, 'x', sizeof buffer);
	TACH_STOP_NAMED();
	fake_count += 1000;
}

static double counted(const char *name)
{
	return regions_look(name, 1) ? value.value : -1;
}

static void disabled_names_cost_no_look_up(void)
{
	work("early", 1);
	asked = 0;
	work("early", 1);
	CHECK(asked == 0);
	regions_begin(1);
	tach_regions_disable();
	work("early", 1);
	CHECK(asked == 0 && !regions_look("early 1", 0));
}

static void by_content(void)
{
	regions_begin(1);
	asked = 0;
	for (int i = 0; i < 300; i++)
		work("key", 1 + i % 3);
	CHECK(counted("key 1") == 100 && info.calls == 100, "%g", value.value);
	CHECK(counted("key 2") == 200 && counted("key 3") == 300 && info.calls == 100);
	CHECK(asked == 300);
	{
		TACH_SCOPE_NAMED("key 3");
		{
			TACH_SCOPE_NAMED("key 2");
			fake_count += 7;
		}
	}
	CHECK(counted("key 3") == 307 && counted("key 2") == 207, "%g", value.value);
	CHECK(!regions_look("TACH_START_NAMED", 0));
	/* The function with this name finds the same region. */
	for (int i = 0; i < 2; i++) {
		struct tach_region_mark mark = TACH_REGION_MARK_INIT;

		tach_region_begin(tach_site_get("key 1"), &mark);
		tach_region_end(&mark);
	}
	CHECK(counted("key 1") == 100 && info.calls == 102);
}

static void lengths(void)
{
	char name[4096];

	regions_begin(1);
	for (size_t n = 0; n <= 40; n++) {
		memset(name, 'a', n);
		name[n] = '\0';
		for (int last = 0; last < 2; last++) {
			TACH_START_NAMED(name);
			fake_count += n;
			TACH_STOP_NAMED();
			if (n)
				name[n - 1] = 'b';
		}
		CHECK(counted(name) == (double)(n ? n : 0) && info.calls == (n ? 1 : 2));
		if (n)
			name[0]++;
	}
	memset(name, 'z', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	{
		TACH_SCOPE_NAMED(name);
	}
	CHECK(regions_look(name, 0));
	{
		TACH_SCOPE_NAMED((const char *)NULL);
	}
}

static void filtered(void)
{
	struct tach_regions_options opt = {.set = fake_set(1), .only = "key 1,other*"};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	work("key", 1);
	work("key", 2);
	CHECK(counted("key 1") == 1 && !regions_look("key 2", 0));
}

/* ---- many at once ---- */

enum { THREADS = 4, NAMES = 200 };

static void *all_names(void *unused)
{
	for (int i = 0; i < 10 * NAMES / REGIONS_LESS; i++) {
		char buffer[64];

		TACH_START_NAMED((sprintf(buffer, "at once %d", i % NAMES), buffer));
		TACH_STOP_NAMED();
	}
	return unused;
}

static void at_once(void)
{
	pthread_t thread[THREADS];
	uint64_t calls = 0;
	int regions = 0;

	regions_begin(0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, all_names, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK(regions_look("at once 0", 0));
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strncmp(info.name, "at once", 7) == 0) {
			calls += info.calls;
			regions++;
		}
	}
	CHECK(calls == THREADS * (uint64_t)(10 * NAMES / REGIONS_LESS));
	CHECK(regions ==
		      (10 * NAMES / REGIONS_LESS < NAMES ? 10 * NAMES / REGIONS_LESS : NAMES),
	      "%d", regions);
}

static void handler(int number)
{
	static int n;

	(void)number;
	if (n < NAMES)
		work("handled", n++);
}

/* A handler creates new names while the program does the same. */
static void from_handlers(void)
{
	struct sigaction action = {.sa_handler = handler};
	sigset_t set;

	regions_begin(1);
	sigemptyset(&set);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < NAMES; i++) {
		raise(SIGUSR1);
		work("around", i);
	}
	CHECK(counted("handled 199") == 199 && counted("around 199") == 199);
}

static void in_children(void)
{
	int status = -1;
	pid_t child;

	regions_begin(1);
	work("parent", 5);
	child = fork();
	if (child == 0) {
		work("child", 9);
		work("parent", 6);
		_exit(counted("child 9") == 9 && counted("parent 6") == 6 &&
				      !regions_look("parent 5", 0)
			      ? 0
			      : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0, "%d", status);
}

/* This is the last case, because it fills the table for the rest of the process. */
static void bounded(void)
{
	struct tach_counts counts = {.size = sizeof counts};
	int others = 0;

	regions_begin(1);
	CHECK(strstr(regions_look("", 0) ? "" : tach_snapshot_missing(shot), "names") == NULL);
	for (int i = 0; i < TACH_NAMES_MAX + 100; i++)
		work("bounded", i);
	CHECK(regions_look(TACH_NAMES_OTHER, 1) && info.calls >= 100, "%d", (int)info.calls);
	others = (int)info.calls;
	CHECK(strstr(tach_snapshot_missing(shot), "more than 2000 names") != NULL, "%s",
	      tach_snapshot_missing(shot));
	CHECK(counted("bounded 7") == 7 && !regions_look("bounded 2099", 0));
	work("bounded", 7);
	work("yet another", 7);
	CHECK(counted("bounded 7") == 14 && !regions_look("yet another 7", 0));
	CHECK(regions_look(TACH_NAMES_OTHER, 1) && (int)info.calls == others + 1);
	tach_snapshot_counts(shot, &counts);
	CHECK(counts.lost == 0);
}

int main(void)
{
	CASE(disabled_names_cost_no_look_up);
	CASE(by_content);
	CASE(lengths);
	CASE(filtered);
	CASE(at_once);
	CASE(from_handlers);
	CASE(in_children);
	CASE(bounded);
	return check_done();
}
