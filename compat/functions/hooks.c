/* SPDX-License-Identifier: MIT */
/*
 * The hooks that -finstrument-functions calls. Each thread has a stack of frames, one for each
 * open function, with the mark of its region. This stack grows down like the machine's stack,
 * because the library compares addresses of marks to find which entry of a region is inside
 * another.
 *
 * A function that is left by longjmp, or by an exception in code of clang, calls no hook. The
 * next hook finds its frame by comparing stack addresses, and ends the region there.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "compat/functions/functions.h"

enum {
	FRAMES = 32768,
	NEAR = 64 * 1024, /* a callee this far down is on the same stack */
	PAGE = 4096,	  /* the smallest page size */
	PROLOGUE = 256,	  /* a function calls its hook within this distance */
};

struct frame {
	uintptr_t sp;	/* of the hook */
	uintptr_t at;	/* the function */
	uintptr_t body; /* the function that contains the code: `at`, or the one it is inlined
			   in */
	uint32_t other; /* 1: on another stack than the thread's own */
	struct tach_region_mark mark;
};

/* Two more frames: one below all functions, and one for functions that are too deep. */
#define SIZE ((FRAMES + 2) * sizeof(struct frame))

static __thread struct {
	struct frame *top; /* the innermost; NULL: not ready, or busy */
	/* first: the frame before the outermost function; last: the last frame that fits */
	struct frame *first, *last;
	uintptr_t low, high; /* the known part of the thread's own stack */
	unsigned deep;	     /* open functions without a frame */
	int busy;	     /* hooks do nothing */
	struct frame *held;  /* `top`, while busy */
} own;

static pthread_key_t key;
static int has_key;

/* ---- the thread ---- */

extern void *__libc_stack_end __attribute__((weak)); /* set by glibc's ld.so */

static void make_thread(void)
{
	int saved = errno;
	void *frames;

	own.busy = 1;
	frames = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (frames != MAP_FAILED) {
		own.last = (struct frame *)frames + 1;
		own.first = own.last + FRAMES;
		*own.first = (struct frame){.sp = UINTPTR_MAX};
		/* A thread's own variables are above its stack. */
		own.high = (uintptr_t)&own;
		if (syscall(SYS_gettid) == getpid())
			own.high = &__libc_stack_end ? (uintptr_t)__libc_stack_end
						     : getauxval(AT_RANDOM);
		own.low = own.high & ~(uintptr_t)(PAGE - 1);
		if (has_key)
			pthread_setspecific(key, own.first);
		own.top = own.first;
		own.busy = 0;
	}
	errno = saved;
}

/* EFAULT: not readable. The kernel copies the mask before it checks `how` (kernel/signal.c). */
static int is_readable(uintptr_t at)
{
	return syscall(SYS_rt_sigprocmask, -1, (void *)at, NULL, 8) == 0 || errno != EFAULT;
}

/* On the thread's own stack, all memory from sp to the top is readable. */
static int is_own_stack(uintptr_t sp)
{
	int saved = errno, is = sp < own.high && own.high - sp < UINT32_MAX;

	while (is && own.low > sp) {
		is = is_readable(own.low - PAGE);
		if (is)
			own.low -= PAGE;
	}
	errno = saved;
	return is;
}

/* ---- frames ---- */

/* Ends the region of the innermost frame. lose: the function is on another stack, like a
 * coroutine's, and may continue later, so its entry is lost. */
static void close_top(int lose)
{
	struct frame *top = own.top;

	if (lose)
		memset(&top->mark, 0, sizeof top->mark);
	else
		tach__region_stop(&top->mark);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own.top = top + 1;
	own.deep = 0;
}

/* An inlined function calls the hook from the code of the function that contains it, with the
 * same stack address. */
static int is_inlined(const struct frame *into, uintptr_t at, uintptr_t from)
{
	int is_own_code =
		at <= from && from - at < PROLOGUE && !(at < into->body && into->body <= from);

	return !is_own_code && into->body != at;
}

/* Closes the frames that were left, before a function begins. `frame` has only sp and at. */
static __attribute__((noinline)) void close_left(struct frame *frame, uintptr_t from)
{
	uint32_t is_own = (uint32_t)is_own_stack(frame->sp);

	frame->body = frame->at;
	frame->other = !is_own;
	for (; own.top < own.first; close_top((int)own.top->other)) {
		const struct frame *top = own.top;

		if (top->other && is_own)
			continue;
		if (top->other == is_own || frame->sp < top->sp)
			break;
		if (frame->sp == top->sp && is_inlined(top, frame->at, from)) {
			frame->body = top->body;
			break;
		}
	}
}

/* A function that runs, or has just ended, is deeper than its caller. */
static int can_end(const struct frame *f, uintptr_t sp)
{
	const struct frame *caller = f + 1;

	if (f->other)
		return (sp > f->sp ? sp - f->sp : f->sp - sp) < NEAR;
	if (caller->other)
		return 1;
	return f->body == f->at ? sp < caller->sp : sp <= caller->sp;
}

static __attribute__((noinline)) void leave_other(uintptr_t at, uintptr_t sp)
{
	const struct function *f = functions_known(at);
	const struct frame *frame = own.top;

	if (!f || !f->site)
		return;
	if (own.deep && sp < frame->sp) {
		own.deep--;
		return;
	}
	while (frame < own.first && (frame->at != at || !can_end(frame, sp)))
		frame++;
	/* The function began before its thread was measured. */
	if (frame == own.first)
		return;
	while (own.top < frame)
		close_top((int)own.top->other);
	close_top(0);
}

