/* SPDX-License-Identifier: MIT */
/*
 * Flat regions: which entries are flat; all others are counted like normal regions: nested,
 * enclosing and recursive ones, regions left open, and regions ended elsewhere. The test uses
 * only the clock, because user space can read no counters here; region_exact in the guests
 * tests counters.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include "core/region/region.h"
#include "tests/unit/region/regions.h"

static struct tach_site site = TACH_SITE_INIT("flat", TACH_SITE_FLAT, ""),
			other = TACH_SITE_INIT("other", 0, "");

/* Returns the number of flat entries of the site in this thread. */
static uint64_t flat(void)
{
	return tach__slot_at(tach__thread_record(), (uint32_t)site.id)->flat;
}

/* Other architectures do not have flat regions yet. */
static int is_flat(uint64_t entries)
{
#if defined(__x86_64__) || defined(__aarch64__)
	return flat() == entries;
#else
	return flat() == 0 * entries;
#endif
}

static void enter_for(int turns)
{
	struct tach_region_mark mark;

	tach_region_begin(&site, &mark);
	for (volatile int i = 0; i < turns; i++)
		;
	tach_region_end(&mark);
}

static void enter(void)
{
	enter_for(0);
}

/*
 * In a new thread, the first entry measures the cost of flat regions, and the second one finds
 * everything ready.
 */
static void begin(void)
{
	regions_begin(0);
	enter();
	enter();
	CHECK(flat() == 0, "%d", (int)flat());
}

static void region_without_nesting_stays_flat(void)
{
	const struct tach__part *part;
	uint64_t pairs[2];

	begin();
	part = tach__part(tach__slot_at(tach__thread_record(), (uint32_t)site.id), 0, 0);
	memcpy(pairs, tach__self->pairs, sizeof pairs);
	for (int i = 0; i < 10; i++) {
		enter_for(1000); /* a clock may stand still for 10 ns */
		CHECK(part->ceiling == TACH__CEILING_OPEN && part->outer == TACH__OUTER_NONE);
	}
	CHECK(is_flat(10), "%d", (int)flat());
	/* All pairs have no fences. */
	CHECK(tach__self->pairs[0] == pairs[0] + 10 && tach__self->pairs[1] == pairs[1]);
	CHECK(regions_look("flat", 0) && info.calls == 12 && info.outermost == 12 &&
		      info.entries == 12,
	      "%d", (int)info.calls);
	CHECK(value.raw > 0);
}

/*
 * A handler left an entry by a jump between two stores of its STOP: that entry is incomplete,
 * the next one is complete.
 */
static void entry_after_one_left_in_its_stop(void)
{
	struct tach_region_mark mark;
	struct tach__slot *slot;

	begin();
	slot = tach__slot_at(tach__thread_record(), (uint32_t)site.id);
	for (int i = 0; i < 5; i++) {
		tach_region_begin(&site, &mark);
		slot->seq++;
		tach_region_end(&mark);
		CHECK(!(slot->seq & 1));
	}
	CHECK(flat() == 0 && slot->provenance[1] == 5);
	CHECK(regions_look("flat", 0) && info.calls == 7 && info.entries == 7 && info.lost == 0,
	      "%d, %d", (int)info.calls, (int)info.lost);
	enter();
	CHECK(is_flat(1));
}

static double ticks(const char *name, int part)
{
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, name) == 0)
			tach_snapshot_value(shot, r, 0, part, &value);
		if (strcmp(info.name, name) == 0)
			return value.raw;
	}
	return -1;
}

static void around_another(void)
{
	struct tach_region_mark mark, inner;
	double inside;

	begin();
	for (int i = 0; i < 5; i++) {
		tach_region_begin(&site, &mark);
		/*
		 * Works so long that the result is not 0 if a first entry's cost is
		 * overestimated.
		 */
		for (volatile int turn = 0; turn < 100000; turn++)
			;
		tach_region_begin(&other, &inner);
		tach_region_end(&inner);
		tach_region_end(&mark);
	}
	CHECK(flat() == 0);
	CHECK(regions_look("other", 0) && info.calls == 5);
	CHECK(regions_find("flat", 0) && info.calls == 7 && info.nested == 5, "%d, %d",
	      (int)info.calls, (int)info.nested);
	/* In nanoseconds; each value is rounded separately. */
	inside = ticks("flat", TACH_PART_INCLUSIVE) - ticks("flat", TACH_PART_SELF) -
		 ticks("other", TACH_PART_INCLUSIVE);
	CHECK(inside > -1 && inside < 1, "%g", inside);
	enter();
	CHECK(is_flat(1));
}

static void in_another(void)
{
	struct tach_region_mark mark;

	begin();
	tach_region_begin(&other, &mark);
	for (int i = 0; i < 5; i++)
		enter();
	tach_region_end(&mark);
	CHECK(flat() == 0);
	CHECK(regions_look("flat", 0) && info.calls == 7);
	CHECK(regions_find("other", 0) && info.calls == 1 && info.nested == 5);
	/* From now on the entry at this place counts as left open. */
	enter();
	CHECK(flat() == 0);
}

static void recursive_entries_are_not_flat(void)
{
	struct tach_region_mark mark[2];

	begin();
	tach_region_begin(&site, &mark[1]);
	tach_region_begin(&site, &mark[0]);
	tach_region_end(&mark[0]);
	tach_region_end(&mark[1]);
	CHECK(flat() == 0);
	CHECK(regions_look("flat", 0) && info.calls == 4 && info.outermost == 3, "%d, %d",
	      (int)info.calls, (int)info.outermost);
	CHECK(ticks("flat", TACH_PART_INCLUSIVE) == ticks("flat", TACH_PART_SELF));
	enter();
	CHECK(flat() == 0);
}

