/* SPDX-License-Identifier: MIT */
/* Writes the time of a call, its spread, and a region's share of all time, for reports in
 * text. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/report/report.h"
#include "core/report/units.h"
#include "core/snapshot/snapshot.h"

/* gmtime_r takes a lock, so this does not use it. It computes the date by the proleptic
 * Gregorian calendar, with eras of 400 years. */
void tach__report_date(char to[TACH__DATE_MAX], int64_t at)
{
	int64_t days = at / 86400 + 719468, era = days / 146097, second = at % 86400;
	int64_t day = days - era * 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t rest = day - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * rest + 2) / 153; /* counted from March */

	snprintf(to, TACH__DATE_MAX, "%lld-%02d-%02d %02d:%02d:%02d UTC",
		 (long long)(year + era * 400 + (month >= 10)),
		 (int)(month < 10 ? month + 3 : month - 9),
		 (int)(rest - (153 * month + 2) / 5 + 1), (int)(second / 3600),
		 (int)(second / 60 % 60), (int)(second % 60));
}

/* Divides by outermost entries, because the sum of inclusive times contains only these. */
void tach__report_per_call(char to[TACH__UNIT_MAX], const struct tach_snapshot *s, int r)
{
	struct tach_region_info info = {.size = sizeof info};
	double entries, value = NAN;
	struct tach_value v;

	tach_snapshot_region(s, r, &info);
	tach_snapshot_value(s, r, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE, &v);
	entries = (double)info.outermost;
	if (info.calls)
		entries *= (double)(info.calls + info.skipped) / (double)info.calls;
	if (info.calls && entries > 0)
		value = tach__unit_shown(&v) / entries;
	tach__unit_value(to, s, TACH_QUANTITY_TIME, value);
}

void tach__report_share(char to[TACH__UNIT_MAX], const struct tach_snapshot *s, int r,
			double total)
{
	struct tach_region_info info = {.size = sizeof info};
	struct tach_value v;

	tach_snapshot_region(s, r, &info);
	tach_snapshot_value(s, r, TACH_QUANTITY_TIME, TACH_PART_SELF, &v);
	if (!info.calls || !(total > 0) || s->plain.region[r].repeats)
		snprintf(to, TACH__UNIT_MAX, "-");
	else
		snprintf(to, TACH__UNIT_MAX, "%.1f%%", 100 * v.value / total);
}

static int has_spread(const struct tach_snapshot *s, int r)
{
	return !isnan(tach_snapshot_quantile(s, r, TACH_QUANTITY_TIME, 0.5));
}

int tach__report_spreads(const struct tach_snapshot *s)
{
	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		if (has_spread(s, r))
			return 1;
	return 0;
}

void tach__report_spread(char to[TACH__SPREAD_MAX], const struct tach_snapshot *s, int r)
{
	static const double p[] = {0, 0.9, 1};

	strcpy(to, has_spread(s, r) ? "" : "-");
	for (int i = 0; *to != '-' && i < 3; i++) {
		char value[TACH__UNIT_MAX];

		tach__unit_time(value, tach_snapshot_quantile(s, r, TACH_QUANTITY_TIME, p[i]));
		snprintf(to + strlen(to), TACH__SPREAD_MAX - strlen(to), "%s%s", i ? " " : "",
			 value);
	}
}

double tach__report_self_time(const struct tach_snapshot *s)
{
	struct tach_value v;
	double sum = 0;

	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		if (!s->plain.region[r].repeats &&
		    tach_snapshot_value(s, r, TACH_QUANTITY_TIME, TACH_PART_SELF, &v) == 0)
			sum += v.value;
	return sum;
}
