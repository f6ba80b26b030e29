/* SPDX-License-Identifier: MIT */
/*
 * Adds a row to a snapshot: at its position, with unchanged numbers of quantities and metrics,
 * in memory of sufficient size.
 */
#include <math.h>
#include <string.h>
#include <tach.h>
#include "core/set/set.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"
#include "tests/guarded.h"

#define tach__pages guarded_pages
#include "core/snapshot/beside.c"

enum { REGIONS = 3 };
static struct tach_set theirs, ours;
static struct tach__config config = {.set = &theirs};
static const char *quantity[] = {"time", "a", "b", "behind"};
static struct tach__plain_metric metric[] = {{.name = "sum", .text = "N0 + 9 * N1"},
					     {.name = "gone", .text = "N5"}};
static struct tach__plain_region region[REGIONS];
static struct tach_value value[REGIONS][2][5];
static struct tach__plain_buckets histogram[3] = {{.count = 1}, {.count = 2}, {.count = 3}};
static struct tach_snapshot s;
enum { COUNTED = TACH_FLAG_RESCHEDULED | TACH_FLAG_MIXED | TACH_FLAG_CLOCK | TACH_FLAG_SHARED };
static const uint64_t counted[] = {5, 7};
static uint32_t how[2];

static void metric_of(struct tach_set *set, const char *name, const char *text)
{
	struct tach__metric *m = &set->metric[set->nmetrics++];

	m->name = (char *)(uintptr_t)name;
	m->text = (char *)(uintptr_t)text;
	m->node.level = 3;
	CHECK(tach_formula_compile(text, NULL, &m->formula, NULL) == 0);
}

static void set_of(struct tach_set *set, const char *first, const char *second)
{
	memset(set, 0, sizeof *set);
	set->count = 2;
	set->member[0].name = (char *)(uintptr_t)first;
	set->member[1].name = (char *)(uintptr_t)second;
}

static void make_snapshot(void)
{
	memset(&s, 0, sizeof s);
	s.config = &config;
	s.plain = (struct tach__plain){.nquantities = 3,
				       .nmetrics = 2,
				       .nregions = REGIONS,
				       .worst = 1,
				       .quantity = quantity,
				       .metric = metric,
				       .region = region};
	for (int r = 0; r < REGIONS; r++) {
		region[r] = (struct tach__plain_region){.info = {.calls = 100 + (uint64_t)r},
							.value = {value[r][0], value[r][1]},
							.histogram = r ? histogram : NULL,
							.nworst = r};
		for (int part = 0; part < 2; part++)
			for (int q = 0; q < 5; q++)
				value[r][part][q].value = q ? 100 * r + 10 * part + q
							    : (30e9 - 10e9 * r) / (1 + part);
	}
}

static void make(void)
{
	set_of(&theirs, "a", "b");
	metric_of(&theirs, "sum", "N0 + 9 * N1");
	set_of(&ours, "b", "c");
	metric_of(&ours, "sum", "N0 - N1");
	metric_of(&ours, "more", "N0 + 10 * N1");
	how[0] = COUNTED;
	how[1] = TACH_FLAG_LOST;
	make_snapshot();
}

static void done(void)
{
	for (int m = 0; m < theirs.nmetrics; m++)
		tach_formula_free(theirs.metric[m].formula);
	for (int m = 0; m < ours.nmetrics; m++)
		tach_formula_free(ours.metric[m].formula);
	guarded_free();
}

static int beside(double seconds)
{
	const struct tach__beside b = {.row = "beside",
				       .set = &ours,
				       .count = counted,
				       .flags = how,
				       .seconds = seconds};

	return tach__snapshot_add_row(&s, &b);
}

static int is(const struct tach_value *v, double what, uint32_t flags)
{
	return v->value == what && v->raw == (flags & TACH_FLAG_SHARED ? what : 0) &&
	       v->flags == flags;
}

/* Existing items keep their numbers; new ones follow. */
static void existing_items_keep_their_numbers(void)
{
	make();
	CHECK(beside(1) == 0);
	CHECK(s.plain.nquantities == 4 && s.plain.nmetrics == 3 && s.plain.nregions == 4 &&
	      s.plain.worst == 1 && s.plain.more_size > 0);
	CHECK(strcmp(s.plain.quantity[0], "time") == 0 &&
	      strcmp(s.plain.quantity[1], "a") == 0 && strcmp(s.plain.quantity[2], "b") == 0 &&
	      strcmp(s.plain.quantity[3], "c") == 0);
	CHECK(strcmp(s.plain.metric[0].name, "sum") == 0 &&
	      strcmp(s.plain.metric[0].text, "N0 + 9 * N1") == 0 &&
	      strcmp(s.plain.metric[1].name, "gone") == 0);
	CHECK(strcmp(s.plain.metric[2].name, "more") == 0 &&
		      strcmp(s.plain.metric[2].text, "N1 + 10 * N2") == 0 &&
		      s.plain.metric[2].node.level == 3 && !s.plain.metric[2].formula,
	      "%s", s.plain.metric[2].text);
	done();
}

