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

/* 64 operands joined by minus make 2,016 such parts. */
enum { UNKNOWN_MAX = 2560, UNKNOWN_SLOTS = 4096 };

/* Names in a formula, numbered after its base events. */
struct names {
	struct tach__expand *e;
	int first, n;
	char name[TACH_FORMULA_OPERANDS_MAX + 1][TACH__D_NAME_MAX + 1]; /* one too many */
	/*
	 * Parts of the formula that are not names, hashed: a-b-c is first looked up as a name.
	 */
	struct part {
		const char *at;
		size_t length;
	} unknown[UNKNOWN_SLOTS];
	int unknowns; /* number of unknown parts; at UNKNOWN_MAX, no part is looked up */
	/* The text of an operand's expansion; its second mention copies the text. */
	struct done {
		size_t at, length;
		bool is;
	} done[2 * TACH_FORMULA_OPERANDS_MAX + 1];
};

/* Returns true if that is a definition or an event of the PMU. */
static bool is_known(struct tach__expand *e, const char *name)
{
	struct tach_derived_info info = {.size = sizeof info};
	size_t length = strlen(name);

	return !tach__derived_find(e->d, e->pmu, name, length, &info) ||
	       tach__expand_modified(e->d, e->pmu, name, length, &info) ||
	       tach__expansion_can(e->pmu, name);
}

/* Returns the slot of that part, or the free slot for it. */
static struct part *unknown_slot(struct names *names, const char *at, size_t length)
{
	size_t hash = length, i;

	for (i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)at[i]) * 0x9E3779B1u;
	for (i = (hash ^ hash >> 16) % UNKNOWN_SLOTS; names->unknown[i].at;
	     i = (i + 1) % UNKNOWN_SLOTS)
		if (names->unknown[i].length == length &&
		    memcmp(names->unknown[i].at, at, length) == 0)
			break;
	return &names->unknown[i];
}

static int number_name(void *context, const char *name, size_t length)
{
	struct names *names = context;
	char *own = names->name[names->n];
	struct part *part;

	for (int i = 0; i < names->n; i++)
		if (!strncmp(names->name[i], name, length) && !names->name[i][length])
			return names->first + i;
	if (length > TACH__D_NAME_MAX)
		return TACH_ERR_NOTFOUND;
	part = unknown_slot(names, name, length);
	if (part->at || names->unknowns == UNKNOWN_MAX)
		return TACH_ERR_NOTFOUND;
	memcpy(own, name, length);
	own[length] = 0;
	if (is_known(names->e, own))
		return names->first + names->n++;
	*part = (struct part){name, length};
	names->unknowns++;
	return TACH_ERR_NOTFOUND;
}

/* Gets a parameter from the callback of the registry's owner. */
static int ask_parameter(void *context, const char *name, size_t length, double *value)
{
	const struct names *names = context;
	const struct tach_derived_options *opt = tach__derived_options(names->e->d);

	if (names->unknowns == UNKNOWN_MAX)
		return TACH_ERR_TOOMANY;
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

	opt.max_hz = opt.tsc_hz = 1; /* these values do not matter here */
	opt.noperands = info->nevents;
	if (info->type == TACH_DERIVED_TYPE_POSTFIX) {
		opt.kind = TACH_FORMULA_POSTFIX;
	} else {
		opt.resolve = number_name;
		opt.parameter = ask_parameter;
		opt.context = names;
	}
	rc = tach_formula_compile(info->formula, &opt, out, &why);
	if (rc && names->unknowns == UNKNOWN_MAX)
		return tach__error(
			e->err, TACH_ERR_TOOMANY, 0, 0,
			"%s cannot be computed: %d parts of its formula up to column %d "
			"may be names and are not; put blanks around '-'",
			info->name, UNKNOWN_MAX, why.column);
	return rc ? tach__expand_uncomputed(e, info, rc, &why) : 0;
}

/* Substitutes operand N<number>. From the operand's second mention on, copies the text. */
static int substitute_operand(struct tach__expand *e, const struct tach_derived_info *info,
			      struct names *names, int number)
{
	struct done *done = &names->done[number];
	size_t at = e->length;
	int rc;

	if (done->is)
		return tach__expand_text(e, e->text + done->at, done->length);
	rc = number < names->first ? tach__expand_operand(e, info, number)
				   : tach__expand_called(e, names->name[number - names->first]);
	*done = (struct done){at, e->length - at, rc == 0};
	return rc;
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
		rc = word[0] == 'N' ? substitute_operand(e, info, names, atoi(word + 1))
				    : tach__expand_word(e, word);
	free(text);
	return rc;
}

/* Returns the definition's formula in postfix. Each N<i> is replaced by the expansion of base
 * event i. */
int tach__expand_substituted(struct tach__expand *e, const struct tach_derived_info *info)
{
	struct names *names = calloc(1, sizeof *names);
	int rc;

	if (!names)
		return tach__error(e->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	names->e = e;
	names->first = info->nevents;
	rc = substituted_with(e, info, names);
	free(names);
	return rc;
}
