/* SPDX-License-Identifier: MIT */
/* The worst entries of an interval, below the table of `tach top`. */
#include <stdio.h>
#include <string.h>
#include "core/report/units.h"
#include "tools/tach/screen.h"
#include "tools/tach/top.h"

enum { NAME = 21 };

static void entry_text(char to[512], const struct tach_snapshot *s, int r, int k, int by,
		       const struct tach_worst *w)
{
	struct tach_region_info info = {.size = sizeof info};
	char name[128], thread[64], in[64], value[TACH__UNIT_MAX];

	tach_snapshot_region(s, r, &info);
	fit_text(name, sizeof name, info.name, NAME, 0);
	fit_text(thread, sizeof thread, w->thread_name, 15, 0);
	fit_text(in, sizeof in, w->parent, 12, 0);
	tach__unit_value(value, s, by, tach_snapshot_worst_value(s, r, k, by));
	snprintf(to, 512, "%s %10s %s %#-18llx %s", name, value, thread,
		 (unsigned long long)w->tag, in);
}

/* The worst entry of each region, one after the other, then the second of each. */
int top_worst(const struct tach_snapshot *s, const struct top_line *lines, int n,
	      char text[TOP_WORST + 1][512])
{
	struct tach_worst w = {.size = sizeof w};
	int by = tach_snapshot_worst_by(s), shown = 0;
	char name[64];

	if (by < 0)
		return 0;
	fit_text(name, sizeof name, tach_snapshot_quantity(s, by), 10, 0);
	snprintf(text[0], 512, "%-*s %10.*s %-15s %-18s %s", NAME, "WORST",
		 (int)strcspn(name, " "), name, "THREAD", "TAG", "IN");
	for (int k = 0; k < TOP_WORST && shown < TOP_WORST; k++)
		for (int i = 0; i < n && shown < TOP_WORST; i++)
			if (tach_snapshot_worst(s, lines[i].region, k, &w) == 0)
				entry_text(text[++shown], s, lines[i].region, k, by, &w);
	return shown;
}
