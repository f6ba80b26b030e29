/* SPDX-License-Identifier: MIT */
/*
 * Tests the fast paths of START and STOP exactly: core/region/start.c, stop.c and their readers
 * are compiled here with counters and a clock that the test sets, over pages that permit
 * reading. Any read may be interrupted by the kernel, or by a handler with a region.
 */
#include <pthread.h>
#include <setjmp.h>
#include <tach/arch.h>

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_ADDRESS__) &&         \
	!defined(__SANITIZE_THREAD__)
uint64_t sim_counter(uint32_t index);
uint64_t sim_clock(void);
uint32_t sim_faults(void);
void look_step(void);
uint64_t look_behind(uint64_t shown);
/* The test may interrupt before and after each read of a page. */
#define TACH_PAGE_LOAD(page, field)                                                            \
	(look_step(),                                                                          \
	 (__typeof__((page)->field))look_behind(                                               \
		 (uint64_t) * (const volatile __typeof__((page)->field) *)&(page)->field))
#define TACH_PAGE_OPERAND(page, field) ((page)->field)
#undef TACH_COUNTER
#ifdef __x86_64__
#define FIRST 1u /* index of counter 0 */
#define WIDTH 48
#else
#define FIRST 0u
#define WIDTH 64
/* Reads by the address of code, 16 bytes each; the look-up is not interrupted. */
#undef TACH_COUNTER_AT
#define TACH_COUNTER_AT(at, value, seen)                                                       \
	((value) = sim_counter((uint32_t)(((at)-TACH_STUBS(WIDTH)) / 16)),                     \
	 (seen) |= sim_faults())
#undef TACH_COUNTER_SEE
#define TACH_COUNTER_SEE(at, way, seen)                                                        \
	(look_step(),                                                                          \
	 tach__counter_see(at, (way).stubs, &(way).page->index, &(way).page->lock, &(seen)))
#endif
#define TACH_COUNTER(way, number, value, seen)                                                 \
	((void)(way), (value) = sim_counter((number) + FIRST), (seen) |= sim_faults())
#undef TACH_COUNTER_SHOWN
#define TACH_COUNTER_SHOWN TACH_COUNTER
#undef TACH_COUNTERS_HIDE
int sim_hides(void);
#define TACH_COUNTERS_HIDE() sim_hides()
#define tach_clock()	     sim_clock()
extern int fences;
int fences;
#undef TACH_FENCE
#define TACH_FENCE() ((void)fences++)

#define instance starts
#define any	 starts_any
#include "core/region/start.c"
#undef instance
#undef any
#undef INSTANCE
#undef ROW
#include "core/region/stop.c"
#include "core/region/cold_start.c"
#include "core/region/cost.c"
#include "core/region/flat.c"
#define readable reads
#include "core/reader/lag.c"
#include "core/reader/slow.c"
#include "tests/unit/region/regions.h"

enum { BY_READ = 10, BY_CLOCK = 3 };
#define START ((uint64_t)1 << 47)
#define MASK  (UINT64_MAX >> (64 - WIDTH))
static uint64_t count, ticks;
static int members, reads_until;
static void (*comes_in)(void); /* called at the read where reads_until reaches its end */

static int steps_taken;
static void step(void)
{
	void (*what)(void) = comes_in;

	steps_taken++;
	if (!what || reads_until-- > 0)
		return;
	comes_in = NULL;
	what();
}

static int looks; /* reads of pages count as steps too */
void look_step(void)
{
	if (looks)
		step();
}

uint64_t look_behind(uint64_t shown)
{
	look_step();
	return shown;
}

/*
 * Counter i counts i times as fast as counter 1, and starts far below 0, as in the kernel. An
 * event may move to another counter; its old counter then has wrong values.
 */
enum { COUNTERS = 4096 };
static struct {
	uint64_t moved, rate, bias;
} hardware[COUNTERS];
static uint32_t next_counter;
static uint32_t index_of[1 << 16]; /* by descriptor */
static uint32_t leader = 1;	   /* the index of a group's first counter */
static int strays; /* number of reads of counters that no page of the set shows */
uint64_t sim_counter(uint32_t index)
{
	step();
	/* 1: a read of number 0, if no number is known */
	strays += index >= COUNTERS || (index < leader && index != 1);
	count += BY_READ;
	if (index < COUNTERS && hardware[index].moved)
		return (count * hardware[index].rate + hardware[index].bias - START) & MASK;
	return (count * index - START) & MASK;
}

static int fault_in = -1; /* number of reads until one faults; below 0: no read faults */
uint32_t sim_faults(void)
{
	return fault_in >= 0 && fault_in-- == 0;
}

uint64_t sim_clock(void)
{
	step();
	return ticks += BY_CLOCK;
}

/* Whether the processor hides counters; region_hidden.c sets 1. */
#ifndef HIDES
#define HIDES 0
#endif
static int asked;
int sim_hides(void)
{
	asked++;
	return HIDES;
}

static long sim_sys(long number, long a, long b, long c, long d, long e, long f)
{
	static uint32_t last;
	struct perf_event_mmap_page *page;
	long r;

	if (number != SYS_mmap || e < 0 || !fake_fd[e]) {
		r = fake_sys(number, a, b, c, d, e, f);
		if (number == SYS_perf_event_open && r >= 0)
			index_of[r] = last = d < 0 ? leader : last + 1;
		if (number == SYS_fcntl && b == F_DUPFD_CLOEXEC && r >= 0)
			index_of[r] = index_of[a];
		return r;
	}
	r = tach__sys_real(number, a, b, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | (d & MAP_FIXED), -1, 0);
	page = (struct perf_event_mmap_page *)r;
	page->cap_user_rdpmc = 1;
	page->pmc_width = WIDTH;
	page->offset = START;
	page->lock = 2;
	page->index = index_of[e];
	return r;
}

static struct tach_site *site, *inner;
static struct tach_region_mark mark;

/* A set for a PMU with eleven counters. */
enum { MOST = 11 };

static struct tach_set *set_of(int n)
{
	static const char events[] =
		"INST_RETIRED:ANY,cycles,ref-cycles,r01c4,r02c4,r04c4,r08c4,"
		"r10c4,r20c4,r40c4,r80c4";
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;
	char some[sizeof events];
	char *end = some;

	tach__sys = sim_sys;
	fake_members = members = n;
	memcpy(some, events, sizeof some);
	for (int i = 0; i < n && end; i++)
		end = strchr(end + 1, ',');
	if (end)
		*end = '\0';
	opt.events = some;
	opt.pmu = tach_pmu_find("icl");
	CHECK(tach_set_create(&opt, &set, NULL) == 0 && tach_set_count(set) == n);
	return set;
}

/* Three kinds of fast STOP: they keep no entries, the worst ones, or each entry. */
static const char *const kept_by[] = {"0", "4", "each"};

/* worst: number of kept entries; "each": all entries. */
static void begin_straight(int n, const char *worst)
{
	int each = strcmp(worst, "each") == 0;
	struct tach_regions_options opt = {
		.size = sizeof opt, .set = set_of(n), .worst = each ? "0" : worst};

	comes_in = NULL;
	memset(hardware, 0, sizeof hardware);
	next_counter = 0;
	if (each)
		setenv("TACH_TRACE", "a", 1);
	CHECK(tach_regions_configure(&opt, NULL) == 0);
	unsetenv("TACH_TRACE");
	site = tach_site_get("straight");
	inner = tach_site_get("inner");
	for (int i = 0; i < 2; i++) { /* first entries take the slow path */
		tach_region_begin(site, &mark);
		tach_region_end(&mark);
		tach_region_begin(inner, &mark);
		tach_region_end(&mark);
	}
	CHECK(tach__edges_are_straight(tach__self) == (n <= (int)TACH__UNROLLED));
}

