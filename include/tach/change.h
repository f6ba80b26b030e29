/* SPDX-License-Identifier: MIT */
/* Compares two series of measured values: did the code get slower? */
#ifndef TACH_CHANGE_H
#define TACH_CHANGE_H

#include <tach/error.h>

/* Verdicts. tach-gate(1), tach-diff(1), benchmarks with --against and tach_expect use
 * tach_change_judge and these words. */
enum tach_change {
	TACH_CHANGE_NONE,   /* "no change larger than X %": not worse by more than the bound */
	TACH_CHANGE_WORSE,  /* "worse", by more than the bound */
	TACH_CHANGE_BETTER, /* "better", by more than the bound */
	TACH_CHANGE_UNKNOWN /* "cannot tell": a change for the worse may exceed the bound */
};

/* Flags of a rule. */
#define TACH_CHANGE_LESS  0x1u /* less is worse */
#define TACH_CHANGE_TURNS 0x2u /* both were measured in turns: a drift affects both */
/* Counts that are the same in each run, for example instructions. One value of each side is
 * enough, if values of one side differ by at most the bound. */
#define TACH_CHANGE_EXACT 0x4u

struct tach_change_rule {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	uint32_t flags;
	double bound; /* relative, not negative: 0.05 allows 5 % */
	/* Accepted rate of false alarms: the fraction of comparisons without a change that may
	 * be "worse". 0 = 0.01. For several comparisons, divide it by their number. */
	double alpha;
};

struct tach_change_result {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	enum tach_change verdict;
	double old, now; /* medians; NaN: there is no value */
	/* Relative, the median of all pairs; NaN: there is no value. */
	double change;
	/*
	 * The interval of the change, with a confidence of 90 %: each end is wrong in 5 % of
	 * cases. A change outside the interval would have been detected. -INFINITY, INFINITY:
	 * too few values.
	 */
	double low, high;
};

TACH_BEGIN_DECLS

/*
 * Compares values, in the order of their measurement. The test is Mann-Whitney's: it assumes no
 * distribution, and an outlier is just one rank. Values that depend on the previous one count
 * as fewer, unless both sides were measured in turns. TACH_ERR_INVAL: a value that is not
 * finite, or a bound or an alpha out of range; TACH_ERR_NOMEM.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_change_judge(const double *old, size_t nold, const double *now, size_t nnow,
			       const struct tach_change_rule *rule,
			       struct tach_change_result *out,
			       struct tach_error *err) TACH_MUST_USE;
/* "worse", "better", "no change", "cannot tell"; static storage. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_change_name(enum tach_change verdict);
/*
 * Writes the verdict with numbers: "no change larger than 3.2 %", "cannot tell: the change may
 * be from -1.4 % to +8.1 %". Like snprintf: at most size bytes with the final 0; returns the
 * whole length.
 */
/* MT-Safe locale | AS-Unsafe heap | AC-Unsafe mem | no allocation */
TACH_API int tach_change_text(const struct tach_change_result *result, char *text, size_t size);

TACH_END_DECLS

#endif
