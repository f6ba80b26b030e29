/* SPDX-License-Identifier: MIT */
/*
 * Runs every execution of a few threads that C11's memory model allows, with unmodified code: a
 * test includes this header, then the .c files of the protocol. Atomic operations, fences,
 * mutexes and memory copies are redirected to this file; the code itself has no test hooks.
 *
 * The threads are coroutines of one thread. For watched words every store is kept, with its
 * thread's knowledge of the other words (a view). A load may return any store that its thread's
 * view does not forbid, even if the real machine would not. Acquire, release, their fences and
 * sequential consistency join views. At each choice (which store is read, the place of a store
 * in its word's order, the next thread, a signal handler now or later) the execution is
 * repeated for each possibility, depth first. The executions and their order are the same in
 * every run. All other memory is the program's own.
 *
 * Loads do not see later stores, so loads that come too late need another check: a read of a
 * word that is `reused` must happen before plain stores use its memory for other data.
 *
 * Each place in the code that requests an order is known by file and line. interleave_weaken
 * repeats a test for each of these places, with that place relaxed, and expects a failure. If
 * no failure is expected, the test gives the reason.
 */
#ifndef TESTS_UNIT_INTERLEAVE_H
#define TESTS_UNIT_INTERLEAVE_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "tests/check.h"

enum {
	IL_THREADS = 3,
	IL_WORDS = 8,
	IL_STORES = 24,
	IL_DEPTH = 400,
	IL_PLACES = 64,
	IL_MUTEXES = 3
};
enum { IL_CLOCKS = IL_WORDS, IL_VIEW = IL_WORDS + IL_THREADS };

/* The latest known store of each word, and the known progress of each thread. */
struct il_view {
	int64_t at[IL_VIEW];
};

struct il_store {
	int64_t at; /* the store's place in the word's order */
	uint64_t value;
	struct il_view view;
};

struct il_word {
	char *address;
	size_t size;
	int n, reused;
	int64_t read[IL_THREADS]; /* when each thread last read it */
	struct il_store store[IL_STORES];
};

struct il_thread {
	void (*run)(void);
	ucontext_t context;
	char *stack;
	int running, waits; /* waits: number of the mutex that it waits for, plus 1 */
	struct il_view now, acquired, released;
};

struct il_place {
	const char *file, *what;
	int line, met;
};

static struct {
	struct il_word word[IL_WORDS];
	struct il_thread thread[IL_THREADS];
	struct {
		const void *address;
		int held;
		struct il_view view;
	} mutex[IL_MUTEXES];
	struct il_view total; /* of sequential consistency */
	ucontext_t back;
	int nwords, nthreads, nmutexes, self, on, switches;
	int depth, limit, choice[IL_DEPTH], choices[IL_DEPTH];
	void (*handler)(void); /* runs once, in the first thread */
	int handled;
	struct il_place place[IL_PLACES];
	int nplaces, weakened; /* a place + 1 */
	const char *failed;
	unsigned long executions;
} il;

/* An invariant of the code under test. The run fails if a single execution violates it. */
#define INTERLEAVE_CHECK(what)                                                                 \
	do {                                                                                   \
		if (!(what) && !il.failed)                                                     \
			il.failed = #what;                                                     \
	} while (0)

static inline int il_choose(int n)
{
	if (n < 2)
		return 0;
	if (il.depth == IL_DEPTH) {
		il.failed = "too deep";
		return 0;
	}
	if (il.depth == il.limit) {
		il.choice[il.limit] = 0;
		il.choices[il.limit++] = n;
	}
	return il.choice[il.depth++];
}

static inline void il_join(struct il_view *to, const struct il_view *from)
{
	for (int i = 0; i < IL_VIEW; i++)
		if (from->at[i] > to->at[i])
			to->at[i] = from->at[i];
}

static inline uint64_t il_memory(const struct il_word *w)
{
	uint64_t value = 0;

	memcpy(&value, w->address, w->size);
	return value;
}

/* ---- memory orders, and the places that request them ---- */

enum { IL_ACQUIRE = 1, IL_RELEASE = 2, IL_TOTAL = 4 };

