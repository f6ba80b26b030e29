/* SPDX-License-Identifier: MIT */
/* The registry of sites: its memory, identity of sites, and its state in a child. */
#include <stdlib.h>
#include <string.h>
#include "core/region/beacon.h"
#include "core/region/region.h"
#include "tests/check.h"
#include "tests/ordered.h"

/* allowed: number of allocations that still succeed; below 0: unlimited */
static int had, allowed = -1;
static size_t had_size;

static void *sim_pages(size_t size)
{
	if (allowed == 0)
		return NULL;
	allowed -= allowed > 0;
	had++;
	had_size = size;
	return tach__pages(size);
}

static int locked, locks;

static void sim_lock(struct tach__held *held)
{
	CHECK(!locked++ && held);
	locks++;
}

static void sim_unlock(const struct tach__held *held)
{
	CHECK(locked-- == 1 && held);
}

static struct tach__beacon *the_owner;

/*
 * Sites are found by number without the lock, so a site is complete before its number is
 * stored.
 */
static void ordered(const void *at, int order)
{
	const struct tach__registry *r = &tach__registry;

	if (at == &r->nsites)
		CHECK(order == __ATOMIC_RELEASE && r->by_id[r->nsites] &&
		      r->by_id[r->nsites]->id == r->nsites);
}

#define tach__pages	     sim_pages
#define tach__lock	     sim_lock
#define tach__unlock	     sim_unlock
#define tach__beacon_owner() the_owner
#include "core/region/site.c"

enum { MOST = (int)(TACH__CHUNKS * TACH__CHUNK_SLOTS) };

/* ---- memory ---- */

static void arena_pieces(void)
{
	char *first, *at;

	arena = arena_end = NULL;
	had = 0;
	first = arena_take(1);
	CHECK(first && had == 1 && had_size == (size_t)64 * 1024);
	CHECK((char *)arena_take(16) == first + 16 && (char *)arena_take(17) == first + 32);
	CHECK((char *)arena_take(32) == first + 64);
	/* The block is used to its last byte. */
	CHECK((char *)arena_take(64 * 1024 - 96 - 16) == first + 96);
	CHECK((char *)arena_take(16) == first + 64 * 1024 - 16 && had == 1);
	at = arena;
	allowed = 0;
	CHECK(!arena_take(1) && arena == at && arena_end == at);
	allowed = -1;
	CHECK(arena_take(1) && had == 2 && had_size == (size_t)64 * 1024);
	/* A larger request gets pages of its own. */
	CHECK(arena_take(70000) && had == 3 && had_size == 70000 && arena == arena_end);
}

/* FNV-1a as published (Fowler, Noll, Vo): it distributes sites over the buckets. */
static void hashes(void)
{
	CHECK(hash("", 7) == 7 && hash("a", 2166136261u) == 0xe40c292cu);
	CHECK(hash("foobar", 2166136261u) == 0xbf9cf968u);
	CHECK(hash("\xff", 0) == (uint32_t)(255 * 16777619u));
	CHECK(hash_of("bar", "foo", 0) == 0xbf9cf968u);
	CHECK(hash_of("", "", 5) == 2166136266u);
}

/* ---- identity of a site ---- */

static struct tach_site home_of(const char *name, const char *file, uint32_t line)
{
	return (struct tach_site){.id = TACH_SITE_NEW,
				  .line = line,
				  .name = name,
				  .file = file,
				  .function = "function"};
}

static void begin(void)
{
	struct tach__registry *r = &tach__registry;

	memset(bucket, 0, sizeof bucket);
	memset(r, 0, sizeof *r);
	CDS_INIT_LIST_HEAD(&r->sites);
	CDS_INIT_LIST_HEAD(&r->threads);
	r->nsites = TACH__SITE_FIRST;
	r->enabled = 1;
	arena = arena_end = NULL;
	allowed = -1;
	had = 0;
}

