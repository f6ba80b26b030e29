/* SPDX-License-Identifier: MIT */
/*
 * A signal handler after each single instruction of START and STOP, by the processor's trap
 * flag: one handler has a region that takes a slow path, and one leaves by siglongjmp.
 */
#include <setjmp.h>
#include "core/region/region.h"
#include "tests/unit/region/steps.h"

#ifdef HAS_STEPS
/* ---- a region's first entry ---- */

enum { WORK = 1000 };

/* A site that is registered but not selected, or entered for the first time. */
static struct tach_site *fresh_site;
static void enter(struct tach_site *site)
{
	struct tach_region_mark mark;

	tach_region_begin(site, &mark);
	tach_region_end(&mark);
}

static void enter_fresh(void)
{
	fake_count += WORK;
	enter(fresh_site);
}

/* ---- left by siglongjmp ---- */

static sigjmp_buf landing;

static void leave(void)
{
	siglongjmp(landing, 1);
}

static int flat; /* true for a flat region */

static __attribute__((noinline)) void once_flat(long n)
{
	TACH_START_FLAT(left);
	if (n >= 0)
		steps_from_here(n, leave);
	TACH_STOP(left);
	steps_end();
}

static __attribute__((noinline)) void once(long n)
{
	if (flat) {
		once_flat(n);
		return;
	}
	TACH_START(left);
	if (n >= 0)
		steps_from_here(n, leave);
	TACH_STOP(left);
	steps_end();
}

static void other_finds_it(long n)
{
	char name[32];

	snprintf(name, sizeof name, "behind %ld", n);
	fresh_site = tach_site_get(name);
	enter_fresh();
	CHECK(regions_look("left", 0) && !(value.flags & TACH_FLAG_STALE), "step %ld", n);
}

/* `other`: the slow path of another region detects it first. */
static void left_amid_stop(int members, int other)
{
	volatile long n = 0, tried = 0, jumps = 0, twice = 0;
	volatile int done = 0;

	steps_begin(members);
	once(-1);
	for (; !done; n = next_step(n), tried++) {
		if (sigsetjmp(landing, 1) == 0) {
			once(n);
			done = 1;
		} else {
			jumps++;
			if (other)
				other_finds_it(n);
		}
		/*
		 * The region is entered again: open entries are detected, and no slot stays in
		 * the middle of a change.
		 */
		once(-1);
		CHECK(regions_look("left", 0) && !(value.flags & TACH_FLAG_STALE), "step %ld",
		      n);
		CHECK(info.entries == info.calls + info.lost, "step %ld", n);
		/*
		 * An entry is both counted and lost only if the handler came after one
		 * particular instruction.
		 */
		twice += info.entries > 3 + 2 * (uint64_t)tried + (uint64_t)twice;
		CHECK(info.entries == 3 + 2 * (uint64_t)tried + (uint64_t)twice && twice < 2,
		      "step %ld: %d entries, %d of them lost", n, (int)info.entries,
		      (int)info.lost);
		CHECK(TACH__LEVEL(tach__self->state) == 0, "step %ld: level %d", n,
		      (int)TACH__LEVEL(tach__self->state));
	}
	CHECK(jumps > 30 && info.lost > 20, "%d jumps, %d lost", (int)jumps, (int)info.lost);
}

static void left_amid_stop_clock(void)
{
	left_amid_stop(0, 0);
}

static void left_amid_stop_counters(void)
{
	left_amid_stop(2, 0);
}

static void left_amid_stop_for_another(void)
{
	left_amid_stop(0, 1);
}

static struct tach_site kept_site = TACH_SITE_INIT("kept", 0, "");

static __attribute__((noinline)) void enter_kept(void)
{
	char room[256];

	__asm__ volatile("" : : "r"(room) : "memory");
	enter(&kept_site);
}

