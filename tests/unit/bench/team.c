/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks on several threads, each with a scripted clock and scripted counters: values that
 * are summed, values per thread, and threads that cannot count or start.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "core/bench/team.h"
#include "tests/check.h"
#include "tests/results.h"
#include "tests/unit/region/fakekernel.h"

enum { THREADS = 4, LOOKS = 101 };

/* ---- a clock for each thread ---- */

/*
 * For one sample: the start of each thread, and the time of an iteration of both loops, in ns.
 */
static const uint64_t begins[THREADS] = {5, 0, 9, 2}, takes[THREADS] = {10, 11, 30, 20};
static uint64_t began[THREADS], took[THREADS];
static int ran[THREADS]; /* iterations run since the loop last read the clock */
static int looks; /* readings by any thread; the first ones find the clock's step: 16 ns */
static int threads_failing = -1, created, joined;

#pragma GCC visibility push(default)
int clock_gettime(clockid_t which, struct timespec *t)
{
	unsigned me = tach_bench_thread();
	int look;

	t->tv_sec = which != CLOCK_MONOTONIC;
	look = __atomic_fetch_add(&looks, 1, __ATOMIC_RELAXED);
	if (look < LOOKS) {
		t->tv_nsec = 16 * (look + 1);
		return 0;
	}
	if (!ran[me])
		began[me] += 100000;
	t->tv_nsec = (long)(began[me] + begins[me] + (ran[me] ? took[me] : 0));
	ran[me] = 0;
	return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
		   void *context)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	if (created == threads_failing)
		return EAGAIN;
	created++;
	return real(thread, attr, start, context);
}

int pthread_join(pthread_t thread, void **result)
{
	int (*real)(pthread_t, void **);

	*(void **)&real = dlsym(RTLD_NEXT, "pthread_join");
	joined++;
	return real(thread, result);
}
#pragma GCC visibility pop

/* ---- loops ---- */

static uint64_t mine, others;
static pthread_barrier_t meeting;
static int open_fails = -1; /* of which thread */
static unsigned strangers, masked;

static long sys_of_threads(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_perf_event_open && (int)tach_bench_thread() == open_fails)
		return -ENOSPC;
	return fake_sys(number, a, b, c, d, e, f);
}

/*
 * Returns when all threads have arrived. The third thread leaves late, and the last one has a
 * time without counters.
 */
static void body(void *context, uint64_t n)
{
	unsigned me = tach_bench_thread();
	sigset_t mask;

	pthread_barrier_wait(&meeting);
	if (context != &mine || me >= THREADS) {
		__atomic_fetch_add(&strangers, 1, __ATOMIC_RELAXED);
		return;
	}
	if (me == 2)
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	if (me == 3)
		fake_missing += 50;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (int s = 1; s < 32; s++)
		if (s != SIGKILL && s != SIGSTOP && sigismember(&mask, s) != (me > 0))
			__atomic_fetch_add(&masked, 1, __ATOMIC_RELAXED);
	fake_count += (3 + me) * n;
	__atomic_fetch_add(&mine, 5 * n, __ATOMIC_RELAXED);
	__atomic_fetch_add(&others, 7 * n, __ATOMIC_RELAXED);
	took[me] = takes[me] * n;
	ran[me] = 1;
}

static void empty(void *context, uint64_t n)
{
	unsigned me = tach_bench_thread();

	pthread_barrier_wait(&meeting);
	(void)context;
	fake_count += n;
	__atomic_fetch_add(&mine, n, __ATOMIC_RELAXED);
	took[me] = n;
	ran[me] = 1;
}

static struct tach_bench_counter second = {.name = "others", .at = &others},
				 first = {.name = "mine", .at = &mine, .next = &second};
static struct tach_bench_options opt;

static int run(const char *events, struct tach_bench **b, struct tach_error *err)
{
	int code;

	opt = (struct tach_bench_options){.size = sizeof opt,
					  .events = events,
					  .samples = 5,
					  .iterations = 8,
					  .confidence = 0.9,
					  .empty = empty,
					  .counters = &first,
					  .threads = THREADS};
	tach__sys = sys_of_threads;
	fake_members = 1;
	looks = created = joined = 0;
	memset(began, 0, sizeof began);
	memset(ran, 0, sizeof ran);
	*b = NULL;
	pthread_barrier_init(&meeting, NULL, THREADS);
	code = tach_bench_run("x", body, &mine, &opt, b, err);
	pthread_barrier_destroy(&meeting);
	CHECK(!strangers && !masked, "%u calls by others, %u signals", strangers, masked);
	CHECK(fake_opens == fake_closes, "%d events open", fake_opens - fake_closes);
	CHECK(created == joined, "%d threads, %d ended", created, joined);
	CHECK(tach_bench_thread() == 0);
	return code;
}

