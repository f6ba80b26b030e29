/* SPDX-License-Identifier: MIT */
/* Data of loaded and merged snapshots. */
#include <math.h>
#include <string.h>
#include "core/snapshot/operands.h"
#include "core/base/error.h"
#include "core/snapshot/plain.h"
#include "core/snapshot/snapshot.h"

void tach__plain_free_pages(struct tach__plain *plain)
{
	tach__pages_free(plain->pages, plain->pages_size);
	tach__pages_free(plain->more_pages, plain->more_size);
}

void tach__plain_free(struct tach__plain *plain)
{
	for (int m = 0; plain->metric && m < plain->nmetrics; m++)
		tach_formula_free(plain->metric[m].formula);
	tach__arena_free(&plain->arena);
	tach__plain_free_pages(plain);
}

int tach__plain_allocate(struct tach__plain *s)
{
	size_t q = (size_t)s->nquantities, m = (size_t)s->nmetrics, r = (size_t)s->nregions;

	s->quantity = tach__arena_get(&s->arena, q * sizeof *s->quantity);
	s->metric = tach__arena_get(&s->arena, m * sizeof *s->metric);
	s->region = tach__arena_get(&s->arena, r * sizeof *s->region);
	return s->quantity && s->metric && s->region ? 0 : TACH_ERR_NOMEM;
}

int tach__plain_allocate_region(struct tach__plain *s, int region)
{
	size_t q = (size_t)s->nquantities, n = q + (size_t)s->nmetrics;
	struct tach__plain_region *r = &s->region[region];

	r->histogram = tach__arena_get(&s->arena, q * sizeof *r->histogram);
	for (int part = 0; part < 2; part++)
		r->value[part] = tach__arena_get(&s->arena, n * sizeof *r->value[part]);
	return r->histogram && r->value[0] && r->value[1] ? 0 : TACH_ERR_NOMEM;
}

/* Returns a name that occurs twice, which is an error: each region would have its values
 * twice. */
static const char *find_duplicate_name(const struct tach__plain *s)
{
	for (int i = 0; i < s->nquantities; i++)
		for (int j = 0; j < i; j++)
			if (strcmp(s->quantity[i], s->quantity[j]) == 0)
				return s->quantity[i];
	for (int i = 0; i < s->nmetrics; i++)
		for (int j = 0; j < i; j++)
			if (strcmp(s->metric[i].name, s->metric[j].name) == 0)
				return s->metric[i].name;
	return NULL;
}

int tach__plain_compile(struct tach__plain *s, struct tach_error *err)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	const char *twice = find_duplicate_name(s);

	if (twice)
		return tach__error(
			err, TACH_ERR_SYNTAX, 0, 0,
			"two quantities, or two metrics, of the report are called '%.100s'",
			twice);
	opt.noperands = s->nquantities - 1;
	for (int m = 0; m < s->nmetrics; m++) {
		int code = 0;

		if (s->metric[m].text)
			code = tach_formula_compile(s->metric[m].text, &opt,
						    &s->metric[m].formula, err);
		if (code)
			return code;
	}
	return 0;
}

int tach__file_order(const struct tach_region_info *x, const struct tach_region_info *y)
{
	int order = strcmp(x->file, y->file);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

int tach__place_order(const struct tach_region_info *x, const struct tach_region_info *y)
{
	int order = strcmp(x->name, y->name);

	return order ? order : tach__file_order(x, y);
}

void tach__plain_derive(struct tach__plain *s, int region, int metric, enum tach_part part)
{
	struct tach_value *v = s->region[region].value[part];
	struct tach_value *result = &v[s->nquantities + metric];
	struct tach__operands o = {.count = (uint32_t)s->nquantities - 1,
				   .time = v[TACH_QUANTITY_TIME]};

	*result = (struct tach_value){.value = NAN, .raw = NAN};
	if (!s->metric[metric].formula)
		return;
	for (uint32_t i = 0; i < o.count; i++)
		tach__operands_put(&o, i, &v[i + 1]);
	tach__operands_derive(&o, s->metric[metric].formula, result);
}

int tach__plain_quantity(const struct tach__plain *plain, const char *name)
{
	for (int q = 0; q < plain->nquantities; q++)
		if (strcmp(plain->quantity[q], name) == 0)
			return q;
	return -1;
}
