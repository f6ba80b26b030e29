/* SPDX-License-Identifier: MIT */
/* What was counted between two snapshots, by itself: each number of a region, less the older's.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/base/error.h"
#include "core/base/sort.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"

enum { QUANTITIES = 2, METRICS = 2, REGIONS = 3, BUCKETS = 5 };

/* Which is merged from one alone is a copy of it: here it is that one. */
static struct tach_snapshot *copy;
static int refused, freed, no_memory, frees;
static size_t asked;

static int sim_merge(const struct tach_snapshot *const *from, int n, struct tach_snapshot **out,
		     struct tach_error *err)
{
	(void)err;
	CHECK(n == 1 && *from);
	*out = refused ? NULL : copy;
	return refused;
}

static void sim_snapshot_free(const struct tach_snapshot *s)
{
	CHECK(s == copy);
	freed++;
}

static void *sim_calloc(size_t n, size_t size)
{
	asked = n * size;
	return no_memory ? NULL : calloc(n, size);
}

static void sim_free(void *at)
{
	frees++;
	free(at);
}

static int derived[REGIONS][METRICS][2];
static const struct tach__plain_region *worst_of[REGIONS];

static void sim_derive(const struct tach__plain *p, int region, int metric, enum tach_part part)
{
	CHECK(p == &copy->plain);
	derived[region][metric][part == TACH_PART_SELF]++;
}

static void sim_worst(const struct tach__plain_region *r, const struct tach__plain_region *old)
{
	worst_of[r - copy->plain.region] = old;
}

#define tach_snapshot_merge	sim_merge
#define tach_snapshot_free	sim_snapshot_free
#define tach__plain_derive	sim_derive
#define tach__plain_worst_since sim_worst
#define calloc			sim_calloc
#define free			sim_free
#include "core/snapshot/since.c"

struct whole {
	struct tach_snapshot s;
	struct tach__plain_region region[REGIONS];
	struct tach_value value[REGIONS][2][QUANTITIES + METRICS];
	struct tach__plain_buckets histogram[REGIONS][QUANTITIES];
	struct tach_bucket bucket[REGIONS][QUANTITIES][BUCKETS];
	const char *quantity[QUANTITIES];
};

static struct whole newer, older;
static const char *const names[] = {"a", "b", "c"};

static void make(struct whole *w)
{
	struct tach__plain *p = &w->s.plain;

	memset(w, 0, sizeof *w);
	p->nquantities = QUANTITIES;
	p->nmetrics = METRICS;
	p->nregions = REGIONS;
	p->region = w->region;
	p->quantity = w->quantity;
	w->quantity[0] = "time";
	w->quantity[1] = "cycles";
	for (int r = 0; r < REGIONS; r++) {
		w->region[r].info = (struct tach_region_info){
			.name = names[r], .file = "file", .function = "", .line = 1};
		w->region[r].value[0] = w->value[r][0];
		w->region[r].value[1] = w->value[r][1];
		w->region[r].histogram = w->histogram[r];
		for (int q = 0; q < QUANTITIES; q++)
			w->histogram[r][q].at = w->bucket[r][q];
	}
}

static void begin(void)
{
	make(&newer);
	make(&older);
	copy = &newer.s;
	refused = freed = no_memory = frees = 0;
	memset(derived, 0, sizeof derived);
	memset(worst_of, 0, sizeof worst_of);
}

static int since(void)
{
	struct tach_snapshot *out = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach_snapshot_since(&newer.s, &older.s, &out, &err);

	CHECK(code == err.code && out == (code ? NULL : copy) && !err.line && !err.column);
	return code;
}

/* Numbers by their place: each is another one. */
static void count(struct tach_region_info *info, uint64_t by)
{
	info->entries = 10 + 1 * by;
	info->calls = 10 + 2 * by;
	info->outermost = 10 + 3 * by;
	info->skipped = 10 + 4 * by;
	info->excluded = 10 + 5 * by;
	info->nested = 10 + 6 * by;
	info->lost = 10 + 7 * by;
	for (uint64_t i = 0; i < 6; i++)
		info->provenance[i] = 10 + (8 + i) * by;
}

