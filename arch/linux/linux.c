/* SPDX-License-Identifier: MIT */
/*
 * perf's own events. They belong to no machine, so this file identifies no machine, and core/
 * encodes the events.
 */
#include "core/port/port.h"

const struct tach__part tach__part_linux = {.name = "linux", .native = ""};
