/* SPDX-License-Identifier: MIT */
/* Rows of a job's ranks: each row follows the row of all ranks, and shows the imbalance. */
#include <math.h>
#include <string.h>
#include <tach.h>
#include "core/snapshot/ranks.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"

struct seen {
	const char *name;
	uint32_t line;
	double time;
};

/*
 * A snapshot with this number of quantities that no other rank has; its rank: 1 + quantities.
 * Other regions had all the time.
 */
static struct tach_snapshot of(int rank, const struct seen *seen, int n, int quantities)
{
	static char names[4][200][16];
	struct tach_snapshot s = {.rank = rank, .reports = 1, .threads = 10, .refused = 20};
	struct tach__plain *p = &s.plain;

	s.lost = 30;
	s.stale = 40;
	s.unopened = 50;
	p->nquantities = quantities;
	p->nmetrics = 1;
	p->nregions = n;
	CHECK(tach__plain_allocate(p) == 0);
	p->metric[0] = (struct tach__plain_metric){.name = "twice", .text = "2 * N0"};
	for (int q = 0; q < quantities; q++) {
		snprintf(names[rank % 4][q], sizeof names[0][0], q < 2 ? "q%d" : "q%d of %d", q,
			 rank);
		p->quantity[q] = names[rank % 4][q];
	}
	for (int r = 0; r < n; r++) {
		CHECK(tach__plain_allocate_region(p, r) == 0);
		p->region[r].info = (struct tach_region_info){.name = seen[r].name,
							      .file = "file",
							      .function = "",
							      .of = seen[r].name,
							      .task = "",
							      .tag = "",
							      .thread = "",
							      .line = seen[r].line,
							      .calls = (uint64_t)rank};
		p->region[r].value[0][0].value = seen[r].time;
		for (int part = 0; part < 2; part++)
			p->region[r].value[part][1].value = 100 * seen[r].time + part;
	}
	return s;
}

static void done(struct tach_snapshot *s)
{
	tach__plain_free(&s->plain);
}

/* Ranks 0 and 6: both did some work, one did, or neither took time. */
static const struct seen zeroth[] = {
	{"b", 1, 40}, {"a", 1, 10}, {"a", 2, 5}, {"none", 1, 0}, {"c", 1, 0.5}};
static const struct seen sixth[] = {{"a", 1, 30}, {"c", 1, 0.5}, {"none", 1, 0}};

static const struct {
	const char *name;
	uint32_t line;
	int rank;
	double time, imbalance;
} rows[] = {
	{"a", 1, 0, 40, 1.5},
	{"a [rank 0]", 1, 1, 10, NAN},
	{"a [rank 6]", 1, 7, 30, NAN},
	{"b", 1, 0, 40, 2},
	{"b [rank 0]", 1, 1, 40, NAN},
	{"a", 2, 0, 5, 2},
	{"a [rank 0]", 2, 1, 5, NAN},
	{"c", 1, 0, 1, 1},
	{"c [rank 0]", 1, 1, 0.5, NAN},
	{"c [rank 6]", 1, 7, 0.5, NAN},
	{"none", 1, 0, 0, NAN},
	{"none [rank 0]", 1, 1, 0, NAN},
	{"none [rank 6]", 1, 7, 0, NAN},
};
enum { ROWS = sizeof rows / sizeof *rows };