static struct tach__slot *slot_of(const struct tach_site *of)
{
	return tach__slot_at(tach__self->record, (uint32_t)of->id);
}

static struct tach__part *part_of(const struct tach_site *of)
{
	return tach__part(slot_of(of), tach__self->count, 0);
}

/*
 * Returns what an entry adds to its sums: `work` is counted by the counters, `time` by the
 * clock.
 */
static void entry(uint64_t work, uint64_t time, uint64_t *added)
{
	uint64_t before[TACH__SUMS];
	size_t size = (1 + (size_t)members) * sizeof *before;

	memcpy(before, part_of(site)->sum, size);
	tach_region_begin(site, &mark);
	count += work;
	ticks += time;
	tach_region_end(&mark);
	for (int i = 0; i <= members; i++)
		added[i] = part_of(site)->sum[i] - before[i];
}

static void handler(void)
{
	struct tach_region_mark own;

	tach_region_begin(inner, &own);
	count += 500;
	tach_region_end(&own);
}

static void reschedule(void)
{
	for (int i = 0; i < members; i++)
		((struct perf_event_mmap_page *)tach__self->reader->way[i].page)->lock += 2;
}

static struct perf_event_mmap_page *page_of(int i)
{
	return (struct perf_event_mmap_page *)tach__self->reader->way[i].page;
}

/* As the kernel does, moves a count to another counter, which had another value. */
static void move_one(int i)
{
	struct perf_event_mmap_page *page = page_of(i);
	uint32_t was = page->index, is = 64 + next_counter++ % 4000;
	uint64_t rate = hardware[was].moved ? hardware[was].rate : was;

	hardware[is].moved = hardware[was].moved = 1;
	hardware[is].rate = rate;
	hardware[is].bias = 977 * (uint64_t)is;
	hardware[was].rate = 1000003; /* another program's */
	page->offset = (int64_t)(START - hardware[is].bias);
	page->index = is;
	page->lock += 2;
}

static void move_all(void)
{
	for (int i = 0; i < members; i++)
		move_one(i);
}

static void move_last(void)
{
	move_one(members - 1);
}

static uint64_t flagged(const struct tach_site *of)
{
	return slot_of(of)->provenance[0];
}

/* Nested entries: what each adds to its sums. */
static struct tach_site flat_around = TACH_SITE_INIT("flat around", TACH_SITE_FLAT, ""),
			plain_around = TACH_SITE_INIT("around", 0, ""),
			fenced_around = TACH_SITE_INIT("fenced around", 1, ""),
			fenced_inside = TACH_SITE_INIT("fenced inside", 1, "");
struct added {
	uint64_t outer[TACH__SUMS], inner[TACH__SUMS];
};

static void sums_less(uint64_t *out, const struct tach_site *of)
{
	for (int i = 0; i <= members; i++)
		out[i] = part_of(of)->sum[i] - out[i];
}

static void nest(struct tach_site *outer, struct tach_site *within, void (*between)(void),
		 void (*behind)(void), struct added *added)
{
	struct tach_region_mark around, own;

	memset(added, 0, sizeof *added);
	sums_less(added->outer, outer);
	sums_less(added->inner, within);
	tach_region_begin(outer, &around);
	count += 100;
	if (between)
		between();
	tach_region_begin(within, &own);
	count += 1000;
	if (behind)
		behind();
	tach_region_end(&own);
	count += 10;
	tach_region_end(&around);
	sums_less(added->outer, outer);
	sums_less(added->inner, within);
}

static void enter_once(struct tach_site *of)
{
	tach_region_begin(of, &mark);
	tach_region_end(&mark);
}

static int same(const uint64_t *a, const uint64_t *b)
{
	return memcmp(a, b, (1 + (size_t)members) * sizeof *a) == 0;
}

/*
 * If pages changed, a START looks up the counters again. Neither its region nor the enclosing
 * regions count this work. The enclosing regions detect the change, although the inner one has
 * already seen it. If the leader's page has not changed, their counts are exact and not
 * flagged, because no second read is needed.
 */
static void moved_inside(void)
{
	struct tach_site *outers[] = {&plain_around, &flat_around, &fenced_around},
			 *inners[] = {inner, &fenced_inside};
	void (*const moves[])(void) = {move_all, move_last};

	for (int n = 1; n <= (int)TACH__UNROLLED; n++)
		for (int o = 0; o < 3; o++)
			for (int w = 0; w < 2; w++) {
				struct tach_site *outer = outers[o];
				struct tach_site *within;
				struct added quiet, moved;

				begin_straight(n, "0");
				inners[0] = inner;
				within = inners[w];
				enter_once(outer);
				enter_once(within);
				for (int i = 0; i < 4; i++)
					nest(outer, within, NULL, NULL, &quiet);
				for (int m = 0; m < 2; m++) {
					uint64_t f[2] = {flagged(outer), flagged(within)};

					nest(outer, within, moves[m], NULL, &moved);
					CHECK(same(moved.inner, quiet.inner),
					      "%d in %d of %d: %d %d more", w, o, n,
					      (int)(moved.inner[0] - quiet.inner[0]),
					      (int)(moved.inner[1] - quiet.inner[1]));
					CHECK(o == 1 || same(moved.outer, quiet.outer),
					      "around %d in %d of %d: %d %d more", w, o, n,
					      (int)(moved.outer[0] - quiet.outer[0]),
					      (int)(moved.outer[1] - quiet.outer[1]));
					CHECK(flagged(outer) == f[0] + (m == 0 || n == 1) &&
						      flagged(within) == f[1],
					      "%d in %d of %d: flags", w, o, n);
					f[0] = flagged(outer);
					nest(outer, within, NULL, moves[m], &moved);
					CHECK(same(moved.inner, quiet.inner) &&
						      (o == 1 ||
						       same(moved.outer, quiet.outer)),
					      "behind, %d in %d of %d: %d %d", w, o, n,
					      (int)(moved.inner[1] - quiet.inner[1]),
					      (int)(moved.outer[1] - quiet.outer[1]));
					CHECK(flagged(outer) == f[0] + (m == 0 || n == 1) &&
					      flagged(within) == f[1] + 1);
					nest(outer, within, NULL, NULL, &moved);
					CHECK(same(moved.inner, quiet.inner));
				}
			}
}

static struct tach_region_mark left_open;

static void moves_and_handles(void)
{
	move_all();
	handler();
}

static int closing; /* then a STOP could be interrupted in this way too */
static void moves_and_leaves_open(void)
{
	move_all();
	if (!closing)
		tach_region_begin(inner, &left_open);
}

static void closes(void)
{
	closing = 1;
	if (left_open.end)
		tach_region_end(&left_open);
}

static void faults_now(void)
{
	fault_in = 0;
}

/*
 * At each read of a counter or page: a count without a flag is right; a flagged count contains
 * at most the interruption and the reads.
 */