/* The mark stays as START left it: the entry counts as open, and no other entry is missing. */
static void left_with_its_mark(int members, long jumps)
{
	enum { ENTRIES = 3000 };
	uint64_t most;
	static struct tach_region_mark marks[20];
	volatile long n = 0, k;
	volatile int done = 0;

	for (; !done; n = jumps == 1 || getenv("TEST_WHOLE") ? next_step(n) : n + 7) {
		steps_begin(members);
		enter_kept();
		for (k = 0; k < jumps && !done; k++) {
			if (sigsetjmp(landing, 1) == 0) {
				tach_region_begin(&kept_site, &marks[k]);
				steps_from_here(n, leave);
				tach_region_end(&marks[k]);
				steps_end();
				done = 1;
			}
		}
		for (int i = 0; i < ENTRIES; i++)
			enter_kept();
		CHECK(regions_look("kept", 0) && !(value.flags & TACH_FLAG_STALE),
		      "step %ld: flags %#x", n, value.flags);
		most = ENTRIES + 1 + (uint64_t)k;
		CHECK(info.calls + info.lost >= ENTRIES && info.calls <= most,
		      "step %ld: %ld calls, %ld lost", n, (long)info.calls, (long)info.lost);
		CHECK(done || info.calls == most || (value.flags & TACH_FLAG_INCOMPLETE) ||
			      info.lost,
		      "step %ld: flags %#x", n, value.flags);
		memset(marks, 0, sizeof marks);
	}
}

static void left_with_their_marks(void)
{
	left_with_its_mark(0, 1);
	left_with_its_mark(0, 20);
}

/* The first entries, which are not flat. */
static void left_amid_flat_stop(void)
{
	flat = 1;
	left_amid_stop(0, 0);
	left_amid_stop(0, 1);
	flat = 0;
}

/*
 * At any instruction, a handler interrupts a flat region with a flat region at the same place
 * or another.
 */
static struct tach_site *handled;

static void enter_handled(void)
{
	enter(handled);
}

static __attribute__((noinline)) void start_and_stop(struct tach_site *site, long n, int amid)
{
	struct tach_region_mark mark;

	if (n >= 0 && amid)
		steps_from_here(n, enter_handled);
	tach_region_begin(site, &mark);
	steps_end();
	if (n >= 0 && !amid)
		steps_from_here(n, enter_handled);
	tach_region_end(&mark);
	steps_end();
}

static void flat_in_a_handler(void)
{
	static struct tach_site site[2] = {TACH_SITE_INIT("flat one", TACH_SITE_FLAT, ""),
					   TACH_SITE_INIT("flat two", TACH_SITE_FLAT, "")};

	steps_begin(0);
	for (int way = 0; way < 4; way++) {
		uint64_t calls[2] = {0, 0}, began;
		long n, entries = 0;

		handled = &site[way / 2];
		for (int i = 0; i < 4; i++) {
			enter(&site[0]);
			enter(&site[1]);
		}
		regions_look("flat one", 0);
		calls[0] = info.calls;
		regions_find("flat two", 0);
		calls[1] = info.calls;
		began = tach__self->pairs[0];
		for (n = 0, wait_for = -1; wait_for < 0; n++, entries++)
			start_and_stop(&site[0], n, way % 2);
		CHECK(n > 20, "%ld", n);
		CHECK(tach__self->pairs[0] - began == (uint64_t)(2 * entries - 1), "%ld",
		      entries);
		regions_look("flat one", 0);
		CHECK(info.lost == 0 &&
			      info.calls - calls[0] ==
				      (uint64_t)(handled == site ? 2 * entries - 1 : entries),
		      "way %d: %ld entries, %d calls, %d lost", way, entries,
		      (int)(info.calls - calls[0]), (int)info.lost);
		regions_find("flat two", 0);
		CHECK(info.lost == 0 && info.calls - calls[1] ==
						(uint64_t)(handled == site ? 0 : entries - 1),
		      "way %d: %ld entries, %d calls", way, entries,
		      (int)(info.calls - calls[1]));
		CHECK(TACH__LEVEL(tach__self->state) == 0);
	}
}

/* ---- a slow path in a handler ---- */

/* Returns the growth of the region's count since the last call. */
static long grown(const char *name, double *last)
{
	double was = *last;

	CHECK(regions_find(name, 1));
	CHECK(info.lost == 0, "%s: %d lost", name, (int)info.lost);
	*last = value.value;
	return (long)(value.value - was);
}

static long nested(long n, int amid_start)
{
	TACH_START(around);
	if (n >= 0 && amid_start)
		steps_from_here(n, enter_fresh);
	TACH_START(inside);
	if (amid_start)
		steps_end();
	else if (n >= 0)
		steps_from_here(n, enter_fresh);
	TACH_STOP(inside);
	steps_end();
	TACH_STOP(around);
	return wait_for;
}

/*
 * The handler's work is in the enclosing region, and also in the nested one if the handler ran
 * between its reads. A disturbed read is repeated once or twice, and the repetition shows: the
 * nested region is flagged.
 */
