/* SPDX-License-Identifier: MIT */
/*
 * A storm of signals on the victim's own thread. The handler moves counters during the very
 * read that it interrupts: a reader that does not check the page's lock fails under this
 * adversary.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include "tests/guest/adversary.h"

enum { STRIKES = 1000 };

static struct victim v;
static volatile uint64_t strikes;
static int pinned = -1;

/*
 * A pinned event comes and goes: each time the kernel assigns the counters again. On RISC-V an
 * event keeps its counter while it is enabled.
 */
static void come_and_go(int sig)
{
	int saved = errno, leader = tach__reader(v.reader)->hard.leader;
	struct perf_event_attr attr = adversary_rival();

	(void)sig;
	attr.pinned = 1;
	if (machine_is_riscv64())
		ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	if (pinned >= 0) {
		close(pinned);
		pinned = -1;
	} else {
		pinned = adversary_open(&attr, 0, -1);
	}
	if (machine_is_riscv64())
		ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	strikes++;
	errno = saved;
}

/* The victim's own group is turned off and on. */
static void off_and_on(int sig)
{
	int saved = errno, leader = tach__reader(v.reader)->hard.leader;

	(void)sig;
	ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	strikes++;
	errno = saved;
}

/* All events that this thread opened are turned off and on. */
static void own_off_and_on(int sig)
{
	int saved = errno;

	(void)sig;
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	strikes++;
	errno = saved;
}

/* The handler measures with the reader that it interrupted. */
static void nested(int sig)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	int saved = errno;

	(void)sig;
	judge_region(&v, victim_region(&v, delta), delta, NULL, NULL);
	strikes++;
	errno = saved;
}

/*
 * The next signal is sent after the previous one has arrived and the victim has taken a turn: a
 * repeating timer could be as fast as a slow machine handles signals, and leave no time for the
 * victim.
 */
static void storm(const char *what, void (*handler)(int), long microseconds)
{
	struct itimerval once = {{0, 0}, {0, 0}};
	struct sigaction action;
	uint64_t sent = 0;

	if (victim_open(&v, 0, 0))
		return;
	/* The region also counts the handler that interrupts it. */
	v.alone = 0;
	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	sigaction(SIGALRM, &action, NULL);
	strikes = 0;
	/* If an instruction takes 8 ns, a turn takes longer in proportion. */
	if (machine_is_arm64() && machine_is_exact())
		microseconds *= 8;
	while (v.reads < adversary_reads() || strikes < adversary_strikes(STRIKES)) {
		if (strikes == sent) {
			once.it_value.tv_usec = 1 + (long)(sent++ % (uint64_t)microseconds);
			setitimer(ITIMER_REAL, &once, NULL);
		}
		victim_tell(&v, "strikes", strikes);
		victim_turn(&v);
	}
	while (strikes < sent)
		victim_turn(&v);
	if (pinned >= 0)
		close(pinned);
	pinned = -1;
	victim_verdict(&v, what, strikes);
	victim_close(&v);
}

static void storm_of_coming_and_going(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	storm("coming and going", come_and_go, 80);
}

static void storm_of_off_and_on(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	storm("off and on", off_and_on, 80);
}

static void storm_of_own_off_and_on(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	storm("own off and on", own_off_and_on, 80);
}

static void storm_of_nested_regions(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	storm("nested regions", nested, 100);
}

int main(void)
{
	ADVERSARY(storm_of_coming_and_going);
	ADVERSARY(storm_of_off_and_on);
	ADVERSARY(storm_of_own_off_and_on);
	ADVERSARY(storm_of_nested_regions);
	return check_done();
}
