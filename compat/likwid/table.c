/* SPDX-License-Identifier: MIT */
/* Tables in likwid-perfctr's layout, as text and as CSV. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "compat/likwid/table.h"

int lw_table_begin(struct lw_table *t, int columns, int rows)
{
	*t = (struct lw_table){columns, rows, 0, NULL};
	t->cell = calloc((size_t)columns * (size_t)rows, sizeof(char *));
	return t->cell != NULL;
}

void lw_table_end(struct lw_table *t)
{
	for (int i = 0; t->cell && i < t->filled; i++)
		free(t->cell[i]);
	free(t->cell);
}

void lw_put(struct lw_table *t, const char *format, ...)
{
	va_list args;
	char *s;

	va_start(args, format);
	if (vasprintf(&s, format, args) < 0)
		s = NULL;
	va_end(args);
	t->cell[t->filled++] = s;
}

const char *lw_at(const struct lw_table *t, int column, int row)
{
	const char *s = t->cell[column * t->rows + row];

	return s ? s : "";
}

/* Prints a number like LIKWID. */
void lw_put_number(struct lw_table *t, double v)
{
	char fixed[400];

	if (isnan(v)) {
		lw_put(t, "nan");
		return;
	}
	snprintf(fixed, sizeof fixed, "%.4f", v);
	if (fabs(v) < 9e18 && v == (double)(long long)v)
		lw_put(t, "%lld", (long long)v);
	else if (strlen(fixed) < 12 && strtod(fixed, NULL) != 0)
		lw_put(t, "%s", fixed);
	else
		lw_put(t, "%e", v);
}

/* ---- out ---- */

static int width(const struct lw_table *t, int column)
{
	size_t most = 0;

	for (int row = 0; row < t->rows; row++)
		if (strlen(lw_at(t, column, row)) > most)
			most = strlen(lw_at(t, column, row));
	return (int)most;
}

static void line(FILE *f, const struct lw_table *t)
{
	for (int c = 0; c < t->columns; c++) {
		fputs("+-", f);
		for (int i = width(t, c); i > 0; i--)
			fputc('-', f);
		fputc('-', f);
	}
	fputs("+\n", f);
}

/* Words are centred, numbers are right-aligned. */
static void cell_text(FILE *f, const char *s, int room)
{
	int left = room - (int)strlen(s), behind;
	char *end;

	strtod(s, &end);
	behind = *end || end == s ? left / 2 : 0;
	fprintf(f, "| %*s%s%*s ", left - behind, "", s, behind, "");
}

void lw_print_text(FILE *f, const struct lw_table *t)
{
	line(f, t);
	for (int row = 0; row < t->rows; row++) {
		for (int c = 0; c < t->columns; c++)
			cell_text(f, lw_at(t, c, row), width(t, c));
		fputs("|\n", f);
		if (row == 0)
			line(f, t);
	}
	line(f, t);
	fputc('\n', f);
}

/* Names may contain separators of cells and lines, so they are quoted: RFC 4180. */
void lw_cell_csv(FILE *f, const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		fputs(s, f);
		return;
	}
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

void lw_commas(FILE *f, int n)
{
	while (n-- > 0)
		fputc(',', f);
	fputc('\n', f);
}

void lw_print_csv(FILE *f, const struct lw_table *t, int fields)
{
	for (int row = 0; row < t->rows; row++) {
		for (int c = 0; c < t->columns; c++) {
			if (c)
				fputc(',', f);
			lw_cell_csv(f, lw_at(t, c, row));
		}
		lw_commas(f, fields - t->columns);
	}
}
