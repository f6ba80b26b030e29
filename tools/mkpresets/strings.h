/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_MKPRESETS_STRINGS_H
#define TOOLS_MKPRESETS_STRINGS_H

#include <stdint.h>
#include <stdio.h>
#include "core/base/text.h"

extern char *pool; /* what the numbers below are places in; moves when it grows */
uint32_t pooled(const char *text, size_t length);
uint32_t pooled_span(const struct tach__span *s); /* 0: an empty one */
void write_strings(FILE *out);

#endif
