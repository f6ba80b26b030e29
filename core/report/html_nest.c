/* SPDX-License-Identifier: MIT */
/*
 * Draws nested regions as an icicle. The width of a region is its inclusive time, and the
 * region is below its enclosing region. If a region is entered from several regions, its width
 * is limited to the free space.
 */
#include "core/base/maths.h"
#include "core/os/memory.h"
#include "core/report/nest.h"
#include "core/report/report.h"
#include "core/snapshot/snapshot.h"
#include "core/report/units.h"

enum { DEEPEST = 24, COLOURS = 8, THIN = 10 /* in ten thousandths */ };

/* Left and right end of a region, in ten thousandths of the whole width. */
struct place {
	int from, to;
	int used; /* end of the space that its children use */
};

static double time_of(const struct tach_snapshot *s, int region)
{
	struct tach_value v = {0};

	tach_snapshot_value(s, region, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE, &v);
	return v.value > 0 && !s->plain.region[region].repeats ? v.value : 0;
}

static void write_percent(struct tach__out *out, const char *name, int hundredths)
{
	tach__out(out, "%s:%d.%02d%%;", name, hundredths / 100, hundredths % 100);
}

static void write_box(struct tach__out *out, const struct tach_snapshot *s, int region,
		      int depth, const struct place *at, double total,
		      void (*text)(struct tach__out *, const char *))
{
	struct tach_region_info info = {.size = sizeof info};
	char time[TACH__UNIT_MAX];
	double ns = time_of(s, region);

	tach_snapshot_region(s, region, &info);
	tach__unit_time(time, ns);
	tach__out(out, "<i style=\"--c:var(--c%d);top:%dpx;", region % COLOURS, 26 * depth);
	write_percent(out, "left", at->from);
	write_percent(out, "width", at->to - at->from);
	tach__out_text(out, "\" title=\"");
	text(out, info.name);
	tach__out(out, ": %s, %d%%\">", time, (int)(100 * ns / total + 0.5));
	text(out, info.name);
	tach__out_text(out, "</i>");
}

static void write_boxes(struct tach__out *out, const struct tach_snapshot *s,
			const struct tach__nest *nest, double total,
			void (*text)(struct tach__out *, const char *))
{
	struct place around[DEEPEST + 1] = {{0, 10000, 0}};

	for (int i = 0; i < nest->n; i++) {
		int depth = nest->depth[i], width;
		struct place *up, at;

		if (depth >= DEEPEST)
			continue;
		up = &around[depth];
		width = (int)(10000 * time_of(s, nest->region[i]) / total);
		at.from = at.used = up->used;
		at.to = at.from + width < up->to ? at.from + width : up->to;
		up->used = at.to;
		around[depth + 1] = at;
		if (at.to - at.from >= THIN)
			write_box(out, s, nest->region[i], depth, &at, total, text);
	}
}

void tach__report_html_nest(struct tach__out *out, const struct tach_snapshot *s,
			    void (*text)(struct tach__out *, const char *))
{
	struct tach__nest nest;
	double total = 0;
	int deepest = 0;

	if (!tach__nest_make(&nest, s, 1)) {
		out->lacking = 1;
		return;
	}
	for (int i = 0; i < nest.n; i++) {
		total += nest.depth[i] ? 0 : time_of(s, nest.region[i]);
		deepest = nest.depth[i] > deepest ? nest.depth[i] : deepest;
	}
	if (deepest && total > 0) {
		tach__out(out,
			  "<h2>What is nested in what <small>width: time with nested regions; "
			  "point at a box for its name</small></h2>\n<section class=\"card\">"
			  "<div class=\"icicle\" role=\"img\" aria-label=\"Nested regions\" "
			  "style=\"height:%dpx\">",
			  26 * ((deepest < DEEPEST ? deepest : DEEPEST - 1) + 1));
		write_boxes(out, s, &nest, total, text);
		tach__out_text(out, "</div></section>\n");
	}
	tach__nest_free(&nest);
}
