/* SPDX-License-Identifier: MIT */
/*
 * Expands a derived event: its definition, and the definitions that it uses, become one postfix
 * text over native events, which the formula compiler then folds as a whole.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include "core/derived/derived.h"
#include "core/derived/expand.h"
#include "core/derived/expansion.h"
#include "core/derived/files.h"
#include "core/derived/parse.h"
#include "core/base/error.h"
#include "core/tables/tables.h"

#define TEXT_MAX  131072
#define PARTS_MAX 16384 /* limits definitions that expand to events without adding text */
#define EVENT_MAX 1024

int tach__expand_text(struct tach__expand *e, const char *words, size_t length)
{
	if (e->length + length + 1 > TEXT_MAX)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0,
				   "%s becomes too long a formula when its parts are filled in",
				   e->chain[0].name);
	memmove(e->text + e->length, words, length);
	e->length += length;
	e->text[e->length] = 0;
	return 0;
}

int tach__expand_word(struct tach__expand *e, const char *word)
{
	int rc = tach__expand_text(e, word, strlen(word));

	return rc ? rc : tach__expand_text(e, "|", 1);
}

static const char *base_event(const struct tach_derived_info *info, int i)
{
	const char *event = info->events;

	while (i--)
		event += strlen(event) + 1;
	return event;
}

/* Returns the number of that native event, which is added if it is new. */
static int add_native(struct tach__expand *e, const char *plain, bool presets)
{
	char event[EVENT_MAX];
	struct tach_error why = TACH_ERROR_INIT;
	int rc;

	if (snprintf(event, sizeof event, "%s%s", plain, e->modifiers) >= (int)sizeof event)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0,
				   "'%.80s...' is longer than %d bytes", plain, EVENT_MAX - 1);
	rc = tach__expansion_add(e->x, e->pmu, e->pmu_name, event, presets, &why);
	if (rc == TACH_ERR_TOOMANY && e->x->count == TACH_FORMULA_OPERANDS_MAX)
		return tach__error(e->err, rc, 0, 0, "%s rests on %s", e->chain[0].name,
				   why.text);
	if (rc < 0)
		return tach__error(e->err, rc, 0, 0, "%s cannot count '%.80s': %.120s",
				   e->chain[e->depth - 1].name, event, why.text);
	return rc;
}

int tach__expand_uncomputed(struct tach__expand *e, const struct tach_derived_info *info,
			    int code, const struct tach_error *why)
{
	return tach__error(e->err, code, 0, 0, "%s cannot be computed: %.150s", info->name,
			   why->text);
}

static int expand_definition(struct tach__expand *e, const struct tach_derived_info *info);

/* "A -> B -> A" */
static int describe_ring(struct tach__expand *e, int from)
{
	char text[200];
	size_t n = 0;

	for (int i = from; i <= e->depth; i++) {
		const char *name = e->chain[i == e->depth ? from : i].name;

		n += (size_t)snprintf(text + n, sizeof text - n, "%s%.60s", n ? " -> " : "",
				      name);
		if (n >= sizeof text - 1)
			break;
	}
	return tach__error(e->err, TACH_ERR_CYCLE, 0, 0, "the definition refers to itself: %s",
			   text);
}

/* Finds the definition that NAME:u:c=2 means; returns where its modifiers begin, or 0. */
size_t tach__expand_modified(struct tach_derived *d, int pmu, const char *name, size_t length,
			     struct tach_derived_info *info)
{
	for (size_t i = length; i-- > 1;)
		if (name[i] == ':' && name[i - 1] != ':' && i + 1 < length &&
		    name[i + 1] != ':' && !tach__derived_find(d, pmu, name, i, info))
			return i;
	return 0;
}

/* Expands a definition whose events all get these modifiers, and the modifiers of the enclosing
 * definition. */
static int with_modifiers(struct tach__expand *e, const struct tach_derived_info *info,
			  const char *modifiers, size_t length)
{
	size_t had = strlen(e->modifiers);
	int rc;

	if (had + length >= TACH__EXPAND_MODIFIERS_MAX)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0,
				   "more than %d bytes of modifiers",
				   TACH__EXPAND_MODIFIERS_MAX - 1);
	memcpy(e->modifiers + had, modifiers, length);
	e->modifiers[had + length] = 0;
	rc = expand_definition(e, info);
	e->modifiers[had] = 0;
	return rc;
}

/*
 * Returns the event's number, or a negative code without a text: the name may also be a
 * definition's name with modifiers. Definitions of another registry do not count.
 */
