/* SPDX-License-Identifier: MIT */
/* The parts that merged snapshots keep: texts, places, flags, notes, and limits. */
#include <math.h>
#include <string.h>
#include <tach.h>
#include "core/snapshot/merge.h"
#include "tests/unit/snapshot/made.h"

static struct tach_error err = TACH_ERROR_INIT;
static const char *const two[] = {"time", "x", NULL};

static struct tach_snapshot *merged(struct tach_snapshot **list, int n)
{
	struct tach_snapshot *s = NULL;
	int code = tach_snapshot_merge(MADE_LIST(list), n, &s, &err);

	return made_one(code, s, list);
}

/* The texts belong to the source, which is freed. */
static void merged_texts_outlive_the_source(void)
{
	static char text[13][8];
	const struct tach__plain_metric metrics[] = {
		{text[0], text[1], NULL, {3, 2.5, text[2], text[3], text[4], text[5]}},
		{"untold", NULL, NULL, {0}}};
	const char *const names[] = {"time", text[6], NULL};
	struct tach_snapshot *s;
	const struct tach_region_info *i;
	const struct tach__plain_metric *m;

	for (int t = 0; t < 13; t++)
		sprintf(text[t], "t%d", t);
	strcpy(text[1], "N0");
	s = made(names, metrics, 2, 1);
	s->plain.region[0].rank = 4;
	s->plain.region[0].info = (struct tach_region_info){.name = text[7],
							    .file = text[8],
							    .function = text[9],
							    .of = text[10],
							    .task = text[11],
							    .tag = text[12],
							    .thread = text[6],
							    .line = 17,
							    .fenced = 1};
	s = merged((struct tach_snapshot *[]){s, NULL}, 1);
	memset(text, 'x', sizeof text);
	i = &s->plain.region[0].info;
	m = s->plain.metric;
	CHECK(strcmp(i->name, "t7") == 0 && strcmp(i->file, "t8") == 0 &&
	      strcmp(i->function, "t9") == 0 && strcmp(i->of, "t10") == 0 &&
	      strcmp(i->task, "t11") == 0 && strcmp(i->tag, "t12") == 0 &&
	      strcmp(i->thread, "t6") == 0 && i->line == 17 && i->fenced == 1);
	CHECK(s->plain.region[0].rank == 4 && strcmp(s->plain.quantity[1], "t6") == 0);
	CHECK(s->plain.nmetrics == 2 && strcmp(m[0].name, "t0") == 0 &&
	      strcmp(m[0].text, "N0") == 0 && m[0].node.level == 3 && m[0].node.scale == 2.5 &&
	      strcmp(m[0].node.unit, "t2") == 0 && strcmp(m[0].node.parent, "t3") == 0 &&
	      strcmp(m[0].node.threshold, "t4") == 0 &&
	      strcmp(m[0].node.description, "t5") == 0);
	CHECK(strcmp(m[1].name, "untold") == 0 && !m[1].text && !m[1].node.unit &&
	      isnan(s->plain.region[0].value[0][3].value));
	tach_snapshot_free(s);
}

/*
 * Each part is merged separately; a sum that is not larger than its error is flagged as small.
 */
static void values(void)
{
	static const struct {
		double value[2], error[2];
		int small;
	} cases[] = {{{5, 5}, {5, 5}, 1},
		     {{5, 5}, {5, 4}, 0},
		     {{5, 5}, {8, 3}, 1},
		     {{0, 0}, {0, 0}, 0},
		     {{0, 1}, {1, 0}, 1}};

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
		for (int part = 0; part < 2; part++) {
			struct tach_snapshot *list[3] = {NULL}, *s;
			const struct tach_value *v;

			for (int i = 0; i < 2; i++) {
				list[i] = made(two, NULL, 0, 1);
				list[i]->plain.region[0].value[part][1] = (struct tach_value){
					.value = cases[c].value[i],
					.raw = 10 + i,
					.overhead = 20 + i,
					.error = cases[c].error[i],
					.flags = TACH_FLAG_SMALL |
						 (i ? TACH_FLAG_MIXED : TACH_FLAG_SCALED)};
			}
			s = merged(list, 2);
			v = &s->plain.region[0].value[part][1];
			CHECK(v->value == cases[c].value[0] + cases[c].value[1] &&
				      v->raw == 21 && v->overhead == 41 &&
				      v->error == cases[c].error[0] + cases[c].error[1],
			      "%d", (int)c);
			CHECK(v->flags == (TACH_FLAG_MIXED | TACH_FLAG_SCALED |
					   (cases[c].small ? TACH_FLAG_SMALL : 0)),
			      "%d: %#x", (int)c, v->flags);
			v = &s->plain.region[0].value[!part][1];
			CHECK(v->value == 0 && v->raw == 0 && v->flags == 0);
			tach_snapshot_free(s);
		}
}

