/* SPDX-License-Identifier: MIT */
/*
 * A program that handles SIGILL itself, before or after the library's handler is installed: it
 * gets its own faults, and the library handles those of counters. The test causes faults by
 * withdrawing user access (kernel.perf_user_access). The kernel applies this immediately
 * without changing the page (drivers/perf/riscv_pmu_sbi.c, riscv_pmu_proc_user_access_handler).
 */
#include <stdio.h>

#ifdef __riscv
#include <inttypes.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>
#include <tach/fault.h>
#include "tests/check.h"
#include "tests/guest/machine.h"
#include "tests/guest/reader.h"

extern const char riscv64_trap[];
static volatile uint64_t trapped, passed_on;
static struct sigaction passed_to;

/* An undefined instruction, at one place only. */
static __attribute__((noinline)) void trap(void)
{
	__asm__ volatile(".option push\n\t.option norvc\n\t.globl riscv64_trap\n"
			 "riscv64_trap:\t.4byte 0\n\t.option pop" ::
				 : "memory");
}

static void program_handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	if (uc->uc_mcontext.__gregs[REG_PC] == (uintptr_t)riscv64_trap) {
		uc->uc_mcontext.__gregs[REG_PC] += 4;
		trapped++;
		return;
	}
	passed_on++;
	if (passed_to.sa_flags & SA_SIGINFO)
		passed_to.sa_sigaction(sig, info, context);
	else
		_exit(1);
}

static void handle_sigill(struct sigaction *before)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = program_handler;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &action, before);
}

static void allow(int mode)
{
	FILE *f = fopen("/proc/sys/kernel/perf_user_access", "w");

	CHECK(f && fprintf(f, "%d", mode) > 0 && fclose(f) == 0, "perf_user_access");
}

/*
 * In either order of installation, reads that fault return right values, and the program gets
 * its own traps.
 */
static void both_have_their_faults(void)
{
	uint64_t value[2] = {0, 0}, last = 0, wrong = 0, by_call = 0;

	for (int i = 0; i < 40; i++) {
		uint64_t traps = trapped;

		/* All processors deny access until the thread is next switched in. */
		allow(i % 2 ? 1 : 0);
		by_call += (tach_reader_read_n(reader, value, 2) & TACH_FLAG_SYSCALL) != 0;
		wrong += value[0] < last;
		last = value[0];
		trap();
		wrong += trapped != traps + 1;
	}
	allow(1);
	CHECK(wrong == 0, "%" PRIu64, wrong);
	CHECK(by_call > 0, "nothing faulted");
}

static void programs_that_handle_sigill(void)
{
	struct sigaction none;

	memset(&none, 0, sizeof none);
	none.sa_handler = SIG_DFL;
	for (int later = 0; later < 2; later++) {
		tach_fault_remove();
		sigaction(SIGILL, &none, NULL);
		trapped = passed_on = 0;
		memset(&passed_to, 0, sizeof passed_to);
		if (!later)
			handle_sigill(&passed_to);
		CHECK(open_events("instructions,cycles", 0) == 0, "%s", err.text);
		if (!reader)
			return;
		if (later)
			handle_sigill(&passed_to);
		both_have_their_faults();
		CHECK((passed_on > 0) == later, "%" PRIu64 " passed on", passed_on);
		close_all();
		if (later) /* as it was */
			sigaction(SIGILL, &passed_to, NULL);
	}
}

int main(void)
{
	CASE(programs_that_handle_sigill);
	return check_done();
}
#else
int main(void)
{
	puts("not for this architecture");
	return 77;
}
#endif