static void cold_exits(int amid_start)
{
	long reading = (long)(fake_before + fake_after), done = 0;
	double around_was = 0, inside_was = 0;

	steps_begin(1);
	nested(-1, 0);
	for (long n = 0; !done; n = next_step(n)) {
		long around, inside;
		char name[32];

		snprintf(name, sizeof name, "fresh %d %ld", amid_start, n);
		fresh_site = tach_site_get(name);
		done = nested(n, amid_start) >= 0;
		CHECK(regions_look("around", 1));
		around = grown("around", &around_was);
		inside = grown("inside", &inside_was);
		CHECK(done ? around == 0 : around >= WORK && around <= WORK + 2 * reading,
		      "step %ld: %ld around", n, around);
		CHECK(inside == 0 || inside == WORK ||
			      (inside > WORK && inside <= WORK + 2 * reading &&
			       (value.flags & TACH_FLAG_RESCHEDULED)),
		      "step %ld: %ld inside, flags %#x", n, inside, value.flags);
		CHECK(n < 10000);
	}
}

/* The STOP takes the slow path because a region was entered for the first time inside. */
static void stop_cold(const char *first, long n)
{
	TACH_START(around_cold);
	TACH_START(inside_cold);
	enter(tach_site_get(first));
	if (n >= 0)
		steps_from_here(n, enter_fresh);
	TACH_STOP(inside_cold);
	steps_end();
	TACH_STOP(around_cold);
}

/*
 * A handler interrupts a STOP that itself takes the slow path, until its first read was
 * disturbed AMID times.
 */
static void slow_path_during_a_slow_stop(void)
{
	enum { AMID = 100 };
	long reading = (long)(fake_before + fake_after), amid = 0;
	double around_was = 0, inside_was = 0;

	steps_begin(1);
	for (long n = -1; amid < AMID; n++) {
		long around, inside;
		char name[32], first[32];

		snprintf(name, sizeof name, "amid %ld", n);
		snprintf(first, sizeof first, "before %ld", n);
		fresh_site = tach_site_get(name);
		stop_cold(first, n);
		CHECK(regions_look("around_cold", 1));
		around = grown("around_cold", &around_was);
		inside = grown("inside_cold", &inside_was);
		amid += inside > WORK;
		CHECK(n < 0 ? around == 0 : around >= WORK && around <= WORK + 2 * reading,
		      "step %ld: %ld around", n, around);
		CHECK(inside == 0 || (inside >= WORK && inside <= WORK + 2 * reading),
		      "step %ld: %ld inside", n, inside);
		if (n > 2000) {
			CHECK(amid == AMID, "%ld steps amid a reading", amid);
			return;
		}
	}
}

/* The handler's region detects open entries below it, so its level decreases by one. */
static __attribute__((noinline)) void leave_one(void)
{
	char room[4096];

	TACH_START(left_below);
	__asm__ volatile("" : : "r"(room) : "memory");
	siglongjmp(landing, 1);
	TACH_STOP(left_below);
}

static void cold_exit_amid_start_over_one_left(void)
{
	/*
	 * STEPS: instructions in addition to those that change which regions are open. UNSEEN:
	 * instructions between START's read of the level and its store, where the enclosing
	 * region seems to be open twice, and is counted as lost once more.
	 */
	enum { STEPS = 105, UNSEEN = 8 };
	volatile long n;

	steps_begin(1);
	nested(-1, 0);
	for (n = 0; n < STEPS; n++) {
		char name[32];

		snprintf(name, sizeof name, "over %ld", n);
		fresh_site = tach_site_get(name);
		if (sigsetjmp(landing, 1) == 0)
			leave_one();
		CHECK(nested(n, 1) < 0);
		CHECK(TACH__LEVEL(tach__self->state) == 0, "step %ld: level %d", n,
		      (int)TACH__LEVEL(tach__self->state));
		CHECK(regions_look("inside", 1) && info.calls == (uint64_t)n + 2 &&
			      info.lost == 0,
		      "step %ld: %d inside, %d lost", n, (int)info.calls, (int)info.lost);
		CHECK(regions_find("around", 1) && info.calls == (uint64_t)n + 2 &&
			      info.lost <= UNSEEN,
		      "step %ld: %d around, %d lost", n, (int)info.calls, (int)info.lost);
	}
	CHECK(regions_find("left_below", 1) && info.calls == 0 && info.lost == STEPS, "%d lost",
	      (int)info.lost);
}

