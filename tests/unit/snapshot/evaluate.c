/* SPDX-License-Identifier: MIT */
/* The values of rows in a snapshot, computed by hand, in memory of the requested size. */
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <tach.h>
#include "core/set/set.h"
#include "core/snapshot/operands.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"
#include "tests/guarded.h"
#include "tests/unit/snapshot/row.h"

static int sim_buckets(const uint32_t *histograms, uint32_t sum, struct tach_bucket *out,
		       int max);
#define tach__pages		guarded_pages
#define tach__histogram_buckets sim_buckets
#define tach__operands_put	sim_put
static void sim_put(struct tach__operands *o, uint32_t i, const struct tach_value *v);
#include "core/snapshot/evaluate.c"
#undef tach__histogram_buckets
#undef tach__operands_put

enum { A, SOFT, EMULATED, INTERRUPTS, MEMBERS, ID = TACH__SITE_FIRST, REGIONS = 2 };

static struct tach_set set;
static struct tach__config config = {.set = &set, .count = MEMBERS};
static struct tach__rows rows;
static struct tach__site sites[ID + REGIONS];
static struct tach_snapshot s;

/* Quantities that are not available are not evaluated. */
static int sim_buckets(const uint32_t *histograms, uint32_t sum, struct tach_bucket *out,
		       int max)
{
	CHECK(sum <= MEMBERS, "%u", sum);
	return tach__histogram_buckets(histograms, sum, out, max);
}

static void sim_put(struct tach__operands *o, uint32_t i, const struct tach_value *v)
{
	CHECK(i < MEMBERS, "%u", i);
	tach__operands_put(o, i, v);
}

static struct tach__row *row_of(int region)
{
	return tach__rows_at(&rows, ID + (uint32_t)region);
}

/* A tick is half a nanosecond; the rate is known to within a quarter. */
static void begin(void)
{
	static const char *const names[] = {"a", "soft", "emulated", "interrupts"};

	memset(&set, 0, sizeof set);
	memset(sites, 0, sizeof sites);
	set.count = MEMBERS;
	for (int i = 0; i < MEMBERS; i++)
		set.member[i].name = (char *)(uintptr_t)names[i];
	set.member[SOFT].kind = TACH_MEMBER_SOFTWARE;
	set.member[EMULATED].kind = TACH_MEMBER_EMULATED;
	set.interrupts = -1;
	config.worst = config.worst_by = 0;
	tach__rows_init(&rows, MEMBERS);
	memset(&s, 0, sizeof s);
	s.config = &config;
	s.sites = sites;
	s.clock_hz = 2e9;
	s.clock_flags = TACH_FLAG_CLOCK;
	s.clock_error = 0.25;
}

static const struct tach_value *value_of(int region, int part, int quantity)
{
	return &s.plain.region[region].value[part][quantity];
}

static void evaluate(void)
{
	static const uint32_t order[] = {ID, ID + 1};

	CHECK(tach__snapshot_evaluate(&s, &rows, order, REGIONS) == 0 &&
	      s.plain.nregions == REGIONS && s.plain.nquantities == 1 + MEMBERS);
	CHECK((uintptr_t)s.plain.region % _Alignof(max_align_t) == 0 &&
	      (uintptr_t)value_of(0, 0, 0) % _Alignof(max_align_t) == 0);
}

static void end(void)
{
	tach__rows_free(&rows);
	guarded_free();
}

static int is(const struct tach_value *v, double value, double raw, double overhead,
	      double error, uint32_t flags)
{
	if (fabs(v->value - value) < 1e-9 && v->raw == raw && v->overhead == overhead &&
	    fabs(v->error - error) < 1e-9 && v->flags == flags && v->share == 0)
		return 1;
	printf("# %.12g, raw %g, overhead %g, error %.12g, flags %#x\n", v->value, v->raw,
	       v->overhead, v->error, v->flags);
	return 0;
}

