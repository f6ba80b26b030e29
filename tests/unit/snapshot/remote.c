/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of other processes: exact, for running and ended threads; inconsistent data are
 * never accepted. The read memory may contain anything.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach.h>
#include "core/snapshot/remote.h"
#include "tests/check.h"

enum {
	ENDED = 3,
	LIVE = 4,
	CALLS = 1000,
	HOSTILE = 2000,
	MANY = 1000,
	FEW = 200,
	REFUSALS = 300
};

static int started; /* atomic */
static struct tach_site *many[MANY];
static int nmany = MANY;

static void entries(void)
{
	for (int i = 0; i < CALLS; i++) {
		TACH_SCOPE(outer);
		TACH_SCOPE(inner);
	}
}

static void *end_at_once(void *arg)
{
	entries();
	return arg;
}

static void *stay(void *arg)
{
	entries();
	__atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return arg;
}

static void *churn(void *arg)
{
	TACH_SCOPE(churn);
	return arg;
}

static void *enter_many(void *arg)
{
	for (int i = 0; i < nmany; i++) {
		struct tach_region_mark mark = TACH_REGION_MARK_INIT;

		tach_region_begin(many[i], &mark);
		tach_region_end(&mark);
	}
	return arg;
}

/* Reading the totals of this many regions takes longer than a thread takes to end. */
static void have_many(void)
{
	char name[32];

	for (int i = 0; i < nmany; i++) {
		snprintf(name, sizeof name, "many%d", i);
		many[i] = tach_site_get(name);
	}
	enter_many(NULL);
}

static void have_regions(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "page-faults"};

	opt.metrics = "twice = 2 * page-faults";
	opt.histograms = 1;
	opt.worst = "4";
	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

/*
 * Starts a process that runs this function, which never returns; the function has written to
 * `ready` by then.
 */
static pid_t child_of(void (*runs)(int ready, int how), int how)
{
	int ready[2];
	pid_t child;
	char byte;

	CHECK(pipe(ready) == 0);
	child = fork();
	if (child == 0) {
		runs(ready[1], how);
		_exit(1);
	}
	close(ready[1]);
	CHECK(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	return child;
}

enum { CHURNS = 1, HAS_MANY = 2 };

/* Starts threads of both kinds, reports it, and may then start more. */
static void has_threads(int ready, int how)
{
	pthread_t thread;

	have_regions();
	for (int i = 0; i < ENDED; i++) {
		pthread_create(&thread, NULL, end_at_once, NULL);
		pthread_join(thread, NULL);
	}
	if (how & HAS_MANY) {
		have_many();
		pthread_create(&thread, NULL, enter_many, NULL);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < LIVE; i++)
		pthread_create(&thread, NULL, stay, NULL);
	while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) < LIVE)
		usleep(100);
	if (write(ready, "", 1) != 1)
		return;
	while (how & CHURNS)
		if (pthread_create(&thread, NULL, churn, NULL) == 0)
			pthread_join(thread, NULL);
	for (;;)
		pause();
}

static void finish(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int find(const struct tach_snapshot *s, const char *name, struct tach_region_info *info)
{
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		*info = (struct tach_region_info){.size = sizeof *info};
		tach_snapshot_region(s, r, info);
		if (strcmp(info->name, name) == 0)
			return r;
	}
	return -1;
}

/* A filter, or Yama, may forbid reading any process. */
static int may_look(pid_t child)
{
	struct tach_snapshot *s;
	int code = tach_snapshot_take_process(child, &s, NULL);

	if (code == 0)
		tach_snapshot_free(s);
	return code != TACH_ERR_PERMISSION && code != -ENOSYS;
}

/*
 * A snapshot is refused if the other process gets far more processor time, or gets none while
 * it holds its lock: then another one is taken. Each refusal sleeps for at least 80 ms in all.
 */
static int take_at_last(pid_t child, struct tach_snapshot **s, struct tach_error *err)
{
	int code = TACH_ERR_STATE;

	for (int i = 0; i < REFUSALS && code == TACH_ERR_STATE; i++)
		code = tach_snapshot_take_process(child, s, err);
	return code;
}

/* ---- worst entries ---- */

static volatile char plant_room[600 * 4096] __attribute__((aligned(4096)));

/*
 * ready: where to report that the enclosing region is open; the region then stays open; or -1.
 */
