/* SPDX-License-Identifier: MIT */
/* The same with real counters. */
#include "tests/unit/region/region_stack.c"
