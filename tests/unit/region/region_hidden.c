/* SPDX-License-Identifier: MIT */
/* The fast paths of START and STOP on a processor that may hide its counters. */
#define HIDES 1
#include "tests/unit/region/region_straight.c"
