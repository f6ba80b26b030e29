/* SPDX-License-Identifier: MIT */
/* Adversaries that take the CPU away: migration, hotplug, a competitor, suspension. */
#include <signal.h>
#include <string.h>
#include <tach.h>
#include "tests/guest/adversary.h"
#include "tests/guest/known_loop.h"

static int processors(void)
{
	return (int)sysconf(_SC_NPROCESSORS_CONF);
}

static void move(void *victim)
{
	static int cpu;

	cpu ^= 1;
	if (adversary_on_cpu(*(pid_t *)victim, cpu))
		_exit(1);
	adversary_sleep(50);
}

/* Retries while a processor is busy with the previous change. */
static void write_until_taken(const char *path, const char *text)
{
	for (int tries = 0; adversary_write(path, text); tries++) {
		if (tries == 1000)
			_exit(1);
		adversary_sleep(1000);
	}
}

static void unplug(void *victim)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	static int cpu;

	cpu ^= 1;
	adversary_on_cpu(*(pid_t *)victim, cpu);
	adversary_sleep(3000);
	write_until_taken(online, "0");
	write_until_taken(online, "1");
}

static void suffer_from(const char *what, void (*strike)(void *), uint64_t atleast)
{
	pid_t self = getpid();
	struct adversary a;
	struct victim v;
	cpu_set_t all;

	if (victim_open(&v, 0, 0))
		return;
	sched_getaffinity(0, sizeof all, &all);
	adversary_start(&a, strike, &self);
	victim_suffer_from(&v, &a, atleast, 1);
	victim_verdict(&v, what, adversary_stop(&a));
	sched_setaffinity(0, sizeof all, &all);
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
		struct perf_event_attr attr = adversary_rival();

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
	while (victim_must_go_on(&v, &a, 1000, 1)) {
		for (int i = 0; i < 4; i++)
			victim_turn(&v);
		sched_yield();
	}
	victim_verdict(&v, "competitor", adversary_stop(&a));
	sched_setaffinity(0, sizeof all, &all);
	victim_close(&v);
}

enum { ENTRIES = 64, LEAST = -100, MOST = 500 };

static __attribute__((noinline)) void entry(void)
{
	TACH_START(beside);
	LOOP(5000);
	sched_yield();
	LOOP(5000);
	TACH_STOP(beside);
}

/* sched_yield takes a call and a few instructions, the same for each. */
static void entries_are_right_or_flagged(const struct tach_snapshot *shot)
{
	struct tach_region_info info = {.size = sizeof info};
	struct tach_worst worst = {.size = sizeof worst};
	int r = 0, n = 0;

	while (tach_snapshot_region(shot, r, &info) == 0 && strcmp(info.name, "beside") != 0)
		r++;
	CHECK(info.calls == ENTRIES, "%d", (int)info.calls);
	for (; tach_snapshot_worst(shot, r, n, &worst) == 0; n++) {
		double off = tach_snapshot_worst_value(shot, r, n, 1) - 2 * TAKES(5000);

		if (worst.flags)
			CHECK(off >= LEAST && off <= MOST, "%+.0f, flags %x", off,
			      (unsigned)worst.flags);
		else
			CHECK(off >= 0 && off < 40, "%+.0f without a flag", off);
	}
	CHECK(n == ENTRIES, "%d", n);
}

/* The same competitor, and named regions, which subtract their measured cost. */
static void regions_beside_a_competitor(void)
{
	struct tach_regions_options opt = {
		.size = sizeof opt, .events = "instructions:u", .worst = "64"};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *shot = NULL;
	struct adversary a;
	cpu_set_t all;
	int pinned = -1;

	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	sched_getaffinity(0, sizeof all, &all);
	adversary_on_cpu(0, 0);
	adversary_start(&a, count_and_yield, &pinned);
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	for (int i = 0; i < ENTRIES; i++)
		entry();
	CHECK(tach_snapshot_take(&shot, NULL) == 0);
	CHECK(adversary_stop(&a) > 0);
	entries_are_right_or_flagged(shot);
	tach_snapshot_free(shot);
	sched_setaffinity(0, sizeof all, &all);
}

static void suspend(void *process)
{
	kill(*(pid_t *)process, SIGSTOP);
	adversary_sleep(300);
	kill(*(pid_t *)process, SIGCONT);
	adversary_sleep(300);
}

/* Another process stops and continues the whole process. */
static void suspension(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	suffer_from("suspension", suspend, 200);
}

int main(void)
{
	ADVERSARY(migration);
	ADVERSARY(hotplug);
	ADVERSARY(competitor);
	ADVERSARY(regions_beside_a_competitor);
	ADVERSARY(suspension);
	return check_done();
}
