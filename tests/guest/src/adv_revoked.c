/* SPDX-License-Identifier: MIT */
/*
 * Another process takes user access to counters away and gives it back, between any two reads.
 */
#include <sys/resource.h>
#include <tach.h>
#include <tach/fault.h>
#include "tests/guest/adversary.h"

static char *path(void)
{
	return machine_is_arm64() || machine_is_riscv64()
		       ? "/proc/sys/kernel/perf_user_access"
		       : "/sys/bus/event_source/devices/cpu/rdpmc";
}

static void revoke_and_grant(void *setting)
{
	adversary_write(setting, "0");
	adversary_sleep(300);
	adversary_write(setting, "1");
	adversary_sleep(300);
}

static void access_revoked(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct adversary a;
	struct victim v;
	int covered;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	covered = tach_fault_install(&err);
	CHECK(covered > 0, "%d: %s", covered, err.text);
	if (victim_open(&v, 0, 0))
		return;
	adversary_start(&a, revoke_and_grant, path());
	victim_suffer_from(&v, &a, 200, v.reader->fast);
	victim_verdict(&v, "access revoked", adversary_stop(&a));
	victim_close(&v);
	tach_fault_remove();
}

/*
 * The thread is switched in while access is taken away, and gets access back without a switch:
 * if the processor can hide counters, Linux 7.0 and 7.1 then hide them (rdpmc_disable.c), and
 * they read 0.
 */
static void access_given_back_to_a_running_thread(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	uint64_t begun = 0;
	struct victim v;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	CHECK(tach_fault_install(&err) > 0, "%s", err.text);
	if (victim_open(&v, 0, 0))
		return;
	for (int i = 0; i < 50; i++) {
		struct tach_mark mark;

		adversary_write(path(), "0");
		adversary_sleep(1000);
		adversary_write(path(), "1");
		tach_reader_begin(v.reader, &mark);
		begun += mark.lock & 1;
		victim_turn(&v);
	}
	printf("# %" PRIu64 " of 50 regions were not begun in user space\n", begun);
	victim_verdict(&v, "access given back", 50);
	victim_close(&v);
	tach_fault_remove();
}

static __attribute__((noinline)) void three_deep(void)
{
	TACH_SCOPE(outer);
	{
		TACH_SCOPE(middle);
		{
			TACH_SCOPE(inner);
			machine_loop(ADVERSARY_LOOP);
		}
	}
}

/*
 * The exits of nested regions block signals while they read their cost: the fault must still
 * reach its handler. Every entry is counted.
 */
static void nested_regions_revoked(void)
{
	struct tach_regions_options opt = {.events = machine_is_exact() ? "instructions,cycles"
									: "cycles"};
	uint64_t rounds, strikes, calls = 0;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_region_info info;
	struct tach_snapshot *s;
	struct adversary a;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	CHECK(tach_fault_install(&err) > 0, "%s", err.text);
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	three_deep();
	adversary_start(&a, revoke_and_grant, path());
	for (rounds = 1;
	     rounds * 6 < adversary_reads() || a.shared->strikes < adversary_strikes(100);
	     rounds++) {
		three_deep();
		if (rounds % 4096 == 0 && !adversary_lives(&a))
			break;
		if (rounds % 64 == 0) /* so that some slow paths see a rescheduled group */
			sched_yield();
	}
	strikes = adversary_stop(&a);
	CHECK(strikes >= adversary_strikes(100), "the adversary ended");
	CHECK(tach_snapshot_take(&s, &err) == 0, "%s", err.text);
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		tach_snapshot_region(s, r, &info);
		calls += info.calls;
		CHECK(info.calls == rounds, "%s: %" PRIu64 " of %" PRIu64, info.name,
		      (uint64_t)info.calls, rounds);
	}
	CHECK(calls == 3 * rounds);
	tach_snapshot_free(s);
	printf("# access revoked, nested regions: %" PRIu64 " strikes, %" PRIu64 " entries\n",
	       strikes, 3 * rounds);
	tach_regions_disable();
	tach_fault_remove();
}

/*
 * Returns after this thread was switched out and in again. A sleep alone may not switch: if its
 * timer ends before the thread waits (do_nanosleep, kernel/time/hrtimer.c), as on a busy host,
 * the thread keeps the processor.
 */
static void be_switched(void)
{
	struct rusage before, now;

	getrusage(RUSAGE_THREAD, &before);
	do {
		nanosleep(&(struct timespec){0, 1000000}, NULL);
		getrusage(RUSAGE_THREAD, &now);
	} while (now.ru_nvcsw == before.ru_nvcsw);
}

static __attribute__((noinline)) void one_flat(void)
{
	TACH_SCOPE_FLAT(flat);
	machine_loop(ADVERSARY_LOOP);
}

/*
 * Pages of arm64 show it from the next switch on (drivers/perf/arm_pmuv3.c,
 * armv8pmu_user_event_idx), and the reader relies on them: it has no handler for a fault.
 */
static void flat_region_behind_a_switch(void)
{
	struct tach_regions_options opt = {.events = "cycles"};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_region_info info = {0};
	struct tach_snapshot *s;

	if (!machine_has_pmu() || !machine_is_arm64())
		SKIP("not of this architecture, or there is no PMU");
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	for (int i = 0; i < 20; i++) {
		one_flat();
		one_flat();
		adversary_write(path(), "0");
		be_switched();
		one_flat();
		adversary_write(path(), "1");
		be_switched();
	}
	CHECK(tach_snapshot_take(&s, &err) == 0, "%s", err.text);
	for (int r = 0;
	     r < tach_snapshot_nregions(s) && strcmp(info.name ? info.name : "", "flat"); r++)
		tach_snapshot_region(s, r, &info);
	CHECK(info.calls == 60, "%d", (int)info.calls);
	tach_snapshot_free(s);
	tach_regions_disable();
}

int main(void)
{
	ADVERSARY(access_revoked);
	ADVERSARY(access_given_back_to_a_running_thread);
	ADVERSARY(nested_regions_revoked);
	ADVERSARY(flat_region_behind_a_switch);
	return check_done();
}
