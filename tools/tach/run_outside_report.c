/* SPDX-License-Identifier: MIT */
/* Writes the counts of `tach run --outside` as a report: one region for all processes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <tach/derived.h>
#include <tach/formula.h>
#include <tach/reader.h>
#include "core/base/flags.h"
#include "core/base/json_out.h"
#include "core/os/buffer.h"
#include "core/os/rank.h"
#include "core/uncore/uncore.h"
#include "tools/tach/commands.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"
#include "tools/tach/run_outside.h"

/* Writes a value from which no overhead was subtracted. */
static void write_value(struct tach__json_out *json, const char *name, double v, uint32_t flags)
{
	tach__json_object(json, name);
	tach__json_number(json, "value", v);
	tach__json_number(json, "raw", v);
	tach__json_int(json, "overhead", 0);
	tach__json_int(json, "error", 0);
	tach__json_flags(json, flags);
	tach__json_end(json);
}

/* Count of a target since its mark, scaled if the counter was multiplexed. */
static double counted_by(const struct run_target *t, int i, uint32_t *flags)
{
	const struct run_count *now = &t->now[i], *last = &t->last[i];
	double count = (double)(now->count - last->count);
	uint64_t enabled = now->enabled - last->enabled, running = now->running - last->running;

	if (now->lost || (enabled && !running)) {
		*flags |= TACH_FLAG_LOST;
		return 0;
	}
	*flags |= TACH_FLAG_SYSCALL;
	if (running >= enabled)
		return count;
	*flags |= TACH_FLAG_SCALED;
	return trunc(count * (double)enabled / (double)running);
}

/* Writes counts of one target, or of all. */
static void write_counts(struct tach__json_out *json, const struct run_outside *o, int i,
			 const struct run_target *one)
{
	uint32_t flags = 0;
	double sum = one ? counted_by(one, i, &flags) : 0;

	for (int k = 0; !one && k < o->ntargets; k++)
		sum += counted_by(o->target[k], i, &flags);
	write_value(json, tach_set_name(o->set, i), sum, flags);
}

static void counted_box(struct tach__json_out *json, const char *name, uint64_t count,
			uint32_t flags)
{
	if (flags & TACH_FLAG_LOST)
		write_value(json, name, 0, TACH_FLAG_LOST);
	else
		write_value(json, name, (double)count, flags | TACH_FLAG_SHARED);
}

static void write_member(struct tach__json_out *json, const struct run_outside *o, int i,
			 const struct run_target *one)
{
	int k = tach__uncore_member(o->boxes.uncore, o->set, i);

	if (k < 0)
		write_counts(json, o, i, one);
	else
		counted_box(json, tach_set_name(o->set, i),
			    o->boxes.count[k] - o->boxes.last[k],
			    one ? TACH_FLAG_LOST : o->boxes.flags[k]);
}

static int is_lost(const struct run_outside *o, int i, const struct run_target *one)
{
	int k = tach__uncore_member(o->boxes.uncore, o->set, i), lost = 0;

	if (k >= 0)
		return (o->boxes.flags[k] & TACH_FLAG_LOST) != 0;
	for (int t = 0; t < o->ntargets; t++)
		lost |= (!one || one == o->target[t]) && o->target[t]->fd[i] < 0;
	return lost;
}

static void write_part(struct tach__json_out *json, const struct run_outside *o,
		       const char *name, const struct run_target *one, double seconds)
{
	tach__json_object(json, name);
	write_value(json, "time", round(seconds * 1e9), 0);
	for (int i = 0; i < tach_set_count(o->set); i++)
		write_member(json, o, i, one);
	for (int m = 0; m < tach_set_nmetrics(o->set); m++)
		write_value(json, tach_set_metric_name(o->set, m), NAN, 0);
	tach__json_end(json);
}

/* Writes the place in the tree of regions. */
static void write_place(struct tach__json_out *json, const char *name)
{
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_derived *d = tach_derived_default();

	if (!d || tach_derived_find(d, -1, name, &info) != 0)
		return;
	if (info.level)
		tach__json_int(json, "level", info.level);
	tach__json_number(json, "scale", info.scale);
	tach__json_string(json, "parent", info.parent);
	tach__json_string(json, "unit", info.unit);
	tach__json_string(json, "threshold", info.threshold);
	tach__json_string(json, "description",
			  *info.short_description ? info.short_description
						  : info.long_description);
}