static void plant(uint64_t tag, int from, int pages, int ready)
{
	tach_tag(tag);
	TACH_START(around);
	{
		TACH_START(planted);
		for (int i = from; i < from + pages; i++)
			plant_room[i * 4096] = 1;
		TACH_STOP(planted);
	}
	while (ready >= 0 && (ready == INT_MAX || write(ready, "", 1) == 1)) {
		ready = INT_MAX;
		pause();
	}
	TACH_STOP(around);
}

static void *plant_one(void *arg)
{
	pthread_setname_np(pthread_self(), "plant");
	plant(1, 0, 100, -1);
	return arg;
}

static void plants(int ready, int how)
{
	struct tach_regions_options opt = {
		.size = sizeof opt, .events = "page-faults", .worst = "2:page-faults"};
	pthread_t thread;

	(void)how;
	if (tach_regions_configure(&opt, NULL) != 0)
		return;
	/* By chance, the kernel may have a free huge page. */
	madvise((void *)(uintptr_t)plant_room, sizeof plant_room, MADV_NOHUGEPAGE);
	pthread_create(&thread, NULL, plant_one, NULL);
	pthread_join(thread, NULL);
	plant(2, 100, 10, -1);
	plant(3, 200, 200, ready);
}

/*
 * Worst entries of an ended thread and of a thread inside a region; worse ones replace others.
 */
static void worst_entries(void)
{
	struct tach_worst w = {.size = sizeof w, .thread_name = "", .parent = ""};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_region_info info;
	struct tach_snapshot *s = NULL;
	pid_t child = child_of(plants, 0);
	int region = -1, counted;

	if (!may_look(child)) {
		finish(child);
		SKIP("no process may trace another here");
	}
	CHECK(tach_snapshot_take_process(child, &s, &err) == 0, "%s", err.text);
	region = s ? find(s, "planted", &info) : -1;
	CHECK(s && region >= 0 && info.calls == 3);
	if (s && region >= 0) {
		counted = tach_snapshot_worst_by(s) == 1;
		CHECK(counted);
		CHECK(tach_snapshot_worst(s, region, 0, &w) == 0 && w.tag == 3, "%d",
		      (int)w.tag);
		CHECK(strcmp(w.parent, "around") == 0 && w.thread == child);
		CHECK(w.at > 1e9);
		CHECK(tach_snapshot_worst_value(s, region, 0, 1) >= 200);
		CHECK(tach_snapshot_worst(s, region, 1, &w) == 0 && w.tag == 1, "%d",
		      (int)w.tag);
		CHECK(strcmp(w.thread_name, "plant") == 0 && w.thread != child);
		CHECK(tach_snapshot_worst(s, region, 2, &w) != 0);
	}
	tach_snapshot_free(s);
	finish(child);
}

static void remote_counts_are_exact(void)
{
	struct tach_counts counts = {.size = sizeof counts};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_region_info info;
	struct tach_snapshot *s = NULL;
	pid_t child = child_of(has_threads, 0);

	if (!may_look(child)) {
		finish(child);
		SKIP("no process may trace another here");
	}
	CHECK(tach_snapshot_take_process(child, &s, &err) == 0, "%s", err.text);
	if (s) {
		CHECK(find(s, "inner", &info) >= 0);
		CHECK(info.calls == (ENDED + LIVE) * CALLS, "%llu",
		      (unsigned long long)info.calls);
		CHECK(info.threads == ENDED + LIVE && info.nested == 0);
		CHECK(find(s, "outer", &info) >= 0 && info.nested == (ENDED + LIVE) * CALLS);
		CHECK(strcmp(info.function, "entries") == 0);
		CHECK(strcmp(tach_snapshot_metric(s, 0), "twice") == 0);
		CHECK(tach_snapshot_buckets(s, 0, 0, NULL, 0) > 0);
		tach_snapshot_counts(s, &counts);
		CHECK(counts.threads == ENDED + LIVE && counts.stale == 0);
	}
	tach_snapshot_free(s);
	finish(child);
}

/*
 * Threads start and end at any time; the constant part is exact in every snapshot. If a thread
 * is ending, it may be in one snapshot and missing in the next one, which then reports this.
 */
