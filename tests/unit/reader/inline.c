/* SPDX-License-Identifier: MIT */
/*
 * The inline reads of a reader with 16 members: the counters that they read, the order, the
 * fences between them, the use of the values, and the call of the slow path if any counter
 * cannot be read. The test provides the slow paths.
 */
#include <string.h>
#include "tests/unit/reader/simulated.h"

uint64_t read_counter(const char *stubs, uint32_t number, uint32_t *seen);
void fence(void);
/* The recorded actions, one letter each: members a to p, F a fence, B E R the slow paths. */
static char done[64];

#undef TACH_COUNTER
#undef TACH_COUNTER_48
#define TACH_COUNTER(way, number, value, seen)                                                 \
	((value) = read_counter((way).stubs, number, &(seen)))
#undef TACH_FENCE
#define TACH_FENCE() fence()
#include <tach/reader.h>
#include "tests/check.h"

enum { PAGE = 4096, ALL = TACH_COUNTERS_MAX, SLOW_FLAGS = 0x1234 };

static struct {
	_Alignas(PAGE) struct tach_reader reader;
	_Alignas(PAGE) char page[ALL + 1][PAGE];
} memory;
static struct tach_reader *const r = &memory.reader;
static struct tach_mark mark;
static uint64_t counter[ALL], delta[ALL + 1];
static int broken; /* index of the member that cannot be read; -1: none */
static int elsewhere;
static const uint64_t canary = 0x5ca1ab1e;
static struct {
	const void *mark, *to;
	unsigned first, n;
} asked;

static void note(char what)
{
	size_t length = strlen(done);

	if (length + 1 < sizeof done)
		done[length] = what;
}

void sim_step(void)
{
}

void fence(void)
{
	note('F');
}

uint64_t read_counter(const char *stubs, uint32_t number, uint32_t *seen)
{
	CHECK(stubs == done + number, "%u", number);
	note((char)('a' + number));
	if ((int)number == broken)
		*seen |= 1;
	return number < ALL ? counter[number] : 0;
}

void tach__begin_slow(struct tach_reader *reader, struct tach_mark *to, unsigned n)
{
	CHECK(reader == r);
	asked.mark = to;
	asked.n = n;
	note('B');
}

uint32_t tach__end_slow(struct tach_reader *reader, const struct tach_mark *from, uint64_t *to,
			unsigned n)
{
	CHECK(reader == r);
	asked.mark = from;
	asked.to = to;
	asked.n = n;
	note('E');
	return SLOW_FLAGS;
}

uint32_t tach__read_slow(struct tach_reader *reader, uint64_t *to, unsigned first, unsigned n)
{
	CHECK(reader == r);
	asked.to = to;
	asked.first = first;
	asked.n = n;
	note('R');
	return SLOW_FLAGS;
}

int tach__mine(const struct tach_reader *reader)
{
	return reader == r && !elsewhere;
}

static void again(void)
{
	memset(done, 0, sizeof done);
	memset(&asked, 0xff, sizeof asked);
	for (int i = 0; i <= ALL; i++)
		delta[i] = canary;
}

/*
 * Counters are negative, as in reality: they have 48 bits, and the offset contains the earlier
 * count.
 */
static void make(unsigned n)
{
	memset(&memory, 0, sizeof memory);
	memset(&mark, 0xff, sizeof mark);
	r->count = n;
	r->mask = ((uint64_t)1 << 48) - 1;
	for (unsigned i = 0; i < ALL; i++) {
		struct perf_event_mmap_page *page = (void *)memory.page[i];

		r->way[i].page = page;
		r->way[i].stubs = done + i; /* any address: the value must be passed on */
		*page = (struct perf_event_mmap_page){.lock = 2 + 2 * i,
						      .index = i + 1,
						      .pmc_width = 48,
						      .offset = 5000 + (int64_t)i};
		counter[i] = (0 - (uint64_t)1000 - i) & r->mask;
	}
	broken = -1;
	elsewhere = 0;
	again();
}

static void work(void)
{
	for (unsigned i = 0; i < ALL; i++)
		counter[i] = (counter[i] + 10 + i) & r->mask;
}

/*
 * Compares the recorded actions with those expected for n members; `broken` is the member that
 * stops them; with or without fences.
 */
static int did(const char *before, unsigned n, char slow, const char *after)
{
	char want[64] = "", *at = want;
	unsigned reads = broken >= 0 && (unsigned)broken < n ? (unsigned)broken + 1 : n;

	at = stpcpy(at, before);
	for (unsigned i = 0; i < reads; i++)
		*at++ = (char)('a' + i);
	if (slow)
		*at++ = slow;
	strcpy(at, after);
	if (strcmp(want, done) == 0)
		return 1;
	printf("# %s, not %s\n", done, want);
	return 0;
}

