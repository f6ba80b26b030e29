/* SPDX-License-Identifier: MIT */
/* A simulated row, for tests of rows without regions. */
#ifndef TESTS_UNIT_REGION_ROWS_H
#define TESTS_UNIT_REGION_ROWS_H

#include "core/region/region.h"
#include "tests/check.h"

/* A histogram is one word here; worst entries are identified by their address. */
enum { COUNT = 2, SUMS = COUNT + 1 };
static uint32_t bins[8], sums_of;
static int nbins, no_bins, merges;
static struct tach__worst worst[4];

static uint32_t *sim_make(uint32_t sums)
{
	sums_of = sums;
	return no_bins ? NULL : &bins[nbins++];
}

static void sim_merge(uint32_t *to, const uint32_t *from, uint32_t sums)
{
	CHECK(to && from);
	merges++;
	sums_of = sums;
	*to += *from;
}

#endif
