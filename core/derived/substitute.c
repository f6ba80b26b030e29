/* SPDX-License-Identifier: MIT */
/* Replaces the base events and names in a definition's formula by their expansions. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/derived/expand.h"
#include "core/derived/expansion.h"
#include "core/derived/files.h"
#include "core/derived/parse.h"

/* Names in a formula, numbered after its base events. */
struct names {
	struct tach__expand *e;
	int first, n;
	char name[TACH_FORMULA_OPERANDS_MAX + 1][TACH__D_NAME_MAX + 1]; /* one too many */
};

/* Is that a definition or an event of the PMU? */
static bool is_known(struct tach__expand *e, const char *name)
{
	struct tach_derived_info info = {.size = sizeof info};
	size_t length = strlen(name);

	return !tach__derived_find(e->d, e->pmu, name, length, &info) ||
	       tach__expand_modified(e->d, e->pmu, name, length, &info) ||
	       tach__expansion_can(e->pmu, name);
}

static int number_name(void *context, const char *name, size_t length)
{
	struct names *names = context;
	char *own = names->name[names->n];

	for (int i = 0; i < names->n; i++)
		if (!strncmp(names->name[i], name, length) && !names->name[i][length])
			return names->first + i;
	if (length > TACH__D_NAME_MAX)
		return TACH_ERR_NOTFOUND;
	memcpy(own, name, length);
	own[length] = 0;
	return is_known(names->e, own) ? names->first + names->n++ : TACH_ERR_NOTFOUND;
}

/* Asks the callback of the registry's owner. */
static int parameter(void *context, const char *name, size_t length, double *value)
{
	const struct tach_derived_options *opt =
		tach__derived_options(((struct names *)context)->e->d);

	return opt->parameter ? opt->parameter(opt->context, name, length, value)
			      : TACH_ERR_NOTFOUND;
}

/* Compiles the formula; base events and names stay operands. */
static int compile(struct tach__expand *e, const struct tach_derived_info *info,
		   struct names *names, struct tach_formula **out)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error why = TACH_ERROR_INIT;
	int rc;

	opt.max_hz = opt.tsc_hz = 1; /* only the text is used */
	opt.noperands = info->nevents;
	if (info->type == TACH_DERIVED_TYPE_POSTFIX) {
		opt.kind = TACH_FORMULA_POSTFIX;
	} else {
		opt.resolve = number_name;
		opt.parameter = parameter;
		opt.context = names;
	}
	rc = tach_formula_compile(info->formula, &opt, out, &why);
	return rc ? tach__expand_uncomputed(e, info, rc, &why) : 0;
}

static int substituted_with(struct tach__expand *e, const struct tach_derived_info *info,
			    struct names *names)
{
	struct tach_formula *f;
	char *text, *at, *word;
	int rc = compile(e, info, names, &f), length;

	if (rc)
		return rc;
	length = tach_formula_print(f, TACH_FORMULA_POSTFIX, NULL, 0);
	at = text = malloc((size_t)length + 1);
	if (text)
		tach_formula_print(f, TACH_FORMULA_POSTFIX, text, (size_t)length + 1);
	tach_formula_free(f);
	if (!text)
		return tach__error(e->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	while (!rc && (word = strsep(&at, "|")) && *word)
		rc = word[0] != 'N' ? tach__expand_word(e, word)
		     : atoi(word + 1) < names->first
			     ? tach__expand_operand(e, info, atoi(word + 1))
			     : tach__expand_called(e,
						   names->name[atoi(word + 1) - names->first]);
	free(text);
	return rc;
}

/* Returns the definition's formula in postfix. Each N<i> is replaced by the expansion of base
 * event i. */
int tach__expand_substituted(struct tach__expand *e, const struct tach_derived_info *info)
{
	struct names *names = malloc(sizeof *names);
	int rc;

	if (!names)
		return tach__error(e->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	names->e = e;
	names->first = info->nevents;
	names->n = 0;
	rc = substituted_with(e, info, names);
	free(names);
	return rc;
}