/* Each new name is added; existing names keep their positions. */
static void new_names(void)
{
	make();
	ours.member[0].name = (char *)(uintptr_t) "c";
	ours.member[1].name = (char *)(uintptr_t) "behind";
	CHECK(beside(1) == 0 && s.plain.nquantities == 5);
	CHECK(strcmp(s.plain.quantity[3], "c") == 0 &&
	      strcmp(s.plain.quantity[4], "behind") == 0 && strcmp(quantity[3], "behind") == 0);
	done();
}

/*
 * A set that is made from a list has no such label: if another set has it, the time keeps its
 * name.
 */
static void called_time(void)
{
	const struct tach_value *v;

	make();
	ours.member[0].name = (char *)(uintptr_t) "time";
	ours.member[1].name = (char *)(uintptr_t) "a";
	how[0] = TACH_FLAG_MIXED | TACH_FLAG_SHARED;
	how[1] = TACH_FLAG_SHARED;
	CHECK(beside(40) == 0 && s.plain.nquantities == 4 &&
	      strcmp(s.plain.quantity[3], "time") == 0);
	v = s.plain.region[0].value[0];
	CHECK(v[0].value == 40e9 && is(&v[1], 7, TACH_FLAG_SHARED) &&
	      is(&v[3], 5, TACH_FLAG_MIXED | TACH_FLAG_SHARED));
	for (int p = 0; p < 6; p++)
		CHECK(s.plain.region[0].info.provenance[p] == (p == 4), "%d", p);
	done();
}

/* Sorted by length, the longest first; a new row follows rows of equal length. */
static void in_its_place(void)
{
	static const struct {
		double seconds;
		int at;
	} cases[] = {{40, 0}, {30, 1}, {20.000000001, 1}, {20, 2}, {15, 2}, {10, 3}, {1, 3}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int at = cases[i].at;

		make();
		CHECK(beside(cases[i].seconds) == 0);
		for (int r = 0; r < REGIONS + 1; r++) {
			const struct tach_region_info *info = &s.plain.region[r].info;
			int old = r - (r > at);

			CHECK(r == at ? strcmp(info->name, "beside") == 0
				      : info->calls == 100 + (uint64_t)old &&
						s.plain.region[r].nworst == old,
			      "%g: %d", cases[i].seconds, r);
		}
		done();
	}
}

static void new_row_has_its_values(void)
{
	const struct tach__plain_region *r = s.plain.region;
	const struct tach_region_info *i;

	make();
	CHECK(beside(40.00000000051) == 0);
	r = s.plain.region;
	i = &r->info;
	CHECK(i->size == sizeof *i && strcmp(i->of, "beside") == 0 && !*i->file &&
	      !*i->function && !*i->task && !*i->tag && !*i->thread && i->entries == 1 &&
	      i->calls == 1 && i->outermost == 1 && i->threads == 0 && i->nested == 0);
	for (int p = 0; p < 6; p++)
		CHECK(i->provenance[p] == (p == 0 || p >= 4), "%d", p);
	for (int part = 0; part < 2; part++) {
		const struct tach_value *v = r->value[part];

		CHECK(v[0].value == 40000000001 && v[0].raw == 40000000001 && v[0].flags == 0);
		CHECK(is(&v[1], 0, TACH_FLAG_LOST) && is(&v[2], 5, COUNTED) &&
		      is(&v[3], 0, TACH_FLAG_LOST));
		/*
		 * Values of a and b by their own definition; a metric of no set here; b and c
		 * by our definition.
		 */
		CHECK(v[4].value == 45 && v[4].flags == (TACH_FLAG_LOST | COUNTED));
		CHECK(is(&v[5], 0, TACH_FLAG_LOST));
		CHECK(v[6].value == 5 && v[6].flags == (TACH_FLAG_LOST | COUNTED));
	}
	CHECK(r->histogram && !r->histogram[3].count && !r->nworst && !r->worst && !r->rank);
	done();
}