static void constant_part_is_exact_while_threads_end(void)
{
	struct tach_counts counts = {.size = sizeof counts};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_region_info info;
	struct tach_snapshot *s, *last = NULL, *between;
	pid_t child = child_of(has_threads, CHURNS);
	uint64_t calls = 0;

	if (!may_look(child)) {
		finish(child);
		SKIP("no process may trace another here");
	}
	for (int i = 0; i < 50; i++) {
		int code = take_at_last(child, &s, &err);

		CHECK(code == 0, "%s", err.text);
		if (code)
			break;
		tach_snapshot_counts(s, &counts);
		CHECK(find(s, "inner", &info) >= 0 && info.calls == (ENDED + LIVE) * CALLS);
		if (find(s, "churn", &info) >= 0) {
			CHECK(info.calls >= calls || counts.stale);
			calls = info.calls;
		}
		if (last && tach_snapshot_since(s, last, &between, NULL) == 0) {
			CHECK(find(between, "inner", &info) >= 0 && info.calls == 0);
			tach_snapshot_free(between);
		}
		tach_snapshot_free(last);
		last = s;
	}
	tach_snapshot_free(last);
	finish(child);
}

/* The thread is complete, with its histograms; an earlier version never achieved this. */
static void churned_many(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_region_info info;
	struct tach_snapshot *s;
	pid_t child = child_of(has_threads, CHURNS | HAS_MANY);

	if (!may_look(child)) {
		finish(child);
		SKIP("no process may trace another here");
	}
	for (int whole = 0; whole < 3; whole++) {
		int code = take_at_last(child, &s, &err);

		CHECK(code == 0, "%s", err.text);
		if (code)
			break;
		CHECK(tach_snapshot_nregions(s) >= MANY + 2);
		CHECK(find(s, "many999", &info) >= 0 && info.calls == 2);
		CHECK(find(s, "inner", &info) >= 0 && info.calls == (ENDED + LIVE) * CALLS);
		tach_snapshot_free(s);
	}
	finish(child);
}

static void refused(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s;
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	if (!may_look(child)) {
		finish(child);
		SKIP("no process may trace another here");
	}
	/* The parent owns the regions, if there are any. */
	CHECK(tach_snapshot_take_process(child, &s, &err) == TACH_ERR_STATE ||
	      tach_snapshot_take_process(child, &s, &err) == TACH_ERR_NOTFOUND);
	CHECK(err.text[0]);
	finish(child);
	CHECK(tach_snapshot_take_process(child, &s, &err) == -ESRCH);
	CHECK(tach_snapshot_take_process(0, &s, &err) == TACH_ERR_INVAL);
}

/* ---- the read memory may contain anything ---- */

struct hostile {
	unsigned answers, ends; /* number of the first read that fails */
	/* number of the read whose data are changed; change 0: none */
	unsigned at, place, change;
	const void *pointer, *value; /* a pointer there that is changed */
	unsigned every; /* a thread starts and ends before each read with a multiple of this
			   number; 0: never */
};

static unsigned came; /* number of threads that started and ended */

static void comes_and_goes(struct hostile *h)
{
	pthread_t thread;

	if (h->every && h->answers % h->every == 0) {
		CHECK(pthread_create(&thread, NULL, churn, NULL) == 0);
		pthread_join(thread, NULL);
		came++;
	}
}

static int read_hostile(void *context, const void *at, void *to, size_t size)
{
	struct hostile *h = context;
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)at, size};
	const char *pointer = h->pointer;

	comes_and_goes(h);
	if (h->answers++ >= h->ends)
		return -ESRCH;
	if (syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0) != (long)size)
		return -EFAULT;
	if (h->change && h->answers == h->at)
		((unsigned char *)to)[h->place % size] ^= (unsigned char)h->change;
	if (pointer >= (const char *)at && pointer + sizeof h->value <= (const char *)at + size)
		memcpy((char *)to + (pointer - (const char *)at), &h->value, sizeof h->value);
	return 0;
}

static struct tach_snapshot *taken(struct hostile *h, int *code, struct tach_error *err)
{
	struct tach__remote remote = {.read = read_hostile, .context = h};
	struct tach_snapshot *s = NULL;

	tach__remote_begin(&remote, TACH__REMOTE_CPU);
	*code = tach__remote_take(&remote, &tach__beacon, &s, err);
	CHECK((*code == 0) == (s != NULL));
	CHECK(*code == 0 || err->text[0]);
	return s;
}

static int take(struct hostile *h, struct tach_error *err)
{
	int code;

	tach_snapshot_free(taken(h, &code, err));
	return code;
}

static struct tach_error err = TACH_ERROR_INIT;
static unsigned answers; /* response to a valid request */

static void ends_amid(void)
{
	struct hostile whole = {.ends = ~0u};

	have_regions();
	entries();
	CHECK(take(&whole, &err) == 0, "%s", err.text);
	answers = whole.answers;
	for (unsigned n = 0; n < answers; n++) {
		struct hostile h = {.ends = n};

		CHECK(take(&h, &err) != 0);
	}
}

