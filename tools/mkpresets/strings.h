/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_MKPRESETS_STRINGS_H
#define TOOLS_MKPRESETS_STRINGS_H

#include <stdint.h>
#include <stdio.h>
#include "core/base/text.h"

/* Strings, each stored once. A list of strings is one string with NUL bytes inside. */
struct strings {
	char *at; /* storage, which moves when it grows; the offsets below refer to it */
	size_t size;
	size_t block; /* a string does not cross blocks of this size; 0: no blocks */
	struct {
		uint32_t at, length;
	} seen[1 << 16];
};

uint32_t pooled(struct strings *s, const char *text, size_t length);
uint32_t pooled_span(struct strings *s, const struct tach__span *text); /* 0: an empty one */
void write_strings(FILE *out, const struct strings *s);

/* Writes the strings packed; core/derived/packed.c unpacks them. */
void write_packed(FILE *out, const struct strings *s);

#endif