static void other_rows_are_unchanged(void)
{
	make();
	CHECK(beside(15) == 0);
	for (int n = 0; n < REGIONS; n++) {
		const struct tach__plain_region *r = &s.plain.region[n + (n > 1)];

		for (int part = 0; part < 2; part++) {
			const struct tach_value *v = r->value[part];
			const double all = 100 * n + 10 * part;

			CHECK(v[0].value == (30e9 - 10e9 * n) / (1 + part) &&
			      is(&v[1], all + 1, 0) && is(&v[2], all + 2, 0) &&
			      is(&v[3], 0, TACH_FLAG_LOST));
			CHECK(is(&v[4], all + 3, 0) && is(&v[5], all + 4, 0), "%d %d: %g, %g",
			      n, part, v[4].value, v[5].value);
			CHECK(v[6].value == all + 2 && v[6].flags == TACH_FLAG_LOST);
		}
		for (int q = 0; q < 4; q++)
			CHECK(r->histogram[q].count == (n && q < 3 ? q + 1 : 0), "%d %d", n, q);
	}
	done();
}

static void room_of(const char *text, const char *renumbered, int old)
{
	static char name[TACH__METRICS_MAX][16];
	int last = old + TACH__METRICS_MAX - 2; /* both have a metric of this name */

	make();
	ours.metric[0].text = ours.metric[1].text = (char *)(uintptr_t)text;
	while (ours.nmetrics < TACH__METRICS_MAX) {
		snprintf(name[ours.nmetrics], sizeof *name, "m%d", ours.nmetrics);
		metric_of(&ours, name[ours.nmetrics], text);
	}
	for (int n = 0; n <= REGIONS; n++) {
		s.plain.nregions = n;
		s.plain.nmetrics = old;
		CHECK(beside(15) == 0 && s.plain.nmetrics == last + 1);
		CHECK(s.plain.metric[last].text &&
		      strcmp(s.plain.metric[last].text, renumbered) == 0);
		guarded_free();
		make_snapshot();
	}
	done();
}

/* Sizes of texts and arrays that leave the most room after rounding up, and no room. */
static void memory_of_the_row_is_exact(void)
{
	room_of("N0 + N1+0", "N1 + N2+0", 2);
	room_of("N0+N1+10", "N1+N2+10", 1);
}

/* The first metric's text is longer than the remaining room. */
static void room_for_the_first(void)
{
	static char text[1000];

	make();
	memset(text, ' ', sizeof text - 1);
	ours.metric[0].text = text;
	CHECK(beside(15) == 0);
	done();
}

/* Each part has its quantities in sequence; histograms are last. */
static void no_metrics(void)
{
	set_of(&theirs, "a", "b");
	set_of(&ours, "b", "c");
	make_snapshot();
	s.plain.nmetrics = 0;
	region[1].histogram = NULL;
	CHECK(beside(40) == 0 && s.plain.nmetrics == 0);
	for (int part = 0; part < 2; part++)
		CHECK(s.plain.region[0].value[part][0].flags == 0, "%d", part);
	for (int q = 0; q < 4; q++)
		CHECK(s.plain.region[2].histogram[q].count == 0, "%d", q);
	guarded_free();
}

static void limits(void)
{
	static const char *many[TACH__PLAIN_QUANTITIES_MAX];
	static struct tach__plain_metric metrics[TACH__PLAIN_METRICS_MAX];

	make();
	for (int q = 0; q < TACH__PLAIN_QUANTITIES_MAX; q++)
		many[q] = "another";
	for (int m = 0; m < TACH__PLAIN_METRICS_MAX; m++)
		metrics[m].name = "another";
	s.plain.nregions = 0;
	s.plain.quantity = many;
	/* b and c are new, and so are both metrics of two. */
	s.plain.nquantities = TACH__PLAIN_QUANTITIES_MAX - 1;
	CHECK(beside(1) == TACH_ERR_TOOMANY && s.plain.nregions == 0);
	s.plain.nquantities = 1;
	s.plain.metric = metrics;
	s.plain.nmetrics = TACH__PLAIN_METRICS_MAX - 1;
	CHECK(beside(1) == TACH_ERR_TOOMANY && s.plain.nregions == 0);
	guarded_left = 0;
	s.plain.nquantities = TACH__PLAIN_QUANTITIES_MAX - 2;
	s.plain.nmetrics = TACH__PLAIN_METRICS_MAX - 2;
	CHECK(beside(1) == TACH_ERR_NOMEM && s.plain.nregions == 0 && !s.plain.more_pages);
	guarded_left = -1;
	CHECK(beside(1) == 0 && s.plain.nregions == 1 &&
	      s.plain.nquantities == TACH__PLAIN_QUANTITIES_MAX &&
	      s.plain.nmetrics == TACH__PLAIN_METRICS_MAX);
	done();
}

int main(void)
{
	CASE(existing_items_keep_their_numbers);
	CASE(new_names);
	CASE(called_time);
	CASE(in_its_place);
	CASE(new_row_has_its_values);
	CASE(other_rows_are_unchanged);
	CASE(memory_of_the_row_is_exact);
	CASE(room_for_the_first);
	CASE(no_metrics);
	CASE(limits);
	return check_done();
}
