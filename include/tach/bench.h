/* SPDX-License-Identifier: MIT */
/* Microbenchmarks: the time and the counts of one pass through a piece of code. */
#ifndef TACH_BENCH_H
#define TACH_BENCH_H

#include <tach/error.h>
#include <tach/flags.h>
#include <tach/change.h>

/*
 * A benchmark is a function that runs its body `iterations` times. The harness warms up, and
 * chooses the number of iterations so that a sample lasts long enough. It measures the body and
 * an empty loop in pairs, in alternating order. A sample is the difference of such a pair,
 * divided by the iterations.
 *
 * The result is the median of the samples, with an interval of the median. It is the cost of a
 * pass in the present state of this machine, including its load. The interval is between two
 * order statistics, which assumes no distribution. Samples that depend on the previous one (a
 * changing clock, a drift) contain less information, so the interval is wider. If even the
 * whole range does not reach the requested confidence, the result states the confidence that it
 * has. The clock's resolution is added at both ends. No sample is removed.
 *
 * If the events do not fit the PMU together, the harness splits them into passes, and counts
 * `instructions` in each pass. The difference of `instructions` between passes shows whether
 * they did the same work.
 */
typedef void (*tach_bench_body)(void *context, uint64_t iterations);

/*
 * A number that the body itself increases. The amount that a sample adds, per iteration, is one
 * more value of the result. Threads that share it must add atomically, or some additions are
 * lost.
 */
struct tach_bench_counter {
	const char *name;
	const volatile uint64_t *at;
	uint32_t rate;	   /* 1: shown per second, like throughput */
	uint32_t reserved; /* 0 */
	struct tach_bench_counter *next;
};

/* A result. The caller owns it. It is immutable, and independent of threads and sets. */
struct tach_bench;

struct tach_bench_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	/*
	 * Any number of events, as in struct tach_set_options. NULL = "cycles, instructions" if
	 * this machine counts them; "" = time only. The harness computes a derived event from
	 * each sample, as one more quantity. If it is a count, it is also per iteration.
	 */
	const char *events;
	double sample_seconds; /* minimum duration of a sample; 0 = 0.001 */
	uint32_t samples;      /* number per pass; 0 = 31, at most 10000 */
	uint64_t iterations;   /* per sample; 0 = chosen by sample_seconds */
	double confidence;     /* of the interval, 0 < c < 1; 0 = 0.95 */
	double outlier;	       /* limit for outliers, in scaled MADs; 0 = 5, negative = none */
	tach_bench_body empty; /* the loop without its body; NULL = the library's */
	uint32_t privilege;    /* TACH_PRIVILEGE_*; 0 = TACH_PRIVILEGE_USER */
	/* TACH_SET_INTERRUPTS: the interrupts are one more value. TACH_SET_CORRECT: they are
	 * also subtracted from instructions (tach/set.h). */
	uint32_t interrupts;
	/* The work of an iteration, for throughput: `units` times `unit`, for example 4096
	 * times "byte". NULL = no throughput. */
	const char *unit;
	double units;
	const struct tach_bench_counter *counters; /* at most 16; NULL = none */
	/*
	 * Number of threads that run the body at the same time, including this one; 0 = 1, at
	 * most 256. They begin each sample together. Values are the mean of all threads.
	 * Further values are the time of each thread, and "time, all": the time from the first
	 * start to the last end, divided by the iterations of all threads.
	 */
	uint32_t threads;
	uint32_t cpu;	       /* 1: also the value "cpu time", in ns */
	double warmup_seconds; /* time to run the body before the first sample */
	/*
	 * Prepares data that the body consumes. It is called before each sample, with the
	 * body's context, and is not measured. `iterations` 0 is then 1, so that each iteration
	 * finds new data.
	 */
	void (*before)(void *context);
};

/* One quantity, per iteration. */
struct tach_bench_quantity {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	/* "time" (ns), the event's name, the counter's name, or "time, all". The result owns
	 * it. */
	const char *name;
	double median, mad; /* MAD not scaled */
	double low, high;   /* interval of the median */
	/* Confidence of the interval: lower than requested if samples are few or correlated. */
	double confidence;
	double empty; /* median of the empty loop, for information */
	uint32_t samples;
	/* outliers among them (0 if the MAD is 0); they are included in all values above */
	uint32_t outliers;
	/* tach/flags.h. TACH_FLAG_SMALL: the interval includes 0, so the value is below the
	 * resolution, and a negative value may be 0. */
	uint32_t flags;
	uint32_t pass;
	uint32_t thread; /* number of the thread that has this value, from 1; 0: all threads */
	uint32_t rate;	 /* as in struct tach_bench_counter */
};

