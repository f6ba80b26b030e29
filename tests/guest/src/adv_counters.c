/* SPDX-License-Identifier: MIT */
/* Adversaries that take the counters away, or make them overflow. */
#include <glob.h>
#include "tests/guest/adversary.h"

/* The PMU rotates its counters every millisecond instead of every four. */
static void multiplex_fast(void)
{
	glob_t found;

	if (glob("/sys/bus/event_source/devices/*/perf_event_mux_interval_ms", 0, NULL,
		 &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			adversary_write(found.gl_pathv[i], "1");
	globfree(&found);
}

/* Opens the requested number of events, or as many as possible; returns the number. */
static int open_many(int *fd, int n, const struct perf_event_attr *attr, pid_t thread, int cpu)
{
	for (int i = 0; i < n; i++)
		if ((fd[i] = adversary_open(attr, thread, cpu)) < 0)
			return i;
	return n;
}

static void close_many(const int *fd, int n)
{
	for (int i = 0; i < n; i++)
		close(fd[i]);
}

/* Opens far more events of this thread than there are counters, none of them pinned. */
static void multiplexed(const char *what, uint32_t flags)
{
	struct perf_event_attr attr = adversary_rival();
	int fd[ADVERSARY_EVENTS_MAX], n;
	struct victim v;

	multiplex_fast();
	if (victim_open(&v, flags, 0))
		return;
	if (!machine_is_riscv64()) {
		attr.type = PERF_TYPE_RAW;
		attr.config = machine_is_arm64() ? 0x08 : 0xc0;
	}
	n = open_many(fd, 24, &attr, 0, -1);
	CHECK(n > 0);
	/* Scaled counts are estimates: they may go backward, and have no bounds. */
	if (flags & TACH_SET_MULTIPLEX)
		while (v.reads < adversary_reads() ||
		       (v.flagged == 0 && v.reads < 10 * adversary_reads())) {
			uint64_t delta[TACH_COUNTERS_MAX];
			uint32_t how = victim_region(&v, delta);

			victim_tell(&v, "reads", v.reads);
			v.lost += (how & TACH_FLAG_LOST) != 0;
			if (how == 0)
				judge_region(&v, how, delta, NULL, NULL);
			else
				v.reads += 2, v.regions++, v.flagged++;
		}
	else
		victim_suffer(&v, adversary_reads());
	victim_verdict(&v, what, (uint64_t)n);
	CHECK(v.flagged > 0 || !(flags & TACH_SET_MULTIPLEX), "the set kept its counters");
	CHECK(v.flagged < v.regions || !v.reader->fast, "everything is flagged");
	close_many(fd, n);
	victim_close(&v);
}

static void multiplexing_beside_a_pinned_set(void)
{
	if (!machine_counts_instructions())
		SKIP("no event but cycles");
	multiplexed("multiplexing with a pinned set", 0);
}

static void multiplexing_of_the_set_itself(void)
{
	if (!machine_counts_instructions())
		SKIP("no event but cycles");
	multiplexed("multiplexing of the set itself", TACH_SET_MULTIPLEX);
}

/* The kernel may reschedule the thread, but at least one of many regions has no flag. */
static int is_undisturbed(struct victim *v)
{
	for (int tries = 0; tries < 1000; tries++) {
		uint64_t flagged = v->flagged, regions = v->regions;

		victim_turn(v);
		if (v->lost)
			return 0;
		if (v->flagged - flagged < v->regions - regions)
			return 1;
	}
	return 0;
}

/*
 * Events pinned to the CPU come before events pinned to a thread: when all counters are taken,
 * the victim's group is in error state until it is enabled again.
 */
static void pinned_error_and_recovery(void)
{
	struct perf_event_attr hog = adversary_attr(
		machine_is_riscv64() ? adversary_config() : PERF_COUNT_HW_CPU_CYCLES);
	uint64_t cycles = 0, lost = 0;
	int fd[ADVERSARY_EVENTS_MAX];
	struct victim v;
	cpu_set_t all;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	hog.pinned = 1;
	sched_getaffinity(0, sizeof all, &all);
	adversary_on_cpu(0, 0);
	if (victim_open(&v, 0, 0))
		return;
	for (; cycles < adversary_reads() / 2000; cycles++) {
		int n;

		victim_suffer(&v, v.reads + 500);
		n = open_many(fd, ADVERSARY_EVENTS_MAX, &hog, -1, 0);
		victim_suffer(&v, v.reads + 500);
		lost += v.lost != 0;
		v.lost = 0;
		close_many(fd, n);
		victim_suffer(&v, v.reads + 500);
		tach_reader_close(v.reader);
		if (victim_open_reader(&v))
			break;
		CHECK(is_undisturbed(&v), "still flagged when open anew");
	}
	victim_verdict(&v, "pinned error and recovery", cycles);
	CHECK(lost > 0, "the group never got into error state");
	sched_setaffinity(0, sizeof all, &all);
	victim_close(&v);
}

/* The hard lockup detector holds a counter of every CPU while it is on. */
static void watchdog(void)
{
	static const char path[] = "/proc/sys/kernel/nmi_watchdog";
	uint64_t toggles = 0;
	struct victim v;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (!TACH_ARCH_WATCHDOG || adversary_write(path, "1"))
		SKIP("this kernel's watchdog uses no counter");
	adversary_write(path, "0");
	if (victim_open(&v, 0, 0))
		return;
	while (v.reads < adversary_reads() || toggles < adversary_strikes(50)) {
		adversary_write(path, toggles++ & 1 ? "0" : "1");
		victim_suffer(&v, v.reads + adversary_reads() / 100);
	}
	adversary_write(path, "0");
	victim_verdict(&v, "watchdog", toggles);
	victim_close(&v);
}

/* Every overflow moves the page's offset and sets the counter back. */
static void overflow_of_the_set_itself(void)
{
	struct victim v;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	/*
	 * If the guest's time is the host's, the kernel may find the samples too frequent and
	 * stop a sampling event for a tick, which the reader cannot see.
	 */
	if (!machine_counts_instructions())
		SKIP("the kernel may throttle a sampling event when the host is busy");
	if (victim_open(&v, 0, 20000))
		return;
	victim_suffer(&v, adversary_reads());
	victim_verdict(&v, "overflow of the set itself", tach__reader(v.reader)->hot.count);
	CHECK(v.flagged > 0, "nothing ever overflowed");
	victim_close(&v);
}

static void overflow_of_a_neighbour(void)
{
	struct perf_event_attr attr = adversary_attr(adversary_config());
	struct victim v;
	int fd;

	if (!machine_is_exact())
		SKIP("no event but those of the victim counts often, or cycles alone");
	if (victim_open(&v, 0, 0))
		return;
	attr.sample_period = 5000;
	adversary_never_throttle();
	fd = adversary_open(&attr, 0, -1);
	CHECK(fd >= 0);
	victim_suffer(&v, adversary_reads());
	victim_verdict(&v, "overflow of a neighbour", 1);
	close(fd);
	victim_close(&v);
}

/* Width in bits of the counter of a plain event, or 0 if unknown. */
static unsigned width_of_counters(void)
{
	struct perf_event_attr attr = adversary_attr(adversary_config());
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	unsigned width = 0;
	int fd;

	attr.config1 = machine_is_arm64() ? 2 : 0;
	fd = adversary_open(&attr, 0, -1);
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		width = page->pmc_width;
		munmap(page, size);
	}
	close(fd);
	return width;
}

/*
 * One region of 2^33 cycles: several overflows, and a difference that does not fit into 32
 * bits.
 */
static void region_longer_than_a_counter(void)
{
	/* Cycles are a fixed multiple of instructions: see tests/guest/README.md. */
	const uint64_t ratio = machine_is_arm64() ? 8 : 2;
	const uint64_t turns = ((uint64_t)1 << 33) / ratio / MACHINE_LOOP_INSTRUCTIONS;
	uint64_t delta[TACH_COUNTERS_MAX], want;
	struct tach_mark mark;
	struct victim v;
	uint32_t flags;

	if (!machine_counts_instructions())
		SKIP("no event but cycles");
	if (width_of_counters() > 32)
		SKIP("counters are wider than 32 bits");
	if (victim_open(&v, 0, 0))
		return;
	want = turns * MACHINE_LOOP_INSTRUCTIONS;
	tach_reader_begin(v.reader, &mark);
	machine_loop(turns);
	flags = tach_reader_end(v.reader, &mark, delta);
	printf("# instructions %" PRIu64 ", cycles %" PRIu64 ", flags %x\n", delta[0], delta[1],
	       flags);
	CHECK(!(flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE)));
	CHECK(delta[0] >= want && delta[0] < want + 100000);
	CHECK(delta[1] >= ratio * want && delta[1] < ratio * (want + 100000));
	victim_close(&v);
}

int main(void)
{
	ADVERSARY(multiplexing_beside_a_pinned_set);
	ADVERSARY(multiplexing_of_the_set_itself);
	ADVERSARY(pinned_error_and_recovery);
	ADVERSARY(watchdog);
	ADVERSARY(overflow_of_the_set_itself);
	ADVERSARY(overflow_of_a_neighbour);
	ADVERSARY(region_longer_than_a_counter);
	return check_done();
}
