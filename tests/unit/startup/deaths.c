/* SPDX-License-Identifier: MIT */
/* Signals of a process that has TACH_OUTPUT: those that end it, and the one that asks. */
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "tests/unit/startup/reports.h"

static int is_refused; /* that a signal is sent again as it came */

#pragma GCC visibility push(default)
long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list more;

	if (number == SYS_rt_tgsigqueueinfo && is_refused)
		return -1;
	va_start(more, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(more, long);
	va_end(more);
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#pragma GCC visibility pop

/* ---- what TACH_SIGNAL may be ---- */

static void names_of_signals(void)
{
	static const char unknown[] = "is a signal: USR1, SIGUSR1, 10, RTMIN+1",
			  never[] = "cannot be a signal that no program can handle";
	static const struct {
		const char *name, *odd;
	} cases[] = {{"USR1", NULL},	    {"SIGUSR1", NULL},	   {"10", NULL},
		     {"1", NULL},	    {"31", NULL},	   {"RTMIN", NULL},
		     {"RTMIN+2", NULL},	    {"SIGRTMIN+30", NULL}, {"64", NULL},
		     {"KILL", never},	    {"SIGSTOP", never},	   {"9", never},
		     {"32", never},	    {"33", never},	   {"FOO", unknown},
		     {"0", unknown},	    {"-3", unknown},	   {"65", unknown},
		     {"10x", unknown},	    {"SIG", unknown},	   {"usr1", unknown},
		     {"RTMIN+31", unknown}, {"RTMIN+2x", unknown}, {"SIGSIGUSR1", unknown},
		     {"RTMIN-1", never},    {"RTMI", unknown}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *odd;

		setenv("TACH_SIGNAL", cases[i].name, 1);
		odd = tach__deaths_odd();
		CHECK(odd == cases[i].odd ||
			      (odd && cases[i].odd && strcmp(odd, cases[i].odd) == 0),
		      "%s %s", cases[i].name, odd);
	}
	setenv("TACH_SIGNAL", "", 1);
	CHECK(tach__deaths_odd() == NULL);
	unsetenv("TACH_SIGNAL");
	CHECK(tach__deaths_odd() == NULL);
}

/* ---- the one that asks ---- */

static void asks(const char *name, int number)
{
	struct sigaction now;

	setenv("TACH_SIGNAL", name, 1);
	start(in_folder("a.json"));
	CHECK(sigaction(number, NULL, &now) == 0 && now.sa_flags & SA_RESTART &&
	      now.sa_flags & SA_ONSTACK);
	CHECK(sigismember(&now.sa_mask, SIGTERM) == 1 &&
	      sigismember(&now.sa_mask, SIGSEGV) == 0);
	for (int i = 0; i < 2; i++) {
		raise(number);
		CHECK(is_json(content("a.json")), "%s", name);
	}
}

static void usr1(void)
{
	asks("USR1", SIGUSR1);
}

static void by_number(void)
{
	asks("1", 1);
}

static void real_time(void)
{
	asks("RTMIN+2", SIGRTMIN + 2);
}

static void child_asked(void)
{
	raise(SIGUSR1);
	CHECK(!*content("a.json"));
}

static void asked_of_a_child(void)
{
	asks("SIGUSR1", SIGUSR1);
	in_child(child_asked);
}

/* The program's own stays. */
static void taken_already(void)
{
	struct sigaction now;

	signal(SIGUSR1, SIG_IGN);
	setenv("TACH_SIGNAL", "USR1", 1);
	start(in_folder("a.json"));
	CHECK(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == SIG_IGN);
	raise(SIGUSR1);
	CHECK(!*content("a.json"));
}

static void one_that_asks(void)
{
	in_child(usr1);
	in_child(by_number);
	in_child(real_time);
	in_child(asked_of_a_child);
	in_child(taken_already);
}

/* ---- those that end the process ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HANDLED = 1 };
#else
enum { HANDLED = 0 };
#endif
static int deadly;

static void dies(void)
{
	start(in_folder("a.json"));
	raise(deadly);
	CHECK(0, "it lives");
}

static void each_of_them(void)
{
	int n = 0;

	if (HANDLED)
		SKIP("the sanitizer handles some of them");
	for (const int *s = tach__deaths; *s; s++, n++) {
		int status;

		deadly = *s;
		status = ends_with(dies);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == *s, "%d: %#x", *s,
		      (unsigned)status);
		CHECK(is_json(content("a.json")), "%d: no report", *s);
	}
	CHECK(n == 22, "%d", n);
}

/* Sent by its number alone where the kernel does not send it with what it came with. */
static void dies_in_a_box(void)
{
	is_refused = 1;
	dies();
}

static void sent_again(void)
{
	int status;

	deadly = SIGTERM;
	status = ends_with(dies_in_a_box);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM && is_json(content("a.json")));
}

static volatile sig_atomic_t handled;

static void handler(int number)
{
	handled = number;
}

static void action_handler(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	handled = number;
}

