/* SPDX-License-Identifier: MIT */
/*
 * Regions count exactly the instructions of a loop of known length: in the region itself and in
 * every enclosing region, on any thread, from the first entry on. Compiled by tests/guest in
 * several ways (REGION_EXACT names them), because the compiler chooses the instructions of a
 * site.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tach.h>
#include "tests/guest/known_loop.h"
#include "tests/guest/machine.h"

static int failures, checks, unflagged;
static uint32_t counters, histograms, sparse_mode;

/*
 * If the kernel's instructions count too (tests/guest/machine.h), the loop is short enough to
 * fit between two ticks, in most cases.
 */
#ifdef __riscv
enum { MILLION = 50000, LONG = 20 };
#else
enum { MILLION = 1000000, LONG = 2000 };
#endif

static struct tach_snapshot *shot;
static int64_t slack; /* accepted difference */

static int find(const char *name, struct tach_region_info *info)
{
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		memset(info, 0, sizeof *info);
		tach_snapshot_region(shot, r, info);
		if (strcmp(info->name, name) == 0)
			return r;
	}
	return -1;
}

/* In loops: 2 n + SETUP instructions, n branches. */
static int64_t in(const char *event, int64_t taken, int loops)
{
	if (strcmp(event, "instructions") == 0 || strcmp(event, "r08") == 0)
		return taken;
	return strcmp(event, "branches") == 0 ? (taken - SETUP * loops) / 2 : -1;
}

/* `loops`: how many loops are inside, in all calls. */
static void expect(const char *test, const char *name, int64_t inclusive, int loops,
		   int64_t self, int self_loops)
{
	struct tach_region_info info;
	int r;

	tach_snapshot_free(shot);
	shot = NULL;
	if (tach_snapshot_take(&shot, NULL) != 0 || (r = find(name, &info)) < 0) {
		printf("# %s: no region %s\n", test, name);
		failures++;
		return;
	}
	for (uint32_t q = 1; q <= counters; q++)
		for (int part = 0; part < 2; part++) {
			const char *event = tach_snapshot_quantity(shot, (int)q);
			int64_t got, want = part ? in(event, self, self_loops)
						 : in(event, inclusive, loops);
			struct tach_value v;

			memset(&v, 0, sizeof v);
			tach_snapshot_value(shot, r, (int)q,
					    part ? TACH_PART_SELF : TACH_PART_INCLUSIVE, &v);
			got = (int64_t)(v.raw - v.overhead);
			if (want < 0)
				continue;
			checks++;
			if (got >= want && got <= want + slack &&
			    (double)got == v.raw - v.overhead)
				continue;
			failures++;
			unflagged += info.provenance[0] == 0;
			printf("# %s, %u counters%s: %s of %s, %s, is %" PRId64 ", %+" PRId64
			       " off in %d calls%s\n",
			       test, counters, histograms ? " and histograms" : "", event, name,
			       part ? "self" : "inclusive", got, got - want, (int)info.calls,
			       info.provenance[0] ? " (rescheduled)" : "");
		}
}

static const struct event {
	const char *name;
	uint32_t type;
	uint64_t config;
} events[] = {
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
#if defined(__aarch64__)
	{"stalls", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"r08", PERF_TYPE_RAW, 8}, /* instructions again, on a general counter */
	{"r23", PERF_TYPE_RAW, 0x23},
	{"r24", PERF_TYPE_RAW, 0x24},
#elif defined(__riscv)
#define DTLB(op) PERF_COUNT_HW_CACHE_DTLB | (op) << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16
	/* QEMU has one counter for each kind of event, and these are all it has. */
	{"dTLB-load-misses", PERF_TYPE_HW_CACHE, DTLB(PERF_COUNT_HW_CACHE_OP_READ)},
	{"dTLB-store-misses", PERF_TYPE_HW_CACHE, DTLB(PERF_COUNT_HW_CACHE_OP_WRITE)},
#else
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
#endif
};
enum { NEVENTS = sizeof events / sizeof *events };

