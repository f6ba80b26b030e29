/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TACH_DISPATCH_H
#define TOOLS_TACH_DISPATCH_H

#include <stdio.h>
#include <tach/dispatch.h>
#include "tools/tach/commands.h"

/* ---- register_names.c ---- */
enum { REGISTER_NAME_MAX = 32 };
/* The manuals' name of the register, or "" where its number is all there is; returns out. */
const char *register_name(const struct tach_register *reg, char *out, size_t size);

/* ---- dispatch_batch.c ---- */
int dispatch_batch(FILE *from, FILE *to);

#endif
