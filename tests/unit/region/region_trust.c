/* SPDX-License-Identifier: MIT */
/*
 * Exact values: the overhead is subtracted to the last count, inexact entries are flagged, and
 * excluded entries are not counted. A simulated kernel counts, so all counts are exact.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <tach.h>
#include "core/region/region.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/unit/region/fakekernel.h"

static void work(uint64_t n)
{
	fake_count += n;
}

static void begin(int members, struct tach_regions_options opt)
{
	struct tach_error err = TACH_ERROR_INIT;

	opt.set = fake_set(members);
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
}

static struct tach_snapshot *shot;
static struct tach_region_info info;

/* Takes a snapshot and returns the region's number in it. */
static int look(const char *name)
{
	tach_snapshot_free(shot);
	if (tach_snapshot_take(&shot, NULL) != 0)
		return -1;
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, name) == 0)
			return r;
	}
	return -1;
}

static struct tach_value value(const char *name, int quantity, enum tach_part part)
{
	struct tach_value v = {NAN, NAN, NAN, NAN, 0, 0};
	int r = look(name);

	CHECK(r >= 0, "no region %s", name);
	tach_snapshot_value(shot, r, quantity, part, &v);
	return v;
}

#define IS(name, quantity, part, want)                                                         \
	do {                                                                                   \
		struct tach_value v = value(name, quantity, part);                             \
		CHECK(v.value == (want) && v.error == 0,                                       \
		      "%s: %g (raw %g) is not %g, error %g", name, v.value, v.raw,             \
		      (double)(want), v.error);                                                \
	} while (0)

static void leaf(int n)
{
	TACH_SCOPE(leaf);
	work((uint64_t)n);
}

static void middle(void)
{
	TACH_START_FENCED(middle);
	work(100);
	leaf(1000);
	leaf(1000);
	TACH_STOP(middle);
}

/* The first round registers sites, opens the thread, and calibrates, all inside `top`. */
static void nested_costs_are_taken_out(void)
{
	begin(2, (struct tach_regions_options){0});
	for (int i = 0; i < 3; i++) {
		TACH_START(top);
		work(10);
		middle();
		leaf(500);
		work(10);
		TACH_STOP(top);
	}
	for (int q = 1; q <= 2; q++) {
		IS("leaf", q, TACH_PART_INCLUSIVE, 3 * 2500 * q);
		IS("leaf", q, TACH_PART_SELF, 3 * 2500 * q);
		IS("middle", q, TACH_PART_INCLUSIVE, 3 * 2100 * q);
		IS("middle", q, TACH_PART_SELF, 3 * 100 * q);
		IS("top", q, TACH_PART_INCLUSIVE, 3 * 2620 * q);
		IS("top", q, TACH_PART_SELF, 3 * 20 * q);
	}
	CHECK(look("top") >= 0 && info.nested == 12 && info.calls == 3);
	CHECK(value("leaf", 1, TACH_PART_INCLUSIVE).raw == 3 * 2500 + 9 * 17);
}

static void down(int n)
{
	TACH_SCOPE(down);
	work(100);
	if (n > 0)
		down(n - 1);
}

static void recursion(void)
{
	down(9);
	down(4);
	IS("down", 1, TACH_PART_INCLUSIVE, 1500);
	IS("down", 1, TACH_PART_SELF, 1500);
}

static void *thread_main(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		leaf(7);
		middle();
	}
	return arg;
}

static void threads_live_and_ended(void)
{
	pthread_t thread[4];

	begin(1, (struct tach_regions_options){0});
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, thread_main, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	thread_main(NULL);
	IS("leaf", 1, TACH_PART_INCLUSIVE, 5000 * 2007);
	IS("middle", 1, TACH_PART_SELF, 5000 * 100);
	CHECK(fake_opens - fake_closes == 1, "%d descriptors left open",
	      fake_opens - fake_closes);
}

/* Returns the calling thread's slot that has this number of calls. */
static struct tach__slot *slot_with(uint64_t calls)
{
	for (uint32_t id = TACH__SITE_FIRST; id < tach__self->limit; id++) {
		struct tach__slot *slot = tach__table(tach__self)[id];

		if (tach__part(slot, tach__self->count, 0)->calls == calls)
			return slot;
	}
	abort();
}

