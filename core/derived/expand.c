/* SPDX-License-Identifier: MIT */
/*
 * A derived event taken apart: its definition, and those it rests on, down to native events,
 * become one postfix text over them, which the formula compiler then folds as a whole.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/event.h>
#include <tach/pmu.h>
#include "core/derived/derived.h"
#include "core/derived/files.h"
#include "core/base/error.h"
#include "core/tables/tables.h"

#define DEPTH_MAX     64
#define TEXT_MAX      65536
#define PARTS_MAX     4096 /* what stands for nothing in the text can multiply, too */
#define MODIFIERS_MAX 128
#define EVENT_MAX     1024

struct tach_expansion {
	struct tach_formula *formula;
	int count;
	char *event[TACH_FORMULA_OPERANDS_MAX]; /* as written */
	struct tach_event *encoded;
	double max_hz; /* of the registry */
};

struct expand {
	struct tach_derived *d;
	struct tach_error *err;
	struct tach_expansion *x;
	int pmu, depth, parts;
	struct tach_derived_info chain[DEPTH_MAX];
	const char *pmu_name;	       /* of PMU::NAME, with the colons; or "" */
	char modifiers[MODIFIERS_MAX]; /* of NAME:u:k, the same */
	char *text;
	size_t length;
};

static int put(struct expand *e, const char *word, size_t length)
{
	if (e->length + length + 2 > TEXT_MAX)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0,
				   "%s becomes too long a formula when its parts are filled in",
				   e->chain[0].name);
	memcpy(e->text + e->length, word, length);
	e->length += length;
	e->text[e->length++] = '|';
	e->text[e->length] = 0;
	return 0;
}

static int put_word(struct expand *e, const char *word)
{
	return put(e, word, strlen(word));
}

static const char *base(const struct tach_derived_info *info, int i)
{
	const char *event = info->events;

	while (i--)
		event += strlen(event) + 1;
	return event;
}

/* Whether one counter would do for both, however they are spelled. */
static bool same(const struct tach_event *a, const struct tach_event *b)
{
	return a->type == b->type && a->has == b->has && a->config == b->config &&
	       a->config1 == b->config1 && a->config2 == b->config2 && a->period == b->period &&
	       a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel &&
	       a->exclude_hv == b->exclude_hv && a->exclude_host == b->exclude_host &&
	       a->exclude_guest == b->exclude_guest && a->precise == b->precise &&
	       a->cpu == b->cpu && a->pmu == b->pmu && a->ncodes == b->ncodes &&
	       !memcmp(a->codes, b->codes, a->ncodes * sizeof *a->codes);
}

/*
 * On the PMU itself, or where files written for libpfm-4 may mean it too, because there they
 * are searched next: the architectural events of an Intel PMU, then the kernel's generic ones.
 */
static int encode(const struct expand *e, const char *event, struct tach_event *out,
		  const char **where, struct tach_error *err)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_pmu_info info = {.size = sizeof info};
	struct tach_error unwanted = TACH_ERROR_INIT;
	int rc;

	opt.pmu = e->pmu;
	rc = tach_event_encode(event, &opt, out, err);
	if (rc == TACH_ERR_NOTSUPP) { /* nothing the kernel knows; register words may exist */
		opt.os = TACH_OS_NONE;
		rc = tach_event_encode(event, &opt, out, err);
	}
	if (rc != TACH_ERR_NOTFOUND || strstr(event, "::"))
		return rc;
	/* PMUs without fixed counters are older than the architectural events. */
	if (tach_pmu_describe(e->pmu, &info) == 0 && info.fixed && !strcmp(info.arch, "x86") &&
	    strncmp(info.name, "amd64", 5) != 0) {
		*where = "ix86arch::";
		opt.pmu = tach_pmu_find("ix86arch");
		if (tach_event_encode(event, &opt, out, &unwanted) == 0)
			return 0;
	}
	*where = "perf::";
	opt.pmu = tach_pmu_find("perf");
	return tach_event_encode(event, &opt, out, &unwanted) == 0 ? 0 : rc;
}

