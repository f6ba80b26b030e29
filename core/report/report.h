/* SPDX-License-Identifier: MIT */
/* Functions that the report formats share. */
#ifndef TACH_CORE_REPORT_H
#define TACH_CORE_REPORT_H

#include "core/base/flags.h"
#include "core/base/out.h"

/* One function for each format, each in its own file; report.c lists them. */
void tach__report_text(struct tach__out *out, const struct tach_snapshot *s,
		       const struct tach_report_options *opt);
void tach__report_json(struct tach__out *out, const struct tach_snapshot *s,
		       const struct tach_report_options *opt);
void tach__report_csv(struct tach__out *out, const struct tach_snapshot *s,
		      const struct tach_report_options *opt);
void tach__report_prometheus(struct tach__out *out, const struct tach_snapshot *s,
			     const struct tach_report_options *opt);
void tach__report_html(struct tach__out *out, const struct tach_snapshot *s,
		       const struct tach_report_options *opt);

/* trace.c: writes the present trace of this process. 0 or a code. Signal handlers may call it.
 * `folded`: writes collapsed stacks instead, by folded.c. `ns`: the length of a tick. */
int tach__report_trace(tach_sink sink, void *context, int folded);
int tach__report_folded(struct tach__out *out, uint32_t generation, double ns);
void tach__report_text_histograms(struct tach__out *out, const struct tach_snapshot *s,
				  int ascii);
/* Returns 1 if the variable enables an option of reports in text, such as TACH_NOTES=1. */
int tach__report_is_enabled(const char *variable);
/* Writes notes that a reader needs to understand the values. */
void tach__report_text_notes(struct tach__out *out, const struct tach_snapshot *s,
			     const struct tach_report_options *opt);
/* Write the histogram and the worst entries of one region, if it has some. */
void tach__report_text_histogram(struct tach__out *out, const struct tach_snapshot *s,
				 int region, int ascii);
void tach__report_text_worst(struct tach__out *out, const struct tach_snapshot *s, int region,
			     int ascii);
/* Writes a date in UTC, such as "2026-11-27 13:04:05 UTC". */
enum { TACH__DATE_MAX = 64 };
void tach__report_date(char to[TACH__DATE_MAX], int64_t at);
/* Writes the time of day, such as "13:04:05.678901". `at`: seconds since 1970. */
enum { TACH__CLOCK_MAX = 40 };
void tach__report_clock(char to[TACH__CLOCK_MAX], double at);
void tach__report_html_worst(struct tach__out *out, const struct tach_snapshot *s,
			     void (*text)(struct tach__out *, const char *));
/* Writes worst entry i of a region, as an object. */
void tach__report_json_worst(struct tach__json_out *json, const struct tach_snapshot *s,
			     int region, int i, const struct tach_worst *w);
/* Writes trees of metrics, if they exist, and a sentence about the next step. */
void tach__report_text_tree(struct tach__out *out, const struct tach_snapshot *s,
			    const struct tach_report_options *opt);
/* text() escapes special characters of HTML. */
void tach__report_html_tree(struct tach__out *out, const struct tach_snapshot *s,
			    void (*text)(struct tach__out *, const char *));
/* Write the title of the report, and its origin below the title. */
void tach__report_html_title(struct tach__out *out, const struct tach_snapshot *s,
			     void (*text)(struct tach__out *, const char *));
void tach__report_html_origin(struct tach__out *out, const struct tach_snapshot *s,
			      void (*text)(struct tach__out *, const char *));
void tach__report_html_nest(struct tach__out *out, const struct tach_snapshot *s,
			    void (*text)(struct tach__out *, const char *));
void tach__report_html_histograms(struct tach__out *out, const struct tach_snapshot *s,
				  void (*text)(struct tach__out *, const char *));

/* Sets options for a terminal. If fd is not a terminal, changes nothing. */
void tach__report_terminal(struct tach_report_options *opt, int fd);
/* Returns kind i of a region's quantities, "emulated" or "shared"; NULL: end of the list. */
const char *tach__report_kind(const struct tach_snapshot *s, int region, int i);
/* Returns the calls that a region's values cover, or that they represent in sparse mode. */
uint64_t tach__report_calls(const struct tach_region_info *info);
/* Writes kind i of the entries that tach__report_calls leaves out, such as "3 never stopped".
 * Returns 0 at the end of the list. */
enum { TACH__BESIDE_MAX = 48 };
int tach__report_other_entries(char to[TACH__BESIDE_MAX], const struct tach_region_info *info,
			       int i);
/* Writes text for a terminal, in one line and well-formed (tach_printable). `ascii`: writes "?"
 * for other characters. */
void tach__report_line(struct tach__out *out, const char *text, int ascii);
/* Returns all flags of a snapshot's inclusive values. */
uint32_t tach__report_flags(const struct tach_snapshot *s);

#include "core/report/deliver.h"

#endif
