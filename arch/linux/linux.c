/* SPDX-License-Identifier: MIT */
/*
 * perf's own events: they belong to no machine, so there is nothing to identify, and core/
 * encodes them.
 */
#include "core/port/port.h"

const struct tach__part tach__part_linux = {.name = "linux", .native = ""};
