/* SPDX-License-Identifier: MIT */
/*
 * On every architecture, words change by plain C loads and stores here, so that a test can
 * replace these. Included before core/region/edges.h.
 */
#ifndef TESTS_UNIT_REGION_PLAIN_WORDS_H
#define TESTS_UNIT_REGION_PLAIN_WORDS_H

#include <tach/arch.h>

#undef TACH_BUMP
#undef TACH_BUMP_TWO
#undef TACH_COUNT
#undef TACH_TAKE
#undef TACH_PARK
#undef TACH_UNPARK
#undef TACH_ONCE_IS_VOLATILE
#define TACH_ONCE_IS_VOLATILE 0

#endif