static inline int il_order(int order, const char *what, const char *file, int line)
{
	static const int bits[] = {[__ATOMIC_RELAXED] = 0,
				   [__ATOMIC_CONSUME] = IL_ACQUIRE,
				   [__ATOMIC_ACQUIRE] = IL_ACQUIRE,
				   [__ATOMIC_RELEASE] = IL_RELEASE,
				   [__ATOMIC_ACQ_REL] = IL_ACQUIRE | IL_RELEASE,
				   [__ATOMIC_SEQ_CST] = IL_ACQUIRE | IL_RELEASE | IL_TOTAL};
	int i;

	if (order == __ATOMIC_RELAXED)
		return 0;
	for (i = 0; i < il.nplaces; i++)
		if (il.place[i].line == line && strcmp(il.place[i].what, what) == 0 &&
		    strcmp(il.place[i].file, file) == 0)
			break;
	if (i == il.nplaces && i < IL_PLACES)
		il.place[il.nplaces++] = (struct il_place){file, what, line, 0};
	il.place[i].met = 1;
	return i + 1 == il.weakened ? 0 : bits[order];
}

/* ---- watched words ---- */

static inline struct il_word *il_find(const volatile void *address)
{
	for (int i = 0; i < il.nwords; i++)
		if ((const char *)address == il.word[i].address)
			return &il.word[i];
	return NULL;
}

static inline void il_tick(void)
{
	il.thread[il.self].now.at[IL_CLOCKS + il.self]++;
}

static inline void il_insert(struct il_word *w, uint64_t value, int order)
{
	struct il_thread *t = &il.thread[il.self];
	int i = (int)(w - il.word), at, first;

	if (order & IL_TOTAL && il.total.at[i] > t->now.at[i])
		t->now.at[i] = il.total.at[i];
	for (first = w->n; first > 0 && w->store[first - 1].at > t->now.at[i]; first--)
		;
	at = w->n - il_choose(w->n - first + 1);
	if (w->n == IL_STORES) {
		il.failed = "too many stores";
		return;
	}
	memmove(&w->store[at + 1], &w->store[at], (size_t)(w->n - at) * sizeof *w->store);
	w->n++;
	w->store[at].at = at + 1 == w->n ? w->store[at - 1].at + (1 << 20)
					 : (w->store[at - 1].at + w->store[at + 1].at) / 2;
	w->store[at].value = value;
	t->now.at[i] = w->store[at].at;
	w->store[at].view = order & IL_RELEASE ? t->now : t->released;
	if (w->store[at].view.at[i] < w->store[at].at)
		w->store[at].view.at[i] = w->store[at].at;
	if (order & IL_TOTAL)
		il.total.at[i] = w->store[at].at;
	memcpy(w->address, &w->store[w->n - 1].value, w->size);
}

/* Finds plain stores since the last check: one thread has run since then. */
static inline void il_look(void)
{
	for (int i = 0; i < il.nwords; i++) {
		struct il_word *w = &il.word[i];
		uint64_t value = il_memory(w);

		if (value == w->store[w->n - 1].value)
			continue;
		for (int k = 0; w->reused && k < il.nthreads; k++)
			if (k != il.self &&
			    w->read[k] > il.thread[il.self].now.at[IL_CLOCKS + k])
				il.failed =
					"a word was used for something else while it was read";
		il_insert(w, value, 0);
	}
}

/* ---- who goes on ---- */

static inline void il_go(int next)
{
	int self = il.self;

	if (next == self)
		return;
	il.self = next;
	swapcontext(&il.thread[self].context, &il.thread[next].context);
}

static inline int il_runnable(int i)
{
	const struct il_thread *t = &il.thread[i];

	return t->running && (!t->waits || !il.mutex[t->waits - 1].held);
}

static inline void il_ended(void);

/*
 * Called before each action that other threads may see. A thread that could continue is
 * preempted at most `switches` times.
 */
static inline void il_step(void)
{
	int can[IL_THREADS], n = 0;

	if (!il.on)
		return;
	il_look();
	if (il.handler && il.self == 0 && !il.handled && il_choose(2)) {
		il.handled = 1;
		il.handler();
	}
	il_tick();
	if (il_runnable(il.self))
		can[n++] = il.self;
	for (int i = 0; i < il.nthreads; i++)
		if (i != il.self && il_runnable(i) && (n == 0 || il.switches))
			can[n++] = i;
	if (n == 0) {
		il.failed = "all wait";
		il_ended();
	}
	n = can[il_choose(n)];
	if (n != il.self && il_runnable(il.self))
		il.switches--;
	il_go(n);
}

