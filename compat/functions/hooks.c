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
#include <string.h>
#include "compat/functions/frames.h"

/* ---- frames ---- */

/* Ends the region of the innermost frame. lose: the function is on another stack, like a
 * coroutine's, and may continue later, so its entry is lost. */
static void close_top(int lose)
{
	struct frame *top = functions_own.top;

	if (lose)
		memset(&top->mark, 0, sizeof top->mark);
	else
		tach__region_stop(&top->mark);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	functions_own.top = top + 1;
	functions_own.deep = 0;
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
	uint32_t is_own = (uint32_t)functions_is_own_stack(frame->sp);

	frame->body = frame->at;
	frame->other = !is_own;
	for (; functions_own.top < functions_own.first;
	     close_top((int)functions_own.top->other)) {
		const struct frame *top = functions_own.top;

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
	const struct function *f = functions_known(FUNCTIONS_NONE, at);
	const struct frame *frame = functions_own.top;

	if (!f || !f->site)
		return;
	if (functions_own.deep && sp < frame->sp) {
		functions_own.deep--;
		return;
	}
	while (frame < functions_own.first && (frame->at != at || !can_end(frame, sp)))
		frame++;
	/* The function began before its thread was measured. */
	if (frame == functions_own.first)
		return;
	while (functions_own.top < frame)
		close_top((int)functions_own.top->other);
	close_top(0);
}

/* ---- the hooks ---- */

struct search {
	const struct function *caller;
	uintptr_t at;
	struct function *found;
};

static void search(void *context)
{
	struct search *s = context;

	s->found = functions_find(s->caller, s->at);
}

/* Hooks of this thread do nothing until this returns, because the search may call functions of
 * the program. */
static struct function *search_aside(const struct function *caller, uintptr_t at)
{
	struct search s = {caller, at, NULL};
	int saved = errno;

	functions_own.held = functions_own.top;
	functions_own.busy = 1;
	functions_own.top = NULL;
	if (tach__functions.aside)
		tach__functions.aside(search, &s);
	else
		search(&s);
	functions_own.top = functions_own.held;
	functions_own.busy = 0;
	errno = saved;
	return s.found;
}

static __attribute__((noinline)) struct function *find_new(const struct function *caller,
							   uintptr_t at)
{
	struct function *f = functions_known(FUNCTIONS_NONE, at);

	if (f && !f->site)
		return f;
	f = functions_known(FUNCTIONS_OTHERS, at);
	return f ? f : search_aside(caller, at);
}

/*
 * Returns the function that the innermost frame calls, or NULL. Its site is NULL if it is not
 * measured. A recursion counts where the outermost call counts, so a function has one row at a
 * time, and the sum of its rows is right. *outer: where to store the frame of another call.
 */
TACH_INLINE struct function *find_called(const struct frame *top, uintptr_t at,
					 uint32_t **outer)
{
	struct function *f = functions_known(top->function->id, at);
	const struct frame *open;
	uintptr_t is_open;

	if (TACH_UNLIKELY(!f))
		f = find_new(top->function, at);
	if (!f || !f->site)
		return NULL;
	*outer = &functions_own.outer[f->number];
	open = functions_own.last + **outer;
	/* One branch only: calibration knows the cost of one path. */
	is_open = (uintptr_t)(open >= top) & (uintptr_t)(open->at == at);
	__asm__("" : "+r"(is_open));
	if (TACH_UNLIKELY(is_open)) {
		*outer = &functions_own.outer[0];
		return open->function->site ? open->function : f;
	}
	return f;
}

/* Counts a function without a frame: its calls stay exact, and its cost counts in the innermost
 * frame. */
static __attribute__((noinline)) void count_deep(struct tach_site *site)
{
	struct tach_region_mark *mark = &functions_own.last[-1].mark;

	functions_own.deep++;
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
	to->function = &functions_none;
	to->mark.end = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Handlers that run before `outer` is written may begin the same function. They use the same
 * frame. */
TACH_INLINE void push(struct function *f, const struct frame *frame, uint32_t *outer)
{
	struct frame *top = functions_own.top - 1;

	*outer = (uint32_t)(top - functions_own.last);
	fill(top, frame);
	functions_own.top = top;
	fill(top, frame);
	tach__region_start(f->site, &top->mark);
	top->function = f;
}

/* f, outer: of the function if no frame was left. Calibration comes here too, without a second
 * search. */
static __attribute__((noinline)) void push_checked(struct function *f, uint32_t *outer,
						   uintptr_t at, uintptr_t sp, uintptr_t from)
{
	const struct frame *top = functions_own.top;
	struct frame frame = {.sp = sp, .at = at};

	close_left(&frame, from);
	if (functions_own.top != top)
		f = find_called(functions_own.top, at, &outer);
	if (!f)
		return;
	if (functions_own.top == functions_own.last)
		count_deep(f->site);
	else
		push(f, &frame, outer);
}

TACH_INLINE void enter(uintptr_t at, uintptr_t sp, uintptr_t from)
{
	struct frame *top = functions_own.top, frame;
	struct function *f;
	uint32_t *outer;

	if (TACH_UNLIKELY(!top)) {
		if (functions_own.busy)
			return;
		functions_begin_thread();
		top = functions_own.top;
		if (!top)
			return;
	}
	f = find_called(top, at, &outer);
	if (!f)
		return;
	if (TACH_UNLIKELY(top->sp - 1 - sp >= NEAR || top == functions_own.last)) {
		push_checked(f, outer, at, sp, from);
		return;
	}
	frame.sp = sp;
	frame.at = frame.body = at;
	frame.other = top->other;
	push(f, &frame, outer);
}

TACH_INLINE void leave(uintptr_t at, uintptr_t sp)
{
	struct frame *top = functions_own.top;

	if (TACH_UNLIKELY(!top))
		return;
	if (TACH_UNLIKELY(top->at != at || sp >= top[1].sp || top == functions_own.last)) {
		leave_other(at, sp);
		return;
	}
	tach__region_stop(&top->mark);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	functions_own.top = top + 1;
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

void functions_close_all(void)
{
	if (!functions_own.top)
		return;
	while (functions_own.top < functions_own.first)
		close_top(0);
}

/* No region is open in the child. */
static void begin_child(void)
{
	for (struct frame *f = functions_own.top; f && f < functions_own.first; f++)
		f->mark.end = NULL;
}

static void prepare(void)
{
	static int is_ready;

	if (is_ready)
		return;
	is_ready = 1;
	functions_prepare_threads();
	pthread_atfork(NULL, NULL, begin_child);
	empty.at = empty.live = CODE(&pair);
	empty.id = FUNCTIONS_IDS;
	functions_add(&empty);
	functions_prepare_names();
}

FUNCTIONS struct tach__functions tach__functions = {sizeof tach__functions, prepare, pair,
						    functions_close_all, NULL};

/* For a program that was not started by `tach run`, which calls prepare. */
__attribute__((constructor)) static void on_load(void)
{
	prepare();
}
