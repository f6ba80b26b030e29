/* SPDX-License-Identifier: MIT */
/* Worst entries of a snapshot: taken from a row, read, merged, and compared with older ones. */
#include <math.h>
#include <string.h>
#include <time.h>
#include <tach.h>
#include "core/region/region.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"

enum { ENTRIES = 4, SUMS = 3 };

/* As if loaded. */
static struct tach__plain_worst entry(double time, double x, const char *name)
{
	static double values[64][2];
	static int n;
	double *value = values[n++ % 64];

	value[0] = time;
	value[1] = x;
	return (struct tach__plain_worst){.info = {.size = sizeof(struct tach_worst),
						   .at = time,
						   .tag = 5,
						   .thread = 7,
						   .flags = TACH_FLAG_MIXED,
						   .thread_name = name,
						   .parent = "parent"},
					  .value = value,
					  .begun = 9};
}

static void values_of_worst_entries(void)
{
	struct tach__plain_worst worst[2] = {entry(1, 2, "a"), entry(3, 4, "b")};
	/* The last region is beyond the existing ones. */
	struct tach__plain_region region[3] = {
		{.worst = NULL}, {.worst = worst, .nworst = 2}, {.worst = worst, .nworst = 2}};
	struct tach_snapshot s = {
		.plain = {.region = region, .nregions = 2, .nquantities = 2, .worst = 2}};
	struct tach_worst w = {.size = sizeof w};

	for (int r = -1; r <= 2; r++)
		for (int i = -1; i <= 2; i++) {
			int there = r == 1 && i >= 0 && i < 2;

			w.at = 0;
			CHECK(tach_snapshot_worst(&s, r, i, &w) ==
			      (there ? 0 : TACH_ERR_INVAL));
			CHECK(w.at == (there ? 1 + 2 * i : 0), "%d %d: %g", r, i, w.at);
			for (int q = -1; q <= 2; q++) {
				double v = tach_snapshot_worst_value(&s, r, i, q);

				CHECK(there && q >= 0 && q < 2 ? v == 1 + 2 * i + q : isnan(v),
				      "%d %d %d: %g", r, i, q, v);
			}
		}
	w.size = 7;
	CHECK(tach_snapshot_worst(&s, 1, 0, &w) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_worst(&s, 1, 0, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_worst_by(&s) == 1);
	s.plain.worst = 0;
	CHECK(tach_snapshot_worst_by(&s) == -1);
}

/* A row's worst entries, and room for them. */
static struct tach__worst *kept;
static struct tach__plain_region taken;
static struct tach__plain_worst taken_worst[ENTRIES];
static double taken_value[ENTRIES][SUMS];
static char taken_name[ENTRIES][16];

static void take(const struct tach_snapshot *s)
{
	struct tach__row row = {.worst = kept};

	memset(taken_worst, 0, sizeof taken_worst);
	memset(taken_name, 'z', sizeof taken_name);
	taken = (struct tach__plain_region){.worst = taken_worst};
	for (int i = 0; i < ENTRIES; i++) {
		taken_name[i][15] = '\0';
		taken_worst[i].value = taken_value[i];
		taken_worst[i].info.thread_name = taken_name[i];
	}
	tach__plain_worst_take(s, &taken, &row);
	CHECK(taken.nworst == (int)kept->n);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Entries are sorted by their key; of equal entries the earlier is first. */
static void taken_in_order(void)
{
	static const uint64_t keys[ENTRIES] = {5, 7, 5, 9};
	static const int order[ENTRIES] = {3, 1, 2, 0};
	static const char *const parents[ENTRIES] = {"known", "", "around", "known"};
	struct tach__site known = {.name = "known"}, around = {.name = "around"};
	struct tach__site *ids[TACH__SITE_FIRST + 2] = {NULL};
	struct tach__site **before = tach__registry.by_id;
	struct tach__site of_another[TACH__SITE_FIRST + 2] = {
		[TACH__SITE_FIRST] = {.name = "there"},
		[TACH__SITE_FIRST + 1] = {.name = "too"}};
	struct tach_snapshot s = {.clock_hz = 2e9};
	double from;

	kept = tach__worst_make(ENTRIES, SUMS);
	kept->n = ENTRIES;
	for (int i = 0; i < ENTRIES; i++) {
		struct tach__kept *k = tach__worst_at(kept, (uint64_t)i);

		*k = (struct tach__kept){.key = keys[i],
					 .begun = 1000 - 100 * (uint64_t)i,
					 .tag = 20 + (uint64_t)i,
					 .thread = 30 + (uint64_t)i,
					 .flags = i == 1 ? TACH_FLAG_LOST | TACH_FLAG_MIXED : 0,
					 .name = "fifteen letters",
					 .parent = TACH__SITE_FIRST};
		for (uint64_t q = 0; q < SUMS; q++)
			k->sum[q] = 100 * (uint64_t)(i + 1) + q;
	}
	tach__worst_at(kept, 1)->parent = TACH__SITE_FIRST - 1;
	tach__worst_at(kept, 2)->parent = TACH__SITE_FIRST + 1;
	ids[TACH__SITE_FIRST] = &known;
	ids[TACH__SITE_FIRST + 1] = &around;
	tach__registry.by_id = ids;
	take(&s);
	for (int n = 0; n < ENTRIES; n++) {
		const struct tach__plain_worst *w = &taken.worst[n];
		int i = order[n];

		CHECK(w->begun == 1000 - 100 * (uint64_t)i && w->info.tag == 20 + (uint64_t)i &&
			      w->info.thread == 30 + i && w->info.size == sizeof w->info,
		      "%d: %d", n, (int)w->begun);
		CHECK(strcmp(w->info.thread_name, "fifteen letters") == 0 &&
		      strcmp(w->info.parent, parents[i]) == 0);
		CHECK(w->info.flags == (i == 1 ? TACH_FLAG_LOST | TACH_FLAG_MIXED : 0));
		/* A tick is half a nanosecond. */
		CHECK(w->value[0] == 50 * (i + 1), "%g", w->value[0]);
		for (int q = 1; q < SUMS; q++)
			CHECK(i == 1 ? isnan(w->value[q]) : w->value[q] == 100 * (i + 1) + q,
			      "%d %d: %g", i, q, w->value[q]);
	}
	s.sites = of_another;
	take(&s);
	CHECK(strcmp(taken.worst[0].info.parent, "there") == 0 &&
	      strcmp(taken.worst[1].info.parent, "") == 0 &&
	      strcmp(taken.worst[2].info.parent, "too") == 0);
	/* If the clock is unknown, the begin of entries is the time of the snapshot. */
	s.clock_hz = 0;
	from = seconds();
	take(&s);
	CHECK(taken.worst[0].info.at >= from && taken.worst[0].info.at <= seconds());
	tach__registry.by_id = before;
	tach__worst_free(kept);
}

/* The entries are in any order. */
static void equal_entries_are_sorted_by_begin(void)
{
	static const struct tach_snapshot s = {.clock_hz = 1e9};

	kept = tach__worst_make(ENTRIES, SUMS);
	kept->n = ENTRIES;
	for (unsigned way = 0; way < 24; way++) {
		uint64_t begun[ENTRIES] = {1, 2, 3, 4};

		for (unsigned i = 0, left = way; i < ENTRIES; left /= ENTRIES - i, i++) {
			unsigned at = i + left % (ENTRIES - i);
			uint64_t one = begun[at];

			begun[at] = begun[i];
			begun[i] = one;
			*tach__worst_at(kept, i) = (struct tach__kept){
				.key = 5, .begun = one, .name = "", .parent = 0};
		}
		take(&s);
		for (unsigned i = 0; i < ENTRIES; i++)
			CHECK(taken.worst[i].begun == 1 + i, "%u: %u", way, i);
	}
	tach__worst_free(kept);
}

static void is_order(const struct tach__plain_region *r, const char *names)
{
	CHECK(r->nworst == (int)strlen(names), "%d", r->nworst);
	for (int i = 0; i < r->nworst; i++)
		CHECK(r->worst[i].info.thread_name[0] == names[i], "%s: %d is %s", names, i,
		      r->worst[i].info.thread_name);
}

/*
 * The sum keeps the larger number of entries; a quantity that a snapshot does not count is
 * unknown.
 */
static void added_up(void)
{
	char name[] = "a", parent[] = "around";
	struct tach__plain_worst first[3] = {entry(50, 9, name), entry(40, 9, "b"),
					     entry(10, 9, "c")},
				 second[2] = {entry(8, 60, "d"), entry(7, 40, "e")},
				 third[3] = {entry(45, 0, "f"), entry(NAN, 0, "g"),
					     entry(-0.5, 0, "h")};
	struct tach__plain_region regions[3][2] = {
		{{.worst = NULL}, {.worst = first, .nworst = 3}},
		{{.worst = second, .nworst = 2}, {.worst = NULL}},
		{{.worst = third, .nworst = 3}, {.worst = NULL}}};
	struct tach__plain other[3] = {
		{.region = regions[0], .nregions = 2, .nquantities = 2, .worst = 1},
		{.region = regions[1], .nregions = 2, .nquantities = 2, .worst = 2},
		{.region = regions[2], .nregions = 2, .nquantities = 1, .worst = 1}};
	/* Quantities of the first snapshot and of the others, with their numbers in the sum. */
	static const int map[3][2] = {{2, 0}, {1, 2}, {2, -1}};
	struct tach__plain_region to[2] = {{.worst = NULL}, {.worst = NULL}};
	struct tach__plain p = {.region = to, .nregions = 2, .nquantities = 3};

	first[0].info.parent = parent;
	/* The other snapshot has no entries, or lacks the quantity of their key. */
	CHECK(tach__plain_worst_add(&p, 1, &other[0], 0, map[0]) == 0 && p.worst == 0);
	other[0].worst = 0;
	CHECK(tach__plain_worst_add(&p, 1, &other[0], 1, map[0]) == 0 && to[1].nworst == 0);
	other[0].worst = 1;
	CHECK(tach__plain_worst_add(&p, 1, &other[0], 1, map[0]) == 0 && p.worst == 3);
	is_order(&to[1], "abc");
	memset(name, 'x', 1);
	memset(parent, 'x', 6);
	CHECK(strcmp(to[1].worst[0].info.thread_name, "a") == 0 &&
	      strcmp(to[1].worst[0].info.parent, "around") == 0);
	CHECK(to[1].worst[0].value[2] == 50 && to[1].worst[0].value[0] == 9 &&
	      isnan(to[1].worst[0].value[1]) && to[1].worst[0].begun == 9 &&
	      to[1].worst[0].info.at == 50 && to[1].worst[0].info.tag == 5 &&
	      to[1].worst[0].info.thread == 7 && to[1].worst[0].info.flags == TACH_FLAG_MIXED);
	CHECK(to[0].nworst == 0);
	/*
	 * Both are sorted by the same quantity, which has another number there; of equal
	 * entries, the first snapshot's come first.
	 */
	CHECK(tach__plain_worst_add(&p, 1, &other[1], 0, map[1]) == 0);
	is_order(&to[1], "dab");
	CHECK(to[1].worst[0].value[2] == 60 && to[1].worst[0].value[1] == 8 &&
	      isnan(to[1].worst[0].value[0]));
	CHECK(tach__plain_worst_add(&p, 0, &other[1], 0, map[1]) == 0);
	is_order(&to[0], "de");
	/* Requests more entries than exist; an unknown value counts as the smallest. */
	CHECK(tach__plain_worst_add(&p, 0, &other[2], 0, map[2]) == 0);
	is_order(&to[0], "dfe");
	CHECK(isnan(to[0].worst[1].value[1]) && to[0].worst[1].value[2] == 45);
	third[2].value[0] = 41;
	third[0].value[0] = NAN;
	CHECK(tach__plain_worst_add(&p, 1, &other[2], 0, map[2]) == 0);
	is_order(&to[1], "dab");
	/* Worst entries by another key are not included. */
	other[0].worst = 2;
	CHECK(tach__plain_worst_add(&p, 1, &other[0], 1, map[0]) == 0 && p.worst == 3);
	is_order(&to[1], "dab");
	tach__arena_free(&p.arena);
}

/* Unknown values are last, in both snapshots. */
static void unknown_come_last(void)
{
	struct tach__plain_worst ours[2] = {entry(3, 0, "a"), entry(NAN, 0, "b")},
				 theirs[3] = {entry(3, 0, "c"), entry(0, 0, "d"),
					      entry(NAN, 0, "e")};
	struct tach__plain_region from = {.worst = theirs, .nworst = 3},
				  to = {.worst = ours, .nworst = 2};
	struct tach__plain other = {.region = &from, .nquantities = 1, .worst = 1},
			   p = {.region = &to, .nquantities = 1, .worst = 1};
	static const int map[] = {0};

	CHECK(tach__plain_worst_add(&p, 0, &other, 0, map) == 0);
	is_order(&to, "acd");
	to = (struct tach__plain_region){.worst = ours + 1, .nworst = 1};
	from = (struct tach__plain_region){.worst = theirs + 2, .nworst = 1};
	CHECK(tach__plain_worst_add(&p, 0, &other, 0, map) == 0);
	is_order(&to, "b");
	tach__arena_free(&p.arena);
}

/* Compares an entry of 100 ns at 0 s with another one, and returns 1 if they are the same. */
static void new_entries_are_recognised(void)
{
	static const struct {
		double at, time;
		uint64_t tag, begun, theirs;
		int thread, same;
	} cases[] = {
		{0, 100, 5, 0, 0, 7, 1},
		{0, 100, 6, 0, 0, 7, 0},
		{0, 100, 5, 0, 0, 8, 0},
		/* Compared by the tick, if both have it. */
		{0, 100, 5, 3, 3, 7, 1},
		{0, 100, 5, 3, 4, 7, 0},
		{1, 100, 5, 3, 3, 7, 1},
		{0, 100, 5, 0, 4, 7, 1},
		{0, 100, 5, 3, 0, 7, 1},
		/*
		 * Otherwise they may differ by a millisecond, and by one hundredth in length.
		 */
		{0x1p-10, 100, 5, 0, 0, 7, 1},
		{-0x1p-10, 100, 5, 0, 0, 7, 1},
		{1e-3, 100, 5, 0, 0, 7, 0},
		{0, 99, 5, 0, 0, 7, 1},
		{0, 101, 5, 0, 0, 7, 1},
		{0, 98.5, 5, 0, 0, 7, 0},
		{0, 101.5, 5, 0, 0, 7, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach__plain_worst ours[3] = {entry(1, 0, "a"), entry(100, 0, "b"),
						    entry(3, 0, "c")},
					 theirs[2] = {entry(50, 0, "d"), entry(0, 0, "e")};
		struct tach__plain_region now = {.worst = ours, .nworst = 3},
					  then = {.worst = theirs, .nworst = 2};

		ours[0].info.tag = ours[2].info.tag = 99;
		ours[1].info.at = 0;
		ours[1].begun = cases[i].begun;
		theirs[1].value[0] = cases[i].time;
		theirs[1].info.at = cases[i].at;
		theirs[1].info.tag = cases[i].tag;
		theirs[1].info.thread = cases[i].thread;
		theirs[1].begun = cases[i].theirs;
		tach__plain_worst_since(&now, &then);
		is_order(&now, cases[i].same ? "ac" : "abc");
	}
}

int main(void)
{
	CASE(values_of_worst_entries);
	CASE(taken_in_order);
	CASE(equal_entries_are_sorted_by_begin);
	CASE(added_up);
	CASE(unknown_come_last);
	CASE(new_entries_are_recognised);
	return check_done();
}