static void histograms_know_the_tail(void)
{
	begin(1, (struct tach_regions_options){.histograms = 1});
	for (int i = 0; i < 1000; i++)
		leaf(i < 985 ? 1000 : 100000);
	int r = look("leaf");
	double p50 = tach_snapshot_quantile(shot, r, 1, 0.5);
	double p99 = tach_snapshot_quantile(shot, r, 1, 0.99);

	CHECK(fabs(p50 - 1000) < 1000 / 16.0, "p50 %g", p50);
	CHECK(fabs(p99 - 100000) < 100000 / 16.0, "p99 %g", p99);
	CHECK(tach_snapshot_quantile(shot, r, 1, 1) >= p99 &&
	      tach_snapshot_quantile(shot, r, 1, 1) <= p99 * 1.125);
	CHECK(isnan(tach_snapshot_quantile(shot, r, 5, 0.5)));
}

/*
 * The histogram shows the same values as the sums, because each small value has its own bucket.
 */
static void histograms_have_the_cost_taken_out(void)
{
	static const double want[] = {0, 5, 9};
	int r;

	begin(1, (struct tach_regions_options){.histograms = 1});
	for (int i = 0; i < 3; i++) {
		TACH_START(hist_outer);
		work(1);
		for (int k = 0; k < i; k++) {
			TACH_START_FENCED(hist_inner);
			work(4);
			TACH_STOP(hist_inner);
		}
		if (i == 0)
			fake_count--;
		TACH_STOP(hist_outer);
	}
	r = look("hist_outer");
	for (int i = 0; i < 3; i++) {
		double v = tach_snapshot_quantile(shot, r, 1, (i + 1) / 3.0);

		CHECK(v == want[i], "entry %d: %g", i, v);
	}
	IS("hist_outer", 1, TACH_PART_INCLUSIVE, 14);
	CHECK(tach_snapshot_quantile(shot, look("hist_inner"), 1, 0.5) == 4);
}

/* Writes only the existing sums; the rest of their page stays untouched. */
static void histograms_end_with_their_sums(void)
{
	for (int members = 2; members <= 4; members += 2) { /* there is room for one more */
		size_t size = tach__histograms_size((uint32_t)members + 1);
		const struct tach__slot *slot;
		const char *h;

		begin(members, (struct tach_regions_options){.histograms = 1});
		leaf(1000);
		slot = slot_with(1);
		h = (const char *)slot->histograms;
		for (size_t at = size; at < tach__pages_round(size); at++)
			CHECK(h[at] == 0, "%d members: byte %d", members, (int)at);
		CHECK(tach_snapshot_quantile(shot, look("leaf"), members, 0.5) > 0);
	}
}

/* Every power of two and its neighbours, compared with the bounds of their bucket. */
static void a_value_lies_in_its_bucket(void)
{
	static const struct tach__entry_cost none;
	static const uint64_t pairs[2];

	for (int power = 0; power < 63; power++)
		for (int off = -1; off <= 1; off++) {
			uint64_t v = ((uint64_t)1 << power) + (uint64_t)off;
			uint32_t *h = tach__histograms_make(1);
			struct tach_bucket b;

			tach__histograms_add(h, &v, &none, 0, pairs, 1);
			CHECK(tach__histogram_buckets(h, 0, &b, 1) == 1 && b.count == 1 &&
				      b.low <= (double)v && (double)v <= b.high,
			      "%llu in %g .. %g", (unsigned long long)v, b.low, b.high);
			tach__histograms_free(h, 1);
		}
}

/*
 * A full bucket neither wraps nor carries into its neighbour, by an entry or by adding another
 * thread's bucket.
 */
