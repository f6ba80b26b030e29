/* SPDX-License-Identifier: MIT */
/*
 * Regions left without their STOP: by return, goto, longjmp out of one frame or many, by signal
 * handlers, threads that end, and discarded stacks. Each begun entry is counted or lost, and no
 * region that was left open disturbs later regions.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "core/region/region.h"
#include "tests/random.h"
#include "tests/unit/region/regions.h"

#ifdef __SANITIZE_ADDRESS__
#define ON_FAKE_STACK 1
#else
#define ON_FAKE_STACK 0
#endif

/* Calls a function with this many more bytes of stack in use, all written. */
static __attribute__((noinline)) void deeper(size_t bytes, void (*call)(void))
{
	char *room = __builtin_alloca(bytes + 1);

	memset(room, 0x5a, bytes + 1);
	__asm__ volatile("" : : "r"(room) : "memory");
	call();
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void wipe(void)
{
}

/* ---- each way of leaving a region, then 20 normal entries ---- */

static enum way { STOPPED, RETURNED, GONE, BROKEN, JUMPED } way;
static jmp_buf back;

static void once(void)
{
	if (way == GONE) {
		TACH_START(left);
		goto out;
		TACH_STOP(left);
	}
	while (way == BROKEN) {
		TACH_START(left);
		break;
		TACH_STOP(left);
	}
	if (way <= RETURNED || way == JUMPED) {
		TACH_START(left);
		if (way == RETURNED)
			return;
		if (way == JUMPED)
			longjmp(back, 1);
		TACH_STOP(left);
	}
out:;
}

/* Adds up all sites with this name, which are separate regions. */
static void sum_up(const char *name, uint64_t *entries, uint64_t *calls, uint64_t *outermost,
		   uint64_t *lost)
{
	*entries = *calls = *outermost = *lost = 0;
	tach_snapshot_free(shot);
	CHECK(tach_snapshot_take(&shot, NULL) == 0);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, name) != 0)
			continue;
		CHECK(info.entries == info.calls + info.skipped + info.excluded + info.lost);
		*entries += info.entries;
		*calls += info.calls;
		*outermost += info.outermost;
		*lost += info.lost;
	}
}

static void leave_by(enum way how, size_t first, size_t then)
{
	uint64_t entries, calls, outermost, lost, want_lost = how == JUMPED ? 5 : 0;

	regions_begin(0);
	for (volatile int i = 0; i < 5; i++) {
		way = how;
		if (setjmp(back) == 0)
			deeper(first, once);
	}
	way = STOPPED;
	deeper(40000, wipe);
	for (int i = 0; i < 20; i++)
		deeper(then, once);
	sum_up("left", &entries, &calls, &outermost, &lost);
	CHECK(entries == 25 && calls == 25 - want_lost && lost == want_lost &&
		      outermost == calls,
	      "way %d, %d then %d: %d begun, %d counted, %d outermost, %d lost", (int)how,
	      (int)first, (int)then, (int)entries, (int)calls, (int)outermost, (int)lost);
}

static void left_and_entered_again(void)
{
	static const size_t depth[][2] = {{0, 0}, {5000, 0}, {5000, 5000}, {30000, 100}};

	if (ON_FAKE_STACK)
		SKIP("AddressSanitizer puts variables elsewhere than on the stack");
	for (unsigned d = 0; d < sizeof depth / sizeof *depth; d++)
		for (int how = STOPPED; how <= JUMPED; how++)
			leave_by((enum way)how, depth[d][0], depth[d][1]);
	for (int how = STOPPED; how < JUMPED; how++)
		leave_by((enum way)how, 0, 5000);
}

/* A START deeper in the stack looks like a recursion; the next slow path corrects it. */
static void fresh(void)
{
	TACH_SCOPE(fresh);
}

static void left_and_entered_deeper(void)
{
	uint64_t entries, calls, outermost, lost;

	if (ON_FAKE_STACK)
		SKIP("AddressSanitizer puts variables elsewhere than on the stack");
	regions_begin(0);
	way = JUMPED;
	if (setjmp(back) == 0)
		once();
	way = STOPPED;
	deeper(5000, once);
	CHECK(regions_look("left", 0) && info.outermost == 0 &&
	      (value.flags & TACH_FLAG_INCOMPLETE));
	deeper(5000, fresh);
	deeper(5000, once);
	sum_up("left", &entries, &calls, &outermost, &lost);
	CHECK(entries == 3 && calls == 2 && outermost == 1 && lost == 1, "%d %d %d %d",
	      (int)entries, (int)calls, (int)outermost, (int)lost);
}

/* ---- the set may change after regions were left open ---- */

static sigjmp_buf handler_left;

static void leave_handler(int sig)
{
	TACH_START(in_handler);
	siglongjmp(handler_left, sig);
	TACH_STOP(in_handler);
}

static int configure(struct tach_error *err)
{
	struct tach_regions_options opt = {.events = ""};

	return tach_regions_configure(&opt, err);
}

