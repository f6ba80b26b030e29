/* SPDX-License-Identifier: MIT */
/* The first of the trees of formula_trees.c: quick, and most of what is wrong shows there. */
#define TREES 500
#include "tests/unit/formula/formula_trees.c"
