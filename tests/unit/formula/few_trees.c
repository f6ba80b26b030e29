/* SPDX-License-Identifier: MIT */
/* The first trees of formula_trees.c: this is fast, and finds most defects. */
#define TREES 500
#include "tests/unit/formula/formula_trees.c"