TACH_BEGIN_DECLS

/*
 * Runs body(context, n) many times on this thread and fills *out. Allocates; opens and closes
 * counters. Events that this machine does not know or cannot count are left out, and
 * tach_bench_missing explains why; time is always measured. Fails for malformed events, for bad
 * options, and without memory, but not for missing hardware.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_bench_run(const char *name, tach_bench_body body, void *context,
			    const struct tach_bench_options *opt, struct tach_bench **out,
			    struct tach_error *err) TACH_MUST_USE;
/* Returns the number of the thread that runs the body, from 0. Outside a body, returns 0. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API unsigned tach_bench_thread(void) __attribute__((pure));
/* MT-Safe race:bench | AS-Unsafe heap | AC-Unsafe mem | no allocation */
TACH_API void tach_bench_free(struct tach_bench *bench); /* NULL is fine */

/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_bench_name(const struct tach_bench *bench) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API uint64_t tach_bench_iterations(const struct tach_bench *bench) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_bench_passes(const struct tach_bench *bench) TACH_NONNULL(1);
/* Number of values, from 0. Value 0 is time. tach_bench_value returns TACH_ERR_INVAL for a
 * number that does not exist. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_bench_count(const struct tach_bench *bench) TACH_NONNULL(1);
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_bench_value(const struct tach_bench *bench, int i,
			      struct tach_bench_quantity *value);
/* One sentence about events that could not be counted, and why; "" if nothing is missing. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_bench_missing(const struct tach_bench *bench) TACH_NONNULL(1);
/* Returns the largest relative difference between the medians of `instructions` of two passes,
 * or 0 if there is one pass. Above about 0.01, the passes did different work. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API double tach_bench_drift(const struct tach_bench *bench) TACH_NONNULL(1);
/*
 * Compares value `i` of `now` with the value of the same name in `old`. `bound` is as in
 * tach_change_rule; below 0: 5 % for times, 0.5 % for the rest. The samples show the variation
 * within a run; the bound must allow for the variation between runs. Returns 0,
 * TACH_ERR_NOTFOUND (`old` has no such value), TACH_ERR_INVAL or TACH_ERR_NOMEM.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_bench_judge(const struct tach_bench *old, const struct tach_bench *now, int i,
			      double bound, double alpha,
			      struct tach_change_result *out) TACH_MUST_USE;
/*
 * Finds the law that the times (ns, above 0) for these numbers follow: "O(1)", "O(log n)",
 * "O(n)", "O(n log n)", "O(n^2)" or "O(n^3)", with its factor, and the root of the mean squared
 * error relative to the mean time. NULL: fewer than 3 numbers.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_bench_fit(const double *n, const double *ns, size_t count,
				    double *coefficient, double *error)
	TACH_NONNULL(1, 2, 4, 5);

enum tach_bench_format {
	TACH_BENCH_TEXT,
	TACH_BENCH_JSON,
	TACH_BENCH_ROW,	   /* a table's row, without name and newline */
	TACH_BENCH_HEAD,   /* the heading for such rows, for results with the same values */
	TACH_BENCH_GOOGLE, /* google-benchmark's objects, one for each sample, commas between */
	TACH_BENCH_CSV,	   /* RFC 4180, a line for each value, without the heading */
	TACH_BENCH_MARKDOWN, /* a table's row for each value */
};
/*
 * Like snprintf: writes at most size bytes with the final 0 and returns the whole length.
 * TACH_BENCH_TEXT is a few lines, without missing events. TACH_BENCH_JSON is one object in one
 * line (schema tach-bench-1); its numbers are independent of the locale.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_bench_print(const struct tach_bench *bench, enum tach_bench_format format,
			      char *text, size_t size);
/* Reads one object of TACH_BENCH_JSON, with its samples, for tach_bench_judge. Give it one line
 * of a file. TACH_ERR_SYNTAX with line and column, TACH_ERR_NOMEM. */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_bench_load(const char *json, size_t length, struct tach_bench **out,
			     struct tach_error *err) TACH_MUST_USE;
/*
 * Reads the samples of the benchmark `name` (NULL: of the first) from a whole file of
 * google-benchmark. Each repetition gives one sample, its real_time. TACH_ERR_SYNTAX with line
 * and column, TACH_ERR_NOTFOUND, TACH_ERR_NOMEM.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_bench_load_google(const char *json, size_t length, const char *name,
				    struct tach_bench **out,
				    struct tach_error *err) TACH_MUST_USE;
/*
 * Describes the present state of the machine: one line, and one more for each warning
 * (frequency scaling, a busy machine). TACH_BENCH_GOOGLE: the object "context" of
 * google-benchmark's files. Like snprintf.
 */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe lock | allocates */
