/* SPDX-License-Identifier: MIT */
/* The unit test with real counters. */
#include "tests/unit/region/region_stack.c"
