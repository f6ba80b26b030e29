/* SPDX-License-Identifier: MIT */
/* Formats values with units, for reports in text and HTML. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/report/units.h"
#include "core/snapshot/snapshot.h"

static int decimals(double v)
{
	return v < 9.9995 ? 3 : v < 99.995 ? 2 : 1;
}

void tach__unit_count(char to[TACH__UNIT_MAX], double v)
{
	static const char prefix[] = " kMGTPE";
	int p = 0;

	if (v < 9999.5) {
		snprintf(to, TACH__UNIT_MAX, v == floor(v) ? "%.0f" : "%.4g", v);
		return;
	}
	for (; v >= 999.95 && prefix[p + 1]; p++)
		v /= 1000;
	snprintf(to, TACH__UNIT_MAX, "%.*f %c", decimals(v), v, prefix[p]);
}

void tach__unit_time(char to[TACH__UNIT_MAX], double ns)
{
	static const char *const unit[] = {"ns", "us", "ms", "s"};
	int u = 0;

	for (; ns >= 999.95 && u < 3; u++)
		ns /= 1000;
	snprintf(to, TACH__UNIT_MAX, "%.*f %s", decimals(ns), ns, unit[u]);
}

void tach__unit_value(char to[TACH__UNIT_MAX], const struct tach_snapshot *s, int q, double v)
{
	if (isnan(v))
		snprintf(to, TACH__UNIT_MAX, "-");
	else if (q == TACH_QUANTITY_TIME)
		tach__unit_time(to, v);
	else if (q < tach_snapshot_nquantities(s))
		tach__unit_count(to, v);
	else if (v != 0 && fabs(v) < 0.1)
		snprintf(to, TACH__UNIT_MAX, "%.3g", v);
	else if (fabs(v) < 1e6)
		snprintf(to, TACH__UNIT_MAX, "%.3f", v);
	else
		snprintf(to, TACH__UNIT_MAX, "%.4g", v);
}

double tach__unit_shown(const struct tach_value *v)
{
	return v->flags & TACH_FLAG_LOST && v->value == 0 && v->raw == 0 ? NAN : v->value;
}

void tach__unit_error(char to[TACH__UNIT_MAX], const struct tach_value *v)
{
	double percent = v->value > 0 ? 100 * v->error / v->value : 100;

	*to = '\0';
	if (isnan(v->value))
		return;
	if (v->flags & TACH_FLAG_UNBOUNDED)
		snprintf(to, TACH__UNIT_MAX, "\u00b1?");
	else if (v->error > 0 &&
		 /* an error below 0.1 % is smaller than the variation between runs */
		 percent >= 0.1)
		snprintf(to, TACH__UNIT_MAX, "\u00b1%.*f%%", percent < 1 ? 2 : percent < 10,
			 percent);
}

void tach__unit_quantile(char to[2 * TACH__UNIT_MAX], const struct tach_snapshot *s, int region,
			 int q, double p)
{
	struct tach_value v = {.value = tach_snapshot_quantile(s, region, q, p),
			       .error = tach__snapshot_resolution(s, region, q, p)};
	char error[TACH__UNIT_MAX];

	tach__unit_value(to, s, q, v.value);
	tach__unit_error(error, &v);
	if (*error)
		snprintf(to + strlen(to), 2 * TACH__UNIT_MAX - strlen(to), " %s", error);
}

int tach__column_value(const struct tach_snapshot *s, int region, int q, enum tach_part part,
		       struct tach_value *v)
{
	int n = tach_snapshot_nquantities(s);

	return q < n ? tach_snapshot_value(s, region, q, part, v)
		     : tach_snapshot_derived(s, region, q - n, part, v);
}

int tach__columns(const struct tach_snapshot *s)
{
	return tach_snapshot_nquantities(s) + tach_snapshot_nmetrics(s);
}

int tach__column_next(const struct tach_snapshot *s, int q)
{
	int n = tach_snapshot_nquantities(s);

	do
		q++;
	while (q < n && tach__plain_is_operand(&s->plain, q));
	return q;
}

const char *tach__column_name(const struct tach_snapshot *s, int q)
{
	int n = tach_snapshot_nquantities(s);

	return q < n ? tach_snapshot_quantity(s, q) : tach_snapshot_metric(s, q - n);
}