static void the_programs_own(void)
{
	struct sigaction action = {.sa_sigaction = action_handler, .sa_flags = SA_SIGINFO}, now;

	signal(SIGTERM, handler);
	signal(SIGHUP, SIG_IGN);
	sigaction(SIGINT, &action, NULL);
	start(in_folder("a.json"));
	raise(SIGTERM);
	CHECK(handled == SIGTERM);
	raise(SIGHUP);
	raise(SIGINT);
	CHECK(handled == SIGINT && !*content("a.json"));
	CHECK(sigaction(SIGQUIT, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
	      now.sa_flags & SA_ONSTACK && sigismember(&now.sa_mask, SIGTERM) == 1);
	/* What it handles later, too. */
	signal(SIGQUIT, handler);
	raise(SIGQUIT);
	CHECK(handled == SIGQUIT && !*content("a.json"));
}

static int is_watched(int number)
{
	struct sigaction now;

	CHECK(sigaction(number, NULL, &now) == 0);
	return now.sa_flags & SA_SIGINFO || now.sa_handler != SIG_DFL;
}

/* Nothing is written by this process, or tach run sees to it. */
static void none_is_watched(void)
{
	setenv("TACH_OUTPUT_PID", "1", 1);
	tach__output_at_exit(in_folder("a.json"));
	CHECK(!is_watched(SIGTERM));
	setenv("TACH_RUN", "1", 1);
	start(in_folder("a.json"));
	CHECK(!is_watched(SIGTERM));
}

/* A trace comes before them, too. */
static void watched_for_a_trace(void)
{
	setenv("TACH_TRACE", in_folder("t.json"), 1);
	start(NULL);
	CHECK(is_watched(SIGTERM));
}

static void of_a_child(void)
{
	raise(SIGTERM);
}

/* The parent's file is not its child's to write, whatever ends it. */
static void of_children(void)
{
	int status;

	start(in_folder("a.json"));
	status = ends_with(of_a_child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM && !*content("a.json"));
}

static void children_of_their_own(void)
{
	int status;
	char left[120];

	start(in_folder("%p.json"));
	status = ends_with(of_a_child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	snprintf(left, sizeof left, "rm -r %s/[0-9]*.json", folder);
	CHECK(system(left) == 0, "there is no report of it");
}

static void none_of_a_vfork(void)
{
	int status;
	pid_t child;

	start(in_folder("%p.json"));
	child = vfork();
	if (child == 0) {
		kill(getpid(), SIGTERM);
		_exit(9);
	}
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	CHECK(rmdir(folder) == 0 && mkdir(folder, 0700) == 0, "a report was written");
}

static void whatever_it_was(void)
{
	in_child(the_programs_own);
	in_child(none_is_watched);
	in_child(watched_for_a_trace);
	in_child(of_children);
	in_child(children_of_their_own);
	in_child(none_of_a_vfork);
}

/* ---- stacks ---- */

static volatile int for_ever = 1;

static int deeper(volatile char *above)
{
	volatile char room[4096];

	room[0] = above[0];
	return for_ever ? deeper(room) + room[0] : 0;
}

static void overflows(void)
{
	struct rlimit few = {1 << 20, 1 << 20};
	volatile char begin[1] = {0};

	start(in_folder("a.json"));
	setrlimit(RLIMIT_STACK, &few);
	_exit(deeper(begin));
}

static void a_stack_of_its_own(void)
{
	static char room[65536];
	stack_t stack = {.ss_sp = room, .ss_size = sizeof room}, now;

	sigaltstack(&stack, NULL);
	start(in_folder("a.json"));
	CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == room);
}

static void of_ours(void)
{
	stack_t now;

	start(in_folder("a.json"));
	CHECK(sigaltstack(NULL, &now) == 0 && !(now.ss_flags & SS_DISABLE) &&
	      now.ss_size == 65536);
}

static void stacks(void)
{
	int status;

	if (HANDLED)
		SKIP("the sanitizer has a stack of its own");
	status = ends_with(overflows);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "%#x", (unsigned)status);
	CHECK(is_json(content("a.json")), "%s", got);
	in_child(a_stack_of_its_own);
	in_child(of_ours);
}

/* All but those that an instruction raises. */
static void others(void)
{
	sigset_t set = tach__deaths_others();

	for (int s = 1; s < 32; s++) {
		int raised = s == SIGSEGV || s == SIGBUS || s == SIGILL || s == SIGFPE ||
			     s == SIGTRAP || s == SIGSYS;

		CHECK(sigismember(&set, s) == !raised, "%d", s);
	}
	CHECK(sigismember(&set, SIGRTMAX) == 1);
}

int main(void)
{
	sigset_t none;

	if (!mkdtemp(folder))
		return 1;
	unsetenv("TACH_SIGNAL");
	/* Who started this may have them ignored (nohup) or blocked. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (const int *s = tach__deaths; *s; s++)
		signal(*s, SIG_DFL);
	CASE(names_of_signals);
	CASE(one_that_asks);
	CASE(each_of_them);
	CASE(sent_again);
	CASE(whatever_it_was);
	CASE(stacks);
	CASE(others);
	CHECK(rmdir(folder) == 0, "something was left in %s", folder);
	return check_done();
}
