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
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <tach.h>
#include "core/report/deliver.h"
#include "core/startup/startup.h"
#include "tools/run/results.h"
#include "tools/run/run.h"

enum { NAME_MAX_ = 64, WAIT_MS = 200 };

/* A thread that is being measured; lies on the stack of who began it. */
struct running {
	struct running *next, **link;
	struct tach_region_mark mark;
	pid_t tid;
	unsigned number;
};

static struct {
	pthread_mutex_t lock; /* of the list; held with all signals blocked */
	struct running *list;
	struct tach_site *all;
	const char *directory;
	pid_t process; /* the process that the list is of: children of vfork are not it */
	char rows;     /* the first letter of TACH_RUN_ROWS: t, p, P; or 0 */
	int finished, confined;
	int signal; /* asks a thread for its sums; 0: none is free */
	unsigned threads, pending;
} run = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct running *self;
static struct running first;	      /* the thread that loaded this object, or forked */
static __thread struct running again; /* one whose exec failed */
static __thread int locked;	      /* the calling thread has the lock, or waits for it */

/* ---- beginning and ending a thread ---- */

static void lock(sigset_t *before)
{
	sigset_t all = run_signals();

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

static unsigned next_number(void)
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
static void begin(struct running *thread, unsigned number)
{
	struct tach_site *where = site(number);
	sigset_t before;

	if (!where || run.confined)
		return;
	memset(thread, 0, sizeof *thread);
	thread->tid = (pid_t)syscall(SYS_gettid);
	thread->number = number;
	lock(&before);
	/* Threads of libraries begin with every signal blocked, so as not to get the program's.
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

static void end(struct running *thread)
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

/* ---- the end of the process ---- */

/* In a thread that still runs: a thread's counts can be added up by itself alone. */
static void on_finish(int signal)
{
	int saved = errno;

	(void)signal;
	if (self)
		tach_region_end(&self->mark);
	__atomic_sub_fetch(&run.pending, 1, __ATOMIC_SEQ_CST);
	errno = saved;
}

/* A real-time signal that is not in use, or 0. */
static int free_signal(void)
{
	for (int s = SIGRTMAX; s >= SIGRTMIN; s--) {
		struct sigaction now;

		if (sigaction(s, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			return s;
	}
	return 0;
}

/*
 * Threads that are still there when the process ends are interrupted once, to add up what they
 * counted so far. One that blocked the signal itself is not waited for longer than WAIT_MS.
 */
static void end_others(void)
{
	struct sigaction action = {.sa_handler = on_finish, .sa_flags = SA_RESTART}, now;
	struct timespec pause = {0, 1000000};
	int signal = run.signal;
	sigset_t before;

	/* The program may have taken it since. */
	if (!signal || sigaction(signal, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
		signal = free_signal();
	if (!signal || sigaction(signal, &action, NULL) != 0)
		return;
	lock(&before);
	for (struct running *t = run.list; t; t = t->next) {
		__atomic_add_fetch(&run.pending, 1, __ATOMIC_SEQ_CST);
		if (syscall(SYS_tgkill, getpid(), t->tid, signal) != 0)
			__atomic_sub_fetch(&run.pending, 1, __ATOMIC_SEQ_CST);
	}
	unlock(&before);
	for (int ms = 0; ms < WAIT_MS && __atomic_load_n(&run.pending, __ATOMIC_SEQ_CST); ms++)
		nanosleep(&pause, NULL);
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
	end_others();
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

static void finish_now(void)
{
	if (run_finish())
		run_report();
}

EXPORT _Noreturn void _exit(int status)
{
	finish_now();
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
static void confine(void)
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
		confine();
	return NEXT(prctl)(option, word[0], word[1], word[2], word[3]);
}

/* ---- another program in this process ---- */

struct replaced {
	int finished;
	unsigned number;
};

static void before_exec(struct replaced *r)
{
	r->number = self ? self->number : 1;
	r->finished = run_finish();
	if (r->finished)
		run_report();
}

/* It did not come to that: the thread that tried goes on, and what it counted is counted. */
static int after_exec(struct replaced *r, int result)
{
	int saved = errno;

	if (r->finished) {
		if (*left)
			unlink(left);
		run_results_go_on();
		run.finished = 0;
		begin(&again, r->number);
	}
	errno = saved;
	return result;
}

EXPORT long syscall(long number, ...)
{
	static __typeof__(&syscall) next;
	long word[6], result;
	struct replaced r;
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		word[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_exit_group)
		finish_now();
	if (number == SYS_execve || number == SYS_execveat)
		before_exec(&r);
	if (number == SYS_seccomp && (word[0] == SECCOMP_SET_MODE_STRICT ||
				      (word[0] == SECCOMP_SET_MODE_FILTER && word[2])))
		confine();
	if (!next)
		next = NEXT(syscall);
	result = next(number, word[0], word[1], word[2], word[3], word[4], word[5]);
	if (number == SYS_execve || number == SYS_execveat)
		after_exec(&r, 0);
	return result;
}

#define REPLACE(call)                                                                          \
	do {                                                                                   \
		struct replaced r;                                                             \
		before_exec(&r);                                                               \
		return after_exec(&r, (call));                                                 \
	} while (0)

/* Shells try one folder of PATH after the other: that is no end. */
static int is_missing(const char *file)
{
	int saved = errno, missing;

	if (run.confined)
		return 0;
	missing = faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) != 0;
	errno = saved;
	return missing;
}

EXPORT int execve(const char *file, char *const argv[], char *const envp[])
{
	if (is_missing(file))
		return NEXT(execve)(file, argv, envp);
	REPLACE(NEXT(execve)(file, argv, envp));
}

EXPORT int execv(const char *file, char *const argv[])
{
	if (is_missing(file))
		return NEXT(execv)(file, argv);
	REPLACE(NEXT(execv)(file, argv));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	REPLACE(NEXT(execvp)(file, argv));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	REPLACE(NEXT(execvpe)(file, argv, envp));
}

EXPORT int execveat(int folder, const char *file, char *const argv[], char *const envp[],
		    int flags)
{
	REPLACE((int)syscall(SYS_execveat, folder, file, argv, envp, flags));
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	REPLACE(NEXT(fexecve)(fd, argv, envp));
}

enum { WORDS_MAX = 1024 };

/* The words of execl and its like; *last is where the NULL was. E2BIG: too many. */
static int words(char **argv, const char *word, va_list *args)
{
	int n = 0;

	for (; word; word = va_arg(*args, const char *)) {
		if (n == WORDS_MAX) {
			errno = E2BIG;
			return -1;
		}
		argv[n++] = (char *)word;
	}
	argv[n] = NULL;
	return 0;
}

/* A function like execl is one like execv with the words in a row. */
#define IN_A_ROW(name, call)                                                                   \
	EXPORT int name(const char *file, const char *word, ...)                               \
	{                                                                                      \
		char *argv[WORDS_MAX + 1];                                                     \
		va_list args;                                                                  \
		int code;                                                                      \
                                                                                               \
		va_start(args, word);                                                          \
		code = words(argv, word, &args);                                               \
		va_end(args);                                                                  \
		return code ? code : call(file, argv);                                         \
	}
IN_A_ROW(execl, execv)
IN_A_ROW(execlp, execvp)

EXPORT int execle(const char *file, const char *word, ...)
{
	char *argv[WORDS_MAX + 1], *const *envp;
	va_list args;
	int code;

	va_start(args, word);
	code = words(argv, word, &args);
	envp = va_arg(args, char *const *);
	va_end(args);
	return code ? code : execve(file, argv, envp);
}

/* The parent ends in here, and the child begins as children of fork do. */
EXPORT int daemon(int keep_folder, int keep_streams)
{
	pid_t parent = getpid();
	struct replaced r;
	int result;

	before_exec(&r);
	result = NEXT(daemon)(keep_folder, keep_streams);
	return getpid() == parent ? after_exec(&r, result) : result;
}

/* ---- threads ---- */

struct start {
	void *(*function)(void *);
	int (*c11)(void *);
	void *argument;
	unsigned number;
};

static void thread_leaves(void *unused)
{
	(void)unused;
	end(self);
}

static void *thread_main(void *argument)
{
	struct start start = *(struct start *)argument;
	struct running here;
	void *result;

	free(argument);
	here.link = NULL;
	begin(&here, start.number);
	pthread_cleanup_push(thread_leaves, NULL);
	result = start.function ? start.function(start.argument)
				: (void *)(intptr_t)start.c11(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

static int create(pthread_t *thread, const pthread_attr_t *attr, struct start start)
{
	struct start *copy;
	int code;

	copy = malloc(sizeof *copy);
	if (!copy)
		return EAGAIN;
	*copy = start;
	copy->number = next_number();
	code = NEXT(pthread_create)(thread, attr, thread_main, copy);
	if (code)
		free(copy);
	return code;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*function)(void *), void *argument)
{
	if (!run.directory)
		return NEXT(pthread_create)(thread, attr, function, argument);
	return create(thread, attr, (struct start){function, NULL, argument, 0});
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	int code;

	if (!run.directory)
		return NEXT(thrd_create)(thread, function, argument);
	code = create(thread, NULL, (struct start){NULL, function, argument, 0});
	return code == 0 ? thrd_success : code == ENOMEM ? thrd_nomem : thrd_error;
}

/* The main thread may leave the others alone; no cleanup of ours is on its stack. */
EXPORT _Noreturn void pthread_exit(void *result)
{
	if (self && (self == &first || self == &again))
		end(self);
	NEXT(pthread_exit)(result);
	__builtin_unreachable();
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
	run.signal = free_signal();
	run_results_begin();
	begin(&first, next_number());
}

__attribute__((constructor)) static void on_load(void)
{
	const char *directory = getenv("TACH_RUN"), *rows = getenv("TACH_RUN_ROWS");

	if (!directory || !tach__output_to(leave))
		return;
	run.directory = strdup(directory);
	run.rows = rows ? *rows : 0;
	run.all = tach_site_get("(all threads)");
	pthread_atfork(NULL, NULL, start_process);
	at_quick_exit(finish_now);
	start_process();
	run_watch_deaths();
}
