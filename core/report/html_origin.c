/* SPDX-License-Identifier: MIT */
/* Writes the origin of a report: the program, its command line, the machine and the date. */
#include "core/report/report.h"
#include "core/snapshot/snapshot.h"

void tach__report_html_title(struct tach__out *out, const struct tach_snapshot *s,
			     void (*text)(struct tach__out *, const char *))
{
	if (*s->origin.program) {
		text(out, s->origin.program);
		tach__out_text(out, " \u2013 ");
	}
	tach__out_text(out, "tach report");
}

static void fact_line(struct tach__out *out, const char *name, const char *what,
		      void (*text)(struct tach__out *, const char *))
{
	if (!*what)
		return;
	tach__out(out, "<div><dt>%s</dt><dd>", name);
	text(out, what);
	tach__out_text(out, "</dd></div>");
}

void tach__report_html_origin(struct tach__out *out, const struct tach_snapshot *s,
			      void (*text)(struct tach__out *, const char *))
{
	const struct tach__origin *o = &s->origin;
	char date[TACH__DATE_MAX] = "";

	if (!o->date)
		return;
	tach__report_date(date, o->date);
	tach__out_text(out, "<dl class=\"origin\">");
	fact_line(out, "Program", o->program, text);
	fact_line(out, "Command", o->command, text);
	fact_line(out, "Host", o->host, text);
	fact_line(out, "Date", date, text);
	tach__out_text(out, "</dl>\n");
}
