/* SPDX-License-Identifier: MIT */
/*
 * The first START of a region in a thread prepares all pages of its slot, so no STOP takes a
 * page fault, and no page of neighbouring slots. The test also shows which STARTs read counters
 * in advance.
 */
#include <sys/mman.h>
#include "core/region/region.h"
#include "tests/unit/region/regions.h"

enum { SITES = 100, MOST = 6, PAGE = 4096 };

static struct tach_site *site[SITES];

static void sites_make(void)
{
	struct tach_region_mark mark;

	regions_begin(0);
	for (int i = 0; i < SITES; i++) {
		char name[16];

		snprintf(name, sizeof name, "site %d", i);
		site[i] = tach_site_get(name);
		tach_region_begin(site[i], &mark);
		tach_region_end(&mark);
	}
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

/*
 * Begins with this number of counters and enters the first region, so that the thread is open.
 */
static struct tach__thread *open_thread(int members)
{
	struct tach_region_mark mark;

	regions_begin(members);
	tach_region_begin(site[0], &mark);
	tach_region_end(&mark);
	CHECK(tach__thread_record()->count == (uint32_t)members);
	return tach__thread_record();
}

static struct tach__slot *slot_of(const struct tach__thread *record, int i)
{
	return tach__slot_at(record, (uint32_t)site[i]->id);
}

static int is_all(const void *at, size_t size, unsigned char what)
{
	const unsigned char *byte = at;

	for (size_t i = 0; i < size; i++)
		if (byte[i] != what)
			return 0;
	return 1;
}

/* START writes only its own slot's word that marks it as ready, and no neighbour's word. */
static void neighbours_are_not_written(void)
{
	for (int n = 0; n <= MOST; n++) {
		struct tach__thread *record = open_thread(n);
		size_t size = record->stride;

		for (int i = 1; i < SITES - 1; i++) {
			struct tach__slot *slot, *next;
			struct tach_region_mark mark;

			if (site[i + 1]->id >= record->limit)
				break;
			slot = slot_of(record, i);
			next = slot_of(record, i + 1);
			CHECK(is_all(slot, size, 0) && is_all(next, size, 0));
			memset(next, 0x55, size);
			tach_region_begin(site[i], &mark);
			CHECK(slot->id == site[i]->id && is_all(next, size, 0x55), "%d of %d",
			      i, n);
			CHECK(is_all(tach__children(slot, (uint32_t)n, 0),
				     2 * TACH__CHILDREN_WORDS(n) * sizeof(uint64_t), 0),
			      "%d of %d", i, n);
			tach_region_end(&mark);
			CHECK(is_all(next, size, 0x55), "%d of %d", i, n);
			memset(next, 0, size);
		}
	}
}

static int is_resident(char *page)
{
	unsigned char there = 0;

	CHECK(mincore(page, PAGE, &there) == 0);
	return there & 1;
}

static char *page_of(const void *at)
{
	return (char *)((uintptr_t)at & ~(uintptr_t)(PAGE - 1));
}

static void all_pages_of_it(void)
{
	int found = 0;

	for (int n = 0; n <= MOST; n++) {
		struct tach__thread *record = open_thread(n);

		for (int i = 1; i < SITES && site[i]->id < record->limit; i++) {
			struct tach__slot *slot = slot_of(record, i);
			const struct tach__part *inner = tach__part(slot, (uint32_t)n, 1);
			char *last = page_of(&slot->word[TACH__SLOT_WORDS(n) - 1]);
			struct tach_region_mark mark;

			/* Later entries touch these pages. */
			if (last > page_of(&inner->ceiling)) {
				CHECK(madvise(last, PAGE, MADV_DONTNEED) == 0);
				CHECK(!is_resident(last));
				found++;
			}
			tach_region_begin(site[i], &mark);
			CHECK(is_resident(last), "%d of %d", i, n);
			tach_region_end(&mark);
		}
	}
	CHECK(found > 10, "%d", found);
}

/*
 * In sparse mode, a measured entry after many skipped ones reads its counters in advance too,
 * so that caches are warm like in calibration.
 */
static void sparse_entry_warms_the_caches(void)
{
	static const struct {
		uint32_t sparse, warmup;
		int reads;
	} cases[] = {{0, 0, 2}, {1, 3, 2}, {2, 0, 4}, {2, 3, 4}, {5, 0, 4}};

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
		for (int n = 1; n <= 2; n++) {
			struct tach_regions_options opt = {.size = sizeof opt,
							   .set = fake_set(n),
							   .sparse = cases[c].sparse,
							   .warmup = cases[c].warmup};
			struct tach_region_mark mark;
			const struct tach__part *part;
			uint64_t calls;
			int reads;

			CHECK(tach_regions_configure(&opt, NULL) == 0);
			for (int i = 0; i < 5; i++) {
				tach_region_begin(site[0], &mark);
				tach_region_end(&mark);
			}
			part = tach__part(slot_of(tach__thread_record(), 0), (uint32_t)n, 0);
			calls = part->calls;
			reads = fake_reads;
			while (part->calls - calls < 10) {
				tach_region_begin(site[0], &mark);
				tach_region_end(&mark);
			}
			CHECK(fake_reads - reads == cases[c].reads * 10, "%d, %d: %d", (int)c,
			      n, fake_reads - reads);
		}
}

int main(void)
{
	sites_make();
	CASE(neighbours_are_not_written);
	CASE(all_pages_of_it);
	CASE(sparse_entry_warms_the_caches);
	tach_snapshot_free(shot);
	return check_done();
}
