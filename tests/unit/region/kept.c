/* SPDX-License-Identifier: MIT */
/*
 * Worst entries without regions: the entries that are kept, their place, and how a thread's
 * entries are copied.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/sys.h"
#include "core/region/region.h"
#include "tests/check.h"

/* ---- memory: blocks with an inaccessible page after their end ---- */

enum { BLOCKS = 64 };
static struct {
	char *at, *base;
	size_t size, all;
} block[BLOCKS];
/* Number of allocations that still succeed; below 0: unlimited. */
static int live, allowed = -1;
static int untouched; /* set: new blocks cannot be accessed yet */
static size_t page;

static void *sim_pages(size_t size)
{
	size_t all = (size + page - 1) / page * page, i = 0;

	if (allowed == 0)
		return NULL;
	allowed -= allowed > 0;
	while (block[i].at)
		i++;
	block[i].base = mmap(NULL, all + page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	block[i].at = block[i].base + all - size;
	block[i].size = size;
	block[i].all = all;
	mprotect(block[i].base + all, page, PROT_NONE);
	if (untouched)
		mprotect(block[i].base, all, PROT_NONE);
	live++;
	return block[i].at;
}

static void sim_free(void *at, size_t size)
{
	int found = 0;

	for (int i = 0; at && i < BLOCKS; i++)
		if (block[i].at == at) {
			found = 1;
			CHECK(size == block[i].size);
			munmap(block[i].base, block[i].all + page);
			block[i].at = NULL;
			live--;
		}
	CHECK(at ? found : size == 0 || allowed == 0);
}

/* ---- other functions ---- */

static long asked;
static char *asked_for;
static long sim_sys(long number, long a, long b, long c, long d, long e, long f)
{
	CHECK(number == SYS_prctl && a == PR_GET_NAME && !c && !d && !e && !f);
	asked++;
	asked_for = (char *)b;
	return 0;
}

static const struct tach__beacon *has_them;
static const struct tach__beacon *sim_owner(void)
{
	return has_them;
}

static int chosen, yields;
static struct tach__hot hot;
static void sim_choose(struct tach__hot *self)
{
	CHECK(self == &hot);
	chosen++;
}

static int sim_yield(void)
{
	yields++;
	return 0;
}

static struct tach__slot *the_slot;
static const struct tach__thread *the_record;
static struct tach__slot *sim_slot_at(const struct tach__thread *record, uint32_t id)
{
	CHECK(record == the_record && id == TACH__SITE_FIRST);
	return the_slot;
}

static const char *sim_name(const struct tach_set *set, int i)
{
	CHECK(!set && i >= 0 && i < 2);
	return i ? "time" : "faults";
}

static int releases, acquires;
static void (*at_release)(void), (*at_acquire)(void);

static void sim_fence(int order)
{
	if (order == __ATOMIC_RELEASE) {
		releases++;
		if (at_release)
			at_release();
	} else if (order == __ATOMIC_ACQUIRE) {
		acquires++;
		if (at_acquire)
			at_acquire();
	} else {
		CHECK(0, "a fence of another order");
	}
}

#undef TACH__FENCE
#define TACH__FENCE(order)    sim_fence(order)
#define tach__pages	      sim_pages
#define tach__pages_free      sim_free
#define tach__pages_round(of) (of)
#define tach__sys	      sim_sys
#define tach__beacon_owner    sim_owner
#define tach__split_choose    sim_choose
#define tach__slot_at	      sim_slot_at
#define tach_set_name	      sim_name
#define sched_yield	      sim_yield
#include "core/region/worst.c"

static struct tach__config config;
static struct tach__thread record;

/* Makes a thread that keeps three entries by the first of two counters. */
static void begin(void)
{
	CHECK(live == 0);
	memset(&config, 0, sizeof config);
	memset(&record, 0, sizeof record);
	memset(&hot, 0, sizeof hot);
	config.worst = 3;
	config.count = record.count = 2;
	record.config = &config;
	record.hot = &hot;
	record.worst_by = 1;
	record.limit = TACH__SITE_FIRST + 2;
	record.tid = 77;
	memcpy(record.comm, "a thread's name", sizeof record.comm);
	hot.record = &record;
	tach__self = &hot;
	the_record = &record;
	the_slot->id = TACH__SITE_FIRST;
	the_slot->task = 0;
	allowed = -1;
	asked = chosen = yields = releases = acquires = untouched = 0;
	at_release = at_acquire = NULL;
}

static struct tach__worst *opened(void)
{
	begin();
	tach__worst_open(&record);
	tach__worst_slot(&record, TACH__SITE_FIRST);
	return record.worst[TACH__SITE_FIRST];
}

static void end(void)
{
	tach__worst_clear(&record);
	CHECK(!record.worst && live == 0);
	tach__self = &tach__thread_closed;
}

/* ---- tags ---- */

static uint64_t told;
static void their_tag(uint64_t value)
{
	told = value;
}

static void tags(void)
{
	struct tach__slot **table = NULL;
	struct tach__beacon theirs = {.tag = their_tag};

	begin();
	hot.record = NULL;
	tach_tag(3);
	CHECK(tach__tag_now() == 3 && chosen == 0);
	hot.record = &record;
	tach_tag(4);
	CHECK(tach__tag_now() == 4 && chosen == 0);
	record.splits = &table;
	tach_tag(5);
	CHECK(tach__tag_now() == 5 && chosen == 1);
	/* Another copy of the library sets the tag, if its version has tags. */
	has_them = &theirs;
	theirs.size = offsetof(struct tach__beacon, tag);
	tach_tag(6);
	CHECK(tach__tag_now() == 6 && chosen == 2 && told == 0);
	theirs.size = sizeof theirs;
	tach_tag(7);
	CHECK(tach__tag_now() == 6 && chosen == 2 && told == 7);
	has_them = NULL;
	end();
}

/* ---- memory ---- */

static void worst_entries_have_their_room(void)
{
	struct tach__worst *w, *copy;

	begin();
	CHECK(tach__worst_size(3, 2) == sizeof *w + 3 * (sizeof(struct tach__kept) + 16));
	w = tach__worst_make(3, 2);
	CHECK(w->most == 3 && w->sums == 2 && live == 1);
	CHECK((char *)tach__worst_at(w, 0) == (char *)w->word);
	CHECK((char *)tach__worst_at(w, 2) ==
	      (char *)w->word + 2 * (sizeof(struct tach__kept) + 16));
	tach__worst_at(w, 2)->sum[1] = 99;
	copy = tach__worst_copy(w);
	CHECK(copy->most == 3 && copy->sums == 2 && tach__worst_at(copy, 2)->sum[1] == 99);
	tach__worst_free(copy);
	allowed = 0;
	CHECK(!tach__worst_make(3, 2) && !tach__worst_copy(w));
	CHECK(!tach__worst_copy(NULL));
	tach__worst_free(w);
	tach__worst_free(NULL);
	end();
}

static void a_threads_table(void)
{
	begin();
	config.worst = 0;
	tach__worst_open(&record);
	tach__worst_slot(&record, TACH__SITE_FIRST);
	CHECK(!record.worst && live == 0 && asked == 0);
	begin();
	allowed = 0;
	tach__worst_open(&record);
	CHECK(!record.worst && asked == 0);
	tach__worst_clear(&record);
	/* The thread's name is stored for worst entries, and if rows are divided by thread. */
	config.split.by = TACH__SPLIT_TAG | TACH__SPLIT_TASK;
	tach__worst_name(&record);
	CHECK(asked == 0);
	config.split.by = TACH__SPLIT_THREAD;
	tach__worst_name(&record);
	CHECK(asked == 1 && asked_for == record.comm);
	begin();
	tach__worst_open(&record);
	CHECK(asked == 1 && asked_for == record.comm && live == 1);
	CHECK(block[0].size == sizeof(void *) * TACH__CHUNKS * TACH__CHUNK_SLOTS);
	for (uint32_t id = 0; id < TACH__SITE_FIRST; id++)
		CHECK(record.worst[id] == &never);
	CHECK(!record.worst[TACH__SITE_FIRST]);
	end();
}

static void a_slots_entries(void)
{
	struct tach__worst *w = opened();

	CHECK(live == 2 && w->most == 3 && w->sums == 3 && w->bar == 1);
	tach__worst_slot(&record, TACH__SITE_FIRST);
	CHECK(live == 2 && record.worst[TACH__SITE_FIRST] == w);
	/* Blocks after the record's last one are not freed. */
	record.worst[TACH__SITE_FIRST + 1] = &never;
	record.worst[TACH__SITE_FIRST + 2] = (struct tach__worst *)(uintptr_t)16;
	end();
	/* Segments of tasks are not kept. */
	begin();
	tach__worst_open(&record);
	the_slot->task = 1;
	tach__worst_slot(&record, TACH__SITE_FIRST);
	CHECK(record.worst[TACH__SITE_FIRST]->bar == UINT64_MAX);
	end();
	begin();
	tach__worst_open(&record);
	allowed = 0;
	tach__worst_slot(&record, TACH__SITE_FIRST);
	CHECK(record.worst[TACH__SITE_FIRST] == &never);
	end();
}

static volatile sig_atomic_t touches;
static void touched(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	touches++;
	mprotect((void *)((uintptr_t)info->si_addr & ~(page - 1)), page,
		 PROT_READ | PROT_WRITE);
}

/* Touches each page of the block, and no page after it. */
static void touched_first(void)
{
	struct sigaction action = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO}, before;

	begin();
	tach__worst_open(&record);
	config.worst = 45;
	config.count = record.count = 25;
	CHECK(tach__worst_size(45, 26) == 3 * (size_t)4096);
	sigaction(SIGSEGV, &action, &before);
	untouched = 1;
	touches = 0;
	tach__worst_slot(&record, TACH__SITE_FIRST);
	sigaction(SIGSEGV, &before, NULL);
	CHECK((size_t)touches == block[1].all / page, "%d", (int)touches);
	end();
}