static void a_full_bucket_stays_full(void)
{
	static const struct tach__entry_cost none;
	static const uint64_t pairs[2];
	uint32_t *h = tach__histograms_make(1), *other = tach__histograms_make(1);
	static const uint64_t value[] = {5, 6}; /* each value has its own bucket */
	struct tach_bucket b[3];

	h[5] = UINT32_MAX - 1;
	for (int i = 0; i < 3; i++) {
		tach__histograms_add(h, &value[0], &none, 0, pairs, 1);
		CHECK(h[5] == UINT32_MAX && h[4] == 0 && h[6] == 0, "%#x %#x %#x", h[4], h[5],
		      h[6]);
	}
	tach__histograms_add(h, &value[1], &none, 0, pairs, 1);
	CHECK(h[5] == UINT32_MAX && h[6] == 1 && h[7] == 0);
	other[5] = 7;
	other[6] = UINT32_MAX - 1;
	tach__histograms_merge(h, other, 1);
	CHECK(tach__histogram_buckets(h, 0, b, 3) == 2);
	CHECK(b[0].low == 5 && b[0].count == UINT32_MAX && b[1].low == 6 &&
	      b[1].count == UINT32_MAX);
	tach__histograms_free(h, 1);
	tach__histograms_free(other, 1);
}

static void warm_up_is_left_out(void)
{
	begin(1, (struct tach_regions_options){.warmup = 5});
	for (int i = 0; i < 20; i++)
		leaf(i < 5 ? 1000000 : 10);
	IS("leaf", 1, TACH_PART_INCLUSIVE, 150);
	CHECK(info.entries == 20 && info.calls == 15 && info.excluded == 5);
}

/* A value that was not measured differs from a measured 0. */
static void not_measured_is_said(void)
{
	static const enum tach_format formats[] = {TACH_FORMAT_TEXT, TACH_FORMAT_HTML};

	begin(1, (struct tach_regions_options){.warmup = 5});
	for (int i = 0; i < 3; i++)
		leaf(10);
	CHECK(look("leaf") >= 0 && info.entries == 3 && info.calls == 0);
	for (size_t i = 0; i < 2; i++) {
		struct tach_report_options opt = {.format = formats[i]};
		FILE *f = tmpfile();
		char *text = calloc(1, 1 << 20);

		CHECK(tach_report_fd(shot, &opt, fileno(f), NULL) == 0);
		rewind(f);
		CHECK(fread(text, 1, (1 << 20) - 1, f) > 0);
		CHECK(strstr(text, "not measured") && !strstr(text, "exact<"), "%s", text);
		if (opt.format == TACH_FORMAT_TEXT)
			CHECK(strstr(text, "leaf        0     - ") &&
				      strstr(text, "not measured, 3 in warm-up") &&
				      !strstr(text, "exact"),
			      "%s", text);
		free(text);
		fclose(f);
	}
}

/* The library frees the set that it was given, so it must refuse the same set a second time. */
static void a_set_is_given_once(void)
{
	struct tach_regions_options opt = {.set = fake_set(1)};
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_INVAL &&
		      strstr(err.text, "already owns this set") != NULL,
	      "%s", err.text);
	leaf(10);
	IS("leaf", 1, TACH_PART_INCLUSIVE, 10);
}

static void a_list_too_long_is_refused(void)
{
	char globs[1026];
	struct tach_regions_options opt = {.events = "", .only = globs};
	struct tach_error err = TACH_ERROR_INIT;

	memset(globs, 'a', sizeof globs);
	globs[1024] = '\0';
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_TOOMANY, "%s", err.text);
	globs[1023] = '\0';
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
}

/* Sparse mode that measures the same entries in every run. */
static void begin_sparse(int members, uint32_t sparse)
{
	begin(members, (struct tach_regions_options){.sparse = sparse});
	TACH_START(seeding);
	TACH_STOP(seeding);
	random_uniform();
	tach__self->record->random = random_seed;
}

/*
 * Costs that repeat with period 10: measuring exactly every 10th entry would see only one of
 * them.
 */
static void sparse_does_not_alias(void)
{
	const int n = 200000;
	struct tach_value v;

	begin_sparse(1, 10);
	for (int i = 0; i < n; i++)
		leaf(i % 10 == 3 ? 10000 : 0);
	v = value("leaf", 1, TACH_PART_INCLUSIVE);
	/* The mean of about n / 10 draws of 10000 with probability 1/10: 5 sigma are 11 %. */
	CHECK(fabs(v.value / (n / 10 * 10000.0) - 1) < 0.11, "%g", v.value);
	CHECK(info.entries == (uint64_t)n);
	CHECK(fabs((double)info.calls / (n / 10.0) - 1) < 0.05, "%d", (int)info.calls);
	CHECK(info.calls + info.skipped == (uint64_t)n);
}