static void any_byte(void)
{
	uint64_t random = 1;

	for (int i = 0; i < HOSTILE; i++) {
		struct hostile h = {.ends = ~0u};

		random = random * 6364136223846793005u + 1442695040888963407u;
		h.at = 1 + (unsigned)(random >> 33) % answers;
		h.place = (unsigned)(random >> 13) & 0xffff;
		h.change = 1 + (unsigned)(random >> 50) % 255;
		take(&h, &err);
	}
}

static void ring_of_threads(void)
{
	struct cds_list_head *first = tach__registry.threads.next;
	struct hostile h = {.ends = 300000, .pointer = &first->next, .value = first};

	CHECK(take(&h, &err) != 0);
	h = (struct hostile){.ends = ~0u, .pointer = &tach__registry.threads.next};
	h.value = &tach__registry.threads;
	CHECK(take(&h, &err) == 0); /* the process has no thread */
}

static void strings_nowhere(void)
{
	struct hostile h = {.ends = ~0u, .pointer = &tach__registry.by_id, .value = (void *)16};

	CHECK(take(&h, &err) == TACH_ERR_STATE);
}

/*
 * Threads start and end at fixed places: several while the totals and histograms are read, and
 * fewer than one per try. The snapshot is complete, with all threads that ended before.
 */
static void threads_end_during_a_snapshot(void)
{
	struct hostile whole = {.ends = ~0u};
	struct tach_region_info info;
	pthread_t thread;

	have_regions();
	nmany = FEW;
	have_many();
	pthread_create(&thread, NULL, enter_many, NULL);
	pthread_join(thread, NULL);
	CHECK(take(&whole, &err) == 0, "%s", err.text);
	for (unsigned times = 1; times <= 16; times *= 2) {
		struct hostile h = {.ends = ~0u, .every = whole.answers / times};
		unsigned before = came;
		int code;
		struct tach_snapshot *s = taken(&h, &code, &err);

		CHECK(code == 0, "%u times in %u answers: %s", times, whole.answers, err.text);
		if (!s)
			continue;
		CHECK(find(s, "many199", &info) >= 0 && info.calls == 2);
		CHECK(find(s, "churn", &info) >= 0 && info.calls > before && info.calls <= came,
		      "%d of %u .. %u", (int)info.calls, before, came);
		tach_snapshot_free(s);
	}
}

/* ---- a thread in the process of ending ---- */

static int ending_now; /* atomic */

static void *end_when_told(void *arg)
{
	entries();
	__atomic_store_n((struct tach__hot **)arg, tach__self, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&ending_now, __ATOMIC_SEQ_CST))
		sched_yield();
	return NULL;
}

static uint64_t calls_of(const char *name)
{
	struct hostile whole = {.ends = ~0u};
	struct tach_counts counts = {.size = sizeof counts};
	struct tach_region_info info = {.calls = 0};
	int code;
	struct tach_snapshot *s = taken(&whole, &code, &err);

	CHECK(code == 0 && tach_snapshot_counts(s, &counts) == 0 && counts.stale == 0, "%s",
	      err.text);
	CHECK(find(s, name, &info) >= 0);
	tach_snapshot_free(s);
	return info.calls;
}

/*
 * The thread has closed its counters, but its sums are not in the totals yet, because it waits
 * for the lock.
 */
static void ending_thread_is_in_the_snapshot(void)
{
	pthread_mutex_t *lock;
	struct tach__hot *hot = NULL;
	pthread_t thread;
	uint64_t before;

	have_regions();
	entries();
	before = calls_of("inner");
	CHECK(pthread_create(&thread, NULL, end_when_told, &hot) == 0);
	while (!__atomic_load_n(&hot, __ATOMIC_SEQ_CST))
		sched_yield();
	lock = &tach__registry.page->lock;
	pthread_mutex_lock(lock);
	__atomic_store_n(&ending_now, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&hot->record, __ATOMIC_SEQ_CST))
		sched_yield();
	CHECK(calls_of("inner") == before + CALLS);
	pthread_mutex_unlock(lock);
	pthread_join(thread, NULL);
	CHECK(calls_of("inner") == before + CALLS);
}

int main(void)
{
	CASE(refused);
	CASE(ending_thread_is_in_the_snapshot);
	CASE(worst_entries);
	CASE(remote_counts_are_exact);
	CASE(constant_part_is_exact_while_threads_end);
	CASE(churned_many);
	CASE(ends_amid);
	CASE(any_byte);
	CASE(ring_of_threads);
	CASE(strings_nowhere);
	CASE(threads_end_during_a_snapshot);
	return check_done();
}