static void registered_site_has_all_fields(void)
{
	struct tach_site a = home_of("a name, 15 long", "a file", 12);
	struct tach__site *site;
	uint32_t id;

	begin();
	a.fenced = 1;
	id = tach__site_register(&a);
	CHECK(id == TACH__SITE_FIRST && a.id == id && tach__registry.nsites == id + 1);
	CHECK(had == 2, "%d", had);
	site = tach__site_at(id);
	CHECK(site->id == id && site->line == 12 && site->fenced == 1 && site->selected == 1);
	CHECK(strcmp(site->name, "a name, 15 long") == 0 && site->name != a.name);
	CHECK(strcmp(site->file, "a file") == 0 && strcmp(site->function, "function") == 0);
	/* The strings use only the bytes that they need. */
	CHECK(site->file == site->name + 16 && site->function == site->file + 7);
	CHECK((char *)site->homes == (char *)(uintptr_t)site->name + 32);
	CHECK(site->of == site->name && !*site->parts.task && !*site->parts.tag &&
	      !*site->parts.thread);
	CHECK(site->homes->at == &a && !site->homes->next && !site->homes->owned);
	CHECK(tach__registry.sites.next == &site->node && !site->next);
	CHECK(arena == (char *)(site->homes + 1) + (-sizeof *site->homes & 15));
}

static void sites_are_distinguished_by_place(void)
{
	struct tach_site a = home_of("a", "f", 1), b = a, c = home_of("c", "f", 1),
			 d = home_of("a", "g", 1), e = home_of("a", "f", 2), f = a;
	struct tach__site *site;

	begin();
	f.fenced = 1;
	CHECK(tach__site_register(&a) == TACH__SITE_FIRST);
	CHECK(tach__site_register(&b) == TACH__SITE_FIRST && b.id == a.id);
	CHECK(tach__site_register(&c) == TACH__SITE_FIRST + 1);
	CHECK(tach__site_register(&d) == TACH__SITE_FIRST + 2);
	CHECK(tach__site_register(&e) == TACH__SITE_FIRST + 3);
	CHECK(tach__site_register(&f) == TACH__SITE_FIRST + 4);
	CHECK(tach__site_register(&a) == TACH__SITE_FIRST);
	/* A word that is registered again at the same place counts once. */
	site = tach__site_at(TACH__SITE_FIRST);
	CHECK(site->homes->at == &b && site->homes->next->at == &a && !site->homes->next->next);
}

static void sites_have_owners(void)
{
	struct tach_site a = home_of("a", "", 0), b = home_of("a", "f", 0),
			 c = home_of("a", "", 7);

	begin();
	CHECK(tach__site_at(tach__site_register(&a))->homes->owned == 1);
	CHECK(tach__site_at(tach__site_register(&b))->homes->owned == 0);
	CHECK(tach__site_at(tach__site_register(&c))->homes->owned == 0);
}

/* All sites are in one bucket, in the order in which they were made. */
static void one_bucket(void)
{
	static struct tach_site home[3];
	struct tach__site *site;
	uint32_t h = hash_of("f", "a", 1) % BUCKETS, line = 1;
	uint32_t id = TACH__SITE_FIRST;

	begin();
	for (int i = 0; i < 3; i++, line++) {
		while (hash_of("f", "a", line) % BUCKETS != h)
			line++;
		home[i] = home_of("a", "f", line);
		CHECK(tach__site_register(&home[i]) == id + (uint32_t)i);
	}
	CHECK(bucket[h] == tach__site_at(id + 2) && bucket[h]->next == tach__site_at(id + 1) &&
	      bucket[h]->next->next == tach__site_at(id) && !bucket[h]->next->next->next);
	for (int i = 0; i < 3; i++)
		CHECK(tach__site_register(&home[i]) == id + (uint32_t)i);
	cds_list_for_each_entry(site, &tach__registry.sites, node) CHECK(site->id == id++);
	CHECK(id == TACH__SITE_FIRST + 3);
}

static void switched(void)
{
	struct tach_site a = home_of("a", "f", 1), gate = home_of("a", "f", 2);

	begin();
	strcpy(tach__registry.only, "b*");
	CHECK(tach__site_register(&a) == TACH_SITE_OFF && a.id == TACH_SITE_OFF);
	CHECK(tach__site_at(TACH__SITE_FIRST)->selected == 0);
	gate.fenced = TACH__SITE_GATE | 1;
	CHECK(tach__site_register(&gate) == TACH__SITE_FIRST + 1 && gate.id);
	strcpy(tach__registry.only, "a");
	CHECK(tach__site_register(&a) == TACH__SITE_FIRST && a.id == TACH__SITE_FIRST);
	tach__registry.enabled = 0;
	CHECK(tach__site_register(&a) == TACH_SITE_OFF && a.id == TACH_SITE_OFF);
	CHECK(tach__site_at(TACH__SITE_FIRST)->selected == 1);
}

