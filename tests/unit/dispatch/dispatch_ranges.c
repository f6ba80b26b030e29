/* SPDX-License-Identifier: MIT */
/*
 * ia64 address ranges: the test finds the addresses that the debug registers match, one by one
 * like the hardware, and compares them with the request and the stated excess.
 */
#include <string.h>
#include <tach/dispatch.h>
#include <tach/error.h>
#include <tach/pmu.h>
#include "tests/check.h"

enum { ROUNDS = 30000, PROBES = 24 };

#define ADDRESS 0x00ffffffffffffffull

static uint64_t seed = 1;

static uint64_t rnd64(void)
{
	uint64_t high;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	high = seed >> 32;
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return high << 32 | seed >> 32;
}

static uint64_t rnd(uint64_t n)
{
	return rnd64() % n;
}

/* A request: one of three PMU models, ranges of code or data, and events that permit ranges. */
struct question {
	const char *pmu;
	int code; /* else data */
	struct tach_dispatch in;
	struct tach_dispatch_event events[4];
	struct tach_dispatch_ia64 ia64;
	struct tach_dispatch_ranges *ranges;
	int n;
};

static const char *const retired[3][4] = {
	{"IA64_TAGGED_INST_RETIRED_PMC8", "IA64_TAGGED_INST_RETIRED_PMC9"},
	{"IA64_TAGGED_INST_RETIRED_IBRP0_PMC8", "IA64_TAGGED_INST_RETIRED_IBRP1_PMC9",
	 "IA64_TAGGED_INST_RETIRED_IBRP2_PMC8", "IA64_TAGGED_INST_RETIRED_IBRP3_PMC9"},
	{"IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33", "IA64_TAGGED_INST_RETIRED_IBRP1_PMC34_35",
	 "IA64_TAGGED_INST_RETIRED_IBRP2_PMC32_33", "IA64_TAGGED_INST_RETIRED_IBRP3_PMC34_35"},
};
static const char *const models[] = {"itanium", "itanium2", "montecito"};

static void add(struct question *q, const char *name)
{
	CHECK(tach_dispatch_find(q->in.pmu, 0, name, &q->events[q->in.nevents++], NULL) == 0,
	      "%s has no %s", q->pmu, name);
}

/*
 * Sizes of all magnitudes; some sizes and some starts are aligned, and some ranges are within a
 * page.
 */
static void make_range(struct question *q, struct tach_dispatch_range *r)
{
	uint64_t unit = q->code ? 16 : 1, size;

	size = (1 + rnd(1ull << (1 + rnd(40)))) * unit;
	if (rnd(3) == 0)
		size = unit << rnd(30);
	r->start = (rnd(8) << 61) + (rnd(1ull << (4 + rnd(50))) & ~(unit - 1));
	if (rnd(3) == 0)
		r->start &= ~(size - 1);
	if (rnd(3) == 0) { /* fine mode: in one page */
		r->start = (r->start & ~0xfffull) + rnd(200) * 16;
		size = (1 + rnd(50)) * 16;
	}
	r->start &= ~(unit - 1);
	r->end = r->start + size;
	r->privilege = rnd(4) ? 0 : 1 + (uint32_t)rnd(15);
}

static void make(struct question *q)
{
	int model = (int)rnd(3);

	memset(q, 0, sizeof *q);
	q->pmu = models[model];
	q->code = (int)rnd(2);
	q->in.pmu = tach_pmu_find(q->pmu);
	q->in.privilege = 1 + (uint32_t)rnd(15);
	q->in.events = q->events;
	q->in.ia64 = &q->ia64;
	q->ia64.size = sizeof q->ia64;
	q->ia64.fine_32 = (uint32_t)rnd(2);
	q->ranges = q->code ? &q->ia64.code : &q->ia64.data;
	q->ranges->used = 1;
	q->ranges->flags = (uint32_t)rnd(4); /* inverse: no fine mode */
	q->n = 1 + (rnd(3) ? 0 : (int)rnd(4));
	for (int i = 0; i < q->n; i++)
		make_range(q, &q->ranges->range[i]);
	if (!q->code)
		return; /* without events, code and data ranges are free */
	if (rnd(2))
		for (int i = 0; i < 4 && retired[model][i]; i++)
			add(q, retired[model][i]);
	else
		add(q, model ? "IA64_INST_RETIRED" : "IA64_TAGGED_INST_RETIRED_PMC8");
}

/* ---- the hardware's matching ---- */

static int pair_matches(const struct tach_ranges_used *used, uint32_t j, uint64_t address)
{
	uint64_t mask = used->registers[j + 1].value | ~ADDRESS;

	return (address & mask) == (used->registers[j].value & mask);
}

/*
 * Fine mode: pair n holds the first bundle, pair n + 2 the last; the mask is that of the page.
 */
static int fine_matches(const struct tach_ranges_used *used, uint32_t j, uint64_t address)
{
	return pair_matches(used, j, address) && address >= used->registers[j].value &&
	       address < used->registers[j + 2].value + 16;
}

static int is_counted(const struct tach_ranges_used *used, int fine, uint64_t address)
{
	for (uint32_t j = 0; j < used->nregisters; j += fine ? 4 : 2)
		if (fine ? fine_matches(used, j, address) : pair_matches(used, j, address))
			return 1;
	return 0;
}

/* Returns true if the address is in a requested range or in its stated excess. */
static int is_due(const struct question *q, const struct tach_ranges_used *used,
		  uint64_t address)
{
	for (int i = 0; i < q->n; i++)
		if (address - (q->ranges->range[i].start - used->excess[i].before) <
		    q->ranges->range[i].end + used->excess[i].after -
			    (q->ranges->range[i].start - used->excess[i].before))
			return 1;
	return 0;
}

