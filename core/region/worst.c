/* SPDX-License-Identifier: MIT */
/* Worst entries: keeps them, and merges those of several threads. See worst.h. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "core/base/error.h"
#include "core/os/sys.h"
#include "core/region/beacon.h"
#include "core/region/cost.h"
#include "core/region/region.h"

enum { TRIES = 1024, YIELD = 16 };

__attribute__((tls_model("initial-exec"))) static __thread uint64_t tag;

void tach__tag_here(uint64_t value)
{
	const struct tach__thread *record = tach__self->record;

	TACH__SET(tag, value);
	if (TACH_UNLIKELY(record && record->splits))
		tach__split_choose(tach__self);
}

uint64_t tach__tag_now(void)
{
	return TACH__GET(tag);
}

void tach_tag(uint64_t value)
{
	const struct tach__beacon *owner = tach__beacon_owner();

	if (owner && owner->size > offsetof(struct tach__beacon, tag))
		owner->tag(value);
	else
		tach__tag_here(value);
}

/* ---- memory ---- */

static size_t kept_words(uint32_t sums)
{
	return sizeof(struct tach__kept) / sizeof(uint64_t) + sums;
}

size_t tach__worst_size(uint32_t most, uint32_t sums)
{
	return tach__pages_round(sizeof(struct tach__worst) +
				 most * kept_words(sums) * sizeof(uint64_t));
}

struct tach__worst *tach__worst_make(uint32_t most, uint32_t sums)
{
	struct tach__worst *w = tach__pages(tach__worst_size(most, sums));

	if (w) {
		w->bar = 1;
		w->most = most;
		w->sums = sums;
	}
	return w;
}

void tach__worst_free(struct tach__worst *w)
{
	if (w)
		tach__pages_free(w, tach__worst_size(w->most, w->sums));
}

struct tach__kept *tach__worst_at(const struct tach__worst *w, uint64_t i)
{
	return (struct tach__kept *)(uintptr_t)(w->word + i * kept_words(w->sums));
}

struct tach__worst *tach__worst_copy(const struct tach__worst *from)
{
	struct tach__worst *w = from ? tach__worst_make(from->most, from->sums) : NULL;

	if (w)
		memcpy(w, from, tach__worst_size(from->most, from->sums));
	return w;
}

/* ---- the entries of a thread ---- */

/* Slots of calibration have this list. It keeps no entry; an edge tests it like any list. */
static struct tach__worst never = {.bar = UINT64_MAX};

static size_t table_size(void)
{
	return tach__pages_round(TACH__CHUNKS * TACH__CHUNK_SLOTS *
				 sizeof(struct tach__worst *));
}

void tach__worst_name(struct tach__thread *record)
{
	if (record->worst || (record->config->split.by & TACH__SPLIT_THREAD))
		tach__sys(SYS_prctl, PR_GET_NAME, (long)record->comm, 0, 0, 0, 0);
}

void tach__worst_open(struct tach__thread *record)
{
	if (!record->config->worst)
		return;
	record->worst = tach__pages(table_size());
	tach__worst_name(record);
	for (uint32_t id = 0; record->worst && id < TACH__SITE_FIRST; id++)
		record->worst[id] = &never;
}

void tach__worst_slot(struct tach__thread *record, uint32_t id)
{
	struct tach__worst *w;

	if (!record->worst || record->worst[id])
		return;
	w = tach__worst_make(record->config->worst, record->count + 1);
	if (w && tach__slot_at(record, id)->task)
		w->bar = UINT64_MAX; /* segments are not checked: tach__worst_keep */
	/* Touch the pages now. Otherwise the page faults happen in the measured code. */
	for (size_t at = 0; w && at < tach__worst_size(w->most, w->sums); at += 4096)
		((volatile char *)w)[at] = ((volatile char *)w)[at];
	__atomic_store_n(&record->worst[id], w ? w : &never, __ATOMIC_RELEASE);
}