/*
 * Opens `counters` events of the list from number `first` on, cyclically. Returns 0 if they do
 * not fit this machine.
 */
static int begin(unsigned first)
{
	const struct event *event;
	struct tach_regions_options opt;
	struct tach_set_options set = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr[TACH_COUNTERS_MAX];
	struct tach_set_member member[TACH_COUNTERS_MAX];
	struct tach_error err;

	memset(&opt, 0, sizeof opt);
	memset(attr, 0, sizeof attr);
	memset(&err, 0, sizeof err);
	err.size = 0;
	opt.histograms = histograms;
	opt.sparse = sparse_mode;
	for (uint32_t i = 0; i < counters; i++) {
		event = &events[(first + i) % NEVENTS];
		attr[i].type = event->type;
		attr[i].size = sizeof attr[i];
		attr[i].config = event->config;
		attr[i].exclude_kernel = attr[i].exclude_hv = 1;
		member[i].name = event->name;
		member[i].attr = &attr[i];
	}
	set.attrs = member;
	set.nattrs = (int)counters;
	if (tach_set_create(&set, &opt.set, &err) == 0 &&
	    tach_regions_configure(&opt, &err) == 0)
		return 1;
	printf("# %s\n", err.text);
	failures += err.code != TACH_ERR_NOCOUNTER;
	return 0;
}

static void alone(void)
{
	for (int i = 0; i < 100; i++) {
		TACH_START(ten);
		LOOP(10);
		TACH_STOP(ten);
	}
	TACH_START(million);
	LOOP(MILLION);
	TACH_STOP(million);
	TACH_START_FENCED(fenced);
	LOOP(1000);
	TACH_STOP(fenced);
	TACH_START(empty);
	TACH_STOP(empty);
	expect("alone", "ten", 100 * TAKES(10), 100, 100 * TAKES(10), 100);
	expect("alone", "million", TAKES(MILLION), 1, TAKES(MILLION), 1);
	expect("alone", "fenced", TAKES(1000), 1, TAKES(1000), 1);
	expect("alone", "empty", 0, 0, 0, 0);
}

/*
 * Flat regions: not nested, and with nesting that makes them general. The very first entries
 * are not flat.
 */
static __attribute__((noinline)) void flat_in_others(void)
{
	TACH_START_FLAT(fa);
	LOOP(10);
	TACH_START(fb);
	LOOP(20);
	TACH_STOP(fb);
	TACH_START_FLAT(fc);
	LOOP(30);
	TACH_STOP(fc);
	LOOP(10);
	TACH_STOP(fa);
}

static __attribute__((noinline)) void flat_around_none(void)
{
	TACH_START_FLAT(fd);
	LOOP(1000);
	TACH_STOP(fd);
}

static void flat(void)
{
	static struct tach_site r = TACH_SITE_INIT("fr", TACH_SITE_FLAT, "");
	struct tach_region_mark mark[2];

	for (int i = 0; i < 100; i++) {
		TACH_START_FLAT(ften);
		LOOP(10);
		TACH_STOP(ften);
	}
	for (int i = 0; i < 10; i++) {
		flat_in_others();
		flat_around_none();
		TACH_START_FLAT(fe);
		TACH_STOP(fe);
		tach__region_start(TACH_ADDRESS(r), &mark[1]);
		LOOP(10);
		tach__region_start(TACH_ADDRESS(r), &mark[0]);
		LOOP(20);
		tach__region_stop(&mark[0]);
		tach__region_stop(&mark[1]);
	}
	expect("flat", "ften", 100 * TAKES(10), 100, 100 * TAKES(10), 100);
	/* This was the first flat region entered inside the first entries. */
	slack = 16;
	expect("flat", "fa", 10 * (2 * TAKES(10) + TAKES(20) + TAKES(30)), 40, 20 * TAKES(10),
	       20);
	slack = 0;
	expect("flat", "fb", 10 * TAKES(20), 10, 10 * TAKES(20), 10);
	expect("flat", "fc", 10 * TAKES(30), 10, 10 * TAKES(30), 10);
	expect("flat", "fd", 10 * TAKES(1000), 10, 10 * TAKES(1000), 10);
	expect("flat", "fe", 0, 0, 0, 0);
	slack = 16;
	expect("flat", "fr", 10 * (TAKES(10) + TAKES(20)), 20, 10 * (TAKES(10) + TAKES(20)),
	       20);
	slack = 0;
}

