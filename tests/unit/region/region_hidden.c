/* SPDX-License-Identifier: MIT */
/* The straight ways of START and STOP where the processor may hide its counters. */
#define HIDES 1
#include "tests/unit/region/region_straight.c"
