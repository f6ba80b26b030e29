/* SPDX-License-Identifier: MIT */
/* Writes the worst entries of a report as text. */
#include <math.h>
#include <stdio.h>
#include "core/report/report.h"
#include "core/report/units.h"

/* Uses UTC, because signal handlers cannot read the files of time zones. */
void tach__report_clock(char to[TACH__CLOCK_MAX], double at)
{
	double day = isfinite(at) && at > 0 ? fmod(at, 86400) : 0;
	unsigned us = (unsigned)((day - floor(day)) * 1e6), s = (unsigned)day;

	snprintf(to, TACH__CLOCK_MAX, "%02u:%02u:%02u.%06u", s / 3600, s / 60 % 60, s % 60, us);
}

static void write_worst_entry(struct tach__out *out, const struct tach_snapshot *s, int region,
			      int i, const struct tach_worst *w, int ascii)
{
	char at[TACH__CLOCK_MAX];

	tach__report_clock(at, w->at);
	tach__out_text(out, "  ");
	for (int q = 0; q < tach_snapshot_nquantities(s); q = tach__column_next(s, q)) {
		char value[TACH__UNIT_MAX];

		tach__unit_value(value, s, q, tach_snapshot_worst_value(s, region, i, q));
		tach__out_text(out, q ? ", " : "");
		tach__report_line(out, tach_snapshot_quantity(s, q), ascii);
		tach__out(out, " %s", value);
	}
	tach__out(out, "; at %s, thread %d ", at, w->thread);
	tach__report_line(out, w->thread_name, ascii);
	tach__out_text(out, *w->parent ? ", in " : "");
	tach__report_line(out, w->parent, ascii);
	if (w->tag)
		tach__out(out, ", tag 0x%llx", (unsigned long long)w->tag);
	tach__out_text(out, w->flags ? ", " : "");
	tach__out_flags(out, w->flags, ",");
	tach__out_text(out, "\n");
}

void tach__report_text_worst(struct tach__out *out, const struct tach_snapshot *s, int region,
			     int ascii)
{
	struct tach_region_info info = {0};
	struct tach_worst w = {0};

	tach_snapshot_region(s, region, &info);
	if (tach_snapshot_worst(s, region, 0, &w) != 0)
		return;
	tach__out_text(out, "\n");
	tach__report_line(out, info.name, ascii);
	tach__out_text(out, ", worst entries by ");
	tach__report_line(out, tach_snapshot_quantity(s, tach_snapshot_worst_by(s)), ascii);
	tach__out_text(out, " (UTC):\n");
	for (int i = 0; tach_snapshot_worst(s, region, i, &w) == 0; i++)
		write_worst_entry(out, s, region, i, &w, ascii);
}
