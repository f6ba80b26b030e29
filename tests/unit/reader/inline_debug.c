/* SPDX-License-Identifier: MIT */
/* inline.c with -DTACH_DEBUG: the same, and what is checked besides. */
#define TACH_DEBUG
#include "tests/unit/reader/inline.c"