static inline uint64_t il_load(const volatile void *address, size_t size, int order,
			       const char *what, const char *file, int line)
{
	struct il_word *w = il_find(address);
	struct il_thread *t;
	uint64_t value = 0;
	int i, first, at;

	order = il.on && w ? il_order(order, what, file, line) : 0;
	if (!il.on || !w) {
		memcpy(&value, (const char *)(uintptr_t)address, size);
		return value;
	}
	il_step();
	t = &il.thread[il.self];
	i = (int)(w - il.word);
	if (order & IL_TOTAL && il.total.at[i] > t->now.at[i])
		t->now.at[i] = il.total.at[i];
	for (first = w->n - 1; w->store[first].at > t->now.at[i]; first--)
		;
	at = w->n - 1 - il_choose(w->n - first);
	t->now.at[i] = w->store[at].at;
	il_join(order & IL_ACQUIRE ? &t->now : &t->acquired, &w->store[at].view);
	w->read[il.self] = t->now.at[IL_CLOCKS + il.self];
	return w->store[at].value;
}

static inline void il_save(volatile void *address, uint64_t value, size_t size, int order,
			   const char *what, const char *file, int line)
{
	struct il_word *w = il_find(address);

	order = il.on && w ? il_order(order, what, file, line) : 0;
	if (!il.on || !w) {
		memcpy((char *)(uintptr_t)address, &value, size);
		return;
	}
	il_step();
	il_insert(w, value, order);
}

/*
 * An atomic change reads the last store, and no other action comes in between. Returns the old
 * value.
 */
static inline uint64_t il_change(volatile void *address, uint64_t add, size_t size, int order,
				 const char *what, const char *file, int line)
{
	struct il_word *w = il_find(address);
	struct il_thread *t;
	struct il_view before;
	uint64_t value = 0;
	int i;

	order = il.on && w ? il_order(order, what, file, line) : 0;
	if (!il.on || !w) {
		memcpy(&value, (char *)(uintptr_t)address, size);
		add += value;
		memcpy((char *)(uintptr_t)address, &add, size);
		return value;
	}
	il_step();
	t = &il.thread[il.self];
	i = (int)(w - il.word);
	before = w->store[w->n - 1].view;
	value = w->store[w->n - 1].value;
	t->now.at[i] = w->store[w->n - 1].at;
	il_join(order & IL_ACQUIRE ? &t->now : &t->acquired, &before);
	il_insert(w, value + add, order);
	il_join(&w->store[w->n - 1].view, &before);
	return value;
}

static inline void il_fence(int order, const char *what, const char *file, int line)
{
	struct il_thread *t = &il.thread[il.self];

	if (!il.on)
		return;
	order = il_order(order, what, file, line);
	il_step();
	if (order & IL_ACQUIRE)
		il_join(&t->now, &t->acquired);
	if (order & IL_TOTAL) {
		il_join(&t->now, &il.total);
		il_join(&il.total, &t->now);
	}
	if (order & IL_RELEASE)
		t->released = t->now;
}

/* ---- mutexes ---- */

static inline int il_mutex(const void *address)
{
	int i;

	for (i = 0; i < il.nmutexes; i++)
		if (il.mutex[i].address == address)
			return i;
	il.mutex[il.nmutexes].address = address;
	return il.nmutexes++;
}

static inline int il_lock(const void *address)
{
	int m = il_mutex(address);
	struct il_thread *t = &il.thread[il.self];

	if (!il.on)
		return 0;
	t->waits = m + 1;
	il_step();
	t->waits = 0;
	il.mutex[m].held = 1;
	il_join(&t->now, &il.mutex[m].view);
	return 0;
}

static inline int il_unlock(const void *address)
{
	int m = il_mutex(address);

	if (!il.on)
		return 0;
	il_step();
	il.mutex[m].held = 0;
	il_join(&il.mutex[m].view, &il.thread[il.self].now);
	return 0;
}

/* ---- one execution, and all executions ---- */

static inline void il_ended(void)
{
	il.on = 0;
	setcontext(&il.back);
}

static inline void il_run(void)
{
	int next = 0;

	il.thread[il.self].run();
	il_look();
	il.thread[il.self].running = 0;
	while (next < il.nthreads && !il_runnable(next))
		next++;
	if (next < il.nthreads) {
		il.self = next;
		setcontext(&il.thread[next].context);
	}
	for (next = 0; next < il.nthreads; next++)
		if (il.thread[next].running)
			il.failed = "a thread waits for ever";
	il_ended();
}

/* Called by a test's set-up: watches words, before the threads start. */
static inline void interleave_watch(void *address, size_t size, int reused)
{
	struct il_word *w = &il.word[il.nwords++];

	*w = (struct il_word){.address = address, .size = size, .n = 1, .reused = reused};
	w->store[0].value = il_memory(w);
}

struct interleaving {
	void (*begin)(void);		      /* runs before each execution; watches words */
	void (*thread[IL_THREADS + 1])(void); /* NULL ends the list */
	void (*handler)(void);		      /* a signal handler of the first thread */
	void (*end)(void);		      /* checks the result */
	int switches;			      /* maximum number of thread switches */
};