static void anything_at_each_step(void)
{
	void (*const what[])(void) = {move_all, move_last, moves_and_handles,
				      moves_and_leaves_open, faults_now};

	for (int n = 1; n <= 4; n += 3)
		for (int w = 0; w < 5; w++) {
			struct added quiet, added;
			int at = 0;

			begin_straight(n, "0");
			enter_once(&plain_around);
			for (int i = 0; i < 4; i++)
				nest(&plain_around, site, NULL, NULL, &quiet);
			looks = 1;
			for (;; at++) {
				uint64_t f = flagged(site), more;

				move_all(); /* so that START looks them up */
				left_open.end = NULL;
				fault_in = -1;
				comes_in = what[w];
				reads_until = at;
				closing = 0;
				nest(&plain_around, site, NULL, closes, &added);
				if (comes_in)
					break;
				more = added.inner[1] - quiet.inner[1];
				/*
				 * The region that was open ends inside: the difference is its
				 * reads or, if it began earlier, a pair.
				 */
				if (what[w] == moves_and_leaves_open &&
				    (more == BY_READ * (uint64_t)n ||
				     more == 2 * BY_READ * (uint64_t)n))
					more = 0;
				CHECK(more == 0 || (flagged(site) > f && more < 3000),
				      "%d, %d at %d: %d more, %d flagged", n, w, at, (int)more,
				      (int)(flagged(site) - f));
				for (int i = 1; i <= n; i++)
					CHECK(added.inner[i] >= quiet.inner[i] &&
						      added.inner[i] <
							      quiet.inner[i] +
								      3000 * (uint64_t)i &&
						      added.outer[i] <
							      quiet.outer[i] +
								      20000 * (uint64_t)i,
					      "%d, %d at %d: %d of %d", n, w, at,
					      (int)(added.inner[i] - quiet.inner[i]), i);
				CHECK(TACH__LEVEL(tach__self->state) == 0, "%d at %d", w, at);
			}
			comes_in = NULL;
			looks = 0;
			fault_in = -1;
			CHECK(at > 10 * n, "%d", at);
		}
}

static int ends_in;
static uint64_t inner_sum, inner_flags;

static void ends(void)
{
	count += 300;
	tach_region_end(&left_open);
	inner_sum = part_of(inner)->sum[1] - inner_sum;
	inner_flags = flagged(inner) - inner_flags;
}

static void begins_what_ends(void)
{
	move_all();
	inner_sum = part_of(inner)->sum[1];
	inner_flags = flagged(inner);
	tach_region_begin(inner, &left_open);
	comes_in = ends;
	reads_until = ends_in;
}

/*
 * During one START that looks up its counters, one handler begins a region and another handler
 * ends it. START's later store is older than the first handler's state, so the second handler
 * must not use it.
 */
static void two_handlers_during_a_look_up(void)
{
	for (ends_in = 0; ends_in < 4; ends_in++)
		for (int at = 0; at < 80; at++) {
			begin_straight(3, "0");
			enter_once(site);
			enter_once(inner);
			move_all();
			looks = 1;
			comes_in = begins_what_ends;
			reads_until = at;
			tach_region_begin(site, &mark);
			looks = 0;
			if (comes_in == ends) { /* it is late */
				comes_in = NULL;
				ends();
			}
			CHECK(comes_in == NULL || at > 20, "%d", at);
			if (!comes_in)
				CHECK(inner_sum >= 300 && inner_sum < 3000, "%d, %d: %llu, %d",
				      at, ends_in, (unsigned long long)inner_sum,
				      (int)inner_flags);
			comes_in = NULL;
			tach_region_end(&mark);
		}
}

static uint64_t by_no_sum(void)
{
	const uint64_t *flag = slot_of(site)->provenance;

	return flag[2] + flag[3] + flag[5];
}

/* A mark whose START could not read counters: no sum of locks equals its stored sum. */
static void unreadable_start_matches_no_sum_of_locks(void)
{
	begin_straight(2, "0");
	for (uint32_t turn = 0; turn < 76; turn++) {
		uint32_t index[2], lock = 4 + turn / 2 * 2;
		uint64_t was;
		uint64_t empty[TACH__SUMS], added[TACH__SUMS];

		entry(0, 0, empty);
		entry(0, 0, empty);
		for (int i = 0; i < 2; i++) {
			index[i] = page_of(i)->index;
			page_of(i)->index = 0;
			page_of(i)->lock = lock;
		}
		was = by_no_sum();
		tach_region_begin(site, &mark);
		CHECK(mark.counters.lock & 1);
		for (int i = 0; i < 2; i++)
			page_of(i)->index = index[i];
		/*
		 * The sum even equals the one that the slow path left in the mark, or the
		 * smallest possible one.
		 */
		page_of(1)->lock =
			(turn % 2 ? 2 : (uint32_t)(uintptr_t)tach__self->reader) - lock;
		count += 1000;
		tach_region_end(&mark);
		CHECK(by_no_sum() == was + 1, "%d: %d", (int)turn, (int)(by_no_sum() - was));
		page_of(1)->lock = lock + 2;
		entry(0, 0, added);
		entry(0, 0, added);
		CHECK(same(added, empty), "%d", (int)lock);
	}
}

/* Checks the last traced entry of the site: its counts, and no flag. */
static void was_traced(const struct tach_site *of, uint64_t number, uint64_t work,
		       uint64_t time)
{
	const struct tach__trace *ring = tach__self->record->trace;
	union tach__traced_copy got;

	CHECK(ring->n == number + 1, "%d: %d", members, (int)ring->n);
	CHECK(tach__trace_get(ring, number, &got.entry) && got.entry.id == of->id &&
		      got.entry.flags == 0 && got.entry.level == 0,
	      "%d: %d, flags %#x", members, (int)got.entry.id, (int)got.entry.flags);
	CHECK(got.entry.sum[0] == time, "%d: %d", members, (int)got.entry.sum[0]);
	for (int i = 1; i <= members; i++)
		CHECK(got.entry.sum[i] == work * (uint64_t)i, "%d of %d: %d", i, members,
		      (int)got.entry.sum[i]);
}

static void none_kept_is_flagged(const struct tach_site *of)
{
	const struct tach__worst *worst = tach__self->record->worst[of->id];

	CHECK(worst->n >= 1, "%d: %d", members, (int)worst->n);
	for (uint64_t i = 0; i < worst->n; i++)
		CHECK(tach__worst_at(worst, i)->flags == 0, "%d: %#x", members,
		      (int)tach__worst_at(worst, i)->flags);
}

/* Each number of counters, also above the unrolled ones; all bits of the clock. */
static void every_number_of_members(void)
{
	static struct tach_site fenced = TACH_SITE_INIT("fenced", 1, "every_number");

	for (int n = 1; n <= MOST; n++)
		for (int k = 0; k < 6; k++) {
			uint64_t empty[TACH__SUMS], added[TACH__SUMS], inside[5], number;

			begin_straight(n, kept_by[k / 2]);
			site = k % 2 ? &fenced : site;
			enter_once(site);
			entry(0, 0, empty);
			number = k / 2 == 2 ? tach__self->record->trace->n : 0;
			memcpy(inside, tach__part(slot_of(site), (uint32_t)n, 1),
			       sizeof inside);
			entry(1000, ((uint64_t)7 << 32) - 5, added);
			CHECK(memcmp(inside, tach__part(slot_of(site), (uint32_t)n, 1),
				     sizeof inside) == 0,
			      "%d, %d", n, k);
			CHECK(added[0] - empty[0] == ((uint64_t)7 << 32) - 5, "%d: %llx", n,
			      (unsigned long long)added[0]);
			for (int i = 1; i <= n; i++)
				CHECK(added[i] - empty[i] == 1000 * (uint64_t)i, "%d of %d: %d",
				      i, n, (int)(added[i] - empty[i]));
			CHECK(flagged(site) == 0, "%d, %d", n, k);
			if (k / 2 == 1)
				none_kept_is_flagged(site);
			if (k / 2 == 2)
				was_traced(site, number, 1000, ((uint64_t)7 << 32) - 5);
		}
}

