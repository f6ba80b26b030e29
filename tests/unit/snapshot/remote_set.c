/* SPDX-License-Identifier: MIT */
/*
 * The quantities and places of another process, with any content of its memory: sets, totals
 * and sites.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/set/set.h"
#include "tests/check.h"
#include "tests/unit/snapshot/there.h"

static int pages_fail, rows_fail; /* 1: allocations fail */
static int pages_had;		  /* number of blocks that are not freed */
static uint32_t made_sums;

static void *sim_pages_larger(const void *old, size_t old_size, size_t size)
{
	void *pages = pages_fail ? NULL : tach__pages_larger(old, old_size, size);

	pages_had += pages != NULL;
	return pages;
}

static void sim_pages_free(void *pages, size_t size)
{
	pages_had -= pages != NULL;
	tach__pages_free(pages, size);
}

/* Existing rows need no memory. */
static struct tach__row *sim_rows_at(struct tach__rows *of, uint32_t id)
{
	return rows_fail && id >= of->limit ? NULL : tach__rows_at(of, id);
}

static uint32_t *sim_histograms_make(uint32_t sums)
{
	made_sums = sums;
	return tach__histograms_make(sums);
}

#define tach__pages_larger    sim_pages_larger
#define tach__pages_free      sim_pages_free
#define tach__rows_at	      sim_rows_at
#define tach__histograms_make sim_histograms_make
#include "core/snapshot/remote_set.c"
#undef tach__rows_at

static struct tach__remote r;

static char *text(const char *of)
{
	static char all[64][64];
	static int n;
	char *at = (char *)THERE_ELSEWHERE(0) + sizeof all[0] * (size_t)(n % 64);

	strcpy(all[n % 64], of);
	there_as(at, all[n++ % 64], sizeof all[0]);
	return at;
}

static void begin(void)
{
	tach__arena_free(&r.arena);
	there_forget();
	r = there_remote();
}

/* ---- sets ---- */

static struct tach_set set;

static void make_set(void)
{
	begin();
	memset(&set, 0, sizeof set);
	there(&set, sizeof set);
	set.count = 2;
	set.member[0].name = text("a");
	set.member[0].kind = TACH_MEMBER_SOFTWARE;
	set.member[1].name = text("b");
	set.member[1].kind = TACH_MEMBER_EMULATED;
	set.interrupts = 1;
	set.corrected = 3;
	set.nmetrics = 2;
	set.metric[0] = (struct tach__metric){.name = text("m"),
					      .text = text("N0 + 10 * N1"),
					      .node = {.level = 5,
						       .scale = 100,
						       .unit = text("u"),
						       .parent = text("p"),
						       .threshold = text("t"),
						       .description = text("d")}};
	set.metric[1] = (struct tach__metric){.name = text("n"), .text = text("N1")};
}

static int take_set(struct tach_set **out)
{
	int code;

	*out = NULL;
	code = tach__remote_set(&r, &set, out);
	CHECK((code == 0) == (*out != NULL));
	return code;
}

static int takes(void)
{
	struct tach_set *out;
	int code = take_set(&out);

	tach_set_free(out);
	return code;
}

static void a_set(void)
{
	static const uint64_t n[] = {3, 4};
	struct tach_set *out;

	make_set();
	CHECK(take_set(&out) == 0);
	CHECK(out->count == 2 && strcmp(out->member[0].name, "a") == 0 &&
	      strcmp(out->member[1].name, "b") == 0 &&
	      out->member[0].kind == TACH_MEMBER_SOFTWARE &&
	      out->member[1].kind == TACH_MEMBER_EMULATED);
	/* No instructions are subtracted for interrupts. */
	CHECK(out->interrupts == 1 && out->corrected == 1);
	CHECK(out->nmetrics == 2 && strcmp(out->metric[0].name, "m") == 0 &&
	      strcmp(out->metric[0].text, "N0 + 10 * N1") == 0 &&
	      strcmp(out->metric[1].name, "n") == 0);
	CHECK(out->metric[0].node.level == 5 && out->metric[0].node.scale == 100 &&
	      strcmp(out->metric[0].node.unit, "u") == 0 &&
	      strcmp(out->metric[0].node.parent, "p") == 0 &&
	      strcmp(out->metric[0].node.threshold, "t") == 0 &&
	      strcmp(out->metric[0].node.description, "d") == 0 && !*out->metric[1].node.unit);
	CHECK(tach_formula_eval(out->metric[0].formula, n, 0, NULL) == 43 &&
	      tach_formula_eval(out->metric[1].formula, n, 0, NULL) == 4);
	tach_set_free(out);
	make_set();
	set.interrupts = 0;
	CHECK(take_set(&out) == 0 && out->interrupts == 0 && out->corrected == 2);
	tach_set_free(out);
	make_set();
	set.interrupts = -1;
	CHECK(take_set(&out) == 0 && out->interrupts == -1 && out->corrected == 0);
	tach_set_free(out);
}