static void of_all_entries(void)
{
	struct tach__row *row;

	begin();
	row = row_of(1);
	row->calls = 20;
	row->outermost = 16;
	row->flags = TACH_FLAG_STALE;
	row->provenance[0] = row->provenance[4] = 1;
	row->cell[0] = (struct tach__cell){
		.inclusive = 1000, .self = 400, .overhead = {100, 40}, .error = {8, 2}};
	row->cell[1 + A] = (struct tach__cell){
		.inclusive = 300, .self = 30, .overhead = {20, 10}, .error = {5, 1}};
	row->cell[1 + SOFT] = (struct tach__cell){.inclusive = 7, .self = (uint64_t)-1};
	row->cell[1 + EMULATED] = (struct tach__cell){
		.inclusive = 9, .self = 2, .overhead = {5, 2}, .error = {4, 1}};
	evaluate();
	/*
	 * A read happens at any point of a tick: the row's known error grows by two ticks of a
	 * random walk over 16 entries.
	 */
	CHECK(is(value_of(1, 0, 0), 450, 500, 50, 4 + 2 + 112.5,
		 TACH_FLAG_STALE | TACH_FLAG_CLOCK));
	CHECK(is(value_of(1, 1, 0), 180, 200, 20, 1 + 2 + 45,
		 TACH_FLAG_STALE | TACH_FLAG_CLOCK));
	CHECK(is(value_of(1, 0, 1 + A), 280, 300, 20, 5,
		 TACH_FLAG_STALE | TACH_FLAG_RESCHEDULED | TACH_FLAG_MIXED));
	CHECK(is(value_of(1, 1, 1 + A), 20, 30, 10, 1,
		 TACH_FLAG_STALE | TACH_FLAG_RESCHEDULED | TACH_FLAG_MIXED));
	/*
	 * Software events are read by system calls, even if the others are not; a negative
	 * value becomes 0.
	 */
	CHECK(is(value_of(1, 0, 1 + SOFT), 7, 7, 0, 0, TACH_FLAG_STALE | TACH_FLAG_SYSCALL));
	CHECK(is(value_of(1, 1, 1 + SOFT), 0, 0, 0, 0, TACH_FLAG_STALE | TACH_FLAG_SYSCALL));
	CHECK(is(value_of(1, 0, 1 + EMULATED), 4, 9, 5, 4,
		 TACH_FLAG_STALE | TACH_FLAG_RESCHEDULED | TACH_FLAG_MIXED |
			 TACH_FLAG_EMULATED | TACH_FLAG_SMALL));
	CHECK(is(value_of(1, 1, 1 + EMULATED), 0, 2, 2, 1,
		 TACH_FLAG_STALE | TACH_FLAG_RESCHEDULED | TACH_FLAG_MIXED |
			 TACH_FLAG_EMULATED | TACH_FLAG_SMALL));
	CHECK(is(value_of(1, 0, 1 + INTERRUPTS), 0, 0, 0, 0,
		 TACH_FLAG_STALE | TACH_FLAG_RESCHEDULED | TACH_FLAG_MIXED));
	for (int q = 0; q <= MEMBERS; q++)
		CHECK(value_of(0, 0, q)->value == 0 && value_of(0, 1, q)->raw == 0);
	end();
	/* A value below the overhead; a clock with unknown properties. */
	begin();
	row_of(0)->calls = 1;
	row_of(0)->cell[1] = (struct tach__cell){.inclusive = 3, .overhead = {4, 0}};
	row_of(0)->cell[0].inclusive = 100;
	row_of(0)->provenance[5] = 1;
	s.clock_hz = 0;
	evaluate();
	CHECK(is(value_of(0, 0, 1), 0, 3, 4, 0, TACH_FLAG_LOST | TACH_FLAG_SMALL));
	CHECK(is(value_of(0, 0, 1 + SOFT), 0, 0, 0, 0, TACH_FLAG_LOST | TACH_FLAG_SYSCALL));
	CHECK(is(value_of(0, 0, 0), 0, 0, 0, 0, TACH_FLAG_CLOCK));
	end();
}

/*
 * A sample of 400 in 1600. The error is Student's t times the error of a sample without
 * replacement.
 */
