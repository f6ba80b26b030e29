/* SPDX-License-Identifier: MIT */
/*
 * Adversaries that hold the victim's own descriptors, as every forked child could. From another
 * process and at any time, they turn its events off and on, give them another period, let them
 * continue for some overflows only, or set them back to 0. Another adversary closes the numbers
 * and opens its own files there.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include "tests/descriptors.h"
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

/* After three more overflows the kernel turns the event off. */
static void refresh(void *leader)
{
	ioctl(*(int *)leader, PERF_EVENT_IOC_REFRESH, 3);
	adversary_sleep(500);
}

/* Counts no longer start at open, and may decrease: only differences are checked. */
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
	/* The child closes the library's own descriptors. */
	leader = dup(tach__reader(v.reader)->hard.leader);
	adversary_start(&a, strike, &leader);
	victim_suffer_from(&v, &a, 100, 1);
	victim_verdict(&v, what, adversary_stop(&a));
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
 * The kernel writes the page from the CPU of the thread that resets (perf_event_reset in
 * kernel/events/core.c). The reader on its own CPU may not see only this reset: each time one
 * region may be wrong without a flag.
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
	while (victim_must_go_on(&v, &a, 100, v.lost > 0)) {
		uint32_t flags = victim_region(&v, delta);

		v.lost += (flags & TACH_FLAG_LOST) != 0;
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

/* The mappings keep the other members' events open, and the leader's read(2) returns them. */
static void one_descriptor_a_thread(void)
{
	struct tach__group_read before, after;
	int none = descriptors();
	struct victim v;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (victim_open(&v, 0, 0))
		return;
	CHECK(descriptors() == none + 1, "%d", descriptors() - none);
	CHECK(tach__group_read(&tach__reader(v.reader)->hard, &before) == 1);
	machine_loop(10000);
	CHECK(tach__group_read(&tach__reader(v.reader)->hard, &after) == 1);
	CHECK(after.count == v.reader->count);
	for (uint32_t i = 0; i < v.reader->count; i++)
		CHECK(after.value[i] - before.value[i] >= 10000, "member %u: %" PRIu64, i,
		      after.value[i] - before.value[i]);
	victim_close(&v);
	CHECK(descriptors() == none, "%d", descriptors() - none);
}

struct theft {
	struct victim *victim;
	int from, leader;
};

/*
 * Closes all descriptors that it did not open, as daemons do, or puts a file of its own there.
 */
static void take(struct theft *t, uint64_t strike)
{
	t->leader = tach__reader(t->victim->reader)->hard.leader;
	switch (strike % 3) {
	case 0:
		close_range(64, ~0u, 0);
		break;
	case 1:
		close(t->leader);
		break;
	}
	dup2(t->from, t->leader);
}

/*
 * Between two regions the victim's descriptor becomes an end of a pipe: user-space reads stay
 * exact, values that need read(2) are lost, and the pipe keeps its bytes.
 */
static void numbers_taken(void)
{
	uint64_t delta[TACH_COUNTERS_MAX], value[TACH_COUNTERS_MAX], strikes = 0, reads = 0;
	char bytes[64] = "of the program";
	struct tach__group_read now;
	struct victim v;
	struct theft t;
	int end[2];

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (victim_open(&v, 0, 0))
		return;
	CHECK(pipe(end) == 0 && write(end[1], bytes, sizeof bytes) == sizeof bytes);
	t = (struct theft){&v, end[0], -1};
	while (reads < adversary_reads() || strikes < adversary_strikes(200)) {
		victim_tell(&v, "strikes", strikes);
		take(&t, strikes++);
		CHECK(tach__group_read(&tach__reader(v.reader)->hard, &now) < 0);
		for (int i = 0; i < 200; i++) {
			uint32_t flags = victim_region(&v, delta);

			v.lost += (flags & TACH_FLAG_LOST) != 0;
			judge_region(&v, flags, delta, NULL, NULL);
			flags = tach_reader_read(v.reader, value);
			judge_counts(&v, flags, value);
			reads += 3;
		}
		tach_reader_close(v.reader);
		CHECK(fcntl(t.leader, F_GETFD) >= 0, "the program's file was closed");
		close(t.leader);
		if (victim_open_reader(&v))
			return;
	}
	victim_verdict(&v, "numbers taken", strikes);
	CHECK(fcntl(end[0], F_SETFL, O_NONBLOCK) == 0);
	CHECK(read(end[0], bytes, sizeof bytes) == sizeof bytes, "bytes are gone");
	close(end[0]);
	close(end[1]);
	victim_close(&v);
}

int main(void)
{
	ADVERSARY(turned_off_and_on);
	ADVERSARY(given_another_period);
	ADVERSARY(refreshed);
	ADVERSARY(set_back_to_zero);
	ADVERSARY(one_descriptor_a_thread);
	ADVERSARY(numbers_taken);
	return check_done();
}
