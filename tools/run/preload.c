/* SPDX-License-Identifier: MIT */
/*
 * What `tach run` puts into a program: every thread, from its start to its end, is one entry of
 * a region, around whatever regions the program itself has. The library writes the report when
 * the process ends; where it would not come to that (_exit, exec) this object does.
 *
 * Environment: TACH_RUN, the directory for reports that do not fit elsewhere (results.h);
 * TACH_RUN_ROWS, what is to have a region of its own, "threads", "Processes" or "programs";
 * TACH_RUN_PID, the process that `tach run` started.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <tach.h>
#include "core/os/emulator.h"
#include "core/report/deliver.h"
#include "core/startup/startup.h"
#include "tools/run/results.h"
#include "tools/run/run.h"

enum { NAME_MAX_ = 64, WAIT_MS = 2000 };

static struct {
	pthread_mutex_t lock; /* of the list; held with all signals blocked */
	struct run_thread *list;
	struct tach_site *all;
	const char *directory;
	pid_t process; /* the process that the list is of: children of vfork are not it */
	char rows;     /* the first letter of TACH_RUN_ROWS: t, p, P; or 0 */
	int finished, confined;
	int turns;  /* of sets, between outermost regions: the program's own have to be that */
	int signal; /* asks a thread for its sums; 0: none is free */
	unsigned threads, pending;
} run = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct run_thread *self;
static struct run_thread first;		 /* the thread that loaded this object, or forked */
static __thread struct run_thread again; /* one whose exec failed */
static __thread int locked;		 /* the calling thread has the lock, or waits for it */

/* ---- beginning and ending a thread ---- */

static void lock(sigset_t *before)
{
	sigset_t all = tach__deaths_others();

	pthread_sigmask(SIG_BLOCK, &all, before);
	locked = 1;
	pthread_mutex_lock(&run.lock);
}