/* Other code runs before every second entry, which makes that entry's first read(2) slow. */
static void sparse_knows_what_its_entries_cost(void)
{
	for (uint32_t sparse = 2; sparse <= 64; sparse *= 2) {
		const int n = 20000;
		struct tach_value v;

		begin_sparse(2, sparse);
		for (int i = 0; i < n; i++) {
			fake_cold = i % 2 ? 500 : 0;
			leaf(10);
		}
		fake_cold = 0;
		v = value("leaf", 1, TACH_PART_INCLUSIVE);
		CHECK(fabs(v.value - n * 10.0) < 0.5 && v.error < 1, "1 in %u: %g +- %g",
		      sparse, v.value, v.error);
	}
}

/* Nested entries, measured or not, add no cost to the enclosing region. */
static void sparse_costs_the_regions_around_nothing(void)
{
	struct tach_value v;

	begin_sparse(1, 3);
	for (int i = 0; i < 3000; i++) {
		TACH_START(sparse_outer);
		work(5);
		for (int k = 0; k < 4; k++)
			leaf(7);
		TACH_STOP(sparse_outer);
	}
	v = value("sparse_outer", 1, TACH_PART_INCLUSIVE);
	CHECK(fabs(v.value - 3000 * 33.0) < 0.5, "%g +- %g", v.value, v.error);
	v = value("sparse_outer", 1, TACH_PART_SELF);
	/* The cost of skipped entries belongs to this region's work. */
	CHECK(v.value > 3000 * 5 && v.value < 3000 * 33, "%g", v.value);
	v = value("leaf", 1, TACH_PART_INCLUSIVE);
	CHECK(fabs(v.value - 12000 * 7.0) < 0.5, "%g", v.value);
}

static uint64_t by_entries_passed_over(void)
{
	return tach__self->record ? 3 * tach__self->record->passed : 0;
}

/* The cost of a skipped entry is measured, and subtracted from the enclosing regions. */
static void sparse_takes_out_what_passing_over_costs(void)
{
	fake_more = by_entries_passed_over;
	sparse_costs_the_regions_around_nothing();
	CHECK(tach__self->record->overhead.passed[0][1] == 3, "%g",
	      tach__self->record->overhead.passed[0][1]);
	fake_more = NULL;
}

/* The interval covers 95 %, in 300 runs with exponentially distributed entries. */
static void sparse_intervals_cover_the_truth(void)
{
	static const uint32_t one_in[] = {4, 16, 64};
	enum { RUNS = 300, ENTRIES = 2000 };

	for (size_t s = 0; s < sizeof one_in / sizeof *one_in; s++) {
		int covered = 0;
		double width = 0;

		for (int run = 0; run < RUNS; run++) {
			double truth = 0;
			struct tach_value v;

			begin_sparse(1, one_in[s]);
			for (int i = 0; i < ENTRIES; i++) {
				int n = (int)(-1000 * log(1 - random_uniform()));

				truth += n;
				leaf(n);
			}
			v = value("leaf", 1, TACH_PART_INCLUSIVE);
			covered += fabs(v.value - truth) <= v.error;
			width += v.error / truth / RUNS;
		}
		printf("# 1 in %u of %d: %.1f %% covered, +- %.1f %%\n", one_in[s], ENTRIES,
		       100.0 * covered / RUNS, 100 * width);
		CHECK(covered >= RUNS * 93 / 100, "1 in %u: %d of %d", one_in[s], covered,
		      RUNS);
	}
}

static void provenance_is_counted(void)
{
	begin(1, (struct tach_regions_options){0});
	leaf(10);
	{
		TACH_START(cut);
		fake_missing += 5000;
		TACH_STOP(cut);
	}
	{
		TACH_START(dead);
		fake_read_empty = 1;
		TACH_STOP(dead);
		fake_read_empty = 0;
	}
	CHECK(look("cut") >= 0 && info.provenance[1] == 1);
	CHECK(value("cut", 1, TACH_PART_INCLUSIVE).flags & TACH_FLAG_INCOMPLETE);
	CHECK(look("dead") >= 0 && info.provenance[5] == 1);
	CHECK(value("dead", 1, TACH_PART_INCLUSIVE).flags & TACH_FLAG_LOST);
	CHECK(value("dead", 1, TACH_PART_INCLUSIVE).raw == 0);
	CHECK(value("leaf", 1, TACH_PART_INCLUSIVE).flags == TACH_FLAG_SYSCALL);
}