static void counts(void)
{
	const struct tach_region_info *info = &newer.region[1].info;

	begin();
	count(&newer.region[1].info, 10);
	count(&older.region[1].info, 9);
	newer.region[1].info.threads = 7;
	older.region[1].info.threads = 3;
	CHECK(since() == 0 && frees == 1 && freed == 0 && info->threads == 7);
	CHECK(info->entries == 1 && info->calls == 2 && info->outermost == 3);
	CHECK(info->skipped == 4 && info->excluded == 5 && info->nested == 6);
	CHECK(info->lost == 7);
	for (uint64_t i = 0; i < 6; i++)
		CHECK(info->provenance[i] == 8 + i, "%d", (int)i);
	/* None is less than nothing. */
	begin();
	count(&newer.region[1].info, 10);
	count(&older.region[1].info, 10);
	older.region[1].info.lost++;
	CHECK(since() == 0 && info->entries == 0 && info->calls == 0 && info->lost == 0);
	/* What has less than before began anew. */
	begin();
	count(&newer.region[1].info, 5);
	count(&older.region[1].info, 4);
	older.region[1].info.entries = 16;
	CHECK(since() == 0 && info->entries == 15 && info->calls == 20 && !worst_of[1]);
	CHECK(!derived[1][0][0] && derived[0][0][0]);
}

static void by_place_in_any_order(void)
{
	begin();
	for (int r = 0; r < REGIONS; r++) {
		newer.region[r].info.calls = 100;
		older.region[r].info.name = names[(r + 1) % REGIONS];
		older.region[r].info.calls = 1 + (uint64_t)r;
	}
	CHECK(since() == 0);
	for (int r = 0; r < REGIONS; r++) {
		int old = (r + REGIONS - 1) % REGIONS;

		CHECK(newer.region[r].info.calls == 99 - (uint64_t)old, "%d", r);
		CHECK(worst_of[r] == &older.region[old], "%d", r);
		for (int m = 0; m < METRICS; m++)
			CHECK(derived[r][m][0] == 1 && derived[r][m][1] == 1);
	}
	/* Another name, or line; or none was there. */
	begin();
	newer.region[0].info.calls = newer.region[2].info.calls = 5;
	older.region[0].info.calls = older.region[2].info.calls = 3;
	older.region[0].info.name = "z";
	older.region[2].info.line = 2;
	CHECK(since() == 0 && newer.region[0].info.calls == 5 &&
	      newer.region[2].info.calls == 5 && worst_of[1] && !worst_of[0] && !worst_of[2]);
	begin();
	older.s.plain.nregions = 0;
	newer.region[0].info.calls = 5;
	CHECK(since() == 0 && newer.region[0].info.calls == 5 && !worst_of[0]);
}

static const struct tach_value much = {.value = 10, .raw = 20, .overhead = 9, .error = 2},
			       less = {.value = 4, .raw = 13, .overhead = 1, .error = 1};

static void values(void)
{
	begin();
	for (int part = 0; part < 2; part++)
		for (int q = 0; q < QUANTITIES; q++) {
			newer.value[0][part][q] = much;
			older.value[0][part][q] = less;
			newer.value[0][part][q].flags = TACH_FLAG_SMALL | TACH_FLAG_MIXED;
		}
	newer.value[0][0][QUANTITIES] = much;
	older.value[0][0][QUANTITIES] = less;
	CHECK(since() == 0);
	for (int part = 0; part < 2; part++)
		for (int q = 0; q < QUANTITIES; q++) {
			const struct tach_value *v = &newer.value[0][part][q];

			CHECK(v->value == 6 && v->raw == 7 && v->overhead == 8 && v->error == 1,
			      "%d %d", part, q);
			CHECK(v->flags == TACH_FLAG_MIXED);
		}
	/* A metric is no sum. */
	CHECK(newer.value[0][0][QUANTITIES].value == 10);
}

static struct tach_value less_of(double value, double error, uint32_t flags)
{
	struct tach_value of = much;

	begin();
	of.flags = flags;
	newer.value[0][0][0] = of;
	older.value[0][0][0] = (struct tach_value){.value = value, .error = error};
	CHECK(since() == 0);
	return newer.value[0][0][0];
}

/* No more than how far off it may be. */
static void small(void)
{
	CHECK(less_of(8, 0, TACH_FLAG_MIXED).flags == (TACH_FLAG_MIXED | TACH_FLAG_SMALL));
	CHECK(less_of(9, 0, 0).flags == TACH_FLAG_SMALL && newer.value[0][0][0].value == 1);
	CHECK(less_of(7, 0, TACH_FLAG_SMALL).flags == 0);
	CHECK(less_of(10, 0, 0).flags == TACH_FLAG_SMALL && newer.value[0][0][0].value == 0);
	CHECK(less_of(10, 2, TACH_FLAG_SMALL).flags == 0 && newer.value[0][0][0].error == 0);
	CHECK(less_of(11, 3, 0).value == 0 && newer.value[0][0][0].error == 0);
	CHECK(less_of(10, 1.5, 0).flags == TACH_FLAG_SMALL);
}