/*
 * No loop may surround regions inside a region: its instructions would be counted. The first
 * round has all first entries.
 */
#define NEST(name, by)                                                                         \
	static __attribute__((noinline)) void name(void)                                       \
	{                                                                                      \
		TACH_START(a);                                                                 \
		LOOP(10 * by);                                                                 \
		TACH_START(b);                                                                 \
		LOOP(20 * by);                                                                 \
		TACH_START_FENCED(c);                                                          \
		LOOP(30 * by);                                                                 \
		TACH_START(d);                                                                 \
		LOOP(40 * by);                                                                 \
		TACH_STOP(d);                                                                  \
		TACH_STOP(c);                                                                  \
		TACH_START(e);                                                                 \
		TACH_STOP(e);                                                                  \
		TACH_STOP(b);                                                                  \
		TACH_START_FENCED(f);                                                          \
		LOOP(50 * by);                                                                 \
		TACH_STOP(f);                                                                  \
		LOOP(10 * by);                                                                 \
		TACH_STOP(a);                                                                  \
	}
NEST(nest, 1)
NEST(nest_long, LONG)

static void nested_after(int rounds, int by, const char *test)
{
	expect(test, "a",
	       rounds * (2 * TAKES(10 * by) + TAKES(20 * by) + TAKES(30 * by) + TAKES(40 * by) +
			 TAKES(50 * by)),
	       rounds * 6, rounds * 2 * TAKES(10 * by), rounds * 2);
	expect(test, "b", rounds * (TAKES(20 * by) + TAKES(30 * by) + TAKES(40 * by)),
	       rounds * 3, rounds * TAKES(20 * by), rounds);
	expect(test, "c", rounds * (TAKES(30 * by) + TAKES(40 * by)), rounds * 2,
	       rounds * TAKES(30 * by), rounds);
	expect(test, "d", rounds * TAKES(40 * by), rounds, rounds * TAKES(40 * by), rounds);
	expect(test, "e", 0, 0, 0, 0);
	expect(test, "f", rounds * TAKES(50 * by), rounds, rounds * TAKES(50 * by), rounds);
}

static void nested(void)
{
	nest();
	nested_after(1, 1, "first entries");
	for (int i = 0; i < 9; i++)
		nest();
	nested_after(10, 1, "nested");
}

/*
 * On arm64 each START computes the address again, as calibration does; x86 compilers keep it.
 */
#if defined(__x86_64__)
#define KEEP(at, site)                                                                         \
	struct tach_site *at = TACH_ADDRESS(site);                                             \
	__asm__ volatile("" : "+r"(at))
#else
#define KEEP(at, site)
#define at_v TACH_ADDRESS(v)
#define at_w TACH_ADDRESS(w)
#endif

/* A compiler that puts a recursion into one frame may place the marks in any order. */
static __attribute__((noinline)) void recursive_above(void)
{
	static struct tach_site v = TACH_SITE_INIT("v", 0, ""), w = TACH_SITE_INIT("w", 1, "");
	struct tach_region_mark mark[2], other[2];
	KEEP(at_v, v);
	KEEP(at_w, w);

	TACH_START(over);
	tach__region_start(at_v, &mark[0]);
	LOOP(10);
	tach__region_start(at_v, &mark[1]);
	LOOP(20);
	tach__region_stop(&mark[1]);
	LOOP(30);
	tach__region_stop(&mark[0]);
	tach__region_start(at_w, &other[0]);
	LOOP(40);
	tach__region_start(at_w, &other[1]);
	LOOP(50);
	tach__region_stop(&other[1]);
	tach__region_stop(&other[0]);
	TACH_STOP(over);
}