static void too_small_is_marked(void)
{
	begin(1, (struct tach_regions_options){0});
	leaf(0);
	/* There is no chance here: an empty region shows 0, without error. */
	CHECK(value("leaf", 1, TACH_PART_INCLUSIVE).value == 0);
	for (int i = 0; i < 100; i++) {
		TACH_START(nothing);
		TACH_STOP(nothing);
	}
	struct tach_value v = value("nothing", TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE);
	struct tach_counts counts = {0};
	tach_snapshot_counts(shot, &counts);
	CHECK(v.error * counts.clock_hz / 1e9 > 9.99,
	      "100 calls: ten ticks at least, not %g ns", v.error);
	CHECK(v.value > v.error || v.raw == v.overhead || (v.flags & TACH_FLAG_SMALL),
	      "%g above %g", v.value, v.error);
}

static void *unopened_main(void *arg)
{
	fake_open_error = EMFILE;
	TACH_START(unopened);
	for (volatile int i = 0; i < 1000; i++) /* a clock may stand still for 10 ns */
		;
	TACH_STOP(unopened);
	fake_open_error = 0;
	return arg;
}

static void a_thread_that_cannot_open_has_the_clock(void)
{
	struct tach_counts counts = {0};
	pthread_t thread;

	begin(1, (struct tach_regions_options){0});
	pthread_create(&thread, NULL, unopened_main, NULL);
	pthread_join(thread, NULL);
	CHECK(look("unopened") >= 0 && info.calls == 1 && info.provenance[5] == 1);
	CHECK(value("unopened", TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE).raw > 0);
	CHECK(value("unopened", 1, TACH_PART_INCLUSIVE).flags & TACH_FLAG_LOST);
	tach_snapshot_counts(shot, &counts);
	CHECK(counts.unopened == 1);
	CHECK(strstr(tach_snapshot_missing(shot), "1 thread") != NULL, "%s",
	      tach_snapshot_missing(shot));
}

/*
 * The set is changed while another region of the thread is open: the thread changes after that
 * region.
 */
static void *change_set(void *arg)
{
	begin(3, (struct tach_regions_options){0});
	return arg;
}

static void sets_are_exchanged_outside_regions(void)
{
	pthread_t thread;

	begin(1, (struct tach_regions_options){0});
	leaf(1);
	{
		TACH_START(holding);
		CHECK(tach_regions_configure(NULL, NULL) == TACH_ERR_STATE);
		pthread_create(&thread, NULL, change_set, NULL);
		pthread_join(thread, NULL);
		fake_members = 1; /* number of members that the thread has open */
		leaf(1);
		CHECK(tach__self->count == 1);
		TACH_STOP(holding);
	}
	fake_members = 3;
	CHECK(look("leaf") < 0, "sums start from zero");
	leaf(5);
	CHECK(tach__self->count == 3);
	IS("leaf", 3, TACH_PART_INCLUSIVE, 15);
	CHECK(look("holding") < 0);
}

/*
 * A writer that stops in the middle of a slot: the snapshot shows values that were consistent
 * at an earlier time.
 */
static void a_stuck_writer_is_stale(void)
{
	struct tach__slot *slot;

	begin(1, (struct tach_regions_options){0});
	leaf(20);
	leaf(20);
	slot = slot_with(2);
	IS("leaf", 1, TACH_PART_INCLUSIVE, 40);
	leaf(20);
	slot->seq++;
	tach__part(slot, 1, 0)->sum[1] += 12345;
	CHECK(value("leaf", 1, TACH_PART_INCLUSIVE).value == 40);
	CHECK(value("leaf", 1, TACH_PART_INCLUSIVE).flags & TACH_FLAG_STALE);
	tach__part(slot, 1, 0)->sum[1] -= 12345;
	slot->seq++;
	IS("leaf", 1, TACH_PART_INCLUSIVE, 60);
	CHECK(!(value("leaf", 1, TACH_PART_INCLUSIVE).flags & TACH_FLAG_STALE));
	/* No consistent copy of this slot exists: its values are shown and flagged. */
	begin(1, (struct tach_regions_options){0});
	leaf(20);
	slot = slot_with(1);
	slot->seq++;
	CHECK(look("leaf") >= 0 && info.calls == 1);
	CHECK(value("leaf", 1, TACH_PART_INCLUSIVE).flags & TACH_FLAG_STALE);
	slot->seq++;
}

