/* SPDX-License-Identifier: MIT */
/*
 * `tach run` loads this object into a program. Every thread, from start to end, is one entry of
 * a region that encloses the program's own regions. The library writes the report when the
 * process ends. If the process ends without it (_exit, exec), this object does.
 *
 * Environment: TACH_RUN, the directory for reports that do not fit elsewhere (results.h);
 * TACH_RUN_ROWS, which threads share a region: "threads", "Processes" or "programs";
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
#include "core/os/environment.h"
#include "core/os/sys.h"
#include "core/region/region.h"
#include "core/report/deliver.h"
#include "core/startup/startup.h"
#include "tools/run/load.h"
#include "tools/run/results.h"
#include "tools/run/run.h"

enum { NAME_MAX_ = 64, WAIT_MS = 2000 };

/* State of the process's report. exec writes a report before it is known if exec succeeds. */
enum state { RUNNING, LEAVING, LEFT, ENDED };

static struct {
	struct tach_site *all;
	const char *directory;
	pid_t root;    /* the process that tach run started */
	pid_t process; /* the measured process: its vfork children are not measured */
	char rows;     /* first letter of TACH_RUN_ROWS (t, p, P), or 0 */
	int confined;
	/*
	 * sets take turns between outermost regions: the program's own regions must be
	 * outermost
	 */
	int turns;
	/* Atomic. `delivered`: 1 while the last report is written, 2 after that. */
	int state, delivered;
	unsigned threads;
} run;

static __thread int own; /* the calling thread made the last change of the state */

/* ---- start and end of a thread ---- */

unsigned run_next_number(void)
{
	return __atomic_add_fetch(&run.threads, 1, __ATOMIC_RELAXED);
}

static struct tach_site *site(unsigned number)
{
	const char *program = program_invocation_short_name;
	char name[NAME_MAX_], process[32] = "";
	struct tach_site *of_its_own;

	if (!run.rows)
		return run.all;
	if (run.root != getpid())
		snprintf(process, sizeof process, "process %d ", (int)getpid());
	if (run.rows == 'p')
		snprintf(name, sizeof name, "(%s)", program);
	else if (run.rows == 'P')
		snprintf(name, sizeof name, "(process %d %s)", (int)getpid(), program);
	else if (number == 1)
		snprintf(name, sizeof name, "(%smain thread)", process);
	else
		snprintf(name, sizeof name, "(%sthread %u)", process, number);
	of_its_own = tach_site_get(name);
	return of_its_own ? of_its_own : run.all;
}

/* `number`: the thread's number in the process, by creation. */
void run_thread_begin(unsigned number)
{
	struct tach_site *where = site(number);

	if (where && !run.confined && !run.turns)
		tach__whole_begin(where);
}

void run_thread_end(void)
{
	if (run.confined)
		return;
	run_functions_end();
	tach__whole_end();
}

/*
 * Skipped in a vfork child, which shares its parent's memory. The counters do not count the
 * child.
 */