/* Numbers that are accepted, and the first invalid ones. */
static void bounds_of_sets(void)
{
	static const struct {
		int count, nmetrics, interrupts, code;
	} cases[] = {
		{0, 0, -1, 0},
		{-1, 0, -1, TACH__REMOTE_AGAIN},
		{TACH_COUNTERS_MAX, 0, -1, 0},
		{TACH_COUNTERS_MAX + 1, 0, -1, TACH__REMOTE_AGAIN},
		{2, -1, -1, TACH__REMOTE_AGAIN},
		{2, TACH__METRICS_MAX, -1, 0},
		{2, TACH__METRICS_MAX + 1, -1, TACH__REMOTE_AGAIN},
		{2, 0, -2, TACH__REMOTE_AGAIN},
		{2, 0, 1, 0},
		{2, 0, 2, TACH__REMOTE_AGAIN},
		{0, 0, 0, TACH__REMOTE_AGAIN},
	};
	static const struct {
		int level, is;
	} levels[] = {{-1, 0}, {0, 0}, {1, 1}, {63, 63}, {64, 0}};
	struct tach_set *out;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		make_set();
		for (int k = 0; k < TACH_COUNTERS_MAX; k++)
			set.member[k].name = set.member[0].name;
		for (int k = 0; k < TACH__METRICS_MAX; k++)
			set.metric[k] = set.metric[1];
		set.count = cases[i].count;
		set.nmetrics = cases[i].nmetrics;
		set.interrupts = cases[i].interrupts;
		CHECK(take_set(&out) == cases[i].code, "%d", (int)i);
		CHECK(!out ||
		      (out->count == cases[i].count && out->nmetrics == cases[i].nmetrics));
		tach_set_free(out);
	}
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		make_set();
		set.metric[0].node.level = levels[i].level;
		set.metric[0].node.scale = i ? INFINITY : NAN;
		CHECK(take_set(&out) == 0 && out->metric[0].node.level == levels[i].is &&
		      out->metric[0].node.scale == 0);
		tach_set_free(out);
	}
}

static void invalid_sets_are_refused(void)
{
	static char nowhere[64] __attribute__((aligned(64)));
	const char **texts[] = {
		(const char **)&set.member[1].name, (const char **)&set.metric[0].name,
		(const char **)&set.metric[0].text, &set.metric[0].node.unit,
		&set.metric[0].node.parent,	    &set.metric[0].node.threshold,
		&set.metric[0].node.description,    (const char **)&set.metric[1].name};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		make_set();
		*texts[i] = nowhere;
		CHECK(takes() == TACH__REMOTE_AGAIN, "%d", (int)i);
	}
	/* A metric without a formula, or with an operand that does not exist. */
	make_set();
	set.metric[1].text = text("N0 +");
	CHECK(takes() == TACH__REMOTE_AGAIN);
	make_set();
	set.metric[1].text = text("N2");
	CHECK(takes() == TACH__REMOTE_AGAIN);
	make_set();
	CHECK(takes() == 0);
	for (unsigned n = there_reads; n > 0; n--) {
		make_set();
		there_fails = n;
		CHECK(takes() == -ESRCH, "%u", n);
	}
}

/* ---- totals ---- */

enum { COUNT = 2, SITES = TACH__SITE_FIRST + 4 };
static struct tach__rows rows_there, rows;
static struct tach__config config = {.count = COUNT};

static void make_rows(void)
{
	begin();
	config.worst = 0;
	tach__rows_init(&rows_there, COUNT);
	tach__rows_init(&rows, COUNT);
	tach__rows_at(&rows_there, SITES);
	rows_there.limit = SITES;
	there(rows_there.base, (size_t)SITES * rows_there.stride);
	for (uint32_t id = 0; id < SITES; id++) {
		struct tach__row *row = tach__rows_at(&rows_there, id);

		row->calls = 100 + id;
		for (int i = 0; i <= COUNT; i++)
			row->cell[i] = (struct tach__cell){.inclusive = UINT64_MAX - id,
							   .self = 10 * id + (unsigned)i,
							   .overhead = {INFINITY, 1 + i},
							   .error = {2 + i, NAN},
							   .square = i ? -INFINITY : 7,
							   .turned = {NAN, 3},
							   .crossed = {4, INFINITY}};
	}
}

static int take_rows(uint32_t nsites, int with_histograms)
{
	struct tach__remote_rows copy = {.stride = rows.stride, .count = rows.count};
	int code = tach__remote_rows_read(&r, &rows_there, nsites, &copy);

	if (!code)
		code = tach__remote_rows_own(&r, &config, &copy, &rows, with_histograms);
	tach__pages_free(copy.base, copy.size);
	return code;
}

