/* SPDX-License-Identifier: MIT */
#include "core/port/port.h"

const struct tach__part *const tach__parts[TACH__NARCHS] = {
#define TACH__ARCH(name, NAME, cells, numbers) &tach__part_##name,
#include <archs.h>
};
