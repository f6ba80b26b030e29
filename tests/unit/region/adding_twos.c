/* SPDX-License-Identifier: MIT */
/* The additions of a STOP, two words at once in straight code: see adding.h. */
#include <tach/arch.h>

#undef __SANITIZE_THREAD__ /* that build uses other code: adding_words.c */
#undef TACH_BUMP
#undef TACH_BUMP_TWO
#undef TACH_COUNT
#undef TACH_PARK
#undef TACH_UNPARK
#define TACH_BUMP(word, by) (told("add", &(word)), (void)((word) += (uint64_t)(by)))
#define TACH_BUMP_TWO(one, a, two, b)                                                          \
	do {                                                                                   \
		CHECK(&(two) == &(one) + 1);                                                   \
		told("two", &(one));                                                           \
		(one) += (a);                                                                  \
		(two) += (b);                                                                  \
	} while (0)
#define TACH_COUNT(word, by, single)                                                           \
	((void)sizeof(single), told("count", &(word)), (void)((word) += (uint64_t)(by)))

#define ADD    "add"
#define COUNT  "count"
#define NESTED "nested, "
#define SUMS   "two sum[0], two around[0], "
#define LOOPED "add sum[0], add around[0], add sum[1], add around[1], "
#define SHOWN  "shown, "
#include "tests/unit/region/adding.h"