/* The number of that native event, which is added if it is new. */
static int native(struct expand *e, const char *plain)
{
	struct tach_expansion *x = e->x;
	char event[EVENT_MAX];
	struct tach_event *encoded =
		realloc(x->encoded, ((size_t)x->count + 1) * sizeof *encoded);
	struct tach_error why = TACH_ERROR_INIT;
	const char *where = strstr(plain, "::") ? "" : e->pmu_name;
	size_t size;
	int rc;

	if (!encoded)
		return tach__error(e->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	x->encoded = encoded; /* the old one is gone, whatever comes */
	if (snprintf(event, sizeof event, "%s%s", plain, e->modifiers) >= (int)sizeof event)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0,
				   "'%.80s...' is longer than %d bytes", plain, EVENT_MAX - 1);
	encoded += x->count;
	memset(encoded, 0, sizeof *encoded);
	encoded->size = sizeof *encoded;
	rc = encode(e, event, encoded, &where, &why);
	if (rc < 0)
		return tach__error(e->err, rc, 0, 0, "%s cannot count '%.80s': %.120s",
				   e->chain[e->depth - 1].name, event, why.text);
	for (int i = 0; i < x->count; i++)
		if (same(&x->encoded[i], encoded))
			return i;
	if (x->count == TACH_FORMULA_OPERANDS_MAX)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0,
				   "%s rests on more than %d different events",
				   e->chain[0].name, TACH_FORMULA_OPERANDS_MAX);
	size = strlen(where) + strlen(event) + 1;
	x->event[x->count] = malloc(size);
	if (!x->event[x->count])
		return tach__error(e->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	snprintf(x->event[x->count], size, "%s%s", where, event);
	return x->count++;
}

static int definition(struct expand *e, const struct tach_derived_info *info);

/* "A -> B -> A" */
static int ring(struct expand *e, int from)
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

/* The definition that NAME:u:c=2 means: where its modifiers begin, or 0. */
static size_t modified(struct tach_derived *d, int pmu, const char *name, size_t length,
		       struct tach_derived_info *info)
{
	for (size_t i = length; i-- > 1;)
		if (name[i] == ':' && name[i - 1] != ':' && i + 1 < length &&
		    name[i + 1] != ':' && !tach__derived_find(d, pmu, name, i, info))
			return i;
	return 0;
}

/* A definition of which every event gets these modifiers, and those of what it stands in. */
static int with_modifiers(struct expand *e, const struct tach_derived_info *info,
			  const char *modifiers, size_t length)
{
	size_t had = strlen(e->modifiers);
	int rc;

	if (had + length >= MODIFIERS_MAX)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0,
				   "more than %d bytes of modifiers", MODIFIERS_MAX - 1);
	memcpy(e->modifiers + had, modifiers, length);
	e->modifiers[had + length] = 0;
	rc = definition(e, info);
	e->modifiers[had] = 0;
	return rc;
}

/* Its number, or a negative code; the caller may know another meaning of the name. */
static int maybe_native(struct expand *e, const char *event)
{
	struct tach_error unwanted = TACH_ERROR_INIT, *err = e->err;
	int rc;

	e->err = &unwanted;
	rc = native(e, event);
	e->err = err;
	return rc;
}

/*
 * Base event i of a definition: another derived event before a native one, but a definition
 * named as the native event that it rests on means that event. With modifiers it is the other
 * way round: what can be counted as it is written is an event.
 */
