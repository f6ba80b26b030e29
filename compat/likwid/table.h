/* SPDX-License-Identifier: MIT */
/* A table of strings, and its two forms. */
#ifndef COMPAT_LIKWID_TABLE_H
#define COMPAT_LIKWID_TABLE_H

#include <stdio.h>

/* Filled column by column, whose first row is the head. */
struct lw_table {
	int columns, rows, filled;
	char **cell;
};

/* 0: no memory, and nothing to end. */
int lw_table_begin(struct lw_table *t, int columns, int rows);
void lw_table_end(struct lw_table *t);
void lw_put(struct lw_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lw_put_number(struct lw_table *t, double v);
const char *lw_at(const struct lw_table *t, int column, int row);

void lw_print_text(FILE *f, const struct lw_table *t);
/* Each line has so many fields. */
void lw_print_csv(FILE *f, const struct lw_table *t, int fields);
void lw_cell_csv(FILE *f, const char *s);
void lw_commas(FILE *f, int n); /* and the end of the line */

#endif
