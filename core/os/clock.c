/* SPDX-License-Identifier: MIT */
/*
 * The region clock's frequency. The first choice is the kernel's own factor, from the page of
 * an open event (cap_user_time: struct perf_event_mmap_page, linux/perf_event.h). The second is
 * the architecture's (arm64: CNTFRQ_EL0). Otherwise it reads this clock and CLOCK_MONOTONIC_RAW
 * twice, without a suspend of the machine in between: when regions are switched on, and when a
 * caller needs the frequency. So a process measures the clock during its whole life, and does
 * not wait. The same reads also yield the error of the frequency. Each reported time includes
 * this error. TACH_CLOCK in the environment has the first pair of reads of an earlier process:
 * "ticks:seconds.nanoseconds:ticks that it took:ns of suspends". CPUID is not used, because it
 * traps in virtual machines.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <tach/flags.h>
#include <tach/reader.h>
#include "core/os/clock.h"
#include "core/os/memory.h"
#include "core/os/perf_open.h"
#include "core/os/sys.h"

#ifndef TACH_CLOCK_HZ /* 1 Hz or more if the architecture states it */
#define TACH_CLOCK_HZ() 0
#endif

struct look {
	uint64_t ticks, width; /* the time was read at one tick in this range */
	double ns;
	double asleep; /* ns for which the machine had been suspended */
};

enum { SUSPENDED = 1000000 }; /* ns; the difference of two clock reads is smaller than this */

static struct look first;
static int state; /* 0 = not read yet, 1 = a thread is reading it, 2 = first is set; no thread
		     waits for it */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/*
 * The region clock may continue while the machine is suspended; CLOCK_MONOTONIC_RAW does not.
 */
static double asleep_ns(void)
{
	double least = INFINITY;

	for (int i = 0; i < 4; i++) {
		struct timespec awake, all;
		double ns;

		clock_gettime(CLOCK_MONOTONIC, &awake);
		clock_gettime(CLOCK_BOOTTIME, &all);
		ns = (double)(all.tv_sec - awake.tv_sec) * 1e9 +
		     (double)(all.tv_nsec - awake.tv_nsec);
		least = ns < least ? ns : least;
	}
	return least;
}

/*
 * Takes the closest of several pairs, because an interrupt between the two clock reads spoils a
 * pair.
 */
static struct look read_pair(void)
{
	struct look best = {0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t before = tach_clock(), after;
		double ns = now_ns();

		after = tach_clock();
		if (after - before < least) {
			least = after - before;
			best = (struct look){before + least / 2, least, ns, 0};
		}
	}
	best.asleep = asleep_ns();
	return best;
}

/* Returns 0 if there is no reading, or if it is from another boot. */
static int inherited_look(struct look *out)
{
	const char *text = secure_getenv("TACH_CLOCK");
	unsigned long long ticks, width;
	long long seconds, ns, asleep;

	if (!text ||
	    sscanf(text, "%llu:%lld.%lld:%llu:%lld", &ticks, &seconds, &ns, &width, &asleep) !=
		    5 ||
	    ticks >= tach_clock())
		return 0;
	*out = (struct look){ticks, width, (double)seconds * 1e9 + (double)ns, (double)asleep};
	return out->ns < now_ns();
}

void tach__clock_start(void)
{
	int none = 0;

	if (!__atomic_compare_exchange_n(&state, &none, 1, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	if (!inherited_look(&first))
		first = read_pair();
	__atomic_store_n(&state, 2, __ATOMIC_RELEASE);
}

static double known; /* 0: not asked yet, < 0: the kernel does not give it */

/* Returns the frequency from ns = ticks * time_mult >> time_shift, or 0 if the kernel does not
 * give these factors. */
static double page_hz(const struct perf_event_mmap_page *page)
{
	return page->cap_user_time && page->time_mult
		       ? ldexp(1e9, page->time_shift) / page->time_mult
		       : 0;
}

void tach__clock_learn(const struct perf_event_mmap_page *page)
{
	double hz = page_hz(page);

	if (hz > 0)
		__atomic_store(&known, &hz, __ATOMIC_RELAXED);
}

/*
 * Opens a software event for its page, because that needs no counter. Do not call it at the end
 * of a process: the first event of a machine makes the kernel wait for all CPUs, 5 to 20 ms
 * (perf_event_open: synchronize_rcu in account_event, kernel/events/core.c).
 */
static double kernel_hz(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	size_t size = tach__pages_round(1);
	double hz = 0;
	long fd, at;

	fd = tach__perf_open(&attr, -1);
	if (fd < 0)
		return 0;
	at = tach__sys(SYS_mmap, 0, (long)size, PROT_READ, MAP_SHARED, fd, 0);
	if (at > 0 || at < -4095) {
		hz = page_hz((const struct perf_event_mmap_page *)at);
		TACH__PAGES_GO();
		tach__sys(SYS_munmap, at, (long)size, 0, 0, 0, 0);
	}
	tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
	return hz;
}

/* The machine was suspended after the first pair, so later pairs are compared with this one. */
static void restart_pairs(const struct look *now)
{
	int set = 2;

	if (!__atomic_compare_exchange_n(&state, &set, 1, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	first = *now;
	__atomic_store_n(&state, 2, __ATOMIC_RELEASE);
}

static double measured_hz(double apart_min, double *error)
{
	struct look begin, end;
	double apart;

	tach__clock_start();
	/* Another thread is reading the first pair, or did so when this process was forked. */
	begin = __atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2 ? first : read_pair();
	end = read_pair();
	if (fabs(end.asleep - begin.asleep) > SUSPENDED) {
		begin = end;
		restart_pairs(&begin);
	}
	if (end.ns - begin.ns < apart_min) {
		struct timespec rest = {0, (long)(apart_min - (end.ns - begin.ns))};

		nanosleep(&rest, NULL);
		end = read_pair();
	}
	apart = (double)(end.ticks - begin.ticks);
	*error = (double)(begin.width + end.width) / 2 / apart;
	return apart * 1e9 / (end.ns - begin.ns);
}

double tach__clock_hz(double apart, uint32_t *flags, double *error)
{
	double hz;

	*error = 0;
	if (TACH_CLOCK_HZ())
		return (double)TACH_CLOCK_HZ();
	__atomic_load(&known, &hz, __ATOMIC_RELAXED);
	if (hz == 0 && apart >= TACH__CLOCK_EXACT) {
		hz = kernel_hz();
		hz = hz > 0 ? hz : -1;
		__atomic_store(&known, &hz, __ATOMIC_RELAXED);
	}
	if (hz > 0)
		return hz;
	*flags |= TACH_FLAG_CLOCK;
	return measured_hz(apart, error);
}
