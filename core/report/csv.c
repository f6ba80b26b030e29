/* SPDX-License-Identifier: MIT */
/* CSV (RFC 4180): a line per region, part and quantity. */
#include "core/report/report.h"

static void line(struct tach__out *out, const struct tach_region_info *info, const char *part,
		 const char *quantity, const struct tach_value *v)
{
	const char *separator = "";

	tach__out_csv_string(out, info->name);
	tach__out(out, ",");
	tach__out_csv_string(out, info->file);
	tach__out(out, ",%u,%llu,%llu,%s,", info->line, (unsigned long long)info->entries,
		  (unsigned long long)info->calls, part);
	tach__out_csv_string(out, quantity);
	/* NaN, a division by zero, is an empty field. */
	tach__out_text(out, ",");
	tach__out_number(out, v->value, "");
	tach__out_text(out, ",");
	tach__out_number(out, v->raw, "");
	tach__out_text(out, ",");
	tach__out_number(out, v->error, "");
	tach__out_text(out, ",\"");
	for (int i = 0; tach__flag_names[i].name; i++)
		if (v->flags & tach__flag_names[i].flag) {
			tach__out(out, "%s%s", separator, tach__flag_names[i].name);
			separator = " ";
		}
	tach__out(out, "\"\r\n");
}

void tach__report_csv(struct tach__out *out, const struct tach_snapshot *s,
		      const struct tach_report_options *opt)
{
	static const char *const parts[] = {"inclusive", "self"};

	(void)opt;
	tach__out(out,
		  "region,file,line,entries,calls,part,quantity,value,raw,error,flags\r\n");
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		struct tach_region_info info = {0};
		struct tach_value v;

		tach_snapshot_region(s, r, &info);
		for (int part = 0; part < 2; part++) {
			for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
				tach_snapshot_value(s, r, q, (enum tach_part)part, &v);
				line(out, &info, parts[part],
				     q ? tach_snapshot_quantity(s, q) : "time_ns", &v);
			}
			for (int m = 0; m < tach_snapshot_nmetrics(s); m++) {
				tach_snapshot_derived(s, r, m, (enum tach_part)part, &v);
				line(out, &info, parts[part], tach_snapshot_metric(s, m), &v);
			}
		}
	}
}
