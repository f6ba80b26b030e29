/* SPDX-License-Identifier: MIT */
/*
 * Forks while another thread is inside the library: neither fork() nor the child waits for that
 * thread, and the child has its sites and starts without counts.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tach.h>
#include "core/os/clock.c"
#include "core/reader/open.h"
#include "core/region/region.h"
#include "tests/check.h"

/*
 * No thread spins: if a fork waits forever, every thread is blocked, and tests/run ends the
 * test.
 */
static pthread_barrier_t inside, outside;

static __thread int pausing; /* the thread stops after its next munmap */

static void pause_here(void)
{
	pthread_barrier_wait(&inside);
	pthread_barrier_wait(&outside);
}

/* Unmapped memory is not reused, so a late access crashes. */
int munmap(void *at, size_t size)
{
	if (!pausing)
		return (int)syscall(SYS_munmap, at, size);
	pausing = 0;
	mprotect(at, size, PROT_NONE);
	pause_here();
	return 0;
}

static void begin(void)
{
	struct tach_regions_options opt = {.events = ""};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

static void entered(void)
{
	TACH_SCOPE(entered);
}

/* Returns the calls of that region; -1: not found; -2: two regions have that name. */
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
	pause_here();
	tach__unlock(&held);
	return unused_argument;
}

static void *opening_a_reader(void *unused_argument)
{
	tach__close_enter();
	pause_here();
	tach__open_leave(NULL, 0); /* the list stays unchanged */
	return unused_argument;
}

/* Enters n regions, one inside the other. */
static void enter_many(int n)
{
	struct tach_region_mark mark = TACH_REGION_MARK_INIT;
	char name[16];

	snprintf(name, sizeof name, "%d", n);
	tach_region_begin(tach_site_get(name), &mark);
	if (n > 1)
		enter_many(n - 1);
	tach_region_end(&mark);
}

static void *nesting(void *unused_argument)
{
	enter_many(2);
	return unused_argument;
}

/*
 * When the thread ends, the totals grow: it stops after the old pages are unmapped. The totals
 * have pages, because another thread ended before.
 */
static void *growing_the_totals(void *unused_argument)
{
	pthread_t earlier;

	pthread_create(&earlier, NULL, nesting, NULL);
	pthread_join(earlier, NULL);
	enter_many(100);
	pausing = 1;
	return unused_argument;
}

/* The log of a thread's slow paths grows, inside a region. */
static void *growing_its_log(void *unused_argument)
{
	enter_many(1);
	pausing = 1;
	enter_many(1000);
	CHECK(!pausing);
	return unused_argument;
}

/* The child measures in two threads, which use the memory of the parent's threads. */
static int child_measures(void)
{
	pthread_t other;

	TACH_START(of_the_child);
	entered();
	TACH_STOP(of_the_child);
#ifdef __SANITIZE_THREAD__ /* ThreadSanitizer permits no threads in a child of this process */
	(void)other;
	nesting(NULL);
#else
	pthread_create(&other, NULL, nesting, NULL);
	pthread_join(other, NULL);
#endif
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

static void beside_growing_totals(void)
{
	fork_beside(growing_the_totals);
}

static void beside_a_growing_log(void)
{
	fork_beside(growing_its_log);
}

static struct tach_set *clock_set(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	opt.events = "";
	CHECK(tach_set_create(&opt, &set, NULL) == 0);
	return set;
}

static int child_opens(const struct tach_set *set, struct tach_reader *parents)
{
	struct tach_reader *own[2];

	tach_reader_close(parents);
	for (int i = 0; i < 2; i++)
		if (tach_reader_open(set, &own[i], NULL) != 0)
			return 1;
	for (int i = 0; i < 2; i++)
		tach_reader_close(own[i]);
	return 0;
}

/* Another thread is adding its reader to the list, or removing it. */
static void fork_during_a_list_change(void)
{
	struct tach_set *set = clock_set();
	struct tach_reader *reader;
	struct tach__reader *elsewhere = NULL, **link;
	int status = -1;
	pid_t child;

	if (!set || tach_reader_open(set, &reader, NULL) != 0)
		return;
	link = tach__reader(reader)->link;
	tach__reader(reader)->link = &elsewhere;
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(child_opens(set, reader));
	waitpid(child, &status, 0);
	CHECK(status == 0, "%#x", (unsigned)status);
	tach__reader(reader)->link = link;
	tach_reader_close(reader);
	tach_set_free(set);
}

/*
 * A thread that ends frees its memory immediately, or after the walk if a snapshot is walking.
 */
static void *visitor(void *unused_argument)
{
	entered();
	return unused_argument;
}

static void thread_ends_during_a_walk(void)
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

/* A fork interrupted the first read of the clock: no thread waits for it. */
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
	CASE(beside_growing_totals);
	CASE(beside_a_growing_log);
	CASE(fork_during_a_list_change);
	CASE(thread_ends_during_a_walk);
	CASE(look_cut_off);
	return check_done();
}
