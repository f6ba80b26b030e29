/* SPDX-License-Identifier: MIT */
/* This library's operations. */
#include <stdlib.h>
#include <time.h>
#include <tach.h>
#include "bench/driver.h"
#include "tach-mini.h"

const char bench_peer[] = "tach";

static struct tach_set *set;
static struct tach_reader *reader;
static uint64_t value[TACH_COUNTERS_MAX];
static struct tach_mark mark;

static const char *make_set(int n)
{
	static struct tach_error err = TACH_ERROR_INIT;
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr[BENCH_EVENTS_MAX];
	struct tach_set_member member[BENCH_EVENTS_MAX];

	for (int i = 0; i < n; i++) {
		attr[i] = (struct perf_event_attr){.type = bench_events[i].type,
						   .size = sizeof *attr,
						   .config = bench_events[i].config,
						   .exclude_kernel = 1,
						   .exclude_hv = 1};
		member[i] = (struct tach_set_member){bench_events[i].tach, &attr[i]};
	}
	opt.attrs = member;
	opt.nattrs = n;
	return tach_set_create(&opt, &set, &err) == 0 ? NULL : err.text;
}

static const char *opened(int n)
{
	static struct tach_error err = TACH_ERROR_INIT;
	const char *reason = make_set(n);

	if (reason)
		return reason;
	if (tach_reader_open(set, &reader, &err) != 0)
		return err.text;
	return reader->fast ? NULL : tach_reader_missing(reader);
}

#define READ(n)                                                                                \
	static void run_read##n(uint64_t times)                                                \
	{                                                                                      \
		BENCH_REPEAT(times, tach_reader_read_n(reader, value, n));                     \
	}                                                                                      \
	static void run_pair##n(uint64_t times)                                                \
	{                                                                                      \
		BENCH_REPEAT(times, tach_reader_begin_n(reader, &mark, n);                     \
			     tach_reader_end_n(reader, &mark, value, n));                      \
	}
READ(1)
READ(2)
READ(4)
READ(8)

/* The work of each additional thread. */
static void open_and_close(void)
{
	struct tach_reader *mine;

	if (tach_reader_open(set, &mine, NULL) == 0)
		tach_reader_close(mine);
}

static void run_open(uint64_t n)
{
	BENCH_REPEAT(n, open_and_close());
}

static const char *regions_with(int n, const char *worst)
{
	static struct tach_error err = TACH_ERROR_INIT;
	struct tach_regions_options opt = {.size = sizeof opt, .worst = worst};
	const char *reason = make_set(n);

	if (reason)
		return reason;
	opt.set = set;
	return tach_regions_configure(&opt, &err) == 0 ? NULL : err.text;
}

static const char *regions(int n)
{
	return regions_with(n, NULL);
}

static const char *regions_divided(int n)
{
	const char *reason;

	setenv("TACH_BY", "tag,task", 1);
	reason = regions_with(n, NULL);
	unsetenv("TACH_BY");
	tach_tag(7);
	return reason;
}

/* Writes only to the ring: no file was named at process start. */
static const char *regions_traced(int n)
{
	const char *reason;

	setenv("TACH_TRACE", "/dev/null", 1);
	reason = regions_with(n, NULL);
	unsetenv("TACH_TRACE");
	return reason;
}

static const char *switched_off(int n)
{
	(void)n;
	tach_regions_disable();
	return NULL;
}

/* The place is one region, even if it is inlined several times. */
static inline __attribute__((always_inline)) void region(long ms)
{
	TACH_START(loop);
	if (ms)
		nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
	TACH_STOP(loop);
}

/*
 * Every entry is compared but not kept: the entries that are kept took longer than any
 * interrupted entry.
 */
static const char *regions_worst(int n)
{
	const char *reason = regions_with(n, "8");

	for (int i = 0; !reason && i < 8; i++)
		region(50);
	return reason;
}

/*
 * Counts n itself down. Compilers would move the hidden counter of BENCH_REPEAT between
 * registers around code that branches.
 */
#define REPEAT(n, statement)                                                                   \
	for (; n; n--) {                                                                       \
		statement;                                                                     \
		__asm__ volatile("" : : : "memory");                                           \
	}

static void run_region(uint64_t n)
{
	REPEAT(n, region(0));
}

static inline __attribute__((always_inline)) void region_flat(void)
{
	TACH_START_FLAT(flat);
	TACH_STOP(flat);
}

static void run_flat(uint64_t n)
{
	REPEAT(n, region_flat());
}

static inline __attribute__((always_inline)) void named(const char *name)
{
	TACH_START_NAMED(name);
	TACH_STOP_NAMED();
}