/* ---- the hooks ---- */

struct search {
	uintptr_t at;
	struct function *found;
};

static void search(void *context)
{
	struct search *s = context;

	s->found = functions_find(s->at);
}

/* Hooks of this thread do nothing until find_new returns, because the search may call functions
 * of the program. */
static __attribute__((noinline)) struct function *find_new(uintptr_t at)
{
	struct search s = {at, NULL};
	int saved = errno;

	own.held = own.top;
	own.busy = 1;
	own.top = NULL;
	if (tach__functions.aside)
		tach__functions.aside(search, &s);
	else
		search(&s);
	own.top = own.held;
	own.busy = 0;
	errno = saved;
	return s.found;
}

/* Counts a function without a frame: its calls stay exact, and its cost counts in the innermost
 * frame. */
static __attribute__((noinline)) void count_deep(struct tach_site *site)
{
	struct tach_region_mark *mark = &own.last[-1].mark;

	own.deep++;
	tach__region_start(site, mark);
	tach__region_stop(mark);
}

/* Fills a frame before signal handlers see it. Until then, handlers use the same memory. */
TACH_INLINE void fill(struct frame *to, const struct frame *from)
{
	to->sp = from->sp;
	to->at = from->at;
	to->body = from->body;
	to->other = from->other;
	to->mark.end = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static __attribute__((noinline)) void push_checked(struct function *f, uintptr_t at,
						   uintptr_t sp, uintptr_t from)
{
	struct frame frame = {.sp = sp, .at = at};

	close_left(&frame, from);
	if (own.top == own.last) {
		count_deep(f->site);
		return;
	}
	fill(own.top - 1, &frame);
	own.top--;
	fill(own.top, &frame);
	tach__region_start(f->site, &own.top->mark);
}

TACH_INLINE void enter(uintptr_t at, uintptr_t sp, uintptr_t from)
{
	struct frame *top = own.top, frame;
	struct function *f;

	if (TACH_UNLIKELY(!top)) {
		if (own.busy)
			return;
		make_thread();
		top = own.top;
		if (!top)
			return;
	}
	f = functions_known(at);
	if (TACH_UNLIKELY(!f))
		f = find_new(at);
	if (!f || !f->site)
		return;
	if (TACH_UNLIKELY(top->sp - 1 - sp >= NEAR || top == own.last)) {
		push_checked(f, at, sp, from);
		return;
	}
	frame.sp = sp;
	frame.at = frame.body = at;
	frame.other = top->other;
	fill(top - 1, &frame);
	own.top = top - 1;
	fill(top - 1, &frame);
	tach__region_start(f->site, &top[-1].mark);
}

TACH_INLINE void leave(uintptr_t at, uintptr_t sp)
{
	struct frame *top = own.top;

	if (TACH_UNLIKELY(!top))
		return;
	if (TACH_UNLIKELY(top->at != at || sp >= top[1].sp || top == own.last)) {
		leave_other(at, sp);
		return;
	}
	tach__region_stop(&top->mark);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own.top = top + 1;
}

/* On ia64 the address of a function is the address of its descriptor. */
#ifdef __ia64__
#define CODE(function) (*(const uintptr_t *)(function))
#else
#define CODE(function) ((uintptr_t)(function))
#endif
#define STACK() ((uintptr_t)__builtin_dwarf_cfa())
#define FROM()	((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

FUNCTIONS void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_enter(void *function, void *site)
{
	(void)site;
	enter(CODE(function), STACK(), FROM());
}

FUNCTIONS void __cyg_profile_func_exit(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site)
{
	/* If this is a tail call, STACK() may equal the address of the function's caller:
	 * subtract 1. */
	leave(CODE(function), STACK() - (FROM() == (uintptr_t)site));
}

/* ---- for libtach-run.so ---- */

static struct function empty;

static void pair(struct tach_site *site)
{
	empty.site = site;
	__cyg_profile_func_enter((void *)(uintptr_t)&pair, NULL);
	__cyg_profile_func_exit((void *)(uintptr_t)&pair, NULL);
}

static void close_all(void)
{
	if (!own.top)
		return;
	while (own.top < own.first)
		close_top(0);
}

/* Frees the frames of a thread that ends. */
static void end_thread(void *first)
{
	close_all();
	own.busy = 1;
	own.top = NULL;
	munmap((struct frame *)first - FRAMES - 1, SIZE);
}

/* No region is open in the child. */
static void begin_child(void)
{
	for (struct frame *f = own.top; f && f < own.first; f++)
		f->mark.end = NULL;
}

static void prepare(void)
{
	static int is_ready;

	if (is_ready)
		return;
	is_ready = 1;
	has_key = pthread_key_create(&key, end_thread) == 0;
	pthread_atfork(NULL, NULL, begin_child);
	empty.at = empty.live = CODE(&pair);
	functions_add(&empty);
	functions_prepare_names();
}

FUNCTIONS struct tach__functions tach__functions = {sizeof tach__functions, prepare, pair,
						    close_all, NULL};

/* For a program that was not started by `tach run`, which calls prepare. */
__attribute__((constructor)) static void on_load(void)
{
	prepare();
}