static int operand(struct expand *e, const struct tach_derived_info *info, int i)
{
	const char *event = base(info, i);
	size_t length = strlen(event);
	struct tach_derived_info next = {.size = sizeof next};
	size_t at;
	char word[16];
	int rc, from = 0;

	if (++e->parts > PARTS_MAX)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0, "%s has more than %d parts",
				   e->chain[0].name, PARTS_MAX);
	at = tach__derived_find(e->d, e->pmu, event, length, &next)
		     ? modified(e->d, e->pmu, event, length, &next)
		     : length;
	while (at && from < e->depth &&
	       tach__name_compare(next.name, strlen(next.name), e->chain[from].name))
		from++;
	if (at == length && from == e->depth)
		return definition(e, &next);
	if (at == length && from < e->depth - 1)
		return ring(e, from);
	rc = at ? maybe_native(e, event) : native(e, event);
	if (rc < 0 && at)
		return from < e->depth ? ring(e, from)
				       : with_modifiers(e, &next, event + at, length - at);
	if (rc < 0)
		return rc;
	snprintf(word, sizeof word, "N%d", rc);
	return put_word(e, word);
}

/* Operands first .. last, joined by an operator. */
static int joined(struct expand *e, const struct tach_derived_info *info, int first, int last,
		  const char *operator)
{
	int rc = operand(e, info, first);

	for (int i = first + 1; i <= last && !rc; i++) {
		rc = operand(e, info, i);
		if (!rc)
			rc = put_word(e, operator);
	}
	return rc;
}

/* Only the first counts, but the others set up what it counts (tags on NetBurst). */
static int compound(struct expand *e, const struct tach_derived_info *info)
{
	int rc = operand(e, info, 0);
	size_t length = e->length;

	for (int i = 1; i < info->nevents && !rc; i++)
		rc = operand(e, info, i);
	e->length = length;
	e->text[length] = 0;
	return rc;
}

/* (N1 [+ N2]) * max_hz / N0 */
static int per_second(struct expand *e, const struct tach_derived_info *info)
{
	int rc = joined(e, info, 1, info->nevents - 1, "+");

	if (!rc)
		rc = put_word(e, "#");
	if (!rc)
		rc = put_word(e, "*");
	if (!rc)
		rc = operand(e, info, 0);
	return rc ? rc : put_word(e, "/");
}

/* The definition's formula in postfix, each N<i> replaced by what base event i becomes. */
static int substituted(struct expand *e, const struct tach_derived_info *info)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_formula *f;
	char *text, *at, *word;
	int rc, length;

	opt.kind = info->type == TACH_DERIVED_TYPE_POSTFIX ? TACH_FORMULA_POSTFIX
							   : TACH_FORMULA_INFIX;
	opt.noperands = info->nevents;
	opt.max_hz = opt.tsc_hz = 1; /* only the text matters here */
	rc = tach_formula_compile(info->formula, &opt, &f, e->err);
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
		rc = word[0] == 'N' ? operand(e, info, atoi(word + 1)) : put_word(e, word);
	free(text);
	return rc;
}

static int definition(struct expand *e, const struct tach_derived_info *info)
{
	int rc;

	if (e->depth == DEPTH_MAX)
		return tach__error(e->err, TACH_ERR_TOOMANY, 0, 0,
				   "%s is defined through more than %d levels",
				   e->chain[0].name, DEPTH_MAX);
	e->chain[e->depth++] = *info;
	switch (info->type) {
	case TACH_DERIVED_TYPE_NONE:
		rc = operand(e, info, 0);
		break;
	case TACH_DERIVED_TYPE_CMPD:
		rc = compound(e, info);
		break;
	case TACH_DERIVED_TYPE_ADD:
		rc = joined(e, info, 0, info->nevents - 1, "+");
		break;
	case TACH_DERIVED_TYPE_SUB:
		rc = joined(e, info, 0, info->nevents - 1, "-");
		break;
	case TACH_DERIVED_TYPE_PS:
	case TACH_DERIVED_TYPE_ADD_PS:
		rc = per_second(e, info);
		break;
	default:
		rc = substituted(e, info);
	}
	e->depth--;
	return rc;
}