/* r in r in r, with s between, written out, because a call's instructions would count too. */
static void recursive(void)
{
	static struct tach_site r = TACH_SITE_INIT("r", 0, ""), s = TACH_SITE_INIT("s", 0, "");

	for (int i = 0; i < 3; i++) {
		/* As with calls, nested marks have lower addresses. */
		struct tach_region_mark mark[3], between;

		TACH_START(around);
		tach__region_start(TACH_ADDRESS(r), &mark[2]);
		LOOP(10);
		tach__region_start(TACH_ADDRESS(r), &mark[1]);
		LOOP(20);
		tach__region_start(TACH_ADDRESS(s), &between);
		LOOP(30);
		tach__region_start(TACH_ADDRESS(r), &mark[0]);
		LOOP(40);
		tach__region_stop(&mark[0]);
		tach__region_stop(&between);
		tach__region_stop(&mark[1]);
		tach__region_stop(&mark[2]);
		TACH_STOP(around);
	}
	for (int i = 0; i < 3; i++)
		recursive_above();
	expect("recursive", "v", 3 * (TAKES(10) + TAKES(20) + TAKES(30)), 9,
	       3 * (TAKES(10) + TAKES(20) + TAKES(30)), 9);
	expect("recursive", "w", 3 * (TAKES(40) + TAKES(50)), 6, 3 * (TAKES(40) + TAKES(50)),
	       6);
	expect("recursive", "over",
	       3 * (TAKES(10) + TAKES(20) + TAKES(30) + TAKES(40) + TAKES(50)), 15, 0, 0);
	expect("recursive", "r", 3 * (TAKES(10) + TAKES(20) + TAKES(30) + TAKES(40)), 12,
	       3 * (TAKES(10) + TAKES(20) + TAKES(40)), 9);
	expect("recursive", "s", 3 * (TAKES(30) + TAKES(40)), 6, 3 * TAKES(30), 3);
	expect("recursive", "around", 3 * (TAKES(10) + TAKES(20) + TAKES(30) + TAKES(40)), 12,
	       0, 0);
}

/*
 * Number of earlier attempts. A busy machine has more ticks during a long test, so each attempt
 * is shorter.
 */
static unsigned tries;

static int fewer(int calls)
{
	int n = calls >> (tries < 40 ? tries / 10 : 4);

	return n ? n : 1;
}

static void *in_thread(void *arg)
{
	for (int i = 0; i < fewer(10); i++)
		nest_long();
	return arg;
}

/* The threads' slots are not ready, although the sites are known. */
static void threads(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, in_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	nested_after(4 * fewer(10), LONG, "threads");
}

/* Long enough for the kernel to interrupt it. */
static void rescheduled(void)
{
	struct tach_region_info info;
	int calls = fewer(20);

	for (int i = 0; i < calls; i++) {
		TACH_START(outside);
		TACH_START(long_one);
		LOOP(4000000);
		TACH_STOP(long_one);
		TACH_STOP(outside);
	}
	expect("rescheduled", "long_one", calls * TAKES(4000000), calls, calls * TAKES(4000000),
	       calls);
	expect("rescheduled", "outside", calls * TAKES(4000000), calls, 0, 0);
	if (shot && find("long_one", &info) >= 0)
		printf("# %d of %d were rescheduled\n", (int)info.provenance[0], calls);
}

static void flat_rescheduled(void)
{
	struct tach_region_info info;
	int calls = fewer(20);

	for (int i = 0; i < calls; i++) {
		TACH_START_FLAT(long_flat);
		LOOP(4000000);
		TACH_STOP(long_flat);
	}
	expect("flat, rescheduled", "long_flat", calls * TAKES(4000000), calls,
	       calls * TAKES(4000000), calls);
	if (shot && find("long_flat", &info) >= 0)
		printf("# %d of %d flat ones were rescheduled\n", (int)info.provenance[0],
		       calls);
}

