/* SPDX-License-Identifier: MIT */
/*
 * Rings of entries without regions: the thread that writes to a ring, and the entries that are
 * read.
 */
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/sys.h"
#include "core/region/region.h"
#include "tests/check.h"
#include "tests/unit/region/locked.h"

/* KEPT: number of kept rings of ended threads, see man/tach-output.7 */
enum { KEPT = 64, TAG = 44 };

static uint64_t ticks = 1000;
static const struct tach__traced *under_write;
static const char *name = "a thread";
static int fences, fenced_by, loads, dirty;

static uint64_t sim_clock(void)
{
	CHECK(!under_write ||
	      (!under_write->done && fences == 1 && fenced_by == __ATOMIC_RELEASE));
	return ++ticks;
}

static uint64_t sim_tag(void)
{
	return TAG;
}

static void *sim_pages(size_t size)
{
	void *pages = tach__pages(size);

	if (pages && dirty)
		memset(pages, 0x77, size);
	return pages;
}

static void fence(int order)
{
	fences++;
	fenced_by = order;
}

static long sim_sys(long number, long a, long b, long c, long d, long e, long f)
{
	if (number != SYS_prctl)
		return tach__sys_real(number, a, b, c, d, e, f);
	CHECK(a == PR_GET_NAME && !c && !d && !e && !f);
	strcpy((char *)b, name);
	return 0;
}

#define tach_clock    sim_clock
#define tach__tag_now sim_tag
#define tach__pages   sim_pages
#undef TACH__FENCE
#define TACH__FENCE(order) fence(order)
#define ORDERED_LOADS
#include "tests/ordered.h"
#include "core/region/trace.c"
#undef tach__pages

static const uint64_t *done_at; /* the entry that is being written or read */

/* An entry's number is stored after its words. */
static void ordered(const void *at, int order)
{
	CHECK(at != done_at || order == __ATOMIC_RELEASE || fences == 0);
}

/* An entry's number is read before the entry is copied. */
static void ordered_load(const void *at, int order)
{
	CHECK(at != done_at || order == __ATOMIC_ACQUIRE || loads > 0);
	loads += at == done_at;
}

static struct tach__config traced = {.trace = 1, .generation = 7}, plain;

static struct tach__thread of(struct tach__config *config, uint32_t count)
{
	return (struct tach__thread){.config = config, .count = count, .tid = 5};
}

static const struct tach__trace *used_up(uint32_t count, uint64_t n)
{
	struct tach__thread thread = of(&traced, count);
	struct tach__trace *ring;

	tach__trace_open(&thread);
	ring = thread.trace;
	CHECK(ring && ring->sums == count + 1 && !ring->ended && ring->n == ring->first &&
	      ring->process == tach__registry.inherited && ring->tid == 5 &&
	      ring->generation == 7 && !strcmp(ring->name, name));
	if (!ring)
		return NULL;
	ring->n += n;
	tach__trace_close(&thread);
	CHECK(!thread.trace && ring->ended);
	tach__trace_close(&thread);
	return ring;
}

static const struct tach__trace *next_head(const struct tach__trace *ring,
					   struct tach__trace *head)
{
	const struct tach__trace *next = tach__trace_next(ring, head);

	CHECK(locks == 0);
	CHECK(!next || (head->sums == next->sums && head->generation == next->generation &&
			head->tid == next->tid && !strcmp(head->name, next->name) &&
			head->first == next->first && head->n == next->n));
	return next;
}

/*
 * The rings of the most recently ended threads are kept. A forked child reuses its parent's
 * rings. A ring's entries are numbered continuously, from one owner to the next.
 */
static void rings_of_ended_threads(void)
{
	struct tach__thread thread = of(&plain, 1);
	const struct tach__trace *first, *other;
	struct tach__trace head;

	thread.trace = (struct tach__trace *)&thread; /* of a thread before */
	tach__trace_open(&thread);
	CHECK(!thread.trace && !tach__trace_base() && !next_head(NULL, &head));
	other = used_up(2, 1000);
	CHECK(tach__trace_base() == 1001);
	first = used_up(1, 1);
	for (uint64_t n = 2; n < KEPT; n++)
		CHECK(used_up(1, n) == rings && rings != first);
	CHECK(tach__trace_lost() == 0 && tach__trace_base() == 1001);
	CHECK(used_up(1, 7) == first && first->first == 1 && tach__trace_lost() == 1);
	CHECK(used_up(1, 7) != first && tach__trace_lost() == 3);
	CHECK(other->n == 1000);
	/* a child is another process, even if its number in its PID namespace is the same */
	tach__registry.inherited++;
	CHECK(!next_head(NULL, &head));
	CHECK(used_up(1, 7) == rings && rings->n - rings->first == 7 &&
	      tach__trace_lost() == 3);
	CHECK(next_head(NULL, &head) == rings && head.oldest == rings->first);
	rings->n += TACH__TRACE_ENTRIES - 7;
	CHECK(next_head(NULL, &head) && head.oldest == rings->first);
	rings->n++;
	CHECK(next_head(NULL, &head) && head.oldest == rings->first + 1);
	CHECK(!next_head(rings, &head));
}

