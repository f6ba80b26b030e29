/* SPDX-License-Identifier: MIT */
/* Operands of a metric as counts, and the metric's value with its error. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tach.h>
#include "core/snapshot/operands.h"
#include "core/snapshot/plain.h"
#include "tests/check.h"

static void as_counts(void)
{
	static const struct {
		double value;
		uint64_t is;
	} cases[] = {{0, 0},
		     {-1, 0},
		     {0.4, 0},
		     {0.5, 1},
		     {2.4, 2},
		     {2.5, 3},
		     {NAN, 0},
		     {0x1p62, 1ull << 62},
		     {0x1p63, 0},
		     {0x1.8p63, 0},
		     {0x1.fffffffffffffp62, 0x7ffffffffffffc00},
		     {INFINITY, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_value v = {.value = cases[i].value,
				       .raw = 7,
				       .error = 3,
				       .flags = TACH_FLAG_MIXED};
		struct tach__operands o = {.count = 2};

		tach__operands_put(&o, 1, &v);
		CHECK(o.n[1] == cases[i].is && o.raw[1] == 7 && o.error[1] == 3 &&
			      o.flags[1] == TACH_FLAG_MIXED && o.n[0] == 0,
		      "%g: %llu", v.value, (unsigned long long)o.n[1]);
		v.raw = v.value;
		v.value = 7;
		tach__operands_put(&o, 0, &v);
		CHECK(o.raw[0] == cases[i].is && o.n[0] == 7, "%g", v.raw);
	}
}

static struct tach_value derive(const char *text, struct tach_value a, struct tach_value b)
{
	struct tach_value out = {.share = 9, .flags = TACH_FLAG_LOST};
	struct tach__operands o = {.count = 2, .time = {.value = 100, .raw = 200}};
	struct tach_formula *f = NULL;

	CHECK(tach_formula_compile(text, NULL, &f, NULL) == 0, "%s", text);
	tach__operands_put(&o, 0, &a);
	tach__operands_put(&o, 1, &b);
	tach__operands_derive(&o, f, &out);
	tach_formula_free(f);
	CHECK(out.share == 0);
	return out;
}

static void derived(void)
{
	const struct tach_value a = {
		.value = 10, .raw = 16, .error = 2, .flags = TACH_FLAG_MIXED};
	const struct tach_value b = {
		.value = 4, .raw = 8, .error = 1, .flags = TACH_FLAG_SCALED};
	const struct tach_value zero = {.error = 1};
	struct tach_value v = derive("N0 - 2 * N1", a, b);

	/* 10 - 8; 16 - 16; 2 + 2 * 1: the value is not above its error. */
	CHECK(v.value == 2 && v.raw == 0 && v.overhead == -2 && v.error == 4 &&
	      v.flags == (TACH_FLAG_MIXED | TACH_FLAG_SCALED | TACH_FLAG_SMALL));
	v = derive("4 * N1 - N0", a, b);
	CHECK(v.value == 6 && v.raw == 16 && v.overhead == 10 && v.error == 6 &&
	      v.flags == (TACH_FLAG_MIXED | TACH_FLAG_SCALED | TACH_FLAG_SMALL));
	v = derive("3 * N0", a, b);
	CHECK(v.value == 30 && v.raw == 48 && v.error == 6 && v.flags == TACH_FLAG_MIXED);
	/* A negative count has the error of its absolute value. */
	v = derive("0 - N0", a, b);
	CHECK(v.value == -10 && v.flags == TACH_FLAG_MIXED);
	v = derive("N0 + N0", zero, b);
	CHECK(v.value == 0 && v.error == 2 && v.flags == TACH_FLAG_SMALL);
	v = derive("N0 + N1", (struct tach_value){.error = 0.5},
		   (struct tach_value){.value = 0});
	CHECK(v.value == 0 && v.error == 0.5 && v.flags == TACH_FLAG_SMALL);
	v = derive("N1 * 0 + 5", zero, (struct tach_value){.value = 4});
	CHECK(v.value == 5 && v.error == 0 && v.flags == 0);
	v = derive("0 * N1", zero, (struct tach_value){.value = 4});
	CHECK(v.value == 0 && v.error == 0 && v.flags == 0);
	/* The net time divides net values, the raw time divides raw values. */
	v = derive("elapsed_ns", a, b);
	CHECK(v.value == 100 && v.raw == 200 && v.overhead == 100);
	v = derive("N0 / N1", a, zero);
	CHECK(isnan(v.value) && isnan(v.raw) && v.overhead == 0 && v.error == 0 &&
		      v.flags == (TACH_FLAG_MIXED | TACH_FLAG_DIVZERO),
	      "%g +- %g, %g, %#x", v.value, v.error, v.overhead, v.flags);
}