/* ---- keeping ---- */

static void keep_task(uint64_t key, uint64_t number)
{
	uint64_t sum[TACH__SUMS] = {key + 1000, key, key + 2000};

	tach__worst_keep(&record, TACH__SITE_FIRST, key + 3000, number, 9, sum);
}

static int is_at(const struct tach__worst *w, uint64_t i, uint64_t key, uint64_t number)
{
	const struct tach__kept *k = tach__worst_at(w, i);

	return i < w->n && k->key == key && k->tag == number && k->begun == key + 3000 &&
	       k->flags == 9 && k->sum[0] == key + 1000 && k->sum[1] == key &&
	       k->sum[2] == key + 2000;
}

static struct tach__worst *written;
static void amid_write(void)
{
	CHECK(written->seq % 2 == 1);
	if (releases % 2 == 0)
		CHECK(is_at(written, 0, 5, 1));
}

static void what_is_kept(void)
{
	struct tach__worst *w = written = opened();

	at_release = amid_write;
	keep_task(5, 1);
	CHECK(w->seq == 2 && releases == 2);
	at_release = NULL;
	keep_task(9, 2);
	CHECK(w->n == 2 && w->least == 0 && w->bar == 1);
	keep_task(7, 3);
	CHECK(w->n == 3 && w->least == 5 && w->bar == 6 && w->seq == 6);
	CHECK(is_at(w, 0, 5, 1) && is_at(w, 1, 9, 2) && is_at(w, 2, 7, 3));
	keep_task(5, 4);
	CHECK(w->seq == 6);
	/*
	 * A new entry replaces the smallest one, which is the first, the last, or one in
	 * between.
	 */
	keep_task(8, 5);
	CHECK(is_at(w, 0, 8, 5) && is_at(w, 1, 9, 2) && is_at(w, 2, 7, 3) && w->least == 7);
	keep_task(10, 6);
	CHECK(is_at(w, 0, 8, 5) && is_at(w, 1, 9, 2) && is_at(w, 2, 10, 6) && w->least == 8);
	keep_task(12, 7);
	keep_task(11, 8);
	CHECK(is_at(w, 0, 12, 7) && is_at(w, 1, 11, 8) && is_at(w, 2, 10, 6));
	CHECK(w->least == 10 && w->bar == 11 && w->n == 3 && !w->missed);
	/* Of several equal entries, the first is replaced. */
	keep_task(12, 9);
	keep_task(12, 10);
	CHECK(w->least == 12 && is_at(w, 0, 12, 7));
	keep_task(13, 11);
	CHECK(is_at(w, 0, 13, 11) && is_at(w, 1, 12, 10) && is_at(w, 2, 12, 9));
	/* A handler's, amid a write. */
	w->seq++;
	keep_task(14, 12);
	CHECK(w->missed == 1 && w->least == 12 && is_at(w, 0, 13, 11));
	end();
}

