/* SPDX-License-Identifier: MIT */
/* Formats values with units, for reports in text and HTML. */
#ifndef TACH_CORE_REPORT_UNITS_H
#define TACH_CORE_REPORT_UNITS_H

#include <tach/snapshot.h>

enum { TACH__UNIT_MAX = 24, TACH__SPREAD_MAX = 64 };

/* Write four digits and a prefix, such as 12.35 M. Numbers below 10000 are unchanged. */
void tach__unit_count(char to[TACH__UNIT_MAX], double v);
void tach__unit_time(char to[TACH__UNIT_MAX], double ns);
/* Writes a value of quantity q, or of metric q - nquantities; "-" for NaN. */
void tach__unit_value(char to[TACH__UNIT_MAX], const struct tach_snapshot *s, int q, double v);
/* Returns the value to show: NaN if other rows count the quantity and this row does not. */
double tach__unit_shown(const struct tach_value *v);
/* Writes an error, such as "\u00b11.2%", or "" if the error is negligible. */
void tach__unit_error(char to[TACH__UNIT_MAX], const struct tach_value *v);
/* Writes a quantile and its resolution, such as "4.1 us \u00b12.0%". */
void tach__unit_quantile(char to[2 * TACH__UNIT_MAX], const struct tach_snapshot *s, int region,
			 int q, double p);

/* Columns of tables are numbered: quantities first, then metrics. */
int tach__column_value(const struct tach_snapshot *s, int region, int q, enum tach_part part,
		       struct tach_value *v);
int tach__columns(const struct tach_snapshot *s);
/* Returns the next column after q that tables show. Tables leave out quantities that only
 * metrics use. */
int tach__column_next(const struct tach_snapshot *s, int q);
const char *tach__column_name(const struct tach_snapshot *s, int q);

/* ---- text_time.c ---- */

void tach__report_per_call(char to[TACH__UNIT_MAX], const struct tach_snapshot *s, int region);
/* Writes the region's share of `total`, which is the self time of all regions. */
void tach__report_share(char to[TACH__UNIT_MAX], const struct tach_snapshot *s, int region,
			double total);
/* Writes times of single calls: minimum, 90 % quantile and maximum; "-" without histograms. */
void tach__report_spread(char to[TACH__SPREAD_MAX], const struct tach_snapshot *s, int region);
/* Returns 1 if any region has a spread. */
int tach__report_spreads(const struct tach_snapshot *s);
double tach__report_self_time(const struct tach_snapshot *s);

#endif