/* The time is one of the sums. */
static void small_time(void)
{
	struct tach_snapshot *list[] = {made(two, NULL, 0, 1), NULL}, *s;

	list[0]->plain.region[0].value[0][0] = (struct tach_value){.value = 1, .error = 2};
	s = merged(list, 1);
	CHECK(s->plain.region[0].value[0][0].flags == TACH_FLAG_SMALL);
	CHECK(s->plain.region[0].value[1][0].flags == 0);
	tach_snapshot_free(s);
}

/* Regions are matched by name, file and line; the longest is first. */
static void regions_are_matched_by_name_and_place(void)
{
	static const struct {
		const char *name, *file;
		uint32_t line;
		double time[2]; /* time in the first and second snapshot; 0: it has no such
				   region */
	} cases[] = {{"a", "f", 1, {5, 30}},  {"a", "f", 2, {40, 0}}, {"a", "g", 1, {0, 20}},
		     {"b", "f", 1, {10, 15}}, {"c", "f", 1, {0, 1}},  {"d", "f", 1, {3, 0}}};
	static const int order[] = {1, 0, 3, 2, 5, 4};
	struct tach_snapshot *list[3] = {NULL}, *s;

	for (int i = 0; i < 2; i++) {
		list[i] = made(two, NULL, 0, 4);
		for (int c = 0, r = 0; c < 6; c++)
			if (cases[c].time[i] > 0) {
				struct tach__plain_region *to =
					&list[i]->plain.region[i ? r : 3 - r];

				to->info.name = cases[c].name;
				to->info.file = cases[c].file;
				to->info.line = cases[c].line;
				to->value[0][0].value = cases[c].time[i];
				r++;
			}
	}
	s = merged(list, 2);
	CHECK(s->plain.nregions == 6, "%d", s->plain.nregions);
	for (int r = 0; r < 6 && r < s->plain.nregions; r++) {
		const struct tach_region_info *info = &s->plain.region[r].info;
		int c = order[r];

		CHECK(strcmp(info->name, cases[c].name) == 0 &&
		      strcmp(info->file, cases[c].file) == 0 && info->line == cases[c].line);
		CHECK(s->plain.region[r].value[0][0].value ==
			      cases[c].time[0] + cases[c].time[1],
		      "%d", r);
	}
	tach_snapshot_free(s);
}

/*
 * All metrics are merged, and use the merged numbers of quantities; of equal names, the first
 * definition is used.
 */
static void merged_metrics_use_the_new_numbers(void)
{
	static const char *const first[] = {"time", "x", "y", NULL};
	static const char *const second[] = {"time", "z", "y", "x", NULL};
	static const struct tach__plain_metric of_first[] = {{.name = "m", .text = "N0 + N1"}};
	static const struct tach__plain_metric of_second[] = {
		{.name = "m", .text = "N0"}, {.name = "n", .text = "N0 + 10 * N1 + N2"}};
	struct tach_snapshot *s =
		merged((struct tach_snapshot *[]){made(first, of_first, 1, 0),
						  made(second, of_second, 2, 0), NULL},
		       2);

	CHECK(s->plain.nquantities == 4 && strcmp(s->plain.quantity[3], "z") == 0);
	CHECK(s->plain.nmetrics == 2 && strcmp(s->plain.metric[0].text, "N0 + N1") == 0 &&
		      strcmp(s->plain.metric[1].text, "N2 + 10 * N1 + N0") == 0,
	      "%s", s->plain.metric[1].text);
	tach_snapshot_free(s);
}

