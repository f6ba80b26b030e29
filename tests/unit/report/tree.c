/* SPDX-License-Identifier: MIT */
/*
 * Trees of metrics: parents, thresholds, order, and the sentence, for hand-made snapshots whose
 * arrays end at inaccessible memory.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/os/buffer.h"
#include "core/report/tree.h"
#include "tests/check.h"
#include "tests/unit/report/guarded.h"

enum { MANY = 70 };

/* A metric with its value in the first region. */
struct metric {
	const char *name, *parent;
	int level;
	double value;
	const char *threshold;
	uint32_t flags;
	const char *unit;
	double scale;
	int is_parent, is_above; /* expected: -1 for none */
};

static struct tach_snapshot snapshot;
static struct tach__tree tree;
static struct tach__buffer text;
static struct tach__out out;

static void plain_text(struct tach__out *to, const char *t)
{
	tach__out_text(to, t);
}

/* Two regions; the first one was called. */
static void make(const struct metric *from, int n)
{
	struct tach__plain_metric metric[MANY] = {0};
	struct tach__plain_region region[2] = {0};
	struct tach_value value[1 + MANY] = {{.value = 5}};
	static const char *quantity[] = {"time"};

	for (int m = 0; m < n; m++) {
		metric[m].name = from[m].name;
		metric[m].node = (struct tach__place){.level = from[m].level,
						      .parent = from[m].parent,
						      .unit = from[m].unit,
						      .scale = from[m].scale,
						      .threshold = from[m].threshold};
		value[1 + m] =
			(struct tach_value){.value = from[m].value, .flags = from[m].flags};
	}
	for (int r = 0; r < 2; r++) {
		region[r].info = (struct tach_region_info){
			.name = r ? "idle" : "busy", .file = "", .calls = r ? 0 : 3, .of = ""};
		for (int part = 0; part < 2; part++)
			region[r].value[part] =
				guarded_copy(value, (size_t)(1 + n) * sizeof *value);
		/*
		 * This region has more time than the other one, but its entry was not measured.
		 */
		if (r)
			region[r].value[TACH_PART_SELF][0].value = 9;
	}
	snapshot = (struct tach_snapshot){.plain = {
						  .nquantities = 1,
						  .nmetrics = n,
						  .nregions = 2,
						  .quantity = quantity,
					  }};
	snapshot.plain.metric = guarded_copy(metric, (size_t)n * sizeof *metric);
	snapshot.plain.region = guarded_copy(region, sizeof region);
}

static int begin(const struct metric *from, int n)
{
	int begun;

	make(from, n);
	tach__out_open(&out, tach__buffer_sink, &text);
	text.length = 0;
	calloc_is_guarded = 1;
	begun = tach__tree_begin(&tree, &out, &snapshot, plain_text);
	calloc_is_guarded = 0;
	CHECK(!out.lacking);
	return begun;
}

static const char *sentence(const struct metric *from, int n)
{
	if (begin(from, n) == 1) {
		tach__tree_sentence(&out, &tree);
		tach__tree_end(&tree);
	}
	tach__out_flush(&out);
	tach__buffer_sink(&text, "", 1);
	return text.at;
}

static void parents(void)
{
	static const struct metric all[] = {
		{.name = "top", .level = 1, .is_parent = -1},
		{.name = "below", .level = 2, .parent = "Top", .is_parent = 0},
		{.name = "beside", .level = 1, .parent = "top", .is_parent = -1},
		{.name = "no level", .parent = "top", .is_parent = -1},
		{.name = "of none", .level = 3, .parent = "no level", .is_parent = -1},
		{.name = "itself", .level = 2, .parent = "itself", .is_parent = -1},
		{.name = "unknown", .level = 2, .parent = "toppp", .is_parent = -1},
		{.name = "empty", .level = 2, .parent = "", .is_parent = -1},
		{.name = "deep", .level = 7, .parent = "BELOW", .is_parent = 1}};
	int n = sizeof all / sizeof *all;

	CHECK(begin(all, n) == 1);
	for (int m = 0; m < n; m++)
		CHECK(tree.parent[m] == all[m].is_parent, "%s", all[m].name);
	tach__tree_end(&tree);
}