static void fill(struct whole *w, int q, const struct tach_bucket *of, int n)
{
	w->histogram[0][q].count = n;
	memcpy(w->bucket[0][q], of, (size_t)n * sizeof *of);
}

static void buckets(void)
{
	static const struct tach_bucket now[] = {{.low = 1, .count = 5},
						 {.low = 2, .count = 6},
						 {.low = 4, .count = 7},
						 {.low = 8, .count = 8},
						 {.low = 16, .count = 9}};
	static const struct tach_bucket then[] = {{.low = 2, .count = 2},
						  {.low = 3, .count = 1},
						  {.low = 4, .count = 7},
						  {.low = 16, .count = 1}};
	const struct tach__plain_buckets *b = newer.histogram[0];

	begin();
	fill(&newer, 0, now, 5);
	fill(&older, 0, then, 4);
	fill(&newer, 1, now, 5);
	/* The last one is behind those that there are. */
	fill(&older, 1, then, 4);
	older.histogram[0][1].count = 3;
	CHECK(since() == 0);
	CHECK(b[0].count == 4 && b[1].count == 4);
	for (int q = 0; q < QUANTITIES; q++) {
		const struct tach_bucket *at = newer.bucket[0][q];

		CHECK(at[0].low == 1 && at[0].count == 5 && at[1].low == 2 && at[1].count == 4);
		CHECK(at[2].low == 8 && at[2].count == 8);
		CHECK(at[3].low == 16 && at[3].count == (q ? 9 : 8));
	}
	/* The clock's frequency is known better than it was, so that all bounds move a little.
	 */
	begin();
	fill(&newer, 0, now, 5);
	fill(&older, 0, now, 5);
	for (int i = 0; i < 5; i++)
		older.bucket[0][0][i].low *= i % 2 ? 1.01 : 0.99;
	CHECK(since() == 0 && b->count == 0);
	/* None were kept before. */
	begin();
	fill(&newer, 0, now, 5);
	older.histogram[0][0].at = NULL;
	CHECK(since() == 0 && b->count == 5 && b->at[4].count == 9);
}

static void another_set(void)
{
	begin();
	newer.region[0].info.calls = older.region[0].info.calls = 5;
	older.quantity[1] = "instructions";
	asked = 0;
	CHECK(since() == 0 && newer.region[0].info.calls == 5 && asked == 0);
	older.quantity[1] = "cycles";
	older.quantity[0] = "clock";
	CHECK(since() == 0 && newer.region[0].info.calls == 5);
	older.quantity[0] = "time";
	older.s.plain.nquantities = 1;
	CHECK(since() == 0 && newer.region[0].info.calls == 5);
	older.s.plain.nquantities = QUANTITIES;
	CHECK(since() == 0 && newer.region[0].info.calls == 0);
}

static void failures(void)
{
	struct tach_snapshot *out = NULL, *volatile none = NULL;
	struct tach_snapshot **volatile nowhere = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	begin();
	CHECK(tach_snapshot_since(none, &older.s, &out, &err) == TACH_ERR_INVAL);
	CHECK(err.code == TACH_ERR_INVAL && err.line == 0 && err.column == 0 && err.text[0]);
	CHECK(tach_snapshot_since(&newer.s, none, &out, &err) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_since(&newer.s, &older.s, nowhere, &err) == TACH_ERR_INVAL && !out);
	refused = TACH_ERR_TOOMANY;
	CHECK(tach_snapshot_since(&newer.s, &older.s, &out, &err) == TACH_ERR_TOOMANY && !out);
	CHECK(frees == 0 && freed == 0);
	refused = 0;
	no_memory = 1;
	newer.region[0].info.calls = older.region[0].info.calls = 5;
	CHECK(since() == TACH_ERR_NOMEM && freed == 1 && newer.region[0].info.calls == 5);
}

int main(void)
{
	CASE(counts);
	CASE(by_place_in_any_order);
	CASE(values);
	CASE(small);
	CASE(buckets);
	CASE(another_set);
	CASE(failures);
	return check_done();
}
