/* SPDX-License-Identifier: MIT */
/*
 * The compiled reader, without calls between its instructions. A timer signal on the reader's
 * own thread simulates the kernel.
 */
#include <signal.h>
#include <sys/time.h>
#define SIM_SIGNAL
#include "tests/unit/reader/fakepage.h"

/* true while the simulation itself must not be interrupted */
static volatile sig_atomic_t busy;
static volatile unsigned strikes, came;

static void strike(int signal)
{
	static void (*const acts[])(void) = {sim_reschedule, sim_move, sim_overflow, sim_touch};

	(void)signal;
	came++;
	if (busy)
		return;
	acts[strikes++ % 4]();
}

static void work(uint64_t amount)
{
	busy = 1;
	sim_work_all(amount);
	busy = 0;
}

/*
 * Sends one signal, some time later. The timer is set again only after the signal came: a
 * repeating timer could be as fast as a slow machine handles signals, and leave no time for
 * other work.
 */
static void strike_soon(long microseconds)
{
	struct itimerval once = {{0, 0}, {0, microseconds}};

	setitimer(ITIMER_REAL, &once, NULL);
}

/* sim_overflow, which may run at any time, also changes counts, so the test checks bounds. */
static void storm(int n, unsigned width)
{
	struct tach_reader *r = sim_open(n, width, 1000);
	const unsigned enough = strikes + 1000;
	unsigned sent = came;
	uint64_t regions = 0, wrong = 0, bad = 0;
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = strike;
	sigaction(SIGALRM, &action, NULL);
	while (strikes < enough || came != sent) {
		uint64_t before[SIM_MAX], begun[SIM_MAX], ending[SIM_MAX], after[SIM_MAX];
		uint64_t delta[TACH_COUNTERS_MAX], value[TACH_COUNTERS_MAX];
		struct tach_mark mark;
		uint32_t flags;

		for (int k = 0; k < 100; k++) {
			if (came == sent && strikes < enough)
				strike_soon(1 + (long)(sent++ % 50));
			for (int i = 0; i < n; i++)
				before[i] = *(volatile uint64_t *)&sim.event[i].count;
			tach_reader_begin(r, &mark);
			for (int i = 0; i < n; i++)
				begun[i] = *(volatile uint64_t *)&sim.event[i].count;
			work(100);
			for (int i = 0; i < n; i++)
				ending[i] = *(volatile uint64_t *)&sim.event[i].count;
			flags = tach_reader_end(r, &mark, delta);
			for (int i = 0; i < n; i++)
				after[i] = *(volatile uint64_t *)&sim.event[i].count;
			bad += (flags & ~TACH_FLAG_RESCHEDULED) != 0;
			for (int i = 0; i < n; i++)
				wrong += delta[i] < ending[i] - begun[i] ||
					 delta[i] > after[i] - before[i];
			tach_reader_read(r, value);
			for (int i = 0; i < n; i++)
				wrong += value[i] < after[i];
			regions++;
		}
	}
	printf("# %u bits, %d counters: %llu regions, %u strikes\n", width, n,
	       (unsigned long long)regions, strikes);
	CHECK(wrong == 0, "%llu wrong", (unsigned long long)wrong);
	CHECK(bad == 0, "%llu flagged as they should not be", (unsigned long long)bad);
}

static void one_wide_counter(void)
{
	storm(1, 48);
}

static void four_wide_counters(void)
{
	storm(4, 48);
}

static void four_narrow_counters(void)
{
	storm(4, 32);
}

int main(void)
{
	CASE(one_wide_counter);
	CASE(four_wide_counters);
	CASE(four_narrow_counters);
	return check_done();
}
