/* SPDX-License-Identifier: MIT */
/* Writes Prometheus' text format 0.0.4. The series of a family are together. Times are in
 * seconds. A value that only grows is a counter, and its name ends in _total. */
#include <stdio.h>
#include <string.h>
#include "core/formula/formula.h"
#include "core/base/number.h"
#include "core/report/report.h"
#include "core/report/units.h"
#include "core/snapshot/snapshot.h"

static const char *escape(unsigned c, char room[8])
{
	(void)room;
	return c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : NULL;
}

static void write_label(struct tach__out *out, const char *name, const char *value)
{
	tach__out(out, ",%s=\"", name);
	tach__out_escaped(out, value, escape);
	tach__out_text(out, "\"");
}

static void write_family(struct tach__out *out, const char *name, const char *type,
			 const char *help)
{
	tach__out(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Returns the rank of the report, or of the row if the report has several ranks; -1: no
 * rank. */
static int rank_of(const struct tach_snapshot *s, int r)
{
	int rank = s->rank ? s->rank : r < 0 ? 0 : s->plain.region[r].rank;

	return rank - 1;
}

/* Writes the name of a series and the labels that identify the region; the caller writes the
 * rest. */
static void write_series(struct tach__out *out, const char *name, const struct tach_snapshot *s,
			 int r)
{
	struct tach_region_info info = {0};

	tach_snapshot_region(s, r, &info);
	tach__out(out, "%s{region=\"", name);
	tach__out_escaped(out, info.of, escape);
	tach__out_text(out, "\"");
	if (rank_of(s, r) >= 0)
		tach__out(out, ",rank=\"%d\"", rank_of(s, r));
	if (*info.task)
		write_label(out, "task", info.task);
	if (*info.tag)
		write_label(out, "tag", info.tag);
	if (*info.thread)
		write_label(out, "thread", info.thread);
	write_label(out, "file", info.file);
	tach__out(out, ",line=\"%u\"", info.line);
}

static void write_end(struct tach__out *out, double value)
{
	tach__out_text(out, "} ");
	tach__out_number(out, value, "NaN");
	tach__out_text(out, "\n");
}

static void write_counts(struct tach__out *out, const struct tach_snapshot *s)
{
	struct tach_region_info info = {0};

	write_family(out, "tach_region_entries_total", "counter", "Entries, measured or not.");
	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++) {
		write_series(out, "tach_region_entries_total", s, r);
		write_end(out, (double)info.entries);
	}
	write_family(out, "tach_region_calls_total", "counter", "Entries that were measured.");
	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++) {
		write_series(out, "tach_region_calls_total", s, r);
		write_end(out, (double)info.calls);
	}
	write_family(out, "tach_region_provenance_total", "counter",
		     "Measured entries whose counts were obtained in that way.");
	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		for (int i = 0; i < 6; i++) {
			write_series(out, "tach_region_provenance_total", s, r);
			write_label(out, "provenance", tach__flag_names[i].name);
			write_end(out, (double)info.provenance[i]);
		}
}

/* The part of a value that a family shows. */
enum field { VALUE, ERROR };

/* Returns how many earlier quantities have the same name in this format. */
static int count_same_names(const struct tach_snapshot *s, int quantity)
{
	int n = 0;

	for (int q = 1; q < quantity; q++)
		n += strcmp(tach_snapshot_quantity(s, q),
			    tach_snapshot_quantity(s, quantity)) == 0;
	return n;
}

static void write_field(struct tach__out *out, const struct tach_snapshot *s, const char *name,
			int r, int quantity, enum field field)
{
	static const char *const parts[] = {"inclusive", "self"};
	struct tach_region_info info = {0};

	tach_snapshot_region(s, r, &info);
	for (int part = 0; part < 2; part++) {
		struct tach_value v;

		tach_snapshot_value(s, r, quantity, (enum tach_part)part, &v);
		write_series(out, name, s, r);
		write_label(out, "part", parts[part]);
		if (quantity != TACH_QUANTITY_TIME)
			write_label(out, "event", tach_snapshot_quantity(s, quantity));
		if (count_same_names(s, quantity))
			tach__out(out, ",copy=\"%d\"", count_same_names(s, quantity));
		write_end(out, (field == VALUE ? v.value : v.error) /
				       (quantity == TACH_QUANTITY_TIME ? 1e9 : 1));
	}
}

static void write_times(struct tach__out *out, const struct tach_snapshot *s, const char *name,
			enum field field)
{
	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		write_field(out, s, name, r, TACH_QUANTITY_TIME, field);
}

static void write_events(struct tach__out *out, const struct tach_snapshot *s, const char *name,
			 enum field field)
{
	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		for (int q = tach__column_next(s, 0); q < tach_snapshot_nquantities(s);
		     q = tach__column_next(s, q))
			write_field(out, s, name, r, q, field);
}

static void write_values(struct tach__out *out, const struct tach_snapshot *s)
{
	write_family(out, "tach_region_seconds_total", "counter",
		     "Time, cost of measuring subtracted.");
	write_times(out, s, "tach_region_seconds_total", VALUE);
	write_family(out, "tach_region_error_seconds", "gauge", "How uncertain the time is.");
	write_times(out, s, "tach_region_error_seconds", ERROR);
	if (tach_snapshot_nquantities(s) == 1)
		return;
	write_family(out, "tach_region_events_total", "counter",
		     "Events counted, cost of measuring subtracted.");
	write_events(out, s, "tach_region_events_total", VALUE);
	write_family(out, "tach_region_error_events", "gauge", "How uncertain the counts are.");
	write_events(out, s, "tach_region_error_events", ERROR);
}

