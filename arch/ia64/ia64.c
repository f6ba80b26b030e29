/* SPDX-License-Identifier: MIT */
#include "core/port/port.h"

const struct tach__part tach__part_ia64 = {
	.name = "ia64",
	.native = "ia64",
	.cpus = tach__ia64_cpus,
	.encode = tach__ia64_encode,
};