void tach__worst_clear(struct tach__thread *record)
{
	for (uint32_t id = TACH__SITE_FIRST; record->worst && id < record->limit; id++)
		if (record->worst[id] != &never)
			tach__worst_free(record->worst[id]);
	tach__pages_free(record->worst, record->worst ? table_size() : 0);
	record->worst = NULL;
}

/* ---- keeping ---- */

/* Copies word by word, because a snapshot does so too. */
static void words_set(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		TACH__SET(to[i], from[i]);
}

/* Returns `a` if the condition is true, else `b`. Compilers generate no branch for it. */
static inline uint64_t choose(int condition, uint64_t a, uint64_t b)
{
	uint64_t mask = 0 - (uint64_t)(condition != 0);

	__asm__("" : "+r"(mask));
	return (a & mask) | (b & ~mask);
}

/*
 * Returns the place with the minimum key; a free place has key 0. Then updates the minimum. The
 * code is straight, because its cost must be constant: see cost.h.
 */
static struct tach__kept *find_place(struct tach__worst *w, uint64_t key)
{
	struct tach__kept *to;
	uint64_t at = 0, least = UINT64_MAX;
	int is_full;

	for (uint64_t i = w->most; i-- > 0;)
		at = choose(tach__worst_at(w, i)->key == w->least, i, at);
	TACH__SET(w->n, w->n + choose(w->n < w->most, 1, 0));
	is_full = w->n == w->most;
	to = tach__worst_at(w, at);
	TACH__SET(to->key, key);
	for (uint64_t i = 0; i < w->most; i++)
		least = choose(tach__worst_at(w, i)->key < least, tach__worst_at(w, i)->key,
			       least);
	TACH__SET(w->least, choose(is_full, least, w->least));
	TACH__SET(w->bar, choose(is_full & (w->bar != UINT64_MAX), least + 1, w->bar));
	return to;
}

/* Keeps an entry. The sequence is odd during the write. If it is odd already, a handler
 * interrupted a write: the function keeps nothing and returns 0. */
static __attribute__((noinline)) int keep(struct tach__worst *w, const struct tach__kept *what,
					  const uint64_t *sum)
{
	struct tach__kept *to;

	if (w->seq & 1) {
		TACH__ADD(w->missed, 1);
		return 0;
	}
	TACH__COUNT(tach__self, w->seq, 1);
	TACH__FENCE(__ATOMIC_RELEASE);
	to = find_place(w, what->key);
	words_set((uint64_t *)(void *)to, (const uint64_t *)(const void *)what,
		  sizeof *what / sizeof(uint64_t));
	words_set(to->sum, sum, w->sums);
	TACH__FENCE(__ATOMIC_RELEASE);
	TACH__ADD(w->seq, 1);
	return 1;
}

static __attribute__((noinline)) void keep_entry(const struct tach__thread *record,
						 const struct tach_region_mark *mark,
						 struct tach__worst *w, const uint64_t *delta,
						 const uint64_t inside[2], uint32_t flags,
						 int fenced)
{
	struct tach__kept what = {.begun = mark->counters.clock,
				  .tag = TACH__GET(tag),
				  .flags = flags,
				  .parent = tach__stack(record->hot, mark->state)[0]->id};
	uint64_t sum[TACH__SUMS];
	struct tach__thread *around = tach__aside();

	for (uint32_t i = 0; i < w->sums; i++)
		sum[i] = tach__entry_net(&record->entry_cost, delta, inside, i, fenced);
	what.key = sum[record->worst_by];
	if (!keep(w, &what, sum))
		tach__cost_unknown(record);
	else if (around)
		tach__cost_add(around, record->residue.kept, TACH__LEVEL(record->hot->state));
}

void tach__worst_add(struct tach__hot *self, const struct tach_region_mark *mark,
		     const struct tach__slot *slot, const uint64_t *delta,
		     const uint64_t inside[2], uint32_t flags, int fenced)
{
	const struct tach__thread *record = self->record;
	struct tach__worst *w = record->worst[slot->id];

	if (TACH_UNLIKELY(w && tach__entry_net(&record->entry_cost, delta, inside,
					       record->worst_by, fenced) >= w->bar))
		keep_entry(record, mark, w, delta, inside, flags, fenced);
}

