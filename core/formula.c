/* SPDX-License-Identifier: MIT */
/* A compiled formula as an object: made, asked about, freed. */
#include <stdlib.h>
#include "core/error.h"
#include "core/formula.h"

int tach_formula_compile(struct tach_formula **out, const char *text,
			 const struct tach_formula_options *opt, struct tach_error *err)
{
	struct tach_formula *f;
	int rc;

	if (!out || !text)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no formula given");
	if (opt && opt->size && opt->size < sizeof *opt)
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "struct tach_formula_options has a size of %u", opt->size);
	f = calloc(1, sizeof *f);
	if (!f)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	rc = tach__formula_parse(f, text, opt, err);
	if (!rc)
		rc = tach__formula_fold(f, err);
	if (rc) {
		tach_formula_free(f);
		return rc;
	}
	tach__formula_choose(f);
	*out = f;
	return 0;
}

void tach_formula_free(struct tach_formula *f)
{
	if (!f)
		return;
	free(f->form);
	free(f->code);
	free(f->node);
	free(f->term);
	free(f);
}

int tach_formula_noperands(const struct tach_formula *f)
{
	return f->noperands;
}

uint64_t tach_formula_uses(const struct tach_formula *f)
{
	return f->uses;
}

enum tach_formula_shape tach_formula_shape(const struct tach_formula *f)
{
	return f->shape;
}

uint32_t tach_formula_flags(const struct tach_formula *f, const uint32_t *flags)
{
	uint32_t all = f->flags;

	if (flags)
		for (uint64_t left = f->uses; left; left &= left - 1)
			all |= flags[__builtin_ctzll(left)];
	return all;
}