static int untouched(unsigned from)
{
	for (unsigned i = from; i <= ALL; i++)
		if (delta[i] != canary)
			return 0;
	return 1;
}

/* ---- begin and end ---- */

enum form { EACH, LOOP, EACH_FENCED, LOOP_FENCED, FORMS };

static void begin(enum form form, unsigned n)
{
	if (form == EACH)
		tach_reader_begin_n(r, &mark, n);
	else if (form == LOOP)
		tach_reader_begin(r, &mark);
	else if (form == EACH_FENCED)
		tach_reader_begin_fenced_n(r, &mark, n);
	else
		tach_reader_begin_fenced(r, &mark);
}

static uint32_t end(enum form form, unsigned n)
{
	if (form == EACH)
		return tach_reader_end_n(r, &mark, delta, n);
	if (form == LOOP)
		return tach_reader_end(r, &mark, delta);
	if (form == EACH_FENCED)
		return tach_reader_end_fenced_n(r, &mark, delta, n);
	return tach_reader_end_fenced(r, &mark, delta);
}

static void check_begin(enum form form, unsigned n, int breaks)
{
	const char *around = form >= EACH_FENCED ? "F" : "";
	int slow = n == 0 || (breaks >= 0 && (unsigned)breaks < n);

	make(form == EACH || form == EACH_FENCED ? ALL : n);
	if (n == 0)
		memset(memory.page[0], 0, PAGE); /* a reader without counters has zeros here */
	broken = breaks;
	begin(form, n);
	CHECK(did(around, n, slow ? 'B' : 0, around), "%d of %u, %d", breaks, n, form);
	CHECK(!slow || (asked.mark == &mark && asked.n == n));
	for (unsigned i = 0; i < ALL; i++) {
		int is_read = i < n && (breaks < 0 || (int)i <= breaks);
		uint64_t sum = 4000 + r->mask + 1;

		CHECK(mark.value[i] == (is_read ? sum : ~(uint64_t)0) || (int)i == breaks,
		      "%u of %u: %llx", i, n, (unsigned long long)mark.value[i]);
	}
	CHECK(slow || mark.lock == 2, "%u", mark.lock);
#ifdef TACH_DEBUG
	CHECK(mark.reader == r);
#endif
}

static void ends(enum form form, unsigned n, int breaks)
{
	int slow = n == 0 || (breaks >= 0 && (unsigned)breaks < n);
	uint32_t flags;

	make(form == EACH || form == EACH_FENCED ? ALL : n);
	if (n == 0)
		memset(memory.page[0], 0, PAGE);
	begin(form, n);
	work();
	again();
	broken = breaks;
	flags = end(form, n);
	CHECK(did(form >= EACH_FENCED ? "F" : "", n, slow ? 'E' : 0, ""), "%d of %u, %d",
	      breaks, n, form);
	CHECK(flags == (slow ? SLOW_FLAGS : 0), "%#x", flags);
	CHECK(!slow || (asked.mark == &mark && asked.to == delta && asked.n == n));
	CHECK(untouched(n));
	for (unsigned i = 0; i < n && (breaks < 0 || (int)i < breaks); i++)
		CHECK(delta[i] == 10 + i, "%u of %u: %llu", i, n, (unsigned long long)delta[i]);
}

static void every_begin_and_end(void)
{
	for (enum form form = 0; form < FORMS; form++)
		for (unsigned n = 0; n <= ALL; n++)
			for (int breaks = -1; breaks < ALL; breaks++) {
				check_begin(form, n, breaks);
				ends(form, n, breaks);
			}
}

/* ---- reads ---- */

static uint32_t read_by(int loop, unsigned n)
{
	return loop ? tach_reader_read(r, delta) : tach_reader_read_n(r, delta, n);
}

static void every_read(void)
{
	for (int loop = 0; loop < 2; loop++)
		for (unsigned n = 0; n <= ALL; n++)
			for (int breaks = -1; breaks < ALL; breaks++) {
				int slow = breaks >= 0 && (unsigned)breaks < n;
				uint32_t flags;

				make(loop ? n : ALL);
				broken = breaks;
				flags = read_by(loop, n);
				CHECK(did("", n, slow ? 'R' : 0, ""), "%d of %u", breaks, n);
				CHECK(flags == (slow ? SLOW_FLAGS : 0), "%#x", flags);
				CHECK(!slow ||
				      (asked.to == delta && asked.n == n && asked.first == 0));
				CHECK(untouched(n));
				for (unsigned i = 0; i < (slow ? (unsigned)breaks : n); i++)
					CHECK(delta[i] == 4000, "%u of %u: %llu", i, n,
					      (unsigned long long)delta[i]);
			}
}