/* Sorted by name, then by file and line. */
static void places_are_sorted_by_name_and_line(void)
{
	static const struct {
		const char *name, *file;
		uint32_t line;
	} in_order[] = {
		{"a", "f", 1}, {"a", "f", 2}, {"a", "g", 1}, {"b", "e", 0}, {"b", "f", 1}};
	static const int by_file[5][5] = {{0, -1, -1, 1, 0},
					  {1, 0, -1, 1, 1},
					  {1, 1, 0, 1, 1},
					  {-1, -1, -1, 0, -1},
					  {0, -1, -1, 1, 0}};

	for (int i = 0; i < 5; i++)
		for (int k = 0; k < 5; k++) {
			struct tach_region_info x = {.name = in_order[i].name,
						     .file = in_order[i].file,
						     .line = in_order[i].line};
			struct tach_region_info y = {.name = in_order[k].name,
						     .file = in_order[k].file,
						     .line = in_order[k].line};
			int order = tach__place_order(&x, &y), file = tach__file_order(&x, &y);

			CHECK((order > 0) - (order < 0) == (i > k) - (i < k), "%d %d", i, k);
			CHECK((file > 0) - (file < 0) == by_file[i][k], "%d %d: %d", i, k,
			      file);
		}
}

/* A metric of loaded quantities: all are operands, the time first. */
static void of_a_region(void)
{
	struct tach_value value[2][5] = {
		{{.value = 7, .raw = 8}, {.value = 2, .raw = 3}, {.value = 5, .raw = 6}},
		{{.value = 1, .raw = 1}, {.value = 20, .raw = 30}, {.value = 50, .raw = 60}}};
	struct tach__plain_region region[2] = {{.value = {NULL}},
					       {.value = {value[0], value[1]}}};
	const char *quantity[] = {"time", "a", "b"};
	struct tach__plain_metric metric[2] = {
		{.name = "sum", .text = "N0 + 10 * N1 + 100 * elapsed_ns"},
		{.name = "untold", .text = NULL}};
	struct tach__plain p = {.nquantities = 3,
				.nmetrics = 2,
				.nregions = 2,
				.quantity = quantity,
				.metric = metric,
				.region = region};
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach__plain_compile(&p, &err) == 0 && metric[0].formula && !metric[1].formula);
	tach__plain_derive(&p, 1, 0, TACH_PART_INCLUSIVE);
	tach__plain_derive(&p, 1, 0, TACH_PART_SELF);
	CHECK(value[0][3].value == 752 && value[0][3].raw == 863, "%g", value[0][3].value);
	CHECK(value[1][3].value == 620 && value[1][3].raw == 730, "%g", value[1][3].value);
	value[0][4].flags = value[1][4].flags = TACH_FLAG_LOST;
	tach__plain_derive(&p, 1, 1, TACH_PART_INCLUSIVE);
	tach__plain_derive(&p, 1, 1, TACH_PART_SELF);
	for (int part = 0; part < 2; part++)
		CHECK(isnan(value[part][4].value) && isnan(value[part][4].raw) &&
		      value[part][4].flags == 0 && value[part][4].error == 0);
	tach_formula_free(metric[0].formula);
	/* The operand is the one after the last. */
	metric[0] = (struct tach__plain_metric){.name = "beyond", .text = "N2"};
	CHECK(tach__plain_compile(&p, &err) != 0 && err.code != 0 && err.text[0]);
}

