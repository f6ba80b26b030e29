/* SPDX-License-Identifier: MIT */
/*
 * Joining passes: the permitted difference, the choice of the first pass, and the share of each
 * pass in the result.
 */
#include <math.h>
#include <string.h>
#include <tach.h>
#include "core/snapshot/merge.h"
#include "core/snapshot/passes.h"
#include "tests/unit/snapshot/made.h"

static const char *const events[] = {"x", "y", "all"};
static const struct tach__passes_metric metrics[] = {
	{"m", "N0 + N2", {3, 2.5, "u", "p", "t", "d"}, NULL},
	{"n", "N1", {0}, NULL},
};
static struct tach__passes_whole whole = {.nevents = 3,
					  .nmetrics = 2,
					  .event = events,
					  .metric = metrics,
					  .repeated = "all",
					  .repeats = 2,
					  .bound = 0.5};

/* One region; event: counted in addition to the common ones. */
static struct tach_snapshot *pass(const char *event, double all, double error)
{
	const char *const names[] = {"time", event, "all", NULL};
	struct tach_snapshot *s = made(names, NULL, 0, 1);
	struct tach__plain_region *r = &s->plain.region[0];

	r->info.name = "r";
	r->info.calls = 2;
	r->info.entries = 3;
	for (int part = 0; part < 2; part++) {
		r->value[part][2].value = all;
		r->value[part][2].error = error;
		r->value[part][1].value = 5 + part;
	}
	return s;
}

static struct tach_snapshot *joined(struct tach_snapshot **list, int n)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;
	int code = tach__snapshot_passes(MADE_LIST(list), n, &whole, &s, &err);

	return made_one(code, s, list);
}

static const struct tach_value *value_of(const struct tach_snapshot *s, int part, int quantity)
{
	return &s->plain.region[0].value[part][quantity];
}

/* The permitted difference: half of the larger count, both errors, and ten. */
static void how_far_they_differ(void)
{
	static const struct {
		double first, second, first_error, second_error;
		int agree;
	} cases[] = {
		{10, 40, 0, 0, 1},   {10, 40.5, 0, 0, 0}, {40, 10, 0, 0, 1},
		{40.5, 10, 0, 0, 0}, {10, 50, 5, 0, 1},	  {10, 50, 0, 5, 1},
		{10, 50, 2, 2, 0},   {0, 20, 0, 0, 1},	  {0, 21, 0, 0, 0},
	};

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct tach_snapshot *s = joined(
			(struct tach_snapshot *[]){
				pass("m0", cases[c].first, cases[c].first_error),
				pass("m1", cases[c].second, cases[c].second_error), NULL},
			2);
		char note[200];

		snprintf(note, sizeof note,
			 "each; r: %.0f all in pass 1, %.0f in pass 2: not merged",
			 cases[c].first, cases[c].second);
		CHECK(cases[c].agree ? value_of(s, 0, 2)->value == 5
				     : value_of(s, 0, 2)->flags == TACH_FLAG_LOST,
		      "%d", (int)c);
		CHECK(cases[c].agree ? !strstr(s->note, "not merged")
				     : strstr(s->note, note) != NULL,
		      "%s", s->note);
		tach_snapshot_free(s);
	}
}

/* If a pass lacks the common count, no difference can be proved. */
static void nothing_to_compare(void)
{
	for (int which = 0; which < 4; which++) {
		struct tach_snapshot *list[] = {pass("m0", 10, 0), pass("m1", 1000, 0), NULL};
		struct tach_snapshot *s;

		if (which < 2)
			list[which]->plain.region[0].value[0][2].flags = TACH_FLAG_LOST;
		else
			list[which - 2]->plain.quantity[2] = "another";
		s = joined(list, 2);
		CHECK(value_of(s, 0, 2)->value == 5 && strstr(s->note, "not merged") == NULL,
		      "%d: %s", which, s->note);
		tach_snapshot_free(s);
	}
}

