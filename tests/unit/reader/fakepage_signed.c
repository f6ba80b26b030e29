/* SPDX-License-Identifier: MIT */
/* fakepage.c with sums that are sign-extended at both ends, as on arm64. */
#define TACH_MODULAR 0
#include "tests/unit/reader/fakepage.c"
