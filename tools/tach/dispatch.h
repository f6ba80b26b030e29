/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TACH_DISPATCH_H
#define TOOLS_TACH_DISPATCH_H

#include <stdio.h>
#include "tools/tach/commands.h"

int dispatch_batch(FILE *from, FILE *to);

#endif
