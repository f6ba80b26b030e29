/* SPDX-License-Identifier: MIT */
/* Microbenchmarks: what one pass through a piece of code takes, in time and in counts. */
#ifndef TACH_BENCH_H
#define TACH_BENCH_H

#include <tach/error.h>
#include <tach/flags.h>
#include <tach/change.h>

/*
 * A benchmark is a function that runs its body `iterations` times. The harness chooses the
 * number of iterations so that a sample lasts long enough, warms up, and takes pairs of
 * samples, of the body and of an empty loop, by turns the one and the other first. A sample
 * here is the difference of such a pair, divided by the iterations.
 *
 * The result is the median of these differences, and the interval is one of that median: what a
 * pair takes on this machine as it is now, load included. It lies between two
 * order statistics, which assumes no distribution. Samples that resemble the one before them (a
 * clock that changes, a drift) are worth fewer than they are: the interval is wider then, and
 * where even the whole range cannot have the confidence that was asked for, the one it has is
 * said. The clock's resolution is added at both ends. No sample is removed.
 *
 * Events that do not fit the PMU together are split into passes, each with `instructions` in
 * it; how far those disagree tells whether the passes saw the same work.
 */
typedef void (*tach_bench_body)(void *context, uint64_t iterations);

/*
 * A number that the body itself keeps, which only grows: what a sample added to it, per
 * iteration, is one more value. Threads that share it must add to it atomically, or lose some.
 */
struct tach_bench_counter {
	const char *name;
	const volatile uint64_t *at;
	uint32_t rate;	   /* 1: shown per second, as throughput is */
	uint32_t reserved; /* 0 */
	struct tach_bench_counter *next;
};

struct tach_bench; /* the result; owned by the caller, immutable, no ties to thread or set */

struct tach_bench_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	/*
	 * Events as struct tach_set_options has them, as many as wanted. NULL = "cycles,
	 * instructions" where this machine counts them; "" = time only. Of a derived event
	 * those are shown that it is made of.
	 */
	const char *events;
	double sample_seconds; /* the least a sample lasts; 0 = 0.001 */
	uint32_t samples;      /* of each pass; 0 = 31, at most 10000 */
	uint64_t iterations;   /* of a sample; 0 = chosen by sample_seconds */
	double confidence;     /* of the interval, 0 < c < 1; 0 = 0.95 */
	double outlier; /* what counts as far off, in scaled MADs; 0 = 5, negative = none */
	tach_bench_body empty; /* the loop without its body; NULL = the library's */
	uint32_t privilege;    /* TACH_PRIVILEGE_*; 0 = TACH_PRIVILEGE_USER */
	/*
	 * TACH_SET_INTERRUPTS: one more value, the interrupts; TACH_SET_CORRECT: they are taken
	 * out of instructions too, see tach/set.h.
	 */
	uint32_t interrupts;
	/* What an iteration handles, for throughput: 4096 times "byte". NULL = nothing. */
	const char *unit;
	double units;
	const struct tach_bench_counter *counters; /* at most 16; NULL = none */
	/*
	 * That run the body at the same time, this one among them; 0 = 1, at most 256. They
	 * begin each sample together. Values are the mean of all threads'; then come "time,
	 * all", what one iteration takes them together (from the first start to the last end,
	 * divided by the iterations of all), and the time of each thread.
	 */
	uint32_t threads;
	uint32_t cpu;	       /* 1: the value "cpu time" too, the processor's time, ns */
	double warmup_seconds; /* the body runs so long before the first sample */
	/*
	 * Called before each sample with the body's context, and not measured: what the body
	 * uses up is made anew. `iterations` 0 is then 1, so that each iteration finds it new.
	 */
	void (*before)(void *context);
};

