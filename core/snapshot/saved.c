/* SPDX-License-Identifier: MIT */
/* Saved snapshots: plain data, read from a report or merged of others. */
#include <math.h>
#include <stdlib.h>
#include "core/snapshot/operands.h"
#include "core/snapshot/saved.h"
#include "core/snapshot/snapshot.h"

struct tach_snapshot *tach__saved_new(void)
{
	struct tach_snapshot *s = calloc(1, sizeof *s);

	if (s)
		s->saved = calloc(1, sizeof *s->saved);
	if (s && !s->saved) {
		free(s);
		s = NULL;
	}
	return s;
}

void tach__saved_free(struct tach__saved *saved)
{
	if (!saved)
		return;
	for (int m = 0; saved->metric && m < saved->nmetrics; m++)
		tach_formula_free(saved->metric[m].formula);
	tach__arena_free(&saved->arena);
	free(saved);
}

int tach__saved_allocate(struct tach__saved *s)
{
	size_t q = (size_t)s->nquantities, m = (size_t)s->nmetrics, r = (size_t)s->nregions;

	s->quantity = tach__arena_get(&s->arena, q * sizeof *s->quantity);
	s->metric = tach__arena_get(&s->arena, m * sizeof *s->metric);
	s->region = tach__arena_get(&s->arena, r * sizeof *s->region);
	return s->quantity && s->metric && s->region ? 0 : TACH_ERR_NOMEM;
}

int tach__saved_allocate_region(struct tach__saved *s, int region)
{
	size_t q = (size_t)s->nquantities, n = q + (size_t)s->nmetrics;
	struct tach__saved_region *r = &s->region[region];

	r->histogram = tach__arena_get(&s->arena, q * sizeof *r->histogram);
	for (int part = 0; part < 2; part++)
		r->value[part] = tach__arena_get(&s->arena, n * sizeof *r->value[part]);
	return r->histogram && r->value[0] && r->value[1] ? 0 : TACH_ERR_NOMEM;
}

int tach__saved_compile(struct tach__saved *s, struct tach_error *err)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;

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

void tach__saved_derive(struct tach__saved *s, int region, int metric, enum tach_part part)
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

int tach__saved_value(const struct tach__saved *s, int region, int number, enum tach_part part,
		      struct tach_value *value)
{
	if (region < 0 || region >= s->nregions || number < 0 ||
	    number >= s->nquantities + s->nmetrics || part > TACH_PART_SELF)
		return TACH_ERR_INVAL;
	*value = s->region[region].value[part][number];
	return 0;
}

double tach__saved_quantile(const struct tach__saved *s, int region, int quantity, double p)
{
	const struct tach__saved_buckets *h;
	double total = 0, seen = 0;

	if (region < 0 || region >= s->nregions || quantity < 0 || quantity >= s->nquantities ||
	    !(p >= 0 && p <= 1))
		return NAN;
	h = &s->region[region].histogram[quantity];
	for (int b = 0; b < h->count; b++)
		total += (double)h->at[b].count;
	for (int b = 0; b < h->count; b++) {
		seen += (double)h->at[b].count;
		if (seen >= ceil(p * total))
			return (h->at[b].low + h->at[b].high) / 2;
	}
	return NAN;
}

int tach__saved_buckets(const struct tach__saved *s, int region, int quantity,
			struct tach_bucket *out, int max)
{
	const struct tach__saved_buckets *h;

	if (region < 0 || region >= s->nregions || quantity < 0 || quantity >= s->nquantities)
		return TACH_ERR_INVAL;
	h = &s->region[region].histogram[quantity];
	for (int b = 0; b < h->count && b < max; b++)
		out[b] = h->at[b];
	return h->count;
}