/* The maximum number of operands; one more is refused. */
static void maximum_of_operands_is_accepted(void)
{
	enum { MOST = TACH__PLAIN_QUANTITIES_MAX };
	static char name[MOST + 3][8];
	struct tach__plain p = {.nquantities = MOST, .nmetrics = 3, .nregions = 1};

	CHECK(tach__plain_allocate(&p) == 0 && tach__plain_allocate_region(&p, 0) == 0);
	for (int i = 0; i < MOST + 3; i++)
		snprintf(name[i], sizeof name[i], "q%d", i);
	for (int i = 0; i < MOST; i++)
		p.quantity[i] = name[i];
	for (int i = 0; i < 3; i++)
		p.metric[i].name = name[MOST + i];
	p.metric[0].text = "N191 + elapsed_ns";
	for (int part = 0; part < 2; part++)
		for (int q = 0; q < MOST; q++)
			p.region[0].value[part][q].value = q + 1;
	CHECK(tach__plain_compile(&p, NULL) == 0);
	tach__plain_derive(&p, 0, 0, TACH_PART_SELF);
	CHECK(p.region[0].value[1][MOST].value == MOST + 1, "%g",
	      p.region[0].value[1][MOST].value);
	tach__plain_free(&p);
}

static void arrays_have_room_for_all_quantities(void)
{
	struct tach__plain p = {.nquantities = 3, .nmetrics = 2, .nregions = 2};

	CHECK(tach__plain_allocate(&p) == 0);
	CHECK(p.quantity && p.metric && p.region && !p.quantity[2] && !p.metric[1].name);
	for (int r = 0; r < 2; r++) {
		CHECK(tach__plain_allocate_region(&p, r) == 0);
		CHECK(p.region[r].histogram && p.region[r].value[0] && p.region[r].value[1]);
		for (int part = 0; part < 2; part++)
			memset(p.region[r].value[part], 0xff,
			       5 * sizeof *p.region[r].value[part]);
		CHECK(!p.region[r].histogram[2].count && !p.region[r].histogram[2].at);
	}
	tach__plain_free(&p);
}

/* The time's error adds to the error of a rate. */
static void error_of_the_time(void)
{
	static const struct {
		const char *text;
		double error;
		uint32_t flags;
	} cases[] = {
		{"N0 / elapsed_ns", 0.2 + 0.5, TACH_FLAG_STALE | TACH_FLAG_UNBOUNDED},
		{"elapsed_ns * 3", 75, TACH_FLAG_STALE | TACH_FLAG_UNBOUNDED},
		{"N0 + 1", 20, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_value n = {.value = 200, .raw = 200, .error = 20}, out = {0};
		struct tach__operands o = {.count = 1, .time = {.value = 100, .raw = 100}};
		struct tach_formula *f = NULL;

		o.time.error = 25;
		o.time.flags = TACH_FLAG_STALE | TACH_FLAG_UNBOUNDED | TACH_FLAG_SMALL;
		CHECK(tach_formula_compile(cases[i].text, NULL, &f, NULL) == 0);
		tach__operands_put(&o, 0, &n);
		tach__operands_derive(&o, f, &out);
		CHECK(fabs(out.error - cases[i].error) < 1e-9 && out.flags == cases[i].flags,
		      "%s: %g, %#x", cases[i].text, out.error, out.flags);
		tach_formula_free(f);
	}
}

int main(void)
{
	CASE(as_counts);
	CASE(derived);
	CASE(places_are_sorted_by_name_and_line);
	CASE(of_a_region);
	CASE(maximum_of_operands_is_accepted);
	CASE(arrays_have_room_for_all_quantities);
	CASE(error_of_the_time);
	return check_done();
}