/* A reschedule between START and STOP: flagged; time, counts and nested parts are unchanged. */
static void rescheduled_entries(void)
{
	uint64_t empty[TACH__SUMS], added[TACH__SUMS];

	for (int n = 1; n <= MOST; n++)
		for (unsigned within = 0; within < 3; within++) {
			unsigned reads = 1 + 2 * within, work = 1000 + 500 * within;
			uint64_t calls, nested;

			begin_straight(n, "0");
			entry(0, 0, empty);
			calls = part_of(site)->calls;
			nested = part_of(site)->nested[0];
			memcpy(added, part_of(site)->sum, (1 + (size_t)n) * sizeof *added);
			tach_region_begin(site, &mark);
			for (unsigned i = 0; i < within; i++)
				handler();
			reschedule();
			count += 1000;
			ticks += (uint64_t)5 << 32;
			tach_region_end(&mark);
			CHECK(slot_of(site)->provenance[0] == 1 &&
				      part_of(site)->calls == calls + 1,
			      "%d: %d", n, (int)slot_of(site)->provenance[0]);
			CHECK(part_of(site)->nested[0] == nested + within &&
				      part_of(site)->nested[1] == 0,
			      "%d: %d nested", n, (int)(part_of(site)->nested[0] - nested));
			sums_less(added, site);
			CHECK(added[0] == ((uint64_t)5 << 32) + reads * empty[0], "%d: %llx", n,
			      (unsigned long long)added[0]);
			for (int i = 1; i <= n; i++)
				CHECK(added[i] == work * (uint64_t)i + reads * empty[i],
				      "%d of %d: %d", i, n, (int)added[i]);
			entry(0, 0, added);
			CHECK(slot_of(site)->provenance[0] == 1 && same(added, empty));
			for (int i = 1; i < 6; i++)
				CHECK(slot_of(site)->provenance[i] == 0, "%d: flag %d", n, i);
		}
}

/*
 * The kernel restarted the counter twice, and the elapsed time permits this: of the counter's
 * difference, seven remain.
 */
static void longer_than_the_counter(void)
{
	const uint64_t full = (uint64_t)1 << 48;
	uint64_t empty[TACH__SUMS], before, added;

	begin_straight(1, "0");
	entry(0, 0, empty);
	before = part_of(site)->sum[1];
	tach_region_begin(site, &mark);
	page_of(0)->offset += (int64_t)full;
	page_of(0)->time_enabled += full;
	page_of(0)->time_running += full;
	page_of(0)->lock += 4;
	count += 7;
	ticks += full;
	tach_region_end(&mark);
	added = part_of(site)->sum[1] - before;
	CHECK(added == full + 7 + empty[1], "%llx", (unsigned long long)added);
	CHECK(flagged(site) == 1);
}

/* The counter shows less than at START: the time is counted, the counter's value is not. */
static void set_back_inside(void)
{
	uint64_t before[2];

	begin_straight(1, "0");
	memcpy(before, part_of(site)->sum, sizeof before);
	tach_region_begin(site, &mark);
	page_of(0)->offset -= (int64_t)1 << 40;
	page_of(0)->lock += 2;
	ticks += 1000;
	tach_region_end(&mark);
	CHECK(slot_of(site)->provenance[5] == 1);
	CHECK(part_of(site)->sum[0] >= before[0] + 1000 && part_of(site)->sum[1] == before[1],
	      "%llx", (unsigned long long)(part_of(site)->sum[1] - before[1]));
}

/* The pages of another set have equal locks, but other counters. */
static void flat_entries_of_another_set(void)
{
	static struct tach_site flat_one = TACH_SITE_INIT("flat", TACH_SITE_FLAT, "");

	for (int n = 1; n <= (int)TACH__UNROLLED; n++) {
		for (leader = 1; leader <= 9; leader += 4) {
			uint64_t empty[TACH__SUMS], added[TACH__SUMS], inside[5];

			strays = 0;
			begin_straight(n, "0");
			CHECK(strays == 0, "%d from %d: %d", n, (int)leader, strays);
			site = &flat_one;
			tach_region_begin(site, &mark); /* cold */
			tach_region_end(&mark);
			for (int i = 0; i < 3; i++)
				entry(0, 0, empty);
			/* Only the outermost part has these counts. */
			memcpy(inside, tach__part(slot_of(site), (uint32_t)n, 1),
			       sizeof inside);
			entry(1000, 0, added);
			CHECK(memcmp(inside, tach__part(slot_of(site), (uint32_t)n, 1),
				     sizeof inside) == 0,
			      "%d", n);
			CHECK(HIDES ? slot_of(site)->flat == 0 : slot_of(site)->flat >= 2,
			      "%d: %d", n, (int)slot_of(site)->flat);
			for (uint32_t i = 1; i <= (uint32_t)n; i++)
				CHECK(added[i] - empty[i] == 1000 * (uint64_t)(leader + i - 1),
				      "%d of %d from %d: %d", (int)i, n, (int)leader,
				      (int)(added[i] - empty[i]));
		}
	}
	leader = 1;
}

/*
 * At each read of START: the handler's work is in neither sum, and not in nested parts. At each
 * read of STOP: both sums contain the work, and are flagged if a read was in progress.
 */
static void a_handler_at_each_read(void)
{
	for (int n = 1; n <= MOST; n += 4)
		for (int at = 0; at < 2 * (n + 1); at++) {
			uint64_t nested, sum, flagged, work, empty[TACH__SUMS];
			int in_start = at <= n;

			begin_straight(n, "0");
			entry(0, 0, empty);
			nested = part_of(site)->nested[0];
			sum = part_of(site)->sum[1];
			flagged = slot_of(site)->provenance[0];
			reads_until = at;
			comes_in = handler;
			tach_region_begin(site, &mark);
			count += 1000;
			tach_region_end(&mark);
			CHECK(!comes_in);
			nested = part_of(site)->nested[0] - nested;
			flagged = slot_of(site)->provenance[0] - flagged;
			work = part_of(site)->sum[1] - sum;
			CHECK(nested == !in_start, "%d at %d: %d nested", n, at, (int)nested);
			CHECK(in_start ? work == 1000 + empty[1] : work >= 1500 + empty[1],
			      "%d at %d: %d", n, at, (int)work);
			CHECK(flagged == (!in_start && n <= (int)TACH__UNROLLED),
			      "%d at %d: %d flagged", n, at, (int)flagged);
		}
}

static void enter_fresh(void);
static struct tach_site *fresh;

/* STOP still ends the entry, and flags the disturbance. */
static void a_cold_exit_at_each_read_of_stop(void)
{
	for (int n = 1; n <= MOST; n += 5)
		for (int at = 0; at <= n; at++) {
			uint64_t calls, flagged_before;
			char name[32];

			begin_straight(n, "0");
			snprintf(name, sizeof name, "cold at %d of %d", at, n);
			fresh = tach_site_get(name);
			calls = part_of(site)->calls;
			flagged_before = flagged(site);
			tach_region_begin(site, &mark);
			reads_until = at;
			comes_in = enter_fresh;
			tach_region_end(&mark);
			CHECK(!comes_in && !mark.end && TACH__LEVEL(tach__self->state) == 0,
			      "%d at %d", n, at);
			CHECK(part_of(site)->calls == calls + 1 && slot_of(site)->lost == 0,
			      "%d at %d: %d", n, at, (int)(part_of(site)->calls - calls));
			CHECK(flagged(site) == flagged_before + 1, "%d at %d", n, at);
		}
}