#define TIME RESULT_OF_FIVE("time", "16.75", "14.75", "18.75", "1", "2", "0", "")
#define EACH(which, t, l, h)                                                                   \
	RESULT_OF_FIVE("time", t, l, h, "1", "2", "0", "\"thread\":" which ",")
/*
 * From the start of the second thread to the end of the third: 249 - 17 ns for 32 iterations.
 */
#define ALL                                                                                    \
	RESULT_OF_FIVE("time, all", "7.25", "5.25", "9.25", "0.53125", "2", "0", "")           \
	"," EACH("1", "9", "7", "11") "," EACH("2", "10", "8", "12") "," EACH(                 \
		"3", "29", "27", "31") "," EACH("4", "19", "17", "21")
#define OWN                                                                                    \
	RESULT_OF_FIVE("mine", "4", "4", "4", "1", "0", "0", "")                               \
	"," RESULT_OF_FIVE("others", "7", "7", "7", "0", "0", "0", "")
#define HEAD                                                                                   \
	"{\"schema\":\"tach-bench-1\",\"name\":\"x\",\"iterations\":8,\"passes\":1,"           \
	"\"drift\":0,\"confidence\":0.9,\"threads\":4,\"values\":["

/*
 * Eight iterations of four threads: 71 - 4 ns and 18 - 4 counts for four; two reads of a
 * counter add 17 in either loop.
 */
static void sums_and_each_ones(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *b;

	CHECK(run("r01c4", &b, &err) == 0, "%s", err.text);
	if (!b)
		return;
	CHECK(strcmp(shown(b, TACH_BENCH_JSON), HEAD TIME
		     "," RESULT_OF_FIVE("r01c4", "3.5", "3.5", "3.5", "3.125", "0", "6",
					"") "," OWN "," ALL "],\"missing\":\"\"}\n") == 0,
	      "%s", shown(b, TACH_BENCH_JSON));
	tach_bench_free(b);
	CHECK(run("", &b, &err) == 0, "%s", err.text);
	CHECK(b && strcmp(shown(b, TACH_BENCH_JSON),
			  HEAD TIME "," OWN "," ALL "],\"missing\":\"\"}\n") == 0,
	      "%s", shown(b, TACH_BENCH_JSON));
	tach_bench_free(b);
}

static void alone(void *context, uint64_t n)
{
	(void)context, (void)n;
}

static void a_team_of_two(void)
{
	struct tach_bench_quantity v = {.size = sizeof v};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *b = NULL;

	opt = (struct tach_bench_options){
		.size = sizeof opt, .events = "", .samples = 3, .iterations = 8, .threads = 2};
	CHECK(tach_bench_run("x", alone, NULL, &opt, &b, &err) == 0, "%s", err.text);
	CHECK(b && tach_bench_count(b) == 4 && tach_bench_value(b, 1, &v) == 0 &&
	      strcmp(v.name, "time, all") == 0 && v.thread == 0);
	CHECK(b && tach_bench_value(b, 2, &v) == 0 && v.thread == 1 &&
	      tach_bench_value(b, 3, &v) == 0 && v.thread == 2);
	tach_bench_free(b);
}

/* Then no thread counts, and the first thread's message gives the reason. */
static void all_count_or_none(void)
{
	for (open_fails = 0; open_fails < THREADS; open_fails++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_bench *b;

		CHECK(run("r01c4", &b, &err) == 0, "%s", err.text);
		CHECK(b && strncmp(shown(b, TACH_BENCH_JSON), HEAD TIME "," OWN "," ALL "]",
				   strlen(HEAD TIME "," OWN "," ALL "]")) == 0,
		      "thread %d: %s", open_fails, shown(b, TACH_BENCH_JSON));
		CHECK(b && *tach_bench_missing(b), "thread %d", open_fails);
		tach_bench_free(b);
	}
	open_fails = -1;
}

static void threads_that_cannot_be_started(void)
{
	for (threads_failing = 0; threads_failing < THREADS - 1; threads_failing++) {
		struct tach_error err = {.size = sizeof err, .line = 7, .column = 7};
		struct tach_bench *b;

		CHECK(run("r01c4", &b, &err) == TACH_ERR_NOMEM && !b && err.line == 0 &&
			      err.column == 0 &&
			      strcmp(err.text, "4 threads cannot be started") == 0,
		      "%d:%d: %s", err.line, err.column, err.text);
		CHECK(created == threads_failing);
	}
	threads_failing = -1;
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	CASE(sums_and_each_ones);
	CASE(a_team_of_two);
	CASE(all_count_or_none);
	CASE(threads_that_cannot_be_started);
	return check_done();
}