/* Without memory there is no site, or the site has no home and is switched off. */
static void without_memory(void)
{
	struct tach_site a = home_of("a", "f", 1);
	char *end;

	begin();
	allowed = 0;
	CHECK(tach__site_register(&a) == TACH_SITE_OFF && a.id == TACH_SITE_OFF);
	CHECK(!tach__registry.by_id && tach__registry.nsites == TACH__SITE_FIRST);
	allowed = 1;
	CHECK(tach__site_register(&a) == TACH_SITE_OFF && tach__registry.by_id);
	CHECK(had_size == MOST * sizeof(void *) && tach__registry.nsites == TACH__SITE_FIRST);
	allowed = -1;
	arena_take(1);
	allowed = 0;
	end = arena_end;
	/* Fails the memory for the strings, for the site and for its home, in turn. */
	arena = end - sizeof(struct tach__site) - 15;
	CHECK(tach__site_register(&a) == TACH_SITE_OFF);
	arena = end - 16;
	CHECK(tach__site_register(&a) == TACH_SITE_OFF);
	CHECK(tach__registry.nsites == TACH__SITE_FIRST && !find(&a, hash_of("f", "a", 1)));
	arena = end - ((sizeof(struct tach__site) + 15) & ~(size_t)15) - 16;
	a.id = 1;
	CHECK(tach__site_register(&a) == TACH_SITE_OFF && a.id == TACH_SITE_OFF);
	CHECK(tach__registry.nsites == TACH__SITE_FIRST + 1 && arena == end);
	CHECK(!tach__site_at(TACH__SITE_FIRST)->homes);
	allowed = -1;
	CHECK(tach__site_register(&a) == TACH__SITE_FIRST);
	CHECK(tach__site_at(TACH__SITE_FIRST)->homes->at == &a);
}

static void too_many(void)
{
	struct tach_site a = home_of("a", "f", 1), b = home_of("b", "f", 1);

	begin();
	tach__registry.nsites = MOST - 1;
	CHECK(tach__site_register(&a) == MOST - 1 && tach__registry.nsites == MOST);
	CHECK(tach__site_register(&b) == TACH_SITE_OFF && tach__registry.nsites == MOST);
	CHECK(tach__site_register(&a) == MOST - 1);
}

/* ---- rows of a region ---- */

static void parts(void)
{
	struct tach_site a = home_of("a", "file", 3);
	const struct tach__parts of = {"task", "tag", "the thread"};
	struct tach__site *base, *part;
	uint32_t id;

	begin();
	a.fenced = TACH__SITE_FENCED_BIT | TACH__SITE_TASK;
	base = tach__site_at(tach__site_register(&a));
	id = tach__site_part(base, "a [tag]", &of);
	CHECK(id == base->id + 1);
	part = tach__site_at(id);
	CHECK(part->line == 3 && part->fenced == (TACH__SITE_FENCED_BIT | TACH__SITE_PART));
	CHECK(strcmp(part->name, "a [tag]") == 0 && strcmp(part->file, "file") == 0 &&
	      strcmp(part->function, "function") == 0 && !part->homes);
	CHECK(strcmp(part->of, "a") == 0 && strcmp(part->parts.task, "task") == 0 &&
	      strcmp(part->parts.tag, "tag") == 0 &&
	      strcmp(part->parts.thread, "the thread") == 0);
	CHECK(part->of != base->of && part->parts.task == part->of + 2 &&
	      part->parts.tag == part->parts.task + 5 &&
	      part->parts.thread == part->parts.tag + 4);
	/* 22 bytes. */
	CHECK(arena == part->of + 32);
	CHECK(tach__site_part(base, "a [tag]", &of) == id);
	CHECK(tach__site_part(base, "a [to]", &(struct tach__parts){"", "to", "123456789"}) ==
	      id + 1);
	CHECK(arena == tach__site_at(id + 1)->of + 16, "of a, to, 9 letters: 16 bytes");
	CHECK(strcmp(tach__site_at(id + 1)->of, "a") == 0);
	/* A part of a region names that region. */
	CHECK(strcmp(tach__site_at(tach__site_part(part, "a [x]", &of))->of, "a") == 0);
	allowed = 0;
	arena = arena_end;
	CHECK(tach__site_part(base, "b", &of) == base->id);
	CHECK(tach__site_part(base, "a [tag]", &of) == id);
	/* There is memory for everything except parts. */
	allowed = -1;
	arena = arena_end = NULL;
	arena_take(1);
	allowed = 0;
	arena = arena_end - ((sizeof *part + 15) & ~(size_t)15) - 16;
	id = tach__registry.nsites;
	CHECK(tach__site_part(base, "c", &of) == base->id && tach__registry.nsites == id);
}