/* One quantity, per iteration. */
struct tach_bench_quantity {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	/* "time" (ns), the event's, the counter's, "time, all"; lives as long as the result. */
	const char *name;
	double median, mad; /* MAD not scaled */
	double low, high;   /* interval of the median */
	/* That the interval really has: few samples, or correlated ones, reach less than was
	 * asked. */
	double confidence;
	double empty; /* median of the empty loop, for information */
	uint32_t samples;
	uint32_t outliers; /* of them, far off (a MAD of 0: none); all of the above has them */
	/* TACH_* of flags.h; TACH_FLAG_SMALL when the interval reaches down to 0: below
	 * resolution, and a negative value cannot be told from 0. */
	uint32_t flags;
	uint32_t pass;
	uint32_t thread; /* 0, or of the first, second ... thread alone */
	uint32_t rate;	 /* as in struct tach_bench_counter */
};

TACH_BEGIN_DECLS

/*
 * Runs body(context, n) many times on this thread and fills *out. Allocates; opens and closes
 * counters. Events that this machine does not know or cannot count are left out, and
 * tach_bench_missing tells why; time is always measured. Fails for malformed events and bad
 * options, and for want of memory; never for missing hardware.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_bench_run(const char *name, tach_bench_body body, void *context,
			    const struct tach_bench_options *opt, struct tach_bench **out,
			    struct tach_error *err) TACH_MUST_USE;
/* In a body: which of the threads this is, from 0; elsewhere 0. */
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
/* Values: number 0 is time. TACH_ERR_INVAL outside 0 .. tach_bench_count - 1. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_bench_count(const struct tach_bench *bench) TACH_NONNULL(1);
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_bench_value(const struct tach_bench *bench, int i,
			      struct tach_bench_quantity *value);
/* One sentence on what could not be counted and why; "" if nothing is missing. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_bench_missing(const struct tach_bench *bench) TACH_NONNULL(1);
/*
 * The largest relative difference between the medians of `instructions` of two passes: 0 where
 * there is one pass. Above about 0.01 the passes did not see the same work.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API double tach_bench_drift(const struct tach_bench *bench) TACH_NONNULL(1);
/*
 * Compares value `i` of `now` with the value of the same name in `old`. `bound` is as in
 * tach_change_rule; below 0: 5 % for times, 0.5 % for the rest. The samples show how a run
 * differs from itself; the bound must allow for how runs differ from each other. 0,
 * TACH_ERR_NOTFOUND: `old` has no such value; TACH_ERR_INVAL, TACH_ERR_NOMEM.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_bench_judge(const struct tach_bench *old, const struct tach_bench *now, int i,
			      double bound, double alpha,
			      struct tach_change_result *out) TACH_MUST_USE;
/*
 * Which law times (ns, above 0) follow that were taken for these numbers: "O(1)", "O(log n)",
 * "O(n)", "O(n log n)", "O(n^2)" or "O(n^3)", with its factor, and the root of the mean squared
 * error relative to the mean time. NULL: fewer than 3.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_bench_fit(const double *n, const double *ns, size_t count,
				    double *coefficient, double *error)
	TACH_NONNULL(1, 2, 4, 5);

enum tach_bench_format {
	TACH_BENCH_TEXT,
	TACH_BENCH_JSON,
	TACH_BENCH_ROW,	   /* of a table, without name and newline */
	TACH_BENCH_HEAD,   /* what stands above such rows of results with the same values */
	TACH_BENCH_GOOGLE, /* google-benchmark's objects, one for each sample, commas between */
	TACH_BENCH_CSV,	   /* RFC 4180, a line for each value; the heading is no part of it */
	TACH_BENCH_MARKDOWN, /* a table's row for each value */
};
/*
 * Like snprintf: writes at most size bytes with the final 0 and returns the whole length. Text
 * is a few lines, without what is missing; JSON one object in one line (schema tach-bench-1),
 * numbers by no locale's rules.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_bench_print(const struct tach_bench *bench, enum tach_bench_format format,
			      char *text, size_t size);
/*
 * Such an object back, samples included, so that tach_bench_judge can take it: one line of a
 * file of them. TACH_ERR_SYNTAX with line and column, TACH_ERR_NOMEM.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_bench_load(const char *json, size_t length, struct tach_bench **out,
			     struct tach_error *err) TACH_MUST_USE;
/*
 * The samples of one benchmark (NULL: of the first) in a file of google-benchmark's, whole as
 * it is: its real_time, one for each repetition. TACH_ERR_SYNTAX with line and column,
 * TACH_ERR_NOTFOUND, TACH_ERR_NOMEM.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_bench_load_google(const char *json, size_t length, const char *name,
				    struct tach_bench **out,
				    struct tach_error *err) TACH_MUST_USE;
/*
 * The machine as it is now, like snprintf: a line, and one for each warning (frequency scaling,
 * a busy machine); TACH_BENCH_GOOGLE: the object "context" of google-benchmark's files.
 */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe lock | allocates */
