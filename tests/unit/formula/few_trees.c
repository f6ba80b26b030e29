/* SPDX-License-Identifier: MIT */
/* The first trees of formula_trees.c: fast, and finds most faults. */
#define TREES 500
#include "tests/unit/formula/formula_trees.c"