/*
 * Expects this mean of the measured entries, with any mix of measured and skipped entries
 * inside.
 */
static void expect_mean(const char *name, int64_t takes)
{
	struct tach_region_info info;
	struct tach_value v;
	double entries, mean;
	int r;

	memset(&v, 0, sizeof v);
	tach_snapshot_free(shot);
	shot = NULL;
	if (tach_snapshot_take(&shot, NULL) != 0 || (r = find(name, &info)) < 0 ||
	    !info.calls) {
		printf("# sparse: no region %s\n", name);
		failures++;
		return;
	}
	tach_snapshot_value(shot, r, 1, TACH_PART_INCLUSIVE, &v);
	entries = (double)(info.calls + info.skipped);
	mean = (v.raw - v.overhead) / entries;
	checks++;
	/* Drawing a random gap takes a varying number of instructions. */
	if (mean >= (double)takes - 3 && mean <= (double)takes + 3)
		return;
	failures++;
	unflagged += info.provenance[0] == 0;
	printf("# sparse, %u counters: instructions of an entry of %s are %.2f, not %" PRId64
	       ", in %d of %.0f\n",
	       counters, name, mean, takes, (int)info.calls, entries);
}

static void sparse(void)
{
	for (int i = 0; i < 1000; i++) {
		TACH_START(sampled);
		LOOP(10);
		TACH_START(in_sampled);
		LOOP(20);
		TACH_STOP(in_sampled);
		TACH_STOP(sampled);
	}
	expect_mean("in_sampled", TAKES(20));
	expect_mean("sampled", TAKES(10) + TAKES(20));
}

/*
 * In the about forty instructions in which an edge reads its counters, the kernel may interrupt
 * the edge: at a tick, and more often while threads share processors. Such an entry is read
 * again and flagged; all others are exact. Attempts start at different times: an emulator
 * repeats exactly, so the tick would always hit the same place.
 */
enum { TRIES = 200 };

static void undisturbed(void (*test)(void), unsigned first)
{
	int before = failures;

	for (tries = 0; tries < TRIES; tries++) {
		failures = before;
		usleep(tries % 10 * 777);
		if (!begin(first))
			return;
		test();
		if (failures == before || (unflagged && !machine_counts_kernel()))
			return;
	}
}

int main(int argc, char **argv)
{
	static const struct {
		uint32_t counters, first, histograms;
	} sets[] = {{4, 0, 0}, {1, 0, 0}, {4, 3, 0}, {2, 0, 0},
		    {3, 4, 0}, {6, 0, 0}, {4, 0, 1}, {1, 0, 1}};

	(void)argc;
	/* The exception is a tick of the kernel; then undisturbed() repeats. */
	if (!machine_is_exact() && !(machine_has_pmu() && machine_counts_kernel())) {
		puts("instruction counts are not exact on this machine");
		return 77;
	}
	for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
		counters = sets[i].counters;
		if (counters > NEVENTS)
			continue; /* each event only once: see the events of RISC-V */
		histograms = sets[i].histograms;
		undisturbed(alone, sets[i].first);
		undisturbed(flat, sets[i].first);
		undisturbed(nested, sets[i].first);
		undisturbed(recursive, sets[i].first);
		sparse_mode = 5;
		if (strcmp(events[sets[i].first].name, "instructions") == 0)
			undisturbed(sparse, sets[i].first);
		sparse_mode = 0;
		/* Ticks and switches are counted there. */
		if (machine_counts_kernel())
			continue;
		undisturbed(threads, sets[i].first);
		undisturbed(rescheduled, sets[i].first);
		undisturbed(flat_rescheduled, sets[i].first);
	}
	tach_snapshot_free(shot);
	printf("%s %s\n", failures ? "not ok" : "ok",
	       strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0]);
	printf("# %d sums\n", checks);
	return failures != 0;
}