TACH_API int tach_bench_context(enum tach_bench_format format, char *text, size_t size);

/* ---- TACH_BENCH(name) { body } ---- */

#define TACH_BENCH_NUMBERS_MAX 3

/* Numbers that a benchmark is run for, each. */
struct tach_bench_axis {
	const uint64_t *number;
	uint32_t count; /* 0: it is not run by this */
	uint32_t reserved;
};

struct tach_bench_case {
	const char *name;
	/* The context is as many uint64_t as TACH_BENCH_NUMBERS_MAX, or NULL. */
	tach_bench_body body, empty;
	struct tach_bench_case *next;
	struct tach_bench_axis axis[TACH_BENCH_NUMBERS_MAX], threads; /* all with all */
	/* Around a run; or NULL. */
	void (*setup)(uint64_t, uint64_t, uint64_t);
	void (*teardown)(uint64_t, uint64_t, uint64_t);
	void (*before)(void *context); /* each sample; or NULL */
	const char *unit;	       /* or NULL */
	double (*units)(uint64_t, uint64_t, uint64_t);
	struct tach_bench_counter *counters;
	int complexity; /* 1: how time grows with the first number is of interest */
};
/* Adds to the list below; for constructors: not thread-safe. The case must stay. */
/* MT-Unsafe race:cases | AS-Unsafe race:cases | AC-Unsafe corrupt | no allocation */
TACH_API void tach_bench_register(struct tach_bench_case *bench) TACH_NONNULL(1);
/* The cases in the order of registration. */
/* MT-Unsafe race:cases | AS-Unsafe race:cases | AC-Safe | no allocation */
TACH_API const struct tach_bench_case *tach_bench_cases(void);

TACH_END_DECLS

/* Makes the compiler believe that the value is used. Also of a bit-field, which clang takes as
 * a value alone. */
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
/* That all memory is read, and may be changed, to which something outside has a pointer. */
#define TACH_CLOBBER() __asm__ volatile("" : : : "memory")

/*
 * Defines a benchmark and registers it before main; the braces that follow are its body. Both
 * loops are compiled here, by the same compiler with the same flags, so that they differ in the
 * body alone. What is said of it by the macros below stands after it.
 */