/* Each end has one fence before its reads and one after; without a request it has no fence. */
static void fenced_ends(void)
{
	for (int c = 0; c < 6; c++) {
		static struct tach_site fenced = TACH_SITE_INIT("fenced", 1, "fenced_ends");
		int n = c % 2 ? MOST : 1;

		begin_straight(n, kept_by[c / 2]);
		for (int i = 0; i < 2; i++) {
			fences = 0;
			tach_region_begin(site, &mark);
			tach_region_end(&mark);
			CHECK(fences == 0, "%d: %d", n, fences);
			tach_region_begin(&fenced, &mark);
			CHECK(i == 0 || fences == 2, "%d: %d", n, fences);
			fences = 0;
			tach_region_end(&mark);
			CHECK(fences == 2, "%d: %d", n, fences);
		}
	}
}

static void stopped_twice(void)
{
	static struct tach_site flat_one = TACH_SITE_INIT("stopped twice", TACH_SITE_FLAT, "");

	for (int i = 0; i < 2; i++) {
		struct tach_site *of;
		const struct tach__slot *slot;
		uint64_t calls;

		begin_straight(2, "0");
		of = i ? &flat_one : site;
		for (int k = 0; k < 3; k++)
			enter_once(of);
		slot = slot_of(of);
		CHECK(HIDES || !i || slot->flat);
		calls = part_of(of)->calls + slot->flat;
		tach_region_begin(of, &mark);
		tach_region_end(&mark);
		CHECK(mark.end == NULL); /* so a second STOP is refused */
		tach_region_end(&mark);
		tach_region_end(&mark);
		CHECK(part_of(of)->calls + slot->flat == calls + 1 && slot->lost == 0);
		CHECK(TACH__LEVEL(tach__self->state) == 0);
		CHECK(part_of(of)->outer == TACH__OUTER_NONE &&
		      part_of(of)->ceiling == TACH__CEILING_OPEN);
		enter_once(of);
		CHECK(part_of(of)->calls + slot->flat == calls + 2);
	}
}

/*
 * The error of a top-down field is at most all slots of the entry; a nested entry of the same
 * region adds only to the self value.
 */
static void errors_of_fields(void)
{
	static union {
		uint64_t room[sizeof(struct tach__slot) / sizeof(uint64_t) + 64];
		struct tach__slot slot;
	} own, around;
	struct tach__hot hot = {.count = 2, .inexact = 1};
	const struct tach__inexact *error = tach__inexact(&own.slot, 2),
				   *outside = tach__inexact(&around.slot, 2);

	add_error(&hot, &own.slot, 0, &around.slot, 30, (uint64_t[]){9, 100, 0});
	CHECK(error->inclusive == 30 && error->self == 30 && outside->self == 30, "%d",
	      (int)error->inclusive);
	add_error(&hot, &own.slot, 1, &around.slot, 500, (uint64_t[]){9, 100, 0});
	CHECK(error->inclusive == 30 && error->self == 130 && outside->self == 130, "%d",
	      (int)error->self);
	CHECK(outside->inclusive == 0);
}

/* STOP reads that error, and reports if a handler changed the state. */
static void error_of_a_reading(void)
{
	static struct tach__reader reader = {.topdown.error = 77};
	struct tach__hot hot = {
		.inexact = 1, .reader = &reader.hot, .state = 5, .pairs = {9, 4}};
	struct tach_region_mark own = {.pairs = {2, 1}};
	struct tach__reading r = {.again = 1};

	CHECK(tach__edges_stop(&hot, &own, 5, &r, 0) == 1);
	CHECK(r.error == 77 && r.inside[0] == 7 && r.inside[1] == 3 && r.again == 0, "%d",
	      (int)r.error);
	CHECK(tach__edges_stop(&hot, &own, 6, &r, 0) == 0);
}

/* The group was rescheduled: checked when no lock is known yet, and when a lock is known. */
static void group_reschedules_are_detected(void)
{
	struct tach_region_mark own = {.part = NULL};
	struct tach__hot none;
	uint32_t lock;

	begin_straight(2, "0");
	enter_once(inner);
	none = *tach__self;
	none.count = 0;
	lock = tach__way(tach__self->reader, 0).page->lock;
	for (int k = 0; k < 5; k++) {
		struct tach__reading r = {.flags = k == 1 ? TACH_FLAG_SYSCALL : 0,
					  .delta = {30, 20, 10}};

		own.counters.lock = k == 2 ? lock - 1 : k == 3 ? lock : lock - 2;
		tach__edges_since(k == 4 ? &none : tach__self, &own, &r);
		CHECK(k == 0 ? r.flags != 0 : r.flags == (k == 1 ? TACH_FLAG_SYSCALL : 0),
		      "%d: %x", k, r.flags);
		CHECK(r.delta[0] == 30 && r.delta[1] == 20 && r.delta[2] == 10, "%d", k);
	}
}

/* An entry was wrongly counted as lost: the later entry stays open. */
static void a_successor_stays_open(void)
{
	struct tach_region_mark own, other;
	struct tach__part *part;
	struct tach__reading r = {.delta = {30, 20, 10}};
	uint64_t calls;

	begin_straight(2, "0");
	enter_once(inner);
	for (int taken = 0; taken < 2; taken++) {
		tach_region_begin(inner, &own);
		part = own.part;
		calls = part->calls;
		if (taken)
			part->outer = (uintptr_t)&other;
		tach__edges_add(tach__self, &own, &r, 0);
		CHECK(part->calls == calls + 1 && TACH__LEVEL(tach__self->state) == 0);
		CHECK(part->outer == (taken ? (uintptr_t)&other : TACH__OUTER_NONE));
		CHECK(part->ceiling == (taken ? own.state + 1 : TACH__CEILING_OPEN));
	}
	part->outer = TACH__OUTER_NONE;
	part->ceiling = TACH__CEILING_OPEN;
}

static void enter_fresh(void)
{
	struct tach_region_mark own;

	tach_region_begin(fresh, &own);
	tach_region_end(&own);
}

static uint64_t noted[2][TACH__SUMS];

static void note(int which, const struct tach_site *of)
{
	memcpy(noted[which], part_of(of)->sum, (1 + (size_t)members) * sizeof(uint64_t));
}

/* `reads`: number of STARTs and STOPs whose code between their reads is counted. */
static void grew(int which, const struct tach_site *of, uint64_t work, uint64_t time,
		 unsigned reads, const uint64_t *empty)
{
	for (int i = 0; i <= members; i++)
		CHECK(part_of(of)->sum[i] - noted[which][i] ==
			      (i ? work * (uint64_t)i : time) + reads * empty[i],
		      "%d of %d: %d", i, members, (int)(part_of(of)->sum[i] - noted[which][i]));
}

static struct tach_site flat_one = TACH_SITE_INIT("flat", TACH_SITE_FLAT, "");

/*
 * No region contains the cost of a slow path: with a reschedule, with a nested entry, and with
 * the first entry of a nested region; for flat regions, which then end on the general path, and
 * for others; with and without an enclosing region.
 */
