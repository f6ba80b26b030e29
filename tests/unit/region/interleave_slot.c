/* SPDX-License-Identifier: MIT */
/*
 * A slot's entries, a handler's entries during them, and copies of the slot: every execution
 * that C11 permits of the unmodified core/region/stop.c and slots.c (interleave.h).
 *
 * A copy is consistent if each word belongs to the copy's sequence number. So each word is
 * checked only together with the sequence: the other words do not matter.
 */
#include "tests/unit/region/interleave.h"
#include "tests/unit/region/plain_words.h"

/* Plain C, as on arm64: a handler may come between load and store. Not so here. */
#define TACH_COUNT(word, by, single)                                                           \
	((void)il_change(&(word), (uint64_t)(by), sizeof(word), __ATOMIC_RELAXED, "",          \
			 INTERLEAVE_AT))
#include "core/region/edges.h"
#include "core/region/region.h"

static void copy_words(void *to, const void *from, size_t size)
{
	uint64_t word;

	for (size_t i = 0; i < size / sizeof word; i++) {
		memcpy(&word, (const char *)from + i * sizeof word, sizeof word);
		il_save((char *)to + i * sizeof word, word, sizeof word, __ATOMIC_RELAXED, "",
			"", 0);
	}
}
static uint64_t ticks; /* ticks of each entry */
#define tach_clock() ticks
#undef memcpy
#define memcpy(to, from, size) copy_words(to, from, size)
#include "core/region/stop.c"
#undef memcpy
#undef tach_clock
#include "core/region/slots.c"

enum { COUNT = 1, ID = TACH__SITE_FIRST, ENTRIES = 2 };

static struct tach__thread *record;
static struct tach__slot *slot, *over;
/* the expected words after each number of entries */
static uint64_t whole[ENTRIES + 1][TACH__SUMS * 8];
static size_t word, changing[TACH__SUMS * 8];
static int nchanging;

static uint64_t *words(struct tach__slot *of)
{
	return (uint64_t *)(void *)of;
}

static void clear(struct tach__slot *s)
{
	memset(s, 0, record->stride);
	s->rest = TACH__OUTER_NONE;
	for (int inner = 0; inner < 2; inner++) {
		tach__part(s, COUNT, inner)->outer = TACH__OUTER_NONE;
		tach__part(s, COUNT, inner)->ceiling = TACH__CEILING_OPEN;
	}
}

static void set_up(void)
{
	static const uint32_t stride = 512;

	if (!record) {
		record = tach__record_take(stride);
		record->count = record->hot->count = COUNT;
		CHECK(tach__slots_grow(record, ID) == 0);
		slot = tach__slot_at(record, ID);
		over = record->overflow[0];
	}
	clear(slot);
	memset(over, 0, stride);
	memset(record->outside, 0, stride);
	memset(record->overflow_id, 0, sizeof record->overflow_id);
	slot->id = ID;
	record->hot->record = record;
	record->hot->state = TACH__STATE(1, 0, 0);
}

static void watch(void)
{
	set_up();
	interleave_watch(&slot->seq, sizeof slot->seq, 0);
	interleave_watch(words(slot) + word, sizeof(uint64_t), 0);
}

/* START of the region, and STOP's additions to its slot. */
static void entry(uint64_t counted)
{
	struct tach__hot *self = record->hot;
	struct tach_region_mark mark = {.state = self->state};
	struct tach__part *part = tach__part(slot, COUNT, 0);
	uint64_t delta[TACH__SUMS] = {counted, 3 * counted}, inside[2] = {counted, counted};

	tach__stack(self, mark.state)[1] = slot;
	self->state++;
	part->ceiling = self->state;
	for (int i = 0; i < 2; i++) { /* of a region inside */
		tach__children(slot, COUNT, 1)->direct[i] += counted;
		tach__children(slot, COUNT, 1)->sum[i] += counted;
	}
	INTERLEAVE_CHECK(!TACH__TAKE(tach__self, slot->seq));
	tach__entry_add(self, &mark, slot, part, part, TACH__OUTER_NONE,
			tach__stack(self, mark.state)[0], delta, tach__pairs_of(inside), COUNT,
			0);
}

/* A flat region, with its own STOP. */
static void flat_entry(uint64_t counted)
{
	struct tach__hot *self = record->hot, *before = tach__self;
	struct tach__part *part = tach__part(slot, COUNT, 0);
	struct tach_region_mark mark = {.state = self->state, .part = part};

	memcpy(mark.pairs, self->pairs, sizeof mark.pairs);
	ticks = counted;
	self->state++;
	part->ceiling = self->state;
	tach__self = self;
	end_flat(&mark, 0);
	tach__self = before;
}

static void (*counts)(uint64_t) = entry;

static void writer(void)
{
	for (uint64_t k = 1; k <= ENTRIES; k++)
		counts(k);
}

