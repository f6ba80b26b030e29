/* SPDX-License-Identifier: MIT */
/*
 * Nested first entries whose marks are not on the stack, as in coroutines: the number of system
 * calls is linear in their number, and entries whose marks are gone are still found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tach.h>
#include "core/os/sys.h"
#include "tests/check.h"

enum { MOST = 1000 };
static struct tach_site *site[MOST];
static struct tach_region_mark *mark;
static unsigned long calls;
static long (*kernel)(long, long, long, long, long, long, long);

static long count_call(long number, long a, long b, long c, long d, long e, long f)
{
	calls++;
	return kernel(number, a, b, c, d, e, f);
}

/* Begins n nested first entries, starting at that site. */
static void nest(int first, int n)
{
	for (int i = 0; i < n; i++)
		tach_region_begin(site[first + i], &mark[first + i]);
}

static void end(int first, int n)
{
	for (int i = n - 1; i >= 0; i--)
		tach_region_end(&mark[first + i]);
}

static struct tach_region_info info(struct tach_snapshot *s, const char *name)
{
	struct tach_region_info info = {.size = sizeof info};

	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		if (tach_snapshot_region(s, r, &info) == 0 && strcmp(info.name, name) == 0)
			return info;
	CHECK(0, "no region %s", name);
	return info;
}

/* Returns the number of their system calls, including their STOPs. */
static unsigned long calls_of(int first, int n)
{
	calls = 0;
	nest(first, n);
	end(first, n);
	return calls;
}

/*
 * Ten times as many entries make about ten times as many calls; an earlier version made a
 * hundred times as many.
 */
static void checks_of_far_marks_are_linear(void)
{
	unsigned long few, many;

	calls_of(0, 1);
	few = calls_of(1, 80);
	many = calls_of(100, 800);
	CHECK(few > 80 && many > 800 && many < 15 * few, "%lu and %lu", few, many);
}

/*
 * The memory of one mark in the middle is unmapped. Later first entries detect it, one after
 * the other.
 */
static void unmapped_mark_is_detected(void)
{
	struct tach_snapshot *s;
	struct tach_region_mark *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	nest(900, 40);
	tach_region_begin(tach_site_get("its mark goes"), page);
	nest(940, 40);
	munmap(page, 4096);
	nest(980, 10);
	CHECK(tach_snapshot_take(&s, NULL) == 0);
	CHECK(info(s, "its mark goes").lost == 1);
	tach_snapshot_free(s);
	end(980, 10);
	end(940, 40);
	end(900, 40);
	CHECK(tach_snapshot_take(&s, NULL) == 0);
	for (int i = 900; i < 990; i++) {
		char name[20];

		snprintf(name, sizeof name, "far %d", i);
		CHECK(info(s, name).entries == 1 && info(s, name).lost == 0, "%d", i);
	}
	tach_snapshot_free(s);
}

int main(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = ""};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	mark = calloc(MOST, sizeof *mark);
	for (int i = 0; i < MOST; i++) {
		char name[20];

		snprintf(name, sizeof name, "far %d", i);
		site[i] = tach_site_get(name);
		CHECK(site[i] != NULL);
	}
	kernel = tach__sys;
	tach__sys = count_call;
	CASE(checks_of_far_marks_are_linear);
	CASE(unmapped_mark_is_detected);
	return check_done();
}
