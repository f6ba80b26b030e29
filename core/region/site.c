/* SPDX-License-Identifier: MIT */
/*
 * Sites: the places in the program that have a region. The registry copies their strings and
 * keeps them for ever, because the program's `struct tach_site` may be unloaded with its
 * library.
 */
#include <string.h>
#include "core/region/beacon.h"
#include "core/base/text.h"
#include "core/region/region.h"

enum { BUCKETS = 1024, ARENA = 64 * 1024 };

/* Access these with the lock held. */
static struct tach__site *bucket[BUCKETS];
static char *arena, *arena_end;

static void *arena_take(size_t size)
{
	void *p;

	size = (size + 15) & ~(size_t)15;
	if ((size_t)(arena_end - arena) < size) {
		size_t take = size > ARENA ? size : ARENA;
		char *fresh = tach__pages(take);

		if (!fresh)
			return NULL;
		arena = fresh;
		arena_end = fresh + take;
	}
	p = arena;
	arena += size;
	return p;
}

static uint32_t hash(const char *s, uint32_t h)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u; /* FNV-1a */
	return h;
}

/* Finds the site of `home`. One site may have several `struct tach_site`: in templates, inline
 * functions, or a library that was loaded again. */
static struct tach__site *find(const struct tach_site *home, uint32_t h)
{
	struct tach__site *site;

	for (site = bucket[h % BUCKETS]; site; site = site->next)
		if (site->line == home->line && site->fenced == home->fenced &&
		    strcmp(site->name, home->name) == 0 && strcmp(site->file, home->file) == 0)
			return site;
	return NULL;
}

static uint32_t hash_of(const char *file, const char *name, uint32_t line)
{
	return hash(file, hash(name, 2166136261u + line));
}

/* Makes the site visible to find(). */
static void publish_site(struct tach__site *site)
{
	struct tach__site **first =
		&bucket[hash_of(site->file, site->name, site->line) % BUCKETS];

	site->next = *first;
	*first = site;
	cds_list_add_tail_rcu(&site->node, &tach__registry.sites);
}

/* Copies the parts of a row of the region `of`. */
static int parts_copy(struct tach__site *site, const char *of, const struct tach__parts *parts)
{
	size_t base = strlen(of) + 1, task = strlen(parts->task) + 1,
	       tag = strlen(parts->tag) + 1, thread = strlen(parts->thread) + 1;
	char *text = arena_take(base + task + tag + thread);

	if (!text)
		return 0;
	site->of = memcpy(text, of, base);
	site->parts.task = memcpy(text + base, parts->task, task);
	site->parts.tag = memcpy(text + base + task, parts->tag, tag);
	site->parts.thread = memcpy(text + base + task + tag, parts->thread, thread);
	return 1;
}

static struct tach__site *make_site(const struct tach_site *home, const char *of,
				    const struct tach__parts *parts)
{
	struct tach__registry *r = &tach__registry;
	size_t name = strlen(home->name) + 1, file = strlen(home->file) + 1;
	size_t function = strlen(home->function) + 1;
	struct tach__site *site;
	char *text;

	if (!r->by_id)
		r->by_id = tach__pages((size_t)TACH__CHUNKS * TACH__CHUNK_SLOTS *
				       sizeof(*r->by_id));
	if (!r->by_id || r->nsites == TACH__CHUNKS * TACH__CHUNK_SLOTS)
		return NULL;
	site = arena_take(sizeof *site);
	text = arena_take(name + file + function);
	if (!site || !text)
		return NULL;
	site->name = memcpy(text, home->name, name);
	site->file = memcpy(text + name, home->file, file);
	site->function = memcpy(text + name + file, home->function, function);
	site->of = site->name;
	site->parts = (struct tach__parts){"", "", ""};
	if (parts && !parts_copy(site, of, parts))
		return NULL;
	site->line = home->line;
	site->fenced = home->fenced;
	site->id = r->nsites;
	r->by_id[site->id] = site;
	/* After this store the site exists, because tach__sites_mend uses this number. */
	__atomic_store_n(&r->nsites, site->id + 1, __ATOMIC_RELEASE);
	publish_site(site);
	return site;
}

/* Repairs a child whose parent had another thread in the middle of a change. Sites are
 * complete. The buckets, the list of sites and the ends of the arena may be inconsistent. */
void tach__sites_mend(void)
{
	struct tach__registry *r = &tach__registry;

	arena = arena_end = NULL;
	memset(bucket, 0, sizeof bucket);
	CDS_INIT_LIST_HEAD(&r->sites);
	for (uint32_t id = TACH__SITE_FIRST; id < r->nsites; id++)
		publish_site(r->by_id[id]);
	if (r->config)
		__atomic_store_n(&r->generation, r->config->generation, __ATOMIC_SEQ_CST);
}

static int home_add(struct tach__site *site, struct tach_site *at)
{
	struct tach__home *home;

	for (home = site->homes; home; home = home->next)
		if (home->at == at)
			return 1; /* a library was loaded at the same address again */
	home = arena_take(sizeof *home);
	if (!home)
		return 0;
	home->at = at;
	home->owned = (at->line == 0 && at->file[0] == '\0') ||
		      (at->fenced & TACH__SITE_HELPERS) != 0;
	home->next = site->homes;
	__atomic_store_n(&site->homes, home, __ATOMIC_RELEASE); /* complete in a forked child */
	return 1;
}

