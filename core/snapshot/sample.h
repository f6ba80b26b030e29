/* SPDX-License-Identifier: MIT */
/* Scales sums over a part of the entries to all entries, and estimates the error of the
 * result. */
#ifndef TACH_CORE_SNAPSHOT_SAMPLE_H
#define TACH_CORE_SNAPSHOT_SAMPLE_H

/* One quantity of one region, before scaling. A unit is an entry in sparse mode, or a turn if
 * sets take turns. All fields except `most`, `extra` and `least` are sums. */
struct tach__sample {
	double units;	       /* measured units */
	double sum, square;    /* sums over the counts of the units */
	double crossed, paced; /* sum of counts times entries; sum of squared entries */
	double entries;	       /* entries of all units together */
	double seen, all;      /* entries measured; all entries */
	double fixed;	       /* the part of the error that comes from measuring */
	double extra;	       /* a part of the error that is only known after scaling */
	double most;	       /* count of the largest unit; 0: unknown */
	double least;	       /* minimum number of units for an estimate of the error */
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

/* Returns the factor from the measured part to all entries. */
double tach__sample_scale(const struct tach__sample *s);
/* Returns the error at 95 % that scaling adds. NaN: unknown, because the sample is small or few
 * units dominate it. */
double tach__sample_error(const struct tach__sample *s);
/* Subtracts the older sample. unit: the factor that converts the older sample's values. */
void tach__sample_since(struct tach__sample *s, const struct tach__sample *old, double unit);

#endif