static void cold_exit_amid_stop(void)
{
	cold_exits(0);
}

static void slow_path_during_start(void)
{
	cold_exits(1);
}

/* ---- a region that a handler leaves open ---- */

enum { NESTED = 1, AMID_START = 2, ENDED = 4, LEFT_WAYS = 8 };

static struct tach_site *left_open;
static struct tach_region_mark open_mark; /* the mark of a region that ends later */

static void leave_open_to_end(void)
{
	tach_region_begin(left_open, &open_mark);
}

/* The region's mark becomes invalid when the handler returns. */
static __attribute__((noinline)) void leave_open(void)
{
	struct tach_region_mark mark;

	tach_region_begin(left_open, &mark);
	__asm__ volatile("" : : "r"(&mark) : "memory");
}

static long around_one_left(struct tach_site *site, long n, int way)
{
	struct tach_region_mark around = {0}, stepped = {0}, behind = {0};
	void (*handler)(void) = way & ENDED ? leave_open_to_end : leave_open;

	if (way & NESTED)
		tach_region_begin(&site[0], &around);
	if (n >= 0 && (way & AMID_START))
		steps_from_here(n, handler);
	tach_region_begin(&site[1], &stepped);
	steps_end();
	if (n >= 0 && !(way & AMID_START))
		steps_from_here(n, handler);
	tach_region_end(&stepped);
	steps_end();
	for (int i = 0; i < 2; i++) {
		tach_region_begin(&site[2], &behind);
		fake_count += WORK;
		tach_region_end(&behind);
	}
	if (way & ENDED)
		tach_region_end(&open_mark);
	if (way & NESTED)
		tach_region_end(&around);
	return wait_for;
}

/* Each entry that began is counted, lost or still open. */
static void all_begun(const char *name, long begun, long lost, long n, int way)
{
	CHECK(regions_find(name, 0), "%s", name);
	CHECK((long)info.entries == begun && (long)info.lost == lost,
	      "way %d, step %ld: %s: %ld begun, %ld counted, %ld lost", way, n, name,
	      (long)info.entries, (long)info.calls, (long)info.lost);
}

/*
 * A later region is not in the self value of the enclosing one, unless that value is flagged.
 */
static double around_self(long n, int way, double before)
{
	struct tach_value self;

	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, "around one left") != 0)
			continue;
		tach_snapshot_value(shot, r, 1, TACH_PART_SELF, &self);
		CHECK(self.value - before < WORK || (self.flags & TACH_FLAG_INCOMPLETE),
		      "way %d, step %ld: %g in self", way, n, self.value - before);
		return self.value;
	}
	return before;
}

/*
 * This is before any slow path: the report flags the enclosing region, and the state recovers.
 */
static int around_is_flagged(long n)
{
	const struct tach__slot *slot;
	int is_over;

	TACH_START(within);
	slot = *tach__stack(tach__self, tach__self->state - 1);
	is_over = slot != tach__self->record->outside &&
		  strcmp(tach__site_at(slot->id)->name, "stepped") == 0;
	CHECK(!is_over || (n >= 0 && regions_look("stepped", 0) &&
			   (value.flags & TACH_FLAG_INCOMPLETE)),
	      "step %ld: flags %#x", n, value.flags);
	TACH_STOP(within);
	return is_over;
}

static void left_open_by_a_handler(int members, int way)
{
	static struct tach_site site[3] = {TACH_SITE_INIT("around one left", 0, ""),
					   TACH_SITE_INIT("stepped", 0, ""),
					   TACH_SITE_INIT("behind", 0, "")};
	long begun = 0, n = 0, done = 0, flagged = 0;
	double self = 0;

	steps_begin(members);
	left_open = tach_site_get("left open");
	enter(left_open);
	around_one_left(site, -1, way & ~ENDED);
	around_is_flagged(-1);
	for (; !done; n = members ? next_step(n) : n + 1, begun++) {
		char name[32];

		done = around_one_left(site, n, way) >= 0;
		if (way == 0)
			flagged += around_is_flagged(n);
		snprintf(name, sizeof name, "behind %d %d %ld", members, way, n);
		enter(tach_site_get(name)); /* a cold exit */
		CHECK(regions_look("left open", 0), "way %d, step %ld", way, n);
		CHECK(TACH__LEVEL(tach__self->state) == 0, "way %d, step %ld: level %d", way, n,
		      (int)TACH__LEVEL(tach__self->state));
		all_begun("left open", 2 + begun - done, way & ENDED ? 0 : 1 + begun - done, n,
			  way);
		all_begun("stepped", 2 + begun, 0, n, way);
		all_begun("behind", 4 + 2 * begun, 0, n, way);
		if (way & NESTED) {
			all_begun("around one left", 2 + begun, 0, n, way);
			if (members)
				self = around_self(n, way, self);
		}
	}
	CHECK(begun > 20 && (way || flagged > 20), "%ld steps, %ld flagged", begun, flagged);
}

