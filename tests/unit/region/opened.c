/* SPDX-License-Identifier: MIT */
/* Threads without regions: the steps when a thread is opened, and its number. */
#include "tests/unit/region/opened.h"

static void opened(void)
{
	struct tach__thread *of = begin();
	struct tach__hot *hot;

	the_set.refs = 5;
	CHECK(tach__thread_record() == NULL);
	hot = tach__thread_ready(TACH__SITE_FIRST);
	CHECK(did("SDROwtcpsnGMhb"));
	CHECK(hot == of->hot && tach__self == hot && tach__thread_record() == of);
	CHECK(of->config == &the_set && the_set.refs == 6 && of->reader == &counters.hot);
	CHECK(of->count == 3 && hot->count == 3 && hot->reader == &counters.hot);
	CHECK(learnt == counters.hot.way[0].page && of->tid == 44 && of->is_first == 1);
	CHECK(of->worst_by == 1 && of->keeps == 0 && keeps == 0 && plain == 1);
	CHECK(of->inexact == 0 && hot->inexact == 0 && of->steps[0] == 0);
	CHECK(grown == TACH__SITE_FIRST - 1 && hot->limit == TACH__CHUNK_SLOTS);
	CHECK(hot->state == TACH__STATE(1, 0, 0));
	CHECK(tach__registry.threads.next == &of->node && of->node.next == of->node.prev);
	CHECK(specific == of && specific_set == 1);
	CHECK(tach__registry.unopened == 0 && of->random == make_seed(of));
	/* It is there. */
	CHECK(tach__thread_ready(TACH__CHUNK_SLOTS - 1) == hot && did(""));
	hot->limit = 0;
	CHECK(tach__thread_ready(TACH__CHUNK_SLOTS) == hot && did("G"));
	CHECK(grown == TACH__CHUNK_SLOTS && hot->limit == 2 * TACH__CHUNK_SLOTS);
	no_slots = 1;
	CHECK(!tach__thread_ready(2 * TACH__CHUNK_SLOTS) && did("G"));
}

static void open_options(void)
{
	static struct tach__trace *const each = (struct tach__trace *)(uintptr_t)8;
	struct tach__thread *of = begin();

	lone_tid = 45;
	the_set.worst_by = 2;
	the_set.histograms = 1;
	CHECK(tach__thread_ready(0) == of->hot && did("SDROwtcpsnGMhb"));
	CHECK(of->tid == 45 && of->is_first == 0 && specific == of);
	CHECK(plain == 0 && keeps == TACH__KEEPS_WORST && of->keeps == TACH__KEEPS_WORST);
	of = begin();
	trace = each;
	the_set.warmup = 1;
	CHECK(tach__thread_ready(0) && plain == 0 && keeps == TACH__KEEPS_EACH);
	CHECK(of->keeps == TACH__KEEPS_EACH);
	begin();
	trace = each;
	the_set.worst_by = 2;
	the_set.sparse = 2;
	CHECK(tach__thread_ready(0) && plain == 0);
	CHECK(keeps == (TACH__KEEPS_EACH | TACH__KEEPS_WORST));
	begin();
	the_set.sparse = 0;
	CHECK(tach__thread_ready(0) && plain == 1);
	/* Without a key, the thread's end is not noticed. */
	begin();
	thread_key_made = 0;
	CHECK(tach__thread_ready(0) && specific_set == 0);
	/* If there is no memory, there are no slots for calibration either. */
	of = begin();
	no_slots = 1;
	CHECK(!tach__thread_ready(0) && did("SDROwtcpsnGhbG") && tach__self == of->hot);
}

static void not_opened(void)
{
	struct tach__thread *of = begin();
	struct tach__registry *r = &tach__registry;

	r->enabled = 0;
	CHECK(!tach__thread_ready(0) && did("SD") && to_take == of && the_set.refs == 0);
	r->enabled = 1;
	to_take = NULL;
	CHECK(!tach__thread_ready(0) && did("SDR") && tach__self == &tach__thread_closed);
	CHECK(the_set.refs == 1);
	to_take = of;
	no_stack = 1;
	CHECK(!tach__thread_ready(0) && did("S") && to_take == of);
	/* The clock alone. */
	begin();
	no_counters = TACH_ERR_NOMEM;
	the_set.worst_by = 2;
	CHECK(tach__thread_ready(0) == of->hot && did("SDROwt0psnGMhb"));
	CHECK(of->count == 0 && of->reader == NULL && of->hot->reader == NULL && !learnt);
	CHECK(of->worst_by == 0 && r->unopened == 1 && r->open_error.code == TACH_ERR_NOMEM);
	/* Of several causes, the first is reported. */
	tach__self = &tach__thread_closed;
	CDS_INIT_LIST_HEAD(&r->threads);
	fresh();
	no_counters = TACH_ERR_INVAL;
	CHECK(tach__thread_ready(0) && r->unopened == 2);
	CHECK(r->open_error.code == TACH_ERR_NOMEM);
}

