/* SPDX-License-Identifier: MIT */
/*
 * Forks while another thread is amid something in the library: neither fork() nor the child
 * waits for it, and the child has its sites and begins with no counts.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <tach.h>
#include "core/os/clock.c"
#include "core/reader/open.h"
#include "core/region/region.h"
#include "tests/check.h"

/* Nobody spins: where a fork waits for ever all is still, which tests/run ends. */
static pthread_barrier_t inside, outside;

static void begin(void)
{
	struct tach_regions_options opt = {.events = ""};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

static void entered(void)
{
	TACH_SCOPE(entered);
}

/* The calls of that region; -1: there is none; -2: two have that name. */
static long calls(const char *name)
{
	struct tach_region_info info = {0};
	struct tach_snapshot *s;
	long found = -1;

	if (tach_snapshot_take(&s, NULL) != 0)
		return -3;
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		tach_snapshot_region(s, r, &info);
		if (strcmp(info.name, name) == 0)
			found = found == -1 ? (long)info.calls : -2;
	}
	tach_snapshot_free(s);
	return found;
}

static void *with_the_lock(void *unused_argument)
{
	struct tach__held held;

	tach__lock(&held);
	pthread_barrier_wait(&inside);
	pthread_barrier_wait(&outside);
	tach__unlock(&held);
	return unused_argument;
}

static void *opening_a_reader(void *unused_argument)
{
	tach__close_enter();
	pthread_barrier_wait(&inside);
	pthread_barrier_wait(&outside);
	tach__open_leave(NULL, 0); /* without having put anything into the list */
	return unused_argument;
}

static int child_measures(void)
{
	TACH_START(of_the_child);
	entered();
	TACH_STOP(of_the_child);
	entered();
	return calls("entered") != 2 || calls("of_the_child") != 1 || calls("before") != -1;
}

static void fork_beside(void *(*thread)(void *))
{
	int status = -1;
	pthread_t other;
	pid_t child;

	begin();
	entered();
	{
		TACH_SCOPE(before);
	}
	pthread_barrier_init(&inside, NULL, 2);
	pthread_barrier_init(&outside, NULL, 2);
	pthread_create(&other, NULL, thread, NULL);
	pthread_barrier_wait(&inside);
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(child_measures());
	waitpid(child, &status, 0);
	CHECK(status == 0, "%#x", (unsigned)status);
	pthread_barrier_wait(&outside);
	pthread_join(other, NULL);
	pthread_barrier_destroy(&inside);
	pthread_barrier_destroy(&outside);
	entered();
	CHECK(calls("entered") == 2 && calls("before") == 1, "%ld", calls("entered"));
}

static void beside_a_change(void)
{
	fork_beside(with_the_lock);
}

static void beside_an_opening(void)
{
	fork_beside(opening_a_reader);
}

/* A thread that ends frees its memory at once, or, if a snapshot walks, after that. */
static void *visitor(void *unused_argument)
{
	entered();
	return unused_argument;
}

static void ended_beside_a_walk(void)
{
	struct tach__held held;
	pthread_t other;
	long before;

	begin();
	before = calls("entered");
	CHECK(before == -1, "%ld", before);
	tach__lock(&held);
	tach__walk_begin();
	tach__unlock(&held);
	for (int i = 0; i < 3; i++) {
		pthread_create(&other, NULL, visitor, NULL);
		pthread_join(other, NULL);
	}
	CHECK(tach__registry.ended && tach__registry.ended->next, "none was kept");
	tach__walk_end();
	entered();
	pthread_create(&other, NULL, visitor, NULL);
	pthread_join(other, NULL);
	CHECK(!tach__registry.ended);
	CHECK(calls("entered") == 5, "%ld", calls("entered"));
}

/* A first look that a fork cut off: nobody waits for it. */
static void look_cut_off(void)
{
	double hz, error;

	if (tach_clock() == 0)
		SKIP("there is no clock to look at");
	state = 1;
	hz = measured_hz(20e6, &error);
	CHECK(hz > 1e6 && hz < 1e11 && error < 0.1, "%g", hz);
}

int main(void)
{
	CASE(beside_a_change);
	CASE(beside_an_opening);
	CASE(ended_beside_a_walk);
	CASE(look_cut_off);
	return check_done();
}