static void ranks_clocks_and_flags(void)
{
	static const struct {
		int rank[3], is;
		double hz[3], is_hz;
		uint32_t flags[3], are;
	} cases[] = {
		{{4, 4, 4}, 4, {0, 5, 7}, 5, {0, 0, 0}, 0},
		{{4, 5, 5}, 0, {3, 5, 7}, 3, {TACH_FLAG_CLOCK, 0, 0}, TACH_FLAG_CLOCK},
		{{4, 4, 5}, 0, {0, 0, 7}, 7, {0, 0, TACH_FLAG_CLOCK}, TACH_FLAG_CLOCK},
		{{0, 0, 0}, 0, {0, 0, 0}, 0, {0, 0, 0}, 0},
		{{0, 3, 3}, 0, {-1, 2, 0}, 2, {0, 0, 0}, 0},
		{{1, 1, 1}, 1, {1, 2, 0}, 1, {0, 0, 0}, 0},
	};

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct tach_snapshot *list[4] = {NULL}, *s;

		for (int i = 0; i < 3; i++) {
			list[i] = made(two, NULL, 0, 0);
			list[i]->rank = cases[c].rank[i];
			list[i]->clock_hz = cases[c].hz[i];
			list[i]->clock_flags = cases[c].flags[i];
		}
		s = merged(list, 3);
		CHECK(s->rank == cases[c].is && s->clock_hz == cases[c].is_hz &&
			      s->clock_flags == cases[c].are && s->reports == 3,
		      "%d: rank %d, %g Hz", (int)c, s->rank, s->clock_hz);
		tach_snapshot_free(s);
	}
}

static void notes(void)
{
	static const char *const says[] = {"", "ab", "", "cd", "b", "ab", "cde"};
	struct tach_snapshot *list[8] = {NULL}, *s;

	for (int i = 0; i < 7; i++) {
		list[i] = made(two, NULL, 0, 0);
		strcpy(list[i]->note, says[i]);
	}
	s = merged(list, 7);
	CHECK(strcmp(s->note, "ab; cd; cde") == 0, "%s", s->note);
	/* The note is cut to fit its buffer. */
	memset(s->note, 'x', sizeof s->note - 5);
	s->note[sizeof s->note - 5] = '\0';
	tach__snapshot_note(s, "yz");
	CHECK(strcmp(s->note + sizeof s->note - 5, "; yz") == 0);
	tach__snapshot_note(s, "w");
	CHECK(strcmp(s->note + sizeof s->note - 5, "; yz") == 0);
	tach_snapshot_free(s);
}

/* The maximum number of quantities, and one more. */
static void too_much(void)
{
	enum { MOST = TACH__PLAIN_QUANTITIES_MAX, HALF = MOST / 2 };
	static char name[2][MOST][8];
	const char *names[2][MOST] = {{"time"}, {"time"}};

	for (int more = 0; more < 2; more++) {
		struct tach_snapshot *list[2], *s;
		int code;

		for (int i = 0; i < 2; i++) {
			int n = HALF + (i && more);

			for (int q = 1; q <= n; q++) {
				sprintf(name[i][q], "%c%d", 'a' + i, q);
				names[i][q] = name[i][q];
			}
			names[i][n + 1] = NULL;
			list[i] = made(names[i], NULL, 0, 0);
		}
		s = list[0];
		code = tach_snapshot_merge(MADE_LIST(list), 2, &s, &err);
		CHECK(code == (more ? TACH_ERR_TOOMANY : 0) && (s != NULL) == !more, "%d",
		      code);
		if (!more) {
			const struct tach_snapshot *again[] = {list[0], list[1], list[0]};

			tach_snapshot_free(s);
			code = tach_snapshot_merge(again, 3, &s, &err);
			CHECK(code == 0, "%s", err.text);
		}
		CHECK(more ? strcmp(err.text, "together they have more than 193 quantities") ==
					      0 &&
				      err.line == 0 && err.column == 0
			   : s->plain.nquantities == MOST);
		tach_snapshot_free(s);
		tach_snapshot_free(list[0]);
		tach_snapshot_free(list[1]);
	}
}