void run_thread_exit(void)
{
	const struct tach__thread *record = tach__thread_record();

	/* Not gettid(): musl's returns the number that the thread had before vfork. */
	if (run.confined || !record || record->tid != (pid_t)syscall(SYS_gettid))
		return;
	tach__whole_end();
	tach__thread_close();
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

static void pause_ms(void)
{
	struct timespec pause = {0, 1000000};

	nanosleep(&pause, NULL);
}

/* Other threads keep running: the report contains their counts up to now. */
int run_finish(void)
{
	int state = __atomic_load_n(&run.state, __ATOMIC_ACQUIRE);

	/* This check comes before any system call: see run_confine. */
	if (state == ENDED || !run.directory || getpid() != run.process ||
	    (state == LEAVING && own))
		return 0;
	for (int ms = 0; state == LEAVING && ms < WAIT_MS; ms++) {
		pause_ms();
		state = __atomic_load_n(&run.state, __ATOMIC_ACQUIRE);
	}
	while (state != ENDED)
		if (__atomic_compare_exchange_n(&run.state, &state, ENDED, 0, __ATOMIC_SEQ_CST,
						__ATOMIC_ACQUIRE))
			break;
	if (state == ENDED)
		return 0;
	own = 1;
	tach__whole_forget();
	if (!tach__signals_held) {
		run_functions_end();
		tach__whole_end();
	}
	return 1;
}

__attribute__((destructor)) static void on_exit_(void)
{
	run_finish();
}

static char left[4096]; /* the file with the most recent report; "": none yet */

/* Writes a report that is too large for the shared memory. */
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

/* If several threads end the process, one report is enough: each of them is complete. */
static void leave_report(const char *text, size_t length)
{
	int last = __atomic_load_n(&run.state, __ATOMIC_RELAXED) == ENDED;

	if (!text) {
		run_results_no_memory();
		return;
	}
	if (last && __atomic_exchange_n(&run.delivered, 1, __ATOMIC_ACQ_REL))
		return;
	*left = '\0';
	if (run_results_leave(text, length, RUN_LEFT) != 0)
		leave_file(text, length);
	if (last)
		__atomic_store_n(&run.delivered, 2, __ATOMIC_RELEASE);
}

void run_finish_now(void)
{
	int mine = run_finish();

	/*
	 * Another thread, or this one, may be writing the report: destructors of this thread
	 * run before the report.
	 */
	if (!mine && (!run.directory || run.confined || getpid() != run.process ||
		      __atomic_load_n(&run.state, __ATOMIC_ACQUIRE) != ENDED))
		return;
	if (__atomic_load_n(&run.delivered, __ATOMIC_ACQUIRE) == 0)
		tach__output_now();
	for (int ms = 0; ms < WAIT_MS; ms++) {
		if (__atomic_load_n(&run.delivered, __ATOMIC_ACQUIRE) != 1)
			break;
		pause_ms();
	}
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

/* ---- system calls that end the process ---- */

static void leave_confined(const char *text, size_t length)
{
	if (!text)
		run_results_no_memory();
	else if (run_results_leave(text, length, RUN_CONFINED) != 0)
		leave_file(text, length);
}

/*
 * The calls that the seccomp filter forbids are unknown. After this report we make no system
 * call, so the report covers the time up to now.
 */
void run_confine(void)
{
	if (!run_finish())
		return;
	tach__output_to(leave_confined);
	tach__output_now();
	tach__output_to(NULL);
	run.confined = 1;
	/* Programs that are started after this have the same filter. */
	setenv("TACH_ENABLE", "0", 1);
}

/* A call that only asks about filters installs none. */
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

/* ---- exec ---- */

int run_before_exec(void)
{
	int state = RUNNING;

	if (!run.directory || run.confined || getpid() != run.process ||
	    !__atomic_compare_exchange_n(&run.state, &state, LEAVING, 0, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return 0;
	own = 1;
	tach__whole_read();
	tach__output_now();
	state = LEAVING;
	__atomic_compare_exchange_n(&run.state, &state, LEFT, 0, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return 1;
}

/* exec failed, so the measurement continues. Another thread may have ended the process. */
int run_after_exec(int reported, int result)
{
	int saved = errno, state = LEFT;

	if (reported && __atomic_load_n(&run.state, __ATOMIC_ACQUIRE) == LEFT) {
		tach__whole_forget();
		if (*left)
			unlink(left);
		run_results_go_on();
		__atomic_compare_exchange_n(&run.state, &state, RUNNING, 0, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
		own = 0;
	}
	errno = saved;
	return result;
}

/* ---- the process ---- */

static void start_process(void)
{
	if (run.confined)
		return;
	run.process = getpid();
	run.threads = 0;
	run.state = RUNNING;
	run.delivered = own = 0;
	tach__whole_forget();
	run_results_begin();
	run_thread_begin(run_next_number());
}

__attribute__((constructor)) static void on_load(void)
{
	const char *directory = getenv("TACH_RUN"), *rows = getenv("TACH_RUN_ROWS");
	const char *root = getenv("TACH_RUN_PID");

	/*
	 * These run natively, although an emulated program started them: QEMU, and programs
	 * that cannot be emulated.
	 */
	if (getenv("TACH_EMULATE") && !tach__emulated_counts())
		return;
	if (!directory || !tach__output_to(leave_report))
		return;
	run_load_begin();
	run.directory = strdup(directory);
	run.rows = rows ? *rows : 0;
	run.root = root ? (pid_t)atoi(root) : getpid();
	run.turns = tach__environment("TACH_TURNS") != NULL;
	run_functions_begin();
	run.all = tach_site_get("(all threads)");
	pthread_atfork(NULL, NULL, start_process);
	at_quick_exit(run_finish_now);
	start_process();
	run_watch_deaths();
}
