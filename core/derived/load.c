/* SPDX-License-Identifier: MIT */
/* Loads files of derived events into a registry. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/derived/files.h"
#include "core/derived/parse.h"
#include "core/derived/presets.h"
#include "core/derived/registry.h"

#define PMUS_MAX 512 /* more PMUs than the tables have */

/* The state of loading one file. */
struct load {
	struct tach_derived *d;
	const char *file;
	int pmus[PMUS_MAX], npmus;
	bool anywhere; /* there was no CPU line yet */
	int taken;
	bool no_memory;
};

static void report_diagnostic(void *context, enum tach_diagnostic_level level, int line,
			      int column, const char *text)
{
	const struct load *l = context;
	struct tach_diagnostic diagnostic = {
		sizeof diagnostic, level, l->file, line, column, text};

	if (l->d->opt.report)
		l->d->opt.report(l->d->opt.context, &diagnostic);
}

/* Each PMU is stored once, for any number of mentions in a list. */
static void add_pmu(struct load *l, int pmu)
{
	for (int i = 0; i < l->npmus; i++)
		if (l->pmus[i] == pmu)
			return;
	l->pmus[l->npmus++] = pmu;
}

static void take_cpu(void *context, const struct tach__span *name, int line, bool first)
{
	struct load *l = context;
	int found[PMUS_MAX], n;

	if (first)
		l->npmus = 0;
	l->anywhere = false;
	if (!name->length)
		return;
	n = tach__derived_cpu(name->at, name->length, found, PMUS_MAX);
	for (int i = 0; i < n; i++)
		add_pmu(l, found[i]);
	if (!n) {
		char text[200];

		snprintf(text, sizeof text, "no PMU here is called '%.*s'",
			 name->length > 100 ? 100 : (int)name->length, name->at);
		report_diagnostic(l, TACH_DIAGNOSTIC_NOTE, line, name->column, text);
	}
}

static char *append(char **at, const struct tach__span *s)
{
	char *start = *at;

	if (s->length)
		memcpy(start, s->at, s->length);
	start[s->length] = 0;
	*at += s->length + 1;
	return start;
}

static struct tach__definition *keep_record(struct load *l, const struct tach__record *r)
{
	size_t size = r->name.length + r->formula.length + r->long_description.length +
		      r->short_description.length + r->note.length + r->unit.length +
		      r->threshold.length + r->parent.length + r->groups.length + 9;
	struct tach__definition *x;
	char *at;

	for (int i = 0; i < r->nevents; i++)
		size += r->event[i].length + 1;
	x = malloc(sizeof *x + size);
	if (!x)
		return NULL;
	at = x->strings;
	x->info = (struct tach_derived_info){
		.size = sizeof x->info,
		.preset = r->preset,
		.type = r->type,
		.type_name = tach__derived_type_name(r->type),
		.nevents = r->nevents,
		.file = l->file,
		.line = r->line,
		.level = r->level,
		.scale = r->scale,
	};
	x->info.events = at;
	for (int i = 0; i < r->nevents; i++)
		append(&at, &r->event[i]);
	x->info.name = append(&at, &r->name);
	x->info.formula = append(&at, &r->formula);
	x->info.long_description = append(&at, &r->long_description);
	x->info.short_description = append(&at, &r->short_description);
	x->info.note = append(&at, &r->note);
	x->info.unit = append(&at, &r->unit);
	x->info.threshold = append(&at, &r->threshold);
	x->info.parent = append(&at, &r->parent);
	x->info.groups = append(&at, &r->groups);
	x->next = l->d->definitions;
	l->d->definitions = x;
	return x;
}

static void note_replaced(struct load *l, const struct tach__record *r,
			  const struct tach__definition *old)
{
	char text[256];

	if (old)
		snprintf(text, sizeof text, "replaces the definition of %.100s in %.90s:%d",
			 old->info.name, old->info.file, old->info.line);
	else
		snprintf(text, sizeof text, "replaces the library's own %.*s",
			 (int)r->name.length, r->name.at);
	report_diagnostic(l, TACH_DIAGNOSTIC_NOTE, r->line, r->name.column, text);
}

/* The earlier definition of the name: a definition, one of the library's own, or empty. */
struct before {
	bool is;
	const struct tach__definition *definition;
};

/* Called with the lock, so it reports nothing: the report function may call the registry. */
static void insert_record(struct load *l, const struct tach__record *r, struct before *before)
{
	static const int every = TACH__EVERY_PMU;
	struct tach_derived *d = l->d;
	const int *pmus = l->anywhere ? &every : l->pmus;
	int n = l->anywhere ? 1 : l->npmus;
	struct tach__definition *x = n ? keep_record(l, r) : NULL;

	l->no_memory |= n && !x;
	for (int i = 0; i < n && x; i++) {
		struct tach__entry *e;

		if (!tach__derived_reserve(d)) {
			l->no_memory = true;
			return;
		}
		e = tach__derived_slot(d, pmus[i], r->name.at, r->name.length);
		if (!before->is &&
		    (e->definition ||
		     (d->opt.flags & TACH_DERIVED_PRESETS && pmus[i] >= 0 &&
		      tach__preset_find(pmus[i], r->name.at, r->name.length) >= 0)))
			*before = (struct before){true, e->definition};
		d->used += !e->definition;
		*e = (struct tach__entry){x, pmus[i], ++d->order};
	}
	free(d->listing);
	d->listing = NULL;
}

static void take_record(void *context, const struct tach__record *r)
{
	struct load *l = context;
	struct before before = {false, NULL};

	l->taken++;
	tach__derived_enter(l->d);
	insert_record(l, r, &before);
	tach__derived_leave();
	if (before.is)
		note_replaced(l, r, before.definition);
}

int tach_derived_load_text(struct tach_derived *d, const char *name, const char *text,
			   size_t length, struct tach_error *err)
{
	struct load l = {.d = d, .anywhere = true};
	struct tach__derived_sink sink = {&l, take_cpu, take_record, report_diagnostic,
					  &l.no_memory};
	struct tach__source *source;

	if (!d || !name || (!text && length))
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no text to load");
	if (length > TACH__D_FILE_MAX)
		return tach__derived_too_large(name, err);
	source = malloc(sizeof *source + strlen(name) + 1);
	if (!source)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	strcpy(source->name, name);
	l.file = source->name;
	tach__derived_enter(d);
	source->next = d->sources;
	d->sources = source;
	tach__derived_leave();
	tach__derived_parse(text, length, &sink);
	if (l.no_memory)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	return l.taken;
}

void tach__derived_complain(struct tach_derived *d, const char *file, const char *text)
{
	struct load l = {.d = d, .file = file};

	report_diagnostic(&l, TACH_DIAGNOSTIC_ERROR, 0, 0, text);
}

int tach_derived_load(struct tach_derived *d, const char *path, struct tach_error *err)
{
	char *text;
	size_t length;
	int rc;

	if (!d || !path)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no file to load");
	rc = tach__derived_slurp(path, &text, &length, err);
	if (rc < 0)
		return rc;
	rc = tach_derived_load_text(d, path, text, length, err);
	free(text);
	return rc;
}