/* Returns the first or last address of a range or of its excess, or any address inside. */
static uint64_t probe(const struct question *q, const struct tach_ranges_used *used)
{
	int i = (int)rnd((uint64_t)q->n);
	const struct tach_dispatch_range *r = &q->ranges->range[i];

	switch (rnd(6)) {
	case 0:
		return r->start - used->excess[i].before;
	case 1:
		return r->start - used->excess[i].before - 1;
	case 2:
		return r->end + used->excess[i].after - 1;
	case 3:
		return r->end + used->excess[i].after;
	default:
		return r->start + rnd(r->end - r->start);
	}
}

static long coarse_seen, fine_seen, inexact_seen, refused_seen;

static void check_addresses(const struct question *q, const struct tach_dispatch_out *out)
{
	const struct tach_ranges_used *used = q->code ? &out->code : &out->data;
	int fine = q->code && out->code_fine, missed = 0;

	for (int k = 0; k < PROBES; k++) {
		uint64_t address = probe(q, used);
		int counted = is_counted(used, fine, address);
		int due = is_due(q, used, address);

		missed += due && !counted;
		CHECK(used->inexact || due || !counted,
		      "%s: 0x%llx is counted and was not asked for", q->pmu,
		      (unsigned long long)address);
	}
	CHECK(!missed || used->inexact, "%s: %d of %d addresses are missed", q->pmu, missed,
	      PROBES);
	*(used->inexact ? &inexact_seen : fine ? &fine_seen : &coarse_seen) += 1;
}

static void check_fine(const struct question *q, const struct tach_dispatch_out *out)
{
	int by_two = strcmp(q->pmu, "montecito") == 0 || q->ia64.fine_32;

	CHECK(!(q->ranges->flags & TACH_RANGE_NOFINE) && q->n <= 2);
	for (int i = 0; i < q->n; i++)
		CHECK(out->code.excess[i].before <= (by_two ? 16u : 0u) &&
			      out->code.excess[i].after <= (by_two ? 16u : 0u),
		      "%s: more than a bundle beyond a fine range", q->pmu);
}

/* Checks the levels in the masks, and the pairs in use, in the PMC that enables them. */
static void check_registers(const struct question *q, const struct tach_dispatch_out *out)
{
	const struct tach_ranges_used *used = q->code ? &out->code : &out->data;
	int montecito = strcmp(q->pmu, "montecito") == 0;
	uint32_t switches = q->code ? montecito ? 38 : 14 : montecito ? 41 : 13;
	uint64_t value = 0, pairs = 0;

	for (uint32_t j = 0; j < used->nregisters; j += 2) {
		uint64_t privilege = used->registers[j + 1].value >> 56;
		int known = privilege == q->in.privilege;

		for (int i = 0; i < q->n; i++)
			known |= privilege == q->ranges->range[i].privilege;
		CHECK(known, "%s: privilege 0x%llx", q->pmu, (unsigned long long)privilege);
		CHECK(used->registers[j].number % 2 == 0 &&
		      used->registers[j + 1].number == used->registers[j].number + 1);
		pairs |= 1ull << used->registers[j].number / 2;
	}
	if (strcmp(q->pmu, "itanium") == 0)
		return;
	for (uint32_t k = 0; k < out->npmcs; k++)
		if (out->pmcs[k].number == switches)
			value = out->pmcs[k].value;
	for (int pair = 0; pair < 4; pair++) {
		int on = q->code ? !(value >> (1 + 3 * pair) & 1) : value >> (45 + pair) & 1;

		CHECK(on == (int)(pairs >> pair & 1), "%s: pair %d is %s in PMC%u", q->pmu,
		      pair, on ? "on" : "off", switches);
	}
	CHECK(!q->code || (value >> 13 & 1) == out->code_fine);
}

static void matched_addresses(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct tach_dispatch_out out = {.size = sizeof out};
		struct question q;
		int rc;

		make(&q);
		rc = tach_dispatch_compute(&q.in, &out, NULL);
		if (rc) {
			CHECK(rc == TACH_ERR_CODE_TOOMANY || rc == TACH_ERR_DATA_TOOMANY ||
				      rc == TACH_ERR_CODE_TOOBIG || rc == TACH_ERR_CODE_RANGE ||
				      rc == TACH_ERR_EVENTSET,
			      "%s: %s", q.pmu, tach_strerror(rc));
			refused_seen++;
			continue;
		}
		check_addresses(&q, &out);
		check_registers(&q, &out);
		if (q.code && out.code_fine)
			check_fine(&q, &out);
	}
	CHECK(coarse_seen > 5000 && fine_seen > 300 && inexact_seen > 20 &&
		      refused_seen < ROUNDS / 2,
	      "coarse %ld, fine %ld, inexact %ld, refused %ld: a lopsided test", coarse_seen,
	      fine_seen, inexact_seen, refused_seen);
}

/* A single range never lacks pairs. */
static void one_range_is_exact(void)
{
	for (int round = 0; round < 5000; round++) {
		struct tach_dispatch_out out = {.size = sizeof out};
		struct question q;

		make(&q);
		memset(&q.ranges->range[1], 0, 3 * sizeof q.ranges->range[1]);
		q.n = 1;
		if (tach_dispatch_compute(&q.in, &out, NULL) == 0)
			CHECK(!out.code.inexact && !out.data.inexact, "%s", q.pmu);
	}
}

int main(void)
{
	CASE(matched_addresses);
	CASE(one_range_is_exact);
	return check_done();
}
