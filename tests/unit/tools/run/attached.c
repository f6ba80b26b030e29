/* SPDX-License-Identifier: MIT */
/*
 * work: two threads, one after the other, of 2 million instructions each. start TACH: a process
 * that waits, then works, while TACH run -p counts it; release PID runs as a command of TACH
 * run: it continues that process, and ends with it.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *loop(void *unused)
{
	long n = 1000000;

#ifdef __x86_64__
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n));
#else
	for (volatile long i = 0; i < n; i++)
		;
#endif
	return unused;
}

static int work(void)
{
	pthread_t thread;

	loop(NULL);
	if (pthread_create(&thread, NULL, loop, NULL))
		return 1;
	return pthread_join(thread, NULL) != 0;
}

static int start(const char *self, const char *tach)
{
	char number[16];
	sigset_t set;
	pid_t child;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	child = fork();
	if (child == 0)
		_exit(sigwait(&set, &signal) != 0 || work());
	snprintf(number, sizeof number, "%d", (int)child);
	execl(tach, "tach", "run", "-p", number, "-e", "instructions", "--format", "csv", "--",
	      self, "release", number, (char *)NULL);
	return 1;
}

/* The process is a zombie by then, which only a pidfd distinguishes from a running process. */
static int release(pid_t process)
{
	struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, process, 0),
			       .events = POLLIN};

	return kill(process, SIGUSR1) != 0 || poll(&ended, 1, -1) != 1;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "start") == 0)
		return start(argv[0], argv[2]);
	if (argc > 2 && strcmp(argv[1], "release") == 0)
		return release(atoi(argv[2]));
	return work();
}