static void from_a_handler(int sig)
{
	(void)sig;
	enter();
}

static void handlers(void)
{
	struct tach_region_mark mark;

	begin();
	signal(SIGUSR1, from_a_handler);
	raise(SIGUSR1);
	CHECK(is_flat(1));
	tach_region_begin(&site, &mark);
	raise(SIGUSR1);
	tach_region_end(&mark);
	CHECK(is_flat(1));
	CHECK(regions_look("flat", 0) && info.calls == 5 && info.outermost == 4);
}

static jmp_buf landing;

/*
 * AddressSanitizer places marks on its own stacks, in any order, so the last one may not be
 * detected.
 */
#ifdef __SANITIZE_ADDRESS__
enum { UNSEEN = 1 };
#else
enum { UNSEEN = 0 };
#endif

static __attribute__((noinline)) void leave(void)
{
	TACH_START_FLAT(left);
	longjmp(landing, 1);
	TACH_STOP(left);
}

static __attribute__((noinline)) void stay(void)
{
	TACH_SCOPE_FLAT(stays);
}

static void region_left_by_longjmp_is_lost(void)
{
	volatile int i;

	regions_begin(0);
	for (i = 0; i < 5; i++)
		if (setjmp(landing) == 0)
			leave();
	for (i = 0; i < 5; i++)
		stay();
	regions_look("left", 0);
	CHECK(info.calls == 0 && info.lost <= 5 && info.lost + UNSEEN >= 5, "%d, %d",
	      (int)info.calls, (int)info.lost);
	CHECK(regions_find("stays", 0) && info.calls == 5 && info.lost == 0);
}

static struct tach_region_mark carried;

static void *stop_carried(void *unused)
{
	TACH_SCOPE(its_own);
	tach_region_end(&carried);
	return unused;
}

static uint64_t refused(void)
{
	struct tach_counts counts = {0};

	regions_look("", 0);
	tach_snapshot_counts(shot, &counts);
	return counts.refused;
}

static void stop_on_another_thread_is_refused(void)
{
	pthread_t thread;
	uint64_t before;

	begin();
	enter();
	before = refused();
	tach_region_begin(&site, &carried);
	pthread_create(&thread, NULL, stop_carried, NULL);
	pthread_join(thread, NULL);
	CHECK(refused() == before + 1);
	CHECK(is_flat(1));
	/* A second STOP is refused. */
	tach_region_end(&carried);
	CHECK(refused() == before + 1);
}

static void in_a_child(void)
{
	struct tach_region_mark mark;
	int status;
	pid_t pid;

	begin();
	tach_region_begin(&site, &mark);
	pid = fork();
	if (pid == 0) {
		tach_region_end(&mark);
		enter();
		enter();
		enter();
		_exit(!regions_look("flat", 0) || info.calls != 3 || !is_flat(1) ||
		      refused() != 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "%#x", status);
	tach_region_end(&mark);
	CHECK(is_flat(1));
}

/* The clock may stand still for longer than a read takes. */
static void clock_moves(void)
{
	uint64_t was = tach_clock();

	while (tach_clock() == was)
		;
}

static void read_while_open(void)
{
	struct tach_region_mark mark;
	uint64_t values[2] = {0, 0}, more[1];
	uint32_t flags, generation;

	begin();
	tach_region_begin(&site, &mark);
	clock_moves();
	CHECK(tach_region_read(&mark, values, 1, &flags, &generation) == 1 && values[0] > 0);
	clock_moves();
	CHECK(tach_region_read(&mark, more, 1, &flags, &generation) == 1 &&
	      more[0] > values[0] && flags == 0);
	tach_region_end(&mark);
	CHECK(is_flat(1));
	CHECK(tach_region_read(&mark, more, 1, &flags, &generation) < 0);
}

/* If entries are stored in more than sums, no entry is flat, and all are counted. */
static void with_more(void)
{
	static const struct {
		const char *what;
		struct tach_regions_options opt;
	} cases[] = {
		{"histograms", {.histograms = 1}}, {"worst", {.worst = "8"}},
		{"samples", {.sparse = 2}},	   {"warm-up", {.warmup = 2}},
		{"tags", {.by = "tag"}},	   {"tasks", {.by = "task"}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_regions_options opt = cases[i].opt;

		opt.size = sizeof opt;
		opt.events = "";
		CHECK(tach_regions_configure(&opt, NULL) == 0, "%s", cases[i].what);
		for (int n = 0; n < 20; n++)
			enter();
		CHECK(flat() == 0, "%s", cases[i].what);
		CHECK(regions_look("flat", 0) && info.entries == 20, "%s: %d", cases[i].what,
		      (int)info.entries);
	}
	/* Rows that are divided by thread change nothing else. */
	begin();
}

/* Counters are not read in user space. */
static void by_system_call(void)
{
	regions_begin(2);
	for (int n = 0; n < 20; n++)
		enter();
	CHECK(flat() == 0);
	CHECK(regions_look("flat", 1) && info.calls == 20 && value.value == 0, "%d, %g",
	      (int)info.calls, value.value);
}

int main(void)
{
	CASE(region_without_nesting_stays_flat);
	CASE(entry_after_one_left_in_its_stop);
	CASE(around_another);
	CASE(in_another);
	CASE(recursive_entries_are_not_flat);
	CASE(handlers);
	CASE(region_left_by_longjmp_is_lost);
	CASE(stop_on_another_thread_is_refused);
	CASE(in_a_child);
	CASE(read_while_open);
	CASE(with_more);
	CASE(by_system_call);
	return check_done();
}
