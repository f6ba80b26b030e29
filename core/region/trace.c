/* SPDX-License-Identifier: MIT */
/* Rings of entries: see trace.h. */
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/memory.h"
#include "core/os/sys.h"
#include "core/region/beacon.h"
#include "core/region/region.h"
#include "core/region/trace.h"

enum { RINGS_ENDED = 64 };

/* Change these with the lock held. Rings are never freed, so readers do not need the lock. */
static struct tach__trace *rings;
static uint64_t endings, lost, base;

static size_t entry_words(uint32_t sums)
{
	return sizeof(struct tach__traced) / sizeof(uint64_t) + sums;
}

static struct tach__traced *entry(const struct tach__trace *ring, uint64_t number)
{
	uint64_t at = number % TACH__TRACE_ENTRIES * entry_words(ring->sums);

	return (struct tach__traced *)(uintptr_t)(ring->word + at);
}

static size_t ring_size(uint32_t sums)
{
	return sizeof(struct tach__trace) +
	       TACH__TRACE_ENTRIES * entry_words(sums) * sizeof(uint64_t);
}

/* With the lock: returns a ring that no thread of this process writes to. It is a ring from
 * before a fork, or the ring of the thread that ended first. */
static struct tach__trace *find_unused_ring(uint32_t sums)
{
	struct tach__trace *oldest = NULL, *r;
	unsigned ended = 0;

	for (r = rings; r; r = r->next) {
		if (r->sums == sums && r->process != tach__registry.inherited)
			return r;
		ended += r->ended != 0;
		if (r->sums == sums && r->ended && (!oldest || r->ended < oldest->ended))
			oldest = r;
	}
	if (ended < RINGS_ENDED || !oldest)
		return NULL;
	lost += oldest->n - oldest->first;
	return oldest;
}

static struct tach__trace *make_ring(uint32_t sums)
{
	struct tach__trace *ring = tach__pages(ring_size(sums));

	if (!ring)
		return NULL;
	/* Touch the pages now. Otherwise the page faults happen in the measured code. */
	for (size_t at = 0; at < ring_size(sums); at += 4096)
		((volatile char *)ring)[at] = 0;
	ring->sums = sums;
	ring->next = rings;
	return ring;
}

static void name_take(struct tach__trace *ring)
{
	tach__sys(SYS_prctl, PR_GET_NAME, (long)ring->name, 0, 0, 0, 0);
}

void tach__trace_open(struct tach__thread *record)
{
	struct tach__trace *ring;
	struct tach__held held;
	uint32_t sums = record->count + 1;

	record->trace = NULL;
	if (!record->config->trace)
		return;
	tach__lock(&held);
	if (!base)
		base = tach_clock();
	ring = find_unused_ring(sums);
	if (!ring)
		ring = make_ring(sums);
	if (ring) {
		ring->ended = 0;
		ring->generation = record->config->generation;
		ring->process = tach__registry.inherited;
		ring->tid = record->tid;
		/* Numbers continue, so each entry of the ring has its own number. */
		ring->first = TACH__GET(ring->n);
		name_take(ring);
		if (ring->next == rings)
			rings = ring;
	}
	record->trace = ring;
	tach__unlock(&held);
}

void tach__trace_close(struct tach__thread *record)
{
	struct tach__held held;

	if (!record->trace)
		return;
	tach__lock(&held);
	if (tach__self->record == record)
		name_take(record->trace);
	record->trace->ended = ++endings;
	record->trace = NULL;
	tach__unlock(&held);
}

/*
 * A handler's entry may interrupt at any instruction, so each entry first takes a number of its
 * own. Calibration writes to the place of the next number without taking the number. Readers
 * ignore that entry, because its `done` is 0.
 */
void tach__trace_add(const struct tach__thread *record, const struct tach_region_mark *mark,
		     const struct tach__slot *slot, const uint64_t *delta,
		     const uint64_t inside[2], uint32_t flags, int fenced)
{
	struct tach__trace *ring = record->trace;
	uint64_t counts = slot->id >= TACH__SITE_FIRST;
	uint64_t number = __atomic_fetch_add(&ring->n, counts, __ATOMIC_RELAXED);
	struct tach__traced *to = entry(ring, number);

	TACH__SET(to->done, (uint64_t)0);
	TACH__FENCE(__ATOMIC_RELEASE);
	TACH__SET(to->begun, mark->counters.clock);
	TACH__SET(to->end, tach_clock());
	TACH__SET(to->tag, tach__tag_now());
	TACH__SET(to->id, slot->id);
	TACH__SET(to->level, TACH__LEVEL(mark->state));
	TACH__SET(to->flags, (uint64_t)flags);
	for (uint32_t i = 0; i < ring->sums; i++)
		TACH__SET(to->sum[i],
			  tach__entry_net(&record->entry_cost, delta, inside, i, fenced));
	__atomic_store_n(&to->done, (number + 1) & -counts, __ATOMIC_RELEASE);
}

/* ---- reading ---- */

/* Copies a ring's head. Call it with the lock held. The ring's thread may raise `n` during the
 * copy. */
static void head_copy(struct tach__trace *head, const struct tach__trace *ring)
{
	head->sums = ring->sums;
	head->generation = ring->generation;
	head->tid = ring->tid;
	memcpy(head->name, ring->name, sizeof head->name);
	head->n = __atomic_load_n(&ring->n, __ATOMIC_ACQUIRE);
	head->first = head->oldest = ring->first;
	if (head->n - head->first > TACH__TRACE_ENTRIES)
		head->oldest = head->n - TACH__TRACE_ENTRIES;
}

const struct tach__trace *tach__trace_next(const struct tach__trace *ring,
					   struct tach__trace *head)
{
	struct tach__held held;

	tach__lock(&held);
	ring = ring ? ring->next : rings;
	while (ring && ring->process != tach__registry.inherited)
		ring = ring->next;
	if (ring)
		head_copy(head, ring);
	tach__unlock(&held);
	return ring;
}

int tach__trace_get(const struct tach__trace *ring, uint64_t number, struct tach__traced *out)
{
	const struct tach__traced *from = entry(ring, number);
	const uint64_t *word = (const uint64_t *)(const void *)from;

	if (__atomic_load_n(&from->done, __ATOMIC_ACQUIRE) != number + 1)
		return 0;
	for (size_t i = 0; i < entry_words(ring->sums); i++)
		((uint64_t *)(void *)out)[i] = TACH__GET(word[i]);
	TACH__FENCE(__ATOMIC_ACQUIRE);
	return TACH__GET(from->done) == number + 1;
}

uint64_t tach__trace_lost(void)
{
	return TACH__GET(lost);
}

uint64_t tach__trace_base(void)
{
	return TACH__GET(base);
}
