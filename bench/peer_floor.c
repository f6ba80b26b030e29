/* SPDX-License-Identifier: MIT */
/*
 * The minimal cost: the kernel's documented protocol by hand, inlined, without error handling,
 * provenance or fallback. On x86 the counter is not sign-extended: a difference modulo 2^48 is
 * enough here.
 */
#include <tach/arch.h>
#include "bench/events.h"

const char bench_peer[] = "by hand";

static struct bench_group group;
static uint64_t value[BENCH_EVENTS_MAX], start[BENCH_EVENTS_MAX];

#if defined(__x86_64__)
#define EXTEND(raw, page) (raw)
#define MASK		  0xffffffffffffu
static inline uint64_t counter(uint32_t number)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
	return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
#define EXTEND(raw, page) extend(raw, (page)->pmc_width)
#define MASK		  ~(uint64_t)0
static inline uint64_t extend(uint64_t raw, unsigned width)
{
	unsigned shift = 64u - width;

	return (uint64_t)((int64_t)(raw << shift) >> shift);
}
#define ONE(n)                                                                                 \
	case n:                                                                                \
		__asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(v));                      \
		break;
static inline uint64_t counter(uint32_t number)
{
	uint64_t v = 0;

	switch (number) {
		ONE(0)
		ONE(1)
		ONE(2)
		ONE(3)
		ONE(4)
		ONE(5)
	case 31:
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(v));
	}
	return v;
}
#else
#define EXTEND(raw, page) (raw)
#define MASK		  ~(uint64_t)0
static inline uint64_t counter(uint32_t number)
{
	return number;
}
#endif

static inline __attribute__((always_inline)) uint64_t
read_one(const volatile struct perf_event_mmap_page *page)
{
	uint32_t lock, index;
	uint64_t count;

	do {
		lock = page->lock;
		__asm__ volatile("" ::: "memory");
		index = page->index;
		count = (uint64_t)page->offset;
		if (index)
			count += EXTEND(counter(index - 1), page);
		__asm__ volatile("" ::: "memory");
	} while (page->lock != lock);
	return count;
}

static inline __attribute__((always_inline)) void read_all(uint64_t *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = read_one(group.page[i]);
}

static const char *opened(int n)
{
	const char *reason = bench_open(&group, n, 1);

	return reason ? reason : group.page[0]->index ? NULL : "no user-space reads here";
}

#define READ(n)                                                                                \
	static void run_read##n(uint64_t times)                                                \
	{                                                                                      \
		BENCH_REPEAT(times, read_all(value, n));                                       \
	}
READ(1)
READ(2)
READ(4)
READ(8)

static inline __attribute__((always_inline)) void pair(int n)
{
	read_all(start, n);
	__asm__ volatile("" ::: "memory");
	read_all(value, n);
	for (int i = 0; i < n; i++)
		value[i] = (value[i] - start[i]) & MASK;
}
#define PAIR(n)                                                                                \
	static void run_pair##n(uint64_t times)                                                \
	{                                                                                      \
		BENCH_REPEAT(times, pair(n));                                                  \
	}
PAIR(1)
PAIR(2)
PAIR(4)
PAIR(8)

static void run_open(uint64_t n)
{
	BENCH_REPEAT(n, bench_open_and_close(1));
}

const struct bench_op bench_ops[] = {
	{"read1", opened, run_read1, 1, 0, 0}, {"read2", opened, run_read2, 2, 0, 0},
	{"read4", opened, run_read4, 4, 0, 0}, {"read8", opened, run_read8, 8, 0, 0},
	{"pair1", opened, run_pair1, 1, 0, 0}, {"pair2", opened, run_pair2, 2, 0, 0},
	{"pair4", opened, run_pair4, 4, 0, 0}, {"pair8", opened, run_pair8, 8, 0, 0},
	{"open4", NULL, run_open, 4, 0, 20},   {NULL, NULL, NULL, 0, 0, 0},
};

static uint64_t count(uint64_t n)
{
	uint64_t before = read_one(group.page[0]);

	tach__arch_loop(n);
	return (read_one(group.page[0]) - before) & MASK;
}

const struct bench_counting bench_counting = {opened, count};
