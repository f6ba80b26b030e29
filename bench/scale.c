/* SPDX-License-Identifier: MIT */
/*
 * How the cost of an entry grows with events, sites and threads, and the cost of a snapshot
 * with threads and regions. Lines have the format of bench/driver.c: instructions (user space
 * and kernel) if there are counters, and nanoseconds of CPU time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tach.h>

enum { SITES_MAX = 10000, THREADS_MAX = 64, EVENTS_MAX = 16, PAIRS = 2000, ROUNDS = 5 };

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* This thread's CPU time, and its instructions if they can be counted. */
struct meter {
	struct tach_reader *reader;
	struct tach_mark mark;
	uint64_t start;
};
static struct tach_set *meter_set; /* NULL: no counters */

static void make_meter_set(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	opt.events = "instructions";
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	opt.flags = TACH_SET_OPTIONAL;
	if (tach_set_create(&opt, &meter_set, NULL) == 0 && tach_set_count(meter_set) == 0) {
		tach_set_free(meter_set);
		meter_set = NULL;
	}
}

static void meter_open(struct meter *m)
{
	m->reader = NULL;
	if (meter_set)
		(void)!tach_reader_open(meter_set, &m->reader, NULL);
}

static void meter_start(struct meter *m)
{
	m->start = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	if (m->reader)
		tach_reader_begin(m->reader, &m->mark);
}

/* Returns costs per operation. *instructions is -1 if they are not counted. */
static void meter_stop(struct meter *m, double n, double *ns, double *instructions)
{
	uint64_t delta[TACH_COUNTERS_MAX];

	*instructions = -1;
	if (m->reader && !(tach_reader_end(m->reader, &m->mark, delta) & TACH_FLAG_LOST))
		*instructions = (double)delta[0] / n;
	*ns = (double)(cpu_ns(CLOCK_THREAD_CPUTIME_ID) - m->start) / n;
}

static void line(const char *what, int x, double ns, double instructions)
{
	if (instructions >= 0)
		printf("tach\t%s %d\tinstructions\t%.6g\t%.6g\t%.6g\n", what, x, instructions,
		       instructions, instructions);
	/* An emulator's clock is meaningless. */
	if (!getenv("GUEST"))
		printf("tach\t%s %d\ttime\t%.6g\t%.6g\t%.6g\n", what, x, ns, ns, ns);
}

static struct tach_site *site[SITES_MAX];

/* Enters `sites` regions in turn, and returns the minimum of some rounds. */
static void enter(struct meter *m, int sites, int pairs, double *ns, double *instructions)
{
	struct tach_region_mark mark;
	double t, i;

	*ns = *instructions = 1e300;
	for (int round = 0; round < ROUNDS; round++) {
		meter_start(m);
		for (int pair = 0; pair < pairs; pair++) {
			tach_region_begin(site[pair % sites], &mark);
			tach_region_end(&mark);
		}
		meter_stop(m, pairs, &t, &i);
		*ns = t < *ns ? t : *ns;
		*instructions = i < *instructions ? i : *instructions;
	}
}

static int configure(int events)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = ""};
	struct tach_set_options set = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_HW_INSTRUCTIONS,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	struct tach_set_member member[EVENTS_MAX];
	static char name[EVENTS_MAX][8];

	for (int i = 0; i < events; i++) {
		snprintf(name[i], sizeof name[i], "e%d", i);
		member[i] = (struct tach_set_member){name[i], &attr};
	}
	set.attrs = member;
	set.nattrs = events;
	if (events && tach_set_create(&set, &opt.set, NULL) != 0)
		return -1;
	return tach_regions_configure(&opt, NULL);
}