/* Reads sites from `from` to this one only. */
static void are_rows(uint32_t to)
{
	CHECK(rows.limit >= to);
	for (uint32_t id = 0; id < rows.limit; id++) {
		struct tach__row *row = tach__rows_at(&rows, id);
		int is = id >= TACH__SITE_FIRST && id < to;

		CHECK(row->calls == (is ? 100 + id : 0), "%d", (int)id);
		for (int i = 0; is && i <= COUNT; i++) {
			const struct tach__cell *c = &row->cell[i];

			/* Sums are integers: bits that look like a NaN are valid. */
			CHECK(c->inclusive == UINT64_MAX - id &&
			      c->self == 10 * id + (unsigned)i);
			CHECK(c->overhead[0] == 0 && c->overhead[1] == 1 + i &&
			      c->error[0] == 2 + i && c->error[1] == 0 &&
			      c->square == (i ? 0 : 7) && c->turned[0] == 0 &&
			      c->turned[1] == 3 && c->crossed[0] == 4 && c->crossed[1] == 0);
		}
	}
}

static void done_rows(void)
{
	rows_there.limit = SITES;
	for (uint32_t id = 0; id < SITES; id++)
		memset(tach__rows_at(&rows_there, id), 0, rows_there.stride);
	tach__rows_free(&rows_there);
	tach__rows_free(&rows);
	CHECK(pages_had == 0, "%d", pages_had);
}

static void totals(void)
{
	make_rows();
	CHECK(take_rows(SITES + 9, 1) == 0 && there_reads == 1);
	are_rows(SITES);
	done_rows();
	make_rows();
	CHECK(take_rows(SITES - 2, 0) == 0);
	are_rows(SITES - 2);
	done_rows();
	make_rows();
	CHECK(take_rows(TACH__SITE_FIRST + 1, 0) == 0);
	are_rows(TACH__SITE_FIRST + 1);
	done_rows();
	/* None at all. */
	make_rows();
	CHECK(take_rows(TACH__SITE_FIRST, 0) == 0 && there_reads == 0 && !rows.base);
	rows_there.limit = TACH__SITE_FIRST;
	CHECK(take_rows(SITES, 0) == 0 && there_reads == 0 && !rows.base);
	done_rows();
	make_rows();
	char *base = rows_there.base;
	rows_there.base = NULL;
	CHECK(take_rows(SITES, 0) == 0 && there_reads == 0 && !rows.base);
	rows_there.base = base;
	/* Others than stated. */
	rows_there.count++;
	CHECK(take_rows(SITES, 0) == TACH__REMOTE_AGAIN && there_reads == 0);
	rows_there.count--;
	rows.stride++;
	CHECK(take_rows(SITES, 0) == TACH__REMOTE_AGAIN && there_reads == 0);
	rows.stride--;
	there_fails = 1;
	CHECK(take_rows(SITES, 0) == -ESRCH);
	done_rows();
	/* Data after the sums are unchanged. */
	make_rows();
	tach__rows_at(&rows, SITES - 1)->calls = 5;
	CHECK(take_rows(SITES - 1, 0) == 0);
	CHECK(tach__rows_at(&rows, SITES - 1)->calls == 5);
	done_rows();
}

/* The needed memory: rows up to the last accepted one. */
static void no_memory_for_rows(void)
{
	for (int more = 0; more < 2; more++) {
		make_rows();
		tach__rows_at(&rows, SITES - 1);
		rows.limit = SITES - (uint32_t)more;
		rows_fail = 1;
		CHECK(take_rows(SITES, 0) == (more ? TACH_ERR_NOMEM : 0));
		rows_fail = 0;
		rows.limit = (uint32_t)(rows.size / rows.stride);
		done_rows();
	}
	make_rows();
	pages_fail = 1;
	CHECK(take_rows(SITES, 0) == TACH_ERR_NOMEM && there_reads == 0);
	pages_fail = 0;
	done_rows();
}

