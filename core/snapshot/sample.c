/* SPDX-License-Identifier: MIT */
/* Estimates of sums from samples. */
#include <math.h>
#include "core/snapshot/sample.h"

double tach__sample_scale(const struct tach__sample *s)
{
	return s->seen > 0 && s->all > s->seen ? s->all / s->seen : 1;
}

/* Student's t for 95 %, within 4 % of the tables. */
static double student_t(double freedom)
{
	return 1.96 + 2.4 / freedom + 8.4 / (freedom * freedom * freedom);
}

/* Returns 1 if one unit dominates the variance. Ignores a variance below 1e-9 of the squares,
 * which rounding causes for equal values. */
static int is_dominated(const struct tach__sample *s, double mean, double off)
{
	double greatest = s->most - mean;

	return s->most > 0 && off > 1e-9 * s->square &&
	       greatest * greatest * TACH__SAMPLE_PART > off;
}

/* Computes the error of a ratio estimate from a sample without replacement. */
double tach__sample_error(const struct tach__sample *s)
{
	double mean, off, part;

	if (s->all <= s->seen)
		return 0;
	if (s->units < s->least || s->entries <= 0)
		return NAN;
	mean = s->sum / s->entries;
	off = s->square - 2 * mean * s->crossed + mean * mean * s->paced;
	part = s->seen / s->all;
	if (is_dominated(s, mean, off))
		return NAN;
	return off > 0 ? student_t(s->units - 1) *
				 sqrt(off * s->units / (s->units - 1) * (1 - part)) / part
		       : 0;
}

static void subtract(double *from, double what)
{
	*from = *from > what ? *from - what : 0;
}

/* `most` does not change: the maximum of all units is an upper bound of the maximum since the
 * older sample. */
void tach__sample_since(struct tach__sample *s, const struct tach__sample *old, double unit)
{
	s->sum -= old->sum * unit;
	subtract(&s->units, old->units);
	subtract(&s->square, old->square * unit * unit);
	s->crossed -= old->crossed * unit;
	subtract(&s->paced, old->paced);
	subtract(&s->entries, old->entries);
	subtract(&s->seen, old->seen);
	subtract(&s->all, old->all);
	subtract(&s->fixed, old->fixed * unit);
}
