/* SPDX-License-Identifier: MIT */
/* Names computed at run time, without regions: how the place of a name is found. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "core/os/sys.h"
#include "core/region/beacon.h"
#include "core/region/region.h"
#include "tests/check.h"
#include "tests/unit/region/locked.h"

static struct tach_site sites[4096], the_gate;
static char names[4096][16];
static int made, without, configured, begun;
static uint64_t registered_as;
static struct tach_site *begun_in;
static const struct tach__beacon *owner;

static struct tach_site *sim_site_get(const char *name)
{
	CHECK(!locks && strlen(name) < sizeof *names);
	if (without)
		return NULL;
	for (int i = 0; i < made; i++)
		if (strcmp(names[i], name) == 0)
			return &sites[i];
	strcpy(names[made], name);
	sites[made].name = names[made];
	return &sites[made++];
}

static void sim_start(struct tach_site *site, struct tach_region_mark *mark)
{
	(void)mark;
	begun++;
	begun_in = site;
}

static void sim_configure_once(void)
{
	configured++;
}

static const struct tach__beacon *sim_owner(void)
{
	CHECK(configured);
	return owner;
}

static uint32_t sim_register(struct tach_site *home)
{
	CHECK(locks == 1 && home == &the_gate);
	home->id = registered_as;
	return (uint32_t)registered_as;
}

#define tach_site_get	     sim_site_get
#define tach__region_start   sim_start
#define tach__configure_once sim_configure_once
#define tach__beacon_owner   sim_owner
#define tach__site_register  sim_register
#include "core/region/named.c"

static void fresh(void)
{
	memset(place, 0, sizeof place);
	memset(names, 0, sizeof names);
	taken = 0;
	other = NULL;
	made = without = configured = begun = 0;
	begun_in = NULL;
	meanwhile = NULL;
	owner = NULL;
	tach__registry.lost = 0;
	the_gate = (struct tach_site){.id = TACH__SITE_FIRST};
}

static struct tach_site *begin(const char *name)
{
	struct tach_region_mark mark = {.part = (void *)(uintptr_t)name};

	begun_in = NULL;
	tach__region_begin_named(&the_gate, &mark);
	return begun_in;
}

/* Enters the name from a handler that interrupted library code. */
static struct tach_site *begin_within(const char *name)
{
	struct tach_site *site;

	tach__signals_held++;
	site = begin(name);
	tach__signals_held--;
	return site;
}

/* ---- the hash ---- */

/* Bytes around the name are not read: it is at either end of an isolated page. */
static void bytes(void)
{
	enum { PAGE = 65536, LONGEST = 41 };
	char *page = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || mprotect(page + PAGE, PAGE, PROT_READ | PROT_WRITE))
		SKIP("no memory");
	for (size_t n = 0; n <= LONGEST; n++) {
		char *first = page + PAGE, *last = first + PAGE - n - 1;
		uint64_t h;

		memset(first, 'k', n);
		memset(last, 'k', n);
		first[n] = last[n] = '\0';
		h = hash_of(first, n);
		CHECK(hash_of(last, n) == h);
		for (size_t bit = 0; bit < 8 * n; bit++) {
			last[bit / 8] ^= (char)(1 << bit % 8);
			CHECK(hash_of(last, n) != h, "bit %zu of %zu bytes", bit, n);
			last[bit / 8] ^= (char)(1 << bit % 8);
		}
		first[n] = 'k';
		CHECK(hash_of(first, n + 1) != h);
	}
	munmap(page, 3 * PAGE);
}

/* Names that differ in one letter, at any position, get different places. */
static void spread(void)
{
	char name[32];

	for (size_t n = 1; n <= 31; n++)
		for (size_t at = 0; at < n; at++) {
			char here[PLACES] = {0};
			int different = 0;

			memset(name, 'n', n);
			for (int i = 0; i < 26; i++) {
				uint64_t h;

				name[at] = (char)('a' + i);
				h = first_place(hash_of(name, n));
				different += !here[h];
				here[h] = 1;
			}
			CHECK(different >= 20, "%d of 26, letter %zu of %zu", different, at, n);
		}
}

