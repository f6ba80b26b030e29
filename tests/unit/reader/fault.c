/* SPDX-License-Identifier: MIT */
/*
 * Counter instructions that fault: on a machine without a PMU they fault when a page shows a
 * counter. With the handler they take the slow path; other faults stay unchanged.
 */
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tach/fault.h>
#include <unistd.h>
#include "core/os/sys.h"
#include "tests/check.h"
#include "tests/heap.h"
#include "tests/faults.h"
#include "tests/threads.h"
#include "tests/unit/reader/liar.h"

/* Runs `what` in a child: returns its exit status, or 128 + the signal. */
static int outcome(void (*what)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		what();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void read_one(void)
{
	struct tach_reader *reader = open_liar();
	uint64_t value[2];

	if (!reader)
		_exit(77);
	tach_reader_read(reader, value);
}

static int fatal; /* the signal that a counter instruction causes here without the handler */

static void faults_become_slow_exits(void)
{
	struct tach_reader *reader;
	struct tach_mark mark;
	uint64_t delta[2], value[2], all;
	uint32_t flags;
	int covered;

	fatal = outcome(read_one);
	if (fatal == 77)
		SKIP(err.text);
	if (fatal == 0)
		SKIP("this machine lets every program read counters");
	covered = tach_fault_install(&err);
	CHECK(covered > 0, "%d: %s", covered, err.text);
	reader = open_liar();
	if (!reader)
		return;
	flags = tach_reader_read_n(reader, value, 2);
	CHECK(flags == TACH_FLAG_SYSCALL && value[1] > 0, "flags %#x", flags);
	flags = tach_reader_read(reader, value);
	CHECK(flags == TACH_FLAG_SYSCALL, "flags %#x", flags);
	for (int i = 0; i < 1000; i++) {
		all = thread_faults();
		tach_reader_begin_n(reader, &mark, 2);
		flags = tach_reader_end_n(reader, &mark, delta, 2);
		all = thread_faults() - all;
		CHECK(flags == TACH_FLAG_SYSCALL && delta[1] > 0 && delta[0] <= all,
		      "flags %#x", flags);
		all = thread_faults();
		tach_reader_begin(reader, &mark);
		flags = tach_reader_end(reader, &mark, delta);
		all = thread_faults() - all;
		CHECK(flags == TACH_FLAG_SYSCALL && delta[1] > 0 && delta[0] <= all,
		      "flags %#x", flags);
	}
	close_liar(reader);
	tach_fault_remove();
}

static void read_while_signals_are_held(void)
{
	struct tach_reader *reader = open_liar();
	uint64_t value[2];
	sigset_t before;

	if (!reader || tach_fault_install(&err) <= 0)
		_exit(77);
	tach__signals_hold(&before);
	if (tach_reader_read_n(reader, value, 2) != TACH_FLAG_SYSCALL)
		_exit(1);
	tach__signals_hold(&before);
	if (tach_reader_read_n(reader, value, 2) != TACH_FLAG_SYSCALL)
		_exit(1);
}

/*
 * As in slow paths of regions, also nested ones: if SIGSEGV is blocked, the program's own fault
 * kills it.
 */
static void faults_while_signals_are_held(void)
{
	int got;

	if (fatal == 0 || fatal == 77)
		SKIP("counter instructions do not fault here");
	got = outcome(read_while_signals_are_held);
	CHECK(got == 0, "%d", got);
}

static sigjmp_buf escape;
static volatile int seen;

static void earlier(int number)
{
	seen = number;
	siglongjmp(escape, 1);
}

static void foreign_faults_reach_the_earlier_handler(void)
{
	struct sigaction action, now;

	memset(&action, 0, sizeof action);
	action.sa_handler = earlier;
	sigaction(SIGSEGV, &action, NULL);
	CHECK(tach_fault_install(&err) > 0, "%s", err.text);
	CHECK(tach_fault_install(&err) > 0, "a second time: %s", err.text);
	seen = 0;
	if (sigsetjmp(escape, 1) == 0)
		*(volatile int *)(uintptr_t)sysconf(_SC_PAGESIZE) = 0;
	CHECK(seen == SIGSEGV, "%d", seen);
	seen = 0;
	if (sigsetjmp(escape, 1) == 0)
		raise(SIGSEGV);
	CHECK(seen == SIGSEGV, "%d", seen);
	tach_fault_remove();
	sigaction(SIGSEGV, NULL, &now);
	CHECK(now.sa_handler == earlier, "not put back");
	signal(SIGSEGV, SIG_DFL);
}

static stack_t alternate;
static struct {
	int number, blocked, nested, on_alternate;
	void *address;
} got;

/* An earlier handler with all three arguments. */
static void with_information(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	sigset_t now;
	int here;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	got.number = number;
	got.address = info->si_addr;
	got.blocked = sigismember(&now, SIGUSR2) && !sigismember(&u->uc_sigmask, SIGUSR2);
	got.nested = !sigismember(&now, SIGSEGV);
	got.on_alternate = (char *)&here >= (char *)alternate.ss_sp &&
			   (char *)&here < (char *)alternate.ss_sp + alternate.ss_size;
	siglongjmp(escape, 1);
}

static void the_earlier_handler_gets_what_it_asked_for(void)
{
	char *nowhere = (char *)(uintptr_t)sysconf(_SC_PAGESIZE);
	struct sigaction action;
	static char stack[1 << 16];

	alternate = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&alternate, NULL);
	memset(&action, 0, sizeof action);
	action.sa_sigaction = with_information;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(SIGSEGV, &action, NULL);
	CHECK(tach_fault_install(&err) > 0, "%s", err.text);
	memset(&got, 0, sizeof got);
	if (sigsetjmp(escape, 1) == 0)
		*(volatile char *)nowhere = 0;
	CHECK(got.number == SIGSEGV && got.address == nowhere, "%d at %p", got.number,
	      got.address);
	CHECK(got.blocked && got.nested && got.on_alternate, "%d %d %d", got.blocked,
	      got.nested, got.on_alternate);
	tach_fault_remove();
	signal(SIGSEGV, SIG_DFL);
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
}

