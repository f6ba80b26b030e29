/* SPDX-License-Identifier: MIT */
/*
 * The state of signals, threads and the loader as a program sees it. Every case prints this
 * state, and tests/unit/tools/run_alone.sh compares it with that of the same program under
 * `tach run`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void (*handler)(int);
handler bsd_signal(int number, handler function);

static volatile sig_atomic_t came;

static void on_signal(int number)
{
	came = number;
}

static void leave(int number)
{
	_exit(40 + number % 40);
}

static const char *name_of(handler function)
{
	return function == SIG_DFL    ? "default"
	       : function == SIG_IGN  ? "ignore"
	       : function == SIG_ERR  ? "error"
	       : function == SIG_HOLD ? "hold"
				      : "function";
}

static void show_action(const char *when, int number)
{
	struct sigaction now;
	int blocked = 0;

	memset(&now, 0, sizeof now);
	if (sigaction(number, NULL, &now) != 0) {
		printf("%s %d: errno %d\n", when, number, errno);
		return;
	}
	for (int s = 1; s <= SIGRTMAX; s++)
		blocked += sigismember(&now.sa_mask, s) == 1;
	printf("%s %d: %s, flags %x, %d blocked\n", when, number, name_of(now.sa_handler),
	       (unsigned)now.sa_flags, blocked);
}

static void show_all(const char *when)
{
	for (int number = 0; number <= SIGRTMAX + 1; number++)
		show_action(when, number);
}

static void show_stack(const char *when)
{
	stack_t stack;

	memset(&stack, 0, sizeof stack);
	printf("%s: %d, flags %d, %zu bytes, %s\n", when, sigaltstack(NULL, &stack),
	       stack.ss_flags, stack.ss_size, stack.ss_sp ? "somewhere" : "nowhere");
}

/* Checks all functions that read or set an action. */
static int see_actions(void)
{
	static handler (*const functions[])(int, handler) = {signal, bsd_signal, ssignal,
							     sysv_signal, sigset};
	const int numbers[] = {SIGINT, SIGTERM, SIGSEGV, SIGRTMAX, SIGCHLD, 0, 32, 65};
	static char room[65536];
	struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_RESTART};
	stack_t stack = {.ss_sp = room, .ss_size = sizeof room};

	show_all("at first");
	for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
		for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
			handler given[] = {on_signal, SIG_IGN,	 SIG_DFL,
					   SIG_ERR,   on_signal, SIG_DFL};

			for (size_t g = 0; g < sizeof given / sizeof *given; g++) {
				errno = 0;
				printf("function %zu, %d, %s: ", f, numbers[n],
				       name_of(given[g]));
				printf("%s,", name_of(functions[f](numbers[n], given[g])));
				printf(" errno %d\n", errno);
				show_action("then", numbers[n]);
			}
		}
	printf("hold: %s\n", name_of(sigset(SIGUSR1, SIG_HOLD)));
	printf("hold: %s\n", name_of(sigset(SIGUSR1, SIG_HOLD)));
	printf("free: %s\n", name_of(sigset(SIGUSR1, SIG_DFL)));
	printf("interrupts: %d\n", siginterrupt(SIGUSR2, 1));
	signal(SIGUSR2, on_signal);
	show_action("interrupts", SIGUSR2);
	siginterrupt(SIGUSR2, 0);
	show_action("restarts", SIGUSR2);
	siginterrupt(SIGUSR1, 1);
	show_action("default interrupts", SIGUSR1);
	sigaddset(&action.sa_mask, SIGHUP);
	sigaction(SIGTERM, &action, NULL);
	show_action("with flags", SIGTERM);
	show_stack("no stack");
	action.sa_handler = on_signal;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGTERM, &action, NULL);
	show_action("on a stack", SIGTERM);
	printf("set: %d\n", sigaltstack(&stack, NULL));
	show_stack("own stack");
	show_action("on its stack", SIGTERM);
	stack.ss_flags = SS_DISABLE;
	printf("disable: %d\n", sigaltstack(&stack, NULL));
	show_stack("no more stack");
	return 0;
}

static int is_on_stack; /* true if the handler's frame is on the main stack */
static char *main_frame;

static void where(int number)
{
	char here = (char)number;

	is_on_stack = &here < main_frame && main_frame - &here < 1 << 20;
}

/*
 * A handler with SA_ONSTACK, in a program without an alternate stack, runs on the normal stack.
 */
