/* SPDX-License-Identifier: MIT */
/*
 * The victim of the adversary programs (src/adv_*.c): a thread that reads its own set
 * repeatedly, and the checks of all its reads. The victim checks under each adversary:
 *
 *   - no count is smaller than the one before;
 *   - no count lies outside two read(2) of the same events before and after: counts between the
 *     two never decrease, so the first and the last suffice;
 *   - no difference is larger than the counts around the region allow;
 *   - a difference without a flag is exact, if the machine's counts are exact; a flagged one
 *     is not too small, unless the flag means that some events were not counted;
 *   - an event in error state is flagged as lost.
 *
 * Environment variables: ADVERSARY_READS is the number of the victim's reads in each program.
 * ADVERSARY_STRIKES is the minimum number of strikes, if the case has no fixed number.
 * ADVERSARY_WAIT shortens the waits, in per cent. ADVERSARY_ONLY names the only case to run.
 */
#ifndef TESTS_GUEST_ADVERSARY_H
#define TESTS_GUEST_ADVERSARY_H

#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <tach/reader.h>
#include "core/reader/reader.h"
#include "core/set/set.h"
#include "tests/check.h"
#include "tests/guest/machine.h"

enum { ADVERSARY_LOOP = 40, ADVERSARY_EVENTS_MAX = 32, ADVERSARY_BATCH = 16 };

struct victim {
	struct tach_set *set;
	struct tach_reader *reader;
	/* the events do not count code of this thread outside its regions */
	int alone;
	int turned_off; /* other code turns the events off: a difference may be too small */
	uint64_t empty; /* the count of an undisturbed region, without its loop */
	uint64_t last[TACH_COUNTERS_MAX];

	uint64_t reads, regions, flagged, lost;
	uint64_t backward, outside, excess, inexact, unflagged;

	time_t told; /* the last line of progress */
	uint64_t so_far;
};

