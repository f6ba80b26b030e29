/* SPDX-License-Identifier: MIT */
/*
 * Whether one series of values became worse than another: what `tach gate`, `tach report
 * --diff` and benchmarks --against an earlier run decide by.
 */
#ifndef TACH_CORE_BENCH_DECIDE_H
#define TACH_CORE_BENCH_DECIDE_H

#include <stddef.h>

struct tach__values {
	const double *value; /* in the order in which they were taken */
	size_t n;
};

struct tach__rule {
	double bound; /* relative, not negative: a change below it is as good as none */
	double alpha; /* of this one comparison: how likely a false alarm may be */
	int less;     /* less is worse */
	/* Taken in turns, so that what drifts drifts for both; else each one's own drift widens
	 * what chance may do. */
	int in_turns;
};

enum tach__verdict { TACH__SAME, TACH__WORSE, TACH__BETTER };

struct tach__decision {
	double old, now; /* medians */
	double change;	 /* relative, by the median of all differences; NaN: old is 0 */
	double p;	 /* of a change for the worse this large beyond the bound by chance */
	enum tach__verdict verdict;
};

void tach__decide(struct tach__decision *out, const struct tach__rule *rule,
		  struct tach__values a, struct tach__values b);
/* After it: which relative change would have been called worse; INFINITY: none. */
double tach__detectable(const struct tach__decision *of, const struct tach__rule *rule,
			struct tach__values a, struct tach__values b);
/* The least probability that samples of these sizes can show: that of no overlap at all. */
double tach__least_p(size_t na, size_t nb);

#endif
