/* SPDX-License-Identifier: MIT */
/* Sums of which only a part of the entries is known: scaled up, and how far off that is. */
#ifndef TACH_CORE_SNAPSHOT_SAMPLE_H
#define TACH_CORE_SNAPSHOT_SAMPLE_H

/*
 * One quantity of one region, before it is scaled up. A unit is an entry in sparse mode, or a
 * turn where sets take turns. All fields add up over time except `most`, `extra` and `least`.
 */
struct tach__sample {
	double units;	       /* that were measured */
	double sum, square;    /* of what the units counted */
	double crossed, paced; /* what they counted times their entries; squares of those */
	double entries;	       /* that the units have together */
	double seen, all;      /* entries measured; all entries */
	double fixed;	       /* the part of the error that comes from measuring */
	double extra;	       /* an error that is known only scaled up */
	double most;	       /* the greatest unit; 0: not known */
	double least;	       /* fewer units allow no statement */
};

enum {
	/* One entry in a hundred may be all that counts: 300 entries miss it 5 times in 100. */
	TACH__SAMPLE_ENTRIES = 300,
	TACH__SAMPLE_TURNS = 2,
	/* If one unit makes more than this part of the variance, few of them make most of it.
	 */
	TACH__SAMPLE_PART = 12,
};

/* The factor from what was measured to all. */
double tach__sample_scale(const struct tach__sample *s);
/*
 * How far off, 95 times in 100, the sum scaled up is because not all was measured. NaN: the
 * sample does not tell, as it is small or dominated by few units.
 */
double tach__sample_error(const struct tach__sample *s);
/* What was sampled since `old`; unit: what one of its units of value is now. */
void tach__sample_since(struct tach__sample *s, const struct tach__sample *old, double unit);

#endif