/* Pointers of the other process are not used: ours are set or kept. */
static void pointers_of_rows_are_replaced(void)
{
	uint32_t *histograms = calloc(1, tach__histograms_size(COUNT + 1)), *ours;
	struct tach__worst *worst = tach__worst_make(2, COUNT + 1);
	struct tach__row *row;

	make_rows();
	config.worst = 2;
	worst->n = 1;
	tach__worst_at(worst, 0)->key = 9;
	histograms[1] = 3;
	histograms[tach__histograms_size(COUNT + 1) / 4 - 1] = 4;
	there_as(THERE_ELSEWHERE(1), histograms, tach__histograms_size(COUNT + 1));
	there_as(THERE_ELSEWHERE(2), worst, tach__worst_size(2, COUNT + 1));
	row = tach__rows_at(&rows_there, TACH__SITE_FIRST + 1);
	row->histograms = THERE_ELSEWHERE(1);
	row->worst = THERE_ELSEWHERE(2);
	CHECK(take_rows(SITES, 0) == 0);
	row = tach__rows_at(&rows, TACH__SITE_FIRST + 1);
	CHECK(!row->histograms && !row->worst && there_reads == 1);
	/* The snapshot reaches its memory limit. */
	r.memory = TACH__REMOTE_MEMORY;
	CHECK(take_rows(SITES, 1) == TACH_ERR_TOOMANY && !row->histograms);
	r.memory = TACH__REMOTE_MEMORY - tach__histograms_size(COUNT + 1);
	CHECK(take_rows(SITES, 1) == TACH_ERR_TOOMANY && row->histograms && !row->worst);
	r.memory = 0;
	CHECK(take_rows(SITES, 1) == 0 && made_sums == COUNT + 1);
	ours = row->histograms;
	CHECK(ours && ours[1] == 3 && ours[tach__histograms_size(COUNT + 1) / 4 - 1] == 4);
	CHECK(row->worst && row->worst->n == 1 && tach__worst_at(row->worst, 0)->key == 9);
	CHECK(!tach__rows_at(&rows, TACH__SITE_FIRST)->histograms &&
	      !tach__rows_at(&rows, TACH__SITE_FIRST)->worst);
	/* A second read uses the same memory; reading only rows changes nothing else. */
	histograms[1] = 5;
	CHECK(take_rows(SITES, 0) == 0 && row->histograms == ours && ours[1] == 3 &&
	      row->worst);
	CHECK(take_rows(SITES, 1) == 0 && row->histograms == ours && ours[1] == 5);
	/* The set no longer exists. */
	for (unsigned n = 2; n < 8; n++) {
		int code;

		there_reads = 0;
		there_fails = n;
		code = take_rows(SITES, 1);
		CHECK(code == (there_reads >= n ? -ESRCH : 0), "%u: %d", n, code);
	}
	done_rows();
	tach__worst_free(worst);
	free(histograms);
}

/* ---- sites ---- */

static struct tach__site site, *by_id[TACH__SITE_FIRST + 2];

static void make_site(void)
{
	begin();
	by_id[TACH__SITE_FIRST + 1] = &site;
	there(&by_id[TACH__SITE_FIRST + 1], sizeof *by_id);
	there(&site, sizeof site);
	site = (struct tach__site){.id = TACH__SITE_FIRST + 1,
				   .line = 7,
				   .fenced = 3,
				   .selected = 1,
				   .name = text("n"),
				   .file = text("f"),
				   .function = text("g"),
				   .of = text("o"),
				   .parts = {.task = text("k"), .tag = text("a")}};
	site.parts.thread = text("h");
}

static int take_site(struct tach__site *out)
{
	memset(out, 0xff, sizeof *out);
	return tach__remote_site(&r, by_id, TACH__SITE_FIRST + 1, out);
}

static void sites(void)
{
	static char nowhere[64] __attribute__((aligned(64)));
	const char **texts[] = {&site.name,	  &site.file,	   &site.function,    &site.of,
				&site.parts.task, &site.parts.tag, &site.parts.thread};
	struct tach__site out;

	make_site();
	CHECK(take_site(&out) == 0 && out.id == TACH__SITE_FIRST + 1 && out.line == 7 &&
	      out.fenced == 3 && !out.selected && !out.homes && !out.next);
	CHECK(strcmp(out.name, "n") == 0 && strcmp(out.file, "f") == 0 &&
	      strcmp(out.function, "g") == 0 && strcmp(out.of, "o") == 0 &&
	      strcmp(out.parts.task, "k") == 0 && strcmp(out.parts.tag, "a") == 0 &&
	      strcmp(out.parts.thread, "h") == 0);
	for (unsigned n = 1; n <= 2; n++) {
		make_site();
		there_fails = n;
		CHECK(take_site(&out) == -ESRCH);
	}
	make_site();
	site.id++;
	CHECK(take_site(&out) == TACH__REMOTE_AGAIN);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		make_site();
		*texts[i] = nowhere;
		CHECK(take_site(&out) == TACH__REMOTE_AGAIN, "%d", (int)i);
	}
	tach__arena_free(&r.arena);
}

int main(void)
{
	CASE(a_set);
	CASE(bounds_of_sets);
	CASE(invalid_sets_are_refused);
	CASE(totals);
	CASE(no_memory_for_rows);
	CASE(pointers_of_rows_are_replaced);
	CASE(sites);
	return check_done();
}