/* ---- a child's ---- */

static void child_repairs_the_sites(void)
{
	static struct tach_site home[20];
	static struct tach__config config = {.generation = 77};
	struct tach__registry *r = &tach__registry;
	struct tach__site *site;
	uint32_t id = TACH__SITE_FIRST;

	begin();
	for (uint32_t i = 0; i < 20; i++) {
		home[i] = home_of("a", "f", i + 1);
		tach__site_register(&home[i]);
	}
	memset(bucket, 0, sizeof bucket);
	bucket[hash_of("f", "none", 5) % BUCKETS] = tach__site_at(id + 3);
	r->sites.next = r->sites.prev = NULL;
	r->generation = 5;
	tach__sites_mend();
	CHECK(!arena && !arena_end && r->generation == 5 && r->nsites == id + 20);
	for (uint32_t i = 0; i < 20; i++)
		CHECK(find(&home[i], hash_of("f", "a", i + 1)) == tach__site_at(id + i));
	for (int i = 0, n = 0; i < BUCKETS; i++) {
		for (site = bucket[i]; site; site = site->next)
			CHECK(++n <= 20 &&
			      hash_of("f", "a", site->line) % BUCKETS == (uint32_t)i);
		CHECK(i < BUCKETS - 1 || n == 20);
	}
	cds_list_for_each_entry(site, &r->sites, node) CHECK(site->id == id++);
	CHECK(id == TACH__SITE_FIRST + 20);
	r->config = &config;
	tach__sites_mend();
	CHECK(r->generation == 77);
}

/* ---- by name ---- */

static const char *volatile no_name;

static void by_name(void)
{
	struct tach_site *site, *other;
	char *at;

	begin();
	the_owner = NULL;
	locks = 0;
#ifndef __SANITIZE_ADDRESS__ /* and with UndefinedBehaviorSanitizer no argument may be NULL */
	CHECK(!tach_site_get(no_name) && locks == 0);
#else
	(void)no_name;
#endif
	arena_take(16);
	at = arena;
	/* The site with its string and terminating 0 has 64 bytes. */
	site = tach_site_get("seven x");
	CHECK((char *)site == at && arena == at + 64 && locks == 1);
	CHECK(strcmp(site->name, "seven x") == 0 && !*site->file && !*site->function);
	CHECK(site->begin == tach__begin_here && site->id == TACH_SITE_NEW && site->line == 0 &&
	      site->fenced == 0);
	CHECK(tach_site_get("seven x") == site && locks == 2);
	other = tach_site_get("8 letter");
	CHECK(arena == at + 64 + 80);
	CHECK(other != site && tach_site_get("seven x") == site &&
	      tach_site_get("8 letter") == other);
	allowed = 0;
	arena = arena_end;
	CHECK(!tach_site_get("third") && tach_site_get("8 letter") == other && !locked);
	allowed = -1;
	CHECK(tach_site_get("third") != NULL);
	/* Three are there. */
	for (int i = 3; i < TACH_SITES_MAX; i++) {
		char name[16];

		snprintf(name, sizeof name, "%d", i);
		if (!tach_site_get(name))
			CHECK(0, "%d", i);
	}
	CHECK(!tach_site_get("one more") && tach_site_get("8 letter") == other);
	CHECK(tach_site_get("29999") && tach_site_get("third") && !locked);
}

static struct tach_site owners;
static struct tach_site *owners_get(const char *name)
{
	return strcmp(name, "name") == 0 ? &owners : NULL;
}

static void of_another_copy(void)
{
	static struct tach__beacon beacon = {.site_get = owners_get};

	the_owner = &beacon;
	CHECK(tach_site_get("name") == &owners && !tach_site_get("other"));
	the_owner = NULL;
	CHECK(tach_site_get("8 letter") && tach_site_get("8 letter") != &owners);
}

int main(void)
{
	CASE(arena_pieces);
	CASE(hashes);
	CASE(registered_site_has_all_fields);
	CASE(sites_are_distinguished_by_place);
	CASE(sites_have_owners);
	CASE(one_bucket);
	CASE(switched);
	CASE(without_memory);
	CASE(too_many);
	CASE(parts);
	CASE(child_repairs_the_sites);
	CASE(by_name);
	CASE(of_another_copy);
	return check_done();
}
