/* SPDX-License-Identifier: MIT */
/* The edges as functions, and the size of marks. */
#include "core/region/left.h"

TACH_STATIC_ASSERT(_Alignof(struct tach_region_mark) <= _Alignof(uint64_t), "malloc's will do");

size_t tach_region_mark_size(void)
{
	return sizeof(struct tach_region_mark);
}

void tach_region_begin(struct tach_site *site, struct tach_region_mark *mark)
{
	if (TACH_UNLIKELY(!site)) {
		mark->end = NULL;
		return;
	}
	tach__overtaken_check(site);
	tach__region_start(site, mark);
}

void tach_region_end(struct tach_region_mark *mark)
{
	tach__region_stop(mark);
}
