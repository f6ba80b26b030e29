/* SPDX-License-Identifier: MIT */
/* The number of iterations, and the results of samples, with scripted times. */
#include <string.h>
#include "core/bench/bench.h"
#include "tests/check.h"

enum { MANY = 64 };

/* ns of each run; after the script's end, the last time that is not 0. */
static uint64_t bodies[MANY], empties[MANY];
static unsigned nbodies, nempties;
static uint64_t least_looked; /* the smallest number of iterations of the empty loop */

static void body(void *context, uint64_t n)
{
	(void)context;
	(void)n;
}

static void empty(void *context, uint64_t n)
{
	(void)context;
	if (n < least_looked)
		least_looked = n;
}

static uint64_t next_of(const uint64_t *script, unsigned *runs)
{
	unsigned i = *runs < MANY ? *runs : MANY - 1;

	for (++*runs; i && !script[i];)
		i--;
	return script[i];
}

static void take(struct tach__bench_source *source, tach_bench_body f, void *context,
		 uint64_t n, uint64_t *delta, uint32_t *flags)
{
	f(context, n);
	delta[0] = f == body ? next_of(bodies, &nbodies) : next_of(empties, &nempties);
	for (unsigned q = 1; q <= source->count; q++)
		delta[q] = 100 * q + delta[0];
	flags[source->count] |= f == body ? TACH_FLAG_SYSCALL : TACH_FLAG_LOST;
}

static void start(const uint64_t *of_bodies, const uint64_t *of_empties, size_t n)
{
	memset(bodies, 0, sizeof bodies);
	memset(empties, 0, sizeof empties);
	memcpy(bodies, of_bodies, n * sizeof *bodies);
	memcpy(empties, of_empties, n * sizeof *empties);
	nbodies = nempties = 0;
	least_looked = UINT64_MAX;
}

/*
 * The number grows to a fifth more than needed, at most tenfold; a run that is long enough is
 * repeated three times, and the shortest one counts.
 */
static void iterations_grow_until_they_last(void)
{
	static const struct {
		double ns;
		uint64_t body[8], empty[8];
		uint64_t n;
		unsigned runs;
	} of[] = {
		{100, {100}, {1}, 1, 3},
		{100, {12, 100}, {1}, 10, 4},
		{105, {12, 105}, {1}, 10, 4},
		{80, {12, 80}, {1}, 9, 4},
		{100, {100, 50, 100}, {1}, 3, 5},
		{100, {200, 200, 40, 200}, {1}, 4, 6},
		{100, {200, 200, 200, 40}, {1}, 1, 3},
		/* The empty loop is measured from 100,000 iterations on. */
		{100, {1}, {99}, 10000000000000, 14},
		{100, {1}, {100}, 100000, 6},
		{100, {1}, {200, 200, 99, 100}, 1000000, 7},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		for (unsigned threads = 1; threads <= 4; threads += 3) {
			struct tach__bench_source source = {
				.take = take, .threads = threads, .sums = threads > 1};
			uint64_t n;

			start(of[i].body, of[i].empty, 8);
			/*
			 * The number is equal for every thread, and includes the remainder of
			 * the division.
			 */
			for (int k = 0; threads > 1 && k < 8; k++) {
				bodies[k] = bodies[k] ? bodies[k] * threads + 3 : 0;
				empties[k] = empties[k] ? empties[k] * threads + 3 : 0;
			}
			n = tach__bench_choose(&source, body, empty, NULL, of[i].ns);
			CHECK(n == of[i].n && nbodies == of[i].runs,
			      "number %zu, %u threads: %llu in %u runs", i, threads,
			      (unsigned long long)n, nbodies);
			CHECK(least_looked == (n < 100000 ? UINT64_MAX : 100000), "%llu",
			      (unsigned long long)least_looked);
		}
}

/* A run without measurable time counts as a tenth of the goal. */
static void no_time_at_all(void)
{
	struct tach__bench_source source = {.take = take, .threads = 4};

	start((const uint64_t[]){0, 100}, (const uint64_t[]){1, 0}, 2);
	CHECK(tach__bench_choose(&source, body, empty, NULL, 100) == 10 && nbodies == 4, "%u",
	      nbodies);
}

/* Four iterations on two threads; the last quantity exists for one thread only. */
static void samples_are_differences(void)
{
	static const uint64_t of_bodies[] = {80, 56, 96}, of_empties[] = {16, 24, 8};
	static const double want[] = {8, 4, 11};
	struct tach__bench_source source = {
		.count = 2, .resolution = 6, .take = take, .threads = 2, .sums = 2};
	struct tach__bench_plan plan = {body, empty, NULL, 4, 3};
	double x[3][3];
	struct tach__bench_series s[] = {
		{.sample = x[0]}, {.sample = x[1]}, {.sample = x[2], .flags = TACH_FLAG_CLOCK}};

	start(of_bodies, of_empties, 3);
	CHECK(tach__bench_sample(&source, &plan, 5, s) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(x[0][i] == want[i] && x[1][i] == want[i] && x[2][i] == 2 * want[i],
		      "%d: %g %g %g", i, x[0][i], x[1][i], x[2][i]);
	CHECK(s[0].empty == 2 && s[1].empty == 14.5 && s[2].empty == 54, "%g %g %g", s[0].empty,
	      s[1].empty, s[2].empty);
	CHECK(s[0].resolution == 1.5 && s[1].resolution == 0 && s[2].resolution == 0);
	CHECK(s[0].samples == 3 && s[2].samples == 3 && s[0].outliers == 0);
	CHECK(s[0].flags == 0 && s[1].flags == 0 &&
		      s[2].flags == (TACH_FLAG_CLOCK | TACH_FLAG_SYSCALL | TACH_FLAG_LOST),
	      "%x %x %x", s[0].flags, s[1].flags, s[2].flags);
}

/*
 * The distances from the median are 0 1 1 1 8: the MAD is 1, and one value is more than 5 MADs
 * away.
 */
static void outliers_are_of_each_quantity(void)
{
	static const uint64_t of_bodies[] = {20, 19, 21, 19, 28},
			      of_empties[] = {10, 10, 10, 10, 10};
	struct tach__bench_source source = {.count = 1, .take = take, .threads = 1};
	struct tach__bench_plan plan = {body, empty, NULL, 1, 5};
	double x[2][5];

	for (int i = 0; i < 4; i++) {
		static const double beyond[] = {-1, 0, 5, 6};
		static const uint32_t far[] = {0, 0, 1, 0};
		struct tach__bench_series s[] = {{.sample = x[0]}, {.sample = x[1]}};

		start(of_bodies, of_empties, 5);
		CHECK(tach__bench_sample(&source, &plan, beyond[i], s) == 0);
		CHECK(s[0].outliers == far[i] && s[1].outliers == far[i], "beyond %g: %u, %u",
		      beyond[i], s[0].outliers, s[1].outliers);
	}
}

/* Arrays on the stack: one value too many would overwrite the next variable. */
static void room_for_the_most_that_there_may_be(void)
{
	int time = 1, time_of_all = 1;

	CHECK(TACH__BENCH_QUANTITIES_MAX >= time + TACH_COUNTERS_MAX + TACH__BENCH_OWN_MAX +
						    time_of_all + TACH__BENCH_THREADS_MAX);
}

int main(void)
{
	CASE(iterations_grow_until_they_last);
	CASE(no_time_at_all);
	CASE(samples_are_differences);
	CASE(outliers_are_of_each_quantity);
	CASE(room_for_the_most_that_there_may_be);
	return check_done();
}