static void inexact(void)
{
	static struct tach__group group = {.member = {1, 2}};
	struct tach__thread *of = begin();

	counters.topdown.group = &group;
	counters.topdown.members = 1 | 4 | 8;
	CHECK(tach__thread_ready(0) && of->inexact == 0 && of->hot->inexact == 0);
	CHECK(of->steps[2] == 0);
	begin();
	counters.topdown.group = &group;
	counters.topdown.members = 1 | 4 | 8;
	counters.topdown.on = 1;
	CHECK(tach__thread_ready(0) && of->inexact == 2 && of->hot->inexact == 2);
	CHECK(of->steps[0] == 10 && of->steps[1] == 0 && of->steps[2] == 12);
	CHECK(of->steps[3] == 0, "the set has three");
}

static void numbers(void)
{
	struct tach__registry *r = &tach__registry;
	struct tach__hot hot[2];
	struct tach__thread of[2];

	begin();
	CHECK(find_free_number() == 1 && find_free_number() == 2 && r->openings == 2);
	memset(of, 0, sizeof of);
	memset(hot, 0, sizeof hot);
	for (uint32_t i = 0; i < 2; i++) {
		of[i].hot = &hot[i];
		hot[i].state = TACH__STATE(i + 3, 0, 5);
		cds_list_add_rcu(&of[i].node, &r->threads);
	}
	/* Numbers of ended threads are reused only after every number was used once. */
	CHECK(find_free_number() == 3);
	r->openings = TACH__OPENINGS - 2;
	CHECK(find_free_number() == TACH__OPENINGS - 1);
	CHECK(find_free_number() == 1 && find_free_number() == 2 && find_free_number() == 5);
	r->openings = 2ull * TACH__OPENINGS + 2;
	CHECK(find_free_number() == 5 && r->openings == 2ull * TACH__OPENINGS + 5);
	/* The state contains the number. */
	CDS_INIT_LIST_HEAD(&r->threads);
	CHECK(tach__thread_ready(0) && TACH__OPENING(tach__self->state) == 6);
}

/* The finaliser of splitmix64, as published: its first three results for the seed 1234567. */
static void seeds(void)
{
	static const uint64_t of[] = {6457827717110365317u, 3203168211198807973u,
				      9817491932198370423u};

	for (uint64_t i = 0; i < 3; i++) {
		ticks = 1234567 + (i + 1) * 0x9e3779b97f4a7c15u;
		CHECK(make_seed(NULL) == of[i]);
		ticks ^= 77;
		CHECK(make_seed((void *)(uintptr_t)77) == of[i]);
	}
	for (ticks = 0; ticks < 50; ticks++)
		CHECK(make_seed(NULL) & 1);
}

/* pthread_setspecific calls calloc for the first value of a key from 32 on. */
static void keys_without_calloc(void)
{
	begin();
	for (next_key = 30; next_key < 34; next_key++) {
		keys = thread_key_made = 0;
		key_make();
		CHECK(thread_key_made == (next_key < 32) && keys == thread_key_made, "%d",
		      (int)next_key);
	}
	next_key = 31;
	keys = thread_key_made = 0;
	key_fails = EAGAIN;
	key_make();
	CHECK(!thread_key_made && !keys);
	key_delete();
	CHECK(!keys);
	key_fails = 0;
	key_make();
	key_delete();
	key_delete();
	CHECK(!thread_key_made && !keys);
}

int main(void)
{
	CASE(opened);
	CASE(open_options);
	CASE(not_opened);
	CASE(inexact);
	CASE(numbers);
	CASE(seeds);
	CASE(keys_without_calloc);
	return check_done();
}
