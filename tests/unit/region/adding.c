/* SPDX-License-Identifier: MIT */
/* The additions of a STOP, with one instruction per word: see adding.h. */
#include <tach/arch.h>

#undef __SANITIZE_THREAD__ /* that build uses other code: adding_words.c */
#undef TACH_BUMP
#undef TACH_BUMP_TWO
#undef TACH_COUNT
#define TACH_BUMP(word, by) (told("add", &(word)), (void)((word) += (uint64_t)(by)))
#define TACH_COUNT(word, by, single)                                                           \
	((void)sizeof(single), told("count", &(word)), (void)((word) += (uint64_t)(by)))

#define ADD    "add"
#define COUNT  "count"
#define NESTED "nested, "
#define SUMS   "add sum[0], add around[0], add sum[1], add around[1], "
#define LOOPED SUMS
#define SHOWN  "shown, "
#include "tests/unit/region/adding.h"