/*
 * A region that a handler left open does not enclose later regions, wherever the handler ran.
 */
static void set_changed_behind_a_handler(int on_stack)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct sigaction action;
	void *room =
		mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t alternate = {.ss_sp = room, .ss_size = 65536}, before;

	memset(&action, 0, sizeof action);
	action.sa_handler = leave_handler;
	action.sa_flags = on_stack;
	CHECK(configure(&err) == 0, "%s", err.text);
	CHECK(sigaltstack(&alternate, &before) == 0);
	sigaction(SIGUSR1, &action, NULL);
	if (sigsetjmp(handler_left, 1) == 0)
		raise(SIGUSR1);
	CHECK(configure(&err) == 0, "%s", err.text);
	signal(SIGUSR1, SIG_DFL);
	sigaltstack(&before, NULL);
	munmap(room, 65536);
}

static void set_changes_after_handlers(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	if (ON_FAKE_STACK)
		SKIP("AddressSanitizer puts variables elsewhere than on the stack");
	set_changed_behind_a_handler(0);
	set_changed_behind_a_handler(SA_ONSTACK);
	{
		TACH_START(still_open);
		CHECK(configure(&err) == TACH_ERR_STATE && strstr(err.text, "'still_open'"),
		      "%s", err.text);
		TACH_STOP(still_open);
	}
	CHECK(configure(&err) == 0, "%s", err.text);
}

/* ---- everything at random ---- */

enum { SITES = 5, THREADS = 6, ROUNDS = 3000, JUMPS = 8, DEPTH = 12 };
struct count {
	uint64_t begun, stopped;
};
static __thread struct count mine[SITES];
static struct count all[SITES];
static __thread sigjmp_buf landing[JUMPS];
static __thread int landings;

static void wander(int depth);