static void thresholds(void)
{
	static const struct metric all[] = {
		{.name = "plain", .level = 1, .value = 0.2},
		{.name = "more", .level = 1, .value = 0.21, .is_above = 1},
		{.name = "Retiring", .level = 1, .value = 0.7},
		{.name = "more_RETIRED", .level = 1, .value = 0.71, .is_above = 1},
		{.name = "small", .level = 1, .value = 0.9, .flags = TACH_FLAG_SMALL},
		{.name = "nan", .level = 1, .value = NAN, .threshold = "1"},
		{.name = "none", .value = 0.9},
		{.name = "empty", .level = 1, .value = 0.3, .threshold = "", .is_above = 1},
		{.name = "odd", .level = 1, .value = 0.3, .threshold = "((", .is_above = 1},
		{.name = "odd too", .level = 1, .value = 0.1, .threshold = "(("},
		{.name = "high", .level = 1, .value = 0.3, .threshold = "high > 0.4"},
		{.name = "low",
		 .level = 1,
		 .value = 0.01,
		 .threshold = "LOW > 0.001",
		 .is_above = 1},
		{.name = "other", .level = 1, .threshold = "more > 0.2", .is_above = 1},
		{.name = "prefix", .level = 1, .threshold = "mor > 0.2 | more_ > 0.2"},
		{.name = "of nan", .level = 1, .threshold = "nan < 0 | nan > 0"},
		{.name = "negative", .level = 1, .threshold = "0 - 1", .is_above = 1},
		{.name = "division", .level = 1, .threshold = "1 / nan"}};
	int n = sizeof all / sizeof *all;

	CHECK(begin(all, n) == 1);
	CHECK(strcmp(tach__tree_region(&tree, 0), "busy") == 0 && !tach__tree_region(&tree, 1));
	for (int m = 0; m < n; m++)
		CHECK(tree.above[m] == all[m].is_above, "%s", all[m].name);
	tach__tree_end(&tree);
}

static void order(void)
{
	static const struct metric all[] = {
		{.name = "last", .level = 1, .value = 0.1},
		{.name = "third", .level = 1, .value = 0.15},
		{.name = "same", .level = 1, .value = 0.1},
		{.name = "second", .level = 1, .value = 0.3},
		{.name = "first", .level = 1, .value = 0.4},
		{.name = "kid", .level = 2, .parent = "last", .value = 1},
		{.name = "none", .value = 2}};
	static const int wanted[] = {4, 3, 1, 0, 2, -1};

	CHECK(begin(all, 7) == 1 && tach__tree_region(&tree, 0));
	for (int i = 0; i < 6; i++) {
		int m = tach__tree_next(&tree, -1);

		CHECK(m == wanted[i], "%d: %d", i, m);
		if (m >= 0)
			tree.shown[m] = 1;
	}
	CHECK(tach__tree_next(&tree, 0) == 5 && tach__tree_next(&tree, 1) == -1);
	/* A tree that is used again shows nothing of its earlier use. */
	CHECK(tach__tree_region(&tree, 0) && tach__tree_next(&tree, -1) == 4);
	tach__tree_end(&tree);
}

static void units(void)
{
	static const struct metric all[] = {
		{.name = "a", .level = 1, .unit = "percent of slots", .scale = 100},
		{.name = "b", .unit = "percen", .scale = 0},
		{.name = "c", .unit = NULL, .scale = -2},
		{.name = "d", .unit = "cycles", .scale = INFINITY},
		{.name = "e", .unit = "", .scale = 0.5}};
	static const double scale[] = {100, 1, 1, 1, 0.5};

	CHECK(begin(all, 5) == 1);
	for (int m = 0; m < 5; m++) {
		CHECK(strcmp(tach__tree_unit(&tree, m), m ? "" : " %") == 0);
		CHECK(tach__tree_scale(&tree, m) == scale[m], "%d", m);
	}
	tach__tree_end(&tree);
}

