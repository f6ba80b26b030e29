/* SPDX-License-Identifier: MIT */
/* The pool: strings, each once. A list of strings is one with NUL bytes inside. */
#include <stdlib.h>
#include <string.h>
#include "tools/mkpresets/strings.h"

char *pool;
static size_t pool_size;
static struct {
	uint32_t at, length;
} seen[1 << 16];

uint32_t pooled(const char *text, size_t length)
{
	uint32_t hash = 2166136261u, i;

	for (size_t k = 0; k < length; k++)
		hash = (hash ^ (unsigned char)text[k]) * 16777619u;
	for (i = hash & 0xffff; seen[i].at || !i; i = (i + 1) & 0xffff)
		if (seen[i].at && seen[i].length == length &&
		    !memcmp(pool + seen[i].at, text, length))
			return seen[i].at;
	pool = realloc(pool, pool_size + length + 1);
	if (!pool || pool_size > UINT32_MAX / 2)
		exit(1);
	memcpy(pool + pool_size, text, length);
	pool[pool_size + length] = 0;
	seen[i].at = (uint32_t)pool_size;
	seen[i].length = (uint32_t)length;
	pool_size += length + 1;
	return seen[i].at;
}

uint32_t pooled_span(const struct tach__span *s)
{
	return s->length ? pooled(s->at, s->length) : 0;
}

void write_strings(FILE *out)
{
	fputs("const char tach__preset_pool[] =", out);
	for (size_t at = 0; at < pool_size; at += strlen(pool + at) + 1) {
		fputs("\n\t\"", out);
		for (const char *c = pool + at; *c; c++)
			fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
		fputs("\\0\"", out);
	}
	fputs(";\n\n", out);
}
