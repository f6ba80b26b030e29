/* SPDX-License-Identifier: MIT */
/* Starts the given program in every possible way, and prints how many ways there are. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int ways, failures;

static void ended(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	failures += status != 0;
	ways++;
}

/* Runs in a child with its folder in PATH, so that programs are found by their name alone. */
#define CHILD(call)                                                                            \
	do {                                                                                   \
		pid_t child = fork();                                                          \
		if (child == 0) {                                                              \
			call;                                                                  \
			_exit(1);                                                              \
		}                                                                              \
		ended(child);                                                                  \
	} while (0)

int main(int argc, char **argv)
{
	const char *file = argv[argc - 1];
	const char *name = strrchr(file, '/') + 1;
	char *words[] = {(char *)name, "a b", "'", "", NULL};
	char command[256];
	FILE *stream;
	pid_t child;

	setenv("PATH", ".", 1);
	CHILD(execve(file, words, environ));
	CHILD(execv(file, words));
	CHILD(execvp(name, words));
	CHILD(execvpe(name, words, environ));
	CHILD(execl(file, name, "a b", NULL));
	CHILD(execlp(name, name, NULL));
	CHILD(execle(file, name, NULL, environ));
	CHILD(execve("nothing", words, environ); execv(file, words));
	if (posix_spawn(&child, file, NULL, NULL, words, environ) == 0)
		ended(child);
	if (posix_spawnp(&child, name, NULL, NULL, words, environ) == 0)
		ended(child);
	failures += posix_spawn(&child, "./nothing", NULL, NULL, words, environ) == 0;
	snprintf(command, sizeof command, "%s 'a  b' \"\\$'\"", file);
	failures += system(command) != 0;
	ways++;
	failures += system("exit 3") != 3 << 8;
	stream = popen(command, "r");
	failures += !stream || pclose(stream) != 0;
	ways++;
	child = vfork();
	if (child == 0) {
		execv(file, words);
		_exit(1);
	}
	ended(child);
	printf("%d\n", ways);
	return failures;
}
