/* SPDX-License-Identifier: MIT */
/* Adversaries that take the CPU away: migration, hotplug, a competitor, suspension. */
#include <pthread.h>
#include <signal.h>
#include "tests/guest/adversary.h"

static pid_t victim_thread;
static volatile int stop;
static volatile uint64_t strikes;

static int processors(void)
{
	return (int)sysconf(_SC_NPROCESSORS_CONF);
}

static void *move(void *arg)
{
	for (int cpu = 0; !stop; cpu ^= 1) {
		if (adversary_on_cpu(victim_thread, cpu) == 0)
			strikes++;
		adversary_sleep(50);
	}
	return arg;
}

static void *unplug(void *arg)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";

	for (int cpu = 1; !stop; cpu ^= 1) {
		adversary_on_cpu(victim_thread, cpu);
		adversary_sleep(3000);
		if (adversary_write(online, "0") == 0 && adversary_write(online, "1") == 0)
			strikes++;
	}
	return arg;
}

static void suffer_from(const char *what, void *(*adversary)(void *), uint64_t atleast)
{
	struct victim v;
	pthread_t thread;
	cpu_set_t all;

	if (victim_open(&v, 0, 0))
		return;
	sched_getaffinity(0, sizeof all, &all);
	victim_thread = (pid_t)syscall(SYS_gettid);
	stop = 0;
	strikes = 0;
	pthread_create(&thread, NULL, adversary, NULL);
	victim_suffer(&v, adversary_reads(), &strikes, atleast);
	stop = 1;
	pthread_join(thread, NULL);
	sched_setaffinity(0, sizeof all, &all);
	victim_verdict(&v, what, strikes);
	CHECK(v.flagged > 0, "nothing was ever rescheduled");
	victim_close(&v);
}

static void migration(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (processors() < 2)
		SKIP("one processor");
	suffer_from("migration", move, 1000);
}

static void hotplug(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (processors() < 2)
		SKIP("one processor");
	suffer_from("hotplug", unplug, 10);
}

static void count_and_yield(void *pinned)
{
	if (*(int *)pinned < 0) {
		struct perf_event_attr attr = adversary_attr(adversary_config());

		attr.pinned = 1;
		*(int *)pinned = adversary_open(&attr, 0, -1);
	}
	machine_loop(1000);
	sched_yield();
}

/* Another process on the same CPU that counts by a pinned event of its own. */
static void competitor(void)
{
	struct adversary a;
	struct victim v;
	cpu_set_t all;
	int pinned = -1;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	sched_getaffinity(0, sizeof all, &all);
	adversary_on_cpu(0, 0);
	if (victim_open(&v, 0, 0))
		return;
	adversary_start(&a, count_and_yield, &pinned);
	while (v.reads < adversary_reads() || a.shared->strikes < 1000) {
		for (int i = 0; i < 4; i++)
			victim_turn(&v);
		sched_yield();
	}
	victim_verdict(&v, "competitor", adversary_stop(&a));
	sched_setaffinity(0, sizeof all, &all);
	victim_close(&v);
}

static void suspend(void *process)
{
	kill(*(pid_t *)process, SIGSTOP);
	adversary_sleep(300);
	kill(*(pid_t *)process, SIGCONT);
	adversary_sleep(300);
}

/* The whole process stopped and continued by another. */
static void suspension(void)
{
	struct adversary a;
	pid_t self = getpid();
	struct victim v;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (victim_open(&v, 0, 0))
		return;
	adversary_start(&a, suspend, &self);
	victim_suffer(&v, adversary_reads(), &a.shared->strikes, 200);
	victim_verdict(&v, "suspension", adversary_stop(&a));
	CHECK(v.flagged > 0, "nothing was ever rescheduled");
	victim_close(&v);
}

int main(void)
{
	CASE(migration);
	CASE(hotplug);
	CASE(competitor);
	CASE(suspension);
	return check_done();
}
