/* SPDX-License-Identifier: MIT */
/*
 * Signals that arrive while glibc's allocator is locked, during forks: waits FORKS ends itself
 * by SIGTERM after this number of forks, which continue waits FORKS LIBRARY a thread older than
 * the library enters it first in a handler
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int entered;
static void (*enter)(void);

static void fork_one(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

static void *fork_on(void *forks)
{
	for (int n = 0;; n++) {
		if (n == *(int *)forks)
			kill(getpid(), SIGTERM);
		fork_one();
	}
	return NULL;
}

/* Small and large allocations: each takes the lock. */
static void allocate(void)
{
	static __thread unsigned n;
	void *piece[8];

	for (int i = 0; i < 8; i++)
		piece[i] = malloc(2000 + (n++ * 977) % 3000);
	for (int i = 0; i < 8; i++)
		free(piece[i]);
}

static void on_signal(int signal)
{
	(void)signal;
	enter();
	entered++;
}

static void *allocate_on(void *unused)
{
	while (!entered)
		allocate();
	return unused;
}

static int first_in_a_handler(int forks, const char *file)
{
	void *library;
	pthread_t thread;

	signal(SIGUSR1, on_signal);
	pthread_create(&thread, NULL, allocate_on, NULL);
	library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	*(void **)&enter = dlsym(library, "enter");
	for (int i = 0; i < forks; i++)
		fork_one();
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	fork_one();
	return enter ? 0 : 2;
}

int main(int argc, char **argv)
{
	int forks = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread;

	if (argc > 2)
		return first_in_a_handler(forks, argv[2]);
	pthread_create(&thread, NULL, fork_on, &forks);
	for (;;)
		allocate();
}
