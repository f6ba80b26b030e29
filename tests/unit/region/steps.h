/* SPDX-License-Identifier: MIT */
/*
 * Runs a handler after each single instruction, by the processor's trap flag. HAS_STEPS is 1 if
 * the processor has a trap flag.
 */
#ifndef TESTS_UNIT_REGION_STEPS_H
#define TESTS_UNIT_REGION_STEPS_H

#include <signal.h>
#include <ucontext.h>
#include "tests/unit/region/regions.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HAS_STEPS

enum { TRAP = 0x100 }; /* EFLAGS.TF: Intel SDM vol. 3, 2.3 */

static volatile long wait_for; /* number of instructions before `act`; negative: it has run */
static void (*act)(void);
static volatile int in_kernel;

/* A system call counts as one step. */
static inline long one_step(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	in_kernel++;
	result = fake_sys(number, a, b, c, d, e, f);
	in_kernel--;
	return result;
}

static inline void steps_begin(int members)
{
	regions_begin(members);
	if (members)
		tach__sys = one_step;
}

static inline void on_trap(int sig, siginfo_t *info_, void *context)
{
	ucontext_t *at = context;

	(void)sig, (void)info_;
	if (in_kernel || wait_for-- > 0)
		return;
	at->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP;
	wait_for = -1;
	act();
}

/*
 * Returns each of the first hundred instructions, then every fifth. TEST_WHOLE returns all;
 * this is slow, because a trap takes 24 us if a virtual machine's host handles it.
 */
static inline long next_step(long n)
{
	return n + (n < 100 || getenv("TEST_WHOLE") ? 1 : 5);
}

static inline void steps_from_here(long n, void (*what)(void))
{
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGTRAP, &sa, NULL);
	wait_for = n;
	act = what;
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

static inline void steps_end(void)
{
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

#endif
#endif