static void scale_events(struct meter *m)
{
	double ns, instructions;

	for (int n = 1; n <= EVENTS_MAX && meter_set; n++) {
		struct tach_counts counts = {.size = sizeof counts};
		struct tach_snapshot *s;

		/*
		 * Measure without counters first, because a thread opens its new counters
		 * before it closes the old ones.
		 */
		configure(0);
		enter(m, 1, 10, &ns, &instructions);
		if (configure(n) != 0)
			return;
		enter(m, 1, 10, &ns, &instructions);
		enter(m, 1, PAIRS, &ns, &instructions);
		if (tach_snapshot_take(&s, NULL) != 0)
			return;
		tach_snapshot_counts(s, &counts);
		tach_snapshot_free(s);
		if (counts.unopened) /* more counters than this PMU has */
			return;
		line("events", n, ns, instructions);
	}
}

static void scale_sites(struct meter *m)
{
	static const int steps[] = {1, 10, 100, 1000, SITES_MAX};
	double ns, instructions;

	configure(0);
	for (int i = 0; i < 5; i++) {
		int pairs = steps[i] > PAIRS ? steps[i] : PAIRS;

		enter(m, steps[i], pairs, &ns, &instructions);
		line("sites", steps[i], ns, instructions);
	}
}

static pthread_barrier_t barrier;
static double thread_ns[THREADS_MAX], thread_instructions[THREADS_MAX];

static void *worker(void *arg)
{
	int number = (int)(intptr_t)arg;
	struct meter m;

	meter_open(&m);
	enter(&m, 1, 10, &thread_ns[number], &thread_instructions[number]);
	pthread_barrier_wait(&barrier);
	enter(&m, 1, PAIRS, &thread_ns[number], &thread_instructions[number]);
	tach_reader_close(m.reader);
	return NULL;
}

/* Prints the cost of an entry in the slowest thread. */
static void scale_threads(void)
{
	for (int n = 1; n <= THREADS_MAX; n *= 2) {
		pthread_t thread[THREADS_MAX];
		double ns = 0, instructions = -1;

		pthread_barrier_init(&barrier, NULL, (unsigned)n);
		for (int i = 0; i < n; i++)
			if (pthread_create(&thread[i], NULL, worker, (void *)(intptr_t)i) != 0)
				exit(1);
		for (int i = 0; i < n; i++) {
			pthread_join(thread[i], NULL);
			ns = thread_ns[i] > ns ? thread_ns[i] : ns;
			if (thread_instructions[i] > instructions)
				instructions = thread_instructions[i];
		}
		pthread_barrier_destroy(&barrier);
		line("threads", n, ns, instructions);
	}
}

/* Each thread enters every one of `regions`, then waits until the snapshots are taken. */
static int regions;
static void *visitor(void *unused)
{
	struct tach_region_mark mark;

	(void)unused;
	for (int i = 0; i < regions; i++) {
		tach_region_begin(site[i], &mark);
		tach_region_end(&mark);
	}
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void snapshots(struct meter *m, int n)
{
	double ns, instructions, least_ns = 1e300, least = 1e300;
	pthread_t thread[THREADS_MAX];
	char what[32];

	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, visitor, NULL) != 0)
			exit(1);
	pthread_barrier_wait(&barrier);
	for (int round = 0; round < ROUNDS; round++) {
		struct tach_snapshot *s;

		meter_start(m);
		if (tach_snapshot_take(&s, NULL) != 0)
			exit(1);
		meter_stop(m, 1, &ns, &instructions);
		tach_snapshot_free(s);
		least_ns = ns < least_ns ? ns : least_ns;
		least = instructions < least ? instructions : least;
	}
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
	snprintf(what, sizeof what, "snapshot of %d threads x", n);
	line(what, regions, least_ns, least);
}

int main(void)
{
	struct meter m;

	setvbuf(stdout, NULL, _IOLBF, 0);
	make_meter_set();
	for (int i = 0; i < SITES_MAX; i++) {
		char name[32];

		snprintf(name, sizeof name, "site%d", i);
		site[i] = tach_site_get(name);
	}
	meter_open(&m);
	scale_events(&m);
	configure(0);
	scale_threads();
	regions = 1000;
	for (int n = 1; n <= THREADS_MAX; n *= 8)
		snapshots(&m, n);
	scale_sites(&m);
	tach_reader_close(m.reader);
	return 0;
}