static void one_member(void)
{
	for (unsigned i = 0; i < ALL; i++)
		for (int breaks = 0; breaks < 2; breaks++) {
			char want[3] = {(char)('a' + i), breaks ? 'R' : 0};
			uint32_t flags;

			make(ALL);
			broken = breaks ? (int)i : -1;
			flags = tach_reader_read_one(r, i, delta);
			CHECK(strcmp(done, want) == 0, "%s", done);
			CHECK(flags == (breaks ? SLOW_FLAGS : 0) && untouched(1));
			if (breaks)
				CHECK(asked.to == delta && asked.first == i && asked.n == 1);
			else
				CHECK(delta[0] == 4000, "%llu", (unsigned long long)delta[0]);
		}
}

/* If the mask shows a width other than 48 bits, no count is read inline. */
static void of_other_widths(void)
{
	for (unsigned width = 40; width <= 64; width++) {
		uint64_t mask = width == 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;

		make(3);
		r->mask = mask;
		CHECK(tach_reader_read(r, delta) == (width == 48 ? 0 : SLOW_FLAGS));
		CHECK(strcmp(done, width == 48 ? "abc" : "R") == 0, "%u: %s", width, done);
		CHECK(width == 48 || (asked.first == 0 && asked.n == 3));
		again();
		CHECK(tach_reader_read_n(r, delta, 2) == (width == 48 ? 0 : SLOW_FLAGS));
		CHECK(strcmp(done, width == 48 ? "ab" : "R") == 0, "%u: %s", width, done);
		CHECK(width == 48 || (asked.first == 0 && asked.n == 2));
		again();
		CHECK(tach_reader_read_one(r, 2, delta) == (width == 48 ? 0 : SLOW_FLAGS));
		CHECK(strcmp(done, width == 48 ? "c" : "R") == 0, "%u: %s", width, done);
		CHECK(width == 48 || (asked.first == 2 && asked.n == 1));
	}
}

/* ---- what changes meanwhile ---- */

/*
 * If the leader's lock changed, begin's values are outdated; if any member's lock changed, the
 * end must read again.
 */
static void changed_pages(void)
{
	for (int i = 0; i < 3; i++) {
		make(3);
		tach_reader_begin(r, &mark);
		work();
		((struct perf_event_mmap_page *)memory.page[i])->lock += 2;
		again();
		CHECK(tach_reader_end(r, &mark, delta) == (i ? 0 : SLOW_FLAGS));
		CHECK(strcmp(done, i ? "abc" : "aE") == 0, "%d: %s", i, done);
		again();
		CHECK(tach__end_any(r, &mark, delta, (unsigned)i));
		CHECK(delta[i] == 10 + (uint64_t)i);
	}
	/* The region began on the slow path. */
	mark.lock = 3;
	again();
	CHECK(tach_reader_end(r, &mark, delta) == SLOW_FLAGS && strcmp(done, "aE") == 0);
}

#ifdef TACH_DEBUG
/* ---- what is checked ---- */

static void nothing_is_done_elsewhere(void)
{
	for (enum form form = 0; form < FORMS; form++)
		for (int what = 0; what < 3; what++) {
			make(2);
			elsewhere = what == 0;
			begin(form, 2);
			CHECK(did(form >= EACH_FENCED ? "F" : "", what ? 2 : 0, what ? 0 : 'B',
				  form >= EACH_FENCED ? "F" : ""));
			CHECK(mark.reader == r);
			/* The region ends in another thread, or began with another reader. */
			elsewhere = what < 2;
			if (what == 2)
				mark.reader = NULL;
			again();
			CHECK(end(form, 2) == TACH_FLAG_LOST);
			CHECK(did(form >= EACH_FENCED ? "F" : "", 0, 0, ""));
			CHECK(delta[0] == 0 && delta[1] == 0 && untouched(2));
		}
}
#endif

int main(void)
{
	CASE(every_begin_and_end);
	CASE(every_read);
	CASE(one_member);
	CASE(of_other_widths);
	CASE(changed_pages);
#ifdef TACH_DEBUG
	CASE(nothing_is_done_elsewhere);
#endif
	return check_done();
}
