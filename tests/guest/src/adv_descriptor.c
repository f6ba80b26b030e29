/* SPDX-License-Identifier: MIT */
/*
 * Adversaries that hold the victim's own descriptors, as every child of a fork could, and turn
 * its events off and on, give them another period, let them go on for some overflows only, or
 * set them back to 0: from another process, at any time.
 */
#include <sys/ioctl.h>
#include "tests/guest/adversary.h"

static void off_and_on(void *leader)
{
	ioctl(*(int *)leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	adversary_sleep(300);
	ioctl(*(int *)leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	adversary_sleep(300);
}

static void other_period(void *leader)
{
	uint64_t period[2] = {5000, 50000};

	for (int i = 0; i < 2; i++) {
		ioctl(*(int *)leader, PERF_EVENT_IOC_PERIOD, &period[i]);
		adversary_sleep(100);
	}
}

/* Three overflows more; then the kernel turns the event off. */
static void refresh(void *leader)
{
	ioctl(*(int *)leader, PERF_EVENT_IOC_REFRESH, 3);
	adversary_sleep(500);
}

/* Counts are no longer those since open, nor do they only grow: differences alone are judged.
 */
static void set_back(void *leader)
{
	ioctl(*(int *)leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	adversary_sleep(500);
}

static void held(const char *what, void (*strike)(void *), uint64_t period, int turned_off)
{
	struct adversary a;
	struct victim v;
	int leader;

	if (victim_open(&v, 0, period))
		return;
	v.turned_off = turned_off;
	/* The library's own descriptors are closed in a child. */
	leader = dup(tach__reader(v.reader)->hard.leader);
	adversary_start(&a, strike, &leader);
	victim_suffer(&v, adversary_reads(), &a.shared->strikes, 100);
	victim_verdict(&v, what, adversary_stop(&a));
	CHECK(v.flagged > 0, "nothing was ever flagged");
	close(leader);
	victim_close(&v);
}

static void turned_off_and_on(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	held("turned off and on", off_and_on, 0, 1);
}

static void given_another_period(void)
{
	if (!machine_is_exact())
		SKIP("the kernel may throttle a sampling event when the host is busy");
	held("given another period", other_period, 20000, 0);
}

static void refreshed(void)
{
	if (!machine_is_exact())
		SKIP("the kernel may throttle a sampling event when the host is busy");
	held("refreshed", refresh, 20000, 1);
}

/*
 * The kernel writes the page from the CPU of him who resets (perf_event_reset in
 * kernel/events/core.c), which alone may go unseen by the reader on its own CPU: one region may
 * then be wrong each time, and nothing tells.
 */
static void set_back_to_zero(void)
{
	uint64_t delta[TACH_COUNTERS_MAX], strikes;
	struct adversary a;
	struct victim v;
	int leader;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (victim_open(&v, 0, 0))
		return;
	v.turned_off = 1;
	leader = dup(tach__reader(v.reader)->hard.leader);
	adversary_start(&a, set_back, &leader);
	while (v.reads < adversary_reads() || a.shared->strikes < 100) {
		uint32_t flags = victim_region(&v, delta);

		v.lost += (flags & TACH_LOST) != 0;
		judge_region(&v, flags, delta, NULL, NULL);
	}
	strikes = adversary_stop(&a);
	if (sysconf(_SC_NPROCESSORS_CONF) > 1) {
		CHECK(v.inexact <= strikes, "%" PRIu64 " wrong", v.inexact);
		v.inexact = 0;
	}
	victim_verdict(&v, "set back", strikes);
	CHECK(v.lost > 0, "no region was ever set back");
	close(leader);
	victim_close(&v);
}

int main(void)
{
	CASE(turned_off_and_on);
	CASE(given_another_period);
	CASE(refreshed);
	CASE(set_back_to_zero);
	return check_done();
}