static void cold_exits_do_not_show(void)
{
	static void (*const inside[])(void) = {reschedule, handler, enter_fresh};
	static const unsigned work[] = {1000, 1500, 1000}, reads[] = {1, 3, 3};
	struct tach_site *around = tach_site_get("around");

	for (int n = 1; n <= MOST; n++)
		for (int way = 0; way < 12; way++) {
			struct tach_region_mark outside;
			int what = way / 4, enclosed = way & 2;
			uint64_t empty[TACH__SUMS], flagged;

			begin_straight(n, "0");
			site = way & 1 ? site : &flat_one;
			for (int i = 0; i < 4; i++) { /* the first entry takes the slow path */
				tach_region_begin(site, &mark);
				tach_region_end(&mark);
				tach_region_begin(around, &outside);
				tach_region_end(&outside);
			}
			entry(0, 0, empty);
			for (int again = 0; again < 3; again++) {
				char name[32];

				snprintf(name, sizeof name, "fresh %d %d %d", n, way, again);
				fresh = tach_site_get(name);
				note(0, site);
				note(1, around);
				flagged = slot_of(site)->provenance[0];
				fences = 0;
				if (enclosed)
					tach_region_begin(around, &outside);
				tach_region_begin(site, &mark);
				count += 1000;
				ticks += 500;
				inside[what]();
				tach_region_end(&mark);
				if (enclosed)
					tach_region_end(&outside);
				CHECK(slot_of(site)->provenance[0] - flagged == (what == 0),
				      "%d way %d", n, way);
				/* Calibration's alone. */
				CHECK(again == 0 || fences == 0, "%d way %d: %d", n, way,
				      fences);
				grew(0, site, work[what], 500, reads[what], empty);
				if (enclosed)
					grew(1, around, work[what], 500, reads[what] + 2,
					     empty);
			}
		}
}

static void leave_open(void)
{
	struct tach_region_mark left;

	tach_region_begin(inner, &left);
}

static void added_around(void (*what)(void), struct tach_site *const of[2],
			 uint64_t added[2][TACH__SUMS])
{
	struct tach_region_mark outside;

	note(0, of[0]);
	note(1, of[1]);
	tach_region_begin(of[1], &outside);
	tach_region_begin(of[0], &mark);
	what();
	tach_region_end(&mark);
	tach_region_end(&outside);
	for (int k = 0; k < 2; k++)
		for (int i = 0; i <= members; i++)
			added[k][i] = part_of(of[k])->sum[i] - noted[k][i];
}

/*
 * The test sets the calibrated cost of a STOP's slow path, which is subtracted from the region
 * and from the enclosing one. The enclosing region's STOP also takes the slow path, and has no
 * fence.
 */
static void calibrated_costs_are_subtracted(void)
{
	static struct tach_site fenced = TACH_SITE_INIT("fenced", 1, "what_was_found");
	static const struct {
		void (*what)(void);
		size_t at;	 /* offset in struct tach__thread */
		unsigned out[2]; /* how often it is subtracted from either region */
		unsigned own,
			/*
			 * cost of the enclosing region's own STOP; maximum number of members
			 * with this cost
			 */
			most;
	} cases[] = {
		{leave_open, offsetof(struct tach__thread, residue.before), {1, 1}, 1, MOST},
		{leave_open, offsetof(struct tach__thread, residue.after), {0, 1}, 0, MOST},
		/*
		 * With more members, no counter is read twice; the same is true if counters may
		 * be hidden.
		 */
		{reschedule,
		 offsetof(struct tach__thread, residue.again),
		 {1, 0},
		 0,
		 HIDES ? 0 : TACH__UNROLLED},
		{reschedule,
		 offsetof(struct tach__thread, residue.rescheduled),
		 {0, 1},
		 0,
		 MOST},
	};

	for (int n = 1; n <= MOST; n += 5)
		for (size_t way = 0; way < 2 * sizeof cases / sizeof *cases; way++) {
			int is_fenced = way % 2, c = (int)way / 2;
			struct tach_site *of[2] = {&fenced, tach_site_get("around")};
			uint64_t usual[2][TACH__SUMS], other[2][TACH__SUMS], *found;

			begin_straight(n, "0");
			of[0] = is_fenced ? of[0] : site;
			for (int k = 0; k < 2; k++) { /* the first entry takes the slow path */
				tach_region_begin(of[k], &mark);
				tach_region_end(&mark);
			}
			for (int i = 0; i < 3; i++)
				added_around(cases[c].what, of, usual);
			found = (uint64_t *)((char *)tach__self->record + cases[c].at) +
				is_fenced * TACH__SUMS;
			for (int i = 0; i <= n; i++)
				found[i] += 3 + (uint64_t)i;
			added_around(cases[c].what, of, other);
			for (int k = 0; k < 2; k++) {
				unsigned out = cases[c].out[k];

				if (k && !is_fenced)
					out += cases[c].own;
				if (n > (int)cases[c].most)
					out = 0;
				for (int i = 0; i <= n; i++)
					CHECK(usual[k][i] - other[k][i] ==
						      out * (3 + (uint64_t)i),
					      "%d of %d, way %d, %d: %d", i, n, (int)way, k,
					      (int)(usual[k][i] - other[k][i]));
			}
		}
}

static double self_of(const char *name)
{
	struct tach_value self = {.value = -1};

	if (regions_look(name, 1))
		for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
			tach_snapshot_region(shot, r, &info);
			if (strcmp(info.name, name) == 0)
				tach_snapshot_value(shot, r, 1, TACH_PART_SELF, &self);
		}
	return self.value;
}

/*
 * With one counter: returns the site of a region that is now open, and the counts of an empty
 * region.
 */
static struct tach_site *begins_around(uint64_t *empty)
{
	struct tach_site *around = tach_site_get("around");
	struct tach_region_mark outside;

	begin_straight(1, "0");
	tach_region_begin(around, &outside);
	tach_region_end(&outside);
	entry(0, 0, empty);
	return around;
}

/* There are more slow paths than epochs. */
static void very_many_cold_exits(void)
{
	struct tach_region_mark outside;
	uint64_t empty[TACH__SUMS];
	struct tach_site *around = begins_around(empty);

	for (int i = 0; i < 2 * (int)TACH__EPOCHS; i++) {
		note(0, site);
		note(1, around);
		tach_region_begin(around, &outside);
		for (int twice = 0; twice < 1 + (i > 100); twice++) {
			tach_region_begin(site, &mark);
			reschedule();
			tach_region_end(&mark);
		}
		tach_region_end(&outside);
		grew(1, around, 0, 0, i <= 100 ? 3 : 5, empty);
	}
}

/* One entry has the maximum number of epochs. */
static void cold_exits_in_one_entry(void)
{
	struct tach_region_mark outside;
	uint64_t empty[TACH__SUMS];
	struct tach_site *around = begins_around(empty);

	note(1, around);
	tach_region_begin(around, &outside);
	for (uint32_t i = 0; i < TACH__EPOCHS - 1; i++) {
		tach_region_begin(site, &mark);
		reschedule();
		tach_region_end(&mark);
	}
	tach_region_end(&outside);
	grew(1, around, 0, 0, 1 + 2 * (TACH__EPOCHS - 1), empty);
}

static void anew(void)
{
	comes_in = handler;
	reads_until = 0;
	tach_region_begin(site, &mark);
	tach_region_end(&mark);
	CHECK(!comes_in);
}

/*
 * START repeats its reads in an entry that began after a slow path, or during whose START a
 * slow path ran: its epochs equal those of the enclosing regions.
 */
