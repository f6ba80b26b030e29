/* SPDX-License-Identifier: MIT */
/* Cells of text: comparing, splitting, numbers, and faults with their position. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "tools/mkevents/mk.h"

void mk_fault(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *at,
	      const char *format, ...)
{
	va_list args;

	mk->faults++;
	if (!mk->to)
		return;
	fprintf(mk->to, "%s:%d:%d: ", pmu->file, at->line, at->column);
	va_start(args, format);
	vfprintf(mk->to, format, args);
	va_end(args);
	fputc('\n', mk->to);
}

int mk_is(const struct mk_cell *cell, const char *text)
{
	return strlen(text) == cell->length && memcmp(cell->text, text, cell->length) == 0;
}

int mk_empty(const struct mk_cell *cell)
{
	return mk_is(cell, "-");
}

int mk_same(const struct mk_cell *a, const struct mk_cell *b)
{
	return mk_order(a, b) == 0;
}

int mk_order(const struct mk_cell *a, const struct mk_cell *b)
{
	size_t n = a->length < b->length ? a->length : b->length;
	int c = n ? strncasecmp(a->text, b->text, n) : 0;

	return c ? c : (a->length > b->length) - (a->length < b->length);
}

int mk_printable(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *line)
{
	for (size_t i = 0; i < line->length; i++)
		if ((line->text[i] < ' ' && line->text[i] != '\t') || line->text[i] > '~') {
			struct mk_cell at = *line;

			at.column += (int)i;
			mk_fault(mk, pmu, &at, "byte 0x%02x is not printable ASCII",
				 (unsigned char)line->text[i]);
			return 0;
		}
	return 1;
}

int mk_split(struct mk_cell *rest, char separator, struct mk_cell *part)
{
	const char *end;

	if (!rest->text)
		return 0;
	*part = *rest;
	end = rest->length ? memchr(rest->text, separator, rest->length) : NULL;
	if (!end) {
		rest->text = NULL;
		return 1;
	}
	part->length = (size_t)(end - rest->text);
	rest->text = end + 1;
	rest->length -= part->length + 1;
	rest->column += (int)part->length + 1;
	return 1;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

int mk_number(const struct mk_cell *cell, int base, uint64_t max, uint64_t *out)
{
	const char *p = cell->text;
	size_t n = cell->length;
	uint64_t value = 0;

	if (n > 2 && p[0] == '0' && p[1] == 'x') {
		base = 16;
		p += 2;
		n -= 2;
	}
	if (n == 0)
		return 0;
	for (; n > 0; n--, p++) {
		int d = digit_value(*p);

		if (d >= base || (uint64_t)d > max ||
		    value > (max - (uint64_t)d) / (uint64_t)base)
			return 0;
		value = value * (uint64_t)base + (uint64_t)d;
	}
	*out = value;
	return 1;
}

void *mk_alloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (!p) {
		fputs("mkevents: out of memory\n", stderr);
		exit(2);
	}
	return p;
}

void *mk_grow(void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	size_t wider = *room ? *room * 2 : 16;
	void *copy = mk_alloc(wider * size);

	if (*room)
		memcpy(copy, array, *room * size);
	free(array);
	*room = wider;
	return copy;
}