static int expand(struct expand *e, const struct tach_derived_info *info, const char *modifiers,
		  size_t length)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	int rc = with_modifiers(e, info, modifiers, length);

	if (rc)
		return rc;
	opt.kind = TACH_FORMULA_POSTFIX;
	opt.noperands = e->x->count;
	opt.max_hz = e->x->max_hz = tach__derived_max_hz(e->d);
	return tach_formula_compile(e->text, &opt, &e->x->formula, e->err);
}

/* A name as people write it, PMU::NAME:MODIFIERS, taken apart. */
struct written {
	struct tach_derived_info info;
	int pmu;
	char pmu_name[64]; /* with its colons; "" = not written */
	const char *modifiers;
	size_t length; /* theirs */
};

/* Whether it is a derived event of that PMU, or of the one that it names. */
static bool written(struct tach_derived *d, int pmu, const char *name, size_t length,
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
		     ? modified(d, w->pmu, name, length, &w->info)
		     : length;
	w->modifiers = name + at;
	w->length = length - at;
	return at != 0;
}

static int expand_written(struct tach_derived *d, const struct written *w,
			  struct tach_expansion **out, struct tach_error *err)
{
	struct expand *e = calloc(1, sizeof *e);
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
	if (!written(d, pmu, name, strlen(name), &w))
		return tach__error(err, TACH_ERR_NOTFOUND, 0, 0, "no derived event '%.150s'%s",
				   name, w.pmu < 0 ? " for a CPU that is not known" : "");
	return expand_written(d, &w, out, err);
}

void tach_expansion_free(struct tach_expansion *x)
{
	if (!x)
		return;
	tach_formula_free(x->formula);
	for (int i = 0; i < x->count; i++)
		free(x->event[i]);
	free(x->encoded);
	free(x);
}

int tach_expansion_count(const struct tach_expansion *x)
{
	return x->count;
}

const char *tach_expansion_event(const struct tach_expansion *x, int i)
{
	return i >= 0 && i < x->count ? x->event[i] : NULL;
}

const struct tach_event *tach_expansion_encoded(const struct tach_expansion *x)
{
	return x->encoded;
}

const struct tach_formula *tach_expansion_formula(const struct tach_expansion *x)
{
	return x->formula;
}

int tach__derived_lookup(int pmu, const char *name, size_t length, struct tach_expansion **out,
			 struct tach_error *err)
{
	struct tach_derived *d = tach_derived_default();
	struct written w;
	int rc;

	if (!d || !written(d, pmu, name, length, &w))
		return 0;
	rc = expand_written(d, &w, out, err);
	return rc ? rc : 1;
}

const char *tach__expansion_plain(const struct tach_expansion *x)
{
	char text[8];

	tach_formula_print(x->formula, TACH_FORMULA_POSTFIX, text, sizeof text);
	return x->count == 1 && !strcmp(text, "N0|") ? x->event[0] : NULL;
}

struct renumber {
	const struct tach_expansion *x;
	const int *number;
};

static int renumbered(void *context, const char *name, size_t length)
{
	const struct renumber *r = context;

	(void)length;
	return r->number[atoi(name + 1)];
}

int tach__expansion_over(const struct tach_expansion *x, const int *number,
			 struct tach_formula **out, struct tach_error *err)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	int length = tach_formula_print(x->formula, TACH_FORMULA_POSTFIX, NULL, 0), rc;
	struct renumber r = {x, number};
	char *text = malloc((size_t)length + 1);

	if (!text)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	tach_formula_print(x->formula, TACH_FORMULA_POSTFIX, text, (size_t)length + 1);
	for (int i = 0; i < length; i++)
		if (text[i] == 'N') /* not N<number>, so that it comes to us */
			text[i] = 'n';
	opt.kind = TACH_FORMULA_POSTFIX;
	opt.resolve = renumbered;
	opt.context = &r;
	opt.max_hz = x->max_hz;
	rc = tach_formula_compile(text, &opt, out, err);
	free(text);
	return rc;
}