static void write_metrics(struct tach__out *out, const struct tach_snapshot *s)
{
	struct tach_region_info info = {0};
	struct tach_value v;

	if (tach_snapshot_nmetrics(s))
		write_family(out, "tach_region_metric", "gauge",
			     "Metrics derived from the counts, inclusive.");
	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		for (int m = 0; m < tach_snapshot_nmetrics(s); m++) {
			tach_snapshot_derived(s, r, m, TACH_PART_INCLUSIVE, &v);
			write_series(out, "tach_region_metric", s, r);
			write_label(out, "metric", tach_snapshot_metric(s, m));
			write_end(out, v.value);
		}
}

/* ---- histograms ---- */

/* The bounds are the same at each scrape, as rates require: 1, 2, 5, 10 ... from 10 ns to 10 s,
 * in ns. */
enum { BOUNDS = 28 };

static double bucket_bound(int i)
{
	static const double step[] = {1, 2, 5};
	double b = 10 * step[i % 3];

	for (int decade = i / 3; decade > 0; decade--)
		b *= 10;
	return b;
}

static void write_bucket(struct tach__out *out, const struct tach_snapshot *s, int r,
			 const char *le, uint64_t count)
{
	write_series(out, "tach_region_call_seconds_bucket", s, r);
	write_label(out, "le", le);
	write_end(out, (double)count);
}

static void write_histogram(struct tach__out *out, const struct tach_snapshot *s, int r,
			    const struct tach_bucket *b, int n)
{
	uint64_t below = 0;
	double sum = 0;
	int at = 0;

	for (int i = 0; i < BOUNDS; i++) {
		char le[40];

		/* Adds only complete buckets. A bucket that crosses the bound belongs to the
		 * next bound. */
		for (; at < n && b[at].high <= bucket_bound(i); at++)
			below += b[at].count;
		if (bucket_bound(i) < 1e9)
			tach__number_print(bucket_bound(i) / 1e9, le, sizeof le);
		else
			snprintf(le, sizeof le, "%.0f", bucket_bound(i) / 1e9);
		write_bucket(out, s, r, le, below);
	}
	for (; at < n; at++)
		below += b[at].count;
	write_bucket(out, s, r, "+Inf", below);
	for (at = 0; at < n; at++)
		sum += (double)b[at].count * (b[at].low + b[at].high) / 2;
	write_series(out, "tach_region_call_seconds_sum", s, r);
	write_end(out, sum / 1e9);
	write_series(out, "tach_region_call_seconds_count", s, r);
	write_end(out, (double)below);
}

/* Uses pages instead of malloc, because a handler of a deadly signal may write this. */
static void write_histograms(struct tach__out *out, const struct tach_snapshot *s)
{
	struct tach_region_info info = {0};
	int first = 1;

	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++) {
		int n = tach_snapshot_buckets(s, r, TACH_QUANTITY_TIME, NULL, 0);
		size_t size = n > 0 ? (size_t)n * sizeof(struct tach_bucket) : 0;
		struct tach_bucket *b = size ? tach__pages(size) : NULL;

		out->lacking |= size && !b;
		if (!b)
			continue;
		tach_snapshot_buckets(s, r, TACH_QUANTITY_TIME, b, n);
		if (first)
			write_family(
				out, "tach_region_call_seconds", "histogram",
				"Time of one call, cost subtracted; the sum is made of the "
				"buckets.");
		first = 0;
		write_histogram(out, s, r, b, n);
		tach__pages_free(b, size);
	}
}

static void write_plain(struct tach__out *out, const struct tach_snapshot *s, const char *name,
			const char *type, const char *help, double value)
{
	write_family(out, name, type, help);
	tach__out_text(out, name);
	if (rank_of(s, -1) >= 0)
		tach__out(out, "{rank=\"%d\"}", rank_of(s, -1));
	tach__out_text(out, " ");
	tach__out_number(out, value, "NaN");
	tach__out_text(out, "\n");
}

void tach__report_prometheus(struct tach__out *out, const struct tach_snapshot *s,
			     const struct tach_report_options *opt)
{
	struct tach_counts c = {.size = sizeof c};

	(void)opt;
	tach_snapshot_counts(s, &c);
	write_family(out, "tach_info", "gauge",
		     "The version of the library, and what it misses here.");
	tach__out(out, "tach_info{version=\"%s\"", tach_version());
	write_label(out, "note", tach_snapshot_missing(s));
	if (rank_of(s, -1) >= 0)
		tach__out(out, ",rank=\"%d\"", rank_of(s, -1));
	write_end(out, 1);
	write_plain(out, s, "tach_threads_total", "counter", "Threads that measured something.",
		    (double)c.threads);
	write_plain(out, s, "tach_threads_unopened_total", "counter",
		    "Threads whose counters did not open.", c.unopened);
	write_plain(out, s, "tach_processes_missing_total", "counter",
		    "Processes that were measured and left no report.",
		    (double)c.missing_processes);
	write_plain(out, s, "tach_threads_missing_total", "counter",
		    "Threads that were measured and are in no report.",
		    (double)c.missing_threads);
	write_plain(out, s, "tach_stops_refused_total", "counter",
		    "Stops on another thread, without a start, or after the set changed.",
		    (double)c.refused);
	write_plain(out, s, "tach_entries_lost_total", "counter",
		    "Entries that found no place.", (double)c.lost);
	if (tach_snapshot_nregions(s) == 0)
		return;
	write_counts(out, s);
	write_values(out, s);
	write_metrics(out, s);
	write_histograms(out, s);
}