int tach__worst_keep(const struct tach__thread *record, uint32_t id, uint64_t begun,
		     uint64_t number, uint32_t flags, const uint64_t *sum)
{
	struct tach__worst *w = record->worst ? record->worst[id] : NULL;
	struct tach__kept what = {
		.key = sum[record->worst_by], .begun = begun, .tag = number, .flags = flags};

	if (!w || w == &never || what.key <= w->least)
		return 0;
	if (keep(w, &what, sum))
		return 1;
	tach__cost_unknown(record);
	return 0;
}

/* ---- gathering ---- */

static int copy_once(struct tach__worst *to, const struct tach__worst *from, size_t size)
{
	uint64_t seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);
	const uint64_t *word = (const uint64_t *)(const void *)from;

	for (size_t i = 0; i < size / sizeof *word; i++)
		((uint64_t *)(void *)to)[i] = TACH__GET(word[i]);
	TACH__FENCE(__ATOMIC_ACQUIRE);
	return !(seq & 1) && TACH__GET(from->seq) == seq;
}

/* Merges a thread's entries into a row. A row has all counters of the set, but a thread may
 * have only the clock. */
void tach__worst_merge(struct tach__worst *row, const struct tach__worst *w,
		       const struct tach__thread *record)
{
	for (uint64_t i = 0; i < w->n; i++) {
		const struct tach__kept *from = tach__worst_at(w, i);
		uint64_t sum[TACH__SUMS] = {0};
		struct tach__kept what = *from;

		if (record) {
			what.thread = (uint64_t)record->tid;
			memcpy(what.name, record->comm, sizeof what.name);
		}
		if (w->sums < row->sums)
			what.flags |= TACH_FLAG_LOST;
		memcpy(sum, from->sum,
		       (w->sums < row->sums ? w->sums : row->sums) * sizeof *sum);
		if (what.key > row->least)
			keep(row, &what, sum);
	}
	row->missed += w->missed;
}

int tach__worst_take(struct tach__worst **to, const struct tach__thread *record, uint32_t id)
{
	const struct tach__worst *w = __atomic_load_n(&record->worst[id], __ATOMIC_ACQUIRE);
	struct tach__worst *copy;
	size_t size;
	int whole = 0;

	if (!w || w == &never)
		return 1;
	if (!*to)
		*to = tach__worst_make(record->config->worst, record->config->count + 1);
	size = tach__worst_size(w->most, w->sums);
	copy = tach__pages(size);
	for (int try = 1; *to && copy && !whole && try <= TRIES; try++) {
		whole = copy_once(copy, w, size);
		if (!whole && try % YIELD == 0)
			sched_yield();
	}
	if (whole)
		tach__worst_merge(*to, copy, record);
	tach__pages_free(copy, size);
	return whole;
}

int tach__worst_choose(struct tach__config *config, const char *text, struct tach_error *err)
{
	const char *by;

	if (!text || strcmp(text, "0") == 0)
		return 0;
	config->worst = tach__worst_parse(text, &by);
	if (!config->worst)
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "worst entries are 1 to %d, or 8:QUANTITY, not '%.60s'",
				   TACH__WORST_MOST, text);
	for (uint32_t i = 0; i < config->count; i++)
		if (strcmp(tach_set_name(config->set, (int)i), by) == 0)
			config->worst_by = i + 1;
	if (*by && strcmp(by, "time") != 0 && strcmp(by, "elapsed_ns") != 0 &&
	    !config->worst_by)
		return tach__error(err, TACH_ERR_NOTFOUND, 0, 0,
				   "there is no quantity '%.60s' to compare worst entries by",
				   by);
	return 0;
}

uint32_t tach__worst_parse(const char *text, const char **by)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*by = *end == ':' ? end + 1 : "";
	if (end == text || (*end && *end != ':') || n < 1 || n > TACH__WORST_MOST)
		return 0;
	return (uint32_t)n;
}