static void invalid_snapshots_are_refused(void)
{
	static const struct tach__plain_metric bad[] = {{.name = "m", .text = "N0 +"}};
	struct tach_snapshot *list[] = {made(two, bad, 1, 0), NULL, NULL}, *s = list[0];
	struct tach_snapshot **volatile nowhere = NULL;
	const struct tach_snapshot *const *volatile no_list = NULL;

	CHECK(tach_snapshot_merge(MADE_LIST(list), 1, nowhere, &err) == TACH_ERR_INVAL &&
	      err.line == 0 && err.column == 0);
	CHECK(tach_snapshot_merge(MADE_LIST(list), 0, &s, &err) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_merge(no_list, 1, &s, &err) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_merge(MADE_LIST(list), 2, &s, &err) == TACH_ERR_INVAL &&
	      s == list[0]);
	CHECK(tach_snapshot_merge(MADE_LIST(list + 1), 1, &s, &err) == TACH_ERR_INVAL &&
	      s == list[0]);
	/* The formula is invalid; nothing leaks. */
	CHECK(tach_snapshot_merge(MADE_LIST(list), 1, &s, &err) == TACH_ERR_SYNTAX && !s);
	tach_snapshot_free(list[0]);
}

/*
 * The worst entries of all snapshots, and their histograms, with merged numbers of quantities.
 */
static void histograms_and_worst(void)
{
	static const char *const names[2][3] = {{"time", "x", NULL}, {"time", "y", NULL}};
	static struct tach_bucket bucket[2] = {{1, 2, 3}, {4, 5, 6}};
	static double value[2][2] = {{7, 8}, {9, 10}};
	static struct tach__plain_worst worst[2];
	struct tach_snapshot *list[3] = {NULL}, *s;
	const struct tach__plain_region *r;

	for (int i = 0; i < 2; i++) {
		list[i] = made(names[i], NULL, 0, 1);
		list[i]->plain.worst = 1;
		worst[i] = (struct tach__plain_worst){.info = {.thread_name = "", .parent = ""},
						      .value = value[i]};
		list[i]->plain.region[0].worst = &worst[i];
		list[i]->plain.region[0].nworst = 1;
		list[i]->plain.region[0].histogram[1] =
			(struct tach__plain_buckets){.count = 1, .at = &bucket[i]};
	}
	s = merged(list, 2);
	r = &s->plain.region[0];
	CHECK(s->plain.worst == 1 && r->nworst == 1 && r->worst[0].value[0] == 9 &&
	      isnan(r->worst[0].value[1]) && r->worst[0].value[2] == 10);
	CHECK(r->histogram[0].count == 0 && r->histogram[1].count == 1 &&
	      r->histogram[1].at[0].low == 1 && r->histogram[2].count == 1 &&
	      r->histogram[2].at[0].low == 4 && r->histogram[2].at[0].count == 6);
	CHECK(r->value[0][1].flags == TACH_FLAG_LOST &&
	      r->value[1][2].flags == TACH_FLAG_LOST && r->value[0][0].flags == 0);
	tach_snapshot_free(s);
}

/*
 * Two clock rates: the first snapshot's buckets are used, in any order. 100 ticks of 1 GHz are
 * in its bucket of 96 to 103; the other clock estimates the same rate.
 */
