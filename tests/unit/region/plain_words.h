/* SPDX-License-Identifier: MIT */
/*
 * Words change as C has it on every architecture, by loads and stores that a test may take the
 * place of. Included before core/region/edges.h.
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