static void nothing_of_tasks(void)
{
	begin();
	keep_task(5, 1);
	tach__worst_open(&record);
	keep_task(5, 1);
	allowed = 0;
	tach__worst_slot(&record, TACH__SITE_FIRST);
	keep_task(5, 1);
	CHECK(!never.n && !never.seq);
	end();
	/* The threshold that excludes segments does not change. */
	begin();
	tach__worst_open(&record);
	the_slot->task = 1;
	tach__worst_slot(&record, TACH__SITE_FIRST);
	for (uint64_t key = 5; key < 9; key++)
		keep_task(key, key);
	CHECK(record.worst[TACH__SITE_FIRST]->bar == UINT64_MAX);
	CHECK(record.worst[TACH__SITE_FIRST]->least == 6);
	end();
}

/* An entry's value minus the overhead: 100 for an empty entry, 10 for a pair inside it. */
static void entries(void)
{
	static struct tach__slot around = {.id = 44};
	static struct tach__hot apart;
	struct tach__worst *w = opened();
	struct tach_region_mark mark = {.state = TACH__STATE(3, 2, 1)};
	uint64_t *delta = sim_pages(3 * sizeof *delta), inside[2] = {4, 1};
	const struct tach__kept *k = tach__worst_at(w, 0);
	struct tach__hot *stack = mmap(NULL, TACH__RECORD_AT, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	record.hot = stack;
	tach__stack(stack, 1)[0] = &around;
	apart.record = &record;
	for (int i = 0; i < 3; i++) {
		record.entry_cost.empty[0][i] = 100;
		record.entry_cost.empty[1][i] = 110;
		record.entry_cost.pair[0][i] = 10;
		record.entry_cost.pair[1][i] = 11;
	}
	mark.counters.clock = 321;
	delta[0] = 9000;
	delta[1] = 141;
	delta[2] = 5000;
	tach__tag_here(55);
	/* 141 - 100 - 3 * 10 - 11 is nothing. */
	tach__worst_add(&apart, &mark, the_slot, delta, inside, 6, 0);
	CHECK(w->n == 0);
	delta[1]++;
	tach__worst_add(&apart, &mark, the_slot, delta, inside, 6, 1);
	CHECK(w->n == 0);
	tach__worst_add(&apart, &mark, the_slot, delta, inside, 6, 0);
	CHECK(w->n == 1 && k->key == 1 && k->tag == 55 && k->flags == 6 && k->begun == 321);
	CHECK(k->parent == 44 && k->sum[0] == 9000 - 141 && k->sum[1] == 1);
	CHECK(k->sum[2] == 5000 - 141);
	delta[1] += 20;
	tach__worst_add(&apart, &mark, the_slot, delta, inside, 6, 1);
	k = tach__worst_at(w, 1);
	CHECK(w->n == 2 && k->key == 11 && k->sum[0] == 9000 - 151);
	w->bar = 12;
	tach__worst_add(&apart, &mark, the_slot, delta, inside, 6, 1);
	CHECK(w->n == 2);
	record.worst[TACH__SITE_FIRST + 1] = w;
	record.worst[TACH__SITE_FIRST] = NULL;
	tach__worst_add(&apart, &mark, the_slot, delta, inside, 6, 0);
	CHECK(w->n == 2);
	record.hot = &hot;
	munmap(stack, TACH__RECORD_AT);
	sim_free(delta, 3 * sizeof *delta);
	end();
}

/* ---- gathering ---- */

static void torn(void)
{
	struct tach__worst *w = record.worst[TACH__SITE_FIRST];

	w->seq += 2;
}

static int tear_until;
static void torn_for_a_while(void)
{
	if (acquires < tear_until)
		torn();
}

static void worst_take_copies_the_entries(void)
{
	struct tach__worst *w = opened(), *row = NULL;
	const struct tach__kept *k;

	CHECK(tach__worst_take(&row, &record, TACH__SITE_EMPTY) == 1 && !row);
	CHECK(tach__worst_take(&row, &record, TACH__SITE_FIRST + 1) == 1 && !row);
	keep_task(5, 1);
	keep_task(8, 2);
	config.count = 3; /* its values: the clock and two counters */
	config.worst = 4;
	CHECK(tach__worst_take(&row, &record, TACH__SITE_FIRST) == 1);
	CHECK(live == 3 && row->most == 4 && row->sums == 4 && row->n == 2 && acquires == 1);
	for (uint64_t i = 0; i < 2; i++) {
		k = tach__worst_at(row, i);
		CHECK(k->key == (i ? 8 : 5) && k->thread == 77 &&
		      k->flags == (9 | TACH_FLAG_LOST));
		CHECK(memcmp(k->name, record.comm, sizeof k->name) == 0);
		CHECK(k->sum[2] == k->key + 2000 && k->sum[3] == 0);
	}
	/* Added again to the same entries: these are full, with the last one's minimum. */
	w->missed = 2;
	tach__worst_at(w, 0)->key = 6;
	CHECK(tach__worst_take(&row, &record, TACH__SITE_FIRST) == 1 && live == 3);
	CHECK(row->n == 4 && row->least == 5 && row->missed == 2);
	CHECK(tach__worst_take(&row, &record, TACH__SITE_FIRST) == 1);
	CHECK(row->least == 6 && row->missed == 4);
	tach__worst_free(row);
	end();
}

static void under_write(void)
{
	struct tach__worst *w = opened(), *row = NULL;

	keep_task(5, 1);
	w->seq++;
	CHECK(tach__worst_take(&row, &record, TACH__SITE_FIRST) == 0 && !row->n);
	CHECK(acquires == 1024 && yields == 64);
	w->seq++;
	/* The slot changes during the copy. */
	for (int whole = 15; whole <= 17; whole++) {
		acquires = yields = 0;
		tear_until = whole;
		at_acquire = torn_for_a_while;
		CHECK(tach__worst_take(&row, &record, TACH__SITE_FIRST) == 1);
		CHECK(acquires == whole && yields == (whole > 16));
	}
	CHECK(row->n == 3);
	tach__worst_free(row);
	row = NULL;
	at_acquire = NULL;
	for (allowed = 0; allowed < 2; allowed++) {
		CHECK(tach__worst_take(&row, &record, TACH__SITE_FIRST) == 0);
		allowed = row != NULL;
	}
	allowed = -1;
	tach__worst_free(row);
	end();
}

/* The rows have the thread of each entry, as in loaded snapshots. */
static void merged(void)
{
	struct tach__worst *row, *w = opened();

	keep_task(5, 1);
	tach__worst_at(w, 0)->thread = 33;
	row = tach__worst_make(1, 3);
	tach__worst_merge(row, w, NULL);
	CHECK(is_at(row, 0, 5, 1) && tach__worst_at(row, 0)->thread == 33 && row->least == 5);
	CHECK(!tach__worst_at(row, 0)->name[0]);
	/* Entries that are not above the minimum are omitted. */
	tach__worst_at(w, 0)->tag = 2;
	tach__worst_merge(row, w, NULL);
	CHECK(is_at(row, 0, 5, 1));
	tach__worst_free(row);
	/* At most as many as the row's number of sums, and only existing entries. */
	tach__worst_free(w);
	record.worst[TACH__SITE_FIRST] = w = tach__worst_make(1, 3);
	keep_task(5, 1);
	row = tach__worst_make(1, 2);
	tach__worst_merge(row, w, NULL);
	CHECK(tach__worst_at(row, 0)->flags == 9 && tach__worst_at(row, 0)->sum[1] == 5);
	tach__worst_free(row);
	end();
}

/* ---- options ---- */

static int refused(const char *text, const char *word)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code;

	begin();
	config.worst = 0;
	err.line = err.column = 7;
	code = tach__worst_choose(&config, text, &err);
	CHECK(err.code == code && !err.line && !err.column && strstr(err.text, word), "%s",
	      err.text);
	return code;
}