/* Does a tree exist? */
static void tree_exists_if_a_metric_has_a_level(void)
{
	static const struct metric all[] = {{.name = "none"}, {.name = "one", .level = 1}};

	CHECK(begin(all, 0) == 0 && begin(all, 1) == 0);
	CHECK(begin(all, 2) == 1);
	tach__tree_end(&tree);
	snapshot.in_handler = 1;
	CHECK(tach__tree_has_levels(&snapshot) == 1);
	CHECK(tach__tree_begin(&tree, &out, &snapshot, plain_text) == 0);
	snapshot.in_handler = 0;
	snapshot.plain.nregions = 0;
	CHECK(tach__tree_begin(&tree, &out, &snapshot, plain_text) == 0);
}

static void sentences(void)
{
#define BEGINNING "What to look at next: in busy, "
	static const char out_of_reach[] =
		BEGINNING "nothing yet: its shares were not counted.",
			  even[] = BEGINNING
			  "nothing stands out: no share is above its "
			  "threshold and its error, so fewer instructions will "
			  "help more than faster ones.";
	struct metric all[] = {
		{.name = "retiring", .level = 1, .value = 0.8},
		{.name = "none", .value = 0.9},
		{.name = "small", .level = 1, .value = 0.25, .unit = "percent", .scale = 100},
		{.name = "great", .level = 1, .value = 0.5, .unit = "percent", .scale = 100},
		{.name = "retiring inside", .level = 2, .parent = "great", .value = 0.75},
		{.name = "not above",
		 .level = 2,
		 .parent = "great",
		 .value = 0.9,
		 .threshold = "0"}};

	CHECK(strcmp(sentence(all, 6),
		     BEGINNING "great (50.0 %), and in it retiring inside (0.8).") == 0,
	      "%s", text.at);
	CHECK(strcmp(sentence(all, 3), BEGINNING "small (25.0 %).") == 0, "%s", text.at);
	/* All slots do useful work. */
	CHECK(strcmp(sentence(all, 2), even) == 0, "%s", text.at);
	all[0].value = NAN;
	CHECK(strcmp(sentence(all, 2), out_of_reach) == 0, "%s", text.at);
	all[0].value = 0.8;
	all[0].flags = TACH_FLAG_LOST;
	CHECK(strcmp(sentence(all, 2), out_of_reach) == 0, "%s", text.at);
	all[0].value = NAN;
	CHECK(strcmp(sentence(all, 2), out_of_reach) == 0, "%s", text.at);
	/* Nothing was called. */
	make(all, 1);
	snapshot.plain.region[0].info.calls = 0;
	CHECK(tach__tree_begin(&tree, &out, &snapshot, plain_text) == 1);
	text.length = 0;
	tach__tree_sentence(&out, &tree);
	CHECK(tach__out_flush(&out) == 0 && text.length == 0);
	tach__tree_end(&tree);
}

static int count_of(const char *piece)
{
	int n = 0;

	for (const char *at = text.at; (at = strstr(at, piece)); at++)
		n++;
	return n;
}

/* More levels than a file may have and a format shows. */
static void depth(void)
{
	static char name[MANY][16];
	struct metric all[MANY] = {{0}};

	for (int m = 0; m < MANY; m++) {
		snprintf(name[m], sizeof name[m], "-m%d-", m);
		all[m] = (struct metric){.name = name[m],
					 .level = m + 1,
					 .parent = m ? name[m - 1] : NULL,
					 .value = 0.5};
	}
	sentence(all, MANY);
	CHECK(count_of("-m") == 1 + TACH__TREE_DEPTH && count_of("-m64-") == 1, "%d",
	      count_of("-m"));
	for (int html = 0; html < 2; html++) {
		struct tach_report_options opt = {0};

		text.length = 0;
		if (html)
			tach__report_html_tree(&out, &snapshot, plain_text);
		else
			tach__report_text_tree(&out, &snapshot, &opt);
		tach__out_flush(&out);
		tach__buffer_sink(&text, "", 1);
		CHECK(count_of("-m") == 1 + 2 * TACH__TREE_DEPTH && count_of("-m63-") == 2 &&
			      count_of("-m64-") == 1,
		      "%d", count_of("-m"));
	}
}

int main(void)
{
	CASE(parents);
	CASE(thresholds);
	CASE(order);
	CASE(units);
	CASE(tree_exists_if_a_metric_has_a_level);
	CASE(sentences);
	CASE(depth);
	tach__buffer_free(&text);
	return check_done();
}
