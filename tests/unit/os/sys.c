/* SPDX-License-Identifier: MIT */
/* System calls through the library's only function for them, and blocked signals. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/sys.h"
#include "tests/check.h"

static void results_and_refusals(void)
{
	errno = 4711;
	CHECK(tach__sys(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid());
	CHECK(tach__sys(SYS_close, -1, 0, 0, 0, 0, 0) == -EBADF && errno == 4711);
	CHECK(tach__sys(SYS_lseek, 0, 0, 77, 0, 0, 0) < -1 && errno == 4711);
}

/* A call with six arguments: maps the second page of a file. */
static void six_arguments(void)
{
	char path[] = "/tmp/tach-sys-XXXXXX";
	long page = sysconf(_SC_PAGESIZE), at;
	int fd = mkstemp(path);

	unlink(path);
	CHECK(ftruncate(fd, 2 * page) == 0 && pwrite(fd, "second", 6, page) == 6);
	at = tach__sys(SYS_mmap, 0, page, PROT_READ, MAP_PRIVATE, fd, page);
	CHECK(at > 0 && memcmp((void *)at, "second", 6) == 0);
	munmap((void *)at, (size_t)page);
	close(fd);
}

/* ---- signals ---- */

static const int raised[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGSYS, SIGFPE};
enum { RAISED = sizeof raised / sizeof *raised };

/*
 * Returns true if the calling thread blocks all signals except the first `still` of raised[];
 * it blocks the signal `extra` too.
 */
static int blocks_all_but(int still, int extra)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	for (int s = 1; s <= SIGRTMAX; s++) {
		int blocked = 1;

		if (s == SIGKILL || s == SIGSTOP || (s > 31 && s < SIGRTMIN))
			continue; /* the C library never blocks its own signals */
		for (int i = 0; i < still; i++)
			blocked &= raised[i] != s;
		if (sigismember(&now, s) != (blocked || s == extra)) {
			printf("# signal %d\n", s);
			return 0;
		}
	}
	return 1;
}

static int blocks_just(int signal)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	for (int s = 1; s <= SIGRTMAX; s++)
		if (sigismember(&now, s) != (s == signal))
			return 0;
	return 1;
}

static void held_but_for_what_instructions_raise(void)
{
	static const int mine[] = {SIGUSR1, SIGSEGV};
	sigset_t before, inner, set;

	for (int i = 0; i < 2; i++) {
		sigemptyset(&set);
		sigaddset(&set, mine[i]);
		pthread_sigmask(SIG_SETMASK, &set, NULL);
		CHECK(tach__signals_held == 0);
		tach__signals_hold(&before);
		CHECK(tach__signals_held == 1 && blocks_all_but(RAISED, mine[i]));
		/* This also blocks SIGFPE: the mask changes again. */
		tach__signals_hold(&inner);
		CHECK(tach__signals_held == 2 && blocks_all_but(RAISED - 1, mine[i]));
		tach__signals_hold(&set);
		CHECK(tach__signals_held == 3 && blocks_all_but(RAISED - 1, mine[i]));
		tach__signals_release(&set);
		tach__signals_release(&inner);
		CHECK(tach__signals_held == 1 && blocks_all_but(RAISED, mine[i]));
		tach__signals_release(&before);
		CHECK(tach__signals_held == 0 && blocks_just(mine[i]));
	}
	sigemptyset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static void *of_another(void *arg)
{
	(void)arg;
	return (void *)(long)(tach__signals_held != 0);
}

static void of_one_thread(void)
{
	pthread_t thread;
	sigset_t before;
	void *held;

	tach__signals_hold(&before);
	CHECK(pthread_create(&thread, NULL, of_another, NULL) == 0);
	pthread_join(thread, &held);
	CHECK(!held);
	tach__signals_release(&before);
}

int main(void)
{
	CASE(results_and_refusals);
	CASE(six_arguments);
	CASE(held_but_for_what_instructions_raise);
	CASE(of_one_thread);
	return check_done();
}