static void of_a_sample(void)
{
	static const double t = 1.96 + 2.4 / 399 + 8.4 / (399. * 399 * 399);
	static const struct {
		uint64_t outermost, sum;
		double square, most, passed;
		double variance; /* of an entry; NAN: no bound */
	} cases[] = {
		{400, 4000, 60000, 20, 0, 20000 / 399.},
		{400, 4000, 40100, 11, 0, 100 / 399.},
		/* All values are equal; the second line has a rounding error. */
		{400, 4000, 40000, 10, 0, 0},
		{400, 4000, 39999.9, 10, 0, 0},
		/* Fewer than tell. */
		{299, 4000, 60000, 20, 0, NAN},
		{0, 4000, 0, 0, 0, NAN},
		/* One value has more than a twelfth of the variance; then less. */
		{400, 4000, 60000, 51, 0, NAN},
		{400, 4000, 60000, 50, 0, 20000 / 399.},
		/* Nested entries were skipped: the self value is unknown. */
		{400, 4000, 60000, 20, 1, 20000 / 399.},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double error = 4 * (0.5 + t * sqrt(400 * cases[i].variance * 3 / 4.));
		double less = 4 * (0.25 + t * sqrt(400 * cases[i].variance * 3 / 4.));
		int none = isnan(cases[i].variance), no_self = none || cases[i].passed > 0;
		struct tach__row *row;

		begin();
		config.sparse = 4;
		row = row_of(0);
		row->calls = 400;
		row->skipped = 1200;
		row->outermost = cases[i].outermost;
		row->passed = cases[i].passed;
		row->cell[1] = (struct tach__cell){.inclusive = cases[i].sum,
						   .self = 3000,
						   .overhead = {20, 10},
						   .error = {0.5, 0.25},
						   .square = cases[i].square,
						   .most = cases[i].most};
		row->cell[0].inclusive = 100;
		evaluate();
		CHECK(is(value_of(0, 0, 1), 15920, 16000, 80, none ? 15920 : error,
			 none ? TACH_FLAG_UNBOUNDED | TACH_FLAG_SMALL : 0),
		      "%d", (int)i);
		CHECK(is(value_of(0, 1, 1), 11960, 12000, 40, no_self ? 11960 : less,
			 no_self ? TACH_FLAG_UNBOUNDED | TACH_FLAG_SMALL : 0),
		      "%d", (int)i);
		end();
		config.sparse = 0;
	}
	/* All entries were skipped, none was measured. */
	begin();
	row_of(0)->skipped = 5;
	row_of(0)->cell[1].inclusive = 3;
	evaluate();
	CHECK(is(value_of(0, 0, 1), 3, 3, 0, 3, TACH_FLAG_UNBOUNDED | TACH_FLAG_SMALL));
	end();
}

/* Counts of multiplexed counters are estimates with an unknown error. */
static void multiplexed_counts_have_an_unknown_error(void)
{
	begin();
	row_of(0)->calls = row_of(0)->outermost = 4;
	row_of(0)->provenance[3] = 1;
	row_of(0)->cell[0].inclusive = 100;
	row_of(0)->cell[1 + A] = (struct tach__cell){.inclusive = 300, .error = {5, 1}};
	row_of(0)->cell[1 + SOFT].inclusive = 7;
	evaluate();
	CHECK(is(value_of(0, 0, 1 + A), 300, 300, 0, 300,
		 TACH_FLAG_SCALED | TACH_FLAG_UNBOUNDED | TACH_FLAG_SMALL));
	CHECK(is(value_of(0, 0, 1 + SOFT), 7, 7, 0, 0, TACH_FLAG_SYSCALL));
	CHECK(value_of(0, 0, 0)->flags == TACH_FLAG_CLOCK);
	end();
}

/*
 * Each interrupt counts one instruction, which is subtracted, except for interrupts that
 * measuring itself caused.
 */
static void less_interrupts(void)
{
	begin();
	set.interrupts = INTERRUPTS;
	set.corrected = 1 << A | 1 << EMULATED;
	for (int region = 0; region < REGIONS; region++) {
		struct tach__row *row = row_of(region);

		row->calls = 1;
		row->cell[1 + A] = (struct tach__cell){
			.inclusive = 300, .self = 100, .overhead = {20, 10}, .error = {5, 1}};
		row->cell[1 + INTERRUPTS] = (struct tach__cell){
			.inclusive = 30, .self = 4, .overhead = {10, 1}, .error = {2, 0.5}};
		row->cell[1 + SOFT] = row->cell[1 + A];
		row->cell[1 + EMULATED].inclusive = 20;
	}
	evaluate();
	CHECK(is(value_of(1, 0, 1 + A), 260, 300, 20, 7, TACH_FLAG_CORRECTED));
	CHECK(is(value_of(1, 1, 1 + A), 87, 100, 10, 1.5, TACH_FLAG_CORRECTED));
	CHECK(is(value_of(1, 0, 1 + SOFT), 280, 300, 20, 5, TACH_FLAG_SYSCALL));
	CHECK(is(value_of(1, 0, 1 + INTERRUPTS), 20, 30, 10, 2, 0));
	CHECK(is(value_of(1, 0, 1 + EMULATED), 0, 20, 0, 2,
		 TACH_FLAG_CORRECTED | TACH_FLAG_EMULATED | TACH_FLAG_SMALL));
	CHECK(value_of(1, 0, 0)->flags == TACH_FLAG_CLOCK);
	end();
}

