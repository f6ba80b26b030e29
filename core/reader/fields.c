/* SPDX-License-Identifier: MIT */
/* The events of slots and of the fields of PERF_METRICS, as Linux numbers them. */
#include "core/reader/reader.h"
#include "core/reader/topdown.h"
#include "core/set/set.h"

enum { FIELDS = 8, BACKEND = 3 };

int tach__topdown_field(const struct tach__reader *r, int member)
{
	return (int)(r->set->member[member].attr.config >> 8 & (FIELDS - 1));
}

/* The first four make 255: one of them takes what rounding leaves of the other three. */
unsigned tach__topdown_steps(const struct tach__reader *r, int member)
{
	return tach__topdown_field(r, member) == BACKEND ? 3 : 1;
}