#define SITE(n)                                                                                \
	static __attribute__((noinline)) int enter_##n(int depth)                              \
	{                                                                                      \
		TACH_START(site_##n);                                                          \
		mine[n].begun++;                                                               \
		wander(depth + 1);                                                             \
		/* Counted before the region ends, because the jump leaves from inside it. */  \
		mine[n].stopped++;                                                             \
		if (random_below(3) == 0)                                                      \
			return 1;                                                              \
		if (random_below(3) == 0)                                                      \
			goto out;                                                              \
		TACH_STOP(site_##n);                                                           \
	out:                                                                                   \
		return 0;                                                                      \
	}
SITE(0)
SITE(1)
SITE(2)
SITE(3)

static struct tach_site *object_site;

/*
 * The mark is in an object: the region is stopped, or it is never stopped and its mark is used
 * again later.
 */
static void object(int depth)
{
	static __thread struct tach_region_mark marks[64];
	static __thread unsigned used;
	struct tach_region_mark *mark = &marks[used++ % 64];

	mine[4].begun++;
	tach_region_begin(object_site, mark);
	if (random_below(8) == 0)
		return;
	if (random_below(2))
		wander(depth + 2);
	if (mark->end)
		mine[4].stopped++;
	tach_region_end(mark);
}

static void on_signal(int sig)
{
	(void)sig;
	enter_3(DEPTH - 2);
	if (landings && random_below(3) == 0)
		siglongjmp(landing[random_below((unsigned)landings)], 1);
}

static void coroutine(void)
{
	enter_0(DEPTH - 1);
	enter_1(DEPTH - 1);
}

static __thread ucontext_t before, inside;
static __thread int switched;

static void abandoned(void)
{
	TACH_START(site_0);
	mine[0].begun++;
	swapcontext(&inside, &before);
	TACH_STOP(site_0);
}

/* Regions on a separate stack, which runs to its end or is discarded with a region open. */
static void stack(void)
{
	size_t size = 65536;
	char *base;

	if (switched)
		return;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	getcontext(&inside);
	inside.uc_stack.ss_sp = base;
	inside.uc_stack.ss_size = size;
	inside.uc_link = &before;
	/* Code on another stack must not jump to a frame here. */
	int were = landings;
	switched = 1;
	landings = 0;
	makecontext(&inside, random_below(2) ? coroutine : abandoned, 0);
	swapcontext(&before, &inside);
	landings = were;
	switched = 0;
	munmap(base, size);
}

static void land(int depth)
{
	volatile int here = landings;

	if (here == JUMPS)
		return;
	if (sigsetjmp(landing[here], 1) == 0) {
		landings = here + 1;
		wander(depth + 1);
	}
	landings = here;
}

static void wander(int depth)
{
	if (depth >= DEPTH)
		return;
	switch (random_below(10)) {
	case 0:
		enter_0(depth);
		break;
	case 1:
		enter_1(depth);
		break;
	case 2:
		enter_2(depth);
		break;
	case 3:
		object(depth);
		break;
	case 4:
		raise(SIGUSR1);
		break;
	case 5:
		stack();
		break;
	case 6:
		land(depth);
		break;
	case 7:
		enter_0(depth);
		enter_1(depth);
		break;
	case 8:
		if (landings)
			siglongjmp(landing[landings - 1], 1);
		break;
	default:
		break;
	}
}

static void *walk(void *arg)
{
	char *alternate =
		mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t ss = {.ss_sp = alternate, .ss_size = 65536};

	random_seed = (uint64_t)(uintptr_t)arg * 0x9e3779b97f4a7c15u;
	if (random_seed >> 8 & 1)
		sigaltstack(&ss, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		landings = 0;
		land(0);
	}
	for (int i = 0; i < SITES; i++) {
		__atomic_fetch_add(&all[i].begun, mine[i].begun, __ATOMIC_RELAXED);
		__atomic_fetch_add(&all[i].stopped, mine[i].stopped, __ATOMIC_RELAXED);
	}
	if (random_below(2)) {
		__atomic_fetch_add(&all[0].begun, 1, __ATOMIC_RELAXED);
		TACH_START(site_0);
		pthread_exit(NULL);
		TACH_STOP(site_0);
	}
	return NULL;
}

static void every_entry_is_counted_or_lost(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
	uint64_t entries, calls, outermost, lost, jumped = 0;
	pthread_t thread[THREADS];
	char name[16];

	if (ON_FAKE_STACK)
		SKIP("AddressSanitizer puts variables elsewhere than on the stack");
#ifdef __SANITIZE_THREAD__
	SKIP("ThreadSanitizer does not follow stacks that are thrown away");
#endif
	regions_begin(0);
	object_site = tach_site_get("site_4");
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, walk, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < SITES; i++) {
		snprintf(name, sizeof name, "site_%d", i);
		sum_up(name, &entries, &calls, &outermost, &lost);
		CHECK(entries == all[i].begun && calls == all[i].stopped &&
			      lost == all[i].begun - all[i].stopped,
		      "%s: %d begun, %d stopped; %d entries, %d calls, %d lost", name,
		      (int)all[i].begun, (int)all[i].stopped, (int)entries, (int)calls,
		      (int)lost);
		jumped += lost;
	}
	CHECK(jumped > 1000, "only %d were left", (int)jumped);
}

/* ---- regions ended out of order ---- */

static struct tach_region_mark first, second, third, fourth;

static void begin_named(const char *name, struct tach_region_mark *mark)
{
	tach_region_begin(tach_site_get(name), mark);
}

static void counted(const char *name, uint64_t times)
{
	CHECK(regions_find(name, 0) && info.entries == times && info.calls == times &&
		      info.lost == 0,
	      "%s: %lld entries, %lld counted, %lld lost", name, (long long)info.entries,
	      (long long)info.calls, (long long)info.lost);
}

/* Overlapping regions stay open, and later ones are above them. */
static void ended_out_of_order(void)
{
	uint64_t time;
	uint32_t flags, generation;

	regions_begin(0);
	for (uint64_t n = 1; n <= 3; n++) {
		begin_named("overlapped", &first);
		begin_named("overlapping", &second);
		tach_region_end(&first);
		begin_named("below", &third);
		begin_named("above", &fourth);
		CHECK(TACH__LEVEL(tach__self->state) == 3);
		CHECK(tach_region_read(&second, &time, 1, &flags, &generation) == 1);
		CHECK(tach_region_read(&fourth, &time, 1, &flags, &generation) == 1);
		tach_region_end(&second);
		CHECK(TACH__LEVEL(tach__self->state) == 2);
		CHECK(tach_region_read(&fourth, &time, 1, &flags, &generation) == 1);
		tach_region_end(&fourth);
		tach_region_end(&third);
		CHECK(TACH__LEVEL(tach__self->state) == 0);
		CHECK(regions_look("overlapped", 0));
		counted("overlapped", n);
		counted("overlapping", n);
		counted("below", n);
		counted("above", n);
	}
}

/* The region is open three times. */
static void recursion_ended_out_of_order(void)
{
	struct tach_region_mark below, above;

	for (uint64_t n = 1; n <= 3; n++) {
		begin_named("thrice", &first);
		begin_named("thrice", &second);
		begin_named("thrice", &third);
		tach_region_end(&first);
		begin_named("below thrice", &below);
		begin_named("above thrice", &above);
		tach_region_end(&second);
		CHECK(TACH__LEVEL(tach__self->state) == 3);
		tach_region_end(&above);
		tach_region_end(&below);
		tach_region_end(&third);
		CHECK(TACH__LEVEL(tach__self->state) == 0);
		CHECK(regions_look("thrice", 0));
		counted("thrice", 3 * n);
		CHECK(info.outermost == 3 * n, "%d", (int)info.outermost);
		counted("below thrice", n);
		counted("above thrice", n);
	}
}

int main(void)
{
	CASE(left_and_entered_again);
	CASE(left_and_entered_deeper);
	CASE(set_changes_after_handlers);
	CASE(every_entry_is_counted_or_lost);
	CASE(ended_out_of_order);
	CASE(recursion_ended_out_of_order);
	tach_snapshot_free(shot);
	return check_done();
}