static int by_hash(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void names_that_differ_in_two_letters(void)
{
	enum { LETTERS = 26, PAIRS = LETTERS * LETTERS };
	uint64_t hash[PAIRS];
	char name[32];

	for (size_t n = 2; n <= 25; n++)
		for (size_t at = 0; at < n * n; at++) {
			int same = 0;

			if (at / n >= at % n)
				continue;
			memset(name, 'n', n);
			for (int i = 0; i < PAIRS; i++) {
				name[at / n] = (char)('a' + i / LETTERS);
				name[at % n] = (char)('a' + i % LETTERS);
				hash[i] = hash_of(name, n);
			}
			qsort(hash, PAIRS, sizeof *hash, by_hash);
			for (int i = 1; i < PAIRS; i++)
				same += hash[i] == hash[i - 1];
			CHECK(same == 0, "%d, letters %zu and %zu of %zu", same, at / n, at % n,
			      n);
		}
}

/* ---- the table ---- */

static void names_have_sites_of_their_own(void)
{
	struct tach_site *a, *b;

	fresh();
	CHECK((a = begin("a")) && a == begin("a") && strcmp(a->name, "a") == 0);
	CHECK((b = begin("b")) && b != a && b == begin("b") && taken == 2 && made == 2);
	CHECK(!begin(NULL) && begun == 4 && !tach__names_are_full());
}

/* All names have the same place, and some have the same hash. */
static void collisions(void)
{
	uint64_t hash = hash_of("b", 1);

	fresh();
	for (uint64_t i = 0; i < 3; i++)
		place[(first_place(hash) + i) % PLACES] =
			(struct place){hash + (i == 1), &sites[i]};
	sites[0].name = "a";
	sites[1].name = "c";
	sites[2].name = "b";
	made = 3;
	CHECK(begin("b") == &sites[2] && taken == 0);
	sites[2].name = "d";
	CHECK(begin("b") == &sites[3] && taken == 1 && begin("b") == &sites[3]);
	/* After the last place, the search continues at the first one. */
	fresh();
	place[PLACES - 1] = (struct place){UINT64_MAX, &sites[0]};
	sites[0].name = "a";
	CHECK(find("b", UINT64_MAX) == place);
}

static void another_adds_it(void)
{
	meanwhile = NULL;
	begin("a");
}

static void another_fills_it(void)
{
	taken = TACH_NAMES_MAX;
}

static void races(void)
{
	struct tach_site *site;

	fresh();
	meanwhile = another_adds_it;
	site = begin("a");
	CHECK(site && strcmp(site->name, "a") == 0 && taken == 1 && begun == 2);
	fresh();
	meanwhile = another_fills_it;
	site = begin("a");
	CHECK(site && strcmp(site->name, TACH_NAMES_OTHER) == 0 && taken == TACH_NAMES_MAX);
	CHECK(tach__names_are_full() && !find("a", hash_of("a", 1))->site);
}

static void full(void)
{
	struct tach_site *one;
	char name[16];

	fresh();
	for (int i = 0; i < TACH_NAMES_MAX; i++) {
		CHECK(!tach__names_are_full());
		sprintf(name, "%d", i);
		CHECK((one = begin(name)) && strcmp(one->name, name) == 0);
	}
	CHECK(made == TACH_NAMES_MAX && taken == TACH_NAMES_MAX);
	CHECK((one = begin("too many")) && strcmp(one->name, TACH_NAMES_OTHER) == 0);
	CHECK(tach__names_are_full() && taken == TACH_NAMES_MAX && made == TACH_NAMES_MAX + 1);
	CHECK(begin("another") == one && made == TACH_NAMES_MAX + 1);
	CHECK(begin_within("a third") == one);
	for (int i = 0; i < TACH_NAMES_MAX; i++) {
		sprintf(name, "%d", i);
		CHECK((one = begin(name)) && strcmp(one->name, name) == 0);
	}
	CHECK(tach__registry.lost == 0);
}

/* If a site cannot be made, the entry has no region, and counts as lost. */
static void no_sites(void)
{
	fresh();
	without = 1;
	CHECK(!begin("a") && !begun && tach__registry.lost == 1 && !tach__names_are_full());
	CHECK(!begin("a") && tach__registry.lost == 2);
	without = 0;
	CHECK(begin("a") && taken == 1 && tach__registry.lost == 2);
}

/* A handler that interrupts library code makes no site and takes no lock. */
static void handler_in_the_library_makes_no_site(void)
{
	struct tach_site *a;

	fresh();
	a = begin("a");
	CHECK(begin_within("a") == a && !begin_within("b") && tach__registry.lost == 1);
	CHECK(made == 1 && taken == 1);
	/* The library's own regions do not count as a handler. */
	tach__calibrating++;
	CHECK(begin_within("b") && taken == 2);
	tach__calibrating--;
}

/* ---- the gate ---- */

static struct tach_site *begin_new(uint64_t id)
{
	the_gate.id = TACH_SITE_NEW;
	registered_as = id;
	return begin("a");
}

static void gates(void)
{
	uint32_t was = tach__beacon.state;

	fresh();
	tach__beacon.state = TACH__BEACON_OWNER;
	CHECK(begin_new(7) && configured == 1 && the_gate.id == 7);
	CHECK(begin("a") && configured == 1);
	CHECK(!begin_new(TACH_SITE_OFF) && configured == 2 && the_gate.id == TACH_SITE_OFF);
	/* Another copy owns the regions: only the owner knows which ones are enabled. */
	tach__beacon.state = TACH__BEACON_JOINED;
	owner = &tach__beacon;
	CHECK(begin_new(7) && the_gate.id == TACH__SITE_FIRST);
	/* With another layout, no region begins. */
	tach__beacon.state = TACH__BEACON_EXCLUDED;
	owner = NULL;
	CHECK(!begin_new(7) && the_gate.id == TACH_SITE_OFF);
	tach__beacon.state = was;
}

/* This entry counts as enabled. Later code determines if the region is enabled. */
static void gate_within(void)
{
	fresh();
	begin("a");
	the_gate.id = TACH_SITE_NEW;
	CHECK(begin_within("a") && configured == 0 && the_gate.id == TACH_SITE_NEW);
}

int main(void)
{
	CASE(bytes);
	CASE(spread);
	CASE(names_that_differ_in_two_letters);
	CASE(names_have_sites_of_their_own);
	CASE(collisions);
	CASE(races);
	CASE(full);
	CASE(no_sites);
	CASE(handler_in_the_library_makes_no_site);
	CASE(gates);
	CASE(gate_within);
	return check_done();
}
