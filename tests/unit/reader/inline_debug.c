/* SPDX-License-Identifier: MIT */
/* inline.c with -DTACH_DEBUG: the same tests, and the additional checks. */
#define TACH_DEBUG
#include "tests/unit/reader/inline.c"
