/* SPDX-License-Identifier: MIT */
/*
 * How edges of core/region/reads.h read counters, with pages of the test: a page may change
 * between any two accesses, as the kernel changes it.
 *
 * The includer defines the differences of architectures: TACH_MODULAR; TACH_COUNTER_AT, or how
 * TACH_COUNTER_SHOWN reports a fault (TACH_COUNTER_SHOWN_MEMORY) and if an outdated number may
 * be used (TACH_COUNTER_STALE).
 */
#ifndef TESTS_UNIT_REGION_KNOWN_H
#define TESTS_UNIT_REGION_KNOWN_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <tach/arch.h>
#include "tests/check.h"

void sim_step(const void *at);
uint64_t sim_counter(uint64_t number);
static void order_asked(int order);
int sim_fault(uint64_t number);

#define TACH_PAGE_LOAD(page, field)                                                            \
	(sim_step(&(page)->field), *(const volatile __typeof__((page)->field) *)&(page)->field)
#define TACH_PAGE_OPERAND(page, field) TACH_PAGE_LOAD(page, field)
#undef TACH_ARCH_FAST
#define TACH_ARCH_FAST 1
#undef TACH_ARCH_SIGNED
#define TACH_ARCH_SIGNED !TACH_MODULAR
#undef TACH_PAGE
#define TACH_PAGE(reader, i) ((reader)->way[i].page)
#undef TACH_NUMBER
#define TACH_NUMBER(index, number) __builtin_sub_overflow(index, 1u, &(number))
#undef TACH_ADD
#define TACH_ADD(value, operand) ((value) += (uint64_t)(operand))
#undef TACH_COUNTER
#define TACH_COUNTER(way, number, value, seen)                                                 \
	((void)(way), (value) = sim_counter(number), (seen) |= (tach__word)sim_fault(number))
/* This tells reads that wait from others. */
#undef TACH_PARK
#undef TACH_UNPARK
#define TACH_PARK(value)	      ((value) ^ PARKED)
#define TACH_UNPARK(value)	      ((value) ^ PARKED)
#define __atomic_signal_fence(wanted) order_asked(wanted)
enum { PARKED = 0x55aa };

#include "core/region/reads.h"

enum { FIRST = 20, LOCK = 100, NONE = -1 }; /* numbers of counters */

static struct perf_event_mmap_page pages[TACH_COUNTERS_MAX];
static uint64_t counters[TACH_COUNTERS_MAX];
static struct tach_reader reader;
static struct tach__hot self;
static struct tach_mark mark;
static volatile uint32_t count;
static int is_straight;
static int faulty, changing, point, steps, counted, orders, handler; /* scripted events */
static int last_look[TACH_COUNTERS_MAX]; /* step of the last read of each page's lock */

static uint64_t masked(uint64_t sum)
{
	return TACH_MODULAR ? sum & reader.mask : sum;
}

static uint64_t difference(uint32_t i)
{
	return (TACH_MODULAR ? 100 : (uint64_t)1 << 50) + i;
}

/* The kernel's. */
static void change(int i)
{
	pages[i].lock += 2;
	pages[i].offset += 7777;
}

/* The slow path's look-up; a signal handler may look up counters too. */
static void look_up(void)
{
	self.since.lock = pages[0].lock;
	self.since.locks = 0;
	for (uint32_t i = 0; i < count; i++)
		self.since.locks += pages[i].lock;
}

void sim_step(const void *at)
{
	if (steps++ == point && changing >= 0)
		change(changing);
	for (int i = 0; i < TACH_COUNTERS_MAX; i++)
		if (at == &pages[i].lock)
			last_look[i] = steps - 1;
}

uint64_t sim_counter(uint64_t number)
{
	sim_step(NULL);
	counted++;
	CHECK(number >= FIRST && number < FIRST + count, "%d", (int)number);
	return counters[number - FIRST];
}

int sim_fault(uint64_t number)
{
	return faulty >= 0 && number == FIRST + (uint64_t)faulty;
}

static void order_asked(int order)
{
	CHECK(order == __ATOMIC_SEQ_CST);
	orders++;
	if (handler) {
		change(0);
		look_up();
	}
}

