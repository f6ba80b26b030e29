/* SPDX-License-Identifier: MIT */
/* A table of strings, and its two forms. */
#ifndef COMPAT_LIKWID_TABLE_H
#define COMPAT_LIKWID_TABLE_H

#include <stdio.h>

/* Filled column by column; the first row is the heading. */
struct lw_table {
	int columns, rows, filled;
	char **cell;
};

/* Returns 0 without memory; then lw_table_end must not be called. */
int lw_table_begin(struct lw_table *t, int columns, int rows);
void lw_table_end(struct lw_table *t);
void lw_put(struct lw_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lw_put_number(struct lw_table *t, double v);
const char *lw_at(const struct lw_table *t, int column, int row);

void lw_print_text(FILE *f, const struct lw_table *t);
/* Pads each line to this number of fields. */
void lw_print_csv(FILE *f, const struct lw_table *t, int fields);
void lw_cell_csv(FILE *f, const char *s);
void lw_commas(FILE *f, int n); /* writes n commas and ends the line */

#endif