static void start_repeats_after_slow_paths(void)
{
	struct tach_site *around = tach_site_get("around"), *between = tach_site_get("between");
	struct tach_region_mark outside, middle;
	uint64_t empty[TACH__SUMS];
	int spent[2][2];

	begin_straight(1, "0");
	for (int i = 0; i < 3; i++) {
		tach_region_begin(around, &outside);
		tach_region_begin(between, &middle);
		tach_region_end(&middle);
		tach_region_end(&outside);
	}
	entry(0, 0, empty);
	for (int cold = 0; cold < 2; cold++) {
		char name[32];

		note(1, around);
		note(0, between);
		tach_region_begin(around, &outside);
		snprintf(name, sizeof name, "cold inside %d", cold);
		fresh = tach_site_get(name);
		if (cold)
			enter_fresh();
		tach_region_begin(between, &middle);
		anew();
		tach_region_end(&middle);
		tach_region_end(&outside);
		for (int i = 0; i < 2; i++)
			spent[cold][i] =
				(int)(part_of(i ? around : between)->sum[1] - noted[i][1]);
	}
	CHECK(spent[0][0] == spent[1][0], "%d, %d", spent[0][0], spent[1][0]);
	CHECK(spent[0][1] + 2 * (int)empty[1] == spent[1][1], "%d, %d", spent[0][1],
	      spent[1][1]);
	/*
	 * A slow path runs during a START without an enclosing region, and another one outside.
	 */
	fresh = tach_site_get("cold amid");
	comes_in = enter_fresh;
	reads_until = 0;
	tach_region_begin(site, &mark);
	tach_region_end(&mark);
	fresh = tach_site_get("cold outside");
	enter_fresh();
	note(0, around);
	tach_region_begin(around, &outside);
	tach_region_begin(between, &middle);
	anew();
	tach_region_end(&middle);
	tach_region_end(&outside);
	CHECK((int)(part_of(around)->sum[1] - noted[0][1]) == spent[0][1], "%d, %d",
	      (int)(part_of(around)->sum[1] - noted[0][1]), spent[0][1]);
}

/* A region that ends after its enclosing one is not inside regions that began later. */
static void ended_behind_the_one_around(void)
{
	static struct tach_site others[2] = {TACH_SITE_INIT("was around", 0, ""),
					     TACH_SITE_INIT("is there now", 0, "")};
	struct tach_region_mark outside, late;
	uint64_t empty[TACH__SUMS];

	begin_straight(2, "0");
	for (int i = 0; i < 4; i++) {
		tach_region_begin(&others[i % 2], &mark);
		tach_region_end(&mark);
	}
	entry(0, 0, empty);
	tach_region_begin(&others[0], &outside);
	tach_region_begin(site, &late);
	count += 70;
	tach_region_end(&outside);
	CHECK(slot_of(site)->lost == 0 && TACH__LEVEL(tach__self->state) == 1);
	tach_region_begin(&others[1], &outside);
	count += 500;
	tach_region_end(&late);
	count += 3;
	tach_region_end(&outside);
	CHECK(TACH__LEVEL(tach__self->state) == 0 && slot_of(site)->lost == 0);
	CHECK(self_of("is there now") == 503, "%g", self_of("is there now"));
	CHECK(regions_look("straight", 1) && value.value == 570, "%g", value.value);
}

static void *stop_it(void *of)
{
	tach_region_end(of);
	return NULL;
}

static uint64_t refused(void)
{
	struct tach_counts counts = {0};

	regions_look("straight", 1);
	tach_snapshot_counts(shot, &counts);
	return counts.refused;
}

/*
 * The STOP is refused in the other thread, also during library code; the next START here
 * detects that the region was left open.
 */
static void stopped_by_another_thread(void)
{
	struct tach_region_mark own, foreign;
	pthread_t thread;
	uint64_t had;

	begin_straight(2, "0");
	had = refused();
	tach_region_begin(site, &mark);
	pthread_create(&thread, NULL, stop_it, &mark);
	pthread_join(thread, NULL);
	CHECK(refused() == had + 1);
	tach_region_begin(inner, &own);
	CHECK(TACH__LEVEL(tach__self->state) == 1 && slot_of(site)->lost == 1);
	tach_region_end(&own);
	tach_region_begin(site, &mark);
	foreign = mark;
	tach_region_end(&mark);
	foreign.state = TACH__STATE(TACH__OPENING(foreign.state) + 1, 0, 0);
	tach__signals_held++;
	tach_region_end(&foreign);
	tach__signals_held--;
	CHECK(refused() == had + 2 && !foreign.end);
	tach_region_end(&foreign);
	CHECK(refused() == had + 2);
}

static jmp_buf out;

static __attribute__((noinline)) void leave(void)
{
	struct tach_region_mark own;

	tach_region_begin(site, &own);
	handler();
	longjmp(out, 1);
}

/*
 * Counts inside a lost entry do not belong to a later one; they belong to the enclosing region.
 */
static void counts_inside_a_lost_entry(void)
{
	struct tach_region_mark around;

	for (int enclosed = 0; enclosed < 2; enclosed++) {
		begin_straight(1, "0");
		tach_region_begin(tach_site_get("around"), &around);
		tach_region_end(&around);
		if (enclosed)
			tach_region_begin(tach_site_get("around"), &around);
		if (setjmp(out) == 0)
			leave();
		tach_region_begin(tach_site_get(enclosed ? "finds it" : "finds it alone"),
				  &mark);
		tach_region_end(&mark);
		count += 30;
		if (enclosed)
			tach_region_end(&around);
		CHECK(slot_of(site)->lost == 1 && TACH__LEVEL(tach__self->state) == 0);
		tach_region_begin(site, &mark);
		count += 70;
		tach_region_end(&mark);
		CHECK(self_of("straight") == 70, "%g", self_of("straight"));
		CHECK(self_of("inner") == 500, "%g", self_of("inner"));
		CHECK(!enclosed || self_of("around") == 30, "%g", self_of("around"));
		CHECK(!enclosed || (regions_look("around", 1) && value.value == 530), "%g",
		      value.value);
	}
}

/*
 * A START that was repeated belongs to the epoch of the enclosing region: its STOP does not
 * subtract earlier slow paths.
 */
static void a_start_anew_inside(void)
{
	struct tach_site *around = tach_site_get("around");
	struct tach_region_mark outside;
	uint64_t added[2];

	begin_straight(1, "0");
	for (int i = 0; i < 3; i++) {
		tach_region_begin(around, &outside);
		tach_region_begin(tach_site_get(i ? "new inside" : "newer inside"), &mark);
		count += 100000;
		tach_region_end(&mark);
		tach_region_end(&outside);
	}
	CHECK(tach__self->record->cold[1] > 0);
	for (int anew = 0; anew < 2; anew++) {
		uint64_t before = part_of(around)->sum[1];

		tach_region_begin(around, &outside);
		comes_in = anew ? handler : NULL;
		reads_until = 0;
		tach_region_begin(site, &mark);
		tach_region_end(&mark);
		tach_region_end(&outside);
		CHECK(!comes_in);
		added[anew] = part_of(around)->sum[1] - before;
	}
	/* The handler's work with its reads, and two reads of START that were discarded. */
	CHECK(added[1] - added[0] == 500 + 4 * BY_READ, "%d", (int)(added[1] - added[0]));
}

/* ---- flat regions, whose START and STOP have their own code ---- */

static void begins_flat(int n)
{
	begin_straight(n, "0");
	for (int i = 0; i < 3; i++)
		enter_once(&flat_one);
	enter_once(&plain_around);
	site = &flat_one;
}

/*
 * START and STOP of a flat region never use a fence: in the first entry of a process and of a
 * thread, in another region, with moved counters, and with a handler at any read.
 */
