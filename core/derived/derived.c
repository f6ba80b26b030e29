/* SPDX-License-Identifier: MIT */
/*
 * The registry of derived events: definitions by PMU and name. Definitions are only added, and
 * stay where they are until the registry is freed, so results of look-ups stay valid.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include "core/derived/derived.h"
#include "core/derived/files.h"
#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/derived/presets.h"
#include "core/derived/registry.h"
#include "core/tables/tables.h"

/*
 * One lock serves all registries, so that a forked child can free it. It is held around malloc
 * and the parser, and no lock of the library is taken while it is held. START, STOP and
 * functions for signal handlers never take it. No fork hook takes it, because a handler that
 * forks may have interrupted the thread with the lock. A child may find a registry in the
 * middle of a change by another thread of its parent. If it is the process's own registry, it
 * is made again; other registries belong to their users.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The registry that the thread with the lock is using. */
static const struct tach_derived *inside;

/* The process's own registry. The first call that needs it makes it; without memory, the next
 * call tries again. */
static struct tach_derived *_Atomic own;

void tach__derived_enter(const struct tach_derived *d)
{
	pthread_mutex_lock(&lock);
	inside = d;
}

void tach__derived_leave(void)
{
	inside = NULL;
	pthread_mutex_unlock(&lock);
}

static void forked_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (inside && inside == own)
		own = NULL;
	inside = NULL;
}

__attribute__((constructor(101))) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked_child);
}

const struct tach_derived_options *tach__derived_options(const struct tach_derived *d)
{
	return &d->opt;
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
	if (d->opt.flags & TACH_DERIVED_USER && tach__derived_user_files(d)) {
		tach_derived_free(d);
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	*out = d;
	return 0;
}

void tach_derived_free(struct tach_derived *d)
{
	if (!d)
		return;
	while (d->definitions) {
		struct tach__definition *next = d->definitions->next;

		free(d->definitions);
		d->definitions = next;
	}
	while (d->sources) {
		struct tach__source *next = d->sources->next;

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
	const struct tach__entry *e;
	int i;

	tach__derived_enter(d);
	e = tach__derived_entry(d, pmu, name, length);
	if (e)
		*info = e->definition->info;
	tach__derived_leave();
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

/* Lists the definitions that are valid for that PMU. Returns -1 if there is no memory. */
static int list_definitions(struct tach_derived *d, int pmu)
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
		const struct tach__entry *e = &d->entry[i];

		if (e->definition && (e->pmu == pmu || e->pmu == TACH__EVERY_PMU) &&
		    tach__derived_entry(d, pmu, e->definition->info.name,
					strlen(e->definition->info.name)) == e)
			d->listing[n++] = e->definition->info;
	}
	for (int i = 0; i < presets; i++) {
		tach__preset_at(pmu, i, &d->listing[n]);
		n += !tach__derived_entry(d, pmu, d->listing[n].name,
					  strlen(d->listing[n].name));
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
	tach__derived_enter(d);
	n = list_definitions(d, tach__derived_pmu(pmu)) ? TACH_ERR_NOMEM : d->listing_count;
	tach__derived_leave();
	return n;
}

int tach_derived_at(struct tach_derived *d, int pmu, int i, struct tach_derived_info *info)
{
	int rc = TACH_ERR_INVAL;

	if (!d || !info)
		return rc;
	tach__derived_enter(d);
	if (list_definitions(d, tach__derived_pmu(pmu)))
		rc = TACH_ERR_NOMEM;
	else if (i >= 0 && i < d->listing_count)
		rc = hand_out(info, &d->listing[i]);
	tach__derived_leave();
	return rc;
}

/* ---- the process's own ---- */

struct tach_derived *tach_derived_default(void)
{
	static const struct tach_derived_options opt = {.flags = TACH_DERIVED_PRESETS |
								 TACH_DERIVED_USER};
	struct tach_derived *have = own, *made;

	if (have || tach_derived_create(&opt, &made, NULL))
		return have;
	if (atomic_compare_exchange_strong(&own, &have, made))
		return made;
	tach_derived_free(made); /* another thread was first */
	return have;
}

bool tach__derived_is_default(const struct tach_derived *d)
{
	return d == own;
}