static int get(const struct tach__trace *ring, uint64_t number, union tach__traced_copy *out)
{
	fences = loads = 0;
	done_at = &entry(ring, number)->done;
	memset(out, 0x77, sizeof *out);
	return tach__trace_get(ring, number, &out->entry);
}

static void an_entry(void)
{
	struct tach__thread thread = of(&traced, 1);
	struct tach_region_mark mark = {.state = TACH__STATE(8, 9, 3), .counters.clock = 900};
	union tach__slot_copy copy = {0};
	union tach__traced_copy out;
	const struct tach__trace *ring;
	struct tach__hot hot = {0};
	uint64_t at;
	const uint64_t delta[3] = {50, 60, 70}, inside[2] = {0, 0};

	tach__trace_open(&thread);
	if (!thread.trace)
		return;
	at = thread.trace->n;
	copy.slot.id = TACH__SITE_FIRST;
	under_write = entry(thread.trace, at);
	done_at = &under_write->done;
	fences = 0;
	entry(thread.trace, at)->done = at + 1;
	entry(thread.trace, at + 1)->done = 5;
	tach__trace_add(&thread, &mark, &copy.slot, delta, inside, 3, 0);
	under_write = NULL;
	CHECK(thread.trace->n == at + 1 && entry(thread.trace, at + 1)->done == 5);
	CHECK(get(thread.trace, at, &out) == 1 && fences == 1 && fenced_by == __ATOMIC_ACQUIRE);
	CHECK(out.entry.begun == 900 && out.entry.end == ticks && out.entry.flags == 3 &&
	      out.entry.id == TACH__SITE_FIRST && out.entry.sum[0] == 50 &&
	      out.entry.sum[1] == 60);
	CHECK(out.entry.done == at + 1 && out.entry.tag == TAG && out.entry.level == 3);
	CHECK(out.entry.sum[2] == 0x7777777777777777, "what is no sum");
	CHECK(!get(thread.trace, at + TACH__TRACE_ENTRIES, &out));
	/* Entries of a calibration have no number that readers ask for. */
	copy.slot.id = TACH__SITE_EMPTY;
	under_write = entry(thread.trace, at + 1);
	done_at = &under_write->done;
	fences = 0;
	tach__trace_add(&thread, &mark, &copy.slot, delta, inside, 3, 0);
	under_write = NULL;
	CHECK(thread.trace->n == at + 1 && !get(thread.trace, at + 1, &out));
	done_at = NULL;
	/* The ring has the name that its thread had at the end. */
	name = "another";
	ring = thread.trace;
	hot.record = &thread;
	tach__self = &hot;
	tach__trace_close(&thread);
	CHECK(!strcmp(ring->name, name) && !thread.trace);
	/* The ring of another thread, which has died. */
	tach__trace_open(&thread);
	name = "not its name";
	ring = thread.trace;
	hot.record = NULL;
	tach__trace_close(&thread);
	CHECK(!strcmp(ring->name, "another") && ring->ended && !thread.trace);
	tach__self = &tach__thread_closed;
}

/* Writes to each page of a new ring, so that later entries take no page fault. */
static void new_ring_has_its_pages(void)
{
	const struct tach__trace *ring;

	dirty = 1;
	ring = make_ring(2);
	dirty = 0;
	for (size_t at = 4096; ring && at < ring_size(2); at += 4096)
		CHECK(((const char *)ring)[at] == 0, "%d", (int)(at / 4096));
	CHECK(ring && ring->sums == 2 && ring->next == rings);
}

int main(void)
{
	tach__sys = sim_sys;
	CASE(rings_of_ended_threads);
	CASE(an_entry);
	CASE(new_ring_has_its_pages);
	return check_done();
}