/* A name that is not a constant is hashed and compared each time. */
static void run_named(uint64_t n)
{
	const char *name = "loop";

	__asm__("" : "+r"(name));
	REPEAT(n, named(name));
}

static inline __attribute__((always_inline)) void nested(void)
{
	TACH_START(outer);
	TACH_START(inner);
	TACH_STOP(inner);
	TACH_STOP(outer);
}

static void run_nested(uint64_t n)
{
	REPEAT(n, nested());
}

/* The same five operators that PAPI evaluates. */
static struct tach_formula *formula;
static const char *compiled(int n)
{
	static struct tach_error err = TACH_ERROR_INIT;
	struct tach_formula_options opt = {
		.size = sizeof opt, .kind = TACH_FORMULA_POSTFIX, .noperands = n};

	return tach_formula_compile("N0|N1|-|N2|+|N3|*|1000|/|N0|+|", &opt, &formula, &err) == 0
		       ? NULL
		       : err.text;
}
static void run_derived(uint64_t n)
{
	static uint64_t operand[4] = {1000000, 500000, 20000, 30};
	uint32_t flags = 0;

	BENCH_REPEAT(n, double v = tach_formula_eval(formula, operand, 1000, &flags);
		     BENCH_KEEP(v));
}

static void encode(void)
{
	static struct tach_event event;
	static struct perf_event_attr attr;

	(void)!tach_event_encode(BENCH_ENCODED, NULL, &event, NULL);
	tach_event_attr(&event, &attr);
}

static const char *encodable(int n)
{
	static struct tach_error err = TACH_ERROR_INIT;
	struct tach_event event = {.size = sizeof event};

	(void)n;
	return tach_event_encode(BENCH_ENCODED, NULL, &event, &err) == 0 ? NULL : err.text;
}

static void run_encode(uint64_t n)
{
	BENCH_REPEAT(n, encode());
}

/* tach-mini.h instead of the library. */
static struct tach_mini mini;

static const char *mini_opened(int n)
{
	/* An emulated Arm PMU cannot count branches; r23 and r24 are its stalled cycles. */
#if defined(__aarch64__)
	static const char *const four = "cycles,instructions,r23,r24";
#else
	static const char *const four = "cycles,instructions,branches,branch-misses";
#endif

	return tach_mini_open(&mini, n == 1 ? "cycles" : four) == TACH_MINI_INLINE ? NULL
										   : mini.why;
}

#define MINI(n)                                                                                \
	static void run_mini##n(uint64_t times)                                                \
	{                                                                                      \
		BENCH_REPEAT(times, tach_mini_begin_n(&mini, n);                               \
			     tach_mini_end_n(&mini, value, n));                                \
	}
MINI(1)
MINI(4)

const struct bench_op bench_ops[] = {
	{"read1", opened, run_read1, 1, 0, 0},
	{"read2", opened, run_read2, 2, 0, 0},
	{"read4", opened, run_read4, 4, 0, 0},
	{"read8", opened, run_read8, 8, 0, 0},
	{"pair1", opened, run_pair1, 1, 0, 0},
	{"pair2", opened, run_pair2, 2, 0, 0},
	{"pair4", opened, run_pair4, 4, 0, 0},
	{"pair8", opened, run_pair8, 8, 0, 0},
	{"mini-pair1", mini_opened, run_mini1, 1, 0, 0},
	{"mini-pair4", mini_opened, run_mini4, 4, 0, 0},
	{"region1", regions, run_region, 1, 0, 0},
	{"region4", regions, run_region, 4, 0, 0},
	{"region-flat1", regions, run_flat, 1, 0, 0},
	{"region-flat4", regions, run_flat, 4, 0, 0},
	{"worst4", regions_worst, run_region, 4, 0, 0},
	{"divided4", regions_divided, run_region, 4, 0, 0},
	{"trace4", regions_traced, run_region, 4, 0, 0},
	{"named1", regions, run_named, 1, 0, 0},
	{"named4", regions, run_named, 4, 0, 0},
	{"nested4", regions, run_nested, 4, 0, 0},
	{"region-off", switched_off, run_region, 0, 0, 0},
	{"open4", make_set, run_open, 4, 0, 20},
	{"encode", encodable, run_encode, 0, 0, 100},
	{"startup", NULL, run_encode, 0, 1, 0},
	{"derived", compiled, run_derived, 4, 0, 0},
	{NULL, NULL, NULL, 0, 0, 0},
};

static uint64_t count(uint64_t n)
{
	tach_reader_begin_n(reader, &mark, 1);
	tach__arch_loop(n);
	tach_reader_end_n(reader, &mark, value, 1);
	return value[0];
}

const struct bench_counting bench_counting = {opened, count};