static void histograms_of_two_clocks(void)
{
	static const double ghz[] = {1, 1.0001};
	static struct tach_bucket bucket[2][3];

	for (int first = 0; first < 2; first++) {
		struct tach_snapshot *list[41] = {NULL}, *s;
		const struct tach__plain_buckets *got;

		for (int i = 0; i < 2; i++) {
			static const struct tach_bucket ticks[] = {
				{7, 7, 1}, {96, 103, 10}, {1024, 1100, 100}};

			for (int b = 0; b < 3; b++)
				bucket[i][b] = (struct tach_bucket){ticks[b].low / ghz[i],
								    ticks[b].high / ghz[i],
								    ticks[b].count};
		}
		for (int i = 0; i < 40; i++) {
			int clock = (first + i) % 2;

			list[i] = made(two, NULL, 0, 1);
			list[i]->clock_hz = ghz[clock] * 1e9;
			list[i]->plain.region[0].histogram[0] =
				(struct tach__plain_buckets){.count = 3, .at = bucket[clock]};
		}
		s = merged(list, 40);
		got = &s->plain.region[0].histogram[0];
		CHECK(got->count == 3, "%d: %d", first, got->count);
		for (int b = 0; b < 3 && got->count == 3; b++)
			CHECK(fabs(got->at[b].low - bucket[first][b].low) < 0.2 &&
				      fabs(got->at[b].high - bucket[first][b].high) < 0.2 &&
				      got->at[b].count == 40 * bucket[0][b].count,
			      "%d: %g to %g", b, got->at[b].low, got->at[b].high);
		/* The result is the maximum over all snapshots. */
		CHECK(got->at[2].high == 1100);
		tach_snapshot_free(s);
	}
}

/* The first region was in half of 10 entries, the other in all of 30. */
static void shares_are_weighted_by_entries(void)
{
	struct tach_snapshot *list[] = {made(two, NULL, 0, 1), made(two, NULL, 0, 1), NULL};
	struct tach_snapshot *s;

	for (int i = 0; i < 2; i++)
		list[i]->plain.region[0].info.entries = i ? 30 : 10;
	list[0]->plain.region[0].value[0][1].share = 500000;
	s = merged(list, 2);
	CHECK(s->plain.region[0].value[0][1].share == 875000, "%u",
	      s->plain.region[0].value[0][1].share);
	CHECK(s->plain.region[0].value[1][1].share == 0);
	tach_snapshot_free(s);
}

/* Calls in a report that lacks an event of the other report. */
static void report_without_the_event_counts_as_lost(void)
{
	static const char *const names[2][3] = {{"time", "x", NULL}, {"time", NULL}};
	struct tach_snapshot *list[] = {made(names[0], NULL, 0, 1), made(names[1], NULL, 0, 1),
					NULL};
	struct tach_snapshot *s;

	list[0]->plain.region[0].info.calls = 5;
	list[1]->plain.region[0].info.calls = 7;
	list[1]->plain.region[0].info.provenance[5] = 3;
	s = merged(list, 2);
	CHECK(s->plain.region[0].info.calls == 12 &&
	      s->plain.region[0].info.provenance[5] == 7);
	tach_snapshot_free(s);
}

/* Regions of equal time are sorted by name, in any input order. */
static void regions_of_one_time(void)
{
	static const char *const names[] = {"d", "b", "a", "c"};
	struct tach_snapshot *list[] = {made(two, NULL, 0, 4), NULL}, *s;

	for (int r = 0; r < 4; r++) {
		list[0]->plain.region[r].info.name = names[r];
		list[0]->plain.region[r].value[0][0].value = r == 1 ? 2 : 1;
	}
	s = merged(list, 1);
	CHECK(strcmp(s->plain.region[0].info.name, "b") == 0);
	CHECK(strcmp(s->plain.region[1].info.name, "a") == 0);
	CHECK(strcmp(s->plain.region[2].info.name, "c") == 0);
	CHECK(strcmp(s->plain.region[3].info.name, "d") == 0);
	tach_snapshot_free(s);
}

int main(void)
{
	CASE(merged_texts_outlive_the_source);
	CASE(values);
	CASE(small_time);
	CASE(regions_are_matched_by_name_and_place);
	CASE(merged_metrics_use_the_new_numbers);
	CASE(ranks_clocks_and_flags);
	CASE(notes);
	CASE(too_much);
	CASE(invalid_snapshots_are_refused);
	CASE(histograms_and_worst);
	CASE(histograms_of_two_clocks);
	CASE(shares_are_weighted_by_entries);
	CASE(report_without_the_event_counts_as_lost);
	CASE(regions_of_one_time);
	return check_done();
}