static void unlock(const sigset_t *before)
{
	pthread_mutex_unlock(&run.lock);
	locked = 0;
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

unsigned run_next_number(void)
{
	return __atomic_add_fetch(&run.threads, 1, __ATOMIC_RELAXED);
}

static struct tach_site *site(unsigned number)
{
	const char *root = getenv("TACH_RUN_PID"), *program = program_invocation_short_name;
	struct tach_site *own = NULL;
	char name[NAME_MAX_], process[32] = "";

	if (!run.rows)
		return run.all;
	if (root && atoi(root) != (int)getpid())
		snprintf(process, sizeof process, "process %d ", (int)getpid());
	if (run.rows == 'p')
		snprintf(name, sizeof name, "(%s)", program);
	else if (run.rows == 'P')
		snprintf(name, sizeof name, "(process %d %s)", (int)getpid(), program);
	else if (number == 1)
		snprintf(name, sizeof name, "(%smain thread)", process);
	else
		snprintf(name, sizeof name, "(%sthread %u)", process, number);
	own = tach_site_get(name);
	return own ? own : run.all;
}

/* `number`: which thread of the process it is, by creation. */
void run_thread_begin(struct run_thread *thread, unsigned number)
{
	struct tach_site *where = site(number);
	sigset_t before;

	if (!where || run.confined || run.turns)
		return;
	memset(thread, 0, sizeof *thread);
	thread->tid = (pid_t)syscall(SYS_gettid);
	thread->number = number;
	lock(&before);
	/*
	 * Threads of libraries begin with every signal blocked, so as not to get the program's.
	 */
	if (run.signal)
		sigdelset(&before, run.signal);
	thread->next = run.list;
	thread->link = &run.list;
	if (run.list)
		run.list->link = &thread->next;
	run.list = thread;
	unlock(&before);
	self = thread;
	tach_region_begin(where, &thread->mark);
}

static void end(struct run_thread *thread)
{
	sigset_t before;

	if (!thread || !thread->link || run.confined)
		return;
	tach_region_end(&thread->mark);
	self = NULL;
	lock(&before);
	*thread->link = thread->next;
	if (thread->next)
		thread->next->link = thread->link;
	thread->link = NULL;
	unlock(&before);
}

void run_thread_end(void)
{
	end(self);
}

void run_thread_end_bare(void)
{
	if (self && (self == &first || self == &again))
		end(self);
}

int run_is_confined(void)
{
	return run.confined;
}

int run_measures(void)
{
	return run.directory != NULL;
}

/* ---- the end of the process ---- */

/* In a thread that still runs: a thread's counts can be added up by itself alone. */
TACH__HANDLER static void on_finish(int signal)
{
	int saved = errno;

	(void)signal;
	if (self)
		tach_region_end(&self->mark);
	__atomic_sub_fetch(&run.pending, 1, __ATOMIC_SEQ_CST);
	errno = saved;
}

/*
 * Threads that are still there when the process ends are interrupted once, to add up what they
 * counted so far. One that has no processor for that is not waited for longer than WAIT_MS.
 * Returns how many have not.
 */
static unsigned end_others(void)
{
	struct sigaction action = {.sa_handler = on_finish, .sa_flags = SA_RESTART}, now;
	struct timespec pause = {0, 1000000};
	int signal = run.signal;
	unsigned deaf = 0;
	sigset_t before;

	/* The program may have taken it since. */
	if (!signal || sigaction(signal, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
		signal = run_signal_free();
	if (signal && sigaction(signal, &action, NULL) != 0)
		signal = 0;
	lock(&before);
	for (struct run_thread *t = run.list; t; t = t->next) {
		if (!signal || run_signal_blocked(t->tid, signal)) {
			deaf++;
			continue;
		}
		__atomic_add_fetch(&run.pending, 1, __ATOMIC_SEQ_CST);
		if (syscall(SYS_tgkill, getpid(), t->tid, signal) != 0)
			__atomic_sub_fetch(&run.pending, 1, __ATOMIC_SEQ_CST);
	}
	unlock(&before);
	for (int ms = 0; ms < WAIT_MS && __atomic_load_n(&run.pending, __ATOMIC_SEQ_CST); ms++)
		nanosleep(&pause, NULL);
	return deaf + __atomic_load_n(&run.pending, __ATOMIC_SEQ_CST);
}

int run_finish(void)
{
	int none = 0;

	/* Before any system call: see confine. */
	if (__atomic_load_n(&run.finished, __ATOMIC_ACQUIRE))
		return 0;
	if (!run.directory || getpid() != run.process || locked ||
	    !__atomic_compare_exchange_n(&run.finished, &none, 1, 0, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return 0;
	end(self);
	run_results_silent(end_others());
	return 1;
}

__attribute__((destructor)) static void on_exit_(void)
{
	run_finish();
}

static char left[4096]; /* the file that the last report went to; "": none */

/* What is too large for the memory. */
static void leave_file(const char *text, size_t length)
{
	struct tach__buffer all = {.at = (char *)text, .length = length};
	int code = -EEXIST;

	for (int n = 0; n < 1000 && code == -EEXIST; n++) {
		snprintf(left, sizeof left, "%s/%d.%d.json", run.directory, (int)getpid(), n);
		code = tach__deliver_file(left, 1, &all);
	}
	if (code)
		*left = '\0';
}

static void leave(const char *text, size_t length)
{
	*left = '\0';
	if (run_results_leave(text, length, RUN_LEFT) != 0)
		leave_file(text, length);
}

void run_report(void)
{
	tach__output_now();
}

void run_finish_now(void)
{
	if (run_finish())
		run_report();
}

EXPORT _Noreturn void _exit(int status)
{
	run_finish_now();
	NEXT(_exit)(status);
	__builtin_unreachable();
}

EXPORT _Noreturn void _Exit(int status)
{
	_exit(status);
}

/* ---- system calls that are an end ---- */

static void leave_confined(const char *text, size_t length)
{
	if (run_results_leave(text, length, RUN_CONFINED) != 0)
		leave_file(text, length);
}

/*
 * What the filter will kill for cannot be known: nothing is called from here on, and the report
 * is of the time before.
 */
void run_confine(void)
{
	if (!run_finish())
		return;
	tach__output_to(leave_confined);
	tach__output_now();
	tach__output_to(NULL);
	run.confined = 1;
	/* What it starts has the same filter. */
	setenv("TACH_ENABLE", "0", 1);
}

/* Who only asks whether the kernel has filters gives none. */
EXPORT int prctl(int option, ...)
{
	unsigned long word[4];
	va_list args;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		word[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SET_SECCOMP && (word[0] == SECCOMP_MODE_STRICT || word[1]))
		run_confine();
	return NEXT(prctl)(option, word[0], word[1], word[2], word[3]);
}

/* ---- another program in this process ---- */

void run_before_exec(struct run_replaced *r)
{
	r->number = self ? self->number : 1;
	r->finished = run_finish();
	if (r->finished)
		run_report();
}

/* It did not come to that: the thread that tried goes on, and what it counted is counted. */
int run_after_exec(struct run_replaced *r, int result)
{
	int saved = errno;

	if (r->finished) {
		if (*left)
			unlink(left);
		run_results_go_on();
		run.finished = 0;
		run_thread_begin(&again, r->number);
	}
	errno = saved;
	return result;
}

/* ---- the process ---- */

static void start_process(void)
{
	if (run.confined)
		return;
	pthread_mutex_init(&run.lock, NULL);
	run.list = NULL;
	run.process = getpid();
	run.threads = run.pending = 0;
	run.finished = 0;
	run.signal = run_signal_free();
	run_results_begin();
	run_thread_begin(&first, run_next_number());
}

__attribute__((constructor)) static void on_load(void)
{
	const char *directory = getenv("TACH_RUN"), *rows = getenv("TACH_RUN_ROWS");

	/* Natively, started by an emulated program: QEMU, and what cannot be emulated. */
	if (getenv("TACH_EMULATE") && !tach__emulated_counts())
		return;
	if (!directory || !tach__output_to(leave))
		return;
	run.directory = strdup(directory);
	run.rows = rows ? *rows : 0;
	run.turns = getenv("TACH_TURNS") != NULL;
	run.all = tach_site_get("(all threads)");
	pthread_atfork(NULL, NULL, start_process);
	at_quick_exit(run_finish_now);
	start_process();
	run_watch_deaths();
}
