/* SPDX-License-Identifier: MIT */
/*
 * The first slow path, inside regions, measures the cost of slow paths, as under `tach run`:
 * the enclosing regions do not show this cost.
 */
#include "core/region/region.h"
#include "tests/unit/region/regions.h"

enum { WORK = 1000, DEPTH = 5 };

static const char *const names[DEPTH] = {"first", "second", "third", "fourth", "fifth"};
static struct tach_site *sites[DEPTH];

/* Enters all except the outermost region, each nested in the previous one. */
static void nest(int depth)
{
	struct tach_region_mark mark;

	if (depth == DEPTH)
		return;
	fake_count += WORK;
	tach_region_begin(sites[depth], &mark);
	nest(depth + 1);
	tach_region_end(&mark);
}

static void exact(uint64_t times)
{
	CHECK(regions_look(names[0], 1));
	for (int i = 0; i < DEPTH; i++) {
		double inside = (double)((uint64_t)(DEPTH - 1 - i) * WORK * times);

		CHECK(regions_find(names[i], 1) && info.calls == times && info.lost == 0 &&
			      info.nested == (uint64_t)(DEPTH - 1 - i) * times,
		      "%s: %d calls, %d lost, %d nested", names[i], (int)info.calls,
		      (int)info.lost, (int)info.nested);
		CHECK(value.value == inside, "%s: %g, not %g", names[i], value.value, inside);
	}
	CHECK(TACH__LEVEL(tach__self->state) == 0);
}

static void first_cold_exit_inside(void)
{
	struct tach_region_mark mark;

	regions_begin(1);
	tach__regions_freeze();
	for (int i = 0; i < DEPTH; i++)
		sites[i] = tach_site_get(names[i]);
	/* The outermost region opens the thread. */
	tach_region_begin(sites[0], &mark);
	CHECK(!tach__self->record->residue_known);
	nest(1);
	tach_region_end(&mark);
	CHECK(tach__self->record->residue_known);
	exact(1);
	tach_region_begin(sites[0], &mark);
	nest(1);
	tach_region_end(&mark);
	exact(2);
}

static void *other(void *unused)
{
	struct tach_region_mark mark;

	(void)unused;
	tach_region_begin(sites[0], &mark);
	nest(1);
	tach_region_end(&mark);
	return NULL;
}

static void another_thread(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	exact(3);
}

/* ---- the first slow path is in a STOP ---- */

static uint64_t sum_of(const struct tach_site *site)
{
	struct tach__slot *slot = tach__slot_at(tach__self->record, (uint32_t)site->id);

	return tach__part(slot, tach__self->count, 0)->sum[1];
}

/*
 * Not inlined, because its mark would be in the caller's frame, and stay valid like that of an
 * overlapping region.
 */
static __attribute__((noinline)) void left(void)
{
	struct tach_region_mark mark;

	tach_region_begin(sites[2], &mark);
}

/*
 * A nested region is left open, so the enclosing region's STOP takes a slow path. Each region
 * shows the cost of an entry and of each START and STOP inside it, except the START of the
 * region that was left open: its cost is known and subtracted.
 */
static void leave_one_within(uint64_t *outer, uint64_t *inner)
{
	struct tach_region_mark mark[2];
	uint64_t before[2] = {sum_of(sites[0]), sum_of(sites[1])};

	tach_region_begin(sites[0], &mark[0]);
	tach_region_begin(sites[1], &mark[1]);
	fake_count += WORK;
	left();
	tach_region_end(&mark[1]);
	tach_region_end(&mark[0]);
	*outer = sum_of(sites[0]) - before[0];
	*inner = sum_of(sites[1]) - before[1];
}

static void *stops(void *unused)
{
	uint64_t outer[2], inner[2], reading = fake_before + fake_after;
	struct tach_region_mark mark;

	(void)unused;
	for (int i = 0; i < 6; i++) {
		tach_region_begin(sites[i % 3], &mark);
		tach_region_end(&mark);
	}
	CHECK(!tach__self->record->residue_known);
	for (int i = 0; i < 2; i++) {
		leave_one_within(&outer[i], &inner[i]);
		CHECK(tach__self->record->residue_known);
		CHECK(inner[i] == WORK + reading, "%d inside", (int)inner[i]);
		CHECK(outer[i] == WORK + 3 * reading, "%d around", (int)outer[i]);
	}
	return NULL;
}

static void first_cold_exit_is_a_stop(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, stops, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
}

int main(void)
{
	CASE(first_cold_exit_inside);
	CASE(another_thread);
	CASE(first_cold_exit_is_a_stop);
	return check_done();
}