#define ADVERSARY(function)                                                                    \
	do {                                                                                   \
		if (adversary_wanted(#function))                                               \
			CASE(function);                                                        \
	} while (0)

static inline int adversary_wanted(const char *name)
{
	const char *only = getenv("ADVERSARY_ONLY");

	return !only || strcmp(only, name) == 0;
}

static inline uint64_t adversary_reads(void)
{
	const char *reads = getenv("ADVERSARY_READS");

	return reads ? strtoull(reads, NULL, 10) : 100000;
}

/* The number of strikes, for an adversary that needs no other number. */
static inline uint64_t adversary_strikes(uint64_t atleast)
{
	const char *strikes = getenv("ADVERSARY_STRIKES");
	uint64_t wanted = strikes ? strtoull(strikes, NULL, 10) : 0;

	return wanted > atleast ? wanted : atleast;
}

static inline void adversary_sleep(long microseconds)
{
	const char *wait = getenv("ADVERSARY_WAIT");

	if (wait)
		microseconds = microseconds * strtol(wait, NULL, 10) / 100;
	if (!microseconds) {
		sched_yield();
		return;
	}
	nanosleep(&(struct timespec){microseconds / 1000000, microseconds % 1000000 * 1000},
		  NULL);
}

static inline int adversary_on_cpu(pid_t thread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	return sched_setaffinity(thread, sizeof set, &set);
}

static inline int adversary_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	int bad = !file || fputs(text, file) < 0;

	return (file && fclose(file) != 0) || bad ? -1 : 0;
}

/* ---- events that compete with the victim's for counters ---- */

static inline struct perf_event_attr adversary_attr(uint64_t config)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = config;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

static inline int adversary_open(const struct perf_event_attr *attr, pid_t thread, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, thread, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * An event that is counted exactly, or cycles if the machine counts none exactly. QEMU's RISC-V
 * counts only one event of a kind at a time: the victim counts instructions, other events count
 * cycles, which have the same values there.
 */
static inline uint64_t adversary_config(void)
{
	return machine_is_exact() || machine_is_riscv64() ? PERF_COUNT_HW_INSTRUCTIONS
							  : PERF_COUNT_HW_CPU_CYCLES;
}

static inline struct perf_event_attr adversary_rival(void)
{
	return adversary_attr(machine_is_riscv64() ? PERF_COUNT_HW_CPU_CYCLES
						   : adversary_config());
}

/* ---- an adversary in its own process ---- */

struct adversary {
	pid_t process;
	volatile struct adversary_shared {
		uint64_t strikes;
		int stop;
	} * shared;
};

/* Calls strike(arg) repeatedly from now on; arg is the child's copy. */
static inline void adversary_start(struct adversary *a, void (*strike)(void *), void *arg)
{
	a->shared = mmap(NULL, sizeof *a->shared, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fflush(stdout);
	a->process = fork();
	if (a->process != 0)
		return;
	for (; !a->shared->stop; a->shared->strikes++)
		strike(arg);
	_exit(0);
}

/* An adversary runs until it is stopped, so one that has exited has failed. */
static inline int adversary_lives(const struct adversary *a)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)a->process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == 0;
}

/*
 * It is not killed, because the victim may be stopped by it. No blocking call waits for it,
 * because it may wait for the victim's next step. Returns the number of its strikes.
 */
static inline uint64_t adversary_stop(struct adversary *a)
{
	uint64_t strikes;

	a->shared->stop = 1;
	while (waitpid(a->process, NULL, WNOHANG) == 0)
		sched_yield();
	strikes = a->shared->strikes;
	munmap((void *)a->shared, sizeof *a->shared);
	return strikes;
}

/* ---- the victim ---- */

static inline int victim_open_reader(struct victim *v)
{
	struct tach_error err = TACH_ERROR_INIT;
	int bad = tach_reader_open(v->set, &v->reader, &err);

	CHECK(bad == 0, "%d: %s", bad, err.text);
	memset(v->last, 0, sizeof v->last);
	return bad;
}

/* Out of line, so that every region has the same instructions. */
static __attribute__((noinline)) uint32_t victim_region(const struct victim *v, uint64_t *delta)
{
	struct tach_mark mark;

	tach_reader_begin(v->reader, &mark);
	machine_loop(ADVERSARY_LOOP);
	return tach_reader_end(v->reader, &mark, delta);
}

/*
 * Takes the shortest of some undisturbed regions: the count of every undisturbed region. A
 * flagged region may count less, because its begin was read later.
 */
static inline void victim_calibrate(struct victim *v)
{
	v->empty = UINT64_MAX;
	for (int i = 0; i < 100; i++) {
		uint64_t delta[TACH_COUNTERS_MAX];

		if (victim_region(v, delta) == 0 && delta[0] < v->empty)
			v->empty = delta[0];
	}
	v->empty -= ADVERSARY_LOOP * MACHINE_LOOP_INSTRUCTIONS;
}

/*
 * A sampling event that interrupts too often is throttled: the kernel stops its counter until
 * the next tick, and neither page nor read(2) shows it. This test covers everything except
 * throttling.
 */
static inline void adversary_never_throttle(void)
{
	/* The order matters: with 0 percent the rate is fixed. */
	adversary_write("/proc/sys/kernel/perf_event_max_sample_rate", "10000000");
	adversary_write("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
}

/* sample_period 0: plain counting. flags: TACH_SET_*. */
static inline int victim_open(struct victim *v, uint32_t flags, uint64_t sample_period)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr[2] = {adversary_attr(adversary_config()),
					  adversary_attr(PERF_COUNT_HW_CPU_CYCLES)};
	struct tach_set_member member[2] = {{"first", &attr[0]}, {"cycles", &attr[1]}};
	struct tach_error err = TACH_ERROR_INIT;
	int bad;

	memset(v, 0, sizeof *v);
	v->alone = 1;
	if (sample_period)
		adversary_never_throttle();
	opt.attrs = member;
	opt.nattrs = machine_is_exact() ? 2 : 1;
	opt.flags = flags;
	bad = tach_set_create(&opt, &v->set, &err);
	CHECK(bad == 0, "%d: %s", bad, err.text);
	if (bad)
		return -1;
	/* Sets refuse this; here it lets counters overflow often. */
	v->set->member[0].attr.sample_period = sample_period;
	if (victim_open_reader(v))
		return -1;
	victim_calibrate(v);
	return 0;
}

static inline void victim_close(struct victim *v)
{
	tach_reader_close(v->reader);
	tach_set_free(v->set);
}

static inline void judge_counts(struct victim *v, uint32_t flags, const uint64_t *value)
{
	v->reads++;
	if (flags & TACH_FLAG_LOST) {
		v->lost++;
		return;
	}
	for (uint32_t i = 0; i < v->reader->count; i++) {
		if (value[i] < v->last[i] && v->backward++ == 0)
			printf("# member %u: %" PRIu64 " after %" PRIu64 ", flags %x\n", i,
			       value[i], v->last[i], flags);
		v->last[i] = value[i];
	}
}

static inline void judge_region(struct victim *v, uint32_t flags, const uint64_t *delta,
				const uint64_t *before, const uint64_t *after)
{
	const uint64_t loop = ADVERSARY_LOOP * MACHINE_LOOP_INSTRUCTIONS;
	const int quiet = flags == 0 && v->alone;

	v->reads += 2;
	v->regions++;
	v->flagged += flags != 0;
	if (flags & TACH_FLAG_LOST)
		return;
	for (uint32_t i = 0; before && i < v->reader->count; i++)
		v->excess += delta[i] > after[i] - before[i];
	if (!machine_counts_instructions())
		return;
	/* The count may include the kernel's instructions. */
	if (quiet && (machine_counts_kernel() ? delta[0] >= v->empty + loop
					      : delta[0] == v->empty + loop))
		return;
	if (!quiet &&
	    (delta[0] >= loop || flags & TACH_FLAG_INCOMPLETE || (flags && v->turned_off)))
		return;
	if (v->inexact++ == 0)
		printf("# a region of %" PRIu64 " counted %" PRIu64 ", flags %x\n",
		       v->empty + loop, delta[0], flags);
}

/* A region between two counts; the first count follows the previous region. */
static inline void victim_step(struct victim *v, uint64_t *before, uint32_t *flags_before)
{
	uint64_t delta[TACH_COUNTERS_MAX], after[TACH_COUNTERS_MAX];
	uint32_t flags = victim_region(v, delta),
		 flags_after = tach_reader_read(v->reader, after);
	int lost = (*flags_before | flags_after) & TACH_FLAG_LOST;

	judge_counts(v, flags_after, after);
	judge_region(v, flags, delta, lost ? NULL : before, after);
	memcpy(before, after, sizeof after);
	*flags_before = flags_after;
}

/*
 * Returns true if the kernel's own count of a sampler grew by 2^width, and its page does not
 * show that yet. src/adv_samplers.c shows the cause. A read after that contains only the
 * instructions up to it.
 */
static inline int victim_grew(const struct victim *v, uint32_t i, uint64_t ahead)
{
	unsigned width = tach__reader(v->reader)->hot.way[i].page->pmc_width;

	return v->set->member[i].attr.sample_period && width >= 32 && width < 64 &&
	       (UINT64_C(1) << width) - ahead < 1000;
}

/* Three reads per region, one more at the start, all between two calls of read(2). */
static inline void victim_turn(struct victim *v)
{
	const struct tach__group *group = &tach__reader(v->reader)->hard;
	struct tach__group_read low, high;
	uint64_t first[TACH_COUNTERS_MAX], count[TACH_COUNTERS_MAX], lost = v->lost;
	int before = tach__group_read(group, &low), after;
	uint32_t flags = tach_reader_read(v->reader, first);

	judge_counts(v, flags, first);
	memcpy(count, first, sizeof count);
	for (int i = 0; i < ADVERSARY_BATCH; i++)
		victim_step(v, count, &flags);
	after = tach__group_read(group, &high);
	if (before == 0 && after == 0)
		v->unflagged += v->lost == lost;
	if (v->lost != lost || before != 1 || after != 1)
		return;
	for (uint32_t i = 0; i < v->reader->count; i++) {
		if (first[i] >= low.value[i] && count[i] <= high.value[i])
			continue;
		if (victim_grew(v, i, low.value[i] - first[i])) {
			printf("# member %u: the kernel's own count is %" PRIu64
			       ", ours %" PRIu64 "\n",
			       i, low.value[i], first[i]);
			continue;
		}
		if (v->outside++ == 0)
			printf("# member %u: read(2) %" PRIu64 ", then %" PRIu64 " .. %" PRIu64
			       ", read(2) %" PRIu64 "\n",
			       i, low.value[i], first[i], count[i], high.value[i]);
	}
}

/*
 * Prints a line from time to time while it makes progress: tests/guest/boot treats a long
 * silence as a hang, and the machine may be slow. so_far must grow.
 */
static inline void victim_tell(struct victim *v, const char *what, uint64_t so_far)
{
	time_t now = time(NULL);

	if (v->told == 0)
		v->told = now;
	if (now - v->told < 20 || so_far == v->so_far)
		return;
	printf("# %" PRIu64 " %s so far\n", so_far, what);
	fflush(stdout);
	v->told = now;
	v->so_far = so_far;
}

static inline void victim_suffer(struct victim *v, uint64_t reads)
{
	while (v->reads < reads) {
		victim_tell(v, "reads", v->reads);
		victim_turn(v);
	}
}

/*
 * Returns true while the test must continue. It needs the reads, the number of strikes, and an
 * effect of the adversary. A strike may have no effect, so the test waits for one up to
 * STRIKES_MAX times longer than for the strikes. A victim that waits sleeps between its turns,
 * so that the adversary gets a scarce processor.
 */
enum { STRIKES_MAX = 1000 };

static inline int victim_must_go_on(struct victim *v, const struct adversary *a,
				    uint64_t atleast, int effect)
{
	uint64_t strikes = a->shared->strikes;

	if (v->reads < adversary_reads()) {
		victim_tell(v, "reads", v->reads);
		return 1;
	}
	if (strikes >= adversary_strikes(atleast) &&
	    (effect || strikes >= STRIKES_MAX * atleast))
		return 0;
	if (!adversary_lives(a)) {
		CHECK(0, "the adversary ended after %" PRIu64 " strikes", strikes);
		return 0;
	}
	victim_tell(v, "strikes", strikes);
	/* On one processor the victim yields; with more, a sleeping victim cannot be hit. */
	if (effect || sysconf(_SC_NPROCESSORS_ONLN) == 1)
		adversary_sleep(100);
	return 1;
}

/* stops: the effect of the strikes must show in the flags of some region. */
static inline void victim_suffer_from(struct victim *v, const struct adversary *a,
				      uint64_t atleast, int stops)
{
	while (victim_must_go_on(v, a, atleast, !stops || v->flagged > 0))
		victim_turn(v);
	CHECK(!stops || v->flagged > 0, "nothing was ever flagged");
}

static inline void victim_judged(const struct victim *v)
{
	CHECK(v->backward == 0, "%" PRIu64 " counts went backward", v->backward);
	CHECK(v->outside == 0, "%" PRIu64 " counts outside of read(2)'s", v->outside);
	CHECK(v->excess == 0, "%" PRIu64 " differences too large", v->excess);
	CHECK(v->inexact == 0, "%" PRIu64 " differences wrong and not flagged so", v->inexact);
	CHECK(v->unflagged == 0, "%" PRIu64 " reads of a lost event not flagged", v->unflagged);
}

static inline void victim_verdict(const struct victim *v, const char *what, uint64_t strikes)
{
	printf("# %s: %" PRIu64 " strikes, %" PRIu64 " reads, %" PRIu64
	       " regions, of which %" PRIu64 " flagged, %" PRIu64 " lost\n",
	       what, strikes, v->reads, v->regions, v->flagged, v->lost);
	victim_judged(v);
}

#endif