static void left_open_by_handlers(void)
{
	for (int way = 0; way < LEFT_WAYS; way++)
		left_open_by_a_handler(0, way);
	left_open_by_a_handler(1, NESTED);
}

/* ---- a handler ends an enclosing region ---- */

static struct tach_region_mark around_mark;

static void end_around(void)
{
	tach_region_end(&around_mark);
}

/*
 * The handler runs after any instruction of a STOP: all entries are counted, and the next
 * region is not nested in another. If the STOP of an entry has read its counters but not yet
 * written, the entry is also counted as lost: UNSEEN instructions. Another region may be open
 * around all of these.
 */
static void end_around_in_a_handler(int outer)
{
	enum { UNSEEN = 8 };
	static struct tach_site outermost = TACH_SITE_INIT("around ended around", 0, "");
	static struct tach_site around = TACH_SITE_INIT("ended around", 0, ""),
				within = TACH_SITE_INIT("ended within", 0, ""),
				behind = TACH_SITE_INIT("ended behind", 0, "");
	uint64_t begun = 1;

	steps_begin(0);
	enter(&within);
	enter(&behind);
	wait_for = -1;
	for (long n = 0; wait_for < 0; n++, begun++) {
		struct tach_region_mark mark, outer_mark;

		if (outer)
			tach_region_begin(&outermost, &outer_mark);
		tach_region_begin(&around, &around_mark);
		tach_region_begin(&within, &mark);
		steps_from_here(n, end_around);
		tach_region_end(&mark);
		steps_end();
		tach_region_end(&around_mark);
		CHECK(TACH__LEVEL(tach__self->state) == (uint32_t)outer, "step %ld: level %d",
		      n, (int)TACH__LEVEL(tach__self->state));
		if (outer)
			tach_region_end(&outer_mark);
		enter(&behind);
		CHECK(TACH__LEVEL(tach__self->state) == 0, "step %ld: level %d", n,
		      (int)TACH__LEVEL(tach__self->state));
		CHECK(regions_look("ended behind", 0) && info.calls == begun + 1 &&
			      info.outermost == info.calls && info.lost == 0,
		      "step %ld: %d behind, %d outermost", n, (int)info.calls,
		      (int)info.outermost);
		CHECK(regions_find("ended within", 0) && info.calls == begun + 1 &&
			      info.lost <= UNSEEN,
		      "step %ld: %d within, %d lost", n, (int)info.calls, (int)info.lost);
		CHECK(regions_find("ended around", 0) && info.calls == begun && info.lost == 0,
		      "step %ld: %d around, %d lost", n, (int)info.calls, (int)info.lost);
	}
}

static void around_ended_by_a_handler(void)
{
	end_around_in_a_handler(0);
}

static void around_ended_by_a_handler_in_another(void)
{
	end_around_in_a_handler(1);
}

int main(void)
{
	CASE(left_amid_stop_clock);
	CASE(left_amid_stop_counters);
	CASE(left_amid_stop_for_another);
	CASE(left_with_their_marks);
	CASE(left_amid_flat_stop);
	CASE(flat_in_a_handler);
	CASE(cold_exit_amid_stop);
	CASE(slow_path_during_a_slow_stop);
	CASE(slow_path_during_start);
	CASE(cold_exit_amid_start_over_one_left);
	CASE(left_open_by_handlers);
	CASE(around_ended_by_a_handler);
	CASE(around_ended_by_a_handler_in_another);
	return check_done();
}
#else
static void left_open_during_stop(void)
{
	SKIP("this architecture, or a sanitizer, has no trap flag");
}

int main(void)
{
	CASE(left_open_during_stop);
	return check_done();
}
#endif