TACH_API int tach_bench_context(enum tach_bench_format format, char *text, size_t size);

/* ---- TACH_BENCH(name) { body } ---- */

#define TACH_BENCH_NUMBERS_MAX 3

/* Numbers for which a benchmark runs. */
struct tach_bench_axis {
	const uint64_t *number;
	uint32_t count; /* 0: not used */
	uint32_t reserved;
};

struct tach_bench_case {
	const char *name;
	/* The context is an array of TACH_BENCH_NUMBERS_MAX uint64_t, or NULL. */
	tach_bench_body body, empty;
	struct tach_bench_case *next;
	struct tach_bench_axis axis[TACH_BENCH_NUMBERS_MAX], threads; /* all combinations */
	/* Called before and after a run; or NULL. */
	void (*setup)(uint64_t, uint64_t, uint64_t);
	void (*teardown)(uint64_t, uint64_t, uint64_t);
	void (*before)(void *context); /* called before each sample; or NULL */
	const char *unit;	       /* or NULL */
	double (*units)(uint64_t, uint64_t, uint64_t);
	struct tach_bench_counter *counters;
	int complexity; /* 1: find how time grows with the first number */
};
/* Adds a case to the list of tach_bench_cases. The case must stay valid. Call it in
 * constructors: it is not thread-safe. */
/* MT-Unsafe race:cases | AS-Unsafe race:cases | AC-Unsafe corrupt | no allocation */
TACH_API void tach_bench_register(struct tach_bench_case *bench) TACH_NONNULL(1);
/* The cases in the order of registration. */
/* MT-Unsafe race:cases | AS-Unsafe race:cases | AC-Safe | no allocation */
TACH_API const struct tach_bench_case *tach_bench_cases(void);

TACH_END_DECLS

/* Makes the compiler believe that the value is used. Also works for a bit-field, which clang
 * accepts only as a value. */
#ifdef __cplusplus
template <class tach_type>
__attribute__((always_inline)) inline void tach__bench_keep(const tach_type &value)
{
	__asm__ volatile("" : : "g"(value) : "memory");
}
#define TACH_KEEP(value) tach__bench_keep(value)
#else
#define TACH_KEEP(value) __asm__ volatile("" : : "g"((void)0, (value)) : "memory")
#endif
/* Makes the compiler believe that other code reads and changes all memory to which it may have
 * a pointer. */
#define TACH_CLOBBER() __asm__ volatile("" : : : "memory")

/*
 * Defines a benchmark and registers it before main. The braces that follow are its body. The
 * caller's compiler compiles both loops with the same flags, so that they differ only in the
 * body. Put the macros below after the body.
 */
