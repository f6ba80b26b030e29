/* SPDX-License-Identifier: MIT */
/* A row's fields before its cells; this row has fewer cells than the struct. */
#ifndef TESTS_UNIT_SNAPSHOT_ROW_H
#define TESTS_UNIT_SNAPSHOT_ROW_H

#include <string.h>
#include "core/region/region.h"

#define ROW_SET(row, ...)                                                                      \
	memcpy((row), &(struct tach__row){__VA_ARGS__}, offsetof(struct tach__row, cell))

#endif