static int is_chosen(const char *text, uint32_t most, uint32_t by)
{
	begin();
	config.worst = 0;
	return tach__worst_choose(&config, text, NULL) == 0 && config.worst == most &&
	       config.worst_by == by;
}

static void options(void)
{
	CHECK(is_chosen(NULL, 0, 0) && is_chosen("0", 0, 0));
	CHECK(is_chosen("1", 1, 0) && is_chosen("64", 64, 0) && is_chosen("8:", 8, 0));
	CHECK(is_chosen("8:faults", 8, 1));
	/* A counter with that name has priority over the clock. */
	CHECK(is_chosen("8:time", 8, 2));
	config.count = 1;
	config.worst_by = 0;
	CHECK(tach__worst_choose(&config, "8:time", NULL) == 0 && config.worst_by == 0);
	CHECK(refused("65", "1 to 64") == TACH_ERR_INVAL);
	CHECK(refused("", "''") == TACH_ERR_INVAL && refused("8x", "'8x'") == TACH_ERR_INVAL);
	CHECK(refused(":time", "':time'") == TACH_ERR_INVAL);
	CHECK(refused("00", "'00'") == TACH_ERR_INVAL);
	CHECK(refused("8:cycles", "'cycles'") == TACH_ERR_NOTFOUND);
}

int main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	the_slot = calloc(1, sizeof(union tach__slot_copy));
	CASE(tags);
	CASE(worst_entries_have_their_room);
	CASE(a_threads_table);
	CASE(a_slots_entries);
	CASE(touched_first);
	CASE(what_is_kept);
	CASE(nothing_of_tasks);
	CASE(entries);
	CASE(worst_take_copies_the_entries);
	CASE(under_write);
	CASE(merged);
	CASE(options);
	free(the_slot);
	return check_done();
}
