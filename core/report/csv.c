/* SPDX-License-Identifier: MIT */
/* Writes CSV (RFC 4180): a line for each region, part and quantity. */
#include <string.h>
#include "core/report/report.h"
#include "core/report/units.h"

static void write_line(struct tach__out *out, const struct tach_region_info *info,
		       const char *part, const char *quantity, const struct tach_value *v,
		       int divided)
{
	tach__out_csv_string(out, info->name);
	tach__out(out, ",");
	tach__out_csv_string(out, info->file);
	tach__out(out, ",%u,%llu,%llu,%s,", info->line, (unsigned long long)info->entries,
		  (unsigned long long)info->calls, part);
	tach__out_csv_string(out, quantity);
	/* NaN, which a division by zero gives, is an empty field. */
	tach__out_text(out, ",");
	tach__out_number(out, v->value, "");
	tach__out_text(out, ",");
	tach__out_number(out, v->raw, "");
	tach__out_text(out, ",");
	tach__out_number(out, v->error, "");
	tach__out_text(out, ",\"");
	tach__out_flags(out, v->flags, " ");
	tach__out_text(out, "\"");
	if (divided) {
		const char *const parts[] = {info->of, info->task, info->tag, info->thread};

		for (int i = 0; i < 4; i++) {
			tach__out_text(out, ",");
			tach__out_csv_string(out, parts[i]);
		}
	}
	tach__out_text(out, "\r\n");
}

/* Writes a line without a region, for entries that are in no row. */
static void write_missing(struct tach__out *out, const char *what, uint64_t n, int divided)
{
	struct tach_region_info nothing = {
		.name = "", .file = "", .of = "", .task = "", .tag = "", .thread = ""};
	struct tach_value v = {.value = (double)n, .raw = (double)n};

	if (n)
		write_line(out, &nothing, "missing", what, &v, divided);
}

/* Returns 1 if rows are divided by task, tag or thread. */
static int is_divided(const struct tach_snapshot *s)
{
	struct tach_region_info info = {0};
	int divided = 0;

	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		divided |= strcmp(info.of, info.name) != 0;
	return divided;
}

void tach__report_csv(struct tach__out *out, const struct tach_snapshot *s,
		      const struct tach_report_options *opt)
{
	static const char *const parts[] = {"inclusive", "self"};

	struct tach_counts c = {.size = sizeof c};
	int divided = is_divided(s);

	(void)opt;
	tach_snapshot_counts(s, &c);
	tach__out(out,
		  "region,file,line,entries,calls,part,quantity,value,raw,error,flags%s\r\n",
		  divided ? ",of,task,tag,thread" : "");
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		struct tach_region_info info = {0};
		struct tach_value v;

		tach_snapshot_region(s, r, &info);
		for (int part = 0; part < 2; part++) {
			for (int q = 0; q < tach_snapshot_nquantities(s);
			     q = tach__column_next(s, q)) {
				tach_snapshot_value(s, r, q, (enum tach_part)part, &v);
				write_line(out, &info, parts[part],
					   q ? tach_snapshot_quantity(s, q) : "time_ns", &v,
					   divided);
			}
			for (int m = 0; m < tach_snapshot_nmetrics(s); m++) {
				tach_snapshot_derived(s, r, m, (enum tach_part)part, &v);
				write_line(out, &info, parts[part], tach_snapshot_metric(s, m),
					   &v, divided);
			}
		}
	}
	write_missing(out, "processes", c.missing_processes, divided);
	write_missing(out, "threads", c.missing_threads, divided);
	write_missing(out, "entries", c.lost, divided);
}
