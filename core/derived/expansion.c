/* SPDX-License-Identifier: MIT */
/* Expansions: their native events, and the answers for callers. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tach/event.h>
#include "core/base/error.h"
#include "core/derived/expansion.h"
#include "core/event/event.h"

/* Returns true if one counter can serve both events, whatever their spelling. */
static bool is_same_event(const struct tach_event *a, const struct tach_event *b)
{
	return a->type == b->type && a->has == b->has && a->config == b->config &&
	       a->config1 == b->config1 && a->config2 == b->config2 && a->period == b->period &&
	       a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel &&
	       a->exclude_hv == b->exclude_hv && a->exclude_host == b->exclude_host &&
	       a->exclude_guest == b->exclude_guest && a->precise == b->precise &&
	       a->cpu == b->cpu && a->pmu == b->pmu && a->ncodes == b->ncodes &&
	       !memcmp(a->codes, b->codes, a->ncodes * sizeof *a->codes);
}

static int encode_string(const char *event, const struct tach_encode_options *opt, bool presets,
			 struct tach_event *out, struct tach_error *err)
{
	static const struct tach__caller alone = {.search = NULL};

	return presets ? tach_event_encode(event, opt, out, err)
		       : tach__event_encode(event, opt, &alone, out, err);
}

/* The encoder also knows the events that all CPUs of this architecture have. */
static int encode_native(int pmu, const char *event, bool presets, struct tach_event *out,
			 struct tach_error *err)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	int rc;

	opt.pmu = pmu;
	rc = encode_string(event, &opt, presets, out, err);
	if (rc != TACH_ERR_NOTSUPP)
		return rc;
	opt.os = TACH_OS_NONE; /* the kernel does not know the event, but register words may
				  exist */
	return encode_string(event, &opt, presets, out, err);
}

/* Returns a box by its name, or the first box of KIND*, or -1. */
static int first_box(const char *name, size_t length)
{
	int starred = length && name[length - 1] == '*';

	if (!starred) {
		int pmu = tach__pmu_find(name, length);

		return pmu >= tach__npmus() ? pmu : -1;
	}
	for (int pmu = tach__npmus(); pmu < tach__npmus() + tach__nboxes(); pmu++) {
		const char *own = tach__str(tach__pmu_at(pmu)->name);

		if (!strncasecmp(own, name, length - 1) && own[length - 1] &&
		    strspn(own + length - 1, "0123456789") == strlen(own + length - 1))
			return pmu;
	}
	return -1;
}

static int encode_in_box(int pmu, const char *event, struct tach_event *out,
			 struct tach_error *err)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	char string[TACH_EVENT_NAME_MAX];

	opt.any_pmu = 1;
	opt.os = TACH_OS_NONE;
	snprintf(string, sizeof string, "%s%s", tach__str(tach__pmu_at(pmu)->name), event);
	return encode_string(string, &opt, false, out, err);
}

/*
 * An event of boxes (core/uncore): BOX::EVENT, KIND*::EVENT, or terms of a device that this
 * machine lacks or that does not belong to a core. Returns 1 with *out, 0, or a code.
 */
static int encode_box(const char *event, struct tach_event *out, struct tach_error *err)
{
	const char *colons = strstr(event, "::"), *slash = strchr(event, '/');
	int pmu, rc;

	if (slash && (!colons || slash < colons)) {
		if (tach__event_thread_device(event, (size_t)(slash - event)))
			return 0;
		memset(out, 0, sizeof *out);
		out->size = sizeof *out;
		out->pmu = out->event = out->cpu = -1;
		out->type = PERF_TYPE_SOFTWARE;
		snprintf(out->name, sizeof out->name, "%s", event);
		return 1;
	}
	pmu = colons ? first_box(event, (size_t)(colons - event)) : -1;
	if (pmu < 0)
		return 0;
	rc = encode_in_box(pmu, colons, out, err);
	for (int other = tach__npmus();
	     rc == TACH_ERR_NOTFOUND && other < tach__npmus() + tach__nboxes(); other++)
		if (tach__pmu_at(other)->alias && !strcmp(tach__str(tach__pmu_at(other)->alias),
							  tach__str(tach__pmu_at(pmu)->name)))
			rc = encode_in_box(other, colons, out, NULL);
	/* A box uses none of the core's counters. */
	out->pmu = out->event = -1;
	out->type = PERF_TYPE_SOFTWARE;
	return rc ? rc : 1;
}

int tach__expansion_can(int pmu, const char *event)
{
	struct tach_event encoded = {.size = sizeof encoded};

	return encode_box(event, &encoded, NULL) > 0 ||
	       encode_native(pmu, event, true, &encoded, NULL) == 0;
}

int tach__expansion_add(struct tach_expansion *x, int pmu, const char *pmu_name,
			const char *event, bool presets, struct tach_error *err)
{
	struct tach_event *encoded =
		realloc(x->encoded, ((size_t)x->count + 1) * sizeof *encoded);
	const char *prefix = strstr(event, "::") ? "" : pmu_name;
	size_t size;
	int rc, box;

	if (!encoded)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	x->encoded = encoded; /* realloc has freed the old array in any case */
	encoded += x->count;
	encoded->size = sizeof *encoded;
	rc = box = encode_box(event, encoded, err);
	if (!rc)
		rc = encode_native(pmu, event, presets, encoded, err);
	if (rc < 0)
		return rc;
	for (int i = 0; i < x->count; i++)
		if (box || x->box[i] ? !strcmp(x->event[i], event)
				     : is_same_event(&x->encoded[i], encoded))
			return i;
	if (x->count == TACH_FORMULA_OPERANDS_MAX)
		return tach__error(err, TACH_ERR_TOOMANY, 0, 0, "more than %d different events",
				   TACH_FORMULA_OPERANDS_MAX);
	size = strlen(prefix) + strlen(event) + 1;
	x->event[x->count] = malloc(size);
	if (!x->event[x->count])
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	snprintf(x->event[x->count], size, "%s%s", box ? "" : prefix, event);
	x->box[x->count] = box > 0;
	return x->count++;
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

int tach__expansion_is_box(const struct tach_expansion *x, int i)
{
	return i >= 0 && i < x->count && x->box[i];
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

static int renumber_operand(void *context, const char *name, size_t length)
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
		/* This cannot be read as N<number>, so the resolver gets it. */
		if (text[i] == 'N')
			text[i] = 'n';
	opt.kind = TACH_FORMULA_POSTFIX;
	opt.resolve = renumber_operand;
	opt.context = &r;
	opt.max_hz = x->max_hz;
	opt.tsc_hz = x->tsc_hz;
	rc = tach_formula_compile(text, &opt, out, err);
	free(text);
	return rc;
}
