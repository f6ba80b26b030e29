/* SPDX-License-Identifier: MIT */
/*
 * Signals of a process with TACH_OUTPUT: those that end it, and the signal that requests a
 * report.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "tests/unit/startup/reports.h"

static int is_refused; /* set: a signal cannot be sent again with its data */

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

/* ---- values of TACH_SIGNAL ---- */

static void names_of_signals(void)
{
	static const char unknown[] = "is one or more of end, USR1, SIGUSR1, 10, RTMIN+1, "
				      "joined by colons, or none",
			  never[] = "cannot be a signal that no program can handle";
	static const struct {
		const char *name, *odd;
	} cases[] = {{"USR1", NULL},
		     {"SIGUSR1", NULL},
		     {"10", NULL},
		     {"1", NULL},
		     {"31", NULL},
		     {"RTMIN", NULL},
		     {"none", NULL},
		     {"None", unknown},
		     {"end", NULL},
		     {"End", unknown},
		     {"end:USR1", NULL},
		     {"USR1:USR2:end", NULL},
		     {"end,USR1", unknown},
		     {"end:FOO", unknown},
		     {"FOO:end", unknown},
		     {"USR1:KILL", never},
		     {"RTMIN+000000000000000000000000002", unknown},
		     {"RTMIN+2", NULL},
		     {"SIGRTMIN+29", NULL},
		     {"64", NULL},
		     {"KILL", never},
		     {"SIGSTOP", never},
		     {"9", never},
		     {"32", never},
		     {"33", never},
		     {"FOO", unknown},
		     {"0", unknown},
		     {"-3", unknown},
		     {"65", unknown},
		     {"10x", unknown},
		     {"SIG", unknown},
		     {"usr1", unknown},
		     {"RTMIN+31", unknown},
		     {"RTMIN+2x", unknown},
		     {"SIGSIGUSR1", unknown},
		     {"RTMIN-1", never},
		     {"RTMI", unknown}};

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

/* ---- the signal that requests a report ---- */

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

/* The program's own handler stays. */
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

/* ---- deadly signals ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HANDLED = 1 };
#else
enum { HANDLED = 0 };
#endif
static int deadly;

static void dies(void)
{
	setenv("TACH_SIGNAL", "end", 1);
	start(in_folder("a.json"));
	raise(deadly);
	CHECK(0, "it lives");
}

static void deadly_signals_end_the_process(void)
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

/* If the kernel refuses to queue it with its data, raise() sends its number. */
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
	setenv("TACH_SIGNAL", "end", 1);
	start(in_folder("a.json"));
	raise(SIGTERM);
	CHECK(handled == SIGTERM);
	raise(SIGHUP);
	raise(SIGINT);
	CHECK(handled == SIGINT && !*content("a.json"));
	CHECK(sigaction(SIGQUIT, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
	      now.sa_flags & SA_ONSTACK && sigismember(&now.sa_mask, SIGTERM) == 1);
	/* The program sets a handler later. */
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

/* This process writes no report, or tach run writes the report. */
static void none_is_watched(void)
{
	setenv("TACH_SIGNAL", "end", 1);
	setenv("TACH_OUTPUT_PID", "1", 1);
	tach__output_at_exit(in_folder("a.json"));
	CHECK(!is_watched(SIGTERM));
	setenv("TACH_RUN", "1", 1);
	start(in_folder("a.json"));
	CHECK(!is_watched(SIGTERM));
}

/* A trace is also written on these signals, before other output. */
static void watched_for_a_trace(void)
{
	setenv("TACH_SIGNAL", "end", 1);
	setenv("TACH_TRACE", in_folder("t.json"), 1);
	start(NULL);
	CHECK(is_watched(SIGTERM));
}

static void of_a_child(void)
{
	raise(SIGTERM);
}

/* A child never writes the parent's file, whatever signal ends it. */
static void of_children(void)
{
	int status;

	setenv("TACH_SIGNAL", "end", 1);
	start(in_folder("a.json"));
	status = ends_with(of_a_child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM && !*content("a.json"));
}

static void children_of_their_own(void)
{
	int status;
	char left[120];

	setenv("TACH_SIGNAL", "end", 1);
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

	setenv("TACH_SIGNAL", "end", 1);
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

static void programs_own_actions_stay(void)
{
	in_child(the_programs_own);
	in_child(none_is_watched);
	in_child(watched_for_a_trace);
	in_child(of_children);
	in_child(children_of_their_own);
	in_child(none_of_a_vfork);
}

/* ---- the program's view ---- */

static void a_stack_of_its_own(void)
{
	static char room[65536];
	stack_t stack = {.ss_sp = room, .ss_size = sizeof room}, now;

	sigaltstack(&stack, NULL);
	start(in_folder("a.json"));
	CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == room);
}

static void no_stack_of_ours(void)
{
	stack_t now;

	setenv("TACH_SIGNAL", "USR1:end", 1);
	start(in_folder("a.json"));
	CHECK(sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE);
}

static void has(const char *note, int whether)
{
	now();
	CHECK(!strstr(content("a.json"), note) == !whether, "%s: %s", note, got);
}

/* SigCgt and SigIgn of proc(5): the kernel's own view of all signal actions. */
static void kernel_view(char to[80])
{
	FILE *from = fopen("/proc/self/status", "r");
	char line[200];

	*to = '\0';
	CHECK(from != NULL);
	while (from && fgets(line, sizeof line, from))
		if (strncmp(line, "SigCgt:", 7) == 0 || strncmp(line, "SigIgn:", 7) == 0)
			strncat(to, line, strcspn(line, "\n"));
	if (from)
		fclose(from);
}

/* All actions, masks and alternate stacks are the same as without the library. */
static void untouched(void)
{
	sigset_t mask;
	struct sigaction was[NSIG], now;
	char before_it[80], after_it[80];
	stack_t stack;

	for (int s = 1; s < NSIG; s++)
		sigaction(s, NULL, &was[s]);
	kernel_view(before_it);
	start(in_folder("a.json"));
	kernel_view(after_it);
	CHECK(*after_it && strcmp(before_it, after_it) == 0, "%s%s", before_it, after_it);
	for (int s = 1; s < NSIG; s++)
		CHECK(sigaction(s, NULL, &now) != 0 || (now.sa_handler == was[s].sa_handler &&
							now.sa_flags == was[s].sa_flags),
		      "%d", s);
	CHECK(signal(SIGTERM, SIG_DFL) == SIG_DFL && signal(SIGSEGV, SIG_DFL) == SIG_DFL);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && sigisemptyset(&mask) == 1);
	CHECK(sigaltstack(NULL, &stack) == 0 && stack.ss_flags & SS_DISABLE);
	has("no report comes", 0);
}

static void nothing_named(void)
{
	unsetenv("TACH_SIGNAL");
	untouched();
}

static void none_named(void)
{
	setenv("TACH_SIGNAL", "none", 1);
	untouched();
}

/* Many programs set their handler only if the action is still the default. */
static void set_if_default(void)
{
	start(in_folder("a.json"));
	if (signal(SIGTERM, SIG_IGN) == SIG_DFL)
		signal(SIGTERM, handler);
	raise(SIGTERM);
	CHECK(handled == SIGTERM);
}

/* A single signal sets one handler; a list of two sets both. */
static void named_alone(void)
{
	setenv("TACH_SIGNAL", "USR1", 1);
	start(in_folder("a.json"));
	CHECK(is_watched(SIGUSR1) && !is_watched(SIGTERM) && !is_watched(SIGUSR2));
}

static void several_named(void)
{
	setenv("TACH_SIGNAL", "USR1:RTMIN+2", 1);
	start(in_folder("a.json"));
	CHECK(is_watched(SIGUSR1) && is_watched(SIGRTMIN + 2) && !is_watched(SIGTERM));
	raise(SIGRTMIN + 2);
	CHECK(is_json(content("a.json")));
}

/* A request for a report does not end the process, even if "end" is first in the list. */
static void named_after_end(void)
{
	setenv("TACH_SIGNAL", "end:USR1", 1);
	start(in_folder("a.json"));
	CHECK(is_watched(SIGTERM));
	raise(SIGUSR1);
	CHECK(is_json(content("a.json")));
}

/* A handler that calls the previous handler, if there is one, and does nothing else. */
static struct sigaction before;

static void chains(int number, siginfo_t *info, void *context)
{
	handled = number;
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(number);
}

static void given_up(int number, const char *note)
{
	struct sigaction action = {.sa_sigaction = chains, .sa_flags = SA_SIGINFO}, restored;

	start(in_folder("a.json"));
	has("no report comes", 0);
	CHECK(sigaction(number, &action, &before) == 0);
	handled = 0;
	raise(number);
	CHECK(handled == number && !*content("a.json"), "%d", number);
	has(note, 1);
	/*
	 * The library's actions are complete again after the program restores the earlier
	 * action.
	 */
	sigaction(number, &before, &restored);
	CHECK(restored.sa_sigaction == chains);
	has("no report comes", 0);
}

static void a_death_given_up(void)
{
	setenv("TACH_SIGNAL", "end", 1);
	given_up(SIGTERM, "no report comes at SIGTERM: the program set its own action");
}

static void a_request_given_up(void)
{
	char note[80];

	setenv("TACH_SIGNAL", "RTMIN+2", 1);
	snprintf(note, sizeof note,
		 "no report comes at signal %d: the program set its own action", SIGRTMIN + 2);
	given_up(SIGRTMIN + 2, note);
}

static void several_given_up(void)
{
	setenv("TACH_SIGNAL", "end:USR1", 1);
	signal(SIGUSR1, SIG_IGN); /* TACH_SIGNAL names this signal, and the note names it too */
	start(in_folder("a.json"));
	/* The signal does not end the process, so no report is missing. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, handler);
	signal(SIGTERM, SIG_DFL);
	has("no report comes at SIGHUP, SIGUSR1, SIGTERM: the program set its own action", 1);
}

static void program_sees_its_own_actions(void)
{
	if (HANDLED)
		SKIP("the sanitizer handles some of them");
	in_child(a_stack_of_its_own);
	in_child(no_stack_of_ours);
	in_child(nothing_named);
	in_child(none_named);
	in_child(set_if_default);
	in_child(named_alone);
	in_child(several_named);
	in_child(named_after_end);
	in_child(a_death_given_up);
	in_child(a_request_given_up);
	in_child(several_given_up);
}

/* Checks that all signals are blocked, except those that an instruction raises. */
static void only_instruction_signals_stay_open(void)
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
	/* The parent may have ignored (nohup) or blocked these signals. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (const int *s = tach__deaths; *s; s++)
		signal(*s, SIG_DFL);
	CASE(names_of_signals);
	CASE(one_that_asks);
	CASE(deadly_signals_end_the_process);
	CASE(sent_again);
	CASE(programs_own_actions_stay);
	CASE(program_sees_its_own_actions);
	CASE(only_instruction_signals_stay_open);
	CHECK(rmdir(folder) == 0, "something was left in %s", folder);
	return check_done();
}
