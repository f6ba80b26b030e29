/* SPDX-License-Identifier: MIT */
/*
 * Single instructions of tach/arch/x86.h on the real processor: the clock between two readings
 * by the compiler's intrinsic, instructions that change a word, and the doctor's counting loop,
 * which the trap flag stops at each instruction.
 */
#include <signal.h>
#include <tach/fault.h>
#include <tach/reader.h>
#include "tests/check.h"

#if defined(__x86_64__)
#include <x86intrin.h>

/* All 64 bits. A single success is enough, because the clocks of two processors may differ. */
static void the_clock(void)
{
	int between = 0;

	for (int i = 0; i < 1000 && !between; i++) {
		uint64_t before = __rdtsc(), clock, behind;

		_mm_lfence();
		clock = tach_clock();
		_mm_lfence();
		behind = __rdtsc();
		between = before <= clock && clock <= behind;
	}
	CHECK(between);
}

/*
 * Reads a counter whose number no processor has; the handler continues at the place that the
 * table names.
 */
static void no_counter(void)
{
	uint64_t value = 0, in_memory = 4, in_register = 4;

	if (tach_fault_install(NULL) <= 0)
		SKIP("no handler");
	TACH_COUNTER_SHOWN(way, 0x7fffffffu, value, in_memory);
	TACH_COUNTER(way, 0x7fffffffu, value, in_register);
	(void)value;
	CHECK(in_memory == 5 && in_register == 5);
	tach_fault_remove();
}

static int is_zero(uint64_t word)
{
	TACH_UNLESS(word, zero);
	return 0;
zero:
	return 1;
}

static void words(void)
{
	static const uint64_t parked = UINT64_C(0x123456789abcdef0);
	static const uint32_t bound[] = {0, 7, 0x80000000u, UINT32_MAX};
	uint64_t word[3] = {8, 6, 9};
	uint32_t count[3] = {5, UINT32_MAX - 1, 5}, number = 9;

	CHECK(is_zero(0) && !is_zero(1) && !is_zero(UINT64_C(1) << 63));
	CHECK(TACH_UNPARK(TACH_PARK(parked)) == parked);
	CHECK(!TACH_TAKE(word[1], 1) && word[1] == 7 && TACH_TAKE(word[1], 1) && word[1] == 7);
	CHECK(word[0] == 8 && word[2] == 9);
	for (int i = 0; i < 3; i++)
		TACH_SATURATE(count[1]);
	TACH_SATURATE(count[2]);
	CHECK(count[0] == 5 && count[1] == UINT32_MAX && count[2] == 6);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++) {
			uint64_t less = 1;

			TACH_BELOW(bound[i], bound[k], less, (uint64_t)2);
			CHECK(less == (i < k ? 1 : 2), "%d, %d", i, k);
		}
	CHECK(TACH_NUMBER(0, number) && !TACH_NUMBER(1, number) && number == 0);
	CHECK(!TACH_NUMBER(0x40000002u, number) && number == 0x40000001u);
}
#else
static void the_clock(void)
{
	SKIP("x86's instructions alone are asked here");
}

static void no_counter(void)
{
	SKIP("x86's instructions alone are asked here");
}

static void words(void)
{
	SKIP("x86's instructions alone are asked here");
}
#endif

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <setjmp.h>
#include <ucontext.h>

enum { TRAP = 0x100 /* EFLAGS.TF: Intel SDM vol. 3, 2.3 */, MOST = 1000 };

static volatile int steps;
static sigjmp_buf out;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)sig, (void)info;
	if (++steps < MOST)
		return;
	/* The loop does not end by itself. */
	at->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP;
	siglongjmp(out, 1);
}

static __attribute__((noinline)) int steps_of(uint64_t n)
{
	steps = 0;
	if (sigsetjmp(out, 1))
		return steps;
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	tach__arch_loop(n);
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	return steps;
}

static void loop_has_the_stated_instructions(void)
{
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, before;
	int one;

	sigaction(SIGTRAP, &sa, &before);
	one = steps_of(1);
	CHECK(one > 0 && one < MOST);
	for (uint64_t n = 2; n < 10; n++) {
		int more = (int)(n - 1) * (int)TACH_ARCH_LOOP_INSTRUCTIONS;

		CHECK(steps_of(n) == one + more, "%d turns: %d, one takes %d", (int)n, steps,
		      one);
	}
	sigaction(SIGTRAP, &before, NULL);
}
#else
static void loop_has_the_stated_instructions(void)
{
	SKIP("this architecture, or a sanitizer, has no trap flag");
}
#endif

int main(void)
{
	CASE(the_clock);
	CASE(no_counter);
	CASE(words);
	CASE(loop_has_the_stated_instructions);
	return check_done();
}