static void flat_without_fences(void)
{
	static struct tach_site others[MOST + 1][2];

	for (int n = 1; n <= MOST; n += 5) {
		struct tach_region_mark outside;

		for (int i = 0; i < 2; i++)
			others[n][i] = (struct tach_site)TACH_SITE_INIT("other flat",
									TACH_SITE_FLAT, "");
		others[n][1].line++;
		begins_flat(n);
		enter_once(&others[n][1]);
		begins_flat(n);
		fences = 0;
		enter_once(&others[n][0]);
		CHECK(fences == 0, "%d: never entered, %d", n, fences);
		steps_taken = 0;
		enter_once(&others[n][1]);
		CHECK(fences == 0, "%d: the thread's first, %d", n, fences);
		/* The overhead was measured at the first flat entry. */
		CHECK(steps_taken < 20 * (n + 1), "%d: %d steps", n, steps_taken);
		for (int at = 0; at < 2 * n + 2; at++) {
			reads_until = at;
			comes_in = handler;
			enter_once(site);
			CHECK(!comes_in && fences == 0, "%d: a handler at %d, %d", n, at,
			      fences);
		}
		move_all();
		enter_once(site);
		CHECK(fences == 0, "%d: moved, %d", n, fences);
		tach_region_begin(&plain_around, &outside);
		enter_once(site);
		tach_region_end(&outside);
		CHECK(fences == 0, "%d: in another, %d", n, fences);
	}
}

/*
 * The page of the leader or of another member changes during an entry: the entry is flagged,
 * and exact.
 */
static void pages_change_during_flat_entries(void)
{
	void (*const moves[])(void) = {move_all, move_last};

	for (int n = 1; n <= (int)TACH__UNROLLED && !HIDES; n++) {
		uint64_t empty[TACH__SUMS], before[TACH__SUMS] = {0};

		begins_flat(n);
		entry(0, 0, empty);
		for (int m = 0; m < 2; m++) {
			uint64_t flagged_before = flagged(site), flat;

			entry(0, 0, before); /* the pages are looked up again */
			flat = slot_of(site)->flat;
			memset(before, 0, sizeof before);
			sums_less(before, site);
			tach_region_begin(site, &mark);
			count += 1000;
			moves[m]();
			tach_region_end(&mark);
			sums_less(before, site);
			CHECK(flagged(site) == flagged_before + 1 &&
			      slot_of(site)->flat == flat);
			for (int i = 1; i <= n; i++)
				CHECK(before[i] == 1000 * (uint64_t)i + empty[i],
				      "%d of %d, %d: %d", i, n, m, (int)before[i]);
		}
	}
}

/*
 * If its counters have moved, START reads them at their new place; if a handler interrupts its
 * reads, START repeats them. The sums are the usual ones, without the handler's part.
 */
static void flat_starts_anew(void)
{
	for (int n = 1; n <= (int)TACH__UNROLLED; n++) {
		uint64_t empty[TACH__SUMS], added[TACH__SUMS];

		begins_flat(n);
		entry(0, 0, empty);
		for (int i = 0; i <= n && !HIDES; i++) {
			const struct tach__overhead *o = &tach__self->record->overhead;

			CHECK(o->flat[0][i] == (double)empty[i] && o->flat[1][i] == 0,
			      "%d of %d: %g, %g", i, n, o->flat[0][i], o->flat[1][i]);
		}
		for (int at = -1; at <= n; at++) {
			uint64_t flagged_before = flagged(site), flat = slot_of(site)->flat;

			if (at < 0)
				move_all();
			reads_until = at;
			comes_in = at < 0 ? NULL : handler;
			entry(1000, 500, added);
			CHECK(!comes_in && flagged(site) == flagged_before);
			CHECK(slot_of(site)->flat == flat, "%d at %d", n, at);
			CHECK(added[0] == 500 + empty[0], "%d at %d: %d", n, at, (int)added[0]);
			for (int i = 1; i <= n; i++)
				CHECK(added[i] == 1000 * (uint64_t)i + empty[i],
				      "%d of %d at %d: %d", i, n, at, (int)added[i]);
			CHECK(part_of(site)->nested[0] == 0, "%d at %d", n, at);
			begins_flat(n);
			entry(0, 0, empty);
		}
	}
}

/* The id of this site is the first one without a slot in this thread. */
static void first_beyond_the_slots(void)
{
	static struct tach_site beyond[2] = {TACH_SITE_INIT("beyond", 0, ""),
					     TACH_SITE_INIT("beyond", TACH_SITE_FLAT, "")};

	for (int flat = 0; flat < 2; flat++) {
		struct tach_site *last;
		char name[32];
		int i = 0;

		begin_straight(MOST, "0");
		do {
			snprintf(name, sizeof name, "filler %d %d", flat, i++);
			last = tach_site_get(name);
			enter_once(last);
		} while ((last->id + 1) % TACH__CHUNK_SLOTS != 0);
		enter_once(&beyond[flat]);
		CHECK(beyond[flat].id == last->id + 1);
		begin_straight(1, "0"); /* in separate memory, because slots are smaller */
		enter_once(last);
		CHECK(tach__self->limit == beyond[flat].id, "%d", (int)tach__self->limit);
		enter_once(&beyond[flat]);
		CHECK(part_of(&beyond[flat])->calls + slot_of(&beyond[flat])->flat == 1);
	}
}

/* The library finds out once if counters can be hidden; the answer selects the edges. */
static void chosen(void)
{
	CHECK(asked == 1, "%d", asked);
	for (int n = 1; n <= MOST; n++) {
		begin_straight(n, "0");
		CHECK(tach__self->cached == (!HIDES && n <= (int)TACH__UNROLLED), "%d: %d", n,
		      (int)tach__self->cached);
		for (uint32_t keeps = 0; keeps <= 3; keeps++)
			for (int plain = 0; plain < 2; plain++) {
				int is_straight =
					plain && keeps < 3 && n <= (int)TACH__UNROLLED;
				const struct instance *end =
					is_straight ? &keeping[!HIDES][keeps][n] : &any;

				tach__stop_choose(tach__self, plain, keeps);
				CHECK(memcmp(tach__self->end, end->end, sizeof end->end) == 0,
				      "%d, %d", n, (int)keeps);
				CHECK((tach__self->end_flat != NULL) ==
				      (!HIDES && is_straight && keeps == 0));
			}
	}
	CHECK(asked == 1, "%d", asked);
}

int main(void)
{
	CASE(every_number_of_members);
	CASE(a_start_anew_inside);
	CASE(rescheduled_entries);
	CASE(longer_than_the_counter);
	CASE(set_back_inside);
	CASE(flat_entries_of_another_set);
	CASE(a_handler_at_each_read);
	CASE(a_cold_exit_at_each_read_of_stop);
	CASE(fenced_ends);
	CASE(stopped_twice);
	CASE(cold_exits_do_not_show);
	CASE(very_many_cold_exits);
	CASE(ended_behind_the_one_around);
	CASE(stopped_by_another_thread);
	CASE(calibrated_costs_are_subtracted);
	CASE(cold_exits_in_one_entry);
	CASE(start_repeats_after_slow_paths);
	CASE(errors_of_fields);
	CASE(error_of_a_reading);
	CASE(group_reschedules_are_detected);
	CASE(a_successor_stays_open);
	if (!HIDES) { /* otherwise no counter is looked up */
		CASE(moved_inside);
		CASE(two_handlers_during_a_look_up);
	}
	CASE(anything_at_each_step);
	CASE(chosen);
	CASE(flat_without_fences);
	CASE(pages_change_during_flat_entries);
	CASE(flat_starts_anew);
	CASE(first_beyond_the_slots);
	CASE(unreadable_start_matches_no_sum_of_locks);
	CASE(counts_inside_a_lost_entry);
	tach_snapshot_free(shot);
	return check_done();
}
#else
#include "tests/check.h"

static void every_number_of_members(void)
{
	SKIP("this architecture, or a sanitizer, reads them otherwise");
}

int main(void)
{
	CASE(every_number_of_members);
	return check_done();
}
#endif