/* The numbers of calls and of entries. */
static void how_often(void)
{
	for (int which = 0; which < 2; which++) {
		struct tach_snapshot *list[] = {pass("m0", 10, 0), pass("m1", 10, 0),
						pass("m1", 10, 0), NULL};
		struct tach_region_info *info = &list[1]->plain.region[0].info;
		struct tach_snapshot *s;

		*(which ? &info->calls : &info->entries) = 9;
		s = joined(list, 3);
		CHECK(strstr(s->note,
			     which ? "each; r: 2 calls in pass 1, 9 in pass 2: not merged"
				   : "each; r: 3 entries in pass 1, 9 in pass 2: "
				     "not merged") != NULL,
		      "%s", s->note);
		/* The third pass also has this quantity. */
		CHECK(value_of(s, 0, 2)->value == 5 && value_of(s, 0, 3)->value == 10);
		tach_snapshot_free(s);
	}
}

static void means(void)
{
	static const double times[] = {10, 16, 13};
	struct tach_snapshot *list[4] = {NULL}, *s;

	for (int i = 0; i < 3; i++) {
		list[i] = pass(i ? "m1" : "m0", 10, 0);
		for (int part = 0; part < 2; part++)
			list[i]->plain.region[0].value[part][0] = (struct tach_value){
				.value = times[i] + part,
				.raw = 3 * i,
				.overhead = 6 * i,
				.error = i,
				.flags = i == 1 ? TACH_FLAG_MIXED | TACH_FLAG_SMALL : 0};
	}
	s = joined(list, 3);
	for (int part = 0; part < 2; part++) {
		const struct tach_value *v = value_of(s, part, 0);

		/* The error is half of the difference, plus the mean of the errors. */
		CHECK(v->value == 13 + part && v->raw == 3 && v->overhead == 6 &&
			      v->error == 1 + 3 && v->flags == TACH_FLAG_MIXED,
		      "%d: %g +- %g, %#x", part, v->value, v->error, v->flags);
		CHECK(value_of(s, part, 1)->value == 5 + part &&
		      value_of(s, part, 2)->value == 5 + part &&
		      value_of(s, part, 2)->error == 0);
		CHECK(value_of(s, part, 4)->value == 15 + part &&
		      value_of(s, part, 5)->value == 5 + part);
	}
	tach_snapshot_free(s);
	/* A quantity that no pass counts is lost, and so are its metrics. */
	s = joined((struct tach_snapshot *[]){pass("m0", 10, 0), NULL}, 1);
	for (int part = 0; part < 2; part++)
		for (int q = 2; q < 6; q += 3)
			CHECK(isnan(value_of(s, part, q)->value) &&
				      isnan(value_of(s, part, q)->raw) &&
				      value_of(s, part, q)->flags == TACH_FLAG_LOST,
			      "%d, %d: %g", part, q, value_of(s, part, q)->value);
	CHECK(value_of(s, 0, 4)->value == 15);
	/* A single pass needs no note. */
	CHECK(s->note[0] == '\0');
	tach_snapshot_free(s);
}

/*
 * Names, places and numbers are copied from the first pass that has them; its memory may then
 * be freed.
 */
