/* SPDX-License-Identifier: MIT */
/* Sums of which only a part of the entries was measured: scaling, and the error of that. */
#ifndef TACH_CORE_SNAPSHOT_SAMPLE_H
#define TACH_CORE_SNAPSHOT_SAMPLE_H

/* One quantity of one region, before scaling. A unit is an entry in sparse mode, or a turn if
 * sets take turns. All fields add up over time except `most`, `extra` and `least`. */
struct tach__sample {
	double units;	       /* measured units */
	double sum, square;    /* sums over the counts of the units */
	double crossed, paced; /* sum of counts times entries; sum of squared entries */
	double entries;	       /* entries of all units together */
	double seen, all;      /* entries measured; all entries */
	double fixed;	       /* the part of the error that comes from measuring */
	double extra;	       /* an error that is only known after scaling */
	double most;	       /* the largest unit; 0: unknown */
	double least;	       /* with fewer units there is no estimate */
};

enum {
	/*
	 * If one entry in a hundred makes up the whole sum, 300 entries miss it 5 times in 100.
	 */
	TACH__SAMPLE_ENTRIES = 300,
	TACH__SAMPLE_TURNS = 2,
	/* If the largest unit is more than 1/12 of the variance, few units make most of it. */
	TACH__SAMPLE_PART = 12,
};

/* The factor from the measured part to all. */
double tach__sample_scale(const struct tach__sample *s);
/* The error of the scaled sum at 95 %, because not all was measured. NaN: unknown, because the
 * sample is small or few units dominate it. */
double tach__sample_error(const struct tach__sample *s);
/* Subtracts the older sample; unit: the present value of one of its units. */
void tach__sample_since(struct tach__sample *s, const struct tach__sample *old, double unit);

#endif
