/* SPDX-License-Identifier: MIT */
/*
 * The table of definitions: finds the definition that applies to a PMU and a name. The table is
 * at most half full for any number of definitions, and correct when names collide, also at its
 * end.
 */
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include "core/derived/registry.h"
#include "tests/check.h"

enum { FIRST = 256 }; /* number of places in the smallest table */

static int skl;

static struct tach_derived *registry(void)
{
	struct tach_derived *d = NULL;

	CHECK(tach_derived_create(NULL, &d, NULL) == 0, "create");
	return d;
}

/* Adds a definition from a file of its own. */
static void define(struct tach_derived *d, const char *file, const char *name)
{
	char text[80];

	snprintf(text, sizeof text, "EVENT,%s,NOT_DERIVED,cycles\n", name);
	CHECK(tach_derived_load_text(d, file, text, strlen(text), NULL) == 1, "%s", name);
}

/* Returns the file of the definition whose name is the text's first bytes. */
static const char *file_of(const struct tach_derived *d, int pmu, const char *text,
			   size_t length)
{
	const struct tach__entry *e = tach__derived_entry(d, pmu, text, length);

	return e ? e->definition->info.file : "none";
}

static int is_from(const struct tach_derived *d, const char *name, const char *file)
{
	return strcmp(file_of(d, skl, name, strlen(name)), file) == 0;
}

static void an_empty_one(void)
{
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_derived *d = registry();

	CHECK(tach_derived_find(d, skl, "ipc", &info) == TACH_ERR_NOTFOUND, "a preset");
	CHECK(is_from(d, "any", "none"));
	CHECK(tach_derived_count(d, skl) == 0);
	tach_derived_free(d);
}

static void half_full_at_most(void)
{
	struct tach_derived *d = registry();
	size_t places = FIRST;
	char name[16];

	for (size_t n = 1; n <= 3 * FIRST; n++) {
		snprintf(name, sizeof name, "name%zu", n);
		define(d, name, name);
		if (2 * n > places)
			places *= 2;
		CHECK(d->used == n && d->capacity == places, "%zu of %zu, want %zu of %zu",
		      d->used, d->capacity, n, places);
	}
	define(d, "again", "NAME7");
	CHECK(d->used == 3 * FIRST, "%zu: what is defined again takes no room", d->used);
	for (size_t n = 1; n <= 3 * FIRST; n++) {
		snprintf(name, sizeof name, "name%zu", n);
		CHECK(is_from(d, name, n == 7 ? "again" : name), "%s", name);
	}
	tach_derived_free(d);
}

/* Of a definition for a PMU and one for all, the later one applies. */
static void by_pmu_and_name(void)
{
	static const char here[] = "CPU,skl\nEVENT,abc,NOT_DERIVED,cycles\n"
				   "EVENT,own,NOT_DERIVED,cycles\n";
	struct tach_derived *d = registry();
	int icl = tach_pmu_find("icl");

	define(d, "every", "abc");
	define(d, "every", "abcd");
	CHECK(tach_derived_load_text(d, "here", here, sizeof here - 1, NULL) == 2);
	CHECK(is_from(d, "Abc", "here") && is_from(d, "own", "here"));
	CHECK(strcmp(file_of(d, icl, "abc", 3), "every") == 0);
	CHECK(strcmp(file_of(d, icl, "own", 3), "none") == 0);
	CHECK(strcmp(file_of(d, TACH__EVERY_PMU, "abc", 3), "every") == 0);
	/* The given length decides where a name ends. */
	CHECK(strcmp(file_of(d, skl, "abcd", 3), "here") == 0);
	CHECK(strcmp(file_of(d, skl, "abcde", 4), "every") == 0);
	CHECK(strcmp(file_of(d, skl, "abcde", 5), "none") == 0);
	define(d, "later", "abc");
	CHECK(is_from(d, "abc", "later"));
	tach_derived_free(d);
}

/* Returns the place of that name in the smallest table. */
static size_t place_of(const struct tach_derived *one, const char *name)
{
	return (size_t)(tach__derived_slot(one, TACH__EVERY_PMU, name, strlen(name)) -
			one->entry);
}

/*
 * Fills half the table with names that all belong to its last places, or to every second place.
 */
static void names_meet(int second)
{
	struct tach_derived *one = registry(), *d = registry();
	char name[FIRST / 2][16], other[16];
	int n = 0;

	define(one, "one", "one");
	for (int i = 0; n < FIRST / 2; i++) {
		size_t place;

		snprintf(name[n], sizeof name[n], "n%d", i);
		place = place_of(one, name[n]);
		n += second ? place % 2 == 0 : place >= FIRST - 8;
	}
	for (int i = 0; i < n; i++)
		define(d, name[i], name[i]);
	CHECK(d->capacity == FIRST && tach_derived_count(d, skl) == n);
	for (int i = 0; i < n; i++)
		CHECK(is_from(d, name[i], name[i]), "%s", name[i]);
	for (int i = 0; i < 50; i++) {
		snprintf(other, sizeof other, "other%d", i);
		CHECK(is_from(d, other, "none"), "%s", other);
	}
	tach_derived_free(one);
	tach_derived_free(d);
}

static void names_meet_at_the_end(void)
{
	names_meet(0);
}

static void every_second_place_is_taken(void)
{
	names_meet(1);
}

int main(void)
{
	skl = tach_pmu_find("skl");
	CASE(an_empty_one);
	CASE(half_full_at_most);
	CASE(by_pmu_and_name);
	CASE(names_meet_at_the_end);
	CASE(every_second_place_is_taken);
	return check_done();
}
