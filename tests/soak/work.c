/* SPDX-License-Identifier: MIT */
/*
 * work threads|snapshots|forks N: starts and ends N threads, takes N snapshots at 1 kHz of
 * working and interrupted threads, or makes N forks while such threads run. The number decides
 * when it ends, not a clock. It prints failures and exits with an error. tests/soak/soak runs
 * it for hours, tests/unit/tools/soak.sh for a short time.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "core/region/region.h"
#include "tests/unit/region/regions.h"

enum { WORK = 25, MEMBERS = 2, WRITERS = 3 };

static void inner(void)
{
	TACH_SCOPE(inner);
	fake_count += WORK;
}

static void outer(void)
{
	TACH_SCOPE(outer);
	fake_count += WORK;
	inner();
}

static void on_signal(int number)
{
	(void)number;
	inner();
}

/* ---- invariants of every snapshot ---- */

static uint64_t calls_before[2];
static int handlers; /* signals arrive, so their regions may be at any place */

static void look(uint64_t least)
{
	static const char *const names[] = {"inner", "outer"};

	for (int k = 0; k < 2; k++) {
		double got, want;

		if (!regions_look(names[k], 1)) {
			CHECK(least == 0, "no region %s", names[k]);
			continue;
		}
		CHECK(info.calls >= least && info.calls >= calls_before[k],
		      "%s: %" PRIu64 " calls after %" PRIu64, names[k], info.calls,
		      calls_before[k]);
		calls_before[k] = info.calls;
		/* A region of the handler is also inside the thread's region. */
		got = value.raw - value.overhead;
		want = (double)(info.calls * (k ? 2 * WORK : WORK));
		CHECK(handlers ? got >= want / 2 && got <= 8 * want : got == want,
		      "%s: %.0f in %" PRIu64 " calls", names[k], got, info.calls);
		CHECK(info.lost == 0, "%s: %" PRIu64 " entries lost", names[k], info.lost);
	}
}

/* ---- threads ---- */

static void *one_entry(void *arg)
{
	outer();
	return arg;
}

static void threads(uint64_t n)
{
	enum { AT_ONCE = 8 };
	int mappings = 0, descriptors = 0;

	for (uint64_t i = 0; i < n; i += AT_ONCE) {
		pthread_t thread[AT_ONCE];

		for (int k = 0; k < AT_ONCE; k++)
			CHECK(pthread_create(&thread[k], NULL, one_entry, NULL) == 0);
		for (int k = 0; k < AT_ONCE; k++)
			pthread_join(thread[k], NULL);
		if (i % 1000 == 0)
			look(i + AT_ONCE);
		if (i == 1000) {
			mappings = regions_mappings();
			descriptors = regions_descriptors();
		}
	}
	look(n);
	CHECK(n <= 1000 || (regions_mappings() <= mappings + 20 &&
			    regions_descriptors() == descriptors),
	      "%d mappings, %d descriptors", regions_mappings() - mappings,
	      regions_descriptors() - descriptors);
}

/* ---- threads that work and are interrupted ---- */

static pthread_t writer[WRITERS];

static void *write_on(void *arg)
{
	while (!regions_stopped())
		outer();
	return arg;
}

static void writers_begin(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &action, NULL);
	regions_tell(0);
	for (int k = 0; k < WRITERS; k++)
		CHECK(pthread_create(&writer[k], NULL, write_on, NULL) == 0);
}

static void writers_end(void)
{
	regions_tell(1);
	for (int k = 0; k < WRITERS; k++)
		pthread_join(writer[k], NULL);
}

static void snapshots(uint64_t n)
{
	const struct timespec millisecond = {0, 1000000};

	handlers = 1;
	writers_begin();
	for (uint64_t i = 0; i < n; i++) {
		look(0);
		pthread_kill(writer[i % WRITERS], SIGUSR1);
		nanosleep(&millisecond, NULL);
	}
	writers_end();
	look(1);
}

/* ---- forks ---- */

static int child(void)
{
	alarm(600);
	memset(calls_before, 0, sizeof calls_before);
	for (int i = 0; i < 3; i++)
		outer();
	look(3);
	CHECK(info.calls == 3, "%" PRIu64 " calls in the child", info.calls);
	return check__failed != 0;
}

static void forks(uint64_t n)
{
	writers_begin();
	for (uint64_t i = 0; i < n; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			_exit(child());
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
		      "fork %" PRIu64 ": %#x", i, (unsigned)status);
		look(0);
	}
	writers_end();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(uint64_t n);
	} parts[] = {{"threads", threads}, {"snapshots", snapshots}, {"forks", forks}};

	(void)check__skip;
	for (size_t i = 0; argc == 3 && i < sizeof parts / sizeof *parts; i++)
		if (strcmp(argv[1], parts[i].name) == 0) {
			regions_begin(MEMBERS);
			parts[i].run(strtoull(argv[2], NULL, 10));
			tach_snapshot_free(shot);
			printf("%s %s %s\n", argv[1], argv[2],
			       check__failed ? "wrong" : "right");
			return check__failed != 0;
		}
	fputs("work threads|snapshots|forks N\n", stderr);
	return 2;
}
