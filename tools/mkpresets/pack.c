/* SPDX-License-Identifier: MIT */
/* Packs strings into blocks in the format of core/derived/packed.h. */
#include <stdlib.h>
#include <string.h>
#include "core/derived/packed.h"
#include "tools/mkpresets/strings.h"

enum { LEAST = TACH__PACKED_LEAST, BLOCK = TACH__PACKED_BLOCK };

static unsigned char *packed;
static size_t size;

static void put(unsigned byte)
{
	packed[size++] = (unsigned char)byte;
}

static void put_length(size_t n)
{
	if (n < 15)
		return;
	for (n -= 15; n >= 255; n -= 255)
		put(255);
	put((unsigned)n);
}

static unsigned half(size_t n)
{
	return n < 15 ? (unsigned)n : 15;
}

static void put_step(const char *plain, size_t n, size_t again, size_t distance)
{
	put(half(n) << 4 | (again ? half(again - LEAST) : 0));
	put_length(n);
	memcpy(packed + size, plain, n);
	size += n;
	if (!again)
		return;
	put(distance & 255);
	put((unsigned)distance >> 8);
	put_length(again - LEAST);
}

/* Returns the length of the longest earlier match at `at`, or 0 if a match saves nothing. */
static size_t find_repeat(const char *text, size_t at, size_t n, size_t *distance)
{
	size_t best = 0;

	for (size_t from = at; from-- > 0;) {
		size_t same = 0;

		if (at + best < n && text[from + best] != text[at + best])
			continue;
		while (at + same < n && text[from + same] == text[at + same])
			same++;
		if (same > best) {
			best = same;
			*distance = at - from;
		}
	}
	return best < LEAST ? 0 : best;
}

static void pack_text(const char *text, size_t n)
{
	size_t plain = 0, at = 0, distance = 0, later;

	while (at < n) {
		size_t again = find_repeat(text, at, n, &distance);

		/* Skip this match if the next byte has one that is longer by more than one. */
		if (again && at + 1 < n && find_repeat(text, at + 1, n, &later) > again + 1)
			again = 0;
		if (!again) {
			at++;
			continue;
		}
		put_step(text + plain, at - plain, again, distance);
		at += again;
		plain = at;
	}
	put_step(text + plain, at - plain, 0, 0);
}

void write_packed(FILE *out, const struct strings *s)
{
	size_t blocks = (s->size + BLOCK - 1) / BLOCK;

	if (blocks > TACH__PACKED_BLOCKS) {
		fputs("mkpresets: too many strings\n", stderr);
		exit(1);
	}
	/* A packed block grows by at most one byte in 255, plus two. */
	packed = malloc(s->size + s->size / 128 + 16 * blocks);
	if (!packed)
		exit(1);
	fputs("const uint32_t tach__preset_block[] = {", out);
	for (size_t b = 0; b < blocks; b++) {
		size_t left = s->size - b * BLOCK;

		fprintf(out, "%zu, ", size);
		pack_text(s->at + b * BLOCK, left < BLOCK ? left : BLOCK);
	}
	fprintf(out, "%zu};\n\nconst unsigned char tach__preset_packed[] = {", size);
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%s%u,", i % 24 ? "" : "\n\t", packed[i]);
	fprintf(out, "\n};\nconst uint32_t tach__preset_packed_size = %zu;\n", size);
}
