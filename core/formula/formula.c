/* SPDX-License-Identifier: MIT */
/* A compiled formula as an object: made, queried, freed. */
#include <stdlib.h>
#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/formula/formula.h"

static int take_options(struct tach_formula_options *out,
			const struct tach_formula_options *opt, struct tach_error *err)
{
	*out = (struct tach_formula_options)TACH_FORMULA_OPTIONS_INIT;
	if (!opt)
		return 0;
	opt = tach__sized_in(opt, out, TACH__STRUCT(tach_formula_options), err);
	if (!opt)
		return TACH_ERR_INVAL;
	*out = *opt;
	if ((unsigned)out->kind > TACH_FORMULA_POSTFIX || out->noperands < -1 ||
	    out->noperands > TACH_FORMULA_OPERANDS_MAX)
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "no such kind, or noperands outside -1 .. %d",
				   TACH_FORMULA_OPERANDS_MAX);
	return 0;
}

int tach_formula_compile(const char *text, const struct tach_formula_options *opt,
			 struct tach_formula **out, struct tach_error *err)
{
	struct tach_formula_options options;
	struct tach_formula *f;
	int rc;

	if (!out || !text)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no formula given");
	rc = take_options(&options, opt, err);
	if (rc)
		return rc;
	f = calloc(1, sizeof *f);
	if (!f)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	rc = tach__formula_parse(f, text, &options, err);
	if (!rc)
		rc = tach__formula_fold(&f, err);
	if (rc) {
		tach_formula_free(f);
		return rc;
	}
	tach__formula_link(f);
	*out = f;
	return 0;
}

void tach_formula_free(struct tach_formula *f)
{
	if (!f)
		return;
	free(f->form);
	free(f->node);
	free(f->term);
	free(f);
}

double tach_formula_eval(const struct tach_formula *f, const uint64_t *n, double elapsed_ns,
			 uint32_t *flags)
{
	return f->eval(f, n, elapsed_ns, flags);
}

int tach_formula_uses(const struct tach_formula *f, int i)
{
	return i >= 0 && i < TACH_FORMULA_OPERANDS_MAX && f->uses[i / 64] >> i % 64 & 1;
}

enum tach_shape tach_formula_shape(const struct tach_formula *f)
{
	return f->shape;
}

uint32_t tach_formula_flags(const struct tach_formula *f, const uint32_t *flags)
{
	uint32_t all = f->flags;

	if (flags)
		for (int i = 0; i < f->noperands; i++)
			all |= tach_formula_uses(f, i) ? flags[i] : 0;
	return all;
}