static void the_first(void)
{
	static char text[7][8];
	struct tach_snapshot *list[4] = {NULL}, *s;
	const struct tach_region_info *i;
	const struct tach__plain_metric *m;
	static struct tach_bucket bucket[3] = {{1, 1, 10}, {1, 1, 20}, {1, 1, 30}};

	for (int t = 0; t < 7; t++)
		sprintf(text[t], "t%d", t);
	for (int n = 0; n < 3; n++) {
		struct tach__plain_region *r;

		list[n] = pass(n == 1 ? "m1" : "m0", 10, 0);
		list[n]->threads = 10 + (uint64_t)n;
		list[n]->refused = 20 + (uint64_t)n;
		list[n]->lost = 30 + (uint64_t)n;
		list[n]->stale = 40 + (uint64_t)n;
		list[n]->unopened = 50 + (uint32_t)n;
		list[n]->reports = 60 + (uint32_t)n;
		r = &list[n]->plain.region[0];
		r->info = (struct tach_region_info){.name = text[0],
						    .file = text[1],
						    .function = text[2],
						    .of = text[3],
						    .task = text[4],
						    .tag = text[5],
						    .thread = text[6],
						    .calls = 2,
						    .entries = 3,
						    .outermost = 70 + (uint64_t)n,
						    .threads = 80 + (uint32_t)n};
		for (int p = 0; p < 6; p++)
			r->info.provenance[p] = p % 3 == n ? 9 : (uint64_t)n;
		r->rank = 7;
		r->histogram[0] = (struct tach__plain_buckets){.count = 1, .at = &bucket[n]};
		r->histogram[1] = (struct tach__plain_buckets){.count = 1, .at = &bucket[n]};
	}
	s = joined(list, 3);
	memset(text, 'x', sizeof text);
	i = &s->plain.region[0].info;
	m = s->plain.metric;
	CHECK(strcmp(i->name, "t0") == 0 && strcmp(i->file, "t1") == 0 &&
	      strcmp(i->function, "t2") == 0 && strcmp(i->of, "t3") == 0 &&
	      strcmp(i->task, "t4") == 0 && strcmp(i->tag, "t5") == 0 &&
	      strcmp(i->thread, "t6") == 0);
	CHECK(i->calls == 2 && i->entries == 3 && i->outermost == 70 && i->threads == 80 &&
	      s->plain.region[0].rank == 7);
	for (int p = 0; p < 6; p++)
		CHECK(i->provenance[p] == 9, "%d", p);
	CHECK(s->threads == 10 && s->refused == 20 && s->lost == 30 && s->stale == 40 &&
	      s->unopened == 50 && s->reports == 60);
	CHECK(strcmp(s->note, "counted in 3 passes; time and all are their means, and the "
			      "rest is of one pass each") == 0,
	      "%s", s->note);
	/* Each histogram is from one pass: the first that has the quantity. */
	CHECK(s->plain.region[0].histogram[0].at[0].count == 10 &&
	      s->plain.region[0].histogram[1].at[0].count == 10 &&
	      s->plain.region[0].histogram[2].at[0].count == 20 &&
	      s->plain.region[0].histogram[3].count == 0);
	CHECK(strcmp(m[0].name, "m") == 0 && strcmp(m[0].text, "N0 + N2") == 0 &&
	      m[0].node.level == 3 && m[0].node.scale == 2.5 &&
	      strcmp(m[0].node.unit, "u") == 0 && strcmp(m[0].node.parent, "p") == 0 &&
	      strcmp(m[0].node.threshold, "t") == 0 &&
	      strcmp(m[0].node.description, "d") == 0 &&
	      m[0].node.unit != metrics[0].node.unit);
	CHECK(strcmp(m[1].name, "n") == 0 && s->plain.nmetrics == 2);
	tach_snapshot_free(s);
}

/* Regions with equal names, found in any order. */
static void many_passes(void)
{
	enum { PASSES = 20 };
	struct tach_snapshot *list[PASSES + 1] = {NULL}, *s;

	for (int n = 0; n < PASSES; n++) {
		list[n] = pass("m0", 10, 0);
		list[n]->plain.region[0].info.threads = 1 + (uint32_t)n;
		list[n]->plain.region[0].value[0][1].value = n;
		/* The first pass has another region. */
		if (n == 0)
			list[n]->plain.region[0].info.name = "s";
	}
	s = joined(list, PASSES);
	for (int r = 0; r < 2; r++) {
		const struct tach__plain_region *to = &s->plain.region[r];
		int is_first = strcmp(to->info.name, "s") == 0;

		CHECK(to->info.threads == (is_first ? 1 : 2), "%d", (int)to->info.threads);
		CHECK(to->value[0][1].value == (is_first ? 0 : 10) &&
		      to->value[0][1].error == (is_first ? 0 : 9));
	}
	tach_snapshot_free(s);
}