void tach__site_select(struct tach__site *site)
{
	const char *name = site->owner ? tach__site_at(site->owner)->name : site->name;

	site->selected =
		(site->fenced & TACH__SITE_GATE) || tach__glob_list(tach__registry.only, name);
}

uint32_t tach__site_register(struct tach_site *home)
{
	struct tach__registry *r = &tach__registry;
	uint32_t h = hash_of(home->file, home->name, home->line);
	struct tach__site *site = find(home, h);
	uint32_t id = TACH_SITE_OFF;

	if (!site)
		site = make_site(home, NULL, NULL);
	if (site && home_add(site, home)) {
		tach__site_select(site);
		if (r->enabled && site->selected)
			id = site->id;
	} else {
		r->unplaced++;
	}
	/* by_id was written before: a thread that sees the id reads it without the lock. */
	__atomic_store_n(&home->id, (uint64_t)id, __ATOMIC_RELEASE);
	return id;
}

uint32_t tach__site_part(const struct tach__site *base, const char *name,
			 const struct tach__parts *parts)
{
	struct tach_site key = {.line = base->line,
				.fenced = (base->fenced & TACH__SITE_FENCED_BIT) |
					  TACH__SITE_PART,
				.name = name,
				.file = base->file,
				.function = base->function};
	struct tach__site *site = find(&key, hash_of(key.file, key.name, key.line));

	if (!site)
		site = make_site(&key, base->of, parts);
	if (site)
		TACH__SET(site->whole, base->whole ? base->whole : base->id);
	return site ? site->id : base->id;
}

/* Makes a site with the owner's place in the source. */
static struct tach__site *site_beside(const struct tach__site *owner, const char *suffix,
				      uint32_t kind, struct tach_site *home)
{
	size_t size = strlen(owner->name) + strlen(suffix) + 1;
	char *name = arena_take(size);
	struct tach__site *site;

	if (!name || !home)
		return NULL;
	memcpy(stpcpy(name, owner->name), suffix, strlen(suffix) + 1);
	*home = (struct tach_site){tach__begin_here, TACH_SITE_NEW,  owner->line, kind, name,
				   owner->file,	     owner->function};
	site = find(home, hash_of(home->file, home->name, home->line));
	return site ? site : make_site(home, NULL, NULL);
}

struct tach_site *tach__site_helpers(struct tach__site *owner)
{
	struct tach_site *home, unused;
	struct tach__site *helpers, *team;

	if (owner->helpers)
		return owner->helpers;
	home = arena_take(sizeof *home);
	helpers = site_beside(owner, " [helpers]", TACH__SITE_HELPERS, home);
	team = site_beside(owner, " [with team]", TACH__SITE_PART | TACH__SITE_TEAM, &unused);
	if (!helpers || !team) {
		tach__registry.unplaced += !tach__registry.unplaced; /* reports say so */
		return NULL;
	}
	helpers->owner = owner->id;
	tach__site_register(home);
	TACH__SET(helpers->team, team->id);
	TACH__SET(owner->team, team->id);
	__atomic_store_n(&owner->helpers, home, __ATOMIC_RELEASE);
	return home;
}

struct tach__site *tach__site_at(uint32_t id)
{
	return tach__registry.by_id[id];
}

/* Returns 1 if the list selects the name. The last glob that matches decides. If no glob
 * matches, a list whose first glob has "!" selects the name. */
int tach__glob_list(const char *globs, const char *name)
{
	int selected = *globs == '\0' || *globs == '!';

	while (*globs) {
		int exclude = *globs == '!';
		const char *begin = globs + exclude;
		const char *end = strchrnul(begin, ',');

		if (tach__glob(begin, end, name))
			selected = !exclude;
		globs = *end ? end + 1 : end;
	}
	return selected;
}

/* ---- sites by name ---- */

struct tach_site *tach__site_get_here(const char *name)
{
	struct named {
		struct tach_site site;
		struct named *next;
		char name[];
	} * named;
	static struct named *all[BUCKETS];
	static uint32_t count;
	struct tach__held held;
	struct named **first;

	if (!name)
		return NULL;
	tach__lock(&held);
	first = &all[hash(name, 2166136261u) % BUCKETS];
	for (named = *first; named && strcmp(named->name, name) != 0; named = named->next)
		;
	if (!named && count < TACH_SITES_MAX &&
	    (named = arena_take(sizeof *named + strlen(name) + 1))) {
		strcpy(named->name, name);
		named->site = (struct tach_site){
			tach__begin_here, TACH_SITE_NEW, 0, 0, named->name, "", ""};
		named->next = *first;
		__atomic_store_n(first, named, __ATOMIC_RELEASE); /* the same as in home_add */
		count++;
	}
	tach__unlock(&held);
	return named ? &named->site : NULL;
}

struct tach_site *tach_site_get(const char *name)
{
	const struct tach__beacon *owner = tach__beacon_owner();

	return owner ? owner->site_get(name) : tach__site_get_here(name);
}
