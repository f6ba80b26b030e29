/* SPDX-License-Identifier: MIT */
/*
 * The registry of derived events: definitions by PMU and name. Definitions are only ever added,
 * and stay where they are until the registry is freed, so that what look-ups hand out lives on.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include "core/derived/derived.h"
#include "core/derived/parse.h"
#include "core/derived/files.h"
#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/derived/presets.h"
#include "core/tables/tables.h"

#define EVERY_PMU (-1)
#define PMUS_MAX  512

/* A record of a file with its strings. */
struct definition {
	struct definition *next;
	struct tach_derived_info info;
	char strings[];
};

/* A file's name, shared by its definitions. */
struct source {
	struct source *next;
	char name[];
};

struct entry {
	const struct definition *definition; /* NULL: free */
	int pmu;
	unsigned order;
};

struct tach_derived {
	struct tach_derived_options opt;
	struct definition *definitions;
	struct source *sources;
	struct entry *entry; /* open addressing, a power of two, at most half full */
	size_t capacity, used;
	unsigned order;
	/* The names of one PMU, sorted: made by the first enumeration. */
	struct tach_derived_info *listing;
	int listing_pmu, listing_count;
};

/*
 * One lock for all registries, so that a forked child can be given it free. It is held around
 * malloc and the parser, and no lock of the library's is taken inside; nothing that START, STOP
 * or a signal handler may call takes it. No hook holds it over a fork: a handler that forks may
 * have interrupted its holder. The child may so find a registry torn that another thread of
 * its parent was in: the process's own is then made anew, others are their users'.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct tach_derived *inside; /* who has the lock is in this one */

/*
 * A fork amid it begins it anew in the child (glibc counts forks in the word), and what it
 * takes is the lock above and malloc's.
 */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct tach_derived *own;

static void enter(const struct tach_derived *d)
{
	pthread_mutex_lock(&lock);
	inside = d;
}

static void leave(void)
{
	inside = NULL;
	pthread_mutex_unlock(&lock);
}

static void forked_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (own && inside == own) {
		own = NULL;
		once = (pthread_once_t)PTHREAD_ONCE_INIT;
	}
	inside = NULL;
}

__attribute__((constructor(101))) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked_child);
}

/* One file being loaded. */
struct load {
	struct tach_derived *d;
	const char *file;
	int pmus[PMUS_MAX], npmus;
	bool anywhere; /* no CPU line yet */
	int taken;
	bool no_memory;
};

double tach__derived_max_hz(const struct tach_derived *d)
{
	return d->opt.max_hz;
}

/* ---- the table ---- */

static size_t hash(int pmu, const char *name, size_t length)
{
	uint64_t h = 14695981039346656037u ^ (uint64_t)(pmu + 1);

	for (size_t i = 0; i < length; i++)
		h = (h ^ tach__fold(name[i])) * 1099511628211u;
	return (size_t)(h ^ h >> 29);
}

/* The entry of that name, or the free one where it belongs. */
static struct entry *slot(const struct tach_derived *d, int pmu, const char *name,
			  size_t length)
{
	size_t i = hash(pmu, name, length) & (d->capacity - 1);

	while (d->entry[i].definition &&
	       (d->entry[i].pmu != pmu ||
		tach__name_compare(name, length, d->entry[i].definition->info.name)))
		i = (i + 1) & (d->capacity - 1);
	return &d->entry[i];
}

static bool reserve(struct tach_derived *d)
{
	struct entry *old = d->entry;
	size_t n = d->capacity;

	if (2 * (d->used + 1) <= n)
		return true;
	d->entry = calloc(n ? 2 * n : 256, sizeof *old);
	if (!d->entry) {
		d->entry = old;
		return false;
	}
	d->capacity = n ? 2 * n : 256;
	for (size_t i = 0; i < n; i++)
		if (old[i].definition) {
			const char *name = old[i].definition->info.name;

			*slot(d, old[i].pmu, name, strlen(name)) = old[i];
		}
	free(old);
	return true;
}

static const struct entry *find_loaded(const struct tach_derived *d, int pmu, const char *name,
				       size_t length)
{
	const struct entry *here, *every;

	if (!d->capacity)
		return NULL;
	here = slot(d, pmu, name, length);
	every = slot(d, EVERY_PMU, name, length);
	if (!every->definition)
		return here->definition ? here : NULL;
	return here->definition && here->order > every->order ? here : every;
}

/* ---- loading ---- */

static void report(void *context, enum tach_diagnostic_level level, int line, int column,
		   const char *text)
{
	const struct load *l = context;
	struct tach_diagnostic diagnostic = {
		sizeof diagnostic, level, l->file, line, column, text};

	if (l->d->opt.report)
		l->d->opt.report(l->d->opt.context, &diagnostic);
}