static inline void il_execute(const struct interleaving *what)
{
	il.nwords = il.nthreads = il.nmutexes = il.self = il.handled = il.depth = 0;
	memset(il.mutex, 0, sizeof il.mutex);
	memset(&il.total, 0, sizeof il.total);
	il.handler = what->handler;
	il.switches = what->switches;
	what->begin();
	for (; what->thread[il.nthreads]; il.nthreads++) {
		struct il_thread *t = &il.thread[il.nthreads];
		char *stack = t->stack ? t->stack : malloc(1 << 18);

		*t = (struct il_thread){
			.run = what->thread[il.nthreads], .stack = stack, .running = 1};
		getcontext(&t->context);
		t->context.uc_stack.ss_sp = stack;
		t->context.uc_stack.ss_size = 1 << 18;
		makecontext(&t->context, il_run, 0);
	}
	il.on = 1;
	if (getcontext(&il.back) == 0 && il.on)
		setcontext(&il.thread[0].context);
	if (what->end)
		what->end();
	il.executions++;
}

/* Runs executions until one fails. Returns true if none failed. */
static inline int interleave(const struct interleaving *what)
{
	il.failed = NULL;
	il.executions = 0;
	il.limit = 0;
	for (;;) {
		il_execute(what);
		if (il.failed)
			return 0;
		while (il.limit && il.choice[il.limit - 1] + 1 == il.choices[il.limit - 1])
			il.limit--;
		if (!il.limit)
			return 1;
		il.choice[il.limit - 1]++;
	}
}

/*
 * A place whose order can be relaxed here without a failure, and the reason why the code
 * requests the order.
 */
struct interleave_spare {
	const char *file, *what, *why;
};

/*
 * Runs all n: each passes unmodified, and fails for each relaxed place. Returns the number of
 * executions.
 */
static inline unsigned long interleave_weaken(const struct interleaving *what, int n,
					      void (*choose)(int),
					      const struct interleave_spare *spare)
{
	unsigned long executions = 0;
	int found[IL_PLACES] = {0};

	il.nplaces = il.weakened = 0;
	for (int k = 0; k < n; k++) {
		choose(k);
		CHECK(interleave(what), "%d: %s", k, il.failed);
		executions += il.executions;
	}
	for (int p = 0; p < il.nplaces; p++) {
		const struct il_place *at = &il.place[p];
		const struct interleave_spare *s = spare;

		il.weakened = p + 1;
		for (int k = 0; k < n && !found[p]; k++) {
			choose(k);
			found[p] = !interleave(what);
		}
		while (s && s->file &&
		       !(strstr(at->file, s->file) && strcmp(s->what, at->what) == 0))
			s++;
		if (s && s->file)
			printf("# %s:%d: %s: %s\n", at->file, at->line, at->what,
			       found[p] ? "found" : s->why);
		else
			printf("# %s:%d: %s: %s\n", at->file, at->line, at->what,
			       found[p] ? "found" : "not found");
		CHECK(found[p] || (s && s->file), "%s:%d: %s relaxed", at->file, at->line,
		      at->what);
	}
	il.weakened = 0;
	printf("# %lu executions, %d places\n", executions, il.nplaces);
	return executions;
}

/* For main: returns an exit status, or 0 if the test can run. */
static inline int interleave_cannot(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	puts("a sanitizer does not follow coroutines");
	return 77;
#else
	return 0;
#endif
}

/* ---- replacements for the code under test ---- */

#define INTERLEAVE_AT __FILE__, __LINE__
#define __atomic_load_n(p, o)                                                                  \
	((__typeof__(*(p)))il_load(p, sizeof *(p), o, "load", INTERLEAVE_AT))
#define __atomic_store_n(p, v, o)                                                              \
	il_save(p, (uint64_t)(v), sizeof *(p), o, "store", INTERLEAVE_AT)
#define __atomic_fetch_add(p, v, o)                                                            \
	__extension__({                                                                        \
		uint64_t il_was =                                                              \
			il_change(p, (uint64_t)(v), sizeof *(p), o, "add", INTERLEAVE_AT);     \
		(__typeof__(*(p)))il_was;                                                      \
	})
#define __atomic_fetch_sub(p, v, o)                                                            \
	__extension__({                                                                        \
		uint64_t il_was =                                                              \
			il_change(p, -(uint64_t)(v), sizeof *(p), o, "sub", INTERLEAVE_AT);    \
		(__typeof__(*(p)))il_was;                                                      \
	})
#define __atomic_thread_fence(o) il_fence(o, "fence", INTERLEAVE_AT)

#endif