static int try_native(struct tach__expand *e, const char *event)
{
	struct tach_error unwanted = TACH_ERROR_INIT, *err = e->err;
	int rc;

	e->err = &unwanted;
	rc = add_native(e, event, tach__derived_is_default(e->d));
	e->err = err;
	return rc;
}

/*
 * Finds base event i of a definition. Derived events come before native ones, but a definition
 * with the name of its own native event means that event. With modifiers, native events come
 * first: a string that encodes is an event.
 */
int tach__expand_called(struct tach__expand *e, const char *event)
{
	size_t length = strlen(event);
	struct tach_derived_info next = {.size = sizeof next};
	size_t at;
	char word[16];
	int rc, from = 0;

	if (++e->parts > PARTS_MAX)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0, "%s has more than %d parts",
				   e->chain[0].name, PARTS_MAX);
	at = tach__derived_find(e->d, e->pmu, event, length, &next)
		     ? tach__expand_modified(e->d, e->pmu, event, length, &next)
		     : length;
	while (at && from < e->depth &&
	       tach__name_compare(next.name, strlen(next.name), e->chain[from].name))
		from++;
	if (at == length && from == e->depth)
		return expand_definition(e, &next);
	if (at == length && from < e->depth - 1)
		return describe_ring(e, from);
	rc = at ? try_native(e, event) : add_native(e, event, true);
	if (rc == TACH_ERR_NOMEM)
		return tach__error(e->err, rc, 0, 0, "out of memory");
	if (rc < 0 && at)
		return from < e->depth ? describe_ring(e, from)
				       : with_modifiers(e, &next, event + at, length - at);
	if (rc < 0)
		return rc;
	snprintf(word, sizeof word, "N%d", rc);
	return tach__expand_word(e, word);
}

int tach__expand_operand(struct tach__expand *e, const struct tach_derived_info *info, int i)
{
	return tach__expand_called(e, base_event(info, i));
}

/* Expands operands first .. last, joined by an operator. */
static int expand_joined(struct tach__expand *e, const struct tach_derived_info *info,
			 int first, int last, const char *operator)
{
	int rc = tach__expand_operand(e, info, first);

	for (int i = first + 1; i <= last && !rc; i++) {
		rc = tach__expand_operand(e, info, i);
		if (!rc)
			rc = tach__expand_word(e, operator);
	}
	return rc;
}

/* Expands a compound: one event counts what the others select (tags on NetBurst). */
static int expand_compound(struct tach__expand *e, const struct tach_derived_info *info)
{
	int rc = tach__expand_operand(e, info, 0);
	size_t length = e->length;

	for (int i = 1; i < info->nevents && !rc; i++)
		rc = tach__expand_operand(e, info, i);
	e->length = length;
	e->text[length] = 0;
	return rc;
}

/* (N1 [+ N2]) * max_hz / N0 */
static int per_second(struct tach__expand *e, const struct tach_derived_info *info)
{
	int rc = expand_joined(e, info, 1, info->nevents - 1, "+");

	if (!rc)
		rc = tach__expand_word(e, "#");
	if (!rc)
		rc = tach__expand_word(e, "*");
	if (!rc)
		rc = tach__expand_operand(e, info, 0);
	return rc ? rc : tach__expand_word(e, "/");
}

static int expand_definition(struct tach__expand *e, const struct tach_derived_info *info)
{
	int rc;

	if (e->depth == TACH__EXPAND_DEPTH_MAX)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0,
				   "%s is defined through more than %d levels",
				   e->chain[0].name, TACH__EXPAND_DEPTH_MAX);
	e->chain[e->depth++] = *info;
	switch (info->type) {
	case TACH_DERIVED_TYPE_NONE:
		rc = tach__expand_operand(e, info, 0);
		break;
	case TACH_DERIVED_TYPE_CMPD:
		rc = expand_compound(e, info);
		break;
	case TACH_DERIVED_TYPE_ADD:
		rc = expand_joined(e, info, 0, info->nevents - 1, "+");
		break;
	case TACH_DERIVED_TYPE_SUB:
		rc = expand_joined(e, info, 0, info->nevents - 1, "-");
		break;
	case TACH_DERIVED_TYPE_PS:
	case TACH_DERIVED_TYPE_ADD_PS:
		rc = per_second(e, info);
		break;
	default:
		rc = tach__expand_substituted(e, info);
	}
	e->depth--;
	return rc;
}