static void cpu(void *context, const struct tach__span *name, int line, bool first)
{
	struct load *l = context;
	int n;

	if (first)
		l->npmus = 0;
	l->anywhere = false;
	if (!name->length)
		return;
	n = tach__derived_cpu(name->at, name->length, l->pmus + l->npmus, PMUS_MAX - l->npmus);
	l->npmus += n;
	if (!n) {
		char text[200];

		snprintf(text, sizeof text, "no PMU here is called '%.*s'",
			 name->length > 100 ? 100 : (int)name->length, name->at);
		report(l, TACH_DIAGNOSTIC_NOTE, line, name->column, text);
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

static struct definition *keep(struct load *l, const struct tach__record *r)
{
	size_t size = r->name.length + r->formula.length + r->long_description.length +
		      r->short_description.length + r->note.length + 5;
	struct definition *x;
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
	};
	x->info.events = at;
	for (int i = 0; i < r->nevents; i++)
		append(&at, &r->event[i]);
	x->info.name = append(&at, &r->name);
	x->info.formula = append(&at, &r->formula);
	x->info.long_description = append(&at, &r->long_description);
	x->info.short_description = append(&at, &r->short_description);
	x->info.note = append(&at, &r->note);
	x->next = l->d->definitions;
	l->d->definitions = x;
	return x;
}

static void note_replaced(struct load *l, const struct tach__record *r,
			  const struct definition *old)
{
	char text[256];

	if (old)
		snprintf(text, sizeof text, "replaces the definition of %.100s in %.90s:%d",
			 old->info.name, old->info.file, old->info.line);
	else
		snprintf(text, sizeof text, "replaces the library's own %.*s",
			 (int)r->name.length, r->name.at);
	report(l, TACH_DIAGNOSTIC_NOTE, r->line, r->name.column, text);
}

static void record(void *context, const struct tach__record *r)
{
	static const int every = EVERY_PMU;
	struct load *l = context;
	struct tach_derived *d = l->d;
	const int *pmus = l->anywhere ? &every : l->pmus;
	int n = l->anywhere ? 1 : l->npmus;
	struct definition *x = n ? keep(l, r) : NULL;
	bool noted = false;

	l->taken++;
	if (n && !x)
		l->no_memory = true;
	for (int i = 0; i < n && x; i++) {
		struct entry *e;

		if (!reserve(d)) {
			l->no_memory = true;
			return;
		}
		e = slot(d, pmus[i], r->name.at, r->name.length);
		if (!noted && (e->definition ||
			       (d->opt.flags & TACH_DERIVED_PRESETS && pmus[i] >= 0 &&
				tach__preset_find(pmus[i], r->name.at, r->name.length) >= 0))) {
			noted = true;
			if (e->definition != x)
				note_replaced(l, r, e->definition);
		}
		d->used += !e->definition;
		*e = (struct entry){x, pmus[i], ++d->order};
	}
}

int tach_derived_load_text(struct tach_derived *d, const char *name, const char *text,
			   size_t length, struct tach_error *err)
{
	struct load l = {.d = d, .anywhere = true};
	struct tach__derived_sink sink = {&l, cpu, record, report};
	struct source *source;

	if (!d || !name || (!text && length))
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no text to load");
	source = malloc(sizeof *source + strlen(name) + 1);
	if (!source)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	strcpy(source->name, name);
	l.file = source->name;
	enter(d);
	source->next = d->sources;
	d->sources = source;
	tach__derived_parse(text, length, &sink);
	free(d->listing);
	d->listing = NULL;
	leave();
	if (l.no_memory)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	return l.taken;
}

void tach__derived_complain(struct tach_derived *d, const char *file, const char *text)
{
	struct load l = {.d = d, .file = file};

	report(&l, TACH_DIAGNOSTIC_ERROR, 0, 0, text);
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

/* ---- life ---- */

int tach_derived_create(const struct tach_derived_options *opt, struct tach_derived **out,
			struct tach_error *err)
{
	struct tach_derived_options ours;
	struct tach_derived *d;

	if (!out)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "nowhere to put the registry");
	if (opt) {
		opt = tach__sized_in(opt, &ours, TACH__STRUCT(tach_derived_options), err);
		if (!opt)
			return TACH_ERR_INVAL;
	}
	if (opt && opt->flags & ~(TACH_DERIVED_PRESETS | TACH_DERIVED_USER))
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "unknown flags %#x", opt->flags);
	d = calloc(1, sizeof *d);
	if (!d)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	if (opt)
		d->opt = *opt;
	if (d->opt.flags & TACH_DERIVED_USER)
		tach__derived_user_files(d);
	*out = d;
	return 0;
}