static int see_handler(void)
{
	struct sigaction action = {.sa_handler = where, .sa_flags = SA_ONSTACK};
	char here = 0;

	main_frame = &here;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	printf("on the main stack: %d\n", is_on_stack);
	return is_on_stack ? 0 : 9;
}

/* Passes the signal to the earlier handler, as shells do. */
static handler before;
static void chain(int number)
{
	if (before == SIG_DFL)
		_exit(3);
	before(number);
}
static int chain_sigset(void)
{
	before = sigset(SIGTERM, chain);
	raise(SIGTERM);
	return 1;
}
static int chain_sysv(void)
{
	before = sysv_signal(SIGTERM, chain);
	raise(SIGTERM);
	return 1;
}

/*
 * If siginterrupt requests it, a signal interrupts a call; otherwise the call would not return.
 */
static int interrupts(void)
{
	int ends[2];
	char byte;

	siginterrupt(SIGALRM, 1);
	signal(SIGALRM, on_signal);
	if (pipe(ends) != 0)
		return 1;
	while (!came) {
		struct itimerspec soon = {.it_value = {0, 1000000}};
		struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
		timer_t timer;

		timer_create(CLOCK_MONOTONIC, &event, &timer);
		timer_settime(timer, 0, &soon, NULL);
		if (read(ends[0], &byte, 1) < 0)
			printf("read: errno %d\n", errno);
		timer_delete(timer);
	}
	return 0;
}

/* All signals are blocked, and the thread waits for SIGRTMAX. */
static void *sleep_long(void *unused)
{
	struct timespec time = {1000, 0};

	nanosleep(&time, NULL);
	return unused;
}
static int wait_for_last(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX};
	struct itimerspec soon = {.it_value = {0, 1000000}};
	pthread_t thread;
	timer_t timer;
	int number = 0;
	sigset_t set;

	sigfillset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	pthread_create(&thread, NULL, sleep_long, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
	sigwait(&set, &number);
	printf("signal %d\n", number);
	if (fork() == 0) {
		pthread_sigmask(SIG_BLOCK, NULL, &set);
		_exit(sigismember(&set, SIGRTMAX) ? 7 : 8);
	}
	wait(&number);
	printf("child %d\n", WEXITSTATUS(number));
	return 0;
}

/* ---- threads that leave by a system call, on a stack that is then unmapped ---- */

static void *exits_raw(void *by_instruction)
{
#if defined(__x86_64__)
	if (by_instruction)
		__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
#endif
	syscall(SYS_exit, 0);
	return by_instruction;
}
static int raw_exits(void)
{
	for (int i = 0; i < 20; i++) {
		size_t size = 256 << 10;
		void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_attr_t attr;
		pthread_t thread;

		pthread_attr_init(&attr);
		pthread_attr_setstack(&attr, stack, size);
		if (pthread_create(&thread, &attr, exits_raw, i % 2 ? stack : NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
		munmap(stack, size);
	}
	printf("ended\n");
	return 3;
}

/* ---- a small stack ---- */

static void *ends_small(void *unused)
{
	exit(3);
	return unused;
}
static void *dies_small(void *unused)
{
	raise(SIGTERM);
	return unused;
}
static int with_small(void *(*function)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	pthread_create(&thread, &attr, function, NULL);
	pthread_join(thread, NULL);
	return 1;
}
static int end_small(void)
{
	return with_small(ends_small);
}
static int die_small(void)
{
	return with_small(dies_small);
}

/* ---- a plugin whose constructor waits for a thread (wait_in_constructor.c) ---- */

static int load(void)
{
	void *plugin = dlopen(getenv("PLUGIN"), RTLD_NOW);

	printf("loaded: %d\n", plugin != NULL);
	return 3;
}

/* A crash in a destructor, after main has returned. */
static int crashes;
__attribute__((destructor)) static void crash(void)
{
	if (crashes)
		*(volatile char *)8 = 1;
}
static int crash_late(void)
{
	crashes = 1;
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} ways[] = {
	{"actions", see_actions},
	{"handler", see_handler},
	{"sigset", chain_sigset},
	{"sysv", chain_sysv},
	{"interrupts", interrupts},
	{"last", wait_for_last},
	{"raw", raw_exits},
	{"small", end_small},
	{"small_dies", die_small},
	{"crash", crash_late},
	{"load", load},
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	signal(SIGURG, leave);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
			return ways[i].run();
	return 99;
}