static struct tach_reader *interrupted;
static volatile uint32_t flags_in_handler;

static void reads_in_a_handler(int number)
{
	uint64_t value[2];

	(void)number;
	flags_in_handler = tach_reader_read_n(interrupted, value, 2);
}

/* The fault happens in a handler, also on an alternate stack. */
static void faults_in_a_handler(void)
{
	struct sigaction action;
	static char stack[1 << 16];

	if (fatal == 0 || fatal == 77)
		SKIP("counter instructions do not fault here");
#ifdef __SANITIZE_THREAD__
	SKIP("ThreadSanitizer runs handlers with SIGSEGV blocked, which is fatal");
#endif
	alternate = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&alternate, NULL);
	CHECK(tach_fault_install(&err) > 0, "%s", err.text);
	interrupted = open_liar();
	memset(&action, 0, sizeof action);
	action.sa_handler = reads_in_a_handler;
	for (int on = 0; on < 2; on++) {
		action.sa_flags = on ? SA_ONSTACK : 0;
		sigaction(SIGUSR1, &action, NULL);
		flags_in_handler = 0;
		raise(SIGUSR1);
		CHECK(flags_in_handler == TACH_FLAG_SYSCALL, "flags %#x", flags_in_handler);
	}
	close_liar(interrupted);
	tach_fault_remove();
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
}

static void crash_ignored(void)
{
	signal(SIGSEGV, SIG_IGN);
	tach_fault_install(NULL);
	*(volatile int *)(uintptr_t)sysconf(_SC_PAGESIZE) = 0;
}

static void once_only(int number)
{
	(void)number;
	seen++;
	if (seen > 1)
		_exit(3);
}

/* The first fault goes to the program's handler, the second to the default action. */
static void crash_twice(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = once_only;
	action.sa_flags = (int)SA_RESETHAND;
	sigaction(SIGSEGV, &action, NULL);
	tach_fault_install(NULL);
	seen = 0;
	*(volatile int *)(uintptr_t)sysconf(_SC_PAGESIZE) = 0;
}

