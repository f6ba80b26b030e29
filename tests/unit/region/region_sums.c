/* SPDX-License-Identifier: MIT */
/* Regions add up: nesting, recursion, scopes, jumps, threads; only the clock counts. */
#include "core/region/region.h"
#include "tests/check.h"
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <tach.h>

static struct tach_region_info info;
static struct tach_value inclusive, self;

/* Finds this region in a snapshot; fills the three variables above. */
static int find(const struct tach_snapshot *s, const char *name)
{
	memset(&info, 0, sizeof info);
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		tach_snapshot_region(s, r, &info);
		if (strcmp(info.name, name) == 0) {
			tach_snapshot_value(s, r, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE,
					    &inclusive);
			tach_snapshot_value(s, r, TACH_QUANTITY_TIME, TACH_PART_SELF, &self);
			return 1;
		}
	}
	return 0;
}

static int look(const char *name)
{
	struct tach_snapshot *s;

	if (tach_snapshot_take(&s, NULL) != 0)
		return 0;
	int found = find(s, name);
	tach_snapshot_free(s);
	return found;
}

static uint64_t refused(void)
{
	struct tach_counts counts = {0};
	struct tach_snapshot *s;

	if (tach_snapshot_take(&s, NULL) != 0)
		return 0;
	tach_snapshot_counts(s, &counts);
	tach_snapshot_free(s);
	return counts.refused;
}

