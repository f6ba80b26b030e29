/* SPDX-License-Identifier: MIT */
/*
 * `tach history show`: the change points of a history, and the last value of each line, as
 * tables.
 */
#include <stdio.h>
#include <string.h>
#include "core/base/out.h"
#include "tools/tach/commands.h"
#include "tools/tach/history.h"

static void show_mark(struct tach__out *out, const struct history_lines *l,
		      const struct history_mark *m)
{
	const struct history_run *run = &l->of->run[m->value->run];
	const struct series *of = m->value->of;
	char old[64], now[64], quantity[64], commit[16], subject[128];

	series_value(of, m->change->before, old, sizeof old);
	series_value(of, m->change->after, now, sizeof now);
	tach_printable(of->quantity, quantity, sizeof quantity);
	snprintf(commit, sizeof commit, "%.10s", run->commit);
	tach_printable(commit, commit, sizeof commit);
	tach_printable(run->subject, subject, sizeof subject);
	tach__out(out, "%-10s  %.10s  %-7s  %+8.2f %%  %10s  %10s  %-20s  %-20s  %s\n", commit,
		  run->date, m->change->verdict, 100 * m->change->change, old, now,
		  m->line->label, quantity, subject);
}

static void show_line(struct tach__out *out, const struct history_lines *l,
		      const struct history_line *line)
{
	const struct history_value *last = &line->value[line->n - 1];
	const struct history_run *run = &l->of->run[last->run];
	char value[64], quantity[64], counted[128], machine[128], commit[16];

	series_value(last->of, last->median, value, sizeof value);
	tach_printable(last->of->quantity, quantity, sizeof quantity);
	tach_printable(run->counted, counted, sizeof counted);
	tach_printable(run->machine, machine, sizeof machine);
	snprintf(commit, sizeof commit, "%.10s", run->commit);
	tach_printable(commit, commit, sizeof commit);
	tach__out(out, "%-20s  %-20s  %5zu  %7zu  %10s  %-10s  %s; %s\n", line->label, quantity,
		  line->n, line->nchanges, value, commit, counted, machine);
}

void history_show(struct tach__out *out, const struct history_lines *l)
{
	if (l->nmarks)
		tach__out(out, "%-10s  %-10s  %-7s  %10s  %10s  %10s  %-20s  %-20s  %s\n",
			  "change at", "date", "verdict", "change", "before", "after", "region",
			  "quantity", "subject");
	for (size_t i = 0; i < l->nmarks; i++)
		show_mark(out, l, &l->mark[i]);
	tach__out_text(out, l->nmarks ? "\n" : "");
	tach__out(out, "%-20s  %-20s  %5s  %7s  %10s  %-10s  %s\n", "region", "quantity",
		  "runs", "changes", "last", "commit", "counted");
	for (size_t i = 0; i < l->n; i++)
		show_line(out, l, &l->line[i]);
	tach__out(out, "\n%zu commits, %zu runs, %zu change points.\n", l->ncommits, l->of->n,
		  l->nmarks);
	if (l->apart)
		tach__out(
			out,
			"%zu lines are apart from another of the same name: they were counted "
			"in another way or on another machine, and do not compare.\n",
			l->apart);
}
