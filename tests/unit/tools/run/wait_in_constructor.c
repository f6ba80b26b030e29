/* SPDX-License-Identifier: MIT */
/* A plugin whose constructor waits for a thread while the loader's lock is held. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef WITH_TACH
#include <tach.h>
#endif

static void *leaf(void *argument)
{
	return argument;
}

static void *call(void *unused)
{
	const char *what = getenv("WHAT");
	pthread_t thread;
	pid_t child;

	(void)unused;
	if (!strcmp(what, "create")) {
		pthread_create(&thread, NULL, leaf, NULL);
		pthread_join(thread, NULL);
	} else if (!strcmp(what, "prctl")) {
		prctl(PR_SET_NAME, "name");
	} else if (!strcmp(what, "signal")) {
		signal(SIGUSR1, SIG_IGN);
	} else if (!strcmp(what, "fork")) {
		child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	} else if (!strcmp(what, "vfork")) {
		child = vfork();
		if (child == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	} else if (!strcmp(what, "exec")) {
		execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
	} else if (!strcmp(what, "_exit")) {
		_exit(3);
	} else if (!strcmp(what, "region")) {
#ifdef WITH_TACH
		TACH_SCOPE(in_constructor);
#endif
	}
	return NULL;
}

__attribute__((constructor)) static void wait_for_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, call, NULL);
	pthread_join(thread, NULL);
}