static void crash(void)
{
	signal(SIGSEGV, SIG_DFL);
	tach_fault_install(NULL);
	*(volatile int *)(uintptr_t)sysconf(_SC_PAGESIZE) = 0;
}

static void send(void)
{
	signal(SIGILL, SIG_DFL);
	tach_fault_install(NULL);
	raise(SIGILL);
}

static void ignore(void)
{
	signal(SIGILL, SIG_IGN);
	tach_fault_install(NULL);
	raise(SIGILL);
}

static void foreign_faults_kill_as_before(void)
{
	CHECK(outcome(crash) == 128 + SIGSEGV, "%d", outcome(crash));
	CHECK(outcome(send) == 128 + SIGILL, "%d", outcome(send));
	CHECK(outcome(ignore) == 0, "%d", outcome(ignore));
	CHECK(outcome(crash_ignored) == 128 + SIGSEGV, "%d", outcome(crash_ignored));
	CHECK(outcome(crash_twice) == 128 + SIGSEGV, "%d", outcome(crash_twice));
}

/* ---- a handler that the program installs after ours and that passes faults on ---- */

static struct sigaction under[2];
static volatile int calls[2];

static void call_under(int which, int number, siginfo_t *info, void *context)
{
	if (++calls[which] > 20)
		_exit(9); /* for ever */
	if (!(under[which].sa_flags & SA_SIGINFO))
		_exit(10);
	under[which].sa_sigaction(number, info, context);
	calls[which] |= 0; /* so that the call above is not the last action: it keeps a frame */
}

static void chains(int number, siginfo_t *info, void *context)
{
	call_under(0, number, info, context);
}

static void chains_too(int number, siginfo_t *info, void *context)
{
	call_under(1, number, info, context);
}

static void put_over(int which)
{
	struct sigaction action = {.sa_sigaction = which ? chains_too : chains,
				   .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &action, &under[which]);
}

static void leave_earlier(int number)
{
	seen++;
	(void)number;
	siglongjmp(escape, 1);
}

/* Each handler gets each fault once, the oldest handler last. */
static void faults_go_down_once(int each, int each_too)
{
	for (volatile int i = 1; i <= 3; i++) {
		calls[0] = calls[1] = seen = 0;
		if (sigsetjmp(escape, 1) == 0)
			*(volatile int *)(uintptr_t)sysconf(_SC_PAGESIZE) = 0;
		if (calls[0] != each || calls[1] != each_too || seen != 1)
			_exit(11);
	}
}

static void install_around_handlers(void)
{
	struct sigaction action = {.sa_handler = leave_earlier};

	sigaction(SIGSEGV, &action, NULL);
	tach_fault_install(NULL);
	put_over(0);
	faults_go_down_once(1, 0);
	tach_fault_install(NULL);
	faults_go_down_once(1, 0);
	put_over(1);
	faults_go_down_once(1, 1);
	tach_fault_install(NULL);
	faults_go_down_once(1, 1);
	/* The program's handler gets the fault first, then the library's handler. */
	tach_fault_remove();
	faults_go_down_once(1, 1);
	tach_fault_install(NULL);
	faults_go_down_once(1, 1);
	_exit(7);
}

static void crash_below_a_handler(void)
{
	signal(SIGSEGV, SIG_DFL);
	tach_fault_install(NULL);
	put_over(0);
	tach_fault_install(NULL);
	*(volatile int *)(uintptr_t)sysconf(_SC_PAGESIZE) = 0;
}

/* Installs the handler repeatedly, as a library of the program may do. */
static void put_over_often(void)
{
	struct sigaction action = {.sa_handler = leave_earlier};

	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 100; i++) {
		tach_fault_install(NULL);
		action.sa_handler = i % 3 ? SIG_IGN : leave_earlier;
		sigaction(SIGSEGV, &action, NULL);
	}
	tach_fault_install(NULL);
	faults_go_down_once(0, 0);
	_exit(7);
}