static void metrics(void)
{
	begin();
	set.nmetrics = 2;
	set.metric[0] = (struct tach__metric){.name = (char *)(uintptr_t) "sum",
					      .text = (char *)(uintptr_t) "N0 + N1"};
	set.metric[1].name = (char *)(uintptr_t) "time";
	set.metric[1].node.level = 3;
	CHECK(tach_formula_compile("N0 + 10 * N1 + 100 * N3", NULL, &set.metric[0].formula,
				   NULL) == 0);
	CHECK(tach_formula_compile("elapsed_ns", NULL, &set.metric[1].formula, NULL) == 0);
	row_of(1)->calls = 1;
	row_of(1)->cell[0] = (struct tach__cell){.inclusive = 50, .self = 10};
	for (uint64_t i = 0; i < MEMBERS; i++)
		row_of(1)->cell[1 + i] = (struct tach__cell){.inclusive = 1 + i, .self = 5 + i};
	evaluate();
	CHECK(s.plain.nmetrics == 2 && strcmp(s.plain.metric[0].name, "sum") == 0 &&
	      strcmp(s.plain.metric[0].text, "N0 + N1") == 0 &&
	      strcmp(s.plain.metric[1].name, "time") == 0 && s.plain.metric[1].node.level == 3);
	CHECK(value_of(1, 0, 1 + MEMBERS)->value == 421 &&
	      value_of(1, 1, 1 + MEMBERS)->value == 865);
	CHECK(value_of(1, 0, 2 + MEMBERS)->value == 25 &&
	      value_of(1, 1, 2 + MEMBERS)->value == 5);
	for (int q = 0; q <= MEMBERS; q++)
		CHECK(strcmp(s.plain.quantity[q], q ? set.member[q - 1].name : "time") == 0);
	tach_formula_free(set.metric[0].formula);
	tach_formula_free(set.metric[1].formula);
	end();
}

static void rows_have_names_and_numbers(void)
{
	struct tach__site **before = tach__registry.by_id;
	struct tach__site *ids[ID + REGIONS] = {NULL}, here = {.name = "here"};

	begin();
	for (int r = 0; r < REGIONS; r++) {
		struct tach__row *row = row_of(r);

		sites[ID + r] = (struct tach__site){.name = r ? "n" : "m",
						    .file = "f",
						    .function = "g",
						    .of = "o",
						    .line = 21,
						    .fenced = TACH__SITE_TASK |
							      (r ? TACH__SITE_FENCED_BIT : 0),
						    .parts = {.task = "k", .tag = "a"}};
		sites[ID + r].parts.thread = "h";
		ROW_SET(row, .calls = 1, .outermost = 20, .nested = 3, .skipped = 400,
			.excluded = 5000, .lost = 60000, .threads = 7,
			.provenance = {0, 1, 2, 3, 4, 5});
	}
	evaluate();
	for (int r = 0; r < REGIONS; r++) {
		const struct tach_region_info *i = &s.plain.region[r].info;

		CHECK(strcmp(i->name, r ? "n" : "m") == 0 && strcmp(i->file, "f") == 0 &&
		      strcmp(i->function, "g") == 0 && strcmp(i->of, "o") == 0 &&
		      strcmp(i->task, "k") == 0 && strcmp(i->tag, "a") == 0 &&
		      strcmp(i->thread, "h") == 0 && i->line == 21 && i->fenced == r);
		CHECK(i->size == sizeof *i && i->calls == 1 && i->outermost == 20 &&
		      i->nested == 3 && i->skipped == 400 && i->excluded == 5000 &&
		      i->lost == 60000 && i->threads == 7 && i->entries == 65401);
		for (uint64_t p = 0; p < 6; p++)
			CHECK(i->provenance[p] == p);
		CHECK(!s.plain.region[r].rank && !s.plain.region[r].nworst);
	}
	CHECK(s.plain.worst == 0);
	guarded_free();
	/* This process's own. */
	ids[ID] = ids[ID + 1] = &here;
	tach__registry.by_id = ids;
	s.sites = NULL;
	evaluate();
	CHECK(strcmp(s.plain.region[1].info.name, "here") == 0);
	tach__registry.by_id = before;
	end();
}