static void work(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

static void begin(void)
{
	struct tach_regions_options opt = {.events = ""};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

static void nothing_before_configure(void)
{
	TACH_START(early);
	work(10);
	TACH_STOP(early);
	CHECK(tach_region_mark_size() == sizeof(struct tach_region_mark));
	CHECK(tach_mark_size() == sizeof(struct tach_mark));
	CHECK(!look("early"));
	CHECK(!tach_regions_enabled());
}

/* The site was entered while regions were off; it is counted after regions are switched on. */
static void late(void)
{
	TACH_SCOPE(late);
	work(10);
}

static void switched_on_later(void)
{
	tach_regions_disable();
	late();
	begin();
	CHECK(!look("late"));
	late();
	CHECK(look("late") && info.calls == 1);
	tach_regions_disable();
	late();
	CHECK(look("late") && info.calls == 1, "%d", (int)info.calls);
	begin();
}

/* True if both are equal in ticks: they differ at most by rounding. */
static int same(double a, double b)
{
	return a <= b * 1.000001 && a >= b * 0.999999;
}

static void nested(void)
{
	TACH_START(outer);
	for (int i = 0; i < 100; i++) {
		TACH_START(inner);
		work(100);
		TACH_STOP(inner);
	}
	work(1000);
	TACH_STOP(outer);
	/*
	 * All from one snapshot, because the next one has another estimate of the clock's
	 * frequency.
	 */
	struct tach_snapshot *s;

	CHECK(tach_snapshot_take(&s, NULL) == 0);
	CHECK(find(s, "outer") && info.calls == 1 && info.nested == 100);
	CHECK(self.raw < inclusive.raw);
	double inside = inclusive.raw - self.raw;
	CHECK(find(s, "inner") && info.calls == 100 && info.nested == 0);
	CHECK(self.raw == inclusive.raw);
	CHECK(same(inside, inclusive.raw), "outer less its self is %g, inner %g", inside,
	      inclusive.raw);
	tach_snapshot_free(s);
}

static int fibonacci(int n)
{
	int result;

	TACH_START(fibonacci);
	result = n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
	TACH_STOP(fibonacci);
	return result;
}

static void recursion_counts_the_outermost_once(void)
{
	TACH_START(around);
	CHECK(fibonacci(10) == 55);
	TACH_STOP(around);
	struct tach_snapshot *s;

	CHECK(tach_snapshot_take(&s, NULL) == 0);
	CHECK(find(s, "around"));
	double whole = inclusive.raw;
	CHECK(find(s, "fibonacci") && info.calls == 177 && info.outermost == 1);
	CHECK(inclusive.raw <= whole && inclusive.raw > 0, "%g of %g", inclusive.raw, whole);
	CHECK(same(self.raw, inclusive.raw), "all of a recursion is its own: %g of %g",
	      self.raw, inclusive.raw);
	tach_snapshot_free(s);
}

static int scoped(int leave)
{
	TACH_SCOPE(scoped);
	for (;;) {
		TACH_SCOPE_FENCED(inside);
		if (leave == 1)
			return 1;
		if (leave == 2)
			break;
		leave--;
	}
	return 2;
}

/*
 * There are more levels than a thread's stack holds: wrong sums are flagged, for this set only.
 */
static void too_deep(void)
{
	enum { DEEP = 66000 };
	static struct tach_site site[2] = {TACH_SITE_INIT("deep a", 0, ""),
					   TACH_SITE_INIT("deep b", 0, "")};
	static struct tach_region_mark marks[DEEP];

	for (int deep = 60000; deep <= DEEP; deep += DEEP - 60000) {
		begin();
		/* Marks of nested regions have lower addresses. */
		for (int i = 0; i < deep; i++)
			tach_region_begin(&site[i % 2], &marks[DEEP - 1 - i]);
		for (int i = deep; i-- > 0;)
			tach_region_end(&marks[DEEP - 1 - i]);
		for (int i = 0; i < 2; i++) {
			CHECK(look(i ? "deep b" : "deep a"));
			CHECK(!(self.flags & TACH_FLAG_INCOMPLETE) == (deep < DEEP),
			      "%d levels: %#x", deep, self.flags);
			CHECK(deep == DEEP || self.value <= inclusive.value);
		}
	}
	begin();
	work(1000);
	CHECK(tach__self->record == NULL || TACH__LEVEL(tach__self->state) == 0);
	tach_region_begin(&site[0], &marks[0]);
	tach_region_end(&marks[0]);
	CHECK(look("deep a") && !(self.flags & TACH_FLAG_INCOMPLETE));
}

static void scopes_stop_however_they_are_left(void)
{
	scoped(1);
	scoped(2);
	scoped(3);
	CHECK(look("scoped") && info.calls == 3);
	CHECK(look("inside") && info.calls == 4 && info.fenced);
}

static jmp_buf jump;

/*
 * Not inlined, because its mark would be in the caller's frame, and stay valid like that of an
 * overlapping region.
 */
static __attribute__((noinline)) void jumped(int far)
{
	TACH_START(jumped);
	if (far)
		longjmp(jump, 1);
	TACH_STOP(jumped);
}

/* A START that was left by a jump is forgotten; later entries are counted normally. */
static void abandoned(void)
{
	TACH_START(shell);
	for (volatile int i = 0; i < 10; i++)
		if (setjmp(jump) == 0)
			jumped(1);
	TACH_STOP(shell);
	for (int i = 0; i < 5; i++)
		jumped(0);
	CHECK(look("jumped") && info.calls == 5 && info.outermost == 5, "%d %d",
	      (int)info.calls, (int)info.outermost);
	CHECK(look("shell") && info.calls == 1 && info.outermost == 1);
}

static void *hammer(void *arg)
{
	for (int i = 0; i < 10000; i++) {
		TACH_START(hammered);
		TACH_STOP(hammered);
	}
	return arg;
}

static void threads_add_up(void)
{
	pthread_t thread[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, hammer, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	hammer(NULL);
	CHECK(look("hammered") && info.calls == 90000 && info.threads == 9,
	      "%d calls, %d threads", (int)info.calls, (int)info.threads);
}

static struct tach_region_mark carried = TACH_REGION_MARK_INIT;

static void *stop_carried(void *arg)
{
	tach_region_end(&carried);
	return arg;
}

/*
 * Begins a region here, and lets `stop` end it on another thread; returns how many STOPs were
 * refused.
 */
static uint64_t carry(struct tach_site *site, void *(*stop)(void *))
{
	uint64_t before = refused();
	pthread_t thread;

	tach_region_begin(site, &carried);
	pthread_create(&thread, NULL, stop, NULL);
	pthread_join(thread, NULL);
	return refused() - before;
}

static void function_form(void)
{
	struct tach_site *site = tach_site_get("spanning");

	CHECK(site && site == tach_site_get("spanning"));
	tach_region_begin(NULL, &carried);
	tach_region_end(&carried);
	tach_region_begin(site, &carried);
	work(10);
	tach_region_end(&carried);
	CHECK(look("spanning") && info.calls == 1 && info.line == 0);
	uint64_t before = refused();
	tach_region_end(&carried); /* a second STOP has nothing to stop */
	CHECK(look("spanning") && info.calls == 1 && refused() == before);
}

/* A fenced pair has another overhead, so both kinds are counted separately. */
static void fenced_pairs_are_counted_separately(void)
{
	const struct tach__thread *record;

	begin();
	{
		TACH_SCOPE(around_both);
		TACH_SCOPE(plain_inside);
		TACH_SCOPE_FENCED(fenced_inside);
	}
	record = tach__thread_record();
	for (uint32_t id = TACH__SITE_FIRST; id < record->limit; id++) {
		const struct tach__slot *slot = tach__slot_at(record, id);
		const struct tach__part *part = tach__part(slot, record->count, 0);
		const struct tach__children *inside = tach__children(slot, record->count, 0);
		const char *name = slot->id ? tach__site_at(id)->name : "";

		if (strcmp(name, "around_both") == 0)
			CHECK(part->nested[0] == 2 && part->nested[1] == 1 &&
				      inside->direct[0] == 1 && inside->direct[1] == 0,
			      "%d %d", (int)part->nested[0], (int)part->nested[1]);
		if (strcmp(name, "plain_inside") == 0)
			CHECK(part->nested[0] == 1 && part->nested[1] == 1 &&
				      inside->direct[0] == 1 && inside->direct[1] == 1,
			      "%d %d", (int)inside->direct[0], (int)inside->direct[1]);
	}
	CHECK(look("plain_inside") && info.calls == 1);
}

/* The other thread has an open region of its own at the same level. */
static void *stop_carried_inside(void *unused)
{
	TACH_SCOPE(its_own);
	tach_region_end(&carried);
	return unused;
}

static void stop_on_another_thread_that_measures(void)
{
	CHECK(carry(tach_site_get("migrating_inside"), stop_carried_inside) == 1);
	CHECK(look("its_own") && info.calls == 1, "%d", (int)info.calls);
	CHECK(!look("migrating_inside") || info.calls == 0, "%d", (int)info.calls);
	begin(); /* as below */
}

static void stop_on_another_thread(void)
{
	struct tach_site *site = tach_site_get("migrating");

	CHECK(carry(site, stop_carried) == 1);
	/* The first thread has recovered: its entries are neither recursive nor nested. */
	for (int i = 0; i < 3; i++) {
		struct tach_region_mark mark = TACH_REGION_MARK_INIT;

		tach_region_begin(site, &mark);
		tach_region_end(&mark);
	}
	CHECK(look("migrating") && info.calls == 3 && info.outermost == 3, "%d %d",
	      (int)info.calls, (int)info.outermost);
	begin(); /* a new set is refused inside a region, so no region is open here */
}

static void globs(void)
{
	struct tach_regions_options opt = {.events = "", .only = "sc*,!s?oped"};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	scoped(1);
	late();
	CHECK(!look("scoped") && !look("inside") && !look("late"));
	opt.only = "!inside";
	CHECK(tach_regions_configure(&opt, NULL) == 0);
	scoped(1);
	CHECK(look("scoped") && !look("inside"));
	begin();
}

static void entered(int which)
{
	if (which == 0) {
		TACH_START(order_short);
		work(10);
		TACH_STOP(order_short);
	} else if (which == 1) {
		TACH_START(order_long);
		work(1000000);
		TACH_STOP(order_long);
	} else {
		TACH_START(order_middle);
		work(20000);
		TACH_STOP(order_middle);
	}
}

/* The longest region is first, for any order of first entries. */
static void the_longest_comes_first(void)
{
	struct tach_snapshot *s;
	double before = 1e300;

	begin();
	for (int i = 0; i < 3; i++)
		entered(i);
	CHECK(tach_snapshot_take(&s, NULL) == 0);
	CHECK(tach_snapshot_nregions(s) >= 3);
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		tach_snapshot_value(s, r, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE, &inclusive);
		CHECK(inclusive.value <= before, "%g after %g", inclusive.value, before);
		before = inclusive.value;
	}
	tach_snapshot_free(s);
}

int main(void)
{
	CASE(nothing_before_configure);
	CASE(switched_on_later);
	CASE(nested);
	CASE(recursion_counts_the_outermost_once);
	CASE(too_deep);
	CASE(scopes_stop_however_they_are_left);
	CASE(abandoned);
	CASE(threads_add_up);
	CASE(function_form);
	CASE(fenced_pairs_are_counted_separately);
	CASE(stop_on_another_thread);
	CASE(stop_on_another_thread_that_measures);
	CASE(globs);
	CASE(the_longest_comes_first);
	return check_done();
}
