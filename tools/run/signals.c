/* SPDX-License-Identifier: MIT */
/*
 * The program sees signals as if this object was not loaded, in every function that reads or
 * sets an action or an alternate stack. A default action that we replaced (deaths.c) is shown
 * as the default. Our alternate stack in the main thread is shown as disabled.
 *
 * Only our handlers use that stack. Until the program sets its own alternate stack, its
 * SA_ONSTACK handlers must run on the normal stack: we remove the flag for the kernel, but
 * still show it.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tools/run/signals.h"

enum { RESTORER = 0x04000000, SIGNALS = 65 }; /* SA_RESTORER, signal(7) */

typedef void (*handler)(int);

static int watching;
static int has_stack;	    /* the program has set an alternate stack, in some thread */
static uint64_t on_stack;   /* bits of signals whose SA_ONSTACK was removed */
static uint64_t interrupts; /* bits of signals that interrupt calls, as set by siginterrupt; for
			       signal */
static char room[65536];
/*
 * The action that the program set for a signal where ours is installed; `sa_flags` without
 * SA_RESTORER.
 */
static struct sigaction asked[SIGNALS];
static uint64_t given; /* a bit for each signal whose action the program has set */

static void set_bit(uint64_t *word, int number, int on)
{
	if (on)
		__atomic_fetch_or(word, (uint64_t)1 << (number - 1), __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(word, ~((uint64_t)1 << (number - 1)), __ATOMIC_RELAXED);
}

static int has_bit(const uint64_t *word, int number)
{
	return (int)(__atomic_load_n(word, __ATOMIC_RELAXED) >> (number - 1) & 1);
}

static int is_function(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ||
	       (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/* ---- sigaction ---- */

static void show_action(int number, int was_left_out, struct sigaction *old)
{
	struct sigaction mine = *old;

	if (run_is_death_action(old)) {
		*old = asked[number];
		old->sa_handler = SIG_DFL;
		if (has_bit(&given, number)) {
			old->sa_flags |= mine.sa_flags & RESTORER;
			old->sa_restorer = mine.sa_restorer;
		}
	} else if (was_left_out && is_function(old)) {
		old->sa_flags |= SA_ONSTACK;
	}
}

EXPORT int sigaction(int number, const struct sigaction *restrict action,
		     struct sigaction *restrict old)
{
	struct sigaction other;
	int was, leave_out, code;

	if (!watching || number < 1 || number >= SIGNALS)
		return NEXT(sigaction)(number, action, old);
	was = has_bit(&on_stack, number);
	leave_out = action && is_function(action) && action->sa_flags & SA_ONSTACK &&
		    !__atomic_load_n(&has_stack, __ATOMIC_RELAXED);
	if (action && leave_out) {
		other = *action;
		other.sa_flags &= ~SA_ONSTACK;
	} else if (action && !is_function(action) && action->sa_handler == SIG_DFL &&
		   run_is_deadly(number)) {
		other = run_death_action();
	} else if (action) {
		other = *action;
	}
	code = NEXT(sigaction)(number, action ? &other : NULL, old);
	if (code != 0)
		return code;
	if (old)
		show_action(number, was, old);
	if (action) {
		set_bit(&on_stack, number, leave_out);
		if (run_is_death_action(&other)) {
			asked[number] = *action;
			set_bit(&given, number, 1);
		}
	}
	return 0;
}

/*
 * glibc's alternative names: its headers do not declare those of the first kind; only glibc has
 * those of the second.
 */
int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
handler bsd_signal(int number, handler function);
handler ssignal(int number, handler function);
handler sysv_signal(int number, handler function);
handler __sysv_signal(int number, handler function);

EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return sigaction(number, action, old);
}

/* ---- functions that set an action, like glibc's ---- */

static handler set_handler(int number, handler function, int flags, int blocks_itself)
{
	struct sigaction action = {.sa_handler = function, .sa_flags = flags}, old;

	if (function == SIG_ERR || number < 1 || number >= SIGNALS) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (blocks_itself)
		sigaddset(&action.sa_mask, number);
	return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* signal/signal.c in glibc: BSD semantics, which Linux programs get. */
EXPORT handler signal(int number, handler function)
{
	int restarts = number < 1 || number >= SIGNALS || !has_bit(&interrupts, number);

	return set_handler(number, function, restarts ? SA_RESTART : 0, 1);
}

EXPORT handler bsd_signal(int number, handler function)
{
	return signal(number, function);
}

EXPORT handler ssignal(int number, handler function)
{
	return signal(number, function);
}

/* signal/sysv_signal.c */
EXPORT handler sysv_signal(int number, handler function)
{
	return set_handler(number, function, (int)(SA_RESETHAND | SA_NODEFER), 0);
}

EXPORT handler __sysv_signal(int number, handler function)
{
	return sysv_signal(number, function);
}

/* signal/sigintr.c */
EXPORT int siginterrupt(int number, int interrupt)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) != 0)
		return -1;
	set_bit(&interrupts, number, interrupt);
	if (interrupt)
		action.sa_flags &= ~SA_RESTART;
	else
		action.sa_flags |= SA_RESTART;
	return sigaction(number, &action, NULL);
}

/* signal/sigset.c in glibc; it accepts SIG_ERR as a function. */
EXPORT handler sigset(int number, handler function)
{
	struct sigaction action = {.sa_handler = function}, old;
	sigset_t set, before;

	sigemptyset(&set);
	if (sigaddset(&set, number) != 0)
		return SIG_ERR;
	if (function == SIG_HOLD) {
		if (sigprocmask(SIG_BLOCK, &set, &before) != 0)
			return SIG_ERR;
		if (sigismember(&before, number))
			return SIG_HOLD;
		return sigaction(number, NULL, &old) == 0 ? old.sa_handler : SIG_ERR;
	}
	if (sigaction(number, &action, &old) != 0 ||
	    sigprocmask(SIG_UNBLOCK, &set, &before) != 0)
		return SIG_ERR;
	return sigismember(&before, number) ? SIG_HOLD : old.sa_handler;
}

/* ---- the alternate stack ---- */

/* The alternate stack that our handler needs if the main thread's stack overflows. */
static void set_stack(void)
{
	stack_t stack = {.ss_sp = room, .ss_size = sizeof room}, now;

	if (NEXT(sigaltstack)(NULL, &now) == 0 && now.ss_flags & SS_DISABLE)
		NEXT(sigaltstack)(&stack, NULL);
	else
		has_stack = 1;
}

/* The program has an alternate stack now, so its handlers run on it. */
static void put_on_stack(void)
{
	__atomic_store_n(&has_stack, 1, __ATOMIC_RELAXED);
	for (int number = 1; number < SIGNALS; number++) {
		struct sigaction now;

		if (!has_bit(&on_stack, number) || NEXT(sigaction)(number, NULL, &now) != 0)
			continue;
		set_bit(&on_stack, number, 0);
		now.sa_flags |= SA_ONSTACK;
		if (is_function(&now))
			NEXT(sigaction)(number, &now, NULL);
	}
}

EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
	stack_t now;
	int code;

	if (!watching)
		return NEXT(sigaltstack)(stack, old);
	code = NEXT(sigaltstack)(stack, &now);
	if (code != 0)
		return code;
	if (stack && !(stack->ss_flags & SS_DISABLE))
		put_on_stack();
	if (old && now.ss_sp == room)
		*old = (stack_t){.ss_flags = SS_DISABLE};
	else if (old)
		*old = now;
	return 0;
}

void run_signals_watch(void)
{
	set_stack();
	watching = 1;
}
