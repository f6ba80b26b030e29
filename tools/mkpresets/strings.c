/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "tools/mkpresets/strings.h"

static uint32_t append(struct strings *s, const char *text, size_t length)
{
	size_t at = s->size;

	if (s->block && length >= s->block) {
		fputs("mkpresets: a string is longer than a block\n", stderr);
		exit(1);
	}
	if (s->block && at % s->block + length + 1 > s->block)
		at += s->block - at % s->block;
	s->at = realloc(s->at, at + length + 1);
	if (!s->at || at > UINT32_MAX / 2)
		exit(1);
	memset(s->at + s->size, 0, at - s->size);
	memcpy(s->at + at, text, length);
	s->at[at + length] = 0;
	s->size = at + length + 1;
	return (uint32_t)at;
}

uint32_t pooled(struct strings *s, const char *text, size_t length)
{
	uint32_t hash = 2166136261u, i;

	for (size_t k = 0; k < length; k++)
		hash = (hash ^ (unsigned char)text[k]) * 16777619u;
	for (i = hash & 0xffff; s->seen[i].at || !i; i = (i + 1) & 0xffff)
		if (s->seen[i].at && s->seen[i].length == length &&
		    !memcmp(s->at + s->seen[i].at, text, length))
			return s->seen[i].at;
	s->seen[i].at = append(s, text, length);
	s->seen[i].length = (uint32_t)length;
	return s->seen[i].at;
}

uint32_t pooled_span(struct strings *s, const struct tach__span *text)
{
	return text->length ? pooled(s, text->at, text->length) : 0;
}

void write_strings(FILE *out, const struct strings *s)
{
	fputs("const char tach__preset_pool[] =", out);
	for (size_t at = 0; at < s->size; at += strlen(s->at + at) + 1) {
		fputs("\n\t\"", out);
		for (const char *c = s->at + at; *c; c++)
			fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
		fputs("\\0\"", out);
	}
	fputs(";\n\n", out);
}
