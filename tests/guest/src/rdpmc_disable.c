/* SPDX-License-Identifier: MIT */
/*
 * Tests RDPMC user disable (CPUID 23H.0:EBX[2]; Linux 7.0 and newer use it): a hidden counter
 * reads 0 in user space, without a fault. The test compares page and RDPMC for events of a
 * thread and of a processor, opened before and after changes of /sys/devices/cpu/rdpmc.
 */
#if defined(__x86_64__)
#include <cpuid.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "tests/check.h"
#include "tests/guest/counter.h"
#include "tests/guest/machine.h"

/*
 * Linux 7.0 and 7.1 hide a counter by the setting at the time when it starts, which its page
 * does not show: BLIND. Linux 7.2 hides a counter only if its page says that it cannot be read:
 * TOLD. Older kernels, and processors without the feature, hide nothing.
 */
static enum { NOTHING, BLIND, TOLD } hides;

/* Largest growth of a processor event's count between RDPMC and read(2). */
enum { SLACK = 1000000, TRIALS = 100, CHANGES = 2000 };

static const struct {
	const char *name;
	uint64_t config;
} kinds[] = {
	{"fixed counter", PERF_COUNT_HW_INSTRUCTIONS},
	{"general counter", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static sigjmp_buf fault;

static void on_fault(int number)
{
	(void)number;
	siglongjmp(fault, 1);
}

static void set(int value)
{
	static const char path[] = "/sys/bus/event_source/devices/cpu/rdpmc";
	FILE *to = fopen(path, "we");
	char line[8];

	CHECK(to && fprintf(to, "%d\n", value) > 0);
	CHECK(to && fclose(to) == 0);
	CHECK(atoi(counter_setting("rdpmc", line, sizeof line)) == value, "%s", line);
}

enum whose { THREAD, THREAD_ON_CPU, CPU };

static struct counter open_one(uint64_t config, enum whose whose)
{
	struct perf_event_attr attr = counter_attr(PERF_TYPE_HARDWARE, config);
	struct counter c;

	attr.exclude_kernel = whose != CPU;
	c = counter_open(&attr, whose == CPU ? -1 : 0, whose == THREAD ? -1 : 0, -1);
	CHECK(c.page, "an event cannot be opened");
	return c;
}

/* Result of reading the event as its page describes. */
enum sight {
	RIGHT,	 /* offset plus counter is the count */
	REFUSED, /* the page says that it cannot be read */
	ZERO,	 /* the page permits the read, and the counter reads 0 */
	FAULT,	 /* the page permits the read, and RDPMC faults */
	WRONG
};

static enum sight look(const struct counter *c)
{
	volatile uint64_t raw = 0, page = 0;
	uint64_t count = 0;

	machine_loop(1000);
	if (!c->page || !c->page->cap_user_rdpmc || !c->page->index)
		return REFUSED;
	if (sigsetjmp(fault, 1))
		return FAULT;
	raw = counter_rdpmc(c->page->index - 1);
	page = (uint64_t)(c->page->offset + counter_extend(raw, c->page->pmc_width));
	if (raw == 0)
		return ZERO;
	if (read(c->fd, &count, sizeof count) != sizeof count)
		return WRONG;
	return count - page < SLACK ? RIGHT : WRONG;
}

#define SEES(counter, sight)                                                                   \
	do {                                                                                   \
		int sees = (int)look(counter);                                                 \
		CHECK(sees == (int)(sight), "%s: sees %d, not %d", kinds[k].name, sees,        \
		      (int)(sight));                                                           \
	} while (0)

static void opened_under_each_setting(void)
{
	for (int k = 0; k < KINDS; k++)
		for (int value = 0; value < 3; value++)
			for (int whose = THREAD; whose <= CPU; whose++) {
				enum sight want = value ? RIGHT : REFUSED;
				struct counter c;

				if (value == 1 && whose == CPU && hides)
					want = hides == BLIND ? ZERO : REFUSED;
				set(value);
				c = open_one(kinds[k].config, (enum whose)whose);
				SEES(&c, want);
				counter_close(&c);
			}
	set(1);
}

/* The kernel decides whether a processor's event can be read when it is opened or started. */
static void processors_event_under_changes(void)
{
	static const enum sight hidden[] = {RIGHT, ZERO, REFUSED};

	for (int k = 0; k < KINDS; k++) {
		struct counter c;

		set(1);
		c = open_one(kinds[k].config, CPU);
		set(2);
		counter_off_and_on(&c);
		SEES(&c, hides == TOLD ? REFUSED : RIGHT);
		set(1);
		counter_off_and_on(&c);
		SEES(&c, hidden[hides]);
		counter_close(&c);
		set(2);
		c = open_one(kinds[k].config, CPU);
		SEES(&c, RIGHT);
		set(1);
		counter_off_and_on(&c);
		SEES(&c, hides == BLIND ? ZERO : RIGHT);
		counter_close(&c);
	}
}

static void counters_opened_under_0_stay_refused(void)
{
	for (int k = 0; k < KINDS; k++)
		for (int whose = THREAD; whose <= CPU; whose++) {
			struct counter c;

			set(0);
			c = open_one(kinds[k].config, (enum whose)whose);
			for (int value = 1; value < 3; value++) {
				set(value);
				counter_off_and_on(&c);
				SEES(&c, REFUSED);
			}
			counter_close(&c);
		}
	set(1);
}

/*
 * A thread loses access, sleeps, and gets access back: Linux 7.0 and 7.1 hide the counter at
 * the next switch-in, and show it again at the one after the access returned.
 */
static void access_taken_and_given_back(void)
{
	for (int k = 0; k < KINDS; k++) {
		struct counter c = open_one(kinds[k].config, THREAD);
		int zeros = 0, right = 0;

		for (int i = 0; i < TRIALS; i++) {
			enum sight seen;

			set(0);
			SEES(&c, FAULT); /* the page still permits the read */
			counter_sleep(1000);
			set(1);
			seen = look(&c);
			zeros += seen == ZERO;
			CHECK(seen == ZERO || seen == RIGHT, "sees %d", (int)seen);
			counter_sleep(1000);
			right += look(&c) == RIGHT;
		}
		CHECK((zeros > 0) == (hides == BLIND), "%d zeros", zeros);
		CHECK(right == TRIALS, "right %d times", right);
		counter_close(&c);
	}
}

/* Starts a process that makes random changes, some thousand times. */
static pid_t changes(void)
{
	pid_t child = fork();
	unsigned random = 1;

	if (child)
		return child;
	for (int i = 0; i < CHANGES; i++) {
		FILE *to = fopen("/sys/bus/event_source/devices/cpu/rdpmc", "we");

		random = random * 1103515245 + 12345;
		if (!to || fprintf(to, "%u\n", (random >> 16) % 3) < 0 || fclose(to))
			_exit(1);
		counter_sleep(200);
	}
	_exit(0);
}

/*
 * Counts reads where the page's lock did not change, the page permits the read, and the counter
 * reads 0.
 */
static void a_storm_of_changes(void)
{
	uint64_t invited = 0, zeros = 0;
	int status = 0;
	pid_t child;

	child = changes();
	for (unsigned n = 0; waitpid(child, &status, WNOHANG) == 0; n++) {
		static const enum whose whose[] = {CPU, THREAD, THREAD_ON_CPU};
		struct counter c = open_one(kinds[0].config, whose[n % 3]);

		for (volatile int i = 0; c.page && i < 200; i++) {
			volatile uint32_t lock = c.page->lock;
			enum sight seen = look(&c);

			invited += seen == RIGHT || seen == ZERO;
			zeros += seen == ZERO && c.page->lock == lock;
		}
		counter_close(&c);
	}
	printf("# %" PRIu64 " readings, %" PRIu64 " zeros\n", invited, zeros);
	CHECK(status == 0 && invited > 0);
	CHECK((zeros > 0) == (hides == BLIND), "%" PRIu64 " zeros", zeros);
	set(1);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
	unsigned a, b, c, d;

	if (!machine_has_pmu() || !__get_cpuid_count(0x23, 0, &a, &b, &c, &d) || !(b & 4)) {
		puts("skip rdpmc_disable: the PMU cannot hide counters from user space");
		return check_done();
	}
	if (counter_kernel() >= 700)
		hides = counter_kernel() >= 702 ? TOLD : BLIND;
	sigaction(SIGSEGV, &action, NULL);
	counter_on_cpu(0);
	CASE(opened_under_each_setting);
	CASE(processors_event_under_changes);
	CASE(counters_opened_under_0_stay_refused);
	CASE(access_taken_and_given_back);
	CASE(a_storm_of_changes);
	return check_done();
}
#else
#include <stdio.h>

int main(void)
{
	puts("skip rdpmc_disable: this architecture has no RDPMC");
	return 0;
}
#endif
