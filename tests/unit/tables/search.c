/* SPDX-License-Identifier: MIT */
/* Comparison, hashing and search of names, compared with the slowest implementations. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/tables/tables.h"
#include "tests/check.h"

static unsigned state = 1;

static unsigned draw(unsigned below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

/*
 * A name, and another that is equal, equal except case, one byte different, longer or shorter.
 */
static void pair(char *a, char *b)
{
	static const char bytes[] = "AZaz@[`{_-09.AQaq\x7f\x01\xc1\xe1";
	size_t n = draw(40), at;

	for (size_t i = 0; i < n; i++)
		a[i] = bytes[draw(sizeof bytes - 1)];
	a[n] = 0;
	for (size_t i = 0; i <= n; i++)
		b[i] = (char)(draw(3)				    ? a[i]
			      : a[i] & 0x40 && isalpha(a[i] & 0x7f) ? a[i] ^ 32
								    : a[i]);
	at = draw((unsigned)n + 1);
	switch (draw(4)) {
	case 0:
		b[at] = n ? bytes[draw(sizeof bytes - 1)] : 0;
		b[n] = 0;
		break;
	case 1:
		b[n] = 'x';
		b[n + 1] = 0;
		break;
	case 2:
		b[at] = 0;
		break;
	}
}

static void equal_is_what_strcasecmp_says(void)
{
	int equal = 0;

	for (int i = 0; i < 300000; i++) {
		char a[64], b[64] = {0};
		int want;

		pair(a, b);
		want = strcasecmp(a, b) == 0;
		equal += want;
		CHECK(tach__name_equal(a, strlen(a), b) == want, "'%s' '%s'", a, b);
		CHECK((tach__name_compare(a, strlen(a), b) == 0) == want, "'%s' '%s'", a, b);
		CHECK(!want || tach__name_hash(a, strlen(a)) == tach__name_hash(b, strlen(b)),
		      "'%s' '%s'", a, b);
	}
	CHECK(equal > 50000, "%d", equal);
}

/* The name is read up to its last byte, and not beyond it. */
static void reads_nothing_behind_the_name(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	CHECK(two != MAP_FAILED && mprotect(two + page, page, PROT_NONE) == 0);
	for (size_t n = 0; n < 30; n++) {
		char other[64] = {0};

		memset(two + page - n, 'a', n);
		memset(other, 'A', n);
		CHECK(tach__name_equal(two + page - n, n, other), "%zu", n);
		CHECK(tach__name_hash(two + page - n, n) == tach__name_hash(other, n), "%zu",
		      n);
	}
	munmap(two, 2 * page);
}

enum { DIGITS = 5 };

static const char *name_at(const void *names, size_t i)
{
	return (const char *)names + i * (DIGITS + 1);
}

/* Numbers are searched as hashes and as names with this number of digits. */
static void bound_is_the_first_not_less(void)
{
	for (int round = 0; round < 3000; round++) {
		uint16_t h[70];
		char names[70][DIGITS + 1], name[DIGITS + 1];
		/* the search starts at this place, or before it */
		unsigned least = round % 2 ? 65000 : 0;
		size_t n = draw(70), want = 0;
		uint16_t key = (uint16_t)(least + draw(100));

		for (size_t i = 0; i < n; i++) {
			h[i] = (uint16_t)((i ? h[i - 1] : least) + draw(4));
			snprintf(names[i], sizeof names[i], "%0*u", DIGITS, h[i]);
		}
		snprintf(name, sizeof name, "%0*u", DIGITS, key);
		while (want < n && h[want] < key)
			want++;
		CHECK(tach__hash_bound(h, n, key) == want, "%zu hashes, key %u", n, key);
		CHECK(tach__lower_bound(n, name_at, names, name, DIGITS) == want,
		      "%zu names, key %u", n, key);
	}
}

/* The generator and the library must compute the same hash on any machine. */
static void hash_does_not_change(void)
{
	static const struct {
		const char *name;
		unsigned hash;
	} all[] = {
		{"", 30897},
		{"UC", 37946},
		{"L1D", 11323},
		{"L2_CACHE", 32110},
		{"INST_RETIRED", 48053},
		{"BR_MISP_RETIRED_ALL_BRANCHES", 11242},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		unsigned hash = tach__name_hash(all[i].name, strlen(all[i].name));

		CHECK(hash == all[i].hash, "%s: %u", all[i].name, hash);
	}
	CHECK(tach__name_hash("INST_RETIRED", 12) == tach__name_hash("inst_retired", 12));
}

int main(void)
{
	CASE(equal_is_what_strcasecmp_says);
	CASE(reads_nothing_behind_the_name);
	CASE(bound_is_the_first_not_less);
	CASE(hash_does_not_change);
	return check_done();
}