#define TACH_BENCH(id)                                                                         \
	TACH_INLINE void tach_bench_body_##id(TACH__BENCH_NUMBERS);                            \
	TACH__BENCH_LOOP(tach_bench_loop_##id, tach_bench_body_##id)                           \
	TACH__BENCH_CASE(id, #id, tach_bench_loop_##id)                                        \
	TACH_INLINE void tach_bench_body_##id(TACH__BENCH_NUMBERS)

/*
 * The same for every one of some numbers, "name/number", which the body finds in tach_arg:
 *	TACH_BENCH_ARGS(clear, 64, 4096) { memset(buffer, 0, tach_arg); TACH_CLOBBER(); }
 */
#define TACH_BENCH_ARGS(id, ...)                                                               \
	TACH_INLINE void tach_bench_body_##id(TACH__BENCH_NUMBERS);                            \
	TACH__BENCH_LOOP(tach_bench_loop_##id, tach_bench_body_##id)                           \
	TACH__BENCH_CASE(id, #id, tach_bench_loop_##id)                                        \
	TACH_BENCH_NUMBERS(id, 1, __VA_ARGS__);                                                \
	TACH_INLINE void tach_bench_body_##id(TACH__BENCH_NUMBERS)

/*
 * Run for each of these; `which` 1 is tach_arg, 2 tach_arg2, 3 tach_arg3. All are combined with
 * all: "name/8/2".
 */
#define TACH_BENCH_NUMBERS(id, which, ...)                                                     \
	static const uint64_t tach_bench_numbers##which##_##id[] = {__VA_ARGS__};              \
	TACH__BENCH_AXIS(id, axis[which - 1], which, tach_bench_numbers##which##_##id,         \
			 sizeof tach_bench_numbers##which##_##id / sizeof(uint64_t))
/* low, low * factor, low * factor * factor ... and high. */
#define TACH_BENCH_RANGE(id, which, low, high, factor)                                         \
	static uint64_t tach_bench_numbers##which##_##id[TACH__BENCH_RANGE_MAX];               \
	TACH__BENCH_AXIS(                                                                      \
		id, axis[which - 1], which, tach_bench_numbers##which##_##id,                  \
		tach__bench_range(tach_bench_numbers##which##_##id, low, high, factor))
/* low, low + step, low + 2 * step ... up to high. */
#define TACH_BENCH_STEPS(id, which, low, high, step)                                           \
	static uint64_t tach_bench_numbers##which##_##id[((high) - (low)) / (step) + 1];       \
	TACH__BENCH_AXIS(id, axis[which - 1], which, tach_bench_numbers##which##_##id,         \
			 tach__bench_steps(tach_bench_numbers##which##_##id, low, high, step))
/* On so many threads at the same time: "name/threads:4". In the body tach_thread is which. */
#define TACH_BENCH_THREADS(id, ...)                                                            \
	static const uint64_t tach_bench_threads_##id[] = {__VA_ARGS__};                       \
	TACH__BENCH_AXIS(id, threads, threads, tach_bench_threads_##id,                        \
			 sizeof tach_bench_threads_##id / sizeof(uint64_t))

/* What is done before and after its run, not measured. */
#define TACH_BENCH_SETUP(id)	TACH__BENCH_AROUND(id, setup)
#define TACH_BENCH_TEARDOWN(id) TACH__BENCH_AROUND(id, teardown)
/*
 * What is done before each sample, not measured. A sample is then one iteration, so each finds
 * what was made for it:
 *	TACH_BENCH_BEFORE(sort) { fill(numbers, tach_arg); }
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
/*
 * What the body does as well, but is not to be measured, a copy of what it sorts, say: it is
 * done in the empty loop too, and so comes off.
 */
#define TACH_BENCH_LESS(id)                                                                    \
	TACH_INLINE void tach_bench_less_##id(TACH__BENCH_NUMBERS);                            \
	TACH__BENCH_LOOP(tach_bench_less_loop_##id, tach_bench_less_##id)                      \
	TACH__BENCH_SAYS(id, less, empty = tach_bench_less_loop_##id)                          \
	TACH_INLINE void tach_bench_less_##id(TACH__BENCH_NUMBERS)

/* An iteration handles that many of a unit: (clear, "byte", tach_arg). */
#define TACH_BENCH_UNITS(id, name, number)                                                     \
	static double tach_bench_units_##id(TACH__BENCH_THREE)                                 \
	{                                                                                      \
		return TACH__CAST(double, number);                                             \
	}                                                                                      \
	TACH__BENCH_SAYS(id, unit, unit = name)                                                \
	TACH__BENCH_SAYS(id, units, units = tach_bench_units_##id)                             \
	TACH_STATIC_ASSERT(sizeof(name) > 1, "the unit has a name")
/* What its body adds to a uint64_t, per iteration; the second also as so many a second. */
#define TACH_BENCH_COUNTER(id, variable) TACH__BENCH_COUNTER(id, variable, 0)
#define TACH_BENCH_RATE(id, variable)	 TACH__BENCH_COUNTER(id, variable, 1)
/* How its time grows with tach_arg, as tach_bench_fit has it. */
#define TACH_BENCH_COMPLEXITY(id)                                                              \
	TACH__BENCH_SAYS(id, complexity, complexity = 1)                                       \
	TACH_STATIC_ASSERT(1, "takes no argument but the benchmark")

#include <tach/bench_macros.h>

#endif
