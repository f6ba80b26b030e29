/* SPDX-License-Identifier: MIT */
/* Forks and threads that start and end while the victim runs, each with a reader of its own. */
#include <pthread.h>
#include <signal.h>
#include "tests/guest/adversary.h"

enum { FORKS = 300, THREADS = 4, GENERATIONS = 50 };

/*
 * The work of a child or thread: opens the same set, takes some turns, and checks them; returns
 * 0 if all is right.
 */
static int live(const struct victim *parent, uint64_t reads)
{
	struct victim v = *parent;

	v.reader = NULL;
	v.backward = v.outside = v.excess = v.inexact = v.unflagged = 0;
	if (tach_reader_open(v.set, &v.reader, NULL))
		return 1;
	memset(v.last, 0, sizeof v.last);
	v.reads = 0;
	victim_suffer(&v, reads);
	tach_reader_close(v.reader);
	return v.backward || v.outside || v.excess || v.inexact || v.unflagged ? 2 : 0;
}

static void fork_storm(void)
{
	const uint64_t forks = adversary_strikes(FORKS), each = adversary_reads() / forks + 1;
	struct victim v;
	int bad = 0;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (victim_open(&v, 0, 0))
		return;
	for (uint64_t i = 0; i < forks; i++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit(i % 4 ? 0 : live(&v, 400));
		victim_suffer(&v, v.reads + each);
		waitpid(child, &status, 0);
		bad += status != 0;
	}
	victim_verdict(&v, "fork storm", forks);
	CHECK(bad == 0, "%d children counted wrong", bad);
	victim_close(&v);
}

struct thread {
	const struct victim *parent;
	int bad;
};

static void *thread_lives(void *arg)
{
	struct thread *t = arg;

	t->bad = live(t->parent, adversary_reads() / 1000);
	return NULL;
}

static void thread_churn(void)
{
	const uint64_t generations = adversary_strikes(GENERATIONS * THREADS) / THREADS;
	const uint64_t each = adversary_reads() / generations + 1;
	struct victim v;
	int bad = 0;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (victim_open(&v, 0, 0))
		return;
	for (uint64_t g = 0; g < generations; g++) {
		struct thread threads[THREADS];
		pthread_t id[THREADS];

		for (int i = 0; i < THREADS; i++) {
			threads[i] = (struct thread){&v, 0};
			pthread_create(&id[i], NULL, thread_lives, &threads[i]);
		}
		victim_suffer(&v, v.reads + each);
		for (int i = 0; i < THREADS; i++) {
			pthread_join(id[i], NULL);
			bad += threads[i].bad != 0;
		}
	}
	victim_verdict(&v, "thread churn", generations * THREADS);
	CHECK(bad == 0, "%d threads counted wrong", bad);
	victim_close(&v);
}

int main(void)
{
	ADVERSARY(fork_storm);
	ADVERSARY(thread_churn);
	return check_done();
}
