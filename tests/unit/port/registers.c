/* SPDX-License-Identifier: MIT */
/* Shared code of the register dispatchers: appending registers, counters, revisions, errors. */
#include <string.h>
#include "core/port/registers.h"
#include "tests/check.h"

static void appended(void)
{
	struct tach_dispatch in = {0};
	struct tach_dispatch_out out = {0};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__dispatch d = {.in = &in, .out = &out, .err = &err};

	in.unavailable[0] = 1ull << 5;
	in.unavailable[1] = 1ull << 3;
	CHECK(tach__available(&d, 4) && !tach__available(&d, 5) && tach__available(&d, 6) &&
	      !tach__available(&d, 67) && tach__available(&d, 3) && tach__available(&d, 69));
	CHECK(tach__available_of(&d, 0xff) == 0xdf);
	in.unavailable[1] |= 1; /* sets the first bit of a word */
	CHECK(!tach__available(&d, 64) && tach__available(&d, 0));
	CHECK(tach__pmc(&d, 4, 10, 20, 30) == 0 && tach__pmc(&d, 68, 11, 21, 31) == 0);
	CHECK(tach__pmc(&d, 5, 1, 2, 3) == TACH_ERR_NOASSIGN &&
		      strcmp(err.text, "PMC5 is needed but not available") == 0 && !err.line &&
		      !err.column,
	      "%s", err.text);
	tach__pmd(&d, 7, 40, 50);
	CHECK(out.npmcs == 2 && out.pmcs[0].number == 4 && out.pmcs[0].value == 10 &&
	      out.pmcs[0].address == 20 && out.pmcs[0].alternative == 30 &&
	      out.pmcs[1].number == 68 && out.pmcs[1].value == 11);
	CHECK(out.npmds == 1 && out.pmds[0].number == 7 && out.pmds[0].value == 0 &&
	      out.pmds[0].address == 40 && out.pmds[0].alternative == 50);
	d.err = NULL;
	CHECK(tach__pmc(&d, 5, 1, 2, 3) == TACH_ERR_NOASSIGN && out.npmcs == 2);
}

/* The general counters: from the table's mask, else by libpfm-4's number, else any number. */
static void any_general(void)
{
	struct tach__pmu pmu = {0};

	CHECK(tach__any_general(&pmu) == 0x7fffffff);
	pmu.general_libpfm4 = 4;
	CHECK(tach__any_general(&pmu) == 0xf);
	pmu.general_libpfm4 = 18;
	CHECK(tach__any_general(&pmu) == 0x3ffff);
	pmu.general_mask = 0xf0;
	CHECK(tach__any_general(&pmu) == 0xf0);
}

static int bounded, from, all;

static void in_revisions(uint32_t attrs)
{
	uint64_t n = 0;
	int limited = attrs && tach__attr(attrs, TACH__A_REV, &n, NULL);
	unsigned first = n & 0xff, last = n >> 8 ? (unsigned)(n >> 8) : 0xff;

	all++;
	bounded += limited && last != 0xff;
	from += limited && last == 0xff;
	CHECK(tach__is_in_revision(attrs, 0), "where nothing is known of the CPU");
	for (unsigned revision = 1; revision < 64; revision += limited ? 1 : 21)
		CHECK(tach__is_in_revision(attrs, revision) ==
			      (!limited || (revision >= first && revision <= last)),
		      "%u of %u to %u", revision, first, last);
}

/*
 * Rows that exist in some revisions only: from the first revision to the last, or without an
 * end.
 */
static void revisions(void)
{
	for (int pmu = 0; tach__pmu_exists(pmu); pmu++) {
		if (tach__pmu_at(pmu)->flags & TACH__PMU_BOX)
			continue;
		for (uint32_t i = 0; i < tach__pmu_at(pmu)->nevents; i++) {
			const struct tach__event *row = tach__event_at(pmu, (int)i);

			in_revisions(row->attrs);
			for (int u = 0; u < row->numasks; u++)
				in_revisions(tach__umask_at(row, u)->attrs);
		}
	}
	CHECK(bounded > 0 && from > 0 && all > bounded + from, "%d bounded, %d open", bounded,
	      from);
}

int main(void)
{
	CASE(appended);
	CASE(any_general);
	CASE(revisions);
	return check_done();
}