/* Times are in nanoseconds. */
static void distributions(void)
{
	static const struct tach__entry_cost none;
	static const uint64_t values[] = {40, 50, 0, 3, 4}, pairs[2] = {0, 0};
	/* The last rate is unknown. */
	static const double hz[] = {2e9, 1, 0}, units[] = {0.5, 1e9, 1};
	struct tach_bucket raw[1];

	begin();
	row_of(1)->calls = 1;
	row_of(1)->histograms = tach__histograms_make(1 + MEMBERS);
	tach__histograms_add(row_of(1)->histograms, values, &none, 0, pairs, 1 + MEMBERS);
	for (int c = 0; c < 3; c++) {
		s.clock_hz = hz[c];
		evaluate();
		for (int q = 0; q <= MEMBERS; q++) {
			const struct tach__plain_buckets *b = &s.plain.region[1].histogram[q];
			double unit = q == 0 ? units[c] : 1;

			CHECK(tach__histogram_buckets(row_of(1)->histograms, (uint32_t)q, raw,
						      1) == 1);
			CHECK(b->count == 1 && b->at[0].count == 1 &&
				      b->at[0].low == raw[0].low * unit &&
				      b->at[0].high == raw[0].high * unit,
			      "%d: %g to %g", q, b->at[0].low, b->at[0].high);
			CHECK(s.plain.region[0].histogram[q].count == 0);
		}
		guarded_free();
	}
	end();
}

static void worst(void)
{
	begin();
	config.worst = 2;
	config.worst_by = 1;
	row_of(1)->calls = 1;
	row_of(1)->worst = tach__worst_make(2, 1 + MEMBERS);
	row_of(1)->worst->n = 2;
	for (uint64_t i = 0; i < 2; i++) {
		struct tach__kept *k = tach__worst_at(row_of(1)->worst, i);

		k->key = 10 - i;
		snprintf(k->name, sizeof k->name, "thread %d", (int)i);
		for (uint64_t q = 0; q <= MEMBERS; q++)
			k->sum[q] = 100 * i + 2 * q;
	}
	evaluate();
	CHECK(s.plain.worst == 2 && s.plain.region[0].nworst == 0 &&
	      s.plain.region[1].nworst == 2);
	for (int i = 0; i < 2; i++) {
		const struct tach__plain_worst *w = &s.plain.region[1].worst[i];

		CHECK(strcmp(w->info.thread_name, i ? "thread 1" : "thread 0") == 0);
		for (int q = 0; q <= MEMBERS; q++)
			CHECK(w->value[q] == (q ? 100 * i + 2 * q : 50 * i), "%d %d: %g", i, q,
			      w->value[q]);
	}
	end();
}

static void no_memory(void)
{
	static const uint32_t order[] = {ID, ID + 1};

	begin();
	row_of(1)->calls = 1;
	guarded_left = 0;
	CHECK(tach__snapshot_evaluate(&s, &rows, order, REGIONS) == TACH_ERR_NOMEM &&
	      s.plain.nregions == 0 && s.plain.nmetrics == 0 && !s.plain.pages);
	end();
}

/*
 * No thread has entered a region yet. The set has one metric; the second does not belong to it.
 */
static void no_regions(void)
{
	begin();
	set.nmetrics = 1;
	set.metric[0].name = "one";
	set.metric[1].name = "behind";
	CHECK(tach__snapshot_evaluate(&s, &rows, NULL, 0) == 0 && s.plain.nregions == 0);
	CHECK(s.plain.nmetrics == 1 && strcmp(s.plain.metric[0].name, "one") == 0);
	end();
	/* Names use all of their memory, with either number of names. */
	for (uint32_t n = MEMBERS - 1; n <= MEMBERS; n++) {
		begin();
		config.count = n;
		CHECK(tach__snapshot_evaluate(&s, &rows, NULL, 0) == 0 &&
		      s.plain.nquantities == (int)(1 + n));
		config.count = MEMBERS;
		end();
	}
}

int main(void)
{
	CASE(of_all_entries);
	CASE(of_a_sample);
	CASE(multiplexed_counts_have_an_unknown_error);
	CASE(less_interrupts);
	CASE(metrics);
	CASE(rows_have_names_and_numbers);
	CASE(distributions);
	CASE(worst);
	CASE(no_regions);
	CASE(no_memory);
	return check_done();
}