static void set_up(uint32_t n, int straight)
{
	count = n;
#ifdef __OPTIMIZE__
	is_straight = straight;
#else
	(void)straight; /* no argument is a constant */
	is_straight = 0;
#endif
	faulty = changing = NONE;
	point = steps = counted = orders = handler = 0;
	memset(&self, 0, sizeof self);
	memset(&mark, 0x5a, sizeof mark);
	reader.count = n;
	reader.mask = ((uint64_t)1 << 48) - 1;
	self.reader = &reader;
	self.since.flags = 77;
	for (uint32_t i = 0; i < TACH_COUNTERS_MAX; i++) {
		pages[i] = (struct perf_event_mmap_page){.lock = LOCK + 2 * i,
							 .index = FIRST + i + 1,
							 .offset = 1000000 * (i + 1)};
		reader.way[i].page = &pages[i];
		counters[i] = masked(0 - (uint64_t)(i + 1)); /* the counter will pass zero */
#ifdef TACH_COUNTER_AT
		self.seen[i % TACH__UNROLLED].page = &pages[i % TACH__UNROLLED];
		self.seen[i % TACH__UNROLLED].at =
			(const char *)(uintptr_t)(FIRST + i % TACH__UNROLLED);
#else
		self.seen[i % TACH__UNROLLED].number =
			(uint64_t)LOCK << 32 | (FIRST + i % TACH__UNROLLED);
#endif
	}
	look_up();
}

static void pass(void)
{
	for (uint32_t i = 0; i < count; i++)
		counters[i] = masked(counters[i] + difference(i));
	steps = counted = orders = 0;
}

/* Counter numbers are constants only in straight code. */
#define EACH_WAY(call)                                                                         \
	switch (is_straight ? count : UINT32_MAX) {                                            \
		TACH__INSTANCES(call)                                                          \
	default:                                                                               \
		return call##_OF(count);                                                       \
	}

static int known_begin(void)
{
#define BEGIN_OF(n) tach__known_begin(&self, &mark, n)
#define BEGIN(n)                                                                               \
	case n:                                                                                \
		return BEGIN_OF(n);
	EACH_WAY(BEGIN)
}

static int known_end(uint64_t *delta)
{
#define END_OF(n) tach__known_end(&self, &mark, delta, n)
#define END(n)                                                                                 \
	case n:                                                                                \
		return END_OF(n);
	EACH_WAY(END)
}

static int begin_reads(void)
{
#define BEGIN_READS_OF(n) tach__begin_reads(&reader, &mark, n)
#define BEGIN_READS(n)                                                                         \
	case n:                                                                                \
		return BEGIN_READS_OF(n);
	EACH_WAY(BEGIN_READS)
}

static int end_reads(uint64_t *delta)
{
#define END_READS_OF(n) tach__end_reads(&reader, &mark, delta, n)
#define END_READS(n)                                                                           \
	case n:                                                                                \
		return END_READS_OF(n);
	EACH_WAY(END_READS)
}

static void has_begun(void)
{
	for (uint32_t i = 0; i < TACH_COUNTERS_MAX; i++)
		CHECK(mark.value[i] == (i < count ? counters[i] + 1000000 * (uint64_t)(i + 1)
						  : 0x5a5a5a5a5a5a5a5a),
		      "%d of %d", (int)i, (int)count);
}

static void differs(const uint64_t *delta)
{
	for (uint32_t i = 0; i <= TACH__UNROLLED; i++)
		CHECK(delta[i] == (i >= count				? 0
				   : is_straight && i >= TACH__UNPARKED ? difference(i) ^ PARKED
									: difference(i)),
		      "%d of %d", (int)i, (int)count);
}

/* ---- with remembered numbers ---- */

static void known_counters(void)
{
	for (int way = 0; way < 2 * ((int)TACH__UNROLLED + 1); way++) {
		uint64_t delta[TACH__UNROLLED + 1] = {0}, locks;

		set_up((uint32_t)way / 2, way % 2);
		CHECK(known_begin() == 1 && counted == (int)count && orders == (count > 0));
		has_begun();
		memcpy(&locks, &mark.reader, sizeof locks);
		CHECK(!count || (mark.lock == LOCK && mark.flags == 77 &&
				 (TACH_COUNTER_SHOWN_MEMORY || locks == self.since.locks)));
		CHECK(count || mark.lock == 0x5a5a5a5a);
		pass();
		CHECK(known_end(delta) == 1 && counted == (int)count);
		differs(delta);
	}
}

/* A page changes: values that were read since the last check of its lock are not used. */
static void a_page_changes(void)
{
	for (int end = 0; end < 2; end++)
		for (uint32_t n = 1; n <= TACH__UNROLLED; n++)
			for (int page = 0, all = 1, last = 0; page < (int)n; page++)
				for (int at = 0; at <= all; at++) {
					uint64_t delta[TACH__UNROLLED + 1] = {0};

					set_up(n, 1);
					if (end) {
						CHECK(known_begin() == 1);
						pass();
					}
					if (at) { /* the first read belongs to a look-up */
						changing = page;
						point = at - 1;
					}
					int is_good = end ? known_end(delta) : known_begin();

					if (at == 0) {
						all = steps;
						last = last_look[page];
					}
					CHECK(is_good == (at == 0 || at - 1 > last),
					      "%d of %d, %d: %d", page, (int)n, at, last);
					if (is_good && end)
						differs(delta);
					else if (is_good && !at)
						has_begun();
				}
}