#define TACH_BENCH(id)                                                                         \
	TACH_INLINE void tach_bench_body_##id(TACH__BENCH_NUMBERS);                            \
	TACH__BENCH_LOOP(tach_bench_loop_##id, tach_bench_body_##id)                           \
	TACH__BENCH_CASE(id, #id, tach_bench_loop_##id)                                        \
	TACH_INLINE void tach_bench_body_##id(TACH__BENCH_NUMBERS)

/*
 * The same for each of several numbers, "name/number", which the body reads as tach_arg:
 *
 *     TACH_BENCH_ARGS(clear, 64, 4096) { memset(buffer, 0, tach_arg); TACH_CLOBBER(); }
 */
#define TACH_BENCH_ARGS(id, ...)                                                               \
	TACH_INLINE void tach_bench_body_##id(TACH__BENCH_NUMBERS);                            \
	TACH__BENCH_LOOP(tach_bench_loop_##id, tach_bench_body_##id)                           \
	TACH__BENCH_CASE(id, #id, tach_bench_loop_##id)                                        \
	TACH_BENCH_NUMBERS(id, 1, __VA_ARGS__);                                                \
	TACH_INLINE void tach_bench_body_##id(TACH__BENCH_NUMBERS)

/* Runs the benchmark for each of these numbers. `which` 1 is tach_arg, 2 is tach_arg2, 3 is
 * tach_arg3. All combinations are run: "name/8/2". */
#define TACH_BENCH_NUMBERS(id, which, ...)                                                     \
	static const uint64_t tach_bench_numbers##which##_##id[] = {__VA_ARGS__};              \
	TACH__BENCH_AXIS(id, axis[which - 1], which, tach_bench_numbers##which##_##id,         \
			 sizeof tach_bench_numbers##which##_##id / sizeof(uint64_t))
/* The same for the numbers low, low * factor, low * factor * factor ... and high. */
#define TACH_BENCH_RANGE(id, which, low, high, factor)                                         \
	static uint64_t tach_bench_numbers##which##_##id[TACH__BENCH_RANGE_MAX];               \
	TACH__BENCH_AXIS(                                                                      \
		id, axis[which - 1], which, tach_bench_numbers##which##_##id,                  \
		tach__bench_range(tach_bench_numbers##which##_##id, low, high, factor))
/* The same for the numbers low, low + step, low + 2 * step ... up to high. */
#define TACH_BENCH_STEPS(id, which, low, high, step)                                           \
	static uint64_t tach_bench_numbers##which##_##id[((high) - (low)) / (step) + 1];       \
	TACH__BENCH_AXIS(id, axis[which - 1], which, tach_bench_numbers##which##_##id,         \
			 tach__bench_steps(tach_bench_numbers##which##_##id, low, high, step))
/* Runs the benchmark once for each of these numbers of threads: "name/threads:4". In the body,
 * tach_thread is the thread's number. */
#define TACH_BENCH_THREADS(id, ...)                                                            \
	static const uint64_t tach_bench_threads_##id[] = {__VA_ARGS__};                       \
	TACH__BENCH_AXIS(id, threads, threads, tach_bench_threads_##id,                        \
			 sizeof tach_bench_threads_##id / sizeof(uint64_t))

/* Code that runs before and after the benchmark, and is not measured. */
#define TACH_BENCH_SETUP(id)	TACH__BENCH_AROUND(id, setup)
#define TACH_BENCH_TEARDOWN(id) TACH__BENCH_AROUND(id, teardown)
/*
 * Code that runs before each sample, and is not measured. A sample is then one iteration, so
 * that each iteration finds new data:
 *
 *     TACH_BENCH_BEFORE(sort) { fill(numbers, tach_arg); }
 */
#define TACH_BENCH_BEFORE(id)                                                                  \
	static void tach_bench_make_##id(TACH__BENCH_THREE);                                   \
	static void tach_bench_before_##id(void *tach_context)                                 \
	{                                                                                      \
		const uint64_t *tach_args = TACH__CAST(const uint64_t *, tach_context);        \
		tach_bench_make_##id(tach_args ? tach_args[0] : 0,                             \
				     tach_args ? tach_args[1] : 0,                             \
				     tach_args ? tach_args[2] : 0);                            \
	}                                                                                      \
	TACH__BENCH_SAYS(id, before, before = tach_bench_before_##id)                          \
	static void tach_bench_make_##id(TACH__BENCH_THREE)
/* Code in the body whose cost is subtracted, such as the copy of the data that the body sorts.
 * The empty loop runs it, too. */
#define TACH_BENCH_LESS(id)                                                                    \
	TACH_INLINE void tach_bench_less_##id(TACH__BENCH_NUMBERS);                            \
	TACH__BENCH_LOOP(tach_bench_less_loop_##id, tach_bench_less_##id)                      \
	TACH__BENCH_SAYS(id, less, empty = tach_bench_less_loop_##id)                          \
	TACH_INLINE void tach_bench_less_##id(TACH__BENCH_NUMBERS)

/* The number of units that an iteration handles: (clear, "byte", tach_arg). */
#define TACH_BENCH_UNITS(id, name, number)                                                     \
	static double tach_bench_units_##id(TACH__BENCH_THREE)                                 \
	{                                                                                      \
		return TACH__CAST(double, number);                                             \
	}                                                                                      \
	TACH__BENCH_SAYS(id, unit, unit = name)                                                \
	TACH__BENCH_SAYS(id, units, units = tach_bench_units_##id)                             \
	TACH_STATIC_ASSERT(sizeof(name) > 1, "the unit has a name")
/* Shows a uint64_t to which the body adds: per iteration, and with TACH_BENCH_RATE also per
 * second. */
#define TACH_BENCH_COUNTER(id, variable) TACH__BENCH_COUNTER(id, variable, 0)
#define TACH_BENCH_RATE(id, variable)	 TACH__BENCH_COUNTER(id, variable, 1)
/* Finds how the benchmark's time grows with tach_arg, by tach_bench_fit. */
#define TACH_BENCH_COMPLEXITY(id)                                                              \
	TACH__BENCH_SAYS(id, complexity, complexity = 1)                                       \
	TACH_STATIC_ASSERT(1, "takes no argument but the benchmark")

#include <tach/bench_macros.h>

#endif