/* Returns true if `copy` contains the value for its sequence number. */
static int belongs(const struct tach__slot *copy)
{
	return copy->seq / 2 <= ENTRIES && copy->seq % 2 == 0 &&
	       ((const uint64_t *)(const void *)copy)[word] == whole[copy->seq / 2][word];
}

/* The sequence number is one of the copied words. */
static void reader(void)
{
	union tach__slot_copy copy;

	for (int k = 0; k < 2; k++)
		if (copy_once(&copy.slot, slot, bytes(COUNT)))
			INTERLEAVE_CHECK(belongs(&copy.slot));
}

static void choose_word(int k)
{
	word = changing[k];
}

/* The words that change, and their values after each entry. */
static void look_at_words(void)
{
	set_up();
	nchanging = 0;
	memcpy(whole[0], slot, bytes(COUNT));
	for (uint64_t k = 1; k <= ENTRIES; k++) {
		counts(k);
		memcpy(whole[k], slot, bytes(COUNT));
	}
	for (size_t i = 1; i < bytes(COUNT) / sizeof(uint64_t); i++)
		if (whole[0][i] != whole[1][i])
			changing[nchanging++] = i;
}

static void copies_amid(void (*entries)(uint64_t))
{
	static const struct interleaving what = {watch, {writer, reader}, NULL, NULL, 0};

	counts = entries;
	look_at_words();
	interleave_weaken(&what, nchanging, choose_word, NULL);
	CHECK(il.nplaces == 4,
	      "two fences of the writer, an acquire and a fence of the reader");
	counts = entry;
}

static void a_copy_is_of_one_moment(void)
{
	copies_amid(entry);
	CHECK(nchanging >= 8, "%d words change", nchanging);
}

static void a_copy_of_flat_entries(void)
{
	copies_amid(flat_entry);
	CHECK(nchanging == 2, "%d words change, not the time and the number", nchanging);
}

/* ---- a handler enters the same region, at any place in an entry ---- */

static void watch_both(void)
{
	watch();
	interleave_watch(&over->seq, sizeof over->seq, 0);
	interleave_watch(words(over) + word, sizeof(uint64_t), 0);
}

static void note(void);
static uint64_t calls(struct tach__slot *of);

static void handler(void)
{
	uint64_t elsewhere = calls(over) + (slot->seq & 1);
	struct tach__hot *self = record->hot;
	struct tach_region_mark mark = {.state = self->state};
	struct tach__reading r = {.delta = {1, 3}, .inside = {1, 1}};
	struct tach__part *part = tach__part(slot, COUNT, 0);

	if (TACH__LEVEL(mark.state) >= TACH__LEVEL(part->ceiling))
		part = tach__part(slot, COUNT, 1);
	mark.part = part;
	tach__stack(self, mark.state)[1] = slot;
	self->state++;
	tach__edges_add(self, &mark, &r, 0);
	INTERLEAVE_CHECK(calls(over) == elsewhere);
	note();
}

static void one_entry(void)
{
	note();
	entry(1);
	note();
}

static uint64_t calls(struct tach__slot *of)
{
	return tach__part(of, COUNT, 0)->calls + tach__part(of, COUNT, 1)->calls;
}

/* The expected word of both slots, for each even sequence number. */
static uint64_t rest[2][ENTRIES + 1];

static void note(void)
{
	struct tach__slot *of[2] = {slot, over};

	for (int i = 0; i < 2; i++)
		if (of[i]->seq % 2 == 0)
			rest[i][of[i]->seq / 2] = words(of[i])[word];
}

static void both_reader(void)
{
	union tach__slot_copy copy;
	const uint64_t *at = (const uint64_t *)(const void *)&copy;

	if (copy_once(&copy.slot, over, bytes(COUNT)))
		INTERLEAVE_CHECK(at[word] == rest[1][copy.slot.seq / 2]);
	if (copy_once(&copy.slot, slot, bytes(COUNT)))
		INTERLEAVE_CHECK(at[word] == rest[0][copy.slot.seq / 2]);
}

static void nothing_is_lost(void)
{
	INTERLEAVE_CHECK(calls(slot) + calls(over) == 1u + (unsigned)il.handled);
	/* Each slot has as many entries as its sequence says. */
	INTERLEAVE_CHECK(slot->seq == 2 * calls(slot) && over->seq == 2 * calls(over) &&
			 slot->lost == 0);
	INTERLEAVE_CHECK(TACH__LEVEL(record->hot->state) == 0);
}

static void a_handler_amid_an_entry_counts_elsewhere(void)
{
	static const struct interleaving what = {
		watch_both, {one_entry, both_reader}, handler, nothing_is_lost, 0};

	look_at_words();
	interleave_weaken(&what, nchanging, choose_word, NULL);
}

int main(void)
{
	if (interleave_cannot())
		return interleave_cannot();
	CASE(a_copy_is_of_one_moment);
	CASE(a_copy_of_flat_entries);
	CASE(a_handler_amid_an_entry_counts_elsewhere);
	return check_done();
}