/* A message about one region has a maximum length, for any name and numbers. */
static void sentences_end(void)
{
	static char name[301];
	char note[400];
	struct tach_snapshot *list[] = {pass("m0", 1e200, 0), pass("m1", 5, 0), NULL};
	struct tach_snapshot *s;

	memset(name, 'n', sizeof name - 1);
	list[0]->plain.region[0].info.name = list[1]->plain.region[0].info.name = name;
	CHECK(snprintf(note, sizeof note,
		       "%.200s: %.0f all in pass 1, %.0f in pass 2: not merged", name, 1e200,
		       5.0) >= (int)sizeof note);
	s = joined(list, 2);
	CHECK(strstr(s->note, note) && strlen(strstr(s->note, note)) == sizeof note - 1, "%s",
	      s->note);
	tach_snapshot_free(s);
}

/* Either row may be found first, because sorting keeps no order among equal regions. */
static void found_in_any_order(void)
{
	static const char *const names[] = {"time", "x", "y", "all", NULL};
	static const int map[2][3] = {{0, 1, 3}, {0, 2, 3}};
	static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};

	for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
		struct tach_snapshot *list[] = {pass("m0", 10, 0), pass("m1", 10, 0),
						pass("m1", 10, 0)};
		struct tach_snapshot *sum = made(names, NULL, 0, 1);
		struct tach__source source[4] = {{0}};
		const struct tach_region_info *info = &sum->plain.region[0].info;
		struct tach__merge m = {.list = MADE_LIST(list),
					.n = 3,
					.passes = &whole,
					.whole = sum,
					.plain = &sum->plain};

		for (int i = 0; i < 3; i++) {
			int from = orders[o][i];

			list[from]->plain.region[0].info.threads = 5 + (uint32_t)from;
			list[from]->plain.region[0].info.provenance[2 - from] = 9;
			source[i] =
				(struct tach__source){list[from], map[from > 0], 0,
						      list[from]->plain.region[0].info, from};
		}
		/* The fourth source belongs to another region. */
		source[3].info.provenance[3] = 9;
		CHECK(tach__passes_region(&m, 0, source, 3) == 0 && info->threads == 5,
		      "%d: %u", (int)o, info->threads);
		for (int p = 0; p < 6; p++)
			CHECK(info->provenance[p] == (p < 3 ? 9 : 0), "%d: %d", (int)o, p);
		for (int i = 0; i < 3; i++)
			tach_snapshot_free(list[i]);
		tach_snapshot_free(sum);
	}
}

/* The common event may have a long name; the message shows 200 bytes of it. */
static void long_names(void)
{
	static char name[301];
	const char *const named[] = {"x", "y", name};
	char note[400];

	for (int length = 60; length <= 300; length += 240) {
		struct tach__passes_whole of = whole;
		struct tach_snapshot *list[] = {pass("m0", 10, 0), pass("m1", 10, 0)};
		struct tach_snapshot *s = NULL;

		memset(name, 'n', (size_t)length);
		of.event = named;
		of.repeated = name;
		list[0]->plain.quantity[2] = list[1]->plain.quantity[2] = name;
		CHECK(tach__snapshot_passes(MADE_LIST(list), 2, &of, &s, NULL) == 0);
		snprintf(note, sizeof note,
			 "counted in 2 passes; time and %.*s are their means, and the rest is "
			 "of one pass each",
			 length < 200 ? length : 200, name);
		CHECK(s && strcmp(s->note, note) == 0, "%s", s ? s->note : "");
		tach_snapshot_free(s);
		tach_snapshot_free(list[0]);
		tach_snapshot_free(list[1]);
	}
}

int main(void)
{
	CASE(how_far_they_differ);
	CASE(nothing_to_compare);
	CASE(how_often);
	CASE(means);
	CASE(the_first);
	CASE(many_passes);
	CASE(sentences_end);
	CASE(found_in_any_order);
	CASE(long_names);
	return check_done();
}