void tach_derived_free(struct tach_derived *d)
{
	if (!d)
		return;
	while (d->definitions) {
		struct definition *next = d->definitions->next;

		free(d->definitions);
		d->definitions = next;
	}
	while (d->sources) {
		struct source *next = d->sources->next;

		free(d->sources);
		d->sources = next;
	}
	free(d->entry);
	free(d->listing);
	free(d);
}

/* ---- asking ---- */

int tach__derived_pmu(int pmu)
{
	int host;

	if (pmu != -1)
		return pmu;
	return tach_pmu_host(&host, 1, NULL) > 0 ? host : -1;
}

static int hand_out(struct tach_derived_info *out, const struct tach_derived_info *info)
{
	if (!tach__sized(out, TACH__STRUCT(tach_derived_info), NULL))
		return TACH_ERR_INVAL;
	tach__sized_done(out, info, TACH__STRUCT(tach_derived_info));
	return 0;
}

int tach__derived_find(struct tach_derived *d, int pmu, const char *name, size_t length,
		       struct tach_derived_info *info)
{
	const struct entry *e;
	int i;

	enter(d);
	e = find_loaded(d, pmu, name, length);
	if (e)
		*info = e->definition->info;
	leave();
	if (e)
		return 0;
	if (!(d->opt.flags & TACH_DERIVED_PRESETS) || pmu < 0)
		return TACH_ERR_NOTFOUND;
	i = tach__preset_find(pmu, name, length);
	if (i < 0)
		return TACH_ERR_NOTFOUND;
	tach__preset_at(pmu, i, info);
	return 0;
}

int tach_derived_find(struct tach_derived *d, int pmu, const char *name,
		      struct tach_derived_info *info)
{
	struct tach_derived_info found = {.size = sizeof found};
	int rc;

	if (!d || !name || !info)
		return TACH_ERR_INVAL;
	rc = tach__derived_find(d, tach__derived_pmu(pmu), name, strlen(name), &found);
	return rc ? rc : hand_out(info, &found);
}

static int by_name(const void *a, const void *b)
{
	const struct tach_derived_info *x = a, *y = b;

	return tach__name_compare(x->name, strlen(x->name), y->name);
}

/* What is in force for that PMU. -1: no memory. */
static int list(struct tach_derived *d, int pmu)
{
	int presets =
		d->opt.flags & TACH_DERIVED_PRESETS && pmu >= 0 ? tach__preset_count(pmu) : 0;
	int n = 0;

	if (d->listing && d->listing_pmu == pmu)
		return 0;
	free(d->listing);
	d->listing = calloc(d->used + (size_t)presets + 1, sizeof *d->listing);
	if (!d->listing)
		return -1;
	for (size_t i = 0; i < d->capacity; i++) {
		const struct entry *e = &d->entry[i];

		if (e->definition && (e->pmu == pmu || e->pmu == EVERY_PMU) &&
		    find_loaded(d, pmu, e->definition->info.name,
				strlen(e->definition->info.name)) == e)
			d->listing[n++] = e->definition->info;
	}
	for (int i = 0; i < presets; i++) {
		tach__preset_at(pmu, i, &d->listing[n]);
		n += !find_loaded(d, pmu, d->listing[n].name, strlen(d->listing[n].name));
	}
	qsort(d->listing, (size_t)n, sizeof *d->listing, by_name);
	d->listing_pmu = pmu;
	d->listing_count = n;
	return 0;
}

int tach_derived_count(struct tach_derived *d, int pmu)
{
	int n;

	if (!d)
		return TACH_ERR_INVAL;
	enter(d);
	n = list(d, tach__derived_pmu(pmu)) ? TACH_ERR_NOMEM : d->listing_count;
	leave();
	return n;
}

int tach_derived_at(struct tach_derived *d, int pmu, int i, struct tach_derived_info *info)
{
	int rc = TACH_ERR_INVAL;

	if (!d || !info)
		return rc;
	enter(d);
	if (list(d, tach__derived_pmu(pmu)))
		rc = TACH_ERR_NOMEM;
	else if (i >= 0 && i < d->listing_count)
		rc = hand_out(info, &d->listing[i]);
	leave();
	return rc;
}

/* ---- the process's own ---- */

static void make_own(void)
{
	static const struct tach_derived_options opt = {.flags = TACH_DERIVED_PRESETS |
								 TACH_DERIVED_USER};

	if (tach_derived_create(&opt, &own, NULL))
		own = NULL;
}

struct tach_derived *tach_derived_default(void)
{
	pthread_once(&once, make_own);
	return own;
}