static int expand(struct tach__expand *e, const struct tach_derived_info *info,
		  const char *modifiers, size_t length)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error why = TACH_ERROR_INIT; /* its column is in a text that we made */
	int rc = with_modifiers(e, info, modifiers, length);

	if (rc)
		return rc;
	opt.kind = TACH_FORMULA_POSTFIX;
	opt.noperands = e->x->count;
	opt.max_hz = e->x->max_hz = tach__derived_options(e->d)->max_hz;
	opt.tsc_hz = e->x->tsc_hz = tach__derived_options(e->d)->tsc_hz;
	rc = tach_formula_compile(e->text, &opt, &e->x->formula, &why);
	return rc ? tach__expand_uncomputed(e, info, rc, &why) : 0;
}

/* The parts of a name as users write it, PMU::NAME:MODIFIERS. */
struct written {
	struct tach_derived_info info;
	int pmu;
	char pmu_name[64]; /* the PMU's name with its colons; "" = not written */
	const char *modifiers;
	size_t length; /* theirs */
};

/* Returns true if it is a derived event of that PMU, or of the PMU that it names. */
static bool find_derived(struct tach_derived *d, int pmu, const char *name, size_t length,
			 struct written *w)
{
	const char *colons = memmem(name, length, "::", 2);
	size_t at;

	*w = (struct written){.info.size = sizeof w->info, .pmu = tach__derived_pmu(pmu)};
	if (colons && (size_t)(colons - name) < sizeof w->pmu_name - 2) {
		memcpy(w->pmu_name, name, (size_t)(colons - name));
		w->pmu = tach_pmu_find(w->pmu_name);
		if (w->pmu < 0)
			return false;
		strcat(w->pmu_name, "::");
		length -= (size_t)(colons + 2 - name);
		name = colons + 2;
	}
	at = tach__derived_find(d, w->pmu, name, length, &w->info)
		     ? tach__expand_modified(d, w->pmu, name, length, &w->info)
		     : length;
	w->modifiers = name + at;
	w->length = length - at;
	return at != 0;
}

static int expand_written(struct tach_derived *d, const struct written *w,
			  struct tach_expansion **out, struct tach_error *err)
{
	struct tach__expand *e = calloc(1, sizeof *e);
	int rc = TACH_ERR_NOMEM;

	if (e) {
		e->d = d;
		e->pmu = w->pmu;
		e->pmu_name = w->pmu_name;
		e->err = err;
		e->x = calloc(1, sizeof *e->x);
		e->text = malloc(TEXT_MAX);
	}
	if (!e || !e->x || !e->text)
		tach__error(err, rc, 0, 0, "out of memory");
	else
		rc = expand(e, &w->info, w->modifiers, w->length);
	if (rc && e)
		tach_expansion_free(e->x);
	else if (!rc)
		*out = e->x;
	if (e)
		free(e->text);
	free(e);
	return rc;
}

int tach_derived_expand(struct tach_derived *d, int pmu, const char *name,
			struct tach_expansion **out, struct tach_error *err)
{
	struct written w;

	if (!d || !name || !out)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no derived event given");
	if (!find_derived(d, pmu, name, strlen(name), &w))
		return tach__error(err, TACH_ERR_NOTFOUND, 0, 0, "no derived event '%.150s'%s",
				   name, w.pmu < 0 ? " for a CPU that is not known" : "");
	return expand_written(d, &w, out, err);
}

int tach_derived_expand_formula(struct tach_derived *d, int pmu, const char *formula,
				struct tach_expansion **out, struct tach_error *err)
{
	struct written w = {
		.info = {.size = sizeof w.info,
			 .name = "the formula",
			 .type = TACH_DERIVED_TYPE_INFIX,
			 .formula = formula,
			 .events = ""},
		.pmu = tach__derived_pmu(pmu),
		.modifiers = "",
	};

	if (!d || !formula || !out)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no formula given");
	return expand_written(d, &w, out, err);
}

/* With modifiers, a string that encodes is an event, as in definitions. */
static int is_event(int pmu, const char *name, size_t length)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event event = {.size = sizeof event};
	char string[TACH_EVENT_NAME_MAX];

	if (length >= sizeof string)
		return 0;
	memcpy(string, name, length);
	string[length] = '\0';
	opt.pmu = pmu;
	opt.any_pmu = pmu >= 0;
	return tach_event_encode(string, &opt, &event, NULL) == 0;
}

int tach__derived_lookup(int pmu, const char *name, size_t length, struct tach_expansion **out,
			 struct tach_error *err)
{
	struct tach_derived *d = tach_derived_default();
	struct written w;
	int rc;

	if (!d)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	if (!find_derived(d, pmu, name, length, &w) ||
	    (w.length && is_event(pmu, name, length)))
		return 0;
	rc = expand_written(d, &w, out, err);
	return rc ? rc : 1;
}