static void a_page_that_changed_before(void)
{
	for (int page = 0; page < 2; page++) {
		int asked = !TACH_COUNTER_STALE && page == 0;
		uint64_t delta[TACH__UNROLLED + 1] = {0};

		set_up(2, 1);
		change(page);
		CHECK(known_begin() == 0 && counted == (asked ? 0 : 2), "%d", counted);
		set_up(2, 1);
		CHECK(known_begin() == 1);
		pass();
		change(page);
		CHECK(known_end(delta) == 0 && counted == (asked ? 0 : 2), "%d", counted);
	}
}

/* The sum that was recorded is outdated, and does not match the handler's state. */
static void a_handler_looks_them_up(void)
{
	for (uint32_t n = 1; n <= TACH__UNROLLED; n++) {
		set_up(n, 1);
		handler = 1;
		CHECK(known_begin() == 0 && orders == 1);
		CHECK(mark.lock == LOCK);
		handler = 0;
		CHECK(known_begin() == 1 && mark.lock == LOCK + 2);
	}
}

static void a_counter_faults(void)
{
	for (int end = 0; end < 2; end++)
		for (uint32_t n = 1; n <= TACH__UNROLLED; n++)
			for (uint32_t i = 0; i < n; i++) {
				uint64_t delta[TACH__UNROLLED + 1] = {0};

				set_up(n, 1);
				CHECK(!end || known_begin() == 1);
				faulty = (int)i;
				CHECK((end ? known_end(delta) : known_begin()) == 0);
			}
}

static void unreadable_counters_are_never_known(void)
{
	uint64_t delta[TACH__UNROLLED + 1] = {0}, locks;

	set_up(2, 1);
	CHECK(known_begin() == 1);
	tach__known_invalidate(&mark);
	memcpy(&locks, &mark.reader, sizeof locks);
	CHECK(locks == 1);
	CHECK(known_end(delta) == 0);
}

/* ---- each counter is checked by its own page ---- */

static void counters_by_their_pages(void)
{
	for (int way = 0; way < 2 * ((int)TACH__UNROLLED + 1); way++) {
		uint64_t delta[TACH__UNROLLED + 1] = {0};

		set_up((uint32_t)way / 2, way % 2);
		CHECK(begin_reads() == 1 && counted == (int)count);
		has_begun();
		CHECK(count == 0 ||
		      (mark.lock == LOCK && !tach__lock_has_changed(&reader, &mark)));
		pass();
		CHECK(end_reads(delta) == 1);
		differs(delta);
		for (uint32_t i = 0; i < count; i++) {
			CHECK(tach__end_parked(&reader, &mark, delta, i, count) == 1);
			change((int)i);
			CHECK(tach__lock_has_changed(&reader, &mark));
		}
		for (uint32_t i = 0; i < count; i++) {
			pages[i].index = 0;
			CHECK(begin_reads() == 0 && end_reads(delta) == 0);
			CHECK(tach__end_parked(&reader, &mark, delta, i, count) == 0);
			pages[i].index = FIRST + i + 1;
		}
	}
	/* The page of another member than the leader changes. */
	set_up(2, 1);
	CHECK(begin_reads() == 1);
	change(1);
	CHECK(!tach__lock_has_changed(&reader, &mark));
}

/* ---- values stored in a mark ---- */

static void a_stash(void)
{
	for (uint32_t n = 0; n <= TACH__UNROLLED; n++) {
		uint64_t delta[TACH__SUMS];
		struct tach_region_mark m;
		struct tach__reading r;

		memset(&m, 0x5a, sizeof m);
		memset(&r, 0, sizeof r);
		for (uint32_t i = 0; i < TACH__SUMS; i++)
			delta[i] = 100 + i;
		count = n;
		tach__store_reading(&m, delta, count);
		for (uint32_t i = 0; i < TACH__UNROLLED; i++) /* where START's are */
			CHECK(m.counters.value[i] == 0x5a5a5a5a5a5a5a5a);
		tach__load_reading(&r, &m, count);
		for (uint32_t i = 0; i < TACH__SUMS; i++)
			CHECK(r.delta[i] == (i <= n ? 100 + i : 0), "%d of %d", (int)i, (int)n);
	}
}

int main(void)
{
	CASE(known_counters);
	CASE(a_page_changes);
	CASE(a_page_that_changed_before);
	CASE(a_handler_looks_them_up);
	CASE(a_counter_faults);
	CASE(unreadable_counters_are_never_known);
	CASE(counters_by_their_pages);
	CASE(a_stash);
	return check_done();
}

#endif