static void write_metric(struct tach__json_out *json, const struct tach_set *set, int m)
{
	const struct tach_formula *f = tach_set_metric(set, m);
	int length = tach_formula_print(f, TACH_FORMULA_INFIX, NULL, 0);
	char *text = length < 0 ? NULL : malloc((size_t)length + 1);

	tach__json_object(json, NULL);
	tach__json_string(json, "name", tach_set_metric_name(set, m));
	if (text) {
		tach_formula_print(f, TACH_FORMULA_INFIX, text, (size_t)length + 1);
		tach__json_string(json, "formula", text);
	}
	write_place(json, tach_set_metric_name(set, m));
	tach__json_end(json);
	free(text);
}

static void write_quantity(struct tach__json_out *json, const char *name)
{
	tach__json_object(json, NULL);
	tach__json_string(json, "name", name);
	tach__json_end(json);
}

/* one: the row of one target; NULL: of all. */
static void write_region(struct tach__json_out *json, const struct run_outside *o,
			 const struct run_target *one, double seconds)
{
	static const char *const zero[] = {"skipped", "excluded", "nested", "threads"};
	int lost = 0;

	for (int i = 0; i < tach_set_count(o->set); i++)
		lost |= is_lost(o, i, one);
	tach__json_object(json, NULL);
	tach__json_string(json, "name", one ? one->row : o->row);
	tach__json_string(json, "file", "");
	tach__json_string(json, "function", "");
	tach__json_int(json, "line", 0);
	tach__json_bool(json, "fenced", 0);
	tach__json_int(json, "entries", 1);
	tach__json_int(json, "calls", 1);
	tach__json_int(json, "outermost", 1);
	for (size_t i = 0; i < sizeof zero / sizeof *zero; i++)
		tach__json_int(json, zero[i], 0);
	tach__json_object(json, "provenance");
	tach__json_int(json, lost ? "lost" : "syscall", 1);
	tach__json_end(json);
	write_part(json, o, "inclusive", one, seconds);
	write_part(json, o, "self", one, seconds);
	tach__json_end(json);
}

/* Schema 1 of tach-report(5); merging adds the values of metrics. */
static void print(struct tach__json_out *json, const struct run_outside *o, double seconds)
{
	static const char *const zero[] = {"threads", "refused", "lost", "stale", "unopened"};

	tach__json_object(json, NULL);
	tach__json_int(json, "tach", 1);
	tach__json_string(json, "note", o->note);
	tach__json_object(json, "clock");
	tach__json_number(json, "hz", 1e9);
	tach__json_bool(json, "estimate", 0);
	tach__json_end(json);
	for (size_t i = 0; i < sizeof zero / sizeof *zero; i++)
		tach__json_int(json, zero[i], 0);
	tach__json_int(json, "reports", 1);
	if (tach__rank() >= 0)
		tach__json_int(json, "rank", tach__rank());
	tach__json_array(json, "quantities");
	write_quantity(json, "time");
	for (int i = 0; i < tach_set_count(o->set); i++)
		write_quantity(json, tach_set_name(o->set, i));
	tach__json_end(json);
	tach__json_array(json, "metrics");
	for (int m = 0; m < tach_set_nmetrics(o->set); m++)
		write_metric(json, o->set, m);
	tach__json_end(json);
	tach__json_array(json, "regions");
	if (!o->per_target)
		write_region(json, o, NULL, seconds);
	for (int k = 0; o->per_target && k < o->ntargets; k++)
		write_region(json, o, o->target[k], seconds);
	tach__json_end(json);
	tach__json_end(json);
}

struct tach_snapshot *run_outside_take(struct run_outside *o, double seconds)
{
	struct tach_snapshot *one = NULL, *whole = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__buffer text = {0};
	struct tach__json_out json;
	struct tach__out out;
	int code;

	run_outside_read(o);
	tach__out_open(&out, tach__buffer_sink, &text);
	tach__json_begin(&json, &out, TACH__JSON_COMPACT);
	print(&json, o, seconds);
	code = tach__out_flush(&out);
	if (!code)
		code = tach_snapshot_load(text.at, text.length, &one, &err);
	if (code)
		fprintf(stderr, "tach run: %s\n", *err.text ? err.text : tach_strerror(code));
	else
		report_merge(&whole, &one, 1, "tach run");
	tach_snapshot_free(one);
	tach__buffer_free(&text);
	return whole;
}