/* Both sets together need more counters than the PMU has, so the old set is closed first. */
static void exchanged_sets_need_no_second_room(void)
{
	struct tach_regions_options opt = {.events = "cycles, instructions"};
	struct tach_error err = TACH_ERROR_INIT;

	begin(2, (struct tach_regions_options){0});
	leaf(20);
	fake_room = fake_opens - fake_closes;
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	leaf(20);
	CHECK(look("leaf") >= 0 && info.calls == 1 && info.provenance[5] == 0);
	IS("leaf", 1, TACH_PART_INCLUSIVE, 20);
	fake_room = 0;
}

/* On a machine without a PMU, the default events must not need a system call at every edge. */
static void without_a_pmu_the_clock_is_the_default(void)
{
	struct tach_regions_options named = {.events = "page-faults"};
	int reads;

	tach__sys = fake_sys;
	fake_no_pmu = 1;
	CHECK(tach_regions_configure(NULL, NULL) == 0);
	leaf(10);
	reads = fake_reads;
	for (int i = 0; i < 100; i++)
		leaf(10);
	CHECK(fake_reads == reads, "%d reads", fake_reads - reads);
	CHECK(look("leaf") >= 0 && info.calls == 101 && info.provenance[2] == 0);
	CHECK(tach_snapshot_nquantities(shot) == 1, "%d quantities",
	      tach_snapshot_nquantities(shot));
	CHECK(strstr(tach_snapshot_missing(shot), "No hardware counters: ") &&
		      strstr(tach_snapshot_missing(shot), "TACH_EVENTS=page-faults"),
	      "%s", tach_snapshot_missing(shot));
	fake_members = 1;
	CHECK(tach_regions_configure(&named, NULL) == 0);
	leaf(10);
	CHECK(look("leaf") >= 0 && tach_snapshot_nquantities(shot) == 2 && fake_reads > reads);
	fake_no_pmu = 0;
}

/* Other programs use some counters, or the host provides fewer. */
static void as_many_usual_events_as_fit_are_counted(void)
{
	tach__sys = fake_sys;
	fake_members = 2;
	fake_room = fake_opens - fake_closes + 2;
	CHECK(tach_regions_configure(NULL, NULL) == 0);
	leaf(10);
	CHECK(look("leaf") >= 0 && info.calls == 1 && info.provenance[5] == 0);
	CHECK(tach_snapshot_nquantities(shot) == 3, "%d", tach_snapshot_nquantities(shot));
	CHECK(strstr(tach_snapshot_missing(shot), "Only the first 2 of the 4 usual events"),
	      "%s", tach_snapshot_missing(shot));
	fake_room = 0;
}

int main(void)
{
	CASE(nested_costs_are_taken_out);
	CASE(recursion);
	CASE(threads_live_and_ended);
	CASE(histograms_know_the_tail);
	CASE(histograms_have_the_cost_taken_out);
	CASE(histograms_end_with_their_sums);
	CASE(a_value_lies_in_its_bucket);
	CASE(a_full_bucket_stays_full);
	CASE(warm_up_is_left_out);
	CASE(not_measured_is_said);
	CASE(a_set_is_given_once);
	CASE(a_list_too_long_is_refused);
	CASE(sparse_knows_what_its_entries_cost);
	CASE(sparse_costs_the_regions_around_nothing);
	CASE(sparse_intervals_cover_the_truth);
	CASE(sparse_takes_out_what_passing_over_costs);
	CASE(sparse_does_not_alias);
	CASE(provenance_is_counted);
	CASE(too_small_is_marked);
	CASE(a_thread_that_cannot_open_has_the_clock);
	CASE(sets_are_exchanged_outside_regions);
	CASE(exchanged_sets_need_no_second_room);
	CASE(a_stuck_writer_is_stale);
	CASE(without_a_pmu_the_clock_is_the_default);
	CASE(as_many_usual_events_as_fit_are_counted);
	tach_snapshot_free(shot);
	return check_done();
}