static int same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void ranks_follow_their_sum(void)
{
	struct tach_snapshot ranks[] = {of(1, zeroth, 5, 2), of(7, sixth, 3, 2)};
	struct tach_snapshot *list[] = {&ranks[0], &ranks[1]}, *whole = NULL, *s = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach_snapshot_merge((const struct tach_snapshot *const *)list, 2, &whole, &err) ==
	      0);
	whole->rank = 9;
	CHECK(tach__snapshot_rank(list[1]) == 6);
	CHECK(tach__snapshot_ranks(list, 2, whole, &s, &err) == 0, "%s", err.text);
	CHECK(s->plain.nregions == ROWS && s->plain.nmetrics == 2, "%d", s->plain.nregions);
	CHECK(strcmp(s->plain.metric[0].name, "twice") == 0 &&
	      strcmp(s->plain.metric[1].name, "imbalance") == 0 && !s->plain.metric[1].text);
	for (int r = 0; r < ROWS && r < s->plain.nregions; r++) {
		const struct tach__plain_region *is = &s->plain.region[r];

		CHECK(strcmp(is->info.name, rows[r].name) == 0 &&
			      is->info.line == rows[r].line && is->rank == rows[r].rank,
		      "%d is %s, of rank %d", r, is->info.name, is->rank - 1);
		for (int part = 0; part < 2; part++) {
			const struct tach_value *v = is->value[part];
			double imbalance = part ? NAN : rows[r].imbalance;

			CHECK(v[0].value == (part ? 0 : rows[r].time) &&
				      same(v[3].value, imbalance) &&
				      same(v[3].raw, imbalance) && v[3].flags == 0,
			      "%d %d: %g, %g", r, part, v[0].value, v[3].value);
			CHECK(v[2].value == 2 * v[1].value, "%d %d: %g of %g", r, part,
			      v[2].value, v[1].value);
		}
		if (rows[r].rank)
			CHECK(is->info.calls == (uint64_t)rows[r].rank &&
			      is->value[1][1].value == 100 * rows[r].time + 1);
	}
	/* Numbers of the whole job are added once, not once more for each rank. */
	CHECK(s->threads == 20 && s->refused == 40 && s->lost == 60 && s->stale == 80 &&
	      s->unopened == 100 && s->reports == 2 && s->rank == 0);
	tach_snapshot_free(s);
	tach_snapshot_free(whole);
	done(&ranks[0]);
	done(&ranks[1]);
}

/* With a single rank, its own rows are the sum. */
static void one_rank(void)
{
	struct tach_snapshot rank = of(7, sixth, 1, 2);
	struct tach_snapshot *list[] = {&rank}, *whole = NULL, *s = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach_snapshot_merge((const struct tach_snapshot *const *)list, 1, &whole, &err) ==
		      0 &&
	      whole->rank == 7);
	CHECK(tach__snapshot_ranks(list, 1, whole, &s, &err) == 0, "%s", err.text);
	CHECK(s->rank == 0 && s->plain.nregions == 2 && s->plain.region[0].rank == 0 &&
	      s->plain.region[1].rank == 7);
	tach_snapshot_free(s);
	tach_snapshot_free(whole);
	done(&rank);
}

static void many_ranks(void)
{
	enum { RANKS = 40 };
	struct tach_snapshot ranks[RANKS], *list[RANKS], *whole = NULL, *s = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	char name[32];

	for (int i = 0; i < RANKS; i++) {
		ranks[i] = of(1 + i, zeroth + 1, 1, 2);
		list[i] = &ranks[i];
	}
	CHECK(tach_snapshot_merge((const struct tach_snapshot *const *)list, RANKS, &whole,
				  &err) == 0);
	CHECK(tach__snapshot_ranks(list, RANKS, whole, &s, &err) == 0, "%s", err.text);
	CHECK(s->plain.nregions == 1 + RANKS && s->plain.region[0].rank == 0 &&
	      s->plain.region[0].value[0][3].value == 1);
	for (int r = 1; r < s->plain.nregions; r++) {
		snprintf(name, sizeof name, "a [rank %d]", r - 1);
		CHECK(s->plain.region[r].rank == r &&
		      strcmp(s->plain.region[r].info.name, name) == 0);
	}
	tach_snapshot_free(s);
	tach_snapshot_free(whole);
	for (int i = 0; i < RANKS; i++)
		done(&ranks[i]);
}

static void too_many(void)
{
	enum { HALF = 1 + TACH__PLAIN_QUANTITIES_MAX / 2 };
	struct tach_snapshot ranks[] = {of(1, zeroth, 1, HALF), of(2, zeroth, 1, HALF + 2)};
	struct tach_snapshot whole = of(3, zeroth, 1, 2), *s = &whole;
	struct tach_snapshot *list[] = {&ranks[0], &ranks[1]};
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach__snapshot_ranks(list, 2, &whole, &s, &err) == TACH_ERR_TOOMANY && !s &&
		      err.code == TACH_ERR_TOOMANY,
	      "%s", err.text);
	done(&ranks[0]);
	done(&ranks[1]);
	done(&whole);
}

int main(void)
{
	CASE(ranks_follow_their_sum);
	CASE(one_rank);
	CASE(many_ranks);
	CASE(too_many);
	return check_done();
}