static void installing_around_a_handler_that_chains(void)
{
#ifdef __SANITIZE_THREAD__
	SKIP("ThreadSanitizer runs handlers with SIGSEGV blocked, which is fatal");
#endif
	CHECK(outcome(install_around_handlers) == 7, "%d", outcome(install_around_handlers));
	CHECK(outcome(crash_below_a_handler) == 128 + SIGSEGV, "%d",
	      outcome(crash_below_a_handler));
	CHECK(outcome(put_over_often) == 7, "%d", outcome(put_over_often));
}

static pid_t installer; /* atomic */
static int installed;	/* atomic */

static void *install(void *unused_argument)
{
	__atomic_store_n(&installer, (pid_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
	tach_fault_install(NULL);
	__atomic_store_n(&installed, 1, __ATOMIC_RELAXED);
	return unused_argument;
}

/*
 * Holds the loader's lock, for which the other thread's installation waits. In musl the loader
 * holds no lock during this call, so the installation completes.
 */
static int with_loader(struct dl_phdr_info *info, size_t size, void *thread)
{
	pid_t id;

	(void)info;
	(void)size;
	pthread_create(thread, NULL, install, NULL);
	while (!__atomic_load_n(&installed, __ATOMIC_RELAXED) &&
	       (!(id = __atomic_load_n(&installer, __ATOMIC_RELAXED)) ||
		thread_state(id) != 'S'))
		sched_yield();
	tach_fault_install(NULL);
	return 1;
}

static void install_twice(void)
{
	pthread_t thread;

	dl_iterate_phdr(with_loader, &thread);
	pthread_join(thread, NULL);
}

static void installing_beside_the_loader(void)
{
	CHECK(outcome(install_twice) == 0, "%d", outcome(install_twice));
}

/* A first START may install the handler, also inside an allocator: malloc is not used. */
static void installing_leaves_the_allocator_alone(void)
{
	size_t before = heap_in_use();

	if (!HEAP_IS_KNOWN)
		SKIP(HEAP_SKIP);
	CHECK(tach_fault_install(&err) > 0, "%s", err.text);
	CHECK(heap_in_use() == before, "%zu bytes, were %zu", heap_in_use(), before);
}

/* A record is older than the code at its address, which is no longer a counter instruction. */
static void read_nothing(void)
{
	if (tach_fault_install(&err) <= 0)
		_exit(77);
#if defined(__x86_64__)
	__asm__ volatile(".Lother%=:\n\tmovq 0, %%rax\n.Lbehind%=:\n" TACH__EX_RECORD(
				 ".Lother%=", ".Lbehind%=", ".long 0")
			 :
			 :
			 : "rax", "memory");
#endif
}

static void other_instructions_are_not_ours(void)
{
#if !defined(__x86_64__)
	SKIP("this architecture goes by where the instruction lies");
#endif
	CHECK(outcome(read_nothing) == 128 + SIGSEGV, "%d", outcome(read_nothing));
}

/* ---- errno ---- */

static char *closed_page;

static void open_it(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	mprotect(closed_page, 4096, PROT_READ);
	errno = EXDEV;
}

/* The fault may be in the middle of any expression of the program. */
static void errno_stays(void)
{
	struct sigaction action = {.sa_sigaction = open_it, .sa_flags = SA_SIGINFO}, before;

	closed_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, &before);
	CHECK(tach_fault_install(&err) > 0, "%s", err.text);
	errno = EDOM;
	CHECK(*(volatile char *)closed_page == 0);
	__asm__ volatile("" : : : "memory"); /* the compiler does not see that a handler runs */
	CHECK(errno == EDOM, "%d", errno);
	tach_fault_remove();
	sigaction(SIGSEGV, &before, NULL);
	munmap(closed_page, 4096);
}

int main(void)
{
	CASE(installing_beside_the_loader);
	CASE(faults_become_slow_exits);
	CASE(faults_while_signals_are_held);
	CASE(foreign_faults_reach_the_earlier_handler);
	CASE(the_earlier_handler_gets_what_it_asked_for);
	CASE(faults_in_a_handler);
	CASE(foreign_faults_kill_as_before);
	CASE(installing_around_a_handler_that_chains);
	CASE(other_instructions_are_not_ours);
	CASE(errno_stays);
	CASE(installing_leaves_the_allocator_alone);
	return check_done();
}
